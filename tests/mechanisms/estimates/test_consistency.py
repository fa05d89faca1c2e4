"""Tables moved onto known counts: the nearest, unbiased, never noisier."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.mechanisms.estimates.consistency import (
    not_negative,
    onto_facts,
    onto_marginals,
    rounded,
)
from blowproof.models import ContradictionError


def facts_of(shape, marginals):
    """The marginals as a sparse matrix over the cells in row-major order."""
    rows = []
    for axes in marginals:
        for cell in itertools.product(*(range(shape[axis]) for axis in axes)):
            mask = np.ones(shape)
            for axis, value in zip(axes, cell, strict=True):
                keep = np.zeros(shape[axis])
                keep[value] = 1
                mask = mask * keep.reshape([-1 if a == axis else 1 for a in range(len(shape))])
            rows.append(mask.ravel())
    return scipy.sparse.csr_array(np.array(rows).reshape(len(rows), int(np.prod(shape))))


def marginal(table, axes):
    return table.sum(axis=tuple(a for a in range(table.ndim) if a not in axes))


@st.composite
def tables(draw):
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    axes = st.sets(st.integers(0, len(shape) - 1)).map(lambda s: tuple(sorted(s)))
    marginals = draw(st.lists(axes, min_size=1, max_size=3, unique=True))
    seed = draw(st.integers(0, 2**32 - 1))
    return shape, marginals, np.random.default_rng(seed)


@given(tables())
@settings(max_examples=60, deadline=None)
def test_one_pass_is_the_projection(case):
    shape, marginals, rng = case
    true = rng.integers(0, 9, shape)
    noisy = true + rng.laplace(0, 3, shape)
    known = {axes: marginal(true, axes) for axes in marginals}
    found = onto_marginals(noisy, known)
    facts = facts_of(shape, marginals)
    answers = facts @ true.ravel()
    assert np.allclose(facts @ found.ravel(), answers)
    # independent route: the pseudo-inverse
    dense = facts.toarray()
    exact = noisy.ravel() + np.linalg.pinv(dense) @ (answers - dense @ noisy.ravel())
    assert np.allclose(found.ravel(), exact, atol=1e-7)
    assert np.allclose(onto_facts(noisy.ravel(), facts, answers), exact, atol=1e-5)


@given(tables())
@settings(max_examples=30, deadline=None)
def test_unbiased_and_never_noisier(case):
    shape, marginals, rng = case
    true = rng.integers(0, 9, shape)
    known = {axes: marginal(true, axes) for axes in marginals}
    assert np.allclose(onto_marginals(true, known), true)
    nothing = {axes: 0 * counts for axes, counts in known.items()}
    size = int(np.prod(shape))
    linear = np.array([onto_marginals(row.reshape(shape), nothing).ravel() for row in np.eye(size)])
    assert (np.diag(linear @ linear.T) <= 1 + 1e-9).all()
    assert np.allclose(linear, linear.T)
    assert np.allclose(linear @ linear, linear)


@given(tables())
@settings(max_examples=30, deadline=None)
def test_whole_numbers_keep_the_known_counts(case):
    shape, marginals, rng = case
    true = rng.integers(0, 6, shape)
    noisy = true.ravel() + rng.laplace(0, 2, true.size)
    facts = facts_of(shape, marginals)
    answers = facts @ true.ravel()
    near = not_negative(noisy, facts, answers)
    assert (near >= 0).all()
    whole = rounded(near, facts, answers)
    assert whole.dtype == np.int64
    assert (whole >= 0).all()
    assert (facts @ whole == answers).all()


def test_rounding_is_nearest():
    facts = scipy.sparse.csr_array(np.ones((1, 4)))
    numbers = np.array([0.2, 1.7, 0.4, 0.7])
    best = min(
        (sum(abs(np.array(t) - numbers)) for t in itertools.product(range(4), repeat=4)
         if sum(t) == 3),
    )  # fmt: skip
    assert abs(rounded(numbers, facts, [3]) - numbers).sum() == pytest.approx(best)


def test_two_overlapping_cuboids_by_hand():
    """Margins ab and bc of a 2 x 2 x 2 table share b; each b is a 2 x 2 table of its own."""
    noisy = np.arange(8, dtype=float).reshape(2, 2, 2)
    true = np.ones((2, 2, 2))
    found = onto_marginals(noisy, {(0, 1): true.sum(axis=2), (1, 2): true.sum(axis=0)})
    assert np.allclose(found, 1)  # the noise is a sum of one function of (a, b) and one of (b, c)


def test_contradicting_marginals_are_refused():
    known: dict[tuple[int, ...], np.ndarray] = {(0,): np.array([1, 2]), (1,): np.array([2, 2])}
    with pytest.raises(ContradictionError, match="contradict"):
        onto_marginals(np.zeros((2, 2)), known)
    with pytest.raises(ContradictionError):
        onto_facts(np.zeros(2), scipy.sparse.csr_array(np.ones((2, 2))), [1, 2])
    with pytest.raises(ContradictionError):
        rounded(np.zeros(2), scipy.sparse.csr_array(np.full((1, 2), 2.0)), [1])
