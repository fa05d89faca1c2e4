"""The claim and the witness of a certificate: policy, query, numbers, two databases."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from blowproof.models import BoundQuery, Policy, Setting
from blowproof.models.files.writing import canonical
from blowproof.models.policy.policy import LABELLED
from blowproof.models.queries.kinds import (
    ClusterSizes,
    CountQuery,
    Cumulative,
    MarginalQuery,
    MatrixQuery,
    Ranges,
    SumQuery,
    WeightedSum,
)
from blowproof.models.queries.parse import query_arguments
from blowproof.verifier.asked.answer import Answer, json_number
from blowproof.verifier.kernel.check import SCHEMA

__all__ = ["claim_of", "counted_table", "digest_of", "digests", "query_table"]


def claim_of(policy: Policy, query: BoundQuery, answer: Answer, setting: Setting) -> dict[str, Any]:
    """Return a certificate without its proof; `setting` is the answer's, with counted numbers."""
    policy = policy.with_answers(answer.answers)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "digests": {},
        "policy": json.loads(canonical(policy)),
        "query": query_table(query, policy),
        "norm": "l1",
        "reading": answer.reading,
        "answers": answer.answers,
        "value": json_number(answer.lower),
        "witness": None if answer.witness is None else answer.witness.to_json(policy.domain),
    }
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
    labelled = reading in LABELLED  # elsewhere the size of the data is no fact
    return {"answers": answers, **({"size": setting.size} if labelled else {})}


def query_table(query: BoundQuery, policy: Policy) -> dict[str, Any]:
    """Return a query in canonical form: kind, arguments, and the numbers of its file in place of
    the file's name.
    """
    names = policy.domain.names
    kind = query.name.partition("(")[0]
    table: dict[str, Any] = {"kind": kind, "arguments": []}
    if isinstance(query, (MarginalQuery, SumQuery)):
        table["arguments"] = [names[axis] for axis in query.axes]
    elif isinstance(query, (Cumulative, Ranges)):
        table["arguments"] = [names[query.axis]]
    elif isinstance(query, CountQuery):
        table["arguments"] = _count_arguments(query, kind, policy)
    elif isinstance(query, MatrixQuery):
        height = 1 + max((int(str(k)) for column in query.columns for k in column), default=0)
        rows = [[json_number(column.get(k, 0)) for column in query.columns] for k in range(height)]
        table["data"] = rows
    elif isinstance(query, ClusterSizes):
        table["data"] = [[json_number(value) for value in centroid] for centroid in query.centroids]
    elif isinstance(query, WeightedSum):
        table["arguments"] = [names[query.axis]]
        table["data"] = [json_number(weight) for weight in query.weights]
    return table


def _count_arguments(query: CountQuery, kind: str, policy: Policy) -> list[str | int]:
    """Return the name of a named count, or the attribute and the two ends of a range."""
    named: list[str | int] = [*query_arguments(query.name)]
    if kind != "range":
        return named
    axis = policy.domain.axis(named[0])
    attribute, side = policy.domain.attribute(axis), query.area.boxes[0].sides[axis]
    ends = (attribute.value(side.nth(place)) for place in (0, side.size - 1))
    return [named[0], *(end if isinstance(end, str) else json_number(end) for end in ends)]
