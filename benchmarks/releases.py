"""Speed and memory of whole releases: planning, counting a file, drawing, estimating.

python benchmarks/releases.py [--sizes 4096 1000000] [--records 1000000] [mechanism ...]

Every row runs in a process of its own. The policy is one ordered attribute with distance secrets of
a hundred steps, at epsilon 1. Peer: OpenDP's b-ary tree with its consistency step, for the whole
domain as one tree; it starts from counts in memory, and reads no file.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

OURS = ("laplace", "ordered", "hierarchical")
PEER = "opendp b-ary tree"


def ours(name: str, size: int, data: Path) -> tuple[float, float]:
    """Return the seconds of planning, and of the release."""
    from blowproof.mechanisms.registry import plan
    from blowproof.mechanisms.release import Request, release
    from blowproof.models import Distance, Domain, Integers, Policy
    from blowproof.models.data import Dataset

    secrets = Distance(metric="l1", threshold=100)
    policy = Policy(domain=Domain(x=Integers(0, size - 1)), secrets=secrets)
    query = "cumulative(x)" if name in ("ordered", "hierarchical") else "histogram"
    start = time.perf_counter()
    made = plan(name, Request(policy=policy, query=query, epsilon=Fraction(1)))
    planned = time.perf_counter()
    with Dataset(data, policy.domain) as dataset:
        release(made, dataset)
    return planned - start, time.perf_counter() - planned


def peer(size: int) -> tuple[float, float]:
    """Return the seconds of OpenDP's tree with fan-out 10: nothing is planned."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    counts = np.random.default_rng().integers(0, 9, size).tolist()
    start = time.perf_counter()
    tree = dp.t.make_b_ary_tree(*space, leaf_count=size, branching_factor=10)
    noisy = tree >> dp.m.then_laplace(scale=14.0)
    consistent = noisy >> dp.t.make_consistent_b_ary_tree(branching_factor=10)
    consistent(counts)
    return 0.0, time.perf_counter() - start


def one(name: str, size: int, data: Path) -> None:
    """Measure one mechanism in this process, and print a row."""
    planning, seconds = peer(size) if name == PEER else ours(name, size, data)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"| {name} | {size:,} | {planning:.2f} | {seconds:.2f} | {memory} |", flush=True)


def main() -> None:
    """Print the table, a process for each row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mechanisms", nargs="*", default=[*OURS, PEER])
    parser.add_argument("--sizes", type=int, nargs="+", default=[4096, 10**6])
    parser.add_argument("--records", type=int, default=10**6)
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        one(options.mechanisms[0], options.sizes[0], options.one)
        return
    print("| mechanism | values | plan, s | release, s | MB |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            data = Path(folder) / f"{size}.csv"
            places = np.random.default_rng(1).integers(0, size, options.records)
            data.write_text("x\n" + "\n".join(map(str, places.tolist())) + "\n")
            for name in options.mechanisms:
                row = [sys.executable, __file__, name, "--sizes", str(size), "--one", str(data)]
                sys.stdout.flush()
                subprocess.run(row, check=False)


if __name__ == "__main__":
    main()
