"""The facts as a linear model over classes of values: what solvers are asked about databases.

A class holds the possible values that no fact tells apart; every record that a clause names lies in
one class. There may be exponentially many classes, so their number and the time are limited.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blowproof.models import BudgetError, Impossible, LinearFact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.base.kept import cached_property
from blowproof.models.domain.classes import ValueClass, classes_of, collapse
from blowproof.models.domain.regions import Area
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, LinearExpr, weighted_sum
from blowproof.verifier.databases.count_limits import Room, Row
from blowproof.verifier.databases.value_classes import MOST_CLASSES
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["FactModel"]

SHORTEST = real_limit(__name__, "SHORTEST")
MOST_PLACED = whole_limit(__name__, "MOST_PLACED")


@dataclass(frozen=True)
class FactModel:
    """The facts as a linear model over classes; `counts[i]` is how many records class i holds.

    A solver wants every count to have an upper limit. If some database satisfies the facts, one
    does that keeps to the limit: this is proved where `roomy` holds (see `count_limits`).
    """

    setting: Setting
    classes: tuple[ValueClass, ...]
    areas: tuple[Area, ...]
    linear: LinearModel
    counts: tuple[IntVar, ...]
    room: Room
    roomy: bool
    deadline: float | None = None

    @staticmethod
    def of(
        found: Setting,
        *,
        most: int | None = None,
        deadline: float | None = None,
        zeros_apart: bool = False,
        among: Sequence[Point] | None = None,
    ) -> FactModel:
        """Build the model of a setting under scope "given"; BudgetError where it is too large.

        `most` limits the counts; by default they are limited as solvers like it (`Room.likely`).
        `zeros_apart`: impossible values have classes, and a row for each fact that says so, which
        contradictions are named after. `deadline` holds for the classes and for each solver's call.
        `among`: only databases of these values are asked for, where classes are too many.
        """
        facts = (*found.equalities, *found.bounds)
        zeros = [
            (f"known[{place}]", found.domain.area(fact.where))
            for place, fact in enumerate(found.policy.known)
            if isinstance(fact, Impossible) and zeros_apart
        ]
        areas = [area for fact in facts for _, area in fact.terms]
        areas += [area for _, area in zeros]
        areas += [area for clause in found.clauses for _, area, _ in clause.literals]
        without = None if zeros_apart else found.impossible
        classes = (
            collapse(found.domain, areas, limit=MOST_CLASSES, deadline=deadline, without=without)
            if among is None
            else classes_of(found.domain, areas, among, without=without)
        )
        holders = _holders(areas, classes)
        rows = [Row(_coefficients(fact, holders), *_ends(fact), fact.name) for fact in facts]
        rows += [Row(dict.fromkeys(holders[area], 1), None, 0, name) for name, area in zeros]
        if found.size is not None:
            everyone = dict.fromkeys(range(len(classes)), 1)
            rows.append(Row(everyone, found.size, found.size, "size"))
        named = {record for clause in found.clauses for record in clause.records}
        if len(named) * len(classes) > MOST_PLACED:
            raise BudgetError(
                f"clauses name {len(named)} records, and the facts cut the domain into "
                f"{len(classes)} classes of values: too many ways to place them\n"
                "  try: fewer facts, or clauses over fewer records"
            )
        room = Room(tuple(rows), len(classes), len(named))
        linear = LinearModel(name=found.policy.name)
        most = room.likely if most is None else most
        counts = tuple(
            linear.int_var(f"class{place}", lower=0, upper=most) for place in range(len(classes))
        )
        for row in rows:
            if row.low is not None or row.high is not None:
                expr = weighted_sum((times, counts[place]) for place, times in row.terms.items())
                linear.add(expr, lower=row.low, upper=row.high, group=row.name)
        roomy = most >= room.proved
        model = FactModel(found, classes, tuple(areas), linear, counts, room, roomy, deadline)
        _add_clauses(model)
        return model

    def inside(self, place: int, area: Area) -> bool:
        """Whether a class lies in one of the areas of the model."""
        return self.areas.index(area) in self.classes[place].inside

    def sum_of(self, fact: LinearFact) -> LinearExpr:
        """Return a fact's left-hand side."""
        terms = _coefficients(fact, self.holders)
        return weighted_sum((times, self.counts[place]) for place, times in terms.items())

    def range_of(self, fact: LinearFact) -> tuple[int | None, int | None]:
        """Return the least and the greatest value of a left-hand side (None: unbounded)."""
        terms = _coefficients(fact, self.holders)
        return self._range(terms)

    def total_range(self) -> tuple[int, int | None]:
        """Return the least and the greatest number of records (None: unbounded)."""
        if self.setting.size is not None:
            return self.setting.size, self.setting.size
        low, high = self._range(dict.fromkeys(range(len(self.classes)), 1))
        assert low is not None
        return low, high

    def _range(self, terms: Mapping[int, int]) -> tuple[int | None, int | None]:
        """Return the range of a sum of counts; where it is too hard to find, one around it."""
        most = self._most(terms)
        least = self._most({place: -times for place, times in terms.items()})
        return (None if least is None else -least), most

    def _most(self, terms: Mapping[int, int]) -> int | None:
        from blowproof.models.programs.to_cpsat import solve

        if not self.room.bounds(terms):
            return None
        model = self if self.roomy else self._roomier
        goal = model.linear.without_groups(())
        goal.maximise(weighted_sum((times, model.counts[p]) for p, times in terms.items()))
        outcome = solve(goal, time_limit=self.left)
        if outcome.upper is None:
            raise BudgetError("no time was left to see what the facts say about a count")
        return outcome.upper

    def easily(self) -> bool:
        """Whether a database is found without a solver: each class takes what the facts leave.

        Those that many facts count come first. So it is for tables with two margins, trees and
        cells; loading a solver takes longer than such a question does. False says nothing.
        """
        mine_of: list[list[tuple[list[int | None], int]]] = [[] for _ in self.counts]
        for row in self.room.rows:
            ends = [row.low, row.high]
            for place, times in row.terms.items():
                mine_of[place].append((ends, times))
        found = {}
        for mine, count in sorted(
            zip(mine_of, self.counts, strict=True), key=lambda item: -len(item[0])
        ):
            if any(times < 0 for _, times in mine):
                return False
            room = [high // times for (_, high), times in mine if high is not None]
            need = [-(-low // times) for (low, _), times in mine if low is not None]
            found[count.name] = held = max(0, min(room) if room else max(need, default=0))
            for ends, times in mine:
                ends[:] = [None if end is None else end - times * held for end in ends]
        return not self.setting.clauses and not self.linear.evaluate(found)

    @property
    def left(self) -> float | None:
        """Seconds until the deadline (some time in any case, so that a solver can begin)."""
        return None if self.deadline is None else max(SHORTEST, self.deadline - now())

    @cached_property
    def holders(self) -> dict[Area, list[int]]:
        """Which classes lie in each area of the model."""
        return _holders(self.areas, self.classes)

    @cached_property
    def _roomier(self) -> FactModel:
        return FactModel.of(self.setting, most=self.room.proved, deadline=self.deadline)


def _holders(areas: Sequence[Area], classes: Sequence[ValueClass]) -> dict[Area, list[int]]:
    """Return the places of the classes that lie in each area, in order."""
    found: list[list[int]] = [[] for _ in areas]
    for place, item in enumerate(classes):
        for number in item.inside:
            found[number].append(place)
    return dict(zip(areas, found, strict=True))


def _coefficients(fact: LinearFact, holders: Mapping[Area, Sequence[int]]) -> dict[int, int]:
    """Return what one record of each class adds to a fact's left-hand side."""
    sums: dict[int, int] = {}
    for times, area in fact.terms:
        for place in holders[area]:
            sums[place] = sums.get(place, 0) + times
    return {place: times for place, times in sorted(sums.items()) if times}


def _ends(fact: LinearFact) -> tuple[int | None, int | None]:
    if fact.answer is not None:
        return fact.answer, fact.answer
    return fact.at_least, fact.at_most


def _add_clauses(model: FactModel) -> None:
    """Every record that a clause names lies in one class; the others fill up the counts."""
    named = sorted({record for clause in model.setting.clauses for record in clause.records})
    if not named:
        return
    places = range(len(model.classes))
    lies = {
        (record, place): model.linear.bool_var(f"record{record + 1}_class{place}")
        for record in named
        for place in places
    }
    for record in named:
        one = weighted_sum((1, lies[record, place]) for place in places)
        model.linear.add(one, lower=1, upper=1)
    for place in places:
        held = weighted_sum((1, lies[record, place]) for record in named)
        model.linear.add(model.counts[place] - held, lower=0)
    for clause in model.setting.clauses:
        model.linear.add_clause(
            (
                lies[record, place]
                for record, area, inside in clause.literals
                for place in places
                if model.inside(place, area) == inside
            ),
            group=clause.name,
        )
