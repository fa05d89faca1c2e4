"""What a sweep of 1,000 small questions costs beside the sum of their solve times.

    python benchmarks/sweep_cost.py [--jobs 1 2]

The sum is of what the rows say, measured around each question where it was solved; reading,
digests, the journal and the results come on top. Start-up and imports are shared by all questions:
they are what a sweep of one question takes, are told apart, and are no part of the ratio. On a busy
machine the ratio tells more than the seconds. Beside it, how many questions were answered by bounds
that travelled from other policies.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from itertools import product
from pathlib import Path
from typing import Any

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


def timed(jobs: int, *, one: bool = False) -> tuple[float, list[dict[str, Any]]]:
    """Return how long a sweep took from the command line, and its rows."""
    with tempfile.TemporaryDirectory() as name:
        path = grid(Path(name), one=one)
        command = [sys.executable, "-m", "blowproof.cli", "sweep", str(path), "--json"]
        started = time.perf_counter()
        said = subprocess.run(
            [*command, "--jobs", str(jobs)], check=True, capture_output=True, text=True
        )
        return time.perf_counter() - started, json.loads(said.stdout)["rows"]


def main() -> None:
    """Print a line for each number of jobs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    print("jobs  questions  start-up  solved in  sweep took  ratio  by travel")
    for jobs in options.jobs:
        start, _ = timed(jobs, one=True)
        took, rows = timed(jobs)
        solved = sum(row["seconds"] for row in rows)
        ends = [json.loads(row["decided_by"]) for row in rows]
        travelled = sum(any(end["name"] == "travel" for end in found) for found in ends)
        ratio = f"{(took - start) / solved:5.2f}"
        print(
            f"{jobs:4} {len(rows):10,} {start:7.1f} s {solved:8.1f} s {took:9.1f} s "
            f" {ratio} {travelled:10,}",
            flush=True,
        )


if __name__ == "__main__":
    main()
