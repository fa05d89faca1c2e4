"""The same counts of the same rows wherever they lie: files, DuckDB, SQLite, PostgreSQL, Spark.

    python benchmarks/data_backends.py [--rows 1000000] [--only duckdb] [--memory 2000000000]

20 region counts, a marginal of 100 cells and n, every value checked, as the facts of a policy are.
Every backend is a process of its own, whose largest memory is told (a server's is not in it). A
PostgreSQL of Debian's package is made in a temporary folder; Spark runs where it is installed.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import duckdb

from blowproof.models.data.counted import Counted
from blowproof.models.data.opening import open_data
from blowproof.models.data.table_at import TableAt
from blowproof.models.data.tabular import allow_memory
from blowproof.models.domain.attributes import Integers, Labels, Steps
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Between, Region

WARDS = [f"ward {place}" for place in range(50)]
DOMAIN = Domain(
    sex=Labels(["F", "M"]),
    ward=Labels(WARDS),
    age=Integers(0, 115),
    temp=Steps(35, 42, "1/2"),
)
REGIONS = [
    Region(sex="F", ward=[WARDS[place], "ward 7"], age=Between(3 * place, 3 * place + 40))
    for place in range(20)
]
RECORDS = """
    SELECT CASE WHEN hash(i) % 2 = 0 THEN 'F' ELSE 'M' END AS sex,
           'ward ' || (hash(i + 1000000007) % 50) AS ward,
           CAST(hash(i + 2000000011) % 116 AS INTEGER) AS age,
           CAST(35 + CAST(hash(i + 3000000019) % 15 AS INTEGER) * 0.5 AS DECIMAL(4, 1)) AS temp
    FROM range({rows}) AS t(i)
"""
KINDS = ("parquet", "duckdb", "sqlite", "postgres", "spark")


def made(kind: str, rows: int, folder: Path, stack: ExitStack) -> str | TableAt:
    """Put the rows where a kind of database has them, and return where that is."""
    records = RECORDS.format(rows=rows)
    if kind in ("parquet", "spark"):
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({records}) TO '{folder / 'people.parquet'}'")
        at = TableAt("spark://local?spark.driver.memory=2g", f"parquet.{folder}/people.parquet")
        return "people.parquet" if kind == "parquet" else at
    if kind == "duckdb":
        with duckdb.connect(str(folder / "people.duckdb")) as connection:
            connection.execute(f"CREATE TABLE people AS {records}")
        return TableAt("people.duckdb", "people")
    file = folder / "people.csv"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({records}) TO '{file}' (HEADER false)")
    columns = "sex VARCHAR(1), ward VARCHAR(9), age INTEGER, temp DECIMAL(4, 1)"
    if kind == "sqlite":
        import csv
        import sqlite3

        with sqlite3.connect(folder / "people.db") as people, file.open(newline="") as lines:
            people.execute(f"CREATE TABLE people ({columns})")
            people.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", csv.reader(lines))
        people.close()
        return TableAt("sqlite://people.db", "people")
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "shared"))
    import psycopg

    from servers import postgres

    server = stack.enter_context(postgres())
    with psycopg.connect(server.url, autocommit=True) as connection, file.open("rb") as lines:
        connection.execute(f"CREATE TABLE people ({columns})")
        with connection.cursor().copy("COPY people FROM STDIN (FORMAT csv)") as copy:
            while part := lines.read(1 << 20):
                copy.write(part)
    return TableAt(server.url, "people")


def counted(data: Counted) -> tuple[int, list[int], list[int]]:
    """Return n, the counts of the regions, and the marginal."""
    areas = [DOMAIN.area(region) for region in REGIONS]
    return data.size, data.counts(areas), data.marginal((0, 1))


def one(kind: str, rows: int, memory: int) -> None:
    """Count in this process, and print what it took."""
    allow_memory(memory)
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        place = made(kind, rows, folder, stack)
        before = resource.getrusage(resource.RUSAGE_SELF)
        started = time.perf_counter()
        with open_data(place, DOMAIN, folder) as data:
            found = counted(data)
        took = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_SELF)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps([found, took, busy, after.ru_maxrss / 1000]))


def main() -> None:
    """Print a line for each kind of database; all must have counted the same."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=KINDS, nargs="+", default=KINDS)
    parser.add_argument("--memory", type=int, default=2 * 10**9)
    parser.add_argument("--here", choices=KINDS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        one(options.here, options.rows, options.memory)
        return
    told = None
    print(f"{options.rows:,} rows\nwhere      seconds  of processor here  largest memory here")
    for kind in options.only:
        command = [sys.executable, __file__, "--here", kind, "--rows", str(options.rows)]
        command += ["--memory", str(options.memory)]
        said = subprocess.run(command, check=False, capture_output=True, text=True)
        if said.returncode:
            print(f"{kind:9}  not here: {said.stderr.strip().splitlines()[-1][:80]}")
            continue
        found, took, busy, memory = json.loads(said.stdout.splitlines()[-1])
        assert told in (None, found), f"{kind} counts something else"
        told = found
        print(f"{kind:9} {took:8.2f} {busy:18.2f} {memory:17.0f} MB", flush=True)


if __name__ == "__main__":
    main()
