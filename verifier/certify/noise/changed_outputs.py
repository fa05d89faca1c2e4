"""Which outputs tell a pair apart, and by how much: what a verdict shows of its witness."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from heapq import nsmallest
from itertools import islice

from blowproof.models import Domain, Exact, Policy
from blowproof.models.base.numbers import magnitude
from blowproof.models.policy.readings import Reading
from blowproof.models.queries.query import Group, Move, net_change
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.verdict import Changed
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["changed_outputs"]

MOST_OUTPUTS = whole_limit(__name__, "MOST_OUTPUTS")
LISTED = whole_limit(__name__, "LISTED")

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
        more, changed = _of_part(number, part, moves, policy.domain)
        found += more
        count += changed
    worst = nsmallest(MOST_OUTPUTS, found, key=lambda item: _silent_first(item[2], item[3]))
    named = []
    for number, key, change, scale in worst:
        query = parts[number].query
        name = query.name if query.per_record else query.output_name(key, policy.domain)
        named.append(Changed(number, name, change, scale))
    return tuple(named), count


def _of_part(
    number: int, part: Part, moves: Sequence[Move], domain: Domain
) -> tuple[list[Found], int]:
    """Return the outputs of one release that change (at least the worst of them), and a count."""
    if part.query.per_record:
        if any(move.record is None for move in moves):
            return [], 0
        change = part.query.difference(moves)
        return [(number, None, change, part.weights[0])] * bool(change), int(bool(change))
    groups = part.query.groups(net_change(moves)) if part.uniform else None
    outputs = part.query.outputs(domain)
    if groups is not None and outputs is not None and outputs.count > LISTED:
        worst, count = _by_groups(groups)
        return [(number, key, change, part.weights[0]) for key, change in worst], count
    changes = part.changes(moves)
    return [(number, key, change, part.weight(key)) for key, change in changes.items()], len(
        changes
    )


def _silent_first(change: Exact, scale: Fraction) -> tuple[bool, Exact]:
    return scale > 0, -magnitude(change) / scale if scale else 0


def _by_groups(groups: Iterable[Group]) -> tuple[list[tuple[Hashable, Exact]], int]:
    """Return the outputs that change most, and how many change."""
    changed = [group for group in groups if group.change and group.times]
    changed.sort(key=lambda group: -magnitude(group.change))
    named = ((key, group.change) for group in changed for key in group.keys)
    return list(islice(named, MOST_OUTPUTS)), sum(group.times for group in changed)
