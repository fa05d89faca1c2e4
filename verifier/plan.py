"""The plan: who is asked, in which order, and how what they find becomes the answer.

    theorems first, one after the other: they need no search
    then the engines that apply, in turns: each goes on where it was, with shares that double
    last, where the bounds still do not meet, a pair over a few classes of values

Nobody can know beforehand which engine is quick on a question: SAT ends in seconds where the search
does not, and the other way round. In turns with doubling shares the answer costs at most a small
factor (how many engines apply) more than it costs the best of them, and each of them knows at once
what the others have found: they write on one `Board`, where pairs are checked and bounds meet.
Nothing else decides an order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from blowproof.models import BudgetError, Exact, QueryError
from blowproof.models.base.clock import Worker, now
from blowproof.verifier.asked.answer import Answer, Pair, json_number
from blowproof.verifier.asked.question import Listener, Progress, Question
from blowproof.verifier.databases.consistency import databases_within
from blowproof.verifier.portfolio.bounds import Board, Bounds, Reason
from blowproof.verifier.portfolio.problem import Problem, travelled
from blowproof.verifier.portfolio.registry import ENGINES, LAST, THEOREMS, Strategy, named
from blowproof.verifier.reductions.fewer_facts import without_empty
from blowproof.verifier.theorems.empty_classes import without_unheld
from blowproof.verifier.theorems.simple_cycles import classes_of_facts, no_cycles

__all__ = ["Run", "Step", "answer", "plan"]

FIRST_TURN = 0.5
"""Seconds of the first turn; each round's turns are twice as long as those before."""

ENGINES_PART = 0.9
"""How much of the time limit the engines have; the rest is for a pair where they find none."""

SHARE_OF_FIRST = 0.6
"""The part of the time limit by which an engine that plans its time does so, beside others."""

PEERS = 20.0
"""Seconds for engines that go on alone, where no time limit is set and the others gave up."""

FEW_DATABASES = 20_000
"""So many databases are listed, by the definition, beside what else is tried."""

VERY_FEW = 300
"""So many are listed before anything else is tried."""

SAME = "with full secrets and equality counts, readings 1 and 5 have the same pairs"

GRACE = 0.5
"""Seconds in which an engine comes back with what it has when the time is over."""


@dataclass(eq=False)
class Step:
    """One strategy for one question: whether it applies, and, once it ran, what it gave."""

    strategy: Strategy
    why_not: str = ""
    found: Bounds | None = None
    seconds: float | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def applies(self) -> bool:
        """Whether it is asked at all."""
        return not self.why_not

    def to_json(self) -> dict[str, Any]:
        """Return the step as `blowproof explain --json` lists it."""
        found = self.found or Bounds()
        return {
            "name": self.strategy.name,
            "kind": self.strategy.kind,
            "applies": self.applies,
            "why": self.why_not or self.strategy.does,
            "lower": json_number(found.lower) if found.pair is not None else None,
            "upper": None if found.upper is None else json_number(found.upper),
            "seconds": None if self.seconds is None else round(self.seconds, 3),
        }


def plan(question: Question) -> list[Step]:
    """Return the strategies in the order in which they have their first turn."""
    engines = [Step(item, _why_not(item, question)) for item in ENGINES]
    few = databases_within(question.setting, question.reading, VERY_FEW)
    first = 0 if few else 1  # the listing of every database comes last where there are many
    engines = engines[first:] + engines[:first]
    return [
        *(Step(item, item.why_not(question)) for item in THEOREMS),
        *engines,
        Step(LAST, LAST.why_not(question)),
    ]


def _why_not(item: Strategy, question: Question) -> str:
    """Return why an engine that could answer the question is not asked, or ""."""
    setting = question.setting
    if item.name == "hilbert":
        return "the search lists the same, and faster"
    if item.name == "brute" and setting.scope == "any":
        return "for any answers there is no end of databases"
    if item.name == "brute" and not databases_within(setting, question.reading, FEW_DATABASES):
        return f"there may be more than {FEW_DATABASES:,} databases"
    if item.name in ("sat", "ilp") and question.irreducible and setting.scope == "any":
        return "the search lists the same, and faster"
    return item.why_not(question)


def answer(question: Question, engine: str = "auto", *, problem: Problem | None = None) -> Answer:
    """Return S(f, P), or bounds on it: by the named engine alone, or by the plan.

    With a problem, the plan begins with what related questions have found.
    """
    started = time.perf_counter()
    if question.reading == "pufferfish" and question.irreducible and engine != "brute":
        same = replace(question, reading="published")
        told = answer(same, engine, problem=problem)
        return replace(told, reading="pufferfish", notes=(*told.notes, SAME))
    if engine != "auto":
        only = named(engine)
        refusal = only.why_not(question)
        if refusal:
            raise QueryError(
                f"engine {engine} does not answer this: {refusal}\n  try: --engine auto"
            )
        found = only.run(question)
        assert found is not None
        return found
    return Run(question, problem).answer(started)


