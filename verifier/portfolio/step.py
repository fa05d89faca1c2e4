"""A strategy on its way: whether it is asked, what it gave; how a reduction's answers return."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from blowproof.models import Exact
from blowproof.models.base.clock import now
from blowproof.verifier.asked.answer import Pair, json_number
from blowproof.verifier.asked.question import Progress, Question
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.bounds import Board, Bounds, Reason
from blowproof.verifier.portfolio.strategy import Reduction, Strategy

__all__ = ["LargestOf", "Step", "WayBack"]


class LargestOf:
    """What easier questions that bound S together say from above: the largest, once all say.

    >>> largest = LargestOf(2)
    >>> largest.with_one(0, Reason("search", "it ended"), 12)
    >>> largest.with_one(1, Reason("beside", "at most 3 moves"), 6)[0].told()
    'it ended; the largest of 2 questions, the others by beside'
    """

    def __init__(self, cases: int) -> None:
        self.cases = cases
        self._told: dict[int, tuple[Exact, Reason]] = {}

    def with_one(self, case: int, reason: Reason, upper: Exact) -> tuple[Reason, Exact] | None:
        """Keep a case's newest bound; return what bounds all, and who says so, if that is known."""
        self._told[case] = upper, reason
        if len(self._told) < self.cases:
            return None
        largest = max(self._told, key=lambda place: self._told[place][0])
        upper, reason = self._told[largest]
        others = {told.name for place, (_, told) in self._told.items() if place != largest}
        if not others:
            return reason, upper
        among = f"the largest of {self.cases} questions, the others by {', '.join(sorted(others))}"
        return reason._replace(why="; ".join(filter(None, (reason.why, among)))), upper


@dataclass(eq=False)
class Step:
    """One strategy for one question: whether it applies, and, once it ran, what it gave."""

    strategy: Strategy
    why_not: str = ""
    found: Bounds | None = None
    seconds: float | None = None
    notes: tuple[str, ...] = field(default=())
    refused: bool = False
    """Whether it gave up for the size of the question, as its notes say."""
    together: Callable[[Reason, Exact], tuple[Reason, Exact] | None] | None = None
    """What its upper bounds say with those of others, where none of them speaks for itself."""
    size: Callable[[Exact], Exact] | None = None
    """What its numbers are to the question that was asked, where it is about a simpler one."""

    @property
    def applies(self) -> bool:
        """Whether it is asked at all."""
        return not self.why_not

    @property
    def told(self) -> Bounds | None:
        """What it found, in numbers of the question that was asked."""
        if self.found is None or self.size is None:
            return self.found
        return self.found.counted(self.size)

    def gave(self, told: Bounds) -> None:
        """Add what it found to what it has given before."""
        self.found = told if self.found is None else self.found.meet(told)

    def to_json(self) -> dict[str, Any]:
        """Return the step as `blowproof explain --json` lists it."""
        found = self.told or Bounds()
        return {
            "name": self.strategy.name,
            "kind": self.strategy.kind,
            "applies": self.applies,
            "why": self.why_not or self.strategy.does,
            "lower": json_number(found.lower) if found.pair is not None else None,
            "upper": None if found.upper is None else json_number(found.upper),
            "seconds": None if self.seconds is None else round(self.seconds, 3),
        }


Keep = Callable[[Reason, "Exact | None", "Pair | None"], None]


class WayBack:
    """What a reduction's easier question tells, said about the question that was asked.

    Upper bounds come back at once. A pair costs a search of its own: it comes back when as much
    work has gone into the easier question as the last pair cost, and when that question ends.
    """

    def __init__(
        self, step: Step, reduction: Reduction, question: Question, board: Board, keep: Keep
    ) -> None:
        self.step, self.reduction, self.keep = step, reduction, keep
        self.question, self.board = question, board
        self.easier: Board | None = None
        self._upper: Exact | None = None
        self._last: Pair | None = None
        self._next = 0.0

    def told(self, _: Progress) -> None:
        """Hear that the easier question's bounds are better."""
        assert self.easier is not None
        known = self.easier.known
        if known.upper is not None and known.above is not None and known.upper != self._upper:
            self._upper = known.upper
            upper = self.reduction.upper(self.question, known.upper)
            if upper is not None:
                self.keep(self._through(known.above), upper, None)
        if now() >= self._next:
            self.bring_back()

    def bring_back(self) -> None:
        """Bring the easier question's pair back, if that is a new one."""
        assert self.easier is not None
        known, question = self.easier.known, self.question
        if known.pair is None or known.pair == self._last or known.below is None:
            return
        self._last, begun = known.pair, now()
        found = question.answer(known.lower, known.upper, witness=known.pair)
        pair = self.reduction.bring_back(question, found)
        if pair is not None and self._stands(pair):
            self.keep(self._through(known.below), None, pair)
        self._next = 2 * now() - begun

    def _stands(self, pair: Pair) -> bool:
        """Return whether a pair is one here.

        Where irreducible multisets are all that matters, the engine has shown that it is minimal.
        """
        question = self.question
        end = question.by(1 / 2)
        verdict = check_pair(self.board.setting, question.reading, pair, deadline=end)
        return bool(verdict) or (verdict.minimality == "budget" and question.irreducible)

    def _through(self, reason: Reason) -> Reason:
        return reason._replace(through=(self.step.strategy.name, *reason.through))
