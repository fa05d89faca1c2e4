"""Running claims: every part over its family, what failed, and the verdict that follows.

A run is a sequence of parts. `check` walks a part's instances, counts, and keeps the smallest
failing instance for each cost; `Tally` is what is known about the part so far, so that a run that
was interrupted goes on where it stopped.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from blowproof.models import BlowproofError, Exact
from blowproof.models.base.numbers import magnitude, total
from blowproof.models.files.writing import to_toml
from blowproof.verifier.claims.stating.claim import (
    Claim,
    Cost,
    Grade,
    Instance,
    Level,
    Part,
    Value,
    Verdict,
)
from blowproof.verifier.claims.stating.grades import degenerate

__all__ = ["COSTS", "Failure", "Finding", "Smallest", "Tally", "check", "judge", "put", "weight"]

COSTS: tuple[Cost, ...] = ("privacy", "accuracy", "nothing")
EVERY = 25
"""How many instances are checked between two reports."""


@dataclass(frozen=True)
class Failure:
    """An instance on which a part fails, with both numbers, and how they were confirmed."""

    instance: Instance
    claimed: Exact
    value: Value
    cost: Cost
    checked: str = ""
    degenerate: str = ""
    """Why the instance is degenerate, if it is one."""


Smallest = dict[Cost, Failure]


@dataclass
class Tally:
    """What is known about one part: counts, and the smallest failures for each cost.

    `smallest` are those of all instances, `proper` those of the instances that are not degenerate.
    """

    done: int = 0
    """How many instances of the family were looked at, those outside the claim included."""
    instances: int = 0
    sampled: int = 0
    undecided: int = 0
    shapes: Counter[str] = field(default_factory=Counter)
    failures: Counter[Cost] = field(default_factory=Counter)
    degenerate: Counter[Cost] = field(default_factory=Counter)
    """How many of the failures are on degenerate instances."""
    smallest: Smallest = field(default_factory=dict)
    proper: Smallest = field(default_factory=dict)
    seconds: float = 0.0
    finished: bool = False

    def count(self, instance: Instance) -> None:
        """Count an instance that the claim speaks about."""
        self.instances += 1
        self.sampled += instance.sampled
        self.shapes[instance.shape] += 1

    def keep(self, failure: Failure) -> None:
        """Count a failure, and keep it if none smaller is known."""
        self.failures[failure.cost] += 1
        self.degenerate[failure.cost] += bool(failure.degenerate)
        self.remember(failure)

    def remember(self, failure: Failure) -> None:
        """Keep a failure that is not counted, if none smaller is known."""
        for kept in (self.smallest, self.proper):
            known = kept.get(failure.cost)
            if kept is self.proper and failure.degenerate:
                continue
            if known is None or weight(failure.instance) < weight(known.instance):
                kept[failure.cost] = failure

    def shown(self) -> list[Failure]:
        """Return what is shown, first what matters: proper failures, then smaller degenerate ones.

        Of each kind what costs privacy comes first.
        """
        proper = [self.proper[cost] for cost in COSTS if cost in self.proper]
        smaller = [self.smallest[cost] for cost in COSTS if cost in self.smallest]
        return [*proper, *(failure for failure in smaller if failure.degenerate)]


@dataclass(frozen=True)
class Finding:
    """A claim after a run: a tally for each of its parts, and the verdict."""

    claim: Claim
    tallies: Sequence[Tally]
    unproved: Sequence[str] = ()
    """Identities of the claim that sympy did not prove."""

    def failed(self, part: Part) -> frozenset[Cost]:
        """Return what trusting a part costs; nothing where it holds."""
        return frozenset(self.tallies[self.claim.parts.index(part)].failures)

    def properly(self, part: Part) -> frozenset[Cost]:
        """Return what trusting a part costs on instances that are not degenerate."""
        return frozenset(self.tallies[self.claim.parts.index(part)].proper)

    @property
    def grade(self) -> Grade | None:
        """How it fails; None where it does not."""
        return self.claim.grade(self.failed, self.properly)

    @property
    def verdict(self) -> Verdict:
        """The verdict."""
        return self.claim.verdict(self.failed)

    @property
    def undecided(self) -> bool:
        """Whether some part was not checked to its end."""
        return any(tally.undecided or not tally.finished for tally in self.tallies)


def weight(instance: Instance) -> tuple[int, int, int, str]:
    """Return how large an instance is: values, facts, length when written, and the text itself."""
    policy, numbers = instance.policy, repr(sorted(instance.parameters.items()))
    given = [value for value in instance.parameters.values() if not isinstance(value, str)]
    size = total(magnitude(value) for value in given)
    if policy is None:
        return 0, int(size), len(numbers), numbers
    text = to_toml(policy) + repr(instance.query) + numbers
    return policy.domain.size, len(policy.linear_facts), len(text) + int(size), text


def put(part: Part, instance: Instance, time_limit: float | None) -> Failure | bool | None:
    """Put one instance to a part: a failure, True (right), False (undecided), None (outside)."""
    claimed = part.claimed(instance)
    if claimed is None:
        return None
    value = part.measure(instance, time_limit)
    cost = part.failure(claimed, value)
    if cost is not None:
        return Failure(instance, claimed, value, cost, degenerate=degenerate(part, instance))
    return part.decided(claimed, value)


def check(
    part: Part,
    level: Level,
    tally: Tally,
    *,
    deadline: float | None = None,
    tell: Callable[[Tally], None] = lambda tally: None,
) -> Tally:
    """Check a part on the rest of its family, from where `tally` stands, until the deadline."""
    for place, instance in enumerate(part.family.instances(level)):
        if place < tally.done:
            continue
        begun = time.monotonic()
        left = None if deadline is None else deadline - begun
        if left is not None and left <= 0:
            return tally
        _count(part, instance, left, tally)
        tally.done += 1
        tally.seconds += time.monotonic() - begun
        if tally.done % EVERY == 0:
            tell(tally)
    tally.finished = True
    tell(tally)
    return tally


def _count(part: Part, instance: Instance, left: float | None, tally: Tally) -> None:
    try:
        found = put(part, instance, left)
    except BlowproofError as error:
        error.add_note(f"in the part {part.name!r}, on {instance}")
        raise
    if found is None:
        return
    tally.count(instance)
    if isinstance(found, Failure):
        tally.keep(found)
    elif not found:
        tally.undecided += 1


def judge(claim: Claim, tallies: Iterable[Tally]) -> Finding:
    """Return the finding, every kept failure re-checked without the engines."""
    from blowproof.verifier.claims.stating.measures import recheck

    done: dict[int, Failure] = {}  # the smallest failure is mostly a proper one too

    def again(failure: Failure, part: Part) -> Failure:
        if failure.checked:
            return failure
        if id(failure) not in done:
            found = recheck(part.measure, failure.instance, failure.value)
            done[id(failure)] = replace(failure, checked=found)
        return done[id(failure)]

    def checked(tally: Tally, part: Part) -> Tally:
        def each(kept: Smallest) -> Smallest:
            return {cost: again(failure, part) for cost, failure in kept.items()}

        return replace(tally, smallest=each(tally.smallest), proper=each(tally.proper))

    pairs = zip(tallies, claim.parts, strict=True)
    unproved = [item.says for item in claim.identities if not item.proved()]
    return Finding(claim, [checked(tally, part) for tally, part in pairs], unproved)
