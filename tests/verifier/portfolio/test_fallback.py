"""No question without usable bounds: theorems, determined queries and pairs over a few classes."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    READINGS,
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
    Policy,
    Reading,
    UndeterminedError,
    parse_query,
    setting,
)
from blowproof.models.base.clock import Budget
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.determined import is_determined
from blowproof.verifier.engines.irreducibles import is_irreducible, longest
from blowproof.verifier.exact.coordinates import parts
from blowproof.verifier.exact.span import Span, independent
from blowproof.verifier.moves.edge_ends import edge_ends
from blowproof.verifier.moves.edges_at_once import joined, near_classes
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.known_counts import KnownCounts
from blowproof.verifier.theorems.longest_irreducible import (
    longest_of_effects,
    longest_of_points,
    whole_points,
)
from blowproof.verifier.theorems.most_moves import ceiling, largest_move
from blowproof.verifier.witnesses.few_classes import in_a_box, some_pair
from refusals import refuse
from strategies import policies, query_texts

Rows = list[list[int]]


def _rank(rows: Rows) -> int:
    """Gauss's elimination over the fractions, as in a textbook."""
    left = [[Fraction(x) for x in row] for row in rows]
    rank = 0
    for column in range(len(left[0]) if left else 0):
        pivot = next((i for i in range(rank, len(left)) if left[i][column]), None)
        if pivot is None:
            continue
        left[rank], left[pivot] = left[pivot], left[rank]
        for i in range(rank + 1, len(left)):
            factor = left[i][column] / left[rank][column]
            left[i] = [a - factor * b for a, b in zip(left[i], left[rank], strict=True)]
        rank += 1
    return rank


matrices = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(-2, 2), min_size=width, max_size=width), min_size=1, max_size=5
    )
)


@given(matrices)
@settings(max_examples=200)
def test_spans_are_what_elimination_says(rows: Rows) -> None:
    matrix = np.array(rows)
    assert len(independent(matrix)) == _rank(rows)
    *known, target = rows
    assume(known)
    found = Span(np.array(known)).combination(np.array(target))
    assert (found is not None) == (_rank(rows) == _rank(known))


@given(matrices, st.booleans())
@settings(max_examples=150)
def test_no_irreducible_is_longer_than_the_theorems_say(rows: Rows, differences: bool) -> None:
    points = np.array(rows)
    pairs = [np.subtract(a, b) for a in points for b in points] if differences else [*points]
    effects = {tuple(int(x) for x in d) for e in pairs for d in (e, -e) if e.any()}
    assume(effects)
    found = longest(sorted(effects), time_limit=2)
    assert found.lower <= longest_of_points(points, differences=differences)
    assert found.lower <= longest_of_effects(np.array(sorted(effects)))


@given(st.lists(st.integers(0, 3), max_size=3), st.integers(0, 7))
def test_whole_points_are_counted(sides: list[int], width: int) -> None:
    listed = product(*(range(-side, side + 1) for side in sides))
    assert whole_points(sides, width) == sum(sum(map(abs, v)) <= width for v in listed)


def test_irreducibles_lie_in_one_part_each() -> None:
    """Two blocks without a common fact, and two that only a change of basis tells apart."""
    one = [(1, 0, 0), (-1, 0, 0), (3, 0, 0), (-3, 0, 0)]
    two = [(0, 1, 1), (0, -1, -1), (0, 1, -1), (0, -1, 1)]
    assert sorted(map(len, parts([*one, *two]))) == [2, 2, 4]
    found = longest([*two, *one])
    assert (found.lower, found.upper, found.complete) == (4, 4, True)
    assert is_irreducible([*two, *one], found.witness)


def _asked(policy: Policy, text: str, reading: Reading) -> Question:
    return Question(prepare(setting(policy), reading), parse_query(text, policy), reading)


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=40)
def test_bounds_are_sound(reading: Reading, data: st.DataObject) -> None:
    """lower <= S <= upper, and S = 0 where the facts are said to determine the query."""
    policy = data.draw(policies(max_values=5, max_records=3))
    text = data.draw(st.sampled_from(query_texts(policy)))
    try:
        question = _asked(policy, text, reading)
        listed = sensitivity(policy, text, reading=reading, engine="brute", max_size=3)
    except (BudgetError, UndeterminedError) as error:
        refuse(error)
    top = ceiling(question)
    assert top is None or listed.lower <= top.value
    assert top is not None or (policy.scope == "given" and reading == "add-remove")
    if is_determined(question.setting, question.query, reading):
        assert listed.lower == 0
    value, pair = some_pair(question, seconds=0.05)
    assert (pair is None) == (value == 0)
    if pair is not None:
        assert value == question.query.difference(pair.moves(reading))
        assert check_pair(question.setting, reading, pair)
        assert listed.upper is None or value <= listed.upper


