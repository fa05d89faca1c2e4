"""The exact side of a claim: numbers from the engines and from the definitions, never a formula.

Every measure is a callable object: instance, time limit -> Value. `recheck` asks brute force for
the same number where the measure is a sensitivity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from blowproof.models import BudgetError, Exact, Policy, setting
from blowproof.models.files.writing import canonical
from blowproof.models.policy.policy import Answers, Database
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.queries.kinds import WeightedSum
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.claims.stating.claim import Instance, Measure, Value
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair

__all__ = ["Counted", "Positive", "Proven", "Sensitivity", "Shown", "recheck", "sensitivities"]

INSTANCE_LIMIT = 30.0
"""Seconds for one instance; what takes longer is counted as undecided."""
REMEMBERED = 200_000
QUICK_BRUTE = 5_000
"""How many databases brute force lists without being slow."""


@dataclass(frozen=True)
class Sensitivity:
    """S(f, P) of the instance's policy and query, by the engines (`auto`).

    Under scope "any" the policy's own scope is overridden; None keeps it.
    """

    reading: Reading
    answers: Answers | None = "any"

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return S, or bounds where the time limit or a budget stops the engine."""
        limit = INSTANCE_LIMIT if time_limit is None else min(INSTANCE_LIMIT, time_limit)
        policy, reading = _asked(instance, self.answers), self.reading
        if reading == "secret-moves" and _same_as_published(policy):
            reading = "published"
        key = (canonical(policy), instance.query, reading)
        if key not in _known:
            try:
                found = sensitivity(
                    policy, instance.query.on(policy), reading=reading, time_limit=limit
                )
            except BudgetError:
                return Value(0, None)
            value = Value(found.lower, found.upper, found.witness)
            if found.upper != found.lower:
                return value
            if len(_known) < REMEMBERED:
                _known[key] = value
            return value
        return _known[key]


@dataclass(frozen=True)
class Proven:
    """S(f, P) where the kernel has accepted a certificate of it; else only its lower bound."""

    reading: Reading
    answers: Answers | None = "any"

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return S, proved by a certificate, or what is known without one."""
        limit = INSTANCE_LIMIT if time_limit is None else min(INSTANCE_LIMIT, time_limit)
        policy = _asked(instance, self.answers)
        answer, _ = certified(
            policy, instance.query.on(policy), reading=self.reading, time_limit=limit
        )
        upper = answer.upper if answer.status == "proved" else None
        return Value(answer.lower, upper, answer.witness)

    def recheck(self, instance: Instance) -> str:
        """Return how S was confirmed: by the kernel, which is independent of the engines."""
        proved = self(instance, None).upper is not None
        return "the kernel checked a certificate" if proved else ""


_known: dict[object, Value] = {}
"""What was asked before in this run: claims share instances."""


def sensitivities(answers: Answers | None = "any") -> Callable[[Reading], Measure]:
    """Return what makes the measure of each reading, for `in_readings`."""
    return lambda reading: Sensitivity(reading, answers)


@dataclass(frozen=True)
class Counted:
    """A number that a function works out from the definitions alone."""

    count: Callable[[Instance], Exact]

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the number."""
        return Value.of(self.count(instance))


@dataclass(frozen=True)
class Shown:
    """A number worked out from the definitions, with the two databases that reach it."""

    find: Callable[[Instance], tuple[Exact, Pair | None]]

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the number and the pair."""
        number, pair = self.find(instance)
        return Value(number, number, pair)


@dataclass(frozen=True)
class Positive:
    """1 if S(f, P) is above zero, 0 if it is zero."""

    measure: Measure

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the answer to S(f, P) > 0."""
        value = self.measure(instance, time_limit)
        upper = None if value.upper is None else int(value.upper > 0)
        return Value(int(value.lower > 0), upper, value.witness)

    def recheck(self, instance: Instance) -> str:
        """Return how S was confirmed without the engines."""
        return recheck(self.measure, instance, self.measure(instance, None))


def _same_as_published(policy: Policy) -> bool:
    """Whether readings 1 and 2 are the same: G complete, as long as no bounds or clauses are."""
    bounded = any(fact.bounded for fact in policy.linear_facts)
    return policy.graph.complete and not bounded and not policy.clauses


def _asked(instance: Instance, answers: Answers | None) -> Policy:
    """Return the policy in its scope; n weights mean n records, so that n is then given."""
    policy = instance.the_policy
    if instance.query.text.startswith("weighted-sum") and not policy.linear_facts:
        size = len(instance.query.rows[0])
        return replace(policy, database=Database(size=size, answers="given"))
    return policy.with_answers(answers)


def recheck(measure: Measure, instance: Instance, value: Value) -> str:
    """Return how the exact side was confirmed without the engines; "" if it was not."""
    again = getattr(measure, "recheck", None)
    if again is not None:
        found = again(instance)
        assert isinstance(found, str)
        return found
    if not isinstance(measure, Sensitivity):
        return "worked out from the definition"
    policy = _asked(instance, measure.answers)
    listed = _brute(policy, instance, measure.reading, _records(value, measure.reading))
    if listed is not None and listed.lower == value.lower:
        return f"brute force {listed.notes[0]}"
    if value.witness is None or value.upper is None:
        return ""
    prepared = prepare(setting(policy, measure.answers), measure.reading)
    verdict = check_pair(prepared, measure.reading, value.witness)
    reached = instance.query.on(policy).difference(value.witness.moves(measure.reading))
    if verdict and verdict.minimality != "budget" and reached == value.lower:
        return "the pair was checked against the definition, every D3 searched"
    return ""


def _records(value: Value, reading: Reading) -> int:
    """Return how many records brute force needs to see the pair, and no fewer than two."""
    if value.witness is None:
        return 3 if is_labelled(reading) else 4
    pair = value.witness
    return max(2, max(len(pair.before), len(pair.after)) + sum(n for _, n in pair.unchanged))


def _brute(policy: Policy, instance: Instance, reading: Reading, size: int) -> Answer | None:
    """Return what brute force says of databases with up to `size` records, if that is quick."""
    query = instance.query.on(policy)
    bound = None if isinstance(query, WeightedSum) or policy.scope == "given" else size
    if policy.domain.size**size > QUICK_BRUTE:
        return None
    try:
        return sensitivity(policy, query, reading=reading, engine="brute", max_size=bound)
    except BudgetError:
        return None
