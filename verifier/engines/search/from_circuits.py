"""Circuits: pairs that need no search, one after the other for as long as is given."""

from __future__ import annotations

from collections import Counter

from blowproof.models.base.clock import now
from blowproof.verifier.engines.irreducibles import circuits_lower_bound, is_irreducible
from blowproof.verifier.engines.irreducibles.circuits import circuits
from blowproof.verifier.engines.search.effects import EffectTable, Vector
from blowproof.verifier.exact.coordinates import Instance
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.best_choice import best_choice, bound_of, good_choice
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["CIRCUIT_SECONDS", "best_circuits", "circuits_with_one", "heaviest_circuit"]

QUICK_EFFECTS = whole_limit(__name__, "QUICK_EFFECTS")
CIRCUIT_SECONDS = real_limit(__name__, "CIRCUIT_SECONDS")
ROUND = whole_limit(__name__, "ROUND")


def heaviest_circuit(
    moves: Moves, seconds: float, table: EffectTable | None = None
) -> tuple[int, Counter[Kind]]:
    """Return the best (scaled) change of single idle moves and circuits, and its moves.

    `table`: of some of the moves, where not all of them are wanted.
    """
    table = EffectTable.of(moves) if table is None else table
    idle = max(table.idle, key=lambda kind: kind.size, default=None)
    best, counts = (idle.size, Counter({idle: 1})) if idle is not None else (0, Counter())
    if not table.effects:
        return best, counts
    return best_circuits(moves, table, best, counts, seconds)


def circuits_with_one(
    table: EffectTable, effect: Vector, seconds: float, *, seed: int = 0
) -> tuple[int, Counter[Kind]]:
    """Return the best (scaled) change of the circuits met that have this effect exactly once."""
    end = now() + seconds
    instance = Instance.of(table.effects, table.weights)
    wanted = {table.effects.index(effect)}
    best: tuple[int, Counter[Kind]] = (0, Counter())
    while now() < end:
        for _, multiset in circuits(instance, ROUND, seed, end, wanted):
            once = all(times == 1 for place, times in multiset if place in wanted)
            groups = table.groups(multiset)
            if not once or bound_of(groups) <= best[0]:
                continue
            if not is_irreducible(table.effects, multiset):
                continue
            try:
                value, choice = best_choice(groups, deadline=end)
            except TimeoutError:
                break
            if value > best[0]:
                best = (value, choice)
        seed += 1
    return best


def best_circuits(
    moves: Moves,
    table: EffectTable,
    best: int,
    counts: Counter[Kind],
    seconds: float,
) -> tuple[int, Counter[Kind]]:
    """Walk over circuits: once where the search is quick, else for as long as is given."""
    end, seed = now() + seconds, moves.seed
    while True:
        left = max(0.0, end - now())
        best, counts = _best_circuit(table, best, counts, seed=seed, seconds=left)
        seed += 1
        if len(table.effects) <= QUICK_EFFECTS or now() >= end:
            return best, counts


def _best_circuit(
    table: EffectTable,
    best: int,
    counts: Counter[Kind],
    *,
    seed: int,
    seconds: float,
) -> tuple[int, Counter[Kind]]:
    """Return the change over the heaviest of a few hundred circuits, if it beats the best."""
    deadline = now() + seconds
    weight, circuit = circuits_lower_bound(
        table.effects, table.weights, seed=seed, time_limit=seconds
    )
    groups = table.groups(circuit)
    if weight == 0 or bound_of(groups) <= best:
        return best, counts
    value, choice = good_choice(groups, deadline)
    return (value, choice) if value > best else (best, counts)
