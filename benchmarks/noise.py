"""Noise for many cells: our sampler beside OpenDP alone, diffprivlib, and (unsafe) numpy floats.

python benchmarks/noise.py [--cells 10000000] [--peer-cells 200000] [--diffprivlib FOLDER]

The peers draw `--peer-cells` noisy counts, and their time is scaled up (each draws cell by cell, so
it grows in proportion); with --peer-cells equal to --cells nothing is scaled. diffprivlib is not a
dependency: `pip install --no-deps --target FOLDER diffprivlib`, and name the folder.
"""

from __future__ import annotations

import argparse
import sys
import time
import types
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from blowproof.mechanisms.noise.discrete_laplace import raw_discrete_laplace

SCALES = (Fraction(2), Fraction(20), Fraction(200), Fraction(10**6))


def ours(scale: Fraction, cells: int) -> object:
    """Our sampler: exact, from os.urandom."""
    return np.zeros(cells, dtype=np.int64) + raw_discrete_laplace(scale, cells)


def opendp(scale: Fraction, cells: int) -> object:
    """OpenDP's measurement on a vector of integers: exact, cell by cell in Rust."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    return dp.m.make_laplace(*space, scale=float(scale))([0] * cells)


def diffprivlib(scale: Fraction, cells: int) -> object:
    """diffprivlib's Geometric mechanism, cell by cell in Python, as its histograms do."""
    from diffprivlib.mechanisms import Geometric  # type: ignore[import-not-found]

    mechanism = Geometric(epsilon=1.0, sensitivity=round(scale))
    return [mechanism.randomise(0) for _ in range(cells)]


def floats(scale: Fraction, cells: int) -> object:
    """numpy's Laplace numbers, for scale only: fast, and not private (Mironov 2012)."""
    return np.random.default_rng().laplace(0, float(scale), cells)


def seconds(draw: Callable[[Fraction, int], object], scale: Fraction, cells: int) -> float:
    """Return the CPU seconds of a draw, set-up included."""
    start = time.process_time()
    draw(scale, cells)
    return time.process_time() - start


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000_000)
    parser.add_argument("--peer-cells", type=int, default=200_000)
    parser.add_argument("--diffprivlib", type=Path)
    options = parser.parse_args()
    peers: list[Callable[[Fraction, int], object]] = [opendp]
    if options.diffprivlib is not None:
        # Its mechanisms without its models, which need one particular scikit-learn.
        package = types.ModuleType("diffprivlib")
        package.__path__ = [str(options.diffprivlib / "diffprivlib")]
        sys.modules["diffprivlib"] = package
        peers.append(diffprivlib)
    names = [draw.__name__ for draw in (ours, *peers, floats)]
    scaled = f"peers scaled up from {options.peer_cells:,}"
    print(f"CPU seconds for {options.cells:,} cells; {scaled}.\n")
    print(f"| scale | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}")
    for scale in SCALES:
        factor = options.cells / options.peer_cells
        times = [seconds(ours, scale, options.cells)]
        times += [seconds(peer, scale, options.peer_cells) * factor for peer in peers]
        times.append(seconds(floats, scale, options.cells))
        print(f"| {scale} | {' | '.join(f'{value:.2f}' for value in times)} |")


if __name__ == "__main__":
    main()
