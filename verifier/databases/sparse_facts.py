"""What one record adds to each of many facts: only those that it counts for.

With thousands of facts, most of which count a record nothing, asking one after the other takes a
pair of databases minutes to check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from blowproof.models import Domain, LinearFact, Point
from blowproof.models.domain.lookup import Lookup

__all__ = ["SparseFacts"]

Entries = tuple[tuple[int, int], ...]


class SparseFacts:
    """Some facts on one domain.

    >>> from blowproof.models import Count, Labels, Policy
    >>> policy = Policy(domain=Domain(sex=Labels(["F", "M"])),
    ...                 known=(Count({"sex": "F"}), Count({})))
    >>> facts = SparseFacts(policy.domain, policy.linear_facts)
    >>> facts.of((0,)), facts.of((1,)), facts.totals({(0,): 2, (1,): 3})
    (((0, 1), (1, 1)), ((1, 1),), [2, 5])
    """

    def __init__(self, domain: Domain, facts: Sequence[LinearFact]) -> None:
        terms = [(place, *term) for place, fact in enumerate(facts) for term in fact.terms]
        self._owners = [(place, times) for place, times, _ in terms]
        self._lookup = Lookup(domain, [area for _, _, area in terms])
        self._count = len(facts)

    def of(self, point: Point) -> Entries:
        """Return (fact, times) where a record at the point counts, the facts in order."""
        found: dict[int, int] = {}
        for term in sorted(self._lookup.owners(point)):
            place, times = self._owners[term]
            found[place] = found.get(place, 0) + times
        return tuple((place, times) for place, times in found.items() if times)

    def totals(self, histogram: Mapping[Point, int]) -> list[int]:
        """Return each fact's left-hand side for so many records at each point."""
        totals = [0] * self._count
        for point, times in histogram.items():
            for place, once in self.of(point):
                totals[place] += once * times
        return totals
