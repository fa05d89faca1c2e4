"""Noise for many cells, Laplace and Gaussian: our samplers beside OpenDP, diffprivlib, and floats.

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

from blowproof.mechanisms.noise.discrete_gaussian import raw_discrete_gaussian
from blowproof.mechanisms.noise.discrete_laplace import raw_discrete_laplace

Draw = Callable[[Fraction, int], object]
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


def gaussian(scale: Fraction, cells: int) -> object:
    """Our discrete Gaussian numbers with sigma = scale."""
    return np.zeros(cells, dtype=np.int64) + raw_discrete_gaussian(scale**2, cells)


def opendp_gaussian(scale: Fraction, cells: int) -> object:
    """OpenDP's discrete Gaussian measurement on a vector of integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    return dp.m.make_gaussian(*space, scale=float(scale))([0] * cells)


def diffprivlib(scale: Fraction, cells: int) -> object:
    """diffprivlib's Geometric mechanism, cell by cell in Python, as its histograms do."""
    from diffprivlib.mechanisms import Geometric  # type: ignore[import-not-found]

    mechanism = Geometric(epsilon=1.0, sensitivity=round(scale))
    return [mechanism.randomise(0) for _ in range(cells)]


def floats(scale: Fraction, cells: int) -> object:
    """numpy's Laplace numbers, for scale only: fast, and not private (Mironov 2012)."""
    return np.random.default_rng().laplace(0, float(scale), cells)


def seconds(draw: Draw, scale: Fraction, cells: int) -> float:
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
    peers: list[Draw] = [opendp]
    if options.diffprivlib is not None:
        # Its mechanisms without its models, which need one particular scikit-learn.
        package = types.ModuleType("diffprivlib")
        package.__path__ = [str(options.diffprivlib / "diffprivlib")]
        sys.modules["diffprivlib"] = package
        peers.append(diffprivlib)
    print(f"CPU seconds for {options.cells:,} cells; peers scaled up from {options.peer_cells:,}.")
    table("Laplace noise of some scale", [ours], peers, [floats], options)
    table("Gaussian noise of some sigma", [gaussian], [opendp_gaussian], [], options)


def table(
    title: str,
    samplers: list[Draw],
    peers: list[Draw],
    others: list[Draw],
    options: argparse.Namespace,
) -> None:
    """Print the seconds of each, scale by scale; peers draw fewer cells."""
    names = [draw.__name__ for draw in (*samplers, *peers, *others)]
    print(f"\n{title}\n\n| scale | {' | '.join(names)} |\n| --- |{' --- |' * len(names)}")
    factor = options.cells / options.peer_cells
    for scale in SCALES:
        times = [seconds(draw, scale, options.cells) for draw in samplers]
        times += [seconds(peer, scale, options.peer_cells) * factor for peer in peers]
        times += [seconds(draw, scale, options.cells) for draw in others]
        print(f"| {scale} | {' | '.join(f'{value:.2f}' for value in times)} |")


if __name__ == "__main__":
    main()
