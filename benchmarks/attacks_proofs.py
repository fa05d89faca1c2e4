"""Attacks on certificates: stored ones changed, and false claims written anew.

`forged` changes the certificates of `tests/certificates/valid` and hands them to `blowproof.check`
beside the policy and the query that they were about. `false_small` and `false_bounds` take random
small policies, list all neighbours by brute force, and claim less than the largest change, with
proofs of the truth and of questions nearby, as they are and changed (see the tests of those names).
`false_lengths` does so with proofs by the number of moves (kinds `circuits` and `beside`): every
base and label there may be, any matrix and any form.
"""

from __future__ import annotations

import copy
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "shared"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "verifier" / "kernel"))

import test_kernel_attacks
import test_kernel_bound_attacks

import blowproof
from blowproof.models import BlowproofError, Policy
from blowproof.verifier.asked.answer import json_number
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.world import LABELLED
from blowproof.verifier.proofs.claim import digests
from strategies import policies, query_texts

__all__ = ["false_bounds", "false_lengths", "false_small", "forged"]

FORGERIES = 40
"""So many proofs are made up for each value that some pair changes the query by."""

VALID = Path(__file__).parent.parent / "tests" / "certificates" / "valid"

Document = dict[str, Any]


def forged(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[str | None]:
    """Stored certificates with another value, changed parts, or parts of one another.

    Digests are mostly made anew, as a forger would. A success is what passes for the original's
    policy and query, and says another value than the one that was proved.
    """
    valid = sorted(VALID.glob("*.json"))
    originals = [(path.stem, json.loads(path.read_text("utf-8"))) for path in valid]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "forged.json"
        for number in range(tries):
            name, true = originals[number % len(originals)]
            document = _forgery(rng, true, rng.choice(originals)[1])
            place.write_text(json.dumps(document), "utf-8")
            passed = _passes(place, true, counts)
            yield f"{name}: accepted {json.dumps(document)}" if passed else None


def _forgery(rng: random.Random, true: Document, other: Document) -> Document:
    """One certificate with parts of another, parts changed, and mostly another value."""
    document = copy.deepcopy(true)
    if rng.random() < 0.3:
        for part in rng.sample(("policy", "query", "value", "witness", "proof"), rng.randint(1, 5)):
            document[part] = copy.deepcopy(other[part])
    else:
        document["value"] = _another(rng, true["value"])
    for part in rng.choices(
        ("proof", "witness", "policy", "query"), (3, 3, 1, 1), k=rng.randint(0, 3)
    ):
        for _ in range(rng.randint(1, 3)):
            _change(rng, document[part])
    if rng.random() < 0.8:
        with suppress(KeyError):
            document["digests"] = digests(document)
    return document


def _another(rng: random.Random, value: int | str) -> int | str:
    old = Fraction(value)
    new = rng.choice(
        (old - 1, old + 1, old / 2, old - 2, old * 2, Fraction(0), -old, old + Fraction(1, 3))
    )
    return int(new) if new.denominator == 1 else str(new)


def _change(rng: random.Random, item: Any) -> None:
    """Change something, anywhere inside, in place."""
    inner = [part for part in _parts(item) if part]
    if not inner:
        return
    part = rng.choice(inner)
    if isinstance(part, dict):
        one, two = rng.choice(sorted(part)), rng.choice(sorted(part))
        part[one], part[two] = part[two], part[one]
        if rng.random() < 0.2:
            del part[one]
        return
    one, two = rng.randrange(len(part)), rng.randrange(len(part))
    what = rng.randrange(5)
    if what == 0:
        part[one], part[two] = part[two], part[one]
    elif what == 1:
        part.insert(two, copy.deepcopy(part[one]))
    elif what == 2:
        del part[one]
    elif isinstance(part[one], int):
        part[one] = rng.choice((part[one] + 1, part[one] - 1, -part[one], 0, 2 * part[one]))
    else:
        part[one] = copy.deepcopy(part[two])


def _parts(item: Any) -> Iterator[Any]:
    """Every list and table inside."""
    if isinstance(item, (dict, list)):
        yield item
        for inner in item.values() if isinstance(item, dict) else item:
            yield from _parts(inner)


def _passes(place: Path, true: Document, counts: Counter[str]) -> bool:
    """Whether the file passes for the original's policy and query with another value."""
    try:
        found = blowproof.check(place, time_limit=20)
        if found.accepted and "data" not in true["digests"] and "file" not in true["digests"]:
            arguments = ",".join(map(str, true["query"]["arguments"]))
            text = f"{true['query']['kind']}({arguments})".removesuffix("()")
            found = blowproof.check(place, true["policy"], text, time_limit=20)
            same = found.accepted
        else:
            same = found.accepted and found.to_json()["digests"] == true["digests"]
    except BlowproofError:
        counts["unreadable"] += 1
        return False
    if same and found.value == Fraction(true["value"]):
        counts["the true value again"] += 1
        return False
    if same and "at_least" in true and _weaker(json.loads(place.read_text("utf-8")), true):
        counts["bounds further apart"] += 1
        return False
    counts["rejected" if found.value is None else "about something else"] += not same
    return same


def _weaker(document: Document, true: Document) -> bool:
    """Whether the bounds that a file proves follow from those that the original proved."""
    told = check(document)
    return told.least <= Fraction(true["at_least"]) and told.value >= Fraction(true["value"])


# false claims about random small policies ---------------------------------------------------------


def false_small(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[str | None]:
    """Less than the largest change of some small database, in any scope and reading."""
    pool: list[Document] = []
    before = test_kernel_attacks.TRIED.total()
    for policy in _drawn(rng, tries):
        yield _attacked(lambda policy=policy: test_kernel_attacks.attack(policy, rng, pool))
    counts["false claims"] += test_kernel_attacks.TRIED.total() - before


def false_bounds(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[str | None]:
    """Less than S with bounds and clauses, scope given, where every neighbour is listed."""
    tried: Counter[str] = Counter()
    for _ in range(tries):
        policy = test_kernel_bound_attacks.tight(rng)
        yield _attacked(lambda policy=policy: test_kernel_bound_attacks.attack(policy, rng, tried))
    said = ("of the value", "of a question nearby", "changed", "shifted")
    counts["false claims"] += sum(tried[what] for what in said)


def false_lengths(rng: random.Random, tries: int, counts: Counter[str]) -> Iterator[str | None]:
    """Less than the largest change, "proved" by the number of moves; where brute force lists all.

    A try is one drawn policy, and one with tight bounds.

    What the kernel says of the largest change itself is counted too: proofs of these kinds that are
    accepted, so that the others come close.
    """
    for policy in _drawn(rng, tries):
        tight = test_kernel_bound_attacks.tight(rng)
        yield _with_lengths(policy, rng, counts) or _with_lengths(tight, rng, counts)


def _with_lengths(policy: Policy, rng: random.Random, counts: Counter[str]) -> str | None:
    """Return what was believed about one policy."""
    reading = rng.choice(LABELLED)
    text = rng.choice(query_texts(policy))
    try:
        claim, pairs = test_kernel_attacks.question(policy, text, reading)
        world = world_of(claim, Budget())[0]
    except (BlowproofError, Rejected, Unreadable):
        return None
    known, facts = len(world.equalities), len(world.equalities) + len(world.bounds)
    least = max(pairs)
    for value, pair in pairs.items():
        witness = pair.to_json(policy.domain) if pair.before or pair.after else None
        for _ in range(FORGERIES):
            proof = _by_circuits(rng, known) if rng.random() < 0.3 else _beside(rng, known, facts)
            document = {**claim, "value": json_number(value), "witness": witness, "proof": proof}
            try:
                told = check(document, test_kernel_attacks.STEPS)
            except Unreadable:
                continue
            if told.accepted and value < least:
                return f"a false claim was accepted: {json.dumps(document)}"
            counts["true claims accepted" if told.accepted else "claims rejected"] += 1
    return None


def _by_circuits(rng: random.Random, known: int) -> Document:
    """An ellipsoid that is one, or any matrix."""
    facts = rng.sample(range(known), rng.randint(0, known))
    root = [[rng.randint(-2, 2) for _ in facts] for _ in facts]
    if rng.random() < 0.7:
        root = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in root] for x in root]
    return {"kind": "circuits", "facts": facts, "shape": root}


def _beside(rng: random.Random, known: int, facts: int) -> Document:
    """Any base; as labels all else, or some of it; and any forms."""
    base = rng.sample(range(known), rng.randint(0, known))
    left = [k for k in range(facts) if k not in base]
    labels = rng.sample(left, len(left) if rng.random() < 0.5 else rng.randint(0, len(left)))
    forms = [[[rng.randint(0, 3), rng.randint(-2, 2), rng.randint(-2, 2)] for _ in range(3)]
             for _ in range(rng.randint(0, 2))]  # fmt: skip
    return {"kind": "beside", "base": base, "labels": labels, "forms": forms}


def _attacked(attack: Callable[[], None]) -> str | None:
    """Run an attack of the tests, which raises an AssertionError where it succeeds."""
    try:
        attack()
    except AssertionError as error:
        return f"a false claim was accepted: {error}"
    return None


def _drawn(rng: random.Random, tries: int) -> list[Policy]:
    """So many random small policies."""
    found: list[Policy] = []

    @seed(rng.randrange(2**32))
    @settings(max_examples=tries, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(policies(max_values=4, max_records=3))
    def keep(policy: Policy) -> None:
        found.append(policy)

    keep()
    return found
