"""Bounds and clauses under scope "given": theorems on parts, and the answers resting on them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Between,
    BudgetError,
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
    PartitionBy,
    Policy,
    QueryError,
    Reading,
    Setting,
    Steps,
    Sum,
    UndeterminedError,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.reductions.fewer_facts import loosened, without_empty
from blowproof.verifier.reductions.without_clauses import labelled_pair
from blowproof.verifier.theorems.conformal_parts import Parts, other_parts_of, parts_of
from refusals import refuse
from strategies import policies, query_texts

Effect = tuple[int, ...]


@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove"])
@given(st.data())
@settings(max_examples=30, deadline=None)
def test_neighbours_have_no_more_parts_than_the_theorem_says(
    reading: Reading, data: st.DataObject
) -> None:
    kinds = ("count", "sum", "bound", "bound", "clause", "impossible")
    policy = data.draw(policies(scope="given", kinds=kinds, max_values=4, max_records=4))
    try:
        found = loosened(prepare(setting(policy), reading))
        low, high = size_range(found, reading)
        assume(high is not None and high <= 4)
        assert high is not None
        pairs = brute_neighbours(found, reading, sizes=range(low, high + 1), every_label=True)
        theorem = parts_of(found, reading)
        assume(theorem is not None)
        for pair, one in product(pairs, (theorem, other_parts_of(found, reading))):
            assert one is None or _most_parts(found, reading, pair, one.rows) <= one.most
    except (UndeterminedError, BudgetError) as error:
        refuse(error)


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_loosening_keeps_the_same_databases(data: st.DataObject) -> None:
    kinds = ("count", "sum", "bound", "bound", "impossible")
    policy = data.draw(policies(scope="given", kinds=kinds, max_values=5, max_records=3))
    try:
        found = prepare(setting(policy), "add-remove")
    except UndeterminedError as error:
        refuse(error)
    loose = without_empty(loosened(found))
    points = [x for x in found.domain.points() if x not in found.impossible]
    for size in range(5):
        for database in combinations_with_replacement(points, size):
            assert found.counts_fit(database) == loose.counts_fit(database)


def test_cells_that_are_known_to_be_empty_are_left_out() -> None:
    domain = Domain(a=Labels(["0", "1", "2"]), b=Integers(0, 2))
    facts = (Marginal(["a"], answers=[2, 0, 1]), Count({"b": 2}, answer=0))
    policy = Policy(domain=domain, known=facts, database=Database(size=3))
    found = prepare(setting(policy), "published")
    loose = without_empty(found)
    left = [x for x in domain.points() if x not in loose.impossible]
    assert left == [(0, 0), (0, 1), (2, 0), (2, 1)]
    assert without_empty(loose) == loose
    assert sensitivity(policy).lower == sensitivity(policy, engine="brute").lower > 0


@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove"])
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_bounds_and_clauses_agree_with_brute_force(reading: Reading, data: st.DataObject) -> None:
    kinds = ("count", "sum", "bound", "bound", "clause")
    policy = data.draw(policies(scope="given", kinds=kinds, max_values=4, max_records=4))
    query = data.draw(st.sampled_from(query_texts(policy)))
    try:
        listed = sensitivity(policy, query, reading=reading, engine="brute")
        found = sensitivity(policy, query, reading=reading, time_limit=20)
    except (UndeterminedError, BudgetError, QueryError) as error:
        refuse(error)
    assert found.lower <= listed.lower or listed.status == "bounds"
    assert found.upper is None or listed.lower <= found.upper
    assert found.status == "bounds" or found.lower == listed.lower


WARD = Domain(
    sex=Labels(["F", "M"]),
    ward=Labels(["a", "b", "c"], ordered=True),
    age=Integers(0, 115),
    temp=Steps(35, 42, "1/2"),
)
WARD_FACTS = (
    Marginal(["sex", "ward"], answers=[8, 7, 5, 12, 8, 0]),
    Count({"age": Between(18, 65), "sex": "F", "ward": ["a", "b"]}, answer=12),
    Count([{"age": Between(None, 9)}, {"age": Between(90, None)}], at_least=3),
    Sum([(1, {"sex": "F"}), (-1, {"sex": "M"})], equals=0),
    Impossible({"sex": "M", "ward": "c"}),
)
EITHER = Clause([Literal(1, {"sex": "F"}), Literal(2, {"ward": "a"}, inside=False)])


def test_one_end_of_one_bound_leaves_the_irreducibles_of_the_equalities() -> None:
    """The example of the contract, with answers: a bound does not make it hard."""
    policy = Policy(domain=WARD, known=WARD_FACTS, database=Database(size=40))
    found = sensitivity(policy)
    assert (found.lower, found.upper, found.status) == (20, 20, "exact")
    removed = sensitivity(policy, reading="add-remove")
    assert (removed.lower, removed.status) == (4, "exact")


def test_a_clause_beside_the_bound_leaves_one_part_with_the_row_of_the_bound() -> None:
    policy = Policy(domain=WARD, known=(*WARD_FACTS, EITHER), database=Database(size=40))
    found = prepare(setting(policy), "add-remove")
    assert parts_of(found, "add-remove") == Parts(rows=(), most=2)
    assert other_parts_of(found, "add-remove") == Parts(rows=(0,), most=1)


def test_a_clause_beside_the_bound_doubles_the_bound_at_the_most() -> None:
    policy = Policy(domain=WARD, known=(*WARD_FACTS, EITHER), database=Database(size=40))
    found = prepare(setting(policy), "published")
    assert parts_of(found, "published") == Parts(rows=(), most=2)
    bare = sensitivity(replace(policy, known=WARD_FACTS))
    assert bare.witness is not None
    pair = labelled_pair(found, bare.witness)
    assert pair is not None and pair.database is not None
    assert check_pair(found, "published", pair)


def test_a_single_clause_changes_nothing_where_records_can_be_numbered() -> None:
    known = (*WARD_FACTS[:2], *WARD_FACTS[3:], EITHER)
    policy = Policy(domain=WARD, known=known, database=Database(size=40))
    found = sensitivity(policy)
    assert (found.lower, found.status) == (20, "exact")


def test_plain_moves_compensate_for_a_bound() -> None:
    """Reading 1, distance secrets: worse than with full secrets, because parts break a bound."""
    known = (
        Count({"age": Between(0, 4999)}, answer=20),
        Count({"age": Between(3000, 5999)}, at_least=12),
        Count({"age": Between(2000, 3999)}, at_least=5, at_most=8),
    )
    domain = Domain(age=Integers(0, 9999))
    full = Policy(domain=domain, known=known, database=Database(size=40))
    near = replace(full, secrets=Distance(metric="l1", threshold=5))
    complete, found = sensitivity(full), sensitivity(near, time_limit=60)
    assert complete.status == "exact"
    assert found.lower > complete.lower
    assert found.upper is not None and found.lower <= found.upper


def test_partitions_are_answered_by_classes_and_cells() -> None:
    """Too many values to list, but the graph only tells cells apart."""
    domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 9_999))
    known = (Count({"age": Between(0, 99)}, answer=2), Count({"sex": "F"}, answer=2))
    small = (Count({"age": Between(0, 1)}, answer=2), Count({"sex": "F"}, answer=2))
    large = Policy(
        domain=domain, known=known, secrets=PartitionBy(["sex"]), database=Database(size=3)
    )
    listed = replace(large, domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 3)), known=small)
    found, brute = sensitivity(large), sensitivity(listed, engine="brute")
    assert (found.lower, found.status) == (brute.lower, "exact")


def test_the_seed_changes_no_exact_answer() -> None:
    policy = Policy(domain=WARD, known=WARD_FACTS, database=Database(size=40))
    for seed in (0, 1, 7):
        assert sensitivity(policy, seed=seed, reading="add-remove").lower == 4


def _most_parts(found: Setting, reading: Reading, pair: Pair, rows: tuple[int, ...]) -> int:
    """Return the largest number of conformal parts that make up a pair's moves."""
    moves = [_effects(found, move.before, move.after) for move in pair.moves(reading)]
    places = tuple(range(len(moves)))
    return max(
        len(partition)
        for partition in _partitions(places)
        if _conformal([_total(moves, part) for part in partition], rows)
    )


