"""Is there a database at all, and which numbers follow from the facts?

The facts are put as a linear model over classes of values (`fact_model`). `prepare` fills in what
they imply and refuses what contradicts itself, so that no engine answers 0 about an empty I_Q.
Where the model is too large, or takes too long, databases counted from data are known to exist;
else that is left open, and said (`Setting.unchecked`): bounds are sound all the same.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

from blowproof.models import BudgetError, ContradictionError, Policy, Setting, UndeterminedError
from blowproof.models import setting as setting_of
from blowproof.models.base.clock import now
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.programs.linear import LinearModel
from blowproof.verifier.databases.fact_model import FactModel
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["FactModel", "check_consistent", "databases_within", "prepare", "size_range"]

SMALLEST_LIMIT = whole_limit(__name__, "SMALLEST_LIMIT")
CHECKING = real_limit(__name__, "CHECKING")
NAMING = real_limit(__name__, "NAMING")


def check_consistent(policy: Policy, *, deadline: float | None = None) -> None:
    """Raise a ContradictionError naming a smallest contradictory set of facts, if any.

    BudgetError where that is not decided.
    """
    found = setting_of(policy)
    if found.scope == "given":
        _require_database(FactModel.of(found, deadline=deadline))


def prepare(found: Setting, reading: Reading, *, deadline: float | None = None) -> Setting:
    """Return the setting with every number that the reading needs.

    Scope "any" needs none. Under "given", a count without an answer, and n in readings 1 and 2, may
    follow from the other facts; what follows from nothing is an UndeterminedError. Where all
    numbers are written and only their consistency is too hard to decide, `unchecked` says why. In
    readings 3 and 4, n is known iff it is written or follows: the size of the data is no fact.
    """
    if found.scope == "any":
        return found
    if not is_labelled(reading) and all(fact.name != "size" for fact in found.equalities):
        found = replace(found, size=None)
    end = None
    if deadline is not None:
        begun = now()
        end = begun + CHECKING * max(0.0, deadline - begun)
    try:
        model = FactModel.of(found, deadline=end)
        _require_database(model)
    except BudgetError as refusal:
        return _unchecked(found, reading, refusal)
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
    if size is None and is_labelled(reading):
        size = _implied_size(model, reading)
    return replace(found, equalities=tuple(answered), size=size)


def _unchecked(found: Setting, reading: Reading, refusal: BudgetError) -> Setting:
    """Return a setting whose numbers are all written, although they might contradict each other."""
    why = str(refusal).partition("\n")[0]
    missing = [fact.name for fact in found.equalities if fact.answer is None]
    if found.size is None and is_labelled(reading):
        missing.append("n")
    if missing:
        raise BudgetError(
            f"whether the facts determine {missing[0]} is undecided: {why}\n"
            "  try: write its answer (or size), or name a data file"
        ) from refusal
    if found.policy.database.data is not None:  # the data satisfy the facts: that was checked
        return found
    return replace(found, unchecked=why)


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


def databases_within(setting: Setting, reading: Reading, limit: int) -> bool:
    """Whether n is known, and there are no more than so many databases of n possible values."""
    if setting.scope != "given" or setting.domain.size > limit:
        return False
    _, size = size_range(setting, reading)
    if size is None or size > limit:
        return False
    values = sum(1 for x in setting.domain.points() if x not in setting.impossible)
    labelled = is_labelled(reading)
    count = values**size if labelled else comb(values + size, size) if values else 1
    return count <= limit


def size_range(found: Setting, reading: Reading) -> tuple[int, int | None]:
    """Return the least and the greatest n of I_Q (None: unbounded), for a prepared setting."""
    if found.scope == "any":
        return 0, None
    if is_labelled(reading):
        assert found.size is not None
        return found.size, found.size
    return FactModel.of(found).total_range()


def _require_database(model: FactModel) -> None:
    if model.easily():
        return

    from blowproof.models.programs.to_cpsat import solve

    status = solve(model.linear, time_limit=model.left).status
    if status == "infeasible" and not model.roomy:  # because counts are limited, perhaps
        model = FactModel.of(model.setting, most=model.room.proved, deadline=model.deadline)
        status = solve(model.linear, time_limit=model.left).status
    if status == "unknown":
        late = model.deadline is not None and now() >= model.deadline
        why = "no time was left" if late else "their numbers go beyond 64 bits"
        raise BudgetError(
            f"whether any database satisfies the facts is undecided: {why}"
            "\n  try: smaller numbers, or fewer facts"
        )
    if status == "infeasible":
        _refuse(model)


def _refuse(model: FactModel) -> None:
    """Raise a ContradictionError; where naming a smallest set takes too long, all facts are named.

    Every fact must then be looked at on its own, impossible values included.
    """
    most, deadline = model.room.whatever, model.deadline
    deadline = None if deadline is None else max(deadline, now() + NAMING)
    try:
        apart = FactModel.of(model.setting, most=most, deadline=deadline, zeros_apart=True)
        names, minimal = _smallest_contradiction(apart.linear, deadline)
    except (BudgetError, TimeoutError):
        minimal = False
        facts = model.setting.policy.known
        names = tuple(f"known[{place}]" for place in range(len(facts)))
        names = (*names, "size") if model.setting.size is not None else names
    listing = " and ".join(names) if len(names) < 3 else ", ".join(names)
    verb = "contradicts the domain" if len(names) == 1 else "contradict each other"
    raise ContradictionError(
        f"no database satisfies the facts: {listing} {verb}",
        facts=names,
        hint="correct one of these facts; without any one of them there are databases"
        if minimal
        else "some of these facts contradict each other: correct one of them",
    )


def _smallest_contradiction(
    linear: LinearModel, deadline: float | None
) -> tuple[tuple[str, ...], bool]:
    """Return a contradictory set of groups, and whether none of them can be left out.

    Deletion gives a set from which nothing can be left out. Where the facts are few enough, smaller
    sets are tried too, so that the one named is smallest outright.
    """
    from blowproof.models.programs.contradiction import smallest_infeasible_subset
    from blowproof.models.programs.to_cpsat import solve

    def left() -> float | None:
        return None if deadline is None else max(0.0, deadline - now())

    found = smallest_infeasible_subset(linear, time_limit=left())
    assert found is not None
    groups = linear.groups
    if len(groups) <= SMALLEST_LIMIT:
        for size in range(1, len(found.groups)):
            for candidate in combinations(groups, size):
                part = linear.without_groups(set(groups) - set(candidate))
                if left() != 0 and solve(part, time_limit=left()).status == "infeasible":
                    return candidate, True
    return found.groups, found.minimal
