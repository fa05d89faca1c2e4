"""What `auto` relies on: for each strategy a question that is not answered as well without it.

Time is counted work (models/base/clock), so that the same is asked on a busy machine: no test here
depends on seconds. `benchmarks/ablation.py` looks for what each strategy gains; tests/verifier/
test_plan.py has the same for SAT.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Impossible,
    Integers,
    Labels,
    Literal,
    Marginal,
    NamedCount,
    PartitionBy,
    Policy,
    Reading,
    Steps,
    Sum,
)
from blowproof.models.base.clock import Budget
from blowproof.verifier import plan
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.portfolio.registry import ENGINES, LAST, THEOREMS

WORK = 0.3
"""Seconds of work that a question has, if it does not say more."""

MUCH = Fraction(6, 5)
"""An end that is worse by as much is a loss that counts: noise grows with the upper one."""


def table(*sizes: int) -> Domain:
    """Attributes a, b, ... with so many labels each."""
    axes = zip("abcd", sizes, strict=False)
    return Domain(**{axis: Labels([f"{axis}{k}" for k in range(size)]) for axis, size in axes})


def cell_by_cell(one: str, rows: int, two: str, columns: int) -> list[Count]:
    """The counts of a table of two attributes, one by one."""
    places = product(range(rows), range(columns))
    return [Count({one: f"{one}{i}", two: f"{two}{j}"}) for i, j in places]


OFFICE = Policy(
    domain=Domain(
        age=Integers(0, 99), sex=Labels(["F", "M"]), school=Labels(["none", "some", "more"])
    ),
    known=(Marginal(["sex"]), Count({"age": Between(18, 99)})),
)
ASKED = ("works", "drives", "owns", "learns")
WARDS = Domain(
    sex=Labels(["F", "M"]),
    ward=Labels(["a", "b", "c"], ordered=True),
    age=Integers(0, 115),
    temp=Steps(35, 42, "1/2"),
)
EQUAL = (
    Marginal(["sex", "ward"], answers=[8, 7, 5, 12, 8, 0]),
    Count({"age": Between(18, 65), "sex": "F", "ward": ["a", "b"]}, answer=12),
    Sum([(1, {"sex": "F"}), (-1, {"sex": "M"})], equals=0),
    Impossible({"sex": "M", "ward": "c"}),
)
CLAUSE = Clause([Literal(1, {"sex": "F"}), Literal(2, {"ward": "a"}, inside=False)])
ATTRIBUTES = Policy(
    domain=WARDS, secrets=AttributeChange(), known=(EQUAL[0], CLAUSE), database=Database(size=40)
)
PARTS = Policy(
    domain=Domain(a=Integers(0, 5), b=Integers(0, 3), c=Integers(0, 39)),
    secrets=Distance(metric="l1", threshold=2, attributes=["c"]),
    known=(
        Count({"a": [1, 3, 4], "c": Between(3, 36)}, at_least=54),
        Count({"a": [0, 1, 3], "b": Between(0, 2), "c": Between(24, 36)}, at_most=2),
        Count({"a": [0, 1, 2, 4, 5], "c": 39}, at_least=2),
    ),
    database=Database(size=100),
)
ONE_SECRET = Policy(
    domain=Domain(a=Integers(0, 2), b=Integers(0, 2)),
    secrets=Distance(metric="l1", threshold=1),
    known=(Marginal(["b"], answers=[9, 11, 10]), Count({"a": 0, "b": [0, 2]}, at_least=2)),
    database=Database(size=30),
)
MERGED = Policy(
    domain=WARDS,
    known=(
        EQUAL[0],
        Count({"age": Between(18, 65), "sex": "F", "ward": ["a", "b"]}, at_least=3),
        CLAUSE,
    ),
    database=Database(size=40),
)


@dataclass(frozen=True)
class Needs:
    """A question that needs a strategy."""

    policy: Policy
    query: str = "histogram"
    reading: Reading = "published"
    norm: str = "l1"
    work: float = WORK


NEEDS = {
    "complete graph": Needs(
        Policy(
            domain=table(2, 2, 2),
            secrets=AttributeChange(),
            known=(Marginal(["a"]), Marginal(["b"]), Marginal(["c"])),
        )
    ),
    "exchanges": Needs(
        Policy(  # n is not known
            domain=Domain(town=Integers(1, 400), age=Integers(0, 99)),
            known=tuple(Count({"town": town}) for town in range(1, 300)),
        ),
        "cumulative(age)",
        "add-remove",
    ),
    "four cells": Needs(
        Policy(
            domain=Domain(school=Integers(1, 9), absent=Integers(0, 190)),
            known=(Marginal(["school"]), Count({"absent": Between(0, 95)})),
        ),
        "cumulative(absent)",
        "markov",
    ),
    "two margins": Needs(  # written cell by cell, they are tables still
        Policy(
            domain=table(6, 13, 3, 2), known=(*cell_by_cell("a", 6, "b", 13), Marginal(["a", "c"]))
        ),
        reading="add-remove",
    ),
    "beside": Needs(
        Policy(domain=table(2, 10, 3), known=(Marginal(["a"]), Marginal(["b"]))), "marginal(c)"
    ),
    "alone": Needs(
        Policy(
            domain=WARDS,
            secrets=PartitionBy(["sex"]),
            known=(Count({"sex": "F"}, at_least=3),),
            database=Database(size=40),
        ),
        "ranges(age)",
    ),
    "no secrets": Needs(
        Policy(
            domain=Domain(x=Integers(0, 10**6)),
            secrets=Distance(metric="l1", threshold=1, strict=True),
            known=(
                Count({"x": Between(0, 9)}, at_least=2),
                Clause([Literal(1, {"x": 0}), Literal(2, {"x": 5})]),
            ),
            database=Database(size=50),
        )
    ),
    "rank": Needs(
        Policy(
            domain=Domain(
                state=Integers(0, 30),
                county=Integers(0, 19),
                sex=Labels(["F", "M"]),
                age=Integers(0, 99),
            ),
            known=(
                Marginal(["state", "sex"]),
                Marginal(["county", "sex"]),
                Marginal(["age"]),
                Count({"age": Between(18, 99), "state": 1}),
            ),
        ),
        "cumulative(county)",
    ),
    "cycles": Needs(
        Policy(domain=OFFICE.domain, known=(Marginal(["sex"]), Marginal(["school", "sex"]))),
        "ranges(age)",
    ),
    "search": Needs(
        replace(OFFICE, known=(Marginal(["school"]), Count({"age": Between(18, 99)}))), "sum(age)"
    ),
    "policy graph": Needs(
        Policy(
            domain=Domain(x=Integers(0, 99), y=Integers(0, 99)),
            secrets=Distance(metric="l1", threshold=1),
            known=tuple(
                Count({"x": Between(10 * k, 10 * k + 9), "y": Between(20 * j, 20 * j + 19)})
                for k in range(10)
                for j in range(5)
            ),
        ),
        reading="secret-moves",
    ),
    "any answers": Needs(
        Policy(
            domain=table(2, 3, 2),
            secrets=AttributeChange(),
            known=(
                Marginal(["a"], answers=[5000, 5000]),
                Marginal(["b"], answers=[3000, 3000, 4000]),
            ),
            database=Database(size=10_000),
        )
    ),
    "without clauses": Needs(
        Policy(domain=WARDS, known=(*EQUAL, CLAUSE), database=Database(size=40))
    ),
    "secret effects": Needs(
        Policy(
            domain=table(3, 3),
            secrets=PartitionBy(["a"]),
            known=(Marginal(["a"]), Count({"b": "b0"})),
        )
    ),
    "ilp": Needs(
        Policy(
            domain=Domain(a=Labels(["p", "q"]), x=Integers(0, 3), c=Labels(["s", "t"])),
            known=(Count({"a": "q", "x": 2}), Count({"x": 2}), Count({"x": Between(1, 3)})),
        ),
        "sum(x)",
        "markov",
    ),
    "tables": Needs(
        Policy(
            domain=Domain(
                state=Integers(1, 51),
                county=Integers(1, 20),
                sex=Labels(["F", "M"]),
                age=Integers(0, 99),
            ),
            known=(Marginal(["state"]),),
        ),
        "marginal(state,sex) + 1/2*marginal(county) + 1/4*histogram",
    ),
    "one-sided": Needs(  # a count that reads more attributes than ends of classes are looked at for
        Policy(
            domain=Domain(
                state=Integers(1, 60),
                sex=Labels(["F", "M"]),
                **{name: Labels(["yes", "no"]) for name in ASKED},
            ),
            known=(Marginal(["state"]), Count({"sex": "F"})),
            queries=(NamedCount("all of it", {"sex": "F", **dict.fromkeys(ASKED, "yes")}),),
        ),
        'count("all of it")',
    ),
    "frames": Needs(
        Policy(
            domain=Domain(x=Integers(0, 9)),
            known=(
                Sum([(97, {"x": 1}), (61, {"x": 2}), (13, {"x": 3})]),
                Sum([(5, {"x": 1}), (103, {"x": 2}), (2, {"x": 3})]),
            ),
        ),
    ),
    "with a secret": Needs(
        Policy(
            domain=Domain(age=Integers(0, 49)),
            secrets=Distance(metric="l1", threshold=1),
            known=tuple(Count({"age": Between(low, low + 20)}) for low in (0, 10, 20)),
        ),
        "sum(age)",
        "pufferfish",
    ),
    "placing": Needs(
        Policy(
            domain=table(2, 3),
            known=(
                Count({"a": "a0"}, answer=300),
                Count({"b": "b0"}, at_least=1, at_most=200),
                Count({"b": "b1"}, at_most=2),
            ),
            database=Database(size=600),
        ),
        "marginal(b)",
    ),
    "merged pairs": Needs(
        Policy(
            domain=table(3, 3),
            secrets=AttributeChange(),
            known=(
                Marginal(["a"], answers=[20, 20, 20]),
                Clause([Literal(1, {"a": "a0"}), Literal(2, {"b": "b1"}), Literal(3, {"b": "b0"})]),
            ),
            database=Database(size=60),
        )
    ),
}


def asked(needs: Needs) -> Answer:
    """Ask with a limit in work alone: no real second ends it."""
    with Budget():
        return sensitivity(
            needs.policy, needs.query, reading=needs.reading, norm=needs.norm, time_limit=needs.work
        )


def leave_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a strategy out of the plan."""
    monkeypatch.setattr(plan, "ENGINES", tuple(i for i in ENGINES if i.name != name))
    monkeypatch.setattr(plan, "THEOREMS", tuple(i for i in THEOREMS if i.name != name))
    if name == LAST.name:
        monkeypatch.setattr(plan, "LAST", replace(LAST, refuses=lambda question: "left out"))


