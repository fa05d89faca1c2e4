"""No question ends without usable bounds: what engines refuse or leave open is bounded here.

Upper bounds are theorems (`most_moves`). Lower bounds are neighbour pairs over a few of the classes
of values: under scope "any", an irreducible multiset of moves over some values is one over all of
them. The pairs come from single moves that no fact notices, from circuits of the effects of a few
classes that share facts, and from the frames of few signatures (`affine_frames`); in reading 1, one
of the moves is made along an edge of G; under scope "given", the pair is put into a database with
the known numbers. Each passes the pair checker.
"""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from blowproof.models import BlowproofError, Exact, Point, Setting
from blowproof.models.base.clock import now, spend
from blowproof.models.domain.classes import ValueClass, firsts, locator
from blowproof.models.policy.readings import is_labelled, is_mixed
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.sparse_facts import SparseFacts
from blowproof.verifier.databases.value_classes import ClassTable, class_table, table_of
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.engines.search.from_circuits import circuits_with_one, heaviest_circuit
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.edge_ends import edge_ends
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.reductions.complete_graph import moves_apart, one_secret_move
from blowproof.verifier.reductions.fewer_facts import freed
from blowproof.verifier.witnesses.affine_frame import frame_pairs
from blowproof.verifier.witnesses.four_cells import exchanged
from blowproof.verifier.witnesses.random_values import Drawing, RandomValues
from blowproof.verifier.witnesses.single_moves import idle_pairs
from blowproof.verifier.witnesses.split_along_edge import split_pairs

__all__ = [
    "classes_together",
    "few_classes",
    "in_a_box",
    "nothing_known",
    "seeds_along",
    "some_pair",
]

FEW = (14, 22, 8, 32, 42)
"""How many classes are looked at together, one after the other."""

BOXED = {1: 60, 3: 200}
"""The same, in a box (see `in_a_box`), where all moves are along edges of G."""

PATIENCE = real_limit(__name__, "PATIENCE")
SHORTEST = real_limit(__name__, "SHORTEST")
GRACE = real_limit(__name__, "GRACE")
IDLE = real_limit(__name__, "IDLE")
TRIES = whole_limit(__name__, "TRIES")
QUICK = real_limit(__name__, "QUICK")
ROUNDS = whole_limit(__name__, "ROUNDS")
SPLITS = whole_limit(__name__, "SPLITS")
MOST_NEIGHBOURS = whole_limit(__name__, "MOST_NEIGHBOURS")
NEIGHBOURS = whole_limit(__name__, "NEIGHBOURS")
MOST_AREAS = whole_limit(__name__, "MOST_AREAS")
BOXES = whole_limit(__name__, "BOXES")
ENTRY = real_limit(__name__, "ENTRY")
CANDIDATE = real_limit(__name__, "CANDIDATE")
MEMBER = real_limit(__name__, "MEMBER")


def nothing_known(question: Question, why: str) -> Answer:
    """Return 0 <= S(f, P), which always holds."""
    return question.answer(0, None, why)


def few_classes(question: Question) -> Answer | None:
    """Return a better lower bound by a pair over a few of the classes of values, or None."""
    started = time.perf_counter()
    seconds = PATIENCE if question.left is None else min(PATIENCE, question.left)
    lower, _ = question.known()
    if lower == 0:
        seconds = max(GRACE, seconds)
    if seconds <= SHORTEST:
        return None
    value, pair = some_pair(question, seconds=seconds, above=lower)
    if pair is None:
        return None
    return question.answer(value, None, witness=pair, engine="few classes", since=started)


def some_pair(question: Question, *, seconds: float, above: Exact = 0) -> tuple[Exact, Pair | None]:
    """Return the best neighbour pair that is found over a few classes, and its change.

    Only a change above `above` counts; (above, None) if there is none. Clauses are left out.
    """
    reading = question.reading
    if question.setting.clauses or question.query.per_record:
        return above, None
    end = now() + seconds
    best: tuple[Exact, Pair | None] = (above, None)
    place = RandomValues(question, end)
    for pair in _candidates(question, end):
        spend(CANDIDATE)
        value = question.query.difference(pair.moves(reading))
        if value <= best[0]:
            continue
        placed = place(pair)
        if placed is not None:
            best = (value, placed)
            question.teller("a few of the classes")(value, None, placed)
        if now() > end and best[1] is not None:
            break
    return best


