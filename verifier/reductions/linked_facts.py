"""Facts that no secret move ties together: what a pair of reading 2 does, it does to some of them.

*Statement.* Reading 2, equality facts, bounds, impossible values, no clauses. Call two facts
*linked* if some edge of G between possible values changes both, or if a chain of such facts leads
from one to the other. Where some edge changes a fact at all, S(f, P) is at most the largest S(f,
P_K) over the groups K of linked facts, where P_K knows only the facts of K (and may know those that
no edge of G changes).

*Proof.* Let (D1, D2) be a pair and m one of its moves. If m changes no fact, m alone leads from D1
into I_Q, so it is all of the changes, and a pair of every P_K. Else all facts that m changes are in
one group K. Let M be those moves of the pair that change facts of K: they change no others. D1
after M has in the facts of K the numbers of D2, since the other moves do not touch these, and in
all others those of D1: it is in I_Q. M is not empty and part of the changes, so it is all of them.
In P_K both databases are in I_Q, and a proper part of M that leads from D1 into I_Q of P_K does so
in P, since it leaves the facts outside of K as they are in D1. So (D1, D2) is a pair of P_K. QED.

Schools in districts, with the number of pupils and of those who passed known for each district: who
may not be told apart from pupils of other schools moves in one district only. With secrets in one
attribute at a time, a table of two attributes and a count of a third are two groups.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from blowproof.models import Clause, Impossible, Policy, Setting
from blowproof.models.policy.policy import Terms
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.joined_classes import Joined, different

__all__ = ["linked_facts", "with_facts"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")


def linked_facts(setting: Setting, *, deadline: float | None = None) -> list[list[int]]:
    """Return the groups of linked facts, by their places (equalities, then bounds).

    Facts that no edge of G changes are in no group. What is not found out is taken as linked.
    """
    table = class_table(setting, limit=MOST_CLASSES, deadline=deadline)
    rows = table.rows
    root = list(range(rows.shape[1]))
    changed = [False] * len(root)

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = place = root[root[place]]
        return place

    joined = Joined(setting, table, deadline)
    for a, b in different(setting, table, rows, deadline):
        facts = np.flatnonzero(rows[a] != rows[b]).tolist()
        roots = {find(place) for place in facts}
        if (len(roots) > 1 or not all(changed[place] for place in facts)) and joined(a, b):
            for place in facts:
                changed[place] = True
            first, *others = roots
            for other in others:
                root[other] = first
    groups: dict[int, list[int]] = {}
    for place in np.flatnonzero(changed).tolist():
        groups.setdefault(find(place), []).append(place)
    return list(groups.values())


def with_facts(setting: Setting, places: list[int], *, among: set[int]) -> Setting:
    """Return the setting with these facts, and under scope "given" with all that are in no group.

    `among`: the places of all facts that are in a group.
    """
    count = len(setting.equalities)
    kept = {*places}
    if setting.scope == "given":
        kept |= {*range(count + len(setting.bounds))} - among
    equalities = tuple(fact for at, fact in enumerate(setting.equalities) if at in kept)
    bounds = tuple(fact for at, fact in enumerate(setting.bounds, count) if at in kept)
    return replace(
        setting,
        policy=_knowing(setting.policy, {fact.terms for fact in (*equalities, *bounds)}),
        equalities=equalities,
        bounds=bounds,
    )


def _knowing(policy: Policy, kept: set[Terms]) -> Policy:
    """Return the policy without what it knows of other facts alone.

    Facts are told by what they count: their names may be those of earlier places.
    """
    dropped = []
    for place, fact in enumerate(policy.known):
        if not isinstance(fact, (Impossible, Clause)):
            bound = fact.bind(policy.domain, f"known[{place}]")
            if kept.isdisjoint(each.terms for each in bound):
                dropped.append(place)
    return policy.without(dropped)
