"""Linear models solved by CP-SAT (OR-Tools); the only file that imports it.

Findings about OR-Tools 9.15 that decide how it is used here (sources: its issues, measurements):

- Wrong answers. or-tools#5293 (open): a wrong optimum certified on an all-linear model, by the
  presolve step that `presolve_inclusion_work_limit = 0` switches off, as is done here.
  or-tools#5274: a false "infeasible" by presolve. So `presolve=False` gives a second opinion, and
  an answer that must be right is proved elsewhere. What can be checked here is checked:
  assignments pass `evaluate`, and an "optimal" value equals the proven bound.
- Stopped during presolve, a response's bound is the default 0, which is no bound (measured). So a
  bound counts only if the bound callback has been called or the search has ended.
- Values and bounds come as doubles. The integers used here are `inner_objective_lower_bound`, and
  our own evaluation of the objective.
- Ctrl-C. By default CP-SAT takes SIGINT, ends, and the KeyboardInterrupt is lost; with
  `catch_sigint_signal = False` alone it arrives when the search ends. So the solver runs in a
  thread and is asked to stop (`solving.run_interruptibly`). Solving releases the GIL.
- Cores (`sufficient_assumptions_for_infeasibility`) need one worker and no objective
  (or-tools#3102, #3943), may name a wrong literal after presolve (or-tools#5141), and are not
  minimal.
- Enumeration gave duplicates in 9.12 (or-tools#4640); `solutions.py` drops them.
- Sums must fit 64 bits; what reaches beyond 2**61 goes to `linear_exact` instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from ortools.sat.python import cp_model

from blowproof.models.base.clock import counting, glance, now, real_left, share_left, spend
from blowproof.models.programs.linear import (
    BoolLiteral,
    Clause,
    Constraint,
    LinearConstraint,
    LinearExpr,
    LinearModel,
)
from blowproof.models.programs.solving import SolverDisagreementError, run_interruptibly

__all__ = [
    "AllSolutions",
    "Lowered",
    "Outcome",
    "Status",
    "fits",
    "infeasible_core",
    "solve",
    "to_cpsat",
]

Status: TypeAlias = Literal["optimal", "feasible", "infeasible", "unknown"]
OnBound: TypeAlias = Callable[[int | None, int | None], None]

_LIMIT = 1 << 61
_EXACT_DOUBLE = 1 << 53

SECONDS_PER_UNIT = 2.0
"""What the solver counts as one of work, loading the model and presolving left out."""

LEAST_WORK = 0.1
"""A solver is given seconds of so much work at least, however little is left."""

SECONDS_PER_MODEL, SECONDS_PER_ROW = 5e-4, 4e-5
"""What building a model takes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known after the search: lower <= maximum <= upper (None: no objective, or nothing).

    "optimal" for a model without objective means that the assignment exists. The assignment has
    passed `LinearModel.evaluate`, and `lower` is its exact value.
    """

    status: Status
    lower: int | None = None
    upper: int | None = None
    assignment: dict[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Lowered:
    """A CP-SAT model and its variable of each name."""

    cp: Any
    variables: dict[str, Any]


def to_cpsat(model: LinearModel) -> Lowered:
    """Return the CP-SAT model and its variables by name."""
    _check_sizes(model)
    lowered = _with_variables(model)
    for constraint in model.constraints:
        _add_constraint(lowered, constraint)
    return _with_objective(lowered, model.objective)


def _check_sizes(model: LinearModel) -> None:
    goal = [] if model.objective is None else [("the objective", model.objective)]
    rows = [(c.name, c.expr) for c in model.constraints if isinstance(c, LinearConstraint)]
    for name, expr in [*rows, *goal]:
        reach = sum(abs(c) * max(abs(v.lower), abs(v.upper)) for c, v in expr.terms)
        if reach + abs(expr.constant) > _LIMIT:
            raise OverflowError(f"{name} can reach {reach}, beyond CP-SAT's 64-bit sums")
    for v in model.variables:
        if max(abs(v.lower), abs(v.upper)) > _LIMIT:
            raise OverflowError(f"{v!r} is beyond CP-SAT's 64-bit integers")


def fits(model: LinearModel) -> bool:
    """Return whether every variable and every sum of the model fits CP-SAT's 64 bits."""
    try:
        _check_sizes(model)
    except OverflowError:
        return False
    return True


