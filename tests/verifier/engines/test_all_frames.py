"""All frames of few classes: what bounds the moves of a pair, against what a search finds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from blowproof.models import (
    Between,
    Clause,
    Count,
    Database,
    Domain,
    Exact,
    Integers,
    Literal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.question import Progress, Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.all_frames import bound_by_all_frames
from blowproof.verifier.engines.irreducibles import longest
from blowproof.verifier.exact.available import AVAILABLE
from blowproof.verifier.theorems.affine_frames import kernel
from blowproof.verifier.theorems.lengths import listed_frames
from blowproof.verifier.theorems.lengths.lattice_free import made_of_circuits
from blowproof.verifier.theorems.most_moves import ceiling

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="numba is an extra")

FIVE = ((261, 637), (367, 759), (707, 814), (861, 965), (667, 757))
"""Overlapping ranges: nine classes with three dependencies; S is 40 (`benchmarks/engines.py`)."""
SEVEN = ((331, 970), (154, 404), (49, 666), (74, 840), (96, 548), (374, 596), (59, 931))
"""14 classes with six dependencies."""


def of_ranges(ranges: tuple[tuple[int, int], ...], answer: int | None = None) -> Policy:
    known = tuple(Count({"x": Between(low, high)}, answer=answer) for low, high in ranges)
    size = None if answer is None else Database(size=20)
    return Policy(domain=Domain(x=Integers(0, 999)), known=known, database=size or Database())


def question(policy: Policy, text: str = "histogram", reading: Reading = "published") -> Question:
    return Question(prepare(setting(policy), reading), parse_query(text, policy), reading)


def told(asked: Question) -> list[Exact | None]:
    """The upper bounds that are told."""
    found: list[Progress] = []
    bound_by_all_frames(replace(asked, listener=found.append))
    return [progress.upper for progress in found]


def test_the_bound_is_below_that_by_volume_and_not_below_the_truth() -> None:
    asked = question(of_ranges(FIVE))
    above = ceiling(asked)
    (upper,) = told(asked)
    assert above is not None and upper is not None
    assert 40 <= upper < above.value
    assert upper == 2 * (3 * 20 - 1)  # three dependencies, and a circuit of 20 moves


@pytest.mark.parametrize("points", [(0, 1, 3, 4), (0, 1, 2, 5), (0, 3, 7, 8), (0, 2, 3, 7, 8)])
def test_no_irreducible_of_points_has_more_moves(points: tuple[int, ...]) -> None:
    values = sorted({x - y for x in points for y in points if x != y})
    basis = kernel([(x,) for x in points])
    circuit = listed_frames.longest_listed(basis, end=float("inf"))
    found = longest([(x,) for x in values])
    assert found.complete and circuit is not None
    assert circuit <= found.lower <= max(len(points), made_of_circuits(len(basis), circuit))


def test_nothing_is_told_that_is_known() -> None:
    asked = question(of_ranges(FIVE))
    assert told(replace(asked, known=lambda: (0, 119))) == [118]
    assert told(replace(asked, known=lambda: (0, 118))) == []


def test_it_speaks_of_equalities_and_labelled_readings() -> None:
    policy = of_ranges(FIVE)
    assert told(question(policy, reading="add-remove")) == []
    assert told(question(policy, reading="secret-moves")) == [118]
    policy = of_ranges(FIVE, answer=1)
    assert told(question(policy)) == [118]
    bounded = replace(policy, known=(*policy.known, Count({"x": 5}, at_least=1)))
    assert told(question(bounded)) == []
    clause = Clause([Literal(1, {"x": 5}), Literal(2, {"x": 7})])
    assert told(question(replace(policy, known=(*policy.known, clause)))) == []


def test_fourteen_classes_are_given_up_at_once_without_the_time_for_them() -> None:
    asked = question(of_ranges(SEVEN))
    assert listed_frames.cuts_to_list(14, 6) <= listed_frames.MOST_CUTS
    assert told(replace(asked, deadline=0.0)) == []
