"""A linear model near a vertex: what lies far off is left out, so that CP-SAT's 64 bits suffice.

Let the variables of wide range be x, n of them, with coefficients A, and let no subdeterminant of A
exceed d. Fix the other variables as in an optimal solution: that changes the right-hand sides by at
most r. Then some optimal solution lies within n * d * (1 + r) of an optimal vertex of the linear
relaxation in every coordinate (Cook, Gerards, Schrijver and Tardos 1986, theorems 1 and 5), so that
nothing is lost in a window that wide. In a narrower one, or where rows with a condition speak of x,
a solution is a solution, but "none" is "unknown".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import ceil

from blowproof.models.base.clock import now
from blowproof.models.programs.linear import (
    BoolLiteral,
    Clause,
    IntVar,
    LinearExpr,
    LinearModel,
    weighted_sum,
)
from blowproof.models.programs.linear_lp import subdeterminants
from blowproof.models.programs.to_cpsat import Outcome, fits, solve

__all__ = ["windowed"]

WIDE = 1 << 30
"""A variable of a wider range is shifted to the vertex."""

WINDOWS = (1 << 8, 1 << 24)
"""What is tried before the width that leaves nothing out."""


def windowed(
    model: LinearModel,
    root: dict[str, Fraction],
    known: Outcome,
    left: float,
    seed: int,
    stop: Callable[[], bool] | None,
) -> Outcome:
    """Return what CP-SAT adds to what is known, in wider and wider windows that fit 64 bits.

    `root`: an optimal vertex of the linear relaxation.
    """
    end = now() + left
    wide = {v.name for v in model.variables if v.upper - v.lower > WIDE}
    enough = _enough(model, wide)
    widths = [width for width in WINDOWS if enough is None or width < enough]
    for width in [*widths, *([] if enough is None else [enough])]:
        near, start = _around(model, root, wide, width)
        left = end - now()
        if left <= 0 or not fits(near):
            break
        found = solve(near, time_limit=left, seed=seed, stop=stop)
        known = _better(known, found, start, proved=width == enough)
        if known.status in ("optimal", "infeasible"):
            break
    return known


def _better(known: Outcome, found: Outcome, start: dict[str, int], *, proved: bool) -> Outcome:
    """Return what is known after a window, whose variables start at `start`."""
    if found.assignment is None:
        return found if proved and found.status == "infeasible" else known
    values = {name: value + start.get(name, 0) for name, value in found.assignment.items()}
    if found.lower is None:
        return Outcome("optimal", assignment=values)
    best = Outcome("feasible", found.lower, known.upper, values)
    if known.lower is not None and known.lower > found.lower:
        best = known
    ends = [x for x in (known.upper, found.upper if proved else None) if x is not None]
    upper = min(ends, default=None)
    return replace(best, status="optimal" if best.lower == upper else "feasible", upper=upper)


def _enough(model: LinearModel, wide: set[str]) -> int | None:
    """Return how wide a window leaves nothing out; None where rows with conditions prevent that."""
    matrix, push = [], 0
    for row in model.constraints:
        if isinstance(row, Clause):
            continue
        inside = {v.name: times for times, v in row.expr.terms if v.name in wide}
        if inside and row.enforced_by is not None:
            return None
        matrix.append(inside)
        if inside:
            others = [(c, v) for c, v in row.expr.terms if v.name not in wide]
            push = max(push, sum(abs(c) * (v.upper - v.lower) for c, v in others))
    return 1 + len(wide) * subdeterminants(matrix) * (1 + push)


def _around(
    model: LinearModel, root: dict[str, Fraction], wide: set[str], width: int
) -> tuple[LinearModel, dict[str, int]]:
    """Return the model with the wide variables counted from the vertex, and where they start."""
    near = LinearModel(name=f"{model.name} near a vertex")
    start: dict[str, int] = {}
    moved: dict[str, IntVar] = {}
    for v in model.variables:
        low, high = v.lower, v.upper
        if v.name in wide:
            base = min(max(ceil(root[v.name]), low), high)
            start[v.name] = base
            low, high = max(low - base, -width), min(high - base, width)
        moved[v.name] = near.int_var(v.name, lower=low, upper=high)

    def shifted(expr: LinearExpr) -> LinearExpr:
        constant = expr.constant + sum(c * start.get(v.name, 0) for c, v in expr.terms)
        return weighted_sum(((c, moved[v.name]) for c, v in expr.terms), constant=constant)

    def literal(x: BoolLiteral) -> BoolLiteral:
        return BoolLiteral(moved[x.variable.name], x.negated)

    for row in model.constraints:
        if isinstance(row, Clause):
            near.add_clause([literal(x) for x in row.literals])
            continue
        on = None if row.enforced_by is None else literal(row.enforced_by)
        near.add(shifted(row.expr), lower=row.lower, upper=row.upper, enforced_by=on)
    if model.objective is not None:
        near.maximise(shifted(model.objective))
    return near, start
