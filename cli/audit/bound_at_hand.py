"""A bound on S that is always at hand where n is known, however little time there is."""

from __future__ import annotations

from blowproof.models import BoundQuery, Exact, show
from blowproof.verifier.theorems.most_moves import Ceiling

__all__ = ["by_records"]


def by_records(
    query: BoundQuery, reading: str, size: int | None, plain: Exact | None
) -> Ceiling | None:
    """Return the bound from n (scope "given"; in readings 3 and 4 where n is a fact), at once.

    D1 and D2 differ in at most n records, and each changes the query by at most `plain`, the
    largest change of the query when one record changes; n of them add up as the norm says. What
    goes and what comes are equally many records: at most n, and in reading 4 two.
    """
    size = size if query.records is None else query.records
    if plain is None or size is None:
        return None
    if reading == "markov":
        why = f"two records come for two at the most, and each changes the query by {show(plain)}"
        return Ceiling(query.measure.repeated(plain, 2), why)
    bound = query.measure.repeated(plain, size)
    return Ceiling(bound, f"at most all {size} records change, by {show(plain)} each")
