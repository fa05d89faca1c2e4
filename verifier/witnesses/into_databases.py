"""Scope "given": irreducible multisets of effects tried on databases with the known numbers."""

from __future__ import annotations

from collections.abc import Sequence

from blowproof.models.base.clock import now
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.engines.search.engine import improved
from blowproof.verifier.moves.best_choice import bound_of
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.reductions.given_numbers import Embedder

__all__ = ["given_sensitivity"]


def given_sensitivity(
    moves: Moves,
    *,
    size: int | None,
    lower: int = 0,
    time_limit: float | None = None,
    table: EffectTable | None = None,
) -> tuple[int, Pair | None, int | None]:
    """Return the best (scaled) change above `lower` under scope "given", its pair, and a bound.

    Every irreducible multiset that could beat the best is tried on the databases with the known
    numbers. At most `size` records move. `table`: the effects (with slack for bounds, see
    `conformal_parts`), where they are not those on the equalities alone.
    """
    effects = EffectTable.of(moves) if table is None else table
    placing = _IntoDatabases(moves, size, lower, time_limit)
    try:
        if effects.idle:
            placing.attempt([(effects.idle, 1)])
    except TimeoutError:
        return placing.best, placing.pair, None
    bound: int | None = placing.best
    if effects.effects:
        bound = improved(
            effects.effects,
            effects.weights,
            lambda multiset: placing.attempt(effects.groups(multiset)),
            placing.best,
            time_limit,
            moves.score,
        )
    bound = None if bound is None else max(placing.best, placing.undecided, bound)
    return placing.best, placing.pair, bound


class _IntoDatabases:
    """Multisets of effects tried on databases, and the heaviest of which nothing could be said."""

    def __init__(
        self, moves: Moves, size: int | None, lower: int, time_limit: float | None
    ) -> None:
        self.embedder = Embedder(moves)
        self.size, self.best = size, lower
        self.deadline = None if time_limit is None else now() + time_limit
        self.pair: Pair | None = None
        self.undecided = 0

    def attempt(self, groups: Sequence[tuple[Sequence[Kind], int]]) -> int:
        """Return the best change that moves with these effects make, if it beats the best."""
        moving = sum(times for kinds, times in groups if all(map(_moves_a_record, kinds)))
        if self.size is not None and moving > self.size:
            return 0
        try:
            better = self.embedder.best(groups, above=self.best, deadline=self.deadline)
        except TimeoutError:
            if self.deadline is not None and now() >= self.deadline:
                raise
            self.undecided = max(self.undecided, bound_of(groups))
            return 0
        if better is None:
            return 0
        self.best, self.pair = better
        return self.best


def _moves_a_record(kind: Kind) -> bool:
    """Whether a kind is no slack move."""
    return kind.before is not None or kind.after is not None
