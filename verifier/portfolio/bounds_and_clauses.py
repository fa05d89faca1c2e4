"""Scope "given" with bounds or clauses: from easier questions, theorems, and databases tried.

Upper bounds come from the theorems of `conformal_parts` and `merged_records`, from the policy
without its clauses, and from n.
Lower bounds come from irreducible multisets put into databases with the known numbers, from
neighbour pairs of the policy without bounds or clauses, and from secret moves that plain ones must
compensate for (`compensated_move`). Where they meet, the answer is exact.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from blowproof.models import BudgetError, Exact
from blowproof.models.base.clock import now
from blowproof.models.policy.policy import LABELLED
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import size_range
from blowproof.verifier.engines.irreducibles import circuits_lower_bound, longest
from blowproof.verifier.engines.search.engine import SEARCH_EFFECTS, EffectTable, table_bound
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours.check import check_pair, require_pair
from blowproof.verifier.reductions.complete_graph import complete_setting
from blowproof.verifier.reductions.few_values import reduce_values
from blowproof.verifier.reductions.fewer_facts import freed, loosened
from blowproof.verifier.reductions.given_numbers import embed
from blowproof.verifier.reductions.merged_records import merged_rows
from blowproof.verifier.reductions.without_clauses import labelled_pair, without_clauses
from blowproof.verifier.theorems.conformal_parts import (
    Parts,
    conformal_table,
    other_parts_of,
    parts_of,
)
from blowproof.verifier.witnesses.compensated_move import best_compensated
from blowproof.verifier.witnesses.into_databases import given_sensitivity
from blowproof.verifier.witnesses.merged_pairs import merged_bounds, merged_pair
from blowproof.verifier.witnesses.one_secret_move import OneSecret, best_with_one_secret

__all__ = ["bounded"]

PATIENCE = 30.0
"""Seconds for each step before the engines that list databases, where no time limit is set."""

MERGING = 60.0
"""Seconds for what merging records says, where no time limit is set."""

COMPENSATING = 0.6
"""How much of what is left plain moves that compensate have."""

Ask = Callable[[Question], Answer]


def bounded(question: Question, ask: Ask) -> Answer:
    """Return S(f, P), or bounds: `ask` answers easier questions."""
    start = time.perf_counter()
    setting = loosened(question.setting, deadline=_share(question, 4))
    parts = parts_of(setting, question.reading)
    easier = replace(question, setting=setting)
    if not setting.bounds and not setting.clauses:
        return ask(easier)
    state = _State(easier, question)
    state.by_ignoring(parts, ask)
    steps = (
        state.by_parts,
        state.by_merging,
        state.by_merged_pairs,
        state.by_compensating,
        state.by_placing,
    )
    other = other_parts_of(setting, question.reading)
    if other is not None and not state.closed:
        state.by_parts(other)
    for step in steps:
        state.learn()
        if parts is not None and not state.closed:
            step(parts)
    said = dict.fromkeys(state.notes)
    return question.answer(state.lower, state.upper, *said, witness=state.witness, since=start)


def _share(question: Question, parts: int) -> float:
    """Return the end of a step that may take one of so many parts of the time that is left."""
    left = question.left
    return now() + (PATIENCE if left is None else left / parts)


@dataclass
class _State:
    """What is known so far about a question with fewer bounds, `original` as it was asked."""

    question: Question
    original: Question
    lower: Exact = 0
    upper: Exact | None = None
    witness: Pair | None = None

    def __post_init__(self) -> None:
        self.notes: list[str] = []
        self.table: EffectTable | None = None
        self.moves: Moves | None = None
        self.enough = False

    @property
    def mixed(self) -> bool:
        """Whether moves may be secret or plain: reading 1 with a G that is not complete."""
        return self.question.reading == "published" and not self.question.setting.graph.complete

    @property
    def closed(self) -> bool:
        """Whether the bounds meet."""
        return self.lower == self.upper

    def take(self, lower: Exact, upper: Exact | None, witness: Pair | None) -> None:
        """Keep better bounds; a pair passes the independent checker with the policy's own facts."""
        if witness is not None and lower > self.lower:
            require_pair(self.original.setting, self.question.reading, witness)
            self.lower, self.witness = lower, witness
        if upper is not None and (self.upper is None or upper < self.upper):
            self.upper = upper
        self.question.teller("bounds and clauses")(self.lower, self.upper, self.witness)

    def learn(self) -> None:
        """Take over what others have found by now."""
        lower, upper = self.question.known()
        if lower > self.lower:
            self.lower, self.witness = lower, None
        if upper is not None and (self.upper is None or upper < self.upper):
            self.upper = upper

    # steps -----------------------------------------------------------------------------------

    def by_parts(self, parts: Parts) -> None:
        """An upper bound: so many parts, each no heavier than the heaviest irreducible."""
        question, setting = self.question, self.question.setting
        published = question.reading == "published"
        free = complete_setting(setting) if published else setting
        try:
            end = question.by(1 / 2)
            core = reduce_values(free, question.query, question.reading, deadline=end)
            moves = Moves.over(
                free,
                question.query,
                question.reading,
                core.values,
                seed=question.seed,
                deadline=question.by(1 / 2),
            )
            table = conformal_table(moves, parts.rows)
        except BudgetError as refusal:
            self.notes.append(str(refusal).partition("\n")[0])
            return
        self.moves, self.table, self.enough = moves, table, core.enough
        cap = self._by_size(moves)
        idle = max((kind.size for kind in table.idle), default=0)
        heaviest = idle
        if table.effects:
            weight, _ = circuits_lower_bound(table.effects, table.weights, seed=question.seed)
            if cap is not None and parts.most * weight >= cap:
                heaviest = int(weight)  # no search could say more than n does
            else:
                left = max(0.0, _share(question, 3) - now())
                heaviest = max(idle, _heaviest(table, left))
        upper = parts.most * heaviest
        upper = upper if cap is None else min(upper, cap)
        self.take(self.lower, moves.unscaled(upper), None)
        what = "irreducible" if not parts.rows else f"conformal in {len(parts.rows)} bounds"
        self.notes.append(f"at most {parts.most} parts, {what}; {len(table.effects)} effects")

    def _by_size(self, moves: Moves) -> int | None:
        """n moves, each the largest (reading 3: n records removed and n added)."""
        _, high = size_range(self.question.setting, self.question.reading)
        if high is None:
            return None
        times = high if self.question.reading in LABELLED else 2 * high
        return times * max((kind.size for kind in moves.kinds), default=0)

    def by_ignoring(self, parts: Parts | None, ask: Ask) -> None:
        """A lower bound from the policy without its clauses, or without its bounds."""
        question, setting = self.question, self.question.setting
        if not setting.clauses:
            self._offer(self._without_bounds(ask))
            return
        bare = without_clauses(setting)
        found = ask(question.about(bare, _share(question, 3)))
        if parts is None:  # reading 4: without minimality, fewer databases have fewer pairs
            self.take(self.lower, found.upper, None)
        elif found.upper is not None and not self.mixed and not setting.bounds:
            self.take(self.lower, parts.most * found.upper, None)
        if found.witness is not None:
            self._offer(self._with_clauses(found.witness))

    def _with_clauses(self, pair: Pair) -> Pair | None:
        """Return the moves of a pair in databases that satisfy the clauses (in D1, at least)."""
        question, setting = self.question, self.question.setting
        if question.reading in LABELLED:
            return labelled_pair(setting, pair, time_limit=question.left, seed=question.seed)
        return embed(setting, pair, time_limit=question.left)

    def _without_bounds(self, ask: Ask) -> Pair | None:
        """Return a worst pair for any answers and no bounds, put into a database with both."""
        question, setting = self.question, self.question.setting
        bare = freed(setting)
        try:
            found = ask(question.about(bare, _share(question, 3)))
        except BudgetError:
            return None
        if found.witness is None:
            return None
        return embed(setting, found.witness, time_limit=question.left)

    def _offer(self, pair: Pair | None) -> None:
        """Keep a pair if it is a neighbour pair and better than the best."""
        question = self.question
        if pair is None or not check_pair(self.original.setting, question.reading, pair):
            return
        self.take(question.query.difference(pair.moves(question.reading)), None, pair)

    def by_merging(self, parts: Parts) -> None:
        """Clauses: their records merged into one move, then put into databases."""
        question, setting, moves = self.question, self.question.setting, self.moves
        rows = merged_rows(setting, question.reading)
        if rows is None or moves is None:
            return
        share = 1 / 4 if self.mixed else 3 / 5
        try:
            found = merged_bounds(
                setting,
                moves,
                rows,
                lower=int(self.lower * moves.scale),
                ceiling=None if self.upper is None else int(self.upper * moves.scale),
                enough=self.enough,
                seconds=MERGING if question.left is None else share * question.left,
            )
        except BudgetError as refusal:
            self.notes.append(str(refusal).partition("\n")[0])
            return
        self.notes.append(found.note)
        upper = None if found.upper is None else moves.unscaled(found.upper)
        self.take(moves.unscaled(found.lower), upper, found.pair)

    def by_merged_pairs(self, parts: Parts) -> None:
        """Reading 1, other G, clauses: the same with one secret move."""
        question, setting, moves = self.question, self.question.setting, self.moves
        rows = merged_rows(setting, question.reading)
        if rows is None or moves is None or not self.mixed:
            return
        try:
            value, pair = merged_pair(
                setting,
                moves,
                rows,
                lower=int(self.lower * moves.scale),
                seconds=max(0.0, _share(question, 4) - now()),
            )
        except BudgetError as refusal:
            self.notes.append(str(refusal).partition("\n")[0])
            return
        self.take(moves.unscaled(value), None, pair)

    def by_compensating(self, parts: Parts) -> None:
        """Reading 1, other G: one secret move for which plain ones must compensate."""
        question, setting = self.question, self.question.setting
        if not self.mixed or self.moves is None:
            return
        moves = self.moves
        best_compensated(
            OneSecret(setting, question.query, moves, EffectTable.of(moves)),
            above=int(self.lower * moves.scale),
            seconds=COMPENSATING * max(0.0, _share(question, 1) - now()),
            on_best=lambda value, pair: self.take(moves.unscaled(value), None, pair),
        )

    def by_placing(self, parts: Parts) -> None:
        """Put each irreducible multiset that could be worse into databases with the numbers."""
        question, setting = self.question, self.question.setting
        if setting.clauses or self.table is None or self.moves is None:
            return
        seconds = max(0.0, _share(question, 2) - now())
        if self.mixed:
            self._with_one_secret_move(self.moves, self.table, seconds)
            return
        moves, size = self.moves, setting.size if question.reading in LABELLED else None
        best, pair, bound = given_sensitivity(
            moves,
            size=size,
            lower=int(self.lower * moves.scale),
            time_limit=seconds,
            table=self.table,
        )
        enough = reduce_values(setting, question.query, question.reading).enough
        upper = moves.unscaled(bound) if bound is not None and enough else None
        self.take(moves.unscaled(best), upper, pair)

    def _with_one_secret_move(self, moves: Moves, table: EffectTable, seconds: float) -> None:
        """Reading 1, other G: try irreducible multisets as one secret move and plain ones.

        First those for the equalities alone, no part of which keeps these; then the others.
        """
        setting, query = self.question.setting, self.question.query
        for each in (EffectTable.of(moves), table):
            if each.widest <= SEARCH_EFFECTS and not self.closed:
                best_with_one_secret(
                    OneSecret(setting, query, moves, each),
                    above=int(self.lower * moves.scale),
                    seconds=seconds / 2,
                    on_best=lambda value, pair: self.take(moves.unscaled(value), None, pair),
                )


def _heaviest(table: EffectTable, seconds: float) -> int:
    """Return a bound on the weight of an irreducible multiset of the table's effects."""
    if table.widest > SEARCH_EFFECTS:
        return table_bound(table)
    found = longest(table.effects, table.weights, time_limit=seconds)
    return table_bound(table) if found.upper is None else int(found.upper)
