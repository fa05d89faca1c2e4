"""`check`: the only maker of an accepted `Verdict`. Claim, witness, proof, in this order."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from importlib import import_module
from math import isqrt
from typing import Any

from .document import MOST_STEPS, Budget, Exact, Rejected, Unreadable, load, want
from .implied import declare
from .measure import Measure
from .policy import Policy
from .stack import query_of
from .witness import change_of, read_pair, why_not
from .world import LABELLED, READINGS, World

SCHEMA = "blowproof/certificate/5"
ODDS = "blowproof/odds-certificate/1"
OLDER = [f"blowproof/certificate/{number}" for number in range(1, 5)]
CERTIFICATE = {
    **{"schema": str, "digests": dict, "policy": dict, "query": dict, "norm": str},
    **{"reading": str, "answers": str, "value": Fraction, "witness": (dict, type(None))},
    **{
        "at_least?": Fraction,
        "proof?": dict,
        "implied?": dict,
        "counted?": {"size?": int, "answers": [int]},
        "tools?": object,
    },
}
NORMS = ("l1", "l2-squared", "linf", "range")
IN_L1 = ("one-sided", "secret-arc")
"""Kinds of proof that are about l1 alone."""
WHAT = ("policy", "query", "file", "data")
"""What a document has digests of, in the order of the claim; the last two where there are some."""
KINDS = {
    **{
        "irreducible": "irreducible",
        "cycles": "cycles",
        "single": "single_move",
        "four-cells": "four_cells",
    },
    **{"every-database": "every_database", "branching": "branching", "graver": "graver"},
    **{"merged": "merged", "cells": "cells", "exchanges": "exchanges", "margins": "margins"},
    **{"determined": "determined", "secret-arc": "secret_arc", "one-sided": "one_sided"},
    **{"limits": "limits", "circuits": "lengths.circuits", "beside": "lengths.beside"},
    **{"ends": "lengths.ends", "tables": "lengths.tables"},
}
FAULTS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError)
_ONLY_HERE = object()


@dataclass(frozen=True)
class Verdict:
    """What the kernel says. One with `accepted` can only be made by `check`."""

    accepted: bool
    reason: str
    claim: str = ""
    kind: str = ""
    digests: tuple[tuple[str, str], ...] = ()
    query: str = ""
    norm: str = ""
    reading: str = ""
    answers: str = ""
    value: Exact = 0
    least: Exact = 0
    """What S is at least: the value, or less where the claim is a pair of bounds."""
    maker: object = None

    def __post_init__(self) -> None:
        if self.accepted and self.maker is not _ONLY_HERE:
            raise TypeError("an accepted verdict comes out of the kernel's check only")


def check_text(text: str, steps: int = MOST_STEPS, seconds: float | None = None) -> Verdict:
    """Check a certificate's text; Unreadable if it is none."""
    return check(load(text), steps, seconds)


def check(
    document: dict[str, Any], steps: int = MOST_STEPS, seconds: float | None = None
) -> Verdict:
    """Check a certificate, for so many steps and seconds at most; Unreadable if it is none."""
    if document.get("schema") == ODDS:
        return _odds(document, Budget(steps, seconds=seconds))
    return _checked(document, Budget(steps, seconds=seconds))


def _checked(document: dict[str, Any], budget: Budget) -> Verdict:
    try:
        world, value = world_of(document, budget)
        kind = want(document["proof"].get("kind"), str, "the kind of proof")
        if kind not in KINDS:
            raise Unreadable("no proof of this kind")
        least = least_of(document, value)
        lower_bound(world, document, least)
        upper_bound(world, document["proof"], value)
    except Rejected as reason:
        return Verdict(False, str(reason))
    except FAULTS as error:
        raise Unreadable(f"not well-formed ({type(error).__name__})") from None
    except (RecursionError, MemoryError) as error:
        return Verdict(False, f"the check takes too much memory ({type(error).__name__})")
    policy, query, told = world.policy, world.query, document["digests"]
    about = ", ".join(f"the {name} with SHA-256 {told[name]}" for name in WHAT if name in told)
    how_much = f"= {value}" if least == value else f"is at least {least} and at most {value}"
    claim = (
        f"S({query.text}) {how_much} under the reading {world.reading}, answers {policy.scope}, "
        f"norm {document['norm']}, for {about}"
    )
    named = (query.text, document["norm"], world.reading, policy.scope, value, least)
    return Verdict(True, "", claim, kind, tuple(told.items()), *named, maker=_ONLY_HERE)


def _odds(document: dict[str, Any], budget: Budget) -> Verdict:
    """Check a certificate about what an attacker learns."""
    try:
        parts = {name: document[name] for name in ("policy", "mechanism")}
        found = {name: digest_of(part) for name, part in parts.items()}
        if document["digests"] != found:
            raise Rejected("the digests are not those of the policy and the mechanism")
        odds = import_module(".odds.check_odds", __package__)
        case = odds.check_odds(document, budget, _checked)
    except Rejected as reason:
        return Verdict(False, str(reason))
    except FAULTS as error:
        raise Unreadable(f"not well-formed ({type(error).__name__})") from None
    except (RecursionError, MemoryError) as error:
        return Verdict(False, f"the check takes too much memory ({type(error).__name__})")
    ends = {"at_least": "at least", "at_most": "at most"}
    bounds = " and ".join(f"{ends[name]} {bound}" for name, bound in sorted(case.claims.items()))
    about = ", ".join(f"the {name} with SHA-256 {told}" for name, told in found.items())
    claim = (
        f"the odds of {case.kind} attackers move by {bounds} at the worst, answers "
        f"{case.policy.scope}, for {about}"
    )
    kind = (case.table.get("proof") or {"kind": "belief"})["kind"]
    return Verdict(
        True, "", claim, kind, tuple(found.items()), "odds",
        reading="pufferfish", answers=case.policy.scope, maker=_ONLY_HERE,
    )  # fmt: skip


