"""What the page draws beyond the numbers, as data: it stands in the JSON document too.

Each part is None where it does not apply, or where the time was up: the policy graph with its
longest cycle or path, and the averaging attack, whose figures are the only ones that are not exact.
"""

from __future__ import annotations

from typing import Any

from blowproof.models import BlowproofError, Policy
from blowproof.models.policy.in_words import fact_label
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.answer import json_value

__all__ = ["picture"]

MOST_NODES = 60
MOST_FACTS = 400
MOST_WAYS = 6


def picture(policy: Policy, reading: Reading, seconds: float) -> dict[str, Any]:
    """Return what is drawn about a policy in one reading, in so many seconds."""
    return {
        "policy_graph": _graph(policy, seconds) if seconds > 0 else None,
        "averaging": _averaging(policy, reading) if seconds > 0 else None,
    }


def _graph(policy: Policy, seconds: float) -> dict[str, Any] | None:
    """The policy graph of a sparse policy that is small enough to draw."""
    from blowproof.verifier.databases.sparsity import sparse
    from blowproof.verifier.engines.policy_graph.graph import policy_graph_bound

    if not policy.linear_facts or len(policy.linear_facts) > MOST_FACTS:
        return None
    try:
        found = sparse(policy)
        if not found.sparse:
            return None
        bound = policy_graph_bound(policy, found=found, time_limit=seconds)
    except BlowproofError:
        return None
    cycle = bound.alpha.lower >= bound.xi.lower
    lit = bound.alpha if cycle else bound.xi
    names = [str(name) for name in bound.graph.nodes]
    drawn = len(names) <= MOST_NODES
    return {
        "nodes": names,
        "labels": {fact.name: fact_label(policy, fact) for fact in policy.linear_facts},
        "arcs": [[str(a), str(b)] for a, b in bound.graph.edges] if drawn else None,
        "lit": [str(name) for name in lit.nodes],
        "lit_is": "cycle" if cycle else "path",
        "alpha": {"lower": bound.alpha.lower, "upper": bound.alpha.upper},
        "xi": {"lower": bound.xi.lower, "upper": bound.xi.upper},
    }


def _averaging(policy: Policy, reading: Reading) -> dict[str, Any] | None:
    from blowproof.verifier.export.averaging import averaging

    if not policy.linear_facts:
        return None
    try:
        attack = averaging(policy, size_known=policy.size_known(reading))
    except BlowproofError:
        return None
    return {
        "cell": json_value(policy.domain, attack.cell),
        "estimates": None if attack.left == 0 else attack.estimates,
        "variance_left": attack.left,
        "mean_variance_left": attack.mean_left,
        "cells": attack.cells,
        "facts": attack.facts,
        "independent_facts": attack.rank,
        "ways": [
            {
                "known": "the number of records" if fact is None else fact_label(policy, fact),
                "variance": variance,
            }
            for fact, variance in attack.ways[:MOST_WAYS]
        ],
    }