@pytest.mark.parametrize("name", NEEDS)
def test_auto_relies_on_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asked(NEEDS[name])
    assert whole.status == "exact"
    leave_out(name, monkeypatch)
    part = asked(NEEDS[name])
    assert part.status == "bounds", f"{name} is not needed for this any more"
    assert part.lower <= whole.lower and (part.upper is None or part.upper >= whole.lower)


NARROWER = {
    "two databases": Needs(  # forty records: circuits that are found without their numbers are not
        Policy(  # among them
            domain=table(5, 5, 4),
            known=(
                Marginal(
                    ["a", "b"],
                    answers=[
                        0,
                        7,
                        2,
                        1,
                        *[0] * 3,
                        1,
                        *[0] * 3,
                        10,
                        7,
                        9,
                        1,
                        0,
                        0,
                        1,
                        *[0] * 3,
                        1,
                        0,
                        0,
                        0,
                    ],
                ),
                Marginal(
                    ["b", "c"],
                    answers=[0, 0, 0, 0, 14, 2, 2, 0, 8, 3, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0],
                ),
                Marginal(
                    ["a", "c"],
                    answers=[8, 1, 1, 0, 1, 0, 0, 0, 23, 3, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0],
                ),
            ),
        )
    ),
    "ends": Needs(  # half of the classes' widths is all but what the age counts between them
        Policy(
            domain=Domain(age=Integers(0, 19), sex=Labels(["F", "M"])),
            secrets=AttributeChange(),
            known=tuple(
                Count({"age": Between(low, high)}) for low, high in [(0, 4), (9, 13), (3, 13)]
            ),
        ),
        "cumulative(age)",
        work=0.1,
    ),
    "levels": Needs(  # moves that all reach far in both directions do not make up a pair
        Policy(
            domain=Domain(age=Integers(0, 99), sex=Labels(["F", "M"])),
            known=tuple(
                Count({"age": Between(low, high)}) for low, high in [(0, 30), (20, 60), (50, 99)]
            ),
        ),
        "ranges(age)",
    ),
    "matched": Needs(  # thousands of kinds of records that go and come, in cells of schools
        Policy(
            domain=Domain(school=Integers(1, 14), grade=Integers(1, 7), meal=Labels("fp")),
            known=(Marginal(["school"]), Marginal(["grade"]), Count({"meal": "f"})),
        ),
        reading="add-remove",
    ),
    "groups": Needs(  # too much for a search at once; hours and zones are little each
        Policy(
            domain=Domain(zone=Integers(0, 5), to=Integers(0, 3), hour=Integers(0, 15)),
            secrets=AttributeChange(),
            known=(
                Marginal(["zone"]),
                Marginal(["hour"]),
                Count({"zone": Between(0, 2), "to": [0, 1]}),
            ),
        ),
        reading="secret-moves",
        work=3,
    ),
    "bounds": Needs(
        Policy(
            domain=Domain(
                ward=Integers(1, 12),
                outcome=Labels(["home", "died", "else"]),
                sex=Labels(["F", "M"]),
            ),
            known=(
                Marginal(["ward"], answers=[100] * 12),
                Count({"outcome": "died"}, at_least=5),
                Count({"sex": "F"}, at_most=900),
            ),
            database=Database(size=1200),
        )
    ),
    "listed": Needs(
        Policy(
            domain=table(3, 4, 2),
            known=(Marginal(["a"]), Marginal(["b"])),
            queries=(NamedCount("some", {"b": "b3", "c": "c0"}),),
        ),
        "count(some)",
    ),
    "long circuits": Needs(
        Policy(domain=table(2, 8, 3, 3), known=(Marginal(["a", "b"]), Marginal(["a", "c"]))),
        "marginal(d)",
    ),
    "turns": Needs(  # doses rise and fall round the places, and how many were given is known
        Policy(
            domain=Domain(place=Integers(1, 60), doses=Integers(0, 4)),
            known=(
                Marginal(["place"]),
                Sum([(times, {"doses": times}) for times in range(1, 5)]),
            ),
            secrets=Distance(metric="l1", threshold=1, attributes=["doses"]),
        ),
        work=0.5,
    ),
    "ceiling": Needs(
        Policy(
            domain=Domain(x=Integers(0, 999), y=Integers(0, 999)),
            known=tuple(
                Count({"x": Between(20 * k, 20 * k + 300), "y": Between(13 * k, 13 * k + 400)})
                for k in range(25)
            ),
        )
    ),
    "parts": Needs(PARTS, "marginal(a,b)"),
    "one secret": Needs(ONE_SECRET, "marginal(a)", norm="l2-squared"),
    "merging": Needs(
        MERGED,
        work=1.0,
    ),
    "l1": Needs(
        MERGED,
        norm="l2-squared",
        work=1.0,
    ),
    "compensated": Needs(ATTRIBUTES),
    "reading 1": Needs(ATTRIBUTES, reading="pufferfish"),
    "few classes": Needs(
        Policy(
            domain=Domain(x=Integers(0, 29), y=Integers(0, 29)),
            known=tuple(
                Count({axis: Between(low, low + 9)}) for axis in "xy" for low in range(0, 20, 3)
            ),
        ),
        reading="add-remove",
    ),
}
"""Questions that are left open, within a good deal more without a strategy."""


