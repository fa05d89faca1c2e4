"""Which engine answers, and why. `auto` takes the first that is exact for the question.

| question | engine |
| --- | --- |
| clauses, or a weight per record | sat: labelled records |
| "any": secret moves, or G complete, or added and removed records | search: irreducible multisets |
| "any": reading 1, other G | ilp, with the number of moves bounded by the search |
| reading 4 | ilp: at most four moves |
| "given", equality counts | search under "any", the pair put into a database; else ilp |
| "given", bounds | ilp: histograms |
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Literal

from blowproof.models import BoundQuery, BudgetError, Exact, QueryError, Setting, UndeterminedError
from blowproof.models.policy import LABELLED, Reading
from blowproof.models.queries import Histogram, WeightedSum
from blowproof.models.setting import setting as setting_of
from blowproof.verifier.answers import Answer, OnBest, Pair
from blowproof.verifier.brute import brute_sensitivity, multisets_within
from blowproof.verifier.embed import embed
from blowproof.verifier.feasible import size_range
from blowproof.verifier.histograms import Master, histogram_sensitivity
from blowproof.verifier.moves import Moves
from blowproof.verifier.pairs import require_pair
from blowproof.verifier.reduce import SMALL_DOMAIN, reduce_values
from blowproof.verifier.relaxation import (
    complete_setting,
    has_secret_move,
    one_secret_move,
    secret_move_within_a_class,
    with_a_secret_effect,
)

__all__ = ["ENGINES", "Engine", "Listener", "Progress", "Question", "answer"]

NORMALIZ_SECONDS = 10.0
HANDFUL = 16
"""Up to this many values the search takes less time than a process for Normaliz."""

SPARSE_SECONDS = 10.0
"""How long the longest cycle and path of a policy graph may take before other engines go on."""

Engine = Literal["auto", "brute", "sat", "ilp", "search", "hilbert"]
ENGINES: tuple[Engine, ...] = ("auto", "brute", "sat", "ilp", "search", "hilbert")


@dataclass(frozen=True)
class Progress:
    """How far a question has come: the bounds so far, and what is being searched."""

    lower: Exact
    upper: Exact | None
    what: str
    witness: Pair | None = None


Listener = Callable[[Progress], None]


@dataclass(frozen=True)
class Question:
    """What is asked: a prepared setting, a query, a reading, and how long it may take."""

    setting: Setting
    query: BoundQuery
    reading: Reading
    deadline: float | None = None
    max_size: int | None = None
    listener: Listener | None = None

    @property
    def irreducible(self) -> bool:
        """Whether neighbours are exactly the irreducible multisets of moves (equalities only)."""
        plain_facts = not self.setting.bounds and not self.setting.clauses
        free = self.reading in ("secret-moves", "add-remove")
        published = self.reading == "published" and self.setting.graph.complete
        return plain_facts and (free or published) and not self.query.per_record

    @property
    def left(self) -> float | None:
        """Seconds until the deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def teller(self, what: str) -> OnBest:
        """Return what an engine calls with better (lower, upper, witness)."""

        def tell(lower: Exact, upper: Exact | None, witness: Pair | None) -> None:
            if self.listener is not None:
                self.listener(Progress(lower, upper, what, witness))

        return tell


def answer(question: Question, engine: Engine) -> Answer:
    """Return S(f, P) by the named engine, or by the one that `auto` picks."""
    if engine == "auto":
        engine, reason = _pick(question)
        if engine == "search" and _suits_normaliz(question):
            limit = min(NORMALIZ_SECONDS, (question.left or math.inf) / 4)
            found = _hilbert(replace(question, deadline=time.monotonic() + limit))
            if found.status == "exact":
                note = "engine hilbert: few more effects than facts, Normaliz is quick there"
                return replace(found, notes=(note, *found.notes))
        found = _ANSWER[engine](question)
        return replace(found, notes=(f"engine {engine}: {reason}", *found.notes))
    return _ANSWER[engine](question)


