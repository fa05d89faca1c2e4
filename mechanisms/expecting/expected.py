"""The expected error of a plan: exact where the answers are the noisy ones, else rehearsed.

Noise in the shape of a polytope has no formula: its error is simulated, by draws of the same law.

RMSE is the root of the mean, over the outputs, of the expected squared error, and `max95` is what
the largest error of all outputs stays within in 95 of 100 releases.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any
from weakref import WeakKeyDictionary

from blowproof.mechanisms.expecting.k_norm_error import k_norm_error
from blowproof.mechanisms.expecting.polytope_error import polytope_error
from blowproof.mechanisms.expecting.rehearsal import Errors, Stage, rehearsed
from blowproof.mechanisms.kinds.consistent import KINDS, Consistent
from blowproof.mechanisms.kinds.k_norm import KNorm
from blowproof.mechanisms.kinds.laplace import Gaussian, Laplace
from blowproof.mechanisms.kinds.quadtree import Quadtree
from blowproof.mechanisms.kinds.steps import Steps
from blowproof.mechanisms.kinds.strategy import NUMBERS, Strategy
from blowproof.mechanisms.kinds.table import Table
from blowproof.mechanisms.kinds.transformed import NoisyTable, Transformed
from blowproof.mechanisms.release.release import Plan
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import Domain

__all__ = ["Expected", "expected", "largest_of", "outputs_in"]

USUAL_ROUNDS, FEWEST, MOST_ROUNDS = 20_000, 6, 200
ROUNDED = 20
CHOSEN = 16
"""How much longer a partition of the values takes than noise on them."""
LEAST = 1e-9
WORK = 4e6
"""Numbers that the rehearsals of one plan may handle."""
_KEPT: WeakKeyDictionary[NoisyTable, dict[object, Any]] = WeakKeyDictionary()
"""What rehearsals on made-up data made, for the other queries of a workload; gone with the data."""


@dataclass(frozen=True)
class Expected:
    """The error of one query's answers, before anything is drawn.

    `how`: "exact"; "simulated", by draws of the noise alone; or "rehearsed" on the made-up data
    that are worst for it (`on`). But where it is exact, the RMSE lies `between` two numbers with
    95 %. `usual` is its geometric mean over all made-up data, kinder ones too.
    """

    rmse: float
    max95: float
    how: str = "exact"
    on: str | None = None
    between: tuple[float, float] | None = None
    usual: float | None = None

    def times(self, factor: float) -> Expected:
        """Return the error where all noise is so many times as wide."""
        around = self.between
        return replace(
            self,
            rmse=factor * self.rmse,
            max95=factor * self.max95,
            usual=None if self.usual is None else factor * self.usual,
            between=None if around is None else (factor * around[0], factor * around[1]),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the numbers that a plan has for a query."""
        found: dict[str, Any] = {"rmse": self.rmse, "max95": self.max95, "how": self.how}
        if self.between is not None:
            found["rmse_between"] = list(self.between)
        if self.on is not None:
            found["on"] = self.on
        return found


def largest_of(scale: Fraction, outputs: int, share: float = 0.95) -> float:
    """Return what the largest of so many discrete Laplace numbers stays within, so often.

    P(|K| <= t) = 1 - 2 q^(t+1) / (1 + q) for q = exp(-1 / scale), and the numbers are independent.

    >>> largest_of(Fraction(0), 5), largest_of(Fraction(1), 1)
    (0.0, 3.0)
    """
    b = float(scale)
    q = math.exp(-1 / b) if b > 0 else 0.0
    if q <= 0.0:
        return 0.0
    missed = -math.expm1(math.log(share) / max(1, outputs))
    return max(0.0, math.ceil(math.log(missed * (1 + q) / 2) * -b - 1e-9) - 1.0)


def expected(
    plan: Plan, shapes: Sequence[tuple[str, NoisyTable]], seed: int, hopeless: float = math.inf
) -> Expected | None:
    """Return the error that a plan will have; None where it can neither be computed nor rehearsed.

    `shapes` are made-up data of public size (none: the domain is too large to make any up). What
    a few rehearsals show to be above `hopeless` is rehearsed no further: its interval stays wide.
    """
    if type(plan) is Laplace:
        return _of_laplace(plan)
    if isinstance(plan, Gaussian):
        return _of_gaussian(plan)
    if isinstance(plan, KNorm):
        return _of_k_norm(plan)
    if isinstance(plan, Strategy) and plan.numbers == NUMBERS[0]:
        return _of_strategy(plan)
    if isinstance(plan, Steps) and plan.request.bound.cell_axes(plan.request.policy.domain):
        return _of_steps(plan)
    worst: tuple[str, Errors] | None = None
    all_of = []
    for place, (name, data) in enumerate(shapes):
        stage = Stage(plan.request.policy, data, seed + place, _KEPT.setdefault(data, {}))
        rounds = _rounds(plan, data)
        noiseless = isinstance(plan, Consistent)
        first = min(rounds, FEWEST) if hopeless < math.inf else rounds
        found = rehearsed(plan, stage, data, first, noiseless=noiseless)
        if first < rounds and found.low <= hopeless:
            again = Stage(plan.request.policy, data, seed + place, _KEPT[data])
            found = rehearsed(plan, again, data, rounds, noiseless=noiseless)
        all_of.append(found.rmse)
        if worst is None or found.rmse > worst[1].rmse:
            worst = name, found
        if _linear(plan):
            break  # its error does not depend on the data
    if worst is None:
        return None
    on, errors = worst
    usual = math.exp(sum(math.log(max(LEAST, it)) for it in all_of) / len(all_of))
    around = errors.low, errors.high
    return Expected(errors.rmse, errors.max95, "rehearsed", on, around, usual)


