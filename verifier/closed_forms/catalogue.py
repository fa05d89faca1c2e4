"""All closed forms, put to one policy and query, side by side with the exact answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from blowproof.models import BoundQuery, BudgetError, Database, Exact, Policy, parse_query
from blowproof.models.policy.readings import Reading
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import json_number
from blowproof.verifier.closed_forms import designing
from blowproof.verifier.closed_forms.blowfish import (
    clusters_and_ranges,
    marginals,
    no_facts,
    sparse,
)
from blowproof.verifier.closed_forms.cuboids import cells, degrees, projection
from blowproof.verifier.closed_forms.ours import more_dependencies, one_dependency
from blowproof.verifier.closed_forms.stating.form import Case, Form

__all__ = ["FORMS", "Exactly", "FormResult", "closed_forms"]

FORMS: tuple[Form, ...] = (
    *no_facts.FORMS,
    *clusters_and_ranges.FORMS,
    *sparse.FORMS,
    *marginals.FORMS,
    *one_dependency.FORMS,
    *more_dependencies.FORMS,
    *designing.FORMS,
    *cells.FORMS,
    *projection.FORMS,
    *degrees.FORMS,
)

Bounds = tuple[Exact, Exact | None]
Exactly = Callable[[Policy, BoundQuery, Reading], Bounds]
"""Who computes the exact side, in the policy's own scope: lower <= S <= upper (None: unknown)."""


@dataclass(frozen=True, kw_only=True)
class FormResult:
    """One form in one reading: whether it applies, its value, and S itself."""

    form: Form
    reading: Reading
    why_not: str | None = None
    value: Exact | None = None
    lower: Exact | None = None
    upper: Exact | None = None

    @property
    def applies(self) -> bool:
        """Whether all preconditions hold."""
        return self.why_not is None

    @property
    def recorded_wrong(self) -> bool:
        """Whether the form is known to be wrong in this reading."""
        return self.form.recorded_wrong(self.reading)

    @property
    def agrees(self) -> bool | None:
        """Whether S stands in the form's relation to its value; None if the bounds do not tell."""
        if self.value is None or self.lower is None:
            return None
        below = self.upper is not None and self.upper <= self.value
        above = self.lower >= self.value
        fits = {"<=": below, ">=": above, "=": below and above}[self.form.relation]
        over = self.lower > self.value and self.form.relation != ">="
        under = self.form.relation != "<=" and self.upper is not None and self.upper < self.value
        return True if fits else False if over or under else None

    def to_json(self) -> dict[str, Any]:
        """Return the form as the contract has it."""
        return {
            "id": self.form.id,
            "source": self.form.source,
            "statement": self.form.statement,
            "status": self.form.status,
            "recorded_wrong": self.recorded_wrong,
            "applies": self.applies,
            "why_not": self.why_not,
            "reading": self.reading,
            "answers": self.form.answers,
            "relation": self.form.relation,
            "value": _number(self.value),
            "exact_lower": _number(self.lower),
            "exact_upper": _number(self.upper),
            "agrees": self.agrees,
        }


def _number(value: Exact | None) -> int | str | None:
    return None if value is None else json_number(value)


def closed_forms(
    policy: Policy,
    query: BoundQuery | str = "histogram",
    *,
    time_limit: float | None = None,
    exactly: Exactly | None = None,
    forms: tuple[Form, ...] = FORMS,
) -> list[FormResult]:
    """Return every form in each of its readings; those that apply stand beside the exact value.

    The forms speak about scope "any", whatever the policy's own is; S(given) is at most that.
    `time_limit` bounds each of the (at most three) exact questions, and the search for alpha and
    xi.

    >>> from blowproof.models import Domain, Labels, Marginal
    >>> domain = Domain(sex=Labels(["F", "M"]), ward=Labels(["a", "b", "c"]))
    >>> policy = Policy(domain=domain, known=(Marginal(["ward"]),))
    >>> for result in closed_forms(policy):
    ...     if result.applies and result.reading == "published":
    ...         print(result.form.id, result.form.relation, result.value, result.agrees)
    blowfish-2014/theorem-8.2 <= 6 True
    blowfish-2014/corollary-8.3 <= 6 True
    blowfish-2014/theorem-8.4 = 6 True
    blowfish-2014/theorem-8.4-repaired = 6 True
    blowproof/affinely-independent-signatures = 6 True
    """
    bound = parse_query(query, policy) if isinstance(query, str) else query
    case = Case(policy, bound, time_limit)
    side = _Exact(case, exactly or _engine(time_limit))
    return [side.beside(result) for form in forms for result in _evaluated(form, case)]


def _evaluated(form: Form, case: Case) -> Iterator[FormResult]:
    """Yield the form in each of its readings, with its value where it applies."""
    why_not, value = form.why_not(case), None
    if why_not is None:
        try:
            value = form.value(case)
        except BudgetError as error:
            why_not = f"its value could not be worked out: {str(error).splitlines()[0]}"
    for reading in form.readings:
        yield FormResult(form=form, reading=reading, why_not=why_not, value=value)


def _engine(time_limit: float | None) -> Exactly:
    def ask(policy: Policy, query: BoundQuery, reading: Reading) -> Bounds:
        try:
            found = sensitivity(policy, query, reading=reading, time_limit=time_limit)
        except BudgetError:
            return 0, None
        return found.lower, found.upper

    return ask


def _exact_policy(policy: Policy, query: BoundQuery) -> Policy:
    """Return the policy under scope "any"; for weights, with n as a given number.

    Under "any" there are as many records as weights, so where no counts are known (all forms about
    weights ask for that) scope "given" says the same, and the engines are at home there.
    """
    if query.records is not None and not policy.linear_facts:
        return replace(policy, database=Database(size=query.records, answers="given"))
    return policy.with_answers("any")


class _Exact:
    """The exact side, each question asked once, and only if some form applies."""

    def __init__(self, case: Case, ask: Exactly) -> None:
        self._case, self._ask = case, ask
        self._known: dict[Reading, Bounds] = {}

    def beside(self, result: FormResult) -> FormResult:
        if not result.applies:
            return result
        lower, upper = self._bounds(result.reading)
        return replace(result, lower=lower, upper=upper)

    def _bounds(self, reading: Reading) -> Bounds:
        if reading == "secret-moves" and self._case.graph.complete:
            reading = "published"  # the same, with equality facts only, which all forms ask for
        if reading not in self._known:
            policy = _exact_policy(self._case.policy, self._case.query)
            self._known[reading] = self._ask(policy, self._case.query, reading)
        return self._known[reading]
