"""A bound on S that is always at hand: what noise is set from when the search yields none.

It is seldom close. But it is a theorem, and better than to publish with noise for a lower bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt, prod

from blowproof.models import BoundQuery, Exact, Policy, setting, show
from blowproof.models.classes import collapse
from blowproof.models.policy import LABELLED
from blowproof.models.queries import WeightedSum

__all__ = ["Fallback", "by_records", "by_theorem", "rough_bound"]

MOST_CLASSES = 2_000
MOST_NUMBERS = 200_000


@dataclass(frozen=True)
class Fallback:
    """An upper bound on S, and the argument in a sentence."""

    upper: Exact
    reason: str


def by_records(
    query: BoundQuery, reading: str, size: int | None, plain: Exact | None
) -> Fallback | None:
    """Return the bound from n (scope "given", readings 1 and 2), at once.

    D1 and D2 differ in at most n records, and each changes the query by at most `plain`, the
    largest change of the query when one record changes.
    """
    if isinstance(query, WeightedSum):
        size = len(query.weights)
    if plain is None or size is None or reading not in LABELLED:
        return None
    return Fallback(size * plain, f"at most all {size} records change, by {show(plain)} each")


def by_theorem(
    policy: Policy, query: BoundQuery, reading: str, plain: Exact | None
) -> Fallback | None:
    """Return the bound from the facts alone (equality counts and zeros, readings 1 and 2).

    The changes are an irreducible multiset of moves, for every G (SEMANTICS, section 4), and that
    has no more elements than `longest_bound` says.
    """
    if plain is None or reading not in LABELLED or query.per_record:
        return None
    longest = _longest(policy)
    if longest is None:
        return None
    reason = f"at most {longest} records change at once (a general theorem), by {show(plain)} each"
    return Fallback(longest * plain, reason)


def _longest(policy: Policy) -> int | None:
    """Return how many moves an irreducible multiset has at the most, where a theorem says so."""
    if policy.clauses or any(fact.bounded for fact in policy.linear_facts):
        return None
    found = setting(policy, "any")
    areas = [area for fact in found.equalities for _, area in fact.terms]
    classes = [item.take(1)[0] for item in collapse(found.domain, areas)]
    if len(classes) > MOST_CLASSES:
        return None
    signatures = sorted({found.effect(point) for point in classes})
    if len(signatures) < 2:
        return 1
    if len(signatures) ** 2 * len(areas) > MOST_NUMBERS:
        return rough_bound(signatures)
    from blowproof.verifier.irreducible import longest_bound

    effects = {_minus(x, y) for x in signatures for y in signatures if x != y}
    return max(1, longest_bound(sorted(effects)))


def rough_bound(signatures: Sequence[Sequence[int]]) -> int:
    """Return a number of moves that no irreducible multiset exceeds, at once for many signatures.

    The two theorems of `length_bound` with simpler numbers, none smaller than its own: R, the
    number of facts or of signatures less one, for the rank; all pairs for the columns of a cone;
    the product over all facts for Steinitz; and for Hadamard one bound on all squared norms, which
    is |x|^2 + |y|^2 for signatures x, y >= 0, and twice that for any.

    >>> rough_bound([(0, 0), (0, 1), (1, 0), (1, 1)])
    25
    """
    spans = [max(column) - min(column) for column in zip(*signatures, strict=True)]
    spans = [span for span in spans if span]
    rank, pairs = min(len(spans), len(signatures) - 1), len(signatures) * (len(signatures) - 1) // 2
    steinitz = prod(2 * rank * span + 1 for span in spans)
    longest = max(sum(number * number for number in row) for row in signatures)
    signed = any(number < 0 for row in signatures for number in row)
    square = max(1, min(sum(span * span for span in spans), longest * (4 if signed else 2)))
    circuits = pairs * (rank + 1) * (isqrt(square**rank) + 1)
    return max(2, min(int(steinitz), int(circuits)))


def _minus(first: Sequence[int], second: Sequence[int]) -> tuple[int, ...]:
    return tuple(b - a for a, b in zip(first, second, strict=True))
