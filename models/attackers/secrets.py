"""Potential secrets: statements about a database, and the pairs that nobody may tell apart.

Plain differential privacy (pufferfish-2012, Equations 5 to 7) is `Values` with full secrets, or
`Absence` where a value stands for a record that is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from blowproof.models.base.errors import BudgetError, PolicyError
from blowproof.models.base.numbers import Exact, plain, show
from blowproof.models.base.toml_values import within
from blowproof.models.domain.attributes import Labels
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.policy.in_words import record_text
from blowproof.models.policy.policy import Policy
from blowproof.models.secrets import Distance, Edges, SecretsSpec

__all__ = ["Absence", "Intervals", "SecretPairs", "Statement", "Totals", "Values"]

Database = Sequence[Point]

MOST_PAIRS = 100_000
MOST_BEGINS = 3_000


@dataclass(frozen=True)
class Statement:
    """A potential secret: what it says, and of which databases it is true."""

    text: str
    holds: Callable[[Database], bool] = field(compare=False, repr=False)
    about: tuple[int, Point] | None = None
    """The record (from 0) and the value that it holds, where that is what it says."""

    def to_json(self) -> Any:
        """Return the statement as the JSON of `odds` has it."""
        return self.text


Pairs = Iterator[tuple[Statement, Statement]]


@dataclass(frozen=True)
class Values:
    """Record i holds x, against record i holds y, for each edge (x, y) of the policy's graph."""

    def pairs(self, policy: Policy, size: int) -> Pairs:
        """Yield the pairs for databases of so many records, each once."""
        points = _possible(policy)
        for record in range(size):
            for x, y in combinations(points, 2):
                if policy.graph.is_edge(x, y):
                    yield holds(policy.domain, record, x), holds(policy.domain, record, y)

    def graph(self, policy: Policy) -> SecretsSpec:
        """Return the policy's own secrets."""
        return policy.secrets


@dataclass(frozen=True)
class Absence:
    """Record i is there with value x, against it is not there: one value stands for "absent"."""

    value: tuple[Any, ...]

    def pairs(self, policy: Policy, size: int) -> Pairs:
        """Yield the pairs for databases of so many records, each once."""
        absent = self._point(policy)
        for record in range(size):
            for x in _possible(policy):
                if x != absent:
                    yield holds(policy.domain, record, x), holds(policy.domain, record, absent)

    def graph(self, policy: Policy) -> SecretsSpec:
        """Return the secrets that say the same of one record: every value against this one."""
        absent = self._point(policy)
        return _edges(policy, lambda x, y: absent in (x, y))

    def _point(self, policy: Policy) -> Point:
        with within("attackers.pairs.absent"):
            return policy.domain.encode(list(self.value))


@dataclass(frozen=True)
class Intervals:
    """Record i's attribute lies in an interval, against it lies in the next one.

    Of a width: [a, a + width) against [a + width, a + 2 width), for every a; or relative, [a, c a)
    against [c a, c^2 a) with c = `factor`, for every a above 0. Two values are held apart by some
    of them iff they differ by less than 2 width, or by less than the factor c^2 (`graph`).
    """

    attribute: str
    width: Exact | None = None
    factor: Exact | None = None

    def pairs(self, policy: Policy, size: int) -> Pairs:
        """Yield the pairs for databases of so many records, each once."""
        axis = _number_axis(policy.domain, self.attribute)
        attribute = policy.domain.attribute(axis)
        places = [attribute.coordinate(k) for k in range(attribute.size)]
        for record in range(size):
            for low, middle, high in _ends(places, self.width, self.factor):
                one = _between(axis, record, low, middle, policy.domain)
                yield one, _between(axis, record, middle, high, policy.domain)

    def graph(self, policy: Policy) -> SecretsSpec:
        """Return the secrets that say the same of one record."""
        domain = policy.domain
        axis = _number_axis(domain, self.attribute)
        if self.width is not None and len(domain) == 1:
            return Distance(metric="l1", threshold=2 * self.width, strict=True)
        attribute = domain.attribute(axis)

        def near(x: Point, y: Point) -> bool:
            low, high = sorted(attribute.coordinate(point[axis]) for point in (x, y))
            if self.width is not None:
                return low < high < low + 2 * self.width
            assert self.factor is not None
            return 0 < low < high < low * self.factor * self.factor

        return _edges(policy, near)


