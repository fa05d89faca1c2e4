"""Releases taken apart by attribute: what each adds to the loss of a move along one axis.

Most queries look at one attribute at a time; then the loss of a move from x to y is a sum over the
axes, plus, for a histogram or a marginal of several attributes, a constant if any of them changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from math import lcm
from typing import Any

import numpy as np

from blowproof.models import BoundQuery, Domain, SecretGraph
from blowproof.models.domain.regions import Positions
from blowproof.models.mechanisms.trees_and_prefixes import PrefixQuery, TreeQuery
from blowproof.models.queries.kinds import (
    CountQuery,
    Cumulative,
    Difference,
    Histogram,
    MarginalQuery,
    PartitionHistogram,
    Ranges,
    SumQuery,
)
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.engines.one_move.axis import Integers, Level, Profile
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Joint", "Shape", "shape_of"]

LONGEST_AXIS = whole_limit(__name__, "LONGEST_AXIS")
SAFE = 2**60
"""Sums below this fit into 64 bits with room to spare."""


@dataclass(frozen=True)
class Joint:
    """A loss that any change of one of these axes brings."""

    axes: frozenset[int]
    loss: Fraction


@dataclass(frozen=True)
class _Piece:
    """What one release adds to an axis, once the common denominator is known.

    `numbers` are the fractions that become integers, `most` bounds the losses that they add up to.
    """

    axis: int
    numbers: tuple[Fraction, ...]
    most: Fraction
    add: Callable[[Profile, int], None]


@dataclass(frozen=True)
class Shape:
    """Profiles by axis, scaled by `denominator`, and the joint losses (not scaled)."""

    denominator: int
    profiles: dict[int, Profile]
    joints: tuple[Joint, ...]


def shape_of(parts: Sequence[Part], domain: Domain, graph: SecretGraph) -> Shape | None:
    """Return the releases by axis, for moves along edges; None if one cannot be taken apart."""
    pieces: list[_Piece] = []
    joints: list[Joint] = []
    for part in parts:
        kind = _pieces.registry.get(type(part.query), _pieces.registry[object])
        found = kind(part.query, part, domain, graph)
        if found is None:
            return None
        for item in found:
            if isinstance(item, Joint):
                joints.append(item)
            else:
                pieces.append(item)
    if any(domain.attribute(piece.axis).size > LONGEST_AXIS for piece in pieces):
        return None
    denominator = lcm(*{n.denominator for piece in pieces for n in piece.numbers}, 1)
    profiles: dict[int, Profile] = {}
    for axis in {piece.axis for piece in pieces}:
        here = [piece for piece in pieces if piece.axis == axis]
        small = sum(piece.most for piece in here) * denominator * 4 < SAFE
        profile = Profile(domain.attribute(axis).size, np.int64 if small else object)
        for piece in here:
            piece.add(profile, denominator)
        profiles[axis] = profile
    return Shape(denominator, profiles, tuple(joints))


@singledispatch
def _pieces(
    query: BoundQuery, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    """Take one release apart, if its query is exactly one of those below; else None.

    A kind that comes to them has a function of its own here; a subclass may do otherwise.
    """
    return None


@_pieces.register
def _partition(
    query: PartitionHistogram, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    return [] if query.graph == graph else None  # an edge never leaves its cell


def _integers(weights: Iterable[Fraction], denominator: int, dtype: Any) -> Integers:
    return np.array([int(weight * denominator) for weight in weights], dtype=dtype)


def _constant(size: int, weight: Fraction, denominator: int, dtype: Any) -> Integers:
    return np.full(size, int(weight * denominator), dtype=dtype)


@_pieces.register
def _histogram(
    query: Histogram, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    return _cells(part, tuple(range(len(domain))), domain)


@_pieces.register
def _marginal(
    query: MarginalQuery, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    return _cells(part, query.axes, domain)


@_pieces.register
def _difference(
    query: Difference, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    """One output changes by 2, or two by 1 each, if any of the attributes does."""
    if not part.uniform:
        return None
    return [Joint(frozenset((query.axis, *query.others)), 2 * part.weights[0])]


def _cells(part: Part, axes: tuple[int, ...], domain: Domain) -> list[_Piece | Joint] | None:
    """One count per cell: two of them change."""
    if len(axes) > 1:
        return [Joint(frozenset(axes), 2 * part.weights[0])] if part.uniform else None
    size = domain.attribute(axes[0]).size

    def add(profile: Profile, denominator: int) -> None:
        if part.uniform:
            weights = _constant(size, part.weights[0], denominator, profile.dtype)
        else:
            weights = _integers(part.weights, denominator, profile.dtype)
        profile.levels.append(Level(np.arange(size), weights))

    return [_Piece(axes[0], part.weights, 2 * max(part.weights), add)]


@_pieces.register
def _cumulative(
    query: Cumulative, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    return [_prefixes(part, query, 1)]


@_pieces.register
def _some_prefixes(
    query: PrefixQuery, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    return [_prefixes(part, query, min(query.every, query.size))]


def _prefixes(part: Part, query: Cumulative | PrefixQuery, every: int) -> _Piece:
    """Prefix k, with weight w_k, changes iff it reaches the one position and not the other."""
    size, count = query.size, query.axis_length

    def add(profile: Profile, denominator: int) -> None:
        passed = np.minimum(np.arange(size) // every, count)  # prefixes that end before a position
        if part.uniform:
            rise = passed.astype(profile.dtype) * int(part.weights[0] * denominator)
        else:
            weights = _integers(part.weights, denominator, profile.dtype)
            sums = np.concatenate([np.zeros(1, dtype=profile.dtype), np.cumsum(weights)])
            rise = sums[passed]
        profile.add_rise(rise)

    most = count * part.weights[0] if part.uniform else sum(part.weights, Fraction(0))
    return _Piece(query.axis, part.weights, most, add)


@_pieces.register
def _sums(
    query: SumQuery, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    return [_sum(part, query, axis) for axis in query.axes]


def _sum(part: Part, query: SumQuery, axis: int) -> _Piece:
    """A sum changes by the distance, on an axis of its own."""
    attribute = query.domain.attribute(axis)
    step = attribute.step * part.weight(axis)

    def add(profile: Profile, denominator: int) -> None:
        places = np.arange(attribute.size).astype(profile.dtype)
        profile.add_rise(places * int(step * denominator))

    return _Piece(axis, (step,), attribute.size * step, add)


@_pieces.register
def _ranges(
    query: Ranges, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    if not part.uniform:
        return None
    weight = part.weights[0]

    def add(profile: Profile, denominator: int) -> None:
        profile.ranges += int(weight * denominator)

    return [_Piece(query.axis, (weight,), weight * (query.size + 1) ** 2, add)]


@_pieces.register
def _count(
    query: CountQuery, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    """One count over an interval, or over what an interval leaves: the same to a move."""
    inside = _side(query, domain)
    if inside is None:
        return None
    axis, held = inside
    size = domain.attribute(axis).size
    if len(held.runs) > 1:
        held = Positions.span(0, size) - held
    if len(held.runs) > 1:
        return None

    def add(profile: Profile, denominator: int) -> None:
        nodes = np.full(size, -1)
        weights = _constant(size, Fraction(0), denominator, profile.dtype)
        for low, high in held.runs:
            nodes[low:high] = 0
            weights[low:high] = int(part.weights[0] * denominator)
        profile.levels.append(Level(nodes, weights))

    return [_Piece(axis, part.weights[:1], part.weights[0], add)]


def _side(query: CountQuery, domain: Domain) -> tuple[int, Positions] | None:
    """Return the one axis that the area restricts, and its positions there."""
    boxes = [box for box in query.area.boxes if box]
    whole = domain.whole.sides
    axes = {
        axis
        for box in boxes
        for axis, (side, full) in enumerate(zip(box.sides, whole, strict=True))
        if side.size < full.size
    }
    if len(axes) > 1:
        return None
    axis = axes.pop() if axes else 0
    held = Positions(())
    for box in boxes:
        held = held | box.sides[axis]
    return axis, held


@_pieces.register
def _tree(
    query: TreeQuery, part: Part, domain: Domain, graph: SecretGraph
) -> list[_Piece | Joint] | None:
    """One level for each level of the trees."""
    used = {level: part.weight((level, 0)) for level in query.levels}

    def add(profile: Profile, denominator: int) -> None:
        for level, nodes in _tree_levels(query):
            if level in used:
                weight = int(used[level] * denominator)
                weights = np.zeros(len(nodes), dtype=profile.dtype)
                weights[nodes >= 0] = weight
                profile.levels.append(Level(nodes, weights))

    return [_Piece(query.axis, tuple(used.values()), 2 * sum(used.values(), Fraction(0)), add)]


def _tree_levels(query: TreeQuery) -> Iterator[tuple[int, Integers]]:
    """Yield, level by level, the first position of the node that holds each position, or -1."""
    size, block = query.size, query.block
    first, last = query.chosen
    whole, rest = divmod(size, block)
    blocks = np.arange(whole) * block
    chosen = (np.arange(size) // block >= first) & (np.arange(size) // block <= last)
    layouts = [
        _layout(width, min(query.tree.fan_out, size + 1)) for width in (block, rest) if width
    ]
    for level in range(query.levels.stop):
        nodes = np.full(size, -1)
        if level < len(layouts[0]):
            inner = layouts[0][level]
            tiled = blocks[:, None] + inner[None, :]
            nodes[: whole * block] = np.where(inner[None, :] >= 0, tiled, -1).ravel()
        if rest and level < len(layouts[-1]):
            inner = layouts[-1][level]
            nodes[whole * block :] = np.where(inner >= 0, inner + whole * block, -1)
        yield level, np.where(chosen, nodes, -1)


def _layout(width: int, fan_out: int) -> list[Integers]:
    """Return the levels of one tree: the first position of each position's node, or -1."""
    places = np.arange(width)
    low, high = np.zeros(width, dtype=np.int64), np.full(width, width)
    alive = np.ones(width, dtype=bool)
    levels = []
    while alive.any():
        levels.append(np.where(alive, low, -1))
        alive = alive & (high - low > 1)
        child = -(-(high - low) // fan_out)
        low = np.where(alive, low + (places - low) // child * child, low)
        high = np.where(alive, np.minimum(low + child, high), high)
    return levels
