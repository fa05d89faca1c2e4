"""The audit as a JSON document: all that the screen shows."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from blowproof.cli.audit.advice import advice, is_useless, noise_words, warning
from blowproof.cli.audit.attackers import attackers_document
from blowproof.cli.audit.sentences import at_once_words, certificate_words, chain_words, form_words
from blowproof.models import Exact, Point, Policy
from blowproof.models.policy.in_words import known_words, secret_words
from blowproof.verifier.asked.answer import json_number, json_value

if TYPE_CHECKING:
    from blowproof.cli.audit.audited import Audited
    from blowproof.cli.audit.chain_of_moves import Chain
    from blowproof.cli.audit.cost_of_facts import Changed
    from blowproof.cli.audit.findings import Finding, Plan, Row

__all__ = ["audit_document"]


def audit_document(found: Audited) -> dict[str, Any]:
    """Return the document of `blowproof audit --json`."""
    policy, mechanism = found.policy, found.mechanism
    return {
        "schema": "blowproof/audit/1",
        "policy": policy.name,
        "answers": found.scope,
        "protected": secret_words(policy),
        "known": known_words(policy, found.size, limit=len(policy.known)),
        "size": found.size,
        "domain": {
            "attributes": {name: axis.size for name, axis in policy.domain.attributes},
            "size": policy.domain.size,
        },
        **_promised(found.findings[0].plan),
        "queries": [
            {**_query(policy, finding), "picture": _picture(found, place)}
            for place, finding in enumerate(found.findings)
        ],
        "mechanism": None if mechanism is None else mechanism.to_json(policy.domain),
        "exit_code": int(found.code),
    }


def _picture(found: Audited, place: int) -> dict[str, Any]:
    """The policy graph and the averaging attack; None where they do not apply or time was up."""
    drawn = found.pictures[place] if place < len(found.pictures) else None
    return drawn or {"policy_graph": None, "averaging": None}


def _query(policy: Policy, finding: Finding) -> dict[str, Any]:
    answer = finding.verdict
    return {
        "query": finding.query.name,
        "norm": finding.query.measure.name,
        "reading": finding.reading,
        "lower": json_number(answer.lower),
        "upper": _optional(answer.upper),
        "status": answer.status,
        **({"more_time_helps": not answer.final} if answer.status == "bounds" else {}),
        "witness": None if answer.witness is None else answer.witness.to_json(policy.domain),
        "readings": [_row(policy, row) for row in finding.rows],
        "plain": {"sensitivity": _optional(finding.plain), **_real(finding)},
        "noise": _noise(finding),
        "judgements": [
            {
                "what": judgement.what,
                "enough_for": json_number(judgement.enough_for),
                "enough": judgement.enough,
            }
            for judgement in finding.judgements
        ],
        "attackers": attackers_document(policy, finding),
        "warning": warning(finding) or None,
        "recommendation": advice(finding),
        "certificate": {
            "proved": answer.status == "proved",
            "status": answer.status,
            "kind": None if finding.certificate is None else finding.certificate.kind or None,
            "reason": None if finding.certificate is None else finding.certificate.reason or None,
            "words": certificate_words(finding),
        },
        "at_once": _at_once(finding),
        "closed_forms": _forms(finding),
        "chain": None if finding.chain is None else _chain(policy, finding.chain),
        "facts": [_changed(policy, item) for item in finding.extras.left_out],
        "instead": [_changed(policy, item) for item in finding.extras.instead],
    }


def _at_once(finding: Finding) -> dict[str, Any]:
    """How many records change at once; what sparsity and the policy graph say about it."""
    found, pair = finding.extras.at_once, finding.verdict.witness
    return {
        "records": None if pair is None else max(len(pair.before), len(pair.after)),
        "most": None if found is None else found.most,
        "sparse": None if found is None else found.sparse,
        "alpha": None if found is None else found.alpha,
        "xi": None if found is None else found.xi,
        "words": at_once_words(finding),
    }


def _forms(finding: Finding) -> dict[str, Any]:
    forms = finding.extras.forms
    applying = [item for item in forms or () if item.applies]
    return {
        "reached": forms is not None,
        "words": form_words(forms, finding.query.measure.name),
        "applying": [item.to_json() for item in applying],
    }


def _chain(policy: Policy, chain: Chain) -> dict[str, Any]:
    """The worst pair's moves in the order of the chain, with what each does to the known facts."""

    def record(point: Point | None) -> list[int | str] | None:
        return None if point is None else json_value(policy.domain, point)

    return {
        "words": chain_words(chain, clauses=bool(policy.clauses)),
        "moves": [
            {
                "before": record(link.before),
                "after": record(link.after),
                "record": None if link.record is None else link.record + 1,
                "secret": link.before is not None
                and link.after is not None
                and policy.graph.is_edge(link.before, link.after),
                "lowers": [[name, times] for name, times in link.lowers],
                "lifts": [[name, times] for name, times in link.lifts],
            }
            for link in chain.links
        ],
    }


def _changed(policy: Policy, item: Changed) -> dict[str, Any]:
    """S of the policy with one fact left out (`fact`, from 0), or other counts published."""
    return {
        "fact": item.place,
        "words": item.words,
        "reached": item.reached,
        "reason": item.reason or None,
        "lower": None if item.answer is None else json_number(item.answer.lower),
        "upper": None if item.answer is None else _optional(item.answer.upper),
        "status": None if item.answer is None else item.answer.status,
    }


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _promised(plan: Plan) -> dict[str, Any]:
    """What is aimed for: an epsilon, or a rho."""
    given = json_number(plan.promised)
    if plan.noise.promise == "rho":
        return {"epsilon": None, "rho": given}
    return {"epsilon": given}


def _real(finding: Finding) -> dict[str, Any]:
    """What the promise really is with noise for plain differential privacy."""
    name = f"real_{finding.plan.noise.promise}"
    if finding.really is None:
        return {name: None}
    lower, upper = finding.really
    return {name: {"lower": json_number(lower), "upper": _optional(upper)}}


def _noise(finding: Finding) -> dict[str, Any]:
    """The noise to add. What noise does to a chosen place is not by how much a number is off."""
    noise, needed = finding.plan.noise, finding.scale
    found: dict[str, Any] = {
        "kind": noise.kind,
        noise.parameter: _optional(needed),
        "useful": needed is not None and not is_useless(finding),
        "words": noise_words(finding),
    }
    if noise.kind == "laplace":
        found["expected_error"] = _optional(needed)
    elif noise.kind == "gaussian":
        found["expected_error"] = None if needed is None else _finite(noise.expected(needed))
    if noise.kind in ("laplace", "gaussian"):
        deviation = None if needed is None else _finite(noise.deviation(needed))
        found["standard_deviation"] = deviation
    return found


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
