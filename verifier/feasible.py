"""Is there a database at all, and which numbers follow from the facts?

The facts are put as a linear model over classes of values (values that no fact tells apart), plus
one choice of class for every record that a clause names. `prepare` fills in what the facts imply
and refuses what contradicts itself, so that no engine ever answers 0 about an empty I_Q.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from blowproof.models import (
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

__all__ = ["check_consistent", "prepare", "size_range"]

MOST_RECORDS = 10**9
"""More records than any policy has: where n is unknown, a count that reaches this is unbounded."""

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
            if low != high:
                raise UndeterminedError(
                    f"nothing determines the count {fact.name}: between {low} and {high}\n"
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
    if high is None or low != high:
        span = f"{low} or more" if high is None else f"between {low} and {high}"
        raise UndeterminedError(
            f"the reading {reading!r} needs n, and the facts leave it {span}\n"
            "  try: write size = N under [database], or use --answers any"
        )
    return low


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

    if solve(model.linear).status != "infeasible":
        return
    names = _smallest_contradiction(model.linear)
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
    """The facts as a linear model over classes; `counts[i]` is how many records class i holds."""

    setting: Setting
    classes: tuple[ValueClass, ...]
    areas: tuple[Area, ...]
    linear: LinearModel
    counts: tuple[IntVar, ...]

    @staticmethod
    def of(found: Setting) -> FactModel:
        """Build the model of a setting under scope "given"."""
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
        linear = LinearModel(name=found.policy.name)
        counts = tuple(
            linear.int_var(f"class{place}", lower=0, upper=MOST_RECORDS)
            for place in range(len(classes))
        )
        model = FactModel(found, classes, tuple(areas), linear, counts)
        for fact in facts:
            _add_fact(linear, model.sum_of(fact), fact)
        for name, area in zeros:
            linear.add(model.count_in(area), upper=0, group=name)
        if found.size is not None:
            total = weighted_sum((1, count) for count in counts)
            linear.add(total, lower=found.size, upper=found.size, group="size")
        _add_clauses(model)
        return model

    def inside(self, place: int, area: Area) -> bool:
        """Whether a class lies in one of the areas of the model."""
        return self.areas.index(area) in self.classes[place].inside

    def count_in(self, area: Area) -> LinearExpr:
        """Return the number of records in an area."""
        number = self.areas.index(area)
        return weighted_sum(
            (1, count)
            for count, item in zip(self.counts, self.classes, strict=True)
            if number in item.inside
        )

    def sum_of(self, fact: LinearFact) -> LinearExpr:
        """Return a fact's left-hand side."""
        numbers = [(times, self.areas.index(area)) for times, area in fact.terms]
        return weighted_sum(
            (sum(times for times, number in numbers if number in item.inside), count)
            for count, item in zip(self.counts, self.classes, strict=True)
        )

    def range_of(self, fact: LinearFact) -> tuple[int, int]:
        """Return the least and the greatest value of a left-hand side."""
        return _least_and_most(self.linear, self.sum_of(fact))

    def total_range(self) -> tuple[int, int | None]:
        """Return the least and the greatest number of records (None: unbounded)."""
        total = weighted_sum((1, count) for count in self.counts)
        low, high = _least_and_most(self.linear, total)
        return low, None if high >= MOST_RECORDS else high


def _add_fact(linear: LinearModel, expr: LinearExpr, fact: LinearFact) -> None:
    low = fact.answer if fact.answer is not None else fact.at_least
    high = fact.answer if fact.answer is not None else fact.at_most
    if low is not None or high is not None:
        linear.add(expr, lower=low, upper=high, group=fact.name)


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


def _least_and_most(linear: LinearModel, expr: LinearExpr) -> tuple[int, int]:
    from blowproof.models.to_cpsat import solve

    ends = []
    for sign in (-1, 1):
        goal = linear.without_groups(())
        goal.maximise(sign * expr)
        outcome = solve(goal)
        assert outcome.upper is not None
        ends.append(sign * outcome.upper)
    return ends[0], ends[1]
