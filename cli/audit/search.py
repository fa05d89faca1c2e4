"""How an audit searches: what decides first, then the other readings, then the extras.

So a time limit cuts what matters least, and it always ends with bounds that noise can be set from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, cast

from blowproof.cli.asking.ask import Session, scope_of
from blowproof.cli.asking.stoppable import Stopped
from blowproof.cli.audit.advice import warning
from blowproof.cli.audit.bound_at_hand import by_records
from blowproof.cli.audit.chain_of_moves import chain_of
from blowproof.cli.audit.extras import alternatives, extras
from blowproof.cli.audit.findings import Finding, Plan, Row
from blowproof.models import (
    READINGS,
    BlowproofError,
    BoundQuery,
    BudgetError,
    Exact,
    InternalError,
    Policy,
    QueryError,
    UndeterminedError,
    setting,
)
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.ask import sensitivity, upper_bound
from blowproof.verifier.asked.answer import Answer, Status
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.portfolio.problem import same_pairs
from blowproof.verifier.theorems.most_moves import Ceiling

if TYPE_CHECKING:
    from blowproof.models.policy.readings import Reading
    from blowproof.verifier.proofs.write import Certificate

__all__ = ["complete_all", "decide_all", "known_size"]

T = TypeVar("T")

DECIDING, OTHERS, DROPPING = 0.6, 0.5, 0.4
"""Which part of the time left goes to the readings that decide, and then to the other ones; before
these to what to leave out, where nothing can be released."""

EACH = 0.6
"""Which part of the time for other readings one of them may take: most take next to none."""

PLAIN_SECONDS, CHAIN_SECONDS, THEOREM_SECONDS, DROPPING_SECONDS = 3.0, 2.0, 0.5, 12.0
LATE_CHAIN_SECONDS = 0.5
CERTIFICATE_SECONDS = 4.0
"""How long the search for a proof may take, where nobody asked for one."""


def decide_all(
    policy: Policy, queries: Sequence[BoundQuery], session: Session, plan: Plan, size: int | None
) -> list[Finding]:
    """Return each query's answer under the reading that decides.

    It must apply: its refusal is the error of the whole audit. This comes first, so that a time
    limit cuts what matters least.
    """
    drafts = []
    for number, query in enumerate(queries):
        limit = session.share(len(queries) - number, DECIDING)
        drafts.append(_decide(policy, query, session, plan, size, limit))
    return drafts


def complete_all(
    policy: Policy, drafts: Sequence[Finding], session: Session, size: int | None
) -> list[Finding]:
    """Return the findings with the other readings, and then with the extras.

    Where no release would be worth anything, what to leave out comes first: that is the answer.
    """
    found = list(drafts)
    for number, draft in enumerate(found):
        if warning(draft):
            seconds = session.share(len(found) - number, DROPPING) or DROPPING_SECONDS
            better = alternatives(policy, draft.query, session, size, seconds)
            found[number] = replace(draft, extras=better)
    kept = 0.0 if session.left is None else session.left * (1 - OTHERS)
    for number, draft in enumerate(found):
        found[number] = _with_rows(policy, draft, session, len(found) - number, kept)
    for number, draft in enumerate(found):
        found[number] = replace(draft, extras=extras(policy, draft, session, len(found) - number))
    return found


def _decide(
    policy: Policy,
    query: BoundQuery,
    session: Session,
    plan: Plan,
    size: int | None,
    limit: float | None,
) -> Finding:
    reading = session.question.reading
    plain = _in_time(session, PLAIN_SECONDS, lambda: _plain(policy, query))
    answer = session.ask(policy, query, reading, limit=limit)
    if answer.status == "bounds":
        answer = _at_least_bounded(policy, answer, query, session, size, plain)
    answer, certificate = _certified(policy, query, answer, session, plan)
    chain = None
    if answer.witness is not None:
        pair = answer.witness
        chain = _in_time(
            session,
            LATE_CHAIN_SECONDS if session.over else CHAIN_SECONDS,
            lambda: chain_of(policy, pair, answer.reading, scope_of(session.question)),
            late=True,  # without it a page shows no pair
        )
    return Finding(
        query=query,
        reading=reading,
        rows=(Row(reading, answer),),
        plain=plain,
        plan=plan,
        size=size,
        chain=chain,
        certificate=certificate,
    )


def _plain(policy: Policy, query: BoundQuery) -> Exact | None:
    """Return S of plain differential privacy, where it is known: one record takes any value.

    The queries know it themselves in l1; of a stack the engine for single edges does.
    """
    found = query.largest_change(policy.domain)
    if found is not None or query.per_record:
        return found
    answer = sensitivity(Policy(domain=policy.domain), query, time_limit=PLAIN_SECONDS)
    return answer.upper if answer.status == "exact" else None


def _certified(
    policy: Policy, query: BoundQuery, answer: Answer, session: Session, plan: Plan
) -> tuple[Answer, Certificate | None]:
    """Return the answer, proved where a proof is found in time, and its certificate."""
    from blowproof.verifier.proofs.write import certify_answer

    if answer.status != "exact":
        return answer, None
    limit = None if plan.certificate else CERTIFICATE_SECONDS
    if session.left is not None:
        limit = session.left * (0.6 if plan.certificate else 0.2)
        limit = limit if plan.certificate else min(limit, CERTIFICATE_SECONDS)
    found = _in_time(
        session,
        None if limit is None else limit + 0.5,
        lambda: certify_answer(policy, query, answer, time_limit=limit),
    )
    return found or (answer, None)


def _in_time(
    session: Session, seconds: float | None, task: Callable[[], T], *, late: bool = False
) -> T | None:
    try:
        return session.run(task, limit=seconds, late=late)
    except (Stopped, BudgetError):
        return None


def _at_least_bounded(
    policy: Policy,
    answer: Answer,
    query: BoundQuery,
    session: Session,
    size: int | None,
    plain: Exact | None,
) -> Answer:
    """Return the answer with an upper bound that takes no search, where it has none at all."""
    if answer.upper is not None:
        return answer
    bound = _at_hand(policy, query, answer, size, plain)
    if bound is None:
        bound = _in_time(
            session,
            THEOREM_SECONDS,
            lambda: upper_bound(
                policy,
                query,
                reading=answer.reading,
                answers=answer.answers,
                time_limit=THEOREM_SECONDS,
            ),
            late=True,
        )
    return answer if bound is None else _below(answer, bound)


def _at_hand(
    policy: Policy, query: BoundQuery, answer: Answer, size: int | None, plain: Exact | None
) -> Ceiling | None:
    """Return the bound that n gives, where it is known under the answer's reading and scope."""
    known = answer.answers == "given" and (policy.knows_size or is_labelled(answer.reading))
    return by_records(query, answer.reading, size if known else None, plain)


