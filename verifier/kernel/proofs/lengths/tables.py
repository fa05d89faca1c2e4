"""Kind `tables`: how long circuits of moves are where printed tables share an attribute.

Readings 1, 2 and 5, equality facts and impossible values. Let values have N signatures, of affine
rank r, and d = N - 1 - r. `tables` are grids of signatures (by number, as cells first have them),
each of at least two rows and columns, and no signature in two places. Which row and which column of
a grid a record is in, and which signature, if it is in no grid, must follow from its signature by
affine maps, and d be the sum of (rows - 1) (columns - 1): then moves without effect are those that
keep how many are in each row and each column, and in what is in no grid. `sums` say how bases of
the dependencies of larger grids are made of moves, and are multiplied out. With w, E and T for
each grid, W is the product of all w, D is W with one E in place of its w, and a circuit has C moves
at the most: (r + 1) D, or W times the sum of all T / w and of how many signatures are in no grid.
An irreducible has at most max(N, C) if d is 1, or max(N, d C - 1). In l1,
where a signature tells what a record adds to f, an output with the values F_c changes by no more
than D times the sum of |F_c - t|, t being some number for each grid, by a circuit: by an
irreducible all outputs by no more than that together, if d is 1, or by less than d times as much.
The proofs are at the heads of `theorems/lengths/shared_attribute.py` and `lattice_free.py` of the
verifier, and in FORMAT.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, floor, isqrt
from typing import Any, NamedTuple

from ...document import Budget, Exact, Rejected, want
from ...independent import Sparse, affine_rank
from ...measure import Change, Measure
from ...world import SOME, World
from ..cells import Place, places_of
from ..margins import bound

Grid = Sequence[Sequence[int]]
List = dict[tuple[int, ...], int]
"""Minors by the places of their rows, those that are not 0."""

MOST_CELLS, MOST_TERMS = 16, 50
MOST_POINTS = 4
"""Of no more points all graphs are looked through."""


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless the value is not below what moves allow, or what the signatures' rows do."""
    some = {"rows": int, "columns": int, "over": int, "terms": [[int]]}
    told = want(proof, {"kind": str, "tables": [[[int]]], "sums": [some]}, "the proof")
    scale, places = places_of(world)
    if within(world, places, told["tables"], told["sums"]) > world.measure.claim(value, scale):
        raise Rejected("so many moves may change the query by more than the value")


def within(
    world: World, places: Sequence[Place], tables: Sequence[Grid], sums: Sequence[dict[str, Any]]
) -> int:
    """Return what no neighbour pair exceeds, as a size."""
    found = dependencies(world, places, tables, sums)
    most = bound(world, places, found.longest)
    sums_of_rows = _rows(world, places, tables)
    if sums_of_rows is None:
        return most
    return min(most, max(0, found.number * found.factor * sums_of_rows - (found.number > 1)))


class Dependencies(NamedTuple):
    """The number d of dependencies, the most moves of an irreducible, and D."""

    number: int
    longest: int
    factor: int


def dependencies(
    world: World, places: Sequence[Place], tables: Sequence[Grid], sums: Sequence[dict[str, Any]]
) -> Dependencies:
    """Return what the tables say; refuse those that have not all dependencies."""
    every = list(dict.fromkeys(effect for effect, _ in places))
    homes = _homes(tables, len(every))
    world.budget.spend(4 * len(every), 4 * len(every))
    free = 1 + max((fact for effect in every for fact, _ in effect), default=0)
    names: dict[tuple[int, ...], int] = {}
    told = []
    for number, effect in enumerate(every):
        sides = homes.get(number, ((number,),))
        more = sorted(names.setdefault(side, free + len(names)) for side in sides)
        told.append((*effect, *((name, 1) for name in more)))
    rank = affine_rank(every, world.budget)
    if affine_rank(told, world.budget) != rank:
        raise Rejected("the rows and columns of the tables do not follow from the facts")
    sizes = [(len(grid), len(grid[0])) for grid in tables]
    count = sum((rows - 1) * (columns - 1) for rows, columns in sizes)
    if count != len(every) - 1 - rank:
        raise Rejected("the tables have not all dependencies of the signatures")
    known = {}
    for each in sums:
        low, high = sorted((each["rows"], each["columns"]))
        known[low, high] = weight(each, world.budget)
    totals = {sides: together(*sides, world.budget) for sides in {(min(s), max(s)) for s in sizes}}
    product_of_all, ratio, shares = Fraction(1), Fraction(1), Fraction(len(every) - len(homes))
    for size in sizes:
        low, high = sorted(size)
        if low > 2 and (low, high) not in known:
            raise Rejected("for a table of this size no sum is told")
        own = Fraction(high) if low == 2 else known[low, high]
        product_of_all *= own
        ratio = min(ratio, trees(low, low + high - 2) / own)
        shares += totals[low, high] / own
    factor = floor(product_of_all * ratio)
    circuit = min((rank + 1) * factor, floor(product_of_all * shares))
    longest = max(len(every), count * circuit - (count > 1))
    return Dependencies(count, longest, factor)


