"""The independent check of one claimed neighbour pair: every condition, minimality by search.

Every engine's witness passes through `check_pair` before anyone sees it. The search for a D3 that
would refute minimality (`search_for_d3`; `zero_parts` where many moves have few effects) shares no
code with the engines; where it outgrows its budget, the verdict says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from itertools import product
from math import prod

from blowproof.models import BudgetError, InternalError, Move, Setting
from blowproof.models.base.clock import spend
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.numbering import can_be_numbered
from blowproof.verifier.databases.sparse_facts import SparseFacts
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.neighbours.cycle_parts import part_of_cycle
from blowproof.verifier.neighbours.joint_certainty import certain_of_both
from blowproof.verifier.neighbours.search_for_d3 import (
    STATE_BUDGET,
    Option,
    Record,
    SearchForD3,
    Verdict,
)
from blowproof.verifier.neighbours.zero_parts import zero_part

__all__ = ["STATE_BUDGET", "Verdict", "check_pair", "require_pair"]

MANY_EFFECTS = whole_limit(__name__, "MANY_EFFECTS")
MANY = whole_limit(__name__, "MANY")
FEW_PARTS = whole_limit(__name__, "FEW_PARTS")
RECORD = real_limit(__name__, "RECORD")


def check_pair(
    setting: Setting,
    reading: Reading,
    pair: Pair,
    *,
    budget: int = STATE_BUDGET,
    deadline: float | None = None,
) -> Verdict:
    """Return whether (D1, D2) is a neighbour pair under the reading, from D1's point of view.

    A search for a D3 that is not done by the deadline (a time of `now`) counts as one
    that outgrew its budget, and so does one that would need too many classes of values.
    """
    known: Verdict | None = setting.kept.found(("pair", reading, pair))
    if known is not None:
        return known
    spend((len(pair.before) + len(pair.after)) * RECORD)
    verdict = _checked(setting, reading, pair, budget, deadline)
    if verdict.minimality != "budget":
        setting.kept.put(("pair", reading, pair), verdict)
    return verdict


def _checked(
    setting: Setting, reading: Reading, pair: Pair, budget: int, deadline: float | None
) -> Verdict:
    problem = _well_formed(setting, reading, pair) or _in_world(setting, reading, pair)
    if problem:
        return Verdict(False, problem)
    if reading == "markov":
        return _check_markov(pair)
    verdict = _by_parts(setting, reading, pair)
    if verdict is not None:
        return verdict
    if reading == "add-remove" and setting.clauses:
        return _check_parts(setting, pair, budget)
    search = SearchForD3(setting, pair, budget, deadline)
    try:
        if reading == "add-remove":
            records = _signed_records(setting, search, pair)
            return search.subsets(records, "a proper part of the moves")
        return _check_labelled(setting, reading, pair, search)
    except BudgetError as refusal:
        return Verdict(False, str(refusal).partition("\n")[0], "budget")


def _check_labelled(setting: Setting, reading: Reading, pair: Pair, search: SearchForD3) -> Verdict:
    """Search for a D3, in readings 1 and 2; for a part without effect, in reading 5."""
    moves = list(zip(pair.before, pair.after, strict=True))
    edges = {move: setting.graph.is_edge(*move) for move in set(moves)}
    secret = [edges[move] for move in moves]
    if reading == "secret-moves" and not all(secret):
        return Verdict(False, "a changed record does not make a secret move")
    if reading == "secret-moves":
        return search.subsets(search.changes(pair, secret), "a proper part of the changes")
    if not any(secret):
        return Verdict(False, "no changed record makes a secret move: T(D1, D2) is empty")
    if reading == "pufferfish" and not search.setting.bounds and not search.setting.clauses:
        return search.subsets(search.changes(pair, secret), "a proper part of the changes")
    if reading == "pufferfish":
        return _certain(setting, pair, search)
    verdict = Verdict(True, minimality="searched")
    if sum(secret) > 1:  # one secret move has no proper non-empty part
        verdict = search.subsets(search.with_bystanders(pair, secret), "condition 3(a): a D3")
    if verdict and not all(secret):
        verdict = search.subsets(
            search.plain_parts(pair, secret), "condition 3(b): a D3", empty=True
        )
    return verdict


def _certain(setting: Setting, pair: Pair, search: SearchForD3) -> Verdict:
    """Reading 5 with bounds or clauses: the exact test of joint certainty.

    Where parts are too many to list, a pair of reading 1 is one of reading 5: no part of its
    changes without one secret move leads from D2 back into I_Q, so that equal weights do.
    """
    deadline = search.deadline
    try:
        certain = certain_of_both(setting, pair, budget=FEW_PARTS, deadline=deadline)
    except BudgetError:
        with suppress(BudgetError):
            if _check_labelled(setting, "published", pair, search):
                return Verdict(True, minimality="searched")
        certain = certain_of_both(setting, pair, budget=search.budget, deadline=deadline)
    if certain:
        return Verdict(True, minimality="searched")
    why = "no belief is certain of D1 and of D2, told the record's two values"
    return Verdict(False, why, "refuted")


def require_pair(
    setting: Setting, reading: Reading, pair: Pair, *, deadline: float | None = None
) -> Verdict:
    """Return the verdict on an engine's witness; a wrong one is an InternalError."""
    verdict = check_pair(setting, reading, pair, deadline=deadline)
    if not verdict and verdict.minimality != "budget":
        raise InternalError(f"an engine proposed a pair that is not one: {verdict.reason}")
    return verdict