def _below(answer: Answer, bound: Ceiling) -> Answer:
    """Return the answer with an upper bound."""
    status: Status = "exact" if bound.value == answer.lower else "bounds"
    notes = (*answer.notes, f"upper bound: {bound.why}")
    decided = (*answer.decided_by, ("upper", "ceiling", bound.why))
    return replace(answer, upper=bound.value, status=status, notes=notes, decided_by=decided)


def _with_rows(
    policy: Policy, draft: Finding, session: Session, among: int, kept: float
) -> Finding:
    """Return the finding with its rows for all readings, in their usual order.

    So many seconds are kept for what comes after the rows of all queries.
    """
    decided = draft.rows[0]
    rows = []
    for reading in READINGS:
        if reading == draft.reading:
            rows.append(decided)
            continue
        if decided.answer is not None and _alike(policy, session, draft.reading, reading):
            rows.append(Row(reading, _under(decided.answer, reading)))
            continue
        left = session.left
        limit = None if left is None else max(0.01, (left - kept) * EACH / among)
        rows.append(_row(policy, draft, session, reading, limit))
    return replace(draft, rows=tuple(rows))


def _alike(policy: Policy, session: Session, one: str, other: str) -> bool:
    """Whether two readings have the same pairs here, so that one answer is that of both."""
    found = _in_time(
        session,
        THEOREM_SECONDS,
        lambda: setting(policy, scope_of(session.question)),
        late=True,  # else what one of them found would not be said of the other
    )
    if found is None:
        return False
    return same_pairs(found, cast("Reading", one)) == same_pairs(found, cast("Reading", other))


def _under(answer: Answer, reading: str) -> Answer:
    """Return the answer as that of a reading with the same pairs; its proof is not one of this."""
    status: Status = "exact" if answer.status == "proved" else answer.status
    return replace(answer, reading=cast("Reading", reading), status=status)


def _row(
    policy: Policy, draft: Finding, session: Session, reading: str, limit: float | None
) -> Row:
    try:
        answer = session.ask(policy, draft.query, reading, limit=limit)
    except InternalError:
        raise
    except BlowproofError as error:
        return Row(reading, None, _reason(error))
    bound = _at_hand(policy, draft.query, answer, draft.size, draft.plain)
    if answer.upper is None and bound is not None:
        answer = _below(answer, bound)
    return Row(reading, answer)


def _reason(error: BlowproofError) -> str:
    """Return the first line of a refusal: a screen has no room for what to try."""
    return str(error).splitlines()[0]


def known_size(policy: Policy, session: Session) -> int | None:
    """Return n where it is known: written, counted, or implied by the facts."""
    try:
        return session.run(lambda: _size(policy, scope_of(session.question)))
    except (Stopped, BudgetError):
        return None


def _size(policy: Policy, scope: Answers | None) -> int | None:
    found = setting(policy, scope)
    if found.size is not None:
        return found.size
    try:
        return prepare(found, "published").size
    except (UndeterminedError, QueryError):
        return None