def _candidates(question: Question, end: float) -> Iterator[Pair]:
    """Yield pairs under scope "any", small sets of classes first."""
    free = question.setting
    if free.scope == "given":
        free = freed(free)
    areas = question.query.areas(free.domain) or []
    try:
        cut = tuple(areas) if len(areas) <= MOST_AREAS else ()
        table = class_table(free, cut, deadline=end)
    except BlowproofError:
        yield from _near_one_another(question, free, end)
        return
    rng = random.Random(question.seed)
    yield from idle_pairs(free, question.reading, table, min(end, now() + IDLE), rng)
    if question.reading == "markov":
        yield from exchanged(table, rng, end, cut)
        return
    if is_labelled(question.reading) and question.query.separates:
        yield from frame_pairs(question, free, end)
    chance = is_mixed(question.reading) and not free.graph.complete
    enough = (SPLITS if chance else 1) * len(FEW)
    narrow = question.reading == "secret-moves" and not free.graph.complete
    points = [each[0] for each in firsts(table.classes, 1)] if narrow else []
    for number in range(ROUNDS):
        size = FEW[number % len(FEW)]
        left = end - now()
        if number < TRIES:  # however little time there is
            left = max(left, QUICK)
        if left <= 0 or not table.classes:
            return
        boxed = BOXED.get(number % len(FEW), 0) if narrow else 0
        if boxed and len(table.classes) > size:
            places = in_a_box(points, boxed, rng)
        else:
            places = classes_together(table, size, seeds_along(free, table, rng), rng)
        chosen = [table.classes[place] for place in places]
        few = _noticing(free, np.flatnonzero(table.effects[places].any(axis=0)).tolist())
        try:
            yield from _circuits(question, few, chosen, min(left, 0.1 + left / len(FEW)), rng)
        except BlowproofError:
            continue
        if len(chosen) == len(table.classes) and number >= enough:
            return


def _near_one_another(question: Question, free: Setting, end: float) -> Iterator[Pair]:
    """Yield pairs over values that are drawn, where there are too many classes."""
    areas = question.query.areas(free.domain) or []
    drawing, rng = Drawing(question.setting, question.seed, areas), random.Random(question.seed)
    told = SparseFacts(free.domain, free.equalities)
    for number in range(ROUNDS):
        moment = now()
        if moment > end and number >= TRIES:
            return
        try:
            points = drawing.near()
            counted = {place for point in points for place, _ in told.of(point)}
            few = _noticing(free, sorted(counted))
            table = table_of(few, points)
        except BlowproofError:
            return
        if not table.classes:
            continue
        left = max(QUICK, (end - moment) / len(FEW))
        yield from idle_pairs(few, question.reading, table, moment + left / 2, rng)
        if question.reading == "markov":
            yield from exchanged(table, rng, moment + left, areas)
            continue
        try:
            chosen = list(table.classes[: max(FEW)])
            yield from _circuits(question, few, chosen, left, rng)
        except BlowproofError:
            continue


def _noticing(setting: Setting, counted: Iterable[int]) -> Setting:
    """Return the setting with some equalities alone: those that count a value that is looked at.

    The others have zero times each of these values, so that no move between them changes any.
    """
    return replace(setting, equalities=tuple(setting.equalities[place] for place in counted))


def seeds_along(setting: Setting, table: ClassTable, rng: random.Random) -> list[int]:
    """Return a class and, where it is not complete, one that an edge of G leads to from there."""
    place = rng.randrange(len(table.classes))
    if setting.graph.complete:
        return [place]
    x = next(table.classes[place].boxes()).nth(0)
    reached = list(islice(setting.graph.neighbours(x), MOST_NEIGHBOURS))
    place_of = locator(table.classes)
    found = {place_of(y) for y in rng.sample(reached, min(len(reached), NEIGHBOURS))}
    others = sorted(other for other in found if other is not None and other != place)
    return [place, *others[:1]]


def classes_together(
    table: ClassTable, size: int, seeds: list[int], rng: random.Random
) -> list[int]:
    """Return the places of classes that share facts: each brings as few other facts as can be."""
    holds = table.effects != 0
    count = len(table.classes)
    if count <= size:
        return list(range(count))
    chosen = [int(np.argmin(holds.sum(axis=1))), *seeds]
    facts = holds[chosen].any(axis=0)
    open_ = np.ones(count, dtype=bool)
    open_[chosen] = False
    while len(set(chosen)) < size:
        spend(holds.size * ENTRY)
        news = (holds & ~facts).sum(axis=1) + rng.random()
        news[~open_] = count + len(facts)
        least = np.flatnonzero(news == news.min())
        place = int(rng.choice(least.tolist()))
        open_[place] = False
        chosen.append(place)
        facts |= holds[place]
    return sorted(set(chosen))