def world_of(document: dict[str, Any], budget: Budget) -> tuple[World, Exact]:
    """Return what the claim is about, and the claimed value."""
    if document.get("schema") in OLDER:
        raise Unreadable(
            f"it is of format {document['schema'][-1]}, which does not say whose files it is "
            "about: write it again (sensitivity --certificate)"
        )
    if document.get("schema") != SCHEMA:
        raise Unreadable(f"the schema is not {SCHEMA}")
    table = want(document, CERTIFICATE)
    parts = {"policy": table["policy"], "query": table["query"], "data": table.get("counted")}
    parts["file"] = table["query"].get("data")
    found = {name: digest_of(part) for name, part in parts.items() if part is not None}
    if table["digests"] != found:
        raise Rejected("the digests are not those of the policy, the query, the data and the file")
    policy = Policy(table["policy"])
    if "counted" in table:
        if ("size" in table["counted"]) != (table["reading"] in LABELLED):
            raise Rejected("the size of the data is known in readings 1, 2 and 5, and only there")
        _fill_in(policy, **table["counted"])
    elif policy.data and policy.scope == "given":  # else n would not be known where it is
        raise Rejected("the policy names data, and the numbers counted from them are missing")
    if table["answers"] != policy.scope:
        raise Rejected("the scope is not the policy's")
    if table["reading"] not in READINGS:
        raise Unreadable("no reading of this name")
    if table["norm"] not in NORMS:
        raise Unreadable("no norm of this name that the kernel knows")
    query = query_of(policy, table["query"], budget, table["norm"])
    world = World(policy, table["reading"], query, budget)
    if "implied" in table:
        declare(world, table["implied"])
    return world, table["value"]


def digest_of(part: object) -> str:
    """Return the SHA-256 of a part of the document, as JSON text in the order of the file."""
    return sha256(json.dumps(part, separators=(",", ":")).encode("ascii")).hexdigest()


def alone(norm: str, value: Exact) -> Exact:
    """Return |x| where x is the only change and this is its norm."""
    if norm != "l2-squared":
        return value
    above, below = isqrt(Fraction(value).numerator), isqrt(Fraction(value).denominator)
    root = Fraction(above, below)
    if root * root != value:
        raise Rejected("no change has this square")
    return root


def _fill_in(policy: Policy, answers: list[int], size: int | None = None) -> None:
    """Put in the numbers that were counted from the policy's data file."""
    size = policy.records if size is None else size
    if not policy.data or policy.scope != "given" or policy.records not in (None, size):
        raise Rejected("counted numbers for a policy without data, or that contradict it")
    places = [k for k, fact in enumerate(policy.facts) if not fact.bounded]
    for k, answer in zip(places, answers, strict=True):
        if policy.facts[k].answer not in (None, answer):
            raise Rejected("a counted number contradicts a written one")
        policy.facts[k] = policy.facts[k]._replace(answer=answer)
    policy.records = size


def least_of(document: dict[str, Any], value: Exact) -> Exact:
    """Return what the claim says that S is at least: less than the value, or else the value."""
    least: Exact = want(document, CERTIFICATE).get("at_least", value)
    if "at_least" in document and least >= value:
        raise Rejected("bounds of which the lower is not below the upper")
    return least


def lower_bound(world: World, document: dict[str, Any], value: Exact) -> None:
    """A neighbour pair that changes the query by exactly the value; for 0 none is needed."""
    witness = document["witness"]
    if value < 0 or (witness is None and value != 0):
        raise Rejected("no change is below 0, and one above 0 needs a witness")
    if witness is None:
        return
    pair = read_pair(world, witness)
    if change_of(world, pair) != value:
        raise Rejected("the witness changes the query by another amount")
    problem = why_not(world, pair)
    if problem:
        raise Rejected(problem)


def upper_bound(world: World, proof: dict[str, Any], value: Exact) -> None:
    """No neighbour pair changes the query by more than the value.

    Proofs measure changes in the norm of the claim, but for kinds that are about l1 (`IN_L1`).
    Where the query has one output, all are about l1: its norm does not fall as |x| grows, and is
    the value where |x| is `alone`; in range it is always 0.
    """
    query = world.query
    if query.measure != "l1" and proof["kind"] != "every-database":
        if query.single:
            if query.measure == "range":
                return
            value = alone(query.measure, value)
            query.measure, world.measure = "l1", Measure("l1")
        elif proof["kind"] in IN_L1:
            raise Rejected(f"this kind of proof is about l1, not {query.measure}")
    try:
        import_module(f".proofs.{KINDS[proof['kind']]}", __package__).refute(world, proof, value)
    except FAULTS as error:  # it has the shape of a proof, and names what does not exist
        raise Rejected(f"the proof does not fit the problem ({type(error).__name__})") from None
