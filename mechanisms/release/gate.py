"""The gate: nothing is drawn that the certifier has not proved private.

A mechanism has no way to the noise but a `Permit`, and only a `Gate` makes permits: one for each
release and each choice that `certify` has proved to keep the request's promise (an epsilon, or a
rho), all steps of a release together. The scale that noise is drawn with is read from what the
permit covers, never given beside it. A permit covers one release, is used up by drawing, and cannot
be copied.

* What is described in full before the data (`Plan.description`) is judged as a whole, before
  anything is charged; other noise than that is refused.
* Where a step depends on earlier answers, each is judged just before it is drawn, and its proven
  loss comes off the epsilon that is left (sequential composition, for the noise of a step is
  independent of that before it). What comes first (`Plan.opening`) is judged before the charge, so
  that a kind of step that nothing proves is refused for nothing. A later one that is not proved is
  an error of ours: it depends on what was released before, and on nothing else about the data.

Refusals and errors look at descriptions alone, so they tell nothing about the records.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from blowproof.mechanisms.answers.vectors import Vector, largest, roomy
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.noise.block_choice import raw_block_choice
from blowproof.mechanisms.noise.discrete_gaussian import raw_discrete_gaussian
from blowproof.mechanisms.noise.discrete_laplace import Noise, raw_discrete_laplace
from blowproof.mechanisms.noise.interval_choice import raw_interval_choice
from blowproof.mechanisms.noise.k_norm import raw_k_norm
from blowproof.mechanisms.noise.polytope import raw_polytope
from blowproof.mechanisms.noise.steps import raw_gaussian_steps, raw_steps
from blowproof.mechanisms.release.worth import require_close_bounds
from blowproof.mechanisms.structures.halvings import Halvings
from blowproof.mechanisms.structures.medians import FINE, median_costs
from blowproof.mechanisms.structures.partitions import (
    interval_partition,
    interval_rows,
    matching_partition,
)
from blowproof.models import BudgetError, Domain, InternalError, show
from blowproof.models.mechanisms.mechanism import BLOCKS, DRAWN, Mechanism, Release, Selection
from blowproof.verifier.certify.base.verdict import Certified, shown
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.noise.gaussian_steps import GAUSSIAN_STEPS
from blowproof.verifier.certify.noise.k_norm import K_NORM
from blowproof.verifier.certify.noise.steps import STEPS_NOISE

if TYPE_CHECKING:
    from blowproof.mechanisms.release.release import Plan
    from blowproof.mechanisms.release.request import Request

__all__ = ["Gate", "Permit", "choose", "noisy", "proved", "raw_noisy"]


class Permit:
    """Leave to draw one release, or to make one choice, once. Only a `Gate` makes them."""

    __slots__ = ("__weakref__", "_covers")
    _covers: Release | Selection

    def __init__(self, token: object, covers: Release | Selection) -> None:
        if token is not _TOKEN:
            raise InternalError("permits come from the gate, after a proof")
        object.__setattr__(self, "_covers", covers)
        _UNUSED.add(self)

    def __setattr__(self, name: str, value: object) -> None:
        raise InternalError("a permit does not change")

    def __reduce__(self) -> Any:
        raise InternalError("a permit is not copied")

    @property
    def covers(self) -> Release | Selection:
        """What may be drawn."""
        return self._covers


_TOKEN = object()
_UNUSED: WeakSet[Permit] = WeakSet()
_PROVED: WeakKeyDictionary[Plan, tuple[Mechanism | None, Certified]] = WeakKeyDictionary()
"""What was proved of plans: their description, or their opening, as it was then."""


def _use_up(permit: object) -> Release | Selection:
    """Return what a permit covers, and end it; refuse anything that is none, or was used."""
    if not isinstance(permit, Permit):
        raise InternalError("noise is drawn with a permit of the gate")
    try:
        _UNUSED.remove(permit)
    except KeyError:
        raise InternalError("this permit was used: what it covers is drawn once") from None
    return permit.covers


def noisy(permit: Permit, truth: Vector, domain: Domain | None = None) -> Vector:
    """Return the true answers plus the noise of the release that the permit covers.

    `domain`: whose values the answers count, for noise on the steps between them.
    """
    release = _use_up(permit)
    if not isinstance(release, Release):
        raise InternalError("this permit covers a choice, and not a release")
    return raw_noisy(release, truth, domain)


def choose(permit: Permit, truth: Vector, penalty: Fraction, domain: Domain | None = None) -> Any:
    """Return the choice that the permit covers, made from the true answers of its query.

    `domain`: whose values the answers count, for blocks of it.
    """
    selection = _use_up(permit)
    if not isinstance(selection, Selection):
        raise InternalError("this permit covers a release, and not a choice")

    if selection.narrower or selection.noise != "discrete-laplace" or selection.step is not None:
        raise InternalError(f"this choice is not made as it is declared: {selection}")
    if selection.penalty not in (None, penalty):
        raise InternalError(f"a penalty of {penalty}, where {selection.penalty} is declared")

    def noise(size: int, finer: int) -> Any:
        return raw_discrete_laplace(selection.scale * finer, size)

    if selection.candidates == "intervals":
        longest = selection.longest or len(truth)
        return interval_partition(truth.units, noise, penalty=penalty, longest=longest)
    if selection.candidates == DRAWN:
        rows = interval_rows(len(truth), selection.longest or len(truth))
        costs = median_costs(truth.units, rows, penalty).tolist()
        return np.array(raw_interval_choice(costs, 1 / (selection.scale * FINE)))
    if selection.candidates == BLOCKS:
        return _blocks(selection, truth, penalty, domain)
    if selection.candidates == "pairs":
        return matching_partition(truth.units, noise, penalty=penalty)
    raise InternalError(f"nothing here chooses among {selection.candidates!r}")


def _blocks(selection: Selection, truth: Vector, penalty: Fraction, domain: Domain | None) -> Any:
    """Return the bucket of each value, from blocks that were drawn."""
    if domain is None or len(truth) != domain.size or selection.longest is not None:
        raise InternalError(
            f"{len(truth)} answers are no counts of all values, in blocks of any size"
        )
    halvings = Halvings(domain)
    costs = [row.tolist() for row in halvings.costs(truth.units, penalty)]
    parents = [row.tolist() for row in halvings.parents]
    return halvings.buckets(raw_block_choice(costs, parents, 1 / (selection.scale * FINE)))


class Gate:
    """Hands out the permits of one carrying out of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._left = plan.request.promise.limit
        proved(plan)
        declared = plan.description
        self._waiting = [] if declared is None else _permits(declared)

    @property
    def loss(self) -> Fraction | None:
        """What is proved of all that there were permits for: it loses no more of the promise."""
        if self._plan.description is None:
            return self._plan.request.promise.limit - self._left
        found = proved(self._plan).upper
        return Fraction(found) if isinstance(found, (int, Fraction)) else None

    def permit(self, item: Release | Selection) -> Permit:
        """Return the permit for what is to be drawn next; raise where nothing proves it."""
        if self._plan.description is None:
            return self._next(item)
        for place, permit in enumerate(self._waiting):
            if permit.covers is item or permit.covers == item:
                return self._waiting.pop(place)
        raise InternalError(f"{self._plan.name} would draw other noise than it declared")

    def _next(self, item: Release | Selection) -> Permit:
        """Judge one step that depends on those before it, with what they have left of epsilon."""
        step = _step(self._plan, (item,))
        request = self._plan.request
        found = _certified(step, request, None)
        loss = found.upper
        if found.verdict != "proved" or not isinstance(loss, (int, Fraction)) or loss > self._left:
            raise InternalError(
                f"{self._plan.name}: a step is {found.verdict} and loses {shown(loss)}, where "
                f"{show(self._left)} of {request.promise.name} is left: it was not drawn"
            )
        self._left -= loss
        return Permit(_TOKEN, item)


