"""One count between limits, and nothing else known but n: what replaces S.

Records are independent; the number of them in a region A is known to lie in [a, b].

**Theorem.** Whatever the belief, given r_i = t and given r_i = u the databases couple along pairs
that differ in record i's move from t to u and, only if that crosses the border of A, in one record
more at the most, which crosses it the other way. So noise for the larger of S without the fact, and
S with the count known as a number (any number), both of reading 5, bounds all odds.

*Proof.* If t and u lie on the same side, the others have the same distribution given either. Else
let t be in A, and u not. Let p(k) be how likely k of the others are in A: K1 in [a - 1, b - 1]
given t, K2 in [a, b] given u, each as p says. p is log-concave (a sum of independent records of 0
and 1). So K1 is at most K2, and K2 - 1 at most K1, in the order of likelihood ratios: those are
0, 1, infinity in the one case, and p(k + 1) / p(k), which falls, in the other. With one common
quantile, K1 <= K2 <= K1 + 1. Given K1 = K2 the others are alike. Given K2 = K1 + 1, add a record
that is 1 beside K1 and 0 beside K2: with it k + 1 records are in A, an equality, and the theorem in
`independent` couples along irreducible changes: that record and one other. A record that does not
cross the border keeps its value, since values on a side are independent of the rest.

With pairs of reading 5 alone the statement is false: see the claim in the ledger, three records of
which at least one holds 1. For additive noise the bound is met wherever the limits can be reached.
"""

from __future__ import annotations

from dataclasses import replace

from blowproof.models import Count, Impossible, Policy
from blowproof.verifier.odds.base.asked import Asked

__all__ = ["without_numbers"]


def without_numbers(asked: Asked) -> tuple[Policy, ...] | None:
    """Return the policy without its one bound, and with it as a count without a number.

    The latter alone where both limits are one number. None where something else is known, or the
    bound is no count.
    """
    setting, policy = asked.setting, asked.policy
    facts = [fact for fact in policy.known if not isinstance(fact, Impossible)]
    if len(facts) != 1 or setting.size is None or setting.clauses:
        return None
    (fact,) = facts
    if not isinstance(fact, Count) or not fact.bounded:
        return None
    rest = tuple(known for known in policy.known if isinstance(known, Impossible))
    database = replace(policy.database, data=None, size=setting.size, answers="any")
    counted = replace(policy, known=(*rest, Count(fact.where)), database=database)
    if fact.at_least == fact.at_most:
        return (counted,)
    return replace(policy, known=rest, database=database), counted