def in_a_box(points: Sequence[Point], size: int, rng: random.Random) -> list[int]:
    """Return the places of up to `size` classes whose values are made of a few of each attribute.

    A box round one of them grows by a value of an attribute at a time. Where secrets are changes of
    an attribute, edges lead to and fro in it, while classes that share facts may have none.
    """
    chosen = [rng.randrange(len(points))]
    within = [{each} for each in points[chosen[0]]]
    axes = [axis for axis in range(len(within)) if len({point[axis] for point in points}) > 1]
    while axes:
        spend(len(points) * len(within) * MEMBER)
        axis = rng.choice(axes)
        beside: dict[int, list[int]] = defaultdict(list)
        for place, point in enumerate(points):
            outside = [k for k, held in enumerate(within) if point[k] not in held]
            if outside == [axis]:
                beside[point[axis]].append(place)
        if not beside:
            axes.remove(axis)
            continue
        value = rng.choice(sorted(beside))
        if len(chosen) + len(beside[value]) > size:
            break
        within[axis].add(value)
        chosen += beside[value]
    return sorted(chosen)


def _circuits(
    question: Question,
    free: Setting,
    chosen: list[ValueClass],
    seconds: float,
    rng: random.Random,
) -> Iterator[Pair]:
    """Yield the best circuit over these classes that is seen, as pairs under scope "any"."""
    query, reading, graph = question.query, question.reading, free.graph
    end = now() + seconds
    each = query.few
    values: tuple[Point, ...] = tuple(x for item in chosen for x in _ends(item, each))
    if reading == "secret-moves" and not graph.complete:
        values = edge_ends(graph, chosen, each=each)
    moves = Moves(free, query, reading, tuple(dict.fromkeys(values)), question.seed, end)
    if is_mixed(reading) and not graph.complete:
        yield from _with_one_edge(question, moves, chosen, seconds, rng)
        return
    best, counts = heaviest_circuit(moves, seconds / 2)
    if best:
        yield moves.pair(counts, Counter())


def _with_one_edge(
    question: Question,
    moves: Moves,
    chosen: list[ValueClass],
    seconds: float,
    rng: random.Random,
) -> Iterator[Pair]:
    """Reading 1, other G: yield circuits of plain moves and of one along an edge of G.

    Made so that exactly one move is secret, a circuit is a pair (see `complete_graph`); the checker
    has the last word on the others.
    """
    end = now() + seconds
    yield from split_pairs(moves, chosen, seconds / 3, rng)
    found: dict[tuple[int, ...], list[Kind]] = defaultdict(list)
    secret = [kind for kind in moves.kinds if kind.secret and any(kind.effect)]
    if not secret:
        return
    one = rng.choice(secret)
    for kind in moves.kinds:
        if not kind.secret or {kind.before, kind.after} == {one.before, one.after}:
            found[kind.effect].append(kind)
    table = EffectTable.by_effect(found)
    third = (end - now()) / 2
    once = circuits_with_one(table, one.effect, third, seed=rng.randrange(1 << 30))
    for best, counts in (once, heaviest_circuit(moves, third)):
        if not best:
            continue
        pair = moves.pair(counts, Counter())
        if sum(kind.secret for kind in counts.elements()) == 1:
            yield pair
        apart = moves_apart(moves.setting, pair, classes=chosen)
        if apart is not None:
            yield apart
        elif counts is once[1]:
            easier = replace(
                nothing_known(question, ""),
                lower=moves.unscaled(best),
                witness=pair,
                answers="any",
            )
            placed = one_secret_move(moves.setting, question.query, easier, end)
            if placed is not None:
                yield placed


def _ends(item: ValueClass, each: int) -> list[Point]:
    """Return values at the ends of a class, two at least where there are as many."""
    boxes = list(islice(item.boxes(), BOXES))
    ends = [boxes[0].nth(0), boxes[-1].nth(boxes[-1].size - 1), *item.take(each)]
    return list(dict.fromkeys(ends))[: max(each, 2)]
