"""The diagram that finds the classes of a domain: axis by axis, which boxes are still alive.

On each axis, the borders of the boxes cut the positions into runs, and runs that the same boxes
contain are one branch. A node is (axis, the boxes that are still alive); equal nodes are shared.
The cost depends on how many different sets of boxes come together, never on how many values the
domain has, and the sizes are exact big integers.

Where regions are entangled there may be exponentially many nodes or classes. Work is counted, and
too much of it is refused; that there are too many classes is seen earlier on values drawn at
random, which show so many.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice

from blowproof.models.base.clock import now
from blowproof.models.base.errors import BudgetError
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Point, Positions

__all__ = ["Diagram", "LateError", "OutgrownError", "branches", "members"]

MOST_STEPS = 250_000
"""How large a diagram may be: a few seconds. Twenty thousand classes take 100,000 steps."""

CHEAP = 8
"""So many classes are counted in the time that one branch of the diagram takes."""

CALLS = 8
"""The clock is looked at once in so many pieces of work."""

BRANCH, JOINED, RUN, MEMBER = 2e-6, 1e-6, 4e-8, 4e-7
"""Seconds for a branch, for a run of positions that is joined with others or counted, and for a box
in a leaf."""

COVERING = 3
"""What it takes to see which boxes others cover, in branches."""

MOST_RELATED = 400
"""Boxes are compared with one another only where they are fewer."""

DRAW_AFTER = 30_000
"""After so many steps, values are drawn to see whether there are too many classes."""

MOST_DRAWN, MOST_DRAWN_AREAS, MOST_BRANCHES = 100_000, 400, 256
DIGITS = b"01".ljust(256, b"0")


class OutgrownError(BudgetError):
    """A refusal that would be the same the next time."""


class LateError(BudgetError):
    """A refusal for want of time, after so many seconds."""


class Diagram:
    """The shared diagram behind the classes; a node is (axis, bit set of boxes still alive).

    Sets of areas are bit sets here too. Of the boxes of one area, those that another one covers on
    all axes that are still to come are as good as dead (`_covers`). Values of the area `without`
    are in no class, so what it covers is as good as dead, whichever area it belongs to.
    """

    def __init__(
        self,
        domain: Domain,
        areas: Sequence[Area],
        *,
        limit: int | None = None,
        deadline: float | None = None,
        without: Area | None = None,
    ) -> None:
        self._limit, self._deadline = limit, deadline
        self._steps, self._calls, self._drawn = 0, 0, limit is None
        self._work = 0.0
        every = areas if without is None else [*areas, without]
        self._areas = len(areas)
        owned = [(owner, box) for owner, area in enumerate(every) for box in area.boxes if box]
        self._owners = [owner for owner, _ in owned]
        boxes = [box for _, box in owned]
        self._axes = [
            branches(side, [box.sides[axis] for box in boxes])
            for axis, side in enumerate(domain.whole.sides)
        ]
        self._covers = _covers(boxes, self._owners, None if without is None else self._areas)
        self.everything = self._alive(0, (1 << len(owned)) - 1)
        self._children: dict[tuple[int, int], tuple[tuple[int, Positions], ...]] = {}
        self._sizes: dict[tuple[int, int], dict[int, int]] = {}
        self._firsts: dict[tuple[int, int, int], dict[int, list[Point]]] = {}
        self._leading: dict[tuple[int, int], dict[int, list[tuple[int, Positions]]]] = {}
        self._leaves: dict[int, int] = {}
        self._joined: dict[tuple[int, tuple[int, ...]], Positions] = {}

    def leaf(self, alive: int) -> int:
        """Return the areas that own the boxes still alive."""
        found = self._leaves.get(alive)
        if found is None:
            found = 0
            self._work += MEMBER * alive.bit_count()
            for bit in members(alive):
                found |= 1 << self._owners[bit]
            self._leaves[alive] = found
        return found

    def _alive(self, axis: int, alive: int) -> int:
        """Drop the boxes that others cover, from this axis on."""
        if self._covers:
            mask, covered = self._covers[axis]
            for bit in members(alive & mask):
                if alive >> bit & 1:
                    alive &= ~covered[bit]
        return alive

    def children(self, axis: int, alive: int) -> tuple[tuple[int, Positions], ...]:
        """Return the branches of a node: (boxes alive after this axis, the positions)."""
        found = self._children.get((axis, alive))
        if found is None:
            merged: dict[int, list[int]] = {}
            for branch, (mask, _) in enumerate(self._axes[axis]):
                merged.setdefault(alive & mask, []).append(branch)
            self._step(len(self._axes[axis]) + len(merged))
            if self._covers:
                kept: dict[int, list[int]] = {}
                for mask, several in merged.items():
                    kept.setdefault(self._alive(axis + 1, mask), []).extend(several)
                self._step(COVERING * len(merged))
                merged = kept
            found = tuple((mask, self._join(axis, tuple(each))) for mask, each in merged.items())
            self._children[axis, alive] = found
        return found

    def _join(self, axis: int, several: tuple[int, ...]) -> Positions:
        """Return the positions of some branches of an axis: many nodes ask for the same."""
        found = self._joined.get((axis, several))
        if found is None:
            runs = [run for branch in several for run in self._axes[axis][branch][1]]
            self._work += JOINED * len(runs)
            found = self._joined[axis, several] = Positions.joined(runs)
        return found

    def sizes(self, axis: int, alive: int) -> dict[int, int]:
        """Return how many values below a node end in each class."""
        if axis == len(self._axes):
            inside = self.leaf(alive)
            return {} if inside >> self._areas else {inside: 1}
        found = self._sizes.get((axis, alive))
        if found is None:
            found = {}
            for mask, positions in self.children(axis, alive):
                width = positions.size
                self._work += RUN * len(positions.runs)
                below = self.sizes(axis + 1, mask)
                for inside, size in below.items():
                    found[inside] = found.get(inside, 0) + width * size
                self._step(len(below) // CHEAP)
                if self._limit is not None and len(found) > self._limit:
                    raise _too_many(self._limit)
            self._sizes[axis, alive] = found
        return found

    def _step(self, steps: int) -> None:
        """Count work; refuse where it is too much, or too late."""
        self._steps += steps
        self._work += BRANCH * steps
        self._calls += 1
        if self._steps > MOST_STEPS:
            raise OutgrownError(
                "the regions of the facts are too entangled to find the classes of values that "
                "they cut out\n  try: fewer facts, or regions over fewer attributes"
            )
        if self._deadline is not None and self._calls % CALLS == 0:
            late = now(self._work) > self._deadline
            self._work = 0.0
            if late:
                raise LateError("no time was left to find the classes of values")
        if not self._drawn and self._steps > DRAW_AFTER:
            self._drawn = True
            assert self._limit is not None
            if self._classes_of_drawn(2 * self._limit) > self._limit:
                raise _too_many(self._limit)

    def _classes_of_drawn(self, count: int) -> int:
        """Return how many classes (of possible values) some values drawn at random lie in.

        Runs are drawn, not positions: narrow ones are as good as wide ones. Sets of values are bit
        sets.
        """
        areas = self._owners[-1] + 1 if self._owners else 0
        if count > MOST_DRAWN or areas > MOST_DRAWN_AREAS or len(self._owners) > MOST_DRAWN_AREAS:
            return 0
        rng = random.Random(0)
        everyone = (1 << count) - 1
        inside = [everyone] * len(self._owners)
        for branches in self._axes:
            if len(branches) > MOST_BRANCHES:
                return 0
            turn = bytes(byte % len(branches) for byte in range(256))  # some are twice as likely
            chosen = rng.randbytes(count).translate(turn)
            for bit in range(len(inside)):
                holds = [mask >> bit & 1 for mask, _ in branches]
                if not all(holds):
                    digits = bytes(holds).ljust(256, b"0").translate(DIGITS)
                    inside[bit] &= int(chosen.translate(digits), 2)
        found = [0] * areas
        for bit, values in enumerate(inside):
            found[self._owners[bit]] |= values
        rows = [f"{values:0{count}b}" for values in found]
        seen = set(zip(*rows, strict=True))
        if areas > self._areas:
            return sum(1 for signature in seen if signature[-1] == "0")
        return len(seen)

    def paths(self, axis: int, alive: int, inside: int) -> Iterator[tuple[Positions, ...]]:
        """Yield the paths from a node to a class, as the positions taken on each axis."""
        if axis == len(self._axes):
            yield ()
            return
        for mask, positions in self._ways(axis, alive).get(inside, ()):
            for rest in self.paths(axis + 1, mask, inside):
                yield (positions, *rest)

    def _ways(self, axis: int, alive: int) -> dict[int, list[tuple[int, Positions]]]:
        """Return the branches of a node that lead to each class.

        Kept, so that the boxes of thousands of classes do not take a walk over all branches each.
        """
        found = self._leading.get((axis, alive))
        if found is None:
            found = {}
            for mask, positions in self.children(axis, alive):
                for inside in self.sizes(axis + 1, mask):
                    found.setdefault(inside, []).append((mask, positions))
            self._leading[axis, alive] = found
        return found

    def firsts(self, axis: int, alive: int, count: int) -> dict[int, list[Point]]:
        """Return `count` values below a node of each class (fewer where it has fewer there)."""
        if axis == len(self._axes):
            inside = self.leaf(alive)
            return {} if inside >> self._areas else {inside: [()]}
        found = self._firsts.get((axis, alive, count))
        if found is None:
            found = {}
            for mask, positions in self.children(axis, alive):
                spots = list(islice(positions, count))
                for inside, rest in self.firsts(axis + 1, mask, count).items():
                    known = found.setdefault(inside, [])
                    if len(known) < count:
                        new = ((spot, *tail) for spot in spots for tail in rest)
                        known.extend(islice(new, count - len(known)))
            self._firsts[axis, alive, count] = found
        return found

    def walk(self, point: Point) -> int:
        """Return the areas that hold a point."""
        alive = self.everything
        for axis, place in enumerate(point):
            alive = next(m for m, positions in self.children(axis, alive) if place in positions)
        return self.leaf(alive)


def _too_many(limit: int) -> OutgrownError:
    return OutgrownError(
        f"the facts cut the domain into more than {limit} classes of values\n  try: fewer facts"
    )


def _covers(
    boxes: Sequence[Box], owners: Sequence[int], without: int | None
) -> list[tuple[int, dict[int, int]]]:
    """Return for each axis the boxes that cover others from this axis on, and which ones.

    Boxes of the same area count, and all boxes for those of the area `without`. Of equal boxes of
    one area, the first covers the others.
    """
    family: dict[int, int] = {}
    for bit, owner in enumerate(owners):
        family[owner] = family.get(owner, 0) | 1 << bit
    if without in family:
        family[without] = (1 << len(boxes)) - 1
    related = {owner: mask for owner, mask in family.items() if mask.bit_count() > 1}
    if not related or len(boxes) > MOST_RELATED:
        return []
    # covered[a]: where no axis that was looked at shows that a does not cover them.
    covered = {bit: related[owner] for bit, owner in enumerate(owners) if owner in related}
    result = [_strictly(covered)]
    for axis in reversed(range(len(boxes[0].sides))):
        _compare([box.sides[axis] for box in boxes], covered)
        result.append(_strictly(covered))
    return result[::-1]


def _strictly(covered: dict[int, int]) -> tuple[int, dict[int, int]]:
    """Leave out each box itself and, of boxes that cover one another, the first one."""
    found: dict[int, int] = {}
    for bit, mask in covered.items():
        others = mask & ~(1 << bit)
        for first in members(others & ((1 << bit) - 1)):
            if covered.get(first, 0) >> bit & 1:
                others &= ~(1 << first)
        if others:
            found[bit] = others
    return sum(1 << bit for bit in found), found


def _compare(sides: Sequence[Positions], covered: dict[int, int]) -> None:
    """Drop from `covered` what an axis shows not to be covered."""
    alike: dict[Positions, int] = {}
    for bit, side in enumerate(sides):
        alike[side] = alike.get(side, 0) | 1 << bit
    inner = {
        side: sum(bits for other, bits in alike.items() if not (other - side)) for side in alike
    }
    for bit in covered:
        covered[bit] &= inner[sides[bit]]


def branches(side: Positions, cuts: Sequence[Positions]) -> list[tuple[int, list[tuple[int, int]]]]:
    """Cut an axis at the borders of the boxes: (bit set of boxes, the runs they share)."""
    toggles: dict[int, int] = {0: 0}
    for bit, cut in enumerate(cuts):
        for low, high in cut.runs:
            toggles[low] = toggles.get(low, 0) ^ (1 << bit)
            toggles[high] = toggles.get(high, 0) ^ (1 << bit)
    end = side.runs[-1][1]
    borders = sorted(place for place in toggles if place < end)
    branches: dict[int, list[tuple[int, int]]] = {}
    mask = 0
    for low, high in zip(borders, [*borders[1:], end], strict=True):
        mask ^= toggles[low]
        branches.setdefault(mask, []).append((low, high))
    return list(branches.items())


def members(mask: int) -> Iterator[int]:
    """Yield the members of a bit set, least first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
