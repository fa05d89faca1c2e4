"""The worst edge where sizes add up over outputs: all edges (x, x + d) at once, part by part.

For stacks of many queries on domains of some ten thousand values, whose rows side by side would be
too wide for one table (`row_table`), in l1 and in l2-squared.

*Statement.* Let every part hold whole numbers in steps of 1 / u_g, for each group g of outputs of
the same weight w_g. The loss of an edge (x, y) is the sum over g of (w_g / u_g^k) c_g(x, y), where
c_g adds up |r(y) - r(x)|^k of the whole rows r, k = 1 in l1 and 2 in l2-squared. Let v_g be the
factor times 2^s, rounded up. An edge whose sum of v_g c_g is at most 2^s times the loss of another
edge, rounded down, loses no more than that one.

*Proof.* Both norms are sums over outputs, and a weight multiplies the k-th power. As c_g >= 0, the
sum of v_g c_g is at least 2^s times the loss; and a whole number that is at most z is at most z
rounded down. QED.

So the losses of all edges of an offset are bounded in 64-bit integers, in which every number that
occurs is proved to have room; of those that may be worse than the worst so far, one after the other
is added up in fractions, and its like are dropped. Along axes that a part does not read it is the
same, so what it loses is worked out on the others alone, once for all offsets that agree on them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Domain, Exact, Point, Setting
from blowproof.models.base.numbers import plain
from blowproof.models.secrets import OffsetGraph
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.engines.one_move.farthest import offsets_of, possible_values
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["worst_by_offsets"]

MOST_VALUES = whole_limit(__name__, "MOST_VALUES")
MOST_EDGES = whole_limit(__name__, "MOST_EDGES")
MOST_WORK = whole_limit(__name__, "MOST_WORK")
HURRIED = whole_limit(__name__, "HURRIED")
MADE = whole_limit(__name__, "MADE")
MOST_GROUPS = whole_limit(__name__, "MOST_GROUPS")
ROOM = 2**61
"""Sums below this have room in 64 bits."""

Ints = NDArray[np.int64]
Offset = tuple[int, ...]


def worst_by_offsets(
    setting: Setting, stacked: Stacked, *, hurried: bool = False
) -> tuple[Exact, tuple[Point, Point] | None] | None:
    """Return the largest loss of an edge between possible values, and such an edge.

    None where the graph looks at more than offsets, the norm does not add up, or it is too much:
    `hurried`, more than a part of a second takes.
    """
    graph, domain = setting.graph, setting.domain
    if not isinstance(graph, OffsetGraph) or not stacked.measure.adds or stacked.per_record:
        return None
    if domain.size > MOST_VALUES or graph.edge_count > MOST_EDGES:
        return None
    offsets = graph.edge_count // domain.size + 1
    groups = _groups(stacked, domain, (HURRIED if hurried else MOST_WORK) // (offsets + MADE))
    weights = None if groups is None else _rounded_up(groups)
    if groups is None or weights is None:
        return None
    possible, best, edge = possible_values(setting), Fraction(0), None
    for offset in offsets_of(graph):
        here, there = _ends(possible.shape, offset)
        both = possible[here] & possible[there]
        losses = [group.losses(offset) for group in groups]
        bound: Ints = np.where(both, _added(losses, weights.numbers, both.shape), -1)
        while bound.size:
            place = np.unravel_index(int(bound.argmax()), bound.shape)
            if bound[place] <= weights.floor(best):
                break
            own = [int(np.broadcast_to(item, both.shape)[place]) for item in losses]
            loss = sum((g.weight * c for g, c in zip(groups, own, strict=True)), Fraction(0))
            if loss > best:
                x = tuple(int(at) + side.start for at, side in zip(place, here, strict=True))
                best, edge = loss, (x, tuple(p + d for p, d in zip(x, offset, strict=True)))
            alike = [item == c for item, c in zip(losses, own, strict=True)]
            bound[np.logical_and.reduce(np.broadcast_arrays(both, *alike))] = -1
    return plain(best), edge


def _added(losses: Sequence[Ints], numbers: Sequence[int], shape: tuple[int, ...]) -> Ints:
    found: Ints = np.zeros(shape, dtype=np.int64)
    for item, number in zip(losses, numbers, strict=True):
        found += item * np.int64(number)
    return found


def _ends(shape: tuple[int, ...], offset: Offset) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return where all x are such that x + offset is in a box of this shape, and these."""
    sides = list(zip(offset, shape, strict=True))
    here = tuple(slice(max(0, -d), size - max(0, d)) for d, size in sides)
    return here, tuple(slice(max(0, d), size - max(0, -d)) for d, size in sides)


