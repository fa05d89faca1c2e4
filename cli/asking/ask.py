"""Questions put to the verifier: watched, stoppable, and answered with bounds when stopped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar, cast

from blowproof.cli.asking.options import Options
from blowproof.cli.asking.progress import display
from blowproof.cli.asking.stoppable import Interrupted, Stopped, watch
from blowproof.models import BoundQuery, BudgetError, Policy, Reading
from blowproof.models.policy.policy import Answers
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import Engine, Problem, Progress, neighbours, sensitivity
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.exact.available import AVAILABLE

__all__ = [
    "GRACE",
    "OVER",
    "READ_SECONDS",
    "SMALL",
    "Cut",
    "Session",
    "scope_of",
    "stream_neighbours",
]

READ_SECONDS = 3.0
"""How long files may be read, however short the time limit is."""

LEAST_SECONDS = 0.05
"""What is left for a search, however long the files took."""

GRACE = 1.0
"""Seconds that an engine has, past its time limit, to come back with a witness of its own."""

SLOW = "searches are not compiled here: pip install 'blowproof[fast]' may decide it"
"""What an answer that stays open says where numba is missing."""

OVER = "not reached within the time limit"
"""Why a question was not searched at all."""

SMALL = """
[domain]
a = ["x", "y"]
b = { min = 0, max = 2 }
[[known]]
marginal = ["a"]
[[known]]
count = { b = 1 }
"""
"""A policy whose questions need no compiled code: what forks workers asks some beforehand."""

T = TypeVar("T")
Post = Callable[[object], None]


@dataclass(frozen=True)
class Cut:
    """A question that was not answered: how far it came, and what stopped it."""

    latest: Progress
    reason: str


def scope_of(question: Options) -> Answers | None:
    """Return the scope that the command line asks for (None: the policy's own)."""
    return cast("Answers | None", question.answers)


class Session:
    """The questions of one command line; after a Ctrl-C, none of them is searched any further.

    With `total`, all of them together end within so many seconds (and GRACE). `shown`: progress, on
    a terminal; `listener` is told of it too.
    """

    def __init__(
        self,
        question: Options,
        *,
        total: float | None = None,
        shown: bool = True,
        listener: Callable[[Progress], None] | None = None,
    ) -> None:
        self.question = question
        self.shown = shown
        self.listener = listener
        self.interrupted = False
        self.signal = "Ctrl-C"
        self._problems: list[Problem] = []
        self.deadline = None if total is None else time.monotonic() + total

    @property
    def left(self) -> float | None:
        """Seconds until all questions end; None where nothing limits them."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether nothing is searched any more: after Ctrl-C, or when the time is used up."""
        return self.interrupted or self.left == 0

    def share(self, among: int, part: float = 1.0) -> float | None:
        """Return a part of the seconds that are left, for one of several questions."""
        return None if self.left is None else max(0.01, self.left * part / among)

    def open(self, path: str, queries: Sequence[str] = ()) -> tuple[Policy, list[BoundQuery]]:
        """Return the policy in a file, and queries bound to it, read within the limits."""
        from blowproof.models.files.reading import read_policy

        def read() -> tuple[Policy, list[BoundQuery]]:
            policy = read_policy(path)
            norm = self.question.norm
            return policy, [parse_question(text, policy, norm) for text in queries]

        return self.read(path, read)

    def read(self, path: str, task: Callable[[], T]) -> T:
        """Return what a task makes of a file; what takes too much time or memory is refused.

        The time that it takes is taken off the question's own limit.
        """
        start, limit = time.monotonic(), self.question.time_limit
        ends = [end for end in (limit, self.left) if end is not None]
        end = max(READ_SECONDS, min(ends)) if ends else None
        try:
            with display(f"reading {path}" if self.shown else None):
                found = self.run(task, limit=end, late=True)
        except Interrupted as stop:
            raise KeyboardInterrupt(stop.signal) from None
        except Stopped as stop:
            which = "memory" if "memory" in stop.reason else "time"
            raise BudgetError(
                f"{path}: this is too large to be read within the {which} limit\n"
                f"  try: fewer or coarser counts, or a larger --{which}-limit"
            ) from None
        if limit is not None:
            left = max(LEAST_SECONDS, limit - (time.monotonic() - start))
            self.question = replace(self.question, time_limit=left)
        return found

    def problem(self, policy: Policy) -> Problem:
        """Return what the questions about one policy share."""
        for problem in self._problems:
            if problem.policy == policy and problem.policy.folder == policy.folder:
                return problem
        self._problems.append(Problem(policy, scope_of(self.question)))
        return self._problems[-1]

    def ask(
        self, policy: Policy, query: BoundQuery, reading: str, *, limit: float | None = None
    ) -> Answer:
        """Return S(f, P) under a reading; stopped or refused by a budget, what is known by then.

        A BudgetError becomes the bounds 0 <= S with the reason among the notes: an answer that says
        nothing is still sound, and scripts get their document. `limit` replaces the question's.
        """
        start = time.monotonic()
        limits = [item for item in (limit or self.question.time_limit, self.left) if item]
        limit = min(limits, default=None)
        found = self.follow(
            f"{query.name}, {reading}",
            lambda post: sensitivity(
                self.problem(policy),
                query,
                reading=cast("Reading", reading),
                engine=cast("Engine", self.question.engine),
                time_limit=limit,
                listener=post,
                seed=self.question.seed or 0,
            ),
            limit=limit,
        )
        if isinstance(found, Cut):
            found = self._bounds(policy, query, reading, found, time.monotonic() - start)
        if found.status == "bounds" and not AVAILABLE:
            return replace(found, notes=(*found.notes, SLOW))
        return found

    def follow(self, title: str, task: Callable[[Post], T], *, limit: float | None) -> T | Cut:
        """Return what a task returns, showing the progress that it posts; or how far it came.

        The task looks at its own limit, and has GRACE to come back with what it has found.
        """
        latest = Progress(lower=0, upper=None, what="")
        if self.over:
            return Cut(latest, f"not searched, after {self.signal}" if self.interrupted else OVER)
        with display(title if self.shown else None) as show:

            def on_post(progress: object) -> None:
                nonlocal latest
                assert isinstance(progress, Progress)
                latest = progress.after(latest)
                show(latest)
                if self.listener is not None:
                    self.listener(latest)

            try:
                return watch(task, time_limit=self._end(limit, grace=GRACE), on_post=on_post)
            except (Stopped, BudgetError) as stop:
                self._note(stop)
                return Cut(latest, str(stop))

    def run(
        self,
        task: Callable[[], T],
        *,
        limit: float | None = None,
        late: bool = False,
        title: str | None = None,
    ) -> T:
        """Return what a task returns; raise Stopped at its limit, at the end, or by Ctrl-C.

        `title`: what the screen says meanwhile (None: nothing). A `late` task has its limit even
        where the time is over: what an answer cannot do without.
        """
        if self.over and not late:
            raise Stopped(OVER)
        end = limit if late else self._end(limit, grace=0.0)
        try:
            with display(title if self.shown else None):
                return watch(lambda post: task(), time_limit=end, on_post=lambda posted: None)
        except Interrupted as stop:
            self._note(stop)
            raise

    def _note(self, stop: Exception) -> None:
        """Remember that somebody wants to stop, and how they said so."""
        if isinstance(stop, Interrupted):
            self.interrupted, self.signal = True, stop.signal

    def _end(self, limit: float | None, *, grace: float) -> float | None:
        """Seconds until a question is cut off: its limit and a grace, and never past the end."""
        ends = [limit + grace] if limit is not None else []
        if self.left is not None:
            ends.append(self.left + min(grace, GRACE / 2))
        return min(ends, default=None)

    def _bounds(
        self,
        policy: Policy,
        query: BoundQuery,
        reading: str,
        cut: Cut,
        seconds: float,
    ) -> Answer:
        return Answer(
            policy=policy.name,
            query=query.name,
            reading=cast("Reading", reading),
            answers=policy.with_answers(scope_of(self.question)).scope,
            lower=cut.latest.lower,
            upper=cut.latest.upper,
            status="bounds",
            witness=cut.latest.witness,
            engine=self.question.engine,
            seconds=seconds,
            notes=(cut.reason,),
            decided_by=cut.latest.decided_by,
            domain=policy.domain,
            norm=query.measure.name,
        )


def stream_neighbours(
    policy: Policy,
    question: Options,
    *,
    limit: int | None,
    every_label: bool = True,
    on_pair: Callable[[Pair], None],
) -> tuple[bool, str]:
    """Hand over the neighbours one by one, at most `limit`; return (all of them?, why stopped)."""
    count = 0
    overflow = False
    latest: Pair | None = None

    def task(post: Post) -> None:
        pairs: Iterator[Pair] = neighbours(
            policy,
            reading=cast("Reading", question.reading),
            answers=scope_of(question),
            engine=cast("Engine", question.engine),
            every_label=every_label,
        )
        # One more than the limit, to know whether there are more.
        for pair in islice(pairs, None if limit is None else limit + 1):
            post(pair)

    def on_post(pair: object) -> None:
        nonlocal count, overflow, latest
        assert isinstance(pair, Pair)
        if pair is latest:
            return  # handed over again, after a signal
        latest = pair
        if limit is not None and count >= limit:
            overflow = True
            return
        count += 1
        on_pair(pair)

    try:
        watch(task, time_limit=question.time_limit, on_post=on_post)
    except (Stopped, BudgetError) as stop:
        return False, str(stop)
    return not overflow, ""
