"""Are signatures affinely independent? Then what keeps every fact is a circulation on them.

They are iff the rows (1, s) are independent (`Span`). Besides: how vectors depend on some of them
(`relations`), and which effects have nothing to do with one another (`parts`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import gcd
from typing import TYPE_CHECKING

from .document import Budget, Exact, words

if TYPE_CHECKING:
    from .world import Effects

__all__ = ["affine_rank", "independent", "parts", "records", "round_a_cycle"]

Vector = tuple[int, ...]
Sparse = tuple[tuple[int, int], ...]
"""A vector as (place, value) of what is not 0, by place: of thousands of facts few see a value."""


Taken = tuple[int, Exact]
"""How many times one that was kept before, by its place."""


class Span:
    """The span of rows that are 0 in most columns, by elimination, one row after the other.

    Each row, less multiples of those kept before it, is 0 in their columns. What is left of it, if
    anything is, is kept, by the column in which the fewest of all rows are not 0: so a row with a
    column of its own is never taken away from another.
    """

    def __init__(self, rows: Sequence[Mapping[int, int]], budget: Budget) -> None:
        self.budget, self.count = budget, len(rows)
        self.kept: list[tuple[int, int, Mapping[int, Exact], list[Taken]]] = []
        """Of each: its number, its column, itself, and how much of those before it was taken."""
        self.places: dict[int, int] = {}
        users = Counter(column for row in rows for column in row)
        budget.spend(4 * users.total(), 2 * len(users))
        for number, row in enumerate(rows):
            left, taken = self._without(row)
            if left:
                column = min(left, key=lambda k: (users[k], k))
                self.places[column] = len(self.kept)
                self.kept.append((number, column, left, taken))
                budget.spend(len(left), 2 * sum(map(_size, left.values())) + 2 * len(taken))

    def shares(self, target: Mapping[int, Exact]) -> list[Exact] | None:
        """Return numbers k with sum k_i rows_i = target, None if there are none."""
        left, taken = self._without(target)
        if left:
            return None
        found: list[Exact] = [0] * self.count
        told = dict(taken)
        for place in range(len(self.kept) - 1, -1, -1):
            number, _, _, before = self.kept[place]
            if times := told.get(place):
                found[number] = times
                self.budget.spend((1 + len(before)) * _size(times) ** 2)
                for other, factor in before:
                    told[other] = told.get(other, 0) - times * factor
        return found

    def _without(
        self, row: Mapping[int, Exact]
    ) -> tuple[dict[int, Exact], list[tuple[int, Exact]]]:
        """Return a row less multiples of those kept, 0 in their columns, and which multiples."""
        left, taken = dict(row), []
        waiting = [self.places[column] for column in left if column in self.places]
        heapify(waiting)
        self.budget.spend(4 * len(left))
        while waiting:  # one that is kept is 0 in the columns of those before it
            place = heappop(waiting)
            _, column, kept, _ = self.kept[place]
            if column not in left:
                continue
            factor = Fraction(left[column], kept[column])
            exact = factor.numerator if factor.denominator == 1 else factor
            taken.append((place, exact))
            self.budget.spend(4 * len(kept) * _size(factor) ** 2)
            for k, value in kept.items():
                if k not in left and k in self.places:
                    heappush(waiting, self.places[k])
                left[k] = left.get(k, 0) - exact * value
                if not left[k]:
                    del left[k]
        return left, taken


def _size(number: Exact) -> int:
    """Return how many words of 64 bits a number takes."""
    return words(number.numerator) + (number.denominator > 1 and words(number.denominator))


def independent(signatures: Sequence[Sparse], budget: Budget) -> bool:
    """Whether different signatures are affinely independent."""
    return len(Span(_rows(signatures), budget).kept) == len(signatures)


def affine_rank(signatures: Sequence[Sparse], budget: Budget) -> int:
    """Return the rank of the differences of signatures."""
    return len(Span(_rows(signatures), budget).kept) - 1


def records(
    signatures: Sequence[Sparse], totals: Sequence[Exact], budget: Budget
) -> list[Exact] | None:
    """Return how many records each independent signature has where they add up to totals (n, then
    one for each fact); None where no numbers do.
    """
    return Span(_rows(signatures), budget).shares(
        {column: total for column, total in enumerate(totals, -1) if total}
    )


def _rows(signatures: Sequence[Sparse]) -> list[dict[int, int]]:
    """Return the rows (1, s); the 1 stands in column -1."""
    return [{-1: 1, **dict(signature)} for signature in signatures]


def round_a_cycle(moves: Sequence[tuple[Sparse, Sparse]], budget: Budget) -> bool:
    """Whether moves from signature to signature go once round different ones, independent ones.

    Then they keep every fact, and no proper part of them does: a part that does is a circulation.
    """
    following = dict(moves)
    if len(following) != len(moves):
        return False
    place, seen = moves[0][0], 0
    while place in following and seen < len(moves):
        budget.spend(1 + len(place))
        place, seen = following[place], seen + 1
        if place == moves[0][0]:
            break
    closed = seen == len(moves) and place == moves[0][0]
    return closed and independent(list(following), budget)


def parts(moves: Effects) -> list[tuple[Effects, int]]:
    """Return the effects in parts that span spaces whose sum is direct, and each space's dimension.

    If a multiset sums to zero, so does what it takes from each part: an irreducible one lies in one
    part. Parts that no secret move has an effect in are left out.
    """
    line = {d: max(d, tuple([-v for v in d])) for d in moves.effects}
    lines, budget = sorted(set(line.values())), moves.world.budget
    basis, forms = relations(lines, budget)
    group = list(range(len(basis)))

    def root(k: int) -> int:
        while group[k] != k:
            group[k] = k = group[group[k]]
        return k

    place: dict[Vector, int] = {}
    for d, (_, coordinates) in zip(lines, forms, strict=True):
        place[d], *others = [k for k, times in enumerate(coordinates) if times]
        budget.spend(len(coordinates) + 4 * len(others))
        for k in others:
            group[root(k)] = root(place[d])
    dimensions = Counter(root(k) for k in range(len(basis)))
    weight = dict(zip(moves.effects, moves.weights, strict=True))
    found: dict[int, Effects] = {}
    for d in moves.effects:
        number = root(place[line[d]])
        if number not in found:
            found[number] = copy(moves)
            found[number].effects, found[number].weights, found[number].secret = [], [], set()
        part = found[number]
        part.effects.append(d)
        part.weights.append(weight[d])
        part.secret |= {d} & moves.secret
    return [(part, dimensions[number]) for number, part in found.items() if part.secret]


def relations(
    vectors: Sequence[Sequence[int]], budget: Budget
) -> tuple[list[int], list[tuple[int, list[int]]]]:
    """Return the places of the first independent vectors, and each vector's relation to them:
    own != 0 and coordinates with own * vector + sum of coordinates * independent vectors = 0.
    """
    width = len(vectors[0]) if vectors else 0
    rows: list[tuple[int, list[int]]] = []  # (pivot, a vector reduced and how it came about)
    basis: list[int] = []
    found, room = [], budget.room  # what is kept here is given back
    for place, vector in enumerate(vectors):
        row = [*vector, *[0] * (width + 1)]
        row[width + len(basis)] = 1
        budget.spend(width * (1 + len(rows)))
        for pivot, base in rows:
            if row[pivot]:
                a, b = base[pivot], row[pivot]
                most = max(*row, *base, -min(row), -min(base))
                digits = most.bit_length() // 64
                budget.spend(width * digits * (1 + digits // 2))  # large numbers take longer
                row = [a * x - b * y for x, y in zip(row, base, strict=True)]
                shared = gcd(*row)
                row = [x // shared for x in row]
        pivot = next((j for j in range(width) if row[j]), -1)
        last = width + len(basis)
        if pivot < 0:
            found.append((row[last], row[width:last]))
            continue
        rows.append((pivot, row))
        budget.spend(0, (2 * width + len(basis)) * words(max(map(abs, row))))
        found.append((1, [*[0] * len(basis), -1]))
        basis.append(place)
    budget.room = room
    return basis, found
