"""The worst edge of G in a norm other than l1.

*Statement.* One record moves from x to y, and the rows of all parts change by r(y) - r(x).

1. Where all rows hold only 0 and 1, the change in l2-squared is that in l1.
2. In linf the change of a stack is the largest of its outputs' changes; of a part whose rows hold
   only 0 and 1, with one weight w, it is w along every edge that changes the part at all.
3. In range, no stack changes by more than twice what it does in linf; one part of cumulative counts
   by no more than once, since all of them go the same way.

*Proof.* 1: every change is 0, 1 or -1, and equal to its square up to the sign. 2 and 3: by the
definitions. QED.

So where the structure tells the worst edge in l1, it bounds these as well; each part's own worst
edge is tried, and the best is the answer where it meets the bound. Squares of sums are compared by
how far an edge leads on each axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from blowproof.models import Box, Exact, Move, Point, Setting
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L2_SQUARED, LINF, RANGE, Norm
from blowproof.models.queries.kinds import SumQuery
from blowproof.models.secrets import CellGraph, OffsetGraph
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Candidate", "by_parts"]

Ends = tuple[Point, Point]
Candidate = tuple[Exact, Ends | None, str]
"""A change, an edge that has it, and how it was found."""

InL1 = Callable[[Sequence[Part]], tuple[Exact, Ends | None] | None]
"""Finds the largest change of parts in l1 along an edge, and such an edge, by structure."""

MOST_TRIED = whole_limit(__name__, "MOST_TRIED")
MOST_BOXES = whole_limit(__name__, "MOST_BOXES")


def by_parts(setting: Setting, stack: Stacked, in_l1: InL1) -> Candidate | None:
    """Return the largest change of a stack along an edge, from what its parts change by in l1.

    None where the structure does not tell.
    """
    parts = stack.parts
    if any(part.query.per_record for part in parts):
        return None
    if stack.measure not in (L2_SQUARED, LINF, RANGE):
        return None
    binary = [part for part in parts if part.query.binary]
    sums = [part for part in parts if type(part.query) is SumQuery]
    if len(binary) + len(sums) < len(parts):
        return None
    found = _bound(setting, stack.measure, binary, sums, in_l1)
    if found is None:
        return None
    bound, edges = found
    best: tuple[Exact, Ends | None] = (0, None)
    for x, y in edges:
        value = stack.difference([Move(x, y)])
        if value > best[0]:
            best = (value, (x, y))
    if best[0] < bound:
        return None
    return best[0], best[1], "structure: no edge changes more than its parts allow"


def _bound(
    setting: Setting, norm: Norm, binary: Sequence[Part], sums: Sequence[Part], in_l1: InL1
) -> tuple[Exact, list[Ends]] | None:
    """Return what no edge exceeds, and edges to try."""
    edges: list[Ends] = []
    alone: list[Exact] = []
    if norm is L2_SQUARED:
        for group, find in ((binary, in_l1), (sums, lambda parts: _squares(setting, parts))):
            found = find(group) if group else (0, None)
            if found is None:
                return None
            alone.append(found[0])
            edges += [found[1]] if found[1] else []
        return plain(sum(alone, start=Fraction(0))), edges
    one_way: list[Exact] = []
    for part in (*binary, *_axis_by_axis(sums)):
        found = in_l1([part])
        if found is None or not part.uniform:
            return None
        if found[1] is None:
            continue
        edges.append(found[1])
        size = part.weights[0] if part.query.binary else found[0]
        single = part.query.one_way or part.query.width == 1
        (one_way if single else alone).append(size)
    if norm is LINF:
        return plain(max([*alone, *one_way], default=0)), edges
    if not alone and len(one_way) == 1:
        return plain(one_way[0]), edges
    return plain(2 * max([*alone, *one_way], default=Fraction(0))), edges


def _axis_by_axis(sums: Sequence[Part]) -> Iterator[Part]:
    """Yield each output of sums as a part of its own."""
    for part in sums:
        query = part.query
        assert isinstance(query, SumQuery)
        for place, axis in enumerate(query.axes):
            weight = part.weights[0 if part.uniform else place]
            yield Part(SumQuery(query.domain, (axis,), query.name), (weight,))


def _squares(setting: Setting, sums: Sequence[Part]) -> tuple[Exact, Ends | None] | None:
    """Return the largest weighted sum of squares that the axes' changes along an edge have."""
    domain, graph = setting.domain, setting.graph
    worth = [Fraction(0)] * len(domain)
    for part in _axis_by_axis(sums):
        (axis,) = part.query.axes  # type: ignore[attr-defined]
        worth[axis] += part.weights[0] * Fraction(domain.attribute(axis).step) ** 2
    if isinstance(graph, OffsetGraph) and not setting.impossible.boxes:
        return _by_spans(graph, worth)
    if isinstance(graph, CellGraph):
        groups = [list(area.boxes) for area in graph.areas]
    elif graph.complete:
        groups = [[domain.whole]]
    else:
        return None
    best: tuple[Exact, Ends | None] = (0, None)
    for group in groups:
        boxes = _without(group, setting.impossible.boxes)
        if len(boxes) > MOST_BOXES:
            return None
        best = max(best, _farthest_corners(boxes, worth), key=lambda item: item[0])
    return best


