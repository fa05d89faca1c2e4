"""Engine "hilbert": the irreducible multisets as a Hilbert basis, by Normaliz (PyNormaliz).

An independent route to what engine "search" finds: the irreducible elements of {u >= 0 : A u = 0},
with one column of A for each effect. Normaliz lists all of them, and each is turned into moves as
in the search. It runs in a process of its own, so that a time limit ends it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing.connection import Connection

from blowproof.models import BlowproofError
from blowproof.models.base.processes import begun_by
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.moves.best_choice import best_choice, bound_of
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.neighbours.check import require_pair

__all__ = ["hilbert_basis", "hilbert_sensitivity"]

Vector = tuple[int, ...]


def hilbert_basis(
    effects: Sequence[Vector], *, time_limit: float | None = None
) -> list[Vector] | None:
    """Return the Hilbert basis of {u >= 0 : sum u_i effects_i = 0}, or None if the time ran out."""
    try:
        import PyNormaliz  # noqa: F401
    except ImportError:
        raise BlowproofError(
            "engine hilbert needs Normaliz\n  try: pip install 'blowproof[peers]'"
        ) from None
    global _worker  # noqa: PLW0603 # starting a process costs a second, so one is kept
    if _worker is None:
        _worker = _Worker()
    try:
        return _worker.ask(effects, time_limit)
    except BaseException:
        _worker = None
        raise


class _Worker:
    """A process that answers one question after the other; it is killed when the time runs out."""

    def __init__(self) -> None:
        context = begun_by("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def ask(self, effects: Sequence[Vector], time_limit: float | None) -> list[Vector] | None:
        """Return the basis, or None (and end the process) if the time ran out."""
        try:
            self._pipe.send(list(effects))
            if self._pipe.poll(time_limit):
                found: list[Vector] = self._pipe.recv()
                return found
        except (EOFError, ConnectionError):  # it died, perhaps for lack of memory
            self.end()
            return None
        except BaseException:
            self.end()
            raise
        self.end()
        return None

    def end(self) -> None:
        """Kill the process; the next question starts another one."""
        global _worker  # noqa: PLW0603
        _worker = None
        self._process.kill()
        self._process.join()


_worker: _Worker | None = None


def _serve(pipe: Connection) -> None:
    import PyNormaliz

    while True:
        try:
            effects = pipe.recv()
        except EOFError:
            return
        rows = [[effect[place] for effect in effects] for place in range(len(effects[0]))]
        cone = PyNormaliz.Cone(equations=rows)
        pipe.send([tuple(int(x) for x in element) for element in cone.HilbertBasis()])


def hilbert_sensitivity(
    moves: Moves, *, time_limit: float | None = None, notes: tuple[str, ...] = ()
) -> Answer:
    """Return S(f, P) over the given values, by listing every irreducible multiset."""
    start = time.perf_counter()
    table = EffectTable.of(moves)
    best, choice = 0, Counter[Kind]()
    for kind in table.idle:
        if kind.size > best:
            best, choice = kind.size, Counter({kind: 1})
    basis: list[Vector] | None = []
    if table.effects:
        basis = hilbert_basis(table.effects, time_limit=time_limit)
    complete = basis is not None
    for element in basis or ():
        groups = [(table.kinds[place], times) for place, times in enumerate(element) if times]
        if bound_of(groups) <= best:
            continue
        try:
            value, counts = best_choice(groups)
        except TimeoutError:
            complete = False
            continue
        if value > best:
            best, choice = value, counts
    witness = moves.pair(choice, Counter()) if best else None
    if witness is not None:
        require_pair(moves.setting, moves.reading, witness)
    return Answer(
        policy=moves.setting.policy.name,
        query=moves.query.name,
        reading=moves.reading,
        answers="any",
        lower=moves.unscaled(best),
        upper=moves.unscaled(best) if complete else None,
        status="exact" if complete else "bounds",
        witness=witness,
        engine="hilbert",
        seconds=time.perf_counter() - start,
        notes=(*notes, f"{len(basis or ())} irreducible multisets"),
    )
