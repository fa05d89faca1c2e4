"""Tables that share an attribute: a determinant is at most what its parts allow, multiplied.

*Statement.* Let N classes have distinct signatures of affine rank r, K be the whole vectors k with
sum k = 0 and sum k_c s_c = 0, and d = N - 1 - r its rank. Let K be the sum of K_1, ..., K_s, of
rank d_1, ..., d_s, which live on sets V_1, ..., V_s of N_1, ..., N_s classes without a common
member. For vectors of whole numbers, as many as n, let their *list* be that of all their n x n
minors. Let the list of a basis of K_b be a sum, with factors x_F, of lists of F, each of them d_b
moves e_i - e_j on V_b, and w_b the sum of all |x_F|. Cut V_b into d_b + 1 sets (empty ones, too),
and let the determinant of what a basis of K_b adds up to on d_b of them be E_b in size, or less.
Take any N_b - d_b moves on V_b, and for each of them the determinant on the sets that the others
join (0 if these close a cycle, or one of them stays where it is): let these add up to T_b in size,
or less; E_b (N_b - d_b) will do. Let W be the product of all w_b, and D be W with one E_b in place
of its w_b, rounded down. Then a circuit makes each of its moves D times at the most, and no more
moves in all than (r + 1) D, nor than W times the sum of all T_b / w_b and of how many classes are
in no V_b. By it a set S of classes loses no more than D for each member of V_b that is in S, or for
each that is not, added up over all b.

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

*All moves together.* Let M have the moves of a circuit that is no move and its inverse for columns,
and further ones that join trees among the classes that are in none of T_1, ..., T_(d-1), until d
trees and N - d moves are left. These are not made, for k is 0 on each of the trees. For a row q of
N - d numbers and a class x, let A(q) be the determinant, of N + 1 rows and columns, of

    B  M  e_x
    0  q   0

By the last row it is the sum of q_j times the determinants of B, M without the column j, and e_x;
their signs alternate. In the latter add up the rows of each tree of the other moves: it is the
determinant of what B adds up to on the trees that x is not in, which is that of (B m)(S) for the
arc j, as above, up to its sign. So for some signs q no more moves are made than A(q), in size.
(Which class x is does not matter, as all other columns add up to 0.)

Let each class that is in no V_b be a set V_b of its own, with d_b = 0 and w_b = E_b = T_b = 1. Let
q^b be q with q_j halved if one end of the move j is in V_b, and 0 in its place if none is. Then q
is the sum of all q^b, and it remains to show that A(q^b) is at most T_b times the product of all
other w_b'. It is linear in the lists of their bases (expand by their columns; in the last row they
are 0), so it is a sum, with factors x_F, of determinants where moves outside of V_b, with 0 in the
last row, are in their place. Take one that is not 0, and x in V_b. The rows of the classes outside
of V_b have a minor that is not 0 by some moves, as many as these classes: they are a forest R that
joins each of these to V_b, seen as one point. Take from each other move the moves of R that lead
from its ends to V_b. Then it is 0 outside of V_b, and a move from one class of V_b to another (or
the same). Of what it takes only the last move on either side has an end in V_b, and so half a sign
in the last row; the move itself has none there if it is outside, half a one if it has one end
in V_b, and takes one move of R then, and is left as it is if it has both. So now the last row has
numbers of size 1 at the most. (Ways that meet before V_b leave a column of zeros.) As a minor of a
forest is 1 or -1, the determinant is that of the basis of K_b, of N_b - d_b moves on V_b and e_x,
with these numbers in the last row: T_b at the most. QED.

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

T_b: by the same index, for e = a + c - 1 moves the determinants are those of the matrix X of how
each move changes all rows but one, and Y of columns, without one of the moves; and their sum, with
the best signs for a last row q, is the determinant of X, Y and q. Its square is at most det YY'
times det ZZ', Z being X and q (Fischer). The former counts trees of a graph with c points and e
edges (Cauchy and Binet), and so is (2 e / (c - 1))^(c - 1) / c at the most. Let L be XX', for a
graph of the moves as edges between rows, and y_i by how many more moves with a sign of 1 come to
the row i than leave it, -1 counting the other way round. Then ZZ' is L with a further row and
column y, and e at the end, and its determinant is e det L at the most. For a = 3 and a = 4 all
graphs and signs are looked through: 72 and 80 for six edges, 36 for a = 3 and five. Each table may
be turned round. So T is 16 for 3 x 3, and 30 for 3 x 4.

With a = 2, T is (c + 1)^2 / 2, rounded down. For as det YY' is not 0, the c + 1 moves join all c
columns, and two cycles g, h are a basis of the closed walks that make each of them a whole number
of times; x being X, the determinant is that of x g, x h, q g, q h. If g and h have no move in
common, it is 2 |g| |h| at the most, in numbers of moves. Else they can be chosen as differences of
three ways P_1, P_2, P_3 from one column to another, with p_1, p_2, p_3 moves, and it is the sum of
the determinants of (x P_i, q P_i) for i and i + 1 (or turned round). That is linear in each of
these points of the plane, which are in squares with the corners (p_i, p_i), (p_i, -p_i), (-p_i,
p_i), (-p_i, -p_i): it is largest with all of them in corners, of which two, say those for i = 1 and
3, are on one line through 0, so that their determinant is 0, and the others are 2 p_1 p_2 and 2 p_2
p_3 at the most.

*Met.* Two tables with four ages in common, of 4 regions and of 3 incomes: D is 8,220, determinants
of 4,096 have been met, and no larger ones by 10 walks of 300,000 steps that cool slowly. An
ellipsoid (`longest_circuit`) says 55,698, and that a circuit has 445,149 moves, where (r + 1) D is
197,280 and four times T w^3 is 123,302; one of 49,671 is known. (T is 28 for forests, by all
1,323,652.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement, product
from math import floor, gcd, isqrt, prod

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.exact.coordinates import inverse
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.lengths.longest_circuit import determinant

__all__ = [
    "SUMS",
    "Part",
    "Sum",
    "all_moves_of_table",
    "moves_of_tables",
    "of_table",
    "outputs_of_tables",
    "parts_of",
]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_POINTS = whole_limit(__name__, "MOST_POINTS")

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
    return SUMS[low, high].weight, Fraction(_trees(low, low + high - 2))


def all_moves_of_table(rows: int, columns: int) -> int:
    """Return T for the one-way margins of a table.

    >>> [all_moves_of_table(*sides) for sides in [(2, 2), (2, 5), (3, 3), (4, 3), (4, 4)]]
    [4, 18, 16, 30, 62]
    """
    low, edges = min(rows, columns), rows + columns - 1
    if low == 2:
        return edges * edges // 2
    turned = ((rows, columns), (columns, rows))
    return isqrt(min(_signed(a, edges) * _trees(c, edges) for a, c in turned))


def _trees(points: int, edges: int) -> int:
    """Return what a graph with so many points and edges has no more trees than (Kirchhoff)."""
    most: int = (2 * edges) ** (points - 1) // (points * (points - 1) ** (points - 1))
    return most


@cache
def _signed(points: int, edges: int) -> int:
    """Return what det ZZ' is at the most; of few points, by all graphs and signs."""
    if points > MOST_POINTS:
        return edges * _trees(points, edges)
    pairs = list(combinations(range(points), 2))
    most = 0
    for chosen in combinations_with_replacement(range(len(pairs) + 1), edges):  # the last: no edge
        times = [chosen.count(pair) for pair in range(len(pairs))]
        laplace = [[0] * points for _ in range(points)]
        for (i, j), count in zip(pairs, times, strict=True):
            laplace[i][i] += count
            laplace[j][j] += count
            laplace[i][j] = laplace[j][i] = -count
        rows = [row[:-1] for row in laplace[:-1]]
        if edges * (determinant(rows) or 0) <= most:
            continue
        for signs in product(*(range(-count, count + 1, 2) for count in times)):
            y = [0] * points
            for (i, j), net in zip(pairs, signs, strict=True):
                y[i], y[j] = y[i] + net, y[j] - net
            bordered = [[*row, more] for row, more in zip(rows, y[:-1], strict=True)]
            most = max(most, determinant([*bordered, [*y[:-1], edges]]) or 0)
    return most


@dataclass(frozen=True)
class Part:
    """One of the K_b: the members of V_b, w, E, T, and if it is a table, its rows of classes."""

    classes: list[int]
    weight: Fraction
    largest: Fraction
    together: Fraction
    grid: list[list[int]] | None


def moves_of_tables(basis: Basis) -> int | None:
    """Return how many moves a circuit has at the most; None where K is no sum of known parts.

    >>> moves_of_tables([(1, -1, -1, 1, 0, 0, 0, 0), (0, 0, 0, 0, 2, -1, -1, 0)])
    20
    """
    found = parts_of(basis)
    if found is None:
        return None
    count = len(basis[0])
    inside = sum((part.together / part.weight for part in found), start=Fraction(0))
    alone = count - sum(len(part.classes) for part in found)
    weights = prod((part.weight for part in found), start=Fraction(1))
    return min((count - len(basis)) * _most(found), floor(weights * (inside + alone)))


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
        square = _square(classes, vector)
        together = half * (len(classes) - 1) if square is None else all_moves_of_table(2, 2)
        return Part(classes, half, half, Fraction(together), square)
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
    return Part(classes, *known, Fraction(all_moves_of_table(*sides)), grid)


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