@given(st.data())
@settings(max_examples=40)
def test_a_move_changes_the_query_by_no_more(data: st.DataObject) -> None:
    policy = data.draw(policies(scope="any", kinds=("count",), max_values=5))
    text = data.draw(st.sampled_from(query_texts(policy)))
    query = parse_query(text, policy)
    assume(not query.per_record)
    points = list(policy.domain.points())
    found = setting(policy)
    both, one = (largest_move(found, query, reading) for reading in ("published", "add-remove"))
    assert both is not None
    assert one is not None
    for x in points:
        assert query.norm({x: 1}) <= one
        for y in points:
            assert x == y or query.norm({x: 1, y: -1}) <= both


@given(st.data())
@settings(max_examples=60)
def test_what_is_joined_is_seen(data: st.DataObject) -> None:
    """Arrays and boxes agree with the graph's own word."""
    policy = data.draw(policies(scope="any", kinds=("count",), max_values=8))
    points = list(policy.domain.points())
    flags = joined(policy.graph, points)
    for i, x in enumerate(points):
        for j, y in enumerate(points):
            assert flags[i, j] == policy.graph.is_edge(x, y)
    table = class_table(setting(policy))
    near = near_classes(policy.graph, table.classes, deadline=None)
    ends = edge_ends(policy.graph, table.classes, each=1)
    for i, one in enumerate(table.classes):
        for j, two in enumerate(table.classes):
            edges = [
                (x, y) for x in one.take(99) for y in two.take(99) if policy.graph.is_edge(x, y)
            ]
            assert not edges or near is None or near[i, j]
            assert not edges or any(x in ends and y in ends for x, y in edges)


@given(st.data())
@settings(max_examples=60)
def test_known_counts_bound_every_database(data: st.DataObject) -> None:
    """A goal over classes stays below what the dual proves, in all databases with the numbers."""
    policy = data.draw(policies(scope="given", kinds=("count", "marginal"), max_values=4))
    try:
        found = prepare(setting(policy), "published")
    except UndeterminedError as error:
        refuse(error)
    table = class_table(found)
    known = KnownCounts(found, table, size=found.size, deadline=None)
    goal = data.draw(
        st.lists(st.integers(-2, 2), min_size=len(table.classes), max_size=len(table.classes))
    )
    most = known.most(np.array(goal, dtype=np.int64))
    assert most is not None
    points = list(policy.domain.points())
    random.Random(1).shuffle(points)
    for histogram in _histograms(len(points), found.size or 0):
        records = [x for x, times in zip(points, histogram, strict=True) for _ in range(times)]
        if found.counts_fit(records):
            total = sum(
                goal[place] for x in records for place, c in enumerate(table.classes) if x in c
            )
            assert total <= most


def _histograms(cells: int, size: int) -> list[tuple[int, ...]]:
    if cells == 0:
        return [()] if size == 0 else []
    return [
        (first, *rest) for first in range(size + 1) for rest in _histograms(cells - 1, size - first)
    ]


def _overlapping(count: int, *, size: int | None = None) -> Policy:
    rng = random.Random(count)
    domain = Domain(x=Integers(1, 1000), y=Integers(1, 1000))
    known = []
    for _ in range(count):
        low, left = rng.randint(1, 700), rng.randint(1, 700)
        sides = {"x": Between(low, low + rng.randint(50, 300)), "y": Between(left, left + 200)}
        known.append(Count(sides, answer=None if size is None else 0))
    near = Distance(metric="l1", threshold=20)
    return Policy(domain=domain, known=tuple(known), secrets=near, database=Database(size=size))


@pytest.mark.parametrize("reading", READINGS)
def test_thousands_of_classes_end_with_bounds(reading: Reading) -> None:
    """No engine takes so many classes, and still there is a pair and a theorem."""
    found = sensitivity(_overlapping(40), "cumulative(x)", reading=reading, time_limit=0.5)
    assert found.upper is not None
    assert 0 < found.lower <= found.upper
    assert found.witness is not None
    assert [name for end, name, _ in found.decided_by if end == "upper"] == ["ceiling"]


