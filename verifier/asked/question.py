"""What is asked of an engine, and what it tells while it works."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from blowproof.models import BoundQuery, Exact, Setting
from blowproof.models.base.clock import now
from blowproof.models.policy.readings import Reading, is_mixed
from blowproof.verifier.asked.answer import Answer, Decided, OnBest, Pair

__all__ = ["Ends", "Listener", "Progress", "Question"]


@dataclass(frozen=True)
class Progress:
    """How far a question has come: the bounds so far, who says so, and what is being searched."""

    lower: Exact
    upper: Exact | None
    what: str
    witness: Pair | None = None
    decided_by: tuple[Decided, ...] = ()

    def after(self, earlier: Progress) -> Progress:
        """Return the best bounds of this and of what was told before."""
        best = self if self.lower >= earlier.lower else earlier
        least = earlier
        if self.upper is not None and (earlier.upper is None or self.upper <= earlier.upper):
            least = self
        decided = tuple(
            each
            for one, end in ((best, "lower"), (least, "upper"))
            for each in one.decided_by
            if each[0] == end
        )
        return Progress(best.lower, least.upper, self.what, best.witness, decided)


Listener = Callable[[Progress], None]

Ends = Callable[[], tuple[Exact, "Exact | None"]]
"""Tells what S(f, P) is at least (some pair is known) and at most (None: not known), by now."""


def _nothing() -> tuple[Exact, Exact | None]:
    return 0, None


@dataclass(frozen=True)
class Question:
    """What is asked: a prepared setting, a query, a reading, and how long it may take.

    `known` says what bounds there are by now, whoever found them: an engine need not look for less
    than the lower one, and stops where it meets the upper one. `seed` changes the order in which
    solvers search.
    """

    setting: Setting
    query: BoundQuery
    reading: Reading
    deadline: float | None = None
    max_size: int | None = None
    listener: Listener | None = None
    seed: int = 0
    known: Ends = field(default=_nothing, compare=False)

    @property
    def irreducible(self) -> bool:
        """Whether neighbours are exactly the irreducible multisets of moves (equalities only)."""
        plain_facts = not self.setting.bounds and not self.setting.clauses
        free = self.reading in ("secret-moves", "add-remove")
        mixed = is_mixed(self.reading) and self.setting.graph.complete
        return plain_facts and (free or mixed) and not self.query.per_record

    @property
    def left(self) -> float | None:
        """Seconds until the deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - now())

    def by(self, part: float) -> float | None:
        """Return the time (of `now`) when this part of what is left has passed."""
        return None if self.left is None else now() + part * self.left

    def about(self, setting: Setting, deadline: float | None, *, above: bool = False) -> Question:
        """Return the same question about another policy.

        Whoever listens hears nothing of it, since bounds and pairs of another policy need not be
        those of this one; `above`: but its upper bounds, which are bounds here too.
        """

        def told(progress: Progress) -> None:
            assert self.listener is not None
            self.listener(Progress(0, progress.upper, progress.what))

        listener = told if above and self.listener is not None else None
        return replace(self, setting=setting, deadline=deadline, listener=listener, known=_nothing)

    def answer(
        self,
        lower: Exact,
        upper: Exact | None,
        *notes: str,
        witness: Pair | None = None,
        engine: str = "search",
        since: float | None = None,
    ) -> Answer:
        """Return the answer to this question; `since` is when work began, by `perf_counter`."""
        return Answer(
            policy=self.setting.policy.name,
            query=self.query.name,
            reading=self.reading,
            answers=self.setting.scope,
            lower=lower,
            upper=upper,
            status="exact" if lower == upper else "bounds",
            witness=witness,
            engine=engine,
            seconds=0.0 if since is None else time.perf_counter() - since,
            notes=notes,
            norm=self.query.measure.name,
        )

    def teller(self, what: str) -> OnBest:
        """Return what an engine calls with better (lower, upper, witness)."""

        def tell(lower: Exact, upper: Exact | None, witness: Pair | None) -> None:
            if self.listener is not None:
                self.listener(Progress(lower, upper, what, witness))

        return tell
