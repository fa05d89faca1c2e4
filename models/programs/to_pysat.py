"""Boolean models solved by python-sat; the only file that imports it.

Findings about python-sat 1.9.dev17 that decide how it is used here (sources: pysat/solvers.py, its
issues, and measurements on this code):

- `interrupt` exists for the MiniSat family (Glucose, Maple, Minicard, ...) and for no CaDiCaL: with
  CaDiCaL it raises NotImplementedError (pysat#78). CaDiCaL has conflict budgets, so it is given
  small ones here, grown until a slice takes about a tenth of a second.
- Only `solve_limited(expect_interrupt=True)` of the MiniSat family releases the GIL. A slice of
  CaDiCaL holds it: no other thread runs, and Ctrl-C waits for the end of the slice.
- With `expect_interrupt` SIGINT is ignored while the solver runs in the main thread (pysat#55: it
  used to crash); without it, the handler jumps out of the solver. So solving happens in a thread.
- Assumptions and cores work with all solvers here, after `solve_limited` too (pysat#153, fixed).
  Assumptions must not repeat a literal.
- Proofs (`with_proof`, DRAT lines): Glucose and CaDiCaL 1.5.3/1.9.5 give complete ones for formulas
  that are refuted without assumptions (pysat#139 said empty for CaDiCaL; no longer so). Minicard,
  MiniSat and CryptoMiniSat have none.
- `pysat.pb` needs pypblib, which is a source distribution in C++ without wheels, so it is not used;
  `CardEnc` without a common `vpool` reuses its variables (pysat#133). Our own encodings
  (`boolean_lowering`) need neither.

Default: Glucose 4, because it can be interrupted at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

from pysat.solvers import Solver

from blowproof.models.base.clock import counting, glance, now, share_left, spend
from blowproof.models.base.closing import Closing
from blowproof.models.programs.boolean import BooleanModel, Lit
from blowproof.models.programs.boolean_lowering import Encoding, lower
from blowproof.models.programs.solving import SolverDisagreementError, run_interruptibly

__all__ = ["Engine", "SatAnswer", "SatSession"]

Engine: TypeAlias = Literal["glucose4", "cadical153", "cadical195"]

_SLICE_SECONDS = 0.1
_FIRST_BUDGET = 2_000

PROPAGATIONS = 10_000_000
"""How many make a second of work."""

CLAUSE, LITERAL = 1e-6, 9e-7
"""Seconds for a clause that is written and given to the solver, and for each of its literals."""

LEAST_WORK = 0.05
"""Seconds of work that Glucose is given at least."""


@dataclass(frozen=True, slots=True)
class SatAnswer:
    """What the solver found: an assignment if "sat", a core of the assumptions if "unsat".

    The assignment has passed `BooleanModel.evaluate`. The core is a set of assumptions that cannot
    hold together; it need not be minimal, and is empty when the model alone is contradictory.
    """

    status: Literal["sat", "unsat", "unknown"]
    assignment: dict[str, bool] | None = None
    core: tuple[Lit, ...] | None = None


class SatSession(Closing):
    """An incremental solver that follows a model: what is added to the model later is picked up.

    >>> model = BooleanModel()
    >>> x, y = model.var("x"), model.var("y")
    >>> _ = model.add_clause([x, y])
    >>> with SatSession(model) as session:
    ...     first = session.solve(assumptions=[~x])
    ...     _ = model.add_clause([~y])
    ...     second = session.solve(assumptions=[~x])
    >>> first.assignment, second.status, second.core
    ({'x': False, 'y': True}, 'unsat', (~x,))
    """

    def __init__(
        self,
        model: BooleanModel,
        *,
        engine: Engine = "glucose4",
        encoding: Encoding = "auto",
        with_proof: bool = False,
    ) -> None:
        self.model = model
        self._engine = engine
        self._encoding: Encoding = encoding
        self._solver: Any = Solver(name=engine, with_proof=with_proof)
        self._codes: list[int] = [0]  # the solver's variable of each of the model's, from 1
        self._last = 0
        self._lowered = 0
        self._budget = _FIRST_BUDGET

    def solve(
        self,
        *,
        assumptions: Iterable[Lit] = (),
        time_limit: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> SatAnswer:
        """Return what holds under the assumptions; "unknown" when the limit or `stop` came first.

        KeyboardInterrupt passes through; the session stays usable.
        """
        started = now()
        self._follow()
        assumed = tuple(dict.fromkeys(self.model._known(x) for x in assumptions))
        codes = [self._code(x.code) for x in assumed]
        if time_limit is not None:
            time_limit = max(0.0, time_limit - (now() - started))
        found = self._run(codes, time_limit, stop)
        if found is None:
            return SatAnswer("unknown")
        if found:
            return SatAnswer("sat", assignment=self._checked(assumed))
        return SatAnswer("unsat", core=self._core(assumed, codes))

    def solutions(
        self, over: Iterable[Lit] | None = None, *, limit: int | None = None
    ) -> Iterator[dict[str, bool]]:
        """Yield solutions that differ on the variables `over` (default: all of the model's).

        Found ones are blocked under a switch of this enumeration alone; the model stays as it is.
        """
        projection = self.model.variables if over is None else tuple(over)
        self._follow()
        self._last += 1
        switch = self._last
        yielded = 0
        while limit is None or yielded < limit:
            if not self._run([switch]):
                break
            assignment = self._checked(())
            yield assignment
            yielded += 1
            same = (x if x.holds(assignment) else ~x for x in projection)
            self._solver.add_clause([-switch, *(-self._code(x.code) for x in same)])
        self._solver.add_clause([-switch])

    def proof(self) -> list[str]:
        """Return the DRAT lines of a refutation that needed no assumptions.

        While the model was lowered in one go, they speak about the clauses of `lower(model)`.
        """
        return list(self._solver.get_proof() or ())

    def close(self) -> None:
        """Free the solver's memory."""
        self._solver.delete()

    def _follow(self) -> None:
        """Give the solver what was added to the model since the last time."""
        cnf = lower(self.model, encoding=self._encoding, start=self._lowered)
        self._lowered = len(self.model.constraints)
        for _ in range(len(self._codes), cnf.named + 1):
            self._last += 1
            self._codes.append(self._last)
        shift = self._last - cnf.named  # this batch's auxiliary variables follow all older ones
        self._last += cnf.variables - cnf.named
        for clause in cnf.clauses:
            self._solver.add_clause([self._code(x, shift) for x in clause])
        spend(CLAUSE * len(cnf.clauses) + LITERAL * sum(map(len, cnf.clauses)))

    def _code(self, literal: int, shift: int = 0) -> int:
        variable = abs(literal)
        code = self._codes[variable] if variable < len(self._codes) else variable + shift
        return code if literal > 0 else -code

    def _run(
        self,
        codes: list[int],
        time_limit: float | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> bool | None:
        """Solve in a thread; between calls of the solver nothing runs.

        Where work is counted, as much at a time as there is left of this turn.
        """
        if self._engine != "glucose4":
            cancelled = threading.Event()
            return run_interruptibly(
                partial(self._in_slices, cancelled, codes),
                cancel=cancelled.set,
                time_limit=time_limit,
                stop=stop,
            )
        while True:
            work = self._limit(time_limit)
            before = self._propagations()
            try:
                found = run_interruptibly(
                    partial(self._at_once, codes),
                    cancel=self._solver.interrupt,
                    time_limit=None if counting() else time_limit,
                    stop=stop,
                )
            finally:
                self._solver.clear_interrupt()
            done = (self._propagations() - before) / PROPAGATIONS
            spend(done)
            if found is not None or work is None or done < work:
                return found
            time_limit = None if time_limit is None else time_limit - done
            now()  # others may have their turn
            if (time_limit is not None and time_limit <= 0) or glance() or (stop and stop()):
                return None

    def _limit(self, left: float | None) -> float | None:
        """Tell Glucose how much work to do, and return it; None: there is no limit."""
        limits = [seconds for seconds in (share_left(), left) if seconds is not None]
        work = max(LEAST_WORK, min(limits)) if counting() and limits else None
        self._solver.prop_budget(0 if work is None else int(work * PROPAGATIONS))
        return work

    def _propagations(self) -> int:
        return int(self._solver.accum_stats()["propagations"])

    def _at_once(self, codes: list[int]) -> bool | None:
        return _truth(self._solver.solve_limited(codes, expect_interrupt=True))

    def _in_slices(self, cancelled: threading.Event, codes: list[int]) -> bool | None:
        """Solve a number of conflicts at a time; in between, other threads have their turn."""
        while not cancelled.is_set():
            started = now()
            self._solver.conf_budget(self._budget)
            found = self._solver.solve_limited(codes, expect_interrupt=True)
            if found is not None:
                return _truth(found)
            faster = now() - started < _SLICE_SECONDS
            self._budget = self._budget * 2 if faster else max(_FIRST_BUDGET, self._budget // 2)
        return None

    def _checked(self, assumed: tuple[Lit, ...]) -> dict[str, bool]:
        """Return the solver's model by name, after checking it without the solver."""
        true = {code for code in self._solver.get_model() or () if code > 0}
        assignment = {x.name: self._codes[x.code] in true for x in self.model.variables}
        broken: list[object] = [x for x in assumed if not x.holds(assignment)]
        broken += self.model.evaluate(assignment)
        if broken:
            raise SolverDisagreementError(
                f"{self._engine} calls {self.model!r} satisfied, but {broken[0]} is not"
            )
        return assignment

    def _core(self, assumed: tuple[Lit, ...], codes: list[int]) -> tuple[Lit, ...]:
        core = set(self._solver.get_core() or ())
        return tuple(x for x, code in zip(assumed, codes, strict=True) if code in core)


def _truth(found: Any) -> bool | None:
    return None if found is None else bool(found)
