"""What a plan chooses, against what would have been best, the peers and what no mechanism beats.

`python benchmarks/worth.py --data FOLDER` prints a table for `releases.md`: for each job the RMSE
over some draws (20) of every option of the plan, on the real data, which the plan has not seen. A
ratio above 1 is worse. Peers are what is installed of other libraries, at the same guarantee;
`--peers FOLDER` adds a site-packages folder with diffprivlib and mbi, which are no dependencies of
this project. `public_dawa` is the algorithm of the public DAWA (its power-of-two partition, and
Laplace noise on buckets), written anew with floats, for no index has the package.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import log, sqrt
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray
from paper_data import capital_loss, histograms, twitter

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.combining.estimator import Estimator
from blowproof.mechanisms.combining.measurements import measured_in
from blowproof.mechanisms.combining.operators import operator_of
from blowproof.mechanisms.expecting.rehearsal import numbers
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.release import Plan, Request, release
from blowproof.mechanisms.structures.partitions import cheapest_intervals, interval_rows
from blowproof.models import Distance, Domain, Integers, Labels, Marginal, Policy, parse_query

Floats = NDArray[np.float64]
Peer = Callable[["Job", Sequence[Floats]], list[Floats]]


@dataclass(frozen=True)
class Job:
    """Data under a policy, queries, and what other libraries would do, if any can."""

    name: str
    policy: Policy
    counts: NDArray[np.int64]
    queries: tuple[str, ...]
    budget: Fraction
    peers: tuple[tuple[str, Peer], ...] = ()
    rho: bool = False

    @property
    def data(self) -> NoisyTable:
        """The data as a table."""
        return NoisyTable(self.counts, self.policy.domain)


def laplace_of(sensitivity: int) -> Peer:
    """Return OpenDP's Laplace mechanism on the answers, for an S that is worked out beforehand."""

    def draw(job: Job, truth: Sequence[Floats]) -> list[Floats]:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        each = sensitivity * len(truth) / float(job.budget)
        noisy = dp.m.make_laplace(*space, scale=each)
        return [np.array(noisy(part.astype(int).tolist()), dtype=np.float64) for part in truth]

    return draw


def gaussian_of(squares: int) -> Peer:
    """Return OpenDP's Gaussian mechanism on the answers, all of which one move may change."""

    def draw(job: Job, truth: Sequence[Floats]) -> list[Floats]:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
        sigma = sqrt(squares * len(truth) / 2 / float(job.budget))
        noisy = dp.m.make_gaussian(*space, scale=sigma)
        return [np.array(noisy(part.astype(int).tolist()), dtype=np.float64) for part in truth]

    return draw


def diffprivlib_of(sensitivity: int) -> Peer:
    """Return diffprivlib's geometric mechanism on each count."""

    def draw(job: Job, truth: Sequence[Floats]) -> list[Floats]:
        from diffprivlib.mechanisms import Geometric  # type: ignore[import-not-found]

        share = float(job.budget) / len(truth)
        made = Geometric(epsilon=share, sensitivity=sensitivity)
        return [np.array([made.randomise(int(x)) for x in part], dtype=float) for part in truth]

    return draw


