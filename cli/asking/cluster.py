"""A Dask cluster: reached by its scheduler's address, for sweeps and for one hard question."""

from __future__ import annotations

import pickle
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from blowproof.models import BlowproofError
from blowproof.models.base.masked import without_secret

if TYPE_CHECKING:  # compiled: imported when a search is long enough
    from blowproof.verifier.engines.farmed.workers import Part
    from blowproof.verifier.engines.irreducibles.search_compiled import Tree
    from blowproof.verifier.engines.irreducibles.tasks import Task

__all__ = ["ClusterError", "DaskWorkers", "client_of", "searched_on"]

PATIENCE = 10
"""Seconds that a scheduler may take to answer."""
ASKED, BETWEEN = 20, 0.1
"""How often workers out of reach are asked for their version, and the seconds in between."""
LOOK = 5.0
"""Seconds between two looks at how many workers there are."""


class ClusterError(BlowproofError):
    """A cluster that is not there, or not of our kind."""


@contextmanager
def searched_on(scheduler: str | None) -> Iterator[None]:
    """Inside of this, long searches are run by the workers of a cluster (None: by this machine)."""
    if scheduler is None:
        yield
        return
    from blowproof.verifier.engines.farmed.farm import farmed_to
    from blowproof.verifier.engines.irreducibles.choice import searched_by

    client = client_of(scheduler)
    try:
        with searched_by(farmed_to(DaskWorkers(client))):
            yield
    finally:
        client.close()


def client_of(scheduler: str) -> Any:
    """Return a client of the cluster at an address; a clear error where there is none."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise ClusterError(
            "--scheduler needs Dask\n  try: pip install 'blowproof[cluster]'"
        ) from None
    client = None
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE)
        client.get_versions(check=True)
        _same_version(client)
    except (OSError, TimeoutError, ValueError, ClusterError) as error:
        if client is not None:
            client.close()
        reason = without_secret(scheduler, str(error).partition("\n")[0])
        raise ClusterError(
            f"no cluster of ours answers at {scheduler}: {reason}\n"
            "  try: the address that its scheduler printed, and the same versions on both sides"
        ) from None
    return client


def _same_version(client: Any) -> None:
    """Refuse workers that have another blowproof, or none: their answers would not be ours.

    Where some are out of reach, all that are still there are asked again: those may be leaving.
    """
    own = version("blowproof")
    told = client.run(_version_there, "blowproof", on_error="return")
    for _ in range(ASKED):
        if not any(isinstance(found, OSError) for found in told.values()):
            break
        time.sleep(BETWEEN)
        told = client.run(_version_there, "blowproof", on_error="return")
    for worker, found in told.items():
        if found != own:
            what = found if isinstance(found, str) else "none"
            raise ClusterError(f"the worker {worker} has blowproof {what}, and this is {own}")


def _version_there(name: str) -> str:
    return version(name)


class _Sent:
    """A tree at the cluster, and the tasks of it that are under way."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        self.under_way: dict[Any, int] = {}


class DaskWorkers:
    """The workers of a cluster: see `farmed.workers.Workers`.

    The tree is sent as bytes that the scheduler keeps, so that it can be made again wherever a
    worker that held it has died. Dask itself runs the tasks of a dead worker again elsewhere.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._many, self._looked = 1, float("-inf")

    @property
    def many(self) -> int:
        """How many tasks they run at once."""
        if time.monotonic() - self._looked > LOOK:
            with suppress(OSError, TimeoutError):  # the scheduler is busy: it was so many before
                self._many = max(1, sum(self.client.nthreads().values()))
            self._looked = time.monotonic()
        return self._many

    def begin(self, tree: Tree) -> _Sent:
        """Send a tree."""
        return _Sent(self.client.submit(_prepared, _packed(tree), pure=False))

    def submit(self, tree: Any, number: int, task: Task, above: int, nodes: int) -> None:
        """Have a task run."""
        future = self.client.submit(_worked, tree.tree, _packed(task), above, nodes, pure=False)
        tree.under_way[future] = number

    def back(self, tree: Any, seconds: float) -> Iterator[tuple[int, Part | None]]:
        """Yield the tasks that came back; None for one that was lost too often."""
        wait: Any = import_module("distributed").wait
        with suppress(TimeoutError):
            wait(list(tree.under_way), timeout=seconds, return_when="FIRST_COMPLETED")
        for future in [future for future in tree.under_way if future.done()]:
            number = tree.under_way.pop(future)
            yield number, (_unpacked(future.result()) if future.exception() is None else None)

    def end(self, tree: Any) -> None:
        """Forget a tree."""
        self.client.cancel(list(tree.under_way))
        tree.under_way.clear()


def _prepared(tree: bytes) -> Tree:
    """Return a tree where it is needed, with the code that searches it compiled."""
    from blowproof.verifier.engines.irreducibles.choice import compile_all

    compile_all()
    found: Tree = _unpacked(tree)
    return found


def _worked(tree: Tree, task: bytes, above: int, nodes: int) -> bytes:
    """Return what came of a task. Its tables are large, and nearly empty: they are sent packed."""
    from blowproof.verifier.engines.farmed.workers import work

    return _packed(work(tree, _unpacked(task), above, nodes))


def _packed(item: object) -> bytes:
    return zlib.compress(pickle.dumps(item), 1)


def _unpacked(sent: bytes) -> Any:
    return pickle.loads(zlib.decompress(sent))
