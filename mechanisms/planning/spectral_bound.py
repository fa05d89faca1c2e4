"""What no private mechanism can do for many answers together: a bound by singular values.

*Chains in many directions at once.* Let d_1, ..., d_m each be a move of one record along an edge of
G between values that no fact tells apart, and let database D(k) be one in which k_i records (of L,
held ready for it) have made the move d_i. A step in any direction is a pair of neighbours. Answers
are W h, linear in the counts; a move changes them by W d_i. Draw k at random, with independent
parts, and beyond 0 and L let D(k) be that of the nearest k within: steps stay neighbours, or equal.

*A score.* Be p(k, y) the probability of k and of output y, and s_i = p(k - 1_i, y) / p(k, y) - 1.
For any estimate T(y) of v(k) = W h(k), summing over k in another order,

    E (T - v) s_i = sum over k and y of p(k, y) ((T - v(k + 1_i)) - (T - v(k))) = -W d_i,

and E s_i^2 is at most J = (1 + c)(1 + t) - 1: c is what the privacy allows for the sum over y of
M(y | k - 1_i)^2 / M(y | k), less 1, and t the same of the drawing of k.

* For an epsilon, c = e^epsilon + e^-epsilon - 2: a ratio between e^-epsilon and e^epsilon whose
  mean is 1 has the largest square on average where it is one of the two ends.
* For a rho, c = e^(2 rho) - 1: that is the divergence of order 2.
* For k with chances in proportion to exp(-(k - L/2)^2 / 2 w^2), 1 + t = e^(1 / w^2).

*By Cauchy and Schwarz*, for any matrix C and S the matrix of E s_i s_j,

    (sum over i of <C_i, W d_i>)^2 <= E |T - v|^2 * tr(C S C').

Take weights mu_i >= 0 with sum 1, be A the matrix with columns mu_i^(1/2) W d_i, A = U Z V' its
singular value decomposition, and C = U V' diag(mu^(1/2)). The left side is the square of the sum of
the singular values Z. On the right, C'C <= diag(mu) as V V' <= 1, so the trace is at most the mean
of the E s_i^2: J. So the error is at least (sum of singular values)^2 / J, for any weights.

*Few records.* T is meant to estimate the answers on the database that is there, whose k is cut off
at 0 and L. In the root of the mean square, that is off by at most the root of the sum over i of
|W d_i|^2 E (what is cut off)^2, which is taken off. With L = n / m records for each direction.
Where n is anything, L grows without end, t goes to 0, and nothing is cut off.

*What is looked at.* Some values, all moves between any two of them that G allows, and weights that
make the bound large: each is multiplied by how much the sum of singular values gains by it, again
and again. Whatever the choice, the bound holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.masks import mask
from blowproof.mechanisms.combining.operators import operator_of
from blowproof.models import BlowproofError, BoundQuery, Domain, LinearFact, Setting
from blowproof.models.queries.kinds import Ranges

__all__ = ["change_of_a_step", "least_in_a_chain", "spectral_rmse"]

Floats = NDArray[np.float64]
MOST_CELLS, MOST_NODES, MOST_WORK = 200_000, 120, 100_000_000
ROUNDS = 8
GOLDEN = (math.sqrt(5) - 1) / 2
"""Multiples of it are spread over all values, and not in step with what repeats."""
FEWEST = 1e-12
WIDTHS = (2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 16.0)
"""Half of the records of a direction, in standard deviations of their number."""
SPREAD = (1, 3, 9)
"""So many directions for each value are tried."""


def change_of_a_step(epsilon: float, rho: float | None) -> float:
    """Return what E of the squared score of one step is at most: c.

    >>> round(change_of_a_step(0.1, None), 5), round(change_of_a_step(0.0, 0.005), 5)
    (0.01001, 0.01005)
    """
    return 2 * math.cosh(epsilon) - 2 if rho is None else math.expm1(2 * rho)


def spectral_rmse(
    queries: Sequence[BoundQuery],
    weights: Sequence[float],
    found: Setting,
    promise: tuple[float, float | None],
    size: int | None,
) -> float | None:
    """Return the root of the weighted mean of the squares that no mechanism is below.

    `weights` of the queries, each of which is the mean of its outputs. None where nothing is said.
    """
    facts = [fact for fact in (*found.equalities, *found.bounds) if fact.name != "size"]
    if found.clauses or (found.scope == "given" and facts) or found.domain.size > MOST_CELLS:
        return None
    nodes = _nodes(found, facts, _how_many(queries, found.domain))
    if nodes is None:
        return None
    places, edges = nodes
    try:
        gram = _together(queries, weights, places, found.domain)
    except BlowproofError:
        return None
    change = change_of_a_step(*promise)
    if not 0 < change < math.inf:
        return None
    half = _half(gram)
    share = _shares(half, np.where(edges & (_lengths(gram) > FEWEST), 1.0, 0.0))
    if share is None:
        return None
    if size is None:
        return _singular(half, share) / math.sqrt(change)
    return max(
        _with_records(half, _lengths(gram), share, change, size, many * len(places))
        for many in SPREAD
    )


def _how_many(queries: Sequence[BoundQuery], domain: Domain) -> int:
    """Return how many values there is time for: each is answered and led back once."""
    work = domain.size + sum(_answered(query, domain) for query in queries)
    return min(MOST_NODES, MOST_WORK // max(1, work))


@singledispatch
def _answered(query: BoundQuery, domain: Domain) -> int:
    """Return how many answers one value takes."""
    outputs = query.outputs(domain)
    return query.height if outputs is None else outputs.count


@_answered.register
def _by_formula(query: Ranges, domain: Domain) -> int:
    return 0  # `_of_ranges`


def _nodes(
    found: Setting, facts: Sequence[LinearFact], most: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    """Return some values, and between which of them one record may move, seen by no fact."""
    domain, graph = found.domain, found.graph
    told = [mask(area, domain).ravel() for fact in facts for _, area in fact.terms]
    possible = np.flatnonzero(~mask(found.impossible, domain).ravel())
    rows = np.stack(told)[:, possible].T if told else np.zeros((len(possible), 0), dtype=bool)
    kinds = np.unique(rows, axis=0, return_inverse=True)[1].ravel() if told else np.zeros(
        len(possible), dtype=np.int64
    )  # fmt: skip
    groups = [possible[kinds == kind] for kind in range(int(kinds.max(initial=0)) + 1)]
    if most < 2 or 2 * len(groups) > most:
        return None
    each = most // len(groups)
    sizes = [kind.size for _, kind in domain.attributes]
    for chosen in (_spread(groups, each), _in_pairs(groups, each)):
        places = np.concatenate(chosen)
        group = np.repeat(np.arange(len(chosen)), [len(part) for part in chosen])
        points = list(
            zip(*(part.tolist() for part in np.unravel_index(places, sizes)), strict=True)
        )
        edges = group[:, None] == group
        if not graph.complete:
            for i, j in zip(*np.nonzero(np.triu(edges, 1)), strict=True):
                edges[i, j] = edges[j, i] = graph.is_edge(points[i], points[j])
        np.fill_diagonal(edges, val=False)
        if edges.any(axis=1).mean() > 1 / 2:
            return places, edges
    return None


def _spread(groups: Sequence[NDArray[np.int64]], each: int) -> list[NDArray[np.int64]]:
    """Return some of each group, spread over it."""
    return [
        part if len(part) <= each
        else part[np.unique((len(part) * (np.arange(each) * GOLDEN % 1)).astype(np.int64))]
        for part in groups
    ]  # fmt: skip


def _in_pairs(groups: Sequence[NDArray[np.int64]], each: int) -> list[NDArray[np.int64]]:
    """Return some of each group together with the next: where only near values are joined."""
    found = []
    for part in groups:
        first = np.linspace(0, max(0, len(part) - 2), max(1, each // 2)).astype(np.int64)
        both = np.unique(np.concatenate([first, np.minimum(first + 1, len(part) - 1)]))
        found.append(part[both])
    return found


def _together(
    queries: Sequence[BoundQuery],
    weights: Sequence[float],
    places: NDArray[np.int64],
    domain: Domain,
) -> Floats:
    """Return the products of what some values add to all answers, in the weights of the error."""
    gram = np.zeros((len(places), len(places)))
    for query, weight in zip(queries, weights, strict=True):
        each = weight / sum(weights)
        gram += each * _gram(query, places, domain)
    return gram


@singledispatch
def _gram(query: BoundQuery, places: NDArray[np.int64], domain: Domain) -> Floats:
    """Return the products of what some values add to a query, on the mean of its outputs."""
    linear = operator_of(query, domain)
    rows = []
    for place in places.tolist():
        table = np.zeros(domain.size)
        table[place] = 1.0
        rows.append(linear.back(linear.forward(table))[places])
    return np.array(rows) / linear.height


@_gram.register
def _of_ranges(query: Ranges, places: NDArray[np.int64], domain: Domain) -> Floats:
    """Two positions are both in as many ranges as there are beginnings below and ends above."""
    sizes = [kind.size for _, kind in domain.attributes]
    at = np.unravel_index(places, sizes)[query.axis].astype(np.float64)
    size = sizes[query.axis]
    low, high = np.minimum(at[:, None], at), np.maximum(at[:, None], at)
    return np.asarray((low + 1) * (size - high) / (size * (size + 1) / 2))


def _lengths(gram: Floats) -> Floats:
    """Return by how much a move changes the answers: the square."""
    return np.asarray(np.diag(gram)[:, None] + np.diag(gram) - 2 * gram)


def _shares(half: Floats, share: Floats) -> Floats | None:
    """Return weights of the moves, as a symmetric matrix with sum 2: better ones in each round."""
    if not share.any():
        return None
    share = share * (2 / share.sum())
    for _ in range(ROUNDS):
        share = share * np.maximum(_gains(half, share), 0.0)
        share *= 2 / share.sum()
    return share


def _half(gram: Floats) -> Floats:
    """Return the root K^(1/2) of the products."""
    roots, vectors = _roots(gram)
    return np.asarray((vectors * roots) @ vectors.T)


def _roots(matrix: Floats) -> tuple[Floats, Floats]:
    values, vectors = np.linalg.eigh(matrix)
    return np.sqrt(np.maximum(values, 0.0)), vectors


def _between(half: Floats, share: Floats) -> Floats:
    """Return K^(1/2) L K^(1/2), L being the Laplacian of the weights.

    The trace of its root is the sum of the singular values of all changes, by the roots of their
    weights.
    """
    return np.asarray(half @ (np.diag(share.sum(axis=1)) - share) @ half)


def _singular(half: Floats, share: Floats) -> float:
    """Return the sum of the singular values."""
    return float(np.sqrt(np.maximum(np.linalg.eigvalsh(_between(half, share)), 0.0)).sum())


def _gains(half: Floats, share: Floats) -> Floats:
    """Return for each move what the sum of singular values gains by its weight."""
    roots, own = _roots(_between(half, share))
    inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 1e-9 * roots.max())
    return _lengths(half @ ((own * inverse) @ own.T) @ half)


def _with_records(
    half: Floats, lengths: Floats, share: Floats, change: float, size: int, many: int
) -> float:
    """Return the bound where n is known: for the moves of the largest weights, with n / m each."""
    first, second = np.nonzero(np.triu(share, 1))
    if len(first) > many:
        jitter = np.arange(len(first)) * GOLDEN % 1 * 1e-3
        best = np.argsort(-share[first, second] * (1 + jitter), kind="stable")[:many]
        first, second = first[best], second[best]
    ready = size // len(first) // 2 * 2
    if ready < 2:
        return 0.0
    kept = np.zeros_like(share)
    kept[first, second] = kept[second, first] = share[first, second]
    sum_of = _singular(half, kept * (2 / kept.sum()))
    moved = float(lengths[first, second].sum())
    return max(
        sum_of / math.sqrt(error_of_score(change, ready, width))
        - math.sqrt(max(0.0, moved) * cut_off(ready, ready / 2 / width))
        for width in WIDTHS
    )


def error_of_score(change: float, ready: int, width: float) -> float:
    """Return J: of so many records, half of which are `width` standard deviations."""
    wide = ready / 2 / width
    return (1 + change) * math.exp(min(600.0, wide**-2)) - 1


def least_in_a_chain(change: float, steps: int | None) -> float:
    """Return the least variance of a place in one chain of so many steps (None: without end).

    >>> least_in_a_chain(1.0, None), least_in_a_chain(1.0, 1), least_in_a_chain(1.0, 1000) > 0.99
    (1.0, 0.0, True)
    """
    if not change:
        return math.inf
    if steps is None:
        return 1 / change
    if steps < 2:
        return 0.0
    ready = steps // 2 * 2
    root = max(
        1 / math.sqrt(error_of_score(change, ready, width))
        - math.sqrt(cut_off(ready, ready / 2 / width))
        for width in WIDTHS
    )
    return max(0.0, root) ** 2


def cut_off(ready: int, wide: float) -> float:
    """Return the mean square of what lies beyond 0 and L, for numbers of that standard deviation.

    >>> round(cut_off(2, 1.0), 4), cut_off(100, 10.0) < 1e-5
    (0.1459, True)
    """
    reach = ready // 2
    places: Any = np.arange(0, reach + int(12 * wide) + 2, dtype=np.float64)
    mass = np.exp(-(places**2) / (2 * wide**2))
    total = 2 * mass.sum() - 1
    beyond = np.maximum(0.0, places - reach)
    return float(2 * (mass * beyond**2).sum() / total)
