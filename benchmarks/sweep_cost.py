"""What a sweep of 1,000 small questions costs beside the sum of their solve times.

    python benchmarks/sweep_cost.py [--jobs 1 2]

The sum is of what the rows say, measured around each question where it was solved: reading,
digests, start-up, imports, the journal and the results are what comes on top. Each number of jobs
is a process of its own, from its start to its end; on a busy machine the ratio tells more than the
seconds. Beside it, how many questions were answered by bounds that travelled from other policies.
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


def grid(folder: Path) -> Path:
    """Write the grid, and return its path."""
    (folder / "template.toml").write_text(TEMPLATE, encoding="utf-8")
    named = "".join(f"count{at} = '{text}'\n" for at, text in enumerate(COUNTS))
    text = f'template = "template.toml"\n[parameters]\ntable = {json.dumps(TABLES)}\n'
    text += f"[parameters.count]\n{named}[questions]\nqueries = {json.dumps(QUERIES)}\n"
    path = folder / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


def main() -> None:
    """Print a line for each number of jobs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    print("jobs  questions  solved in  sweep took  ratio  by travel")
    for jobs in options.jobs:
        with tempfile.TemporaryDirectory() as name:
            path = grid(Path(name))
            command = [sys.executable, "-m", "blowproof.cli", "sweep", str(path), "--json"]
            started = time.perf_counter()
            said = subprocess.run(
                [*command, "--jobs", str(jobs)], check=True, capture_output=True, text=True
            )
            took = time.perf_counter() - started
        rows = json.loads(said.stdout)["rows"]
        solved = sum(row["seconds"] for row in rows)
        ends = [json.loads(row["decided_by"]) for row in rows]
        travelled = sum(any(end["name"] == "travel" for end in found) for found in ends)
        ratio = f"{took / solved:5.2f}"
        print(f"{jobs:4} {len(rows):10,} {solved:8.1f} s {took:9.1f} s  {ratio} {travelled:10,}")


if __name__ == "__main__":
    main()
