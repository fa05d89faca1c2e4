"""Secret graphs as a policy writes them: `[secrets]` with a `kind` and its options.

Constructors check what needs no domain; `bind` checks the rest and returns the graph. Keys in
errors are relative to the `[secrets]` table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, floor, lcm
from typing import ClassVar, TypeVar

from blowproof.models.base.errors import PolicyError, nearest
from blowproof.models.base.numbers import Exact, exact, show, whole
from blowproof.models.domain.attributes import Value
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point, Region
from blowproof.models.secrets.axes import Axis
from blowproof.models.secrets.cells import CellGraph, check_partition
from blowproof.models.secrets.graph import Pair
from blowproof.models.secrets.listed import EdgeGraph
from blowproof.models.secrets.offsets import ByGraph, OffsetGraph
from blowproof.models.secrets.spelling import cell_spec, number_spec, show_record, toml

__all__ = [
    "AttributeChange",
    "Distance",
    "Edges",
    "Full",
    "PartitionBy",
    "PartitionCells",
    "SecretsSpec",
]

METRICS = ("l1", "l2", "linf")

Record = tuple[tuple[str, Value], ...]
T = TypeVar("T")


@dataclass(frozen=True, repr=False)
class Full:
    """Any two values are a secret.

    >>> from blowproof.models.domain.attributes import Integers
    >>> Full().bind(Domain(age=Integers(0, 10**12))).distance((0,), (7,))
    1
    """

    kind: ClassVar[str] = "full"

    def bind(self, domain: Domain) -> OffsetGraph:
        """Return the complete graph on the domain."""
        axes = tuple(Axis(attribute.size, 1) for _, attribute in domain.attributes)
        return OffsetGraph(domain, axes, "max", 1)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        return {"kind": self.kind}

    def __repr__(self) -> str:
        return toml(self.spec())


@dataclass(frozen=True, repr=False, kw_only=True)
class AttributeChange:
    """Values that differ in 1..changes attributes are a secret (the paper's G^attr, for 1).

    >>> AttributeChange(changes=2)
    {kind = 'attribute', changes = 2}
    """

    changes: int = 1
    kind: ClassVar[str] = "attribute"

    def __post_init__(self) -> None:
        whole(self.changes, key="changes", least=1)

    def bind(self, domain: Domain) -> OffsetGraph:
        """Return the graph on the domain; it must have that many attributes."""
        if self.changes > len(domain):
            raise PolicyError(
                f"{self.changes} changes, but the domain has {len(domain)} attributes",
                key="changes",
                hint=f'use {len(domain)} or less; with {len(domain)} it is kind = "full"',
            )
        axes = tuple(Axis(attribute.size, 1) for _, attribute in domain.attributes)
        return OffsetGraph(domain, axes, "sum", self.changes)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        return {"kind": self.kind, "changes": self.changes}

    def __repr__(self) -> str:
        return toml(self.spec())


@dataclass(frozen=True, init=False, repr=False)
class PartitionBy:
    """Values that agree on these attributes are a secret.

    >>> PartitionBy(["sex", "ward"])
    {kind = 'partition', by = ['sex', 'ward']}
    """

    attributes: tuple[str, ...]
    kind: ClassVar[str] = "partition"

    def __init__(self, attributes: Iterable[str]) -> None:
        object.__setattr__(self, "attributes", _names(attributes, "by", 'use kind = "full"'))

    def bind(self, domain: Domain) -> ByGraph:
        """Return the graph on the domain."""
        by = _inside("by", lambda: domain.axes(self.attributes))
        axes = tuple(
            Axis(attribute.size, 2 if place in by else 1)
            for place, (_, attribute) in enumerate(domain.attributes)
        )
        return ByGraph(domain, axes, "max", 1, by)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        return {"kind": self.kind, "by": list(self.attributes)}

    def __repr__(self) -> str:
        return toml(self.spec())


Cell = Region | Mapping[str, object]


@dataclass(frozen=True, init=False, repr=False)
class PartitionCells:
    """Values in the same cell are a secret; the cells are disjoint and cover the domain.

    >>> PartitionCells([{"age": {"max": 17}}, {"age": {"min": 18}}])
    {kind = 'partition', cells = [{age = {max = 17}}, {age = {min = 18}}]}
    """

    cells: tuple[tuple[Region, ...], ...]
    kind: ClassVar[str] = "partition"

    def __init__(self, cells: Iterable[Cell | Sequence[Cell]]) -> None:
        if isinstance(cells, (str, Mapping, Region)):
            raise PolicyError("the cells are not a list", key="cells", hint="write [{...}, ...]")
        read = tuple(_cell(cell, f"cells[{place}]") for place, cell in enumerate(cells))
        if not read:
            raise PolicyError("there are no cells", key="cells", hint="the cells cover the domain")
        object.__setattr__(self, "cells", read)

    def bind(self, domain: Domain) -> CellGraph:
        """Return the graph on the domain, refusing cells that overlap or miss a value."""
        areas = []
        for place, regions in enumerate(self.cells):
            area = _inside(f"cells[{place}]", partial(domain.area, regions))
            areas.append(Area(area.disjoint()))
        labels = tuple(toml(cell_spec(regions)) for regions in self.cells)
        check_partition(domain, areas, labels)
        return CellGraph(domain, tuple(areas), labels)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        return {"kind": self.kind, "cells": [cell_spec(regions) for regions in self.cells]}

    def __repr__(self) -> str:
        return toml(self.spec())


@dataclass(frozen=True, init=False, repr=False)
class Distance:
    """Values within a distance are a secret (below it, if strict); other attributes are equal.

    >>> Distance(metric="l2", threshold="3/2", attributes=["temp"])
    {kind = 'distance', metric = 'l2', threshold = '3/2', attributes = ['temp']}
    """

    metric: str
    threshold: Exact
    strict: bool
    attributes: tuple[str, ...] | None
    kind: ClassVar[str] = "distance"

    def __init__(
        self,
        *,
        threshold: object,
        metric: str = "l1",
        strict: bool = False,
        attributes: Iterable[str] | None = None,
    ) -> None:
        if metric not in METRICS:
            hint = nearest(metric, METRICS, what="metric")
            raise PolicyError(f"{metric!r} is not a metric", key="metric", hint=hint)
        limit = exact(threshold, key="threshold")
        if limit <= 0:
            reason = f"the threshold {show(limit)} is not positive"
            raise PolicyError(reason, key="threshold", hint="no two values would be a secret")
        if not isinstance(strict, bool):
            raise PolicyError(f"{strict!r} is not true or false", key="strict")
        if attributes is not None:
            attributes = _names(attributes, "attributes", "leave the key out to mean all of them")
        object.__setattr__(self, "metric", metric)
        object.__setattr__(self, "threshold", limit)
        object.__setattr__(self, "strict", strict)
        object.__setattr__(self, "attributes", attributes)

    def bind(self, domain: Domain) -> OffsetGraph:
        """Return the graph on the domain, in units that make every charge a whole number."""
        names = domain.names if self.attributes is None else self.attributes
        free = _inside("attributes", lambda: domain.axes(names))
        steps = {place: Fraction(domain.attribute(place).step) for place in free}
        unit = lcm(*(step.denominator for step in steps.values()))
        power = 2 if self.metric == "l2" else 1
        limit = Fraction(self.threshold * unit) ** power  # l2 compares squares
        bound = ceil(limit) - 1 if self.strict else floor(limit)
        axes = []
        for place, (_, attribute) in enumerate(domain.attributes):
            weight = int(steps[place] * unit) ** power if place in steps else bound + 1
            line = place in steps and attribute.ordered
            axes.append(Axis(attribute.size, weight, line, power))
        return OffsetGraph(domain, tuple(axes), "max" if self.metric == "linf" else "sum", bound)

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table, options at their defaults left out."""
        table: dict[str, object] = {"kind": self.kind, "metric": self.metric}
        table["threshold"] = number_spec(self.threshold)
        if self.strict:
            table["strict"] = True
        if self.attributes is not None:
            table["attributes"] = list(self.attributes)
        return table

    def __repr__(self) -> str:
        return toml(self.spec())


@dataclass(frozen=True, init=False, repr=False)
class Edges:
    """Exactly these pairs of records are secrets; undirected.

    >>> Edges([({"sex": "F", "age": 1}, {"sex": "F", "age": 2})])
    {kind = 'edges', pairs = [[{sex = 'F', age = 1}, {sex = 'F', age = 2}]]}
    """

    pairs: tuple[tuple[Record, Record], ...]
    kind: ClassVar[str] = "edges"

    def __init__(self, pairs: Iterable[Sequence[Mapping[str, object]]]) -> None:
        if isinstance(pairs, (str, Mapping)):
            raise PolicyError("the pairs are not a list", key="pairs", hint="[[{...}, {...}], ...]")
        read = tuple(_written_pair(pair, f"pairs[{place}]") for place, pair in enumerate(pairs))
        object.__setattr__(self, "pairs", read)

    def bind(self, domain: Domain) -> EdgeGraph:
        """Return the graph on the domain, refusing loops and repeated edges."""
        seen: dict[Pair, int] = {}
        for place, records in enumerate(self.pairs):
            first, second = (
                _inside(f"pairs[{place}][{end}]", partial(domain.encode, dict(record)))
                for end, record in enumerate(records)
            )
            edge = _edge(domain, first, second, f"pairs[{place}]")
            if edge in seen:
                reason = f"the edge repeats pairs[{seen[edge]}]; edges have no direction"
                raise PolicyError(reason, key=f"pairs[{place}]", hint="leave one of them out")
            seen[edge] = place
        return EdgeGraph(domain, tuple(sorted(seen)))

    def spec(self) -> dict[str, object]:
        """Return the `[secrets]` table."""
        pairs = [[{k: number_spec(v) for k, v in record} for record in pair] for pair in self.pairs]
        return {"kind": self.kind, "pairs": pairs}

    def __repr__(self) -> str:
        return toml(self.spec())


SecretsSpec = Full | AttributeChange | PartitionBy | PartitionCells | Distance | Edges


def _inside(prefix: str, step: Callable[[], T]) -> T:
    """Return the step's result; a PolicyError gets the prefix to its key."""
    try:
        return step()
    except PolicyError as error:
        raise error.inside(prefix) from None


def _names(names: Iterable[str], key: str, if_empty: str) -> tuple[str, ...]:
    if isinstance(names, str):
        raise PolicyError(f"{names!r} is not a list", key=key, hint=f'write ["{names}"]')
    read = tuple(names)
    if not read:
        raise PolicyError("no attribute is named", key=key, hint=if_empty)
    seen: set[str] = set()
    for place, name in enumerate(read):
        if not isinstance(name, str):
            raise PolicyError(f"{name!r} is not an attribute's name", key=f"{key}[{place}]")
        if name in seen:
            raise PolicyError(f"the attribute {name!r} is named twice", key=f"{key}[{place}]")
        seen.add(name)
    return read


def _cell(cell: object, key: str) -> tuple[Region, ...]:
    if isinstance(cell, str) or not isinstance(cell, Sequence):
        return (_region(cell, key),)
    if not cell:
        raise PolicyError("the cell is empty", key=key, hint="leave it out")
    return tuple(_region(region, f"{key}[{place}]") for place, region in enumerate(cell))


def _region(region: object, key: str) -> Region:
    if isinstance(region, Region):
        return region
    if not isinstance(region, Mapping):
        raise PolicyError(f"{region!r} is not a region", key=key, hint="{ age = { max = 17 } }")
    return _inside(key, lambda: Region(region))


def _written_pair(pair: object, key: str) -> tuple[Record, Record]:
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise PolicyError(f"{pair!r} is not a pair", key=key, hint="write [{...}, {...}]")
    return _record(pair[0], f"{key}[0]"), _record(pair[1], f"{key}[1]")


def _record(record: object, key: str) -> Record:
    if not isinstance(record, Mapping):
        raise PolicyError(f"{record!r} is not a record", key=key, hint="{ sex = 'F', age = 1 }")
    for name, value in record.items():
        if isinstance(value, bool) or not isinstance(value, (str, int, Fraction)):
            hint = "a label, an integer or 'p/q'"
            raise PolicyError(f"{value!r} is not a value", key=f"{key}.{name}", hint=hint)
    return tuple(
        (name, show(value) if isinstance(value, Fraction) else value)
        for name, value in record.items()
    )


def _edge(domain: Domain, first: Point, second: Point, key: str) -> Pair:
    if first == second:
        reason = f"an edge from {show_record(domain, first)} to itself"
        raise PolicyError(reason, key=key, hint="join two different values")
    return min(first, second), max(first, second)
