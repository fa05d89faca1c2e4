"""blowfish-2014, sections 7.2 and 7.3: errors of the structures themselves, at their best split.

Nothing here rests on Equation 14: how many ranges read each node is counted in the structure, and
the split of the budget that minimises a/s^2 + b/(1 - s)^2 + c is found exactly, up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.blowfish.section_7_2 import FAN_OUTS, structures
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter, Part, Value
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.range_trees import OrderedTree

__all__ = ["CLAIMS", "BestError", "average_error"]


@dataclass(frozen=True)
class Costs:
    """The average error of a range at epsilon = 1: a/s^2 + b/(1 - s)^2 + c, s the share of S."""

    ordered: Fraction
    trees: Fraction
    first: Fraction


def costs_of(size: int, theta: int, fan_out: int) -> Costs:
    """Return the costs of the structure with the noise that section 7.2 prints.

    S nodes have scale 1/s, H nodes 2h/(1 - s), those of H_1 (s_1 among them) 2h. For theta = 1
    there are only S nodes, and they have the whole budget.
    """
    tree = OrderedTree(size, theta, fan_out)
    used, ranges = tree.uses(), size * (size + 1) // 2
    if theta == 1:
        return Costs(Fraction(0), Fraction(0), Fraction(2 * sum(used.values()), ranges))
    node = 2 * (2 * tree.height) ** 2
    return Costs(
        Fraction(2 * used.get("S", 0), ranges),
        Fraction(node * (used.get("H", 0) + used.get("root", 0)), ranges),
        Fraction(node * (used.get("H1", 0) + used.get("top", 0)), ranges),
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


def average_error(size: int, theta: int, fan_out: int) -> tuple[Fraction, Fraction]:
    """Return bounds, some thousandths apart, of the average error of a range at the best split."""
    found = costs_of(size, theta, fan_out)
    (a, b), (c, d) = _cube_root(found.ordered), _cube_root(found.trees)
    if not found.ordered or not found.trees:
        exact = found.ordered + found.trees + found.first
        return exact, exact
    low, high = (a + c) ** 3 + found.first, (b + d) ** 3 + found.first
    return Fraction(int(low * 1000), 1000), Fraction(int(high * 1000) + 1, 1000)


class BestError:
    """The average error of a range at epsilon = 1, at the split that minimises it."""

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the error in bounds."""
        size, theta = instance.whole("size"), instance.whole("theta")
        return Value(*average_error(size, theta, instance.whole("fan_out")))


def _hierarchical(instance: Instance) -> Exact | None:
    size, fan_out = instance.whole("size"), instance.whole("fan_out")
    if instance.whole("theta") == size:
        return None  # it is the hierarchical mechanism
    return average_error(size, size, fan_out)[1]


ADULT, TWITTER, FAN_OUT = 4357, 400, 16
FIGURES = {ADULT: (1, 10, 50, 100, 500, 1000, ADULT), TWITTER: (1, 9, 90, TWITTER)}
"""Figure 2's thresholds in values: for latitudes 5, 50 and 500 km, where 400 are 2,222 km."""


def _figures() -> Iterator[Instance]:
    for size, thetas in FIGURES.items():
        for theta in thetas:
            given: dict[str, Parameter] = {"size": size, "theta": theta, "fan_out": FAN_OUT}
            yield Instance(shape=f"|T| = {size}", parameters=given)


FIGURE_2 = family("the sizes, thresholds and fan-out of Figures 2(b) and 2(c)", _figures)