def tree(job: Job, truth: Sequence[Floats]) -> list[Floats]:
    """Return prefixes from OpenDP's tree with fan-out 16, two changes on each level."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    counts = job.counts
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    levels = int(np.ceil(log(len(counts), 16))) + 1
    made = dp.t.make_b_ary_tree(*space, leaf_count=len(counts), branching_factor=16)
    noisy = made >> dp.m.then_laplace(scale=2.0 * levels / float(job.budget))
    consistent = noisy >> dp.t.make_consistent_b_ary_tree(branching_factor=16)
    found = np.array(consistent(counts.tolist()), dtype=np.float64)[: len(counts)]
    return [np.cumsum(found)]


def mbi(job: Job, truth: Sequence[Floats]) -> list[Floats]:
    """Return marginals that mbi estimates from noisy ones, the budget split evenly among them."""
    warnings.filterwarnings("ignore")
    import jax  # type: ignore[import-not-found]

    jax.config.update("jax_enable_x64", True)
    from mbi import Domain as Attributes  # type: ignore[import-not-found]
    from mbi import LinearMeasurement, estimation

    names = job.policy.domain.names
    sizes = [kind.size for _, kind in job.policy.domain.attributes]
    draw, many = np.random.default_rng(), len(truth)
    cliques = [tuple(text[len("marginal(") : -1].split(",")) for text in job.queries]
    share = float(job.budget) / many
    measured = []
    for clique, part in zip(cliques, truth, strict=True):
        wide = sqrt(1 / share) if job.rho else sqrt(2) * 2 / share
        noise = (
            draw.normal(0, wide, len(part)) if job.rho else draw.laplace(0, 2 / share, len(part))
        )
        measured.append(LinearMeasurement(part + noise, clique, stddev=wide))
    attributes = Attributes(names, sizes)
    model = estimation.MirrorDescent().estimate(attributes, measured, known_total=job.data.size)
    return [np.array(model.project(clique).datavector()) for clique in cliques]


def public_dawa(job: Job, truth: Sequence[Floats]) -> list[Floats]:
    """Return a histogram by DAWA's partition and Laplace noise: a quarter of epsilon for the first.

    One record that moves is two that come or go, so both steps have twice the noise of the paper.
    """
    draw, (counts,), epsilon = np.random.default_rng(), truth, float(job.budget)
    first, size = epsilon / 4, len(counts)
    rows = interval_rows(size, size)
    lengths = [1 << row for row in range(rows)]
    noises = [
        np.rint(draw.laplace(0, 4 / first, size - length + 1) * lengths[-1]).astype(np.int64)
        for length in lengths
    ]
    penalty = Fraction(round(2 / (epsilon - first) * 1000), 1000)
    ends = cheapest_intervals(counts.astype(np.int64), noises, penalty)
    widths = np.diff(ends, prepend=0)
    bucket = np.repeat(np.arange(len(ends)), widths)
    sums = np.bincount(bucket, weights=counts) + draw.laplace(0, 2 / (epsilon - first), len(ends))
    return [(np.maximum(sums, 0) / widths)[bucket]]


def table_of(folder: Path, *names: str) -> tuple[Domain, NDArray[np.int64]]:
    """Return some columns of Adult as a domain of labels and a table of counts."""
    found = duckdb.read_parquet(str(folder / "uci" / "adult.parquet")).fetchnumpy()
    labels = {name: sorted({str(item) for item in found[name]}) for name in names}
    places = [np.array([labels[name].index(str(item)) for item in found[name]]) for name in names]
    shape = [len(labels[name]) for name in names]
    flat = np.ravel_multi_index(tuple(places), shape)
    domain = Domain({name: Labels(labels[name]) for name in names})
    return domain, np.bincount(flat, minlength=int(np.prod(shape)))


def jobs(folder: Path) -> Iterator[Job]:
    """Yield the jobs: Adult beside published margins and alone, and the papers' histograms."""
    one, tenth, table = Fraction(1), Fraction(1, 10), ("histogram",)
    for names in (("education", "sex"), ("education", "race")):
        domain, counts = table_of(folder, *names)
        policy = Policy(domain=domain, known=(Marginal(("education",)),))
        yield Job(f"Adult {' x '.join(names)}, education published", policy, counts, table,
                  one, (("OpenDP Laplace, our S", laplace_of(32)),
                        ("diffprivlib, our S", diffprivlib_of(32))))  # fmt: skip
    domain, counts = table_of(folder, "education", "sex", "race")
    both = (("OpenDP Laplace", laplace_of(2)), ("diffprivlib", diffprivlib_of(2)))
    yield Job("Adult education x sex x race", Policy(domain=domain), counts, table, one, both)
    domain, counts = table_of(folder, "education", "sex", "race", "relationship")
    pairs = tuple(f"marginal({a},{b})" for a, b in combinations(domain.names, 2))
    yield Job("Adult, six marginals of two", Policy(domain=domain), counts, pairs, one,
              (("OpenDP Laplace", laplace_of(2)), ("mbi", mbi)))  # fmt: skip
    yield Job("the same, rho", Policy(domain=domain), counts, pairs, Fraction(1, 2),
              (("OpenDP Gaussian", gaussian_of(2)), ("mbi", mbi)), rho=True)  # fmt: skip
    loss = capital_loss(folder).counts
    line = Domain(loss=Integers(0, len(loss) - 1))
    yield Job("Adult capital loss, prefixes", Policy(domain=line), loss, ("cumulative(loss)",),
              one, (("OpenDP tree", tree),))  # fmt: skip
    near = Policy(domain=line, secrets=Distance(threshold=100))
    yield Job("the same, within 100", near, loss, ("cumulative(loss)",), tenth,
              (("OpenDP tree", tree),))  # fmt: skip
    for data in histograms(folder):
        if data.name in ("medcost", "nettrace", "hepth", "income"):
            values = Domain(x=Integers(0, 4095))
            policy = Policy(domain=values, secrets=Distance(threshold=1))
            yield Job(f"{data.name}, line graph", policy, data.counts, table, tenth,
                      (*both, ("DAWA", public_dawa)))  # fmt: skip
            if data.name == "medcost":
                yield Job("medcost, full secrets", Policy(domain=values), data.counts, table,
                          tenth, (*both, ("DAWA", public_dawa)))  # fmt: skip
    tweets = twitter(folder).counts
    grid = Domain(x=Integers(0, 255), y=Integers(0, 255))
    policy = Policy(domain=grid, secrets=Distance(threshold=1))
    yield Job("tweets, grid within 1", policy, tweets.ravel(), table, tenth, both[:1])


