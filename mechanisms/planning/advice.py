"""Advice about publications: what a release would gain if less, or something else, were known.

Three changes to what the policy says is published: one fact left out (where no such change is
judged in a moment, all facts but one, and all of them), a marginal published without one of its
attributes, two marginals merged into the one table that has the attributes of both. And where plain
moves come into it, the reading that knows secret moves alone, which promises less. Each is judged
by the expected error of the same queries at the same budget, with the best of the quick mechanisms
for each query alone; so is what is published now. Nothing is spent, and nothing about the records
is looked at that the policy's own counts do not look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.expecting.made_up import MOST_CELLS as MOST_REHEARSED
from blowproof.mechanisms.expecting.made_up import made_up
from blowproof.mechanisms.planning.candidates import noise_of_its_own
from blowproof.mechanisms.planning.options import weighted
from blowproof.mechanisms.planning.workload import Workload
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.release.worth import out_of_reach
from blowproof.models import BlowproofError, Known, Marginal, Policy
from blowproof.models.base.clock import Budget, by_processor, now
from blowproof.models.policy.in_words import fact_words
from blowproof.models.policy.readings import Reading
from blowproof.models.queries.arguments import query_name

__all__ = ["Advice", "advised"]

QUICK, TABLE = ("laplace", "gaussian", "k-norm", "strategy"), ("table",)
MOST_CELLS = 100_000
SECRET: Reading = "secret-moves"
SHARE, QUICKLY = 0.3, 2.0
"""Of the time that is left, for one change; and seconds, at first."""


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


def advised(request: Request, workload: Workload, *, short: bool = False) -> list[Advice]:
    """Return the changes that were judged in time, the one that saves most first.

    Every change has a moment, and what is easy is found by then; only then the hard ones have the
    rest of the time. `short`: no other changes where one fact less is enough.
    """
    if request.deadline is None:
        return _advised(request, workload, short=short)
    seconds = max(0.0, request.deadline - now())
    with Budget(seconds):
        return _advised(replace(request, deadline=now() + seconds), workload, short=short)


def _advised(request: Request, workload: Workload, *, short: bool) -> list[Advice]:
    policy = request.policy
    current = _error(_in_time(request, None), workload)
    found: dict[str, float] = {}
    hard: list[tuple[str, Policy]] = []
    hard += _judged(_without_one(policy), request, workload, found, QUICKLY)
    if found and short:
        return _sorted(found, current)
    if not found:
        hard += _judged(_fewer(policy), request, workload, found, QUICKLY)
    hard += _judged(_in_place(policy), request, workload, found, QUICKLY)
    found |= _other_reading(request, workload)
    _judged(hard, request, workload, found, None)
    return _sorted(found, current)


def _sorted(found: dict[str, float], now: float | None) -> list[Advice]:
    return sorted((Advice(*item, now) for item in found.items()), key=lambda item: item.rmse)


def _other_reading(request: Request, workload: Workload) -> dict[str, float]:
    """Return what the reading of secret moves leads to, where it is another one and judged soon."""
    policy = request.policy
    if request.reading != "published" or policy.graph.complete or not policy.known:
        return {}
    asked = _under(replace(request, reading=SECRET), policy, QUICKLY)
    rmse = None if asked is None else _error(asked, workload)
    return {} if rmse is None else {f"promise less: --reading {SECRET}": rmse}


def _judged(
    changes: Iterable[tuple[str, Policy]], request: Request, workload: Workload,
    found: dict[str, float], seconds: float | None,
) -> list[tuple[str, Policy]]:  # fmt: skip
    """Put into `found` what changes lead to; return those of which nothing was found."""
    hard = []
    for change, other in changes:
        asked = _under(request, other, seconds)
        if asked is None:
            break  # no time is left
        rmse = _error(asked, workload)
        if rmse is None:
            hard.append((change, other))
        else:
            found[change] = rmse
    return hard


def _in_time(request: Request, seconds: float | None) -> Request:
    """Return a request that ends after a share of the time that is left, and after so many."""
    told, ends = now(), []
    if request.deadline is not None:
        ends.append(max(0.01, SHARE * (request.deadline - told)))
    if seconds is not None:
        ends.append(seconds)
    return replace(request, deadline=told + min(ends)) if ends else request


def _under(request: Request, policy: Policy, seconds: float | None) -> Request | None:
    """Return the request under another policy; None where its time is over."""
    try:
        _ = request.left
    except BlowproofError:
        return None
    return _in_time(request.under(policy, request.reading, request.answers), seconds)


def _error(request: Request, workload: Workload) -> float | None:
    """Return the weighted RMSE of the best quick mechanism for each query; None where none does."""
    errors = []
    for query in workload.queries:
        best = _least(replace(request, query=query, options={}))
        if best is None:
            return None
        errors.append(best)
    return weighted(errors, workload.weights)


def _least(request: Request) -> float | None:
    """Return the RMSE of the best quick mechanism for a query: one on all values, where noise on
    its answers takes long to know, and is more.
    """
    query, policy = request.bound, request.policy
    if out_of_reach(request, query, table=False):
        return None
    table = not noise_of_its_own(query, policy) and policy.domain.size <= MOST_REHEARSED
    best: float | None = None
    for name in (*TABLE[: int(table)], *QUICK):
        if best == 0 or (table and best is not None):
            break
        try:
            shapes = list(made_up(policy, request.answers, None)) if name in TABLE else ()
            with by_processor():
                error = expected(made_ready(name, request), shapes, 0)
        except BlowproofError:
            continue
        if error is not None and (best is None or error.rmse < best):
            best = error.rmse
    return best


def _without_one(policy: Policy) -> Iterator[tuple[str, Policy]]:
    """Yield one fact left out, in words, with the policy that it leads to."""
    for at, fact in enumerate(policy.known):
        yield from _made(f"leave out {_in_words(fact, policy)}", policy, {at}, None)


def _in_place(policy: Policy) -> Iterator[tuple[str, Policy]]:
    """Yield marginals with another one in their place."""
    known = policy.known
    marginals = [(at, fact) for at, fact in enumerate(known) if isinstance(fact, Marginal)]
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


def _fewer(policy: Policy) -> Iterator[tuple[str, Policy]]:
    """Yield all facts but one left out, and all of them."""
    places = set(range(len(policy.known)))
    for at, fact in enumerate(policy.known if len(places) > 2 else ()):
        text = f"leave out all that is known but {_in_words(fact, policy)}"
        yield from _made(text, policy, places - {at}, None)
    if len(places) > 1:
        yield from _made("leave out all that is known", policy, places, None)


def _made(
    text: str, policy: Policy, dropped: set[int], added: Marginal | None
) -> Iterator[tuple[str, Policy]]:
    kept = tuple(fact for at, fact in enumerate(policy.known) if at not in dropped)
    try:
        yield text, replace(policy, known=kept if added is None else (*kept, added))
    except BlowproofError:
        return  # e.g. numbers that nothing determines any more


def _in_words(fact: Known, policy: Policy) -> str:
    return _name(fact) if isinstance(fact, Marginal) else fact_words(policy, fact)


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
