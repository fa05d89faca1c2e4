"""The plan: who is asked, in which order, as data; and what `auto` loses without them."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from blowproof.cli.asking.stoppable import Stopped
from blowproof.cli.main import run
from blowproof.models import (
    AttributeChange,
    Clause,
    Count,
    Database,
    Domain,
    Impossible,
    InternalError,
    Labels,
    Literal,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.files.writing import to_toml
from blowproof.models.stacks.written import parse_question
from blowproof.verifier import plan
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Progress, Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.portfolio import registry
from blowproof.verifier.portfolio.bounds import Board, Bounds, Reason
from blowproof.verifier.portfolio.registry import ENGINES

REGIONS = Domain(region=Labels(["n", "s", "w"]), size=Labels(["1", "2", "3"]))
LOCKED = Policy(
    domain=REGIONS,
    secrets=AttributeChange(changes=1),
    known=(
        Count({"region": "n"}, answer=3),
        Count({"size": "1"}, at_most=4),
        Count({"region": ["n", "s"], "size": "2"}, at_least=1),
    ),
    database=Database(size=8),
)
"""S = 12: the search alone ends in 12..16, and SAT shows in seconds that there is no more."""

TOTALS = Policy(domain=REGIONS, known=(Count({"region": "n"}),))


def asked(policy: Policy, text: str = "histogram", reading: str = "published") -> Question:
    found = prepare(setting(policy), reading)  # type: ignore[arg-type]
    return Question(found, parse_query(text, policy), reading)  # type: ignore[arg-type]


def names(policy: Policy, reading: str = "published") -> list[str]:
    return [
        step.strategy.name
        for step in plan.plan(asked(policy, reading=reading))
        if step.applies and step.strategy.kind in ("engine", "reduction")
    ]


def test_plans_are_data() -> None:
    assert names(TOTALS) == ["long circuits", "policy graph", "search"]
    near = replace(TOTALS, secrets=AttributeChange(changes=1))
    assert names(near) == ["long circuits", "complete graph", "secret effects", "sat", "ilp"]
    searches = ["long circuits", "complete graph", "secret effects", "with a secret"]
    assert names(near, "pufferfish") == searches
    ways = ["long circuits", "any answers", "parts", "one secret", "compensated", "sat", "ilp"]
    assert names(LOCKED) == ways
    assert names(LOCKED, "add-remove") == ["any answers", "parts", "placing", "ilp"]
    given = replace(TOTALS, database=Database(size=2, answers="given"), known=())
    searching = ["any answers", "placing", "two databases", "sat", "ilp"]
    assert names(given) == ["brute", "long circuits", *searching]
    numbered = replace(
        TOTALS,
        known=(Clause([Literal(1, {"region": "n"}), Literal(2, {"size": "1"})]),),
        database=Database(size=20),
    )
    assert names(numbered) == ["without clauses", "parts", "merging", "sat"]


def test_easier_questions_are_for_those_that_search() -> None:
    def asked_inside(question: Question) -> list[str]:
        steps = plan.plan(question, inner=True)
        return [step.strategy.name for step in steps if step.applies and step.strategy in ENGINES]

    near = replace(TOTALS, secrets=AttributeChange(changes=1))
    assert asked_inside(asked(near)) == ["long circuits", "complete graph", "secret effects"]
    assert asked_inside(asked(near, reading="markov")) == ["ilp"]


def test_in_another_norm_l1_is_asked_once() -> None:
    """An easier question leaves that to the one that it is easier than; frames are walked once."""
    policy = Policy(
        domain=Domain(a=Labels("xy"), b=Labels("uv"), f=Labels("01")),
        known=(Marginal(["a"]), Marginal(["b"])),
    )
    query = parse_question("histogram", policy, "l2-squared")
    question = Question(prepare(setting(policy), "published"), query, "published")

    def asked(**options: bool) -> set[str]:
        steps = plan.plan(question, **options)  # type: ignore[arg-type]
        return {step.strategy.name for step in steps if step.applies}

    assert {"l1", "long circuits"} <= asked()
    assert "l1" not in asked(inner=True) and "long circuits" in asked(inner=True)
    assert "long circuits" not in asked(inner=True, in_l1=True)


def test_an_engine_alone_takes_along_what_is_part_of_it() -> None:
    near = replace(TOTALS, secrets=AttributeChange(changes=1))
    steps = plan.plan(asked(near), only="search")
    assert {step.strategy.name for step in steps} >= {"search", "complete graph", "any answers"}
    assert {"sat", "ilp", "brute", "ceiling"}.isdisjoint(step.strategy.name for step in steps)


def test_who_is_not_asked_has_a_reason() -> None:
    for policy in (TOTALS, LOCKED):
        for step in plan.plan(asked(policy)):
            assert step.applies is not bool(step.why_not)


def test_sat_ends_what_the_search_does_not() -> None:
    found = sensitivity(LOCKED)
    assert (found.lower, found.upper, found.status) == (12, 12, "exact")
    assert {end: name for end, name, _ in found.decided_by}["upper"] in ("sat", "ilp")


def test_without_sat_and_ilp_it_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = tuple(item for item in registry.ENGINES if item.name not in ("sat", "ilp", "brute"))
    monkeypatch.setattr(plan, "ENGINES", alone)
    found = sensitivity(LOCKED, time_limit=5)
    assert found.status == "bounds" and found.lower <= 12 < (found.upper or 99)


def test_an_answer_says_who_decided_it() -> None:
    found = sensitivity(TOTALS)
    assert [end for end, _, _ in found.decided_by] == ["lower", "upper"]
    document = found.to_json(TOTALS.domain)["decided_by"]
    assert {item["bound"] for item in document} == {"lower", "upper"}
    assert all(item["name"] and item["why"] for item in document)


# --- bounds and the board ------------------------------------------------------------------------


def test_bounds_meet_at_the_better_ends() -> None:
    one = Bounds(lower=Fraction(3, 2), upper=9, below=Reason("a", ""), above=Reason("a", ""))
    two = Bounds(lower=1, upper=4, above=Reason("b", ""))
    met = one.meet(two)
    assert (met.lower, met.upper) == (Fraction(3, 2), 4)
    assert met.below is not None and met.below.name == "a"
    assert met.above is not None and met.above.name == "b"
    assert met.meet(Bounds()) == met and Bounds().meet(met) == met


def test_two_engines_that_contradict_each_other_are_a_defect() -> None:
    low = Bounds(lower=5, below=Reason("one", "a pair"))
    high = Bounds(upper=4, above=Reason("two", "a theorem"))
    with pytest.raises(InternalError, match=r"one .a pair. shows .* 5, and two"):
        low.meet(high)


def test_the_board_takes_no_pair_that_is_none() -> None:
    question = asked(TOTALS)
    board = Board(question.setting, question.query, question.reading)
    alone = Pair(before=((0, 0),), after=((1, 0),))
    with pytest.raises(InternalError, match="not one"):
        board.take(board.worth(Reason("somebody", "says so"), pair=alone))
    assert board.known == Bounds()


def test_the_board_values_a_pair_by_itself() -> None:
    question, heard = asked(TOTALS), list[Progress]()
    board = Board(question.setting, question.query, question.reading, heard.append)
    there = Pair(before=((0, 0), (1, 1)), after=((1, 2), (0, 2)))
    board.take(board.worth(Reason("somebody", "says so"), pair=there))
    assert board.ends() == (4, None)
    board.take(board.worth(Reason("somebody", "says less"), upper=6))
    board.take(board.worth(Reason("somebody", "says nothing new"), upper=7))
    assert board.ends() == (4, 6)
    assert [(told.lower, told.upper) for told in heard] == [(4, None), (4, 6)]


def test_nothing_to_find_needs_no_engine() -> None:
    empty = replace(TOTALS, known=(Impossible({"region": ["s", "w"]}), Impossible({"size": "1"})))
    assert sensitivity(empty).status == "exact"


# --- blowproof explain ---------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "totals.toml"
    path.write_text(to_toml(TOTALS), encoding="utf-8")
    return str(path)


def test_explain_lists_the_steps_as_the_contract_says(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["explain", file, "--run", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == "blowproof/explain/1"
    keys = {"name", "kind", "applies", "why", "lower", "upper", "seconds"}
    assert all(set(step) == keys and step["why"] for step in document["steps"])
    cycles = next(step for step in document["steps"] if step["name"] == "cycles")
    assert (cycles["applies"], cycles["lower"], cycles["upper"]) == (True, 4, 4)
    search = next(step for step in document["steps"] if step["name"] == "search")
    assert (search["applies"], search["seconds"]) == (True, None)
    sat = next(step for step in document["steps"] if step["name"] == "sat")
    assert (sat["applies"], sat["seconds"]) == (False, None)


def test_explain_tells_people_who_decided(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", file, "--run"]) == 0
    shown = capsys.readouterr().out
    assert "S = 4" in shown and "upper bound: " in shown and "left out: " in shown
    assert run(["explain", file, "--query", "marginal(nothing)"]) == 2


def test_explain_that_is_stopped_tells_what_was_found(
    file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = plan.Run.answer

    def cut(self: plan.Run, started: float) -> Answer:
        whole(self, started)
        raise Stopped("stopped at the time limit")

    monkeypatch.setattr(plan.Run, "answer", cut)
    assert run(["explain", file, "--run"]) == 0
    shown = capsys.readouterr().out
    assert "stopped at the time limit" in shown and "S = 4" not in shown
    assert run(["explain", file, "--run", "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert any(step["upper"] == 4 for step in steps)


def test_an_engine_alone_that_has_no_time_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its model would not be written by the end: no bounds, and no error without a word."""

    def out_of_time(_: Question) -> Answer:
        raise TimeoutError

    strategy = replace(plan.named("ilp"), run=out_of_time)
    monkeypatch.setattr(plan, "named", lambda _: strategy)
    policy = Policy(domain=REGIONS, known=(Marginal(("region",), answers=[1, 1, 1]),))
    question = Question(setting(policy), parse_query("histogram", policy), "published")
    told = plan.answer(question, "ilp")
    assert (told.lower, told.upper, told.status) == (0, None, "bounds")
    assert "time limit" in " ".join(told.notes)
