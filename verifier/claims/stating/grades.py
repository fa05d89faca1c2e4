"""Degenerate instances: one value, one record, one cluster, or an empty set of secret pairs.

A statement that fails on such instances alone is no worse than its author's wish to be short. What
is degenerate for one statement only, its part says (`Part.degenerate`).
"""

from __future__ import annotations

from itertools import combinations

from blowproof.models import Policy
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.claims.stating.claim import Instance, Part

__all__ = ["degenerate"]

SIZES = {
    "size": "one value",
    "values": "one value",
    "tuples": "one value",
    "nodes": "one node",
    "n": "one record",
    "records": "one record",
    "students": "one record",
    "people": "one record",
}
"""Parameters that count something, and what it means that there is but one of it."""
LISTED = 200
"""Up to how many values every pair is looked at; larger graphs have a secret pair."""


def degenerate(part: Part, instance: Instance) -> str:
    """Return why an instance is degenerate, or "" where it is not."""
    own = part.degenerate(instance)
    if own:
        return own
    if instance.query.text.startswith("cluster-") and len(instance.query.rows) == 1:
        return "one cluster"
    for name, words in SIZES.items():
        number = instance.parameters.get(name)
        if number is not None and not isinstance(number, str) and number <= 1:
            return words
    return "" if instance.policy is None else _of(instance.policy, part.reading)


def _of(policy: Policy, reading: Reading | None) -> str:
    possible = sum(1 for x in policy.domain.points() if policy.possible(x)) if _small(policy) else 2
    if possible <= 1:
        return "one value"
    if any(attribute.size == 1 for _, attribute in policy.domain.attributes):
        return "an attribute of one value"
    if policy.database.size is not None and policy.database.size <= 1:
        return "one record" if policy.database.size else "no record"
    if (reading is None or is_labelled(reading)) and not _secret_pair(policy):
        return "no secret pair"
    return ""


def _small(policy: Policy) -> bool:
    return policy.domain.size <= LISTED


def _secret_pair(policy: Policy) -> bool:
    """Whether some record may move along a secret pair."""
    if policy.graph.complete or not _small(policy):
        return True
    values = [x for x in policy.domain.points() if policy.possible(x)]
    return any(policy.graph.is_edge(x, y) for x, y in combinations(values, 2))
