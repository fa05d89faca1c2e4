"""What a proof may ask of the kernel takes no memory that is not counted, and no end of digits."""

from __future__ import annotations

import random
import tracemalloc
from itertools import combinations, product

import pytest
from test_kernel_lengths import world

from blowproof.models import Count, Domain, Integers, Labels, Marginal, Policy
from blowproof.models.norms import NORMS
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.measure import Change, ends
from blowproof.verifier.kernel.proofs.cells import Largest, largest
from blowproof.verifier.kernel.proofs.lengths import beside
from blowproof.verifier.kernel.world import World, plus


def homes(count: int = 2) -> Policy:
    """A published table of many cells, and one count beside it."""
    domain = Domain(
        region=Integers(0, 7), heating=Labels(["gas", "oil", "pump", "wood"]), income=Integers(0, 3)
    )
    known = (Marginal(["region", "heating"]), Count({"income": list(range(count))}))
    return Policy(domain=domain, known=known)


def asked(norm: str = "l1") -> World:
    """The question about its histogram, in a norm."""
    found = world(homes(), "histogram")[0]
    found.query.measure = found.measure.name = norm
    found.measure.squared = norm == "l2-squared"
    return found


def test_each_label_more_does_not_double_the_digits() -> None:
    """The count for the base, and 32 cells beside it: 2^32 digits, if stages were all gone by."""
    found = asked()
    cells, count = list(range(32)), 32
    scale, most = beside.bound(found, [count], cells[:-1], [])
    assert scale == 1 and most.bit_length() < 1_000
    fewer = asked()
    assert beside.bound(fewer, cells, [count], [])[1] < most


def rows_of(rng: random.Random, least: int) -> list[Change]:
    """Different rows of a few outputs; `least` is the least number in them."""
    values = [v for v in range(least, 4) if v]
    rows = {
        frozenset((k, rng.choice(values)) for k in range(4) if rng.random() < 0.5)
        for _ in range(rng.randint(1, 6))
    }
    return list(rows)


@pytest.mark.parametrize(("norm", "least"), [*product(NORMS, (0, -3))])
def test_the_largest_difference_is_that_of_some_two_rows(norm: str, least: int) -> None:
    rng, found = random.Random(f"{norm} {least}"), asked(norm)
    for _ in range(150):
        rows = rows_of(rng, least)
        size = top = bottom = 0
        for one, two in combinations(rows, 2):
            change = plus(frozenset((k, -v) for k, v in one), two)
            high, low = ends([value for _, value in change], None)
            size = max(size, found.measure.size(change))
            top, bottom = max(top, high, -low), max(bottom, high, -low)
        assert largest(found, rows) == Largest(size, top, bottom), rows


def test_of_very_many_rows_two_of_the_largest_bound_the_difference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from blowproof.verifier.kernel.proofs import cells

    rng = random.Random(3)
    for norm, least in product(NORMS, (0, -3)):
        found = asked(norm)
        for _ in range(40):
            rows = rows_of(rng, least)
            exact = largest(found, rows)
            with monkeypatch.context() as patched:
                patched.setattr(cells, "MOST_LOOKED_AT", -1)
                told = largest(found, rows)
            assert all(more >= less for more, less in zip(told, exact, strict=True)), rows


def test_differences_are_not_kept_and_are_counted_one_row_after_the_other() -> None:
    rows = [frozenset([(k, 1), (k + 1, -1)]) for k in range(300)]
    found = asked("l2-squared")
    tracemalloc.start()
    try:
        assert largest(found, rows).size == 6
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()
    found.budget = Budget(50_000)
    with pytest.raises(Rejected, match="more steps"):
        largest(found, [frozenset([(k, 1), (k + 9, -1)]) for k in range(300)])
