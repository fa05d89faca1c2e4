"""What bounds see of a query, at a price of its own: against the definition."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    Between,
    Count,
    Database,
    Domain,
    Exact,
    Integers,
    Labels,
    Marginal,
    Point,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.base.clock import now
from blowproof.models.queries.query import Row
from blowproof.models.queries.ranges import Ranges
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.theorems.beside import beside, groups_of, longest_beside
from blowproof.verifier.theorems.beside_bounds import bounds_beside
from blowproof.verifier.theorems.conformal_parts import all_parts_of
from blowproof.verifier.theorems.lengths.priced_rows import Kept, by_prices

KINDS = ["none", "school", "trade", "bachelor", "master", "doctor"]


def asked(policy: Policy, text: str) -> Question:
    return Question(prepare(setting(policy), "published"), parse_query(text, policy), "published")


def priced(policy: Policy, text: str) -> Exact | None:
    """What prices alone say, each bound of one end being left out in its turn."""
    question = asked(policy, text)
    table = class_table(question.setting)
    kept: list[Kept] = []
    home: tuple[int, ...] = ()
    for part in all_parts_of(question.setting, "published"):
        cells = beside(table, groups_of(question.setting), part.rows)
        assert cells is not None
        home = cells.home
        kept.append((part.rows, longest_beside(cells)))
    return by_prices(question, table, home, kept, now() + 20)


def survey(*bounds: Count) -> Policy:
    """Answers of 2,000 people by education, and bounds on how many are how old."""
    return Policy(
        domain=Domain(education=Labels(KINDS), age=Integers(0, 99)),
        known=(Marginal(["education"], answers=[200, 700, 500, 300, 180, 120]), *bounds),
        database=Database(size=2000, answers="given"),
    )


ADULTS = Count({"age": Between(19, 99)}, at_most=1900)
OLD = Count({"age": Between(81, 99)}, at_least=3)
MIDDLE = Count({"age": Between(30, 69)}, at_least=580, at_most=600)
PUBLISHED = Count({"age": Between(50, 99)}, answer=700)


@pytest.mark.parametrize("text", ["sum(age)", "cumulative(age)"])
@pytest.mark.parametrize(
    ("bounds", "most"),
    [
        ((ADULTS, OLD), 24 * 61),  # 24 * 99 before
        ((Count({"age": Between(60, 99)}, at_least=580, at_most=600),), 24 * 59),
        ((Count({"age": Between(20, 99)}, at_least=1580, at_most=1600),), 24 * 79),
        ((Count({"age": Between(0, 59)}, at_least=580, at_most=600),), 24 * 59),
    ],
)
def test_two_bands_of_ages(text: str, bounds: tuple[Count, ...], most: int) -> None:
    assert priced(survey(*bounds), text) == most
    found = bounds_beside(asked(survey(*bounds), text))
    assert found is not None and found.upper is not None
    assert found.lower <= found.upper <= most


@pytest.mark.parametrize("text", ["sum(age)", "cumulative(age)"])
def test_a_known_count_costs_nothing(text: str) -> None:
    """With a count at 50 there are two facts beside the cells; no move is worth more than 49."""
    published = Count({"age": Between(50, 99)}, answer=700)
    moves = bounds_beside(asked(survey(published, OLD), "marginal(education,age)"))
    assert moves is not None and isinstance(moves.upper, int)
    assert priced(survey(published, OLD), text) == moves.upper // 2 * 49


def test_ends_that_are_no_cut_help_no_prefix() -> None:
    """What is between 30 and 69 is no cut of the axis; a sum may still be cut there."""
    middle = Count({"age": Between(30, 69)}, at_least=580, at_most=600)
    assert priced(survey(middle), "cumulative(age)") == 24 * 99
    assert priced(survey(middle), "sum(age)") == 24 * 99


def drawn(rng: random.Random) -> tuple[Policy, list[str]]:
    """A cell or two, one bound or two on ages beside them, and perhaps a count."""
    cells = rng.randint(1, 2)
    top = rng.randint(2, 3) if cells == 2 else 5
    domain = Domain(c=Labels(["c0", "c1"][:cells]), age=Integers(0, top))
    held = [(rng.randrange(cells), rng.randint(0, top)) for _ in range(3)]
    known: list[Marginal | Count] = [
        Marginal(["c"], answers=[sum(c == k for c, _ in held) for k in range(cells)])
    ]
    for _ in range(rng.randint(1, 2)):
        low = rng.randint(0, top)
        high = top if rng.random() < 0.7 else rng.randint(low, top)
        number = sum(low <= age <= high for _, age in held)
        slack = rng.randint(0, 1)
        if rng.random() < 0.5:
            known.append(Count({"age": Between(low, high)}, at_most=number + slack))
        else:
            known.append(Count({"age": Between(low, high)}, at_least=max(0, number - slack)))
    if rng.random() < 0.3:
        cut = rng.randint(1, top)
        known.append(Count({"age": Between(cut, top)}, answer=sum(age >= cut for _, age in held)))
    database = Database(size=len(held), answers="given")
    return Policy(domain=domain, known=tuple(known), database=database), [
        "sum(age)",
        "cumulative(age)",
        "range(age,1,2)",
    ]


@pytest.mark.parametrize("seed", range(12))
def test_no_pair_changes_more(seed: int) -> None:
    policy, texts = drawn(random.Random(seed))
    for text in texts:
        truth = sensitivity(policy, text, engine="brute", time_limit=20)
        assert truth.status == "exact"
        found = bounds_beside(asked(policy, text))
        assert found is None or found.lower <= truth.lower <= found.upper  # type: ignore[operator]


def test_rows_of_thousands_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ranges of an age: 2,500 numbers in a row, for each of 100 ages in each class."""

    def written(query: Ranges, point: Point) -> Row:
        raise AssertionError("a row was written out")

    monkeypatch.setattr(Ranges, "row", written)
    assert priced(survey(ADULTS, OLD), "ranges(age)") is None
