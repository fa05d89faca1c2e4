"""What `auto` relies on: for each strategy a question that is not answered as well without it.

Time is counted work (models/base/clock), so that the same is asked on a busy machine: no test here
depends on seconds. `benchmarks/ablation.py` looks for what each strategy gains; tests/verifier/
test_plan.py has the same for SAT.
"""

from __future__ import annotations

from dataclasses import dataclass

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
from blowproof.verifier.portfolio.registry import ENGINES, THEOREMS

WORK = 1.0
"""Seconds of work that each question has."""


def table(*sizes: int) -> Domain:
    """Attributes a, b, ... with so many labels each."""
    axes = zip("abcd", sizes, strict=False)
    return Domain(**{axis: Labels([f"{axis}{k}" for k in range(size)]) for axis, size in axes})


OFFICE = Policy(
    domain=Domain(
        age=Integers(0, 99), sex=Labels(["F", "M"]), school=Labels(["none", "some", "more"])
    ),
    known=(Marginal(["sex"]), Count({"age": Between(18, 99)})),
)
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


@dataclass(frozen=True)
class Needs:
    """A question that needs a strategy."""

    policy: Policy
    query: str = "histogram"
    reading: Reading = "published"


NEEDS = {
    "complete graph": Needs(
        Policy(
            domain=table(2, 3), secrets=AttributeChange(), known=(Marginal(["a"]), Marginal(["b"]))
        )
    ),
    "exchanges": Needs(
        Policy(
            domain=Domain(state=Integers(1, 51), age=Integers(0, 99)), known=(Marginal(["state"]),)
        ),
        "cumulative(age)",
        "add-remove",
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
                state=Integers(0, 50),
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
    "ends": Needs(OFFICE, "cumulative(age)"),
    "search": Needs(OFFICE, "sum(age)"),
    "policy graph": Needs(
        Policy(
            domain=Domain(x=Integers(0, 999), y=Integers(0, 999)),
            secrets=Distance(metric="l1", threshold=20),
            known=tuple(
                Count({"x": Between(25 * k, 25 * k + 24), "y": Between(0, 499)}) for k in range(40)
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
        Policy(domain=table(2, 3), known=(Marginal(["a"]), Marginal(["b"]))), reading="markov"
    ),
}


def asked(needs: Needs) -> Answer:
    """Ask with a limit in work alone: no real second ends it."""
    with Budget():
        return sensitivity(needs.policy, needs.query, reading=needs.reading, time_limit=WORK)


def leave_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a strategy out of the plan."""
    monkeypatch.setattr(plan, "ENGINES", tuple(i for i in ENGINES if i.name != name))
    monkeypatch.setattr(plan, "THEOREMS", tuple(i for i in THEOREMS if i.name != name))


@pytest.mark.parametrize("name", NEEDS)
def test_auto_relies_on_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asked(NEEDS[name])
    assert whole.status == "exact"
    leave_out(name, monkeypatch)
    part = asked(NEEDS[name])
    assert part.status == "bounds", f"{name} is not needed for this any more"
    assert part.lower <= whole.lower and (part.upper is None or part.upper >= whole.lower)


NARROWER = {
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
}
"""Questions that are left open, within a good deal more without a strategy."""


@pytest.mark.parametrize("name", NARROWER)
def test_bounds_rely_on_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = asked(NARROWER[name])
    leave_out(name, monkeypatch)
    part = asked(NARROWER[name])
    assert part.upper is None or part.upper >= whole.lower
    loose = part.upper is None or (whole.upper is not None and part.upper > 2 * whole.upper)
    assert whole.lower > 2 * part.lower or loose, f"{name} is not needed for this any more"


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
