"""numba behind two typed names, so that the rest of the package type-checks strictly.

Compiled code is kept on disk (numba's cache, next to the source or under the user's cache
directory); where neither can be written, functions are compiled anew in each process, which takes
some ten seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.extending import intrinsic

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
    """The function, compiled at its first call and cached on disk if that is possible."""
    try:
        cached: Any = numba.njit(cache=True)(function)
        file = cached._cache._cache_file
        file._source_stamp = (
            file._source_stamp,
            _stamp(Path(function.__code__.co_filename).parent),
        )
    except (
        RuntimeError,
        AttributeError,
    ):  # no directory to write to, or a numba with other internals
        return cast(F, numba.njit(function))
    return cast(F, cached)


def _popcount(typing_context: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.trunc(builder.ctpop(arguments[0]), context.get_value_type(types.int32))

    return types.int32(types.uint64), generate


popcount = cast(Callable[[Any], int], intrinsic(_popcount))
"""The number of ones in an unsigned 64-bit word; usable inside compiled functions only."""
