"""One bound of one end and edges that change no other known number, against the definition."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    BudgetError,
    Count,
    Database,
    Distance,
    Domain,
    Integers,
    Labels,
    Marginal,
    Point,
    Policy,
    Sum,
    setting,
)
from blowproof.models.base.clock import now
from blowproof.models.queries.query import Row
from blowproof.models.queries.ranges import Ranges
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.beside_bounds import beyond_one_end
from blowproof.verifier.theorems.lengths.one_end import Crossed

QUERIES = (
    "sum(age)",
    "histogram",
    "marginal(age)",
    "cumulative(age)",
    "range(age,1,1)",
    "sum(age)",
)


STACKED = (
    *("histogram", "marginal(age)", "cumulative(age)", "marginal(c,age)"),
    *("1/2*histogram+marginal(age)", "sum(age)+2/3*marginal(c)"),
)


def crossed(policy: Policy, text: str, norm: str = "l1") -> tuple[Question, Crossed | None]:
    found = prepare(setting(policy), "published")
    question = Question(found, parse_question(text, policy, norm), "published")
    return question, beyond_one_end(question, now() + 10)


def drawn(rng: random.Random) -> Policy:
    """Cells, and one end of a count or of a sum beside them; ages at a distance are secret."""
    ages = rng.randint(2, 4)
    cells = rng.randint(1, 2)
    held = [(rng.randrange(cells), rng.randint(0, ages)) for _ in range(rng.randint(2, 4))]
    old = rng.randint(1, ages)
    weights = [0] * old + [rng.randint(1, 2) for _ in range(ages + 1 - old)]
    if rng.random() < 0.6:
        weights = [min(1, w) for w in weights]
    number = sum(weights[age] for _, age in held)
    end = {"at_most": number} if rng.random() < 0.5 else {"at_least": number}
    if rng.random() < 0.3:
        end = {key: max(0, value + (1 if key == "at_most" else -1)) for key, value in end.items()}
    counts = [(w, {"age": Between(age, age)}) for age, w in enumerate(weights) if w]
    return Policy(
        domain=Domain(c=Labels(["c0", "c1"][:cells]), age=Integers(0, ages)),
        secrets=Distance(metric="l1", threshold=rng.randint(1, 2), attributes=["age"]),
        known=(
            Marginal(["c"], answers=[sum(c == k for c, _ in held) for k in range(cells)]),
            Sum(counts, **end),
        ),
        database=Database(size=len(held), answers="given"),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("norm", ["l1", "l2-squared", "linf", "range"])
def test_the_bound_holds_and_pairs_are_pairs(norm: str, seed: int) -> None:
    rng = random.Random(seed)
    spoken = 0
    for number in range(6):
        policy = drawn(rng)
        text = (QUERIES if norm == "l1" else STACKED)[number % 6]
        question, found = crossed(policy, text, norm)
        if found is None:
            continue
        try:
            truth = sensitivity(policy, text, norm=norm, engine="brute", time_limit=30)
        except BudgetError:
            continue
        assert truth.status == "exact"
        assert truth.lower <= found.upper, (policy, text)
        if found.pair is not None:
            assert check_pair(question.setting, "published", found.pair)
            value = question.query.difference(found.pair.moves("published"))
            assert value <= truth.lower, (policy, text)
        spoken += 1
    assert spoken >= 4


def payroll(**end: int) -> Policy:
    return Policy(
        domain=Domain(dept=Labels(["sales", "it", "hr"]), salary=Integers(20, 220)),
        secrets=Distance(metric="l1", threshold=20, attributes=["salary"]),
        known=(
            Marginal(["dept"], answers=[90, 60, 50]),
            Count({"salary": Between(150, 220)}, **end),
        ),
        database=Database(size=200, answers="given"),
    )


def graded() -> Policy:
    """The same with grades, which no edge changes."""
    plain = payroll(at_most=12)
    dept, salary = (attribute for _, attribute in plain.domain.attributes)
    domain = Domain(dept=dept, grade=Integers(1, 7), salary=salary)
    return replace(plain, domain=domain)


def test_a_cycle_of_plain_moves_makes_up_for_the_bound() -> None:
    """One record rises by 1 past the end, and three fall by 200 each, from cell to cell."""
    question, found = crossed(payroll(at_most=12), "sum(salary)")
    assert found is not None and found.pair is not None
    assert found.upper == 3 * 200 - 1
    assert question.query.difference(found.pair.moves("published")) == found.upper
    assert check_pair(question.setting, "published", found.pair)
    assert sensitivity(payroll(at_most=12), "sum(salary)").upper == found.upper


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [("histogram", 8, 8), ("marginal(salary)", 8, 8), ("cumulative(salary)", 599, 620)],
)
def test_queries_of_several_numbers(text: str, lower: int, upper: int) -> None:
    """Two cells of an edge and two of each exchange; 20 along an edge and 200 in each of three."""
    question, found = crossed(payroll(at_most=12), text)
    assert found is not None and found.pair is not None
    value = question.query.difference(found.pair.moves("published"))
    assert (value, found.upper) == (lower, upper)
    assert check_pair(question.setting, "published", found.pair)


@pytest.mark.parametrize(
    ("norm", "value"), [("l1", 8), ("l2-squared", 2 * 2 + 2**2 * 2), ("linf", 2), ("range", 4)]
)
def test_the_cell_of_the_edge_exchanges_such_records_twice(norm: str, value: int) -> None:
    """Two records of one cell go and come alike, one of them along the edge; two cells fall."""
    question, found = crossed(payroll(at_most=12), "histogram", norm)
    assert found is not None and found.pair is not None
    assert question.query.difference(found.pair.moves("published")) == found.upper == value
    assert check_pair(question.setting, "published", found.pair)


def test_what_an_edge_does_not_change_costs_the_cycle_alone() -> None:
    for norm, value in (("l2-squared", 6), ("linf", 1), ("range", 2)):
        question, found = crossed(graded(), "marginal(dept,grade)", norm)
        assert found is not None and found.pair is not None
        assert question.query.difference(found.pair.moves("published")) == found.upper == value
        assert check_pair(question.setting, "published", found.pair)


def test_at_the_other_end_records_rise() -> None:
    """One record falls by 1 below the end; three rise by 200."""
    question, found = crossed(payroll(at_least=12), "sum(salary)")
    assert found is not None and found.pair is not None
    assert found.upper == question.query.difference(found.pair.moves("published")) == 3 * 200 - 1


def test_edges_that_change_a_known_number_are_not_spoken_of() -> None:
    policy = replace(payroll(at_most=12), secrets=AttributeChange())
    assert crossed(policy, "sum(salary)")[1] is None


def test_two_ends_are_not_spoken_of() -> None:
    _, found = crossed(payroll(at_least=3, at_most=12), "sum(salary)")
    assert found is None


def test_rows_of_thousands_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """All ranges of a salary: ten thousand numbers in a row, for 201 salaries in each cell."""

    def written(query: Ranges, point: Point) -> Row:
        raise AssertionError("a row was written out")

    monkeypatch.setattr(Ranges, "row", written)
    question, found = crossed(payroll(at_most=12), "ranges(salary)")
    assert found is not None and found.pair is not None
    assert 0 < question.query.difference(found.pair.moves("published")) <= found.upper
