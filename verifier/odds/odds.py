"""The front door: `odds`, the largest odds ratio that a mechanism allows some attackers.

>>> from blowproof.models import Domain, Labels, Policy
>>> from blowproof.models.mechanisms.mechanism import Mechanism, Release
>>> policy = Policy(domain=Domain(ill=Labels(["no", "yes"])))
>>> noise = Mechanism(releases=(Release(query="histogram", scale=Fraction(2)),))
>>> found = odds(noise, policy, Fraction(1))
>>> found.verdict, found.lower.text, found.exact
('within', 'exp(1)', True)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Policy, PolicyError
from blowproof.models.attackers.attackers import Attackers
from blowproof.models.base.clock import now
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.policy.policy import Answers
from blowproof.verifier.asked.question import Listener
from blowproof.verifier.odds.any_belief import any_odds
from blowproof.verifier.odds.base.answer import Composition, Factor, Odds, Shown
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.base.board import OddsBoard
from blowproof.verifier.odds.composition import composition
from blowproof.verifier.odds.identical import identical_odds
from blowproof.verifier.odds.independent import independent_odds
from blowproof.verifier.odds.listed import listed_odds

__all__ = ["odds", "undecided"]

STOPPED = "stopped at the time limit"

Found = tuple[Factor, Factor | None, Shown | None, str, tuple[str, ...]]


def odds(  # noqa: PLR0913 # keyword-only options
    mechanism: Mechanism,
    policy: Policy,
    epsilon: Fraction,
    *,
    attackers: Attackers | None = None,
    answers: Answers | None = None,
    time_limit: float | None = None,
    listener: Listener | None = None,
    board: OddsBoard | None = None,
    compose: bool = False,
    on_asked: Callable[[Asked], None] | None = None,
) -> Odds:
    """Return the largest odds ratio over secret pairs, outputs and beliefs, in bounds.

    Definition 3.1 of pufferfish-2012: the smallest e^epsilon with P(M = w | s, theta) <= e^epsilon
    P(M = w | s', theta) for both orders of every secret pair, every output w and every belief theta
    that gives both statements a positive probability. `attackers`: instead of the mechanism's own
    (default: independent records, given the facts). `board`: what is known at any time, for whoever
    stops the search from outside (`undecided` makes an answer of it). `compose`: say also whether
    releases compose linearly against these attackers. `on_asked` is handed the question, as
    `certify_odds` wants it.
    """
    if epsilon <= 0:
        raise PolicyError(f"epsilon is above zero, not {epsilon}")
    start = time.perf_counter()
    asked = Asked.of(
        mechanism,
        policy,
        epsilon,
        attackers or mechanism.attackers or Attackers(),
        answers=answers,
        deadline=None if time_limit is None else now() + time_limit,
        listener=listener,
        board=board,
    )
    if on_asked is not None:
        on_asked(asked)
    asked.chances  # noqa: B018 # refuses what has no exact odds before anything is searched
    try:
        lower, upper, shown, why, notes = _found(asked)
    except TimeoutError:
        found = undecided(mechanism, policy, epsilon, asked.board, STOPPED)
        kind = asked.attackers.kind
        return replace(found, attackers=kind, seconds=time.perf_counter() - start)
    return Odds(
        mechanism=mechanism.name,
        policy=policy.name,
        epsilon=epsilon,
        attackers=asked.attackers.kind,
        lower=lower,
        upper=upper,
        shown=shown,
        why=why,
        notes=notes,
        composition=_composes(asked) if compose else None,
        seconds=time.perf_counter() - start,
    )


def _composes(asked: Asked) -> Composition:
    try:
        return composition(asked)
    except TimeoutError:
        return Composition("open", STOPPED)


def _found(asked: Asked) -> Found:
    kind = asked.attackers.kind
    if kind == "independent":
        return independent_odds(asked)
    if kind == "iid":
        return identical_odds(asked)
    if kind == "any":
        lower, upper, shown, notes = any_odds(asked)
        return lower, upper, shown, "any belief: two databases are the worst", notes
    best, seen, notes = listed_odds(asked)
    return best, best, seen, "listed beliefs: every sum is finite", notes


def undecided(
    mechanism: Mechanism, policy: Policy, epsilon: Fraction, board: OddsBoard, why: str
) -> Odds:
    """Return what is known when the search was stopped: its bounds by then may still decide."""
    return Odds(
        mechanism=mechanism.name,
        policy=policy.name,
        epsilon=epsilon,
        attackers=(mechanism.attackers or Attackers()).kind,
        lower=board.lower,
        upper=board.upper,
        shown=board.shown,
        why=why,
    )