def trees(points: int, edges: int) -> Fraction:
    """Return what trees a graph with so many points and edges has no more of.

    Points - 1 numbers that add up to twice the edges, multiplied, and divided by the points
    (Kirchhoff).
    """
    return Fraction((2 * edges) ** (points - 1) // (points * (points - 1) ** (points - 1)))


def together(low: int, high: int, budget: Budget) -> Fraction:
    """Return T: what determinants without one of so many moves in a grid add up to at the most."""
    edges = low + high - 1
    if low == 2:
        return Fraction(edges**2 // 2)
    turned = ((low, high), (high, low))
    return Fraction(isqrt(int(min(signed(a, edges, budget) * trees(c, edges) for a, c in turned))))


def signed(points: int, edges: int, budget: Budget) -> Fraction:
    """Return what the determinant of L with y beside it, and of the edges, is at the most."""
    most = edges * trees(points, edges)
    if points > MOST_POINTS or edges > MOST_CELLS:
        return most
    pairs = list(combinations(range(points), 2))
    found = 0
    for counts in _counts(len(pairs), edges):
        budget.spend(2 * points**points)
        rows = [[0] * points for _ in range(points)]
        for (i, j), count in zip(pairs, counts, strict=True):
            rows[i][i], rows[j][j] = rows[i][i] + count, rows[j][j] + count
            rows[i][j] = rows[j][i] = -count
        if edges * _determinant([row[1:] for row in rows[1:]]) <= found:
            continue
        for nets in product(*(range(-count, count + 1, 2) for count in counts)):
            budget.spend(2 * points**points)
            came = [0] * points
            for (i, j), net in zip(pairs, nets, strict=True):
                came[i], came[j] = came[i] - net, came[j] + net
            square = [[*row[1:], y] for row, y in zip(rows[1:], came[1:], strict=True)]
            found = max(found, _determinant([*square, [*came[1:], edges]]))
    return min(most, Fraction(found))


def _counts(places: int, total: int) -> Iterator[tuple[int, ...]]:
    """Yield all lists of numbers of 0 or more, one for each place, with no larger sum."""
    if not places:
        yield ()
        return
    for first in range(total + 1):
        for others in _counts(places - 1, total - first):
            yield (first, *others)


def _determinant(rows: Sequence[Sequence[int]]) -> int:
    """Expand along the first row."""
    if not rows:
        return 1
    first, *others = rows
    return sum(
        (-1) ** place * x * _determinant([[*row[:place], *row[place + 1 :]] for row in others])
        for place, x in enumerate(first)
        if x
    )


def _rows(world: World, places: Sequence[Place], tables: Sequence[Grid]) -> int | None:
    """Return what the |F_c - t| of all outputs add up to; None where that bounds nothing."""
    rows: dict[Sparse, Change] = {}
    for effect, row in places:
        if rows.setdefault(effect, row) != row or row is SOME:
            return None
    if type(world.measure) is not Measure or world.measure.name != "l1":
        return None
    every = [dict(row) for row in rows.values()]
    world.budget.spend(4 * sum(map(len, every)), 2 * sum(map(len, every)))
    total = 0
    for grid in tables:
        members = [every[number] for row in grid for number in row]
        outputs = {output for row in members for output in row}
        world.budget.spend(8 * len(outputs) * len(members))
        for output in outputs:
            values = sorted(row.get(output, 0) for row in members)
            middle = values[len(values) // 2]
            total += sum(abs(value - middle) for value in values)
    return total


def _homes(tables: Sequence[Grid], count: int) -> dict[int, tuple[tuple[int, ...], ...]]:
    """Return the row and the column of each signature that is in a grid."""
    homes: dict[int, tuple[tuple[int, ...], ...]] = {}
    for place, grid in enumerate(tables):
        if len(grid) < 2 or len(grid[0]) < 2 or any(len(row) != len(grid[0]) for row in grid):
            raise Rejected("a table is no grid of two rows and columns or more")
        for i, row in enumerate(grid):
            for j, number in enumerate(row):
                if number in homes or not 0 <= number < count:
                    raise Rejected("there is no such signature, or it is in two places")
                homes[number] = ((place, 0, i), (place, 1, j))
    return homes


def weight(told: dict[str, Any], budget: Budget) -> Fraction:
    """Return what the factors of a sum add up to; refuse one that is not the list of the basis.

    The terms stand for the means of their images under permutations of rows and of columns, with
    the signs that these give the basis. Both lists keep their signs, so one set of cells of each
    kind is compared.
    """
    rows, columns, over = told["rows"], told["columns"], told["over"]
    size = (rows - 1) * (columns - 1)
    if not (3 <= rows <= columns and rows * columns <= MOST_CELLS and over > 0):
        raise Rejected("a sum is for a table that is too small or too large for it")
    if not 0 < len(told["terms"]) <= MOST_TERMS:
        raise Rejected("a sum has no terms, or too many")
    lists = []
    for times, *ends in told["terms"]:
        if times <= 0 or len(ends) != 2 * size or not set(ends) <= set(range(rows * columns)):
            raise Rejected("a term is no factor with as many moves as the basis has vectors")
        moves = [{i: 1, j: -1} for i, j in zip(ends[::2], ends[1::2], strict=True) if i != j]
        lists.append((times, minors(moves, budget) if len(moves) == size else {}))
    wanted = minors(_basis(rows, columns), budget)
    orders = list(permutations(range(rows)))
    images = [
        (_sign(p) ** (columns - 1) * _sign(q) ** (rows - 1),
         [p[i] * columns + q[j] for i in range(rows) for j in range(columns)])
        for p, q in product(orders, permutations(range(columns)))
    ]  # fmt: skip
    seen: set[tuple[tuple[bool, ...], ...]] = set()
    sign = 0
    for places in combinations(range(rows * columns), size):
        budget.spend(2 * rows * columns * factorial(rows))
        held = [[i * columns + j in places for i in range(rows)] for j in range(columns)]
        kind = min(tuple(sorted(tuple(c[i] for i in order) for c in held)) for order in orders)
        if kind in seen:
            continue
        seen.add(kind)
        budget.spend(len(images) * (size * size + 4 * len(lists)), 2 * len(kind))
        total = 0
        for turned, image in images:
            moved = [image[place] for place in places]
            at = tuple(sorted(moved))
            total += turned * _sign(moved) * sum(n * found.get(at, 0) for n, found in lists)
        here = over * len(images) * wanted.get(places, 0)
        sign = sign or (1 if total == here else -1) * (total != 0)
        if total != sign * here and (total or here):
            raise Rejected("a sum is not the list of the basis")
    return Fraction(sum(times for times, _ in lists), over)


def _basis(rows: int, columns: int) -> list[dict[int, int]]:
    """Return the vectors e_ij - e_aj - e_ic + e_ac."""
    below, right = (rows - 1) * columns, columns - 1
    return [
        {i * columns + j: 1, below + j: -1, i * columns + right: -1, below + right: 1}
        for i in range(rows - 1)
        for j in range(columns - 1)
    ]


def minors(vectors: Sequence[dict[int, int]], budget: Budget) -> List:
    """Return the minors of as many rows as there are vectors, expanded by the last vector."""
    found: List = {(): 1}
    for vector in vectors:
        budget.spend(4 * len(found) * len(vector) * len(vectors), 2 * len(found) * len(vectors))
        longer: List = {}
        for places, value in found.items():
            for place, times in vector.items():
                if place not in places:
                    after = sum(other > place for other in places)
                    at = tuple(sorted((*places, place)))
                    longer[at] = longer.get(at, 0) + (-1) ** after * value * times
        found = longer
    return found


def _sign(order: Sequence[int]) -> int:
    return 1 - 2 * (sum(a > b for a, b in combinations(order, 2)) % 2)
