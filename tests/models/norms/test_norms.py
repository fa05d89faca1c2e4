"""Norms: their values, what adds up, and what they write into linear programs."""

import copy
import pickle
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blowproof.models import QueryError
from blowproof.models.norms import L1, L2_SQUARED, LINF, NORMS, RANGE, Norm, norm_named
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import weighted_sum
from blowproof.models.programs.to_cpsat import solve

EVERY = list(NORMS.values())
FRACTIONS = st.fractions(min_value=-9, max_value=9, max_denominator=6)
CHANGES = st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=5)


def counted(values: list[Fraction]) -> list[tuple[Fraction, int]]:
    return [(value, 1) for value in values]


@pytest.mark.parametrize(
    ("norm", "size"), [(L1, 9), (L2_SQUARED, 29), (LINF, 4), (RANGE, 7)], ids=repr
)
def test_sizes_by_hand(norm: Norm, size: int) -> None:
    assert norm.of([(3, 1), (-4, 1), (2, 1)]) == size


def test_a_weight_counts_outputs_or_multiplies_changes() -> None:
    half = Fraction(1, 2)
    sizes = {norm.name: norm.of([norm.weighted((3, 2), half)]) for norm in EVERY}
    assert sizes == {"l1": 3, "l2-squared": 9, "linf": Fraction(3, 2), "range": 0}


@pytest.mark.parametrize("norm", EVERY, ids=repr)
@given(CHANGES)
def test_what_changes_make_together(norm: Norm, pairs: list[tuple[Fraction, Fraction]]) -> None:
    """The size of a sum is bounded by the sizes of its parts, in every way that engines use."""
    one, two = (norm.of(counted([pair[side] for pair in pairs])) for side in (0, 1))
    both = norm.of(counted([x + y for x, y in pairs]))
    assert both <= norm.together([one, two])
    assert both <= norm.repeated(max(one, two), 2)
    scaled = norm.of(counted([3 * x for x, _ in pairs]))
    assert scaled == norm.repeated(one, 3)


@pytest.mark.parametrize("norm", EVERY, ids=repr)
@given(st.lists(st.tuples(*[st.integers(-(2**70), 2**70)] * 2), min_size=1, max_size=4))
def test_lengths_add_up(norm: Norm, pairs: list[tuple[int, int]]) -> None:
    one, two = (int(norm.of([(pair[side], 1) for pair in pairs])) for side in (0, 1))
    both = int(norm.of([(x + y, 1) for x, y in pairs]))
    assert both <= norm.most(norm.length(one) + norm.length(two))
    assert one <= norm.most(norm.length(one))
    within = norm.within(both)
    assert norm.most(within) <= both < norm.most(within + 1)


@pytest.mark.parametrize("norm", EVERY, ids=repr)
@pytest.mark.parametrize("still", [False, True])
@pytest.mark.parametrize("high", [2, 20])
def test_the_program_of_a_norm_finds_the_largest_change(norm: Norm, still: bool, high: int) -> None:
    """Two variables, three outputs with weights: all values of the variables tried."""
    linear = LinearModel(name="gain")
    x = linear.int_var("x", lower=-1, upper=high)
    y = linear.int_var("y", lower=-high, upper=1)
    linear.add(x - y, upper=high)
    rows = [((2, 1), 1), ((1, -1), 3), ((0, 1), 1)]
    outputs = [(weighted_sum([(a, x), (b, y)]), times) for (a, b), times in rows]
    gain = norm.gain(linear, outputs, still=still)
    linear.maximise(gain)
    outcome = solve(linear)
    assert outcome.status == "optimal" and outcome.assignment is not None
    zero = [(0, 1)] if still else []
    best = max(
        norm.of([*((a * p + b * q, times) for (a, b), times in rows), *zero])
        for p, q in product(range(-1, high + 1), range(-high, 2))
        if p - q <= high
    )
    assert gain.evaluate(outcome.assignment) == best


def test_norms_are_one_object_each() -> None:
    for norm in EVERY:
        assert copy.deepcopy(norm) is pickle.loads(pickle.dumps(norm)) is norm_named(norm.name)
    with pytest.raises(QueryError, match="there is no norm 'l3'\n  try: l1, l2-squared"):
        norm_named("l3")
