"""From scope "any" to scope "given": a worst pair put into a database with the known numbers.

With equality counts and impossible values, the moves of a neighbour pair under "given" have no
effect and no proper part without one, so they are also those of a pair under "any": S(given) is at
most S(any). It is equal if some D1 with the known numbers holds the records that the worst pair of
"any" moves; the other records of D1 stay, and change nothing about minimality where G is complete,
in readings 2 and 3, or where only one record makes a secret move. Whether there is such a D1 is one
integer program over classes of values, whose size does not depend on n. With bounds besides, the
pair is a neighbour pair as well (no proper part of its moves is without effect), but others may be
worse.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from blowproof.models import Point, Setting
from blowproof.models.linear_terms import IntVar, weighted_sum
from blowproof.verifier.answers import Pair
from blowproof.verifier.feasible import FactModel
from blowproof.verifier.moves import Kind, Moves
from blowproof.verifier.norms import absolute_sum, norm_of

__all__ = ["Embedder", "embed"]


def embed(setting: Setting, pair: Pair, *, time_limit: float | None = None) -> Pair | None:
    """Return the pair with unchanged records such that D1 has the known numbers, or None."""
    from blowproof.models.to_cpsat import solve

    model = FactModel.of(setting)
    held = [sum(x in item for x in pair.before) for item in model.classes]
    for count, least in zip(model.counts, held, strict=True):
        if least:
            model.linear.add(count, lower=least)
    for fact in setting.bounds:  # D1's bounds are in the model; these are D2's
        push = sum(map(fact.coefficient, pair.after)) - sum(map(fact.coefficient, pair.before))
        if push:
            row = model.sum_of(fact)
            low = None if fact.at_least is None else fact.at_least - push
            high = None if fact.at_most is None else fact.at_most - push
            model.linear.add(row, lower=low, upper=high)
    outcome = solve(model.linear, time_limit=time_limit)
    if outcome.assignment is None:
        return None
    return _completed(model, outcome.assignment, pair)


def _completed(model: FactModel, assignment: Mapping[str, int], pair: Pair) -> Pair:
    """Add the records of D1 that do not move: the first value of each class stands for it."""
    rest: Counter[Point] = Counter()
    for item, count in zip(model.classes, model.counts, strict=True):
        staying = assignment[count.name] - sum(x in item for x in pair.before)
        if staying:
            rest[item.take(1)[0]] = staying
    return replace(pair, unchanged=tuple(sorted(rest.items())))


class Embedder:
    """Finds the best moves with given effects that start in a D1 with the known numbers."""

    def __init__(self, moves: Moves) -> None:
        self.moves = moves
        self.model = FactModel.of(moves.setting)
        self.home = {
            point: next(place for place, item in enumerate(self.model.classes) if point in item)
            for point in moves.values
        }

    def best(
        self,
        groups: Sequence[tuple[Sequence[Kind], int]],
        *,
        above: int,
        deadline: float | None = None,
    ) -> tuple[int, Pair] | None:
        """Return the largest (scaled) change above `above`, and its pair; None if there is none.

        Raises TimeoutError if that is not decided by the deadline.
        """
        from blowproof.models.to_cpsat import solve

        linear = self.model.linear.without_groups(())
        counts: list[tuple[Kind, IntVar]] = []
        for number, (kinds, times) in enumerate(groups):
            chosen = [
                (kind, linear.int_var(f"n{number}_{place}", lower=0, upper=times))
                for place, kind in enumerate(kinds)
            ]
            linear.add(weighted_sum((1, v) for _, v in chosen), lower=times, upper=times)
            counts += chosen
        for place, held in enumerate(self.model.counts):
            leaving = [
                (1, v)
                for kind, v in counts
                if kind.before is not None and self.home[kind.before] == place
            ]
            if leaving:
                linear.add(weighted_sum(leaving) - held, upper=0)
        gain = absolute_sum(linear, counts)
        if gain.bounds()[1] <= above:
            return None
        linear.add(gain, lower=above + 1)
        linear.maximise(gain)
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        outcome = solve(linear, time_limit=left)
        if outcome.status == "infeasible":
            return None
        if outcome.status != "optimal" or outcome.assignment is None:
            raise TimeoutError
        found = Counter({kind: outcome.assignment[v.name] for kind, v in counts})
        pair = self.moves.pair(+found, Counter())
        return norm_of(found), _completed(self.model, outcome.assignment, pair)
