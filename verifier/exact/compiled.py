"""numba behind two typed names, so that the rest of the package type-checks strictly.

It is an extra (`blowproof[fast]`), for it weighs as much as a third of everything else. Without it
whoever has a slower way takes that (`AVAILABLE`), and each other call is a BudgetError: numpy's
own arithmetic would not do, since there the sum of two short integers is as short as they are.

Compiled code is kept on disk (numba's cache, next to the source or under the user's cache
directory); where neither can be written, functions are compiled anew in each process, which takes
some ten seconds.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from blowproof.models.base.errors import BudgetError
from blowproof.verifier.exact.available import AVAILABLE

__all__ = ["compiled", "popcount"]

F = TypeVar("F", bound=Callable[..., Any])


@cache
def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Changes whenever a file of the folder does, or this one.

    numba itself compares the file of a function only, and would go on using old machine code after
    a change in another file that the function calls into. Those lie in the same folder.
    """
    files = [Path(__file__), *sorted(folder.glob("*.py"))]
    return tuple((f.name, f.stat().st_mtime_ns, f.stat().st_size) for f in files)


def compiled(function: F) -> F:
    """The function, compiled at its first call and cached on disk if that is possible.

    It runs beside Python's other threads: that is how a search uses more than one core.
    """
    if not AVAILABLE:
        return cast(F, _missing)
    import numba

    _leave_streams_alone()
    try:
        cached: Any = numba.njit(cache=True, nogil=True)(function)
        file = cached._cache._cache_file
        file._source_stamp = (
            file._source_stamp,
            _stamp(Path(function.__code__.co_filename).parent),
        )
        file._load_index = _unless_older(file._load_index)
    except (
        RuntimeError,
        AttributeError,
    ):  # no directory to write to, or a numba with other internals
        return cast(F, numba.njit(nogil=True)(function))
    return cast(F, cached)


def _unless_older(load: Callable[[], dict[Any, Any]]) -> Callable[[], dict[Any, Any]]:
    """Read what is kept, or nothing where that is of an older version and cannot be read any more.

    The index names classes of this package; one that was renamed since is not found, and numba
    looks at the stamp only after that.
    """

    def loaded() -> dict[Any, Any]:
        try:
            return load()
        except (AttributeError, ImportError, pickle.UnpicklingError, EOFError):
            return {}

    return loaded


@cache
def _leave_streams_alone() -> None:
    """Let a compiler in the background leave `sys.stdout` and `sys.stderr` as they are.

    Where colorama is installed, numba wraps both whenever it words a place in the code, and puts
    them back after it: what somebody else redirected in between, in another thread, is undone, and
    their output goes elsewhere. On a terminal the words are coloured without that, too.
    """
    from numba.core import errors

    if hasattr(errors, "ColorShell"):
        errors.ColorShell = nullcontext


def _popcount(typing_context: Any, word: Any) -> Any:
    from numba import types

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.trunc(builder.ctpop(arguments[0]), context.get_value_type(types.int32))

    return types.int32(types.uint64), generate


def _missing(*arguments: object) -> Any:
    raise BudgetError(
        "this takes compiled loops, which are not installed\n  try: pip install 'blowproof[fast]'"
    )


def _counting() -> Callable[[Any], int]:
    if not AVAILABLE:
        return _missing
    from numba.extending import intrinsic

    return cast(Callable[[Any], int], intrinsic(_popcount))


popcount = _counting()
"""The number of ones in an unsigned 64-bit word; usable inside compiled functions only."""
