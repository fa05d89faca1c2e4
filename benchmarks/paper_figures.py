"""The experiments of two papers, done again.

Figures 1 and 2 of blowfish-2014, figures 4 and 5 of data-dependent-blowfish.

    python benchmarks/paper_figures.py --data FOLDER --out build/figures
    python benchmarks/paper_figures.py --figure 2b --repetitions 10

Writes one CSV and one picture per figure into --out, and prints the tables. With no --data, or
where a file is missing there, data of the same shape are generated (from a fixed seed) and the
table says so. What came out, and how it compares with the papers, is told in paper_figures.md.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.registry import plan
from blowproof.mechanisms.release import Draw, Plan, Request
from blowproof.mechanisms.transformed import NoisyTable
from blowproof.models import (
    AttributeChange,
    Between,
    Distance,
    Domain,
    Full,
    Integers,
    PartitionBy,
    PartitionCells,
    Policy,
    Region,
)
from blowproof.models.secrets.written import SecretsSpec as Secrets

EPSILONS = tuple(Fraction(k, 10) for k in (1, 2, 4, 6, 8, 10))
RANGES = 10_000


@dataclass(frozen=True)
class Row:
    """One point of a figure: a line's label, its place on the x axis, and what was measured."""

    line: str
    x: str
    values: NDArray[np.float64]

    def summary(self) -> list[str]:
        """Return the row of a table: mean and quartiles."""
        low, high = np.quantile(self.values, [0.25, 0.75])
        return [self.line, self.x, *(f"{v:.4g}" for v in (self.values.mean(), low, high))]


@dataclass(frozen=True)
class Data:
    """Counts over a domain, and where they come from."""

    name: str
    counts: NDArray[np.int64]

    def domain(self) -> Domain:
        """Return one attribute per axis."""
        return Domain(**{"abcd"[k]: Integers(0, n - 1) for k, n in enumerate(self.counts.shape)})


# --- data -------------------------------------------------------------------------------------


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
        import pyarrow.parquet as pq

        table = pq.read_table(file)
        points = np.stack([table[c].to_numpy() for c in "bgr"], axis=1).astype(np.int64)
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
        import pyarrow.parquet as pq

        table = pq.read_table(file)
        name = next(c for c in table.column_names if c.replace("-", "_") == "capital_loss")
        values = table[name].to_numpy().astype(np.int64)
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


# --- figure 1: k-means ------------------------------------------------------------------------


def objective(data: Data, centroids: NDArray[np.float64]) -> float:
    """The sum of squared distances to the nearest centroid."""
    places = np.argwhere(data.counts)
    weights = data.counts[data.counts > 0]
    squares = ((places[:, None, :] - centroids[None]) ** 2).sum(axis=2).min(axis=1)
    return float((squares * weights).sum())


def lloyd(data: Data, clusters: int = 4, iterations: int = 10) -> float:
    """The objective of Lloyd's iterations without noise, from the same first centroids."""
    from blowproof.mechanisms.kmeans import first_centroids

    places = np.argwhere(data.counts)
    weights = data.counts[data.counts > 0]
    last = np.array(data.counts.shape) - 1
    centroids = first_centroids(clusters, 0 * last, last).astype(float)
    for _ in range(iterations):
        nearest = ((places[:, None, :] - centroids[None]) ** 2).sum(axis=2).argmin(axis=1)
        for k in range(clusters):
            mine = nearest == k
            if mine.any():
                centroids[k] = np.average(places[mine], axis=0, weights=weights[mine])
    return objective(data, centroids)


def clustered(data: Data, secrets: Secrets, epsilon: Fraction, times: int) -> NDArray[np.float64]:
    """The objective of private k-means, as a multiple of the one without noise."""
    policy = Policy(domain=data.domain(), secrets=secrets)
    table = NoisyTable(data.counts, policy.domain)
    base = lloyd(data)
    ratios = []
    for _ in range(times):
        made = plan("k-means", Request(policy=policy, epsilon=epsilon))
        found = np.array([float(v) for v in made.run(Draw(policy, table))])
        ratios.append(objective(data, found.reshape(4, -1)) / base)
    return np.array(ratios)


def thresholds(data: Data, named: dict[str, int], times: int) -> Iterator[Row]:
    """One line for full secrets, one for each threshold."""
    lines: dict[str, Secrets] = {"full": Full()}
    lines |= {name: Distance(threshold=t) for name, t in named.items()}
    for name, secrets in lines.items():
        for epsilon in EPSILONS:
            yield Row(name, str(float(epsilon)), clustered(data, secrets, epsilon, times))


