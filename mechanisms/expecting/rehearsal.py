"""A plan carried out on made-up data, many times over: how large its errors will be.

The noise here has a seed and comes from floats, which no release may use: nothing private is drawn,
for there are no records. `Stage` stands in for `Draw` and hands out the same kinds of answers.

The errors are taken against the same steps without any noise where `against` is "noiseless": then
what the steps do to data that break the known facts (which made-up data may) does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.expecting.k_norm_error import seeded_k_norm
from blowproof.mechanisms.expecting.polytope_error import polytope_error
from blowproof.mechanisms.noise.steps import step_noise
from blowproof.mechanisms.structures.halvings import Halvings
from blowproof.mechanisms.structures.medians import FINE, median_costs
from blowproof.mechanisms.structures.partitions import (
    interval_partition,
    interval_rows,
    matching_partition,
)
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import BLOCKS, DRAWN, Release, Selection
from blowproof.verifier.certify.noise.gaussian_steps import GAUSSIAN_STEPS
from blowproof.verifier.certify.noise.k_norm import K_NORM
from blowproof.verifier.certify.noise.steps import STEPS_NOISE

if TYPE_CHECKING:
    from blowproof.mechanisms.release.release import Plan
    from blowproof.mechanisms.release.request import Request
    from blowproof.models import Policy

__all__ = ["Errors", "Stage", "rehearsed", "seeded_laplace"]

Floats = NDArray[np.float64]
Made = TypeVar("Made")
KEPT = 20
MOST_KEPT = 20_000_000
"""Cells of all tables that are kept for other queries."""
WIDE = 1e9
"""Scales from here on are drawn as continuous numbers: the grid is lost in them."""


@dataclass(frozen=True)
class Errors:
    """What some rehearsals found: RMSE with an interval of 95 %, and a quantile of the worst."""

    rmse: float
    low: float
    high: float
    max95: float
    rounds: int


def seeded_laplace(draw: np.random.Generator, scale: Fraction, size: int) -> NDArray[Any]:
    """Return discrete Laplace noise for rehearsals, and for nothing else.

    >>> seeded_laplace(np.random.default_rng(0), Fraction(0), 2).tolist()
    [0, 0]
    """
    b = float(scale)
    if b == 0:
        return np.zeros(size, dtype=np.int64)
    if b > WIDE:
        return np.array([int(value) for value in draw.laplace(0, b, size)], dtype=object)
    # The whole part of an exponential number is a geometric one.
    up, down = draw.standard_exponential(size) * b, draw.standard_exponential(size) * b
    return up.astype(np.int64) - down.astype(np.int64)


class Stage:
    """What a plan draws from in a rehearsal; with `silent`, it hears no noise.

    `kept` holds what earlier plans made of such noise in each `round`, for those that ask for the
    same: tables that several queries are answered from are made once for all of them.
    """

    def __init__(
        self, policy: Policy, data: Dataset, seed: int, kept: dict[object, Any] | None = None
    ) -> None:
        self.policy, self.silent, self.round = policy, False, 0
        self._seed, self._kept = seed, kept
        self._data = data
        self._random = np.random.default_rng(seed)
        self._truth: dict[int, tuple[object, Vector]] = {}
        self._laws: dict[int, tuple[object, Fraction, object]] = {}

    def __call__(self, release: Release) -> Vector:
        """Return the answers of a release on the made-up data, with noise."""
        truth = self._true(release)
        if self.silent:
            return truth
        if release.noise == K_NORM:
            noise = self._joint(release, len(truth))
            return Vector(truth.units + noise, truth.grid, truth.names, truth.runs)
        if release.noise in (STEPS_NOISE, GAUSSIAN_STEPS):
            noise = self._on_steps(release)
            return Vector(truth.units + noise, truth.grid, truth.names, truth.runs)
        runs = truth.runs or (len(truth),)
        widths = release.widths
        if len(widths) > 1 and truth.runs is None:
            runs = (1,) * len(truth)
        parts = _noise_of(release, zip(widths, runs, strict=True), self._random)
        return Vector(truth.units + parts, truth.grid, truth.names, truth.runs)

    def _joint(self, release: Release, size: int) -> NDArray[Any]:
        scale = release.scales[0] / release.grid
        if release.facets:
            draws = polytope_error(release.facets, release.fixed, scale).draws
            drawn: NDArray[np.int64] = draws[self._random.integers(len(draws))].astype(np.int64)
            return drawn
        found = seeded_k_norm(self._random, scale, release.groups, size // release.groups)
        return found.astype(np.int64)

    def _on_steps(self, release: Release) -> NDArray[Any]:
        domain, width = self.policy.domain, release.widths[0]

        def drawn(size: int) -> NDArray[Any]:
            if release.width == "variance":
                return seeded_gaussian(self._random, width, size)
            return seeded_laplace(self._random, width, size)

        return step_noise(domain.axes(release.along), domain, drawn)

    def choose(self, selection: Selection, *, penalty: Fraction) -> Any:
        """Return a choice, made as a release makes it."""
        truth = self._true(selection)

        def noise(size: int, finer: int) -> Any:
            return seeded_laplace(self._random, selection.scale * finer, size)

        if selection.candidates == "intervals":
            longest = selection.longest or len(truth)
            return interval_partition(truth.units, noise, penalty=penalty, longest=longest)
        if selection.candidates == DRAWN:
            return self._drawn(selection, truth, penalty)
        if selection.candidates == BLOCKS:
            return self._blocks(selection, truth, penalty)
        return matching_partition(truth.units, noise, penalty=penalty)

    def _drawn(self, selection: Selection, truth: Vector, penalty: Fraction) -> NDArray[Any]:
        """Return an interval partition drawn by its costs, as the gate draws it, in floats."""

        def weighed() -> tuple[list[list[float]], list[float]]:
            rows = interval_rows(len(truth), selection.longest or len(truth))
            costs = median_costs(truth.units, rows, penalty).astype(np.float64)
            logs = (costs * -(1 / float(selection.scale * FINE))).T.tolist()
            sums = [0.0]
            for end in range(1, len(truth) + 1):
                terms = [sums[end - (1 << power)] + logs[end][power]
                         for power in range(min(rows, end.bit_length()))]  # fmt: skip
                top = max(terms)
                sums.append(top + log(sum(exp(term - top) for term in terms)))
            return logs, sums

        logs, sums = self._law(selection, penalty, weighed)
        ends, end = [], len(truth)
        while end > 0:
            ends.append(end)
            left = self._random.random()
            for power in range(min(len(logs[end]), end.bit_length())):
                left -= exp(sums[end - (1 << power)] + logs[end][power] - sums[end])
                if left <= 0:
                    break
            end -= 1 << power
        return np.array(ends[::-1], dtype=np.int64)

    def _blocks(self, selection: Selection, truth: Vector, penalty: Fraction) -> NDArray[Any]:
        """Return a partition into blocks drawn by its costs, as the gate draws it, in floats."""

        def weighed() -> tuple[Halvings, list[Floats]]:
            halvings = Halvings(self.policy.domain)
            rate = 1 / (FINE * float(selection.scale))
            alone = [row.astype(np.float64) * -rate for row in halvings.costs(truth.units, penalty)]
            sums, chances = alone[0], [np.ones(len(alone[0]))]
            for weight, above in zip(alone[1:], halvings.parents, strict=True):
                parts = np.bincount(above, weights=sums)
                single = np.bincount(above) == 1
                sums = np.where(single, parts, np.logaddexp(weight, parts))
                chances.append(np.where(single, 0.0, np.exp(weight - sums)))
            return halvings, chances

        halvings, (first, *others) = self._law(selection, penalty, weighed)
        stays = [first > 0, *(self._random.random(len(chance)) < chance for chance in others)]
        reached = np.ones(len(stays[-1]), dtype=bool)
        whole = []
        for level in reversed(range(len(stays))):
            whole.append(np.flatnonzero(reached & stays[level]).tolist())
            if level:
                reached = (reached & ~stays[level])[halvings.parents[level - 1]]
        return halvings.buckets(whole[::-1])

    def _law(self, selection: Selection, penalty: Fraction, make: Callable[[], Made]) -> Made:
        """Return the law that a choice is drawn by: of the true answers, so always the same."""
        kept = self._laws.get(id(selection))
        if kept is None or kept[0] is not selection or kept[1] != penalty:
            kept = selection, penalty, make()
            if len(self._laws) < KEPT:
                self._laws[id(selection)] = kept
        return cast("Made", kept[2])

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        """Return what is made of noisy answers, as `Draw` does."""
        if self._kept is None:
            return make()
        place = key, self._seed, self.round, self.silent
        if place not in self._kept:
            made = make()
            if (len(self._kept) + 1) * self.policy.domain.size > MOST_KEPT:
                return made
            self._kept[place] = made
        return self._kept[place]

    def public_size(self, request: Request) -> int | None:
        """Return n where it is public, as `Draw` does."""
        return self._data.size if self.policy.size_known(request.reading) else None

    def _true(self, item: Release | Selection) -> Vector:
        """Return the true answers, counted once for each release and choice that stays the same."""
        kept = self._truth.get(id(item))
        if kept is None or kept[0] is not item:
            asked = item.query if isinstance(item, Selection) else item
            kept = item, true_answers(asked, self.policy, self._data)
            if len(self._truth) < KEPT:
                self._truth[id(item)] = kept
        return kept[1]


def _noise_of(
    release: Release, groups: Iterable[tuple[Fraction, int]], draw: np.random.Generator
) -> NDArray[Any]:
    if release.noise not in ("discrete-laplace", "discrete-gaussian"):
        raise RefusedError(f"{release.noise} noise is not rehearsed")
    if release.width == "variance":
        parts = [seeded_gaussian(draw, wide / release.grid**2, size) for wide, size in groups]
    else:
        parts = [seeded_laplace(draw, scale / release.grid, size) for scale, size in groups]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def seeded_gaussian(draw: np.random.Generator, variance: Fraction, size: int) -> NDArray[np.int64]:
    """Return about what discrete Gaussian noise is: rounded normal numbers, for rehearsals only."""
    return np.rint(draw.normal(0, sqrt(float(variance)), size)).astype(np.int64)


def rehearsed(plan: Plan, stage: Stage, data: Dataset, rounds: int, *, noiseless: bool) -> Errors:
    """Return the errors of a plan on made-up data, over so many rounds."""
    request = plan.request
    if noiseless:
        stage.silent = True
        truth = numbers(plan.run(stage))  # type: ignore[arg-type] # a Stage stands in for a Draw
        stage.silent = False
    else:
        truth = numbers(true_answers(request.bound, request.policy, data))
    means, worst = np.zeros(rounds), np.zeros(rounds)
    for place in range(rounds):
        stage.round = place
        apart = numbers(plan.run(stage)) - truth  # type: ignore[arg-type]
        means[place] = float((apart**2).mean()) if len(apart) else 0.0
        worst[place] = float(abs(apart).max(initial=0))
    mean = float(means.mean())
    wide = 1.96 * float(means.std(ddof=1)) / sqrt(rounds) if rounds > 1 else mean
    return Errors(
        rmse=sqrt(mean),
        low=sqrt(max(0.0, mean - wide)),
        high=sqrt(mean + wide),
        max95=float(np.quantile(worst, 0.95)),
        rounds=rounds,
    )


def numbers(found: Vector | Estimate) -> Floats:
    """Return answers as floats."""
    if isinstance(found, Estimate):
        return found.values
    return found.units.astype(np.float64) * float(found.grid)