@dataclass(frozen=True)
class Totals:
    """The sum of an attribute over all records lies in an interval, against it lies in the next."""

    attribute: str
    width: Exact

    def pairs(self, policy: Policy, size: int) -> Pairs:
        """Yield the pairs for databases of so many records, each once.

        Intervals begin at every sum that a step of the attribute leads to.
        """
        axis = _number_axis(policy.domain, self.attribute)
        attribute = policy.domain.attribute(axis)
        low, high = attribute.coordinate(0), attribute.coordinate(attribute.size - 1)
        step = attribute.coordinate(1) - low if attribute.size > 1 else 1
        count = int((high - low) * size / Fraction(step)) + 1
        if count > MOST_PAIRS:
            raise BudgetError(f"{count} sums are too many secrets\n  try: a coarser attribute")
        places = [low * size + step * k for k in range(count)]
        for one, two, three in _ends(places, self.width, None):
            yield _sum(axis, one, two, policy.domain), _sum(axis, two, three, policy.domain)


SecretPairs = Values | Absence | Intervals | Totals


def holds(domain: Domain, record: int, value: Point) -> Statement:
    """Return "record i holds x"."""
    return Statement(
        f"record {record + 1} holds {record_text(domain, value)}",
        lambda database: database[record] == value,
        (record, value),
    )


def _between(axis: int, record: int, low: Exact, high: Exact, domain: Domain) -> Statement:
    name, attribute = domain.names[axis], domain.attribute(axis)
    return Statement(
        f"record {record + 1}'s {name} is in [{show(low)}, {show(high)})",
        lambda database: low <= attribute.coordinate(database[record][axis]) < high,
    )


def _sum(axis: int, low: Exact, high: Exact, domain: Domain) -> Statement:
    name, attribute = domain.names[axis], domain.attribute(axis)

    def within(database: Database) -> bool:
        total = sum((attribute.coordinate(x[axis]) for x in database), start=Fraction(0))
        return low <= total < high

    return Statement(f"the sum of {name} is in [{show(low)}, {show(high)})", within)


def _ends(
    places: Sequence[Exact], width: Exact | None, factor: Exact | None
) -> Iterator[tuple[Exact, Exact, Exact]]:
    """Yield where two neighbouring intervals begin, meet and end, both with values inside.

    Which values are inside changes only where an interval begins or ends at one of them: those
    begins, and one between every two, are all that there are. Each two sets of values come once.
    """
    if width is not None:
        begins = {p - k * width for p in places for k in range(3)}
    else:
        assert factor is not None
        begins = {Fraction(p) / factor**k for p in places for k in range(3) if p > 0}
    if len(begins) > MOST_BEGINS:
        raise BudgetError(
            f"{len(begins)} places where an interval may begin are too many\n"
            "  try: a coarser attribute, or attackers of the kind independent"
        )
    ordered = sorted(begins)
    between = [Fraction(a + b) / 2 for a, b in pairwise(ordered)]
    seen: set[tuple[tuple[Exact, ...], ...]] = set()
    for low in sorted([*ordered, *between]):
        if width is not None:
            middle, high = low + width, low + 2 * width
        else:
            assert factor is not None
            middle, high = low * factor, low * factor * factor
        one = tuple(p for p in places if low <= p < middle)
        two = tuple(p for p in places if middle <= p < high)
        if one and two and (one, two) not in seen:
            seen.add((one, two))
            yield plain(low), plain(middle), plain(high)


def _edges(policy: Policy, joined: Callable[[Point, Point], bool]) -> SecretsSpec:
    points = _possible(policy)
    if len(points) ** 2 > MOST_PAIRS:
        raise BudgetError(
            f"{len(points)} values are too many to compare every two\n  try: a coarser domain"
        )
    domain = policy.domain

    def written(point: Point) -> dict[str, object]:
        return dict(zip(domain.names, domain.decode(point), strict=True))

    pairs = [(x, y) for x, y in combinations(points, 2) if joined(x, y)]
    if not pairs:
        raise PolicyError(
            "no two values are held apart by these statements",
            key="attackers.pairs",
            hint="wider intervals, or leave pairs out, for the policy's secrets",
        )
    return Edges([[written(x), written(y)] for x, y in pairs])


def _number_axis(domain: Domain, name: str) -> int:
    if name not in domain.names:
        raise PolicyError(
            f"there is no attribute {name!r}",
            key="attackers.pairs.attribute",
            hint=f"one of {', '.join(domain.names)}",
        )
    axis = domain.names.index(name)
    if isinstance(domain.attribute(axis), Labels):
        raise PolicyError(
            f"{name} holds no numbers",
            key="attackers.pairs.attribute",
            hint="intervals are for numeric attributes",
        )
    return axis


def _possible(policy: Policy) -> list[Point]:
    return [x for x in policy.domain.points() if x not in policy.impossible]
