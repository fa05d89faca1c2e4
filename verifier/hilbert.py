"""Engine "hilbert": the irreducible multisets as a Hilbert basis, by Normaliz (PyNormaliz).

An independent route to what engine "search" finds: the irreducible elements of {u >= 0 : A u = 0},
with one column of A for each effect. Normaliz lists all of them, and each is turned into moves as in
the search. It runs in a process of its own, so that a time limit ends it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection

from blowproof.models import BlowproofError
from blowproof.verifier.answers import Answer
from blowproof.verifier.moves import Kind, Moves
from blowproof.verifier.multisets import EffectTable
from blowproof.verifier.norms import best_choice
from blowproof.verifier.pairs import require_pair

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
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    worker = context.Process(target=_normaliz, args=(list(effects), sender), daemon=True)
    worker.start()
    try:
        if not receiver.poll(time_limit):
            return None
        found: list[Vector] = receiver.recv()
        return found
    finally:
        worker.kill()
        worker.join()


def _normaliz(effects: list[Vector], sender: Connection) -> None:
    import PyNormaliz

    rows = [[effect[place] for effect in effects] for place in range(len(effects[0]))]
    cone = PyNormaliz.Cone(equations=rows)
    sender.send([tuple(int(x) for x in element) for element in cone.HilbertBasis()])


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
    for element in basis or ():
        groups = [(table.kinds[place], times) for place, times in enumerate(element) if times]
        value, counts = best_choice(groups)
        if value > best:
            best, choice = value, counts
    witness = moves.pair(choice, Counter()) if best else None
    if witness is not None:
        require_pair(moves.setting, moves.reading, witness)
    complete = basis is not None
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
