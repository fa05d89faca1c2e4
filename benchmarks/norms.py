"""What another norm costs, and whether it is as tight: l1 beside l2-squared, linf and range.

python benchmarks/norms.py [--limit 5] [--only NAME ...] [--norms l2-squared ...] [--every]

The questions are those of `benchmarks/realistic` and of its tables (`--every`: all queries and
readings of a policy; else the first reading that each query is asked in). Each is asked in l1 and
in the other norms, in a process of its own that was forked from this one, so that CPU seconds are
those of the question alone; the limit is one of counted work (models/base/clock), so that bounds
are the same on a busy machine. A row says what l1 says and what the norm says. "wide" is upper /
lower, of the roots for squares, so that both have the same unit; "costs" is the CPU time over that
of l1, of which neither is taken to be less than a tenth of a second: below that the clock says
nothing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from math import sqrt
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast

# as the command line does: more threads wait for each other, and that is counted
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from realistic import Asked, questions
from realistic_made import make

from blowproof import read
from blowproof.models import BlowproofError, Reading
from blowproof.models.base.clock import Budget
from blowproof.models.files.reading import read_policy
from blowproof.models.norms import L2_SQUARED, NORMS
from blowproof.verifier.ask import sensitivity

LEAST = 0.1
"""Seconds of CPU below which costs are called the same."""
TWICE = 2.0
HEADS = [
    "policy",
    "query",
    "reading",
    "l1",
    "s",
    "norm",
    "S",
    "s",
    "costs",
    "wide (l1)",
    "wide",
    "decided by",
]
WARM = {
    "domain": {"a": ["x", "y"], "b": ["x", "y"]},
    "known": [{"marginal": ["a"]}, {"marginal": ["b"]}],
}
"""A policy that all engines look at, for this process to load them."""


@dataclass(frozen=True)
class Told:
    """Bounds in a norm, and what they cost; `upper` None: nothing bounds it."""

    lower: Fraction
    upper: Fraction | None
    cpu: float
    by: str

    def wide(self, norm: str) -> float:
        """Return upper / lower, of roots where the norm is a square."""
        if self.upper is None or (self.lower == 0 and self.upper > 0):
            return float("inf")
        if self.upper == self.lower:
            return 1.0
        ratio = float(min(self.upper / self.lower, Fraction(10**300)))
        return sqrt(ratio) if norm == L2_SQUARED.name else ratio


def chosen(policy: Path, *, every: bool) -> Iterator[Asked]:
    """Yield the questions of a policy; each query once where not all are wanted."""
    seen = set()
    for asked in questions(policy):
        if every or asked.query not in seen:
            seen.add(asked.query)
            yield asked


def ask(policy: Path, asked: Asked, norm: str, limit: float) -> Told | str:
    """Ask one question in a process of its own; return why there is no answer as a text."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_answer, args=(there, policy, asked, norm, limit))
    process.start()
    there.close()
    try:
        found = here.recv() if here.poll(60 + 100 * limit) else "ended: it took too long"
    except EOFError:
        found = "ended without an answer"
    process.kill()
    process.join()
    assert isinstance(found, (Told, str))
    return found


def _answer(line: Connection, policy: Path, asked: Asked, norm: str, limit: float) -> None:
    try:
        rules = read_policy(policy)
        reading = cast("Reading", asked.reading)
        with Budget():
            found = sensitivity(rules, asked.query, norm=norm, reading=reading, time_limit=limit)
    except BlowproofError as error:
        line.send(str(error).partition("\n")[0])
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    below = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime + below.ru_utime + below.ru_stime
    by = "; ".join(f"{end}: {name}" for end, name, _ in found.decided_by)
    upper = None if found.upper is None else Fraction(found.upper)
    line.send(Told(Fraction(found.lower), upper, cpu, by))


def shown(told: Told | str) -> str:
    """Return the bounds, short."""
    if isinstance(told, str):
        return told

    def short(number: Fraction | None) -> str:
        text = "?" if number is None else str(number)
        return text if len(text) <= 9 else f"10^{len(text) - 1}"

    return (
        short(told.upper)
        if told.lower == told.upper
        else f"{short(told.lower)}..{short(told.upper)}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, show as it comes, and say how many cost more or are wider than in l1."""
    parser = argparse.ArgumentParser(description="Other norms beside l1.")
    parser.add_argument("--limit", type=float, default=5.0, help="seconds of work")
    parser.add_argument("--only", action="append", default=[], help="a policy (part of its name)")
    parser.add_argument("--norms", nargs="+", default=["l2-squared"], choices=list(NORMS))
    parser.add_argument("--every", action="store_true", help="every query in every reading")
    options = parser.parse_args(arguments)
    folder = Path(tempfile.gettempdir()) / "blowproof-realistic"
    for norm in NORMS:  # what a question needs is loaded before
        sensitivity(read(WARM), norm=norm)
    import_module("scipy.optimize")
    print(f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}", sep="\n")
    costs, wider, asked_all, total, total_one = 0, 0, 0, 0.0, 0.0
    for policy in make(folder):
        if options.only and not any(name in policy.stem for name in options.only):
            continue
        for asked in chosen(policy, every=options.every):
            one = ask(policy, asked, "l1", options.limit)
            for norm in options.norms:
                other = ask(policy, asked, norm, options.limit)
                head = f"| {policy.stem} | {asked.query} | {asked.reading} | {shown(one)} | "
                if isinstance(one, str) or isinstance(other, str):
                    print(f"{head} | {norm} | {shown(other)} | | | | | |", flush=True)
                    continue
                ratio = max(other.cpu, LEAST) / max(one.cpu, LEAST)
                asked_all, costs = asked_all + 1, costs + (ratio > TWICE)
                wider += other.wide(norm) > one.wide("l1")
                total, total_one = total + other.cpu, total_one + one.cpu
                print(
                    f"{head}{one.cpu:.2f} | {norm} | {shown(other)} | {other.cpu:.2f} | "
                    f"{ratio:.2g} | {one.wide('l1'):.3g} | {other.wide(norm):.3g} | {other.by} |",
                    flush=True,
                )
    print(
        f"\n{asked_all} questions: {costs} cost more than twice what l1 costs, {wider} are wider "
        f"than in l1; {total:.0f} s of CPU beside {total_one:.0f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
