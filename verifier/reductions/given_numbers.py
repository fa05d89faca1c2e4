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

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from blowproof.models import Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import locator
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import BoolLiteral, IntVar, LinearExpr, weighted_sum
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import FactModel
from blowproof.verifier.engines.histograms.refuter import Proposal, Refuter, add_bound
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.best_choice import size_of, total_change
from blowproof.verifier.moves.kinds import Kind, Moves

MOST_REFUTED = whole_limit(__name__, "MOST_REFUTED")

Vector = tuple[int, ...]

__all__ = ["Embedder", "choices", "completed", "embed", "enforced"]


def embed(
    setting: Setting,
    pair: Pair,
    *,
    time_limit: float | None = None,
    model: FactModel | None = None,
) -> Pair | None:
    """Return the pair with unchanged records such that D1 has the known numbers, or None.

    `model`: the facts as a model, where it is at hand.
    """
    from blowproof.models.programs.to_cpsat import solve

    model = FactModel.of(setting) if model is None else model
    linear = model.linear.without_groups(())
    for place, least in _held(model, pair).items():
        linear.add(model.counts[place], lower=least)
    for fact in setting.bounds:  # D1's bounds are in the model; these are D2's
        push = sum(map(fact.coefficient, pair.after)) - sum(map(fact.coefficient, pair.before))
        if push:
            row = model.sum_of(fact)
            low = None if fact.at_least is None else fact.at_least - push
            high = None if fact.at_most is None else fact.at_most - push
            linear.add(row, lower=low, upper=high)
    outcome = solve(linear, time_limit=time_limit)
    if outcome.assignment is None:
        return None
    return completed(model, outcome.assignment, pair)


def completed(model: FactModel, assignment: Mapping[str, int], pair: Pair) -> Pair:
    """Add the records of D1 that do not move: the first value of each class stands for it."""
    rest: Counter[Point] = Counter()
    held = _held(model, pair)
    for place, (item, count) in enumerate(zip(model.classes, model.counts, strict=True)):
        staying = assignment[count.name] - held[place]
        if staying:
            rest[item.take(1)[0]] = staying
    return replace(pair, unchanged=tuple(sorted(rest.items())))


def _held(model: FactModel, pair: Pair) -> Counter[int]:
    """Return how many of the records that move are of each class in D1."""
    place_of = locator(model.classes)
    places = (place_of(x) for x in pair.before)
    return Counter(place for place in places if place is not None)


class Embedder:
    """Finds the best moves with given effects that start in a D1 with the known numbers.

    Where bounds are known, irreducible effects are not enough: a part of the moves may keep the
    equalities, and whether it keeps the bounds depends on D1. So each pair found is put to the
    search for a D3, and what this refutes is ruled out (`_rule_out`), until a pair stands.
    """

    def __init__(self, moves: Moves) -> None:
        self.moves = moves
        self.model = FactModel.of(moves.setting)
        self.refuter = Refuter(moves) if moves.setting.bounds else None
        place_of = locator(self.model.classes)
        found = {point: place_of(point) for point in moves.values}
        self.home = {point: place for point, place in found.items() if place is not None}

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
        from blowproof.models.programs.to_cpsat import solve

        linear = self.model.linear.without_groups(())
        counts = choices(linear, groups)
        self.databases(linear, counts)
        gain = total_change(linear, counts)
        if gain.bounds()[1] <= above:
            return None
        linear.add(gain, lower=above + 1)
        linear.maximise(gain)
        for _ in range(MOST_REFUTED):
            left = None if deadline is None else max(0.0, deadline - now())
            outcome = solve(linear, time_limit=left, seed=self.moves.seed)
            if outcome.status == "infeasible":
                return None
            if outcome.status != "optimal" or outcome.assignment is None:
                break
            found: Counter[Kind] = Counter()
            for kind, variable in counts:
                if kind.before is not None or kind.after is not None:
                    found[kind] += outcome.assignment[variable.name]
            pair = completed(self.model, outcome.assignment, self.moves.pair(+found, Counter()))
            part = self._refuted(pair, +found, deadline)
            if not part:
                return size_of(found), pair
            self._rule_out(linear, counts, part)
        raise TimeoutError

    def databases(self, linear: LinearModel, counts: Sequence[tuple[Kind, IntVar]]) -> None:
        """D1 holds the records that leave, and D2 keeps the bounds."""
        for place, held in enumerate(self.model.counts):
            leaving = [
                (1, v)
                for kind, v in counts
                if kind.before is not None and self.home[kind.before] == place
            ]
            if leaving:
                linear.add(weighted_sum(leaving) - held, upper=0)
        for place, fact in enumerate(self.moves.setting.bounds):
            push = weighted_sum((kind.push[place], v) for kind, v in counts)
            if push.terms:
                add_bound(linear, self.model.sum_of(fact) + push, fact)

    def _refuted(self, pair: Pair, counts: Counter[Kind], deadline: float | None) -> Counter[Kind]:
        """Return the moves of a D3 that refutes a pair (none: it stands)."""
        if self.refuter is None:
            return Counter()
        refutation = self.refuter.refute(Proposal(pair.first(), counts), deadline)
        return Counter() if refutation is None else refutation.moves

    def _rule_out(
        self, linear: LinearModel, counts: Sequence[tuple[Kind, IntVar]], part: Counter[Kind]
    ) -> None:
        """Too few moves with the effects of this part, or no others, or the part breaks a bound.

        Slack moves do not count as others: beside them alone, the part is all that is done.
        """
        wanted: Counter[tuple[Vector, Vector]] = Counter()
        for kind, times in part.items():
            wanted[kind.effect, kind.push] += times
        clause = []
        for (effect, push), times in wanted.items():
            alike = weighted_sum((1, v) for k, v in counts if (k.effect, k.push) == (effect, push))
            clause.append(enforced(linear, alike, upper=times - 1))
        real = weighted_sum(
            (1, v) for k, v in counts if k.before is not None or k.after is not None
        )
        clause.append(enforced(linear, real, upper=part.total()))
        for place, fact in enumerate(self.moves.setting.bounds):
            total = sum(kind.push[place] * times for kind, times in part.items())
            row = self.model.sum_of(fact) + total
            if total and fact.at_least is not None:
                clause.append(enforced(linear, row, upper=fact.at_least - 1))
            if total and fact.at_most is not None:
                clause.append(enforced(linear, row, lower=fact.at_most + 1))
        linear.add_clause(clause)


def choices(
    linear: LinearModel, groups: Sequence[tuple[Sequence[Kind], int]]
) -> list[tuple[Kind, IntVar]]:
    """Add how many moves of each kind are made: from each group as many as it says."""
    counts: list[tuple[Kind, IntVar]] = []
    for number, (kinds, times) in enumerate(groups):
        chosen = [
            (kind, linear.int_var(f"n{number}_{place}", lower=0, upper=times))
            for place, kind in enumerate(kinds)
        ]
        linear.add(weighted_sum((1, v) for _, v in chosen), lower=times, upper=times)
        counts += chosen
    return counts


def enforced(
    linear: LinearModel, row: LinearExpr, *, lower: int | None = None, upper: int | None = None
) -> BoolLiteral:
    """Return a literal that is false unless the row keeps to its ends."""
    literal = linear.bool_var(f"if{len(linear.variables)}")
    linear.add(row, lower=lower, upper=upper, enforced_by=literal)
    return BoolLiteral(literal)
