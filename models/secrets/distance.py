"""Values within a distance are a secret."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

from blowproof.models.base.errors import PolicyError, nearest
from blowproof.models.base.numbers import Exact, exact, show
from blowproof.models.base.toml_values import (
    choice,
    flag,
    number,
    within,
)
from blowproof.models.domain.domain import Domain
from blowproof.models.secrets.axes import Axis
from blowproof.models.secrets.offsets import OffsetGraph
from blowproof.models.secrets.spelling import number_spec
from blowproof.models.secrets.written import (
    SecretsSpec,
    Shown,
    ShowRegion,
    inside,
    listed_words,
    read_names,
    written_names,
)

__all__ = ["Distance"]


METRICS = ("l1", "l2", "linf")


@dataclass(frozen=True, init=False, repr=False)
class Distance(SecretsSpec):
    """Values within a distance are a secret (below it, if strict); other attributes are equal.

    >>> Distance(metric="l2", threshold="3/2", attributes=["temp"])
    {kind = 'distance', metric = 'l2', threshold = '3/2', attributes = ['temp']}
    """

    metric: str
    threshold: Exact
    strict: bool
    attributes: tuple[str, ...] | None
    kind = "distance"
    keys = ("metric", "threshold", "strict", "attributes")

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
            attributes = written_names(
                attributes, "attributes", "leave the key out to mean all of them"
            )
        object.__setattr__(self, "metric", metric)
        object.__setattr__(self, "threshold", limit)
        object.__setattr__(self, "strict", strict)
        object.__setattr__(self, "attributes", attributes)

    def bind(self, domain: Domain) -> OffsetGraph:
        """Return the graph on the domain, in units that make every charge a whole number."""
        names = domain.names if self.attributes is None else self.attributes
        free = inside("attributes", lambda: domain.axes(names))
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

    def where_one_value(self, domain: Domain, axes: Collection[int]) -> Distance:
        """Return itself: two values that agree on more are no further apart."""
        return self

    @classmethod
    def read(cls, items: Mapping[str, object]) -> Distance:
        """Return it; the metric and the threshold have to be there."""
        for key, hint in (
            ("metric", 'write metric = "l1", "l2" or "linf"'),
            ("threshold", "write threshold = 5"),
        ):
            if key not in items:
                raise PolicyError(f"the distance has no {key}", hint=hint)
        with within("metric"):
            metric = choice(items["metric"], METRICS, what="metric")
        with within("threshold"):
            threshold = number(items["threshold"])
        strict = False
        if "strict" in items:
            with within("strict"):
                strict = flag(items["strict"])
        names = read_names(items, "attributes") if "attributes" in items else None
        return Distance(metric=metric, threshold=threshold, strict=strict, attributes=names)

    def normal(self, domain: Domain, region: ShowRegion) -> dict[str, object]:
        """Return the table with its attributes in domain order, all of them left out."""
        names = set(self.attributes or domain.names)
        chosen = [name for name in domain.names if name in names]
        table = self.spec()
        table.pop("attributes", None)
        return table if len(chosen) == len(domain) else {**table, "attributes": chosen}

    def words(self, shown: Shown) -> str:
        """Return what nobody may find out."""
        limit = f"{'less than' if self.strict else 'at most'} {show(self.threshold)}"
        names = listed_words(self.attributes, shown) if self.attributes else "values"
        return f"the exact {names}: nobody may tell apart values at {self.metric} distance {limit}"
