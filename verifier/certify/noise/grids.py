"""Discrete noise lives on a grid: are all differences of an output on it?

A difference off the grid would tell two databases apart whatever the scale, for then no answer is
possible for both. Such a release is refused with the grid that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import gcd, lcm

from blowproof.models import BoundQuery, Domain, Exact, PolicyError, Reading, show
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.mechanisms.trees_and_prefixes import PrefixQuery, TreeQuery
from blowproof.models.policy.policy import LABELLED
from blowproof.models.queries.cluster_sizes import coordinates
from blowproof.models.queries.kinds import (
    ClusterSizes,
    ClusterSums,
    CountQuery,
    Cumulative,
    Histogram,
    MarginalQuery,
    MatrixQuery,
    PartitionHistogram,
    Ranges,
    SumQuery,
    WeightedSum,
)

__all__ = ["COUNTS", "require_grid"]

COUNTS = (
    Histogram,
    MarginalQuery,
    CountQuery,
    Cumulative,
    Ranges,
    PartitionHistogram,
    TreeQuery,
    PrefixQuery,
    ClusterSizes,
)
"""Queries whose answers are counts, and so differ by whole numbers."""
LISTED = 20_000
SAMPLED = 1_000
ENTRIES = 200_000


def require_grid(release: Release, query: BoundQuery, domain: Domain, reading: Reading) -> None:
    """Refuse discrete noise on a grid that an output can leave."""
    if release.noise == "laplace":
        return
    numbers = {Fraction(number) for number in _steps(query, domain, reading) if number}
    off = [number for number in numbers if (number / release.grid).denominator != 1]
    if off:
        raise PolicyError(
            f"discrete noise lives on the multiples of {show(release.grid)}, "
            f"and {query.name} changes by {show(min(off, key=abs))}",
            key="grid" if release.grid != 1 else "noise",
            hint=f'write grid = "{show(_common(numbers | {release.grid}))}"'
            + (', or noise = "laplace"' if release.noise == "discrete-laplace" else ""),
        )


def _common(numbers: Iterable[Fraction]) -> Fraction:
    listed = list(numbers)
    below = lcm(*(number.denominator for number in listed))
    return Fraction(gcd(*(int(number * below) for number in listed)), below)


def _steps(query: BoundQuery, domain: Domain, reading: Reading) -> Iterator[Exact]:
    """Yield numbers such that every difference of an output is a sum of multiples of them."""
    if type(query) in COUNTS:
        yield 1
    elif type(query) in (SumQuery, WeightedSum):
        assert isinstance(query, (SumQuery, WeightedSum))
        axes = query.axes if isinstance(query, SumQuery) else (query.axis,)
        weights = query.weights if isinstance(query, WeightedSum) else (1,)
        for axis in axes:
            attribute = domain.attribute(axis)
            # n records hold n times the first coordinate, whatever else they hold.
            firsts = () if reading in LABELLED else (attribute.coordinate(0),)
            yield from (weight * step for weight in weights for step in (attribute.step, *firsts))
    elif type(query) is ClusterSums:
        yield from coordinates(domain, (0,) * len(domain))
        yield from (attribute.step for _, attribute in domain.attributes)
    elif type(query) is MatrixQuery:
        yield from (number for column in query.columns for number in column.values())
    elif isinstance(getattr(query, "unit", None), (int, Fraction)):
        yield from _declared(query, domain)
    elif domain.size <= LISTED:
        yield from (number for x in domain.points() for number in query.row(x).values())
    else:
        reason = f"nothing says on which grid {query.name} lives"
        raise PolicyError(reason, key="noise", hint='release it with noise = "laplace"')


def _declared(query: BoundQuery, domain: Domain) -> Iterator[Exact]:
    """Return the unit that a query made by a mechanism says its rows are multiples of.

    The rows of some values are looked at, so that a wrong one is not easily believed; fewer, where
    rows are long.
    """
    yield query.unit  # type: ignore[attr-defined]
    looked_at = 0
    for place in range(0, domain.size, max(1, domain.size // SAMPLED)):
        row = query.row(domain.whole.nth(place))
        yield from row.values()
        looked_at += len(row)
        if looked_at > ENTRIES:
            return
