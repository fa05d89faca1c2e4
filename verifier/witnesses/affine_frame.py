"""Neighbour pairs from the frames of few signatures: see `closed_forms.ours.more_dependencies`."""

from __future__ import annotations

import time
from collections.abc import Iterator

from blowproof.models import BlowproofError, Exact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.reductions.complete_graph import moves_apart
from blowproof.verifier.theorems.affine_frames import (
    best_frame,
    few_partitions,
    signatures_of,
    steps,
)

__all__ = ["by_frames", "conjectured_by_frames", "frame_pairs"]

FRAME = real_limit(__name__, "FRAME")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")


def by_frames(question: Question) -> Answer | None:
    """Return S(h, P) where the heaviest frame of few signatures meets what is known above it.

    Scope "any", equalities only: what `closed_forms.ours.one_dependency` and `more_dependencies`
    prove, without the search that it would take to find as much. For histograms, in readings 1 and
    2. The frame's moves are a pair whatever the norm; where they are as large as what is known
    above, that is S in this norm.
    """
    setting, started = question.setting, time.perf_counter()
    _, top = question.known()
    if top is None:
        return None
    left = FRAME if question.left is None else min(FRAME, question.left / 4)
    end = now() + left
    for pair in frame_pairs(question, setting, end):
        if question.query.difference(pair.moves(question.reading)) != top:
            continue
        verdict = check_pair(setting, question.reading, pair, deadline=end + FRAME)
        # It is minimal by a theorem, whether or not the checker has the time to see it.
        if verdict or verdict.minimality == "budget":
            how = "met by moving everything from each signature to the next"
            return question.answer(top, top, how, witness=pair, engine="frames", since=started)
    return None


def conjectured_by_frames(question: Question) -> Exact | None:
    """Return what `blocks_conjecture` of `closed_forms.ours.more_dependencies` says that S is.

    The larger of the longest cycle and the heaviest frame, for histograms under scope "any" with
    full secrets, in l1. It held on every instance that was tried; it is not proved, and no bound.
    None where it says nothing, or takes too long.
    """
    setting, query = question.setting, question.query
    if setting.scope == "given" or not setting.graph.complete or setting.bounds:
        return None
    if not is_labelled(question.reading) or not query.separates:
        return None
    if query.measure is not L1:
        return None
    end = now() + FRAME
    try:
        found = signatures_of(class_table(setting, deadline=end))
    except BlowproofError:
        return None
    if found is None or not few_partitions(found[0]):
        return None
    best = best_frame(found[0], end=end)
    return None if best is None else max(2 * sum(found[0].large), best.worth)


def frame_pairs(question: Question, free: Setting, end: float) -> Iterator[Pair]:
    """Yield the moves of the heaviest frame: see
    `closed_forms.ours.more_dependencies.blocks_below`.

    In reading 1 with another G, one of them along an edge; in reading 2, where they are all edges.
    """
    try:
        found = signatures_of(class_table(free))
    except BlowproofError:
        return
    if found is None or not few_partitions(found[0]):
        return
    signatures, members = found
    best = best_frame(signatures, end=min(end, now() + FRAME))
    if best is None:
        return
    before: list[Point] = []
    after: list[Point] = []
    values = [[x for item in each for x in item.take(2)][:2] for each in members]
    for one, two, records in steps(best, signatures.large):
        before += [values[one][0]] * records
        after += [values[two][-1]] * records
    if not before or len(before) > MOST_RECORDS:
        return
    pair = Pair(before=tuple(before), after=tuple(after))
    if question.reading == "secret-moves" or free.graph.complete:
        yield pair
        return
    apart = moves_apart(free, pair)
    if apart is not None:
        yield apart
