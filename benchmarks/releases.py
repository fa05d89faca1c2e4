"""Speed and memory of whole releases: planning, counting a file, drawing, estimating.

python benchmarks/releases.py [--sizes 4096 1000000] [--records 1000000] [mechanism ...]

Every row runs in a process of its own, for 60 seconds of CPU and 4 GB at most; where that does not
do, the largest power of two is looked for that does. Times are CPU seconds, with all threads. The
policy is one ordered attribute, epsilon is 1, and secrets are distances of a hundred steps, or (for
the mechanisms that use the edges of G) of one step; for "consistent", full secrets and 16 known
counts.

Peers start from counts in memory, and read no file. OpenDP's b-ary tree with its consistency step
comes with the project's extra `peers`. DPComp (github.com/dpcomp-org/dpcomp_core) is on no index;
--dpcomp names a folder with `cutil.so`, compiled from its dawa/cutils/cutil.cpp (g++ -O2 -shared
-fPIC), and with its `h_tree.py`, converted by 2to3:

* the first step of DAWA, its C++ partition into intervals of powers of two;
* the hierarchical mechanism, its Python tree with the best fan-out of Qardaji et al. (2013).
"""

from __future__ import annotations

import argparse
import ctypes
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

FAR, NEAR, KNOWN = "distance 100", "distance 1", "16 known counts"
OURS = {
    "laplace": FAR,
    "ordered": FAR,
    "hierarchical": FAR,
    "k-means": FAR,
    "transformed": NEAR,
    "dawa": NEAR,
    "dawa-transformed": NEAR,
    "matching-transformed": NEAR,
    "consistent": KNOWN,
}
SECONDS, MEGABYTES = 60, 4096
Times = tuple[float, float]


