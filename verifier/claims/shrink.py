"""Making a failing instance smaller: drop a fact, a value, a secret pair; lower a threshold.

A step is kept if the claim still speaks about the smaller instance and fails at the same cost. The
result is one from which no single step leads to a smaller failing instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from blowproof.models import (
    Between,
    BlowproofError,
    Count,
    Distance,
    Domain,
    Edges,
    Integers,
    Known,
    Labels,
    Marginal,
    PartitionCells,
    Policy,
    Region,
)
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.claims.run import Failure, put, weight
from blowproof.verifier.claims.stating.claim import Instance, Part

__all__ = ["shrink", "smaller"]

STEP_LIMIT = 10.0


def shrink(part: Part, failure: Failure) -> Failure:
    """Return a failure of the same cost that no single step makes smaller.

    What is not degenerate stays so.
    """
    while True:
        better = next(_better(part, failure), None)
        if better is None:
            return failure
        failure = better


def _better(part: Part, failure: Failure) -> Iterator[Failure]:
    for instance in smaller(failure.instance):
        if weight(instance) >= weight(failure.instance):
            continue
        try:
            found = put(part, instance, STEP_LIMIT)
        except (BlowproofError, AssertionError, LookupError):
            continue  # not what the claim speaks about
        if isinstance(found, Failure) and found.cost == failure.cost:
            yield from [found] if failure.degenerate or not found.degenerate else []


def smaller(instance: Instance) -> Iterator[Instance]:
    """Yield instances that are one step smaller; those that make no sense are left out."""
    if instance.policy is None:
        return
    for policy in _policies(instance.policy):
        yield replace(instance, policy=policy, sampled=False)
    rows = instance.query.rows
    for place in range(len(rows)):
        if len(rows) > 1:
            fewer = (*rows[:place], *rows[place + 1 :])
            yield replace(instance, query=replace(instance.query, rows=fewer))


def _policies(policy: Policy) -> Iterator[Policy]:
    for place in range(len(policy.known)):
        yield policy.without([place])
    for secrets in _secrets(policy.secrets):
        yield replace(policy, secrets=secrets)
    for place in range(len(policy.domain)):
        for position in range(policy.domain.attribute(place).size):
            try:
                yield _without_value(policy, place, position)
            except (BlowproofError, _NothingLeftError):
                continue


def _secrets(secrets: SecretsSpec) -> Iterator[SecretsSpec]:
    if isinstance(secrets, Edges):
        for place in range(len(secrets.pairs)):
            pairs = [*secrets.pairs[:place], *secrets.pairs[place + 1 :]]
            yield Edges([(dict(one), dict(two)) for one, two in pairs])
    if isinstance(secrets, Distance) and secrets.threshold > 1:
        yield replace_threshold(secrets)


def replace_threshold(secrets: Distance) -> Distance:
    """Return the same distance secrets with the next smaller whole threshold."""
    lower = max(1, -(-secrets.threshold.numerator // secrets.threshold.denominator) - 1)
    return Distance(
        threshold=lower,
        metric=secrets.metric,
        strict=secrets.strict,
        attributes=secrets.attributes,
    )


# --- one value fewer -----------------------------------------------------------------------------


class _NothingLeftError(Exception):
    """A part of the policy spoke about the dropped value alone."""


def _without_value(policy: Policy, axis: int, position: int) -> Policy:
    name, attribute = policy.domain.attributes[axis]
    if attribute.size < 2 or not isinstance(attribute, (Labels, Integers)):
        raise _NothingLeftError
    gone = attribute.value(position)
    fewer: Labels | Integers
    if isinstance(attribute, Labels):
        kept = [label for label in attribute.labels if label != gone]
        fewer = Labels(kept, ordered=attribute.ordered)
    else:
        fewer = Integers(attribute.min, attribute.max - 1)
    drop = _Drop(name, gone, isinstance(attribute, Integers))
    attributes = {key: fewer if key == name else item for key, item in policy.domain.attributes}
    return replace(
        policy,
        domain=Domain(attributes),
        secrets=drop.secrets(policy.secrets),
        known=tuple(drop.facts(policy.known)),
    )


class _Drop:
    """Rewrites what mentions a value that is dropped; numbers above it move down by one."""

    def __init__(self, name: str, gone: object, number: bool) -> None:
        self.name, self.gone, self.number = name, gone, number

    def value(self, value: object) -> object:
        """Return a value under its new name."""
        if self.number and isinstance(value, int) and isinstance(self.gone, int):
            return value - (value > self.gone)
        return value

    def condition(self, condition: object) -> object:
        """Return a condition on the attribute without the value."""
        if isinstance(condition, Between):
            low, high = condition.min, condition.max
            if low == high == self.gone:
                raise _NothingLeftError
            if isinstance(self.gone, int):
                low = low - (low > self.gone) if isinstance(low, int) else low
                high = high - (high >= self.gone) if isinstance(high, int) else high
            return Between(low, high)
        if isinstance(condition, tuple):
            left = [self.value(value) for value in condition if value != self.gone]
            if not left:
                raise _NothingLeftError
            return left
        if condition == self.gone:
            raise _NothingLeftError
        return self.value(condition)

    def region(self, region: Region) -> Region:
        """Return a region without the value."""
        return Region(
            {
                name: self.condition(condition) if name == self.name else condition
                for name, condition in region.conditions
            }
        )

    def regions(self, regions: tuple[Region, ...]) -> list[Region]:
        """Return a union of regions, those that are empty now left out."""
        kept = []
        for region in regions:
            try:
                kept.append(self.region(region))
            except _NothingLeftError:
                continue
        if not kept:
            raise _NothingLeftError
        return kept

    def facts(self, known: tuple[Known, ...]) -> Iterator[Known]:
        """Yield the facts, counts of nothing left out."""
        for fact in known:
            if isinstance(fact, Count):
                try:
                    yield Count(
                        self.regions(fact.where),
                        answer=fact.answer,
                        at_least=fact.at_least,
                        at_most=fact.at_most,
                    )
                except _NothingLeftError:
                    continue
            elif isinstance(fact, Marginal) and fact.answers is None:
                yield fact
            else:
                raise _NothingLeftError

    def secrets(self, secrets: SecretsSpec) -> SecretsSpec:
        """Return the secrets on what is left."""
        if isinstance(secrets, Edges):
            pairs = [
                tuple({**dict(end), self.name: self.value(dict(end)[self.name])} for end in pair)
                for pair in secrets.pairs
                if all(dict(end)[self.name] != self.gone for end in pair)
            ]
            return Edges(pairs)
        if isinstance(secrets, PartitionCells):
            cells = []
            for regions in secrets.cells:
                try:
                    cells.append(self.regions(regions))
                except _NothingLeftError:
                    continue
            return PartitionCells(cells)
        return secrets
