"""Worst pairs in L1 and in L2: a conjecture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations

from blowproof.models import Exact, Policy
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import pairs
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]

RECORDS = 4


def _policies(most: int, counts: int) -> Iterator[Instance]:
    for size in range(2, most + 1):
        edges = tuple(combinations(range(size), 2))
        regions = [r for many in range(1, size) for r in combinations(range(size), many)]
        for many in range(counts + 1):
            for chosen in combinations(regions, many):
                policy = some.letters(size, edges, chosen)
                yield Instance(shape=f"{size} values, {many} counts", policy=policy)


def _norms(policy: Policy) -> set[tuple[int, int]]:
    """Return the L1 norm and the squared L2 norm of the histogram's change, of all pairs."""
    found = set()
    for one, two in pairs(policy, "published", RECORDS):
        change = Counter(two)
        change.subtract(one)
        found.add((sum(map(abs, change.values())), sum(c * c for c in change.values())))
    return found


def _worst_in_both(instance: Instance) -> Exact:
    """Return 1 if some pair is worst in L1 and in L2 at once, or there are no pairs."""
    found = _norms(instance.the_policy)
    if not found:
        return 1
    return int((max(a for a, _ in found), max(b for _, b in found)) in found)


L1_AND_L2 = Claim(
    id="ours/l1-and-l2",
    source="design: SEMANTICS, section 7",
    statement="Full secrets, the histogram: some worst pair in L1 is worst in L2 as well.",
    read_as="Any answers, pairs of up to 4 records listed by brute force; no answer rests on it.",
    status="conjecture",
    parts=(
        counted(
            "some pair is worst in both",
            family(
                "2 to 4 values, every set of up to 2 counts",
                lambda: _policies(3, 1),
                lambda: _policies(4, 2),
            ),
            lambda item: 1,
            _worst_in_both,
            reading="published",
        ),
    ),
)

CLAIMS = (L1_AND_L2,)
