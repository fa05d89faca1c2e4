"""What an audit finds out: S under every reading, what it means for noise, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from blowproof.cli.asking import Session, scope_of
from blowproof.cli.errors import Exit
from blowproof.cli.options import Question
from blowproof.cli.plain import plain_sensitivity
from blowproof.models import (
    READINGS,
    BlowproofError,
    BoundQuery,
    Exact,
    InternalError,
    Policy,
    QueryError,
    UndeterminedError,
    setting,
)
from blowproof.verifier.answers import Answer
from blowproof.verifier.feasible import prepare

__all__ = ["Finding", "Judgement", "Plan", "Row", "find", "known_size"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What somebody plans: a claimed sensitivity, a noise scale, both, or neither."""

    epsilon: Fraction
    claimed: Fraction | None = None
    scale: Fraction | None = None

    def needs(self) -> Iterator[tuple[str, Fraction]]:
        """Yield what is planned in words, and the sensitivity that it is enough for."""
        if self.claimed is not None:
            yield "the claimed S", self.claimed
        if self.scale is not None:
            yield "the planned scale", self.scale * self.epsilon


@dataclass(frozen=True)
class Judgement:
    """Whether a plan is enough: True, False, or None while the bounds leave it open."""

    what: str
    enough_for: Fraction
    enough: bool | None


@dataclass(frozen=True)
class Row:
    """S under one reading, or why the reading does not apply."""

    reading: str
    answer: Answer | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found about one query."""

    query: BoundQuery
    reading: str
    rows: tuple[Row, ...]
    plain: Exact | None
    plan: Plan

    @cached_property
    def verdict(self) -> Answer:
        """The answer under the reading that decides."""
        return next(r.answer for r in self.rows if r.reading == self.reading and r.answer)

    @property
    def real_epsilon(self) -> tuple[Fraction, Fraction | None] | None:
        """What epsilon really is, at least and at most, when noise is calibrated to `plain`.

        Laplace noise of scale b loses exactly ||f(D1) - f(D2)||_1 / b over a pair of databases.
        """
        if not self.plain:
            return None
        factor = self.plan.epsilon / self.plain
        upper = self.verdict.upper
        return self.verdict.lower * factor, None if upper is None else upper * factor

    @property
    def scale(self) -> Fraction | None:
        """The scale of Laplace noise to add to every output, from the upper bound."""
        return None if self.verdict.upper is None else self.verdict.upper / self.plan.epsilon

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What the answer says about the plan."""
        return tuple(
            Judgement(what, value, self._enough(value)) for what, value in self.plan.needs()
        )

    def _enough(self, value: Fraction) -> bool | None:
        if value < self.verdict.lower:
            return False
        upper = self.verdict.upper
        return True if upper is not None and value >= upper else None

    @property
    def code(self) -> Exit:
        """The exit code of this query alone."""
        verdicts = {judgement.enough for judgement in self.judgements}
        if False in verdicts:
            return Exit.NO
        undecided = None in verdicts if verdicts else self.verdict.status == "bounds"
        return Exit.UNDECIDED if undecided else Exit.OK


def find(policy: Policy, query: BoundQuery, session: Session, plan: Plan) -> Finding:
    """Return what there is to say about one query.

    The reading that decides must apply: its refusal is the error of the whole audit.
    """
    chosen = session.question.reading
    deciding = session.ask(policy, query, chosen)
    rows = [
        Row(reading, deciding) if reading == chosen else _row(policy, query, session, reading)
        for reading in READINGS
    ]
    return Finding(
        query=query,
        reading=chosen,
        rows=tuple(rows),
        plain=plain_sensitivity(policy, query),
        plan=plan,
    )


def _row(policy: Policy, query: BoundQuery, session: Session, reading: str) -> Row:
    try:
        return Row(reading, session.ask(policy, query, reading))
    except InternalError:
        raise
    except BlowproofError as error:
        return Row(reading, None, _reason(error))


def _reason(error: BlowproofError) -> str:
    """Return the first line of a refusal: a screen has no room for what to try."""
    return str(error).splitlines()[0]


def known_size(policy: Policy, question: Question) -> int | None:
    """Return n where it is known: written, counted, or implied by the facts."""
    found = setting(policy, scope_of(question))
    if found.size is not None:
        return found.size
    try:
        return prepare(found, "published").size
    except (UndeterminedError, QueryError):
        return None


def worst(codes: Sequence[Exit]) -> Exit:
    """Return the exit code of several queries: a plan that fails weighs more than an open one."""
    order = (Exit.BAD_INPUT, Exit.NO, Exit.UNDECIDED, Exit.OK)
    return min(codes, key=order.index, default=Exit.OK)