def _pick(question: Question) -> tuple[Engine, str]:
    if question.setting.clauses and question.reading not in LABELLED:
        return "brute", "clauses name records, and this reading asks for some numbering of them"
    if question.setting.clauses or question.query.per_record:
        return "sat", "clauses or weights name single records"
    if question.setting.scope == "any" and question.irreducible:
        return "search", "neighbours are irreducible multisets of moves"
    if question.setting.scope == "any" and question.reading == "published":
        return "search", "bounded by the complete graph, and met by one secret move"
    if question.setting.bounds or question.reading == "markov":
        return "ilp", "histograms of databases with the known numbers"
    return "search", "the worst pair for any answers, put into a database with the known numbers"


def _suits_normaliz(question: Question) -> bool:
    """Whether Normaliz is installed and likely quicker: reading 3, scope any, many values."""
    if (
        question.reading != "add-remove"
        or question.setting.scope != "any"
        or not question.irreducible
        or find_spec("PyNormaliz") is None
    ):
        return False
    core = reduce_values(question.setting, question.query, question.reading)
    return len(core.values) > HANDFUL


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
                setting, question.query, reading, sizes=range(low, high + 1), complete=complete
            )
        except BudgetError:
            if complete or high <= low:
                raise
            high -= 1  # a lower bound from smaller databases is better than none


def _ilp(question: Question) -> Answer:
    setting, reading = question.setting, question.reading
    if setting.clauses or question.query.per_record:
        raise QueryError("engine ilp knows no single records\n  try: --engine sat")
    core = reduce_values(setting, question.query, reading)
    moves = Moves(setting, question.query, reading, core.values)
    most, proved, note = _most(question, moves)
    found = histogram_sensitivity(
        moves,
        most=most,
        deadline=question.deadline,
        on_best=question.teller("proposing and refuting pairs"),
        notes=(core.reason, note),
    )
    if proved and core.enough:
        return found
    upper = moves.unscaled(Master(moves, most=most).bound()) if proved else None
    return replace(found, upper=upper, status="exact" if upper == found.lower else "bounds")


def _most(question: Question, moves: Moves) -> tuple[int, bool, str]:
    """Return how many records D1 holds or move at the most, whether that is proved, and why."""
    if question.reading == "markov" and question.setting.scope == "any":
        return 4, True, "reading 4 has at most four moves"
    if question.setting.scope == "given":
        _, high = size_range(question.setting, question.reading)
        if high is None:
            raise UndeterminedError(
                "nothing bounds the number of records\n"
                "  try: write size = N under [database], or use --answers any"
            )
        return high, True, f"n is at most {high}"
    from blowproof.verifier.multisets import longest_moves

    longest, proved = longest_moves(moves, question.left)
    return longest, proved, f"at most {longest} records move at once"


def _sat(question: Question) -> Answer:
    from blowproof.verifier.labelled import labelled_sensitivity

    if question.reading not in LABELLED:
        raise QueryError(f"engine sat labels records, and reading {question.reading!r} does not")
    fixed = isinstance(question.query, WeightedSum) and question.setting.scope == "any"
    sizes = [len(question.query.weights)] if isinstance(question.query, WeightedSum) else None
    return labelled_sensitivity(
        question.setting,
        question.query,
        question.reading,
        time_limit=question.left,
        listener=question.listener,
        sizes=sizes if fixed else None,
        complete=fixed,  # under "any", n is the number of weights
    )


def _search(question: Question) -> Answer:
    from blowproof.verifier.multisets import multiset_sensitivity

    if question.setting.bounds or question.setting.clauses or question.reading == "markov":
        raise QueryError(
            "engine search answers equality counts, in readings 1 to 3\n  try: --engine auto"
        )
    if question.query.per_record:
        raise QueryError(f"engine search does not answer {question.query.name}: --engine sat does")
    if question.setting.scope == "given":
        return _embedded(question)
    if _relaxable(question):
        return _relaxed(question)
    most = _sparse_bound(question)
    try:
        core = reduce_values(question.setting, question.query, question.reading)
        moves = Moves(question.setting, question.query, question.reading, core.values)
        return multiset_sensitivity(
            moves,
            time_limit=question.left,
            on_best=question.teller("searching irreducible multisets"),
            notes=(core.reason, *((f"sparse: at most {most} records move",) if most else ())),
            enough=core.enough,
            most=most,
        )
    except BudgetError as refusal:
        if most is None or not isinstance(question.query, Histogram):
            raise
        return _bounded_by_graph(question, most, str(refusal).partition("\n")[0])


