"""A search cut into tasks that anybody may run, anywhere, and put together again.

**A task** is what is left below one node w of the tree of `search`: the way to w, what is available
on it, the branches of w that are left, and the multisets that count as covered. It is made of
numbers and arrays, and can be sent to another process or machine together with its `Tree`. A search
begins with one task (`whole`). Whoever runs a task may stop at any time, and hands back what was
found and what is left, as further tasks (`fragment`); or while it runs, another may take what is
left of its highest node (`steal`). Large tasks are thus cut for as long as somebody waits for work.

**Why nothing is lost.** All tasks together are one walk in a fixed order: a task cut off at w comes
after all that its giver still does below w, and before whatever the giver does later. An effect is
left out of a node where a covered multiset says so. In a task these are: those that the giver knew
when the task was cut off; those that the task itself has finished; and the child of w that the
giver was in, *marked in advance*: it is finished before the task in the order of the walk, though
perhaps not yet by the clock. So each use of a covered multiset points to an earlier place of one
walk, and the induction of `search` holds for it once all tasks are done. No task may use what
another has found out meanwhile: two might lean on each other. What may be told at any time is the
weight that counts, for this says only what is to be reported. A task that is lost is run again.

**Running tasks elsewhere** (other processes, a cluster)::

    tree = Tree.of(instance, permutations, traced=False)    # once, sent to everybody
    split = Split(tree)
    split.cut(64)                                           # at the start: so many tasks, or nearly
    while not split.done:
        number, task = split.next()                         # None: all are under way
        part = fragment(tree, task, above=best, nodes=10**6)    # <- there, not here
        for members, doubtful in part.found: ...            # each may raise `best` for all
        split.take(number, part)                            # tasks that it has left join the queue
    split.complete                                          # no irreducible weighs more than `best`
    split.rows()                                            # the walk in its order, if `traced`

`fragment` needs nothing but its arguments, so that `client.submit(fragment, tree, task, above=best,
nodes=...)` does it on Dask. Members that are `doubtful` may be reducible: `multiset.is_reducible`
decides. To take part in all that the plan does, make an engine of it as `lanes` does (a class with
what `search.Engine` has), and ask inside of `choice.searched_by` (what makes one of a `Tree`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.engines.irreducibles.arrays import state as names
from blowproof.verifier.engines.irreducibles.arrays.advance import promise
from blowproof.verifier.engines.irreducibles.search_compiled import NumbaEngine, Tree

__all__ = ["Cut", "Fragment", "Split", "Task", "begin", "fragment", "rows_of", "steal", "whole"]

Words = NDArray[np.uint64]
Found = tuple[list[int], bool]


class Task(NamedTuple):
    """What is left below a node: `path` leads there; `todo` are its branches that are left.

    `available`: for the root and each node of the path, what may still be added. `covered`: tables
    of covered multisets, None where there are none. `promised`: the child under way elsewhere (-1:
    none).
    """

    path: tuple[int, ...]
    available: Words
    todo: Words
    covered: tuple[Words | None, ...] = (None, None, None)
    promised: int = -1


class Cut(NamedTuple):
    """A task that was cut off when its giver had entered `after` nodes of its own."""

    after: int
    task: Task


@dataclass
class Fragment:
    """What came of a task: irreducibles that were heavy enough, and what is left, in order.

    `rows`: the nodes, as in `State.trace`, where the tree is traced. `short`: some sums of parts
    were left out. `stuck`: it grew beyond what an engine can hold.
    """

    found: list[Found] = field(default_factory=list)
    rest: list[Cut] = field(default_factory=list)
    rows: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int32))
    nodes: int = 0
    short: bool = False
    stuck: bool = False


def whole(tree: Tree) -> Task:
    """Return the task that is the search."""
    everything = NumbaEngine(tree).state.available[:1].copy()
    return Task((), everything, everything[0])


def begin(tree: Tree, task: Task) -> NumbaEngine:
    """Return an engine that stands at the task's node, and has nothing to do but the task."""
    engine = NumbaEngine(tree)
    tables = (engine.state.pairs, engine.state.triples, engine.state.quadruples)
    for table, known in zip(tables, task.covered, strict=True):
        if known is not None:
            table[:] = known
    for depth, d in enumerate(task.path):
        engine.state.available[depth] = task.available[depth]
        engine.enter(d)
        engine.state.todo[depth] = 0
    state, last = engine.state, len(task.path)
    state.control[names.FILLED] = 0  # what closes on the way there was met by the giver
    state.available[last], state.todo[last] = task.available[last], task.todo
    if task.promised >= 0:
        promise(engine.problem, state, task.promised)
    return engine


def steal(engine: NumbaEngine, *, all_of_it: bool = False) -> list[Task]:
    """Take what is left of the highest node that has branches left, below which the engine works.

    `all_of_it`: of every node, the deepest first; the engine then has nothing more to do.
    """
    state, covered = engine.state, None
    deepest = int(state.control[names.DEPTH])
    levels = range(deepest, -1, -1) if all_of_it else range(deepest)
    found = []
    for depth in levels:
        if not state.todo[depth].any():
            continue
        covered = covered or _covered(engine)
        path = tuple(state.chosen[1 : depth + 1].tolist())
        under_way = int(state.chosen[depth + 1]) if depth < deepest else -1
        left, todo = state.available[: depth + 1].copy(), state.todo[depth].copy()
        found.append(Task(path, left, todo, covered, under_way))
        state.todo[depth] = 0
        if len(state.trace) and under_way >= 0 and depth < 4:
            state.trace[state.entered[depth + 1] - 1, 2] |= names.MARKED
        if not all_of_it:
            break
    return found


