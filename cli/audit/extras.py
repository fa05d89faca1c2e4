"""What an audit adds to S itself: how many records change at once, closed forms, what facts cost.

Everything here gets what is left of the time limit, and says so where it was not reached.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from blowproof.cli.asking.progress import display
from blowproof.cli.asking.stoppable import Stopped
from blowproof.cli.audit.cost_of_facts import Changed, facts_left_out, published_instead
from blowproof.models import BoundQuery, BudgetError, Exact, Full, Policy, PolicyError
from blowproof.models.norms import L1
from blowproof.models.policy.in_words import fact_label
from blowproof.models.policy.readings import Reading, is_labelled

if TYPE_CHECKING:
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.audit.findings import Finding, Row
    from blowproof.verifier.closed_forms import FormResult

__all__ = ["AtOnce", "Extras", "alternatives", "extras"]

SECONDS = 12.0
"""How long all extras of one query may take together, however long the time limit is."""


@dataclass(frozen=True, kw_only=True)
class AtOnce:
    """How many records can change at once: what the theory of policy graphs says, if it applies.

    `sparse` is None where the definition does not apply; `lifts` are two facts that one secret
    pair lifts, where it is False. `most` is None where nothing bounds the number of records.
    """

    sparse: bool | None
    reason: str = ""
    lifts: tuple[str, ...] = ()
    alpha: int | None = None
    xi: int | None = None
    most: int | None = None


@dataclass(frozen=True, kw_only=True)
class Extras:
    """What was found out beside S; None where the time was up before.

    `forms` is empty in other norms than l1: no paper has a closed form for one.
    """

    at_once: AtOnce | None = None
    forms: tuple[FormResult, ...] | None = None
    left_out: tuple[Changed, ...] = ()
    instead: tuple[Changed, ...] = ()


def extras(policy: Policy, draft: Finding, session: Session, queries_left: int = 1) -> Extras:
    """Return what there is to say beside S, in the time that is left for this query.

    What to leave out or publish instead is not asked again where the draft has it.
    """
    end = time.monotonic() + SECONDS
    if session.left is not None:
        end = min(end, time.monotonic() + session.left / max(1, queries_left))

    def share(part: float) -> float:
        return max(0.0, end - time.monotonic()) * part

    query, rows = draft.query, draft.rows
    known, in_l1 = _rows_for_any(policy, query, rows), query.measure is L1
    reading = cast("Reading", session.question.reading)
    seconds = share(0.2)
    with display(f"{query.name}, policy graph"):
        at_once = _tried(session, seconds, lambda: records_at_once(policy, reading, seconds))
    left = share(0.3)
    with display(f"{query.name}, closed forms"):
        forms = _tried(session, left, lambda: _forms(policy, query, known, left)) if in_l1 else ()
    better = draft.extras
    if not better.left_out and not better.instead:
        better = alternatives(policy, query, session, draft.size, share(1.0))
    return replace(better, at_once=at_once, forms=forms)


def alternatives(
    policy: Policy, query: BoundQuery, session: Session, size: int | None, seconds: float
) -> Extras:
    """Return what S would be with a fact left out, or with other counts, within these seconds."""
    end = time.monotonic() + seconds
    left_out = facts_left_out(policy, size, query, session, seconds=0.7 * seconds)
    seconds = 0.9 * max(0.0, end - time.monotonic())
    better = published_instead(policy, query, session, seconds=seconds)
    return Extras(left_out=left_out, instead=better)


def _tried(session: Session, seconds: float, task: Callable[[], Any]) -> Any:
    """What the task returns; None if it is not done in time, or is too large a question."""
    if seconds < 0.02:
        return None
    try:
        return session.run(task, limit=seconds)
    except (Stopped, BudgetError):
        return None


def records_at_once(policy: Policy, reading: Reading, seconds: float) -> AtOnce:
    """Return whether the facts are sparse, and what alpha and xi say about the policy.

    The theorem speaks about secret moves (`policy_graph_bound`); reading 1 with equality facts has
    no more moves at once than the same facts have with a complete graph.
    """
    from blowproof.verifier.databases.sparsity import sparse
    from blowproof.verifier.engines.policy_graph.graph import policy_graph_bound

    found = sparse(policy)
    if found.sparse is None:
        return AtOnce(sparse=None, reason=found.reasons[0])
    if found.offending is not None:
        lifts = tuple(_label(policy, name) for name in found.offending.lifts)
        return AtOnce(sparse=False, lifts=lifts)
    bound = policy_graph_bound(policy, found=found, time_limit=seconds / 2)
    alpha, xi = bound.alpha, bound.xi
    most: int | None = bound.upper if is_labelled(reading) else None
    if reading == "published" and not policy.graph.complete:
        try:
            full = policy_graph_bound(replace(policy, secrets=Full()), time_limit=seconds / 2)
            most = full.upper
        except (PolicyError, BudgetError):  # not sparse for the complete graph
            most = None
    return AtOnce(
        sparse=True,
        alpha=alpha.lower if alpha.lower == alpha.upper else None,
        xi=xi.lower if xi.lower == xi.upper else None,
        most=most,
    )


def _label(policy: Policy, name: str) -> str:
    return next((fact_label(policy, f) for f in policy.linear_facts if f.name == name), name)


# --- closed forms --------------------------------------------------------------------------------


def _rows_for_any(
    policy: Policy, query: BoundQuery, rows: Sequence[Row]
) -> dict[str, tuple[Exact, Exact | None]]:
    """The answers at hand that the closed forms speak about: those for any answers."""
    return {
        row.reading: (row.answer.lower, row.answer.upper)
        for row in rows
        if row.answer is not None and row.answer.answers == "any" and not query.per_record
    }


def _forms(
    policy: Policy,
    query: BoundQuery,
    known: dict[str, tuple[Exact, Exact | None]],
    seconds: float,
) -> tuple[FormResult, ...]:
    from blowproof.verifier.ask import sensitivity
    from blowproof.verifier.closed_forms import closed_forms

    def exactly(asked: Policy, about: BoundQuery, reading: Reading) -> tuple[Exact, Exact | None]:
        if reading in known:
            return known[reading]
        try:
            found = sensitivity(asked, about, reading=reading, time_limit=max(0.1, seconds / 3))
        except BudgetError:
            return 0, None
        return found.lower, found.upper

    return tuple(closed_forms(policy, query, time_limit=max(0.1, seconds / 3), exactly=exactly))
