"""How often intervals of 95 % hold the truth: every mechanism, before and after the estimator.

    python benchmarks/intervals.py [--rounds 200] [--estimates 40] [--only NAME]

Public counts are released many times over with the noise of real releases. For each mechanism: the
share of all (draw, number) pairs whose interval holds the true number, and that of the number whose
interval fares worst. `released` are the intervals of answer files, `rounded` the same around whole
numbers, `estimate` those of `blowproof estimate` on the one release. Of estimates without numbers
below 0 and of whole ones the interval is that of least squares, cut off at 0: where it held a
number of records, it still does.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.combining.estimator import Estimator
from blowproof.mechanisms.combining.measurements import measured_in
from blowproof.mechanisms.combining.operators import operator_of
from blowproof.mechanisms.expecting.clusters import formed
from blowproof.mechanisms.expecting.rehearsal import numbers
from blowproof.mechanisms.expecting.uncertainty import uncertainty
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.planning.default import in_whole_numbers
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Plan, Request, release
from blowproof.mechanisms.structures.memberships import Memberships
from blowproof.models import Distance, Domain, Integers, Labels, Marginal, Policy, QueryError

Floats = NDArray[np.float64]
SHAPES = ("flat", "peaks", "empty")
LINE = Policy(domain=Domain(age=Integers(0, 63)), secrets=Distance(threshold=4))
ALL = Policy(domain=Domain(age=Integers(0, 63)))
GRID = Policy(domain=Domain(x=Integers(0, 15), y=Integers(0, 15)), secrets=Distance(threshold=1))


def _table(shape: str) -> Policy:
    """A table of 8 regions by 2 sexes by 5 ages, with a published margin."""
    domain = Domain(region=Labels([f"r{k}" for k in range(8)]), sex=Labels(["f", "m"]),
                    age=Integers(0, 4))  # fmt: skip
    sums = counts(domain, shape).sum(axis=(1, 2))
    return Policy(domain=domain, known=(Marginal(["region"], answers=sums.ravel().tolist()),))


def counts(domain: Domain, shape: str) -> NDArray[np.int64]:
    """Return public counts: `flat`; `peaks` with few in between; `empty`, mostly nobody."""
    sizes = [kind.size for _, kind in domain.attributes]
    axes = np.meshgrid(*(np.linspace(0, 1, size) for size in sizes), indexing="ij")
    if shape == "flat":
        return np.full(sizes, 40, dtype=np.int64)
    peaks = sum(np.exp(-(sum((axis - at) ** 2 for axis in axes)) / 0.01) for at in (0.2, 0.65))
    found: NDArray[np.int64] = np.rint((400 if shape == "peaks" else 60) * peaks).astype(np.int64)
    return found + (3 if shape == "peaks" else 0)


@dataclass(frozen=True)
class Case:
    """A mechanism for a query under a policy, with its settings."""

    mechanism: str
    policy: Policy
    query: str = "histogram"
    settings: dict[str, str] = field(default_factory=dict)
    epsilon: Fraction | None = Fraction(1)
    rho: Fraction | None = None

    @property
    def name(self) -> str:
        """What the case is called in the table."""
        more = "".join(f", {key} {value}" for key, value in self.settings.items())
        return f"{self.mechanism}{more}"

    def made(self) -> Plan:
        """Return the plan."""
        request = Request(
            policy=self.policy, query=self.query, epsilon=self.epsilon or Fraction(0),
            rho=self.rho, options=self.settings, accept_wide_bounds=True,
        )  # fmt: skip
        return plan(self.mechanism, request)


def cases(shape: str) -> Iterator[Case]:
    """Yield every mechanism that answers a query, where it is at home."""
    half = Fraction(1, 2)
    table = _table(shape)
    yield Case("laplace", ALL)
    yield Case("laplace", LINE, "cumulative(age)")
    yield Case("laplace", LINE, "sum(age)")
    yield Case("gaussian", ALL, epsilon=None, rho=half)
    yield Case("k-norm", table)
    yield Case("k-norm", table, settings={"shape": "cube"})
    yield Case("ordered", LINE)
    yield Case("ordered", LINE, "cumulative(age)")
    yield Case("hierarchical", LINE, "ranges(age)")
    yield Case("hierarchical", ALL, "ranges(age)")
    yield Case("consistent", table)
    yield Case("consistent", table, settings={"numbers": "positive"})
    yield Case("consistent", table, settings={"numbers": "whole"})
    yield Case("transformed", LINE)
    yield Case("transformed", GRID)
    yield Case("table", LINE, "cumulative(age)")
    yield Case("steps", GRID)
    yield Case("quadtree", GRID)
    yield Case("strategy", ALL, "ranges(age)")
    yield Case("strategy", GRID, "marginal(x)")
    yield Case("dawa", ALL)
    yield Case("dawa-transformed", LINE)
    yield Case("matching-transformed", LINE)


def measured(case: Case, shape: str, rounds: int, estimates: int) -> Iterator[tuple[str, Floats]]:
    """Yield, for each kind of interval, the share of draws in which it holds each number."""
    made = case.made()
    domain = case.policy.domain
    data = NoisyTable(counts(domain, shape), domain)
    truth = numbers(true_answers(made.request.bound, case.policy, data))
    said = uncertainty(made, len(truth), data.size)
    held: dict[str, list[Floats]] = {}
    for _ in range(rounds):
        found = release(made, data)
        values = numbers(found.answers)
        if said is not None:
            halves = np.asarray(said.halves)
            held.setdefault("released", []).append(abs(values - truth) <= halves + 1e-9)
            whole = numbers(in_whole_numbers(found).answers)
            held.setdefault("rounded", []).append(abs(whole - truth) <= halves + 1e-9)
    for kind, rows in held.items():
        yield kind, np.mean(rows, axis=0)
    if estimates:
        yield from _estimated(case, made, data, truth, estimates)


def _estimated(
    case: Case, made: Plan, data: NoisyTable, truth: Floats, estimates: int
) -> Iterator[tuple[str, Floats]]:
    """Yield the share for least squares, whose errors are the same in every draw."""
    half: Floats | None = None
    held = []
    for _ in range(estimates):
        found = release(made, data)
        drawn = zip(found.description.releases, found.measured, strict=True)
        estimator = Estimator(
            case.policy, [measured_in(item, noisy, case.policy) for item, noisy in drawn],
            reading="published", size=data.size,
        )  # fmt: skip
        if half is None:
            try:
                got = estimator.answers(made.request.bound, "real")
            except QueryError:  # it needs what was made public beside what was measured
                return
            half = (got.ends[1] - got.ends[0]) / 2
        operator = operator_of(made.request.bound, case.policy.domain)
        held.append(abs(operator.forward(estimator.table()) - truth) <= half + 1e-6)
    yield "estimate", np.mean(held, axis=0)


def _of_clusters(rounds: int) -> Iterator[tuple[str, Floats]]:
    """Yield the same for k-means: each coordinate of a centre, and each size."""
    how = Case("k-means", GRID, settings={"clusters": "2"}, epsilon=Fraction(2)).made()
    data = NoisyTable(counts(GRID.domain, "peaks"), GRID.domain)
    centres, sizes = [], []
    for _ in range(rounds):
        found = formed(release(how, data))
        *_, before, sums, last = found.description.releases
        assert found.form is not None and isinstance(sums.query, Memberships)
        old = sums.query.clusters.centroids
        many, ways, held = (it.query.evaluate(data).units for it in (before, sums, last))  # type: ignore[union-attr]
        truth = (old + ways.reshape(old.shape) / many[:, None]) * float(sums.query.clusters.grid)
        for row, at, size in zip(found.form.rows, truth.tolist(), held.tolist(), strict=True):
            centres.append(
                [low <= it <= high for (*_, low, high), it in zip(row, at, strict=False)]
            )
            sizes.append([row[-1][2] <= size <= row[-1][3]])
    yield "centres", np.mean(centres, axis=0)
    yield "sizes", np.mean(sizes, axis=0)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--estimates", type=int, default=40)
    parser.add_argument("--only", default="")
    parser.add_argument("--after", default="", help="leave out the cases up to this one")
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    options = parser.parse_args()
    print("| mechanism | query | data | intervals | hold | worst number |")
    print("| --- | --- | --- | --- | --- | --- |")
    for shape in options.shapes:
        for case in cases(shape):
            if options.after:
                options.after = "" if options.after == case.name else options.after
                continue
            if options.only not in case.name:
                continue
            for kind, share in measured(case, shape, options.rounds, options.estimates):
                row = (
                    case.name,
                    case.query,
                    shape,
                    kind,
                    f"{share.mean():.3f}",
                    f"{share.min():.3f}",
                )
                print(f"| {' | '.join(row)} |", flush=True)
    if options.only in "k-means":
        for kind, share in _of_clusters(options.rounds):
            print(f"| k-means | | peaks | {kind} | {share.mean():.3f} | {share.min():.3f} |")


if __name__ == "__main__":
    main()
