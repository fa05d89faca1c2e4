"""Many values and some facts: a bound, where no engine takes the releases as they are.

The moves of a neighbour pair are an irreducible multiset of all moves (equality counts and
impossible values; readings 1 and 2, and scope "given" has no more pairs than "any"). So no pair
loses more than the largest number of moves in such a multiset, times the loss of the worst move
from any possible value to any other. Under any answers, a secret move that no fact notices is a
pair by itself, which bounds the loss from below.
"""

from __future__ import annotations

from collections.abc import Sequence

from blowproof.models import BudgetError, show
from blowproof.models.base.numbers import plain
from blowproof.models.policy.readings import is_labelled
from blowproof.models.queries.kinds import Histogram
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import LossBounds
from blowproof.verifier.engines.one_move.worst_edge import worst_edge
from blowproof.verifier.engines.search.engine import longest_moves
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours.check import require_pair
from blowproof.verifier.reductions.complete_graph import (
    complete_setting,
    secret_move_within_a_class,
)
from blowproof.verifier.reductions.few_values import reduce_values

__all__ = ["coarse_bound"]


def coarse_bound(asked: Asked, parts: Sequence[Part]) -> LossBounds | None:
    """Return what can be said at little cost; None where nothing bounds the loss from above."""
    setting = asked.setting
    if not is_labelled(asked.reading) or setting.bounds or setting.clauses:
        return None
    free = complete_setting(setting)
    try:
        worst = worst_edge(free, parts)
        if worst is None:
            return None
        core = reduce_values(free, Histogram(), asked.reading)
        moves = Moves(free, Histogram(), asked.reading, core.values)
        most, proved = longest_moves(moves, asked.left())
    except BudgetError:
        return None
    if not proved:
        return None
    if setting.scope == "given" and setting.size is not None:
        most = min(most, setting.size)
    why = f"at most {most} records move at once, and no move loses more than {show(worst.loss)}"
    stacked = Stacked(tuple(parts))
    pair = secret_move_within_a_class(setting, stacked) if setting.scope == "any" else None
    if pair is not None:
        require_pair(setting, asked.reading, pair)
    lower = stacked.difference(pair.moves(asked.reading)) if pair is not None else 0
    upper = plain(most * worst.loss)
    return LossBounds(lower=lower, upper=upper, pair=pair, engine="coarse", notes=(why,))
