"""What runs tasks elsewhere, and how a task is run there."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from blowproof.verifier.engines.irreducibles.search_compiled import Tree
from blowproof.verifier.engines.irreducibles.tasks import Fragment, Task, fragment

__all__ = ["Part", "Workers", "work"]


class Part(NamedTuple):
    """What came of a task, and how long it took there (the seconds that the processor was busy)."""

    fragment: Fragment
    seconds: float


class Workers(Protocol):
    """Processes that run tasks. A task that is lost with its process comes back as None."""

    @property
    def many(self) -> int:
        """How many tasks they run at once."""

    def begin(self, tree: Tree) -> object:
        """Send a tree to them, and return what stands for it."""

    def submit(self, tree: object, number: int, task: Task, above: int, nodes: int) -> None:
        """Have `work` done on a task that goes by this number."""

    def back(self, tree: object, seconds: float) -> Iterable[tuple[int, Part | None]]:
        """Return the tasks of a tree that came back; wait so long for the first of them."""

    def end(self, tree: object) -> None:
        """Forget a tree, and what is still under way for it."""


def work(tree: Tree, task: Task, above: int, nodes: int) -> Part:
    """Run a task for so many nodes; only what weighs more than `above` is reported."""
    begun = time.thread_time()
    found = fragment(tree, task, above=above, nodes=nodes)
    return Part(found, time.thread_time() - begun)
