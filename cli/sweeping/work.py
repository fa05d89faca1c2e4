"""What a worker does: the questions about one policy, one after the other, sharing what they find.

A worker is a process here or on another machine. The policy and the queries come to it as they were
read, with the numbers of their files and data in them: a worker opens no file of the grid's.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from blowproof.cli.sweeping.grid import Source
    from blowproof.models import BoundQuery, Policy
    from blowproof.models.policy.policy import Answers
    from blowproof.verifier.asked.answer import Pair
    from blowproof.verifier.portfolio.related import Known

__all__ = [
    "Asked",
    "Batch",
    "Row",
    "answer_batch",
    "answer_batches",
    "failed",
    "pair_from",
    "pair_written",
    "ready",
    "settings_words",
    "singly",
]

Row = dict[str, Any]

MOST_UNCHANGED = 1000
"""Values of records that do not change; a pair with more of them stays where it was found."""


@dataclass(frozen=True)
class Asked:
    """One question of a batch."""

    key: str
    query: str
    bound: BoundQuery
    reading: str
    norm: str
    answers: Answers
    counts: int


@dataclass(frozen=True)
class Batch:
    """Questions about one policy; `known`: what questions about others say about it."""

    name: str
    settings: str
    policy: Policy
    asked: Sequence[Asked]
    time_limit: float | None
    version: str
    known: Sequence[Known] = ()

    def knowing(self, known: Sequence[Known]) -> Batch:
        """Return the same questions, with what others say about them."""
        return replace(self, known=tuple(known))


def ready(memory: int | None) -> None:
    """Prepare a process: Ctrl-C is for the one that hands out the work; imports come once."""
    import signal
    from contextlib import suppress

    with suppress(ValueError):  # not the main thread: a cluster's worker minds its own signals
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    from blowproof.cli.asking import memory as limits
    from blowproof.cli.asking.stoppable import ignore_late_halts
    from blowproof.verifier import ask  # noqa: F401 # the first question must not wait for it

    ignore_late_halts()
    threading.Thread(target=_end_with_parent, name="life", daemon=True).start()
    if memory is not None:
        limits.allow(memory)


def _end_with_parent() -> None:
    """End this process when the one that hands out the work is gone, however that came about."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def answer_batches(batches: Sequence[Batch]) -> list[list[Row]]:
    """Return the rows of several batches, each as `answer_batch` has them."""
    return [answer_batch(batch) for batch in batches]


def singly(batches: Sequence[Batch]) -> Iterator[Batch]:
    """Yield the questions of batches one by one."""
    for batch in batches:
        for asked in batch.asked:
            yield replace(batch, asked=[asked])


def answer_batch(batch: Batch) -> list[Row]:
    """Return a row for each question; what cannot be answered is a row with the reason.

    Besides what the results have, a row has the worst `pair`, for questions about other policies.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.options import Options
    from blowproof.models import BlowproofError

    policy = batch.policy
    sessions: dict[str, Session] = {}
    rows = []
    for asked in batch.asked:
        session = sessions.setdefault(
            asked.answers,
            Session(
                Options("published", asked.answers, "auto", batch.time_limit, None),
                shown=False,
            ),
        )
        started = time.perf_counter()
        row = _empty(batch, asked)
        told = (known for known in batch.known if known.answers == asked.answers)
        session.problem(policy).abroad = tuple(told)
        try:
            found = session.ask(policy, asked.bound, asked.reading)
        except BlowproofError as error:
            row["error"] = str(error)
        else:
            said = found.to_json(policy.domain)
            pair = found.witness
            row |= {
                "lower": str(said["lower"]),
                "upper": None if said["upper"] is None else str(said["upper"]),
                "status": found.status,
                "engine": found.engine,
                "records": 0 if pair is None else max(len(pair.before), len(pair.after)),
                "decided_by": json.dumps(said["decided_by"]),
                "notes": json.dumps(said["notes"]),
                "pair": pair_written(pair),
            }
        if session.interrupted:
            raise KeyboardInterrupt
        row["seconds"] = round(time.perf_counter() - started, 4)
        rows.append(row)
    return rows


def pair_written(pair: Pair | None) -> list[Any] | None:
    """Return a pair as a journal has it; None where it is long, or says which record is which."""
    if pair is None or pair.records is not None or len(pair.unchanged) > MOST_UNCHANGED:
        return None
    return [pair.before, pair.after, pair.unchanged]


def pair_from(written: list[Any] | None) -> Pair | None:
    """Return a pair from a row; None where there is none.

    >>> pair_from([[[0, 1]], [[1, 1]], [[[2, 2], 7]]]).unchanged
    (((2, 2), 7),)
    """
    from blowproof.verifier.asked.answer import Pair

    if written is None:
        return None
    before, after, unchanged = written
    others = tuple((tuple(point), times) for point, times in unchanged)
    return Pair(
        before=tuple(tuple(point) for point in before),
        after=tuple(tuple(point) for point in after),
        unchanged=others,
    )


def failed(batch: Batch, reason: str) -> list[Row]:
    """Return the rows of a batch whose worker died: no bounds, and the reason."""
    return [_empty(batch, asked) | {"error": reason} for asked in batch.asked]


def settings_words(source: Source) -> str:
    """Return the parameters of a policy as a row has them."""
    return json.dumps(dict(source.settings))


def _empty(batch: Batch, asked: Asked) -> Row:
    """Return the row of a question that nothing is known of yet."""
    return {
        "key": asked.key,
        "policy": batch.name,
        "settings": batch.settings,
        "query": asked.query,
        "reading": asked.reading,
        "norm": asked.norm,
        "answers": asked.answers,
        "counts": asked.counts,
        "lower": "0",
        "upper": None,
        "status": "bounds",
        "engine": "none",
        "records": 0,
        "seconds": 0.0,
        "time_limit": batch.time_limit,
        "version": batch.version,
        "decided_by": "[]",
        "notes": "[]",
        "error": None,
    }
