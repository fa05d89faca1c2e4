"""Data of a release that lie in a database: `people.db --table people`, as `blowproof init` has."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TypeVar

import click

__all__ = ["data_in", "table_option"]

F = TypeVar("F", bound=Callable[..., object])


def table_option(command: F) -> F:
    """Give a command --table; its `data` is a file then, wherever the records come from."""

    @click.option("--table", metavar="NAME",
                  help="The table, where DATA is the address of a database.")  # fmt: skip
    @functools.wraps(command)
    def gathered(*, data: str | None, table: str | None, **rest: object) -> object:
        found = data if data is None and table is None else data_in(data or "", table)
        return command(data=found, **rest)

    return gathered  # type: ignore[return-value] # click's decorators hide the type


def data_in(data: str, table: str | None) -> str:
    """Return the file that a release is made from: DATA, or the rows of a table of this moment.

    What is copied out of a database goes with the process.
    """
    from blowproof.models.base.masked import masked
    from blowproof.models.data.table_at import TableAt, is_address

    if not is_address(data):
        if table is not None:
            raise click.UsageError(
                "--table is for a database: give its address, as postgres://host/database or "
                "people.db"
            )
        return data
    if table is None:
        raise click.UsageError(f"{masked(data)} is a database: name the --table in it")
    import atexit
    import shutil
    import tempfile
    from pathlib import Path

    from blowproof.models.base.temporary import prefix
    from blowproof.models.data.snapshot import snapshot

    folder = tempfile.mkdtemp(prefix=prefix())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(snapshot(TableAt(data, table), Path(folder)))
