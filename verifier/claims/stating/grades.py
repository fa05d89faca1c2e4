"""Degenerate instances: one value, one record, one cluster, an empty set of pairs, nothing open.

A statement that fails on such instances alone is no worse than its author's wish to be short. What
is degenerate for one statement only, its part says (`Part.degenerate`).
"""

from __future__ import annotations

from itertools import combinations

from blowproof.models import Distance, Marginal, Policy
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
    for name, words in SIZES.items():
        number = instance.parameters.get(name)
        if number is not None and not isinstance(number, str) and number <= 1:
            return words
    if instance.policy is None:
        return ""
    return _of(instance.policy, part.reading) or _alike(instance)


def _alike(instance: Instance) -> str:
    """Return why a query tells no two values apart; "" if it does."""
    policy, asked = instance.the_policy, instance.query
    if asked.text not in ("matrix", "cluster-sizes", "cluster-sums") or not _small(policy):
        return ""
    if asked.text == "cluster-sums":
        return "one cluster" if len(asked.rows) == 1 else ""
    query = asked.on(policy)
    rows = {tuple(sorted(query.row(x).items(), key=repr)) for x in policy.domain.points()}
    return "every record counts alike" if len(rows) == 1 else ""


def _of(policy: Policy, reading: Reading | None) -> str:
    possible = sum(1 for x in policy.domain.points() if policy.possible(x)) if _small(policy) else 2
    if possible <= 1:
        return "one value"
    if any(attribute.size == 1 for _, attribute in policy.domain.attributes):
        return "an attribute of one value"
    if policy.database.size is not None and policy.database.size <= 1:
        return "one record" if policy.database.size else "no record"
    everything = set(policy.domain.names)
    if any(isinstance(f, Marginal) and set(f.attributes) == everything for f in policy.known):
        return "the whole table is known"
    return "" if reading is not None and not is_labelled(reading) else _of_secrets(policy)


def _of_secrets(policy: Policy) -> str:
    if not _secret_pair(policy):
        return "no secret pair"
    secrets = policy.secrets
    if isinstance(secrets, Distance) and secrets.metric == "l1" and _small(policy):
        width = sum(attribute.size - 1 for _, attribute in policy.domain.attributes)
        if secrets.attributes is None and secrets.threshold > width:
            return "no values are so far apart"
    return ""


def _small(policy: Policy) -> bool:
    return policy.domain.size <= LISTED


def _secret_pair(policy: Policy) -> bool:
    """Whether some record may move along a secret pair."""
    if policy.graph.complete or not _small(policy):
        return True
    values = [x for x in policy.domain.points() if policy.possible(x)]
    return any(policy.graph.is_edge(x, y) for x, y in combinations(values, 2))