@pytest.mark.parametrize("name", NARROWER)
def test_bounds_rely_on_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asked(NARROWER[name])
    leave_out(name, monkeypatch)
    part = asked(NARROWER[name])
    assert part.upper is None or part.upper >= whole.lower
    loose = part.upper is None or (whole.upper is not None and part.upper >= MUCH * whole.upper)
    worse = whole.lower > 0 and whole.lower >= MUCH * part.lower
    assert worse or loose, f"{name} is not needed for this any more"


QUICKER = {
    "brute": Needs(
        Policy(
            domain=Domain(a=Integers(0, 6)),
            secrets=Distance(metric="l1", threshold=1),
            known=(Count({"a": Between(2, 4)}, answer=1),),
            database=Database(size=2),
        ),
        "ranges(a)",
    ),
    "edges": Needs(
        Policy(
            domain=Domain(x=Integers(0, 9999), y=Integers(0, 9999)),
            secrets=Distance(metric="l1", threshold=7),
            database=Database(answers="any"),
        ),
        "cumulative(x)",
        "pufferfish",
    ),
}
"""Questions that are answered exactly without a strategy, too, by three times the work."""


@pytest.mark.parametrize("name", QUICKER)
def test_work_relies_on_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def worked() -> tuple[Answer, float]:
        needs = QUICKER[name]
        with Budget() as budget:
            return sensitivity(needs.policy, needs.query, reading=needs.reading), budget.used

    whole, work = worked()
    leave_out(name, monkeypatch)
    part, more = worked()
    assert (whole.status, whole.lower) == ("exact", part.lower)
    assert more > 3 * work, f"{name} is not needed for this any more"


