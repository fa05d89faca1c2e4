"""What a plan does with answers that cost nothing, and with those that no noise is enough for."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.planning import candidates, planner
from blowproof.mechanisms.planning.planner import Planned, planned
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.calibrate import WIDEST, require_width
from blowproof.mechanisms.release.request import Request
from blowproof.models import Domain, Integers, Marginal, Policy
from blowproof.verifier.ask import sensitivity

BESIDE = Policy(domain=Domain(x=Integers(0, 7), y=Integers(0, 5)), known=(Marginal(("x",)),))


def compared(policy: Policy, *queries: str, rho: bool = False, **more: Any) -> Planned:
    work = workload(queries, [], policy)
    budget = {"rho": Fraction(1, 2)} if rho else {"epsilon": Fraction(1)}
    request = Request(policy=policy, query=work.queries[0], **budget, **more)  # type: ignore[arg-type]
    return planned(request, work, size=None, seed=1, beside=False)


@pytest.mark.parametrize("rho", [False, True])
def test_what_is_published_is_answered_exactly_and_by_its_own_name(rho: bool) -> None:
    """Not by a hierarchy, whose least squares are some 1e-9 away from it."""
    found = compared(BESIDE, "cumulative(x)", "marginal(y)", "range(x,2,5)", rho=rho)
    assert len(found.options) > 1
    for option in found.options:
        by = {place: part.mechanism for part in option.parts for place in part.queries}
        assert (by[0], by[2]) == ("laplace", "laplace")
        assert option.errors[0].rmse == option.errors[2].rmse == 0
        assert option.errors[1].rmse > 0
    assert not [item for item in found.refused if item.query != "marginal(y)"]


def test_a_table_answers_what_nothing_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rectangles of a large grid beside a margin: noise on all values, where it comes last."""
    monkeypatch.setattr(candidates, "MOST_ADDED", 10)
    monkeypatch.setattr(candidates, "MOST_WIDE", 10)
    monkeypatch.setattr(planner, "strategies", lambda request, work: [[] for _ in range(len(work))])
    found = compared(BESIDE, "marginal(y)", "rectangles(x,y,9)")
    assert found.chosen is not None
    by = {place: part.mechanism for part in found.chosen.parts for place in part.queries}
    assert by[1] == "table"
    assert by[0] != "table"


@pytest.mark.parametrize("rho", [False, True])
def test_noise_that_is_wider_than_floats_is_refused(rho: bool) -> None:
    """S was bounded by numbers of 400 digits: an OverflowError, called a bug, ended the plan."""

    def ask(policy: Policy, query: Any, reading: Any, limit: float | None) -> Any:
        found = sensitivity(policy, query, reading=reading, time_limit=limit)
        return replace(found, upper=10**400, status="bounds") if found.upper else found

    found = compared(BESIDE, "histogram", "cumulative(y)", rho=rho, oracle=ask)
    assert any("401 digits" in item.why for item in found.refused)
    with pytest.raises(RefusedError, match="no data can be told"):
        require_width(2 * WIDEST, "histogram", squared=False)
    require_width(2 * WIDEST, "histogram", squared=True)