def _bounded_by_graph(question: Question, most: int, why: str) -> Answer:
    """Too many values to search, but sparse: the policy graph bounds S(h, P) by twice `most`."""
    start = time.perf_counter()
    pair = secret_move_within_a_class(question.setting, question.query)
    lower = 2 if pair is not None else 0
    found = _nothing(question, f"sparse: at most {most} records move; {why}", start)
    return replace(
        found,
        lower=lower,
        upper=2 * most,
        status="exact" if lower == 2 * most else "bounds",
        witness=pair,
    )


def _sparse_bound(question: Question) -> int | None:
    """Return how many records can change at once by the policy graph, where that is a theorem.

    For a sparse policy with equality counts, irreducible multisets of secret moves are simple
    cycles and paths of the policy graph (`policy_graph_bound`): reading 2, or 1 with a complete G.
    """
    from blowproof.verifier.policy_graph import policy_graph_bound
    from blowproof.verifier.sparsity import sparse

    if question.reading not in LABELLED:
        return None
    try:
        if not sparse(question.setting.policy).sparse:
            return None
        left = question.left
        limit = SPARSE_SECONDS if left is None else min(SPARSE_SECONDS, left / 4)
        return policy_graph_bound(question.setting.policy, time_limit=limit).upper
    except BudgetError:
        return None


def _embedded(question: Question) -> Answer:
    """Scope given: bounded by scope any, and met where the worst pair fits into a database."""
    start = time.perf_counter()
    half = None if question.deadline is None else time.monotonic() + (question.left or 0) / 2
    free = setting_of(question.setting.policy, "any")
    relaxed = _search(replace(question, setting=free, deadline=half))
    pair = relaxed.witness
    if pair is not None:
        pair = embed(question.setting, pair, time_limit=question.left)
    if pair is not None:
        require_pair(question.setting, question.reading, pair)
    found = replace(
        relaxed,
        answers="given",
        lower=relaxed.lower if pair is not None else 0,
        witness=pair,
        status="bounds",
        notes=(*relaxed.notes, "bounds: S for any answers; the worst pair is put into a database"),
    )
    question.teller("trying every multiset")(found.lower, found.upper, found.witness)
    if found.lower != found.upper:
        found = _every_multiset(question, found) if question.irreducible else found
    if found.lower != found.upper and not question.irreducible:
        found = _tighter(_ilp(question), found)
    exact = found.lower == found.upper
    return replace(
        found, status="exact" if exact else "bounds", seconds=time.perf_counter() - start
    )


def _every_multiset(question: Question, found: Answer) -> Answer:
    """Try each irreducible multiset on the databases with the known numbers."""
    from blowproof.verifier.multisets import given_sensitivity

    core = reduce_values(question.setting, question.query, question.reading)
    moves = Moves(question.setting, question.query, question.reading, core.values)
    scaled = int(found.lower * moves.scale)
    if question.reading in LABELLED and question.setting.size is not None and core.enough:
        most = Master(moves, most=question.setting.size).bound()  # n moves, each the largest
        upper = moves.unscaled(most)
        found = replace(found, upper=upper if found.upper is None else min(upper, found.upper))
    if found.lower == found.upper:
        return found
    size = question.setting.size if question.reading in LABELLED else None
    best, pair, bound = given_sensitivity(moves, size=size, lower=scaled, time_limit=question.left)
    if pair is not None:
        require_pair(question.setting, question.reading, pair)
        found = replace(found, lower=moves.unscaled(best), witness=pair)
    if bound is not None and core.enough:
        upper = moves.unscaled(bound)
        found = replace(found, upper=upper if found.upper is None else min(upper, found.upper))
    return found


