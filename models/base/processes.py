"""Processes: how they begin beside a script of the user, and how a pool of them ends."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from contextlib import suppress
from multiprocessing import context
from typing import TYPE_CHECKING, Any

from blowproof.models.base.door import DOCUMENT_BYTES, FileError, read_bytes

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

__all__ = ["begun_by", "end_at_once"]

_beginning = threading.Lock()


def begun_by(method: str) -> Any:
    """Return the context of a method (spawn, forkserver) that runs no script of the user again.

    A new process imports the main module of the old one. A script that keeps nothing behind
    `if __name__ == "__main__":` would ask everything once more there, and begin processes of its
    own; nothing of it is needed. One that looks at its name is imported, as Python does: it may
    make kinds of its own known, which workers have to know too.
    """
    found = multiprocessing.get_context(method)
    if not _runs_when_imported():
        return found
    apart: Any = type(found)()
    apart.Process = {"spawn": _Spawned, "forkserver": _Forked}[method]
    return apart


def _runs_when_imported() -> bool:
    """Whether the main module is a script that does not look at its name."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if file is None or getattr(main, "__spec__", None) is not None:
        return False
    try:
        return b"__name__" not in read_bytes(file, most=DOCUMENT_BYTES)
    except FileError:
        return False


def _begun(begin: Any, process: Any) -> Any:
    """Begin a process that is told of no main module."""
    told = vars(sys.modules["__main__"])
    with _beginning:
        file = told.pop("__file__", None)
        try:
            return begin(process)
        finally:
            if file is not None:
                told["__file__"] = file


class _Spawned(context.SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:  # noqa: N802 # a name of multiprocessing
        return _begun(context.SpawnProcess._Popen, process_obj)


if hasattr(context, "ForkServerProcess"):

    class _Forked(context.ForkServerProcess):
        @staticmethod
        def _Popen(process_obj: Any) -> Any:  # noqa: N802 # a name of multiprocessing
            return _begun(context.ForkServerProcess._Popen, process_obj)


def end_at_once(pool: ProcessPoolExecutor) -> None:
    """End a pool whose processes may be in the middle of hours of work: what counts is written."""
    processes = list((getattr(pool, "_processes", None) or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        with suppress(OSError, ValueError):
            process.terminate()
    for process in processes:
        with suppress(OSError, ValueError, AssertionError):
            process.join(timeout=5)
