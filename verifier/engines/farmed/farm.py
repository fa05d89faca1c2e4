"""A search that hands its tasks to workers elsewhere: see `irreducibles.tasks` for why it is right.

It begins here, alone, so that short searches cost what they did. Then the tree is cut until there
are some tasks for each worker, and every task runs for some seconds at a time: what it has left
comes back as further tasks, with the heaviest weight known by then. A worker that dies takes with
it the one task that it was at, which is run again. The order in which tasks come back changes which
of several equally heavy irreducibles is met first, and nothing that a finished search has proved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from blowproof.verifier.engines.farmed.workers import Part, Workers
from blowproof.verifier.engines.irreducibles.search_compiled import NumbaEngine, Tree
from blowproof.verifier.engines.irreducibles.tasks import (
    Cut,
    Found,
    Fragment,
    Split,
    begin,
    finished,
    steal,
)
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Farm", "farmed_to"]

ALONE = real_limit(__name__, "ALONE")
EACH = real_limit(__name__, "EACH")
WAIT = real_limit(__name__, "WAIT")
FIRST_NODES = whole_limit(__name__, "FIRST_NODES")
FOR_EACH = whole_limit(__name__, "FOR_EACH")
LIVES = whole_limit(__name__, "LIVES")


def farmed_to(workers: Workers) -> Callable[[Tree], Farm]:
    """Return what `choice.searched_by` wants: a farm of these workers for each tree."""
    return lambda tree: Farm(tree, workers)


class Farm:
    """See `search.Engine`; `times`: how long each task took where it ran."""

    def __init__(self, tree: Tree, workers: Workers) -> None:
        self.tree, self.split, self.workers = tree, Split(tree), workers
        self.threshold = -1
        self.found: list[Found] = []
        self.times: list[float] = []
        self.lost: Counter[int] = Counter()
        self.under_way: set[int] = set()
        self.there: object = None
        waiting = self.split.next()
        assert waiting is not None
        _, self.task = waiting
        self.alone: NumbaEngine | None = begin(tree, self.task)
        self.each = FIRST_NODES

    @property
    def first(self) -> NumbaEngine:
        """The engine that begins."""
        assert self.alone is not None
        return self.alone

    @property
    def nodes(self) -> int:
        """Nodes visited so far, as far as is known here."""
        return self.split.nodes if self.alone is None else self.alone.nodes

    @property
    def seconds(self) -> float:
        """What a node costs, where so many work at once."""
        return self.tree.seconds / (1 if self.alone is not None else max(1, self.workers.many))

    def raise_threshold(self, weight: int) -> None:
        """Report only irreducibles that weigh more than this: tasks hear of it as they go out."""
        self.threshold = weight
        if self.alone is not None:
            self.alone.raise_threshold(weight)

    def advance(self, nodes: int) -> bool | None:
        """True when the search is finished, False when it is not, None when it cannot go on."""
        if self.alone is not None:
            return self._begin(self.alone, nodes)
        self._hand_out()
        if self.under_way:
            for number, part in self.workers.back(self.there, WAIT):
                self._back(number, part)
        if any(part.stuck for part in self.split.fragments.values()):
            self.workers.end(self.there)
            return None
        if self.split.done:
            self.workers.end(self.there)
        return self.split.complete

    def take(self) -> Iterator[Found]:
        """The irreducibles found since the last call, each with whether it still needs a check."""
        found, self.found = self.found, []
        return iter(found)

    def _begin(self, engine: NumbaEngine, nodes: int) -> bool | None:
        """Work here, and hand over what is left when that has taken some time."""
        outcome = engine.advance(nodes)
        self.found += engine.take()
        left: list[Cut] = []
        if outcome is False:
            if engine.nodes * self.tree.seconds < ALONE:
                return False
            entered = engine.nodes
            left = [Cut(entered, task) for task in steal(engine, all_of_it=True)]
        self.split.take(0, finished(engine, self.task, [], left, outcome))
        self.alone = None
        if outcome is False:
            self.there = self.workers.begin(self.tree)
        return outcome

    def _hand_out(self) -> None:
        """Keep every worker busy, and a task waiting for each."""
        most = FOR_EACH * max(1, self.workers.many)
        if len(self.split.waiting) + len(self.under_way) < most:
            self.found += self.split.cut(most - len(self.under_way), above=self.threshold)
        while len(self.under_way) < most and (waiting := self.split.next()) is not None:
            number, task = waiting
            self.under_way.add(number)
            self.workers.submit(self.there, number, task, self.threshold, self.each)

    def _back(self, number: int, part: Part | None) -> None:
        self.under_way.discard(number)
        if part is None:
            self.lost[number] += 1
            if self.lost[number] >= LIVES:
                self.split.take(number, Fragment(stuck=True))
            else:
                self.split.again(number)
            return
        self.found += part.fragment.found
        self.times.append(part.seconds)
        if part.fragment.nodes and part.seconds > 0:
            wanted = int(part.fragment.nodes * EACH / part.seconds)
            self.each = max(1, min(4 * self.each, wanted))
        self.split.take(number, part.fragment)