def _with_variables(model: LinearModel) -> Lowered:
    cp = cp_model.CpModel()
    return Lowered(cp, {v.name: cp.new_int_var(v.lower, v.upper, v.name) for v in model.variables})


def _add_constraint(lowered: Lowered, constraint: Constraint, *switches: Any) -> None:
    """Add the constraint, in force where its own condition and all switches are true."""
    conditions = list(switches)
    if isinstance(constraint, Clause):
        added = lowered.cp.add_bool_or([_cp_literal(lowered, x) for x in constraint.literals])
    else:
        added = _add_row(lowered, constraint)
        if constraint.enforced_by is not None:
            conditions.append(_cp_literal(lowered, constraint.enforced_by))
    if conditions:
        added.only_enforce_if(*conditions)


def _add_row(lowered: Lowered, row: LinearConstraint) -> Any:
    """Add lower <= expr <= upper; a missing end becomes what expr can reach anyway."""
    least, most = row.expr.bounds()
    low = least if row.lower is None else max(row.lower, -_LIMIT)
    high = most if row.upper is None else min(row.upper, _LIMIT)
    if low > high:  # beyond what expr can reach
        return lowered.cp.add_bool_or([])
    return lowered.cp.add_linear_constraint(_cp_sum(lowered, row.expr), low, high)


def _with_objective(lowered: Lowered, objective: LinearExpr | None) -> Lowered:
    """Minimise the negative, without its constant: then the inner bound is an exact integer."""
    if objective is not None:
        lowered.cp.minimize(_cp_sum(lowered, objective, times=-1))
    return lowered


def _cp_sum(lowered: Lowered, expr: LinearExpr, *, times: int = 1) -> Any:
    """Return a multiple of the expression, without its constant."""
    variables = [lowered.variables[v.name] for _, v in expr.terms]
    return cp_model.LinearExpr.weighted_sum(variables, [times * c for c, _ in expr.terms])


def _cp_literal(lowered: Lowered, literal: BoolLiteral) -> Any:
    variable = lowered.variables[literal.variable.name]
    return variable.negated() if literal.negated else variable


def solve(  # noqa: PLR0913 # keyword-only options, each of them of use to a caller
    model: LinearModel,
    *,
    time_limit: float | None = None,
    hints: Mapping[str, int] | None = None,
    workers: int = 1,
    seed: int = 0,
    presolve: bool = True,
    on_bound: OnBound | None = None,
    stop: Callable[[], bool] | None = None,
) -> Outcome:
    """Return the maximum, or sound bounds when the limit, `stop` or Ctrl-C (which is raised) comes.

    `on_bound(lower, upper)` is called in the caller's thread whenever one of them has improved.
    A model whose numbers do not fit 64 bits is solved in whole numbers of any size, without hints
    and `on_bound`; what is too hard for that comes back as "unknown" or "feasible".

    >>> model = LinearModel()
    >>> x, y = model.int_var("x", lower=0, upper=9), model.int_var("y", lower=0, upper=9)
    >>> _ = model.add(2 * x + 3 * y, upper=12)
    >>> model.maximise(x + 2 * y + 1)
    >>> solve(model)
    Outcome(status='optimal', lower=9, upper=9, assignment={'x': 0, 'y': 4})
    """
    if not fits(model):
        from blowproof.models.programs.linear_exact import solve_exactly

        return solve_exactly(model, time_limit=time_limit, seed=seed, stop=stop)
    started = now()
    lowered = to_cpsat(model)
    spend(SECONDS_PER_MODEL + len(model.constraints) * SECONDS_PER_ROW)
    _add_hints(lowered, hints or {})
    progress = _Progress(model, lowered, on_bound)
    left = None if time_limit is None else max(0.0, time_limit - (now() - started))
    while True:
        solver = _solver(workers=workers, seed=seed, presolve=presolve)
        solver.best_bound_callback = progress.bound_seen
        work = _limit(solver, left)
        status = run_interruptibly(
            partial(solver.solve, lowered.cp, progress.callback),
            cancel=solver.stop_search,
            time_limit=left if work is None else None,
            stop=stop,
            watch=progress.report,
        )
        done = SECONDS_PER_UNIT * float(solver.response_proto.deterministic_time)
        spend(done)
        if status not in (cp_model.FEASIBLE, cp_model.UNKNOWN) or work is None or done < work:
            break  # it came to an end, or was stopped
        left = None if left is None else left - done
        now()  # others may have their turn
        if (left is not None and left <= 0) or glance() or (stop is not None and stop()):
            break
    return _outcome(model, lowered, solver, status, bound_seen=progress.upper is not None)


