"""Why a linear model has no solution: a minimal set of its groups of constraints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from blowproof.models.base.clock import now
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.solving import SolverDisagreementError
from blowproof.models.programs.to_cpsat import Status, infeasible_core, solve

__all__ = ["InfeasibleSubset", "smallest_infeasible_subset"]


@dataclass(frozen=True, slots=True)
class InfeasibleSubset:
    """Groups that no assignment satisfies together (with the constraints outside the groups).

    `minimal`: leaving out any one of them leaves a model with a solution. It is False when the time
    ran out before that was shown; the groups contradict one another all the same.
    """

    groups: tuple[str, ...]
    minimal: bool


def smallest_infeasible_subset(
    model: LinearModel,
    groups: Iterable[str] | None = None,
    *,
    time_limit: float | None = None,
    stop: Callable[[], bool] | None = None,
) -> InfeasibleSubset | None:
    """Return a minimal contradictory set of groups by deletion, or None if there is a solution.

    Constraints outside `groups` (default: all that the model names) stay in force throughout; if
    they alone are contradictory the set is empty. The solver's core only says where to start: the
    result rests on plain solves. Raises TimeoutError if not even infeasibility was decided in time.

    >>> model = LinearModel()
    >>> x, y = model.int_var("x", lower=0, upper=9), model.int_var("y", lower=0, upper=9)
    >>> for group, expr, low in [("a", x, 3), ("b", x + y, 2), ("c", -x - y, -1)]:
    ...     _ = model.add(expr, lower=low, group=group)
    >>> smallest_infeasible_subset(model)
    InfeasibleSubset(groups=('a', 'c'), minimal=True)
    """
    names = tuple(dict.fromkeys(model.groups if groups is None else groups))
    ask = _Solver(model, names, time_limit=time_limit, stop=stop)
    kept = _start(ask)
    if kept is None:
        return None
    minimal = True
    for group in kept:
        fewer = tuple(g for g in kept if g != group)
        status = ask.status(fewer)
        kept = fewer if status == "infeasible" else kept
        minimal = minimal and status != "unknown"
    return InfeasibleSubset(kept, minimal)


def _start(ask: _Solver) -> tuple[str, ...] | None:
    """Return contradictory groups, confirmed by a plain solve: the core, or else all of them."""
    status, core = ask.core()
    if status == "infeasible" and ask.status(core) == "infeasible":
        return core
    confirmed = ask.status(ask.groups)
    if confirmed == "unknown":
        raise TimeoutError("whether the constraints contradict one another is undecided")
    if {status, confirmed} == {"feasible", "infeasible"}:
        raise SolverDisagreementError(f"CP-SAT calls {ask.model!r} feasible, then infeasible")
    return ask.groups if confirmed == "infeasible" else None


class _Solver:
    """Questions about one model under one common deadline."""

    def __init__(
        self,
        model: LinearModel,
        groups: tuple[str, ...],
        *,
        time_limit: float | None,
        stop: Callable[[], bool] | None,
    ) -> None:
        self.model = model
        self.groups = groups
        self._deadline = None if time_limit is None else now() + time_limit
        self._stop = stop

    def core(self) -> tuple[Status, tuple[str, ...]]:
        return infeasible_core(self.model, self.groups, time_limit=self._left(), stop=self._stop)

    def status(self, kept: Collection[str]) -> Status:
        dropped = [g for g in self.groups if g not in kept]
        part = self.model.without_groups(dropped, objective=False)
        status = solve(part, time_limit=self._left(), stop=self._stop).status
        return "feasible" if status == "optimal" else status

    def _left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - now())
