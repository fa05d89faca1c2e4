"""The data sets of the two papers' experiments, or generated ones of the same shape.

DPBench's histograms and tweets, UCI's Adult and Skin, from a folder that the reader names; the
generated ones come from fixed seeds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from blowproof.models import Domain, Integers

__all__ = ["Data", "capital_loss", "histograms", "skin", "synthetic", "twitter"]


@dataclass(frozen=True)
class Data:
    """Counts over a domain, and where they come from."""

    name: str
    counts: NDArray[np.int64]

    def domain(self) -> Domain:
        """Return one attribute per axis."""
        return Domain(**{"abcd"[k]: Integers(0, n - 1) for k, n in enumerate(self.counts.shape)})

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Where records are, a row for each place."""
        return np.argwhere(self.counts)

    @cached_property
    def weights(self) -> NDArray[np.int64]:
        """How many there are at each of the places."""
        return self.counts[self.counts > 0]


def twitter(folder: Path | None) -> Data:
    """Tweet locations on a 256 x 256 grid (the papers' 400 x 300 grid is not public)."""
    file = folder and folder / "dpbench" / "twitter_256_256.npy"
    if file and file.exists():
        return Data("twitter", np.load(file).astype(np.int64).reshape(256, 256))
    rng = np.random.default_rng(1)
    points = np.concatenate(
        [rng.normal(c, s, (n, 2)) for c, s, n in [((60, 70), 9, 90_000), ((180, 40), 14, 60_000),
         ((120, 190), 25, 40_000)]]
    )  # fmt: skip
    return Data("generated tweets", _binned(points, (256, 256)))


def skin(folder: Path | None, share: float) -> Data:
    """Pixels with three colours of 0..255; `share` of them, drawn with a fixed seed."""
    rng = np.random.default_rng(2)
    file = folder and folder / "uci" / "skin.parquet"
    if file and file.exists():
        table = duckdb.read_parquet(str(file)).fetchnumpy()
        points = np.stack([table[c] for c in "bgr"], axis=1).astype(np.int64)
        name = "skin"
    else:
        centres = rng.integers(40, 220, (4, 3))
        points = np.clip(
            centres[rng.integers(0, 4, 245_057)] + rng.normal(0, 22, (245_057, 3)), 0, 255
        )
        name = "generated skin"
    chosen = rng.choice(len(points), max(1, round(share * len(points))), replace=False)
    return Data(f"{name} {100 * share:g} %", _binned(points[chosen], (256, 256, 256)))


def synthetic() -> Data:
    """1,000 points in the unit cube of 4 dimensions around 4 centres, on a grid of 20 per side."""
    rng = np.random.default_rng(3)
    points = rng.random((4, 4))[rng.integers(0, 4, 1000)] + rng.normal(0, 0.2, (1000, 4))
    return Data("synthetic", _binned(np.clip(points, 0, 1) * 19.999, (20, 20, 20, 20)))


def _binned(points: NDArray[Any], shape: tuple[int, ...]) -> NDArray[np.int64]:
    cells = np.clip(points.astype(np.int64), 0, np.array(shape) - 1)
    flat = np.ravel_multi_index(tuple(cells.T), shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)


def capital_loss(folder: Path | None) -> Data:
    """Capital loss of 48,842 people, 0..4356: nearly all of them 0."""
    file = folder and folder / "uci" / "adult.parquet"
    if file and file.exists():
        table = duckdb.read_parquet(str(file)).fetchnumpy()
        name = next(c for c in table if c.replace("-", "_") == "capital_loss")
        values = table[name].astype(np.int64)
        return Data("adult", np.bincount(values, minlength=4357))
    rng = np.random.default_rng(4)
    values = np.where(rng.random(48_842) < 0.95, 0, rng.normal(1900, 350, 48_842).clip(1, 4356))
    return Data("generated capital loss", np.bincount(values.astype(np.int64), minlength=4357))


def histograms(folder: Path | None) -> list[Data]:
    """The seven histograms over 4,096 values, or one that is generated."""
    found = sorted((folder / "dpbench").glob("*.n4096.npy")) if folder else []
    if found:
        return [Data(f.name.split(".")[0].lower(), np.load(f).astype(np.int64)) for f in found]
    rng = np.random.default_rng(5)
    steps = np.repeat(rng.pareto(1.2, 64) * 10, 64) * (rng.random(4096) < 0.4)
    return [Data("generated histogram", rng.poisson(steps).astype(np.int64))]