class Run:
    """One question on its way through the plan."""

    def __init__(self, question: Question, problem: Problem | None = None) -> None:
        self.problem = problem
        self.board = Board(question.setting, question.query, question.reading, question.listener)
        easier = without_empty(question.setting)
        if no_cycles(question) or classes_of_facts(easier, question.by(1 / 4)) is None:
            easier = without_unheld(easier, deadline=question.by(1 / 4))
        self.question = replace(question, setting=easier, known=self.board.ends)
        self.steps = plan(self.question)
        if problem is not None:
            travel = Step(
                Strategy(
                    "travel", "theorem", "bounds of related questions, asked before", self._travel
                )
            )
            self.steps.insert(0, travel)
            self.board.known = problem.about(question.reading, question.query)

    def answer(self, started: float) -> Answer:
        """Ask everybody, in order, until the bounds meet."""
        for step in self._of("theorem"):
            self._ask(step)
        self._in_turns(list(self._of("engine", "reduction")))
        for step in self._of("witness"):
            self._ask(step)
        if self.problem is not None:
            question = self.question
            self.problem.remember(question.reading, question.query, self.board.known)
        return self._answer(time.perf_counter() - started)

    def _travel(self, question: Question) -> Answer | None:
        """Take over what other questions of the problem have found (see `travelled`)."""
        assert self.problem is not None
        upper, why, pairs = travelled(
            self.problem, self.board.setting, question.reading, question.query
        )
        for pair in pairs:
            told = self.board.worth(Reason("travel", "a pair of another question"), pair=pair)
            self.board.take(told)
        return None if upper is None else question.answer(0, upper, why, engine="travel")

    def _of(self, *kinds: str) -> Iterator[Step]:
        """Yield the steps of these kinds that apply, while there is something left to find."""
        for step in self.steps:
            if step.strategy.kind in kinds and step.applies and not self.board.settled():
                yield step

    def _ask(self, step: Step) -> None:
        """Run a step that is short."""
        started = time.perf_counter()
        question = replace(self.question, listener=self._listener(step))
        self._take(step, step.strategy.run(question))
        step.seconds = time.perf_counter() - started

    def _listener(self, step: Step) -> Listener:
        """Return what a step calls with what it finds on the way."""

        def told(progress: Progress) -> None:
            self._keep(step, progress.what, progress.upper, progress.witness)

        return told

    def _keep(self, step: Step, why: str, upper: Exact | None, pair: Pair | None) -> None:
        """Write what a step has found on the board, and remember that it was this step."""
        told = self.board.worth(Reason(step.strategy.name, why), upper=upper, pair=pair)
        step.found = told if step.found is None else step.found.meet(told)
        self.board.take(told)

    def _take(self, step: Step, found: Answer | None) -> None:
        """Keep what a step has found."""
        if found is None:
            return
        step.notes = found.notes
        why = found.notes[0] if step.strategy.kind == "theorem" else step.strategy.does
        self._keep(step, why, found.upper, found.witness)

    # engines in turns -----------------------------------------------------------------------

    def _in_turns(self, steps: list[Step]) -> None:
        """Let engines work in turns until the bounds meet, all have ended, or the time is over."""
        end = self.question.by(ENGINES_PART)
        alone = len(steps) == 1
        working = {step: self._worker(step, end, alone) for step in steps}
        share = FIRST_TURN
        try:
            while working and not self.board.settled():
                over = end is not None and now() >= end
                for step, worker in list(working.items()):
                    if over and not worker.begun:
                        continue
                    if self._turn(step, worker, GRACE if over else share):
                        del working[step]
                    if self.board.settled():
                        return
                if over or self._given_up(working, end):
                    break
                share *= 2
        finally:
            for step, worker in working.items():
                step.seconds = worker.used
                worker.stop()

    def _worker(self, step: Step, end: float | None, alone: bool) -> Worker:
        """Return an engine that is ready to begin.

        An engine that shares its time out among steps of its own is told how much it will have.
        """
        deadline = end
        if end is not None and step.strategy.shares and not alone:
            begun = now()
            deadline = begun + SHARE_OF_FIRST * max(0.0, end - begun)
        question = replace(self.question, deadline=deadline, listener=self._listener(step))
        return Worker(lambda: step.strategy.run(question), end=end)

    def _turn(self, step: Step, worker: Worker, seconds: float) -> bool:
        """Give an engine a turn; return whether it has ended."""
        try:
            if not worker.turn(seconds):
                return False
            if isinstance(worker.result, Answer):
                self._take(step, worker.result)
        except (BudgetError, TimeoutError) as refusal:
            step.notes = (str(refusal).partition("\n")[0],)
        step.seconds = worker.used
        return True

    def _given_up(self, working: dict[Step, Worker], end: float | None) -> bool:
        """Without a time limit: whether those that go on have had time enough.

        They list or propose, one pair after the other, and may do so for years.
        """
        if end is not None or any(step.strategy.shares for step in working):
            return False
        return all(worker.used >= PEERS for worker in working.values())

    # the answer ----------------------------------------------------------------------------

    def _answer(self, seconds: float) -> Answer:
        known = self.board.known
        if known.upper is None and known.pair is None:
            self._refuse()
        notes = [note for step in self.steps for note in step.notes]
        decided = known.above if known.closed and known.above is not None else known.below
        return replace(
            self.question.answer(
                known.lower,
                known.upper,
                *dict.fromkeys([*notes, *self.board.remarks]),
                witness=known.pair,
                engine="none" if decided is None else decided.name,
            ),
            seconds=seconds,
            decided_by=tuple(
                (end, *reason)
                for end, reason in (("lower", known.below), ("upper", known.above))
                if reason is not None
            ),
        )

    def _refuse(self) -> None:
        """Nothing at all is known: say why, as the first engine that gave up says it."""
        for step in self.steps:
            if step.strategy.kind in ("engine", "reduction") and step.applies and step.notes:
                raise BudgetError(step.notes[0])
