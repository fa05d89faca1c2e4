"""Where `init` finds its columns: a file, what is piped, a table of a database, or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from blowproof.cli.asking.piped import is_piped
from blowproof.models.base.masked import masked
from blowproof.models.data.table_at import TableAt, is_address
from blowproof.models.files.toml_text import inline

__all__ = ["Source", "source_of"]


@dataclass(frozen=True)
class Source:
    """The data, and how they are spoken of: in sentences, and as a policy names them."""

    data: str | TableAt | None
    shown: str | None
    stem: str

    @property
    def written(self) -> str:
        """The data as a policy names them, in TOML."""
        if isinstance(self.data, TableAt):
            return inline(self.data.spec())
        return inline("people.csv" if self.data is None or is_piped(self.data) else self.data)

    @property
    def path(self) -> str | None:
        """The file that other commands can be given; None where there is none that stays."""
        return self.data if isinstance(self.data, str) and not is_piped(self.data) else None


def source_of(data: str | None, table: str | None) -> Source:
    """Return what the words of a command line mean."""
    address = data is not None and is_address(data)
    if table is not None and not address:
        raise click.UsageError(
            "--table is for a database: give its address, as postgres://host/database or people.db"
        )
    if data is None:
        return Source(None, None, "policy")
    if address:
        if table is None:
            raise click.UsageError(f"{masked(data)} is a database: name the --table in it")
        at = TableAt(data, table)
        return Source(at, str(at), table.rpartition(".")[2])
    if is_piped(data):
        return Source(data, "standard input", "policy")
    return Source(data, data, Path(data).name.partition(".")[0] or "policy")
