"""The reference: neighbours and S(f, P) by listing databases, straight from the definitions.

Slow and meant to be compared with SEMANTICS section 2 line by line. Everything else in the project
is tested against this file, so it shares nothing with the engines but the policy itself.

`Worlds` hands out the sets I_Q to look at: one under scope "given"; under "any", one for every n up
to a limit and every set of answers that some database has.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement, product
from math import comb, inf

from blowproof.models import BoundQuery, BudgetError, Exact, Point, Setting
from blowproof.models.base.clock import now, spend
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.programs.linear_lp import Inequality, maximum
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.databases.numbering import can_be_numbered
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["DATABASE_BUDGET", "brute_neighbours", "brute_sensitivity", "multisets_within"]

DATABASE_BUDGET = whole_limit(__name__, "DATABASE_BUDGET")
COMPARISON_BUDGET = whole_limit(__name__, "COMPARISON_BUDGET")

COMPARISON = {"published": 2.5e-6, "secret-moves": 1.5e-6, "pufferfish": 4e-6, "add-remove": 1e-6}
"""Seconds that comparing two databases takes, by the reading."""
SHORTEST = 5e-7
"""The same where a look is enough."""
FACT = 4e-6
"""Seconds for looking whether a database has a fact."""

World = Sequence[tuple[Point, ...]]
Change = tuple[int, Point]
Changes = frozenset[Change]
Edge = Callable[[Point, Point], bool]
"""Whether two values are the ends of an edge of G."""


def brute_neighbours(
    setting: Setting,
    reading: Reading,
    *,
    sizes: Sequence[int],
    budget: int = DATABASE_BUDGET,
    every_label: bool = True,
    deadline: float | None = None,
) -> Iterator[Pair]:
    """Yield every ordered pair (D1, D2) in N(P) whose databases have one of the given sizes.

    Labelled readings yield labelled pairs; with `every_label` False, only those whose D1 is sorted
    (a relabelling of the records maps every other pair to one of these, unless clauses or weights
    name records). Databases of different sizes are neighbours in readings 3 and 4 only. Raises
    TimeoutError past the deadline, between one D1 and the next.
    """
    values = [x for x in setting.domain.points() if x not in setting.impossible]
    if is_labelled(reading):
        rule = {"published": _published, "secret-moves": _secret_moves}.get(reading, _pufferfish)
        edge = lru_cache(1 << 16)(
            setting.graph.is_edge
        )  # the same pairs are asked about all the time
        for world in _labelled_worlds(setting, values, sizes, budget):
            _refuse_comparisons(len(world), 3)
            work = len(world) * COMPARISON[reading]
            for first in _timely(world, deadline):
                if every_label or list(first) == sorted(first):
                    for second in rule(first, world, edge):
                        yield Pair.labelled(first, second, keep=True)
                    spend(work)
    else:
        multiset_rule = _add_remove if reading == "add-remove" else _markov
        worlds = _multiset_worlds(setting, values, sizes, budget)
        for world in worlds:
            _refuse_comparisons(len(world), 2)
            work = len(world) * COMPARISON.get(reading, SHORTEST)
            for first in _timely(world, deadline):
                for second in world:
                    if multiset_rule(first, second, _membership(setting, first)):
                        yield Pair.multisets(first, second)
                spend(work)


def brute_sensitivity(
    setting: Setting,
    query: BoundQuery,
    reading: Reading,
    *,
    sizes: Sequence[int],
    complete: bool,
    budget: int = DATABASE_BUDGET,
    deadline: float | None = None,
) -> Answer:
    """Return the largest change of the query over the neighbours of the given sizes.

    `complete` says that no neighbours of other sizes exist or matter (the caller's proof); without
    it the answer is a lower bound and says so, as it is where the deadline cuts the listing.
    """
    start = time.perf_counter()
    labels_matter = query.per_record or bool(setting.clauses)
    best: Exact = 0
    witness: Pair | None = None
    pairs = brute_neighbours(
        setting, reading, sizes=sizes, budget=budget, every_label=labels_matter, deadline=deadline
    )
    late = ""
    try:
        for pair in pairs:
            change = query.difference(pair.moves(reading))
            if change > best:
                best, witness = change, pair
    except TimeoutError:
        complete, late = False, ", until the time was up"
    if witness is not None and not labels_matter:
        witness = Pair(before=witness.before, after=witness.after, unchanged=witness.unchanged)
    span = f"n = {sizes[0]}..{sizes[-1]}" if sizes else "no database"
    return Answer(
        policy=setting.policy.name,
        query=query.name,
        reading=reading,
        answers=setting.scope,
        lower=best,
        upper=best if complete else None,
        status="exact" if complete else "bounds",
        witness=witness,
        engine="brute",
        seconds=time.perf_counter() - start,
        notes=(f"listed every database with {span}{late}",),
    )


def _timely(world: World, deadline: float | None) -> Iterator[tuple[Point, ...]]:
    """Yield the databases until the deadline; each is compared with all others."""
    for database in world:
        if now(SHORTEST) > (inf if deadline is None else deadline):
            raise TimeoutError
        yield database


# --- the definitions -----------------------------------------------------------------------------


def _published(first: tuple[Point, ...], world: World, edge: Edge) -> Iterator[tuple[Point, ...]]:
    """Reading 1: both in I_Q; T not empty; no D3 as in 3(a) or 3(b)."""
    seen = [(_secret(first, other, edge), _changes(first, other), other) for other in world]
    alike: dict[Changes, list[Changes]] = defaultdict(list)
    for moves, changes, _ in seen:
        alike[moves].append(changes)
    least = _least(moves for moves in alike if moves)
    for moves, changes, second in seen:
        if moves not in least:  # T is empty, or 3(a)
            continue
        if any(inner < changes for inner in alike[moves]):  # 3(b)
            continue
        yield second


def _secret_moves(
    first: tuple[Point, ...], world: World, edge: Edge
) -> Iterator[tuple[Point, ...]]:
    """Reading 2: every change is a secret move, and no proper non-empty part stays in I_Q."""
    all_changes = [_changes(first, other) for other in world]
    least = _least(changes for changes in all_changes if changes)
    for changes, second in zip(all_changes, world, strict=True):
        if changes in least and changes == _secret(first, second, edge):
            yield second


def _least(sets: Iterable[Changes]) -> set[Changes]:
    """Return the sets of which no other one is a proper part.

    A set with such a part has one that has none itself, and is smaller: it is there already.
    """
    found: set[Changes] = set()
    for one in sorted(set(sets), key=len):
        if not any(part < one for part in found):
            found.add(one)
    return found


def _pufferfish(first: tuple[Point, ...], world: World, edge: Edge) -> Iterator[tuple[Point, ...]]:
    """Reading 5: some record's secret move tells the two apart to a belief that is sure of both.

    The belief has weights c_j(v) that make D1 the only least one of I_Q with D1's value of record
    i, and D2 that with D2's. Values other than D1's and D2's may weigh without limit, so that only
    the databases between the two are looked at: each of their records is as in D1 or as in D2.
    """
    held = set(world)
    holding: list[dict[Point, int]] = [defaultdict(int) for _ in first]
    for place, third in enumerate(world):
        for having, z in zip(holding, third, strict=True):
            having[z] |= 1 << place
    for second in world:
        changed = [j for j, (x, y) in enumerate(zip(first, second, strict=True)) if x != y]
        told = [i for i in changed if edge(first[i], second[i])]
        if told and len(changed) > 1:
            alone = _alone(first, second, changed, held)
            told = [i for i in told if not alone or alone == [i]]
        if not told:
            continue
        there = -1  # the places of the databases between the two, as the bits of a number
        for having, x, y in zip(holding, first, second, strict=True):
            there &= having[x] | having[y]
        between = frozenset(
            frozenset(j for j in changed if world[place][j] == second[j]) for place in _bits(there)
        )
        if any(_weights(between, i, frozenset(changed)) for i in told):
            yield second


def _alone(
    first: tuple[Point, ...],
    second: tuple[Point, ...],
    changed: Sequence[int],
    held: set[tuple[Point, ...]],
) -> list[int]:
    """Return the records j that change alone, from D1 and back from D2, of which I_Q has both.

    Told another record than j, such weights do not exist: w_j would have to be above 0, and below.
    """
    found = []
    for j in changed:
        once = (*first[:j], second[j], *first[j + 1 :])
        if once in held and (*second[:j], first[j], *second[j + 1 :]) in held:
            found.append(j)
    return found


def _bits(number: int) -> Iterator[int]:
    """Yield the places of the ones in a number."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


@lru_cache(1 << 12)  # the same few questions, for most pairs of most policies
def _weights(between: frozenset[frozenset[int]], told: int, changed: frozenset[int]) -> bool:
    """Whether weights w_j = c_j(D2_j) - c_j(D1_j) exist; `between` says who holds D2's value."""
    others = sorted(changed - {told})
    above = [third for third in between if told not in third and third]
    below = [changed - third for third in between if told in third and third != changed]
    if not above or not below:
        return True  # all of one sign
    rows = []
    for part, sign in [(part, 1) for part in above] + [(part, -1) for part in below]:
        terms = {}
        for place, j in enumerate(others):
            terms[2 * place], terms[2 * place + 1] = sign * (j in part), -sign * (j in part)
        rows.append(Inequality(terms, ">=", 1))
    return maximum(rows, {}, 2 * len(others)).status == "optimal"


def _add_remove(first: tuple[Point, ...], second: tuple[Point, ...], feasible: Membership) -> bool:
    """Reading 3: some moves, no proper non-empty part of which stays in I_Q."""
    moves = sorted(_signed(first, second).items())
    whole = tuple(times for _, times in moves)
    if not moves:
        return False
    for part in product(*(_between_zero_and(times) for times in whole)):
        proper = any(part) and part != whole
        if proper and feasible(_apply(first, [x for x, _ in moves], part)):
            return False
    return True


def _markov(first: tuple[Point, ...], second: tuple[Point, ...], feasible: Membership) -> bool:
    """Reading 4: different histograms, in at most four cells, each by 1."""
    change = _signed(first, second)
    return 0 < len(change) <= 4 and all(abs(times) == 1 for times in change.values())


def _secret(first: Sequence[Point], second: Sequence[Point], edge: Edge) -> Changes:
    """T(D1, D2): the secret moves among the changes (the record's old value is D1's)."""
    return frozenset(
        (record, y)
        for record, (x, y) in enumerate(zip(first, second, strict=True))
        if x != y and edge(x, y)
    )


def _changes(first: Sequence[Point], second: Sequence[Point]) -> Changes:
    """The changed records, with their new values."""
    return frozenset(
        (record, y) for record, (x, y) in enumerate(zip(first, second, strict=True)) if x != y
    )


def _signed(first: Sequence[Point], second: Sequence[Point]) -> dict[Point, int]:
    change: dict[Point, int] = defaultdict(int)
    for x in first:
        change[x] -= 1
    for y in second:
        change[y] += 1
    return {x: times for x, times in change.items() if times}


def _between_zero_and(times: int) -> range:
    return range(times + 1) if times > 0 else range(0, times - 1, -1)


def _apply(
    first: Sequence[Point], points: Sequence[Point], times: Sequence[int]
) -> tuple[Point, ...]:
    records = list(first)
    for point, count in zip(points, times, strict=True):
        for _ in range(abs(count)):
            if count > 0:
                records.append(point)
            else:
                records.remove(point)
    return tuple(records)


# --- the sets I_Q --------------------------------------------------------------------------------

Membership = Callable[[tuple[Point, ...]], bool]


def _totals(setting: Setting, database: Sequence[Point]) -> tuple[int, ...]:
    return tuple(sum(fact.coefficient(x) for x in database) for fact in setting.equalities)


def _membership(setting: Setting, first: tuple[Point, ...]) -> Membership:
    """Return "is the multiset D in the I_Q that `first` belongs to?"."""
    wanted = None if setting.scope == "given" else _totals(setting, first)

    def member(database: tuple[Point, ...]) -> bool:
        spend(_looking(setting))
        if wanted is None:
            return _is_multiset(setting, database)
        return _totals(setting, database) == wanted

    return member


def _looking(setting: Setting) -> float:
    """Return the work of looking whether one database has all facts."""
    facts = len(setting.equalities) + len(setting.bounds) + len(setting.clauses)
    return (1 + facts) * FACT


def _labelled_worlds(
    setting: Setting, values: Sequence[Point], sizes: Sequence[int], budget: int
) -> Iterator[World]:
    for size in sizes:
        _refuse(len(values) ** size, budget, f"|T|^n = {len(values)}^{size} databases")
        databases = product(values, repeat=size)
        yield from _split(setting, databases, setting.satisfied_by)


def _multiset_worlds(
    setting: Setting, values: Sequence[Point], sizes: Sequence[int], budget: int
) -> Iterator[World]:
    count = sum(comb(len(values) + size - 1, size) if size else 1 for size in sizes if values)
    _refuse(count, budget, f"{_round(count)} multisets of {len(values)} values")
    yield from _split(
        setting,
        (database for size in sizes for database in combinations_with_replacement(values, size)),
        lambda database: _is_multiset(setting, database),
    )


def _is_multiset(setting: Setting, database: tuple[Point, ...]) -> bool:
    """Whether an unlabelled database satisfies every fact."""
    return setting.counts_fit(database) and can_be_numbered(setting, database)


def _split(
    setting: Setting, databases: Iterator[tuple[Point, ...]], satisfied: Membership
) -> Iterator[World]:
    """Scope "given": the databases that satisfy every fact. "any": one set per set of answers."""
    once = _looking(setting)
    if setting.scope == "given":
        found = []
        for database in databases:
            spend(once)
            if satisfied(database):
                found.append(database)
        yield found
        return
    worlds: dict[tuple[int, ...], list[tuple[Point, ...]]] = defaultdict(list)
    for database in databases:
        spend(once)
        worlds[_totals(setting, database)].append(database)
    yield from worlds.values()


def _round(count: int) -> str:
    return str(count) if count < 10**12 else f"about 10^{len(str(count)) - 1}"


def _refuse(count: int, budget: int, what: str) -> None:
    if count > budget:
        raise BudgetError(
            f"brute force would list {what}; the budget is {budget}\n"
            "  try: a smaller domain, fewer records, or an engine that need not list them"
        )


def _refuse_comparisons(size: int, power: int) -> None:
    if size**power > COMPARISON_BUDGET:
        raise BudgetError(
            f"brute force would make up to {_round(size**power)} comparisons of {size} databases\n"
            "  try: a smaller domain, fewer records, or an engine that need not list them"
        )


def multisets_within(setting: Setting, *, budget: int = DATABASE_BUDGET // 20) -> int:
    """Return the largest n such that the databases with up to n records can be listed cheaply."""
    possible = sum(1 for x in setting.domain.points() if x not in setting.impossible)
    size = 1
    while possible > 1 and possible ** (size + 1) <= budget and size < 12:
        size += 1
    return size
