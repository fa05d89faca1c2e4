"""rho (zero-concentrated differential privacy), and what follows from it and from a pure epsilon.

A mechanism is rho-zCDP if for every pair of neighbours and every order a > 1 the Renyi divergence
D_a is at most rho * a (Bun and Steinke 2016).

* Discrete Gaussian noise of variance s, where an output changes by d on its grid:
  D_a <= a d^2 / 2s, with equality where a d is a whole number of steps (Canonne, Kamath and Steinke
  2020). So order 2 meets it, and independent outputs add up: rho is half the weighted sum of the
  squares, exactly.
* A pure epsilon is rho = epsilon^2 / 2, and that is a bound: it goes one way.
* From rho to (epsilon, delta): for every order a > 1,
      delta <= exp((a - 1)(a rho - epsilon)) * (1 - 1/a)^a / (a - 1),
  (Canonne, Kamath and Steinke 2020, Corollary 13). Any order is right, so the best one may be
  chosen in floats; the number itself is then computed in fractions, and rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import isqrt, log, sqrt

from blowproof.verifier.certify.channels.exponential_sums import enclosure
from blowproof.verifier.certify.measures.logarithms import logarithm, rounded_down, rounded_up

__all__ = ["epsilon_at", "from_pure", "laplace_order_2", "pure_of"]

_FAR = 2_000
"""A shift by more than so many scales: e^-shift is nothing, and D_2 is the shift less a bit."""


def from_pure(epsilon: Fraction) -> Fraction:
    """Return the rho that a pure epsilon is worth: epsilon^2 / 2.

    >>> from_pure(Fraction(1))
    Fraction(1, 2)
    """
    return epsilon**2 / 2


def pure_of(rho: Fraction) -> Fraction:
    """Return an epsilon whose rho is no more than this: the root of 2 rho, rounded down.

    >>> pure_of(Fraction(1, 2)), pure_of(Fraction(1)) ** 2 <= 2
    (Fraction(1, 1), True)
    """
    square = 2 * rho
    scaled = square.numerator * square.denominator << 128
    return Fraction(isqrt(scaled), square.denominator << 64)


def epsilon_at(rho: Fraction, delta: Fraction) -> Fraction:
    """Return an epsilon such that rho-zCDP is (epsilon, delta)-private: rounded up, best order.

    >>> float(epsilon_at(Fraction(256, 100), Fraction(1, 10**10)))
    17...
    """
    if rho == 0:
        return Fraction(0)
    found = min(epsilon_of_order(rho, delta, order) for order in _orders(rho, delta))
    return max(Fraction(0), rounded_up(found))


def epsilon_of_order(rho: Fraction, delta: Fraction, order: Fraction) -> Fraction:
    """Return an epsilon, no smaller than the one that an order gives at this delta.

    epsilon = a rho + (ln(1/delta) - ln a) / (a - 1) + ln(1 - 1/a), every part rounded up.
    """
    a, less = order, order - 1
    tail = logarithm(1 / delta)[1] - logarithm(a)[0]
    return a * rho + tail / less + logarithm(less / a)[1]


def _orders(rho: Fraction, delta: Fraction) -> Iterable[Fraction]:
    """Return orders near the best one, which is found by golden sections in floats."""
    try:
        r, away = float(rho), float(logarithm(1 / delta)[1])
        start = sqrt(away / r)
        if not 1e-100 < start < 1e100:
            raise OverflowError
    except (OverflowError, ZeroDivisionError):
        ratio = logarithm(1 / delta)[1] / rho
        yield 1 + Fraction(isqrt(ratio.numerator * ratio.denominator) + 1, ratio.denominator)
        return

    def epsilon(place: float) -> float:
        less = start * 2**place
        a = 1 + less
        return a * r + (away - log(a)) / less + log(less / a)

    low, high, golden = -40.0, 40.0, (sqrt(5) - 1) / 2
    for _ in range(80):
        one, two = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, two) if epsilon(one) < epsilon(two) else (one, high)
    for place in (0.0, (low + high) / 2):
        less = Fraction(start * 2**place)
        yield 1 + (less.limit_denominator(10**9) or less)


def laplace_order_2(shift: Fraction, *, discrete: bool, steps: int) -> Fraction:
    """Return D_2 of Laplace noise at a shift, in scales: rounded down; a rho is at least D_2 / 2.

    e^D_2 is the mean of P/Q under P. For Laplace noise and u = shift / scale that is
    (2 e^u + e^-2u) / 3. The discrete form, with r = e^(-1/scale in steps) and d steps, has
    (1-r)/(1+r) ((r^-d + r^2d) / (1-r) + r^-d (r^3 - r^3d) / (1 - r^3)): below 0, beyond d, between.
    """
    if not shift:
        return Fraction(0)
    if shift > _FAR:  # e^D_2 >= 2/3 e^u; the discrete form has at least e^u (1 - r)/(1 - r^2)
        return rounded_down(shift - logarithm(Fraction(2))[1])
    bits = 160
    if not discrete:
        mean = (2 * enclosure(shift, bits)[0] + enclosure(-2 * shift, bits)[0]) / 3
        return max(Fraction(0), rounded_down(logarithm(mean)[0]))
    one = shift / steps
    r_low, r_high = enclosure(-one, bits)
    near, far = enclosure(shift, bits)[0], enclosure(-2 * shift, bits)[0]
    r3, r3d = enclosure(-3 * one, bits), enclosure(-3 * shift, bits)
    ends = (near + far) / (1 + r_high)
    middle = max(Fraction(0), r3[0] - r3d[1]) * near * (1 - r_high)
    mean = ends + middle / ((1 + r_high) * (1 - r3[0]))
    return max(Fraction(0), rounded_down(logarithm(mean)[0])) if r_low else Fraction(0)
