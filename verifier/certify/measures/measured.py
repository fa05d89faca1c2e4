"""A mechanism in the measure that is asked for: a pure epsilon, a rho, or an epsilon at a delta.

What pays for what. Laplace noise and choices have a pure epsilon; Gaussian noise has a rho and no
epsilon; bounded noise has a delta and neither. Numbers of two measures are never added. Converting
goes one way, and is said: epsilon to rho = epsilon^2 / 2, rho to epsilon at a delta.

* `epsilon`: Gaussian and bounded releases must not change between neighbours at all, as releases
  without noise.
* `rho`: half the S of the squares, plus epsilon^2 / 2 for the rest. Of Laplace noise every output
  has a pure epsilon |x| / b of its own, and noise on one does not depend on that on another: so it
  has x^2 / 2 b^2, as Gaussian noise of variance b^2, and all of them one S of squares, which is no
  more than the square of what they lose together. A pair's divergences of order 2 add up, and
  refute a rho below half of their sum. Choices that are drawn in proportion to weights e^(-cost /
  b) have epsilon^2 / 8: costs change by at most some a, so the logarithms L of the ratios of
  chances lie within 2 a / b = epsilon of each other. Let psi(t) = log E e^(t L): it is 0 at 0 and
  1, and its second derivative is the variance of such a number, epsilon^2 / 4 at the most. So
  psi(t) <= t (t - 1) epsilon^2 / 8, and the divergence of order t is at most t epsilon^2 / 8.
* `epsilon-delta`: what rho gives by the best order, or the pure epsilon and what the Gaussian part
  gives, whichever is less. A pair's own delta, from below, refutes. With bounded noise, the epsilon
  that the rest does not use up is asked of it, exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from blowproof.models import BudgetError, Exact, QueryError
from blowproof.models.base.numbers import plain
from blowproof.models.mechanisms.mechanism import BLOCKS, DRAWN, Mechanism
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.base.verdict import INFINITE, LossBounds
from blowproof.verifier.certify.measures.logarithms import rounded_down
from blowproof.verifier.certify.measures.orders import (
    epsilon_at,
    from_pure,
    laplace_order_2,
    pure_of,
)
from blowproof.verifier.certify.measures.sorts import GAUSSIAN, Judged, Sorts, pure_loss
from blowproof.verifier.certify.measures.told_apart import Shift, delta_of_pair
from blowproof.verifier.certify.measures.with_bounded import with_bounded
from blowproof.verifier.certify.noise.gaussian import gaussian_rho
from blowproof.verifier.certify.noise.gaussian_steps import gaussian_steps_rho
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["measured"]

LADDER = whole_limit(__name__, "LADDER")

ON_OUTPUTS = ("laplace", "discrete-laplace", GAUSSIAN)
"""Noise on every output by itself, that no other output's noise depends on."""
_EACH = "the epsilon of each output of Laplace noise is converted to epsilon^2 / 2"


def measured(asked: Asked, mechanism: Mechanism, parts: Sequence[Part], promise: Promise) -> Judged:
    """Return what the mechanism loses, in the measure of the promise."""
    sorts = Sorts(mechanism, parts)
    if promise.measure == "epsilon":
        found, assumed = pure_loss(asked, mechanism, sorts.pure_or_silent(), promise.limit)
        return Judged(_said(found, sorts), assumed, scalable=not mechanism.selections)
    if promise.measure == "rho":
        return _rho(asked, mechanism, sorts, promise.limit)
    if sorts.bounded:
        return with_bounded(asked, mechanism, sorts, promise)
    return _epsilon_delta(asked, mechanism, sorts, promise)


def _said(found: LossBounds, sorts: Sorts) -> LossBounds:
    gaussian = sorts.gaussian or sorts.gaussian_steps
    names = [name for name, parts in (("Gaussian", gaussian), ("bounded", sorts.bounded))
             if parts]  # fmt: skip
    if not names:
        return found
    why = f"{' and '.join(names)} noise has no pure epsilon: what it hides must not change"
    return replace(found, notes=(*found.notes, why))


