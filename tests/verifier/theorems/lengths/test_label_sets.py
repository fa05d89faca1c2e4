"""Records of one label that come to some of the cells: no more than the search says, and met."""

from __future__ import annotations

import random
from collections.abc import Hashable
from math import gcd

import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Exact,
    Impossible,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.queries.kinds import MatrixQuery
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.beside import facts_beside
from blowproof.verifier.theorems.lengths.label_sets import separated
from blowproof.verifier.theorems.two_cycles import gained_two


def some_of(columns: int, counted: int, label: str = "F", more: int = 1) -> Policy:
    """Two margins of a table; how many in the first columns have a label is asked."""
    domain = Domain(a=Integers(0, columns - 1), b=Labels(["F", "M"]), z=Integers(1, more))
    query = NamedCount("q", {"a": list(range(counted)), "b": label})
    return Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])), queries=(query,))


def asked(policy: Policy, text: str = "count(q)") -> Question:
    query = parse_query(text, policy)
    return Question(prepare(setting(policy), "published"), query, "published")


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_small_tables_are_what_the_search_says(columns: int) -> None:
    for counted in range(1, columns):
        for label in "FM":
            policy = some_of(columns, counted, label)
            truth = sensitivity(policy, "count(q)", engine="search", time_limit=60)
            assert truth.lower == truth.upper == counted * (columns - counted)
            found = facts_beside(asked(policy))
            assert found is not None
            assert (found.lower, found.upper) == (truth.lower, truth.upper)


@pytest.mark.parametrize(("columns", "counted"), [(7, 3), (9, 6), (12, 4), (120, 24), (121, 98)])
def test_larger_tables_are_exact(columns: int, counted: int) -> None:
    """24 of 120 was 468..2,904."""
    question = asked(some_of(columns, counted, more=2))
    found = facts_beside(question)
    assert found is not None and found.witness is not None
    assert (found.lower, found.upper) == (counted * (columns - counted),) * 2
    assert columns > 7 or check_pair(question.setting, "published", found.witness).holds


def test_no_part_of_the_two_cycles_has_label_0() -> None:
    """How often the two are taken has no common divisor, so neither is a part of label 0."""
    for p in range(1, 16):
        for q in range(1, 16):
            arcs = gained_two(range(p), range(p, p + q))
            gained = [0] * (p + q)
            balance = [0] * (p + q)
            for (x, one), (y, two), often in arcs:
                gained[x] -= one * often
                gained[y] += two * often
                balance[x] -= often
                balance[y] += often
            assert not any(balance)
            assert sum(gained[:p]) == p * q == -sum(gained[p:])
            assert gcd(*(arc.times for arc in arcs)) == 1


@pytest.mark.parametrize("seed", range(24))
def test_no_pair_changes_a_matrix_more(seed: int) -> None:
    """Numbers by class and label, of one output or two; some classes lack a label."""
    draw = random.Random(seed)
    columns = draw.randint(2, 4)
    domain = Domain(a=Integers(0, columns - 1), b=Labels(["F", "M"]))
    known: list[Marginal | Impossible] = [Marginal(["a"]), Marginal(["b"])]
    if draw.random() < 0.4:
        known.append(Impossible({"a": draw.randrange(columns), "b": "F"}))
    policy = Policy(domain=domain, known=tuple(known))
    outputs = draw.randint(1, 2)
    rows: tuple[dict[Hashable, Exact], ...] = tuple(
        {k: x for k in range(outputs) if (x := draw.choice((0, 0, 1, -1, 2)))}
        for _ in range(domain.size)
    )
    query = MatrixQuery(domain, rows)
    question = Question(prepare(setting(policy), "published"), query, "published")
    found = facts_beside(question)
    truth = sensitivity(policy, query, engine="search", time_limit=20)
    assert found is not None and found.upper is not None
    assert truth.status == "exact"
    assert found.lower <= truth.lower <= found.upper
    if outputs == 1 and len(known) == 2:
        most = [rows[2 * k].get(0, 0) - rows[2 * k + 1].get(0, 0) for k in range(columns)]
        assert found.upper <= separated(most)
    if found.witness is not None:
        assert check_pair(question.setting, "published", found.witness).holds


def test_where_records_are_few() -> None:
    """Cells of 9: nobody can lose 20 records, as the pair of most moves would."""
    columns, counted = 24, 4
    known = (Marginal(["a"], answers=[9] * columns), Count({"b": "F"}, answer=100))
    policy = Policy(
        domain=Domain(a=Integers(0, columns - 1), b=Labels(["F", "M"]), z=Integers(1, 2)),
        known=known,
        database=Database(size=9 * columns, answers="given"),
        queries=(NamedCount("q", {"a": list(range(counted)), "b": "F"}),),
    )
    question = asked(policy)
    found = facts_beside(question)
    assert found is not None and found.witness is not None
    assert check_pair(question.setting, "published", found.witness).holds
    assert 30 <= found.lower <= found.upper == 80  # type: ignore[operator]


def test_values_that_the_query_tells_apart_within_a_label_are_not_spoken_of() -> None:
    policy = some_of(5, 2, more=2)
    count = NamedCount("q", {"a": [0, 1], "b": "F", "z": 1})
    found = facts_beside(asked(Policy(domain=policy.domain, known=policy.known, queries=(count,))))
    assert found is not None and found.upper is not None and found.upper > 2 * 3
