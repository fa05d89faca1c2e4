"""Which areas hold a value? Looked up without a diagram, whatever the number of areas."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence

from blowproof.models.domain.class_diagram import branches, members
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Box, Point

__all__ = ["Lookup"]

BLOCK = 4096
"""So many boxes are looked up together."""

MOST_WRITTEN = 2_000_000
"""So many owners are written down along an axis; more are looked up in blocks."""


class Lookup:
    """Tells which areas hold a value (areas are bit sets).

    Boxes that reach over all axes but one are found by a position on that axis. Others are looked
    at block by block, so that what is kept does not grow with their square.
    """

    def __init__(self, domain: Domain, areas: Sequence[Area]) -> None:
        whole = domain.whole.sides
        alone: dict[int, list[tuple[int, Box]]] = defaultdict(list)
        others: list[tuple[int, Box]] = []
        for owner, area in enumerate(areas):
            for box in filter(None, area.boxes):
                axes = [axis for axis, side in enumerate(box.sides) if side != whole[axis]]
                (alone[axes[0]] if len(axes) == 1 else others).append((owner, box))
        self._lines: list[_Line] = []
        for axis, owned in alone.items():
            line = _line(axis, owned)
            if line is None:
                others += owned
            else:
                self._lines.append(line)
        starts = range(0, len(others), BLOCK)
        self._blocks = [_Block(domain, others[start : start + BLOCK]) for start in starts]

    def areas(self, point: Point) -> int:
        """Return the areas that hold a point."""
        return sum(1 << owner for owner in self.owners(point))

    def owners(self, point: Point) -> set[int]:
        """Return the places of the areas that hold a point."""
        found = {
            block.owners[bit] for block in self._blocks for bit in members(block.holding(point))
        }
        for axis, borders, owners in self._lines:
            found.update(owners[bisect_right(borders, point[axis]) - 1])
        return found


_Line = tuple[int, list[int], list[tuple[int, ...]]]
"""An axis, the positions where owners change, and who they are from there on."""


def _line(axis: int, owned: Sequence[tuple[int, Box]]) -> _Line | None:
    """Return who owns the positions of an axis; None where too many lie upon one another."""
    changes: dict[int, Counter[int]] = defaultdict(Counter)
    changes[0] = Counter()
    for owner, box in owned:
        for low, high in box.sides[axis].runs:
            changes[low][owner] += 1
            changes[high][owner] -= 1
    borders = sorted(changes)
    owners: list[tuple[int, ...]] = []
    written, open_ = 0, Counter[int]()
    for border in borders:
        for owner, change in changes[border].items():
            open_[owner] += change
            if not open_[owner]:
                del open_[owner]
        written += len(open_)
        if written > MOST_WRITTEN:
            return None
        owners.append(tuple(open_))
    return axis, borders, owners


class _Block:
    """Some boxes, and the areas that own them."""

    def __init__(self, domain: Domain, owned: Sequence[tuple[int, Box]]) -> None:
        self.owners = [owner for owner, _ in owned]
        self._every = (1 << len(owned)) - 1
        self._axes: list[tuple[int, list[int], list[int]]] = []
        for axis, side in enumerate(domain.whole.sides):
            found = branches(side, [box.sides[axis] for _, box in owned])
            if len(found) > 1 or found[0][0] != self._every:
                runs = sorted((low, mask) for mask, spans in found for low, _ in spans)
                self._axes.append((axis, [low for low, _ in runs], [mask for _, mask in runs]))

    def holding(self, point: Point) -> int:
        """Return the boxes that hold a point, as a bit set."""
        alive = self._every
        for axis, lows, masks in self._axes:
            alive &= masks[bisect_right(lows, point[axis]) - 1]
            if not alive:
                break
        return alive
