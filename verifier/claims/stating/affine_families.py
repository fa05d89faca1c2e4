"""Full secrets and few signatures: what can be said where counts are not sparse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import gcd
from random import Random

from blowproof.models import Domain, Exact, Integers, Policy, Sum
from blowproof.models.queries.kinds import Histogram
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Formula, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.parts import of_sensitivity
from blowproof.verifier.closed_forms import Case, Form
from blowproof.verifier.closed_forms.ours.more_dependencies import (
    blocks_above,
    blocks_below,
    blocks_conjecture,
    single_values,
)
from blowproof.verifier.closed_forms.ours.one_dependency import independent, one_dependency
from blowproof.verifier.theorems.affine_frames import kernel

__all__ = ["AFFINE", "AFFINE_PARTS", "SINGLE", "blocks", "exactly", "with_signatures"]

Signatures = Sequence[Sequence[int]]


def with_signatures(signatures: Signatures, sizes: Sequence[int]) -> Policy:
    """Return full secrets on the values 1, 2, ..., where sizes[c] values have signature c.

    >>> policy = with_signatures([(0, 1), (2, 0)], (1, 2))
    >>> [policy.signature((rank,)) for rank in range(3)]
    [(0, 1), (2, 0), (2, 0)]
    """
    ends = [sum(sizes[: c + 1]) for c in range(len(sizes))]
    values = [list(range(end - size + 1, end + 1)) for end, size in zip(ends, sizes, strict=True)]
    columns = zip(*signatures, strict=True)
    known = tuple(
        Sum([(times, {"a": of}) for times, of in zip(column, values, strict=True) if times])
        for column in columns
    )
    return Policy(domain=Domain(a=Integers(1, sum(sizes))), known=known)


def _instance(signatures: Signatures, sizes: Sequence[int]) -> Instance:
    count = len(kernel([tuple(s) for s in signatures]))
    rank = len(signatures) - 1 - count
    shape = f"rank {rank}, {len(signatures)} signatures"
    return Instance(shape=shape, policy=with_signatures(signatures, sizes))


def _on_a_line(largest: int, most: int) -> Iterator[Instance]:
    """Yield every set of 2 to `most` points on a line up to scale and place; classes of 1 or 2."""
    for count in range(2, most + 1):
        for points in combinations(range(1, largest + 1), count - 1):
            if gcd(*points) == 1:
                for sizes in product((1, 2), repeat=count):
                    yield _instance([(0,), *((x,) for x in points)], sizes)


def _drawn(
    rank: int, largest: int, count: int, *, more: Sequence[int] = (1, 2, 3, 3), values: int = 2
) -> Iterator[Instance]:
    """Yield drawn points of full rank in space, so many more than the rank; of so many values."""

    places = list(product(range(largest + 1), repeat=rank))

    def draw(rng: Random) -> Instance:
        many = rank + rng.choice(more)
        while True:
            found = sorted(rng.sample(places, many))
            axes = zip(*found, strict=True)
            if len(kernel(found)) == len(found) - 1 - rank and all(any(axis) for axis in axes):
                return _instance(found, [rng.randint(1, values) for _ in found])

    return some.drawn(f"affine {rank}", count, draw)


def _full() -> Iterator[Instance]:
    yield from _on_a_line(6, 4)
    yield from _drawn(2, 2, 120)
    yield from _drawn(3, 1, 120)


AFFINE = family(
    "full secrets, 1 or 2 values to a signature: every 2, 3 or 4 points 0..6 on a line up to "
    "scale as signatures, drawn points {0, 1, 2}^2 and {0, 1}^3, one to three more than the rank",
    lambda: _on_a_line(4, 4),
    _full,
)


def _single(largest: int, count: int) -> Iterator[Instance]:
    for points in combinations(range(1, largest + 1), 3):
        if gcd(*points) == 1:
            yield _instance([(0,), *((x,) for x in points)], (1,) * 4)
    yield from _drawn(2, 2, count, more=(3,), values=1)
    yield from _drawn(3, 1, count, more=(3,), values=1)


SINGLE = family(
    "full secrets, one value to a signature, two affine dependencies: every 4 points 0..8 on a "
    "line up to scale, 5 drawn points of {0, 1, 2}^2 and 6 of {0, 1}^3",
    lambda: _single(6, 4),
    lambda: _single(8, 30),
)


def _of(*forms: Form) -> Formula:
    """Return the value of the first of these closed forms that applies."""

    def claimed(instance: Instance) -> Exact | None:
        case = Case(instance.the_policy, Histogram())
        return next((form.value(case) for form in forms if form.why_not(case) is None), None)

    return claimed


exactly: Formula = _of(independent, one_dependency)
"""The value for N = r + 1 and N = r + 2 signatures of affine rank r."""


def blocks(which: str) -> Formula:
    """Return what blocks say for N = r + 3: the bound "below", "above", or the "conjecture"; or
    the value itself where no signature has two values, "single".
    """
    forms = {
        "below": blocks_below,
        "above": blocks_above,
        "conjecture": blocks_conjecture,
        "single": single_values,
    }
    return _of(forms[which])


AFFINE_PARTS: tuple[Part, ...] = (
    of_sensitivity(
        "sparse or not, full secrets, N = r + 1 or r + 2 signatures of affine rank r: the value",
        AFFINE,
        exactly,
        amended=True,
    ),
)
"""Checks of closed forms for full secrets that do not ask for sparse counts."""
