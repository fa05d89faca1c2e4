"""The inputs of a channel as a mechanism file writes them, matched with a policy's domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from blowproof.models import Domain, Point, PolicyError, Setting
from blowproof.models.base.toml_values import within
from blowproof.models.mechanisms.mechanism import Channel
from blowproof.verifier.asked.answer import json_value

__all__ = ["DatabaseRows", "record_rows"]

Database = tuple[Point, ...]


def record_rows(channel: Channel, setting: Setting) -> dict[Point, int]:
    """Return the row of every possible value; a value without a row is refused."""
    domain = setting.domain
    rows: dict[Point, int] = {}
    for place, item in enumerate(channel.inputs):
        with within(f"channel.inputs[{place}]"):
            point = _record(domain, item)
            if point in rows:
                raise PolicyError(
                    f"the same value as inputs[{rows[point]}]", hint="one row for each value"
                )
            rows[point] = place
    if domain.size > len(rows):
        missing = _missing(setting, rows)
        if missing is not None:
            raise PolicyError(
                f"the value {json_value(domain, missing)} of the policy has no row",
                key="channel.inputs",
                hint="list every value that a record can hold",
            )
    return rows


def _missing(setting: Setting, rows: Mapping[Point, int]) -> Point | None:
    """Return a possible value that is not listed.

    Among the first values of the domain, one more than are listed or impossible, some value is
    neither, if there is one at all: no more need to be looked at.
    """
    zeros = sum(box.size for box in setting.impossible.disjoint())
    if setting.domain.size <= zeros:
        return None
    for point in _first(setting.domain, len(rows) + 1, setting):
        if point not in rows:
            return point
    return None


def _first(domain: Domain, count: int, setting: Setting) -> list[Point]:
    """Return the first possible values, box by box."""
    parts = [domain.whole]
    for zero in setting.impossible.boxes:
        parts = [piece for part in parts for piece in part.minus(zero)]
    found: list[Point] = []
    for part in parts:
        for place in range(min(part.size, count - len(found))):
            found.append(part.nth(place))
    return found


def _record(domain: Domain, item: object) -> Point:
    """Return a record: a value where there is one attribute, a list in order, or a table."""
    if isinstance(item, Mapping):
        return domain.encode(item)
    if isinstance(item, (list, tuple)):
        return domain.encode(list(item))
    if len(domain) == 1:
        return domain.encode([item])
    names = ", ".join(domain.names)
    raise PolicyError(f"{item!r} is no record", hint=f"list its values in order: {names}")


class DatabaseRows:
    """Which row belongs to a database: as listed, or else to its records in any order.

    A channel on histograms lists one order of each; where two orders are listed, orders matter.
    """

    def __init__(self, channel: Channel, domain: Domain) -> None:
        self.domain = domain
        self.listed: dict[Database, int] = {}
        self.sorted: dict[Database, int] = {}
        for place, item in enumerate(channel.inputs):
            with within(f"channel.inputs[{place}]"):
                database = self._database(item)
                if database in self.listed:
                    raise PolicyError(
                        f"the same database as inputs[{self.listed[database]}]",
                        hint="one row for each database",
                    )
                self.listed[database] = place
        orders = Counter(tuple(sorted(database)) for database in self.listed)
        for database, place in self.listed.items():
            key = tuple(sorted(database))
            if orders[key] == 1:
                self.sorted[key] = place

    def _database(self, item: object) -> Database:
        if not isinstance(item, (list, tuple)):
            raise PolicyError(f"{item!r} is no database", hint="list its records: [[...], ...]")
        points = []
        for place, record in enumerate(item):
            with within(f"[{place}]"):
                points.append(_record(self.domain, record))
        return tuple(points)

    @property
    def sizes(self) -> list[int]:
        """The sizes of the listed databases."""
        return sorted({len(database) for database in self.listed})

    def row(self, database: Sequence[Point]) -> int:
        """Return the row of a database, or say that there is none."""
        found = self.listed.get(tuple(database))
        if found is None:
            found = self.sorted.get(tuple(sorted(database)))
        if found is None:
            records = [json_value(self.domain, point) for point in database]
            raise PolicyError(
                f"the database {records} of the policy has no row",
                key="channel.inputs",
                hint="list every database that satisfies the known facts",
            )
        return found
