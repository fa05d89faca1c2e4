"""How many records leave one label, and what that says of sums, prefixes and ranges."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    Between,
    Count,
    Domain,
    Impossible,
    Integers,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.beside import facts_beside
from blowproof.verifier.theorems.two_cycles import most_one_sided


def minors(cells: int, top: int, cut: int, *more: Impossible) -> Policy:
    """Cells, and how many are below an age."""
    return Policy(
        domain=Domain(cell=Integers(1, cells), age=Integers(0, top)),
        known=(Marginal(["cell"]), Count({"age": Between(0, cut - 1)}), *more),
    )


def asked(policy: Policy, text: str, norm: str = "l1") -> Question:
    query = parse_query(text, policy) if norm == "l1" else parse_question(text, policy, norm)
    return Question(prepare(setting(policy), "published"), query, "published")


@pytest.mark.parametrize(("cells", "cut"), [(2, 1), (2, 2), (3, 1), (4, 1)])
@pytest.mark.parametrize("text", ["sum(age)", "cumulative(age)", "ranges(age)"])
def test_small_cells_hold_the_search(cells: int, cut: int, text: str) -> None:
    policy = minors(cells, 3, cut)
    found = facts_beside(asked(policy, text))
    truth = sensitivity(policy, text, engine="search", time_limit=30)
    assert found is not None and found.upper is not None
    assert truth.status == "exact"
    assert found.lower <= truth.lower <= found.upper
    if found.witness is not None:
        assert check_pair(setting(policy), "published", found.witness).holds
    if cut == 1 and text == "sum(age)":  # all but the age 0 have one label: the bound is met
        assert found.lower == found.upper == 2 * ((cells + 1) ** 2 // 3)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("norm", ["l1", "linf", "range"])
def test_no_pair_changes_more(seed: int, norm: str) -> None:
    draw = random.Random(seed)
    cells, top = draw.randint(2, 3), draw.randint(2, 4)
    cut = draw.randint(1, top)
    holes = [
        Impossible({"cell": draw.randint(1, cells), "age": draw.randint(0, top)})
        for _ in range(draw.randint(0, 2))
    ]
    policy = minors(cells, top, cut, *holes)
    text = draw.choice(["sum(age)", "cumulative(age)", "marginal(age)", "range(age,1,2)"])
    question = asked(policy, text, norm)
    found = facts_beside(question)
    truth = sensitivity(policy, question.query, engine="search", time_limit=20)
    assert truth.status == "exact"
    if found is not None:
        assert found.lower <= truth.lower <= found.upper  # type: ignore[operator]


def test_a_library_with_minors() -> None:
    """120 cells: 423,160..592,920 before, ranges 11,155,680..18,666,000."""
    policy = minors(120, 99, 18)
    found = facts_beside(asked(policy, "sum(age)"))
    assert found is not None
    assert (found.lower, found.upper) == (425_014, 4880 * 81 + 2440 * 17)


def test_shares_of_cycles_follow_what_moves_are_worth() -> None:
    assert most_one_sided(120) == (41, 40, 40)
    assert most_one_sided(120, zero=0) == (61, 60, 0)
    assert most_one_sided(120, both=0) == (31, 29, 61)
    assert most_one_sided(9, zero=0, both=0) == (1, 1, 8)
    for count in (1, 5, 20):
        for zero, both in ((3, 1), (1, 3), (0, 1), (1, 0)):
            x, y, m = most_one_sided(count, zero, both)
            assert x + y + m == count + 1 and min(x, y) >= 1 and m >= 0
