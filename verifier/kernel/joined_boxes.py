"""Which boxes G joins, without a look at every pair of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import permutations
from typing import Any, TypeVar

from .boxes import Box, Side, first
from .document import Budget
from .policy import Graph

Kind = TypeVar("Kind", bound=Hashable)


def united(boxes: list[tuple[Kind, Box]], budget: Budget) -> list[tuple[Kind, Box]]:
    """Put together disjoint boxes of one kind that differ on one axis only, axis by axis."""
    for k in reversed(range(len(boxes[0][1]) if boxes else 0)):
        budget.spend(sum(len(box[k]) for _, box in boxes))
        if len({box[k] for _, box in boxes}) == 1:
            continue
        lines: dict[tuple[Kind, Box, Box], list[Side]] = defaultdict(list)
        for kind, box in boxes:
            budget.spend(4 + sum(map(len, box)))
            lines[kind, box[:k], box[k + 1 :]].append(box[k])
        boxes = [(kind, (*below, _union(sides), *above))
                 for (kind, below, above), sides in lines.items()]  # fmt: skip
    return boxes


def _union(sides: list[Side]) -> Side:
    runs: list[tuple[int, int]] = []
    for low, high in sorted(run for side in sides for run in side):
        if runs and runs[-1][1] == low:
            runs[-1] = runs[-1][0], high
        else:
            runs.append((low, high))
    return tuple(runs)


def near(graph: Graph, boxes: Sequence[Box], budget: Budget) -> Iterator[tuple[int, int]]:
    """Yield the places of every two boxes that an edge joins, in both orders, and twice the place
    of a box within which there is an edge: what `touches` says. The boxes are as it wants them.
    """
    if graph.kind == "edges":
        at = {first(box): k for k, box in enumerate(boxes)}
        budget.spend(len(graph.pairs))
        yield from ((at[x], at[y]) for x, y in graph.pairs if x in at and y in at)
        return
    axes = range(len(graph.weights))
    runs = sum(len(side) for box in boxes for side in box)
    wide = [k for k, box in enumerate(boxes) if any(side[-1][1] - side[0][0] > 1 for side in box)]
    budget.spend(len(boxes) * (len(axes) + graph.finder.cost) + 2 * runs)
    budget.spend(len(wide) * len(axes) ** 2)
    yield from ((k, k) for k in wide if graph.touches(boxes[k], boxes[k]))
    yield from (_together if graph.cells else _close)(graph, boxes, budget)


def _together(graph: Graph, boxes: Sequence[Box], budget: Budget) -> Iterator[tuple[int, int]]:
    """Every two values of a listed cell are joined."""
    held: dict[object, list[int]] = defaultdict(list)
    for place, box in enumerate(boxes):
        held[graph.cell(first(box))].append(place)
    for some in held.values():
        budget.spend(len(some) ** 2)
        yield from permutations(some, 2)


def _close(graph: Graph, boxes: Sequence[Box], budget: Budget) -> Iterator[tuple[int, int]]:
    """The boxes are leaves of a tree that branches by their sides on one axis after the other. Two
    of its nodes are compared, side by side, if the charges of the axes above are within the bound.
    """
    axes = range(len(graph.weights))
    sides = [list(dict.fromkeys(box[k] for box in boxes)) for k in axes]
    varied = [k for k in axes if len(sides[k]) > 1]
    costs = [_costs(graph, k, sides[k], budget) for k in varied]
    numbers = [{side: n for n, side in enumerate(sides[k])} for k in varied]
    tree: dict[int, Any] = {}
    for place, box in enumerate(boxes):
        node = tree
        *above, last = [number[box[k]] for k, number in zip(varied, numbers, strict=True)] or [0]
        for n in above:
            node = node.setdefault(n, {})
        node[last] = place
    stack: list[tuple[int, Any, Any, int]] = [(0, tree, tree, 0)]
    while stack and varied:
        depth, one, two, charge = stack.pop()
        for s, below in one.items():
            row = costs[depth][s]
            least = min(row, two, key=len)
            budget.spend(1 + len(least))
            for t in least:
                if t not in row or t not in two:
                    continue
                total = charge + row[t] if graph.added else row[t]
                if not graph.within(total):
                    continue
                if depth + 1 < len(varied):
                    stack.append((depth + 1, below, two[t], total))
                elif below != two[t]:
                    yield below, two[t]


def _costs(graph: Graph, k: int, sides: list[Side], budget: Budget) -> list[dict[int, int]]:
    """Return the charges of the least offsets between sides on an axis, where within the bound.

    Runs are taken in order; only those that begin within reach of an earlier one are compared.
    """
    size = max(side[-1][1] for side in sides)
    weight, reach = graph.weights[k] or 0, graph.reach(k, size)
    reach = reach if graph.line[k] else reach * size
    costs: list[dict[int, int]] = [{n: 0} for n in range(len(sides))]
    seen: set[tuple[int, int]] = set()
    open_runs: list[tuple[int, int]] = []
    for low, high, j in sorted(
        (low, high, n) for n, side in enumerate(sides) for low, high in side
    ):
        budget.spend(1 + len(open_runs))
        open_runs = [(end, i) for end, i in open_runs if low < end + reach]
        for _, i in open_runs:
            pair = (i, j) if i < j else (j, i)
            if i == j or pair in seen:
                continue
            seen.add(pair)
            budget.spend(len(sides[i]) + len(sides[j]), 4)
            cost = weight * graph.gap(k, sides[i], sides[j]) ** graph.power
            if graph.within(cost):
                costs[i][j] = costs[j][i] = cost
                budget.spend(0, 2)
        open_runs.append((high, j))
    return costs