def _limit(solver: Any, left: float | None) -> float | None:
    """Tell the solver how much work to do, by its own count; None: work is not counted here.

    A search that does not end within a turn begins again in the next one, which is longer.
    """
    real = real_left() if counting() else left
    if real is not None:
        solver.parameters.max_time_in_seconds = real
    if not counting():
        return None
    limits = [seconds for seconds in (share_left(), left) if seconds is not None]
    work = max(LEAST_WORK, min(limits, default=math.inf))
    solver.parameters.max_deterministic_time = work / SECONDS_PER_UNIT
    return work


def _solver(*, workers: int, seed: int, presolve: bool) -> Any:
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = workers
    solver.parameters.random_seed = seed
    solver.parameters.cp_model_presolve = presolve
    solver.parameters.presolve_inclusion_work_limit = 0  # or-tools#5293
    solver.parameters.catch_sigint_signal = False  # Ctrl-C is Python's
    return solver


def _add_hints(lowered: Lowered, hints: Mapping[str, int]) -> None:
    for name, value in hints.items():
        if name not in lowered.variables:
            raise ValueError(f"a hint for {name!r}, which is no variable of the model")
        lowered.cp.add_hint(lowered.variables[name], value)


class _Progress:
    """Bounds as they come from the solver's threads, and as they were last told to the caller."""

    def __init__(self, model: LinearModel, lowered: Lowered, on_bound: OnBound | None) -> None:
        self._model = model
        self._on_bound = on_bound
        self.lower: int | None = None
        self.upper: int | None = None
        self._told: tuple[int | None, int | None] = (None, None)
        self.callback = _OnSolution(lowered, self._solution_seen)

    def bound_seen(self, value: float) -> None:
        """Take the bound of the negated objective; a double is exact only below 2**53."""
        assert self._model.objective is not None
        trivial = self._model.objective.bounds()[1]
        exact = math.isfinite(value) and abs(value) < _EXACT_DOUBLE
        upper = math.floor(-value) + self._model.objective.constant if exact else trivial
        self.upper = min(upper, trivial, trivial if self.upper is None else self.upper)

    def _solution_seen(self, assignment: dict[str, int]) -> None:
        if self._model.objective is not None:
            value = self._model.objective.evaluate(assignment)
            self.lower = value if self.lower is None else max(self.lower, value)

    def report(self) -> None:
        """Tell the caller what is new."""
        now = (self.lower, self.upper)
        if self._on_bound is not None and now != self._told:
            self._told = now
            self._on_bound(*now)


class _OnSolution(cp_model.CpSolverSolutionCallback):  # type: ignore[misc, unused-ignore]
    """Hands each solution on, by name. Called in the solver's threads."""

    def __init__(self, lowered: Lowered, receive: Callable[[dict[str, int]], None]) -> None:
        super().__init__()
        self._lowered = lowered
        self._receive = receive

    def on_solution_callback(self) -> None:
        """Called by CP-SAT."""
        self._receive({n: int(self.value(v)) for n, v in self._lowered.variables.items()})


