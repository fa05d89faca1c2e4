"""Which engine runs: plain Python for as long as it is quick, then compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import waiting
from blowproof.verifier.engines.irreducibles.functionals import small_functionals
from blowproof.verifier.engines.irreducibles.search import Engine, Stopwatch
from blowproof.verifier.engines.irreducibles.search_python import PlainEngine
from blowproof.verifier.engines.irreducibles.warming import Meanwhile, ready
from blowproof.verifier.exact.available import AVAILABLE
from blowproof.verifier.exact.coordinates import Instance
from blowproof.verifier.limits.limit import real_limit, whole_limit

if TYPE_CHECKING:  # compiled: imported when needed
    from blowproof.verifier.engines.irreducibles.search_compiled import NumbaEngine, Tree
    from blowproof.verifier.engines.irreducibles.tasks import Split

__all__ = ["Crew", "compile_all", "crew", "engines", "identity", "searched_by"]

PLAIN_NODES = whole_limit(__name__, "PLAIN_NODES")
PLAIN_EFFECTS = whole_limit(__name__, "PLAIN_EFFECTS")
NO_END = 1 << 62
HEAVY = whole_limit(__name__, "HEAVY")
LOADING = real_limit(__name__, "LOADING")


def engines(
    instance: Instance,
    permutations: NDArray[np.int32],
    *,
    largest: int | None = None,
    eager: bool,
    clock: Stopwatch | None = None,
) -> Iterator[tuple[Engine, int | None]]:
    """Engines to try in turn, each from the start, with the nodes after which to give up on it.

    The clock says how much time may go into preparing them.
    """

    def plain(rows: Sequence[Sequence[int]]) -> Engine:
        return PlainEngine(instance, rows, permutations.tolist(), largest=largest)

    few = len(instance.effects) <= PLAIN_EFFECTS
    rows = small_functionals(instance) if few else None
    if rows is not None:
        yield plain(rows), PLAIN_NODES
    if max(instance.weights, default=0) > HEAVY:
        sample = small_functionals(instance, sample=True) if rows is None else rows
        yield plain(sample or []), None
        return
    if not AVAILABLE:
        sample = small_functionals(instance, sample=True) if rows is None else rows
        yield plain(sample or []), None
        return
    if not ready(compile_all, wait=waiting(LOADING)):
        sample = small_functionals(instance, sample=True) if rows is None else rows
        yield Meanwhile(plain(sample or [])), NO_END
    from blowproof.verifier.engines.irreducibles.search_compiled import Tree

    left = None if clock is None or clock.limit is None else clock.limit - clock.seconds
    if left is not None and left <= 0:
        return
    tree = Tree.of(instance, permutations, largest=largest, eager=eager, seconds=left)
    yield crew(tree), None


def crew(tree: Tree, cores: int | None = None) -> Crew:
    """Return what searches a tree: so many cores of this machine, or what `searched_by` says."""
    from blowproof.verifier.engines.irreducibles.lanes import Lanes

    return _crews[-1](tree) if _crews and cores is None else Lanes(tree, cores)


def compile_all() -> None:
    """Compile everything, or load it if it was compiled before."""
    from blowproof.verifier.engines.irreducibles.arrays.hyperplanes import some_normals
    from blowproof.verifier.engines.irreducibles.search_compiled import Tree
    from blowproof.verifier.engines.irreducibles.tasks import fragment, whole

    instance = Instance.of([(1, 0), (-1, 0), (0, 1), (0, -1)])
    some_normals(instance.vectors, np.zeros((1, 2), dtype=np.int64))
    tree = Tree.of(instance, identity(instance), eager=False)
    first = fragment(tree, whole(tree), nodes=2)  # then what is left, for what begins in a task
    for task in first.rest:
        fragment(tree, task.task, nodes=1 << 20)


def identity(instance: Instance) -> NDArray[np.int32]:
    """The one symmetry that is always there."""
    return np.arange(len(instance.effects), dtype=np.int32)[None]


class Crew(Engine, Protocol):
    """A search in tasks: the engine that begins, and how it is put together."""

    split: Split

    @property
    def first(self) -> NumbaEngine:
        """The engine that begins."""


@contextmanager
def searched_by(crew: Callable[[Tree], Crew]) -> Iterator[None]:
    """Inside of this, compiled searches are run by what `crew` makes of them (`tasks`).

    By default those are the cores of this machine (`lanes.Lanes`).
    """
    _crews.append(crew)
    try:
        yield
    finally:
        _crews.remove(crew)


_crews: list[Callable[[Tree], Crew]] = []
