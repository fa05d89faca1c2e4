"""How much memory a command may take: looked at while it works, so that it ends in bounds.

The process is looked at ten times a second (`watching` does), by what the system counts as its
resident memory: a search can overshoot by what it takes in a tenth of a second, some hundred
megabytes at the most. One allocation beyond all bounds is refused by the system instead
(`RLIMIT_DATA`, above the limit by a quarter and ROOM), which Python turns into a MemoryError.
"""

from __future__ import annotations

import os
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "WORDS",
    "allow",
    "available",
    "default_limit",
    "hold_firmly",
    "limit",
    "over",
    "read_size",
    "spelled",
    "used",
]

MOST = 8 * 10**9
LEAST = 10**8
ROOM = 2 * 10**9
"""Address space that is no memory: the stacks of threads, pages that libraries keep in reserve."""

PAUSE = 0.05
"""Seconds between two looks: a small question is over before."""

WORDS = "stopped at the memory limit"

_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZE = re.compile(rf"(\d{{1,9}})(?:\.(\d{{1,3}}))?\s*({'|'.join(_UNITS)})")


@dataclass
class _Limit:
    most: int | None = None
    firm: bool = False
    looked: float = 0.0


_LIMIT = _Limit()


def read_size(text: str) -> int | None:
    """Return a size in bytes, or None for what is none.

    >>> read_size("8GB"), read_size("1.5 GiB"), read_size("8")
    (8000000000, 1610612736, None)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        return None
    whole, part, unit = match.groups()
    thousandths = int(whole + (part or "").ljust(3, "0"))
    return thousandths * _UNITS[unit] // 1000


def spelled(size: int) -> str:
    """Return a size as people write it.

    >>> spelled(8 * 10**9), spelled(1_500_000_000)
    ('8 GB', '1.5 GB')
    """
    return f"{size / 10**9:.3g} GB" if size >= 10**9 else f"{size // 10**6} MB"


def available() -> int | None:
    """Return the memory of the machine, or of the container where that is less; None: unknown."""
    sizes = []
    with suppress(OSError, ValueError, AttributeError):
        sizes.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):
            sizes.append(int(Path("/sys/fs/cgroup", name).read_text(encoding="ascii")))
    return min((size for size in sizes if size > 0), default=None)


def default_limit() -> int:
    """Return 8 GB, or three quarters of the machine where that is less."""
    machine = available()
    return MOST if machine is None else max(LEAST, min(MOST, machine * 3 // 4))


def hold_firmly() -> None:
    """From now on the system keeps the limit too: for a process that runs nothing but a command."""
    _LIMIT.firm = True


def allow(limit: int) -> None:
    """Set the limit of this process; each command sets its own."""
    from blowproof.models.data.tabular import allow_memory

    _LIMIT.most, _LIMIT.looked = limit, 0.0
    allow_memory(limit // 4)
    if not _LIMIT.firm:
        return
    with suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = limit + limit // 4 + ROOM
        ends = [wanted, *(end for end in (soft, hard) if end != resource.RLIM_INFINITY)]
        resource.setrlimit(resource.RLIMIT_DATA, (min(ends), hard))


def limit() -> int | None:
    """Return the limit of this process; None where none was set."""
    return _LIMIT.most


def over() -> str:
    """Return why the work has to stop: that too much memory is in use; or "".

    Asked more often than there is something to see, it does not look again.
    """
    now = time.monotonic()
    if _LIMIT.most is None or now - _LIMIT.looked < PAUSE:
        return ""
    _LIMIT.looked = now
    if used() <= _LIMIT.most:
        return ""
    return f"{WORDS} of {spelled(_LIMIT.most)}"


def used() -> int:
    """Return the resident memory of this process; where only its peak is known, that."""
    try:
        with Path("/proc/self/statm").open("rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return _peak()


def _peak() -> int:
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
