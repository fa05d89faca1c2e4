"""What is to be released, and the scale of noise that the verified sensitivity calls for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.parts.records import Records
from blowproof.mechanisms.release.calibrate import require_width, structural_sensitivity
from blowproof.models import (
    BoundQuery,
    BudgetError,
    Exact,
    Policy,
    PolicyError,
    exact,
    parse_query,
    show,
)
from blowproof.models.base.clock import by_processor, now
from blowproof.models.base.kept import cached_property
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.norms import L2_SQUARED
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.models.stacks.stacked import Stacked, in_norm
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.names import Engine
from blowproof.verifier.certify.base.asked_before import Known
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.measures.orders import from_pure, pure_of
from blowproof.verifier.portfolio.problem import Problem

__all__ = [
    "EXACT_NOTE",
    "LATE",
    "STILL_NOTE",
    "Oracle",
    "Request",
    "calibrated_scale",
    "converted_note",
    "noisy_release",
    "status_notes",
    "whole_option",
]

LATE = (
    "the time limit was over before the noise was known: nothing was released and nothing spent"
    "\n  try: a longer --time-limit"
)

MOST_OF_IT = 0.9
"""Of the time that is left, for a question: the noise that it bounds is proved private after it."""
MUCH_LONGER = 2
"""How much more time an open question needs to be asked again."""
LITTLE = 0.1
"""Seconds in which what is known is found."""
LONGEST = 18
"""Digits of a setting."""
EXACT_NOTE = (
    "the scale is 0: no two neighbouring databases differ in this answer, so the exact one tells "
    "nothing about any secret of the policy"
)
STILL_NOTE = (
    "what is drawn without noise is the same in any two neighbouring databases, so it tells "
    "nothing about any secret of the policy"
)
"""The same of a part of what is drawn."""
Oracle = Callable[[Policy, BoundQuery, Reading, float | None], Answer]
"""Answers S(f, P), with how sure it is, in so many seconds (None: as many as it takes)."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be released: a query under a policy, for an epsilon or a rho (zCDP).

    With a rho, `epsilon` is a pure one that is worth no more, epsilon^2 / 2 <= rho: what mechanisms
    that have a pure guarantee are made ready for.
    `oracle` answers sensitivities (None: the verifier, in the time that is left); `options` are the
    mechanism's own, as texts. `records`: release the query on these records alone (None: all).
    `accept_wide_bounds`: release with noise that is hardly worth its price too (`worth`).
    `time_limit` counts from now, for all questions together; `deadline` (a time of `clock.now`) is
    its end, and may be given instead. `known` and `said`: what the verifier answered so far, under
    this policy, reading and scope, and `problem` what it found on the way, which helps with other
    questions; a copy of the request for another query has them too. `hurried`: what is left open is
    asked again where there is more time; `looked` has such answers, with the time they had.
    """

    policy: Policy
    query: str | BoundQuery = "histogram"
    epsilon: Fraction = Fraction(0)
    rho: Fraction | None = None
    reading: Reading = "published"
    answers: Answers | None = None
    engine: Engine = "auto"
    time_limit: float | None = None
    deadline: float | None = None
    oracle: Oracle | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    records: Records | None = None
    accept_wide_bounds: bool = False
    known: Known = field(default_factory=Known, repr=False, compare=False)
    said: list[tuple[BoundQuery, Answer]] = field(default_factory=list, repr=False, compare=False)
    problem: Problem | None = field(default=None, repr=False, compare=False)
    hurried: bool = False
    looked: list[tuple[BoundQuery, Answer, float]] = field(
        default_factory=list, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        """Refuse an epsilon (or rho) that is no exact number above 0; set the deadline."""
        epsilon = Fraction(exact(self.epsilon, key="epsilon"))
        if self.rho is not None:
            rho = Fraction(exact(self.rho, key="rho"))
            if rho <= 0:
                raise PolicyError(f"rho = {show(rho)} is not above 0", key="rho")
            if epsilon not in (0, pure_of(rho)):
                raise PolicyError("an epsilon and a rho are promised", hint="one of the two")
            object.__setattr__(self, "rho", rho)
            epsilon = pure_of(rho)
        if epsilon <= 0:
            raise PolicyError(f"epsilon = {show(epsilon)} is not above 0", key="epsilon")
        object.__setattr__(self, "epsilon", epsilon)
        if self.problem is None:
            object.__setattr__(self, "problem", Problem(self.policy, self.answers))
        if self.deadline is None and self.time_limit is not None:
            object.__setattr__(self, "deadline", now() + self.time_limit)

    def under(self, policy: Policy, reading: Reading, answers: Answers | None = None) -> Request:
        """Return the same under another policy: nothing is known about that."""
        return replace(
            self,
            policy=policy,
            reading=reading,
            answers=answers,
            oracle=None,
            known=Known(),
            said=[],
            looked=[],
            problem=None,
        )

    @property
    def promise(self) -> Promise:
        """What the release must not lose more than."""
        return Promise(self.epsilon) if self.rho is None else Promise(rho=self.rho)

    @property
    def left(self) -> float | None:
        """Seconds that are left for planning (None: no limit); none left is a refusal."""
        if self.deadline is None:
            return None
        left = self.deadline - now()
        if left <= 0:
            raise RefusedError(LATE)
        return left

    @property
    def for_proof(self) -> float | None:
        """Seconds for the proof of noise that is known: some where none are left, for the bound
        that the noise is set from proves it without a search.
        """
        if self.deadline is None:
            return None
        return max(LITTLE, self.deadline - now())

    @cached_property
    def bound(self) -> BoundQuery:
        """The query, bound to the policy."""
        return parse_query(self.query, self.policy) if isinstance(self.query, str) else self.query

    def sensitivity(self, query: BoundQuery | None = None, *, share: float = 1) -> Answer:
        """Return S(f, P) of a query (None: the one asked for), in the chosen reading and scope.

        `share`: of the time that is left. A question that outgrows every budget is a refusal: no
        scale is known to be enough.
        """
        asked, _ = self.bound if query is None else query, self.left  # refused where none is left
        for before, answer in self.said:
            if _same(before, asked):
                return answer
            if answer.upper == 0 and _unmeasured(before) == _unmeasured(asked):
                return self.keep(asked, replace(answer, norm=asked.measure.name))  # in every norm
        if self.engine == "auto":
            found = structural_sensitivity(self._about, asked, self.reading)
            if found is not None:
                return self.keep(asked, found)
        left = self.left
        limit = None if left is None else min(share, MOST_OF_IT) * left
        for before, answer, seconds in reversed(self.looked):
            if limit is not None and limit <= MUCH_LONGER * seconds and _same(before, asked):
                return answer
        try:
            with by_processor():
                found = (self.oracle or self._verifier)(self.policy, asked, self.reading, limit)
        except BudgetError as error:
            raise RefusedError(f"no scale of noise is known to be enough: {error}") from None
        if found.status != "bounds" or (share == 1 and not self.hurried) or limit is None:
            return self.keep(asked, found)
        self.known.learn(asked, found)
        self.looked.append((asked, found, limit))  # a hurried answer: more time may improve it
        return found

    def at_least(self, query: BoundQuery) -> Exact:
        """Return what S of a query is at least: the largest change over the pairs that are known.

        Nothing is asked; a pair of neighbours is one whatever the query.
        """
        answers = (*(answer for _, answer in self.said), *(answer for _, answer, _ in self.looked))
        pairs = dict.fromkeys(item.witness for item in answers if item.witness is not None)
        if query.per_record:
            pairs = {pair: None for pair in pairs if pair.records is not None}
        return max((query.difference(pair.moves(self.reading)) for pair in pairs), default=0)

    @property
    def _about(self) -> Problem:
        kept = self.problem
        if kept is not None and kept.policy is self.policy and kept.answers == self.answers:
            return kept
        return Problem(self.policy, self.answers)

    def keep(self, asked: BoundQuery, found: Answer) -> Answer:
        """Return an answer that stands for the rest of the run: it is asked for no more."""
        self.known.learn(asked, found)
        self.said.append((asked, found))
        return found

    def _verifier(
        self, policy: Policy, query: BoundQuery, reading: Reading, limit: float | None
    ) -> Answer:
        return sensitivity(
            self._about if policy is self.policy else policy,
            query,
            reading=reading,
            answers=self.answers,
            engine=self.engine,
            time_limit=limit,
        )


def _same(one: BoundQuery, two: BoundQuery) -> bool:
    """Whether two queries are one, in the same norm."""
    return one is two or (type(one) is type(two) and one == two)


def _unmeasured(query: BoundQuery) -> BoundQuery:
    """Return a query without the norm in which it is asked for."""
    if isinstance(query, Stacked) and len(query.parts) == 1 and query.parts[0].alike == 1:
        return query.parts[0].query
    return query


def calibrated_scale(answer: Answer, epsilon: Fraction) -> Fraction:
    """Return S / epsilon for the proven upper bound S; refuse where nothing bounds it.

    >>> from blowproof.models import Domain, Labels
    >>> found = sensitivity(Policy(domain=Domain(sex=Labels(["F", "M"]))))
    >>> calibrated_scale(found, Fraction(1, 2))
    Fraction(4, 1)
    """
    if answer.upper is None:
        longer = "" if answer.final else "a longer --time-limit, or "
        raise RefusedError(
            f"nothing bounds the sensitivity of {answer.query} under {answer.policy} (reading "
            f"{answer.reading}, answers {answer.answers}): no scale of noise is known to be enough"
            f"\n  try: {longer}the scope --answers given"
        )
    width = Fraction(answer.upper) / epsilon
    require_width(width, answer.query, squared=answer.norm == "l2-squared")
    return width


def status_notes(answer: Answer) -> tuple[str, ...]:
    """Return what a reader must know about the sensitivity that was used."""
    notes = []
    if answer.status == "bounds" and answer.upper is not None:
        open_ = "undecided" if answer.final else "undecided in time"
        notes.append(
            f"{open_}: {show(answer.lower)} <= S <= {show(answer.upper)}; the noise is "
            "set from the upper bound, which is safe and perhaps more than is needed"
        )
    if answer.upper == 0:
        notes.append(EXACT_NOTE)
    return tuple(notes)


def noisy_release(
    request: Request, query: str | BoundQuery, *, grid: Fraction = Fraction(1)
) -> tuple[Release, Answer]:
    """Return a query with the noise that goes with the promise, and S that it is calibrated by.

    Laplace noise of scale S / epsilon; for a rho Gaussian noise of variance S / (2 rho), S in
    squares. No noise where nothing changes.
    """
    bound = parse_query(query, request.policy) if isinstance(query, str) else query
    if request.rho is None:
        found = request.sensitivity(bound)
        scale = calibrated_scale(found, request.epsilon)
        return Release(query=query, noise="discrete-laplace", scale=scale, grid=grid), found
    found = request.sensitivity(in_norm(bound, L2_SQUARED, request.policy.domain))
    variance = calibrated_scale(found, 2 * request.rho)
    if not variance:
        silent = Fraction(0)
        return Release(query=query, noise="discrete-laplace", scale=silent, grid=grid), found
    return Release(query=query, noise="discrete-gaussian", variance=variance, grid=grid), found


def converted_note(request: Request) -> tuple[str, ...]:
    """Return what a pure mechanism makes of a rho."""
    if request.rho is None:
        return ()
    epsilon = request.epsilon
    about = show(epsilon) if epsilon.denominator < 1000 else f"{float(epsilon):.6g}"
    exactly = "" if from_pure(epsilon) == request.rho else ", rounded down"
    return (
        f"this mechanism has a pure guarantee: rho = {show(request.rho)} is used as epsilon = "
        f"{about} (rho = epsilon^2 / 2{exactly})",
    )


def whole_option(request: Request, key: str, least: int) -> int | None:
    """Return an option that is a whole number from `least` on; None where it is not given."""
    text = request.options.get(key)
    if text is None:
        return None
    if len(text) > LONGEST or not text.isascii() or not text.isdigit() or int(text) < least:
        raise PolicyError(f"{text[:LONGEST]!r} is not a whole number from {least} on", key=key)
    return int(text)
