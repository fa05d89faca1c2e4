"""Which outputs tell a pair apart, and by how much: what a verdict shows of its witness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from heapq import nsmallest
from itertools import islice, product

from blowproof.models import BoundQuery, Exact, Policy
from blowproof.models.base.numbers import magnitude
from blowproof.models.mechanisms.trees_and_prefixes import PrefixQuery
from blowproof.models.policy.policy import Reading
from blowproof.models.queries.kinds import Cumulative, Ranges
from blowproof.models.queries.query import Move, net_change
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.verdict import Changed
from blowproof.verifier.certify.noise.output_names import output_name

__all__ = ["changed_outputs", "touched_outputs"]

MOST_OUTPUTS = 50
"""How many of the outputs that tell a pair apart are named."""

LISTED = 100_000
"""Prefixes and ranges beyond so many outputs are counted by runs, not listed."""

Found = tuple[int, Hashable, Exact, Fraction]
"""A release, one of its outputs, the change, and the scale."""


def changed_outputs(
    parts: Sequence[Part], pair: Pair, reading: Reading, policy: Policy
) -> tuple[tuple[Changed, ...], int]:
    """Return the outputs that tell the pair apart most, and how many do so at all.

    The weights of the parts are the scales. A weighted sum is left out where the pair does not say
    which record is which.
    """
    moves = pair.moves(reading)
    found: list[Found] = []
    count = 0
    for number, part in enumerate(parts):
        more, changed = _of_part(number, part, moves)
        found += more
        count += changed
    worst = nsmallest(MOST_OUTPUTS, found, key=lambda item: _silent_first(item[2], item[3]))
    named = []
    for number, key, change, scale in worst:
        query = parts[number].query
        name = query.name if query.per_record else output_name(query, key, policy.domain)
        named.append(Changed(number, name, change, scale))
    return tuple(named), count


def _of_part(number: int, part: Part, moves: Sequence[Move]) -> tuple[list[Found], int]:
    """Return the outputs of one release that change (at least the worst of them), and a count."""
    if part.query.per_record:
        if any(move.record is None for move in moves):
            return [], 0
        change = part.query.difference(moves)
        return [(number, None, change, part.weights[0])] * bool(change), int(bool(change))
    if part.uniform and _outputs(part.query) > LISTED:
        worst, count = _by_runs(part.query, moves)
        return [(number, key, change, part.weights[0]) for key, change in worst], count
    changes = part.changes(moves)
    return [(number, key, change, part.weight(key)) for key, change in changes.items()], len(
        changes
    )


def _silent_first(change: Exact, scale: Fraction) -> tuple[bool, Exact]:
    return scale > 0, -magnitude(change) / scale if scale else 0


# --- prefixes and ranges, by runs of equal prefix sums -------------------------------------------


def _outputs(query: BoundQuery) -> int:
    """Return how many outputs there are, for the queries that are counted by runs; else 0."""
    if type(query) is Ranges:
        return query.size * (query.size + 1) // 2
    if type(query) is Cumulative:
        return query.size
    return query.count if type(query) is PrefixQuery else 0


def touched_outputs(query: BoundQuery) -> int:
    """Return how many outputs of prefixes or ranges one record is at least in, at the worst; or 0.

    Engines go through those; a record is in every prefix that is long enough, and in more ranges.
    """
    return query.size if type(query) is Ranges else _outputs(query)


def _by_runs(query: BoundQuery, moves: Iterable[Move]) -> tuple[list[tuple[Hashable, Exact]], int]:
    """Return the outputs that change most, and how many change.

    With S_k the change of the number of records at the first k positions, a prefix of k positions
    changes by S_k and the range [i, j] by S_(j+1) - S_i; S has few runs of equal values.
    """
    assert isinstance(query, (Ranges, Cumulative, PrefixQuery))
    runs = _runs(query, moves)
    groups: list[tuple[int, int, Iterator[Hashable]]] = []  # the change, how many, which
    if isinstance(query, Ranges):
        for place, (value, low, high) in enumerate(runs):
            for later, start, stop in runs[place + 1 :]:
                size = (high - low) * (stop - start)
                groups.append((later - value, size, product(range(low, high), _less(start, stop))))
    else:
        for value, low, high in runs:
            places = range(_shorter(query, low), _shorter(query, high))
            groups.append((value, len(places), iter(places)))
    groups = [group for group in groups if group[0] and group[1]]
    groups.sort(key=lambda group: -abs(group[0]))
    named = ((key, change) for change, _, keys in groups for key in keys)
    return list(islice(named, MOST_OUTPUTS)), sum(count for _, count, _ in groups)


def _less(start: int, stop: int) -> range:
    return range(start - 1, stop - 1)


def _runs(
    query: Ranges | Cumulative | PrefixQuery, moves: Iterable[Move]
) -> list[tuple[int, int, int]]:
    """Return (S_k, first k, the k behind the last) for the runs of S, k from 0 to the size."""
    steps: dict[int, int] = defaultdict(int)
    for point, times in net_change(moves).items():
        steps[point[query.axis] + 1] += times
    runs = []
    value = low = 0
    for k in sorted(steps):
        runs.append((value, low, k))
        value, low = value + steps[k], k
    return [*runs, (value, low, query.size + 1)]


def _shorter(query: Cumulative | PrefixQuery, length: int) -> int:
    """Return how many of the prefixes have fewer positions than that."""
    if isinstance(query, Cumulative):
        return max(0, length - 1)
    if length > query.size:
        return query.count
    return min(query.count, max(0, length - 1) // query.every)
