"""The plan: who is asked, in which order, and how what they find becomes the answer.

    theorems first, one after the other: they need no search
    then engines and reductions that apply, in turns: each goes on where it was, shares double
    last, where the bounds still do not meet, a pair over a few classes of values

Nobody can know beforehand which engine is quick on a question: SAT ends in seconds where the search
does not, and the other way round. In turns with doubling shares the answer costs at most a small
factor (how many strategies apply) more than it costs the best of them, and each of them knows at
once what the others have found: they write on one `Board`, where pairs are checked and bounds meet.
A reduction asks an easier question by a plan of its own, and brings back what that finds. Shares
are of counted work (models/base/clock), so that the order is the same on a busy machine; real
seconds only stop. Nothing else decides an order.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from blowproof.models import BudgetError, Exact, QueryError
from blowproof.models.base.clock import Worker, finish, now
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.names import BEYOND, CONJECTURE, NO_MORE
from blowproof.verifier.asked.question import Listener, Progress, Question
from blowproof.verifier.databases.consistency import databases_within
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.portfolio.bounds import Board, Reason
from blowproof.verifier.portfolio.problem import Problem, same_pairs, travelled
from blowproof.verifier.portfolio.registry import ENGINES, LAST, THEOREMS, named
from blowproof.verifier.portfolio.step import LargestOf, Step, WayBack
from blowproof.verifier.portfolio.strategy import Reduction, Strategy, Together
from blowproof.verifier.reductions.fewer_facts import loosened, without_empty
from blowproof.verifier.theorems.empty_classes import without_unheld
from blowproof.verifier.theorems.simple_cycles import classes_of_facts, no_cycles
from blowproof.verifier.witnesses.affine_frame import conjectured_by_frames

__all__ = ["Run", "Step", "answer", "plan"]

FIRST_TURN = real_limit(__name__, "FIRST_TURN")
ENGINES_PART = real_limit(__name__, "ENGINES_PART")
PLANNED_PART = real_limit(__name__, "PLANNED_PART")
PEERS = real_limit(__name__, "PEERS")
FEW_DATABASES = whole_limit(__name__, "FEW_DATABASES")
VERY_FEW = whole_limit(__name__, "VERY_FEW")
SLIGHT = real_limit(__name__, "SLIGHT")
MOST_REASONS = whole_limit(__name__, "MOST_REASONS")
GRACE = real_limit(__name__, "GRACE")

SAME = {
    "pufferfish": "with full secrets and equality counts, readings 1 and 5 have the same pairs",
    "secret-moves": "with full secrets, readings 1 and 2 have the same pairs",
}

LOOSENING = real_limit(__name__, "LOOSENING")

LISTING = ("brute", "sat", "ilp")
"""Engines that know all readings and scopes; an easier question is for the others, if it can be."""

IN_TURNS = ("engine", "reduction")


def plan(
    question: Question, *, only: str = "", inner: bool = False, in_l1: bool = False
) -> list[Step]:
    """Return the strategies in the order in which they have their first turn.

    `only`: a strategy that is asked alone, with what it takes along. `inner`: the question is an
    easier one, asked on the way to another, which is one in another norm if it is `in_l1`.
    """
    asked = [item for item in ENGINES if not only or only in (item.name, item.part_of)]
    engines = [Step(item, _why_not(item, question)) for item in asked]
    for step in engines if inner else ():
        if step.strategy.name == "l1":
            step.why_not = step.why_not or "the question that it is easier than is asked in l1"
        if step.strategy.name == "long circuits" and in_l1:
            step.why_not = step.why_not or "in the norm that was asked for, it walks the same way"
    if inner and any(step.applies and step.strategy.name not in LISTING for step in engines):
        for step in engines:
            if step.strategy.name in LISTING:
                step.why_not = step.why_not or "an easier question is for those that search"
    few = databases_within(question.setting, question.reading, VERY_FEW)
    first = 0 if few or only else 1  # the listing of every database comes last where there are many
    engines = engines[first:] + engines[:first]
    if only:
        return engines
    theorems = [Step(item, item.why_not(question)) for item in THEOREMS]
    return [*theorems, *engines, *([] if inner else [Step(LAST, LAST.why_not(question))])]


def _why_not(item: Strategy, question: Question) -> str:
    """Return why an engine that could answer the question is not asked, or ""."""
    setting, name = question.setting, item.name
    if name == "brute" and setting.scope == "any":
        return "for any answers there is no end of databases"
    if name == "brute" and not databases_within(setting, question.reading, FEW_DATABASES):
        return f"there may be more than {FEW_DATABASES:,} databases"
    listed = question.irreducible or question.reading == "pufferfish"
    if name in ("sat", "ilp") and listed and setting.scope == "any":
        return "the search lists the same, and faster"
    refusal = item.why_not(question)
    if name == "search" and not refusal and setting.scope == "given":
        return "it is asked for any answers"
    if name == "search" and not refusal and not question.irreducible:
        return "it is asked for the complete graph"
    return refusal


def answer(question: Question, engine: str = "auto", *, problem: Problem | None = None) -> Answer:
    """Return S(f, P), or bounds on it: by the named strategy alone, or by the plan.

    With a problem, the plan begins with what related questions have found.
    """
    started = time.perf_counter()
    same = same_pairs(question.setting, question.reading)
    if same != question.reading and not question.query.per_record and engine != "brute":
        told = answer(replace(question, reading=same), engine, problem=problem)
        notes = (*told.notes, SAME[question.reading])
        return replace(told, reading=question.reading, notes=notes)
    if engine == "auto":
        return Run(question, problem).answer(started)
    alone = named(engine)
    refusal = alone.why_not(question)
    if refusal:
        raise QueryError(f"engine {engine} does not answer this: {refusal}\n  try: --engine auto")
    if alone.kind == "reduction" or any(item.part_of == engine for item in ENGINES):
        return Run(question, only=engine).answer(started)
    assert not isinstance(alone.run, Reduction)
    try:
        found = alone.run(question)
    except TimeoutError:
        return question.answer(
            0, None, "the time limit ended before it found anything", engine=engine
        )
    assert not isinstance(found, list | Together)
    return found or question.answer(0, None, "it found nothing", engine=engine)


class Run:
    """One question on its way through the plan; `outer`: of the question that it is easier than."""

    def __init__(
        self,
        question: Question,
        problem: Problem | None = None,
        *,
        only: str = "",
        outer: Run | None = None,
    ) -> None:
        self.problem, self.only, self.outer = problem, only, outer
        self.measure = question.query.measure
        self.in_l1: bool = outer is not None and (outer.in_l1 or outer.measure is not self.measure)
        self.begun, self.cut = now(), False
        self.board = Board(question.setting, question.query, question.reading, question.listener)
        if outer is None:
            question = _simpler(question)
        elif question.reading == "pufferfish" and question.irreducible:
            question = replace(question, reading="published")  # the same pairs
        self.question = replace(question, known=self.board.ends)
        self.steps = plan(self.question, only=only, inner=outer is not None, in_l1=self.in_l1)
        if problem is not None:
            does = "bounds of related questions, asked before"
            self.steps.insert(0, Step(Strategy("travel", "theorem", does, self._travel)))
            self.board.known = problem.about(question.reading, question.query)

    def answer(self, started: float) -> Answer:
        """Ask everybody, in order, until the bounds meet."""
        for step in self._of("theorem"):
            self._ask(step)
        self._in_turns(list(self._of(*IN_TURNS)))
        for step in self._of("witness"):
            self._ask(step)
        if self.problem is not None:
            question = self.question
            self.problem.remember(question.reading, question.query, self.board.known)
        return self._answer(time.perf_counter() - started)

    def settled(self) -> bool:
        """Whether nothing is left to find."""
        return self.board.settled() or (self.outer is not None and self.outer.settled())

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
            if step.strategy.kind in kinds and step.applies and not self.settled():
                yield step

    # one strategy ---------------------------------------------------------------------------

    def _ask(self, step: Step) -> None:
        """Run a step that is short."""
        started = time.perf_counter()
        self._take(step, self._run(step, self.question, self._listener(step)))
        step.seconds = time.perf_counter() - started

    def _run(self, step: Step, question: Question, listener: Listener) -> Answer | None:
        """Return what a strategy found besides what it has told."""
        run = step.strategy.run
        if not isinstance(run, Reduction):
            found = run(replace(question, listener=listener))
            if not isinstance(found, list | Together):
                return found
            self._cases(step, found)
            return None
        easier = run.apply(question)
        if easier is None:
            return None

        def keep(reason: Reason, upper: Exact | None, pair: Pair | None) -> None:
            if upper is not None and step.together is not None:
                told = step.together(reason, upper)
                if told is None:
                    return
                reason, upper = told
            self._keep(step, reason, upper, pair)

        way = WayBack(step, run, question, self.board, keep)
        only = "" if self.only == step.strategy.name else self.only
        inner = Run(replace(easier, listener=way.told), only=only, outer=self)
        way.easier = inner.board
        told = inner.answer(time.perf_counter())
        self.cut = self.cut or inner.cut
        way.bring_back()
        step.notes = tuple(note for note in told.notes if not note.startswith(NO_MORE))
        return None

    def _cases(self, step: Step, found: list[Reduction] | Together) -> None:
        """Ask easier questions in turns."""
        cases = found.cases if isinstance(found, Together) else found
        steps = [Step(replace(step.strategy, run=case)) for case in cases]
        if isinstance(found, Together):
            largest = LargestOf(len(steps))
            for place, case in enumerate(steps):
                case.together = partial(largest.with_one, place)
        self._in_turns(steps)
        for case in steps:
            if case.found is not None:
                step.gave(case.found)

    def _listener(self, step: Step, *, ends: bool = False) -> Listener:
        """Return what a step calls with what it finds; it `ends` where that is all."""

        def told(progress: Progress) -> None:
            reason = Reason(step.strategy.name, progress.what)
            self._keep(step, reason, progress.upper, progress.witness)
            if ends and self.settled():
                finish()

        return told

    def _keep(self, step: Step, reason: Reason, upper: Exact | None, pair: Pair | None) -> None:
        """Write what a step has found on the board, and remember that it was this step."""
        told = self.board.worth(reason, upper=upper, pair=pair)
        step.gave(told)
        self.board.take(told)

    def _take(self, step: Step, found: Answer | None) -> None:
        """Keep what a step has found."""
        if found is None:
            return
        step.notes = found.notes
        why = found.notes[0] if step.strategy.kind == "theorem" else step.strategy.does
        self._keep(step, Reason(step.strategy.name, why), found.upper, found.witness)

    # in turns -------------------------------------------------------------------------------

    def _in_turns(self, steps: list[Step]) -> None:
        """Let strategies work in turns until the bounds meet, all have ended, or time is over."""
        end = self.question.deadline if self.outer else self.question.by(ENGINES_PART)
        working = {step: self._worker(step, end, alone=len(steps) == 1) for step in steps}
        share = FIRST_TURN
        try:
            while working and not self.settled():
                over = any(worker.over() for worker in working.values())
                for step, worker in list(working.items()):
                    if over and not worker.begun:
                        continue
                    if self._turn(step, worker, GRACE if over else share):
                        del working[step]
                    if self.settled():
                        return
                if over or self._given_up(working, end):
                    self.cut = bool(working)
                    break
                share *= 2
        finally:
            for worker in working.values():
                worker.stop()

    def _worker(self, step: Step, end: float | None, *, alone: bool) -> Worker:
        """Return a strategy that is ready to begin.

        One that shares its time out among steps of its own is told how much it will have.
        """
        deadline = end
        if end is not None and step.strategy.plans and not alone:
            begun = now()
            deadline = begun + PLANNED_PART * max(0.0, end - begun)
        question = replace(self.question, deadline=deadline)
        listener = self._listener(step, ends=True)
        part = 1.0 if self.outer else ENGINES_PART

        def work() -> Answer | None:
            found = self._run(step, question, listener)
            self.cut = self.cut or (deadline is not None and now() >= deadline)
            return found

        return Worker(work, part=part)

    def _turn(self, step: Step, worker: Worker, seconds: float) -> bool:
        """Give a strategy a turn; return whether it has ended."""
        started = time.perf_counter()
        try:
            if not worker.turn(seconds):
                return False
            if isinstance(worker.result, Answer):
                self._take(step, worker.result)
        except (BudgetError, TimeoutError) as refusal:
            step.notes = (str(refusal).partition("\n")[0],)
            step.refused = isinstance(refusal, BudgetError)
            self.cut = self.cut or not step.refused
        finally:
            step.seconds = (step.seconds or 0.0) + time.perf_counter() - started
        return True

    def _given_up(self, working: dict[Step, Worker], end: float | None) -> bool:
        """Without a time limit: whether those that go on have had time enough.

        They list or propose, one pair after the other, and may do so for years.
        """
        if end is not None or not all(step.strategy.endless for step in working):
            return False
        return all(worker.used >= PEERS for worker in working.values())

    # the answer ----------------------------------------------------------------------------

    def _answer(self, seconds: float) -> Answer:
        known = self.board.known
        notes = [note for step in self.steps for note in step.notes]
        finite = any(note.startswith(BEYOND) for note in notes)
        if known.upper is None and known.pair is None and not finite:
            self._refuse()
        decided = known.above if known.closed and known.above is not None else known.below
        guess = None if known.closed else conjectured_by_frames(self.question)
        if guess is not None and (known.upper is None or known.lower <= guess <= known.upper):
            notes.append(f"{CONJECTURE}: S = {guess} (the heaviest frame)")
        else:
            guess = None
        final = "" if known.closed else self._final()
        if final:
            notes.append(f"{NO_MORE}: {final}")
        return replace(
            self.question.answer(
                known.lower,
                known.upper,
                *dict.fromkeys([*notes, *self.board.remarks]),
                witness=known.pair,
                engine="none" if decided is None else decided.name,
            ),
            seconds=seconds,
            conjectured=guess,
            final=bool(final),
            decided_by=known.decided_by,
        )

    def _final(self) -> str:
        """Return why more time finds nothing more; "" where it might.

        It might where the clock ended a strategy, and where a good part of the time was used: of
        what is left, strategies give parts to their own steps.
        """
        deadline = self.question.deadline
        used = now() - self.begun
        if self.cut or (deadline is not None and used > SLIGHT * (deadline - self.begun)):
            return ""
        told: dict[str, list[str]] = {}
        for step in self.steps:
            if step.refused:
                told.setdefault(step.notes[0], []).append(step.strategy.name)
        reasons = [f"{why} ({', '.join(names)})" for why, names in told.items()]
        return "; ".join(["every method that applies has come to its end", *reasons[:MOST_REASONS]])

    def _refuse(self) -> None:
        """Nothing at all is known: say why, as the first strategy that gave up says it."""
        for step in self.steps:
            if step.strategy.kind in IN_TURNS and step.applies and step.notes:
                raise BudgetError(step.notes[0])


def _simpler(question: Question) -> Question:
    """Return the question about the same databases, by fewer facts and values."""
    easier = without_empty(question.setting)
    if no_cycles(question) or classes_of_facts(easier, question.by(1 / 4)) is None:
        easier = without_unheld(easier, deadline=question.by(1 / 4))
    end = now() + LOOSENING if question.left is None else question.by(1 / 4)
    return replace(question, setting=loosened(easier, deadline=end))
