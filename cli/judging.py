"""A mechanism put to the certifier: watched, stoppable, and judged by bounds when stopped."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from blowproof.cli.asking import Cut, scope_of
from blowproof.cli.errors import Exit

if TYPE_CHECKING:
    from fractions import Fraction

    from blowproof.cli.asking import Session
    from blowproof.models import Policy, Reading
    from blowproof.models.mechanism import Mechanism
    from blowproof.verifier.certify.certified import Certified
    from blowproof.verifier.question import Engine

__all__ = ["judge", "verdict_code"]


def judge(
    session: Session,
    mechanism: Mechanism,
    policy: Policy,
    epsilon: Fraction,
    *,
    limit: float | None,
) -> Certified:
    """Return the certifier's verdict; stopped, "undecided" with what is known by then."""
    from blowproof.verifier.certify.api import certify, undecided

    start = time.monotonic()
    question = session.question
    reading, answers = cast("Reading", question.reading), scope_of(question)
    found = session.follow(
        f"{mechanism.name}, {reading}",
        lambda post: certify(
            mechanism,
            policy,
            epsilon,
            reading=reading,
            answers=answers,
            engine=cast("Engine", question.engine),
            time_limit=limit,
            listener=post,
        ),
        limit=limit,
    )
    if not isinstance(found, Cut):
        return found
    open_ = undecided(
        mechanism,
        policy,
        epsilon,
        reading=reading,
        answers=answers,
        latest=found.latest,
        why=found.reason,
    )
    return replace(open_, seconds=time.monotonic() - start)


def verdict_code(found: Certified) -> Exit:
    """Return the exit code of the verdict."""
    return {"proved": Exit.OK, "refuted": Exit.NO}.get(found.verdict, Exit.UNDECIDED)
