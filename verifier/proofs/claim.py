"""The claim and the witness of a certificate: policy, query, numbers, two databases."""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256
from typing import Any

from blowproof.models import BoundQuery, Policy, Setting
from blowproof.models.files.writing import canonical
from blowproof.models.policy.readings import is_labelled
from blowproof.models.stacks.stacked import ONE, Part, Stacked
from blowproof.verifier.asked.answer import Answer, json_number
from blowproof.verifier.kernel.check import SCHEMA

__all__ = ["claim_of", "counted_table", "digest_of", "digests", "query_table"]


def claim_of(policy: Policy, query: BoundQuery, answer: Answer, setting: Setting) -> dict[str, Any]:
    """Return a certificate without its proof; `setting` is the answer's, with counted numbers."""
    policy = policy.with_answers(answer.answers)
    most = answer.lower if answer.upper is None else answer.upper
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "digests": {},
        "policy": json.loads(canonical(policy)),
        "query": query_table(query, policy),
        "norm": query.measure.name,
        "reading": answer.reading,
        "answers": answer.answers,
        "value": json_number(most),
        "witness": None if answer.witness is None else answer.witness.to_json(policy.domain),
    }
    if most != answer.lower:
        document["at_least"] = json_number(answer.lower)
    if policy.database.data is not None and answer.answers == "given":
        document["counted"] = counted_table(setting, answer.reading)
    document["digests"] = digests(document)
    return document


def digests(document: dict[str, Any]) -> dict[str, str]:
    """Return the digests that a document with these parts has: policy, query, data, file."""
    query = document["query"]
    parts = {"policy": document["policy"], "query": query}
    parts |= {"data": document["counted"]} if "counted" in document else {}
    parts |= {"file": query["data"]} if "data" in query else {}
    return {name: digest_of(part) for name, part in parts.items()}


def digest_of(part: object) -> str:
    """Return the SHA-256 of a part of a certificate, as JSON text in its own order."""
    return sha256(json.dumps(part, separators=(",", ":")).encode("ascii")).hexdigest()


def counted_table(setting: Setting, reading: str) -> dict[str, Any]:
    """Return the numbers of the data that a claim rests on: public ones, and nothing else."""
    answers = [fact.answer for fact in setting.equalities if fact.name != "size"]
    labelled = is_labelled(reading)  # elsewhere the size of the data is no fact
    return {"answers": answers, **({"size": setting.size} if labelled else {})}


def query_table(query: BoundQuery, policy: Policy) -> dict[str, Any]:
    """Return a query in canonical form: kind, arguments, and the numbers of its file in place of
    the file's name.
    """
    if isinstance(query, Stacked):
        if len(query.parts) > 1 or query.parts[0].weights != ONE:
            return {"kind": "stack", "parts": [_part(part, policy) for part in query.parts]}
        query = query.parts[0].query
    arguments = [
        item if isinstance(item, str) else json_number(item)
        for item in query.arguments(policy.domain)
    ]
    table = {"kind": query.name.partition("(")[0], "arguments": arguments}
    data = query.data()
    return table if data is None else {**table, "data": _json(data)}


def _part(part: Part, policy: Policy) -> dict[str, Any]:
    """Return a part of a stack: its weights, one for all of its outputs or one for each."""
    weights = [json_number(weight) for weight in part.weights]
    return {"weights": weights, "query": query_table(part.query, policy)}


def _json(data: object) -> object:
    """Return numbers, and lists of them, as JSON has them."""
    if isinstance(data, list):
        return [_json(item) for item in data]
    assert isinstance(data, (int, Fraction))
    return json_number(data)
