"""Questions about small policies, and what brute force knows: for tests that forge proofs."""

from typing import Any

from blowproof.models import BlowproofError, Exact, Policy, Reading, parse_query, setting
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.proofs.claim import claim_of, digests

Document = dict[str, Any]


def question(policy: Policy, text: str, reading: Reading) -> tuple[Document, dict[Exact, Pair]]:
    """A claim that S is 0, and a neighbour pair for each change of the query that one makes."""
    prepared = prepare(setting(policy, "given"), reading)
    low, high = size_range(prepared, reading)
    if high is None or high > 5:
        raise BlowproofError("too many records for brute force")
    query = parse_query(text, policy)
    nothing = Answer(
        policy="", query=query.name, reading=reading, answers="given", lower=0, upper=0,
        status="exact", witness=None, engine="", seconds=0.0,
    )  # fmt: skip
    found: dict[Exact, Pair] = {}
    numbered = bool(policy.clauses)
    sizes = range(low, high + 1)
    for pair in brute_neighbours(prepared, reading, sizes=sizes, every_label=numbered):
        found.setdefault(query.difference(pair.moves(reading)), pair)
    return claim_of(policy, query, nothing, prepared), found


def resigned(document: Document) -> Document:
    """The certificate with the digests that belong to what it holds, as a forger would write it."""
    return {**document, "digests": digests(document)}
