"""A closed form as an object: what it says, when it applies, its value, and what it is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeVar, cast

from blowproof.models import (
    BoundQuery,
    BudgetError,
    Domain,
    Exact,
    Point,
    Policy,
    SecretGraph,
    Setting,
    setting,
)
from blowproof.models.base.kept import cached_property
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.databases.sparsity import Sparsity, sparse
from blowproof.verifier.engines.policy_graph.graph import PolicyGraphBound, policy_graph_bound
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Case", "Check", "Counterexample", "Form", "Relation", "Status", "form"]

FACT_LIMIT = whole_limit(__name__, "FACT_LIMIT")
T = TypeVar("T")
Relation = Literal["<=", "=", ">="]
Status = Literal["printed", "repaired", "conjecture"]


@dataclass(frozen=True)
class Case:
    """A policy and a query, with what several forms ask of them, worked out once."""

    policy: Policy
    query: BoundQuery
    time_limit: float | None = None
    _done: dict[object, object] = field(default_factory=dict, repr=False, compare=False)

    def once(self, work: Callable[[Case], T]) -> T:
        """Return what `work` says of this case, or refuses, worked out the first time only."""
        if work not in self._done:
            try:
                self._done[work] = work(self)
            except BudgetError as refusal:
                self._done[work] = refusal
        found = self._done[work]
        if isinstance(found, BudgetError):
            raise BudgetError(str(found))
        return cast("T", found)

    @property
    def domain(self) -> Domain:
        """The domain."""
        return self.policy.domain

    @property
    def graph(self) -> SecretGraph:
        """The secret graph."""
        return self.policy.graph

    @cached_property
    def setting(self) -> Setting:
        """The policy under scope "any"; ask only where there are no bounds and no clauses."""
        return setting(self.policy, "any")

    @property
    def sparsity(self) -> Sparsity:
        """Whether the facts are sparse; a BudgetError where there are too many to compare."""
        return self.once(_sparsity)

    @property
    def bound(self) -> PolicyGraphBound:
        """alpha and xi of the policy graph; ask only where the facts are sparse."""
        return self.once(_bound)


def _sparsity(case: Case) -> Sparsity:
    count = len(case.policy.linear_facts)
    if count > FACT_LIMIT:
        raise BudgetError(f"{count} count queries; at most {FACT_LIMIT} are compared in pairs")
    return sparse(case.policy)


def _bound(case: Case) -> PolicyGraphBound:
    return policy_graph_bound(case.policy, found=case.sparsity, time_limit=case.time_limit)


Check = Callable[[Case], str | None]
"""A precondition: None where it holds, else a sentence that says why not."""


@dataclass(frozen=True, kw_only=True)
class Counterexample:
    """An instance that fits a printed form and not its value; `exact` is S in that reading.

    `before` and `after`, where they are kept, are the records that change in a pair that reaches
    it (as in `Pair`): for instances that are too large for brute force to find it quickly.
    """

    policy: Policy
    query: BoundQuery
    reading: Reading
    claimed: Exact
    exact: Exact
    answers: Answers = "any"
    before: tuple[Point, ...] = ()
    after: tuple[Point, ...] = ()

    @property
    def costs_privacy(self) -> bool:
        """Whether noise for the claimed value is too small (else it is only too large)."""
        return self.claimed < self.exact


@dataclass(frozen=True, kw_only=True)
class Form:
    """A closed form: S(f, P) `relation` `value` in each of the readings, if all checks pass.

    `value.__doc__` holds the argument for a repaired form, and for a conjecture what it was checked
    on. `wrong` are recorded counterexamples.
    """

    id: str
    source: str
    statement: str
    status: Status
    relation: Relation
    readings: tuple[Reading, ...]
    checks: tuple[Check, ...]
    value: Callable[[Case], Exact]
    answers: Answers = "any"
    wrong: tuple[Counterexample, ...] = ()

    def why_not(self, case: Case) -> str | None:
        """Return the first precondition that fails, in a sentence; None if all hold."""
        try:
            return next((reason for check in self.checks if (reason := check(case))), None)
        except BudgetError as error:
            return f"a precondition could not be decided: {str(error).splitlines()[0]}"

    def recorded_wrong(self, reading: Reading) -> bool:
        """Whether a counterexample is on record in this reading."""
        return any(item.reading == reading for item in self.wrong)

    @property
    def argument(self) -> str:
        """The proof or the derivation, as written beside the code that computes the value."""
        return self.value.__doc__ or ""


def form(  # noqa: PLR0913 # keyword-only options
    id: str,
    statement: str,
    *,
    source: str,
    relation: Relation = "=",
    readings: tuple[Reading, ...] = ("published",),
    checks: tuple[Check, ...] = (),
    wrong: tuple[Counterexample, ...] = (),
    repaired: bool = False,
    conjecture: bool = False,
) -> Callable[[Callable[[Case], Exact]], Form]:
    """Turn a function that computes a value into the form that it stands for."""

    def wrap(value: Callable[[Case], Exact]) -> Form:
        return Form(
            id=id,
            source=source,
            statement=statement,
            status="conjecture" if conjecture else "repaired" if repaired else "printed",
            relation=relation,
            readings=readings,
            checks=checks,
            value=value,
            wrong=wrong,
        )

    return wrap
