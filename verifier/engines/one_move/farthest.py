"""Edges with the largest L1 distance between rows: all edges of G, in a few array operations.

A graph of offsets is walked offset by offset: all edges (x, x + d) at once. Within a clique, the
largest L1 distance is a maximum over sign vectors s of max s.r - min s.r, where there are few
outputs (or few of them that are not 0 at once); else every two different rows are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Domain, Point, Setting
from blowproof.models.domain.regions import Area
from blowproof.models.secrets import OffsetGraph, SecretGraph
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["farthest_edge", "offsets_of", "possible_values"]

Table = NDArray[np.int64]
Found = tuple[int, tuple[Point, Point] | None]

MOST_WORK = whole_limit(__name__, "MOST_WORK")
MOST_OFFSETS = whole_limit(__name__, "MOST_OFFSETS")
MOST_SIGNS = whole_limit(__name__, "MOST_SIGNS")
MOST_SUPPORTS = whole_limit(__name__, "MOST_SUPPORTS")
CHUNK = whole_limit(__name__, "CHUNK")


def farthest_edge(setting: Setting, rows: Table) -> Found | None:
    """Return the largest distance between the rows of two joined possible values, and such values.

    `rows` has a row for each value, row-major. None where the work would be too much.
    """
    domain, graph = setting.domain, setting.graph
    possible = possible_values(setting)
    if graph.complete:
        groups = [np.nonzero(possible.ravel())[0]]
    elif graph.reach_alone(0) is not None:
        return _along_edges(graph, rows, possible)
    else:
        cells = graph.cell_areas(domain.size)
        if cells is None:
            return None
        groups = _cells(cells, possible)
    best: Found = (0, None)
    for group in groups:
        found = _in_clique(rows, group, domain)
        if found is None:
            return None
        best = max(best, found, key=lambda item: item[0])
    return best


def _cells(cells: Sequence[Area], possible: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Return the possible values of each cell."""
    cell_of = np.zeros(possible.shape, dtype=np.int64)
    for cell, area in enumerate(cells):
        for box in area.boxes:
            cell_of[np.ix_(*(list(side) for side in box.sides))] = cell
    places = np.nonzero(possible.ravel())[0]
    labels = cell_of.ravel()[places]
    order = np.argsort(labels, kind="stable")
    return np.split(places[order], np.nonzero(np.diff(labels[order]))[0] + 1)


def possible_values(setting: Setting) -> NDArray[np.bool_]:
    """Return which values are possible, as a table with an axis for each attribute."""
    found = np.ones([attribute.size for _, attribute in setting.domain.attributes], dtype=bool)
    for box in setting.impossible.boxes:
        found[np.ix_(*(list(side) for side in box.sides))] = False
    return found


# --- offset by offset ----------------------------------------------------------------------------


@singledispatch
def _along_edges(graph: SecretGraph, rows: Table, possible: NDArray[np.bool_]) -> Found | None:
    """Look at all edges; None for graphs that have no way of their own below."""
    return None


@_along_edges.register
def _by_offsets(graph: OffsetGraph, rows: Table, possible: NDArray[np.bool_]) -> Found | None:
    shape = possible.shape
    offsets = []
    work = 0
    for offset in offsets_of(graph):
        offsets.append(offset)
        overlap = 1
        for size, step in zip(shape, offset, strict=True):
            overlap *= size - abs(step)
        work += overlap * rows.shape[1]
        if work > MOST_WORK or len(offsets) > MOST_OFFSETS:
            return None
    grid = rows.reshape(*shape, rows.shape[1])
    best: Found = (0, None)
    for offset in offsets:
        here = tuple(
            slice(max(0, -d), size - max(0, d)) for d, size in zip(offset, shape, strict=True)
        )
        there = tuple(
            slice(max(0, d), size - max(0, -d)) for d, size in zip(offset, shape, strict=True)
        )
        losses = abs(grid[there] - grid[here]).sum(axis=-1)
        losses[~(possible[here] & possible[there])] = -1
        place = int(losses.argmax()) if losses.size else 0
        if losses.size and int(losses.flat[place]) > best[0]:
            start = np.unravel_index(place, losses.shape)
            x = tuple(int(at) + part.start for at, part in zip(start, here, strict=True))
            y = tuple(at + step for at, step in zip(x, offset, strict=True))
            best = (int(losses.flat[place]), (x, y))
    return best


