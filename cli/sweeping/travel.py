"""What the questions that are answered say about those that wait (`verifier.portfolio.related`).

Whoever is handed a batch is told what bounds its policy's questions from outside: the best few
upper bounds, and the worst few pairs. In scope "given" and for weighted records nothing travels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from blowproof.cli.sweeping.work import Asked, Batch, Row
from blowproof.models import BoundQuery, Exact, Policy, Reading
from blowproof.models.base.numbers import exact
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.portfolio.related import Known, Outline, pairs_travel, within

__all__ = ["Abroad"]

MOST = 3
"""Bounds, and pairs, that a batch is told of for each query: the best ones."""


@dataclass(frozen=True)
class _Found:
    text: str
    query: BoundQuery
    lower: Exact
    upper: Exact | None
    pair: Pair | None


@dataclass
class _Policy:
    """A policy of the grid, and what its questions have found, by reading."""

    name: str
    outline: Outline
    found: dict[Reading, list[_Found]] = field(default_factory=dict)


class Abroad:
    """All that was found, by policy."""

    def __init__(self) -> None:
        self.policies: dict[int, _Policy] = {}
        self.asked: dict[str, tuple[_Policy, Asked]] = {}

    def told(self, batch: Batch) -> Batch:
        """Return a batch that knows what others say about it."""
        here = self._entry(batch.name, batch.policy)
        if here is None:
            return batch
        for asked in batch.asked:
            if asked.answers == "any" and not asked.bound.per_record:
                self.asked[asked.key] = here, asked
        known: list[Known] = []
        for reading in dict.fromkeys(cast("Reading", asked.reading) for asked in batch.asked):
            known += self._about(here, reading)
        return batch.knowing(known)

    def add(self, row: Row, pair: Pair | None) -> None:
        """Take in an answer."""
        if row["key"] not in self.asked or row["error"] is not None:
            return
        policy, asked = self.asked.pop(row["key"])
        upper = None if row["upper"] is None else exact(row["upper"])
        found = _Found(f"{asked.norm} {asked.query}", asked.bound, exact(row["lower"]), upper, pair)
        policy.found.setdefault(cast("Reading", asked.reading), []).append(found)

    def _entry(self, name: str, policy: Policy) -> _Policy | None:
        if id(policy) not in self.policies:
            outline = Outline.of(policy)
            if outline is None:
                return None
            self.policies[id(policy)] = _Policy(name, outline)
        return self.policies[id(policy)]

    def _about(self, here: _Policy, reading: Reading) -> list[Known]:
        uppers: dict[str, list[tuple[Exact, Known]]] = {}
        pairs: dict[str, list[tuple[Exact, Known]]] = {}
        for there in self.policies.values():
            found = there.found.get(reading)
            if not found or there is here or not _comparable(here.outline, there.outline):
                continue
            if within(here.outline, there.outline, reading):
                for item in found:
                    if item.upper is not None:
                        known = Known(reading, item.query, item.upper, None, there.name)
                        uppers.setdefault(item.text, []).append((item.upper, known))
            if pairs_travel(here.outline, there.outline, reading):
                for item in found:
                    if item.pair is not None:
                        known = Known(reading, item.query, None, item.pair, there.name)
                        pairs.setdefault(item.text, []).append((-item.lower, known))
        return [known for by_query in (uppers, pairs) for known in _best_of(by_query)]


def _comparable(one: Outline, two: Outline) -> bool:
    """Whether one policy is finer than the other: else neither says anything about the other."""
    return one.finer(two) or two.finer(one)


def _best_of(found: dict[str, list[tuple[Exact, Known]]]) -> list[Known]:
    return [known for told in found.values() for known in _best(told)]


def _best(found: list[tuple[Exact, Known]]) -> list[Known]:
    """The best few; policies that publish the same often say the same."""
    kept: list[Known] = []
    for _, known in sorted(found, key=lambda item: item[0]):
        if len(kept) == MOST:
            break
        if not any(known[:4] == other[:4] for other in kept):
            kept.append(known)
    return kept
