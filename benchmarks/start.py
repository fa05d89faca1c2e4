"""What a tiny question costs from the command line, in processor time, beside starting Python.

    .venv/bin/python benchmarks/start.py [--runs 9]

Each command runs a few times after one that nobody counts (it writes the byte code); the least is
shown, and how many times that of `python -c pass` it is: a ratio, since machines differ.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TINY = '[domain]\na = ["x", "y"]\nb = ["p", "q"]\n[[known]]\nmarginal = ["a"]\n'


def cost(command: list[str]) -> float:
    """Processor seconds of one run and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=9)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder, "tiny.toml")
        policy.write_text(TINY, encoding="utf-8")
        blowproof = [sys.executable, "-m", "blowproof.cli"]
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "blowproof --help": [*blowproof, "--help"],
            "blowproof sensitivity": [*blowproof, "sensitivity", str(policy)],
            "blowproof audit": [*blowproof, "audit", str(policy)],
        }
        least = {}
        for name, command in commands.items():
            cost(command)
            least[name] = min(cost(command) for _ in range(runs))
    for name, seconds in least.items():
        ratio = seconds / least["python -c pass"]
        print(f"{name:24} {seconds:6.2f} s {ratio:6.1f} times")


if __name__ == "__main__":
    main()
