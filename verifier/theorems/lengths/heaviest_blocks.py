"""How much the vector of a frame can be: blocks one after the other, while their volume allows it.

*Statement.* Let B, P, K and frames be those of `frames_above`, and let a_T be |P 1_T|^2. Cut the
classes into d blocks, one after the other. Let t of them be chosen, G be the determinant of the
products of their P 1_T, and s the sum of these. Let D = d - t >= 2 blocks be left, of sizes n_j,
f(n) >= a_T for all sets T of n classes, and F be the sum of these f(n_j). Then the sum of |k_c| of
a frame with these blocks has a square of at most

    det(B'B) G (D / (D - 1))^(D - 1) V S

where V is f(n_1) ... f(n_D) / F, or c^(D - 1) / D^D for c = F - |s|^2 / D if that is less, and S is
s(n_1) + ... over all blocks, as in `frames_above`, or the largest |P e|^2 of vectors e of 1 and -1,
if that is less.

*Proof.* |k|^2 is at most det(B'B) times the determinant of the products of d - 1 of the P 1_T
(there), which is G times that of the products of what is left of D - 1 of the others, less what is
in the span of those chosen. What is left of all D adds up to 0, as all P 1_T do. With r_j for the
squares of its sizes the determinant is at most (D / (D - 1))^(D - 1) times the product of the r_j
over their sum (there, in the D - 1 dimensions that are left), which grows with each r_j, and r_j <=
f(n_j). What is taken from them lies in the span and adds up to - s, so that its squares add up to
|s|^2 / D at least; so all r_j add up to c at most, and for a given sum their product is largest if
they are equal. The sum of |k_c| is k'e for signs e, and k = P k: at most |k| |P e|. QED

So a cut is given up where that is no more than what is asked about; at its end k itself is looked
at. All is in whole numbers: P is a matrix M of whole numbers over one denominator.

*One class.* Let c be a class, v a vector of K with v_c > 0, and B have independent columns, d - 1
of them, each a vector of K that is 0 at c, without the row of c. Cut all classes but c into d
blocks. Let P and a_T be those of this B, so that the P 1_T of all blocks add up to 0 again, in d -
1 dimensions, and t, G, D, F, V as above. Then |k_c|^2 of a frame with these blocks, to one of which
c is put, is at most v_c^2 det(B'B) G (D / (D - 1))^(D - 1) V.

*Proof.* Take v and these columns for the B of `frames_above`. The value at c of the vector m there
is det(rows, (v_c, 0, ..., 0)), which is v_c times the determinant of the sums of B over d - 1
blocks, but for its sign: whichever block c is in, its row in B would be 0. That is a multiple of
k_c, and its square is v_c^2 det(B'B) times the determinant of the products of d - 1 of the P 1_T.
Go on as above. If c is a block by itself, k_c is 0. QED

For the three two-way margins of 3 x 3 x 3 cells the sum of |k_c| is 9,000 at the most: |P e|^2 is
at most 24, sizes other than 4, 4, 4, 3, 3, 3, 3, 3 allow less, and so does the search for these
(49,213 choices of blocks, 26 s of CPU; 7,338 is known to be met). One |k_c| is 800 at the most
(11,774 choices, 12 s; 678 is met). `HEAVIEST` has both, and `benchmarks/irreducible.py --blocks`
finds them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, floor, gcd, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.kept import cached_property
from blowproof.verifier.exact.coordinates import inverse
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["HEAVIEST", "Blocks", "Heaviest", "OneClass", "heaviest"]

MOST_SETS = whole_limit(__name__, "MOST_SETS")
MOST_SIGNS = whole_limit(__name__, "MOST_SIGNS")
SAFE = whole_limit(__name__, "SAFE")

Numbers = NDArray[np.int64]
Basis = Sequence[Sequence[int]]


class Heaviest(NamedTuple):
    """What the |k_c| of a frame add up to at the most, and what one of them is."""

    change: int
    one: int


HEAVIEST: dict[tuple[int, ...], Heaviest] = {(3, 3, 3): Heaviest(9_000, 800)}
"""By the sides of a table, for all margins of one attribute less."""


def heaviest(basis: Basis) -> Heaviest | None:
    """Return what was found for a table of which these are the dependencies; None for others.

    >>> heaviest([(1, -1, -1, 1)]) is None
    True
    """
    shapes = [shape for shape in HEAVIEST if prod(shape) == len(basis[0])]
    if not shapes or len(basis) not in {prod(side - 1 for side in shape) for shape in shapes}:
        return None
    columns = np.array(basis, dtype=object).T
    adjugate, det = inverse(columns.T @ columns)
    shared = columns @ adjugate @ columns.T
    return next((HEAVIEST[each] for each in shapes if _is_table(shared, det, each)), None)


def _is_table(shared: NDArray[np.object_], det: int, shape: tuple[int, ...]) -> bool:
    """Whether P is that of a table of sides of one size, its cells in any order.

    It is the product over the sides of 1 - 1 / r where two cells agree, and of -1 / r where they do
    not; so of each side it tells how many sides two cells differ on, and cells find their places.
    """
    size, sides = shape[0], len(shape)
    if set(shape) != {size}:
        return False
    values = {
        Fraction((size - 1) ** (sides - apart) * (-1) ** apart, size**sides): apart
        for apart in range(sides + 1)
    }
    rows = [[values.get(Fraction(int(x), det), -1) for x in row] for row in shared.tolist()]
    near = [c for c, apart in enumerate(rows[0]) if apart == 1]
    lines: list[list[int]] = []
    for cell in near:
        line = next((each for each in lines if rows[cell][each[1]] == 1), None)
        if line is None:
            lines.append([0, cell])
        else:
            line.append(cell)
    if len(lines) != sides or {len(line) for line in lines} != {size}:
        return False
    places = [tuple(min(line, key=lambda c: row[c]) for line in lines) for row in rows]
    apart = [
        [sum(x != y for x, y in zip(one, two, strict=True)) for two in places] for one in places
    ]
    return len(set(places)) == len(places) and apart == rows


class Blocks:
    """Cuts of the classes into blocks, for one K.

    `symmetries`: permutations of the classes that map K onto itself. Of the blocks that hold the
    first class, those that others are mapped to by such that leave it where it is are left out.
    """

    def __init__(self, basis: Basis, symmetries: Sequence[Sequence[int]] = ()) -> None:
        self.symmetries = [each for each in symmetries if each[0] == 0]
        columns = np.array(basis, dtype=object).T
        adjugate, self.det = inverse(columns.T @ columns)
        shared = columns @ adjugate @ columns.T
        common = gcd(self.det, *(int(x) for x in shared.flat))
        self.unit = self.det // common
        self.shared: Numbers = (shared // common).astype(np.int64)
        self.columns: Numbers = columns.astype(np.int64)
        self.count, self.blocks = columns.shape
        self.kept: dict[tuple[int, int], tuple[Numbers, Numbers, Numbers]] = {}
        self.nodes = 0

    @cached_property
    def largest(self) -> list[int]:
        """f(n) for n = 0, ..., N, times the denominator of P; by all sets where they are few."""
        own = sorted(self.shared.diagonal().tolist())
        found = [0, own[-1]]
        for size in range(2, self.count + 1):
            if size == 2 or comb(self.count, size) <= MOST_SETS:
                found.append(int(self._squares(self._sets(range(self.count), size)).max()))
            else:
                found.append((size * found[size - 1] - sum(own[:size])) // (size - 2))
        return [min(pair) for pair in zip(found, reversed(found), strict=True)]

    @cached_property
    def signs(self) -> int | None:
        """The largest |P e|^2 of signs e, times the denominator of P; None: too many to look at."""
        if self.count > MOST_SIGNS:
            return None
        half = self.count // 2
        one, two = (np.array(list(product((1, -1), repeat=n))) for n in (half, self.count - half))
        one = one[: max(1, len(one) // 2)]  # e or -e
        first = ((one @ self.shared[:half, :half]) * one).sum(axis=1)
        second = ((two @ self.shared[half:, half:]) * two).sum(axis=1)
        across = (2 * one @ self.shared[:half, half:]).astype(np.float64)  # floats hold them
        other = np.ascontiguousarray(two.T.astype(np.float64))
        most = 0
        for place, row in enumerate(first.tolist()):
            most = max(most, row + int((across[place] @ other + second).max()))
        return most

    @staticmethod
    def _sets(classes: Sequence[int], size: int) -> Numbers:
        every = list(combinations(classes, size))
        return np.array(every, dtype=np.int64).reshape(len(every), size)

    def _squares(self, sets: Numbers) -> Numbers:
        found: Numbers = np.zeros(len(sets), dtype=np.int64)
        for one in range(sets.shape[1]):
            for two in range(sets.shape[1]):
                found += self.shared[sets[:, one], sets[:, two]]
        return found

    def none_beyond(self, most: int) -> bool:
        """Return whether no frame has |k_c| that add up to more than `most`.

        >>> line = Blocks([(1, -2, 1, 0), (0, 1, -2, 1)])
        >>> line.none_beyond(8), line.none_beyond(5)
        (True, False)
        """
        for sizes in _sizes(self.count, self.blocks, self.count):
            left = Counter(sizes)
            scale = self.unit ** (self.blocks - 1)
            enough = Fraction(most**2 * scale, self.det) / self._spread(sizes)
            if self._least(enough, left, 0) >= 1:
                continue
            each = [self.largest[size] for size in sizes]
            if prod(each) // min(each) * self.blocks**2 >= SAFE:
                # of blocks - 2 chosen ones and one more: `more`, and all that it is added up from
                raise OverflowError("determinants of blocks are too large to be listed")
            if not self._go(0, [], left, enough, most):
                return False
        return True

    def _spread(self, sizes: Sequence[int]) -> Fraction:
        """Return S, for blocks of these sizes."""
        spread = sum((n - Fraction(n % 2, n) for n in sizes), Fraction(0))
        return spread if self.signs is None else min(spread, Fraction(self.signs, self.unit))

    def _least(self, enough: Fraction, left: Counter[int], square: int) -> int:
        """Return what G may be at the most, if cuts with these blocks left are to be given up."""
        sizes = list(left.elements())
        count = len(sizes)
        if count < 2:
            return floor(enough)
        each = [self.largest[size] for size in sizes]
        volume = Fraction(prod(each), sum(each)) if all(each) else Fraction(0)
        less = max(Fraction(0), sum(each) - Fraction(square, count))
        volume = min(volume, less ** (count - 1) / count**count)
        volume *= Fraction(count, count - 1) ** (count - 1)
        return floor(enough / volume) if volume else SAFE

    def _choices(self, first: int, size: int) -> tuple[Numbers, Numbers, Numbers]:
        """Return the sets of so many classes that begin with this one: bits, members, squares."""
        if (first, size) not in self.kept:
            others = self._sets(range(first + 1, self.count), size - 1)
            sets = np.hstack([np.full((len(others), 1), first, dtype=np.int64), others])
            bits = (np.int64(1) << sets).sum(axis=1)
            self.kept[first, size] = bits, sets, self._squares(sets)
        return self.kept[first, size]

    def _first_of_alike(self, sets: Numbers) -> NDArray[np.bool_]:
        """Return which of these sets are the first of those that symmetries make of them."""
        found: NDArray[np.bool_] = np.ones(len(sets), dtype=np.bool_)
        seen: set[frozenset[int]] = set()
        for place, each in enumerate(map(frozenset, sets.tolist())):
            found[place] = each not in seen
            waiting = [each] if found[place] and self.symmetries else []
            while waiting:
                members = waiting.pop()
                for symmetry in self.symmetries:
                    image = frozenset(symmetry[c] for c in members)
                    if image not in seen:
                        seen.add(image)
                        waiting.append(image)
        return found

    def _go(
        self,
        taken: int,
        chosen: list[Numbers],
        left: Counter[int],
        enough: Fraction,
        most: int,
    ) -> bool:
        """Return whether no frame that goes on from these blocks has more than `most`."""
        self.nodes += 1
        if left.total() == 1:
            rest = [c for c in range(self.count) if not taken >> c & 1]
            return self._change([*chosen, np.array(rest)]) <= most
        first = next(c for c in range(self.count) if not taken >> c & 1)
        seen = [self.shared[:, each].sum(axis=1) for each in chosen]
        gram = [[int(row[each].sum()) for each in chosen] for row in seen]
        adjugate, volume = inverse(np.array(gram, dtype=object)) if gram else (None, 1)
        turned = None if adjugate is None else adjugate.astype(np.int64)
        square = sum(map(sum, gram))
        for size in sorted(left):
            bits, sets, squares = self._choices(first, size)
            free = (bits & taken) == 0 if taken else self._first_of_alike(sets)
            sets, squares = sets[free], squares[free]
            if not len(sets):
                continue
            more, sums = volume * squares, squares + square
            if turned is not None:
                along = np.stack([row[sets].sum(axis=1) for row in seen], axis=1)
                more = more - ((along @ turned) * along).sum(axis=1)
                sums = sums + 2 * along.sum(axis=1)
            after = left - Counter([size])
            each, where = np.unique(sums, return_inverse=True)
            least = np.array([min(self._least(enough, after, int(x)), SAFE) for x in each])
            for place in np.flatnonzero(more > np.maximum(least[where], 0)).tolist():
                block = sets[place]
                held = taken | int((np.int64(1) << block).sum())
                if not self._go(held, [*chosen, block], after, enough, most):
                    return False
        return True

    def _change(self, blocks: Sequence[Numbers]) -> int:
        """Return the sum of |k_c| for a cut (0 where its vector is not unique)."""
        rows = np.array([self.columns[each].sum(axis=0) for each in blocks[1:]], dtype=object)
        minors = [
            (-1) ** place * _determinant(np.delete(rows, place, axis=1).tolist())
            for place in range(self.blocks)
        ]
        vector = [sum(int(x) * m for x, m in zip(row, minors, strict=True)) for row in self.columns]
        common = gcd(*vector)
        return sum(map(abs, vector)) // common if common else 0


class OneClass(Blocks):
    """Cuts of all classes but one, for what a frame's vector is at that one.

    >>> line = OneClass([(1, -2, 1, 0), (0, 1, -2, 1)], 1)
    >>> line.none_beyond(3), line.none_beyond(2)
    (True, False)
    """

    def __init__(self, basis: Basis, place: int, symmetries: Sequence[Sequence[int]] = ()) -> None:
        pivot = min((v for v in basis if v[place]), key=lambda v: abs(v[place]))
        rest = [
            [pivot[place] * x - v[place] * y for x, y in zip(v, pivot, strict=True)]
            for v in basis
            if v is not pivot
        ]
        others = [c for c in range(len(pivot)) if c != place]
        columns = [[v[c] // gcd(*v) for c in others] for v in rest]
        super().__init__(
            columns,
            [
                [others.index(each[c]) for c in others]
                for each in symmetries
                if each[place] == place and each[others[0]] == others[0]
            ],
        )
        self.blocks += 1
        self.times = abs(pivot[place])

    def _spread(self, sizes: Sequence[int]) -> Fraction:
        return Fraction(self.times**2)

    def _change(self, blocks: Sequence[Numbers]) -> int:
        """Return what the bound is for a cut."""
        rows = [[int(x) for x in self.columns[each].sum(axis=0)] for each in blocks[1:]]
        return self.times * abs(_determinant(rows))


def _determinant(rows: list[list[int]]) -> int:
    """Return the determinant, by fraction-free elimination.

    >>> _determinant([[0, 1], [2, 3]]), _determinant([[1, 2], [2, 4]]), _determinant([])
    (-2, 0, 1)
    """
    left, before, sign = [list(row) for row in rows], 1, 1
    for place in range(len(left)):
        swap = next((i for i in range(place, len(left)) if left[i][place]), None)
        if swap is None:
            return 0
        if swap != place:
            left[place], left[swap], sign = left[swap], left[place], -sign
        pivot = left[place][place]
        for other in left[place + 1 :]:
            factor = other[place]
            other[place:] = [
                (pivot * x - factor * y) // before
                for x, y in zip(other[place:], left[place][place:], strict=True)
            ]
        before = pivot
    return sign * before


def _sizes(total: int, parts: int, largest: int) -> list[tuple[int, ...]]:
    """Return positive numbers, so many, that add up to the total; the largest first."""
    if parts == 1:
        return [(total,)] if total <= largest else []
    return [
        (first, *others)
        for first in range(min(largest, total - parts + 1), -(-total // parts) - 1, -1)
        for others in _sizes(total - first, parts - 1, first)
    ]
