"""A mechanism put to the certifier: watched, stoppable, and judged by bounds when stopped."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from blowproof.cli.asking.ask import Cut, scope_of
from blowproof.cli.asking.errors import Exit
from blowproof.models.base.errors import PolicyError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection

    from blowproof.cli.asking.ask import Session
    from blowproof.models import Policy, Reading
    from blowproof.models.mechanisms.mechanism import Mechanism
    from blowproof.verifier.asked.names import Engine
    from blowproof.verifier.certify.base.promise import Promise
    from blowproof.verifier.certify.base.verdict import Certified

__all__ = ["judge", "open_assumptions", "verdict_code"]


def judge(
    session: Session,
    mechanism: Mechanism,
    policy: Policy,
    promise: Promise,
    *,
    limit: float | None,
) -> Certified:
    """Return the certifier's verdict; stopped, "undecided" with what is known by then."""
    from blowproof.verifier.certify.certify import certify, undecided

    start = time.monotonic()
    question = session.question
    reading, answers = cast("Reading", question.reading), scope_of(question)
    found = session.follow(
        f"{mechanism.name}, {reading}",
        lambda post: certify(
            mechanism,
            policy,
            promise,
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
        promise,
        reading=reading,
        answers=answers,
        latest=found.latest,
        why=found.reason,
    )
    return replace(open_, seconds=time.monotonic() - start)


def verdict_code(found: Certified, assumed: Collection[str] = ()) -> Exit:
    """Return the exit code of the verdict, where these assumptions are made."""
    if found.verdict == "proved-assuming":
        return Exit.OK if not open_assumptions(found, assumed) else Exit.NO
    return {"proved": Exit.OK, "refuted": Exit.NO}.get(found.verdict, Exit.UNDECIDED)


def open_assumptions(found: Certified, assumed: Collection[str] = ()) -> list[str]:
    """Return the names of the assumptions that nobody has made yet; refuse names of none."""
    names = [item.name for item in found.assumptions]
    for name in assumed:
        if name not in names:
            close = nearest(name, names, what="assumption") or "leave --assume out"
            raise PolicyError(f"--assume {name}: the verdict assumes no such thing", hint=close)
    return [name for name in names if name not in assumed]
