"""What a worker does: the questions about one policy, one after the other, sharing what they find.

A worker is a process here or on another machine; what goes in and out is plain data.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from blowproof.cli.sweeping.grid import Source
    from blowproof.models.policy.policy import Answers

__all__ = ["Asked", "Batch", "Row", "answer_batch", "failed", "ready", "settings_words"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One question of a batch."""

    key: str
    query: str
    reading: str
    norm: str
    answers: Answers
    counts: int


@dataclass(frozen=True)
class Batch:
    """Questions about one policy in one scope."""

    source: Source
    asked: Sequence[Asked]
    time_limit: float | None
    version: str


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
    if memory is not None:
        limits.allow(memory)


def answer_batch(batch: Batch) -> list[Row]:
    """Return a row for each question; what cannot be answered is a row with the reason."""
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.options import Question
    from blowproof.models import BlowproofError
    from blowproof.models.stacks.written import parse_question

    policy = batch.source.read()
    sessions: dict[str, Session] = {}
    rows = []
    for asked in batch.asked:
        session = sessions.setdefault(
            asked.answers,
            Session(
                Question("published", asked.answers, "auto", batch.time_limit, None), shown=False
            ),
        )
        started = time.perf_counter()
        row = _empty(batch, asked)
        try:
            query = parse_question(asked.query, policy, asked.norm)
            found = session.ask(policy, query, asked.reading)
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
            }
        if session.interrupted:
            raise KeyboardInterrupt
        row["seconds"] = round(time.perf_counter() - started, 4)
        rows.append(row)
    return rows


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
        "policy": batch.source.name,
        "settings": settings_words(batch.source),
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
