"""blowfish-2014, section 7.1: what no matrix mechanism can do, by the nuclear norm of its queries.

A strategy A with W = (W A') A, A' its pseudo-inverse, and Laplace noise for the largest column sum
of A has an error of at least 2/(n epsilon^2) times the square of W's nuclear norm: the largest
column sum is at least the largest column's Euclidean norm, hence at least |A|_F/sqrt(n), and
|W A'|_F |A|_F is at least the nuclear norm of their product.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part, Value
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Counted

__all__ = ["CLAIMS"]

PI_ABOVE = Fraction(22, 7)


def _powers(most: int) -> Iterator[Instance]:
    for power in range(1, most + 1):
        yield Instance(shape="n a power of two", parameters={"n": 2**power, "power": power})


POWERS = family("n = 2, 4, ..., 4096", lambda: _powers(6), lambda: _powers(12))


def _prefix_error(instance: Instance) -> Exact:
    """Return a lower bound of the error of one count, at epsilon = 1.

    The singular values of the prefix matrix are 1/(2 sin((2k - 1) pi/(4n + 2))), and sin x < x.
    """
    n = instance.whole("n")
    norm = sum(Fraction(2 * n + 1, 2 * k - 1) for k in range(1, n + 1)) / PI_ABOVE
    return _rounded(2 * norm**2 / n**2)


def _range_error(instance: Instance) -> Exact:
    """Return a lower bound of the error of one range, at epsilon = 1.

    The squares of the singular values are (n + 1)/(4 sin^2(k pi/(2n + 2))).
    """
    n = instance.whole("n")
    harmonic = sum(Fraction(1, k) for k in range(1, n + 1))
    squared = (n + 1) ** 3 * (harmonic / PI_ABOVE) ** 2
    return _rounded(2 * squared / n / Fraction(n * (n + 1), 2))


def _rounded(value: Fraction) -> Fraction:
    return Fraction(int(value * 10**6), 10**6)


def _norms(most: int) -> Iterator[Instance]:
    for kind in ("prefixes", "ranges"):
        for n in range(1, most + 1):
            yield Instance(shape=kind, parameters={"values": n, "queries": kind})


def _by_formula(instance: Instance) -> Exact:
    """Return the nuclear norm by the closed form, in millionths."""
    from math import pi, sin, sqrt

    n = instance.whole("values")
    if instance.word("queries") == "prefixes":
        return round(
            10**6 * sum(0.5 / sin((2 * k - 1) * pi / (4 * n + 2)) for k in range(1, n + 1))
        )
    return round(
        10**6 * sum(0.5 * sqrt(n + 1) / sin(k * pi / (2 * n + 2)) for k in range(1, n + 1))
    )


class NuclearNorm:
    """The nuclear norm of all prefixes or all ranges of n values, in millionths, by numpy."""

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the norm, a few millionths either way being rounding."""
        import numpy as np

        n = instance.whole("values")
        if instance.word("queries") == "prefixes":
            matrix = np.tril(np.ones((n, n)))
        else:
            ends = [(low, high) for low in range(n) for high in range(low, n)]
            matrix = np.array([[low <= x <= high for x in range(n)] for low, high in ends], float)
        found = round(10**6 * float(np.linalg.svd(matrix, compute_uv=False).sum()))
        claimed = int(_by_formula(instance))
        return Value.of(claimed if abs(found - claimed) <= 5 else found)


SVD = Claim(
    id="blowfish-2014/section-7.1-svd-bound",
    source="Section 7.1, after the constrained inference, and after Theorem 7.1",
    quote="the SVD bound",
    statement="No differentially private strategy releases the cumulative histogram with error "
    "O(|T| / epsilon^2), or each range with O(1 / epsilon^2).",
    read_as="Strategies of the matrix mechanism, which the cited bound is about; no O(1) per "
    "count.",
    parts=(
        Part(
            name="the nuclear norm of all prefixes, of all ranges, in millionths",
            family=family("n = 1 to 40 values", lambda: _norms(8), lambda: _norms(40)),
            claimed=_by_formula,
            measure=NuclearNorm(),
            small="nothing",
            large="nothing",
        ),
        Part(
            name="error of a count at epsilon = 1, against 9/100 log_2(n)^2",
            family=POWERS,
            claimed=lambda item: Fraction(9 * item.whole("power") ** 2, 100),
            measure=Counted(_prefix_error),
            relation=">=",
            large="accuracy",
        ),
        Part(
            name="error of a range at epsilon = 1, against 19/100 log_2(n)^2",
            family=POWERS,
            claimed=lambda item: Fraction(19 * item.whole("power") ** 2, 100),
            measure=Counted(_range_error),
            relation=">=",
            large="accuracy",
        ),
    ),
    proof="A strategy's error is at least 2/(n epsilon^2) times the square of the nuclear norm of "
    "its queries: the largest column sum of A is at least |A|_F/sqrt(n), and |W A'|_F |A|_F is at "
    "least |W|_*. The inverse of W^T W is the matrix of second differences with one free end "
    "(prefixes), and n + 1 times W^T W's inverse is that with two fixed ends (ranges), so that "
    "|W|_* is the sum of 1/(2 sin((2k - 1) pi/(4n + 2))), and of sqrt(n + 1)/(2 sin(k pi/(2n + "
    "2))). As sin x < x, an error per count is at least 2/pi^2 ln(2n + 1)^2/epsilon^2, and per "
    "range at least 4/pi^2 ln(n + 1)^2/epsilon^2: neither is O(1).",
)

CLAIMS = (SVD,)
