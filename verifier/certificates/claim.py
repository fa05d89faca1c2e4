"""The claim and the witness of a certificate: policy, query, numbers, two databases."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from blowproof.models import BoundQuery, Policy, Setting
from blowproof.models.policy import LABELLED
from blowproof.models.queries import (
    ClusterSizes,
    CountQuery,
    Cumulative,
    MarginalQuery,
    MatrixQuery,
    Ranges,
    SumQuery,
    WeightedSum,
)
from blowproof.models.writing import canonical
from blowproof.verifier.answers import Answer, json_number
from blowproof.verifier.kernel.check import SCHEMA

__all__ = ["claim_of", "query_table"]


def claim_of(policy: Policy, query: BoundQuery, answer: Answer, setting: Setting) -> dict[str, Any]:
    """Return a certificate without its proof; `setting` is the answer's, with counted numbers."""
    policy = policy.with_answers(answer.answers)
    table = json.loads(canonical(policy))
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "digest": sha256(canonical(policy).encode("ascii")).hexdigest(),
        "policy": table,
        "query": query_table(query, policy),
        "reading": answer.reading,
        "answers": answer.answers,
        "value": json_number(answer.lower),
        "witness": None if answer.witness is None else answer.witness.to_json(policy.domain),
    }
    if policy.database.data is not None and answer.answers == "given":
        equalities = [fact.answer for fact in setting.equalities if fact.name != "size"]
        labelled = answer.reading in LABELLED  # elsewhere the size of the data is no fact
        size = {"size": setting.size} if labelled else {}
        document["counted"] = {**size, "answers": equalities}
    return document


def query_table(query: BoundQuery, policy: Policy) -> dict[str, Any]:
    """Return a query as a certificate carries it: kind, arguments, and the numbers of its file."""
    names = policy.domain.names
    kind, _, inner = query.name.removesuffix(")").partition("(")
    table: dict[str, Any] = {"kind": kind, "arguments": [inner] if inner else []}
    if isinstance(query, (MarginalQuery, SumQuery)):
        table["arguments"] = [names[axis] for axis in query.axes]
    elif isinstance(query, (Cumulative, Ranges)):
        table["arguments"] = [names[query.axis]]
    elif isinstance(query, CountQuery) and kind == "range":
        table["arguments"] = inner.rsplit(",", 2)
    elif isinstance(query, MatrixQuery):
        height = 1 + max((int(str(k)) for column in query.columns for k in column), default=0)
        rows = [[json_number(column.get(k, 0)) for column in query.columns] for k in range(height)]
        table["data"] = rows
    elif isinstance(query, ClusterSizes):
        table["data"] = [[json_number(value) for value in centroid] for centroid in query.centroids]
    elif isinstance(query, WeightedSum):
        table["arguments"] = [names[query.axis], inner.partition(",")[2]]
        table["data"] = [json_number(weight) for weight in query.weights]
    return table
