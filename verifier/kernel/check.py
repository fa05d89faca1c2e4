"""`check`: the only maker of an accepted `Verdict`. Claim, witness, proof, in this order."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from math import ceil, floor
from typing import Any

from . import bounds, branching
from .counting import counting_problem
from .document import (
    MOST_STEPS,
    Budget,
    Exact,
    Rejected,
    Unreadable,
    items,
    load,
    number,
    only,
    take,
    whole,
)
from .policy import Policy
from .query import Query
from .tree import replay
from .witness import change_of, check_minimal, read_pair
from .world import LABELLED, READINGS, Moves, World

SCHEMA = "blowproof/certificate/1"
KEYS = (
    *("schema", "digest", "policy", "counted", "query", "reading", "answers", "value"),
    *("witness", "proof", "tools"),
)
KINDS = ("irreducible", "cycles", "single", "four-cells", "every-database", "branching")

_ONLY_HERE = object()


@dataclass(frozen=True)
class Verdict:
    """What the kernel says. One with `accepted` can only be made by `check`."""

    accepted: bool
    reason: str
    claim: str = ""
    kind: str = ""
    digest: str = ""
    query: str = ""
    reading: str = ""
    answers: str = ""
    value: Exact = 0
    maker: object = None

    def __post_init__(self) -> None:
        if self.accepted and self.maker is not _ONLY_HERE:
            raise TypeError("an accepted verdict comes out of the kernel's check only")


def check_text(text: str, steps: int = MOST_STEPS) -> Verdict:
    """Check a certificate's text; Unreadable if it is none."""
    return check(load(text), steps)


def check(document: dict[str, Any], steps: int = MOST_STEPS) -> Verdict:
    """Check a certificate; Unreadable if it is none."""
    try:
        return _check(document, Budget(steps))
    except Rejected as reason:
        return Verdict(False, str(reason))
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise Unreadable(f"not well-formed ({type(error).__name__})") from None
    except (RecursionError, MemoryError) as error:
        return Verdict(False, f"the check takes too much memory ({type(error).__name__})")


def _check(document: dict[str, Any], budget: Budget) -> Verdict:
    world, value = world_of(document, budget)
    lower_bound(world, document, value)
    kind = upper_bound(world, take(document, "proof", dict), value)
    policy, query, digest = world.policy, world.query, document["digest"]
    counted = ", with the counts of its data as embedded" if "counted" in document else ""
    claim = (
        f"S({query.text}) = {value} under the reading {world.reading}, answers {policy.scope}, "
        f"for the policy with SHA-256 {digest}{counted}"
    )
    told = (digest, query.text, world.reading, policy.scope, value)
    return Verdict(True, "", claim, kind, *told, maker=_ONLY_HERE)


def world_of(document: dict[str, Any], budget: Budget) -> tuple[World, Exact]:
    """Return what the claim is about, and the claimed value."""
    only(document, KEYS, "the certificate")
    if take(document, "schema", str) != SCHEMA:
        raise Unreadable(f"the schema is not {SCHEMA}")
    table, reading = take(document, "policy", dict), take(document, "reading", str)
    digest = sha256(json.dumps(table, separators=(",", ":")).encode("ascii")).hexdigest()
    if take(document, "digest", str) != digest:
        raise Rejected("the digest is not that of the policy")
    policy = Policy(table)
    _fill_in(policy, document)
    if take(document, "answers", str) != policy.scope:
        raise Rejected("the scope is not the policy's")
    if reading not in READINGS:
        raise Unreadable("no reading of this name")
    query = Query(policy, take(document, "query", dict))
    if reading not in LABELLED and (policy.clauses or query.weights is not None):
        raise Rejected("clauses and weights name records, and this reading does not", limit=True)
    return World(policy, reading, query, budget), number(document.get("value"), "value")


def _fill_in(policy: Policy, document: dict[str, Any]) -> None:
    """Put in the numbers that were counted from the policy's data file."""
    if "counted" not in document:
        return
    if policy.data is None or policy.scope != "given":
        raise Rejected("counted numbers for a policy without data")
    counted = only(document["counted"], ("size", "answers"), "counted")
    places = [k for k, fact in enumerate(policy.facts) if not fact.bounded]
    answers = items(counted.get("answers"), "counted")
    for k, answer in zip(places, answers, strict=True):
        old = policy.facts[k].answer
        if old is not None and old != answer:
            raise Rejected("a counted number contradicts a written one")
        policy.facts[k] = replace(policy.facts[k], answer=whole(answer, "counted"))
    size = whole(counted.get("size"), "counted")
    if policy.records not in (None, size):
        raise Rejected("the counted size contradicts the written one")
    policy.records = size


def lower_bound(world: World, document: dict[str, Any], value: Exact) -> None:
    """A neighbour pair that changes the query by exactly the value; for 0 none is needed."""
    witness = take(document, "witness", dict, type(None))
    if value < 0:
        raise Rejected("no change is below 0")
    if witness is None:
        if value != 0:
            raise Rejected("there is no witness")
        return
    pair = read_pair(world, witness)
    if change_of(world, pair) != value:
        raise Rejected("the witness changes the query by another amount")
    check_minimal(world, pair)


def upper_bound(world: World, proof: dict[str, Any], value: Exact) -> str:
    """No neighbour pair changes the query by more than the value."""
    kind: str = take(proof, "kind", str, where="the proof")
    if kind not in KINDS:
        raise Unreadable("no proof of this kind")
    if kind not in ("irreducible", "branching"):
        only(proof, ("kind",), "the proof")
    if kind == "single":
        _at_most(bounds.single(world), value)
    elif kind == "every-database":
        bounds.every_database(world, value)
    elif kind == "branching":
        tree = {key: item for key, item in proof.items() if key != "kind"}
        branching.check(counting_problem(world, value), tree, world.budget)
    else:
        if world.bounds or world.policy.clauses or world.query.weights is not None:
            raise Rejected("this kind of proof is for equality counts and impossible values")
        if (world.reading == "markov") != (kind == "four-cells"):
            raise Rejected("this kind of proof is for another reading")
        moves = Moves(world)
        claim = floor(Fraction(value) * moves.scale)
        if kind == "four-cells":
            bounds.four_cells(moves, claim)
        elif kind == "cycles":
            _at_most(bounds.cycles(moves), claim)
        else:
            _at_most(moves.idle, claim)
            replay(moves, proof, claim)
    return kind


def _at_most(found: Exact, value: Exact) -> None:
    if ceil(found - value) > 0:
        raise Rejected("the bound that the proof gives is above the value")