def _by_parts(setting: Setting, reading: Reading, pair: Pair) -> Verdict | None:
    """Whether a part of many moves leaves the equalities as they are, where that is what decides.

    It is in readings 2 and 3, if all moves are allowed, in reading 1 with a complete G, and in
    reading 5 if some move is secret. With one secret move, 3(a) has nothing to say, and 3(b)
    leaves out a part without effect. Beside bounds or clauses, a part may break one of these; but
    where there is no part at all, none keeps them either.
    """
    if len(pair.before) < MANY or (setting.clauses and not is_labelled(reading)):
        return None
    graph, moves = setting.graph, Counter(pair.moves(reading))
    if is_labelled(reading) and not graph.complete:
        ends = [(move.before, move.after, times) for move, times in moves.items()]
        secret = sum(
            times for x, y, times in ends if x is not None and y is not None and graph.is_edge(x, y)
        )
        if reading == "pufferfish":
            if not secret:
                return Verdict(False, "no changed record makes a secret move: T(D1, D2) is empty")
        elif secret != (1 if reading == "published" else len(pair.before)):
            return None
    if is_labelled(reading):
        facts = SparseFacts(setting.domain, setting.equalities)
        home = {x: facts.of(x) for x in {*pair.before, *pair.after}}
        found = part_of_cycle(
            [(home[x], home[y]) for x, y in zip(pair.before, pair.after, strict=True)]
        )
        if found is not None:
            return _by_part(found, setting)
    effects = effects_of(setting, moves)
    found = None if effects is None else zero_part(effects)
    return None if found is None else _by_part(found, setting)


def effects_of(setting: Setting, moves: Mapping[Move, int]) -> Counter[tuple[int, ...]] | None:
    """Return how many moves have each effect, on the equalities that some move changes; None: too
    many numbers to write out.
    """
    facts = SparseFacts(setting.domain, setting.equalities)
    changes: Counter[tuple[tuple[int, int], ...]] = Counter()
    for move, times in moves.items():
        effect: Counter[int] = Counter()
        for x, sign in ((move.before, -1), (move.after, 1)):
            for fact, once in () if x is None else facts.of(x):
                effect[fact] += sign * once
        changes[tuple(sorted(item for item in effect.items() if item[1]))] += times
    touched = sorted({fact for change in changes for fact, _ in change})
    if len(touched) * len(changes) > MANY_EFFECTS:
        return None
    found: Counter[tuple[int, ...]] = Counter()
    for change, times in changes.items():
        by_fact = dict(change)
        found[tuple(by_fact.get(fact, 0) for fact in touched)] += times
    return found


def _by_part(found: bool, setting: Setting) -> Verdict | None:
    if found and (setting.bounds or setting.clauses):
        return None
    why = "a part of the changes satisfies every fact" if found else ""
    return Verdict(not found, why, "refuted" if found else "searched")


