"""Forged certificates of format 5, systematically: every field of every valid one is changed.

Whoever forges one also writes the digests that belong to it, so each is tried as it is and signed
anew. What is accepted has other digests than the certificate that it came from, and is true: an
engine says so. What was tried is counted.
"""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from asked import resigned
from blowproof.models import BlowproofError, parse_query
from blowproof.models.files.reading import policy_from
from blowproof.models.files.writing import canonical, digest
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.kernel import Unreadable, Verdict, check
from blowproof.verifier.proofs.claim import digest_of, digests, query_table

Document = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "certificates" / "valid"
VALID: dict[str, Document] = {
    path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))
}
SMALL = {name: each for name, each in VALID.items() if len(json.dumps(each)) < 4000}
STEPS = 400_000
PARTS = ["policy", "query", "norm", "reading", "answers", "value", "witness", "counted", "proof"]
PARTS += ["implied", "at_least"]
TRIED: Counter[str] = Counter()


def distinct(values: Iterable[Any]) -> list[Any]:
    """The values, each of them once as JSON text: many certificates share a query or a reading."""
    return list({json.dumps(each): each for each in values}.values())


OF_OTHERS = {
    key: distinct(other.get(key) for other in VALID.values()) for key in (*PARTS, "digests")
}
PROOFS = distinct(
    [other["proof"] for other in VALID.values()]
    + [{"kind": kind} for kind in ("cycles", "single", "four-cells", "every-database")]
)


def told(document: Document) -> Verdict | None:
    """The verdict, None for what is no certificate."""
    try:
        return check(document, STEPS)
    except Unreadable:
        return None


def true_claims(others: dict[str, Document], seed: str) -> None:
    """A change may leave S as it is. The engines, which share no code with the kernel, say so."""
    for claim in random.Random(seed).sample(sorted(others), min(3, len(others))):
        document = others[claim]
        if "data" in document["query"] or "counted" in document:
            continue  # nothing to read them from
        if str(1 << 64) in json.dumps(document):
            continue  # the tables of an engine hold 64-bit numbers, and it stops
        verdict = told(resigned(document))
        assert verdict is not None and verdict.claim == claim
        limit = 0.25 if "at_least" in document else 1  # what ends does within half a second
        try:
            policy = policy_from(document["policy"])
            answer = sensitivity(
                policy, verdict.query, reading=document["reading"], time_limit=limit
            )
        except BlowproofError:
            continue  # no policy that the models accept
        assert answer.lower <= verdict.value, claim
        assert answer.upper is None or verdict.least <= answer.upper, claim
        TRIED["true, says an engine"] += answer.status == "exact"


# parts of one certificate in another -------------------------------------------------------------


@pytest.mark.parametrize("name", VALID)
def test_no_part_of_another_certificate_makes_a_new_claim(name: str) -> None:
    """Proofs, witnesses, values, policies, queries, readings, scopes, counts, digests of others."""
    document, others = VALID[name], dict[str, Document]()
    for key, parts in OF_OTHERS.items():
        for part in parts:
            if part == document.get(key):
                continue
            forged = {**document, key: part}
            forged = {k: v for k, v in forged.items() if v is not None or k == "witness"}
            tried = [forged]
            if key != "digests":
                anew = _signed(forged)
                tried += [anew] if anew and anew["digests"] != forged["digests"] else []
            for signed in tried:
                TRIED[f"{key} of another"] += 1
                verdict = told(signed)
                if verdict is not None and verdict.accepted:
                    assert key != "digests"
                    assert verdict.value == Fraction(forged["value"])
                    assert dict(verdict.digests) == digests(forged)
                    others[verdict.claim] = forged
    true_claims(others, name)


def _signed(document: Document) -> Document | None:
    return resigned(document) if isinstance(document.get("query"), dict) else None


# smaller values ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VALID)
def test_no_other_value_is_accepted_with_any_proof(name: str) -> None:
    document = VALID[name]
    value = Fraction(document["value"])
    more = set() if "at_least" in document else {value + 1}  # of bounds, more is true as well
    for less in {value - 1, value - 2, value / 2, *more, Fraction(0), -value} - {value}:
        number = less.numerator if less.denominator == 1 else str(less)
        for witness in distinct([document["witness"], None]):
            for proof in PROOFS:
                TRIED["another value"] += 1
                forged = {**document, "value": number, "witness": witness, "proof": proof}
                verdict = told(forged)
                assert verdict is None or not verdict.accepted


