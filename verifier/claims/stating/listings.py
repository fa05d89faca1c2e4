"""Numbers that come from listing neighbours, straight from the definitions (`engines.brute`)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from blowproof.models import Point, Policy, setting
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.brute import brute_neighbours

__all__ = ["databases", "longest_secret_change", "most_changed", "pairs", "reached_by_longest"]


@lru_cache(maxsize=256)
def pairs(
    policy: Policy, reading: Reading, most: int, every_label: bool = False
) -> tuple[tuple[tuple[Point, ...], tuple[Point, ...]], ...]:
    """Return all neighbours (D1, D2) with up to `most` records, as lists of records."""
    return tuple(_pairs(policy, reading, most, every_label))


def _pairs(
    policy: Policy, reading: Reading, most: int, every_label: bool
) -> Iterator[tuple[tuple[Point, ...], tuple[Point, ...]]]:
    prepared = setting(policy)
    size = prepared.size
    sizes = range(most + 1) if size is None else [size]
    for pair in brute_neighbours(prepared, reading, sizes=sizes, every_label=every_label):
        first = pair.database
        if first is None:
            yield tuple(sorted(pair.first().elements())), tuple(sorted(pair.second().elements()))
        else:
            second = pair.reversed().database
            assert second is not None
            yield first, second


def databases(policy: Policy, size: int) -> list[tuple[Point, ...]]:
    """Return the databases of `size` records that satisfy the facts that have numbers."""
    from itertools import product

    prepared = setting(policy)
    values = [x for x in policy.domain.points() if policy.possible(x)]
    return [item for item in product(values, repeat=size) if prepared.satisfied_by(item)]


def _secret(policy: Policy, first: tuple[Point, ...], second: tuple[Point, ...]) -> int:
    """Return |T(D1, D2)|."""
    graph = policy.graph
    return sum(1 for x, y in zip(first, second, strict=True) if x != y and graph.is_edge(x, y))


def longest_secret_change(policy: Policy, reading: Reading, most: int) -> int:
    """Return the largest |T(D1, D2)| over neighbours with up to `most` records; 0 for none."""
    found = pairs(policy, reading, most)
    return max((_secret(policy, first, second) for first, second in found), default=0)


def most_changed(policy: Policy, reading: Reading, most: int) -> tuple[int, Pair | None]:
    """Return the most records in which neighbours with up to `most` records differ, and a pair."""
    best, shown = 0, None
    for first, second in pairs(policy, reading, most):
        changed = sum(x != y for x, y in zip(first, second, strict=True))
        if changed > best:
            best, shown = changed, Pair.labelled(first, second, keep=True)
    return best, shown


def reached_by_longest(policy: Policy, reading: Reading, most: int) -> bool:
    """Whether neighbours with the largest |T| change the histogram by 2 |T| (Theorem 8.2)."""
    longest = longest_secret_change(policy, reading, most)
    return any(
        _secret(policy, first, second) == longest and _norm(first, second) == 2 * longest
        for first, second in pairs(policy, reading, most)
    )


def _norm(first: tuple[Point, ...], second: tuple[Point, ...]) -> int:
    values = set(first) | set(second)
    return sum(abs(first.count(x) - second.count(x)) for x in values)
