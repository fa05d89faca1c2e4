"""The experiments of two papers, done again.

Figures 1 and 2 of blowfish-2014, figures 4 and 5 of data-dependent-blowfish.

    python benchmarks/paper_figures.py --data FOLDER --out build/figures
    python benchmarks/paper_figures.py --figure 2b --repetitions 10

Writes one CSV and one picture per figure into --out, and prints the tables. Every point that is
done is kept in --out/points.jsonl: a run that was stopped goes on where it was (remove the file to
measure again). With no --data, or where a file is missing there, data of the same shape are
generated (from a fixed seed) and the table says so. What came out, and how it compares with the
papers, is told in paper_figures.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from paper_data import Data, capital_loss, histograms, skin, synthetic, twitter

from blowproof.mechanisms.kinds.kmeans import REFINED, first_centroids
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Draw, Request
from blowproof.models import (
    AttributeChange,
    Between,
    Distance,
    Domain,
    Full,
    PartitionBy,
    PartitionCells,
    Policy,
    Region,
)
from blowproof.models.secrets.written import SecretsSpec as Secrets

Floats = NDArray[np.float64]
EPSILONS = tuple(Fraction(k, 10) for k in range(1, 11))
CLUSTERS, ITERATIONS = 4, 10
RANGES = 10_000
FAN_OUT = 16
TRIALS = 5
"""Figures 4 and 5 are means of five trials in the paper."""


@dataclass(frozen=True)
class Point:
    """One point of a figure: a line's label, its place on the x axis, and how it is measured."""

    line: str
    x: str
    measure: Callable[[], Floats]


@dataclass(frozen=True)
class Row:
    """A point that was measured, once per repetition."""

    line: str
    x: str
    values: Floats

    def summary(self) -> list[str]:
        """Return the row of a table: mean and quartiles."""
        low, high = np.quantile(self.values, [0.25, 0.75])
        return [self.line, self.x, *(f"{v:.4g}" for v in (self.values.mean(), low, high))]


Figure = tuple[str, Iterator[Point]]

# --- figure 1: k-means ------------------------------------------------------------------------


