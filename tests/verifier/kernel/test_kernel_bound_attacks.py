"""False claims about random small policies with bounds, against kind `branching` (scope given).

Brute force lists all neighbour pairs. Every change below the largest is claimed with a pair that
makes it as the witness, and with proofs that an attacker would try: those of the true value and of
nearby questions (looser bounds, one record more, other secrets, another reading), as they are and
with parts changed. `python tests/verifier/kernel/test_kernel_bound_attacks.py --examples 300 --seed
1` runs more.
"""

from __future__ import annotations

import argparse
import copy
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hypothesis import given, seed, settings
from hypothesis import strategies as st

from asked import question
from blowproof.models import (
    AttributeChange,
    BlowproofError,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Exact,
    Full,
    Integers,
    Marginal,
    Policy,
    Reading,
)
from blowproof.verifier.asked.answer import Pair, json_number
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.proofs.branching import problem_of
from blowproof.verifier.proofs.cases.search import prove
from strategies import policies, query_texts

Document = dict[str, Any]

STEPS = 3_000_000
SECONDS = 0.5  # for a proof of an attacker
READINGS: tuple[Reading, ...] = ("published", "secret-moves", "add-remove", "markov")
KINDS = ("bound", "bound", "count", "marginal", "sum")


def tight(rng: random.Random) -> Policy:
    """Two or three tight bounds around a small database, which chain moves to each other."""
    sizes = rng.choice(((3,), (4,), (5,), (2, 2), (2, 3)))
    domain = Domain({name: Integers(0, size - 1) for name, size in zip("ab", sizes, strict=False)})
    hidden = [[rng.randrange(size) for size in sizes] for _ in range(rng.randint(2, 4))]
    known: list[Any] = []
    for _ in range(rng.randint(2, 3)):
        place = rng.randrange(len(sizes))
        some = sorted(rng.sample(range(sizes[place]), rng.randint(1, sizes[place] - 1)))
        total = sum(x[place] in some for x in hidden)
        ends = {"at_least": max(0, total - rng.randint(0, 1)), "at_most": total + rng.randint(0, 1)}
        if rng.random() < 0.3:
            del ends[rng.choice(sorted(ends))]
        known.append(Count({"ab"[place]: some}, **ends))
    if rng.random() < 0.5:
        place = rng.randrange(len(sizes))
        answers = [sum(x[place] == k for x in hidden) for k in range(sizes[place])]
        known.append(Marginal(["ab"[place]], answers=answers))
    three = [dict(zip("ab", x, strict=False)) for x in rng.sample(list(domain.points()), 3)]
    graphs = (
        Full(),
        Full(),
        AttributeChange(),
        Distance(threshold=1),
        Edges([(three[0], three[1]), (three[1], three[2])]),
    )
    size = Database(size=len(hidden), answers="given")
    return Policy(domain=domain, secrets=rng.choice(graphs), known=tuple(known), database=size)


def proof_of(claim: Document, value: Exact) -> Document | None:
    """A proof of a claim, if one is found at once."""
    try:
        problem = problem_of(world_of(claim, Budget())[0], value)
    except (Rejected, Unreadable):
        return None
    found = prove(problem, deadline=time.monotonic() + SECONDS).proof
    return None if found is None else {"kind": "branching", **found}


def nearby(policy: Policy, reading: Reading) -> Iterator[tuple[Policy, Reading]]:
    """Questions whose proofs come close to one of this question."""
    loose = [_loosened(fact) for fact in policy.known]
    yield replace(policy, known=tuple(loose)), reading
    yield replace(policy, known=tuple(f for f in policy.known if not _bound(f))), reading
    size = policy.database.size
    if size is not None:
        yield replace(policy, database=replace(policy.database, size=size + 1)), reading
    for secrets in (Full(), AttributeChange()):
        yield replace(policy, secrets=secrets), reading
    for other in READINGS:
        yield policy, other


def _loosened(fact: Any) -> Any:
    """The fact with its bounds further out by one."""
    found = copy.copy(fact)
    for end, step in (("at_least", -1), ("at_most", 1)):
        if getattr(fact, end, None) is not None:
            object.__setattr__(found, end, max(0, getattr(fact, end) + step))
    return found


def _bound(fact: Any) -> bool:
    return any(getattr(fact, end, None) is not None for end in ("at_least", "at_most"))


def numbers(item: Any) -> Iterator[tuple[list[Any], int]]:
    """Every number in a proof, as a list and a place in it."""
    for place, inner in enumerate(item):
        if type(inner) is int:
            yield item, place
        elif isinstance(inner, list):
            yield from numbers(inner)