def _by_spans(graph: OffsetGraph, worth: Sequence[Fraction]) -> tuple[Exact, Ends | None] | None:
    """Take as many steps on each axis as an edge pays for; more steps are never worth less.

    Where charges add up, all steps on all axes but one are tried, and the last takes what is left.
    """
    used = [
        axis for axis, value in enumerate(worth) if value and graph.axes[axis].reach(graph.bound)
    ]
    if not used:
        return 0, None

    def passed(axis: int, steps: int) -> int:
        return steps if graph.axes[axis].line else (graph.axes[axis].size - 1) * steps

    reach = [range(graph.axes[axis].reach(graph.bound) + 1) for axis in used]
    if graph.together == "max":
        choices: Iterator[tuple[int, ...]] = iter([tuple(len(steps) - 1 for steps in reach)])
    elif prod(map(len, reach[:-1])) > MOST_TRIED:
        return None
    else:
        choices = _all_but_one(graph, used, reach)
    best, steps = max(
        (
            sum(
                (worth[a] * passed(a, d) ** 2 for a, d in zip(used, taken, strict=True)),
                Fraction(0),
            ),
            taken,
        )
        for taken in choices
    )
    y = [0] * len(worth)
    for axis, number in zip(used, steps, strict=True):
        y[axis] = passed(axis, number)
    return plain(best), ((0,) * len(worth), tuple(y))


def _all_but_one(
    graph: OffsetGraph, used: Sequence[int], reach: Sequence[range]
) -> Iterator[tuple[int, ...]]:
    for others in product(*reach[:-1]):
        spent = sum(graph.axes[a].cost(d) for a, d in zip(used, others, strict=False))
        if spent <= graph.bound:
            yield (*others, graph.axes[used[-1]].reach(graph.bound - spent))


def _without(boxes: Sequence[Box], holes: Sequence[Box]) -> list[Box]:
    kept = [box for box in boxes if box]
    for hole in holes:
        kept = [part for box in kept for part in box.minus(hole)]
    return kept


def _farthest_corners(boxes: Sequence[Box], worth: Sequence[Fraction]) -> tuple[Exact, Ends | None]:
    """Return the farthest two points of boxes: on each axis, ends of the two sides."""
    best: tuple[Exact, Ends | None] = (0, None)
    for number, one in enumerate(boxes):
        for other in boxes[: number + 1]:
            x, y = [], []
            for s, t in zip(one.sides, other.sides, strict=True):
                low, high = s.runs[0][0], t.runs[-1][1] - 1
                up, down = s.runs[-1][1] - 1, t.runs[0][0]
                near = (low, high) if abs(high - low) >= abs(up - down) else (up, down)
                x.append(near[0])
                y.append(near[1])
            value = sum(
                (w * (p - q) ** 2 for w, p, q in zip(worth, x, y, strict=True)), Fraction(0)
            )
            if value > best[0]:
                best = (plain(value), (tuple(x), tuple(y)))
    return best
