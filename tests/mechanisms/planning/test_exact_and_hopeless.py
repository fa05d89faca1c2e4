"""What a plan does with answers that cost nothing, and with those that no noise is enough for."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.planning import candidates, planner
from blowproof.mechanisms.planning.options import Option
from blowproof.mechanisms.planning.planner import Planned, planned
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release import request as request_module
from blowproof.mechanisms.release.calibrate import WIDEST, require_width
from blowproof.mechanisms.release.request import Request
from blowproof.models import Domain, Integers, Marginal, Policy
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.ask import Problem, sensitivity

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


@pytest.mark.parametrize("rho", [False, True])
def test_what_no_noise_is_of_use_for_is_asked_once_and_ends_the_plan(rho: bool) -> None:
    """Whoever bounded noise that a histogram follows from would have bounded its S."""
    asked: list[tuple[str, str]] = []

    def ask(policy: Policy, query: Any, reading: Any, limit: float | None) -> Any:
        asked.append((query.name, query.measure.name))
        found = sensitivity(policy, query, reading=reading)
        wide = found.upper and query.name != "marginal(y)"
        return replace(found, upper=10**400, status="bounds") if wide else found

    queries = "histogram", "marginal(y)", "cumulative(x)", "range(y,2,3)"
    found = compared(BESIDE, *queries, rho=rho, oracle=ask, time_limit=60.0)
    assert found.options == ()
    assert found.lost is not None
    assert (found.lost.query, found.lost.upper) == ("histogram", 10**400)
    norm = "l2-squared" if rho else "l1"
    assert [name for name, how in asked if how == norm] == list(queries)
    assert all(name == "marginal(y)" for name, how in asked if how != norm)
    why = {item.mechanism: item.why for item in found.refused if item.query == "histogram"}
    assert {"laplace", "k-norm", "transformed"} <= set(why)
    assert all("401 digits" in text and "at least" in text for text in why.values())
    others = [item for item in found.refused if item.query == "marginal(y)"]
    assert others
    assert all("histogram" in item.why for item in others)
    zero = found.sensitivities[2]
    assert zero is not None
    assert zero.upper == 0


def test_an_answer_that_is_zero_is_so_in_every_norm() -> None:
    def ask(policy: Policy, query: Any, reading: Any, limit: float | None) -> Any:
        asked.append(query.name)
        return sensitivity(policy, query, reading=reading)

    asked: list[str] = []
    request = Request(policy=BESIDE, query="marginal(x)", epsilon=Fraction(1), oracle=ask)
    assert request.sensitivity(in_norm(request.bound, L2_SQUARED, BESIDE.domain)).upper == 0
    found = request.sensitivity()
    assert (found.upper, found.norm, len(asked)) == (0, L1.name, 1)
    other = replace(request, query="marginal(y)")
    assert other.sensitivity().upper != 0
    assert other.sensitivity(in_norm(other.bound, L2_SQUARED, BESIDE.domain)).upper != 0


def test_a_busy_machine_leaves_every_candidate_as_much_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock on the wall goes 200 times as fast as the processor, and is not what shares are of.

    What is too late all the same is said.
    """
    left: list[float] = []
    ready = planner.made_ready

    def made_ready(mechanism: str, request: Request) -> Any:
        left.append(request.left or 0.0)
        if mechanism == "hierarchical":
            raise RefusedError("the time limit was over")
        return ready(mechanism, request)

    monkeypatch.setattr(planner, "made_ready", made_ready)
    begun, started = time.monotonic(), time.process_time()
    monkeypatch.setattr(time, "monotonic", lambda: begun + 200 * (time.process_time() - started))
    found = compared(BESIDE, "sum(y)", "range(y,2,3)", time_limit=4000.0)
    assert found.options
    assert min(left[:2]) > 0.98 * max(left[:2])  # the first of each query
    assert min(left[2:4]) > 0.98 * max(left[2:4])  # later ones have less
    assert min(left) > 0.9 * min(left[2:4])
    assert {item.mechanism for item in found.late} == {"hierarchical"}


def test_there_is_an_option_however_long_others_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """An office's table with four queries: time went to strategies, and "no mechanism answers"."""
    whole = compared(BESIDE, "sum(y)", "range(y,2,3)")

    def over(*_: object) -> list[Option]:
        return []

    monkeypatch.setattr(planner, "_options", over)
    found = compared(BESIDE, "sum(y)", "range(y,2,3)")
    (option,) = found.options
    assert whole.chosen is not None
    assert len(whole.options) > 1
    assert option.rmse >= whole.chosen.rmse > 0
    assert option.plan.description is not None
    assert sum(part.budget for part in option.parts) <= 1


TWO = """
domain.x = { min = 0, max = 3 }
domain.y = { min = 0, max = 2 }
known = [{ marginal = ["x"] }, { marginal = ["y"] }]
"""


def test_a_plan_says_at_once_that_nothing_can_be_released_and_which_fact_to_leave_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def ask(problem: Problem, query: Any, **more: Any) -> Any:
        policy = problem.policy
        if len(policy.known) == 1 or query.name == "sum(x)":
            return sensitivity(policy, query, **more)
        found = sensitivity(replace(policy, known=policy.known[:1]), query, **more)
        return replace(found, upper=10**400, status="bounds")

    monkeypatch.setattr(request_module, "sensitivity", ask)
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(TWO)
    command = ["plan", "p.toml", "--query", "histogram", "--query", "sum(x)"]
    assert run([*command, "--epsilon", "1"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    first = said.partition("nothing spent ")[2]
    assert first.startswith("Not to be released: nothing useful bounds S of histogram from above")
    assert "Leave out marginal(y): then the RMSE, each query alone, is" in first
    assert "sum(x): S = 0, so that it can be published as it is" in first
    assert "publish marginal" not in said  # one fact less is enough, and judged in a moment


def test_a_plan_says_what_there_was_too_little_time_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ready = planner.made_ready

    def late(mechanism: str, request: Request) -> Any:
        if mechanism == "ordered":
            raise RefusedError("the time limit was over")
        return ready(mechanism, request)

    monkeypatch.setattr(planner, "made_ready", late)
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(TWO.replace(', { marginal = ["y"] }', ""))
    assert run(["plan", "p.toml", "--query", "range(y,1,2)", "--epsilon", "1"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "too little time for: ordered (range(y,1,2)) try: a longer --time-limit" in said