NEVER_WORSE = Claim(
    id="blowfish-2014/section-7.2-never-worse",
    source="Section 7.2, second paragraph",
    quote="always has an error less than",
    statement="The ordered hierarchical mechanism always has an error at most that of the "
    "hierarchical mechanism, for every theta.",
    read_as="The structure's own average error at its best split, against that of the tree alone.",
    parts=(
        Part(
            name="average error of a range at theta, against theta = |T|",
            family=family(
                "|T| from 1 to 24, theta from 1 to |T|, fan-outs 2, 3, 4, 16",
                lambda: structures(range(1, 7), (2, 5)),
                lambda: structures(range(1, 25), FAN_OUTS),
            ),
            claimed=_hierarchical,
            measure=BestError(),
            relation="<=",
            small="accuracy",
        ),
        replace(
            Part(
                name="at the sizes and thresholds of Figure 2",
                family=FIGURE_2,
                claimed=_hierarchical,
                measure=BestError(),
                relation="<=",
                small="accuracy",
            ),
            amended=True,
        ),
    ),
    repaired="For each theta the smaller of the two errors can be had, by choosing between the "
    "structures; at the sizes and thresholds of Figure 2 the sentence is right.",
    explanation="The error is that of the structure itself, with the printed noise and the split "
    "of the budget that is best for it. If theta is below |T| but needs a tree of the same "
    "height, the H nodes outside H_1 cost more than before, for they have a part of the budget "
    "only, and the S nodes come on top: |T| = 4, theta = 2 and fan-out 4 have an error of "
    "21.86/epsilon^2, the tree alone 16/epsilon^2. On 4,357 values with fan-out 16 the tree alone "
    "is worse than every threshold of the figure.",
)


def _before(instance: Instance) -> Exact | None:
    """Return the error at the next smaller threshold of the figure, which is to be larger."""
    size, theta = instance.whole("size"), instance.whole("theta")
    thetas = FIGURES[size]
    if theta == 1:
        return None
    return average_error(size, thetas[thetas.index(theta) - 1], FAN_OUT)[0]


def _least(instance: Instance) -> Exact:
    return average_error(instance.whole("size"), 1, FAN_OUT)[0]


def _largest(instance: Instance) -> Exact:
    size = instance.whole("size")
    return average_error(size, size, FAN_OUT)[1]


TREND = Claim(
    id="blowfish-2014/section-7.3-trend",
    source="Section 7.3, on Figures 2(b) and 2(c)",
    quote="as the θ increases",
    statement="As theta increases, the error of range queries decreases.",
    read_as="The expected errors at the figure's thresholds; 'decreases' as printed.",
    parts=(
        Part(
            name="from one threshold of the figure to the next",
            family=FIGURE_2,
            claimed=_before,
            measure=BestError(),
            relation="<=",
            small="accuracy",
        ),
        Part(
            name="theta = 1 has the smallest error",
            family=FIGURE_2,
            claimed=_least,
            measure=BestError(),
            relation=">=",
            large="accuracy",
            amended=True,
        ),
        Part(
            name="theta = |T| has the largest",
            family=FIGURE_2,
            claimed=_largest,
            measure=BestError(),
            relation="<=",
            small="accuracy",
            amended=True,
        ),
    ),
    repaired="As theta increases, the error increases: theta = 1 has the smallest and theta = |T| "
    "the largest of each figure, with one small exception on the way (2,802/epsilon^2 at 500 and "
    "2,720/epsilon^2 at 1,000 values, where the trees are of one height).",
    amendment="misprint",
    explanation="A larger theta protects more and needs more noise. The same paragraph speaks of "
    "orders of magnitude between theta = 1 and theta = |T|, in favour of theta = 1.",
)


def _ends_of_figures() -> Iterator[Instance]:
    for size in FIGURES:
        given: dict[str, Parameter] = {"size": size, "theta": size, "fan_out": FAN_OUT}
        yield Instance(shape=f"|T| = {size}", parameters=given)


ORDERS = Claim(
    id="blowfish-2014/section-7.3-orders",
    source="Section 7.3, last sentence",
    quote="orders of magnitude difference in error",
    statement="The error at theta = 1 and at theta = |T| differ by orders of magnitude.",
    read_as="At least a hundred times, on both domains of the figure.",
    parts=(
        Part(
            name="error at theta = |T|, against 100 times that at theta = 1",
            family=family("the two domains of Figure 2", _ends_of_figures),
            claimed=lambda item: 100 * _least(item),
            measure=BestError(),
            relation=">=",
            large="accuracy",
        ),
    ),
    listed=True,
)


CLAIMS = (NEVER_WORSE, TREND, ORDERS)
