"""A bound on S that is always at hand where n is known, however little time there is."""

from __future__ import annotations

from blowproof.models import BoundQuery, Exact, show
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.theorems.most_moves import Ceiling

__all__ = ["by_records"]


def by_records(
    query: BoundQuery, reading: str, size: int | None, plain: Exact | None
) -> Ceiling | None:
    """Return the bound from n (scope "given", readings 1 and 2), at once.

    D1 and D2 differ in at most n records, and each changes the query by at most `plain`, the
    largest change of the query when one record changes; n of them add up as the norm says.
    """
    size = size if query.records is None else query.records
    if plain is None or size is None or not is_labelled(reading):
        return None
    bound = query.measure.repeated(plain, size)
    return Ceiling(bound, f"at most all {size} records change, by {show(plain)} each")
