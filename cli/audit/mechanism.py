"""`blowproof audit --mechanism FILE`: a whole plan, judged by the certifier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blowproof.models.policy.in_words import number, printable

if TYPE_CHECKING:
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.audit.findings import Plan
    from blowproof.models import Policy
    from blowproof.verifier.certify.base.verdict import Certified, Loss

__all__ = ["judge_mechanism", "mechanism_words"]


def judge_mechanism(path: str, policy: Policy, plan: Plan, session: Session) -> Certified:
    """Return what the certifier says about a mechanism file, in half of the time that is left.

    A file that is not understood, or that does not fit the policy, is an error with its line.
    """
    from blowproof.cli.asking.judge import judge
    from blowproof.models.mechanisms.mechanism_file import located, read_with_text
    from blowproof.verifier.certify.base.promise import Promise

    rho = plan.noise.promise == "rho"
    promise = Promise(rho=plan.promised) if rho else Promise(plan.promised)
    mechanism, content = session.read(path, lambda: read_with_text(path))
    limit = None if session.left is None else session.left / 2
    return located(
        lambda: judge(session, mechanism, policy, promise, limit=limit),
        content,
        file=path,
    )


def mechanism_words(found: Certified) -> str:
    """Return the verdict, and what the mechanism really loses, in a sentence or two.

    >>> from fractions import Fraction
    >>> from blowproof.verifier.certify.base.promise import Promise
    >>> from blowproof.verifier.certify.base.verdict import Certified
    >>> print(mechanism_words(Certified(mechanism="plan", policy="p", reading="published",
    ...     answers="any", promise=Promise(Fraction(1)), verdict="refuted", lower=2, upper=2,
    ...     witness=None)))
    plan is refuted for epsilon = 1: it really loses 2. Multiply its scales by 2.
    """
    name, promised = printable(found.mechanism), str(found.promise)
    if found.verdict == "undecided":
        return f"whether {name} is private for {promised} is undecided in time."
    verdict = "refuted" if found.verdict == "refuted" else "proved private"
    simple = found.verdict == "refuted" and found.promise.delta is None
    times = found.scales_times if simple else None
    end = "" if times is None else f" Multiply its {found.widths} by {number(times)}."
    if found.verdict == "proved-assuming":
        states = "; ".join(printable(item.states) for item in found.assumptions)
        end = f" That assumes, and nobody checked: {states}."
    return f"{name} is {verdict} for {promised}{_loses(found)}.{end}"


def _loses(found: Certified) -> str:
    if found.exp_between is not None:
        low, high = found.exp_between
        ratio = found.exp_loss or (low if low == high else f"{low} to {high}")
        return f": its probabilities differ by a factor of {ratio}"
    if found.loss is not None:
        return f": it really loses {_shown(found.loss)}"
    if found.verdict == "refuted" and found.lower is not None:
        return f": it loses {_shown(found.lower)} or more"
    return "" if found.upper is None else f": it loses {_shown(found.upper)} at the most"


def _shown(loss: Loss) -> str:
    return "without bound" if isinstance(loss, str) else number(loss)
