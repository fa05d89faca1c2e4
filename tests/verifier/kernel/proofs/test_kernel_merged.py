"""Bounds and clauses under scope given: certificates by search, against brute force.

All neighbour pairs of a small policy are listed. For each change of the query that some pair makes,
the search is written down and offered to the kernel as a proof that S is no larger: only that of S
itself may be accepted. `python tests/verifier/kernel/proofs/test_kernel_merged.py --examples 300
--seed 1` tries more.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import random
import time
from collections import Counter
from collections.abc import Iterator
from math import floor
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from test_kernel_bound_attacks import tight
from test_merging import _choices_of_records as choices_of_records

from asked import question
from blowproof.models import (
    AttributeChange,
    BlowproofError,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Exact,
    Full,
    Integers,
    Known,
    Labels,
    Literal,
    Marginal,
    Policy,
    Reading,
    Region,
    setting,
)
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.ask import certified
from blowproof.verifier.asked.answer import json_number
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.check import upper_bound, world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.proofs.merged import Merged
from blowproof.verifier.kernel.world import Effects
from blowproof.verifier.proofs.graver import gravers
from blowproof.verifier.proofs.irreducible import trees
from blowproof.verifier.proofs.merged import merged_proofs
from strategies import policies, query_texts

Document = dict[str, Any]

STEPS = 50_000_000
SECONDS = 1.0
READINGS: tuple[Reading, ...] = ("published", "secret-moves", "add-remove")
KINDS = ("clause", "bound", "count", "clause", "sum", "marginal", "bound", "impossible")


def entangled(rng: random.Random) -> Policy:
    """A small database with counts, perhaps a bound, and clauses over two or three records each."""
    sizes, most = rng.choice((((3,), 5), ((4,), 4), ((5,), 4), ((2, 2), 4), ((2, 3), 3)))
    domain = Domain({name: Integers(0, size - 1) for name, size in zip("ab", sizes, strict=False)})
    points = list(domain.points())
    hidden = [rng.choice(points) for _ in range(rng.randint(3, most))]
    known: list[Any] = []
    for _ in range(rng.randint(1, 2)):
        where = _where(rng, sizes)
        known.append(Count(where, answer=sum(x in domain.area([where]) for x in hidden)))
    if rng.random() < 0.5:
        where = _where(rng, sizes)
        total = sum(x in domain.area([where]) for x in hidden)
        ends = {"at_least": max(0, total - rng.randint(0, 1)), "at_most": total + rng.randint(0, 1)}
        if rng.random() < 0.7:
            del ends[rng.choice(sorted(ends))]
        known.append(Count(where, **ends))
    for _ in range(rng.randint(1, 2)):
        records = rng.sample(range(len(hidden)), rng.randint(2, 3))
        literals: list[Literal] = []
        for k in records:  # the first is true of the hidden database
            where = _where(rng, sizes)
            inside = rng.random() < 0.7 if literals else hidden[k] in domain.area([where])
            literals.append(Literal(k + 1, where, inside=inside))
        known.append(Clause(literals))
    graph = rng.choice((Full(), Full(), AttributeChange(), Distance(threshold=1)))
    size = Database(size=len(hidden), answers="given")
    return Policy(domain=domain, secrets=graph, known=tuple(known), database=size)


def _where(rng: random.Random, sizes: tuple[int, ...]) -> Region:
    place = rng.randrange(len(sizes))
    size = sizes[place]
    return Region({"ab"[place]: sorted(rng.sample(range(size), rng.randint(1, size - 1)))})


def proofs(claim: Document, value: Exact) -> Iterator[Document]:
    """Every proof by search of the claim that S is no larger than the value."""
    yield {"kind": "cycles"}
    world, end = world_of(claim, Budget())[0], time.monotonic() + SECONDS
    with contextlib.suppress(Rejected):
        moves = Effects(world)
        yield from trees(moves, SECONDS)
        if world.reading == "add-remove":
            yield from gravers(moves, floor(value * moves.scale), end)
    with contextlib.suppress(Rejected):
        yield from merged_proofs(world, value, end)


def changed(proof: Document, rng: random.Random) -> Document:
    """The proof with up to three of its lists changed: parts left out, moved, repeated."""
    found = copy.deepcopy(proof)
    for _ in range(rng.randint(1, 3)):
        some = [part for part in lists(found) if part]
        if not some:
            break
        part = rng.choice(some)
        one, two, what = rng.randrange(len(part)), rng.randrange(len(part)), rng.randrange(7)
        if what == 0:
            part[one], part[two] = part[two], part[one]
        elif what == 1:
            part.insert(two, copy.deepcopy(part[one]))
        elif what == 2:
            del part[one : rng.choice((one + 1, len(part)))]
        elif type(part[one]) is int:
            part[one] += rng.choice((-1, 1, -part[one], part[two]))
    if "joint" in found and rng.random() < 0.2:
        found["rest"]["symmetries"] = []
    return found


def lists(item: Any) -> Iterator[list[Any]]:
    """Every list in a proof."""
    inner = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    if isinstance(item, list):
        yield item
    for each in inner:
        yield from lists(each)


def attack(policy: Policy, rng: random.Random, tried: Counter[str], each: int) -> None:
    """Claim each change that a pair makes; AssertionError if the kernel believes less than S."""
    reading = rng.choice(READINGS)
    try:
        text = rng.choice(["histogram", *query_texts(policy)])
        claim, pairs = question(policy, text, reading)
    except BlowproofError:
        return
    worst = max(pairs, default=0)
    tried["questions"] += 1
    found = set()
    for value in {0, *pairs}:
        witness = pairs[value].to_json(policy.domain) if value in pairs else None
        if witness is not None and not (policy.clauses and reading != "add-remove"):
            witness = {key: witness[key] for key in ("before", "after", "unchanged")}
        document = {**claim, "value": json_number(value), "witness": witness}
        for proof in proofs(claim, value):
            told = check({**document, "proof": proof}, STEPS)
            tried[f"{proof['kind']}: {told.reason[:50] or 'accepted'}"] += 1
            assert "witness" not in told.reason, (told.reason, policy, reading, witness)
            assert not told.accepted or value == worst, (policy, reading, text, value, worst)
            found |= {proof["kind"]} if told.accepted else set()
            if told.accepted and proof["kind"] == "merged" and len(proof["joint"]):
                tried["merged, with a sum"] += 1
            for _ in range(each if value < worst else 0):
                forged = changed(proof, rng)
                with contextlib.suppress(Unreadable):
                    told = check({**document, "proof": forged}, STEPS)
                    tried[f"changed: {told.reason[:50]}"] += 1
                    assert not told.accepted, (policy, reading, text, value, worst, forged)
    kind = "clauses" if policy.clauses else "bounds"
    tried[f"{kind} in {reading}: {'proved' if found else 'no proof'}"] += 1


def campaign(examples: int, start: int, each: int = 12) -> Counter[str]:
    """Ask so many questions of each sort; count what was tried."""
    tried: Counter[str] = Counter()

    @seed(start)
    @settings(max_examples=examples, database=None, derandomize=False, deadline=None)
    @given(
        policies(scope="given", size="always", kinds=KINDS, max_values=4, max_records=3),
        st.integers(0, 2**20),
    )
    def attacked(policy: Policy, number: int) -> None:
        attack(policy, random.Random(number), tried, each)

    attacked()
    for place in range(examples):
        rng = random.Random(f"{start} {place}")
        attack(tight(rng) if place % 4 == 0 else entangled(rng), rng, tried, each)
    return tried


def test_only_the_true_value_is_proved() -> None:
    tried = campaign(25, 1, each=3)
    assert tried["irreducible: accepted"] > 30
    assert tried["merged: accepted"] > 5
    assert tried["merged: an irreducible multiset changes the query by more "] > 10


@pytest.mark.parametrize("reading", READINGS[:2])
def test_the_sums_of_the_records_that_clauses_need(reading: Reading) -> None:
    """Every choice of them in every neighbour pair is among what the kernel lists."""
    compared = 0
    for place in range(50):
        policy = entangled(random.Random(f"sums {place}"))
        try:
            prepared = prepare(setting(policy, "given"), reading)
            world = world_of(question(policy, "histogram", reading)[0], Budget())[0]
            moves = Merged(world, exact=True)
        except (BlowproofError, Rejected):
            continue
        facts = [*moves.world.equalities, *moves.world.bounds]
        ends = [None in (fact.low, fact.high) for fact in moves.world.bounds]
        alike = policy.graph.complete or reading == "secret-moves"
        if any(ends) and alike:
            del facts[len(moves.world.equalities) + ends.index(True)]
        for pair in brute_neighbours(prepared, reading, sizes=[prepared.size or 0]):
            changed = zip(pair.records or (), pair.before, pair.after, strict=True)
            steps = {k: (x, y) for k, x, y in changed}
            assert pair.database is not None
            held = [(x, steps.get(k, (x, x))[1]) for k, x in enumerate(pair.database)]
            broken = sum(
                not any(all(clause.served_by(k, x) for x in held[k]) for k in set(clause.records))
                for clause in prepared.clauses
            )
            for needed in choices_of_records(prepared, pair):
                assert bool(needed) == (broken > 0)
                if broken > moves.alike:
                    ends_of = [steps[k] for k in needed]
                    total = tuple(sum(f.at(y) - f.at(x) for x, y in ends_of) for f in facts)
                    change = Counter(y for _, y in ends_of)
                    change.subtract(x for x, _ in ends_of)
                    assert moves.weight[total] >= sum(map(abs, change.values())) * moves.scale
                    compared += 1
    assert compared > 50


A, B = Labels(["a0", "a1"]), Labels(["b0", "b1", "b2"])
MARGINS = (Marginal(["A"], answers=[9, 9]), Marginal(["B"], answers=[6, 6, 6]))
BOUND = Count({"z": 7}, at_least=1)
CLAUSE = Clause([Literal(1, {"A": "a0"}), Literal(2, {"B": "b0"}, inside=False)])
LARGE: tuple[tuple[tuple[Known, ...], SecretsSpec, Reading, str], ...] = (
    ((BOUND,), Full(), "published", "beside"),
    ((BOUND,), Full(), "add-remove", "irreducible"),
    ((BOUND,), AttributeChange(), "secret-moves", "cycles"),
    ((CLAUSE,), Full(), "published", "irreducible"),
    ((CLAUSE,), Full(), "add-remove", "irreducible"),
    ((BOUND, CLAUSE), Full(), "published", "merged"),
)


@pytest.mark.parametrize(("more", "secrets", "reading", "kind"), LARGE)
def test_domains_that_cannot_be_listed(
    more: tuple[Known, ...], secrets: SecretsSpec, reading: Reading, kind: str
) -> None:
    """6,000 values: certificates for a bound, a clause, or both."""
    domain, size = Domain(A=A, B=B, z=Integers(0, 999)), Database(size=18)
    policy = Policy(domain=domain, known=(*MARGINS, *more), secrets=secrets, database=size)
    answer, found = certified(policy, "histogram", reading=reading, time_limit=20)
    assert (answer.status, found.kind) == ("proved", kind)
    assert found.document is not None
    smaller = {**found.document, "value": int(answer.lower) - 2}
    world, value = world_of(smaller, Budget())
    with pytest.raises(Rejected):
        upper_bound(world, smaller["proof"], value)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for what, times in campaign(options.examples, options.seed).most_common():
        print(f"{times:8} {what}")
