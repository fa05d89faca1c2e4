"""||x||_2 squared, the sum of x_j ** 2: for Gaussian noise, where rho = S / (2 sigma ** 2).

The square stays exact where the root does not. Roots are what adds up: ||x + y||_2 <= ||x||_2 +
||y||_2, so `length` is the root in steps of 1 / STEPS, rounded up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from blowproof.models.base.numbers import Exact, plain, total
from blowproof.models.norms.l1 import absolute
from blowproof.models.norms.norm import Counted, Norm
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, LinearExpr, weighted_sum

__all__ = ["L2_SQUARED"]

STEPS = 1 << 20
"""Lengths are roots in steps of 1 / STEPS: with k moves, a bound is too large by some k / STEPS."""

FEW = 12
"""Squares of numbers up to this are added up from odd numbers, those of larger ones from bits."""


class _L2Squared(Norm):
    """The sum of the squared changes."""

    name = "l2-squared"
    degree = 2
    adds = True

    def of(self, changes: Iterable[Counted]) -> Exact:
        """Return the sum of change ** 2 * times."""
        return total(change * change * times for change, times in changes)

    def weighted(self, item: Counted, weight: Exact) -> Counted:
        """Return the output as if there were `weight` of them."""
        change, times = item
        return change, times * weight

    def gain(
        self, linear: LinearModel, outputs: Sequence[tuple[LinearExpr, int]], *, still: bool
    ) -> LinearExpr:
        """Return the sum of what is at most the square of a size, for each output."""
        terms: list[tuple[int, IntVar]] = []
        for number, (change, times) in enumerate(outputs):
            size = absolute(linear, change, number)
            square = _by_odd_numbers if size.upper <= FEW else _by_bits
            terms += ((times * factor, item) for factor, item in square(linear, size))
        return weighted_sum(terms)

    def length(self, size: int) -> int:
        """Return the root of the size in steps of 1 / STEPS, rounded up."""
        return isqrt(size * STEPS * STEPS - 1) + 1 if size > 0 else 0

    def most(self, length: int) -> int:
        """Return the square, rounded down: sizes of whole changes are whole."""
        return length * length // (STEPS * STEPS)

    def within(self, size: int) -> int:
        """Return the largest length whose square, rounded down, is no more than the size."""
        return isqrt((size + 1) * STEPS * STEPS - 1)

    def together(self, sizes: Iterable[Exact]) -> Exact:
        """Return the square of the sum of the roots, rounded up.

        It is never more than (how many) * (sum of the sizes), by Cauchy and Schwarz, which is exact
        where all are equal.
        """
        listed = [size for size in sizes if size]
        roots = sum(
            (Fraction(isqrt(x.numerator * x.denominator * STEPS * STEPS) + 1, x.denominator * STEPS)
             for x in listed),
            start=Fraction(0),
        )  # fmt: skip
        return plain(min(roots * roots, Fraction(len(listed) * total(listed))))


def _by_odd_numbers(linear: LinearModel, size: IntVar) -> list[tuple[int, IntVar]]:
    """1 + 3 + ... + (2 k - 1) = k ** 2, where step j is taken only after those before it."""
    steps = [linear.bool_var(f"{size.name}_step{k}") for k in range(size.upper)]
    linear.add(weighted_sum((1, step) for step in steps) - size, upper=0)
    for before, after in pairwise(steps):
        linear.add_clause([before, ~after])
    return [(2 * k + 1, step) for k, step in enumerate(steps)]


def _by_bits(linear: LinearModel, size: IntVar) -> list[tuple[int, IntVar]]:
    """The square of a binary number, with a variable for each product of two bits.

    A product is at most either bit, and more of it is never worse; so it is the product.
    """
    bits = [linear.bool_var(f"{size.name}_bit{k}") for k in range(size.upper.bit_length())]
    linear.add(weighted_sum((1 << k, bit) for k, bit in enumerate(bits)) - size, upper=0)
    found = [(1 << 2 * k, bit) for k, bit in enumerate(bits)]
    for high, one in enumerate(bits):
        for low, other in enumerate(bits[:high]):
            both = linear.bool_var(f"{size.name}_bits{low}_{high}")
            linear.add_clause([~both, one])
            linear.add_clause([~both, other])
            found.append((1 << (high + low + 1), both))
    return found


L2_SQUARED = _L2Squared()
