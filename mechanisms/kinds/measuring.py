"""Which marginals a strategy measures: what queries follow from, what is known, and what is best.

Chosen from public numbers, for the query that is asked or for all queries of a plan, with S of the
marginals together from the verifier: the best proportions for the pairs of neighbours that are
known, until no pair is worse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from blowproof.mechanisms.release.calibrate import require_width
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.structures.marginals import (
    Asked,
    Axes,
    Marginals,
    best_weights,
    closure,
    parts_of,
)
from blowproof.models import (
    BoundQuery,
    BudgetError,
    Marginal,
    Policy,
    QueryError,
    parse_query,
    show,
)
from blowproof.models.norms import L1, L2_SQUARED, Norm
from blowproof.models.queries.arguments import query_name
from blowproof.models.queries.kinds import Difference
from blowproof.models.stacks.stacked import Part, Stacked, stack
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.asked.answer import Answer

__all__ = [
    "MOST_CELLS",
    "all_known",
    "asked_of",
    "axes_of",
    "cells_query",
    "compared_in",
    "measured_for",
    "measured_parts",
    "published",
    "refuse_above",
    "stacked_parts",
]

MOST_CELLS = 2_000_000
"""Of a marginal that is measured."""
MANY = 24
MOST_LISTED, MOST_ENTRIES = 20_000, 4_000_000
"""Cells, and numbers, of queries that are not the cells of a marginal themselves."""
MOST_SPREAD = 1_000_000
STEPS = 1_000
"""Weights are whole numbers of these parts of the largest."""
ROUNDS = 3
MOST_NAMED = 3
GUIDE, GLANCE, LOOK = 0.2, 0.2, 0.5
"""The share of the time left for a question that only guides the choice; and the seconds for one
about a single marginal, and for one about several."""


def compared_in(query: BoundQuery) -> int | None:
    """Return the attribute whose two values a query compares, if it does that."""
    return None if query.compared is None else query.compared[0]


def axes_of(query: BoundQuery, policy: Policy) -> Axes:
    """Return the attributes of a marginal, or of differences, in increasing order.

    Any other query is refused.
    """
    if query.compared is not None:
        axis, others = query.compared
        return tuple(sorted((axis, *others)))
    found = query.cell_axes(policy.domain)
    if not found:
        raise QueryError(
            f"{query.name} is no marginal, and marginals are what a strategy measures"
            "\n  try: --set 'measure=marginal(a,b) + 1/4*marginal(a)'"
        )
    return tuple(sorted(found))


def cells_query(axes: Axes, policy: Policy) -> BoundQuery:
    """Return the marginal of some attributes, in increasing order; of all, the histogram."""
    if len(axes) == len(policy.domain):
        return parse_query("histogram", policy)
    return parse_query(query_name("marginal", [policy.domain.names[at] for at in axes]), policy)


def published(request: Request) -> tuple[Axes, ...]:
    """Return the marginals that are known facts: those in which no two neighbours differ."""
    policy = request.policy
    found: list[Axes] = []
    for fact in policy.known:
        if isinstance(fact, Marginal):
            axes = tuple(sorted(policy.domain.axes(fact.attributes)))
            if axes not in found and request.sensitivity(cells_query(axes, policy)).upper == 0:
                found.append(axes)
    return tuple(found)


def all_known(request: Request, known: tuple[Axes, ...]) -> tuple[Axes, ...]:
    """Return what is known: published marginals, and n (the marginal of no attribute)."""
    return (*known, ()) if request.policy.size_known(request.reading) else known


def asked_of(query: BoundQuery, policy: Policy, weight: float = 1.0) -> Asked:
    """Return from which marginal a query follows, and how; refuse what follows from none.

    The weight is for the mean squared error of its outputs.
    """
    domain = policy.domain
    if query.per_record:
        raise QueryError(
            f"{query.name} weighs single records, and does not follow from any marginal"
            "\n  try: --mechanism laplace"
        )
    outputs = query.outputs(domain)
    axes = tuple(sorted(query.axes_read(domain)))
    if outputs is None or not axes:
        raise QueryError(f"{query.name} follows from no marginal\n  try: --mechanism laplace")
    cells = prod(domain.attribute(axis).size for axis in axes)
    if query.cell_axes(domain) is not None:
        refuse_above(MOST_CELLS, cells, "cells")
        return Asked(axes, weight / outputs.count, outputs.count)
    refuse_above(MOST_LISTED, cells, "cells")
    refuse_above(MOST_ENTRIES, cells * outputs.count, "numbers")
    refuse_above(MOST_SPREAD, domain.size, "values")
    shares = _shares(query, policy, axes, outputs.count)
    return Asked(axes, weight / outputs.count, outputs.count, shares)


def refuse_above(limit: int, found: int, what: str) -> None:
    """Refuse more of something than a strategy looks at."""
    if found > limit:
        raise BudgetError(
            f"{found:,} {what}; a strategy looks at {limit:,} at the most"
            "\n  try: --mechanism laplace, or a coarser query"
        )


def _shares(query: BoundQuery, policy: Policy, axes: Axes, count: int) -> dict[Axes, float]:
    """Return the squares of the parts of a query's rows, part by part."""
    domain = policy.domain
    outputs = query.outputs(domain)
    assert outputs is not None
    shape = [domain.attribute(axis).size for axis in axes]
    rows = np.zeros((count, *shape))
    point = [0] * len(domain)
    for cell in np.ndindex(*shape):
        for axis, at in zip(axes, cell, strict=True):
            point[axis] = at
        for key, value in query.row(tuple(point)).items():
            rows[(outputs.place(key), *cell)] = float(value)
    found = {}
    for part in parts_of(axes):
        table = rows
        for place, axis in enumerate(axes, start=1):
            mean = table.mean(axis=place, keepdims=True)
            table = table - mean if axis in part else np.broadcast_to(mean, table.shape)
        found[part] = float((table**2).sum())
    return found


