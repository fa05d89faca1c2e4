"""Tables that share an attribute: a determinant is at most what its parts allow, multiplied.

*Statement.* Let N classes have distinct signatures of affine rank r, K be the whole vectors k with
sum k = 0 and sum k_c s_c = 0, and d = N - 1 - r its rank. Let K be the sum of K_1, ..., K_s, of
rank d_1, ..., d_s, which live on sets V_1, ..., V_s of classes without a common member. For vectors
of whole numbers, as many as n, let their *list* be that of all their n x n minors. Let the list of
a basis of K_b be a sum, with factors x_F, of lists of F, each of them d_b moves e_i - e_j on V_b,
and w_b the sum of all |x_F|. Cut V_b into d_b + 1 sets (empty ones, too), and let the determinant
of what a basis of K_b adds up to on d_b of them be E_b in size, or less. Let D be the product of
all w_b, with one E_b in place of its w_b, rounded down. Then a circuit makes each of its moves D
times at the most, and (r + 1) D moves in all. By it a set S of classes loses no more than D for
each member of V_b that is in S, or for each that is not, added up over all b.

*Proof.* A circuit of a move and its inverse makes each once. The arcs of any other are a forest, d
- 1 of its trees have independent sums on K, and with the block T_d of all other classes they are a
frame T_1, ..., T_d (`affine_frames.change_above`); its boundary is that frame's k or -k. At least d
trees leave N - d = r + 1 arcs at the most. Let the columns of B be bases of all K_b, so of K, and m
the minors of the d - 1 rows 1_T' B of T_1, ..., T_(d-1). B m is a multiple of k, by a whole number
other than 0 (`frames_above`). An arc is used |k(S)| times, where S is one side of it in its tree,
which lies in one of the blocks, T. That is no more than |(B m)(S)|, the size of the determinant of
the rows of S, T_1, ..., T_(d-1). If T is one of these, take the row of S from that of T: in any
case the rows are of d out of d + 1 sets Q_0, ..., Q_d into which the classes are cut, T being cut
into S and the rest. A single class c, too, is k_c = k({c}), or has a block of its own and k_c = 0.
So sets lose what their members do; and k adds up to 0 on V_b.

It remains to bound the determinant of the d x d matrix Q B, where Q has the rows 1_Q' of d of the
sets. As a function of the columns of K_b it is linear in each, and 0 where two are equal, hence
linear in their list (Laplace). So it is a sum, over one F for each b but one, say 1, of the product
of their x_F times the determinant of Q times the basis of K_1 and all moves in these F. Join the
sets by these d - d_1 moves. A move within a set is a column of zeros, and moves that close a cycle
are dependent: then the determinant is 0. Else the moves are a forest on the d + 1 sets, of d_1 + 1
trees. In each tree without the set that was left out add to the row of one set those of all others:
what the moves have there is 0, and what the basis has is its sum on a union of sets. So the
determinant is, up to its sign, that of these d_1 unions, of d_1 + 1 that make up all classes, which
is E_1 at the most, times a determinant of columns with a 1 at the most, and a -1 at the most: which
is 0, 1 or -1. QED.

*One vector.* A k alone (d_b = 1) is a sum of |k| / 2 moves, where |k| adds up the sizes of its
numbers; and no set has a larger sum: w_b = E_b = |k| / 2.

*Tables.* For the one-way margins of a x c cells K_b has the basis e_ij - e_aj - e_ic + e_ac. With a
= 2 these are m_j - m_c, m_j being the move from one cell of column j to the other, and the list of
the differences of c vectors from the last one is the sum of those of any c - 1 of the vectors, with
signs: w_b = c. For 3 x 3 to 3 x 5 and 4 x 4 cells `SUMS` has sums that a linear program
found, and tests have multiplied out. A permutation of rows and of columns maps the list of the
basis to itself, up to its sign; `SUMS` has one of each kind of F, for the mean of its images.

E_b: let H be the whole vectors on V_b of sum 0, and G the lattice that K_b and a + c - 2 moves
span, as many as join each of the sets in itself. In H modulo the moves, which is what the sets add
up to, a basis of K_b has the determinant in question, and in H modulo K_b, which is what rows and
columns change by, the moves have theirs: in size, both are the index of G in H (or 0, if there is
none). The latter is a sum, over a - 1 of the moves that change rows, of a determinant of how these
move between rows times one of how the others move between columns, each 0, 1 or -1; and the former
is 0 unless the a - 1 moves join all rows as a tree. So E_b is how many trees a graph with a points
and e = a + c - 2 edges has at the most. That is the product of a - 1 numbers of 0 or more that add
up to 2 e, divided by a (Kirchhoff), so (2 e / (a - 1))^(a - 1) / a at the most, rounded down: c for
a = 2, and (c + 1)^2 / 3 for a = 3.

*Met.* Two tables with four ages in common, of 4 regions and of 3 incomes: D is 8,220, determinants
of 4,096 have been met. An ellipsoid (`longest_circuit`) says 55,698, and that a circuit has 445,149
moves, where (r + 1) D is 197,280; one of 48,258 is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd, prod

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.exact.coordinates import inverse
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["SUMS", "Part", "Sum", "moves_of_tables", "of_table", "outputs_of_tables", "parts_of"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")

Basis = Sequence[Sequence[int]]
"""Vectors of K, a number for each class."""

Moves = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Sum:
    """Lists of moves with factors above 0, over a common denominator; cells row by row."""

    denominator: int
    terms: tuple[tuple[int, Moves], ...]

    @property
    def weight(self) -> Fraction:
        """w, the sum of the factors."""
        return Fraction(sum(times for times, _ in self.terms), self.denominator)


SUMS = {
    (3, 3): Sum(
        2,
        (
            (6, ((8, 7), (1, 0), (5, 2), (3, 6))),
            (3, ((3, 4), (0, 1), (2, 8), (5, 2))),
            (3, ((6, 8), (7, 1), (4, 5), (4, 3))),
        ),
    ),
    (3, 4): Sum(
        11,
        (
            (6, ((11, 10), (8, 0), (7, 3), (1, 2), (5, 9), (4, 6))),
            (72, ((10, 2), (3, 7), (5, 4), (11, 9), (0, 8), (6, 2))),
            (3, ((4, 0), (7, 3), (6, 2), (9, 11), (9, 10), (8, 9))),
            (12, ((4, 0), (10, 11), (9, 10), (2, 1), (8, 0), (3, 1))),
            (18, ((8, 4), (5, 7), (2, 1), (3, 11), (0, 1), (10, 6))),
        ),
    ),
    (3, 5): Sum(
        11,
        (
            (30, ((7, 12), (1, 2), (9, 4), (5, 0), (14, 11), (3, 13), (8, 6), (0, 10))),
            (30, ((5, 8), (1, 6), (2, 12), (4, 14), (9, 4), (11, 10), (3, 13), (2, 7))),
            (15, ((5, 10), (13, 12), (0, 5), (4, 9), (8, 7), (1, 6), (11, 12), (14, 11))),
            (90, ((12, 13), (5, 8), (12, 14), (6, 1), (4, 9), (11, 1), (10, 0), (2, 7))),
            (5, ((8, 13), (0, 2), (12, 10), (0, 1), (11, 10), (4, 9), (3, 8), (4, 14))),
        ),
    ),
    (4, 4): Sum(
        12903,
        (
            (18720, ((11, 3), (5, 7), (12, 8), (1, 0), (6, 2), (8, 4), (9, 10), (13, 14), (3, 15))),
            (12960, ((13, 5), (0, 1), (14, 2), (4, 7), (3, 15), (9, 10), (4, 6), (12, 8), (11, 9))),
            (
                7920,
                ((0, 3), (11, 7), (14, 12), (1, 5), (12, 13), (6, 2), (1, 9), (8, 10), (15, 12)),
            ),
            (82368, ((0, 3), (15, 11), (10, 9), (8, 4), (13, 1), (4, 12), (0, 2), (1, 5), (7, 6))),
            (6592, ((8, 11), (15, 12), (0, 3), (6, 14), (6, 10), (12, 13), (8, 9), (1, 0), (2, 6))),
            (
                82368,
                ((0, 3), (13, 14), (9, 1), (8, 11), (7, 15), (6, 2), (8, 10), (1, 5), (13, 12)),
            ),
            (
                24360,
                ((15, 14), (1, 5), (6, 4), (11, 7), (10, 2), (12, 14), (9, 8), (0, 3), (12, 13)),
            ),
            (29760, ((3, 15), (12, 4), (13, 9), (7, 5), (1, 0), (10, 2), (8, 11), (14, 2), (2, 6))),
            (4672, ((1, 2), (5, 13), (14, 10), (10, 6), (1, 3), (12, 8), (9, 5), (1, 0), (4, 8))),
        ),
    ),
}
"""Sums of which the images' mean is the list of a basis, or its negative, by the table's sides."""


def of_table(rows: int, columns: int) -> tuple[Fraction, Fraction] | None:
    """Return w and E for the one-way margins of a table; None where no sum is known.

    >>> [of_table(*sides) for sides in [(2, 7), (9, 9)]]
    [(Fraction(7, 1), Fraction(7, 1)), None]
    >>> of_table(4, 3)
    (Fraction(111, 11), Fraction(8, 1))
    """
    low, high = min(rows, columns), max(rows, columns)
    if low == 2:
        return Fraction(high), Fraction(high)
    if (low, high) not in SUMS:
        return None
    edges = low + high - 2
    trees = (2 * edges) ** (low - 1) // (low * (low - 1) ** (low - 1))
    return SUMS[low, high].weight, Fraction(trees)


@dataclass(frozen=True)
class Part:
    """One of the K_b: the members of V_b, w, E, and if it is a table, its rows of classes."""

    classes: list[int]
    weight: Fraction
    largest: Fraction
    grid: list[list[int]] | None


def moves_of_tables(basis: Basis) -> int | None:
    """Return how many moves a circuit has at the most; None where K is no sum of known parts.

    >>> moves_of_tables([(1, -1, -1, 1, 0, 0, 0, 0), (0, 0, 0, 0, 2, -1, -1, 0)])
    24
    """
    found = parts_of(basis)
    return None if found is None else (len(basis[0]) - len(basis)) * _most(found)


def outputs_of_tables(basis: Basis, rows: Sequence[Sequence[int]]) -> list[int] | None:
    """Return what a circuit changes each row of zeros and ones by at the most; None as above.

    >>> parts = [(1, -1, -1, 1, 0, 0, 0, 0), (0, 0, 0, 0, 2, -1, -1, 0)]
    >>> outputs_of_tables(parts, [(1, 0, 0, 0, 1, 1, 0, 1), (1, 1, 1, 1, 0, 0, 0, 0)])
    [8, 0]
    """
    found = parts_of(basis)
    if found is None:
        return None
    sets, most = [part.classes for part in found], _most(found)
    inside = [[sum(row[c] for c in some) for some in sets] for row in rows]
    return [
        most * sum(min(n, len(some) - n) for n, some in zip(each, sets, strict=True))
        for each in inside
    ]


def parts_of(basis: Basis) -> list[Part] | None:
    """Return the K_b; None where w is not known of each.

    The projection onto the span of K is made of those onto the spans of the K_b.
    """
    if not basis or len(basis[0]) > MOST_CLASSES:
        return None
    columns = np.array(basis, dtype=object).T
    adjugate, det = inverse(columns.T @ columns)
    projection = columns @ adjugate @ columns.T
    found = []
    seen: set[int] = set()
    for first in range(len(columns)):
        if first not in seen and projection[first][first]:
            classes = _linked(projection, first)
            seen.update(classes)
            part = _part(classes, projection[np.ix_(classes, classes)], det)
            if part is None:
                return None
            found.append(part)
    return found


def _most(parts: Sequence[Part]) -> int:
    """Return D."""
    weights = prod((part.weight for part in parts), start=Fraction(1))
    return floor(weights * min((part.largest / part.weight for part in parts), default=1))


def _linked(projection: NDArray[np.object_], first: int) -> list[int]:
    """Return the classes that a chain of products other than 0 leads to."""
    found, waiting = {first}, [first]
    while waiting:
        more = set(np.flatnonzero(projection[waiting.pop()]).tolist()) - found
        found |= more
        waiting += more
    return sorted(found)


def _part(classes: list[int], projection: NDArray[np.object_], det: int) -> Part | None:
    """Return the K_b with this projection, times `det`; None where no sum is known."""
    if int(projection.trace()) == det:
        vector = [int(x) for x in projection[0]]
        half = Fraction(sum(map(abs, vector)), 2 * gcd(*vector))
        return Part(classes, half, half, _square(classes, vector))
    products = projection * len(projection)
    places = None if (products % det).any() else _places(products // det)
    if places is None:
        return None
    sides = max(p[0] for p in places) + 1, max(p[1] for p in places) + 1
    known = of_table(*sides)
    if known is None:
        return None
    at = dict(zip(places, classes, strict=True))
    grid = [[at[i, j] for j in range(sides[1])] for i in range(sides[0])]
    return Part(classes, *known, grid)


def _square(classes: Sequence[int], vector: Sequence[int]) -> list[list[int]] | None:
    """Return the four classes of a vector of two 1 and two -1 as a table."""
    up = [c for c, x in zip(classes, vector, strict=True) if x > 0]
    down = [c for c, x in zip(classes, vector, strict=True) if x < 0]
    if len(up) != 2 or len(down) != 2 or len(set(map(abs, vector))) > 1:
        return None
    return [[up[0], down[0]], [down[1], up[1]]]


def _places(products: NDArray[np.object_]) -> list[tuple[int, int]] | None:
    """Return the places in a table of which this is the projection, times its number of cells.

    For a x c cells it is (a [same row] - 1) (c [same column] - 1), so 1 for cells in different rows
    and columns. The cells that share a row or a column with the first one are found, and of them
    those that share one with the first of these; then each cell has one place.
    """
    count = len(products)

    def aligned(one: int, two: int) -> bool:
        return one == two or bool(products[one][two] != 1)

    beside = [c for c in range(1, count) if aligned(0, c)]
    line = [0, *(c for c in beside if aligned(beside[0], c))]
    across = [0, *(c for c in beside if c not in line)]
    places = []
    for c in range(count):
        rows = [0] if c in line else [k for k, one in enumerate(across) if aligned(c, one)]
        columns = [0] if c in across else [k for k, one in enumerate(line) if aligned(c, one)]
        if c in line:
            columns = [line.index(c)]
        elif c in across:
            rows = [across.index(c)]
        if len(rows) != 1 or len(columns) != 1:
            return None
        places.append((rows[0], columns[0]))
    if len(set(places)) != count or len(across) * len(line) != count:
        return None
    expected = [
        [(len(across) * (p[0] == q[0]) - 1) * (len(line) * (p[1] == q[1]) - 1) for q in places]
        for p in places
    ]
    return places if (products == np.array(expected, dtype=object)).all() else None