def offsets_of(graph: OffsetGraph) -> Iterator[tuple[int, ...]]:
    """Yield one of d and -d for every offset that is within the bound."""

    def go(axes: tuple[Any, ...], budget: int) -> Iterator[tuple[int, ...]]:
        if not axes:
            yield ()
            return
        axis = axes[0]
        reach = axis.reach(budget)
        if not axis.line:
            reach = (axis.size - 1) * min(reach, 1)
        for step in range(-reach, reach + 1):
            cost = axis.cost(abs(step) if axis.line else int(step != 0))
            left = budget - cost if graph.together == "sum" else budget
            for rest in go(axes[1:], left):
                yield (step, *rest)

    zero = (0,) * len(graph.axes)
    return (offset for offset in go(graph.axes, graph.bound) if offset > zero)


# --- within a clique -----------------------------------------------------------------------------


def _in_clique(rows: Table, group: NDArray[np.int64], domain: Domain) -> Found | None:
    """Return the two farthest rows of a group."""
    different, firsts = np.unique(rows[group], axis=0, return_index=True)
    if len(different) < 2:
        return 0, None
    used = different[:, (different != different[0]).any(axis=0)]
    ends_found = _by_signs(used, MOST_WORK) or _by_supports(used) or _by_pairs(used)
    if ends_found is None:
        return None
    first, second = ends_found
    distance = int(abs(used[first] - used[second]).sum())
    ends = [_point(int(group[firsts[place]]), domain) for place in (first, second)]
    return distance, (ends[0], ends[1])


def _by_signs(rows: Table, limit: int) -> tuple[int, int] | None:
    """|r - q|_1 is the largest s.(r - q) over signs s; one of s and -s is enough."""
    count, outputs = rows.shape
    if outputs > MOST_SIGNS or outputs * count << outputs > 2 * limit:
        return None
    best, ends = -1, (0, 0)
    for rest in product((1, -1), repeat=outputs - 1):
        sums = rows @ np.array((1, *rest), dtype=np.int64)
        low, high = int(sums.argmin()), int(sums.argmax())
        if int(sums[high] - sums[low]) > best:
            best, ends = int(sums[high] - sums[low]), (low, high)
    return ends


def _by_supports(rows: Table) -> tuple[int, int] | None:
    """Group rows by the outputs that are not 0, as clusters do.

    Rows without a common output are as far apart as their norms add up; for other groups, only
    their own outputs need signs.
    """
    supports, group_of = np.unique(rows != 0, axis=0, return_inverse=True)
    if len(supports) > MOST_SUPPORTS:
        return None
    norms = abs(rows).sum(axis=1)
    groups = [np.nonzero(group_of.ravel() == place)[0] for place in range(len(supports))]
    heaviest = [int(group[norms[group].argmax()]) for group in groups]
    best, ends, limit = -1, (0, 0), MOST_WORK // len(groups)
    for one, two in combinations_with_replacement(range(len(groups)), 2):
        if one != two and not (supports[one] & supports[two]).any():
            pair = heaviest[one], heaviest[two]
        else:
            members = groups[one] if one == two else np.concatenate([groups[one], groups[two]])
            columns = np.nonzero(supports[one] | supports[two])[0]
            if not len(columns):
                continue
            inner = _by_signs(rows[np.ix_(members, columns)], limit)
            if inner is None:
                return None
            pair = int(members[inner[0]]), int(members[inner[1]])
        distance = int(abs(rows[pair[0]] - rows[pair[1]]).sum())
        if distance > best:
            best, ends = distance, pair
    return ends


def _by_pairs(rows: Table) -> tuple[int, int] | None:
    if len(rows) ** 2 * rows.shape[1] > MOST_WORK:
        return None
    best, ends = -1, (0, 0)
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        distances = np.zeros((len(part), len(rows)), dtype=np.int64)
        for column in range(rows.shape[1]):
            distances += abs(part[:, column, None] - rows[None, :, column])
        place = int(distances.argmax())
        if int(distances.flat[place]) > best:
            best = int(distances.flat[place])
            ends = (start + place // len(rows), place % len(rows))
    return ends


def _point(rank: int, domain: Domain) -> Point:
    sizes = [attribute.size for _, attribute in domain.attributes]
    return tuple(int(place) for place in np.unravel_index(rank, sizes))
