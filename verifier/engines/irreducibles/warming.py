"""Compiled code made ready in the background, so that no time limit waits for a compiler.

The first time after an installation, compiling takes some ten seconds; later it is loaded from disk
in a fraction of one. Until it is ready, the plain engine searches, and the clock goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

from blowproof.verifier.engines.irreducibles.search import Engine
from blowproof.verifier.limits.limit import real_limit

__all__ = ["Meanwhile", "ready"]

PATIENCE = real_limit(__name__, "PATIENCE")

_first = threading.Lock()  # taken for good by whoever begins to compile
_done = threading.Event()


def ready(compile_all: Callable[[], None], *, wait: float | None = 0.0) -> bool:
    """Begin to compile unless that was begun before, and return whether it is done.

    `wait`: real seconds to wait for it (None: as long as it takes).
    """
    if _first.acquire(blocking=False):
        work = threading.Thread(
            target=_work, args=(compile_all,), name="blowproof-compiler", daemon=True
        )
        work.start()
    return _done.wait(wait)


def _work(compile_all: Callable[[], None]) -> None:
    """Compile; what fails here fails again, and is seen, where the code is used."""
    with suppress(Exception):
        compile_all()
    _done.set()


class Meanwhile:
    """Another engine until the compiled code is ready."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.stuck = False

    @property
    def seconds(self) -> float:
        """What a node costs."""
        return self.engine.seconds

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""
        return self.engine.nodes

    def raise_threshold(self, weight: int) -> None:
        """Report only irreducibles that weigh more than this from now on."""
        self.engine.raise_threshold(weight)

    def advance(self, nodes: int) -> bool | None:
        """True when the search is finished, None when the compiled engine takes over."""
        if _done.is_set():
            return None
        outcome = None if self.stuck else self.engine.advance(nodes)
        self.stuck = outcome is None
        return False if self.stuck and not _done.wait(PATIENCE) else outcome

    def take(self) -> Iterator[tuple[list[int], bool]]:
        """The irreducibles found since the last call."""
        yield from self.engine.take()
