"""Gaussian noise on the steps of a grid: rho is half the largest resistance, by the variance.

As in `steps`, each step between two values has a number of its own, here discrete Gaussian with the
variance s, that is taken off the count at one end and added to that at the other. Let a record move
from x to y.

*By a path.* Add 1 to the numbers along a path of m steps: the same counts are released, and m
numbers have moved by 1 each, so the divergence of order a is at most a m / 2s: rho <= m / 2s.

*By all paths at once.* Let g be the numbers on the steps and z = B g what they add to the counts.
Of all g with B g = z, be c(z) the one with the least |c|^2, in fractions: c is linear, and the
others differ from c(z) by what goes round, which is at right angles to it. So

    P(z) = const * exp(-|c(z)|^2 / 2s) * T(z),   T(z) = sum over v of exp(-|u(z) - v|^2 / 2s),

v going through the whole-numbered circulations and u(z) being some point in their space. Move z by
d = e_y - e_x: f = c(d) is the flow of least energy, |f|^2 = R = R(x, y) (`resistance`). Suppose
that no two values of T differ by more than a factor of e^D. Then the divergence of order a is

    1 / (a - 1) log E_P[(P(z) / P(z - d))^(a - 1)]
        <= D + 1 / (a - 1) log E exp((a - 1) (R - 2 <c(z), f>) / 2s)
        <= D + (R / 2s) + (a - 1) R / 2s,

for <c(z), f> = <g, f>, since f is at right angles to what goes round, and each number has
E exp(t g) <= exp(t^2 s / 2). So it is at most a (R / 2s + D): rho <= R / 2s + D.

*D.* Choose a basis of circulations such that every whole-numbered one is a whole combination of it:
squares and triangles. Take the attributes one by one; G is the graph so far, and copies of it, a
layer for each value of the next attribute, are joined at equal places: squares of an edge of G in
one layer, its copy in the next (without order: in the first layer and another), and triangles of a
place in the first layer and two others. They are as many as there are independent circulations, and
whole multiples of them clear any circulation layer by layer, from the last one on. A basis vector
has at most 4 steps, |b|^2 = l <= 4. In T, a sum over whole numbers h of sum over h of
exp(-|w + h b|^2 / 2s), all others held fixed, lies between (1 - e) and (1 + e) times its integral,
with e = 2 sum over n >= 1 of exp(-2 pi^2 s n^2 / l) (Poisson's formula), whatever w is. Turn the
sums into integrals one after the other: T is its integral up to (1 -+ e)^k, for k circulations, and
that integral does not depend on u. So D <= k log((1 + e) / (1 - e)). For s of 10 and a million
circulations it is below 10^-14.

*Nothing less than R / 2s is enough.* For a whole order a the sum of P(z)^a P(z - d)^(1 - a) is
exp(a (a - 1) R / 2s) times a sum of exp(-|c(z + (a - 1) d)|^2 / 2s) T(z)^a T(z - d)^(1 - a), which
is no less than some q^a. So the divergence by the order tends to R / 2s at least.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, prod
from typing import Final

from blowproof.models import Domain, Setting
from blowproof.models.base.numbers import plain
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.secrets import SecretGraph
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import LossBounds
from blowproof.verifier.certify.channels.exponential_sums import enclosure
from blowproof.verifier.certify.noise.resistance import (
    Sides,
    least_resistance,
    most_resistance,
    moves_along,
)
from blowproof.verifier.certify.noise.steps import (
    corner_pair,
    longest_move,
    of_nobody,
    unknown,
    why_not,
)
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["GAUSSIAN_STEPS", "gaussian_steps_rho", "round_about", "steps_rho", "variance_for"]

GAUSSIAN_STEPS: Final = "discrete-gaussian-steps"
ROUNDED = whole_limit(__name__, "ROUNDED")
FAR = whole_limit(__name__, "FAR")
WIDER = Fraction(65, 64)
"""Each variance that is tried is so much larger than the last."""
HALF_PI_SQUARED = Fraction(493, 100)
"""No more than pi^2 / 2."""


def round_about(circuits: int, variance: Fraction) -> Fraction | None:
    """Return a number that D does not exceed: by how much T changes; None where nothing is known.

    With q = exp(-pi^2 s / 2), e is at most 2 (q + q^4 + q^9 + ...) <= 2 q / (1 - q^3), and
    log((1 + e) / (1 - e)) <= 2 e / (1 - e^2).

    >>> round_about(0, Fraction(1)), float(round_about(1000, Fraction(10))) < 1e-17
    (Fraction(0, 1), True)
    """
    if not circuits:
        return Fraction(0)
    q = enclosure(-HALF_PI_SQUARED * min(variance, Fraction(FAR)), 64)[1]
    if q > Fraction(1, 8):
        return None
    e = 2 * q / (1 - q**3)
    most = circuits * 2 * e / (1 - e**2)
    fine = ROUNDED << int(1 / most).bit_length()
    return Fraction(ceil(most * fine), fine)


def _sides(axes: Sequence[int], domain: Domain) -> Sides:
    kinds = [domain.attribute(axis) for axis in axes]
    return tuple((kind.size, kind.ordered) for kind in kinds)


def _circuits(sides: Sides) -> int:
    """Return how many independent circulations there are on the steps of a grid."""
    cells = prod(size for size, _ in sides)
    edges = sum(
        cells // size * (size - 1 if ordered else size * (size - 1) // 2) for size, ordered in sides
    )
    return edges - cells + 1


def _reach(graph: SecretGraph, axes: Sequence[int], domain: Domain) -> Fraction | None:
    """Return a number that the resistance between the ends of no edge of G exceeds."""
    moves = moves_along(graph, domain)
    if moves is None:
        return None
    along = frozenset(tuple(move[axis] for axis in axes) for move in moves)
    found = most_resistance(along, _sides(axes, domain))
    return None if found is None else Fraction(ceil(found * ROUNDED), ROUNDED)


def steps_rho(
    variance: Fraction, graph: SecretGraph, axes: Sequence[int], domain: Domain
) -> Fraction:
    """Return a rho that such noise does not exceed: by all paths, or by the shortest one.

    `axes`: along which there are steps; no edge of G changes others.
    """
    most, _ = longest_move(graph, domain)
    by_path = most / (2 * variance)
    reach, more = (
        _reach(graph, axes, domain),
        round_about(_circuits(_sides(axes, domain)), variance),
    )
    if reach is None or more is None:
        return by_path
    return min(by_path, reach / (2 * variance) + more)


def variance_for(
    rho: Fraction, graph: SecretGraph, axes: Sequence[int], domain: Domain
) -> Fraction:
    """Return about the least variance with which the noise keeps to a rho.

    >>> from blowproof.models import Distance, Integers, Policy
    >>> line = Domain(x=Integers(0, 9))
    >>> policy = Policy(domain=line, secrets=Distance(threshold=2))
    >>> variance_for(Fraction(1, 8), policy.graph, (0,), line)
    Fraction(8, 1)
    """
    most, _ = longest_move(graph, domain)
    by_path = most / (2 * rho)
    reach, circuits = _reach(graph, axes, domain), _circuits(_sides(axes, domain))
    if reach is None:
        return by_path
    best, tried = by_path, reach / (2 * rho)
    while tried < best:
        more = round_about(circuits, tried)
        if more is not None and more < rho:  # with more variance than is tried, T changes less
            exact = max(tried, reach / (2 * (rho - more)))
            fine = 1 << max(0, 40 - int(exact).bit_length())
            best = min(best, Fraction(ceil(exact * fine), fine))
        tried *= WIDER
    return best


def gaussian_steps_rho(asked: Asked, releases: Sequence[tuple[Release, Part]]) -> LossBounds:
    """Return the rho of all releases with Gaussian noise on steps: the sum of what each loses."""
    found = LossBounds(lower=0, upper=0, pair=None, engine="argument")
    for release, part in releases:
        one = _one(asked.setting, release, part, asked)
        if one.upper is None:
            return one
        lower = plain(Fraction(found.lower) + Fraction(one.lower))
        upper = plain(Fraction(found.upper or 0) + Fraction(one.upper))
        found = LossBounds(lower=lower, upper=upper, pair=one.pair, engine="argument",
                       notes=one.notes)  # fmt: skip
    return found


def _one(setting: Setting, release: Release, part: Part, asked: Asked) -> LossBounds:
    variance, domain, graph = part.weights[0], setting.domain, setting.graph
    reason = why_not(setting, release, part, asked)
    if reason is not None:
        return unknown(reason)
    nothing = of_nobody(asked)
    if nothing is not None:
        return nothing
    axes = domain.axes(release.along)
    rho = steps_rho(variance, graph, axes, domain)
    most, edge = longest_move(graph, domain)
    lower, pair = Fraction(0), None
    if edge is not None and not setting.impossible.boxes and not any(edge[0]):
        lower = least_resistance(_sides(axes, domain), most) / (2 * variance)
        pair = corner_pair(setting, edge)
    note = f"{most} steps at the most, with Gaussian noise of variance {variance} on each"
    return LossBounds(lower=plain(lower), upper=plain(rho), pair=pair, engine="argument",
                  notes=(note,))  # fmt: skip
