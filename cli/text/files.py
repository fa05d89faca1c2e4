"""Files that commands write: never over one that they read, and errors name the file."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import click

__all__ = ["keep_apart", "save"]


def keep_apart(outputs: Mapping[str, str | None], inputs: Iterable[str | None]) -> None:
    """Refuse, before any work, an output that is an input or another output, or has no folder.

    >>> keep_apart({"--output": "model.lp", "--map": None}, ["policy.toml"])
    >>> keep_apart({"--html": "./policy.toml"}, ["policy.toml"])
    Traceback (most recent call last):
        ...
    click.exceptions.UsageError: --html ./policy.toml would overwrite policy.toml, an input
    """
    taken = {_place(path): f"{path}, an input" for path in inputs if path is not None}
    for option, path in outputs.items():
        if path is None:
            continue
        if _place(path) in taken:
            raise click.UsageError(f"{option} {path} would overwrite {taken[_place(path)]}")
        folder = Path(_place(path)).parent
        if "\0" not in path and not folder.is_dir():
            raise click.UsageError(f"{option} {path}: there is no folder {folder}")
        taken[_place(path)] = f"what {option} writes"


def _place(path: str) -> str:
    with suppress(ValueError):  # a NUL in it: whoever opens it says so
        return os.path.realpath(path)  # unlike Path.resolve, it bears links in a circle
    return path


def save(path: str, text: str) -> None:
    """Write a text to a file, whole or not at all; an OSError says which file.

    What is there stays until all of the text is written beside it; a device is written to as it is.
    """
    target = Path(path)
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
            return
        target = Path(os.path.realpath(path))  # a link stays, and leads to the new text
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
        number, beside = tempfile.mkstemp(prefix=f".{target.name[:80]}.", dir=target.parent)
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(text)
            Path(beside).chmod(mode & 0o777)
            Path(beside).replace(target)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