def changed(proof: Document, rng: random.Random) -> Document:
    """The proof with up to three parts changed."""
    found = copy.deepcopy(proof)
    for _ in range(rng.randint(1, 3)):
        key = rng.choice(("nodes", "nodes", "cuts", "groups"))
        part, what = found[key], rng.randrange(9)
        if not part:
            continue
        one, two = rng.randrange(len(part)), rng.randrange(len(part))
        if what == 0:
            part[one], part[two] = part[two], part[one]
        elif what == 1:
            part.insert(two, part.pop(one))
        elif what == 2:
            part.insert(two, copy.deepcopy(part[one]))
        elif what == 3:
            del part[one : rng.choice((one + 1, len(part)))]
        elif what == 4 and key == "groups":
            part[one] = part[one] + part[two]
        elif what == 5 and key == "cuts":
            part[one][0] = 3 - part[one][0]
        elif what == 6 and key == "nodes":
            part[one] = ["leaf", [[-1, rng.randint(1, 3)], [rng.randrange(12), 1]]]
        else:
            places = list(numbers(part))
            for inner, place in rng.sample(places, min(len(places), rng.randint(1, 2))):
                old = inner[place]
                inner[place] = rng.choice(
                    (old - 1, old + 1, -1 - old, 2 * old, 0, rng.randrange(9))
                )
    return found


def shifted(proof: Document) -> Iterator[Document]:
    """The proof with each number raised and lowered by one in turn, and with each end cut off."""
    count = sum(1 for key in ("groups", "cuts", "nodes") for _ in numbers(proof[key]))
    for place in range(count) if count <= 60 else random.Random(count).sample(range(count), 60):
        for step in (-1, 1):
            found = copy.deepcopy(proof)
            listed = [at for key in ("groups", "cuts", "nodes") for at in numbers(found[key])]
            listed[place][0][listed[place][1]] += step
            yield found
    for end in range(min(len(proof["nodes"]), 12)):
        yield {**proof, "nodes": proof["nodes"][:end]}


def attack(policy: Policy, rng: random.Random, tried: Counter[str], each: int = 12) -> None:
    """Claim less than S in every way; AssertionError if the kernel believes it."""
    reading = rng.choice(READINGS)
    try:
        text = rng.choice(query_texts(policy))
        claim, listed = question(policy, text, reading)
    except BlowproofError:
        return
    pairs = {0: Pair(before=(), after=()), **listed}
    least = max(pairs)
    lower = [value for value in pairs if value < least]
    true = proof_of(claim, least)
    if true is not None:
        tried["proved"] += 1
    if not lower:
        return
    proofs = [("of the value", true)] if true else []
    for other, its in nearby(policy, reading):
        try:
            asked = question(other, text, its)[0]
        except BlowproofError:
            continue
        found = proof_of(asked, max(lower))
        proofs += [("of a question nearby", found)] if found else []
    proofs += [("changed", changed(p, rng)) for _, p in proofs for _ in range(each)]
    proofs += [("shifted", p) for p in (shifted(true) if true and each > 4 else ())]
    for value in lower:
        pair = pairs[value]
        witness = pair.to_json(policy.domain) if pair.before or pair.after else None
        if witness is not None:  # without numbers of records, which no fact names
            witness = {key: witness[key] for key in ("before", "after", "unchanged")}
        for what, proof in proofs:
            tried[what] += 1
            false = {**claim, "value": json_number(value), "witness": witness, "proof": proof}
            try:
                told = check(false, STEPS)
            except Unreadable:
                tried["unreadable"] += 1
                continue
            tried[told.reason[:40]] += 1
            assert not told.accepted, (what, told.claim, least, claim["policy"], proof)


def campaign(examples: int, start: int, each: int = 12) -> Counter[str]:
    """Attack so many policies of each sort; count the proofs tried and the reasons given."""
    tried: Counter[str] = Counter()

    @seed(start)
    @settings(max_examples=examples, database=None, derandomize=False, deadline=None)
    @given(
        policies(scope="given", kinds=KINDS, max_values=4, max_records=3),
        st.integers(0, 2**20),
    )
    def attacked(policy: Policy, number: int) -> None:
        attack(policy, random.Random(number), tried, each)

    attacked()
    for place in range(examples):
        attack(tight(rng := random.Random(f"{start} {place}")), rng, tried, each)
    return tried


def test_no_false_claim_about_bounds_is_accepted() -> None:
    tried = campaign(8, 1, each=4)
    assert tried["proved"] > 5
    assert tried["changed"] > 20
    assert tried["of the value"] > 2


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for what, times in campaign(options.examples, options.seed).most_common():
        print(f"{times:8} {what}")