def errors_of(found: Sequence[Floats], truth: Sequence[Floats]) -> float:
    """Return the mean over the queries of their mean squared errors."""
    return float(np.mean([np.mean((a - b) ** 2) for a, b in zip(found, truth, strict=True)]))


def spread(squares: Sequence[float]) -> tuple[float, float]:
    """Return the RMSE of some draws, and its standard error."""
    mean = float(np.mean(squares))
    return sqrt(mean), float(np.std(squares, ddof=1)) / sqrt(len(squares)) / (2 * sqrt(mean) or 1.0)


def real_error(plan: Plan, job: Job, truth: Sequence[Floats], draws: int) -> tuple[float, float]:
    """Return the RMSE of real draws on the real data, and its standard error."""
    ends = np.cumsum([len(part) for part in truth])[:-1]
    found = []
    for _ in range(draws):
        answers = np.array([float(value) for value in release(plan, job.data).answers])
        found.append(errors_of(np.split(answers, ends), truth))
    return spread(found)


def estimated_error(plan: Plan, job: Job, truth: Sequence[Floats], draws: int) -> float:
    """Return the RMSE of `blowproof estimate --numbers positive` from such draws: it is free."""
    found = []
    for _ in range(draws):
        drawn = release(plan, job.data)
        pairs = zip(drawn.description.releases, drawn.measured, strict=True)
        table = Estimator(
            job.policy,
            [measured_in(item, noisy, job.policy) for item, noisy in pairs],
            reading="published",
            size=drawn.size,
        ).table("positive")
        queries = [parse_query(text, job.policy) for text in job.queries]
        answers = [operator_of(query, job.policy.domain).forward(table) for query in queries]
        found.append(errors_of(answers, truth))
    return spread(found)[0]


def row(job: Job, draws: int, seconds: float, most: int) -> str:
    """Return one job as a row of the table."""
    work = workload(job.queries, [], job.policy)
    request = Request(
        policy=job.policy,
        query=work.queries[0],
        epsilon=Fraction(0) if job.rho else job.budget,
        rho=job.budget if job.rho else None,
        time_limit=seconds,
        accept_wide_bounds=True,
    )
    truth = [numbers(true_answers(query, job.policy, job.data)) for query in work.queries]
    found = planned(request, work, size=job.data.size)
    assert found.chosen is not None
    compared = found.options[:most]
    errors = {option.short: real_error(option.plan, job, truth, draws) for option in compared}
    best = min(errors, key=lambda text: errors[text][0])
    ours, wide = errors[found.chosen.short]
    found_by = {
        name: spread([errors_of(draw(job, truth), truth) for _ in range(draws)])
        for name, draw in job.peers
    }
    peers = {name: error for name, (error, _) in found_by.items()}
    named = "; ".join(
        f"{name} {error:.3g} +- {1.96 * off:.1g}" for name, (error, off) in found_by.items()
    )
    named = named or "-"
    ratio = f"{ours / min(peers.values()):.2g}" if peers else "-"
    shown = f"{ours:.3g} +- {1.96 * wide:.2g}"
    if len(job.queries) > 1:
        better = estimated_error(found.chosen.plan, job, truth, draws)
        shown += f"; estimated together, none below 0: {better:.3g}"
        ratio += f", {better / min(peers.values()):.2g}"
    bound = "-" if not found.bound else f"{ours / found.bound:.3g}"
    cells = (
        job.name, f"{'rho ' * job.rho}{job.budget}", found.chosen.short,
        f"{found.chosen.rmse:.3g}", shown,
        f"{best}: {ours / errors[best][0]:.3g}", named, ratio, bound,
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", default="", help="jobs with this in their name")
    parser.add_argument("--options", type=int, default=20, help="so many of the best in the plan")
    parser.add_argument("--peers", type=Path, help="a folder with other libraries")
    options = parser.parse_args()
    if options.peers is not None:
        sys.path.append(str(options.peers))
    print("| job | epsilon | chosen | expected | RMSE | best in hindsight, ratio to it | peers "
          "| ratio to the best peer | times the lower bound |")  # fmt: skip
    print("| --- " * 9 + "|")
    for job in jobs(options.data):
        if options.only in job.name:
            print(row(job, options.draws, options.seconds, options.options), flush=True)


if __name__ == "__main__":
    main()