def test_n_bounds_what_classes_do_not() -> None:
    """The boxes are empty, so all of n = 30 records are of one class, and one moves alone."""
    with Budget():  # counted work: no busy machine makes it too little
        found = sensitivity(_overlapping(40, size=30), "range(x,100,400)", time_limit=0.5)
    assert found.upper is not None
    assert found.lower <= found.upper <= 1


def test_marginals_of_six_attributes_are_no_refusal() -> None:
    domain = Domain({name: Labels(["0", "1", "2"]) for name in "abcdef"})
    known = tuple(Marginal(list(names)) for names in ("ab", "cd", "ef"))
    policy = Policy(domain=domain, known=known, secrets=AttributeChange())
    found = sensitivity(policy, time_limit=1)
    assert found.upper is not None
    assert 0 < found.lower <= found.upper
    fixed = sensitivity(policy, "marginal(c)", time_limit=0.5)
    assert (fixed.lower, fixed.upper, fixed.status, fixed.engine) == (0, 0, "exact", "rank")


def test_n_is_no_fact_where_records_come_and_go() -> None:
    """Both sexes counted but for one value: n tells the rest, where n is known."""
    domain = Domain(sex=Labels(["F", "M"]), age=Integers(0, 10**6))
    policy = Policy(domain=domain, known=(Count({"sex": "F"}),))
    labelled = sensitivity(policy, "marginal(sex)")
    assert (labelled.upper, labelled.engine) == (0, "rank")
    assert sensitivity(policy, "marginal(sex)", reading="add-remove").lower == 1
    sized = Policy(domain=domain, known=policy.known, database=Database(size=9, answers="any"))
    assert sensitivity(sized, "marginal(sex)", reading="add-remove").engine == "rank"


@pytest.mark.parametrize("query", ["cumulative(x)", "ranges(x)"])
def test_a_billion_prefixes_end_in_bounds_rather_than_in_a_list(query: str) -> None:
    policy = Policy(domain=Domain(x=Integers(0, 10**9 - 1)), secrets=Distance(threshold=1000))
    answer = sensitivity(policy, query, time_limit=5.0)
    worst = 1000 if query == "cumulative(x)" else 1000 * (10**9 - 999)
    assert answer.lower <= worst
    assert answer.upper is not None and answer.upper >= worst


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("sum(age)", 476),
        ("marginal(zip)", 4),
        ("cumulative(age)", 480),
        ("ranges(age)", 14_640),
        ("range(age,3,9)", 4),
    ],
)
def test_four_records_come_where_nothing_is_known(query: str, value: int) -> None:
    """Reading 4, 10^13 values: 238..476, 0..4 and 480..14,640 before."""
    domain = Domain(zip=Integers(0, 99_999), age=Integers(0, 119), income=Integers(0, 999_999))
    found = sensitivity(Policy(domain=domain), query, reading="markov", time_limit=60)
    assert (found.lower, found.upper) == (value, value)


def test_where_no_edge_changes_what_the_query_looks_at() -> None:
    """Reading 2: who earns how much is secret, and nobody changes the team."""
    policy = Policy(
        domain=Domain(team=Labels(["x", "y"]), pay=Integers(0, 3)),
        known=(Count({"pay": Between(2, 3), "team": "x"}, answer=1),),
        secrets=Distance(metric="l1", threshold=1, attributes=["pay"]),
        database=Database(size=3),
    )
    for query in ("marginal(team)", "histogram"):
        bound = parse_query(query, policy)
        largest = largest_move(setting(policy), bound, "secret-moves")
        expected = sensitivity(policy, query, reading="secret-moves", engine="brute").upper
        assert expected == (0 if query == "marginal(team)" else 2)
        assert largest == (0 if query == "marginal(team)" else 2)
    assert largest_move(setting(policy), parse_query("marginal(team)", policy), "published") == 2


def test_classes_of_a_box_share_values_of_every_attribute() -> None:
    points = list(product(range(7), range(5), range(1), range(6)))
    for seed in range(20):
        places = in_a_box(points, 60, random.Random(seed))
        sides = [{points[place][axis] for place in places} for axis in range(4)]
        assert sorted(points[place] for place in places) == sorted(product(*sides))
        assert 60 / 2 - 1 <= len(places) <= 60
