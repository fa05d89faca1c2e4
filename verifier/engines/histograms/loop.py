"""Propose, refute, cut: the loop of the engines that know histograms."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

from blowproof.models import InternalError
from blowproof.verifier.asked.answer import Answer, OnBest, Pair
from blowproof.verifier.asked.question import Ends
from blowproof.verifier.engines.histograms.refuter import Proposal
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours.check import check_pair, require_pair

__all__ = ["Known", "Proposer", "best_proposal", "checked_pair", "is_pair"]


class Proposer(Protocol):
    """Proposes pairs of databases in I_Q that nothing has ruled out so far."""

    @property
    def proposals(self) -> int:
        """How many pairs were proposed."""
        ...

    @property
    def cuts(self) -> int:
        """How many of them were refuted."""
        ...

    def bound(self) -> int:
        """Return what no pair changes the (scaled) query by more than."""
        ...

    def propose(self, *, above: int, deadline: float | None) -> Proposal | None:
        """Return a pair that changes the query by more; None if there is none."""
        ...

    def refute(self, proposal: Proposal, deadline: float | None) -> bool:
        """Whether some D3 refutes a pair; if so, rule out all that it refutes."""
        ...


@dataclass(frozen=True)
class Known:
    """What others know by now (see `Question.known`), and what else to say."""

    ends: Ends | None = None
    notes: tuple[str, ...] = ()


def best_proposal(
    moves: Moves,
    proposer: Proposer,
    known: Known,
    *,
    deadline: float | None = None,
    on_best: OnBest | None = None,
    what: str = "",
) -> Answer:
    """Return the largest change of the query by a proposal that is not refuted.

    Only more than what is known by then is looked for, and if there is no more the answer is that,
    without a witness.
    """
    start = time.perf_counter()
    best, witness, complete = 0, None, False
    limit = proposer.bound()
    try:
        while not complete:
            floor, cap = (0, None) if known.ends is None else known.ends()
            best = max(best, int(floor * moves.scale))
            limit = limit if cap is None else min(limit, int(cap * moves.scale))
            proposal = proposer.propose(above=best, deadline=deadline) if best < limit else None
            if proposal is None:
                complete = True
            elif moves.reading == "markov" or not proposer.refute(proposal, deadline):
                witness = checked_pair(moves, proposal)
                value = _scaled_value(moves, witness)
                if value <= best:
                    raise InternalError("a pair does not change the query as the model says")
                best = value
                if on_best is not None:
                    on_best(moves.unscaled(best), None, witness)
    except TimeoutError:
        pass
    upper = best if complete else max(best, limit)
    return Answer(
        policy=moves.setting.policy.name,
        query=moves.query.name,
        reading=moves.reading,
        answers=moves.setting.scope,
        lower=moves.unscaled(best),
        upper=moves.unscaled(upper),
        status="exact" if upper == best else "bounds",
        witness=witness,
        engine="ilp",
        seconds=time.perf_counter() - start,
        notes=(*known.notes, f"{proposer.proposals} proposals, {proposer.cuts} cuts{what}"),
    )


def checked_pair(moves: Moves, proposal: Proposal) -> Pair:
    """Return the proposal as databases that the independent checker has accepted."""
    pair = _databases(moves, proposal)
    require_pair(moves.setting, moves.reading, pair)
    return pair


def is_pair(moves: Moves, proposal: Proposal, deadline: float | None) -> bool:
    """Return whether the independent checker takes a proposal; TimeoutError if it cannot say."""
    verdict = check_pair(
        moves.setting, moves.reading, _databases(moves, proposal), deadline=deadline
    )
    if verdict.minimality == "budget":
        raise TimeoutError
    return bool(verdict)


def _databases(moves: Moves, proposal: Proposal) -> Pair:
    rest = proposal.first.copy()
    for kind, times in proposal.counts.items():
        if kind.before is not None:
            rest[kind.before] -= times
    return moves.pair(proposal.counts, rest)


def _scaled_value(moves: Moves, pair: Pair) -> int:
    value = moves.value(pair) * moves.scale
    if value.denominator != 1:
        raise InternalError("the query's change is no multiple of its rows' denominator")
    return int(value)
