"""What a plan chooses, against what would have been best, the peers and what no mechanism beats.

`python benchmarks/worth.py --data FOLDER` prints a table for `releases.md`: for each job the RMSE
over some draws (20) of every option of the plan, on the real data, which the plan has not seen. A
ratio above 1 is worse. Peers are what is installed of other libraries, at the same guarantee.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray
from paper_data import capital_loss, histograms, twitter

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.expecting.rehearsal import numbers
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.release import Plan, Request, release
from blowproof.models import Distance, Domain, Integers, Labels, Marginal, Policy

Floats = NDArray[np.float64]
Peer = Callable[[NDArray[np.int64], float], Floats]


@dataclass(frozen=True)
class Job:
    """Data under a policy, a query, and what another library would do, if any can."""

    name: str
    policy: Policy
    counts: NDArray[np.int64]
    query: str
    epsilon: Fraction
    peer: tuple[str, Peer] | None = None


def laplace_of(sensitivity: int) -> Peer:
    """Return OpenDP's Laplace mechanism on counts, for an S that is worked out beforehand."""

    def draw(counts: NDArray[np.int64], epsilon: float) -> Floats:
        import opendp.prelude as dp

        dp.enable_features("contrib")
        space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
        noisy = dp.m.make_laplace(*space, scale=sensitivity / epsilon)
        return np.array(noisy(counts.ravel().tolist()), dtype=np.float64)

    return draw


def tree(counts: NDArray[np.int64], epsilon: float) -> Floats:
    """Return prefixes from OpenDP's tree with fan-out 16, two changes on each level."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    levels = int(np.ceil(log(len(counts), 16))) + 1
    made = dp.t.make_b_ary_tree(*space, leaf_count=len(counts), branching_factor=16)
    noisy = made >> dp.m.then_laplace(scale=2.0 * levels / epsilon)
    consistent = noisy >> dp.t.make_consistent_b_ary_tree(branching_factor=16)
    return np.cumsum(np.array(consistent(counts.tolist()), dtype=np.float64)[: len(counts)])


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
    one = Fraction(1)
    for names, peer in ((("education", "sex"), 32), (("education", "race"), 32)):
        domain, counts = table_of(folder, *names)
        policy = Policy(domain=domain, known=(Marginal(("education",)),))
        yield Job(f"Adult {' x '.join(names)}, education published", policy, counts, "histogram",
                  one, ("OpenDP Laplace, our S", laplace_of(peer)))  # fmt: skip
    domain, counts = table_of(folder, "education", "sex", "race")
    yield Job("Adult education x sex x race", Policy(domain=domain), counts, "histogram", one,
              ("OpenDP Laplace", laplace_of(2)))  # fmt: skip
    loss = capital_loss(folder).counts
    line = Domain(loss=Integers(0, len(loss) - 1))
    yield Job("Adult capital loss, prefixes", Policy(domain=line), loss, "cumulative(loss)", one,
              ("OpenDP tree", tree))  # fmt: skip
    near = Policy(domain=line, secrets=Distance(threshold=100))
    yield Job("the same, within 100", near, loss, "cumulative(loss)", Fraction(1, 10))
    for data in histograms(folder):
        if data.name in ("medcost", "nettrace", "hepth", "income"):
            policy = Policy(domain=Domain(x=Integers(0, 4095)), secrets=Distance(threshold=1))
            yield Job(f"{data.name}, line graph", policy, data.counts, "histogram",
                      Fraction(1, 10), ("OpenDP Laplace", laplace_of(2)))  # fmt: skip
    tweets = twitter(folder).counts
    grid = Domain(x=Integers(0, 255), y=Integers(0, 255))
    policy = Policy(domain=grid, secrets=Distance(threshold=1))
    yield Job("tweets, grid within 1", policy, tweets, "histogram", Fraction(1, 10),
              ("OpenDP Laplace", laplace_of(2)))  # fmt: skip


def real_error(plan: Plan, counts: NDArray[np.int64], draws: int) -> tuple[float, float]:
    """Return the RMSE of real draws on the real data, and its standard error."""
    data = NoisyTable(counts, plan.request.policy.domain)
    truth = numbers(true_answers(plan.request.bound, plan.request.policy, data))
    squares = [
        float(((numbers(release(plan, data).answers) - truth) ** 2).mean()) for _ in range(draws)
    ]
    mean = float(np.mean(squares))
    return sqrt(mean), float(np.std(squares, ddof=1)) / sqrt(draws) / (2 * sqrt(mean) or 1.0)


def row(job: Job, draws: int, seconds: float, most: int) -> str:
    """Return one job as a row of the table."""
    work = workload([job.query], [], job.policy)
    request = Request(policy=job.policy, query=work.queries[0], epsilon=job.epsilon,
                      time_limit=seconds, accept_wide_bounds=True)  # fmt: skip
    found = planned(request, work, size=int(job.counts.sum()))
    assert found.chosen is not None
    compared = found.options[:most]
    errors = {option.text: real_error(option.plan, job.counts, draws) for option in compared}
    best = min(errors, key=lambda text: errors[text][0])
    ours, wide = errors[found.chosen.text]
    peer, than_peer = "-", "-"
    if job.peer is not None:
        truth = np.cumsum(job.counts) if job.query.startswith("cumulative") else job.counts.ravel()
        drawn = [job.peer[1](job.counts, float(job.epsilon)) - truth for _ in range(draws)]
        error = sqrt(float(np.mean([np.mean(item**2) for item in drawn])))
        peer, than_peer = f"{job.peer[0]}: {error:.3g}", f"{ours / error:.3g}"
    bound = "-" if not found.bound else f"{ours / found.bound:.3g}"
    cells = (
        job.name, str(job.epsilon), found.chosen.text, f"{found.chosen.rmse:.3g}",
        f"{ours:.3g} +- {1.96 * wide:.2g}", f"{best}: {ours / errors[best][0]:.3g}", peer,
        than_peer, bound,
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
    options = parser.parse_args()
    print("| job | epsilon | chosen | expected | RMSE | best in hindsight, ratio to it | best peer "
          "| ratio to it | times the lower bound |")  # fmt: skip
    print("| --- " * 9 + "|")
    for job in jobs(options.data):
        if options.only in job.name:
            print(row(job, options.draws, options.seconds, options.options), flush=True)


if __name__ == "__main__":
    main()