def figure_1a(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """Locations, by threshold in kilometres."""
    data = twitter(folder)
    # 256 cells stand for about 2222 km
    named = {f"{km} km": round(km * 256 / 2222) for km in (2000, 1000, 500, 100)}
    return data.name, thresholds(data, named, times)


def figure_1b(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """Colours of a small sample, by threshold."""
    data = skin(folder, 0.01)
    return data.name, thresholds(data, {str(t): t for t in (256, 128, 64, 32, 8)}, times)


def figure_1c(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """Four dimensions, by threshold."""
    data = synthetic()
    named = {f"{t}": max(1, round(t * 20)) for t in (1.0, 0.5, 0.25, 0.1)}
    return data.name, thresholds(data, named, times)


def figure_1d(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """How the gain depends on how many records there are."""

    def rows() -> Iterator[Row]:
        for share in (1, 0.1, 0.01):
            data = skin(folder, share)
            for epsilon in EPSILONS:
                full = clustered(data, Full(), epsilon, times)
                near = clustered(data, Distance(threshold=128), epsilon, times)
                yield Row(data.name, str(float(epsilon)), full / near.mean())

    return "skin in three sizes: full secrets over threshold 128", rows()


def figure_1e(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """Attribute secrets beside full ones."""

    def rows() -> Iterator[Row]:
        for data in (twitter(folder), skin(folder, 0.01), synthetic()):
            for name, secrets in (("full", Full()), ("attribute", AttributeChange())):
                for epsilon in EPSILONS:
                    found = clustered(data, secrets, epsilon, times)
                    yield Row(f"{data.name}, {name}", str(float(epsilon)), found)

    return "attribute secrets", rows()


def figure_1f(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """Partitions into ever smaller cells."""
    data = twitter(folder)

    def rows() -> Iterator[Row]:
        for side in (1, 4, 16, 64, 256):
            width = 256 // side
            ends = [Between(i * width, (i + 1) * width - 1) for i in range(side)]
            cells = [Region(a=first, b=second) for first in ends for second in ends]
            secrets: Secrets = PartitionCells(cells) if side < 256 else PartitionBy(["a", "b"])
            for epsilon in EPSILONS:
                found = clustered(data, secrets, epsilon, times)
                yield Row(f"{side * side} cells", str(float(epsilon)), found)

    return data.name, rows()


# --- figure 2: ranges ---------------------------------------------------------------------------


def range_errors(
    data: Data, reach: int, epsilon: Fraction, times: int, fan_out: int
) -> NDArray[np.float64]:
    """The mean squared error of random ranges, once per repetition."""
    size = len(data.counts)
    policy = Policy(domain=data.domain(), secrets=Distance(threshold=min(reach, size - 1)))
    table = NoisyTable(data.counts, policy.domain)
    request = Request(
        policy=policy, query="cumulative(a)", epsilon=epsilon, options={"fan-out": str(fan_out)}
    )
    made = plan("hierarchical", request)
    truth = np.concatenate([[0], np.cumsum(data.counts)])
    rng = np.random.default_rng(6)
    ends = np.sort(rng.integers(0, size + 1, (RANGES, 2)), axis=1)
    errors = []
    for _ in range(times):
        found = np.array([0.0, *(float(v) for v in made.run(Draw(policy, table)))])
        wrong = (found[ends[:, 1]] - found[ends[:, 0]]) - (truth[ends[:, 1]] - truth[ends[:, 0]])
        errors.append(float((wrong**2).mean()))
    return np.array(errors)


def ranges(data: Data, named: dict[str, int], times: int) -> Iterator[Row]:
    """One line for each threshold."""
    for name, reach in named.items():
        for epsilon in EPSILONS:
            yield Row(name, str(float(epsilon)), range_errors(data, reach, epsilon, times, 16))


def figure_2b(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """Ranges over capital losses."""
    data = capital_loss(folder)
    named = {"full": len(data.counts), **{str(t): t for t in (1000, 500, 100, 50, 10, 1)}}
    return data.name, ranges(data, named, times)


def figure_2c(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """Ranges over latitudes."""
    located = twitter(folder)
    data = Data(f"{located.name}, latitude", located.counts.sum(axis=1))
    named = {"full": 256, "500 km": 58, "50 km": 6, "9 km (one cell)": 1}
    return data.name, ranges(data, named, times)


# --- figures 4 and 5: histograms on a line ------------------------------------------------------


def histogram_errors(name: str, data: Data, epsilon: Fraction, times: int) -> NDArray[np.float64]:
    """The mean squared error of a value's count, once per repetition."""
    policy = Policy(domain=data.domain(), secrets=Distance(threshold=1))
    table = NoisyTable(data.counts, policy.domain)
    errors = []
    for _ in range(times):
        made: Plan = plan(name, Request(policy=policy, epsilon=epsilon))
        found = np.array([float(v) for v in made.run(Draw(policy, table))])
        errors.append(float(((found - data.counts) ** 2).mean()))
    return np.array(errors)


def compared(data: Data, names: tuple[str, ...], times: int) -> Iterator[Row]:
    """One line for each mechanism."""
    for epsilon in (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10)):
        for name in names:
            found = histogram_errors(name, data, epsilon, times)
            yield Row(name, f"{data.name}, {float(epsilon):g}", found)


def figure_4(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """Histograms on a line graph."""
    names = ("laplace", "transformed", "dawa", "dawa-transformed")
    found = histograms(folder)
    rows = (row for data in found for row in compared(data, names, min(times, 5)))
    return f"{len(found)} histograms over 4,096 values, secrets: neighbouring values", rows


def figure_5(folder: Path | None, times: int) -> tuple[str, Iterator[Row]]:
    """The same with pairs of values from a matching."""
    base = next((d for d in histograms(folder) if d.name == "income"), histograms(folder)[0])
    half = Data(f"{base.name}, half", base.counts[:2048])
    rng = np.random.default_rng(7)
    frequent = Data("high counts", rng.integers(10_000, 1_000_000, 512))
    names = ("laplace", "transformed", "dawa", "dawa-transformed", "matching-transformed")
    rows = (row for data in (half, frequent) for row in compared(data, names, min(times, 5)))
    return "with the matching", rows


FIGURES: dict[str, Callable[[Path | None, int], tuple[str, Iterator[Row]]]] = {
    "1a": figure_1a, "1b": figure_1b, "1c": figure_1c, "1d": figure_1d, "1e": figure_1e,
    "1f": figure_1f, "2b": figure_2b, "2c": figure_2c, "4": figure_4, "5": figure_5,
}  # fmt: skip


def draw_picture(rows: list[Row], title: str, file: Path) -> None:
    """Lines over epsilon with their quartiles; figures 4 and 5 as groups of points."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    places = list(dict.fromkeys(row.x for row in rows))
    for line in dict.fromkeys(row.line for row in rows):
        mine = [row for row in rows if row.line == line]
        x = np.array([places.index(row.x) for row in mine])
        y = np.array([row.values.mean() for row in mine])
        low, high = np.array([np.quantile(row.values, [0.25, 0.75]) for row in mine]).T
        axes.plot(x, y, marker="o", markersize=3, label=line)
        axes.fill_between(x, low, high, alpha=0.15)
    axes.set_yscale("log")
    axes.set_xticks(range(len(places)), places, rotation=0 if len(places) < 10 else 75, fontsize=7)
    axes.set_title(title, fontsize=9)
    axes.legend(fontsize=7)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with dpbench/ and uci/")
    parser.add_argument("--out", type=Path, default=Path("build/figures"))
    parser.add_argument("--figure", action="append", choices=FIGURES, help="default: all")
    parser.add_argument("--repetitions", type=int, default=50)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.figure or FIGURES:
        started = time.monotonic()
        title, found = FIGURES[name](options.data, options.repetitions)
        rows = []
        print(f"\n## Figure {name}: {title}, {options.repetitions} repetitions\n", flush=True)
        print(
            "| line | x | mean | lower quartile | upper quartile |\n| --- | --- | --- | --- | --- |"
        )
        for row in found:
            rows.append(row)
            print(f"| {' | '.join(row.summary())} |", flush=True)
        with (options.out / f"figure_{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["line", "x", "mean", "lower quartile", "upper quartile"])
            writer.writerows(row.summary() for row in rows)
        draw_picture(rows, f"Figure {name}: {title}", options.out / f"figure_{name}.png")
        print(f"\n{time.monotonic() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
