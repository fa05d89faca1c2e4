"""Questions about a policy: `sensitivity`, `neighbours` and `audit`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from blowproof.given import (
    File,
    PolicyLike,
    apart,
    checked,
    exactly,
    go_on,
    placed_in,
    query_of,
    read,
    session,
)
from blowproof.models import BoundQuery, Policy, QueryError
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.values import Answer, Audit, Claims, Pair

if TYPE_CHECKING:
    from fractions import Fraction

    from blowproof.models import Exact
    from blowproof.verifier.asked import answer as said
    from blowproof.verifier.asked.names import Engine

__all__ = ["audit", "audit_opendp", "neighbours", "sensitivity"]


def sensitivity(  # noqa: PLR0913 # keyword-only options
    policy: PolicyLike,
    query: str | Sequence[str] | BoundQuery = "histogram",
    *,
    norm: str | None = None,
    certificate: File | None = None,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = None,
    seed: int = 0,
    scheduler: str | None = None,
) -> Answer:
    """Return S(f, P), exactly or in bounds, with two databases that show it is at least that large.

    A query may have a weight ("histogram + 1/4*sum(age)"), and several queries are one question: S
    of all their outputs together. `norm` says how changes count: "l1", "l2-squared" (S is a
    square), "linf" or "range". With `certificate`, a proof is written to this file where one is
    found (`check` replays it), and the answer is "proved"; else a note says why there is none.
    After `time_limit` seconds the bounds reached by then are returned; both are sound. `scheduler`:
    the address of a Dask cluster that long searches use.

    Examples:
        >>> office = {"domain": {"region": ["north", "south"], "size": [1, 2]},
        ...           "known": [{"marginal": ["region"]}]}
        >>> answer = sensitivity(office)
        >>> answer.lower, answer.upper, answer.status
        (4, 4, 'exact')
        >>> sensitivity(office, "marginal(size)", norm="l2-squared").upper
        8
        >>> answer = sensitivity(office, "marginal(size)")
        >>> answer.upper, len(answer.witness.before)
        (4, 2)
    """
    from blowproof.cli.asking.cluster import searched_on

    asked, bound = session(reading, answers, engine, time_limit, seed), read(policy)
    place = None if certificate is None else apart(certificate, policy)
    notes = []
    with searched_on(scheduler):
        with placed_in(policy):
            wanted = query_of(query, bound, norm)
            found = asked.ask(bound, wanted, reading)
        go_on(asked)
        if place is not None:
            from blowproof.cli.text.files import save
            from blowproof.verifier.proofs.write import certify_answer

            found, proof = certify_answer(bound, wanted, found, time_limit=time_limit)
            if proof.document is not None:
                save(place, proof.text)
            if proof.reason:
                notes.append(f"no certificate: {proof.reason}")
    return Answer.of(bound, found, *notes)


def neighbours(
    policy: PolicyLike,
    *,
    limit: int | None = None,
    every_label: bool = True,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = None,
) -> Iterator[Pair]:
    """Yield the neighbours, ordered pairs of databases, at most `limit`; scope "given" only.

    `every_label` False: once for all numberings of equal records. A TimeoutError says that the
    time limit cut the list.

    Examples:
        >>> pairs = neighbours({"domain": {"sex": ["F", "M"]}, "database": {"size": 1}})
        >>> sorted((pair.before, pair.after) for pair in pairs)
        [((('F',),), (('M',),)), ((('M',),), (('F',),))]
    """
    from blowproof.verifier.ask import neighbours as listed

    checked(reading, answers, engine)
    bound = read(policy)
    pairs = listed(
        bound,
        reading=reading,
        answers=answers,
        engine=engine,
        every_label=every_label,
        time_limit=time_limit,
    )
    return _shown(policy, bound, islice(pairs, limit), reading)


def _shown(
    given: PolicyLike, policy: Policy, pairs: Iterator[said.Pair], reading: Reading
) -> Iterator[Pair]:
    with placed_in(given):
        for pair in pairs:
            yield Pair.of(policy, pair, reading)


def audit(  # noqa: PLR0913 # keyword-only options
    policy: PolicyLike,
    query: str | Sequence[str] = "histogram",
    *,
    norm: str = "l1",
    epsilon: Exact | str | None = None,
    rho: Exact | str | None = None,
    claimed: Exact | str | None = None,
    planned_scale: Exact | str | None = None,
    planned_variance: Exact | str | None = None,
    mechanism: File | None = None,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = 30,
    seed: int = 0,
) -> Audit:
    """Return the whole story: S under every reading, what it means for noise, and what to do.

    `claimed` (a sensitivity), `planned_scale` (of Laplace noise for `epsilon`, 1 unless told) and
    `mechanism` (a file) are judged: `enough` is False where one of them is too small. `query` may
    be several. With `norm` "l2-squared" noise is Gaussian: `rho` and `planned_variance`.

    Examples:
        >>> story = audit({"domain": {"region": ["north", "south"], "size": [1, 2]},
        ...                "known": [{"marginal": ["region"]}]}, planned_scale=2)
        >>> story.answers[0].upper, story.enough
        (4, False)
        >>> print(next(line for line in str(story).splitlines() if line.startswith("do this")))
        do this       Add Laplace noise of scale 4 to each number for epsilon = 1: twice
    """
    from blowproof.cli.audit.options import Planned
    from blowproof.cli.commands.audit import audited
    from blowproof.models.norms import norm_named

    norm = norm_named(norm).name
    asked = session(reading, answers, engine, time_limit, seed, whole=True, norm=norm)
    bound = read(policy)
    planned = Planned(
        epsilon=None if epsilon is None else exactly(epsilon, "epsilon"),
        rho=None if rho is None else exactly(rho, "rho"),
        claimed=_least(claimed, "claimed"),
        scale=_least(planned_scale, "planned_scale"),
        variance=None
        if planned_variance is None
        else exactly(planned_variance, "planned_variance"),
        mechanism=None if mechanism is None else os.fspath(mechanism),
    )
    queries = (query,) if isinstance(query, str) else tuple(query)
    if not queries or (len(queries) > 1 and planned.of_one_query):
        raise QueryError("claimed and what is planned are about one query\n  try: one query")
    with placed_in(policy):
        found = audited(bound, queries, planned, asked, drawn=True)
    go_on(asked)
    return Audit(found)


def audit_opendp(  # keyword-only options
    context: object,
    columns: Mapping[str, object],
    query: str | Sequence[str] = "histogram",
    *,
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = 30,
    seed: int = 0,
) -> Claims:
    """Return what the guarantee of an OpenDP `Context` really is, given what is invariant in it.

    `context` is what `dp.Context.compositor` returns for a LazyFrame: its margins with invariant
    lengths are known facts, its unit and loss the claim. `columns` has the values of the columns
    that margins and queries are about, which the library does not keep: {"sex": ["F", "M"]}.
    Such a context is `dp.Context.compositor(data=frame.lazy(), split_evenly_over=1,
    privacy_unit=dp.unit_of(contributions=1), privacy_loss=dp.loss_of(epsilon=1.0),
    margins=[dp.polars.Margin(by=["sex"], invariant="lengths")])`, of a frame of polars.

    Examples:
        >>> audit_opendp("census.csv", {"sex": ["F", "M"]})
        Traceback (most recent call last):
        blowproof.models.base.errors.PolicyError: str is no OpenDP Context
          try: dp.Context.compositor(...)
    """
    from blowproof.cli.audit.from_others import held_code, held_in
    from blowproof.models.files.opendp_context import opendp_context
    from blowproof.models.files.opendp_live import context_tables

    asked = session("published", answers, engine, time_limit, seed, whole=True)
    bound = opendp_context(context_tables(context, columns))
    found = held_in(bound, (query,) if isinstance(query, str) else tuple(query), asked)
    go_on(asked)
    return Claims(bound, found, int(held_code(found)))


def _least(value: Exact | str | None, key: str) -> Fraction | None:
    return None if value is None else exactly(value, key, least=True)
