"""Which record is which: a pair of databases made to satisfy clauses over single records.

A neighbour pair of the policy without its clauses, in which D1 and D2 satisfy the clauses, is one
of the policy with them: clauses only take D3s away. Whether its records can be numbered so, with
other records that stay where these are free, is one integer program over classes of values and the
records that clauses name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from blowproof.models import Clause, Point, Setting
from blowproof.models.programs.linear_terms import IntVar, weighted_sum
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import FactModel
from blowproof.verifier.engines.histograms.refuter import add_bound

__all__ = ["labelled_pair", "without_clauses"]

Change = tuple[Point, Point]


def labelled_pair(
    setting: Setting, pair: Pair, *, time_limit: float | None = None, seed: int = 0
) -> Pair | None:
    """Return the pair's moves in numbered databases with the known facts and clauses, or None."""
    from blowproof.models.programs.to_cpsat import solve

    model = _Numbering(setting, pair)
    outcome = solve(model.linear, time_limit=time_limit, seed=seed)
    return None if outcome.assignment is None else model.read(outcome.assignment)


class _Numbering:
    """Classes of D1 for the named records, and which of the moves they make."""

    def __init__(self, setting: Setting, pair: Pair) -> None:
        self.setting = setting
        self.model = FactModel.of(setting)
        self.linear = self.model.linear
        self.moves: Counter[Change] = Counter(zip(pair.before, pair.after, strict=True))
        self.home = {x: self._class_of(x) for x in {*pair.before, *pair.after}}
        self.named = sorted({r for clause in setting.clauses for r in clause.records})
        variables = {variable.name: variable for variable in self.linear.variables}
        self.lies = {
            (record, place): variables[f"record{record + 1}_class{place}"]
            for record in self.named
            for place in range(len(self.model.classes))
        }
        self.takes = {
            (record, change): self.linear.bool_var(f"takes{record}_{number}")
            for record in self.named
            for number, change in enumerate(self.moves)
        }
        self.stays = {
            (record, place): self.linear.bool_var(f"stays{record}_{place}")
            for record, place in self.lies
        }
        self._who_moves()
        self._who_holds()
        self._second()

    def _class_of(self, point: Point) -> int:
        return next(p for p, item in enumerate(self.model.classes) if point in item)

    def _who_moves(self) -> None:
        for change, times in self.moves.items():
            takers = weighted_sum((1, self.takes[record, change]) for record in self.named)
            self.linear.add(takers, upper=times)
            for record in self.named:
                source = self.lies[record, self.home[change[0]]]
                self.linear.add(self.takes[record, change] - source, upper=0)
        for (record, place), stays in self.stays.items():
            self.linear.add(stays - self.lies[record, place], upper=0)
        for record in self.named:
            does = [(1, self.takes[record, change]) for change in self.moves]
            does += [(1, self.stays[record, place]) for place in range(len(self.model.classes))]
            self.linear.add(weighted_sum(does), lower=1, upper=1)

    def _who_holds(self) -> None:
        """D1 holds the records that move and the named ones that stay."""
        leaving: Counter[int] = Counter()
        for (before, _), times in self.moves.items():
            leaving[self.home[before]] += times
        for place, count in enumerate(self.model.counts):
            staying = weighted_sum((1, self.stays[record, place]) for record in self.named)
            self.linear.add(count - staying, lower=leaving[place])

    def _second(self) -> None:
        """D2 keeps the bounds and the clauses."""
        for fact in self.setting.bounds:
            push = sum(
                times * (fact.coefficient(y) - fact.coefficient(x))
                for (x, y), times in self.moves.items()
            )
            add_bound(self.linear, self.model.sum_of(fact) + push, fact)
        for clause in self.setting.clauses:
            true = [
                taken
                for record, area, inside in clause.literals
                for (who, (_, after)), taken in self.takes.items()
                if who == record and (after in area) == inside
            ]
            true += [
                stays
                for record, area, inside in clause.literals
                for (who, place), stays in self.stays.items()
                if who == record and self.model.inside(place, area) == inside
            ]
            self.linear.add_clause(true)

    def read(self, assignment: Mapping[str, int]) -> Pair:
        """Return the numbered databases of a solution."""
        assert self.setting.size is not None
        rest = self.moves.copy()
        staying = self._staying(assignment)
        first: list[Point | None] = [None] * self.setting.size
        second: list[Point | None] = [None] * self.setting.size
        for record in self.named:
            change = self._change(record, assignment)
            if change is None:
                place = next(
                    p for (r, p), v in self.stays.items() if r == record and _is(v, assignment)
                )
                staying[place] -= 1
                point = self.model.classes[place].take(1)[0]
                change = (point, point)
            else:
                rest[change] -= 1
            first[record], second[record] = change
        others = list(rest.elements())
        for place, times in staying.items():
            point = self.model.classes[place].take(1)[0]
            others += [(point, point)] * times
        free = (record for record in range(self.setting.size) if first[record] is None)
        for record, change in zip(free, others, strict=True):
            first[record], second[record] = change
        one, two = [x for x in first if x is not None], [y for y in second if y is not None]
        return Pair.labelled(one, two, keep=True)

    def _staying(self, assignment: Mapping[str, int]) -> Counter[int]:
        """Return how many records of each class stay."""
        result = Counter({p: assignment[v.name] for p, v in enumerate(self.model.counts)})
        for (before, _), times in self.moves.items():
            result[self.home[before]] -= times
        return result

    def _change(self, record: int, assignment: Mapping[str, int]) -> Change | None:
        for (who, change), taken in self.takes.items():
            if who == record and _is(taken, assignment):
                return change
        return None


def _is(variable: IntVar, assignment: Mapping[str, int]) -> bool:
    return bool(assignment[variable.name])


def without_clauses(setting: Setting) -> Setting:
    """Return the same facts without the clauses."""
    known = tuple(fact for fact in setting.policy.known if not isinstance(fact, Clause))
    return replace(setting, policy=replace(setting.policy, known=known))