# --- rho -----------------------------------------------------------------------------------------


def _rho(asked: Asked, mechanism: Mechanism, sorts: Sorts, limit: Fraction) -> Judged:
    """Return bounds on rho: squares for Gaussian noise, epsilon^2 / 2 for the rest."""
    quiet = replace(asked, listener=None)  # its bounds are no bounds on rho
    silent = sorts.pure_or_silent(gaussian=False)
    rest, assumed = pure_loss(quiet, mechanism, silent, pure_of(limit))
    if rest.lower == INFINITE:
        return Judged(_said(rest, sorts), assumed)
    alone = not silent and not mechanism.selections and not sorts.gaussian_steps
    gauss = _gaussian(asked if alone else quiet, sorts)
    drawn = (
        not sorts.pure
        and not sorts.k_norm
        and not sorts.steps
        and all(item.candidates in (DRAWN, BLOCKS) for item in mechanism.selections)
    )
    converted = None if rest.upper is None else from_pure(Fraction(rest.upper))
    if converted is not None and drawn:
        converted /= 4
    upper = None
    if converted is not None and gauss.upper is not None and gauss.upper != INFINITE:
        upper = plain(converted + Fraction(gauss.upper))
    joined = _each_output(quiet, mechanism, sorts)
    lower, pair = gauss.lower, gauss.pair
    assert not isinstance(lower, str)
    pairs = (gauss.pair, rest.pair, None if joined is None else joined.pair)
    for candidate in dict.fromkeys(pairs) if silent else ():
        reached = None if candidate is None else _order_2(sorts, candidate, asked)
        if reached is not None and reached > lower:
            lower, pair = reached, candidate
    notes = [*gauss.notes, *rest.notes]
    fewer = None if joined is None or isinstance(joined.upper, str) else joined.upper
    if fewer is not None and (upper is None or fewer < upper):
        upper = fewer
        notes.append(f"{_EACH}: rho = {_short(fewer)}, a bound, not what it is exactly")
    elif rest.upper and converted is not None and not isinstance(rest.upper, str):
        text = f"epsilon = {_short(rest.upper)} of Laplace noise and choices is converted to rho = "
        square = "epsilon^2 / 8" if drawn else "epsilon^2 / 2"
        notes.append(f"{text}{square} = {_short(converted)}: a bound, not what it is exactly")
    engine = gauss.engine if sorts.gaussian or sorts.gaussian_steps else rest.engine
    found = LossBounds(lower=lower, upper=upper, pair=pair, engine=engine, notes=tuple(notes))
    return Judged(found, assumed, scalable=alone)


def _gaussian(asked: Asked, sorts: Sorts) -> LossBounds:
    """Return the rho of all Gaussian noise: on outputs, and on steps.

    No pair is known to be the worst for both, so from below the larger of the two counts.
    """
    outputs = gaussian_rho(asked, sorts.gaussian)
    if not sorts.gaussian_steps:
        return outputs
    steps = gaussian_steps_rho(asked, sorts.gaussian_steps)
    if not sorts.gaussian:
        return steps
    assert not isinstance(outputs.lower, str) and not isinstance(steps.lower, str)
    worse = outputs if outputs.lower > steps.lower else steps
    upper = None
    if outputs.upper is not None and steps.upper is not None:
        upper = plain(Fraction(outputs.upper) + Fraction(steps.upper))
    return replace(worse, upper=upper, notes=(*outputs.notes, *steps.notes))


def _each_output(asked: Asked, mechanism: Mechanism, sorts: Sorts) -> LossBounds | None:
    """Return the rho of Laplace noise and Gaussian noise in one S of squares, by each output's own
    epsilon; None where there are choices, other noise, or outputs without any.
    """
    scales = [scale for part in sorts.pure for scale in part.weights]
    alone = all(release.noise in ON_OUTPUTS for release, _ in sorts.all)
    if not sorts.pure or mechanism.selections or not alone or not all(scales):
        return None
    squared = [
        replace(part, weights=tuple(scale**2 for scale in part.weights)) for part in sorts.pure
    ]
    try:
        return gaussian_rho(asked, [*sorts.gaussian, *squared])
    except (BudgetError, QueryError):
        return None