def proved(plan: Plan) -> Certified:
    """Return the proof of what a plan draws, or of what it draws first; refuse where there is none.

    It does not see the data. The answer is kept for the plan as long as it describes the same.
    """
    declared = plan.description
    judged = _step(plan, plan.opening) if declared is None and plan.opening else declared
    if judged is None:
        raise InternalError(f"{plan.name} describes nothing of what it draws")
    kept = _PROVED.get(plan)
    if kept is not None and (kept[0] is judged or kept[0] == judged):
        return kept[1]
    request = plan.request
    try:
        found = _certified(judged, request, request.for_proof)
    except BudgetError as error:
        raise RefusedError(f"{plan.name} is not proved private: {error}{_SPARED}") from None
    if found.verdict != "proved":
        lost = f"loses more than {request.promise.name}"
        what = lost if found.verdict == "refuted" else "is not proved"
        if found.verdict != "refuted":
            what += "" if found.final else " in time"
            if isinstance(found.upper, (int, Fraction)):
                limit = show(request.promise.limit)
                what += f": it may lose {show(found.upper)}, where {limit} is promised"
        raise RefusedError(
            f"{plan.name} {what} ({found.verdict} by the certifier){_SPARED}"
            "\n  try: --mechanism laplace" + ("" if found.final else ", or a longer --time-limit")
        )
    converted = (
        request.rho is not None
        and declared is not None
        and all(item.width == "scale" for item in declared.releases)
    )  # a pure epsilon, worth less as a rho: no better bound is to be had by waiting
    if declared is not None and not request.accept_wide_bounds and not converted:
        require_close_bounds(found, plan.name)
    _PROVED[plan] = judged, found
    return found


_SPARED = ": nothing was drawn and nothing spent"


def _permits(declared: Mechanism) -> list[Permit]:
    items: tuple[Release | Selection, ...] = (*declared.releases, *declared.selections)
    return [Permit(_TOKEN, item) for item in items]


