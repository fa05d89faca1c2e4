"""Noise in the shape of a polytope that facets describe, on the integers, drawn exactly: no float.

z has probability in proportion to exp(-|z| / b), where |z| is the largest |row z| of the facets,
over the whole z that no row of `fixed` changes. These z are B y for whole y of k dimensions.

*A box around it.* Whatever numbers l_j have sum l_j row_j B = e_i, |y_i| is at most |z| times the
sum of the |l_j|. A linear program in floats says which rows to take; the l_j are then solved for in
fractions, and a side of the box is what these say, however good the guess was. Coordinates are
changed, by steps that keep them whole and can be undone, as long as the box gets smaller.

*Rejection.* Take R with P(R = r) in proportion to N(r) q^r, q = exp(-1 / b), where N(r) counts the
whole points of the box of radius r; then a uniform point of it; and begin anew where its |z| is
above R. What is kept has probability in proportion to the sum of q^r over r >= |z|, which is
q^|z| / (1 - q). For N(r) = prod (2 floor(r s_i) + 1), R is drawn with prod (2 r s_i + 1) in its
place, which is log-concave, and kept with the ratio of the two. One draw in so many is kept as the
box is larger than the polytope: for some six dimensions, and not for many more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from math import isqrt, prod

import numpy as np

from blowproof.mechanisms.base.spread import halton
from blowproof.mechanisms.noise.discrete_laplace import Noise, Source
from blowproof.mechanisms.noise.exponential import exp_minus
from blowproof.mechanisms.noise.log_concave import Envelope, below, enveloped, raw_log_concave
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import Exact, exact
from blowproof.verifier.exact.lattice import integer_kernel

__all__ = ["Body", "Rows", "body_of", "kept_of", "raw_polytope"]

Rows = tuple[tuple[int, ...], ...]
WORD = 64
NARROWER = 0.999
TRIED = 20_000


@dataclass(frozen=True)
class Body:
    """The whole points B y (`basis`: the columns of B), their facets, and a box around all.

    |y_i| <= `sides[i]` times the gauge of B y.
    """

    basis: Rows
    facets: Rows
    sides: tuple[Fraction, ...]

    @property
    def dimension(self) -> int:
        """How many coordinates a point has."""
        return len(self.basis)

    def volume(self, r: int) -> int:
        """Return prod (2 r s_i + 1) over the sides s_i, times the product of their denominators."""
        return prod(2 * r * side.numerator + side.denominator for side in self.sides)

    def gauge(self, y: Sequence[int]) -> int:
        """Return the largest facet at a point."""
        return max((abs(sum(map(int.__mul__, row, y))) for row in self.facets), default=0)

    def point(self, y: Sequence[int]) -> list[int]:
        """Return B y."""
        return [sum(map(int.__mul__, row, y)) for row in zip(*self.basis, strict=True)]


@lru_cache(maxsize=16)
def body_of(facets: Rows, fixed: Rows) -> Body:
    """Return the whole points that `fixed` leaves alone, in coordinates with a small box.

    >>> body_of(((1, 0), (0, 1)), ()).sides
    (Fraction(1, 1), Fraction(1, 1))
    >>> body_of(((1, 0, 0), (0, 1, 0)), ((1, 1, 1),)).dimension
    2
    """
    size = len(facets[0])
    first = [tuple(map(int, column)) for column in integer_kernel(fixed, size).basis.T]
    own = [tuple(sum(map(int.__mul__, row, column)) for column in first) for row in facets]
    rows = sorted({max(row, tuple(-x for x in row)) for row in own if any(row)})
    if integer_kernel(rows, len(first)).rank:
        raise PolicyError("no facet bounds some direction of the noise", key="facets",
                          hint="add rows that see it")  # fmt: skip
    functionals = _narrowed(rows, len(first))
    back = _inverse(functionals)
    basis = tuple(
        tuple(sum(int(back[i][j]) * first[i][at] for i in range(len(first))) for at in range(size))
        for j in range(len(first))
    )
    turned = tuple(tuple(sum(map(int.__mul__, row, column)) for column in basis) for row in facets)
    units = [[int(i == j) for j in range(len(first))] for i in range(len(first))]
    seen = tuple(sorted({max(row, tuple(-x for x in row)) for row in turned if any(row)}))
    return Body(basis, seen, tuple(_side(seen, unit) for unit in units))


def _narrowed(rows: Sequence[Sequence[int]], size: int) -> list[list[int]]:
    """Return whole functionals, that whole functionals undo, under which the box is small."""
    found = [[int(i == j) for j in range(size)] for i in range(size)]
    wide = [_width(rows, item) for item in found]
    better = True
    while better:
        better = False
        for i, j in permutations(range(size), 2):
            for sign in (1, -1):
                tried = [a + sign * b for a, b in zip(found[i], found[j], strict=True)]
                reach = _width(rows, tried)
                if reach < wide[i] * NARROWER:
                    found[i], wide[i], better = tried, reach, True
    return found


def _guess(rows: Sequence[Sequence[int]], target: Sequence[int]) -> tuple[float, list[int]]:
    """Return the least sum of |l_j| with sum l_j row_j = target, and which rows take part."""
    from scipy.optimize import linprog

    table = np.array(rows, dtype=np.float64).T
    scale = float(abs(table).max()) or 1.0
    both = np.concatenate([table, -table], axis=1) / scale
    found = linprog(np.ones(both.shape[1]), A_eq=both, b_eq=np.array(target, dtype=np.float64),
                    method="highs")  # fmt: skip
    if found.x is None:
        return float("inf"), []
    used = np.flatnonzero(found.x > 1e-9 * max(1.0, float(found.x.max())))
    return float(abs(found.x).sum()) / scale, sorted({int(at) % len(rows) for at in used})


def _width(rows: Sequence[Sequence[int]], target: Sequence[int]) -> float:
    return _guess(rows, target)[0]


def _side(rows: Sequence[Sequence[int]], target: Sequence[int]) -> Fraction:
    """Return a proven bound on |target y| by the gauge: the sum of the |l_j|, in fractions."""
    used = _guess(rows, target)[1]
    for some in (used, [*used, *(at for at in range(len(rows)) if at not in used)]):
        solved = _combination([rows[at] for at in some], target)
        if solved is not None:
            return sum(map(abs, solved), Fraction(0))
    raise PolicyError("no facet bounds some direction of the noise", key="facets")


def _combination(
    rows: Sequence[Sequence[int]], target: Sequence[int]
) -> list[Fraction] | None:  # fmt: skip
    """Return l with sum l_j row_j = target, in fractions; None where there is none."""
    many = len(rows)
    table = [[*(Fraction(row[i]) for row in rows), Fraction(value)]
             for i, value in enumerate(target)]  # fmt: skip
    pivots: list[int] = []
    for column in range(many):
        place = len(pivots)
        at = next((k for k in range(place, len(table)) if table[k][column]), None)
        if at is None:
            continue
        table[place], table[at] = table[at], table[place]
        head = table[place][column]
        table[place] = [x / head for x in table[place]]
        for k, row in enumerate(table):
            if k != place and row[column]:
                table[k] = [x - row[column] * y for x, y in zip(row, table[place], strict=True)]
        pivots.append(column)
        if len(pivots) == len(table):
            break
    if any(row[-1] for row in table[len(pivots) :]):
        return None
    found = [Fraction(0)] * many
    for row, column in zip(table, pivots, strict=False):
        found[column] = row[-1]
    return found


def _inverse(rows: Sequence[Sequence[int]]) -> list[list[Fraction]]:
    """Return the inverse of a square matrix that has one."""
    columns = list(zip(*rows, strict=True))
    solved = [_combination(columns, [int(i == j) for i in range(len(rows))])
              for j in range(len(rows))]  # fmt: skip
    assert all(item is not None for item in solved)
    return [list(row) for row in zip(*(item or [] for item in solved), strict=True)]


@lru_cache(maxsize=16)
def _radii(body: Body, b: Fraction) -> Envelope:
    k = body.dimension
    return enveloped(_Ratio(body, b), 0, int(k * b), max(1, int((isqrt(k) + 1) * b)))


@dataclass(frozen=True)
class _Ratio:
    """Encloses f(r) / f(s) for f(r) = prod (2 r s_i + 1) exp(-r / b)."""

    body: Body
    b: Fraction

    def __call__(self, r: int, s: int, bits: int) -> tuple[Fraction, Fraction]:
        whole = Fraction(self.body.volume(r), self.body.volume(s))
        apart = abs(r - s) / self.b
        room = bits + 2 * int(apart) + WORD
        low, high = exp_minus(apart, room)
        if r >= s:
            return whole * Fraction(low, 1 << room), whole * Fraction(high, 1 << room)
        return whole * Fraction(1 << room, high), whole * Fraction(1 << room, low)


def _radius(body: Body, b: Fraction, source: Source) -> tuple[int, list[int]]:
    """Return R with P(R = r) in proportion to N(r) exp(-r / b), and the box's ends at R."""
    while True:
        r = raw_log_concave(_Ratio(body, b), _radii(body, b), 0, source)
        ends = [r * side.numerator // side.denominator for side in body.sides]
        points = prod(2 * end + 1 for end in ends)
        wide = Fraction(body.volume(r), body.volume(0))
        if below(wide.numerator, source) < points * wide.denominator:
            return r, ends


def kept_of(body: Body) -> float:
    """Return about which share of the box the polytope is: how many draws are kept, in floats."""
    sides = np.array([float(side) for side in body.sides])
    points = (2 * halton(TRIED, body.dimension) - 1) * sides
    rows = np.array(body.facets, dtype=np.float64).T
    return float((abs(points @ rows).max(axis=1) <= 1).mean())


def raw_polytope(
    scale: Exact, facets: Rows, fixed: Rows = (), *, source: Source = os.urandom
) -> Noise:
    """Return one draw of whole numbers z, P(z) ~ exp(-max |row z| / scale), exactly.

    Raw: it takes any scale, proved or not, so of our modules only the gate may call it. `source` is
    there for tests of the sampler.

    >>> raw_polytope(0, ((1, 0), (0, 1))).tolist()
    [0, 0]
    >>> int(raw_polytope(3, ((1, 0, 0), (0, 1, 0)), ((1, 1, 1),)).sum())
    0
    """
    b = Fraction(exact(scale, key="scale"))
    if b < 0:
        raise PolicyError(f"a scale is not negative: {b}", key="scale")
    if not b:
        return np.zeros(len(facets[0]), dtype=np.int64)
    body = body_of(facets, fixed)
    while True:
        r, ends = _radius(body, b, source)
        y = [below(2 * end + 1, source) - end for end in ends]
        if body.gauge(y) <= r:
            break
    point = body.point(y)
    large = max(map(abs, point), default=0)
    return np.array(point, dtype=np.int64 if large < 2**62 else object)
