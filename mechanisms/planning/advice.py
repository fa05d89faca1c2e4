"""Advice about publications: what a release would gain if less, or something else, were known.

Three changes to what the policy says is published: one fact left out, a marginal published without
one of its attributes, two marginals merged into the one table that has the attributes of both. Each
is judged by the expected error of the same queries at the same budget, with the best of the quick
mechanisms for each query alone; so is what is published now. Nothing is spent, and nothing about
the records is looked at that the policy's own counts do not look at.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.planning.options import weighted
from blowproof.mechanisms.planning.workload import Workload
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.request import Request
from blowproof.models import BlowproofError, Marginal, Policy
from blowproof.models.policy.in_words import fact_words
from blowproof.models.queries.arguments import query_name

__all__ = ["Advice", "advised"]

QUICK = ("laplace", "gaussian", "k-norm", "strategy")
MOST_CELLS = 100_000
SHARE = 0.3
"""Of the time that is left, for one change."""


@dataclass(frozen=True)
class Advice:
    """A change to what is published, the RMSE of the workload with it, and what it is now.

    `now` is None where no quick mechanism answers the workload as things are.
    """

    change: str
    rmse: float
    now: float | None

    @property
    def saves(self) -> float | None:
        """The share of the error that it saves: 0.5 is half of it; below 0, it costs."""
        if self.now is None:
            return None
        return 1 - self.rmse / self.now if self.now else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return it as a plan has it."""
        return {"change": self.change, "rmse": self.rmse, "now": self.now, "saves": self.saves}


def advised(request: Request, workload: Workload) -> list[Advice]:
    """Return the changes that were judged in time, the one that saves most first."""
    policy = request.policy
    now = _error(_in_time(request), workload)
    found = []
    for change, other in _changes(policy):
        asked = _under(request, other)
        if asked is None:
            break  # no time is left
        rmse = _error(asked, workload)
        if rmse is not None:
            found.append(Advice(change, rmse, now))
    return sorted(found, key=lambda item: item.rmse)


def _in_time(request: Request) -> Request:
    if request.deadline is None:
        return request
    left = request.deadline - time.monotonic()
    return replace(request, deadline=time.monotonic() + max(0.01, SHARE * left))


def _under(request: Request, policy: Policy) -> Request | None:
    """Return the request under another policy; None where its time is over."""
    try:
        _ = request.left
    except BlowproofError:
        return None
    return replace(_in_time(request.under(policy, request.reading)), answers=request.answers)


def _error(request: Request, workload: Workload) -> float | None:
    """Return the weighted RMSE of the best quick mechanism for each query; None where none does."""
    errors = []
    for query in workload.queries:
        best: float | None = None
        for name in QUICK:
            try:
                made = made_ready(name, replace(request, query=query, options={}))
                error = expected(made, (), 0)
            except BlowproofError:
                continue
            if error is not None and (best is None or error.rmse < best):
                best = error.rmse
        if best is None:
            return None
        errors.append(best)
    return weighted(errors, workload.weights)


def _changes(policy: Policy) -> Iterator[tuple[str, Policy]]:
    """Yield changes to what is known, in words, with the policy that they lead to."""
    known = policy.known
    marginals = [(at, fact) for at, fact in enumerate(known) if isinstance(fact, Marginal)]
    for at, fact in enumerate(known):
        name = _name(fact) if isinstance(fact, Marginal) else fact_words(policy, fact)
        yield from _made(f"leave out {name}", policy, {at}, None)
    for at, fact in marginals:
        for axis in range(len(fact.attributes)):
            if len(fact.attributes) > 1:
                coarser = _without(fact, axis, policy)
                text = f"publish {_name(coarser)} in place of {_name(fact)}"
                yield from _made(text, policy, {at}, coarser)
    for (at, one), (other, two) in combinations(marginals, 2):
        names = dict.fromkeys((*one.attributes, *two.attributes))
        merged = Marginal(tuple(names))
        text = f"publish {_name(merged)} in place of {_name(one)} and {_name(two)}"
        cells = prod(policy.domain.attribute(policy.domain.axis(name)).size for name in names)
        if cells <= MOST_CELLS and len(names) > max(len(one.attributes), len(two.attributes)):
            yield from _made(text, policy, {at, other}, merged)


def _made(
    text: str, policy: Policy, dropped: set[int], added: Marginal | None
) -> Iterator[tuple[str, Policy]]:
    kept = tuple(fact for at, fact in enumerate(policy.known) if at not in dropped)
    try:
        yield text, replace(policy, known=kept if added is None else (*kept, added))
    except BlowproofError:
        return  # e.g. numbers that nothing determines any more


def _name(fact: Marginal) -> str:
    return query_name("marginal", list(fact.attributes))


def _without(fact: Marginal, place: int, policy: Policy) -> Marginal:
    """Return a marginal without one attribute; its numbers, if it has any, added up."""
    names = tuple(name for at, name in enumerate(fact.attributes) if at != place)
    if fact.answers is None:
        return Marginal(names)
    sizes = [policy.domain.attribute(policy.domain.axis(name)).size for name in fact.attributes]
    sums = np.array(fact.answers, dtype=object).reshape(sizes).sum(axis=place)
    return Marginal(names, answers=tuple(int(item) for item in sums.ravel()))
