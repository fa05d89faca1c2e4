"""Data on standard input: kept in a file of their own while a command runs, as they are read twice.

A policy is read from standard input as it is (`models.base.door`): it is read once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = ["data_argument", "is_piped"]

MOST_PIPED = 16_000_000_000
"""Bytes that are kept, at the most: what is larger has a place of its own."""
CHUNK = 1 << 20
BEGINNINGS = {b"PAR1": ".parquet", b"\x1f\x8b": ".csv.gz"}
"""By their first bytes, what data are that nobody gave a name; all others are CSV."""

F = TypeVar("F", bound=Callable[..., object])


class _Data(click.Path):
    """The path of data; what comes in through standard input is kept in a file for it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path, or that of the file which holds what was piped."""
        from blowproof.models.base.door import is_standard_input

        path = str(super().convert(value, param, ctx))
        if ctx is None or ctx.resilient_parsing or not is_standard_input(path):
            return path
        if is_standard_input(ctx.params.get("policy") or ""):
            self.fail("standard input can be the policy or the data, not both", param, ctx)
        return str(_kept())


def data_argument(*, required: bool = True) -> Callable[[F], F]:
    """Data: a file, or `-` for standard input."""
    shown = "DATA" if required else "[DATA]"
    return click.argument("data", type=_Data(), metavar=shown, required=required)


def is_piped(path: str) -> bool:
    """Whether a path is that of the file which holds what was piped."""
    return path in _kept_at


_kept_at: list[str] = []


def _kept() -> Path:
    """Return a file with what is on standard input; it goes with the process."""
    import atexit
    import shutil
    import sys
    import tempfile

    from blowproof.models.base.door import FileError
    from blowproof.models.base.temporary import prefix

    if sys.stdin is None:
        raise FileError("-", "standard input is closed")
    folder = tempfile.mkdtemp(prefix=prefix())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    piped, place = sys.stdin.buffer, Path(folder) / "stdin"
    with place.open("wb") as file:
        while chunk := piped.read(CHUNK):
            if file.tell() + len(chunk) > MOST_PIPED:
                raise FileError("-", f"it goes on after {MOST_PIPED:,} bytes", "name a file")
            file.write(chunk)
    with place.open("rb") as file:
        first = file.read(4)
    ending = next((end for start, end in BEGINNINGS.items() if first.startswith(start)), ".csv")
    _kept_at.append(str(place.rename(place.with_suffix(ending))))
    return Path(_kept_at[-1])
