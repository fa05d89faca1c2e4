"""What a plan asks in a hurry, what it waits for, and what it does not ask about at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.strategies import at_best
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.registry import unproved
from blowproof.mechanisms.release.request import Request
from blowproof.models import (
    AttributeChange,
    BoundQuery,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer

ONE = Fraction(1)
TABLE = Policy(
    domain=Domain(a=Labels(["p", "q"]), x=Integers(0, 1)),
    secrets=AttributeChange(),
    known=(Marginal(["a"]),),
)
Ask = Callable[..., Answer]


def with_oracle(ask: Ask, **more: Any) -> Request:
    return Request(policy=TABLE, query="marginal(x)", epsilon=ONE, oracle=ask, **more)


def open_until(seconds: float, asked: list[float]) -> Ask:
    """Return who leaves S open unless there is so much time, and keeps who was asked."""

    def ask(policy: Policy, query: BoundQuery, reading: Any, limit: float | None) -> Answer:
        found = sensitivity(policy, query, reading=reading)
        asked.append(limit or 0.0)
        if limit is not None and limit < seconds and found.upper:
            return replace(found, upper=3 * found.upper, status="bounds")
        return found

    return ask


def test_an_open_question_is_asked_again_where_there_is_much_more_time() -> None:
    asked: list[float] = []
    request = with_oracle(open_until(50, asked), time_limit=100.0)
    short = replace(request, deadline=request.deadline - 90, hurried=True)  # type: ignore[operator]
    first = short.sensitivity()
    assert first.status == "bounds"
    assert short.sensitivity() is first and len(asked) == 1  # as hurried as before
    found = request.sensitivity()
    assert found.status == "exact" and len(asked) == 2
    assert short.sensitivity() is found and len(asked) == 2  # what is closed stays


def test_what_known_pairs_say_is_no_more_than_s_and_proves_nothing() -> None:
    request = Request(policy=TABLE, query="marginal(x)", epsilon=ONE)
    request.sensitivity()
    for text in ("marginal(a,x)", "histogram", "sum(x)", "marginal(a)"):
        query = parse_query(text, TABLE)
        least, found = request.at_least(query), sensitivity(TABLE, query)
        assert 0 < least <= found.lower if text != "marginal(a)" else least == 0
    # too narrow by half: known pairs of `sum(b)` alone would allow it, and the gate does not
    narrow = at_best(replace(request, query="marginal(a,x)"))
    hoped = unproved("laplace", narrow)
    assert hoped.description is not None
    scale = hoped.description.releases[0].scales[0]
    needed = made_ready("laplace", replace(request, query="marginal(a,x)")).sensitivity
    assert needed is not None and scale <= needed.upper  # type: ignore[operator]
    halved = replace(hoped.description.releases[0], scale=scale / 2)
    hoped.description = replace(hoped.description, releases=(halved,))
    with pytest.raises(RefusedError, match="loses more than"):
        proved(hoped)


def test_strategies_that_cannot_be_the_best_are_not_asked_about() -> None:
    stacks: list[str] = []

    def ask(policy: Policy, query: BoundQuery, reading: Any, limit: float | None) -> Answer:
        stacks.append(query.name)
        return sensitivity(policy, query, reading=reading, time_limit=limit)

    texts = ("sum(x)", "marginal(a,x)")
    found = planned(
        with_oracle(ask, time_limit=5.0), workload(texts, (), TABLE), size=None, beside=False
    )
    dropped = [item for item in found.refused if "by known pairs" in item.why]
    assert dropped
    for item in dropped:  # and indeed: with S in full, they have larger errors than what is chosen
        query = next(it for it in found.workload.queries if it.name == item.query)
        assert query.name in texts
    assert found.chosen is not None and found.chosen.rmse > 0
