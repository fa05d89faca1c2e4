"""The compiled search as an engine: sets up its arrays, runs it in slices, lets arrays grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.engines.irreducibles.arrays import state as names
from blowproof.verifier.engines.irreducibles.arrays.advance import advance, enter
from blowproof.verifier.engines.irreducibles.arrays.state import Fixed, State
from blowproof.verifier.engines.irreducibles.arrays.subset_sums import rehash
from blowproof.verifier.engines.irreducibles.functionals import functionals
from blowproof.verifier.engines.irreducibles.symmetry import form_work, invariant_form
from blowproof.verifier.exact.coordinates import Instance
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["NumbaEngine", "Tree"]

A = TypeVar("A", bound=np.generic)

SECONDS_PER_SUM = real_limit(__name__, "SECONDS_PER_SUM")
ADDED = real_limit(__name__, "ADDED")
DOUBLED = real_limit(__name__, "DOUBLED")
MOST_SUMS = whole_limit(__name__, "MOST_SUMS")
MOST_DEPTH = whole_limit(__name__, "MOST_DEPTH")
MOST_TABLE_WORDS = whole_limit(__name__, "MOST_TABLE_WORDS")
MOST_KEY = whole_limit(__name__, "MOST_KEY")
MOST_WORK = whole_limit(__name__, "MOST_WORK")
MOST_FORM = whole_limit(__name__, "MOST_FORM")
MOST_TRACED = whole_limit(__name__, "MOST_TRACED")


@dataclass(frozen=True)
class Tree:
    """What is to be searched, for all engines that take part: plain numbers and arrays.

    `seconds`: what a node costs. `traced`: each node is written down.
    """

    problem: Fixed
    seconds: float
    largest: int | None = None
    eager: bool = True
    traced: bool = False

    @staticmethod
    def of(
        instance: Instance,
        permutations: NDArray[np.int32],
        *,
        largest: int | None = None,
        eager: bool = True,
        traced: bool = False,
        box: Sequence[int] | None = None,
        seconds: float | None = None,
    ) -> Tree:
        """Return the tree of all irreducibles; `permutations` are the symmetries that may be used.

        `box`: only sums of parts with |coordinate j| at most box[j] are kept; see
        `state.widest_box`. `seconds`: how long there is.
        """
        problem = _problem(instance, permutations, seconds)
        if box is not None:
            problem = _within(problem, box)
        each = SECONDS_PER_SUM * len(instance.effects) * instance.rank
        return Tree(problem, each, largest, eager, traced)


class NumbaEngine:
    """See `search.Engine`; `owed`: seconds for large sums, which no node says (`owing`)."""

    def __init__(self, tree: Tree) -> None:
        self.problem, self.seconds, self.owed = tree.problem, tree.seconds, 0.0
        self.state = _state(self.problem, tree.largest, tree.eager)
        if tree.traced:
            self.state = self.state._replace(trace=np.zeros((1 << 12, 4), dtype=np.int32))

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return int(self.state.control[names.NODES])

    def raise_threshold(self, weight: int) -> None:
        """Report only irreducibles that weigh more than this from now on."""
        self.state.control[names.BEST] = weight

    def advance(self, nodes: int) -> bool | None:
        """True when the search is finished, False when it is not, None when it cannot go on."""
        size = int(self.state.sizes[int(self.state.control[names.DEPTH])])
        nodes = min(nodes, max(1, MOST_WORK // (size + 1)))
        outcome = advance(self.problem, self.state, nodes)
        left = int(self.state.sizes[int(self.state.control[names.DEPTH])])
        self.owed += abs(left - size) * ADDED
        if outcome == names.CROWDED:
            return None if not self._grow() else False
        return bool(outcome == names.DONE)

    def owing(self) -> float:
        """Return the seconds of work besides that of nodes since the last call."""
        owed, self.owed = self.owed, 0.0
        return owed

    def enter(self, d: int) -> None:
        """Enter the node w + d, whatever is left to do above it."""
        while not enter(self.problem, self.state, d):
            if not self._grow():
                raise RuntimeError("a task has grown beyond what any task may")

    def take(self) -> Iterator[tuple[list[int], bool]]:
        """The irreducibles found since the last call, each with whether it still needs a check."""
        filled = int(self.state.control[names.FILLED])
        numbers = self.state.found[:filled].tolist()
        self.state.control[names.FILLED] = 0
        start = 0
        while start < filled:
            count = abs(numbers[start])
            yield numbers[start + 1 : start + 1 + count], numbers[start] < 0
            start += 1 + count

    def _grow(self) -> bool:
        state = self.state
        if 0 < len(state.trace) <= int(state.control[names.NODES]):
            if len(state.trace) >= MOST_TRACED:
                return False
            self.state = state._replace(trace=_doubled(state.trace))
        elif int(state.control[names.DEPTH]) + 2 >= len(state.chosen):
            if len(state.chosen) >= MOST_DEPTH:
                return False
            grown = {name: _doubled(getattr(state, name)) for name in _BY_DEPTH}
            self.state = state._replace(**grown, found=_doubled(state.found))
        elif len(state.sums) >= MOST_SUMS:
            state.control[names.FULL] = 1
        else:
            self.state = state._replace(
                sums=_doubled(state.sums), slots=_doubled(state.slots), table=_doubled(state.table)
            )
            rehash(self.state)
            self.owed += len(self.state.sums) * DOUBLED
        return True


_BY_DEPTH = ("available", "todo", "chosen", "weight", "sizes", "entered", "inexact")


def _doubled(array: NDArray[A]) -> NDArray[A]:
    return np.concatenate([array, np.zeros_like(array)])


def _problem(
    instance: Instance, permutations: NDArray[np.int32], seconds: float | None = None
) -> Fixed:
    vectors = np.ascontiguousarray(instance.vectors)
    values = functionals(instance, seconds)
    values = values[np.abs(values).max(axis=1) < 1 << 31]
    reach = _reach(instance.rank)
    if np.abs(vectors).max() > reach:
        reach = -1  # not even the effects pack injectively: the search goes on without Sigma
    side = [(2 * max(reach, 0) + 1) ** j for j in range(instance.rank)]
    return Fixed(
        vectors=vectors,
        keys=vectors @ np.array(side, dtype=np.int64),
        weights=np.array(instance.weights, dtype=np.int64),
        values=np.ascontiguousarray(values.T.astype(np.int32)),
        below=_bits(values < 0),
        above=_bits(values > 0),
        form=_form(instance),
        permutations=np.ascontiguousarray(permutations),
        reach=reach,
        edge=0,
        guard=0,
    )


def _within(problem: Fixed, box: Sequence[int]) -> Fixed:
    """The problem with sums in a box only, and keys with fields of equal width."""
    places = [names.KEY_BITS // len(box) * j for j in range(len(box))]
    guard = sum(1 << place + names.KEY_BITS // len(box) - 1 for place in places)
    return problem._replace(
        keys=problem.vectors @ np.array([1 << place for place in places], dtype=np.int64),
        reach=MOST_KEY,
        edge=guard + sum(b << place for b, place in zip(box, places, strict=True)),
        guard=guard,
    )


def _form(instance: Instance) -> NDArray[np.float64]:
    """The invariant form in floating point: it only orders the children of a node."""
    if form_work(instance) > MOST_FORM:
        vectors = instance.vectors.astype(np.float64)
        found: NDArray[np.float64] = vectors @ np.linalg.inv(vectors.T @ vectors) @ vectors.T
        return found
    form, denominator = invariant_form(instance)
    return np.array((form / denominator).astype(np.float64))


def _reach(rank: int) -> int:
    """The largest b up to 2^20 for which vectors with coordinates in [-b, b] pack into 62 bits."""
    reach = 0
    while reach < 1 << 20 and (2 * (2 * reach + 1) + 1) ** rank < MOST_KEY:
        reach = 2 * reach + 1
    while reach < 1 << 20 and (2 * (reach + 1) + 1) ** rank < MOST_KEY:
        reach += 1
    return reach


def _bits(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """For each row of flags one column of 64-bit words."""
    rows, count = flags.shape
    padded = np.zeros((rows, -(-count // 64) * 64), dtype=np.uint8)
    padded[:, :count] = flags
    words = np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)
    return np.ascontiguousarray(words.T)


def _state(problem: Fixed, largest: int | None, eager: bool) -> State:
    count, rank = problem.vectors.shape
    words = len(problem.below)
    depth = 128
    tables = _tables(count, words, len(problem.permutations))
    control = np.zeros(9, dtype=np.int64)
    control[names.BEST] = -1
    control[names.LARGEST] = largest if largest is not None else 1 << 40
    control[names.TABLES] = tables
    control[names.EAGER] = eager
    everything = _bits(np.ones((1, count), dtype=np.bool_))[:, 0]
    available = np.zeros((depth, words), dtype=np.uint64)
    available[0] = everything
    return State(
        control=control,
        available=available,
        todo=available.copy(),
        chosen=np.zeros(depth, dtype=np.int64),
        weight=np.zeros(depth, dtype=np.int64),
        sizes=np.zeros(depth, dtype=np.int64),
        entered=np.zeros(depth, dtype=np.int64),
        inexact=np.zeros(depth, dtype=np.uint8),
        times=np.zeros(count, dtype=np.int64),
        total=np.zeros(rank, dtype=np.int64),
        spread=np.zeros((2, rank), dtype=np.int64),
        products=np.zeros(problem.values.shape[1], dtype=np.int64),
        inner=np.zeros(count, dtype=np.float64),
        sums=np.zeros(1 << 12, dtype=np.int64),
        slots=np.zeros(1 << 12, dtype=np.int64),
        table=np.full(1 << 13, names.EMPTY, dtype=np.int64),
        pairs=np.zeros((count if tables >= 2 else 1, words), dtype=np.uint64),
        triples=np.zeros((*[count if tables >= 3 else 1] * 2, words), dtype=np.uint64),
        quadruples=np.zeros((*[count if tables >= 4 else 1] * 3, words), dtype=np.uint64),
        found=np.zeros(1 << 14, dtype=np.int64),
        fresh=np.zeros(words, dtype=np.uint64),
        scratch=np.zeros((2, names.BLOCK), dtype=np.int64),
        trace=np.zeros((0, 4), dtype=np.int32),
    )


def _tables(count: int, words: int, symmetries: int) -> int:
    """Up to which size covered multisets are kept; without symmetries they exclude nothing new."""
    if symmetries == 1:
        return 1
    return max(k for k in (1, 2, 3, 4) if k == 1 or count ** (k - 1) * words <= MOST_TABLE_WORDS)
