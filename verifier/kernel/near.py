"""Which boxes G joins, without a look at every pair of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, TypeVar

from .document import Budget, Exact
from .policy import Box, Graph, Side, first

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

    The boxes are leaves of a tree that branches by their sides on one axis after the other. Two of
    its nodes are compared, side by side, if the charges of the axes above are within the bound.
    """
    if graph.kind == "edges":
        at = {first(box): k for k, box in enumerate(boxes)}
        budget.spend(len(graph.pairs))
        yield from ((at[x], at[y]) for x, y in graph.pairs if x in at and y in at)
        return
    axes = range(len(graph.weights))
    wide = [k for k, box in enumerate(boxes) if any(side[-1][1] - side[0][0] > 1 for side in box)]
    budget.spend(len(boxes) * (len(axes) + graph.boxes) + len(wide) * len(axes) ** 2)
    yield from ((k, k) for k in wide if graph.touches(boxes[k], boxes[k]))
    sides = [list(dict.fromkeys(box[k] for box in boxes)) for k in axes]
    varied = [k for k in axes if len(sides[k]) > 1]
    costs = [_costs(graph, k, sides[k], budget) for k in varied]
    numbers = [{side: n for n, side in enumerate(sides[k])} for k in varied]
    trees: dict[object, dict[int, Any]] = defaultdict(dict)
    for place, box in enumerate(boxes):
        node = trees[graph.cell(first(box)) if graph.cells else None]
        *above, last = [number[box[k]] for k, number in zip(varied, numbers, strict=True)] or [0]
        for n in above:
            node = node.setdefault(n, {})
        node[last] = place
    stack: list[tuple[int, Any, Any, Exact]] = [(0, tree, tree, 0) for tree in trees.values()]
    while stack and varied:
        depth, one, two, charge = stack.pop()
        budget.spend(len(one) * len(two))
        for s, below in one.items():
            row = costs[depth][s]
            for t, beside in two.items():
                more = row.get(t)
                if more is None:
                    continue
                total = charge + more if graph.added else more
                if not graph.within(total):
                    continue
                if depth + 1 < len(varied):
                    stack.append((depth + 1, below, beside, total))
                elif below != beside:
                    yield below, beside


def _costs(graph: Graph, k: int, sides: list[Side], budget: Budget) -> list[dict[int, Exact]]:
    """Return the charges of the least offsets between sides on an axis, where within the bound."""
    costs: list[dict[int, Exact]] = [{} for _ in sides]
    weight = graph.weights[k]
    runs = sum(map(len, sides))
    for i, s in enumerate(sides):
        budget.spend(runs + len(sides) * len(s))
        for j, t in enumerate(sides[: i + 1]):
            gap = graph.gap(k, s, t) if i != j else 0
            if not gap or weight is not None:
                cost = (weight or 0) * gap**graph.power
                if graph.within(cost):
                    costs[i][j] = costs[j][i] = cost
        budget.spend(0, len(costs[i]))
    return costs