@pytest.mark.parametrize("name", VALID)
def test_no_bounds_are_accepted_that_exclude_the_value(name: str) -> None:
    """Whatever is put in as bounds: a verdict of them holds what S is known to be."""
    document = VALID[name]
    if "at_least" in document:
        return
    value = Fraction(document["value"])
    ends = {value + step for step in (-2, -1, 0, 1, 2)} | {Fraction(0), value / 2, 2 * value}
    accepted = 0
    for low, high in product(sorted(ends), repeat=2):
        numbers = [end.numerator if end.denominator == 1 else str(end) for end in (low, high)]
        for witness in distinct([document["witness"], None]):
            TRIED["bounds"] += 1
            forged = {**document, "at_least": numbers[0], "value": numbers[1], "witness": witness}
            verdict = told(forged)
            if verdict is not None and verdict.accepted:
                assert verdict.least == low <= value <= high == verdict.value
                assert low < high
                accepted += 1
    plain = told(document)
    if plain is not None and plain.accepted and value and document["proof"]["kind"] != "branching":
        assert accepted


# policies and queries that are changed and signed ------------------------------------------------


def mutants(value: Any) -> Iterator[Any]:
    """A value with one thing in it changed, dropped, added or put elsewhere."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
            yield from ({**value, key: inner} for inner in mutants(value[key]))
            yield {f"{key} " if k == key else k: v for k, v in value.items()}
        yield dict(reversed(value.items()))
    elif isinstance(value, list):
        for place, item in enumerate(value[:4]):
            yield value[:place] + value[place + 1 :]
            yield [*value, item]
            yield from ([*value[:place], m, *value[place + 1 :]] for m in mutants(item))
        yield value[::-1]
    elif isinstance(value, bool) or value is None:
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, value - 1, -value, 0, 1 << 64, str(value), [value], True)
    else:
        yield from (f"{value} ", value[:-1], "", f'{value}","', value.upper(), 0, None)


@pytest.mark.parametrize("name", SMALL)
def test_what_is_changed_and_signed_is_another_claim_or_none(name: str) -> None:
    """The digests tell: whoever compares them with those of the true policy and query sees it."""
    document, others = SMALL[name], dict[str, Document]()
    true = digests(document)
    for key in ("policy", "query", "counted"):
        for mutant in mutants(document.get(key)):
            if json.dumps(mutant) == json.dumps(document.get(key)) or not isinstance(mutant, dict):
                continue
            TRIED[f"{key} changed"] += 1
            unsigned = told({**document, key: mutant})
            assert unsigned is None or not unsigned.accepted
            verdict = told(resigned({**document, key: mutant}))
            if verdict is not None and verdict.accepted:
                TRIED[f"{key} changed, and another claim"] += 1
                assert dict(verdict.digests) != true
                assert verdict.value == Fraction(document["value"])
                others[verdict.claim] = {**document, key: mutant}
    true_claims(others, name)


@pytest.mark.parametrize("name", VALID)
def test_digests_are_those_of_policy_and_query_as_the_models_read_them(name: str) -> None:
    """The embedded policy, read by the models and written anew, has the digest of the claim."""
    document = VALID[name]
    verdict = check(document)
    policy = policy_from(document["policy"])
    assert json.loads(canonical(policy)) == document["policy"]
    found = dict(verdict.digests)
    assert found["policy"] == digest(policy)
    if "data" not in document["query"]:
        assert found["query"] == digest_of(query_table(parse_query(verdict.query, policy), policy))
    for key, digest_ in found.items():
        for other in ("0" * 64, digest_.upper(), digest_[:-1], "", None):
            TRIED["a digest changed"] += 1
            forged = {**document, "digests": {**found, key: other}}
            unsigned = told(forged)
            assert unsigned is None or not unsigned.accepted
        TRIED["a digest left out"] += 1
        left = {k: v for k, v in found.items() if k != key}
        unsigned = told({**document, "digests": left})
        assert unsigned is None or not unsigned.accepted


def test_thousands_of_forgeries_were_tried() -> None:
    """The tests above count them, where they are run; `pytest -s` shows how many of each."""
    print(sum(TRIED.values()), dict(TRIED))
    assert not TRIED or all(TRIED.values())
