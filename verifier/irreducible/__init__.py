"""Irreducible multisets of effects: the longest, a best one, or all of them.

Effects are distinct non-zero integer vectors, closed under negation. A non-empty multiset of them
is *irreducible* if it sums to zero and no proper non-empty part of it does. For scope `any`,
equality counts and impossible values, the moves of a neighbour pair are exactly that (SEMANTICS,
section 2).

Reading order: `multisets` (what is meant), `search` (the search, why it is complete, why it ends),
`plain` (the search in 150 lines), `state`, `kernel`, `sums`, `covered`, `numbaengine`, `compiled`
(the same, compiled), `functionals`, `flats`, `symmetry` (what makes it quick), `circuits` (lower
bounds at once), `instance` and `reducing` (inputs, and an upper bound without a search), `warming`
and `engines` (which of the two searches), `best`, `enumeration`, `started` (with one element more),
`api` (answers). Nothing here imports anything else of blowproof.
"""

from .api import (
    first_irreducibles,
    improve,
    irreducibles,
    largest_part,
    longest,
    longest_bound,
    warm_up,
)
from .best import Result
from .circuits import circuits_lower_bound
from .enumeration import Enumeration
from .multisets import Multiset, is_irreducible, is_reducible

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
