"""`blowproof audit --mechanism FILE`: a whole plan, judged by the certifier."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from blowproof.cli.asking import scope_of
from blowproof.cli.errors import Exit
from blowproof.cli.watching import Stopped
from blowproof.cli.words import number, printable
from blowproof.models import BudgetError, show

if TYPE_CHECKING:
    from fractions import Fraction

    from blowproof.cli.asking import Session
    from blowproof.models import Policy, Reading
    from blowproof.verifier.certify.certified import Certified, Loss
    from blowproof.verifier.question import Engine

__all__ = ["judge_mechanism", "mechanism_code", "mechanism_words"]


def judge_mechanism(path: str, policy: Policy, epsilon: Fraction, session: Session) -> Certified:
    """Return what the certifier says about a mechanism file, in half of the time that is left.

    A file that is not understood, or that does not fit the policy, is an error with its line.
    """
    from blowproof.models.mechanism_file import located, parse_mechanism, read_text
    from blowproof.verifier.certify.api import certify, undecided
    from blowproof.verifier.question import Progress

    content = read_text(Path(path))
    mechanism = parse_mechanism(content, name=Path(path).stem, file=path)
    question = session.question
    reading = cast("Reading", question.reading)
    limit = None if session.left is None else session.left / 2

    def judge() -> Certified:
        return certify(
            mechanism,
            policy,
            epsilon,
            reading=reading,
            answers=scope_of(question),
            engine=cast("Engine", question.engine),
            time_limit=limit,
        )

    def stopped(why: str) -> Certified:
        return undecided(
            mechanism,
            policy,
            epsilon,
            reading=reading,
            answers=scope_of(question),
            latest=Progress(lower=0, upper=None, what=""),
            why=why,
        )

    def judged() -> Certified:
        try:
            return session.run(judge, limit=None if limit is None else limit + 1)
        except (Stopped, BudgetError) as stop:
            return stopped(str(stop))

    return located(judged, content, file=path)


def mechanism_code(found: Certified) -> Exit:
    """Return the exit code of the verdict alone."""
    return {"proved": Exit.OK, "refuted": Exit.NO}.get(found.verdict, Exit.UNDECIDED)


def mechanism_words(found: Certified) -> str:
    """Return the verdict, and what the mechanism really loses, in a sentence or two.

    >>> from fractions import Fraction
    >>> from blowproof.verifier.certify.certified import Certified
    >>> print(mechanism_words(Certified(mechanism="plan", policy="p", reading="published",
    ...     answers="any", epsilon=Fraction(1), verdict="refuted", lower=2, upper=2, witness=None)))
    plan is refuted for epsilon = 1: it really loses 2. Multiply its scales by 2.
    """
    name, epsilon = printable(found.mechanism), show(found.epsilon)
    if found.verdict == "undecided":
        return f"whether {name} is private for epsilon = {epsilon} is undecided in time."
    verdict = "proved private" if found.verdict == "proved" else "refuted"
    times = found.scales_times if found.verdict == "refuted" else None
    end = "" if times is None else f" Multiply its scales by {number(times)}."
    return f"{name} is {verdict} for epsilon = {epsilon}{_loses(found)}.{end}"


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
