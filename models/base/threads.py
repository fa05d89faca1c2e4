"""One thread for small matrices: several wait for each other longer than they work.

The linear algebra of numpy and scipy starts as many threads as there are processors, and each spins
until the others are there. For matrices of some hundred rows, on a machine that does other work,
that takes up to a hundred times the processor time of one thread. The command line says so to all
of its process before numpy is loaded; a program that imports the package may have loaded numpy long
before, and wants its own matrices worked on as ever. So the number of threads is lowered while work
of ours is done, and then set back.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["one_thread"]

NAMES = ("scipy_openblas_{}_num_threads64_", "scipy_openblas_{}_num_threads",
         "openblas_{}_num_threads64_", "openblas_{}_num_threads")  # fmt: skip
"""How the functions that get and set the number of threads are called in builds of OpenBLAS."""
PACKAGES = ("numpy", "scipy")

Library = tuple[Callable[[], int], Callable[[int], object]]
_LOCK = threading.Lock()
_HELD: list[tuple[Library, int]] = []
_INSIDE: list[None] = []
"""One for each block that is being carried out."""


def _loaded() -> Iterator[Library]:
    """Yield how to get and to set the threads of each library that wheels brought and loaded."""
    for package in PACKAGES:
        home = getattr(sys.modules.get(package), "__file__", None)
        if home is None:
            continue
        root = Path(home).parent
        for folder in (root.parent / f"{package}.libs", root / ".dylibs"):
            for file in sorted(folder.glob("*openblas*")):
                try:
                    library = ctypes.CDLL(str(file), mode=getattr(os, "RTLD_NOLOAD", 0))
                except OSError:
                    continue  # there, but not loaded
                yield from _functions(library)


def _functions(library: ctypes.CDLL) -> Iterator[Library]:
    for name in NAMES:
        get = getattr(library, name.format("get"), None)
        set_ = getattr(library, name.format("set"), None)
        if get is not None and set_ is not None:
            yield get, set_
            return


@contextmanager
def one_thread() -> Iterator[None]:
    """Let one thread work on arrays inside; afterwards as many as before. Other libraries: nothing.

    All threads of the process share the number: the last one that leaves sets it back.

    >>> import numpy as np
    >>> with one_thread():
    ...     float(np.linalg.eigvalsh(np.eye(3)).sum())
    3.0
    """
    with _LOCK:
        if not _INSIDE:
            _HELD[:] = [(library, library[0]()) for library in _loaded()]
            for (_, set_), _ in _HELD:
                set_(1)
        _INSIDE.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE.pop()
            if not _INSIDE:
                for (_, set_), many in _HELD:
                    set_(many)
                _HELD.clear()