# --- groups of outputs ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Group:
    """Outputs of one part that have the same weight, as whole rows on the axes that it reads."""

    weight: Fraction
    axes: Sequence[int]
    sizes: Sequence[int]
    table: _Table
    kept: dict[Offset, Ints] = field(default_factory=dict)

    def losses(self, offset: Offset) -> Ints:
        """Return c(x, x + offset) for all x, along other axes than those that are read once."""
        own = tuple(offset[axis] for axis in self.axes)
        found = self.kept.get(own)
        if found is None:
            found = self._along(own)
            if len(own) < len(offset):  # others may agree on these axes
                self.kept[own] = found
        return found

    def _along(self, own: Offset) -> Ints:
        shape = tuple(self.sizes[axis] for axis in self.axes)
        numbers = np.arange(prod(shape)).reshape(shape)
        here, there = _ends(shape, own)
        found = self.table.apart(numbers[here].ravel(), numbers[there].ravel())
        sides = [1] * len(self.sizes)
        for axis, step in zip(self.axes, own, strict=True):
            sides[axis] = self.sizes[axis] - abs(step)
        return found.reshape(sides)


@dataclass(frozen=True)
class _Table:
    """Whole rows; `most` bounds what two of them are apart, to the power of the norm's degree."""

    rows: Any
    degree: int
    most: int

    def apart(self, xs: Ints, ys: Ints) -> Ints:
        """Return how far pairs of rows are apart: sizes, or squares, added up."""
        change = self.rows[ys] - self.rows[xs]
        sizes = abs(change) if self.degree == 1 else change.multiply(change)
        found: Ints = np.asarray(sizes.sum(axis=1), dtype=np.int64).ravel()
        return found


def _groups(stacked: Stacked, domain: Domain, most: int) -> list[_Group] | None:
    """Return the outputs of a stack by part and weight; None: too many, or more entries."""
    found: list[_Group] = []
    for part in stacked.parts:
        axes = sorted(part.query.axes_read(domain))
        listed = _listed(part, axes, domain, most)
        if listed is None:
            return None
        for weight, rows in listed.items():
            most -= len(rows.numbers)
            table = rows.table(stacked.measure.degree)
            if table is None or len(found) == MOST_GROUPS:
                return None
            factor = weight / rows.unit**stacked.measure.degree
            found.append(_Group(factor, axes, [kind.size for _, kind in domain.attributes], table))
    return found


class _Rows:
    """Entries of rows as they come: place, column and number."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.columns: dict[Hashable, int] = {}
        self.places: list[int] = []
        self.keys: list[int] = []
        self.numbers: list[Exact] = []

    @property
    def unit(self) -> int:
        """What makes all numbers whole."""
        return lcm(*{number.denominator for number in self.numbers})

    def table(self, degree: int) -> _Table | None:
        """Return the rows as a sparse table; None where numbers have no room."""
        unit = self.unit
        whole = [int(number * unit) for number in self.numbers]
        largest, longest = max(map(abs, whole)), max(np.bincount(self.places).tolist())
        most = 2 * longest * (2 * largest) ** degree
        if most > ROOM:
            return None
        shape = self.count, len(self.columns)
        from scipy.sparse import csr_array

        rows = csr_array((np.array(whole, dtype=np.int64), (self.places, self.keys)), shape=shape)
        return _Table(rows, degree, most)


def _listed(
    part: Part, axes: Sequence[int], domain: Domain, limit: int
) -> dict[Fraction, _Rows] | None:
    """Return the rows of a part on the axes that it reads, by weight; None: more than the limit."""
    sizes = [domain.attribute(axis).size for axis in axes]
    found: dict[Fraction, _Rows] = {}
    left = limit
    for place, point in enumerate(_points(axes, sizes, len(domain))):
        row = part.query.row(point)
        left -= len(row)
        if left < 0:
            return None
        for key, value in row.items():
            weight = part.weight(key)
            if value and weight:
                rows = found.setdefault(weight, _Rows(prod(sizes)))
                rows.places.append(place)
                rows.keys.append(rows.columns.setdefault(key, len(rows.columns)))
                rows.numbers.append(value)
    return found


def _points(axes: Sequence[int], sizes: Sequence[int], many: int) -> Iterator[Point]:
    """Yield values with every combination on some axes, row-major, and position 0 elsewhere."""
    point = [0] * many
    for own in np.ndindex(*sizes):
        for axis, at in zip(axes, own, strict=True):
            point[axis] = at
        yield tuple(point)


# --- weights in whole numbers --------------------------------------------------------------------


@dataclass(frozen=True)
class _Weights:
    """Weights times a power of two, rounded up; all sums of losses have room."""

    numbers: tuple[int, ...]
    scale: Fraction

    def floor(self, loss: Fraction) -> int:
        """Return a loss in the same units, rounded down."""
        return int(loss * self.scale // 1)


def _rounded_up(groups: Sequence[_Group]) -> _Weights | None:
    """Return the weights v_g with as many digits as there is room for; None: there is none."""
    whole = sum((group.weight * group.table.most for group in groups), Fraction(0))
    if sum(group.table.most for group in groups) > ROOM:
        return None
    bits = ROOM.bit_length() - 1 - (int(whole) + 1).bit_length()
    scale = Fraction(2) ** bits
    return _Weights(tuple(-int(-group.weight * scale // 1) for group in groups), scale)
