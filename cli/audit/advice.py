"""What to do, in one or two sentences, from the upper bound: never from a lower one."""

from __future__ import annotations

from fractions import Fraction
from math import inf, sqrt

from blowproof.cli.audit.cost_of_facts import Changed
from blowproof.cli.audit.findings import Finding, Judgement
from blowproof.cli.audit.sentences import cheapest
from blowproof.cli.text.answer import bounds_text
from blowproof.cli.text.policy_in_words import number, times
from blowproof.models import show

__all__ = [
    "advice",
    "deviation",
    "is_useless",
    "judgement_words",
    "noise_words",
    "plain_words",
    "warning",
]

FAR = 100
"""An upper bound this many times the lower one is no basis for a release."""


def warning(finding: Finding) -> str:
    """Return what the first line has to say where no release would be worth anything, else "".

    Either the noise is sure to be as large as everything that is counted, or the bounds are so far
    apart that nobody would add noise for the upper one; and what to leave out, if that is known.
    """
    answer, size = finding.verdict, finding.size
    if size is not None and 0 < size <= answer.lower / finding.plan.epsilon:
        said = (
            f"Not worth releasing: the noise would be as large as all {number(size)} records "
            "together."
        )
    elif answer.upper is None or is_useless(finding):
        said = "Not to be released yet: nothing useful bounds S from above."
        if finding.plain and answer.lower > FAR * finding.plain:
            said = (
                "Not worth releasing: S is at least "
                f"{times(Fraction(answer.lower) / finding.plain)} that of plain differential "
                "privacy."
            )
    else:
        return ""
    better = cheapest(finding)
    if better is None or better.answer is None:
        return said
    return f"{said} {bounds_text(better.answer)} {_where(better)}."


def advice(finding: Finding) -> str:
    """Return the recommendation for one query."""
    answer, epsilon = finding.verdict, show(finding.plan.epsilon)
    if finding.scale is None:
        return f"Do not release this yet: S is not bounded from above. {_otherwise(finding)}"
    if is_useless(finding):
        return (
            f"Do not release this yet. Noise for the upper bound ({number(finding.scale)}) would "
            f"be safe, and of no use. {_otherwise(finding)}"
        )
    if answer.upper == 0:
        return (
            "Publish it without noise, if this is what the policy means: no two neighbours differ "
            "in their answers."
        )
    noise = (
        f"Add Laplace noise of scale {number(finding.scale)} to each number for epsilon = {epsilon}"
    )
    if answer.status == "bounds":
        said = f"{noise}: the scale is safe, and searching for longer may lower it."
        return f"{said}{_cheaper(finding)}"
    return f"{noise}{_compared(finding)}.{_cheaper(finding)}"


def _otherwise(finding: Finding) -> str:
    """Return what to do in place of a release that nobody can bear."""
    found = _alternative(finding)
    if found is None:
        return "Search for longer (--time-limit), or ask for a coarser query."
    order, scale = found
    return f"{order}: then noise of scale {scale} is enough."


def _cheaper(finding: Finding) -> str:
    """What to publish instead, if that is surely cheaper."""
    found = _alternative(finding)
    if found is None:
        return ""
    order, scale = found
    return f" Or {_lowered(order)}: then scale {scale} is enough."


def _alternative(finding: Finding) -> tuple[str, str] | None:
    """Return what to publish in its place, as an order, and the scale that is then enough."""
    better = cheapest(finding)
    if better is None or better.answer is None or better.answer.upper is None:
        return None
    return _instead_of(better), number(better.answer.upper / finding.plan.epsilon)


def _instead_of(better: Changed) -> str:
    """Return what to publish, as an order."""
    if better.place is None:
        return f"Publish {better.words} instead"
    return f"Do not publish {better.words}"


def _where(better: Changed) -> str:
    return f"{'with' if better.place is None else 'without'} {better.words}"


def _lowered(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _compared(finding: Finding) -> str:
    upper = finding.verdict.upper
    assert upper is not None
    if not finding.plain or upper == finding.plain:
        return ", as for plain differential privacy" if finding.plain else ""
    ratio = Fraction(upper) / finding.plain
    if ratio > 1:
        return f": {times(ratio)} what plain differential privacy would have added"
    return f": plain differential privacy would have added {times(1 / ratio)} as much"


def noise_words(finding: Finding) -> str:
    """Return the noise to add, and the error to expect in each number."""
    scale = finding.scale
    if scale is None or is_useless(finding):
        return "unknown until S is bounded from above" + ("" if scale is None else " more closely")
    if scale == 0:
        return "none is needed"
    return (
        f"Laplace of scale {number(scale)} for epsilon = {show(finding.plan.epsilon)}: each number "
        f"is then off by {number(scale)} on average (standard deviation "
        f"{deviation(scale):.4g})."
    )


def deviation(scale: Fraction) -> float:
    """Return the standard deviation of Laplace noise, sqrt(2) times its scale, for people."""
    try:
        return sqrt(2) * float(scale)
    except OverflowError:
        return inf


def is_useless(finding: Finding) -> bool:
    """Whether the upper bound is so far from the lower one that nobody would add noise for it."""
    answer = finding.verdict
    if answer.status != "bounds" or answer.upper is None:
        return False
    return answer.upper > FAR * max(answer.lower, finding.plain or 0, 1)


def plain_words(finding: Finding) -> str:
    """Return what plain differential privacy would have assumed, and what it would really give."""
    if finding.plain is None:
        return "not known for this query on so large a domain"
    if finding.plain == 0:
        return "S = 0: the query gives the same answer for every database of n records"
    real = finding.real_epsilon
    assert real is not None
    planned = show(finding.plan.epsilon)
    start = f"S = {number(finding.plain)}. With noise for that, your epsilon = {planned} is really"
    low, high = real
    if high is None and not low:
        return f"S = {number(finding.plain)}. What noise for that really gives is open."
    if low == high:
        return f"{start} {number(low)}."
    if high is None:
        return f"{start} {number(low)} or more."
    return f"{start} between {number(low)} and {number(high)}."


def judgement_words(finding: Finding, judgement: Judgement) -> str:
    """Return whether a plan is enough, and why."""
    plan, lower = finding.plan, finding.verdict.lower
    scale = judgement.what == "the planned scale" and plan.scale is not None
    given = plan.scale if scale and plan.scale is not None else judgement.enough_for
    needed = Fraction(lower) / plan.epsilon if scale else Fraction(lower)
    start = f"{judgement.what} = {number(given)}"
    for_epsilon = f" for epsilon = {show(plan.epsilon)}" if scale else ""
    if judgement.enough is None:
        return f"{start} may or may not be enough{for_epsilon}: the search was stopped."
    if judgement.enough:
        return f"{start} is enough{for_epsilon}."
    return (
        f"{start} is too small{for_epsilon}: {number(needed)} is needed, as the pair below shows."
    )
