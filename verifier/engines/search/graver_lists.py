"""S(f, P) by lists: the largest change of f over a whole Graver basis.

Effects come in pairs d, -d: a record is added or removed (reading 3), or moves there or back
(readings 1 and 2). An irreducible multiset never holds both, unless it is {d, -d}; so with a
coordinate for each pair it is an irreducible vector of the kernel of the effects: an element of the
Graver basis, which `lifting` lists, completely, whatever the query is. The search over multisets
(`irreducible`) is quick where that basis is huge, and slow where it is small or where the query
makes moves cancel. Without a way to tell beforehand, the two take turns, with growing shares of the
time.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now, waiting
from blowproof.models.norms import L1, L2_SQUARED, RANGE
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.asked.answer import OnBest
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.exact.available import AVAILABLE
from blowproof.verifier.exact.coordinates import Instance
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.best_choice import best_choice
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.moves.score import Score

__all__ = ["Solve", "taking_turns"]

Found = tuple[int, "Counter[Kind]", int | None]
Solve = Callable[[Moves, EffectTable, int, "Counter[Kind]", float | None, OnBest | None], Found]

FIRST_SHARE = real_limit(__name__, "FIRST_SHARE")
GROWTH = real_limit(__name__, "GROWTH")
FIRST_FEW = whole_limit(__name__, "FIRST_FEW")
LARGEST_CHANGE = whole_limit(__name__, "LARGEST_CHANGE")
LARGEST_SUM = whole_limit(__name__, "LARGEST_SUM")
MOST_COLUMNS = whole_limit(__name__, "MOST_COLUMNS")
MOST_RANK = whole_limit(__name__, "MOST_RANK")


def taking_turns(solve: Solve, *, ends: bool = True, begins: bool = False) -> Solve:
    """Return a `solve` that gives the lifting a turn before each of its own.

    `ends` False: `solve` proves nothing however long it runs, so one turn of it is enough.
    `begins`: it has the first turn.
    """

    def solved(
        moves: Moves,
        table: EffectTable,
        best: int,
        counts: Counter[Kind],
        time_limit: float | None,
        on_best: OnBest | None,
    ) -> Found:
        deadline = None if time_limit is None else now() + time_limit
        basis = _Basis(table, labelled=is_labelled(moves.reading))
        share, upper = FIRST_SHARE, None
        if begins:
            turn = _left(deadline)
            turn = share if turn is None else min(share, turn)
            best, counts, upper = solve(moves, table, best, counts, turn, on_best)
            if upper == best:
                return best, counts, upper
        while True:
            end = _within(deadline, share if ends else None)
            basis.compute(end)
            if basis.complete:
                return _best_of(basis, table, moves.score, best, counts, deadline)
            if basis.possible or len(basis.vectors):
                end = _within(deadline, share / 4)
                best, counts, _ = _best_of(basis, table, moves.score, best, counts, end)
            turn = _left(deadline)
            if basis.possible and ends:
                turn = share if turn is None else min(share, turn)
            best, counts, found = solve(moves, table, best, counts, turn, on_best)
            upper = min((x for x in (upper, found) if x is not None), default=None)
            over = deadline is not None and now() >= deadline
            if upper == best or over or not basis.possible or not ends:
                return best, counts, upper
            share *= GROWTH

    return solved


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - now())


def _within(deadline: float | None, share: float | None) -> float | None:
    ends = [x for x in (deadline, share and now() + share) if x is not None]
    return min(ends, default=None)


class _Basis:
    """The Graver basis of the signatures, once there was time for it."""

    def __init__(self, table: EffectTable, *, labelled: bool) -> None:
        instance = Instance.of(table.effects)
        self.places = instance.halves
        self.opposites = np.array([instance.opposite[i] for i in self.places], dtype=np.int64)
        self.rows = instance.vectors[self.places].T.tolist()
        small = max((kind.length for group in table.kinds for kind in group), default=0)
        most = min(MOST_COLUMNS, instance.rank + MOST_RANK) if labelled else MOST_COLUMNS
        few = len(self.places) <= most
        self.possible = AVAILABLE and few and small <= LARGEST_CHANGE
        self.vectors: NDArray[np.int16] = np.zeros((0, len(self.places)), dtype=np.int16)
        self.complete = False

    def compute(self, deadline: float | None) -> None:
        """Try to list the basis until the deadline."""
        if not self.possible or not _ready(deadline):
            return
        try:
            from blowproof.verifier.engines.graver.lifting import graver_basis

            found = graver_basis(self.rows, len(self.places), deadline=deadline)
        except OverflowError:
            self.possible = False
        else:
            self.vectors, self.complete = found.vectors, found.complete
            self.possible = not found.stopped  # what stopped it would stop another try


_begun = threading.Lock()  # taken for good by whoever begins to compile
_compiled = threading.Event()


def _ready(deadline: float | None) -> bool:
    """Compile in the background, or load what was compiled; wait for that, if there is time."""
    if _begun.acquire(blocking=False):
        threading.Thread(target=_compile, name="blowproof-compiler", daemon=True).start()
    return _compiled.wait(waiting(0.0 if deadline is None else max(0.0, deadline - now())))


def _compile() -> None:
    """A small basis for which all the compiled functions are called."""
    try:
        from blowproof.verifier.engines.graver.lifting import graver_basis

        graver_basis([(1, 1, 1, 1)], 4)
    finally:
        _compiled.set()


def _best_of(
    basis: _Basis,
    table: EffectTable,
    score: Score,
    best: int,
    counts: Counter[Kind],
    deadline: float | None,
) -> Found:
    """Evaluate the basis, and the pairs {d, -d}, those with the largest bound first.

    The opposite of a vector makes the opposite change, so one of the two is enough. The lengths of
    the largest single changes, added up, bound a multiset's change; where the first few do not
    reach it, bounds that see the outputs one by one follow (see `_by_output`).
    """
    columns = np.concatenate([basis.places, basis.opposites])
    signed = np.concatenate([np.maximum(basis.vectors, 0), np.maximum(-basis.vectors, 0)], axis=1)
    pairs = np.tile(np.eye(len(basis.places), dtype=np.int16), (1, 2))
    multisets = np.concatenate([signed, pairs])
    kinds = [table.kinds[c] for c in columns]
    lengths = multisets @ _whole([table.weights[c] for c in columns])
    bounds = _most(lengths, score)
    for first in (True, False):
        order = np.argsort(-bounds, kind="stable")
        for row in order[:FIRST_FEW].tolist() if first else order.tolist():
            if bounds[row] <= best:
                return best, counts, best
            if deadline is not None and now() > deadline:
                return best, counts, int(bounds[row])
            chosen = np.nonzero(multisets[row])[0].tolist()
            groups = [(kinds[c], int(multisets[row, c])) for c in chosen]
            try:
                value, choice = best_choice(groups, deadline=deadline)
            except TimeoutError:
                return best, counts, int(bounds[row])
            if value > best:
                best, counts = value, choice
        if first:
            left = np.nonzero(bounds > best)[0]
            multisets = multisets[left]
            bounds = np.minimum(bounds[left], _by_output(multisets, kinds, score))
    return best, counts, best


def _most(lengths: NDArray[np.int64], score: Score) -> NDArray[Any]:
    """What changes of these lengths do not exceed; integers of Python where they might be long."""
    if score.norm.degree == 1:
        return lengths
    return np.array([score.most(length) for length in lengths.tolist()], dtype=object)


def _whole(numbers: list[int]) -> NDArray[np.int64]:
    """The numbers as an array; OverflowError where sums of them might not fit 64 bits."""
    if max(map(abs, numbers), default=0) > LARGEST_CHANGE:
        raise OverflowError("changes beyond 2**40")
    return np.array(numbers, dtype=np.int64)


def _by_output(
    multisets: NDArray[np.int16], kinds: Sequence[Sequence[Kind]], score: Score
) -> NDArray[Any]:
    """A bound on each multiset's change: each output by itself as high, or as low, as it can get.

    Exact where each effect has one kind of move. Every norm of a change grows with the sizes of the
    outputs; in range, the highest output and the lowest are the farthest that outputs can get.
    """
    outputs = list(dict.fromkeys(o for group in kinds for kind in group for o in kind.change))
    highs, lows = [], []
    for output in outputs:
        changes = [[kind.change.get(output, 0) for kind in group] for group in kinds]
        highs.append(multisets @ _whole([max(group) for group in changes]))
        lows.append(multisets @ _whole([min(group) for group in changes]))
    if not outputs:
        return np.zeros(len(multisets), dtype=np.int64)
    high, low = np.stack(highs, axis=1), np.stack(lows, axis=1)
    if score.norm is RANGE:
        apart: NDArray[Any] = np.maximum(high.max(axis=1), 0) - np.minimum(low.min(axis=1), 0)
        return apart
    sizes: NDArray[Any] = np.maximum(high, -low)
    if score.norm is L1 and not score.weights:
        added: NDArray[Any] = sizes.sum(axis=1)
        return added
    if score.norm is L2_SQUARED:
        weights = [score.weights.get(output, 1) for output in outputs]
        if int(sizes.max(initial=0)) ** 2 * sum(weights) <= LARGEST_SUM:
            squared: NDArray[Any] = (sizes * sizes) @ np.array(weights, dtype=np.int64)
            return squared
    every = [score.size(dict(zip(outputs, row, strict=True))) for row in sizes.tolist()]
    return np.array(every, dtype=object)
