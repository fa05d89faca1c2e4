"""Attributes that nobody looks at hold one value.

*Statement.* Reading 2, scope "any", equality facts and impossible values. Let no fact, no
impossible region and not the query look at the attributes U. Let secrets be a partition by
attributes, values that are near one another, or values that differ in few attributes. Then S(f, P)
= S(f, P_u), where P_u knows besides that U hold u, one choice of values. If a partition is by
attributes of U alone, P_u has full secrets.

*Proof.* A pair of P_u is one of P: what is possible in P_u is so in P, its edges are edges of P
(two values that agree on U agree on what a partition by attributes of U is by), and D3 holds values
that the two databases hold. Conversely let all values of a pair of P be given u in U. No signature
changes, and no row of f. A move along an edge becomes one along an edge, as what differed elsewhere
still does, and nothing else differs; or it is none any more, if it changed U alone. Such a move has
no effect, is therefore all of the pair, and changes f by 0. Otherwise the new moves are as many,
and a part of them has no effect iff the same part had none. QED.

Schools that publish how many pupils are in each grade, and secrets that stay in a school: it is one
school with full secrets.
"""

from __future__ import annotations

from dataclasses import replace

from blowproof.models import BoundQuery, Setting
from blowproof.verifier.reductions.fewer_facts import held_at

__all__ = ["with_one_value"]


def with_one_value(setting: Setting, query: BoundQuery) -> Setting:
    """Return the setting in which attributes that nobody looks at hold their first value.

    It is for reading 2 and any answers; as it is where all are looked at, or for other secrets.
    """
    domain, secrets = setting.domain, setting.policy.secrets
    if setting.scope != "any":
        return setting
    counted = [area for fact in setting.equalities for _, area in fact.terms]
    seen = domain.restricted([*counted, setting.impossible]) | query.axes_read(domain)
    unseen = [axis for axis in range(len(domain)) if axis not in seen]
    kept = secrets.where_one_value(domain, unseen)
    if kept is None:
        return setting
    narrow = held_at(setting, {axis: domain.whole.sides[axis].nth(0) for axis in unseen})
    if narrow is setting:
        return setting
    return replace(narrow, policy=replace(narrow.policy, secrets=kept))