def _well_formed(setting: Setting, reading: Reading, pair: Pair) -> str:
    labelled = is_labelled(reading)
    if labelled and len(pair.before) != len(pair.after):
        return "the two databases have different sizes"
    if labelled and any(x == y for x, y in zip(pair.before, pair.after, strict=True)):
        return "a record that is said to change does not"
    if not labelled and set(pair.before) & set(pair.after):
        return "a value is both added and removed"
    if not pair.before and not pair.after:
        return "the two databases are equal"
    sizes = [attribute.size for _, attribute in setting.domain.attributes]
    for point in dict.fromkeys((*pair.before, *pair.after, *(x for x, _ in pair.unchanged))):
        inside = len(point) == len(sizes) and all(
            0 <= p < s for p, s in zip(point, sizes, strict=True)
        )
        if not inside or point in setting.impossible:
            return f"{point} is outside the domain or impossible"
    if labelled and setting.clauses and pair.database is None:
        return "clauses name records, but the pair does not say which record is which"
    return _labels_fit(pair)


def _labels_fit(pair: Pair) -> str:
    if pair.database is None:
        return ""
    if pair.records is None or len(pair.records) != len(pair.before):
        return "the pair does not say which records change"
    if [pair.database[place] for place in pair.records] != list(pair.before):
        return "the changed records do not hold the values that they should in D1"
    rest = Counter(pair.database) - Counter(pair.before)
    return "" if rest == Counter(dict(pair.unchanged)) else "the unchanged records do not fit D1"


def _in_world(setting: Setting, reading: Reading, pair: Pair) -> str:
    """Return why D1 or D2 is not in I_Q ("" if both are)."""
    first, second = pair.first(), pair.second()
    known = setting.size if is_labelled(reading) and setting.scope == "given" else None
    if known not in (None, sum(first.values())):
        return f"D1 has {sum(first.values())} records, and n = {known}"
    facts = (*setting.equalities, *setting.bounds)
    sparse = SparseFacts(setting.domain, facts)
    for fact, one, two in zip(facts, sparse.totals(first), sparse.totals(second), strict=True):
        if fact.name == "size" and setting.scope == "any" and one != two:
            return "n is known, but the two databases have different sizes"
        if not fact.holds(one) or not fact.holds(two):
            return f"{fact.name} fails: {one} in D1, {two} in D2"
        if not fact.bounded and one != two:
            return f"{fact.name} differs: {one} in D1, {two} in D2"
    if not is_labelled(reading):
        for name, histogram in (("D1", first), ("D2", second)):
            if not can_be_numbered(setting, histogram):
                return f"no numbering of {name}'s records satisfies the clauses"
        return ""
    databases = [pair.database, pair.reversed().database]
    for clause in setting.clauses:
        for name, database in zip(("D1", "D2"), databases, strict=True):
            if database is not None and not clause.holds(database):
                return f"the clause {clause.name} fails in {name}"
    return ""


def _check_markov(pair: Pair) -> Verdict:
    cells = [*Counter(pair.before).values(), *Counter(pair.after).values()]
    if len(cells) > 4 or any(times != 1 for times in cells):
        return Verdict(False, "the histograms differ in more than four cells, or by more than 1")
    return Verdict(True)


def _check_parts(setting: Setting, pair: Pair, budget: int) -> Verdict:
    """Reading 3 with clauses: try every part of the moves, since numbering is no sum."""
    moves = Counter([(x, -1) for x in pair.before] + [(y, 1) for y in pair.after])
    if prod(times + 1 for times in moves.values()) > budget:
        return Verdict(False, "the search outgrew its budget", "budget")
    whole = tuple(moves.values())
    for part in product(*(range(times + 1) for times in whole)):
        if any(part) and part != whole:
            third = pair.first()
            for ((point, sign), _), times in zip(moves.items(), part, strict=True):
                third[point] += sign * times
            facts = (*setting.equalities, *setting.bounds)
            fits = all(fact.holds(fact.total(third)) for fact in facts)
            if fits and can_be_numbered(setting, third):
                return Verdict(False, "a proper part of the moves satisfies every fact", "refuted")
    return Verdict(True, minimality="searched")


def _signed_records(setting: Setting, search: SearchForD3, pair: Pair) -> list[Record]:
    zero = search.effect_of(())
    moves = Counter([(x, -1) for x in pair.before] + [(y, 1) for y in pair.after])
    return [
        Record([Option(zero), Option(search.scaled(point, sign), chosen=True)], times, counted=True)
        for (point, sign), times in moves.items()
    ]
