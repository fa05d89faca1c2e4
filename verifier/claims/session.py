"""A run over many claims: the record's counterexamples first, then the families, then the verdicts.

`run_claims` is what the command and the tests call (`cores` does the same on several cores). Parts
are checked one after the other; what is found is written to the state file now and then, so that
the run can be stopped at any time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from blowproof.verifier.claims.record import changes, counterexamples, instance_from
from blowproof.verifier.claims.run import Failure, Finding, Smallest, Tally, check, judge, put
from blowproof.verifier.claims.shrink import shrink
from blowproof.verifier.claims.state import State
from blowproof.verifier.claims.stating.claim import Claim, Level, Part

__all__ = ["Checked", "Step", "check_part", "run_claims"]

SAVE_SECONDS = 5.0


@dataclass(frozen=True)
class Step:
    """How far a run is: the claim at hand, and how many of all parts are done."""

    claim: Claim
    part: Part
    instances: int
    done: int
    parts: int


@dataclass(frozen=True)
class Checked:
    """A claim after its run: what was found, and what is otherwise than recorded."""

    finding: Finding
    changes: tuple[str, ...]


def run_claims(
    claims: Sequence[Claim],
    level: Level = "quick",
    *,
    state: State | None = None,
    deadline: float | None = None,
    tell: Callable[[Step], None] = lambda step: None,
    minimise: bool = False,
) -> Iterator[Checked]:
    """Yield every claim with its verdict; stop before the first that the deadline cuts short.

    `minimise` shrinks every counterexample, also those that are recorded already.
    """
    state = state or State(None, level)
    total, done = sum(len(claim.parts) for claim in claims), 0
    for claim in claims:
        tallies = []
        for place, part in enumerate(claim.parts):
            heard = partial(_report, tell, Step(claim, part, 0, done, total))
            tally = check_part(
                claim, place, level, state, deadline=deadline, heard=heard, minimise=minimise
            )
            if not tally.finished:
                return
            tallies.append(tally)
            done += 1
        finding = judge(claim, tallies)
        yield Checked(finding, tuple(changes(finding)))


def check_part(  # keyword-only options
    claim: Claim,
    place: int,
    level: Level,
    state: State,
    *,
    deadline: float | None = None,
    heard: Callable[[Tally], None] = lambda tally: None,
    minimise: bool = False,
) -> Tally:
    """Return the tally of one part, from where the state stands; not finished at the deadline.

    Its failures are made small, if the record has none such or if that is asked for.
    """
    tally = state.tally(claim, place)
    if tally.finished:
        return tally
    heard(tally)
    _again(claim, place, tally)
    tally = _walk(claim, place, level, tally, deadline, heard, state)
    if tally.finished:
        if minimise or _is_new(claim, place, tally):
            tally = _minimised(claim.parts[place], tally)
        state.write(claim, place, tally)
    return tally


def _report(tell: Callable[[Step], None], step: Step, tally: Tally) -> None:
    tell(replace(step, instances=tally.instances))


def _again(claim: Claim, place: int, tally: Tally) -> None:
    """Put the recorded counterexamples first: they are the smallest known."""
    if tally.done:
        return
    for example in counterexamples(claim, place):
        found = put(claim.parts[place], instance_from(example), None)
        if isinstance(found, Failure) and found.cost == example["cost"]:
            tally.remember(found)
            tally.failures[found.cost] += 0


def _walk(
    claim: Claim,
    place: int,
    level: Level,
    tally: Tally,
    deadline: float | None,
    heard: Callable[[Tally], None],
    state: State,
) -> Tally:
    saved = time.monotonic()

    def tell(tally: Tally) -> None:
        nonlocal saved
        heard(tally)
        if time.monotonic() - saved > SAVE_SECONDS:
            state.write(claim, place, tally)
            saved = time.monotonic()

    tally = check(claim.parts[place], level, tally, deadline=deadline, tell=tell)
    if not tally.finished:
        state.write(claim, place, tally)
    return tally


def _is_new(claim: Claim, place: int, tally: Tally) -> bool:
    """Whether a part fails in a way (cost, degenerate or not) that the record does not show."""
    shown = counterexamples(claim, place)
    known = {(example["cost"], example["degenerate"] is None) for example in shown}
    return not {(item.cost, not item.degenerate) for item in tally.shown()} <= known


def _minimised(part: Part, tally: Tally) -> Tally:
    def each(kept: Smallest) -> Smallest:
        return {cost: shrink(part, failure) for cost, failure in kept.items()}

    return replace(tally, smallest=each(tally.smallest), proper=each(tally.proper))
