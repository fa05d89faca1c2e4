"""blowfish-2014, section 7.1: constrained inference, the ordered counts made to ascend.

The error is that of isotonic regression. It is worked out exactly for noise that takes each of four
values with the same chance: what is proved needs no more than independent noise of one variance.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

from blowproof.models import Exact
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Counted

__all__ = ["CLAIMS"]

NOISE = (-2, -1, 1, 2)
VARIANCE = Fraction(sum(z * z for z in NOISE), len(NOISE))


def _runs(size: int) -> Iterator[tuple[int, ...]]:
    """Yield the lengths of runs of equal counts, `size` counts in all."""
    for cuts in product((False, True), repeat=size - 1):
        places = [0, *(place for place, cut in enumerate(cuts, 1) if cut), size]
        yield tuple(high - low for low, high in pairwise(places))


def _counts(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for runs in _runs(size):
            for gap in (1, 3, 10):
                if gap == 1 or len(runs) > 1:
                    given: dict[str, Parameter] = {"runs": "+".join(map(str, runs)), "gap": gap}
                    yield Instance(shape=f"{size} counts", parameters=given)


def _lengths(instance: Instance) -> list[int]:
    return [int(length) for length in instance.word("runs").split("+")]


def ascending(values: list[int]) -> list[Fraction]:
    """Return the nearest ascending sequence: neighbours that descend are averaged."""
    blocks: list[tuple[int, int]] = []
    for value in values:
        total, length = value, 1
        while blocks and blocks[-1][0] * length >= total * blocks[-1][1]:
            before, many = blocks.pop()
            total, length = total + before, length + many
        blocks.append((total, length))
    return [Fraction(total, length) for total, length in blocks for _ in range(length)]


def _error(instance: Instance) -> Exact:
    """Return the expected squared error, over the variance of the noise."""
    gap = instance.whole("gap")
    true = [place * gap for place, length in enumerate(_lengths(instance)) for _ in range(length)]
    total = Fraction(0)
    for noise in product(NOISE, repeat=len(true)):
        fitted = ascending([value + z for value, z in zip(true, noise, strict=True)])
        total += sum((x - y) ** 2 for x, y in zip(fitted, true, strict=True))
    found: Fraction = total / len(NOISE) ** len(true) / VARIANCE
    return found


def _harmonic(length: int) -> Fraction:
    return sum((Fraction(1, k) for k in range(1, length + 1)), Fraction(0))


def _bound(instance: Instance) -> Exact:
    return sum((_harmonic(length) for length in _lengths(instance)), Fraction(0))


def _one_run(instance: Instance) -> Exact | None:
    lengths = _lengths(instance)
    return _harmonic(lengths[0]) if len(lengths) == 1 else None


COUNTS = family(
    "every ascending sequence of up to 5 counts by its runs, 1, 3 or 10 apart, all noise listed",
    lambda: _counts(3),
    lambda: _counts(5),
)
INFERENCE = Claim(
    id="blowfish-2014/section-7.1-inference",
    source="Section 7.1, after 'constrained inference'",
    quote="constrained inference proposed by",
    statement="With constrained inference the cumulative histogram has error O(p log^3 |T| / "
    "epsilon^2), p being the number of distinct counts (O(log^3 |T| / epsilon^2) for p = 1, O(|T| "
    "/ epsilon^2) for p = |T|).",
    read_as="The expected squared error of isotonic regression on noise of one variance.",
    parts=(
        Part(
            name="at most the harmonic numbers of the runs, times the variance",
            family=COUNTS,
            claimed=_bound,
            measure=Counted(_error),
            relation="<=",
            small="accuracy",
        ),
        Part(
            name="p = 1: exactly the harmonic number of |T|, times the variance",
            family=COUNTS,
            claimed=_one_run,
            measure=Counted(_error),
            small="accuracy",
            large="accuracy",
        ),
    ),
    proof="The error of a projection onto a convex cone is at most that of the projection of the "
    "noise onto the tangent cone, which lies in the product of the cones of ascending sequences "
    "on the runs; the norm of a projection grows with the cone. On a run of m equal counts the "
    "fit is the greatest convex minorant of a walk with exchangeable steps, whose faces are "
    "distributed as the cycles of a random permutation of m, H_m on average, and each costs one "
    "variance. So the error is at most 2/epsilon^2 times the sum of H_m over the runs, which is "
    "at most 2 p (1 + ln(|T|/p))/epsilon^2: p = 1 gives O(log |T|), and p = |T| 2 |T|/epsilon^2, "
    "as the paper says and better.",
)

CLAIMS = (INFERENCE,)
