"""The strategies: what can be asked about a question, each with when it applies.

A `Strategy` is a name, a reason to refuse a question (or ""), and a function that answers it. The
order in which they run is not decided here but in `plan`. To add an engine, write it in a file of
its own, and give it a line in `ENGINES`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from blowproof.models import BudgetError, QueryError
from blowproof.models.norms import NORMS
from blowproof.models.policy.policy import LABELLED
from blowproof.models.queries.kinds import Cumulative, Histogram, WeightedSum
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import FactModel, size_range
from blowproof.verifier.engines.brute import brute_sensitivity, multisets_within
from blowproof.verifier.engines.determined import determined
from blowproof.verifier.engines.histograms.loop import Known
from blowproof.verifier.engines.histograms.master import Master, histogram_sensitivity
from blowproof.verifier.engines.histograms.numbered import numbered_sensitivity
from blowproof.verifier.engines.irreducibles import longest, longest_bound
from blowproof.verifier.engines.one_move.engine import one_edge
from blowproof.verifier.engines.search.engine import (
    SEARCH_EFFECTS,
    longest_moves,
    multiset_sensitivity,
)
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.bounds import Bounds
from blowproof.verifier.portfolio.bounds_and_clauses import bounded
from blowproof.verifier.portfolio.from_easier import (
    bounded_by_graph,
    embedded,
    relaxable,
    relaxed,
    sparse_bound,
)
from blowproof.verifier.portfolio.problem import from_histogram
from blowproof.verifier.reductions.by_ends import by_ends
from blowproof.verifier.reductions.few_values import Core, reduce_values
from blowproof.verifier.reductions.fewer_facts import without_empty
from blowproof.verifier.theorems.alone import alone, not_alone
from blowproof.verifier.theorems.beside import facts_beside
from blowproof.verifier.theorems.conformal_parts import conformal_table, parts_of
from blowproof.verifier.theorems.exchanges import exchanges, no_exchanges
from blowproof.verifier.theorems.most_moves import ceiling
from blowproof.verifier.theorems.simple_cycles import no_cycles, single_cycles
from blowproof.verifier.witnesses.affine_frame import by_frames
from blowproof.verifier.witnesses.few_classes import few_classes
from blowproof.verifier.witnesses.revalued import revalued

__all__ = ["ENGINES", "LAST", "THEOREMS", "Strategy", "named"]

LARGE = 1 << 40
"""Where no fact bounds n, larger databases are not looked at."""

LENGTH_SECONDS = 2.0

EVERY_NORM = tuple(NORMS)
"""For strategies whose bounds hold in all norms."""


def _core(question: Question) -> Core:
    setting, query, reading = question.setting, question.query, question.reading
    return reduce_values(setting, query, reading, deadline=question.by(1 / 2))


def _moves(question: Question, core: Core) -> Moves:
    setting, query, reading = question.setting, question.query, question.reading
    return Moves.over(
        setting, query, reading, core.values, seed=question.seed, deadline=question.by(1 / 2)
    )


def _brute(question: Question) -> Answer:
    setting, reading = question.setting, question.reading
    low, high = size_range(setting, reading)
    weights = getattr(question.query, "weights", None)
    if weights is not None and setting.scope == "any":
        low = high = len(weights)
    complete = high is not None
    if high is None:
        high = question.max_size
    if high is None:
        high = max(low, multisets_within(setting))
    while True:
        try:
            return brute_sensitivity(
                setting,
                question.query,
                reading,
                sizes=range(low, high + 1),
                complete=complete,
                deadline=question.deadline,
            )
        except BudgetError:
            if complete or high <= low:
                raise
            high -= 1  # a lower bound from smaller databases is better than none


def _ilp(question: Question) -> Answer:
    clauses = bool(question.setting.clauses)
    core = _core(question)
    moves = _moves(question, core)
    most, proved, note = _most(question, moves)
    solve = numbered_sensitivity if clauses else histogram_sensitivity
    found = solve(
        moves,
        Known(question.known, (core.reason, note)),
        most=most,
        deadline=question.deadline,
        on_best=question.teller("proposing and refuting pairs"),
    )
    if proved and core.enough:
        return found
    upper = moves.unscaled(Master(moves, most=most).bound()) if proved else None
    return replace(found, upper=upper, status="exact" if upper == found.lower else "bounds")


def _most(question: Question, moves: Moves) -> tuple[int, bool, str]:
    """Return how many records D1 holds or move at the most, whether that is proved, and why.

    In readings 3 and 4 n need not be bounded. D2 is D1 with at most so many moves (in reading 3 by
    `parts_of`), and if any D1 allows these moves, then one of no more records than
    `Room.records_for` does. The moves alone decide the change. In reading 4 nothing is minimal. In
    reading 3, each part of the moves that keeps the equalities breaks some end of a bound: that is
    one more number for its row, no further from the fact's own than what the moves count; of all
    numbers for one row only the tightest matter, so there are no more rows than the facts have.
    """
    if question.reading == "markov" and question.setting.scope == "any":
        return 4, True, "reading 4 has at most four moves"
    if question.setting.scope == "given":
        _, high = size_range(question.setting, question.reading)
        if high is None:
            most = 4 if question.reading == "markov" else _most_moves(question, moves)
            enough = FactModel.of(question.setting).room.records_for(most)
            note = f"a D1 of {enough} records has room for any {most} moves"
            # That a D3 has no numbering bounds sums of counts that no fact speaks of.
            known = question.reading == "markov" or not question.setting.clauses
            if known and enough <= LARGE:
                return enough, True, note
            return min(enough, LARGE), False, f"D1 up to {min(enough, LARGE)}"
        return high, True, f"n is at most {high}"
    longest, proved = longest_moves(moves, question.left)
    return longest, proved, f"at most {longest} records move at once"


def _most_moves(question: Question, moves: Moves) -> int:
    """Return how many moves a pair of reading 3 makes at the most, where clauses are not known."""
    parts = parts_of(question.setting, question.reading)
    assert parts is not None
    table = conformal_table(moves, parts.rows)
    if not table.effects:
        return parts.most
    if table.widest > SEARCH_EFFECTS:
        return parts.most * longest_bound(table.effects)
    found = longest(table.effects, time_limit=LENGTH_SECONDS)
    length = longest_bound(table.effects) if found.upper is None else int(found.upper)
    return parts.most * max(1, length)


def _sat(question: Question) -> Answer:
    from blowproof.verifier.engines.labelled.engine import labelled_sensitivity

    try:
        core = _core(question)
        values = core.values if core.enough else None
    except BudgetError:
        values = None
    sizes, complete, note = _sizes(question)
    if values is not None and question.seed:
        values = tuple(random.Random(question.seed).sample(values, len(values)))
    found = labelled_sensitivity(
        question.setting,
        question.query,
        question.reading,
        time_limit=question.left,
        listener=question.listener,
        values=values,
        known=question.known,
        sizes=sizes,
        complete=complete,
    )
    return replace(found, notes=(*found.notes, *note))


def _sizes(question: Question) -> tuple[Sequence[int] | None, bool, tuple[str, ...]]:
    """Return the n that labelled records are looked at for (None: the known one), and whether no
    other n matters.

    Under scope "any" a weighted sum has as many records as weights. Else a pair makes at most L
    moves, and its worst D1 holds nothing but the records that move. Where D3 makes moves of D2 only
    (readings 2 and 5, or a complete G), records that stay refute nothing, so that n = L shows all
    pairs; else every n up to L is looked at.
    """
    if question.setting.scope == "given":
        return None, False, ()
    if isinstance(question.query, WeightedSum):
        return [len(question.query.weights)], True, ()
    quarter = None if question.left is None else question.left / 4
    longest, proved = longest_moves(_moves(question, _core(question)), quarter)
    note = (f"at most {longest} records move at once",) if proved else ()
    alone = question.reading != "published" or question.setting.graph.complete
    return (longest,) if alone else range(1, longest + 1), proved, note


def _ceiling(question: Question) -> Answer | None:
    top = ceiling(question)
    return None if top is None else question.answer(0, top.value, top.why, engine="ceiling")


def _search(question: Question) -> Answer:
    if question.setting.scope == "given":
        return embedded(question, _search)
    if relaxable(question):
        return relaxed(question, _search)
    most = sparse_bound(question)
    along = None
    if most is not None and isinstance(question.query, Histogram):
        along = bounded_by_graph(question, most)
        if along.status == "exact":
            return along
    try:
        core = _core(question)
        moves = _moves(question, core)
        return multiset_sensitivity(
            moves,
            time_limit=question.left,
            on_best=question.teller("searching irreducible multisets"),
            notes=(core.reason, *((f"sparse: at most {most.upper} records move",) if most else ())),
            enough=core.enough,
            most=None if most is None else most.upper,
        )
    except BudgetError as refusal:
        if along is None:
            raise
        return replace(along, notes=(*along.notes, str(refusal).partition("\n")[0]))


def _hilbert(question: Question) -> Answer:
    from blowproof.verifier.engines.hilbert import hilbert_sensitivity

    core = _core(question)
    if not core.enough:
        raise QueryError("engine hilbert needs a small domain here\n  try: --engine search")
    moves = _moves(question, core)
    return hilbert_sensitivity(moves, time_limit=question.left, notes=(core.reason,))


@dataclass(frozen=True)
class Strategy:
    """One way to bound S(f, P).

    `refuses` says why a question is not one for it, or ""; `run` returns what it found, or None.
    A theorem needs no search; an engine searches, and may be asked alone (`--engine`); a reduction
    asks easier questions; a witness is a pair looked for directly.
    `shares`: it shares its time out among steps, so that it has to be told how much there is.
    `norms`: in which norms its bounds hold; what says nothing is about l1 alone.
    """

    name: str
    kind: Literal["theorem", "engine", "reduction", "witness"]
    does: str
    run: Callable[[Question], Answer | None]
    refuses: Callable[[Question], str] = lambda question: ""
    shares: bool = False
    norms: tuple[str, ...] = ("l1",)

    def why_not(self, question: Question) -> str:
        """Return why the question is not one for it, or ""."""
        norm = question.query.measure.name
        if norm not in self.norms:
            return f"it is about {' and '.join(self.norms)}, not {norm}"
        return self.refuses(question)


# --- which questions each engine refuses ---------------------------------------------------------


def _no_edges(question: Question) -> str:
    from blowproof.verifier.engines.one_move.worst_edge import one_secret_move

    if question.query.per_record:
        return f"{question.query.name} weighs single records"
    if not one_secret_move(question.setting, question.reading):
        return "facts tie records together, or the reading is not about one record"
    return ""


def _no_frames(question: Question) -> str:
    setting = question.setting
    if setting.scope == "given" or setting.bounds or setting.clauses:
        return "it speaks about equality counts and any answers"
    if question.reading not in LABELLED or not isinstance(question.query, Histogram):
        return "it speaks about histograms, in readings 1 and 2"
    return ""


def _no_search(question: Question) -> str:
    setting = question.setting
    if setting.bounds or setting.clauses or question.reading == "markov":
        return "it answers equality counts, in readings 1 to 3"
    if question.query.per_record:
        return f"{question.query.name} weighs single records"
    return ""


def _no_parts(question: Question) -> str:
    setting = question.setting
    if question.query.per_record:
        return f"{question.query.name} weighs single records"
    if not setting.clauses and not setting.bounds:
        return "there are no bounds or clauses"
    if question.reading == "pufferfish":
        return "its theorems are about minimal pairs, and those of reading 5 need not be"
    if not setting.clauses and question.reading == "markov":
        return "reading 4 is never minimal"
    return ""


def _no_sat(question: Question) -> str:
    if question.reading not in LABELLED:
        return f"it labels records, and reading {question.reading!r} does not"
    return ""


def _no_ilp(question: Question) -> str:
    clauses = bool(question.setting.clauses)
    if question.query.per_record or (clauses and question.reading in LABELLED):
        return "it knows no single records"
    return ""


def _no_hilbert(question: Question) -> str:
    if question.setting.scope != "any" or not question.irreducible:
        return (
            "it lists irreducible multisets: scope any, equality counts, and a complete G or a "
            "reading other than published"
        )
    return ""


def _through_histogram(question: Question) -> Answer | None:
    """Bound a query by the histogram's S, and take its worst pair by other values."""
    setting, query, reading = question.setting, question.query, question.reading
    known = Bounds()

    def take(found: Answer | None) -> None:
        nonlocal known
        if found is None:
            return
        better = Bounds(upper=found.upper)
        if found.witness is not None:
            better = Bounds(lower=found.lower, upper=found.upper, pair=found.witness)
        known = known.meet(better)

    easier = replace(
        question,
        query=Histogram(),
        listener=None,
        deadline=question.by(1 / 2),
        known=lambda: (known.lower, known.upper),
    )
    why = ""
    for item in THEOREMS:
        if not known.closed and not item.why_not(easier):
            take(item.run(easier))
    if not known.closed:
        try:
            take(_eased(easier))
        except BudgetError as refusal:
            why = str(refusal).partition("\n")[0]
    upper = None if known.upper is None else from_histogram(setting, reading, query, known.upper)
    pair = None if known.pair is None else revalued(setting, query, reading, known.pair)
    if upper is None and pair is None:
        return None
    lower = 0 if pair is None else query.difference(pair.moves(reading))
    if pair is not None and not check_pair(setting, reading, pair, deadline=question.by(1 / 2)):
        lower, pair = 0, None
    told = () if known.upper is None else (f"S(histogram) is at most {known.upper}",)
    return question.answer(lower, upper, *told, *filter(None, [why]), witness=pair)