def _covered(engine: NumbaEngine) -> tuple[Words | None, ...]:
    tables = (engine.state.pairs, engine.state.triples, engine.state.quadruples)
    return tuple(table.copy() if table.any() else None for table in tables)


def fragment(tree: Tree, task: Task, *, above: int = -1, nodes: int) -> Fragment:
    """Work on a task for so many nodes, and return what came of it.

    `above`: only what weighs more is reported (`Instance.weights` summed).
    """
    engine = begin(tree, task)
    engine.raise_threshold(above)
    found: list[Found] = []
    first = engine.nodes
    outcome: bool | None = False
    while outcome is False and engine.nodes - first < nodes:
        outcome = engine.advance(nodes - (engine.nodes - first))
        found += engine.take()
    left = steal(engine, all_of_it=True) if outcome is False else []
    entered = engine.nodes - first
    return finished(engine, task, found, [Cut(entered, more) for more in left], outcome)


def finished(
    engine: NumbaEngine, task: Task, found: list[Found], rest: list[Cut], outcome: bool | None
) -> Fragment:
    """Return what an engine has done of a task since it began."""
    own = len(task.path)
    return Fragment(
        found=found,
        rest=rest,
        rows=rows_of(engine)[own:],
        nodes=engine.nodes - own,
        short=bool(engine.state.control[names.SHORT]),
        stuck=outcome is None,
    )


def rows_of(engine: NumbaEngine) -> NDArray[np.int32]:
    """Return the nodes that an engine has entered, if they are written down."""
    return engine.state.trace[: engine.nodes].copy()


class Split:
    """The tasks of one search: which wait, which are under way, and what came of the others."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.tasks: dict[int, Task] = {}
        self.waiting: deque[int] = deque()
        self.fragments: dict[int, Fragment] = {}
        self.rest: dict[int, list[tuple[int, int, int]]] = {}
        """For each task what was cut off it: after so many nodes, at which depth, its number."""
        self.add(whole(tree))

    def add(self, task: Task, giver: int = -1, after: int = 0, *, waits: bool = True) -> int:
        """Take in a task that was cut off another one; return its number."""
        number = len(self.rest)
        self.tasks[number], self.rest[number] = task, []
        if giver >= 0:
            self.rest[giver].append((after, len(task.path), number))
        if waits:
            self.waiting.append(number)
        return number

    def next(self) -> tuple[int, Task] | None:
        """Return a task that waits, and its number; None if none does."""
        if not self.waiting:
            return None
        number = self.waiting.popleft()
        return number, self.tasks[number]

    def again(self, number: int) -> None:
        """Put back a task that was lost where it ran."""
        self.waiting.append(number)

    def take(self, number: int, part: Fragment) -> None:
        """Take in what came of a task; what it has left waits from now on."""
        self.fragments[number] = part
        del self.tasks[number]
        for cut in part.rest:
            self.add(cut.task, number, cut.after)
        part.rest = []

    def cut(self, many: int, *, above: int = -1) -> list[Found]:
        """Enter nodes one by one, the highest first, until so many tasks wait, or none.

        Return what was found on the way.
        """
        found: list[Found] = []
        while 0 < len(self.waiting) < many:
            number = min(self.waiting, key=lambda n: len(self.tasks[n].path))
            self.waiting.remove(number)
            part = fragment(self.tree, self.tasks[number], above=above, nodes=1)
            found += part.found
            self.take(number, part)
        return found

    @property
    def done(self) -> bool:
        """Whether there is nothing left to run, and nothing under way."""
        return not self.tasks

    @property
    def complete(self) -> bool:
        """Whether every task was done to its end."""
        return self.done and not any(part.stuck for part in self.fragments.values())

    @property
    def nodes(self) -> int:
        """The nodes entered by tasks that came back."""
        return sum(part.nodes for part in self.fragments.values())

    @property
    def short(self) -> bool:
        """Whether `rows` may hold branches that a walk by one engine would not have taken."""
        return len(self.fragments) > 1 or any(part.short for part in self.fragments.values())

    def rows(self) -> NDArray[np.int32]:
        """Return the nodes of all tasks in the order of the one walk.

        What was cut off at a node of depth k comes before its giver's next node of depth k or less.
        """
        pieces = list(self._pieces())
        return np.concatenate(pieces) if pieces else np.zeros((0, 4), dtype=np.int32)

    def _pieces(self) -> Iterator[NDArray[np.int32]]:
        stack: list[tuple[int, int, list[tuple[int, int]]]] = [(0, 0, self._places(0))]
        while stack:
            number, start, places = stack.pop()
            rows = self.fragments[number].rows
            if not places:
                yield rows[start:]
                continue
            (place, child), *others = places
            yield rows[start:place]
            stack += [(number, place, others), (child, 0, self._places(child))]

    def _places(self, number: int) -> list[tuple[int, int]]:
        """Return where in a task's own rows the tasks belong that were cut off it, in order."""
        depths = self.fragments[number].rows[:, 3]
        found = []
        for after, depth, child in self.rest[number]:
            higher = np.flatnonzero(depths[after:] <= depth)
            place = after + int(higher[0]) if len(higher) else len(depths)
            found.append((place, -depth, child))
        return [(place, child) for place, _, child in sorted(found)]
