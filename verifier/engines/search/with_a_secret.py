"""Reading 5: the best irreducible multiset over all moves that has a secret one among them.

Every such multiset holds the effect of some secret move, so the search starts there: once for each
of these effects (`search_from`), of an effect and its opposite only for one, since G is symmetric
and moves that are all turned round change the query as much. What it finds is made of moves in the
best way that leaves one of them secret.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from blowproof.models.base.clock import now
from blowproof.verifier.engines.irreducibles import Multiset
from blowproof.verifier.engines.irreducibles.search_from import Started
from blowproof.verifier.engines.search.effects import SEARCH_EFFECTS, EffectTable
from blowproof.verifier.moves.best_choice import best_choice, bound_of
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["best_with_a_secret"]

Groups = Sequence[tuple[Sequence[Kind], int]]


def best_with_a_secret(
    moves: Moves,
    *,
    best: int = 0,
    time_limit: float | None = None,
    on_best: Callable[[int, Counter[Kind]], None] | None = None,
) -> tuple[int, Counter[Kind] | None, bool]:
    """Return the largest (scaled) change above `best`, its moves, and whether the search ended.

    The moves are None where nothing is better. Scope "any", equality counts.
    """
    table = EffectTable.of(moves)
    end = None if time_limit is None else now() + time_limit
    found: Counter[Kind] | None = None
    for kind in table.idle:
        if kind.secret and kind.size > best:
            best, found = kind.size, Counter({kind: 1})
    if found is not None and on_best is not None:
        on_best(best, found)
    if table.widest > SEARCH_EFFECTS:
        return best, found, not table.effects
    tried: set[Multiset] = set()
    for place in _starts(table):
        improved = True
        while improved:
            improved = False
            left = None if end is None else max(0.0, end - now())
            search = Started(
                table.effects,
                table.weights,
                table.effects[place],
                above=moves.score.within(best) - table.weights[place],
                time_limit=left,
            )
            for _, rest in search:
                multiset = _with(rest, place)
                if multiset in tried:
                    continue
                tried.add(multiset)
                try:
                    value, choice = _one_secret_at_least(table.groups(multiset), best, end)
                except TimeoutError:
                    return best, found, False
                if choice is not None and value > best:
                    best, found, improved = value, choice, True
                    if on_best is not None:
                        on_best(best, found)
                    break  # the search goes on above what is known now
            if not improved and not search.complete:
                return best, found, False
    return best, found, True


def _starts(table: EffectTable) -> list[int]:
    """Return the effects that secret moves have, one of each two opposite ones, heaviest first."""
    secret = {
        effect
        for effect, kinds in zip(table.effects, table.kinds, strict=True)
        if any(kind.secret for kind in kinds)
    }
    chosen = [
        place
        for place, effect in enumerate(table.effects)
        if effect in secret and effect > tuple(-number for number in effect)
    ]
    return sorted(chosen, key=lambda place: -table.weights[place])


def _with(rest: Multiset, place: int) -> Multiset:
    counts = Counter(dict(rest))
    counts[place] += 1
    return tuple(sorted(counts.items()))


def _one_secret_at_least(
    groups: Groups, best: int, end: float | None
) -> tuple[int, Counter[Kind] | None]:
    """Return the best choice with a secret move, where it is better than `best`."""
    if bound_of(groups) <= best:
        return best, None
    value, choice = best_choice(groups, deadline=end)
    if value <= best:
        return best, None
    if any(kind.secret for kind in choice):
        return value, choice
    found: Counter[Kind] | None = None
    for number, (kinds, times) in enumerate(groups):
        secret = [kind for kind in kinds if kind.secret]
        if not secret:
            continue
        others = [group for other, group in enumerate(groups) if other != number]
        left = [(kinds, times - 1)] if times > 1 else []
        value, choice = best_choice([(secret, 1), *left, *others], deadline=end)
        if value > best:
            best, found = value, choice
    return best, found
