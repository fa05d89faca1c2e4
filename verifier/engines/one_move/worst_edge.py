"""The worst edge of G: the privacy loss where nothing is known but, maybe, n and impossible values.

Then neighbours differ in one record that makes one secret move (readings 1 and 2), and the loss is
a maximum over edges. `worst_edge` finds it from the structure of G and of the releases, on domains
of any size that `axis` takes; else by listing the edges, where they are few; else it gives up.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np

from blowproof.models import (
    BudgetError,
    Domain,
    Exact,
    InternalError,
    Move,
    Point,
    SecretGraph,
    Setting,
)
from blowproof.models.base.numbers import magnitude, total
from blowproof.models.domain.regions import Positions
from blowproof.models.norms import L1, Norm
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.secrets import OffsetGraph
from blowproof.models.stacks.stacked import Part, Stacked, stack
from blowproof.verifier.engines.one_move.axis import (
    NOTHING,
    Order,
    Profile,
    Worst,
    worst_move,
)
from blowproof.verifier.engines.one_move.by_offsets import worst_by_offsets
from blowproof.verifier.engines.one_move.farthest import farthest_edge
from blowproof.verifier.engines.one_move.other_norms import by_parts
from blowproof.verifier.engines.one_move.profile import Joint, Shape, shape_of
from blowproof.verifier.engines.one_move.row_table import row_table
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Edge", "one_secret_move", "worst_edge"]

EDGE_LIMIT = whole_limit(__name__, "EDGE_LIMIT")
FEW_EDGES = whole_limit(__name__, "FEW_EDGES")
WORK_LIMIT = whole_limit(__name__, "WORK_LIMIT")
AXES_LIMIT = whole_limit(__name__, "AXES_LIMIT")
MOST_STEPS = whole_limit(__name__, "MOST_STEPS")
MOST_LISTED = whole_limit(__name__, "MOST_LISTED")


@dataclass(frozen=True)
class Edge:
    """The largest loss over the edges of G, an edge that has it, and how that was found."""

    loss: Exact
    edge: tuple[Point, Point] | None
    how: str


def one_secret_move(setting: Setting, reading: Reading) -> bool:
    """Whether neighbours differ in exactly one record, along an edge of G between possible values.

    No fact but n: then every single secret move is a pair, and no pair has more moves, for each of
    them alone would be a D3.
    """
    facts = [fact for fact in setting.equalities if fact.name != "size"]
    free = not facts and not setting.bounds and not setting.clauses
    records = setting.scope == "any" or (setting.size is not None and setting.size > 0)
    return is_labelled(reading) and free and records


def worst_edge(
    setting: Setting, parts: Sequence[Part], norm: Norm = L1, *, hurried: bool = False
) -> Edge | None:
    """Return the largest loss over edges between possible values, or None if that is too much.

    The loss is the norm of the weighted change. Whatever the structure says is computed again, for
    its edge, by the queries themselves. `hurried`: no edges are listed by the hundred thousand,
    which takes seconds that nothing interrupts.
    """
    stacked = Stacked(tuple(parts))
    if norm is L1:
        found = _by_shape(setting, parts)
    else:
        stacked = stack(parts, norm, setting.domain, name="releases")
        found = _in_norm(setting, stacked)
    if found is None:
        found = (
            _listed(setting, stacked, limit=FEW_EDGES)
            or _from_rows(setting, stacked)
            or _by_offsets(setting, stacked, hurried=hurried)
            or (None if hurried else _listed_once(setting, stacked))
        )
    if found is None:
        return None
    if found.edge is not None:
        before, after = found.edge
        again = stacked.difference([Move(before, after)])
        if again != found.loss or not setting.graph.is_edge(before, after):
            raise InternalError(f"{found.how}: loses {found.loss}, computed again {again}")
    return found


def _by_shape(setting: Setting, parts: Sequence[Part]) -> Edge | None:
    """Return the largest loss in l1, from the structure of the graph and the releases."""
    shape = shape_of(parts, setting.domain, setting.graph)
    found = None if shape is None else _from_structure(setting, shape)
    return found or _by_spans(setting, parts)


def _by_spans(setting: Setting, parts: Sequence[Part]) -> Edge | None:
    """Return what one query loses by how far edges lead, on axes too long to be listed.

    That no edge changes it by more is what the query says itself (`BoundQuery.along`); it counts
    where one of a few edges, from position 0 as far as G leads or half-way, changes it by so much.
    """
    graph, domain, (part, *others) = setting.graph, setting.domain, parts
    if others or not part.uniform or setting.impossible.boxes or not isinstance(graph, OffsetGraph):
        return None
    most = part.query.along(graph)
    if most is None:
        return None
    steps: list[dict[int, int]] = [{}]
    for axis in range(len(domain)):
        size, reach = domain.attribute(axis).size, graph.reach(axis)
        some = {min(reach, (size + 1) // 2), reach} - {0}
        steps += [{**step, axis: far} for step in steps[:MOST_STEPS] for far in sorted(some)]
    start = (0,) * len(domain)
    stacked = Stacked((part,))
    for step in steps:
        end = tuple(step.get(axis, 0) for axis in range(len(domain)))
        loss = stacked.difference([Move(start, end)]) if graph.is_edge(start, end) else 0
        if loss == most * part.weights[0]:
            return Edge(loss, (start, end) if loss else None, "structure: as far as an edge leads")
    return None


def _in_norm(setting: Setting, stacked: Stacked) -> Edge | None:
    """Return the largest loss in another norm, from what the parts lose in l1."""

    def in_l1(parts: Sequence[Part]) -> tuple[Exact, tuple[Point, Point] | None] | None:
        found = _by_shape(setting, parts)
        return None if found is None else (found.loss, found.edge)

    found = by_parts(setting, stacked, in_l1)
    return None if found is None else Edge(*found)


# --- from the structure --------------------------------------------------------------------------


def _from_structure(setting: Setting, shape: Shape) -> Edge | None:
    graph, domain = setting.graph, setting.domain
    if isinstance(graph, OffsetGraph) and not setting.impossible.boxes:
        return _by_axes(graph, domain, shape)
    if len(domain) == 1:
        order = _order(setting)
        return None if order is None else _on_one_axis(domain, shape, order)
    return None


def _by_axes(graph: OffsetGraph, domain: Domain, shape: Shape) -> Edge | None:
    """Take the worst move of each axis by itself, and the best choice of axes to change at once.

    Charges taken by max leave the axes free of each other. Charges that add up do so where each
    axis that can change costs one (`attribute` secrets), where no move along an axis is worse than
    one of a single step and these cost the same on all axes, or where a single axis is enough.
    """
    worst: dict[int, Worst] = {}
    for axis in range(len(domain)):
        reach = graph.reach(axis)
        if not reach:
            continue
        worst[axis] = Worst(0, (0, 1))
        if axis in shape.profiles:
            found = _along(shape.profiles[axis], graph, axis)
            if found is None:
                return None
            worst[axis] = found if found.move else worst[axis]
    joints = [item for item in shape.joints if item.axes & worst.keys()]
    choice = _choice(graph, worst, joints)
    return None if choice is None else _best_axes(domain, shape, worst, *choice)


def _along(profile: Profile, graph: OffsetGraph, axis: int) -> Worst | None:
    """Return the worst move along an axis, one of a single step where none is worse."""
    places = np.arange(graph.axes[axis].size)
    found = worst_move(profile, Order.within(places, graph.reach(axis)))
    if found is None or graph.together == "max":
        return found
    step = worst_move(profile, Order.within(places, 1))
    return found if step is None or step.loss < found.loss else step


def _choice(
    graph: OffsetGraph, worst: dict[int, Worst], joints: Sequence[Joint]
) -> tuple[set[int], int] | None:
    """Return the axes that matter, and how many of them an edge can change along worst moves."""
    losing = {axis for axis, item in worst.items() if item.loss}
    relevant = losing | {axis for item in joints for axis in item.axes if axis in worst}
    if graph.together == "max" or len(relevant) <= 1:
        return relevant, len(relevant)
    if all(graph.axes[axis].weight == 1 and not graph.axes[axis].line for axis in worst):
        return relevant, min(len(relevant), graph.bound)
    prices = {graph.axes[axis].weight for axis in relevant}
    steps = {abs(p - q) for p, q in (worst[axis].move or (0, 1) for axis in relevant)}
    if steps == {1} and len(prices) == 1:
        return relevant, min(len(relevant), graph.bound // min(prices))
    common = {axis for axis in worst if all(axis in item.axes for item in joints)}
    if len(losing) == 1 and losing <= common:
        return losing, 1  # another axis would cost, and add nothing
    return ({min(common)}, 1) if common and not losing else None


def _best_axes(
    domain: Domain, shape: Shape, worst: dict[int, Worst], relevant: set[int], most: int
) -> Edge | None:
    """Choose at most so many axes whose worst moves, made at once, lose most."""
    if most < len(relevant) > AXES_LIMIT:
        return None
    best: tuple[Fraction, tuple[int, ...]] = (Fraction(0), ())
    for axes in combinations(sorted(relevant), most):
        loss = Fraction(sum(worst[axis].loss for axis in axes), shape.denominator)
        loss += sum((item.loss for item in shape.joints if item.axes & set(axes)), Fraction(0))
        best = max(best, (loss, axes))
    loss, axes = best
    if not loss:
        return Edge(0, None, "structure: no edge changes what is released")
    before, after = [0] * len(domain), [0] * len(domain)
    for axis in axes:
        move = worst[axis].move
        assert move is not None
        before[axis], after[axis] = move
    names = ", ".join(domain.names[axis] for axis in axes)
    return Edge(loss, (tuple(before), tuple(after)), f"structure: the worst move along {names}")


def _order(setting: Setting) -> Order | None:
    """Return the possible positions of the only attribute, in groups that no edge leaves.

    None where G tells neither how far its edges lead nor cells.
    """
    size = setting.domain.attribute(0).size
    possible = Positions.span(0, size)
    for box in setting.impossible.boxes:
        possible = possible - box.sides[0]
    places = _array(possible)
    reach = setting.graph.reach_alone(0)
    if reach is not None:
        return Order.within(places, reach) if len(places) else Order.cliques([])
    cells = setting.graph.cell_areas(size)
    if cells is None:
        return None
    groups = []
    for cell in cells:
        held = Positions(())
        for box in cell.boxes:
            held = held | box.sides[0]
        groups.append(_array(held & possible))
    return Order.cliques(groups)


def _array(positions: Positions) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    runs = [np.arange(low, high) for low, high in positions.runs]
    return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)


def _on_one_axis(domain: Domain, shape: Shape, order: Order) -> Edge | None:
    found = worst_move(shape.profiles[0], order) if 0 in shape.profiles else NOTHING
    if found is None:
        return None
    if found.move is None:
        return Edge(0, None, "structure: no edge changes what is released")
    (p, q), loss = found.move, Fraction(found.loss, shape.denominator)
    return Edge(loss, ((p,), (q,)), f"structure: the worst move along {domain.names[0]}")


# --- by arrays -----------------------------------------------------------------------------------


def _from_rows(setting: Setting, stacked: Stacked) -> Edge | None:
    """Compare the rows of all values, in array operations."""
    if stacked.measure is not L1:
        return None
    table = row_table(stacked.parts, setting.domain)
    found = None if table is None else farthest_edge(setting, table.rows)
    if table is None or found is None:
        return None
    return Edge(Fraction(found[0], table.denominator), found[1], "every edge compared, in arrays")


def _by_offsets(setting: Setting, stacked: Stacked, *, hurried: bool) -> Edge | None:
    """Compare all edges of each offset, part by part."""
    found = worst_by_offsets(setting, stacked, hurried=hurried)
    return None if found is None else Edge(*found, "every edge compared, offset by offset")


# --- by listing ----------------------------------------------------------------------------------


_LISTED: OrderedDict[Hashable, Edge | None] = OrderedDict()
"""What came of the last long lists of edges: several strategies ask for the same one."""


def _listed_once(setting: Setting, stacked: Stacked) -> Edge | None:
    """Compare the ends of every edge, unless that was done for the same edges and rows before."""
    key = setting.domain, setting.graph, setting.impossible, stacked
    try:
        if key in _LISTED:
            return _LISTED[key]
    except TypeError:  # a query, or a graph, that is compared by nothing
        return _listed(setting, stacked, limit=EDGE_LIMIT)
    found = _LISTED[key] = _listed(setting, stacked, limit=EDGE_LIMIT)
    while len(_LISTED) > MOST_LISTED:
        _LISTED.popitem(last=False)
    return found


def _listed(setting: Setting, stacked: Stacked, *, limit: int) -> Edge | None:
    """Compare the ends of every edge that matters, where there are not too many."""
    read = stacked.axes_read(setting.domain)
    graph = _on_axes(setting, sorted(read))
    if stacked.per_record or not _few_edges(graph, limit):
        return None
    rows: dict[Point, dict[Hashable, Exact]] = {}
    work = 0
    best: tuple[Exact, tuple[Point, Point] | None] = (0, None)
    for ends in graph.edges(limit=limit):
        x, y = ends if graph is setting.graph else (_lifted(end, read, setting) for end in ends)
        if x in setting.impossible or y in setting.impossible:
            continue
        for point in (x, y):
            if point not in rows:
                rows[point] = dict(stacked.row(point))
        one, two = rows[x], rows[y]
        work += len(one) + len(two)
        if work > WORK_LIMIT:
            return None
        loss = _distance(stacked, one, two)
        if loss > best[0]:
            best = (loss, (x, y))
    return Edge(best[0], best[1], "every edge compared")


def _on_axes(setting: Setting, read: Sequence[int]) -> SecretGraph:
    """Return G on the axes that are read, where its edges elsewhere are of no use; else all of G.

    Where G looks at offsets and every value is possible: take back what an edge changes on the
    other axes. Charges only fall, so its ends stay joined, or have become one; no row sees that.
    So position 0 is enough there.
    """
    graph, domain = setting.graph, setting.domain
    if setting.impossible.boxes or not isinstance(graph, OffsetGraph) or not read:
        return graph
    if len(read) == len(domain):
        return graph
    return graph.on(read)


def _lifted(point: Point, read: Collection[int], setting: Setting) -> Point:
    """Return the value with these positions on the axes that are read, and 0 on the others."""
    positions = iter(point)
    return tuple(next(positions) if axis in read else 0 for axis in range(len(setting.domain)))


def _few_edges(graph: SecretGraph, limit: int) -> bool:
    try:
        return graph.edge_count <= limit
    except BudgetError:
        return False


def _distance(stacked: Stacked, one: dict[Hashable, Exact], two: dict[Hashable, Exact]) -> Exact:
    changes: dict[Hashable, Exact] = {}
    for key in {**one, **two}:
        before, after = one.get(key, 0), two.get(key, 0)
        if before != after:  # most of two long rows is alike, and a comparison costs least
            changes[key] = after - before
    if stacked.measure is L1:
        return total(magnitude(value) for value in changes.values())
    found = [(value, stacked.weight(key)) for key, value in changes.items()]
    return stacked.measure.of([*found, (0, 1)] if stacked.still(len(found)) else found)
