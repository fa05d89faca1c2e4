"""Temporary files that say whose they are, so that those of killed processes can be removed.

A name holds the machine (its name and process namespace), the process, and when that began: process
numbers are used again, and a folder may be shared with another machine or container. What `sweep`
removes belongs to this user, was made by a process of this machine, and that process is gone. Where
nothing tells whether a process lives, nothing is removed.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import stat
import tempfile
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

__all__ = ["FILE", "FOLDER", "prefix", "sweep"]

FOLDER, FILE = "blowproof-", ".blowproof-"
"""How the names of temporary folders begin, and of files that wait beside an output."""
_PROC = Path("/proc")


def prefix(kind: str = FOLDER) -> str:
    """Return how the name of a temporary file of this process begins."""
    return f"{kind}{_machine()}-{os.getpid()}-{_began(os.getpid()) or 'unknown'}-"


@lru_cache(maxsize=256)
def sweep(folder: str | None = None, kind: str = FOLDER) -> int:
    """Remove what killed processes left in a folder (None: where temporary files are); how many.

    Once for each folder in a process. Links are neither followed nor removed.
    """
    if not hasattr(os, "getuid") or _began(os.getpid()) is None:
        return 0
    removed = 0
    name = re.compile(rf"{re.escape(kind)}{_machine()}-([0-9]{{1,9}})-([0-9a-f]{{16}})-\w+")
    with suppress(OSError), os.scandir(folder or tempfile.gettempdir()) as entries:
        for entry in entries:
            found = name.fullmatch(entry.name)
            if found and _began(int(found[1])) != found[2]:
                removed += _remove(entry)
    return removed


def _remove(entry: os.DirEntry[str]) -> bool:
    """Remove a file or a folder of this user."""
    with suppress(OSError):
        known = entry.stat(follow_symlinks=False)
        if known.st_uid == os.getuid() and stat.S_ISDIR(known.st_mode):
            shutil.rmtree(entry.path)
            return True
        if known.st_uid == os.getuid() and stat.S_ISREG(known.st_mode):
            Path(entry.path).unlink()
            return True
    return False


@lru_cache(maxsize=1)
def _machine() -> str:
    """Return a mark of this machine, and of the namespace in which its processes have numbers."""
    space = ""
    with suppress(OSError):
        space = str((_PROC / "self/ns/pid").readlink())
    return sha256(f"{socket.gethostname()}\0{space}".encode()).hexdigest()[:8]


def _began(process: int) -> str | None:
    """Return a mark of when a process began, since which boot; None if it is gone, or not known."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text()
        # The name, in brackets, may hold anything; 20 fields on stands when the process began.
        ticks = (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
    return sha256(f"{boot}\0{ticks}".encode()).hexdigest()[:16]
