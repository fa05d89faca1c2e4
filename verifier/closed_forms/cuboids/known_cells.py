"""Known cells of data cubes: the cuboids they come from, and what two cuboids' cells are worth."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import prod

from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating.form import Case, Check

__all__ = ["Cuboids", "at_most", "known_cells", "worst_block"]

Axes = tuple[int, ...]
Cell = tuple[int, ...]


@dataclass(frozen=True)
class Cuboids:
    """The known cells by cuboid. Attributes with one value are left out: they tell nothing."""

    sizes: tuple[int, ...]
    known: dict[Axes, frozenset[Cell]]

    def size(self, axes: Axes | set[int]) -> int:
        """Return how many cells a cuboid has."""
        return prod(self.sizes[axis] for axis in axes)

    @property
    def leftover(self) -> int:
        """How many values a cell of all the cuboids' attributes holds."""
        used = set().union(*self.known) if self.known else set()
        return prod(size for axis, size in enumerate(self.sizes) if axis not in used)

    @property
    def whole(self) -> bool:
        """Whether some cuboid is known in full (so that n is known)."""
        return any(len(cells) == self.size(axes) for axes, cells in self.known.items())


def known_cells(case: Case) -> Cuboids | str:
    """Return the known cells, or the fact that does not count a cell, in a sentence."""
    sizes = tuple(attribute.size for _, attribute in case.domain.attributes)
    found: dict[Axes, set[Cell]] = defaultdict(set)
    for fact in case.policy.linear_facts:
        box = need.single_box(fact)
        if box is None:
            return f"{fact.name} does not count one cell of a cuboid"
        fixed = {axis: side for axis, side in enumerate(box.sides) if side.size < sizes[axis]}
        if any(side.size != 1 for side in fixed.values()):
            return f"{fact.name} does not count one cell of a cuboid"
        found[tuple(fixed)].add(tuple(side.nth(0) for side in fixed.values()))
    return Cuboids(sizes, {axes: frozenset(cells) for axes, cells in found.items()})


def at_most(count: int) -> Check:
    """The known counts are cells of at most so many cuboids."""

    def check(case: Case) -> str | None:
        found = known_cells(case)
        if isinstance(found, str):
            return found
        if len(found.known) <= count:
            return None
        return f"the known cells come from {len(found.known)} cuboids, not from {count} or fewer"

    return check


def worst_block(found: Cuboids) -> int:
    """Return the largest `_block` over the ways to fix the attributes that two cuboids share.

    One cuboid is taken together with the cuboid of no attributes, none of whose cells is known.
    """
    first, second = (*sorted(found.known), (), ())[:2]
    common = sorted(set(first) & set(second))
    blocks: dict[Cell, list[int]] = defaultdict(lambda: [0, 0])
    for side, axes in enumerate((first, second)):
        for cell in found.known.get(axes, ()) if side == 0 or axes != first else ():
            shared = tuple(at for axis, at in zip(axes, cell, strict=True) if axis in common)
            blocks[shared][side] += 1
    widths = [found.size(set(axes) - set(common)) for axes in (first, second)]
    if len(blocks) < found.size(set(common)):
        blocks[(-1,)]  # a block without known cells
    return max(
        _block(p, q, widths[0] - p, widths[1] - q, found.leftover) for p, q in blocks.values()
    )


def _block(p: int, q: int, u: int, w: int, leftover: int) -> int:
    """Return the most records of an irreducible change; see `cells.lemma_4_3_repaired`.

    p and u cells of the first cuboid are known and unknown, q and w of the second; `leftover`
    values lie in each pair of cells.
    """
    best = 1 if u and w else 0
    both = min(p, q)
    if both and leftover > 1:
        best = 2
    if both > 1:
        best = max(best, 2 * both)
    if both and u and w:
        best = max(best, 2 * both + 1)
    for mine, other, open_end in ((p, q, w), (q, p, u)):
        stops = min(mine, other + 1)
        if open_end and stops and (stops > 1 or open_end * leftover > 1):
            best = max(best, 2 * stops)
    return best
