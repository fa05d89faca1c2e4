"""Few signatures, two affine dependencies and more: bounds and conjecture against the engines."""

from dataclasses import replace
from itertools import pairwise, permutations, product
from math import gcd
from random import Random

import pytest

from blowproof.models import AttributeChange, Count, Distance, Domain, Integers, Policy
from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.claims.stating.affine_families import with_signatures
from blowproof.verifier.closed_forms import FORMS, Case, closed_forms
from blowproof.verifier.engines.irreducibles import irreducibles, is_irreducible
from blowproof.verifier.theorems.affine_frames import (
    Signatures,
    framed,
    heaviest_frame,
    kernel,
    partition_count,
    partitions,
)

OURS = {form.id.partition("/")[2]: form for form in FORMS if form.id.startswith("blowproof/")}
BELOW, ABOVE = OURS["affine-blocks-below"], OURS["two-affine-dependencies-above"]
CONJECTURE = OURS["affine-blocks"]
ELSEWHERE = OURS["published-below-complete-two-dependencies"]
Signature = tuple[int, ...]


def drawn(seed: int, rank: int, dependencies: int, largest: int) -> tuple[list[Signature], Random]:
    """Return distinct signatures with that many affine dependencies."""
    rng = Random(seed)
    while True:
        count = rank + 1 + dependencies
        drawn = [tuple(rng.randint(0, largest) for _ in range(rank)) for _ in range(count)]
        found = sorted(set(drawn))
        if len(found) == count and len(kernel(found)) == dependencies:
            return found, rng


def held(policy: Policy, *forms, time_limit: float = 60) -> int:
    """Hold the forms against the engine, which has to come to its end; return S."""
    rows = closed_forms(policy, time_limit=time_limit, forms=forms)
    for row in rows:
        assert row.applies, row.why_not
        where = f"{row.form.id} {row.value}, exact {row.lower}..{row.upper}, {policy!r}"
        assert row.agrees, where
    assert rows[0].lower == rows[0].upper
    return int(rows[0].lower or 0)


@pytest.mark.parametrize(("rank", "largest", "count"), [(1, 6, 16), (2, 2, 12), (3, 1, 12)])
def test_two_dependencies_against_the_engine(rank, largest, count):
    for seed in range(count):
        signatures, rng = drawn(seed, rank, 2, largest)
        sizes = [rng.choice((1, 1, 2, 3)) for _ in signatures]
        policy = with_signatures(signatures, sizes)
        assert held(policy, BELOW, ABOVE, CONJECTURE) >= 2


@pytest.mark.parametrize("size", [1, 2])
def test_every_four_points_on_a_short_line(size):
    for points in product(range(1, 7), repeat=3):
        if sorted(set(points)) == list(points) and gcd(*points) == 1:
            policy = with_signatures([(0,), *((x,) for x in points)], (size,) * 4)
            held(policy, BELOW, ABOVE, CONJECTURE)


@pytest.mark.parametrize(("rank", "largest", "dependencies"), [(1, 6, 3), (2, 2, 3), (1, 6, 4)])
def test_more_dependencies_against_the_engine(rank, largest, dependencies):
    for seed in range(6):
        signatures, rng = drawn(seed, rank, dependencies, largest)
        sizes = [rng.choice((1, 2)) for _ in signatures]
        held(with_signatures(signatures, sizes), BELOW, CONJECTURE)


def test_counts_that_overlap():
    domain = Domain(a=Integers(1, 2), b=Integers(1, 3), c=Integers(1, 2))
    regions = [{"a": 1}, {"b": 1}, {"b": 2}]
    policy = Policy(domain=domain, known=tuple(map(Count, regions)))
    assert held(policy, BELOW, ABOVE, CONJECTURE) == 16


def test_against_brute_force():
    policy = with_signatures([(0,), (1,), (2,), (3,)], (1, 1, 1, 1))
    case = Case(policy, Histogram())
    # 5 moves at most: see the doctest of `heaviest_frame`
    found = sensitivity(policy, "histogram", engine="brute", max_size=5)
    assert BELOW.value(case) == found.lower == CONJECTURE.value(case) <= ABOVE.value(case)


@pytest.mark.parametrize("points", [(0, 1, 2, 3)])
@pytest.mark.parametrize("threshold", [1, 2])
def test_other_secrets_as_published(points, threshold):
    complete = with_signatures([(x,) for x in points], (1, 2, 1, 1))
    policy = replace(complete, secrets=Distance(threshold=threshold))
    assert held(policy, ELSEWHERE)
    case = Case(replace(complete, secrets=AttributeChange()), Histogram())
    assert ELSEWHERE.why_not(case) == "G is complete: the equality itself applies"


def test_no_irreducible_is_longer_than_the_longest_circuit():
    for seed in range(12):
        signatures, _ = drawn(seed, 1, 2, 9)
        found = Signatures(tuple(signatures), (True,) * 4)
        effects = sorted({(y - x,) for (x,) in signatures for (y,) in signatures if x != y})
        listed = irreducibles(effects, time_limit=10)
        lengths = [sum(times for _, times in multiset) for multiset in listed]
        assert listed.complete
        assert 2 * max(lengths) == heaviest_frame(found)


def test_one_boundary_alone_may_exceed_its_circuits():
    places, boundary = (2, 0, 8, 3), (4, -3, -1, 0)

    def irreducible(flow: dict[tuple[int, int], int]) -> bool:
        effects = [(places[j] - places[i],) for i, j in flow]
        return is_irreducible(effects, tuple(enumerate(flow.values())))

    def in_order(order: tuple[int, ...]) -> dict[tuple[int, int], int]:
        cuts = [sum(boundary[c] for c in order[: place + 1]) for place in range(3)]
        flow = {arc: cut for arc, cut in zip(pairwise(order), cuts, strict=True) if cut}
        return flow if all(cut >= 0 for cut in cuts) and irreducible(flow) else {}

    assert irreducible({(0, 2): 3, (0, 3): 1, (2, 1): 3, (3, 2): 1})
    assert max(sum(in_order(order).values()) for order in permutations(range(4))) == 7
    assert heaviest_frame(Signatures(tuple((x,) for x in places), (True,) * 4)) == 26


def test_partitions_and_frames():
    for items in range(6):
        for blocks in range(6):
            listed = list(partitions(items, blocks))
            assert len(listed) == len(set(listed)) == partition_count(items, blocks)
            assert all(sorted(sum(each, ())) == list(range(items)) for each in listed)
    signatures, _ = drawn(3, 2, 3, 3)
    basis, several = kernel(signatures), 0
    for cut in partitions(len(signatures), 3):
        k = framed(basis, cut)
        # the same vector with the blocks written as further signatures
        longer = [(*s, *(int(c in block) for block in cut)) for c, s in enumerate(signatures)]
        assert (k is not None) == (len(kernel(longer)) == 1)
        if k is not None:
            several += 1
            assert gcd(*k) == 1
            assert kernel(longer)[0] in (k, tuple(-x for x in k))
    assert several


def test_where_they_say_nothing():
    reasons = {
        "one signature": [(1,)],
        "independent": [(0,), (1,)],
        "one dependency": [(0,), (1,), (2,)],
        "three": [(0,), (1,), (2,), (3,), (4,)],
        "seven": [(x,) for x in range(9)],
    }
    for name, signatures in reasons.items():
        case = Case(with_signatures(signatures, [2] * len(signatures)), Histogram())
        assert ABOVE.why_not(case), name
        assert (BELOW.why_not(case) is None) == (name == "three"), name
    assert CONJECTURE.status == "conjecture" and "Checked" in CONJECTURE.argument