def _by_ends(question: Question) -> Answer | None:
    """Bound cumulative counts by the ends of classes, and give the moves their best values."""
    found = by_ends(question)
    if found is None or found.witness is None:
        return found
    setting, query, reading = question.setting, question.query, question.reading
    pair = revalued(setting, query, reading, found.witness)
    if pair is None or not check_pair(setting, reading, pair, deadline=question.by(1 / 2)):
        return replace(found, witness=None)
    return replace(found, lower=query.difference(pair.moves(reading)), witness=pair)


def _no_ends(question: Question) -> str:
    setting = question.setting
    if not isinstance(question.query, Cumulative):
        return "it is for cumulative histograms"
    if question.reading not in LABELLED or setting.bounds or setting.clauses:
        return "it answers equality counts, in readings 1 and 2"
    return ""


def _no_histogram(question: Question) -> str:
    if isinstance(question.query, Histogram):
        return "it is the question itself"
    if question.query.per_record:
        return f"{question.query.name} weighs single records"
    return ""


THEOREMS = (
    Strategy("edges", "theorem", "one record changes alone, along the worst edge of G", one_edge,
             _no_edges, norms=EVERY_NORM),
    Strategy("alone", "theorem", "no edge of G changes a known number: one record changes alone",
             alone, not_alone, norms=EVERY_NORM),
    Strategy("rank", "theorem", "the facts determine the query: S = 0", determined,
             norms=EVERY_NORM),
    Strategy("cycles", "theorem", "independent signatures: pairs are simple cycles",
             single_cycles, no_cycles),
    Strategy("exchanges", "theorem", "independent signatures: a record for another of its class",
             exchanges, no_exchanges),
    Strategy("beside", "theorem", "cells and a few facts beside them: so many moves at the most",
             facts_beside, no_cycles),
    Strategy("ceiling", "theorem", "so many moves, times the largest change of one", _ceiling,
             norms=EVERY_NORM),
    Strategy("frames", "theorem", "the heaviest frame of few signatures meets the bound",
             by_frames, _no_frames),
)  # fmt: skip
"""Asked first, in this order: they need no search."""