def assigned(data: Data, centroids: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the nearest centroid of every place, and the squared distance to it."""
    squares = np.stack([((data.places - c) ** 2).sum(axis=1) for c in centroids])
    return squares.argmin(axis=0), squares.min(axis=0)


def objective(data: Data, centroids: Floats) -> float:
    """The sum of squared distances to the nearest centroid."""
    return float((assigned(data, centroids)[1] * data.weights).sum())


def lloyd(data: Data, scales: tuple[float, float] = (0, 0)) -> float:
    """The objective of Lloyd's iterations, from the same first centroids as the private ones.

    `scales`: of Laplace noise on sizes and sums, as numpy draws it: a simulation, not a release.
    """
    rng = np.random.default_rng()
    last = np.array(data.counts.shape) - 1
    centroids = first_centroids(CLUSTERS, 0 * last, REFINED * last) / REFINED
    for _ in range(ITERATIONS):
        nearest, _ = assigned(data, centroids)
        sizes = np.bincount(nearest, data.weights, CLUSTERS)
        sums = np.stack(
            [np.bincount(nearest, data.weights * axis, CLUSTERS) for axis in data.places.T], axis=1
        )
        sizes += rng.laplace(0, scales[0], CLUSTERS) if scales[0] else 0
        sums += rng.laplace(0, scales[1], sums.shape) if scales[1] else 0
        heard = sizes >= 1
        centroids[heard] = np.clip(sums[heard] / sizes[heard, None], 0, last)
    return objective(data, centroids)


@lru_cache(maxsize=4)
def policy_of(domain: Domain, secrets: Secrets) -> Policy:
    """Return the policy; thousands of cells take seconds to check."""
    return Policy(domain=domain, secrets=secrets)


def clustered(data: Data, secrets: Secrets, epsilon: Fraction, times: int) -> Floats:
    """The objective of private k-means, as a multiple of the one without noise."""
    policy = policy_of(data.domain(), secrets)
    table = NoisyTable(data.counts, policy.domain)
    base = lloyd(data)
    ratios = []
    for _ in range(times):
        ten = {"iterations": str(ITERATIONS)}  # as in the paper; fewer are better
        made = plan("k-means", Request(policy=policy, epsilon=epsilon, options=ten))
        found = np.array([float(v) for v in made.run(Draw(made, table))])
        ratios.append(objective(data, found.reshape(CLUSTERS, -1)) / base)
    return np.array(ratios)


def printed(data: Data, theta: int, epsilon: Fraction, times: int) -> Floats:
    """The same for SuLQ k-means calibrated by Lemma 6.1 (half of epsilon each), not private."""
    each = float(epsilon) / ITERATIONS / 2
    base = lloyd(data)
    return np.array([lloyd(data, (2 / each, 2 * theta / each)) / base for _ in range(times)])


def lines(data: Data, named: dict[str, Secrets], times: int, label: str = "{}") -> Iterator[Point]:
    """A line for each kind of secret."""
    for name, secrets in named.items():
        for epsilon in EPSILONS:
            yield Point(
                label.format(name),
                str(float(epsilon)),
                lambda s=secrets, e=epsilon: clustered(data, s, e, times),  # type: ignore[misc]
            )


def thresholds(data: Data, named: dict[str, int], times: int) -> Iterator[Point]:
    """Full secrets and each threshold; then as printed: full secrets and the paper's narrowest."""
    yield from lines(
        data, {"full": Full(), **{k: Distance(threshold=t) for k, t in named.items()}}, times
    )
    narrowest = list(named)[3]
    widest = sum(size - 1 for size in data.counts.shape)
    for name, theta in (("full", widest), (narrowest, named[narrowest])):
        for epsilon in EPSILONS:
            yield Point(
                f"printed, {name}",
                str(float(epsilon)),
                lambda t=theta, e=epsilon: printed(data, t, e, times),  # type: ignore[misc]
            )


def figure_1a(folder: Path | None, times: int) -> Figure:
    """Locations, by threshold in kilometres."""
    data = twitter(folder)
    # 256 cells stand for about 2222 km
    named = {f"{km} km": round(km * 256 / 2222) for km in (2000, 1000, 500, 100)}
    return data.name, thresholds(data, named, times)


def figure_1b(folder: Path | None, times: int) -> Figure:
    """Colours of a small sample, by threshold."""
    data = skin(folder, 0.01)
    return data.name, thresholds(data, {str(t): t for t in (256, 128, 64, 32, 8)}, times)


def figure_1c(folder: Path | None, times: int) -> Figure:
    """Four dimensions, by threshold."""
    data = synthetic()
    named = {f"{t}": max(1, round(t * 20)) for t in (1.0, 0.5, 0.25, 0.1)}
    return data.name, thresholds(data, named, times)


def figure_1d(folder: Path | None, times: int) -> Figure:
    """How the gain depends on how many records there are."""

    def gain(data: Data, epsilon: Fraction) -> Floats:
        near = clustered(data, Distance(threshold=128), epsilon, times)
        return clustered(data, Full(), epsilon, times) / near.mean()

    def points() -> Iterator[Point]:
        for share in (1, 0.1, 0.01):
            data = skin(folder, share)
            for epsilon in EPSILONS:
                yield Point(data.name, str(float(epsilon)), lambda e=epsilon: gain(data, e))  # type: ignore[misc] # noqa: B023

    return "skin in three sizes: full secrets over threshold 128", points()


def figure_1e(folder: Path | None, times: int) -> Figure:
    """Attribute secrets beside full ones."""
    kinds: dict[str, Secrets] = {"full": Full(), "attribute": AttributeChange()}

    def points() -> Iterator[Point]:
        for data in (twitter(folder), skin(folder, 0.01), synthetic()):
            yield from lines(data, kinds, times, f"{data.name}, {{}}")

    return "attribute secrets", points()


def figure_1f(folder: Path | None, times: int) -> Figure:
    """Partitions into ever smaller cells."""
    data = twitter(folder)
    kinds: dict[str, Secrets] = {}
    for side in (1, 4, 16, 64):
        width = 256 // side
        ends = [Between(i * width, (i + 1) * width - 1) for i in range(side)]
        cells = [Region(a=first, b=second) for first in ends for second in ends]
        kinds[f"{side * side} cells"] = PartitionCells(cells)
    kinds["65536 cells"] = PartitionBy(["a", "b"])
    return data.name, lines(data, kinds, times)


# --- figure 2: ranges ---------------------------------------------------------------------------


def range_errors(data: Data, reach: int, epsilon: Fraction, times: int) -> Floats:
    """The mean squared error of random ranges, once per repetition."""
    size = len(data.counts)
    policy = Policy(domain=data.domain(), secrets=Distance(threshold=min(reach, size - 1)))
    table = NoisyTable(data.counts, policy.domain)
    options = {"fan-out": str(FAN_OUT)}
    request = Request(policy=policy, query="cumulative(a)", epsilon=epsilon, options=options)
    made = plan("hierarchical", request)
    truth = np.concatenate([[0], np.cumsum(data.counts)])
    rng = np.random.default_rng(6)
    ends = np.sort(rng.integers(0, size + 1, (RANGES, 2)), axis=1)
    errors = []
    for _ in range(times):
        found = np.array([0.0, *(float(v) for v in made.run(Draw(made, table)))])
        wrong = (found[ends[:, 1]] - found[ends[:, 0]]) - (truth[ends[:, 1]] - truth[ends[:, 0]])
        errors.append(float((wrong**2).mean()))
    return np.array(errors)


def ranges(data: Data, named: dict[str, int], times: int) -> Iterator[Point]:
    """One line for each threshold."""
    for name, reach in named.items():
        for epsilon in EPSILONS:
            yield Point(
                name,
                str(float(epsilon)),
                lambda r=reach, e=epsilon: range_errors(data, r, e, times),  # type: ignore[misc]
            )


def figure_2b(folder: Path | None, times: int) -> Figure:
    """Ranges over capital losses."""
    data = capital_loss(folder)
    named = {"full": len(data.counts), **{str(t): t for t in (1000, 500, 100, 50, 10, 1)}}
    return data.name, ranges(data, named, times)


def figure_2c(folder: Path | None, times: int) -> Figure:
    """Ranges over latitudes."""
    located = twitter(folder)
    data = Data(f"{located.name}, latitude", located.counts.sum(axis=1))
    named = {"full": 256, "500 km": 58, "50 km": 6, "9 km (one cell)": 1}
    return data.name, ranges(data, named, times)


# --- figures 4 and 5: histograms on a line ------------------------------------------------------


def histogram_errors(name: str, data: Data, epsilon: Fraction, times: int) -> Floats:
    """The mean squared error of a value's count, once per repetition."""
    policy = Policy(domain=data.domain(), secrets=Distance(threshold=1))
    table = NoisyTable(data.counts, policy.domain)
    errors = []
    for _ in range(times):
        made = plan(name, Request(policy=policy, epsilon=epsilon))
        found = np.array([float(v) for v in made.run(Draw(made, table))])
        errors.append(float(((found - data.counts) ** 2).mean()))
    return np.array(errors)


def compared(data: Data, names: tuple[str, ...], times: int) -> Iterator[Point]:
    """One line for each mechanism."""
    for epsilon in (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10)):
        for name in names:
            yield Point(
                name,
                f"{data.name}, {float(epsilon):g}",
                lambda n=name, e=epsilon: histogram_errors(n, data, e, times),  # type: ignore[misc]
            )