def test_areas_answer_what_has_too_many_facts_for_a_table() -> None:
    """Six thousand cells: no other strategy is through with its preparations before minutes."""
    domain = Domain(tract=Integers(0, 5999), sex=Labels(["F", "M"]))
    found = asked(Needs(Policy(domain=domain, known=(Marginal(["tract"]),)), "marginal(sex)"))
    assert (found.status, found.lower) == ("exact", 12_000)
    assert {name for _, name, _ in found.decided_by} == {"areas"}


def test_areas_beside_bound_what_has_too_many_facts_for_a_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a further count, which only this theorem bounds; engines add but pairs."""
    monkeypatch.setattr(plan, "ENGINES", ())
    monkeypatch.setattr(plan, "LAST", replace(LAST, refuses=lambda question: "left out"))
    domain = Domain(tract=Integers(0, 5999), sex=Labels(["F", "M"]))
    known = (Marginal(["tract"]), Count({"sex": "F"}))
    found = asked(Needs(Policy(domain=domain, known=known)))
    assert found.upper == 6001**2 // 2 * 2
    assert {end: name for end, name, _ in found.decided_by}["upper"] == "areas beside"


def test_every_strategy_has_its_question() -> None:
    """What a plan asks has a test here that fails without it (SAT: tests/verifier/test_plan.py)."""
    tested = {*NEEDS, *NARROWER, *QUICKER, "areas", "areas beside", "sat"}
    assert {item.name for item in (*THEOREMS, *ENGINES, LAST)} == tested


def test_the_benchmarks_tell_what_every_strategy_gains() -> None:
    text = (Path(__file__).resolve().parents[2] / "benchmarks" / "README.md").read_text("utf-8")
    table = text.split("## What each strategy gains")[1].split("\n## ")[0]
    told = {line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")}
    assert {item.name for item in (*THEOREMS, *ENGINES, LAST)} <= told
