"""What the questions that are answered say about those that wait (`verifier.portfolio.related`).

Whoever is handed a batch is told what bounds its questions, by those about other policies and by
those of an earlier batch about this one: the best few upper bounds, and the worst few pairs. What
was found before a restart counts too. For weighted records, and where facts are clauses, nothing
travels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple, cast

from blowproof.cli.sweeping.work import Asked, Batch, Row, pair_from
from blowproof.models import Exact, Policy, Reading
from blowproof.models.base.numbers import exact
from blowproof.models.policy.policy import Answers
from blowproof.verifier.portfolio.related import Known, Outline, pairs_travel, within

__all__ = ["Abroad"]

MOST = 3
"""Bounds, and pairs, that a batch is told of for each query: the best ones."""


class _Found(NamedTuple):
    """What one question found, ready to be told: its bound and its pair, None where it has none."""

    text: str
    upper: Known | None
    pair: Known | None
    worth: Exact


@dataclass
class _Policy:
    """A policy of the grid under one scope, and what its questions have found, by reading."""

    name: str
    answers: Answers
    outline: Outline
    found: dict[Reading, list[_Found]] = field(default_factory=dict)


class Abroad:
    """All that was found, by policy."""

    def __init__(self) -> None:
        self.policies: dict[tuple[int, Answers], _Policy | None] = {}
        self.alike: dict[tuple[Answers, int, frozenset[frozenset[int]]], list[_Policy]] = {}
        """The policies that publish the same marginals of a domain; others are compared once."""
        self.asked: dict[str, tuple[_Policy, Asked]] = {}

    def told(self, batch: Batch) -> Batch:
        """Return a batch that knows what others say about it."""
        known: list[Known] = []
        for answers in dict.fromkeys(asked.answers for asked in batch.asked):
            here = self._entry(batch.name, batch.policy, answers)
            if here is None:
                continue
            part = [asked for asked in batch.asked if asked.answers == answers]
            self.asked |= {asked.key: (here, asked) for asked in part if not asked.bound.per_record}
            for reading in dict.fromkeys(cast("Reading", asked.reading) for asked in part):
                known += self._about(here, reading)
        return batch.knowing(known)

    def remember(self, name: str, policy: Policy, asked: Asked, row: Row) -> None:
        """Take in an answer that was found before a restart."""
        here = self._entry(name, policy, asked.answers)
        if here is not None and not asked.bound.per_record:
            self.asked[asked.key] = here, asked
            self.add(row)

    def add(self, row: Row) -> None:
        """Take in an answer."""
        if row["key"] not in self.asked or row["error"] is not None:
            return
        policy, asked = self.asked.pop(row["key"])
        reading, query, name = cast("Reading", asked.reading), asked.bound, policy.name
        pair = pair_from(row.get("pair"))
        bound = None if row["upper"] is None else exact(row["upper"])
        upper = None if bound is None else Known(reading, query, bound, None, name)
        held = None if pair is None else Known(reading, query, None, pair, name)
        text = f"{asked.norm} {asked.query}"
        policy.found.setdefault(reading, []).append(_Found(text, upper, held, exact(row["lower"])))

    def _entry(self, name: str, policy: Policy, answers: Answers) -> _Policy | None:
        if (id(policy), answers) not in self.policies:
            outline = Outline.of(policy, answers)
            here = None if outline is None else _Policy(name, answers, outline)
            self.policies[id(policy), answers] = here
            if here is not None and outline is not None:
                alike = answers, outline.domain, outline.margins
                self.alike.setdefault(alike, []).append(here)
        return self.policies[id(policy), answers]

    def _comparable(self, here: _Policy) -> Iterator[_Policy]:
        """Yield the policies that are finer than this one, or less: others say nothing about it."""
        mine = here.outline
        for (answers, domain, margins), members in self.alike.items():
            same = (answers, domain) == (here.answers, mine.domain)
            if same and (margins <= mine.margins or margins >= mine.margins):
                for there in members:
                    if mine.finer(there.outline) or there.outline.finer(mine):
                        yield there

    def _about(self, here: _Policy, reading: Reading) -> list[Known]:
        uppers: dict[str, list[tuple[Exact, Known]]] = {}
        pairs: dict[str, list[tuple[Exact, Known]]] = {}
        for there in self._comparable(here):
            found = there.found.get(reading)
            if not found:
                continue
            inside = within(here.outline, there.outline, reading)
            travel = pairs_travel(here.outline, there.outline, reading)
            for item in found:
                if inside and item.upper is not None:
                    assert item.upper.upper is not None
                    uppers.setdefault(item.text, []).append((item.upper.upper, item.upper))
                if travel and item.pair is not None:
                    pairs.setdefault(item.text, []).append((-item.worth, item.pair))
        best = [known for by_query in (uppers, pairs) for known in _best_of(by_query)]
        return (
            best if here.answers == "any" else [known._replace(answers="given") for known in best]
        )


def _best_of(found: dict[str, list[tuple[Exact, Known]]]) -> list[Known]:
    return [known for told in found.values() for known in _best(told)]


def _best(found: list[tuple[Exact, Known]]) -> list[Known]:
    """The best few; policies that publish the same often say the same."""
    kept: list[Known] = []
    for _, known in sorted(found, key=itemgetter(0)):
        if len(kept) == MOST:
            break
        if not any(known[:4] == other[:4] for other in kept):
            kept.append(known)
    return kept
