"""Graver bases of table margins (reading `add-remove`): the lifting beside 4ti2 and Normaliz.

`python benchmarks/lifting.py --limit 60` prints a line for each family: signatures, rank of the
kernel, vectors of the basis up to sign, S of the histogram (the largest L1 norm, where each cell
has a value to spare), and CPU seconds. Every run is a process of its own with a limit on its CPU
time and 4 GB of memory; seconds of CPU hardly depend on what else the machine does. Python's
start-up, and compiling, which is kept on disk, are not counted for the lifting.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path

MEMORY = 4 << 30
START_UP = 20

FAMILIES = {
    "3x3x3, all two-way": ((3, 3, 3), ("AB", "AC", "BC")),
    "3x3x4, all two-way": ((3, 3, 4), ("AB", "AC", "BC")),
    "3x3x5, all two-way": ((3, 3, 5), ("AB", "AC", "BC")),
    "3x3x6, all two-way": ((3, 3, 6), ("AB", "AC", "BC")),
    "3x4x4, all two-way": ((3, 4, 4), ("AB", "AC", "BC")),
    "2x2x2x2, all two-way": ((2, 2, 2, 2), ("AB", "AC", "AD", "BC", "BD", "CD")),
    "2x2x2x3, all two-way": ((2, 2, 2, 3), ("AB", "AC", "AD", "BC", "BD", "CD")),
    "2x2x2x4, all two-way": ((2, 2, 2, 4), ("AB", "AC", "AD", "BC", "BD", "CD")),
    "2x2x2x2, chain AB, BC, CD": ((2, 2, 2, 2), ("AB", "BC", "CD")),
    "2x2x2x2, cycle AB, BC, CD, AD": ((2, 2, 2, 2), ("AB", "BC", "CD", "AD")),
    "2x2x2x2, one-way": ((2, 2, 2, 2), ("A", "B", "C", "D")),
    "2x2x2x2x2, all three-way": (
        (2, 2, 2, 2, 2),
        ("ABC", "ABD", "ABE", "ACD", "ACE", "ADE", "BCD", "BCE", "BDE", "CDE"),
    ),
    "3x3x3, AB and C": ((3, 3, 3), ("AB", "C")),
    "3x3x3, AB and BC": ((3, 3, 3), ("AB", "BC")),
    "2x3x3, one-way": ((2, 3, 3), ("A", "B", "C")),
    "5x5, one-way": ((5, 5), ("A", "B")),
    "6x6, one-way": ((6, 6), ("A", "B")),
}

OURS = """
import json, sys, time
import numpy as np
from blowproof.verifier.exact.lattice import integer_kernel
from blowproof.verifier.engines.graver.lifting import graver_basis
rows = json.load(sys.stdin)
size = len(rows[0])
graver_basis([(1, 1, 1, 1)], 4)
start = time.process_time()
found = graver_basis(rows, size)
seconds = time.process_time() - start
assert found.complete, found.stopped
found = found.vectors
degree = int(np.abs(found.astype(int)).sum(axis=1).max())
print(json.dumps([seconds, len(found), degree, integer_kernel(rows, size).rank]))
"""

NORMALIZ = """
import json, sys, PyNormaliz
rows = json.load(sys.stdin)
cone = PyNormaliz.Cone(equations=[row + [-x for x in row] for row in rows])
print(len(cone.HilbertBasis()))
"""


def signatures(shape: Sequence[int], margins: Sequence[str]) -> list[list[int]]:
    """The signature of each cell, in columns, for the counts of the margins."""
    cells = list(product(*map(range, shape)))
    axes = [["ABCDEF".index(letter) for letter in margin] for margin in margins]
    keys = [(m, v) for m in axes for v in product(*(range(shape[i]) for i in m))]
    return [
        [int(all(c[i] == x for i, x in zip(m, v, strict=True))) for c in cells] for m, v in keys
    ]


def limited(command: Sequence[str], text: str, limit: int) -> tuple[str, float] | None:
    """What a process prints and its CPU seconds, or None if its time or memory ran out."""

    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, preexec_fn=restrict
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode == 0:
        return done.stdout, seconds
    out_of_memory = any(word in done.stderr for word in ("MemoryError", "bad_alloc", "too many"))
    if -done.returncode not in (signal.SIGXCPU, signal.SIGKILL) and not out_of_memory:
        raise RuntimeError(done.stderr)
    return None


def ours(rows: list[list[int]], limit: int) -> tuple[float, int, int, int] | None:
    """Seconds, vectors, largest norm and rank."""
    found = limited([sys.executable, "-c", OURS], json.dumps(rows), limit + START_UP)
    if found is None:
        return None
    seconds, count, degree, rank = json.loads(found[0])
    return (seconds, count, degree, rank) if seconds <= limit else None


def four(rows: list[list[int]], limit: int) -> float | None:
    """Seconds that 4ti2 takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x")
        text = "\n".join(" ".join(map(str, row)) for row in rows)
        path.with_suffix(".mat").write_text(f"{len(rows)} {len(rows[0])}\n{text}\n")
        found = limited(["4ti2-graver", "-q", str(path)], "", limit)
        return None if found is None else found[1]


def normaliz(rows: list[list[int]], limit: int) -> float | None:
    """Seconds that Normaliz takes (its process's start among them)."""
    found = limited([sys.executable, "-c", NORMALIZ], json.dumps(rows), limit)
    return None if found is None else found[1]


def shown(seconds: float | None, limit: int) -> str:
    """A time, or that the limit came first."""
    return f"> {limit}" if seconds is None else f"{seconds:.2f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds for the lifting")
    parser.add_argument("--peer-limit", type=int, help="CPU seconds for each peer")
    parser.add_argument("--only", help="families whose name contains this")
    chosen = parser.parse_args()
    peer_limit = chosen.peer_limit or chosen.limit
    peers: dict[str, Callable[[list[list[int]]], float | None]] = {}
    if shutil.which("4ti2-graver"):
        peers["4ti2"] = partial(four, limit=peer_limit)
    if importlib.util.find_spec("PyNormaliz"):
        peers["Normaliz"] = partial(normaliz, limit=peer_limit)
    print("| table | signatures | rank | basis | S | seconds |", *(f"{p} |" for p in peers))
    print("| --- " * (6 + len(peers)) + "|")
    for name, (shape, margins) in FAMILIES.items():
        if chosen.only and chosen.only not in name:
            continue
        rows = signatures(shape, margins)
        found = ours(rows, chosen.limit)
        if found is None:
            cells = [name, str(len(rows[0])), "", "", "", f"> {chosen.limit}"]
        else:
            seconds, count, degree, rank = found
            numbers = (len(rows[0]), rank, f"{count:,}", degree, f"{seconds:.2f}")
            cells = [name, *map(str, numbers)]
        cells += [shown(peer(rows), peer_limit) for peer in peers.values()]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
