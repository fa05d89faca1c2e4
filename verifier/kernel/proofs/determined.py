"""Kind `determined`: the facts fix the query, or nothing is secret, and S is 0.

In readings 1, 2 and 5 a pair makes a secret move: there is none if no edge of G joins two cells.
Else every output is, over the cells that values can be in, a linear combination of the equalities
(and of n in readings 1, 2 and 5): of numbers that are the same in D1 and in D2. Bounds and clauses
only leave fewer pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from itertools import chain
from typing import Any

from ..document import Exact, Rejected, want
from ..independent import Span
from ..joined_boxes import near
from ..world import SOME, World


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless each output follows from the facts, or there is no edge; the value is at least
    0 (`lower_bound`).
    """
    want(proof, {"kind": str}, "the proof")
    cells, joins, areas = world.classes()
    if joins and not any(near(world.policy.graph, list(chain(*areas)), world.budget)):
        return
    if world.query.weights is not None:
        raise Rejected("this kind of proof is for queries of the histogram")
    rows = world.rows(cells)[1]
    if SOME in rows:
        raise Rejected("no fact tells the values of a cell apart, and the query does")
    known = world.by_fact([cell.point for cell in cells])[: len(world.equalities)]
    if world.labelled:
        known.append(dict.fromkeys(range(len(cells)), 1))
    outputs: dict[Hashable, dict[int, int]] = defaultdict(dict)
    for place, row in enumerate(rows):
        for output, size in row:
            outputs[output][place] = size
    span = Span(known, world.budget)
    if any(span.shares(output) is None for output in outputs.values()):
        raise Rejected("an output is no combination of the facts")
