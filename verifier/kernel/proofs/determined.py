"""Kind `determined`: the facts fix the query, and S is 0.

Every output is, over the cells that values can be in, a linear combination of the equalities (and
of n in readings 1, 2 and 5): of numbers that are the same in D1 and in D2. Bounds and clauses only
leave fewer pairs.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..document import Exact, Rejected, want
from ..world import SOME, World, relations


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless each output follows from the facts; the value is at least 0 (`lower_bound`)."""
    want(proof, {"kind": str}, "the proof")
    if world.query.weights is not None:
        raise Rejected("this kind of proof is for queries of the histogram")
    cells, _, _ = world.classes()
    rows = world.rows(cells)[1]
    if SOME in rows:
        raise Rejected("no fact tells the values of a cell apart, and the query does")
    known = list(zip(*(world.effect(cell.point) for cell in cells), strict=True))
    known = known[: len(world.equalities)]
    if world.labelled:
        known.append((1,) * len(cells))
    outputs: dict[Hashable, list[int]] = {}
    for place, row in enumerate(rows):
        for output, size in row:
            if output not in outputs:
                world.budget.spend(len(cells), len(cells))
                outputs[output] = [0] * len(cells)
            outputs[output][place] = size
    if len(relations([*known, *outputs.values()], world.budget)[0]) > _rank(world, known):
        raise Rejected("an output is no combination of the facts")


def _rank(world: World, rows: list[tuple[int, ...]]) -> int:
    return len(relations(rows, world.budget)[0])
