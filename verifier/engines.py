"""Which engine answers, and why. `auto` takes the first that is exact for the question.

| question | engine |
| --- | --- |
| nothing known but n, readings 1 and 2 | edges: one record along one edge of G |
| clauses, or a weight per record | sat: labelled records (see `bounded` for clauses) |
| clauses, readings 3 and 4 | ilp: histograms that can be numbered (see `numbered`) |
| "any": secret moves, or G complete, or added and removed records | search: irreducible multisets |
| "any": reading 1, other G | search: bounded by the complete graph, then ilp (see `bounding`) |
| reading 4 | ilp: at most four moves |
| "given", equality counts | search under "any", the pair put into a database; else ilp |
| "given", bounds | theorems on parts (see `bounded`), then ilp: histograms |
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from blowproof.models import BudgetError, QueryError
from blowproof.models.policy import LABELLED
from blowproof.models.queries import Histogram, WeightedSum
from blowproof.verifier.answers import Answer
from blowproof.verifier.bounded import bounded
from blowproof.verifier.bounding import (
    bounded_by_graph,
    embedded,
    relaxable,
    relaxed,
    sparse_bound,
)
from blowproof.verifier.brute import brute_sensitivity, multisets_within
from blowproof.verifier.ceiling import ceiling
from blowproof.verifier.conformal import conformal_table, parts_of
from blowproof.verifier.determined import determined
from blowproof.verifier.fallback import capped, nothing_known, with_ceiling
from blowproof.verifier.feasible import FactModel, size_range
from blowproof.verifier.frame_pairs import by_frames
from blowproof.verifier.histograms import Master, histogram_sensitivity
from blowproof.verifier.irreducible import longest, longest_bound
from blowproof.verifier.loosening import without_empty
from blowproof.verifier.moves import Moves
from blowproof.verifier.multisets import SEARCH_EFFECTS, longest_moves, multiset_sensitivity
from blowproof.verifier.numbered import numbered_sensitivity
from blowproof.verifier.one_edge import one_edge
from blowproof.verifier.proposing import Known
from blowproof.verifier.question import Engine, Question
from blowproof.verifier.reduce import Core, reduce_values

__all__ = ["answer"]

LARGE = 1 << 40
"""Where no fact bounds n, larger databases are not looked at."""

LENGTH_SECONDS = 2.0

ENGINES = 0.9
"""How much of the time the engines have; the rest is for a pair where they find none."""


def answer(question: Question, engine: Engine) -> Answer:
    """Return S(f, P) by the named engine, or by the one that `auto` picks.

    `auto` never ends without usable bounds where a theorem gives an upper one (`ceiling`): what the
    engines refuse as too large for them is bounded by it, and by some pair (`fallback`).
    """
    if engine != "auto":
        return _ANSWER[engine](question)
    question = replace(question, setting=without_empty(question.setting))
    known = one_edge(question) or determined(question)
    if known is not None:
        return known
    top = ceiling(question)
    known = by_frames(question, top)
    if known is not None:
        return known
    question = capped(question, top)
    try:
        found = _by_engine(replace(question, deadline=question.by(ENGINES)))
    except BudgetError as refusal:
        found = with_ceiling(
            question, nothing_known(question, str(refusal).partition("\n")[0]), top
        )
        if found.upper is None and found.witness is None:
            raise
        return found
    return with_ceiling(question, found, top)


def _eased(question: Question) -> Answer:
    """Answer an easier question on the way to the one that was asked."""
    question = replace(question, setting=without_empty(question.setting))
    return one_edge(question) or _by_engine(question)


def _by_engine(question: Question) -> Answer:
    """Return what the engine says that suits the question; easier questions may come first."""
    engine, reason = _pick(question)
    direct = _ANSWER[engine]
    if _has_parts(question):
        found = bounded(question, _eased, direct)
        reason = "theorems on bounds and clauses first"
    else:
        found = direct(question)
    return replace(found, notes=(f"engine {engine}: {reason}", *found.notes))


def _pick(question: Question) -> tuple[Engine, str]:
    if question.setting.clauses and question.reading not in LABELLED:
        return "ilp", "histograms, with some numbering of the records that clauses name"
    if question.setting.clauses or question.query.per_record:
        return "sat", "clauses or weights name single records"
    if question.setting.scope == "any" and question.irreducible:
        return "search", "neighbours are irreducible multisets of moves"
    if question.setting.scope == "any" and question.reading == "published":
        return "search", "bounded by the complete graph, and met by one secret move"
    if question.setting.bounds or question.reading == "markov":
        return "ilp", "histograms of databases with the known numbers"
    return "search", "the worst pair for any answers, put into a database with the known numbers"


def _has_parts(question: Question) -> bool:
    """Whether `bounded` has something to say: bounds or clauses, but no weights of records."""
    setting = question.setting
    if question.query.per_record:
        return False
    return bool(setting.clauses) or (bool(setting.bounds) and question.reading != "markov")


def _core(question: Question) -> Core:
    setting, query, reading = question.setting, question.query, question.reading
    return reduce_values(setting, query, reading, deadline=question.by(1 / 2))


def _moves(question: Question, core: Core) -> Moves:
    setting, query, reading = question.setting, question.query, question.reading
    return Moves(
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
    if question.query.per_record or (clauses and question.reading in LABELLED):
        raise QueryError("engine ilp knows no single records\n  try: --engine sat")
    core = _core(question)
    moves = _moves(question, core)
    most, proved, note = _most(question, moves)
    solve = numbered_sensitivity if clauses else histogram_sensitivity
    found = solve(
        moves,
        Known(question.floor, question.cap, (core.reason, note)),
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
    from blowproof.verifier.labelled import labelled_sensitivity

    if question.reading not in LABELLED:
        raise QueryError(f"engine sat labels records, and reading {question.reading!r} does not")
    fixed = isinstance(question.query, WeightedSum) and question.setting.scope == "any"
    sizes = [len(question.query.weights)] if isinstance(question.query, WeightedSum) else None
    try:
        core = _core(question)
        values = core.values if core.enough else None
    except BudgetError:
        values = None
    if values is not None and question.seed:
        values = tuple(random.Random(question.seed).sample(values, len(values)))
    return labelled_sensitivity(
        question.setting,
        question.query,
        question.reading,
        time_limit=question.left,
        listener=question.listener,
        values=values,
        floor=question.floor,
        cap=question.cap,
        sizes=sizes if fixed else None,
        complete=fixed,  # under "any", n is the number of weights
    )


def _search(question: Question) -> Answer:
    if question.setting.bounds or question.setting.clauses or question.reading == "markov":
        raise QueryError(
            "engine search answers equality counts, in readings 1 to 3\n  try: --engine auto"
        )
    if question.query.per_record:
        raise QueryError(f"engine search does not answer {question.query.name}: --engine sat does")
    if question.setting.scope == "given":
        return embedded(question, _search, _ilp)
    if relaxable(question):
        return relaxed(question, _search, _ilp)
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
    from blowproof.verifier.hilbert import hilbert_sensitivity

    if question.setting.scope != "any" or not question.irreducible:
        raise QueryError(
            "engine hilbert lists irreducible multisets: scope any, equality counts, and a "
            "complete G or a reading other than published\n  try: --engine auto"
        )
    core = _core(question)
    if not core.enough:
        raise QueryError("engine hilbert needs a small domain here\n  try: --engine search")
    moves = _moves(question, core)
    return hilbert_sensitivity(moves, time_limit=question.left, notes=(core.reason,))


_ANSWER: dict[str, Callable[[Question], Answer]] = {
    "brute": _brute,
    "ilp": _ilp,
    "sat": _sat,
    "search": _search,
    "hilbert": _hilbert,
}