def policy_of(kind: str, size: int, places: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """Return the policy of a row, over 0..size-1."""
    from blowproof.models import (
        Between,
        Count,
        Database,
        Distance,
        Domain,
        Integers,
        Policy,
        Region,
    )

    domain = Domain(x=Integers(0, size - 1))
    if kind != KNOWN:
        return Policy(domain=domain, secrets=Distance(threshold=100 if kind == FAR else 1))
    ends = [k * size // 16 for k in range(17)]
    held = np.histogram(places, ends)[0].tolist()
    cells = [Between(low, high - 1) for low, high in pairwise(ends)]
    facts = [Count(Region(x=cell), answer=n) for cell, n in zip(cells, held, strict=True)]
    return Policy(domain=domain, known=facts, database=Database(size=len(places)))


def ours(name: str, size: int, folder: Path) -> Times:
    """Return the seconds of planning, and of the release."""
    from blowproof.mechanisms.release.registry import plan
    from blowproof.mechanisms.release.release import Request, release
    from blowproof.models.data.dataset import Dataset

    places = np.load(folder / f"{size}.npy")
    policy = policy_of(OURS[name], size, places)
    query = "cumulative(x)" if name in ("ordered", "hierarchical") else "histogram"
    start = time.process_time()
    made = plan(name, Request(policy=policy, query=query, epsilon=Fraction(1)))
    planned = time.process_time()
    with Dataset(folder / f"{size}.csv", policy.domain) as dataset:
        release(made, dataset)
    return planned - start, time.process_time() - planned


def opendp(size: int, _: Path | None) -> Times:
    """Return the seconds of OpenDP's tree with fan-out 10: nothing is planned."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    counts = np.random.default_rng().integers(0, 9, size).tolist()
    start = time.process_time()
    tree = dp.t.make_b_ary_tree(*space, leaf_count=size, branching_factor=10)
    noisy = tree >> dp.m.then_laplace(scale=14.0)
    consistent = noisy >> dp.t.make_consistent_b_ary_tree(branching_factor=10)
    consistent(counts)
    return 0.0, time.process_time() - start


def dpcomp_tree(size: int, folder: Path | None) -> Times:
    """Return the seconds of DPComp's HB: the best fan-out, noise on every node, inference."""
    sys.path.insert(0, str(folder))
    import h_tree  # type: ignore[import-not-found]

    rng = np.random.default_rng()
    counts = rng.integers(0, 9, size).tolist()
    start = time.process_time()

    def error(b: int) -> float:
        h = math.ceil(math.log(size, b))
        return (b - 1) * h**3 - 2 * (b + 1) * h**2 / 3

    fan_out = min(range(2, size + 1), key=error)
    planned = time.process_time()
    leaves = fan_out ** math.ceil(math.log(size, fan_out))
    tree = h_tree.HTree(fan_out, counts + [0] * (leaves - size))
    for node in tree.postorder_iter():
        node.noisy = node.count + rng.laplace(0, tree.height)
    tree.inference()
    return planned - start, time.process_time() - planned


def dpcomp_partition(size: int, folder: Path | None) -> Times:
    """Return the seconds of DPComp's partition; its noise is of floats, from a seed."""
    assert folder is not None
    library = ctypes.CDLL(str(folder / "cutil.so"))
    found = (ctypes.c_int * (size + 1))()
    counts = np.random.default_rng().integers(0, 9, size).astype(float)
    pointer = counts.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    half, one = ctypes.c_double(0.5), ctypes.c_double(1.0)
    start = time.process_time()
    library._Z18L1partition_approxPiiPdiddl(
        found, ctypes.c_int(size + 1), pointer, ctypes.c_int(size), one, half, ctypes.c_long(1)
    )
    return 0.0, time.process_time() - start


PEERS: dict[str, Callable[[int, Path | None], Times]] = {
    "OpenDP b-ary tree": opendp,
    "DPComp HB tree": dpcomp_tree,
    "DPComp DAWA partition": dpcomp_partition,
}


def one(name: str, size: int, folder: Path, dpcomp: Path | None) -> None:
    """Measure one row in this process, and print it; or say in one line why there is none."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS + 10, SECONDS + 10))
    try:
        found = PEERS[name](size, dpcomp) if name in PEERS else ours(name, size, folder)
    except Exception as error:  # whatever stops a mechanism is its row
        print(f"{type(error).__name__}: {error}".splitlines()[0])
        sys.exit(1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    policy = OURS.get(name, "")
    print(f"| {name} | {policy} | {size:,} | {found[0]:.2f} | {found[1]:.2f} | {memory} |")
    if sum(found) > SECONDS or memory > MEGABYTES:
        sys.exit(2)


def row(name: str, size: int, options: argparse.Namespace, folder: Path) -> bool:
    """Print a row that another process measures; return whether it kept to the limits."""
    if not (folder / f"{size}.csv").exists():
        places = np.random.default_rng(1).integers(0, size, options.records)
        np.save(folder / f"{size}.npy", places)
        (folder / f"{size}.csv").write_text("x\n" + "\n".join(map(str, places.tolist())) + "\n")
    command = [sys.executable, __file__, name, "--sizes", str(size), "--one", str(folder)]
    command += ["--dpcomp", str(options.dpcomp)] if options.dpcomp else []
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode in (0, 2):
        print(done.stdout.strip() + (" over the limits" if done.returncode else ""), flush=True)
    else:
        why = done.stdout.strip() or f"ended by signal {-done.returncode}: {SECONDS} s of CPU"
        print(f"| {name} | {OURS.get(name, '')} | {size:,} | {why} | | |", flush=True)
    return done.returncode == 0


def main() -> None:
    """Print the table, a process for each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mechanisms", nargs="*", default=[*OURS, *PEERS])
    parser.add_argument("--sizes", type=int, nargs="+", default=[4096, 10**6])
    parser.add_argument("--records", type=int, default=10**6)
    parser.add_argument("--dpcomp", type=Path, help="folder with cutil.so and h_tree.py")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        one(options.mechanisms[0], options.sizes[0], options.one, options.dpcomp)
        return
    print("| mechanism | policy | values | plan, s | release, s | MB |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.mechanisms:
            if name.startswith("DPComp") and options.dpcomp is None:
                continue
            for size in options.sizes:
                if row(name, size, options, Path(folder)):
                    continue
                smaller = (1 << bits for bits in range(size.bit_length() - 1, 0, -1))
                for less in smaller:
                    if row(name, less, options, Path(folder)):
                        break


if __name__ == "__main__":
    main()
