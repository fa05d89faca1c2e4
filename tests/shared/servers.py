"""Servers of others for tests: a PostgreSQL of our own, in a temporary folder, on a local socket.

Where Debian's package `postgresql` is missing its tests are skipped, unless the environment says
BLOWPROOF_POSTGRES=required, as `.ci/run` does once it has installed it. Spark is an extra, with
Debian's `default-jre-headless`; its tests run where both are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

PROGRAMS = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))[-1:]
"""Debian keeps them off the path."""

needs_postgres = pytest.mark.skipif(
    not PROGRAMS and os.environ.get("BLOWPROOF_POSTGRES") != "required",
    reason="PostgreSQL is not installed (package postgresql)",
)
needs_spark = pytest.mark.skipif(
    find_spec("pyspark") is None or shutil.which("java") is None,
    reason="Spark is not installed (extra [spark], package default-jre-headless)",
)


class Postgres:
    """A server in a folder, which nobody reaches but through the socket there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = f"postgres://office@/postgres?host={folder}"

    def run(self, program: str, *words: str | Path) -> None:
        """Run one of its programs, not as root: it refuses to be."""
        found = PROGRAMS[0].with_name(program)
        user = "postgres" if os.getuid() == 0 else None
        with (self.folder / "said").open("ab") as said:
            subprocess.run(
                [found, *words], check=True, cwd=self.folder, user=user, stdout=said, stderr=said
            )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-k {self.folder} -c listen_addresses= -c fsync=off"
        self.run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o", options, "start")

    def stop(self) -> None:
        """Stop it at once, as if the machine had lost its power."""
        self.run("pg_ctl", "-D", "data", "-m", "immediate", "stop")

    def execute(self, *statements: str) -> None:
        """Carry out SQL."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)  # type: ignore[call-overload] # no literal


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Yield a server, and remove it afterwards. Names of sockets are short, hence /tmp."""
    folder = Path(tempfile.mkdtemp(prefix="blowproof-pg-", dir="/tmp"))
    try:
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        server = Postgres(folder)
        server.run("initdb", "-D", "data", "-A", "trust", "--no-sync", "-U", "office")
        server.start()
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):  # a test may have stopped it
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
