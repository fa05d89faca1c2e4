"""The integer program that finds a D3 near a point: a cut whose cases all exclude the point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, weighted_sum
from blowproof.models.programs.to_cpsat import solve
from blowproof.verifier.kernel.proofs.branching import Problem
from blowproof.verifier.limits.limit import real_limit

__all__ = ["NEAR", "Group", "Part", "Plain", "Sought", "find_part"]

NEAR = 1e-6
SECONDS = real_limit(__name__, "SECONDS")
CASE, RECORD, BYSTANDER = 100, 1, 2
"""What an open case costs, a record of the part, and a record that moves plainly."""

Group = tuple[int, ...]
Part = list[tuple[Group, int]]
Plain = list[tuple[int, int]]


@dataclass(frozen=True)
class Sought:
    """Where a cut is looked for.

    `groups`: what may be in the part, with how many move at the point and how many surely do.
    `plain`: moves that records may make besides; `held`: how many records the point has in each
    cell; `totals`: the facts' left-hand sides at the base; `secret`: how many secret moves;
    `made`: how many moves.
    """

    base: int
    groups: Sequence[tuple[Group, float, int]]
    plain: Sequence[int]
    held: Sequence[float]
    totals: Sequence[float]
    secret: float
    made: float


def find_part(problem: Problem, sought: Sought) -> tuple[Part, Plain] | None:
    """Return a part and plain moves such that every case of their cut excludes the point.

    Cases that the limits close already cost nothing, so the cut found has the fewest open ones.
    """
    linear = LinearModel(name="cut")
    part = [
        linear.int_var(f"part{k}", lower=0, upper=ceil(total - NEAR))
        for k, (_, total, _) in enumerate(sought.groups)
    ]
    ends = [problem.plain[p] for p in sought.plain]
    plain = [
        linear.int_var(f"plain{k}", lower=0, upper=ceil(sought.held[source] - NEAR))
        for k, (source, _) in enumerate(ends)
    ]
    if not part:
        return None
    _facts(linear, problem, sought, part, plain)
    _proper(linear, problem, sought, part)
    costs = [(RECORD, variable) for variable in part] + [(BYSTANDER, v) for v in plain]
    for variable, (_, _, sure) in zip(part, sought.groups, strict=True):
        if sure < variable.upper:
            opened = linear.bool_var(f"opened_{variable.name}")
            linear.add(variable - (variable.upper - sure) * opened, upper=sure)
            costs.append((CASE, opened))
    costs += _bystanders(linear, problem, sought, part, plain)
    linear.maximise(-1 * weighted_sum(costs))
    found = solve(linear, time_limit=SECONDS).assignment
    if found is None:
        return None
    groups = [group for group, _, _ in sought.groups]
    numbers = [found[variable.name] for variable in part]
    others = [found[variable.name] for variable in plain]
    return (
        [(group, times) for group, times in zip(groups, numbers, strict=True) if times],
        [(p, times) for p, times in zip(sought.plain, others, strict=True) if times],
    )


def _facts(
    linear: LinearModel,
    problem: Problem,
    sought: Sought,
    part: Sequence[IntVar],
    plain: Sequence[IntVar],
) -> None:
    """D3 keeps the equalities, and the bounds: or nearly, so that the failing case is far off."""
    sign = -1 if sought.base == 2 else 1
    moves = [problem.moves[group[0]] for group, _, _ in sought.groups]
    effects = [move.effect for move in moves]
    others = [problem.effect(problem.plain[p]) for p in sought.plain]
    for fact in range(problem.equalities + len(problem.limits)):
        terms = [(sign * effect[fact], v) for effect, v in zip(effects, part, strict=True)]
        terms += [(effect[fact], v) for effect, v in zip(others, plain, strict=True)]
        row = weighted_sum(terms)
        least, most = row.bounds()
        if fact < problem.equalities:
            linear.add(row, lower=0, upper=0)
            continue
        low, high = problem.limits[fact - problem.equalities]
        now = sought.totals[fact]
        down = least if low is None else floor(low - now - 1 + NEAR) + 1
        up = most if high is None else ceil(high - now + 1 - NEAR) - 1
        if down > least:
            linear.add(row, lower=down)
        if up < most:
            linear.add(row, upper=up)


def _proper(linear: LinearModel, problem: Problem, sought: Sought, part: Sequence[IntVar]) -> None:
    """The part has fewer secret moves than the pair (base 3: moves), and bases 1 and 3 need one."""
    groups = [group for group, _, _ in sought.groups]
    secret = weighted_sum(
        (1, v) for group, v in zip(groups, part, strict=True) if problem.moves[group[0]].secret
    )
    every = weighted_sum((1, v) for v in part)
    if sought.base == 3:
        linear.add(every, upper=ceil(sought.made - NEAR) - 1)
    else:
        linear.add(secret, upper=ceil(sought.secret - NEAR) - 1)
    linear.add(every if sought.base == 2 else secret, lower=1)


def _bystanders(
    linear: LinearModel,
    problem: Problem,
    sought: Sought,
    part: Sequence[IntVar],
    plain: Sequence[IntVar],
) -> list[tuple[int, IntVar]]:
    """Records that move plainly are there beside those of the part; return what a cell costs."""
    costs = []
    for cell in sorted({problem.plain[p][0] for p in sought.plain}):
        held = ceil(sought.held[cell] - NEAR)
        here = [v for v, p in zip(plain, sought.plain, strict=True) if problem.plain[p][0] == cell]
        kept = [
            v
            for v, (group, _, _) in zip(part, sought.groups, strict=True)
            if problem.moves[group[0]].source == cell
        ]
        used = linear.bool_var(f"used{cell}")
        linear.add(weighted_sum((1, v) for v in here) - held * used, upper=0)
        linear.add(weighted_sum((1, v) for v in (*here, *kept)), upper=held, enforced_by=used)
        costs.append((CASE, used))
    return costs