def _order_2(sorts: Sorts, pair: Pair, asked: Asked) -> Exact | None:
    """Return half of the pair's divergence of order 2, rounded down: rho is no less."""
    shifts = sorts.shifts(pair, asked)
    if shifts is None:
        return None
    try:
        alike = Counter(shifts)  # of long cumulative counts, all of them
        return plain(sum((many * _half_order_2(it) for it, many in alike.items()), Fraction(0)))
    except BudgetError:
        return None


def _half_order_2(shift: Shift) -> Fraction:
    if shift.noise == "gaussian":
        return shift.steps**2 / (2 * shift.width)
    discrete = shift.noise == "laplace"
    return laplace_order_2(shift.steps / shift.width, discrete=discrete, steps=int(shift.steps)) / 2


def _short(value: Exact) -> str:
    return str(value) if len(str(value)) < 20 else f"about {float(value):.6g}"


# --- epsilon at a delta --------------------------------------------------------------------------


def _epsilon_delta(asked: Asked, mechanism: Mechanism, sorts: Sorts, promise: Promise) -> Judged:
    """Return bounds on epsilon at the promised delta."""
    assert promise.delta is not None
    quiet = replace(asked, listener=None)
    rest, assumed = pure_loss(quiet, mechanism, sorts.pure_or_silent(gaussian=False), promise.limit)
    if rest.lower == INFINITE:
        return Judged(_said(rest, sorts), assumed)
    gauss = _gaussian(quiet, sorts)
    assert not isinstance(gauss.upper, str)
    notes = [*gauss.notes, *rest.notes]
    upper = None
    if rest.upper is not None and gauss.upper is not None:
        pure, rho = Fraction(rest.upper), Fraction(gauss.upper)
        total = rho + from_pure(pure)
        joined = _each_output(quiet, mechanism, sorts)
        if joined is not None and joined.upper is not None and not isinstance(joined.upper, str):
            total = min(total, Fraction(joined.upper))
        upper = min(epsilon_at(total, promise.delta), pure + epsilon_at(rho, promise.delta))
        if rho:
            notes.append(f"rho = {_short(total)} gives epsilon = {_short(upper)} by the best order")
    lower: Exact = 0
    best: Pair | None = None
    for pair in dict.fromkeys(item for item in (gauss.pair, rest.pair) if item is not None):
        reached = _epsilon_of(sorts, pair, asked, promise, upper)
        if reached > lower or best is None:
            lower, best = reached, pair
    engine = gauss.engine if sorts.gaussian or sorts.gaussian_steps else rest.engine
    high = None if upper is None else plain(upper)
    found = LossBounds(lower=lower, upper=high, pair=best, engine=engine, notes=tuple(notes))
    return Judged(found, assumed)


def _epsilon_of(
    sorts: Sorts, pair: Pair, asked: Asked, promise: Promise, upper: Fraction | None
) -> Exact:
    """Return an epsilon at which the pair's delta is above the promised one; 0 if none was found.

    The promised epsilon is looked at first, for that is what refutes; then larger or smaller ones.
    """
    shifts, delta = sorts.shifts(pair, asked), promise.delta
    assert delta is not None
    if shifts is None:
        return 0
    try:
        reached = delta_of_pair(shifts, promise.limit) > delta
        low = promise.limit if reached else Fraction(0)
        high = promise.limit if not reached else (2 * low if upper is None else upper)
        for _ in range(LADDER):
            middle = rounded_down((low + high) / 2)
            if middle <= low:
                break
            above = delta_of_pair(shifts, middle) > delta
            low, high = (middle, high) if above else (low, middle)
    except BudgetError:
        return 0
    return plain(low)
