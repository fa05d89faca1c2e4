"""Irreducible multisets of effects: the longest, a best one, or all of them.

Effects are distinct non-zero integer vectors, closed under negation. A non-empty multiset of them
is *irreducible* if it sums to zero and no proper non-empty part of it does. For scope `any`,
equality counts and impossible values, the moves of a neighbour pair are exactly that (SEMANTICS,
section 2). The search exists twice, in plain Python and compiled, on purpose: keep them apart.

Read `multiset` (what is meant), `search` (why it is complete, why it ends), `search_python` (in
150 lines), `search_compiled` with the room arrays, `functionals` and `symmetry` (what makes it
quick), `tasks` (how it is cut into tasks that anybody may run) and `lanes` (on all cores),
`circuits` (lower bounds at once), `warming` and `choice` (which of the two), `best_value`,
`search_from` (with one element more), `trace` (the search written down), `api` (answers). Nothing
here knows a policy.
"""

from blowproof.verifier.engines.irreducibles.api import (
    Enumeration,
    first_irreducibles,
    improve,
    irreducibles,
    largest_part,
    longest,
    longest_bound,
    warm_up,
)
from blowproof.verifier.engines.irreducibles.best_value import Result
from blowproof.verifier.engines.irreducibles.circuits import circuits_lower_bound
from blowproof.verifier.engines.irreducibles.multiset import Multiset, is_irreducible, is_reducible

__all__ = [
    "Enumeration",
    "Multiset",
    "Result",
    "circuits_lower_bound",
    "first_irreducibles",
    "improve",
    "irreducibles",
    "is_irreducible",
    "is_reducible",
    "largest_part",
    "longest",
    "longest_bound",
    "warm_up",
]
