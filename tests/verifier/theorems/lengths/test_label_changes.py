"""Queries that see cells and one more fact alone: no more than the search says, and met."""

from __future__ import annotations

import random

import pytest

from blowproof.models import (
    Count,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.beside import facts_beside
from blowproof.verifier.theorems.lengths.label_changes import most_label_changes


def asked(policy: Policy, text: str = "histogram") -> Question:
    query = parse_query(text, policy)
    return Question(prepare(setting(policy), "published"), query, "published")


def table(columns: int, more: int = 1) -> Policy:
    domain = Domain(a=Integers(0, columns - 1), b=Labels(["F", "M"]), z=Integers(1, more))
    return Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])))


@pytest.mark.parametrize(("columns", "value"), [(2, 4), (3, 8), (4, 16)])
def test_small_tables_are_what_the_search_says(columns: int, value: int) -> None:
    found = sensitivity(table(columns), engine="search", time_limit=60)
    assert found.lower == found.upper == value == 2 * most_label_changes(columns)


@pytest.mark.parametrize(("columns", "value"), [(5, 24), (6, 36), (10, 100), (16, 256)])
@pytest.mark.parametrize("more", [1, 3])
def test_tables_themselves_are_exact(columns: int, value: int, more: int) -> None:
    """2 x 10 was 100..120, 2 x 16 was 256..288."""
    question = asked(table(columns, more), "marginal(a,b)")
    found = facts_beside(question)
    assert found is not None
    assert (found.lower, found.upper) == (value, value)


@pytest.mark.parametrize("seed", range(40))
def test_no_pair_changes_more(seed: int) -> None:
    """Cells of which some lack a label, and a count of some of them."""
    draw = random.Random(seed)
    columns = draw.randint(1, 4)
    domain = Domain(a=Integers(0, columns - 1), b=Labels(["F", "M"]), c=Labels(["u", "v"]))
    known: list[Marginal | Count | Impossible] = [Marginal(["a"])]
    where = [{"a": k, "b": draw.choice("FM")} for k in range(columns)]
    known.append(Count(where) if draw.random() < 0.5 else Marginal(["b"]))
    if draw.random() < 0.4:
        known.append(Impossible({"a": draw.randrange(columns), "b": "F"}))
    policy = Policy(domain=domain, known=tuple(known))
    query = draw.choice(["marginal(a,b)", "marginal(b)", "marginal(b,c)"])
    question = asked(policy, query)
    found = facts_beside(question)
    truth = sensitivity(policy, query, engine="search", time_limit=20)
    assert found is not None and found.upper is not None
    assert truth.upper is not None and truth.lower == truth.upper
    assert found.lower <= truth.upper <= found.upper
    if query == "marginal(a,b)":
        assert found.upper <= 2 * most_label_changes(columns)
    if found.witness is not None:
        assert check_pair(question.setting, "published", found.witness).holds


def test_values_that_the_query_tells_apart_within_a_label_are_not_spoken_of() -> None:
    found = facts_beside(asked(table(5, 2)))
    assert found is not None and found.upper == 36
