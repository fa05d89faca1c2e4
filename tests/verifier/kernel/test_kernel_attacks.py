"""False claims about random small policies: whatever the proof, nothing below S is accepted.

Brute force lists neighbour pairs; the largest change of a database of up to three records is a
lower bound of S in every scope. Each smaller change that some pair makes is then claimed, with that
pair as the witness, and with proofs that an attacker would try: none at all of each kind, the
honest proof of the true value, the same with parts changed, and proofs of other policies.
"""

import random
from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import READINGS, BlowproofError, Exact, Policy, Reading, parse_query, setting
from blowproof.verifier.asked.answer import Answer, Pair, json_number
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.world import Effects
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.proofs.irreducible import trees
from spelling import spelled
from strategies import policies, query_texts

Document = dict[str, Any]

STEPS = 3_000_000
MINIMAL: list[Document] = [
    *({"kind": kind} for kind in ("cycles", "single", "four-cells", "every-database")),
    {"kind": "branching", "groups": [], "cuts": [], "nodes": [["leaf", [[-1, 1]]]]},
    {
        **{"kind": "branching", "groups": [[-1]], "cuts": [[1, [[0, 1]], []]]},
        **{"nodes": [["cut", 0], ["leaf", [[0, 1]]], ["leaf", [[-1, 1]]]]},
    },
]
TRIED: Counter[str] = Counter()


def question(policy: Policy, text: str, reading: Reading) -> tuple[Document, dict[Exact, Pair]]:
    """A claim that S is 0, and a neighbour pair for each change of the query that one makes."""
    prepared = prepare(setting(policy), reading)
    query = parse_query(text, policy)
    nothing = Answer(
        policy="", query=query.name, reading=reading, answers=policy.scope, lower=0, upper=0,
        status="exact", witness=None, engine="", seconds=0.0,
    )  # fmt: skip
    sizes = range(4) if prepared.size is None else [prepared.size]
    found: dict[Exact, Pair] = {0: Pair(before=(), after=())}
    named = any("clause" in type(fact).__name__.lower() for fact in policy.known)
    for pair in brute_neighbours(prepared, reading, sizes=sizes, every_label=named):
        found.setdefault(query.difference(pair.moves(reading)), pair)
    return claim_of(policy, query, nothing, prepared), found


def honest(claim: Document) -> list[Document]:
    """Proofs of the kind `irreducible`, which would do for a claim that is large enough."""
    try:
        return list(trees(Effects(world_of(claim, Budget())[0]), 1.0))
    except (Rejected, Unreadable):
        return []


def changed(proof: Document, rng: random.Random) -> Document:
    """The proof with nodes left out, or other marks, symmetries, functionals or choices."""
    mutant = spelled(proof)
    steps, place = mutant["steps"], rng.randrange(1 + len(mutant["nodes"]))
    what = rng.choice(("drop", "cut", "marks", "symmetry", "functionals", "choice"))
    if what in ("drop", "cut"):
        del mutant["nodes"][place : None if what == "cut" else place + 1]
    elif what == "marks":
        mutant["steps"] = [[d, c, rng.randrange(2), rng.randrange(2)] for d, c, _, _ in steps]
    elif what == "symmetry":
        mutant["symmetries"].append(rng.sample(range(proof["effects"]), proof["effects"]))
    elif what == "functionals":
        mutant[what] = [[rng.randint(-1, 1) for _ in row] for row in proof[what]]
    else:
        most = len(proof["functionals"])
        mutant["steps"] = [
            [d, rng.choice((c, rng.randint(-most, most))), *rest] for d, c, *rest in steps
        ]
    return mutant


def attack(policy: Policy, rng: random.Random, pool: list[Document]) -> None:
    """Claim less than S in every way."""
    reading: Reading = rng.choice(READINGS)
    try:
        claim, pairs = question(policy, rng.choice(query_texts(policy)), reading)
    except BlowproofError:
        return
    proofs = honest(claim)
    tried = [("minimal", proof) for proof in MINIMAL] + [("honest", proof) for proof in proofs]
    tried += [("changed", changed(proof, rng)) for proof in proofs for _ in range(4)]
    tried += [("of another policy", p) for p in rng.sample(pool, min(4, len(pool)))]
    pool.extend(proofs)
    least = max(pairs)
    for value, pair in pairs.items():
        witness = pair.to_json(policy.domain) if pair.before or pair.after else None
        for what, proof in tried if value < least else ():
            TRIED[what] += 1
            try:
                told = check(
                    {**claim, "value": json_number(value), "witness": witness, "proof": proof},
                    STEPS,
                )
            except Unreadable:
                continue
            assert not told.accepted, (what, told.claim, least, claim["policy"], proof)


def test_nothing_below_the_largest_change_is_accepted() -> None:
    pool: list[Document] = []

    @settings(max_examples=80)
    @given(policies(max_values=4, max_records=3), st.integers(0, 2**20))
    def attacked(policy: Policy, seed: int) -> None:
        attack(policy, random.Random(seed), pool)

    attacked()
    assert TRIED["minimal"] > 50
    assert TRIED["changed"] > 10
