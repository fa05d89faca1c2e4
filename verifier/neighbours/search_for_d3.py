"""The search for a D3 that would refute the minimality of a pair.

What each record may do is a list of options; a D3 is a choice of one for each. Instead of the
choices, the sums that they reach are kept, as a set. Nothing here is shared with the engines.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from blowproof.models import Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import ValueClass, collapse
from blowproof.models.domain.regions import Box
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.sparse_facts import SparseFacts
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["STATE_BUDGET", "Option", "Record", "SearchForD3", "Verdict"]

STATE_BUDGET = whole_limit(__name__, "STATE_BUDGET")
WORK_PER_STATE = whole_limit(__name__, "WORK_PER_STATE")
CHOICE = real_limit(__name__, "CHOICE")
OPTION = real_limit(__name__, "OPTION")
SUM = real_limit(__name__, "SUM")

Effect = tuple[tuple[int, int], ...]
"""What is added to facts: (fact, how much) where that is not 0, the facts in order."""


@dataclass(frozen=True)
class Verdict:
    """Whether the pair is a neighbour pair; if not, which condition fails.

    `minimality` is "searched" (exhaustively), "refuted", "budget" (the search outgrew its budget:
    not decided), or "" when an earlier condition fails or none is asked for.
    """

    holds: bool
    reason: str = ""
    minimality: str = ""

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True)
class Option:
    """One thing that a record may do in D3: its effect, and what it counts for.

    `chosen`: it makes the change whose subset is asked about. `truths`: the clauses that the record
    then makes true, as a bit set.
    """

    effect: Effect
    chosen: bool = False
    truths: int = 0


@dataclass
class Record:
    """A group of `times` records that have the same options.

    `counted`: its change belongs to those of which a proper part is asked for. `place`: which
    record it is, where clauses name it.
    """

    options: list[Option]
    times: int = 1
    counted: bool = False
    place: int | None = None


class SearchForD3:
    """The search for a D3: which running sums can records reach, and what was chosen on the way.

    A state is (sum over equalities and bounds, something chosen?, everything chosen?, clauses that
    are true). D3 exists iff some end state has an equality part of zero, bounds within their
    limits, every clause true, and a choice that is neither empty nor complete. A state is dropped
    as soon as the last record of a clause that is not true has been placed.
    """

    def __init__(self, setting: Setting, pair: Pair, budget: int, deadline: float | None) -> None:
        self.setting, self.pair, self.budget, self.deadline = setting, pair, budget, deadline
        self.facts = (*setting.equalities, *setting.bounds)
        first = pair.first()
        self.start = tuple(fact.total(first) for fact in setting.bounds)
        self._classes: tuple[ValueClass, ...] | None = None
        self._sparse = SparseFacts(setting.domain, self.facts)
        self._adds: dict[Point, Effect] = {}

    # effects ---------------------------------------------------------------------------------

    def effect_of(self, points: Iterable[tuple[Point, int]]) -> Effect:
        """Return the effect of adding signed records."""
        total: Counter[int] = Counter()
        for point, sign in points:
            if point not in self._adds:
                self._adds[point] = self._sparse.of(point)
            for fact, times in self._adds[point]:
                total[fact] += sign * times
        return tuple(sorted(item for item in total.items() if item[1]))

    def scaled(self, point: Point, sign: int) -> Effect:
        """Return the effect of adding (1) or removing (-1) a record."""
        return self.effect_of([(point, sign)])

    def move(self, before: Point, after: Point) -> Effect:
        """Return the effect of a record that goes from one value to another."""
        return self.effect_of([(before, -1), (after, 1)])

    def truths(self, record: int | None, point: Point) -> int:
        """Return the clauses that are true because a record holds a value."""
        true = 0
        for place, clause in enumerate(self.setting.clauses):
            if any(
                owner == record and (point in area) == inside
                for owner, area, inside in clause.literals
            ):
                true |= 1 << place
        return true

    # what records may do -----------------------------------------------------------------------

    def changes(self, pair: Pair, secret: Sequence[bool]) -> list[Record]:
        """Each changed record changes as in D2, or stays; nothing else moves."""
        result = self._fixed_records(pair)
        for place, x, y, _, times in self._changed(pair, secret):
            options = [self._stay(place, x), self._go(place, x, y)]
            result.append(Record(options, times, counted=True, place=place))
        return result

    def plain_parts(self, pair: Pair, secret: Sequence[bool]) -> list[Record]:
        """Every secret change is made; each plain one is made, or not."""
        result = self._fixed_records(pair)
        for place, x, y, is_secret, times in self._changed(pair, secret):
            go = self._go(place, x, y)
            if is_secret:
                together = tuple((fact, times * number) for fact, number in go.effect)
                result.append(Record([Option(together, False, go.truths)], place=place))
            else:
                options = [self._stay(place, x), go]
                result.append(Record(options, times, counted=True, place=place))
        return result

    def with_bystanders(self, pair: Pair, secret: Sequence[bool]) -> list[Record]:
        """A secret change is made or not; every record may make any plain move instead."""
        result = []
        for place, x, y, is_secret, times in self._changed(pair, secret):
            options = [self._stay(place, x), *self._plain(place, x)]
            if is_secret:
                options.append(self._go(place, x, y))
            result.append(Record(options, times, counted=is_secret, place=place))
        for place, x, times in self._bystanders(pair):
            options = [self._stay(place, x), *self._plain(place, x)]
            result.append(Record(options, times, place=place))
        return result

    def _changed(
        self, pair: Pair, secret: Sequence[bool]
    ) -> Iterator[tuple[int | None, Point, Point, bool, int]]:
        """Yield the changes: record, from, to, secret, how many (where records are alike)."""
        places: Sequence[int | None] = pair.records or [None] * len(pair.before)
        if self.setting.clauses:
            for change in zip(places, pair.before, pair.after, secret, strict=True):
                yield (*change, 1)
        else:
            alike = Counter(zip(pair.before, pair.after, secret, strict=True))
            for (x, y, is_secret), times in alike.items():
                yield None, x, y, is_secret, times

    def _bystanders(self, pair: Pair) -> Iterator[tuple[int | None, Point, int]]:
        if pair.database is None or not self.setting.clauses:
            for point, times in pair.unchanged:
                yield None, point, times
            return
        for place, point in enumerate(pair.database):
            if place not in (pair.records or ()):
                yield place, point, 1

    def _fixed_records(self, pair: Pair) -> list[Record]:
        """Bystanders that do not move matter only for the clauses that they make true."""
        if not self.setting.clauses:
            return []
        return [
            Record([self._stay(place, x)], times, place=place)
            for place, x, times in self._bystanders(pair)
        ]

    def _stay(self, place: int | None, x: Point) -> Option:
        return Option((), False, self.truths(place, x))

    def _go(self, place: int | None, x: Point, y: Point) -> Option:
        return Option(self.move(x, y), True, self.truths(place, y))

    def _plain(self, place: int | None, x: Point) -> list[Option]:
        """Return the different outcomes of a plain move away from x."""
        if self.setting.graph.complete:
            return []
        at, found = Box.at(x), {}
        for value_class in self.classes:
            for box in value_class.boxes():
                pair = self.setting.graph.plain_between(at, box)
                if pair is not None:
                    y = pair[1]
                    option = Option(self.move(x, y), False, self.truths(place, y))
                    found[option.effect, option.truths] = option
                    break
        return list(found.values())

    @property
    def classes(self) -> tuple[ValueClass, ...]:
        """Values that no fact and no clause tells apart (impossible ones left out)."""
        if self._classes is None:
            areas = [area for fact in self.facts for _, area in fact.terms]
            areas += [area for clause in self.setting.clauses for _, area, _ in clause.literals]
            self._classes = collapse(
                self.setting.domain,
                areas,
                deadline=self.deadline,
                without=self.setting.impossible,
            )
        return self._classes

    # the search --------------------------------------------------------------------------------

    def subsets(self, records: Sequence[Record], what: str, *, empty: bool = False) -> Verdict:
        """Return whether no D3 exists whose choice is a proper part (`empty`: it may be empty)."""
        ordered = sorted(records, key=lambda record: -1 if record.place is None else record.place)
        if not self.setting.clauses:
            ordered = _alike(ordered)
        packing = Packing(len(self.setting.equalities), len(self.setting.bounds), ordered)
        states: States = {(False, True, 0): {0}}
        work = 0
        for record, decided in zip(ordered, self._decided(ordered), strict=True):
            options = [(packing.pack(option.effect), option) for option in record.options]
            for _ in range(record.times):
                before = _count(states)
                states = _step(
                    states, options, counted=record.counted, most=self.budget, end=self.deadline
                )
                work += _count(states)
                late = self.deadline is not None and now(CHOICE) > self.deadline
                if late or _count(states) > self.budget or work > WORK_PER_STATE * self.budget:
                    return Verdict(False, "the search outgrew its budget", "budget")
                if _count(states) == before and not record.counted:
                    break  # staying keeps every state, so nothing new is reached any more
            states = {key: sums for key, sums in states.items() if key[2] & decided == decided}
        for (some, every, _), sums in states.items():
            if (some or empty) and not every and self._satisfied(sums, packing):
                return Verdict(
                    False, f"{what} satisfies every fact, so D2 is not minimal", "refuted"
                )
        return Verdict(True, minimality="searched")

    def _decided(self, ordered: Sequence[Record]) -> list[int]:
        """Return, for each record, the clauses that are decided once it is placed."""
        last = {record.place: number for number, record in enumerate(ordered)}
        result = [0] * len(ordered)
        for place, clause in enumerate(self.setting.clauses):
            result[max(last.get(owner, len(ordered) - 1) for owner in clause.records)] |= 1 << place
        return result

    def _satisfied(self, sums: set[int], packing: Packing) -> bool:
        """Whether one of the sums leaves the equalities alone and keeps the bounds."""
        if not self.setting.bounds:
            return 0 in sums
        for total in sums:
            digits = packing.unpack(total)
            if not any(digits[: packing.fixed]) and all(
                fact.holds(start + change)
                for fact, start, change in zip(
                    self.setting.bounds, self.start, digits[packing.fixed :], strict=True
                )
            ):
                return True
        return False


States = dict[tuple[bool, bool, int], set[int]]
"""Reachable sums, by (something chosen, everything chosen, clauses that are true)."""


class Packing:
    """Effects as single integers: a signed digit, wide enough for any sum, for each equality that
    some record can change (`fixed` of them), and then for each bound.
    """

    def __init__(self, equalities: int, bounds: int, records: Sequence[Record]) -> None:
        touched = {fact for r in records for o in r.options for fact, _ in o.effect}
        facts = [*sorted(fact for fact in touched if fact < equalities),
                 *range(equalities, equalities + bounds)]  # fmt: skip
        self.count, self.fixed = len(facts), len(facts) - bounds
        self.places = {fact: place for place, fact in enumerate(facts)}
        most = sum(
            record.times * max((abs(x) for o in record.options for _, x in o.effect), default=0)
            for record in records
        )
        self.width = (2 * most + 1).bit_length() + 1

    def pack(self, effect: Effect) -> int:
        """Return the effect as one integer; sums of effects become sums of integers."""
        return sum(number << (self.width * self.places[fact]) for fact, number in effect)

    def unpack(self, total: int) -> list[int]:
        """Return the digits of a sum."""
        digits, half = [], 1 << (self.width - 1)
        for _ in range(self.count):
            digit = ((total + half) & ((1 << self.width) - 1)) - half
            digits.append(digit)
            total = (total - digit) >> self.width
        return digits


def _alike(records: Sequence[Record]) -> list[Record]:
    """Return records with the same options as one, so many times; no clause names them."""
    found: dict[tuple[tuple[Option, ...], bool], Record] = {}
    for record in records:
        key = tuple(record.options), record.counted
        if key in found:
            found[key].times += record.times
        else:
            found[key] = Record(record.options, record.times, record.counted)
    return list(found.values())


def _count(states: States) -> int:
    return sum(map(len, states.values()))


def _step(
    states: States,
    options: Sequence[tuple[int, Option]],
    *,
    counted: bool,
    most: int,
    end: float | None,
) -> States:
    """Return what is reachable when one more record takes one of its options.

    Only a part of it, once that is more than `most` or the time is over: the caller then gives up.
    """
    reached: States = defaultdict(set)
    for (some, every, truths), sums in states.items():
        for step, option in options:
            key = (
                some or option.chosen,
                every and (option.chosen or not counted),
                truths | option.truths,
            )
            reached[key].update([total + step for total in sums] if step else sums)
            late = now(OPTION + len(sums) * SUM) > (inf if end is None else end)
            if late or _count(reached) > most:
                return reached
    return reached
