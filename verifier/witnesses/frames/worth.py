"""What a frame is worth to a query, and the values that its moves are made with.

In each block of a frame, records go along a path through its classes, those that lose most first:
so many that each class loses its k. A class that many records pass through counts twice for each,
if it has values with different rows; else only what it loses in the end counts.

The records that leave a class may all leave from one value, and those that come to it may all come
to one, since a norm is convex: S is met at such a choice. `best_values` improves one class after
the other.

In squares it matters where records pass, and what other classes change: there two values of each
class are chosen once, and a frame is worth the root of the squares of what all records change that
leave the one and come to the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BoundQuery, Point
from blowproof.models.base.clock import spend
from blowproof.models.base.kept import cached_property
from blowproof.models.norms import L1, L2_SQUARED, LINF, RANGE, Norm
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Arc", "Room", "Rows", "Valued", "arcs_of", "best_values", "shortcuts"]

NUMBER = real_limit(__name__, "NUMBER")
PRODUCT = real_limit(__name__, "PRODUCT")
ENTRY = real_limit(__name__, "ENTRY")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
LARGEST = whole_limit(__name__, "LARGEST")
MOST_PASSES = whole_limit(__name__, "MOST_PASSES")
APART = real_limit(__name__, "APART")
TIE = real_limit(__name__, "TIE")
DECIMALS = whole_limit(__name__, "DECIMALS")

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]
Arc = tuple[int, int, int]
"""A class, the next one, and how many records go from the one to the other."""


@dataclass(frozen=True)
class Rows:
    """The values of each class that a query tells apart, and their rows, a column an output.

    Rows are floats, to compare choices by; what a pair changes is said by the query itself.
    """

    values: tuple[tuple[Point, ...], ...]
    rows: tuple[Reals, ...]
    measure: Norm = L1

    @cached_property
    def half(self) -> Reals:
        """Half of how far apart the rows of each class are, in l1."""
        spend(sum(len(rows) * rows.size for rows in self.rows) * ENTRY)
        spans = [np.abs(rows[:, None] - rows[None]).sum(axis=2).max() for rows in self.rows]
        return np.array(spans) / 2

    def sizes(self, changes: Reals) -> Reals:
        """Return the sizes of changes, which lie along the last axis; in squares the roots."""
        found: Reals = np.abs(changes)
        if self.measure is L2_SQUARED:
            found = np.sqrt(np.square(changes).sum(axis=-1))
        elif self.measure is LINF:
            found = found.max(axis=-1)
        elif self.measure is RANGE:
            found = changes.max(axis=-1, initial=0.0) - changes.min(axis=-1, initial=0.0)
        else:
            found = found.sum(axis=-1)
        return found

    @staticmethod
    def of(query: BoundQuery, values: Sequence[Sequence[Point]]) -> Rows | None:
        """Return the rows of these values; None where they are too many numbers."""
        count = sum(map(len, values))
        if query.longest_row * count > MOST_ENTRIES:
            return None
        spend(query.longest_row * count * NUMBER)
        sparse = [[query.row(x) for x in each] for each in values]
        seen = dict.fromkeys(output for each in sparse for row in each for output in row)
        outputs = {output: place for place, output in enumerate(seen)}
        if len(outputs) * count > MOST_ENTRIES:
            return None
        power = 1 / query.measure.degree
        weights = {output: float(query.weight(output)) ** power for output in outputs}
        dense = []
        for each in sparse:
            rows = np.zeros((len(each), max(1, len(outputs))))
            for place, row in enumerate(each):
                for output, number in row.items():
                    rows[place, outputs[output]] = float(number) * weights[output]
            dense.append(rows)
        return Rows(tuple(map(tuple, values)), tuple(dense), query.measure)


@dataclass(frozen=True)
class Room:
    """Given numbers: a fact counts so many records at the most, before a move as after it.

    Records that leave a class are there before, so that a fact counts all of them.
    """

    rows: Numbers
    answers: Numbers

    @staticmethod
    def of(rows: Numbers, answers: Sequence[int | None]) -> Room | None:
        """Return the room of facts that count records up (a column each); None where none does."""
        told = [
            place
            for place, answer in enumerate(answers)
            if answer is not None and 0 <= answer <= LARGEST and (rows[:, place] >= 0).all()
        ]
        if not told:
            return None
        return Room(rows[:, told].T, np.array([answers[place] for place in told]))

    def used(self, leaving: Numbers) -> Reals:
        """Return how much of the room is used, at most; `leaving`: each class, a column a frame."""
        full = np.maximum(self.answers, 1 / 2)[:, None]
        used: Reals = (self.rows.astype(np.float64) @ leaving / full).max(axis=0)
        return used


class Valued:
    """What frames are worth: `half` for each record that passes a class, `net` of the rest.

    `near`: pairs of classes of which some arc must join one (None: any arcs will do); see
    `shortcuts` for what that costs. `only`: pairs that no other arc may join. `room`: how many
    records some classes may hold together at the most, where numbers are given. `squared`: by the
    roots of squares.
    """

    def __init__(
        self,
        found: Rows,
        near: NDArray[np.bool_] | None,
        most: int,
        only: NDArray[np.bool_] | None = None,
        room: Room | None = None,
        *,
        squared: bool = False,
    ) -> None:
        self.half = found.half
        one = found.rows[0].shape[1] == 1
        middle = [(rows.max(axis=0) + rows.min(axis=0)) / 2 for rows in found.rows]
        self.net: Reals = np.array(middle).T
        if not one:
            self.net = np.where(self.half > 0, 0.0, self.net)
        if not self.net.any():
            self.net = np.zeros((0, len(self.half)))
        self.near, self.only, self.most, self.room = near, only, most, room
        self.squared = _squared(found) if squared else None
        self.ends = np.nonzero(np.triu(np.zeros((1, 1), np.bool_) if near is None else near))

    def __call__(self, vectors: Numbers, cuts: Numbers) -> Reals:
        """Return the worth of each column; far less where no arc will do.

        Where more records move than may, or leave than there is room for, it is negative: how many
        times as many. So walks that begin far too heavy find their way down.
        """
        far = 2.0 * float(np.abs(vectors).max(initial=0)) + 2
        small = np.where(self.half > 0, 0, 1)[:, None] * np.where(vectors > 0, -1, 1)
        order = np.argsort((3.0 * cuts + small) * far - vectors, axis=0, kind="stable")
        steps = np.take_along_axis(vectors, order, axis=0)
        after = np.cumsum(steps, axis=0)
        passing = after + (after - steps)
        worth: Reals
        if self.squared is None:
            worth = (self.half[order] * passing).sum(axis=0)
            if len(self.net):
                worth = worth + np.abs(self.net @ vectors).sum(axis=0)
        else:
            leaving = np.take_along_axis(after, np.argsort(order, axis=0), axis=0)
            both = np.concatenate([leaving - vectors, leaving])  # come, and leave
            spend(self.squared.size * both.shape[1] * PRODUCT)
            worth = np.round(np.sqrt(np.square(self.squared @ both).sum(axis=0)), DECIMALS)
        if self.near is not None:
            worth = self._joined(worth, cuts, order, after)
        over = after.sum(axis=0) / max(self.most, 1)
        if self.room is not None:
            leaving = np.take_along_axis(after, np.argsort(order, axis=0), axis=0)
            over = np.maximum(over, self.room.used(leaving))
        return np.where(over > 1, -over, worth)

    def _joined(self, worth: Reals, cuts: Numbers, order: Numbers, after: Numbers) -> Reals:
        """Return what is left where some arc must be an edge, and others may be none."""
        least = self._shortest(cuts, order, after)
        joined = np.isfinite(least)
        if self.only is not None:
            barred = self.only[order[:-1], order[1:]] & (after[:-1] > 0)
            joined &= np.where(barred, after[:-1], 0).sum(axis=0) <= 1  # one record has its secret
        left = worth - 2 * self.half.max() * (np.where(joined, least, 1) - 1)
        return np.where(joined, np.maximum(left, 0), worth * APART)

    def _shortest(self, cuts: Numbers, order: Numbers, after: Numbers) -> Reals:
        """Return how many arcs of a path lie between two classes that are joined, at the least."""
        place = np.argsort(order, axis=0)
        one, two = place[self.ends[0]], place[self.ends[1]]
        going = np.take_along_axis(after, np.minimum(one, two), axis=0) > 0
        along = going & (cuts[self.ends[0]] == cuts[self.ends[1]])
        least: Reals = np.where(along, np.abs(one - two), np.inf).min(axis=0, initial=np.inf)
        return least


def _squared(found: Rows) -> Reals:
    """Return numbers whose product with how many come to each class, and how many leave it, has the
    squares of what the query changes by, for two values of each class that are far apart together.
    """
    low, high = [0] * len(found.rows), [0] * len(found.rows)
    total = np.zeros(found.rows[0].shape[1])
    apart = [_apart(rows) for rows in found.rows]
    for _ in range(MOST_PASSES):
        before = list(zip(low, high, strict=True))
        for place, rows in enumerate(found.rows):
            rest = total - (rows[high[place]] - rows[low[place]])
            along = rows @ rest
            gain = 2 * (along[None] - along[:, None]) + apart[place]
            one, two = divmod(int(gain.argmax()), len(rows))
            if gain[one, two] > gain[low[place], high[place]] * (1 + TIE):
                low[place], high[place] = one, two
            total = rest + rows[high[place]] - rows[low[place]]
        if before == list(zip(low, high, strict=True)):
            break
    ends = np.array(
        [rows[two] for rows, two in zip(found.rows, high, strict=True)]
        + [-rows[one] for rows, one in zip(found.rows, low, strict=True)]
    )
    if ends.shape[1] <= len(ends):
        return ends.T
    values, vectors = np.linalg.eigh(ends @ ends.T)  # fewer numbers, with the same squares
    roots: Reals = (vectors * np.sqrt(np.maximum(values, 0))).T
    return roots


def _apart(rows: Reals) -> Reals:
    """Return the squares of how far each two rows are apart."""
    products = rows @ rows.T
    own = np.diag(products)
    found: Reals = own[None] + own[:, None] - 2 * products
    return found


def arcs_of(blocks: Sequence[int], vector: Sequence[int], wide: Sequence[bool]) -> list[Arc]:
    """Return the arcs of a frame, path by path; `wide`: which classes records should pass through.

    Only the classes of a path without a loss (all its k are 0) have no arcs.
    """
    paths: dict[int, list[int]] = {}
    for place, block in enumerate(blocks):
        paths.setdefault(block, []).append(place)
    arcs = []
    for path in paths.values():
        path.sort(key=lambda c: (0 if wide[c] else -1 if vector[c] > 0 else 1, -vector[c]))
        going = 0
        for one, two in pairwise(path):
            going += vector[one]
            if going:
                arcs.append((one, two, going))
    return arcs


def shortcuts(arcs: Sequence[Arc], near: NDArray[np.bool_]) -> Iterator[tuple[int, list[Arc]]]:
    """Yield (the place of one arc with one record, arcs) where that record goes by itself.

    It goes from one class of a path directly to a later one that it is joined to, and no longer
    along the path between, so that each class loses what it did. Such a flow on the blocks of a
    frame is irreducible too: a part without effect loses a multiple of k, so all or nothing of it;
    and no part goes round, as all go forward. Short ways first.
    """
    for length in range(1, len(arcs) + 1):
        for start in range(len(arcs) - length + 1):
            along = arcs[start : start + length]
            joined = all(one[1] == two[0] for one, two in pairwise(along))
            if joined and near[along[0][0], along[-1][1]]:
                fewer = [(one, two, times - 1) for one, two, times in along if times > 1]
                alone = (along[0][0], along[-1][1], 1)
                yield start, [*arcs[:start], alone, *fewer, *arcs[start + length :]]


def best_values(found: Rows, arcs: Sequence[Arc]) -> list[tuple[Point, Point]]:
    """Return the value that records of each arc leave from, and the one that they come to."""
    held: Counter[tuple[int, bool]] = Counter()
    for one, two, times in arcs:
        held[one, False] -= times
        held[two, True] += times
    ends = sorted(held, key=lambda end: -abs(held[end]))
    total = np.zeros(found.rows[0].shape[1])
    chosen: dict[tuple[int, bool], int] = {}
    for _ in range(MOST_PASSES):
        before = dict(chosen)
        for end in ends:
            rows = held[end] * found.rows[end[0]]
            rest = total - rows[chosen[end]] if end in chosen else total
            sizes = found.sizes(rest + rows)
            best = int(sizes.argmax())
            if end not in chosen or sizes[best] > sizes[chosen[end]] * (1 + TIE):
                chosen[end] = best
            total = rest + rows[chosen[end]]
        if chosen == before:
            break
    return [
        (found.values[one][chosen[one, False]], found.values[two][chosen[two, True]])
        for one, two, _ in arcs
    ]
