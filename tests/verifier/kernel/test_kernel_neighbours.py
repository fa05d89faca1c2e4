"""The kernel's checks of minimality, by sums of parts and by definition, against brute force."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    READINGS,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    Known,
    Policy,
    Reading,
    UndeterminedError,
    parse_query,
    setting,
)
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.proofs.every_database import Database as Records
from blowproof.verifier.kernel.proofs.every_database import Listing
from blowproof.verifier.kernel.witness import Holder, Pair, why_not
from blowproof.verifier.kernel.world import World
from blowproof.verifier.proofs.claim import claim_of
from strategies import policies

COUNTS = ("count", "marginal", "sum", "impossible", "bound")


LINE = Domain(x=Integers(0, 3))
FACTS: list[tuple[Known, ...]] = [
    (),
    (Count({"x": Between(1, 2)}, answer=1),),
    (Count({"x": Between(1, 2)}, at_least=1, at_most=2),),
    (Count({"x": Between(0, 1)}, answer=1), Count({"x": 1}, at_most=1)),
]
GRAPHS: list[SecretsSpec] = [
    Full(),
    Distance(threshold=1),
    Edges([({"x": 0}, {"x": 1}), ({"x": 1}, {"x": 3})]),
]
CASES = [
    Policy(domain=LINE, secrets=graph, known=known, database=Database(size=size))
    for graph, known, size in product(GRAPHS, FACTS, (2, 3))
]


def asked(policy: Policy, reading: Reading) -> tuple[World, set[tuple[object, ...]]] | None:
    """A world of the kernel, and what brute force lists in it; None if n is not known."""
    try:
        prepared = prepare(setting(policy, "given"), reading)
    except UndeterminedError:
        return None
    if prepared.size is None:
        return None
    query = parse_query("histogram", policy)
    nothing = Answer(
        policy="", query=query.name, reading=reading, answers="given", lower=0, upper=0,
        status="exact", witness=None, engine="", seconds=0.0,
    )  # fmt: skip
    try:
        world = world_of(claim_of(policy, query, nothing, prepared), Budget())[0]
        Listing(world)
    except Rejected:
        return None
    pairs = set()
    for pair in brute_neighbours(prepared, reading, sizes=[prepared.size], every_label=True):
        rest = list(Counter(dict(pair.unchanged)).elements())
        one, two = [*pair.before, *rest], [*pair.after, *rest]
        if pair.database is not None and pair.records is not None:
            one, two = list(pair.database), list(pair.database)
            for place, x in zip(pair.records, pair.after, strict=True):
                two[place] = x
        pairs.add(normal(world, tuple(one), tuple(two)))
    return world, pairs


def normal(world: World, one: Records, two: Records) -> tuple[object, ...]:
    """A pair up to what its world does not tell apart: which record is which."""
    if not world.labelled:
        return tuple(sorted(one)), tuple(sorted(two))
    return (one, two) if world.named else tuple(sorted(zip(one, two, strict=True)))


def by_sums(world: World, one: Records, two: Records) -> bool:
    """Whether the search for D3 finds none."""
    if world.labelled:
        places = [k for k, (x, y) in enumerate(zip(one, two, strict=True)) if x != y]
        before, after = [one[k] for k in places], [two[k] for k in places]
        still: Counter[Holder] = Counter((k, x) for k, x in enumerate(one) if k not in places)
        return not why_not(world, Pair(before, after, still, places))
    first, second = Counter(one), Counter(two)
    gone, new = [*(first - second).elements()], [*(second - first).elements()]
    rest: Counter[Holder] = Counter((None, x) for x in (first & second).elements())
    return not why_not(world, Pair(gone, new, rest, [None] * max(len(gone), len(new))))


def agree(policy: Policy, reading: Reading) -> int:
    """Compare the three, and return how many pairs are neighbours."""
    known = asked(policy, reading)
    if known is None:
        return 0
    world, pairs = known
    listing = Listing(world)
    found = set()
    for databases in listing.alike.values():
        for one in databases:
            for two, told in zip(databases, listing.neighbours(one, databases), strict=True):
                if one != two:
                    assert told == by_sums(world, one, two)
                if told:
                    found.add(normal(world, one, two))
    assert found == pairs
    return len(found)


@pytest.mark.parametrize("reading", READINGS)
def test_three_ways_to_say_who_is_a_neighbour(reading: Reading) -> None:
    assert sum(agree(policy, reading) for policy in CASES) > 100


@settings(max_examples=40)
@given(st.data())
def test_three_ways_agree_on_any_policy(data: st.DataObject) -> None:
    reading: Reading = data.draw(st.sampled_from(READINGS))
    drawn = policies(scope="given", kinds=(*COUNTS, "clause"), max_values=4, max_records=3)
    agree(data.draw(drawn), reading)
