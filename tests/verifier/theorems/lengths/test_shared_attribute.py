"""Tables that share an attribute: the sums multiplied out, and determinants by brute force."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pytest

from blowproof.verifier.theorems.affine_frames import framed, kernel
from blowproof.verifier.theorems.lengths.listed_frames import longest_in_frames
from blowproof.verifier.theorems.lengths.shared_attribute import (
    SUMS,
    all_moves_of_table,
    moves_of_tables,
    of_table,
    outputs_of_tables,
)

Vector = tuple[int, ...]
Terms = dict[Vector, Fraction]


def determinant(rows: Sequence[Sequence[int]]) -> int:
    """By elimination in fractions."""
    left = [[Fraction(x) for x in row] for row in rows]
    found = Fraction(1)
    for k in range(len(left)):
        swap = next((i for i in range(k, len(left)) if left[i][k]), None)
        if swap is None:
            return 0
        if swap != k:
            left[k], left[swap], found = left[swap], left[k], -found
        found *= left[k][k]
        for i in range(k + 1, len(left)):
            times = left[i][k] / left[k][k]
            left[i] = [x - times * y for x, y in zip(left[i], left[k], strict=True)]
    assert found.denominator == 1
    return int(found)


def table(rows: int, columns: int) -> list[list[int]]:
    """The basis of the dependencies of one-way margins that the theorem names."""
    found = []
    for i, j in product(range(rows - 1), range(columns - 1)):
        vector = [0] * (rows * columns)
        for place, sign in (
            (i * columns + j, 1),
            ((rows - 1) * columns + j, -1),
            (i * columns + columns - 1, -1),
            (rows * columns - 1, 1),
        ):
            vector[place] = sign
        found.append(vector)
    return found


def multiplied(vectors: Sequence[Sequence[tuple[int, int]]]) -> dict[Vector, int]:
    """The list of these vectors, by places: each vector as places with numbers."""
    found: dict[Vector, int] = {(): 1}
    for vector in vectors:
        longer: dict[Vector, int] = defaultdict(int)
        for places, value in found.items():
            for place, times in vector:
                if place not in places:
                    after = sum(other > place for other in places)
                    longer[tuple(sorted((*places, place)))] += (-1) ** after * value * times
        found = longer
    return {places: value for places, value in found.items() if value}


def sign_of(order: Sequence[int]) -> int:
    return (-1) ** sum(a > b for a, b in combinations(order, 2))


def mean(sides: tuple[int, int]) -> Terms:
    """The sum of the means over the images of each list."""
    rows, columns = sides
    known, images = SUMS[sides], []
    for p, q in product(permutations(range(rows)), permutations(range(columns))):
        # what the basis becomes: the product of the permutations' signs, as often as the other side
        sign = sign_of(p) ** (columns - 1) * sign_of(q) ** (rows - 1)
        images.append((sign, [p[i] * columns + q[j] for i in range(rows) for j in range(columns)]))
    found: Terms = defaultdict(Fraction)
    for times, moves in known.terms:
        share = Fraction(times, known.denominator * len(images))
        for sign, image in images:
            moved = [((image[i], 1), (image[j], -1)) for i, j in moves]
            for places, value in multiplied(moved).items():
                found[places] += share * sign * value
    return {places: value for places, value in found.items() if value}


@pytest.mark.parametrize("sides", [(3, 3), (3, 4)])
def test_the_sums_are_the_lists_of_the_bases(sides: tuple[int, int]) -> None:
    basis = [[(c, x) for c, x in enumerate(vector) if x] for vector in table(*sides)]
    wanted = multiplied(basis)
    found = mean(sides)
    sign = 1 if next(iter(wanted.values())) == found[next(iter(wanted))] else -1
    assert {places: sign * value for places, value in found.items()} == wanted
    assert SUMS[sides].weight == {(3, 3): 6, (3, 4): Fraction(111, 11)}[sides]


@pytest.mark.parametrize(
    ("rows", "columns", "weight"), [(3, 5, Fraction(170, 11)), (4, 4, Fraction(24520, 1173))]
)
def test_larger_sums_are_the_lists_of_their_bases(
    rows: int, columns: int, weight: Fraction
) -> None:
    """At one set of cells of each kind: permutations keep both sides, with the same signs."""
    orders, across = list(permutations(range(rows))), list(permutations(range(columns)))
    images = [
        (sign_of(p) ** (columns - 1) * sign_of(q) ** (rows - 1),
         [p[i] * columns + q[j] for i in range(rows) for j in range(columns)])
        for p, q in product(orders, across)
    ]  # fmt: skip
    vectors = table(rows, columns)
    wanted = multiplied([[(c, x) for c, x in enumerate(vector) if x] for vector in vectors])
    known = SUMS[rows, columns]
    lists = [
        (times, multiplied([((i, 1), (j, -1)) for i, j in moves])) for times, moves in known.terms
    ]
    seen, signs = set(), set()
    for places in combinations(range(rows * columns), len(vectors)):
        held = [[i * columns + j in places for i in range(rows)] for j in range(columns)]
        kind = min(sorted([column[i] for i in order] for column in held) for order in orders)
        if str(kind) in seen:
            continue
        seen.add(str(kind))
        total = 0
        for sign, image in images:
            moved = [image[c] for c in places]
            at = tuple(sorted(moved))
            total += sign * sign_of(moved) * sum(x * terms.get(at, 0) for x, terms in lists)
        mean_here = Fraction(total, known.denominator * len(images))
        assert abs(mean_here) == abs(wanted.get(places, 0))
        if total:
            signs.add(mean_here == wanted[places])
    assert len(signs) == 1
    assert known.weight == weight


def cuts(items: int, parts: int) -> Iterator[list[int]]:
    """All ways to give each item to a part, parts without a name, all of them used."""

    def go(found: list[int], used: int) -> Iterator[list[int]]:
        if items - len(found) < parts - used:
            return
        if len(found) == items:
            yield found
            return
        for part in range(min(used + 1, parts)):
            yield from go([*found, part], max(used, part + 1))

    return go([], 0)


def largest(basis: Sequence[Sequence[int]], some: Iterable[list[int]]) -> int:
    """The largest determinant of what the basis adds up to on all sets of a cut but the first."""
    rank, most = len(basis), 0
    for cut in some:
        sums = [[0] * rank for _ in range(rank + 1)]
        for c, part in enumerate(cut):
            for k, vector in enumerate(basis):
                sums[part][k] += vector[c]
        most = max(most, abs(determinant(sums[1:])))
    return most


def beside(*parts: Sequence[Sequence[int]]) -> list[list[int]]:
    """The bases of all parts, each on classes of its own."""
    total, start, found = sum(len(part[0]) for part in parts), 0, []
    for part in parts:
        for vector in part:
            found.append([0] * start + list(vector) + [0] * (total - start - len(vector)))
        start += len(part[0])
    return found


@pytest.mark.parametrize(
    ("rows", "columns", "met"),
    [(2, 2, 2), (2, 3, 3), (2, 4, 4), (3, 3, 5), (3, 4, 8), (3, 5, 12), (4, 4, 16)],
)
def test_no_determinant_of_a_table_is_larger(rows: int, columns: int, met: int) -> None:
    """All cuts where they are few, else drawn ones."""
    known = of_table(rows, columns)
    assert known is not None
    assert known[1] == met
    basis, count = table(rows, columns), rows * columns
    if rows == 2:
        assert largest(basis, cuts(count, len(basis) + 1)) == met
        return
    rng = random.Random(columns)
    every = range(len(basis) + 1)
    more = count - len(every)
    drawn = [rng.sample([*every, *rng.choices(every, k=more)], count) for _ in range(100)]
    assert 1 < largest(basis, drawn) <= met


def minors_together(
    basis: Sequence[Sequence[int]], lists: Sequence[Sequence[tuple[int, int]]]
) -> int:
    """The most that determinants of basis, all moves of a list but one, and a class add up to."""
    count = len(basis[0])
    left = np.zeros((len(lists), len(lists[0]), count, count))
    for number, moves in enumerate(lists):
        for without in range(len(moves)):
            rows = left[number, without]
            rows[: len(basis)] = basis
            others = [move for place, move in enumerate(moves) if place != without]
            for row, (i, j) in zip(rows[len(basis) :], others, strict=False):
                row[i], row[j] = 1, -1
            rows[-1, 0] = 1
    return int(np.rint(np.abs(np.linalg.det(left))).sum(axis=1).max())


@pytest.mark.parametrize(("columns", "met"), [(2, 4), (3, 8)])
def test_all_moves_of_a_table_by_brute_force(columns: int, met: int) -> None:
    """All lists of moves, by the dependencies themselves."""
    basis = table(2, columns)
    moves = list(combinations(range(2 * columns), 2))
    lists = list(combinations_with_replacement(moves, columns + 1))
    assert minors_together(basis, lists) == met == all_moves_of_table(2, columns)


@pytest.mark.parametrize(
    ("rows", "columns", "cut", "met"),
    [
        (2, 4, [0, 0, 1, 2, 1, 2, 0, 0], 12),
        (3, 3, [0, 1, 2, 1, 0, 3, 2, 3, 1], 16),
        (4, 3, [0, 1, 2, 0, 2, 3, 1, 0, 4, 3, 5, 0], 28),
    ],
)
def test_drawn_moves_of_a_table(rows: int, columns: int, cut: list[int], met: int) -> None:
    """No list of moves has more, and what moves from class to class in a frame is this much."""
    basis, count = table(rows, columns), rows * columns
    sums = np.array([[row[c] for row in basis] for c in range(count)])
    blocks = [[c for c in range(count) if cut[c] == b] for b in range(len(basis))]
    at = np.array([sums[block].sum(axis=0) for block in blocks[1:]])
    signed = [(-1) ** k * round(np.linalg.det(np.delete(at, k, axis=1))) for k in range(len(basis))]
    found = 0
    for block in blocks:
        before = 0
        for left in sorted((int(sums[c] @ signed) for c in block), reverse=True):
            before += left
            found += before
    assert found == met <= all_moves_of_table(rows, columns)
    rng = random.Random(columns)
    moves = list(combinations(range(count), 2))
    lists = [rng.choices(moves, k=rows + columns - 1) for _ in range(300)]
    assert 1 < minors_together(basis, lists) <= all_moves_of_table(rows, columns)


def test_two_tables_are_bounded_by_what_a_frame_has() -> None:
    """As many as the longest circuit: 4 of one table times 3 of the other, and 8 times 2."""
    basis = beside(table(2, 2), table(2, 3))
    assert moves_of_tables(basis) == longest_in_frames(basis)[0] == 4 * 3 + 8 * 2


def test_a_class_in_no_table_adds_the_product_of_the_weights() -> None:
    basis = [[*vector, 0] for vector in beside(table(2, 2), [[2, -1, -1]])]
    most = moves_of_tables(basis)
    assert most == 4 * 2 + 2 * 2 * 2 + 2 * 2
    assert longest_in_frames(basis)[0] <= most


VECTORS = [[[2, -1, -1]], [[3, -2, -1]], [[1, 1, -2]], [[1, -1, -1, 1]]]


@pytest.mark.parametrize("seed", range(12))
def test_determinants_and_circuits_by_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    parts = [rng.choice(VECTORS) for _ in range(2)]
    if seed % 3 == 0:
        parts[0] = table(2, 3)
    basis = beside(*parts)
    count, rank = len(basis[0]), len(basis)
    shuffled = rng.sample(range(count), count)
    basis = [[vector[c] for c in shuffled] for vector in basis]
    most = moves_of_tables(basis)
    assert most is not None
    largest_of = largest(basis, cuts(count, rank + 1)) if count < 9 else 0
    of_one = outputs_of_tables(basis, [[int(c == 0) for c in shuffled]])
    assert of_one is not None
    assert largest_of <= of_one[0]
    assert longest_in_frames(basis)[0] <= most


@pytest.mark.parametrize("seed", range(8))
def test_rows_change_by_no_more(seed: int) -> None:
    rng = random.Random(seed)
    basis = beside(*rng.choices(VECTORS[:3], k=2 + seed % 2))
    count = len(basis[0])
    row = [rng.randint(0, 1) for _ in range(count)]
    above = outputs_of_tables(basis, [row])
    assert above is not None
    most = 0
    for cut in cuts(count, len(basis)):
        blocks = tuple(tuple(c for c in range(count) if cut[c] == b) for b in range(len(basis)))
        k = framed(basis, blocks)
        if k is not None:
            most = max(most, abs(sum(x * y for x, y in zip(k, row, strict=True))))
    assert most <= above[0]


def test_tables_are_found_however_their_cells_are_named() -> None:
    """By the facts of two tables that share an attribute, and not where a cell is missing."""
    cells = list(product(range(3), range(3), range(4)))
    random.Random(1).shuffle(cells)
    points = [
        tuple(int((age, x) == (cell[0], cell[1])) for age, x in product(range(3), range(3)))
        + tuple(int((age, y) == (cell[0], cell[2])) for age, y in product(range(3), range(4)))
        for cell in cells
    ]
    basis = kernel(points)
    assert len(basis) == 18
    # 30 (111 / 11)^2 for each of three ages: 8 (111 / 11)^2 for each of 18 moves are 14,652
    assert moves_of_tables(basis) == 9_164
    assert moves_of_tables(kernel(points[1:])) is None


def test_other_kernels_are_not_tables() -> None:
    assert moves_of_tables([(1, -2, 1, 0), (0, 1, -2, 1)]) is None
    cube = [tuple(1 - 2 * (sum(c) % 2) for c in product(range(2), repeat=3))]
    assert moves_of_tables(cube) == 28
    assert moves_of_tables([]) is None
