"""Effects with large coordinates: other coordinates, the same sums that are zero."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import BudgetError, Count, Domain, Integers, Labels, Policy, Reading, Sum
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.engines.irreducibles import irreducibles, longest
from blowproof.verifier.exact.coordinates import LARGEST, Instance

Effects = list[tuple[int, ...]]


@st.composite
def closed(draw: st.DrawFn) -> Effects:
    """Effects in full rank 1 to 3, closed under negation."""
    rank = draw(st.integers(1, 3))
    vectors = st.tuples(*[st.integers(-2, 2)] * rank).filter(any)
    drawn = draw(st.lists(vectors, min_size=rank, max_size=5))
    assume(np.linalg.matrix_rank(np.array(drawn)) == rank)
    return sorted({v for d in drawn for v in (d, tuple(-x for x in d))})


def enlarged(effects: Effects, seed: int) -> Effects:
    """The effects under an invertible map with huge entries."""
    rng, rank = random.Random(seed), len(effects[0])
    rows = [[rng.randrange(-(10**12), 10**12) for _ in range(rank)] for _ in range(rank)]
    for place in range(rank):
        rows[place][place] += 10**14
    return [tuple(sum(a * x for a, x in zip(row, d, strict=True)) for row in rows) for d in effects]


@given(closed(), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_a_linear_map_changes_no_irreducible(effects: Effects, seed: int) -> None:
    huge = enlarged(effects, seed)
    assert max(abs(x) for d in huge for x in d) > LARGEST
    assert np.abs(Instance.of(huge).vectors).max() <= 100
    assert sorted(irreducibles(huge)) == sorted(irreducibles(effects))


def test_what_is_large_by_itself_stays_refused() -> None:
    with pytest.raises(BudgetError, match="coefficients"):
        longest([(2**40,), (-(2**40),), (1,), (-1,)])


TABLE = Domain(sex=Labels(["F", "M"]), age=Integers(0, 2))


@pytest.mark.parametrize("reading", ["published", "add-remove"])
def test_sums_that_hide_counts_behind_large_factors(reading: Reading) -> None:
    """10^9 F + [age = 1] and [age = 1]: that is to know F and [age = 1]."""
    plain = (Count({"sex": "F"}), Count({"age": 1}), Count({"age": 2}))
    hidden = (
        Sum([(10**9, {"sex": "F"}), (1, {"age": 1})]),
        Sum([(7**12, {"age": 1}), (10**9, {"age": 2})]),
        Sum([(1, {"age": 1})]),
    )
    one = sensitivity(Policy(domain=TABLE, known=plain), reading=reading)
    two = sensitivity(Policy(domain=TABLE, known=hidden), reading=reading)
    assert one.status == two.status == "exact"
    assert one.lower == two.lower > 2


def test_proofs_about_reduced_effects_are_accepted() -> None:
    hidden = (
        Sum([(10**9, {"sex": "F"}), (1, {"age": 1})]),
        Sum([(7**12, {"age": 1}), (10**9, {"age": 2})]),
        Sum([(1, {"age": 1})]),
    )
    answer, found = certified(Policy(domain=TABLE, known=hidden), reading="add-remove")
    assert answer.status == "proved", found
