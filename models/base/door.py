"""The one door for files that a user names: regular files up to a size, or standard input.

A device, a pipe, a socket or a folder is refused before a byte is read, and opening one never
waits. What is read is bounded while it is read: a file that grows, or one whose size the system
does not tell (below /proc), ends at the limit too. `tests/models/base/test_door.py` sees to it that
no other place in the program opens what a user names.
"""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from blowproof.models.base.errors import DataError, PolicyError, nearest

__all__ = [
    "DATA_BYTES",
    "DOCUMENT_BYTES",
    "NUMBERS_BYTES",
    "FileError",
    "is_standard_input",
    "keep_within",
    "open_file",
    "read_bytes",
    "read_document",
    "stem",
]

DOCUMENT_BYTES = 16_000_000
"""Policies, mechanisms and plans: a few seconds of parsing."""
NUMBERS_BYTES = 64_000_000
"""Matrices, weights and centroids, whose numbers Python holds one by one."""
DATA_BYTES = 64_000_000_000
"""Tables that the database engine reads: it may write as much to the disk while it counts."""


@dataclass
class _Kept:
    folder: Path | None = None


_KEPT = _Kept()
STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_CHUNK = 1 << 20
_KINDS = (
    (stat.S_ISDIR, "a folder, not a file", "name a file in it"),
    (stat.S_ISFIFO, "a pipe, which may never end", "write /dev/stdin and pipe into the command"),
    (stat.S_ISCHR, "a device, not a file", "copy what is needed of it into a file"),
    (stat.S_ISBLK, "a device, not a file", "copy what is needed of it into a file"),
    (stat.S_ISSOCK, "a socket, not a file", "write what it sends into a file"),
)


class FileError(DataError):
    """A file that cannot be read: its path, the reason, and what to try."""

    def __init__(self, path: str | Path, reason: str, hint: str | None = None) -> None:
        text = f"{path}: cannot be read: {reason}"
        super().__init__(f"{text}\n  try: {hint}" if hint else text)
        self.path, self.reason, self.hint = path, reason, hint


def is_standard_input(path: str | Path) -> bool:
    """Whether a path means what is piped into the command.

    >>> is_standard_input("-"), is_standard_input("./-")
    (True, False)
    """
    return str(path) in STANDARD_INPUT


def keep_within(folder: Path | None) -> None:
    """From now on this process opens no file outside a folder (None: any), links followed.

    For whoever reads policies of others: the workbench's workers.
    """
    _KEPT.folder = None if folder is None else folder.resolve()


def stem(path: str | Path) -> str:
    """Return the name that a file gives to what stands in it, where it has none of its own.

    >>> stem("rules/census.toml"), stem("-")
    ('census', 'stdin')
    """
    return "stdin" if is_standard_input(path) else Path(path).stem


def open_file(path: str | Path, *, most: int = DATA_BYTES) -> BinaryIO:
    """Return an open regular file of at most so many bytes (None of them read), or a FileError.

    The kind is asked before opening, since some devices act when they are opened, and again after,
    about the file that was really opened. O_NONBLOCK keeps what took its place from waiting.
    """
    if _KEPT.folder is not None and not _lies_in(path, _KEPT.folder):
        raise FileError(path, "it lies outside the folder at hand", "copy it there, and name it so")
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        _refuse_odd(path, Path(path).stat(), most)
        descriptor = os.open(path, flags)
        try:
            _refuse_odd(path, os.fstat(descriptor), most)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except FileNotFoundError:
        raise FileError(path, "no such file", "check the path and its folder") from None
    except OSError as error:
        raise FileError(path, _lowered(error)) from None
    except ValueError:  # a NUL, or half a character
        raise FileError(repr(str(path)), "this is no file name") from None


def _lies_in(path: str | Path, folder: Path) -> bool:
    try:
        return Path(path).resolve().is_relative_to(folder)
    except (OSError, ValueError, RuntimeError):  # a NUL in it, or links in a circle
        return False


def _refuse_odd(path: str | Path, found: os.stat_result, most: int) -> None:
    for is_kind, what, hint in _KINDS:
        if is_kind(found.st_mode):
            raise FileError(path, f"this is {what}", hint)
    if not stat.S_ISREG(found.st_mode):
        raise FileError(path, "this is not a regular file")
    if found.st_size > most:
        raise _too_large(path, most, f"it has {found.st_size:,} bytes")


def _too_large(path: str | Path, most: int, found: str) -> FileError:
    hints = {
        DOCUMENT_BYTES: "put long lists of answers into an answers_file",
        NUMBERS_BYTES: "fewer rows, or a query that needs no file",
        DATA_BYTES: "count it where it lies, and write the answers into the policy",
    }
    reason = f"{found}, and files of this kind are read up to {most:,}, to keep within memory"
    return FileError(path, reason, hints.get(most))


def _lowered(error: OSError) -> str:
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]


def read_bytes(path: str | Path, *, most: int) -> bytes:
    """Return what is in a file, or on standard input; above `most` bytes it is refused."""
    if is_standard_input(path) and _KEPT.folder is None:
        if sys.stdin is None:
            raise FileError(path, "standard input is closed")
        return _all(path, sys.stdin.buffer, most)
    with open_file(path, most=most) as file:
        return _all(path, file, most)


def _all(path: str | Path, file: BinaryIO, most: int) -> bytes:
    """Read to the end, or to one byte past the limit."""
    content = bytearray()
    try:
        while chunk := file.read(min(_CHUNK, most + 1 - len(content))):
            content += chunk
            if len(content) > most:
                raise _too_large(path, most, f"it goes on after {most:,} bytes")
    except OSError as error:
        raise FileError(path, _lowered(error)) from None
    return bytes(content)


def read_document(path: str | Path) -> str:
    """Return the text of a policy, mechanism or plan; what is wrong with it is a PolicyError."""
    try:
        content = read_bytes(path, most=DOCUMENT_BYTES)
    except FileError as error:
        if isinstance(error.__context__, FileNotFoundError):
            hint = _nearby(Path(path)) or error.hint
            raise PolicyError("there is no such file", file=str(path), hint=hint) from None
        reason = f"the file cannot be read: {error.reason}"
        raise PolicyError(reason, file=str(error.path), hint=error.hint) from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PolicyError(
            f"the byte 0x{content[error.start]:02x} is not UTF-8",
            file=str(path),
            line=content.count(b"\n", 0, error.start) + 1,
            hint="save the file as UTF-8",
        ) from None


def _nearby(path: Path) -> str | None:
    """The file of this kind whose name is nearest, or those that there are."""
    try:
        names = sorted(item.name for item in path.parent.glob(f"*{path.suffix or '.toml'}"))
    except OSError:
        return None
    return nearest(path.name, names, what="file")