def _outcome(
    model: LinearModel, lowered: Lowered, solver: Any, status: Any, *, bound_seen: bool
) -> Outcome:
    if status == cp_model.MODEL_INVALID:
        raise SolverDisagreementError(f"CP-SAT refuses {model!r}: {lowered.cp.validate()}")
    if status == cp_model.INFEASIBLE:
        return Outcome("infeasible")
    upper = _proven_bound(model, solver, trusted=bound_seen or status == cp_model.OPTIMAL)
    if status == cp_model.UNKNOWN:
        return Outcome("unknown", upper=upper)
    assignment = {n: int(solver.value(v)) for n, v in lowered.variables.items()}
    _check(model, assignment)
    lower = None if model.objective is None else model.objective.evaluate(assignment)
    if lower is not None and upper is not None and lower > upper:
        raise SolverDisagreementError(f"CP-SAT bounds {model!r} by {upper}, and reaches {lower}")
    if status == cp_model.OPTIMAL and lower != upper:
        raise SolverDisagreementError(f"CP-SAT calls {lower} optimal, but its bound is {upper}")
    return Outcome("optimal" if lower == upper else "feasible", lower, upper, assignment)


def _proven_bound(model: LinearModel, solver: Any, *, trusted: bool) -> int | None:
    """Return what the domains allow, or the solver's bound where it has given one."""
    if model.objective is None:
        return None
    trivial = model.objective.bounds()[1]
    if not trusted:
        return trivial
    inner = int(solver.response_proto.inner_objective_lower_bound)
    return min(trivial, model.objective.constant - inner)


def _check(model: LinearModel, assignment: dict[str, int]) -> None:
    broken = model.evaluate(assignment)
    if broken:
        raise SolverDisagreementError(f"CP-SAT's answer to {model!r} violates {broken[0]}")


class AllSolutions:
    """A search for every solution: `run` blocks, and calls `receive` from the solver's thread."""

    def __init__(self, model: LinearModel, receive: Callable[[dict[str, int]], None]) -> None:
        self._lowered = to_cpsat(model.without_groups((), objective=False))
        self._callback = _OnSolution(self._lowered, receive)
        self._solver = _solver(workers=1, seed=0, presolve=True)
        self._solver.parameters.enumerate_all_solutions = True

    def run(self) -> bool:
        """Search; return whether the search came to its own end."""
        status = self._solver.solve(self._lowered.cp, self._callback)
        return status in (cp_model.OPTIMAL, cp_model.INFEASIBLE)

    def cancel(self) -> None:
        """Ask `run` to return soon."""
        self._solver.stop_search()


def infeasible_core(
    model: LinearModel,
    groups: Iterable[str],
    *,
    time_limit: float | None = None,
    stop: Callable[[], bool] | None = None,
) -> tuple[Status, tuple[str, ...]]:
    """Return "infeasible" and groups that suffice for it, or another status and nothing.

    The groups are a hint, neither minimal nor certain (or-tools#5141): see `contradiction.py`.
    """
    if not fits(model):
        return "unknown", ()
    cp, lowered = _with_switches(model, tuple(groups))
    solver = _solver(workers=1, seed=0, presolve=False)
    status = run_interruptibly(
        lambda: solver.solve(cp),
        cancel=solver.stop_search,
        time_limit=time_limit,
        stop=stop,
    )
    if status == cp_model.INFEASIBLE:
        named = set(solver.sufficient_assumptions_for_infeasibility())
        return "infeasible", tuple(g for g, s in lowered.items() if s.index in named)
    return ("feasible" if status in (cp_model.OPTIMAL, cp_model.FEASIBLE) else "unknown"), ()


def _with_switches(model: LinearModel, groups: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Each group's constraints hold if its switch is on, and every switch is assumed to be on."""
    _check_sizes(model)
    lowered = _with_variables(model)
    switches = {group: lowered.cp.new_bool_var(f"group {group}") for group in groups}
    for constraint in model.constraints:
        on = [switches[constraint.group]] if constraint.group in switches else []
        _add_constraint(lowered, constraint, *on)
    lowered.cp.add_assumptions(list(switches.values()))
    return lowered.cp, switches
