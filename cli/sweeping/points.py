"""The questions of a grid, each with a key: a digest of all that its answer depends on.

The policy counts by its normal form, its data by the numbers that they give its facts, the files of
its queries by their content, the program by its version. A time limit is no part of the key: an
exact answer stays one, and bounds are asked for again where there is more time than they had.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from blowproof.cli.sweeping.grid import Grid, Source
from blowproof.models import BoundQuery, DataError, Policy, QueryError, setting
from blowproof.models.files.writing import canonical
from blowproof.models.policy.setting import counted_once
from blowproof.models.stacks.stacked import ONE, Stacked
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.proofs.claim import query_table

__all__ = ["Point", "Read", "points_of"]


@dataclass(frozen=True)
class Point:
    """One question of a grid."""

    key: str
    source: Source
    policy: Policy
    """As it was read, with the numbers of its data: whoever answers needs no file."""
    query: str
    asked: BoundQuery
    reading: str
    norm: str
    answers: str
    counts: int
    """How many numbers the policy publishes exactly: what its noise is weighed against."""


@dataclass(frozen=True)
class Read:
    """A policy of the grid that was read, with the digest of all that its answers depend on, and
    how many numbers it publishes.
    """

    source: Source
    policy: Policy
    digest: str
    counts: int

    @staticmethod
    def of(source: Source, policy: Policy) -> Read:
        """Return what is kept of a policy."""
        written = canonical(policy)
        return Read(source, policy, _digest(policy, written), _published(policy, written))


def points_of(grid: Grid, version: str) -> Iterator[Point]:
    """Yield the questions, policy by policy.

    Every policy is read and every query bound before any is asked: what is wrong with the last one
    is known at once.
    """
    found = []
    for source in grid.sources:
        policy = source.read()
        if "given" in {answers or policy.scope for answers in grid.answers}:
            try:
                policy = counted_once(policy)
            except DataError as error:
                raise DataError(f"{source.name}: {error}") from None
        found.append((Read.of(source, policy), _queries(grid, policy, source)))
    for read, queries in found:
        for text, written, bound in queries:
            for reading in grid.readings:
                for norm, query in zip(grid.norms, bound, strict=True):
                    for answers in grid.answers:
                        scope = answers or read.policy.scope
                        asked = [read.digest, written, reading, norm, scope, version]
                        key = sha256(json.dumps(asked).encode()).hexdigest()
                        named = (text, query, reading, norm, scope, read.counts)
                        yield Point(key, read.source, read.policy, *named)


def _published(policy: Policy, normal: str) -> int:
    """Return how many numbers the policy says are published exactly, each fact once."""
    written = json.loads(normal).get("known", [])
    once = {json.dumps(fact): place for place, fact in reversed(list(enumerate(written)))}
    names = tuple(f"known[{place}]" for place in once.values())
    return sum(not fact.bounded and fact.name.startswith(names) for fact in policy.linear_facts)


def _digest(policy: Policy, written: str) -> str:
    """Return the digest of a policy, and of the numbers that were counted from its data."""
    parts: list[object] = [written]
    if policy.database.numbers is not None:
        found = setting(policy, "given")
        parts += [found.size, [fact.answer for fact in found.equalities]]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _queries(grid: Grid, policy: Policy, source: Source) -> list[tuple[str, str, list[BoundQuery]]]:
    """Return each query's name, its normal form with the numbers of its file, and in each norm."""
    found = []
    for text in grid.queries:
        try:
            bound = [parse_question(text, policy, norm) for norm in grid.norms]
        except QueryError as error:
            raise QueryError(f"{source.name}: {error}") from None
        found.append((text, json.dumps(_written(bound[0], policy)), bound))
    return found


def _written(query: BoundQuery, policy: Policy) -> object:
    """Return a query's normal form; of several with weights, each with its weights."""
    if not isinstance(query, Stacked):
        return query_table(query, policy)
    parts = [([*map(str, part.weights)], query_table(part.query, policy)) for part in query.parts]
    return parts[0][1] if len(parts) == 1 and query.parts[0].weights == ONE else parts
