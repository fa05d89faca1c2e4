"""What the noise of an audit promises against attackers, and where readings 1 and 5 part.

An attacker's odds between two values of one record move by at most e^epsilon iff the noise is for S
of reading 5, where beliefs are independent and facts are equalities (`verifier/odds/independent`).
With bounds or clauses that much noise is necessary, and nothing proves it enough.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from blowproof.cli.audit.advice import is_useless
from blowproof.cli.audit.findings import Finding
from blowproof.models import Policy, show
from blowproof.models.norms import L1
from blowproof.models.policy.in_words import short
from blowproof.verifier.asked.answer import Answer, json_number

__all__ = ["attackers_document", "attackers_words"]

READING = "pufferfish"


def attackers_words(policy: Policy, finding: Finding) -> str:
    """Return one line on what attackers learn from noise for the reading that decides, "" if none.

    Where they learn more than e^epsilon, the larger noise is recommended beside the smaller.
    """
    wide = _answer(finding)
    if wide is None or finding.scale is None or finding.query.measure is not L1:
        return ""
    if is_useless(finding):
        return ""  # there is no such noise
    epsilon, own = finding.plan.promised, finding.verdict.upper
    loose = _loose(policy)
    if wide.upper is not None and own is not None and wide.upper <= own:
        if loose:
            return (
                "pairs that independent beliefs are left with are covered by this noise; with "
                "bounds or clauses that is necessary, not known to be enough (blowproof odds)."
            )
        return (
            f"nobody who believes records to be independent has odds that move by more than "
            f"e^{show(epsilon)} with this noise."
        )
    assert own is not None
    if wide.lower > own:
        far = f"by e^{show(epsilon * wide.lower / own)}" if own else "without end"
        larger = ""
        if wide.upper is not None:
            enough = "is needed for that" if loose else "is enough for that"
            larger = f" Noise for S = {short(wide.upper)} {enough}."
        return (
            f"noise for S = {short(own)} lets the odds of somebody who believes records to be "
            f"independent move {far}, not by e^{show(epsilon)} (reading pufferfish).{larger}"
        )
    upper = "nothing bounds" if wide.upper is None else f"at most {short(wide.upper)} bounds"
    return f"open: S of reading pufferfish is at least {short(wide.lower)}, {upper} it from above."


def attackers_document(policy: Policy, finding: Finding) -> dict[str, Any] | None:
    """Return the same as data: S of reading 5, the odds that this noise allows, and the words."""
    words, wide, own = attackers_words(policy, finding), _answer(finding), finding.verdict.upper
    if not words or wide is None:
        return None
    moved = None
    if own:
        moved = json_number(Fraction(wide.lower) / own * finding.plan.promised)
    return {
        "reading": READING,
        "lower": json_number(wide.lower),
        "upper": None if wide.upper is None else json_number(wide.upper),
        "log_odds_at_least": moved,
        "enough_is_proved": not _loose(policy),
        "words": words,
    }


def _answer(finding: Finding) -> Answer | None:
    return next((row.answer for row in finding.rows if row.reading == READING), None)


def _loose(policy: Policy) -> bool:
    return bool(policy.clauses) or any(fact.bounded for fact in policy.linear_facts)