def _step(plan: Plan, items: tuple[Release | Selection, ...]) -> Mechanism:
    releases = tuple(item for item in items if isinstance(item, Release))
    selections = tuple(item for item in items if isinstance(item, Selection))
    return plan.described(*releases, selections=selections)


def _certified(judged: Mechanism, request: Request, limit: float | None) -> Certified:
    """Ask the certifier, which knows what it has answered in the planning of this request."""
    from blowproof.mechanisms.kinds.lemmas import LEMMAS, SQUARES

    return certify(
        judged,
        request.policy,
        request.promise,
        reading=request.reading,
        answers=request.answers,
        engine=request.engine,
        time_limit=limit,
        known=request.known,
        lemmas=LEMMAS,
        squares=SQUARES,
        enough=True,
    )


def raw_noisy(release: Release, truth: Vector, domain: Domain | None = None) -> Vector:
    """Return the true answers plus discrete Laplace or Gaussian noise, without a permit.

    For tests of the sampler; no module but this one may use it
    (`tests/mechanisms/release/test_gate.py`).
    """
    if release.noise == K_NORM:
        return _joint(release, truth)
    if release.noise in (STEPS_NOISE, GAUSSIAN_STEPS):
        return _on_steps(release, truth, domain)
    if release.noise not in _SAMPLERS:
        raise RefusedError(
            f"noise is drawn on an exact grid: {' or '.join(_SAMPLERS)}, not {release.noise}"
        )
    if truth.grid != release.grid:
        raise RefusedError(f"the answers lie on the grid {truth.grid}, the noise on {release.grid}")
    draw, power = _SAMPLERS[release.noise]
    widths = [width / release.grid**power for width in release.widths]
    if len(widths) == 1:
        units = truth.units + draw(widths[0], len(truth))
    else:
        units = truth.units + _mixed(draw, widths, truth)
    return Vector(units, truth.grid, truth.names, truth.runs)


def _joint(release: Release, truth: Vector) -> Vector:
    """Return the true answers plus one draw of K-norm noise for all of them together."""
    if release.facets:
        return _in_shape(release, truth)
    if truth.grid != release.grid or len(truth) % release.groups:
        raise RefusedError(
            f"{len(truth)} answers on the grid {truth.grid} are no groups of {release.groups} on "
            f"{release.grid}"
        )
    scale = release.scales[0] / release.grid
    noise = raw_k_norm(scale, release.groups, len(truth) // release.groups)
    return Vector(truth.units + noise, truth.grid, truth.names, truth.runs)


def _in_shape(release: Release, truth: Vector) -> Vector:
    """Return the true answers plus one draw of noise in the shape of a polytope."""
    if truth.grid != release.grid or len(truth) != len(release.facets[0]):
        raise RefusedError(
            f"{len(truth)} answers on the grid {truth.grid} are not the {len(release.facets[0])} "
            f"of a polytope on {release.grid}"
        )
    noise = raw_polytope(release.scales[0] / release.grid, release.facets, release.fixed)
    units, noise = roomy(largest(truth.units) + largest(noise), truth.units, noise)
    return Vector(units + noise, truth.grid, truth.names, truth.runs)


def _on_steps(release: Release, truth: Vector, domain: Domain | None) -> Vector:
    """Return the counts of all values plus the noise of the steps between them."""
    if domain is None or len(truth) != domain.size:
        raise RefusedError(f"{len(truth)} answers are no counts of all values of the domain")
    drawn = raw_steps if release.noise == STEPS_NOISE else raw_gaussian_steps
    noise = drawn(release.widths[0], domain.axes(release.along), domain)
    units, noise = roomy(largest(truth.units) + largest(noise), truth.units, noise)
    return Vector(units + noise, truth.grid, truth.names, truth.runs)


def _laplace(scale: Fraction, size: int) -> Noise:
    return raw_discrete_laplace(scale, size)


def _gaussian(variance: Fraction, size: int) -> Noise:
    return raw_discrete_gaussian(variance, size)


_SAMPLERS = {"discrete-laplace": (_laplace, 1), "discrete-gaussian": (_gaussian, 2)}
"""By noise: how it is drawn in steps of the grid, and the power of the step in its width."""


def _mixed(draw: Callable[[Fraction, int], Noise], scales: list[Fraction], truth: Vector) -> Any:
    """Return noise whose scale changes from run to run (default: from output to output)."""
    runs = truth.runs or (1,) * len(truth)
    if len(runs) != len(scales):
        raise RefusedError(f"{len(scales)} scales are declared for {len(runs)} groups of outputs")
    of_output = np.repeat(np.arange(len(runs)), runs)
    parts: dict[Fraction, list[int]] = {}
    for place, scale in enumerate(scales):
        parts.setdefault(scale, []).append(place)
    result: Any = np.zeros(len(truth), dtype=np.int64)
    for scale, places in parts.items():
        chosen = np.isin(of_output, places)
        drawn = draw(scale, int(chosen.sum()))
        result = result.astype(np.result_type(result, drawn))
        result[chosen] = drawn
    return result
