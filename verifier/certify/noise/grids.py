"""Discrete noise lives on a grid: are all differences of an output on it?

A difference off the grid would tell two databases apart whatever the scale, for then no answer is
possible for both. Such a release is refused with the grid that fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import gcd, lcm
from weakref import WeakKeyDictionary

from blowproof.models import BoundQuery, Domain, Exact, PolicyError, Reading, show
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["require_grid"]

SAMPLED = whole_limit(__name__, "SAMPLED")
ENTRIES = whole_limit(__name__, "ENTRIES")


def require_grid(release: Release, query: BoundQuery, domain: Domain, reading: Reading) -> None:
    """Refuse discrete noise on a grid that an output can leave."""
    if release.noise == "laplace":
        return
    numbers = {Fraction(number) for number in set(_steps(query, domain, reading)) if number}
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
    found = query.entries(domain, labelled=is_labelled(reading))
    if found is None:
        reason = f"nothing says on which grid {query.name} lives"
        raise PolicyError(reason, key="noise", hint='release it with noise = "laplace"')
    yield from found
    if query.unit is not None:
        kept = _LOOKED_AT.setdefault(query, {})
        if domain not in kept:
            kept[domain] = frozenset(_looked_at(query, domain))
        yield from kept[domain]


_LOOKED_AT: WeakKeyDictionary[BoundQuery, dict[Domain, frozenset[Exact]]] = WeakKeyDictionary()
"""What the rows of queries hold that were looked at: a plan releases the same ones many times."""


def _looked_at(query: BoundQuery, domain: Domain) -> Iterator[Exact]:
    """Yield the rows of some values of a query that a mechanism made, and says a unit of.

    So a wrong one is not easily believed; fewer are looked at where rows are long.
    """
    looked_at = 0
    for place in range(0, domain.size, max(1, domain.size // SAMPLED)):
        row = query.row(domain.whole.nth(place))
        yield from row.values()
        looked_at += len(row)
        if looked_at > ENTRIES:
            return
