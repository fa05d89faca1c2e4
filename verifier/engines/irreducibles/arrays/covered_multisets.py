"""Covered multisets of up to four effects, compiled: finished nodes and their images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.engines.irreducibles.arrays.state import LOW, ONE, TABLES, Fixed, State
from blowproof.verifier.exact.compiled import compiled

__all__ = ["copy_words", "exclude_covered", "mark_covered", "remove_words"]


@compiled
def copy_words(source: NDArray[np.uint64], target: NDArray[np.uint64]) -> None:
    """Make the target equal to the source. (Loops compile in a fraction of the time of slices.)"""
    for k in range(len(source)):
        target[k] = source[k]


@compiled
def remove_words(target: NDArray[np.uint64], gone: NDArray[np.uint64]) -> None:
    """Take the elements of `gone` out of the target."""
    for k in range(len(gone)):
        target[k] &= ~gone[k]


@compiled
def exclude_covered(state: State, d: int, depth: int) -> None:
    """Take out of `fresh` the e such that chosen[1..depth] + d + e has a covered part with d, e."""
    fresh, w = state.fresh, state.chosen
    tables = state.control[TABLES]
    if tables >= 2:
        remove_words(fresh, state.pairs[d])
    if tables >= 3:
        for i in range(1, depth + 1):
            remove_words(fresh, state.triples[w[i], d])
    if tables >= 4:
        for i in range(1, depth + 1):
            for j in range(i + 1, depth + 1):
                a, b, c = _rising(w[i], w[j], d)
                remove_words(fresh, state.quadruples[a, b, c])


@compiled
def mark_covered(problem: Fixed, state: State, depth: int) -> None:
    """Note that chosen[1..depth] and its images under the symmetries are covered (depth 1 to 4)."""
    w = state.chosen
    for g in range(len(problem.permutations)):
        p = problem.permutations[g]
        if depth == 1:
            _unset(state.available[0], p[w[1]])
            _unset(state.todo[0], p[w[1]])
        elif depth == 2:
            a, b = p[w[1]], p[w[2]]
            _set(state.pairs[a], b)
            _set(state.pairs[b], a)
        elif depth == 3:
            a, b, c = p[w[1]], p[w[2]], p[w[3]]
            _mark_triple(state.triples, a, b, c)
            _mark_triple(state.triples, b, c, a)
            _mark_triple(state.triples, c, a, b)
        else:
            a, b, c, d = p[w[1]], p[w[2]], p[w[3]], p[w[4]]
            _mark_quadruple(state.quadruples, a, b, c, d)
            _mark_quadruple(state.quadruples, a, b, d, c)
            _mark_quadruple(state.quadruples, a, c, d, b)
            _mark_quadruple(state.quadruples, b, c, d, a)


@compiled
def _mark_triple(triples: NDArray[np.uint64], a: int, b: int, c: int) -> None:
    _set(triples[a, b], c)
    _set(triples[b, a], c)


@compiled
def _mark_quadruple(quadruples: NDArray[np.uint64], a: int, b: int, c: int, d: int) -> None:
    a, b, c = _rising(a, b, c)
    _set(quadruples[a, b, c], d)


@compiled
def _rising(a: int, b: int, c: int) -> tuple[int, int, int]:
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a, b, c


@compiled
def _set(words: NDArray[np.uint64], e: int) -> None:
    words[e >> 6] |= ONE << (np.uint64(e) & LOW)


@compiled
def _unset(words: NDArray[np.uint64], e: int) -> None:
    words[e >> 6] &= ~(ONE << (np.uint64(e) & LOW))
