"""blowfish-2014, Equation 15 and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.blowfish.equation_14 import constants_of
from blowproof.verifier.claims.blowfish.section_7_2 import FAN_OUTS, STRUCTURES
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter, Part, Value
from blowproof.verifier.claims.stating.families import family
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
    statement="The split epsilon_S = epsilon c1^(1/3)/(c1^(1/3) + c2^(1/3)) minimises Equation 14; "
    "the minimum is (c1^(1/3) + c2^(1/3))^3/epsilon^2.",
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
)


def _ends(sizes: range, fan_outs: tuple[int, ...]) -> Iterator[Instance]:
    for size in sizes:
        for fan_out in fan_outs:
            given = {"size": size, "fan_out": fan_out}
            yield Instance(shape=f"fan-out {fan_out}", parameters=given)


ENDS = Claim(
    id="blowfish-2014/section-7.2-ends",
    source="Section 7.2, after Equation 15",
    statement="c1 = 0 for theta = |T| (the hierarchical mechanism), c2 = 0 for theta = 1 (the "
    "ordered mechanism).",
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


def _cube_root(value: Fraction, digits: int = 9) -> tuple[Fraction, Fraction]:
    """Return two fractions 10^-digits apart between which the cube root lies."""
    scale = 10**digits
    target = value * scale**3
    low, high = 0, int(target) + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**3 <= target else (low, middle)
    return Fraction(low, scale), Fraction(high, scale)


class BestError:
    """Equation 15 at epsilon = 1, in bounds that are thousandths."""

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return (c1^(1/3) + c2^(1/3))^3, rounded outwards."""
        first, second = constants_of(
            instance.whole("size"), instance.whole("theta"), instance.whole("fan_out")
        )
        (a, b), (c, d) = _cube_root(first), _cube_root(second)
        low, high = (a + c) ** 3, (b + d) ** 3
        return Value(Fraction(int(low * 1000), 1000), Fraction(int(high * 1000) + 1, 1000))


def _hierarchical_error(instance: Instance) -> Exact | None:
    size, fan_out = instance.whole("size"), instance.whole("fan_out")
    if instance.whole("theta") == size:
        return None  # it is the hierarchical mechanism
    return constants_of(size, size, fan_out)[1]


NEVER_WORSE = Claim(
    id="blowfish-2014/section-7.2-never-worse",
    source="Section 7.2, second paragraph",
    statement="The ordered hierarchical mechanism always has an error at most that of the "
    "hierarchical mechanism, for every theta.",
    parts=(
        Part(
            name="Equation 15 at theta against theta = |T| (log_f as the height)",
            family=STRUCTURES,
            claimed=_hierarchical_error,
            measure=BestError(),
            relation="<=",
            small="accuracy",
        ),
    ),
    repaired="For each theta the smaller of the two errors can be had, by choosing between the "
    "structures.",
    explanation="By the paper's own Equations 14 and 15: if theta is below |T| but needs a tree of "
    "the same height, the H nodes cost as much as before, and the S nodes take a part of the "
    "budget on top. The same holds with log_f for the height if theta is close to |T|, since "
    "(c1^(1/3) + c2^(1/3))^3 rises steeply in c1 at 0.",
)


def _first_and_last(sizes: range, fan_outs: tuple[int, ...]) -> Iterator[Instance]:
    for size in sizes:
        for fan_out in fan_outs:
            given: dict[str, Parameter] = {"size": size, "fan_out": fan_out, "theta": size}
            yield Instance(shape=f"fan-out {fan_out}", parameters=given)


TREND = Claim(
    id="blowfish-2014/section-7.3-trend",
    source="Section 7.3, on Figures 2(b) and 2(c)",
    statement="As theta increases, the error of range queries decreases.",
    parts=(
        Part(
            name="Equation 15: theta = |T| has at most the error of theta = 1",
            family=family(
                "|T| from 2 to 60, fan-outs 2, 3, 4, 16",
                lambda: _first_and_last(range(2, 20), (2, 16)),
                lambda: _first_and_last(range(2, 61), FAN_OUTS),
            ),
            claimed=lambda item: constants_of(item.whole("size"), 1, item.whole("fan_out"))[0],
            measure=BestError(),
            relation="<=",
            small="accuracy",
        ),
    ),
    repaired="As theta decreases, the error decreases (up to the exceptions of "
    "section-7.2-never-worse).",
    amendment="misprint",
    explanation="A larger theta protects more and needs more noise: by Equation 15 theta = 1 has "
    "an error below 4/epsilon^2, and theta = |T| one that grows with log^3 |T|. The same "
    "paragraph speaks of orders of magnitude between theta = 1 and theta = |T| in favour of theta "
    "= 1.",
)


COMPLEXITY = Claim(
    id="blowfish-2014/section-7.2-complexity",
    source="Section 7.2, Complexity Analysis",
    statement="The structure is built in O(|T|) and answers a range in O(log theta).",
    why_not="an asymptotic statement about running time",
)


CROSSOVER = Claim(
    id="blowfish-2014/section-7.2-crossover",
    source="Section 7.2, first paragraph",
    statement="The ordered mechanism is better than any differentially private one for small "
    "theta, comparable at theta = log |T|, and worse than the hierarchical one from theta = "
    "O(log^(3/2) |T|).",
    why_not="an asymptotic comparison: no constants to check",
)


CLAIMS = (EQUATION_15, ENDS, NEVER_WORSE, TREND, COMPLEXITY, CROSSOVER)
