"""What to do, in one or two sentences, from the upper bound: never from a lower one."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from blowproof.cli.audit.cost_of_facts import Changed
from blowproof.cli.audit.findings import Finding, Judgement
from blowproof.cli.audit.sentences import cheapest
from blowproof.cli.text.answer import bounds_text
from blowproof.models import Count, Marginal, Policy
from blowproof.models.policy.in_words import number, printable, times
from blowproof.verifier.asked.names import NO_MORE

__all__ = [
    "advice",
    "better_words",
    "headlines",
    "is_useless",
    "judgement_words",
    "noise_words",
    "plain_words",
    "warning",
]

FAR = 100
"""An upper bound this many times the lower one is no basis for a release."""


SURE = {"proved": "proved", "exact": "exact", "bounds": "open: the search was stopped"}
"""How sure an answer is, in a word or two."""


def headlines(finding: Finding) -> Iterator[str]:
    """Yield the answer to what is asked first: may it be published, and with which noise?

    What somebody has planned is judged before.
    """
    answer, plan, query = finding.verdict, finding.plan, printable(finding.query.name)
    for judgement in finding.judgements:
        yield f"for {query} {judgement_words(finding, judgement)}"
    sure = f"open: {NO_MORE}" if answer.final else SURE[answer.status]
    known = f"({bounds_text(answer)}, {sure})"
    if finding.scale is None or warning(finding):
        yield f"do not publish {query} like this {known}."
    elif finding.scale == 0:
        yield f"{query} may be published without noise {known}."
    else:
        far = Fraction(answer.upper or 0) / (finding.plain or 1)
        more = f", {times(far)} that of plain differential privacy" if far > FAR else ""
        yield f"{plan.noise.allowed(query, finding.scale)} for {plan.aim}{more} {known}."


def warning(finding: Finding) -> str:
    """Return what to say below S where no release would be worth anything, else "".

    Either the noise is sure to be as large as everything that is counted, or the bounds are so far
    apart that nobody would add noise for the upper one; and what to leave out, if that is known.
    """
    answer = finding.verdict
    if _is_drowned(finding):
        assert finding.size is not None
        said = (
            f"Not worth releasing: the noise would be as large as all {number(finding.size)} "
            "records together."
        )
    elif _is_far_above_plain(finding):
        assert finding.plain is not None
        said = (
            "Not worth releasing: S is at least "
            f"{times(Fraction(answer.lower) / finding.plain)} that of plain differential privacy."
        )
    elif answer.upper is None or is_useless(finding):
        said = "Not to be released yet: nothing useful bounds S from above."
    else:
        return ""
    better = cheapest(finding)
    if better is None or better.answer is None:
        return said
    return f"{said} {bounds_text(better.answer)} {_where(better)}."


def _is_drowned(finding: Finding) -> bool:
    """Whether even noise for the lower bound is as large as all records together."""
    size, plan = finding.size, finding.plan
    least = plan.noise.needed(finding.verdict.lower, plan.promised)
    return size is not None and size > 0 and plan.noise.as_large_as(least, size)


def _is_far_above_plain(finding: Finding) -> bool:
    """Whether S, which is not known, is in any case many times that of plain privacy."""
    answer = finding.verdict
    apart = finding.plain is not None and 0 < FAR * finding.plain < answer.lower
    return answer.status == "bounds" and apart


def advice(finding: Finding) -> str:
    """Return the recommendation for one query."""
    answer, plan = finding.verdict, finding.plan
    if finding.scale is None:
        return f"Do not release this yet: S is not bounded from above. {_otherwise(finding)}"
    if is_useless(finding):
        return (
            f"Do not release this yet. Noise for the upper bound ({number(finding.scale)}) would "
            f"be safe, and of no use. {_otherwise(finding)}"
        )
    if answer.upper == 0:
        alike = "differ in their answers"
        if plan.noise.kind == "exponential":
            alike = "tell its places apart"
        return (
            "Publish it without noise, if this is what the policy means: no two neighbours "
            f"{alike}."
        )
    if (_is_drowned(finding) or _is_far_above_plain(finding)) and _alternative(finding) is not None:
        useless = f"Noise of {plan.noise.parameter} {number(finding.scale)} would be safe, and of"
        return f"{_otherwise(finding)} {useless} no use."
    noise = f"{plan.noise.order(finding.scale)} for {plan.aim}"
    if answer.status == "bounds":
        safe = f"the {plan.noise.parameter} is safe, and may be more than is needed"
        return f"{noise}: {safe}.{_cheaper(finding)}"
    return f"{noise}{_compared(finding)}.{_cheaper(finding)}"


def better_words(policy: Policy, finding: Finding) -> str:
    """Return what may take less noise than Laplace noise on each number, "" if nothing is known.

    The planner compares all mechanisms; `consistent` fits a whole table to the public totals.
    """
    if finding.plan.noise.kind != "laplace" or not finding.scale or is_useless(finding):
        return ""
    said = "Before that, blowproof plan compares all mechanisms, and release takes its choice."
    totals = any(isinstance(fact, Marginal | Count) for fact in policy.known)
    if totals and finding.query.separates:
        said += " --mechanism consistent gives a table that adds up to what is public."
    return said


def _otherwise(finding: Finding) -> str:
    """Return what to do in place of a release that nobody can bear."""
    found = _alternative(finding)
    if found is None:
        return (
            "Ask for a coarser query, or drop a fact. blowproof explain POLICY --run shows "
            "who used up the time, if anybody did."
        )
    order, amount = found
    return f"{order}: then noise of {finding.plan.noise.parameter} {amount} is enough."


def _cheaper(finding: Finding) -> str:
    """What to publish instead, if that is surely cheaper."""
    found = _alternative(finding)
    if found is None:
        return ""
    order, amount = found
    return f" Or {_lowered(order)}: then {finding.plan.noise.parameter} {amount} is enough."


def _alternative(finding: Finding) -> tuple[str, str] | None:
    """Return what to publish in its place, as an order, and the noise that is then enough."""
    better = cheapest(finding)
    if better is None or better.answer is None or better.answer.upper is None:
        return None
    plan = finding.plan
    return _instead_of(better), number(plan.noise.needed(better.answer.upper, plan.promised))


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
    if finding.plan.noise.parameter == "variance":
        return f": {times(ratio)} the variance of plain differential privacy"
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
    return finding.plan.noise.words(scale, finding.plan.promised)


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
    real = finding.really
    assert real is not None
    alone = f"S = {number(finding.plain)}, where one record changes alone"
    start = f"{alone}. With noise for that, your {finding.plan.aim} is really"
    low, high = real
    if high is None and not low:
        return f"{alone}. What noise for that really gives is open."
    if low == high:
        return f"{start} {number(low)}."
    if high is None:
        return f"{start} {number(low)} or more."
    return f"{start} between {number(low)} and {number(high)}."


def judgement_words(finding: Finding, judgement: Judgement) -> str:
    """Return whether a plan is enough, and why."""
    plan, lower = finding.plan, finding.verdict.lower
    claimed = judgement.what == "the claimed S" or plan.planned is None
    given = judgement.enough_for if claimed or plan.planned is None else plan.planned
    needed = Fraction(lower) if claimed else plan.noise.needed(lower, plan.promised)
    start = f"{judgement.what} = {number(given)}"
    aim = "" if claimed else f" for {plan.aim}"
    if judgement.enough is None:
        how = NO_MORE if finding.verdict.final else "the search was stopped"
        return f"{start} may or may not be enough{aim}: {how}."
    if judgement.enough:
        return f"{start} is enough{aim}."
    return f"{start} is too small{aim}: {number(needed)} is needed, as the pair below shows."