def measured_parts(text: str, policy: Policy) -> tuple[Part, ...]:
    """Return the marginals that a text names, each with its weight."""
    query = parse_question(text, policy)
    parts = query.parts if isinstance(query, Stacked) else (Part(query, (Fraction(1),)),)
    for part in parts:
        axes = axes_of(part.query, policy)
        refuse_above(MOST_CELLS, prod(policy.domain.attribute(at).size for at in axes), "cells")
        if not part.uniform or part.weights[0] <= 0:
            raise QueryError(f"the weight of {part.query.name} is one number above 0")
    return parts


def measured_for(
    request: Request, asked: Sequence[Asked], known: tuple[Axes, ...] | None = None
) -> str:
    """Return the marginals to measure for some queries, as the setting `measure` has them.

    The best proportions for the pairs of neighbours that are known; S of these marginals brings a
    worse pair, if there is one, and so on for some rounds.
    """
    policy = request.policy
    known = published(request) if known is None else known
    sizes = tuple(kind.size for _, kind in policy.domain.attributes)
    free = all_known(request, known)
    probe = Marginals(sizes, (), free)
    wanted = closure((item.axes for item in asked), sizes, MOST_CELLS, MANY)
    useful = [axes for axes in wanted if not probe.is_known(axes)]
    if not useful:
        raise QueryError("what is asked for is published\n  try: --mechanism laplace")
    queries = [cells_query(axes, policy) for axes in useful]
    if request.rho is None:  # differences gain nothing in squares
        queries += _differences(useful, sizes, policy)
    marginals = Marginals(
        sizes,
        tuple(axes_of(query, policy) for query in queries),
        free,
        tuple(compared_in(query) for query in queries),
    )
    power = 2 if request.rho is None else 1
    norm = L1 if request.rho is None else L2_SQUARED
    singles = [stacked_parts((Part(query, (Fraction(1),)),), policy, norm) for query in queries]
    rows = []
    for place, query in enumerate(singles):
        found = _guess(request, query, GLANCE)
        require_width(Fraction(found.upper or 0), query.name, squared=norm is L2_SQUARED)
        row = _changes(found, singles, request)
        row[place] = max(row[place], float(found.upper or 0))
        rows.append(row)
    best: tuple[float, ...] | None = None
    for _ in range(ROUNDS):
        best = best_weights(marginals, asked, np.array(rows), power=power)
        if best is None:
            raise QueryError("nothing that may be measured says what is asked for")
        parts = _parts(queries, best)
        found = _guess(request, stacked_parts(parts, policy, norm), LOOK)
        rounded = [float(_whole(weight)) for weight in best]
        reached = float((np.array(rows) @ np.array(rounded)).max())
        if found.witness is None or float(found.lower) <= reached * 1.001:
            break
        rows.append(_changes(found, singles, request))
    assert best is not None
    return " + ".join(f"{part.weights[0]}*{part.query.name}" for part in _parts(queries, best))


def _guess(request: Request, query: BoundQuery, seconds: float) -> Answer:
    """Return what is found in a little time: a worse choice of marginals is private all the same,
    and what draws noise from it asks again.
    """
    left = request.left
    share = GUIDE if left is None else min(GUIDE, seconds / left)
    return replace(request, hurried=True).sensitivity(query, share=share)


def _differences(
    marginals: Sequence[Axes], sizes: Sequence[int], policy: Policy
) -> list[Difference]:
    """Return the differences along attributes of two values that some marginals hold."""
    names = policy.domain.names
    found = []
    for axes in marginals:
        for axis in axes:
            others = tuple(other for other in axes if other != axis)
            if sizes[axis] == 2:
                text = query_name("difference", [names[axis], *(names[at] for at in others)])
                found.append(Difference(axis, others, text))
    return found[:MANY]


def _whole(weight: float) -> int:
    return round(weight * STEPS)


def _parts(queries: Sequence[BoundQuery], weights: Sequence[float]) -> tuple[Part, ...]:
    top = max(weights)
    return tuple(
        Part(query, (Fraction(_whole(weight / top)),))
        for query, weight in zip(queries, weights, strict=True)
        if _whole(weight / top) > 0
    )


def _changes(found: Answer, singles: Sequence[BoundQuery], request: Request) -> list[float]:
    """Return how much the pair of an answer changes each query."""
    if found.witness is None:
        return [0.0] * len(singles)
    moves = found.witness.moves(request.reading)
    return [float(query.difference(moves)) for query in singles]


def stacked_parts(parts: Sequence[Part], policy: Policy, norm: Norm) -> BoundQuery:
    """Return some marginals as one query, each with its weight, which its name says."""
    if len(parts) == 1 and parts[0].weights[0] == 1 and norm is L1:
        return parts[0].query
    times = [part.weights[0] for part in parts]
    name = " + ".join(f"{show(part.weights[0])}*{part.query.name}" for part in parts)
    if len(parts) > MOST_NAMED:
        name = (f"{len(parts)} marginals together, each times its weight "
                f"({show(min(times))} to {show(max(times))})")  # fmt: skip
    return stack(parts, norm, policy.domain, name=name)
