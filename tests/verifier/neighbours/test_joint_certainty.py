"""Reading 5: the exact test of joint certainty, and what it rests on."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    BudgetError,
    Count,
    Database,
    Domain,
    Integers,
    Point,
    Policy,
    SecretGraph,
    UndeterminedError,
    setting,
)
from blowproof.models.programs.linear_lp import Inequality, maximum
from blowproof.verifier.ask import neighbours, sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.neighbours.joint_certainty import separated
from corpus import TRAP, exam_queue
from refusals import refuse
from strategies import policies

Database_ = tuple[Point, ...]


def certain_by_weights(
    first: Database_, second: Database_, world: Sequence[Database_], graph: SecretGraph
) -> bool:
    """The condition word for word: a weight for every record and value, every database of I_Q."""
    values = sorted({x for database in world for x in database})
    number = {key: 2 * k for k, key in enumerate(product(range(len(first)), values))}

    def row(home: Database_, other: Database_) -> Inequality:
        terms: dict[int, int] = {}
        for j, (x, y) in enumerate(zip(home, other, strict=True)):
            for value, sign in ((x, -1), (y, 1)):
                place = number[j, value]
                terms[place] = terms.get(place, 0) + sign
                terms[place + 1] = terms.get(place + 1, 0) - sign
        return Inequality(terms, ">=", 1)

    for i, (x, y) in enumerate(zip(first, second, strict=True)):
        if x == y or not graph.is_edge(x, y):
            continue
        rows = [
            row(home, other)
            for home in (first, second)
            for other in world
            if other != home and other[i] == home[i]
        ]
        if not rows or maximum(rows, {}, 2 * len(number)).status == "optimal":
            return True
    return False


@given(st.data())
@settings(max_examples=25)
def test_the_databases_between_two_decide(data: st.DataObject) -> None:
    """Weights on all of I_Q exist iff the checker says so, which looks at no others."""
    policy = data.draw(policies(scope="given", max_values=3, max_records=3))
    try:
        prepared = prepare(setting(policy), "pufferfish")
    except (BudgetError, UndeterminedError) as error:
        refuse(error)
    values = [x for x in prepared.domain.points() if x not in prepared.impossible]
    world = [d for d in product(values, repeat=prepared.size or 0) if prepared.satisfied_by(d)]
    assume(1 < len(world) <= 12)
    for first in world:
        for second in world:
            if first != second:
                pair = Pair.labelled(first, second, keep=True)
                verdict = check_pair(prepared, "pufferfish", pair)
                expected = certain_by_weights(first, second, world, prepared.graph)
                assert bool(verdict) == expected


def test_a_mixture_of_parts_refutes_where_no_single_part_does() -> None:
    assert not separated([(1, 0), (0, 1)], [(1, 1)])
    assert not separated([(1, 1, 0), (0, 0, 1)], [(1, 0, 1), (0, 1, 0)])
    assert separated([(1, 0), (1, 1)], [(0, 1)])


def test_the_trap_that_published_noise_falls_into() -> None:
    assert sensitivity(TRAP).upper == 2
    assert sensitivity(TRAP, reading="pufferfish").lower == 4


@pytest.mark.parametrize("students", [2, 3, 5])
def test_any_two_states_of_the_exam_queue_are_a_pair(students: int) -> None:
    found = list(neighbours(exam_queue(students), reading="pufferfish"))
    assert len(found) == students * (students + 1)
    listed = set(neighbours(exam_queue(students), reading="pufferfish", engine="brute"))
    assert set(found) == listed


def test_pairs_of_reading_5_with_clauses_need_not_be_minimal() -> None:
    published = set(neighbours(exam_queue(3)))
    pufferfish = set(neighbours(exam_queue(3), reading="pufferfish"))
    assert {len(pair.before) for pair in published} == {1}
    assert {len(pair.before) for pair in pufferfish} == {1, 2, 3}
    assert published < pufferfish


@given(st.data())
@settings(max_examples=25)
def test_readings_1_and_2_have_pairs_of_reading_5_only(data: st.DataObject) -> None:
    policy = data.draw(policies(scope="given", max_values=4, max_records=3))
    try:
        wide = set(neighbours(policy, reading="pufferfish", engine="brute"))
        for reading in ("published", "secret-moves"):
            assert set(neighbours(policy, reading=reading, engine="brute")) <= wide
    except (BudgetError, UndeterminedError) as error:
        refuse(error)


def test_pairs_of_reading_1_are_lower_bounds_where_bounds_are_known() -> None:
    """With bounds S of reading 5 is found from below by reading 1, and from above by parts."""
    known = (Count({"v": [0, 1]}, at_least=2), Count({"v": [1, 2]}, at_most=30))
    policy = Policy(
        domain=Domain(v=Integers(0, 3)), known=known, database=Database(size=40, answers="given")
    )
    published, wide = (sensitivity(policy, reading=r) for r in ("published", "pufferfish"))
    assert published.lower <= wide.lower
    assert wide.upper is not None and wide.upper < 80
