"""blowfish-2014, Equation 15: the best split of the budget, and its ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.blowfish.trees.equation_14 import constants_of
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]


def _cubes(most: int) -> Iterator[Instance]:
    for first in range(1, most + 1):
        for second in range(1, most + 1):
            for epsilon in (Fraction(1, 2), Fraction(1), Fraction(2)):
                given: dict[str, Parameter] = {
                    "c1": first**3,
                    "c2": second**3,
                    "epsilon": epsilon,
                }
                yield Instance(shape="perfect cubes", parameters=given)


def _root(value: int) -> int:
    return next(root for root in range(value + 1) if root**3 == value)


def _equation_15(instance: Instance) -> Exact:
    first, second = _root(instance.whole("c1")), _root(instance.whole("c2"))
    return Fraction((first + second) ** 3) / instance.number("epsilon") ** 2


def _split_error(instance: Instance, share: Fraction) -> Fraction:
    epsilon = instance.number("epsilon")
    first, second = instance.whole("c1"), instance.whole("c2")
    return first / (share * epsilon) ** 2 + second / ((1 - share) * epsilon) ** 2


def _at_optimum(instance: Instance) -> Exact:
    first, second = _root(instance.whole("c1")), _root(instance.whole("c2"))
    return _split_error(instance, Fraction(first, first + second))


def _over_grid(instance: Instance) -> Exact:
    return min(_split_error(instance, Fraction(step, 240)) for step in range(1, 240))


CUBES = family(
    "c1, c2 among the first 8 cubes, epsilon 1/2, 1, 2; 239 splits each",
    lambda: _cubes(3),
    lambda: _cubes(8),
)


EQUATION_15 = Claim(
    id="blowfish-2014/equation-15",
    source="Section 7.2, Equation 15",
    quote="we obtain the minimum",
    statement="The split epsilon_S = epsilon c1^(1/3)/(c1^(1/3) + c2^(1/3)) minimises Equation "
    "14; the minimum is (c1^(1/3) + c2^(1/3))^3/epsilon^2.",
    read_as="The split that minimises c1/s^2 + c2/(epsilon - s)^2, whatever c1 and c2 are.",
    parts=(
        replace(
            counted("the value at that split", CUBES, _equation_15, _at_optimum), small="accuracy"
        ),
        replace(
            counted("no other split is better", CUBES, _equation_15, _over_grid, ">="),
            large="accuracy",
        ),
    ),
    proof="The derivative 2 c2/(epsilon - s)^3 - 2 c1/s^3 vanishes there, and the sum is convex.",
    identities=(
        Identity(
            "the error at that split, with c1 = a^3 and c2 = b^3",
            "a**3/(e*a/(a + b))**2 + b**3/(e*b/(a + b))**2",
            "(a + b)**3/e**2",
            real="a b e",
        ),
        Identity(
            "the derivative there is zero",
            "2*b**3/(e - e*a/(a + b))**3 - 2*a**3/(e*a/(a + b))**3",
            "0",
            real="a b e",
        ),
    ),
)


def _ends(sizes: range, fan_outs: tuple[int, ...]) -> Iterator[Instance]:
    for size in sizes:
        for fan_out in fan_outs:
            given = {"size": size, "fan_out": fan_out}
            yield Instance(shape=f"fan-out {fan_out}", parameters=given)


ENDS = Claim(
    id="blowfish-2014/section-7.2-ends",
    source="Section 7.2, after Equation 15",
    quote="this is equivalent to the",
    statement="c1 = 0 for theta = |T| (the hierarchical mechanism), c2 = 0 for theta = 1 (the "
    "ordered mechanism).",
    read_as="The constants of Equation 14 at theta = |T| and theta = 1.",
    parts=(
        counted(
            "c1 for theta = |T|",
            family("|T| from 1 to 100, fan-outs 2, 16", lambda: _ends(range(1, 101), (2, 16))),
            lambda item: 0,
            lambda item: constants_of(
                item.whole("size"), item.whole("size"), item.whole("fan_out")
            )[0],
        ),
        counted(
            "c2 for theta = 1",
            family("|T| from 1 to 100, fan-outs 2, 16", lambda: _ends(range(1, 101), (2, 16))),
            lambda item: 0,
            lambda item: constants_of(item.whole("size"), 1, item.whole("fan_out"))[1],
        ),
    ),
    proof="By substitution.",
)


CLAIMS = (EQUATION_15, ENDS)