def _linear(plan: Plan) -> bool:
    """Whether the answers are the true ones plus sums of the noise, whatever the data are."""
    real = isinstance(plan, Consistent) and plan.kind == KINDS[0]
    return real or isinstance(plan, (Quadtree, Steps, Table, Transformed))


def _missed(count: int) -> float:
    """Return how often one of so many numbers may go too far, where 95 times in 100 none does."""
    return -math.expm1(math.log(0.95) / count)


def _of_normal(count: int) -> float:
    """Return what so many independent standard normal numbers all stay within 95 times in 100.

    >>> round(_of_normal(1), 3)
    1.96
    """
    return -NormalDist().inv_cdf(_missed(count) / 2)


def _of_laplace(plan: Laplace) -> Expected:
    scale = plan.release.scales[0] / plan.release.grid
    grid = float(plan.release.grid)
    count = outputs_in(plan)
    return Expected(grid * math.sqrt(variance(scale)), grid * largest_of(scale, count))


def _of_gaussian(plan: Gaussian) -> Expected:
    """Return the error of discrete Gaussian noise, whose variance is sigma^2 at the most."""
    release, grid = plan.release, float(plan.release.grid)
    if release.variance is None:
        return Expected(0.0, 0.0)
    sigma = math.sqrt(float(release.widths[0] / release.grid**2))
    return Expected(grid * sigma, grid * math.ceil(sigma * _of_normal(outputs_in(plan))))


def _of_k_norm(plan: KNorm) -> Expected:
    release, grid = plan.release, float(plan.release.grid)
    if release.facets:
        shaped = polytope_error(release.facets, release.fixed, release.scales[0] / release.grid)
        low, high = shaped.between
        around = grid * low, grid * high
        return Expected(grid * shaped.rmse, grid * shaped.max95, "simulated", between=around)
    count = outputs_in(plan) // release.groups
    rmse, max95 = k_norm_error(release.groups, count, release.scales[0] / release.grid)
    return Expected(grid * rmse, grid * max95)


def _of_strategy(plan: Strategy) -> Expected:
    """Return the error of least squares over marginals: the RMSE exactly, by parts.

    The largest is that of independent normal numbers (of Laplace ones, where cells are measured
    themselves): nearly so, since most errors are sums of many.
    """
    count = plan.asked.outputs
    squares = plan.squares
    if plan.shaped is not None:
        inner = plan.shaped
        width, groups = inner.release.groups, outputs_in(inner) // inner.release.groups
        each = k_norm_error(width, groups, inner.release.scales[0])[0]
        squares *= each**2 * width / max(1, width - 1)
    elif len(plan.releases) == 1:
        (item,) = plan.releases
        wide = item.widths[0]
        squares *= variance(wide) if item.width == "scale" else float(wide)
    rmse = math.sqrt(squares / count)
    far = _of_normal(count)
    if plan.request.rho is None and plan.asked.axes in plan.marginals.measured:
        far = max(far, -math.log(_missed(count)) / math.sqrt(2))
    return Expected(rmse, far * rmse)


def _of_steps(plan: Steps) -> Expected:
    """Return the error of noise on steps in the cells of a marginal: steps inside a cell cancel.

    The largest is that of independent normal numbers, nearly so: each is a sum of some steps.
    """
    domain = plan.request.policy.domain
    cells = plan.request.bound.cell_axes(domain)
    assert cells is not None
    assert plan.axes is not None
    across = [axis for axis in plan.axes if axis in cells]
    ends = sum(2 * _between(domain, axis) for axis in across)
    count = outputs_in(plan)
    width = plan.release.widths[0]
    each = variance(width) if plan.release.width == "scale" else float(width)
    widest = sum(_most_steps(domain, axis) for axis in across) * domain.size / count
    return Expected(math.sqrt(ends * each / count), _of_normal(count) * math.sqrt(widest * each))


def _between(domain: Domain, axis: int) -> int:
    """Return how many steps there are along an attribute, in the whole domain."""
    kind = domain.attribute(axis)
    along = kind.size - 1 if kind.ordered else kind.size * (kind.size - 1) // 2
    return domain.size // kind.size * along


def _most_steps(domain: Domain, axis: int) -> int:
    """Return how many steps along an attribute a value has at the most."""
    kind = domain.attribute(axis)
    return min(2, kind.size - 1) if kind.ordered else kind.size - 1


def outputs_in(plan: Plan) -> int:
    """Return how many outputs the query of a plan has (1 where nobody knows)."""
    query = plan.request.bound
    found = query.outputs(plan.request.policy.domain)
    return max(1, query.height if found is None else found.count)


def _rounds(plan: Plan, data: NoisyTable) -> int:
    """Return how many rehearsals are needed for a few percent, and can be afforded.

    Each tells of as many errors as there are outputs, but of no more than there are values: 1,830
    ranges of 60 values err together, and ten rehearsals of them are no 18,300 errors.
    """
    outputs = outputs_in(plan)
    if isinstance(plan, Consistent) and plan.kind != KINDS[0]:
        return ROUNDED  # each is a program of its own
    told = max(1, min(outputs, data.domain.size))
    wanted = min(MOST_ROUNDS, max(FEWEST, USUAL_ROUNDS // told))
    work = outputs + data.domain.size * (CHOSEN if plan.opening else 1) + _drawn(plan)
    return max(FEWEST if work < WORK else 2, min(wanted, int(WORK / work)))


def _drawn(plan: Plan) -> int:
    releases = () if plan.description is None else plan.description.releases
    return sum(len(getattr(item.query, "vertex", ())) for item in releases)
