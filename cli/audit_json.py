"""The audit as a JSON document: all that the screen shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from blowproof.cli.advice import advice
from blowproof.cli.words import known_words, secret_words
from blowproof.models import Exact, Policy
from blowproof.verifier.answers import json_number

if TYPE_CHECKING:
    from blowproof.cli.findings import Finding, Row

__all__ = ["audit_document"]


def audit_document(
    policy: Policy, scope: str, size: int | None, findings: Sequence[Finding]
) -> dict[str, Any]:
    """Return the document of `blowproof audit --json`."""
    return {
        "schema": "blowproof/audit/1",
        "policy": policy.name,
        "answers": scope,
        "protected": secret_words(policy),
        "known": known_words(policy, size, limit=len(policy.known)),
        "size": size,
        "domain": {
            "attributes": {name: axis.size for name, axis in policy.domain.attributes},
            "size": policy.domain.size,
        },
        "epsilon": json_number(findings[0].plan.epsilon),
        "queries": [_query(policy, finding) for finding in findings],
    }


def _query(policy: Policy, finding: Finding) -> dict[str, Any]:
    answer, scale = finding.verdict, finding.scale
    return {
        "query": finding.query.name,
        "reading": finding.reading,
        "lower": json_number(answer.lower),
        "upper": _optional(answer.upper),
        "status": answer.status,
        "witness": None if answer.witness is None else answer.witness.to_json(policy.domain),
        "readings": [_row(policy, row) for row in finding.rows],
        "plain": {"sensitivity": _optional(finding.plain), "real_epsilon": _real(finding)},
        "noise": {"kind": "laplace", "scale": _optional(scale), "expected_error": _optional(scale)},
        "judgements": [
            {
                "what": judgement.what,
                "enough_for": json_number(judgement.enough_for),
                "enough": judgement.enough,
            }
            for judgement in finding.judgements
        ],
        "recommendation": advice(finding),
    }


def _real(finding: Finding) -> dict[str, Any] | None:
    if finding.real_epsilon is None:
        return None
    lower, upper = finding.real_epsilon
    return {"lower": json_number(lower), "upper": _optional(upper)}


def _row(policy: Policy, row: Row) -> dict[str, Any]:
    applies = row.answer is not None
    answer = None if row.answer is None else row.answer.to_json(policy.domain)
    return {
        "reading": row.reading,
        "applies": applies,
        "reason": row.reason or None,
        "answer": answer,
    }


def _optional(value: Exact | None) -> int | str | None:
    return None if value is None else json_number(value)
