"""Listed pairs of records are secrets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import show
from blowproof.models.base.toml_values import (
    array,
    each,
    table,
    within,
)
from blowproof.models.domain.attributes import Value
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.region_reading import plain_value
from blowproof.models.domain.regions import Point
from blowproof.models.secrets.graph import Pair
from blowproof.models.secrets.listed import EdgeGraph
from blowproof.models.secrets.spelling import number_spec, show_record
from blowproof.models.secrets.written import (
    SecretsSpec,
    Shown,
    ShowRegion,
    inside,
)

__all__ = ["Edges"]


Record = tuple[tuple[str, Value], ...]


@dataclass(frozen=True, init=False, repr=False)
class Edges(SecretsSpec):
    """Exactly these pairs of records are secrets; undirected.

    >>> Edges([({"sex": "F", "age": 1}, {"sex": "F", "age": 2})])
    {kind = 'edges', pairs = [[{sex = 'F', age = 1}, {sex = 'F', age = 2}]]}
    """

    pairs: tuple[tuple[Record, Record], ...]
    kind = "edges"
    keys = ("pairs",)

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
                inside(f"pairs[{place}][{end}]", partial(domain.encode, dict(record)))
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

    @classmethod
    def read(cls, items: Mapping[str, object]) -> Edges:
        """Return it; each pair has two records."""
        hint = "write pairs = [[{ age = 1 }, { age = 2 }]]"
        if "pairs" not in items:
            raise PolicyError("the edges have no pairs", hint=hint)
        with within("pairs"):
            return Edges(each(array(items["pairs"], of="pairs", hint=hint), _read_pair))

    def normal(self, domain: Domain, region: ShowRegion) -> dict[str, object]:
        """Return the table with full records in domain order, pairs sorted."""
        edges = sorted(
            sorted(domain.encode(dict(record)) for record in pair) for pair in self.pairs
        )
        pairs = [
            [
                {
                    name: number_spec(value)
                    for name, value in zip(domain.names, domain.decode(point), strict=True)
                }
                for point in edge
            ]
            for edge in edges
        ]
        return {"kind": self.kind, "pairs": pairs}

    def words(self, shown: Shown) -> str:
        """Return what nobody may find out."""
        count = len(self.pairs)
        pairs = "1 listed pair" if count == 1 else f"{count:,} listed pairs"
        return f"{pairs} of values that nobody may tell apart"


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


def _read_pair(value: object) -> tuple[dict[str, Value], dict[str, Value]]:
    records = array(value, of="two records", hint="write [{ age = 1 }, { age = 2 }]")
    if len(records) != 2:
        raise PolicyError(
            f"an edge joins two records, found {len(records)}",
            hint="write [{ age = 1 }, { age = 2 }]",
        )
    first, second = each(records, _read_record)
    return first, second


def _read_record(value: object) -> dict[str, Value]:
    result: dict[str, Value] = {}
    for name, item in table(value, need="a record", hint="write { age = 1 }").items():
        with within(name):
            result[name] = plain_value(item)
    return result