def figure_4(folder: Path | None, times: int) -> Figure:
    """Histograms on a line graph."""
    names = ("laplace", "transformed", "ordered", "dawa", "dawa-transformed")
    found = histograms(folder)
    points = (point for data in found for point in compared(data, names, min(times, TRIALS)))
    return f"{len(found)} histograms over 4,096 values, secrets: neighbouring values", points


def figure_5(folder: Path | None, times: int) -> Figure:
    """The same with pairs of values from a matching."""
    base = next((d for d in histograms(folder) if d.name == "income"), histograms(folder)[0])
    half = Data(f"{base.name}, half", base.counts[:2048])
    rng = np.random.default_rng(7)
    frequent = Data("high counts", rng.integers(10_000, 1_000_000, 512))
    names = (
        "laplace",
        "transformed",
        "ordered",
        "dawa",
        "dawa-transformed",
        "matching-transformed",
    )
    points = (p for data in (half, frequent) for p in compared(data, names, min(times, TRIALS)))
    return "with the matching", points


FIGURES: dict[str, Callable[[Path | None, int], Figure]] = {
    "1a": figure_1a, "1b": figure_1b, "1c": figure_1c, "1d": figure_1d, "1e": figure_1e,
    "1f": figure_1f, "2b": figure_2b, "2c": figure_2c, "4": figure_4, "5": figure_5,
}  # fmt: skip

# --- tables and pictures ------------------------------------------------------------------------


class Kept:
    """Points that are done, a line of JSON each."""

    def __init__(self, file: Path) -> None:
        self.file = file
        lines = file.read_text().splitlines() if file.exists() else []
        self.done = {tuple(key): values for key, values in map(json.loads, lines)}

    def row(self, point: Point, *key: str) -> Row:
        """Return a point, measured now or earlier."""
        whole = (*key, point.line, point.x)
        if whole not in self.done:
            self.done[whole] = point.measure().tolist()
            with self.file.open("a") as file:
                file.write(json.dumps([whole, self.done[whole]]) + "\n")
        return Row(point.line, point.x, np.array(self.done[whole]))


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
    axes.set_xticks(range(len(places)), places, rotation=0 if len(places) < 11 else 75, fontsize=7)
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
    kept = Kept(options.out / "points.jsonl")
    for name in options.figure or FIGURES:
        started = time.monotonic()
        title, found = FIGURES[name](options.data, options.repetitions)
        rows = []
        print(f"\n## Figure {name}: {title}, {options.repetitions} repetitions\n", flush=True)
        print(
            "| line | x | mean | lower quartile | upper quartile |\n| --- | --- | --- | --- | --- |"
        )
        for point in found:
            rows.append(kept.row(point, name, title, str(options.repetitions)))
            print(f"| {' | '.join(rows[-1].summary())} |", flush=True)
        with (options.out / f"figure_{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["line", "x", "mean", "lower quartile", "upper quartile"])
            writer.writerows(row.summary() for row in rows)
        draw_picture(rows, f"Figure {name}: {title}", options.out / f"figure_{name}.png")
        print(f"\n{time.monotonic() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