ENGINES = (
    Strategy("brute", "engine", "every database, by the definition", _brute,
             norms=EVERY_NORM),
    Strategy("histogram", "reduction", "the histogram's S and worst pair, by other values",
             _through_histogram, _no_histogram, True),
    Strategy("ends", "reduction", "cumulative counts by the ends of classes", _by_ends, _no_ends,
             True),
    Strategy("search", "engine", "irreducible multisets of moves", _search, _no_search, True),
    Strategy("parts", "reduction", "theorems on bounds and clauses, and pairs that meet them",
             lambda question: bounded(question, _eased), _no_parts, True),
    Strategy("sat", "engine", "labelled records: propose, refute, cut (SAT)", _sat, _no_sat),
    Strategy("ilp", "engine", "histograms and moves: propose, refute, cut (ILP)", _ilp, _no_ilp),
    Strategy("hilbert", "engine", "a Hilbert basis, listed by Normaliz", _hilbert, _no_hilbert),
)  # fmt: skip
"""What searches, in turns; `--engine` names those of kind "engine"."""


LAST = Strategy(
    "few classes", "witness", "a pair over a few classes of values", few_classes, norms=EVERY_NORM
)
"""Asked where the bounds do not meet."""


def _eased(question: Question) -> Answer:
    """Answer an easier question on the way to the one that was asked, by its own best engine."""
    question = replace(question, setting=without_empty(question.setting))
    found = one_edge(question)
    if found is not None:
        return found
    if not _no_parts(question):
        return bounded(question, _eased)
    if not _no_search(question):
        return _search(question)
    return _ilp(question) if not _no_ilp(question) else _sat(question)


def named(name: str) -> Strategy:
    """Return the engine of this name."""
    return next(item for item in (*THEOREMS, *ENGINES) if item.name == name)
