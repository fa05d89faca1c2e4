"""Is there a database at all, and which numbers follow from the facts?

The facts are put as a linear model over classes of values (values that no fact tells apart), plus
one choice of class for every record that a clause names. `prepare` fills in what the facts imply
and refuses what contradicts itself, so that no engine ever answers 0 about an empty I_Q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from blowproof.models import (
    BudgetError,
    ContradictionError,
    Impossible,
    LinearFact,
    Policy,
    Setting,
    UndeterminedError,
)
from blowproof.models import (
    setting as setting_of,
)
from blowproof.models.classes import ValueClass, collapse
from blowproof.models.linear import LinearModel
from blowproof.models.linear_terms import IntVar, LinearExpr, weighted_sum
from blowproof.models.policy import LABELLED, Reading
from blowproof.models.regions import Area
from blowproof.verifier.room import Room, Row

__all__ = ["check_consistent", "prepare", "size_range"]

SMALLEST_LIMIT = 14


def check_consistent(policy: Policy) -> None:
    """Raise a ContradictionError naming a smallest contradictory set of facts, if any."""
    found = setting_of(policy)
    if found.scope == "given":
        _require_database(FactModel.of(found))


def prepare(found: Setting, reading: Reading) -> Setting:
    """Return the setting with every number that the reading needs.

    Scope "any" needs none. Under "given", a count without an answer, and n in readings 1 and 2, may
    follow from the other facts; what follows from nothing is an UndeterminedError.
    """
    if found.scope == "any":
        return found
    model = FactModel.of(found)
    _require_database(model)
    answered = []
    for fact in found.equalities:
        if fact.answer is None:
            low, high = model.range_of(fact)
            if low is None or low != high:
                raise UndeterminedError(
                    f"nothing determines the count {fact.name}: {_span(low, high)}\n"
                    "  try: write its answer, name a data file, or use --answers any"
                )
            answered.append(fact.answering(low))
        else:
            answered.append(fact)
    size = found.size
    if size is None and reading in LABELLED:
        size = _implied_size(model, reading)
    return replace(found, equalities=tuple(answered), size=size)


def _implied_size(model: FactModel, reading: Reading) -> int:
    low, high = model.total_range()
    if low != high:
        raise UndeterminedError(
            f"the reading {reading!r} needs n, and the facts leave it {_span(low, high)}\n"
            "  try: write size = N under [database], or use --answers any"
        )
    return low


def _span(low: int | None, high: int | None) -> str:
    if low is None:
        return "any number" if high is None else f"{high} or less"
    return f"{low} or more" if high is None else f"between {low} and {high}"


def size_range(found: Setting, reading: Reading) -> tuple[int, int | None]:
    """Return the least and the greatest n of I_Q (None: unbounded), for a prepared setting."""
    if found.scope == "any":
        return 0, None
    if reading in LABELLED:
        assert found.size is not None
        return found.size, found.size
    return FactModel.of(found).total_range()


def _require_database(model: FactModel) -> None:
    from blowproof.models.to_cpsat import solve

    status = solve(model.linear).status
    if status == "infeasible" and not model.roomy:  # because counts are limited, perhaps
        model = FactModel.of(model.setting, most=model.room.proved)
        status = solve(model.linear).status
    if status == "unknown":
        raise BudgetError(
            "whether any database satisfies the facts is undecided: their numbers go beyond 64 bits"
            "\n  try: smaller numbers, or fewer facts"
        )
    if status != "infeasible":
        return
    names = _smallest_contradiction(FactModel.of(model.setting, most=model.room.whatever).linear)
    listing = " and ".join(names) if len(names) < 3 else ", ".join(names)
    verb = "contradicts the domain" if len(names) == 1 else "contradict each other"
    raise ContradictionError(
        f"no database satisfies the facts: {listing} {verb}",
        facts=names,
        hint="correct one of these facts; without any one of them there are databases",
    )


def _smallest_contradiction(linear: LinearModel) -> tuple[str, ...]:
    """Return a contradictory set of groups with as few members as possible.

    Deletion gives a set from which nothing can be left out. Where the facts are few enough, smaller
    sets are tried too, so that the one named is smallest outright.
    """
    from blowproof.models.contradiction import smallest_infeasible_subset
    from blowproof.models.to_cpsat import solve

    found = smallest_infeasible_subset(linear)
    assert found is not None
    groups = linear.groups
    if len(groups) <= SMALLEST_LIMIT:
        for size in range(1, len(found.groups)):
            for candidate in combinations(groups, size):
                part = linear.without_groups(set(groups) - set(candidate))
                if solve(part).status == "infeasible":
                    return candidate
    return found.groups


@dataclass(frozen=True)
class FactModel:
    """The facts as a linear model over classes; `counts[i]` is how many records class i holds.

    A solver wants every count to have an upper limit. If some database satisfies the facts, one
    does that keeps to the limit: this is proved where `roomy` holds (see `room`).
    """

    setting: Setting
    classes: tuple[ValueClass, ...]
    areas: tuple[Area, ...]
    linear: LinearModel
    counts: tuple[IntVar, ...]
    room: Room
    roomy: bool

    @staticmethod
    def of(found: Setting, *, most: int | None = None) -> FactModel:
        """Build the model of a setting under scope "given".

        `most` limits the counts; by default they are limited as solvers like it (`Room.likely`).
        """
        facts = (*found.equalities, *found.bounds)
        zeros = [
            (f"known[{place}]", found.domain.area(fact.where))
            for place, fact in enumerate(found.policy.known)
            if isinstance(fact, Impossible)
        ]
        areas = [area for fact in facts for _, area in fact.terms]
        areas += [area for _, area in zeros]
        areas += [area for clause in found.clauses for _, area, _ in clause.literals]
        classes = collapse(found.domain, areas)
        rows = [Row(_coefficients(fact, areas, classes), *_ends(fact), fact.name) for fact in facts]
        for name, area in zeros:
            number = areas.index(area)
            held = {place: 1 for place, item in enumerate(classes) if number in item.inside}
            rows.append(Row(held, None, 0, name))
        if found.size is not None:
            everyone = dict.fromkeys(range(len(classes)), 1)
            rows.append(Row(everyone, found.size, found.size, "size"))
        named = {record for clause in found.clauses for record in clause.records}
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
        model = FactModel(found, classes, tuple(areas), linear, counts, room, most >= room.proved)
        _add_clauses(model)
        return model

    def inside(self, place: int, area: Area) -> bool:
        """Whether a class lies in one of the areas of the model."""
        return self.areas.index(area) in self.classes[place].inside

    def sum_of(self, fact: LinearFact) -> LinearExpr:
        """Return a fact's left-hand side."""
        terms = _coefficients(fact, self.areas, self.classes)
        return weighted_sum((times, self.counts[place]) for place, times in terms.items())

    def range_of(self, fact: LinearFact) -> tuple[int | None, int | None]:
        """Return the least and the greatest value of a left-hand side (None: unbounded)."""
        terms = _coefficients(fact, self.areas, self.classes)
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
        from blowproof.models.to_cpsat import solve

        if not self.room.bounds(terms):
            return None
        model = self if self.roomy else self._roomier
        goal = model.linear.without_groups(())
        goal.maximise(weighted_sum((times, model.counts[p]) for p, times in terms.items()))
        outcome = solve(goal)
        assert outcome.upper is not None
        return outcome.upper

    @cached_property
    def _roomier(self) -> FactModel:
        return FactModel.of(self.setting, most=self.room.proved)


def _coefficients(
    fact: LinearFact, areas: Sequence[Area], classes: Sequence[ValueClass]
) -> dict[int, int]:
    """Return what one record of each class adds to a fact's left-hand side."""
    numbers = [(times, areas.index(area)) for times, area in fact.terms]
    sums = {
        place: sum(times for times, number in numbers if number in item.inside)
        for place, item in enumerate(classes)
    }
    return {place: times for place, times in sums.items() if times}


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
