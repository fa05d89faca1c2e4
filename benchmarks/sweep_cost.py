"""What a sweep of 1,000 small questions costs beside the sum of their solve times.

    python benchmarks/sweep_cost.py [--jobs 1 2]

The sum is of what the rows say, measured around each question where it was solved; reading,
digests, the journal and the results come on top. Start-up and imports are shared by all questions:
they are what a sweep of one question takes, are told apart, and are no part of the ratio. Beside
it, how many questions were answered by bounds that travelled from other policies.

On a busy machine the seconds tell little. So the same is told in processor time (Linux): of all
processes of the sweep, less those of a sweep of one question, beside the processor time in the
questions of a sweep in this process; for n processes divided by n, which is what the seconds would
be if every core had something to do all the time.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from blowproof.cli.asking import memory
from blowproof.cli.sweeping import pool
from blowproof.cli.sweeping.grid import read_grid
from blowproof.cli.sweeping.run import sweep_through
from blowproof.cli.sweeping.work import Batch, Row, answer_batch

TEMPLATE = """\
[domain]
sex = ["F", "M"]
age = ["0-17", "18-64", "65+"]
region = ["n", "e", "s", "w"]
[[known]]
marginal = {{table}}
[[known]]
count = {{count}}
"""
TABLES = [
    ["sex"], ["age"], ["region"], ["sex", "age"], ["sex", "region"], ["age", "region"],
    ["sex", "age", "region"],
]  # fmt: skip
QUERIES = [
    "histogram", "marginal(sex)", "marginal(age)", "marginal(region)", "marginal(sex,age)",
    "marginal(sex,region)",
]  # fmt: skip
CACHE = Path(tempfile.gettempdir()) / "blowproof-sweep-cost"
"""Where Python keeps what it has compiled, as it does where it is installed."""
CELLS = product(["F", "M"], ["0-17", "18-64", "65+"], "nesw")
COUNTS = [f'{{ sex = "{s}", age = "{a}", region = "{r}" }}' for s, a, r in CELLS]


def grid(folder: Path, *, one: bool = False) -> Path:
    """Write the grid (`one`: of one question), and return its path."""
    tables, counts, queries = ((items[:1] if one else items) for items in (TABLES, COUNTS, QUERIES))
    (folder / "template.toml").write_text(TEMPLATE, encoding="utf-8")
    named = "".join(f"count{at} = '{text}'\n" for at, text in enumerate(counts))
    text = f'template = "template.toml"\n[parameters]\ntable = {json.dumps(tables)}\n'
    text += f"[parameters.count]\n{named}[questions]\nqueries = {json.dumps(queries)}\n"
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


@dataclass(frozen=True)
class Cost:
    """What a sweep took: seconds, processor seconds of all its processes, and its rows."""

    seconds: float
    processor: float
    rows: list[dict[str, Any]]

    @property
    def solved(self) -> float:
        """The seconds in the questions."""
        return float(sum(row["seconds"] for row in self.rows))


def swept(jobs: int, *, one: bool = False) -> Cost:
    """Return what a sweep from the command line costs."""
    with tempfile.TemporaryDirectory() as name:
        path = grid(Path(name), one=one)
        command = [sys.executable, "-m", "blowproof.cli", "sweep", str(path), "--json"]
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(CACHE)}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        said = subprocess.run(
            [*command, "--jobs", str(jobs)],
            check=True,
            capture_output=True,
            text=True,
            env=os.environ | compiled,
        )
        took = time.perf_counter() - started
        with suppress(ChildProcessError):
            while True:
                os.wait()  # what the workers were forked from: it ends after the sweep
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Cost(took, busy, json.loads(said.stdout)["rows"])


def in_questions() -> float:
    """Return the processor seconds in the questions of a sweep in this process."""
    spent = [0.0]

    def answered(batch: Batch) -> list[Row]:
        before = time.process_time()
        rows = answer_batch(batch)
        spent[0] += time.process_time() - before
        return rows

    memory.allow(memory.default_limit())  # looked at while a question is asked, as a command does
    pool.answer_batch = answered  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as name:
        for one in (True, False):
            spent[0] = 0.0
            read = read_grid(str(grid(Path(name), one=one)))
            sweep_through(read, str(Path(name) / "rows.parquet"), version=str(one), jobs=1)
    return spent[0]


def main() -> None:
    """Print a line for each number of jobs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER: what sweeps leave is ours
    solving = in_questions()
    print(f"processor seconds in the questions, in one process: {solving:.2f}")
    print("jobs  questions  by travel  start-up  solved in  sweep took  ratio", end="")
    print("   processor: start-up   sweep  ratio")
    swept(2, one=True)  # compiles what is not compiled yet
    for jobs in options.jobs:
        start, whole = swept(jobs, one=True), swept(jobs)
        ends = [json.loads(row["decided_by"]) for row in whole.rows]
        travelled = sum(any(end["name"] == "travel" for end in found) for found in ends)
        ratio = (whole.seconds - start.seconds) / whole.solved
        shared = (whole.processor - start.processor) / solving / jobs
        print(
            f"{jobs:4} {len(whole.rows):10,} {travelled:10,} {start.seconds:7.1f} s"
            f" {whole.solved:8.1f} s {whole.seconds:9.1f} s  {ratio:5.2f}"
            f"  {start.processor:18.2f} s {whole.processor:5.2f} s  {shared:5.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