def _relaxable(question: Question) -> bool:
    """Whether the complete graph bounds the answer: reading 1, scope any, another graph."""
    setting = question.setting
    return (
        question.reading == "published"
        and setting.scope == "any"
        and not setting.graph.complete
        and not question.query.per_record
    )


def _relaxed(question: Question) -> Answer:
    """Bound by the complete graph, try to meet the bound, else check pairs against every D3."""
    setting, query = question.setting, question.query
    start = time.perf_counter()
    if not has_secret_move(setting):
        return _nothing(question, "no two possible values are joined in G", start)
    half = None if question.deadline is None else time.monotonic() + (question.left or 0) / 2
    relaxed = _search(replace(question, setting=complete_setting(setting), deadline=half))
    pair = one_secret_move(setting, query, relaxed, question.deadline)
    if pair is None or not query.difference(pair.moves("published")):
        pair = secret_move_within_a_class(setting, query)
    lower = query.difference(pair.moves("published")) if pair is not None else 0
    notes = (*relaxed.notes, "upper bound: S for the complete graph")
    found = replace(
        relaxed, lower=lower, witness=pair if lower else None, notes=notes, status="bounds"
    )
    if found.lower != found.upper:
        found = _with_secret_effect(question, found)
    question.teller("checking every D3")(found.lower, found.upper, found.witness)
    if found.lower != found.upper and setting.domain.size <= SMALL_DOMAIN:
        found = _tighter(_ilp(question), found)
    exact = found.lower == found.upper
    return replace(
        found, status="exact" if exact else "bounds", seconds=time.perf_counter() - start
    )


def _with_secret_effect(question: Question, found: Answer) -> Answer:
    """Tighten bounds: only multisets count that contain the effect of some secret move."""
    setting, query = question.setting, question.query
    free = complete_setting(setting)
    core = reduce_values(free, query, "published")
    moves = Moves(free, query, "published", core.values)
    half = None if question.left is None else question.left / 2
    bound, witness = with_a_secret_effect(
        setting, moves, best=int(found.lower * moves.scale), time_limit=half
    )
    if bound is not None:
        upper = moves.unscaled(bound)
        found = replace(found, upper=upper if found.upper is None else min(found.upper, upper))
    relaxed = replace(found, witness=witness)
    pair = one_secret_move(setting, query, relaxed, question.deadline)
    if pair is not None and query.difference(pair.moves("published")) > found.lower:
        found = replace(found, lower=query.difference(pair.moves("published")), witness=pair)
    return found


def _tighter(one: Answer, two: Answer) -> Answer:
    """Return the better bounds of two answers to the same question."""
    best = one if one.lower >= two.lower else two
    uppers = [answer.upper for answer in (one, two) if answer.upper is not None]
    notes = (*two.notes, *one.notes)
    engine = f"{two.engine}+{one.engine}"
    return replace(best, upper=min(uppers, default=None), notes=notes, engine=engine)


def _nothing(question: Question, why: str, start: float) -> Answer:
    return Answer(
        policy=question.setting.policy.name,
        query=question.query.name,
        reading=question.reading,
        answers=question.setting.scope,
        lower=0,
        upper=0,
        status="exact",
        witness=None,
        engine="search",
        seconds=time.perf_counter() - start,
        notes=(why,),
    )


def _hilbert(question: Question) -> Answer:
    from blowproof.verifier.hilbert import hilbert_sensitivity

    if question.setting.scope != "any" or not question.irreducible:
        raise QueryError(
            "engine hilbert lists irreducible multisets: scope any, equality counts, and a "
            "complete G or a reading other than published\n  try: --engine auto"
        )
    core = reduce_values(question.setting, question.query, question.reading)
    if not core.enough:
        raise QueryError("engine hilbert needs a small domain here\n  try: --engine search")
    moves = Moves(question.setting, question.query, question.reading, core.values)
    return hilbert_sensitivity(moves, time_limit=question.left, notes=(core.reason,))


_ANSWER: dict[str, Callable[[Question], Answer]] = {
    "brute": _brute,
    "ilp": _ilp,
    "sat": _sat,
    "search": _search,
    "hilbert": _hilbert,
}