def _effects(found: Setting, before: object, after: object) -> tuple[Effect, Effect]:
    result = []
    for facts in (found.equalities, found.bounds):
        total: Counter[int] = Counter()
        for point, sign in ((before, -1), (after, 1)):
            if point is not None:
                for place, fact in enumerate(facts):
                    total[place] += sign * fact.coefficient(point)  # type: ignore[arg-type]
        result.append(tuple(total[place] for place in range(len(facts))))
    return result[0], result[1]


def _total(moves: list[tuple[Effect, Effect]], part: tuple[int, ...]) -> tuple[Effect, Effect]:
    first, second = zip(*(moves[place] for place in part), strict=True)
    return tuple(map(sum, zip(*first, strict=True))), tuple(map(sum, zip(*second, strict=True)))


def _conformal(parts: list[tuple[Effect, Effect]], rows: tuple[int, ...]) -> bool:
    if any(any(effect) for effect, _ in parts):
        return False
    return all(
        min(push[row] for _, push in parts) >= 0 or max(push[row] for _, push in parts) <= 0
        for row in rows
    )


def _partitions(places: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    if not places:
        yield []
        return
    first, rest = places[0], places[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = tuple(place for place in rest if place not in others)
            for partition in _partitions(left):
                yield [(first, *others), *partition]
