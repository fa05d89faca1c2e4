"""blowfish-2014, Theorem 7.2 (2): errors of the ordered hierarchical structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.blowfish.section_7_2 import (
    FAN_OUTS,
    STRUCTURES,
    size_of,
    theta_of,
    tree_of,
)
from blowproof.verifier.claims.blowfish.theorem_7_2 import SHARES, budgets, printed_scales
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part, Relation
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.claims.stating.range_trees import height

__all__ = ["CLAIMS", "constants_of"]


def _is_power(instance: Instance) -> bool:
    """Whether theta is a power of the fan-out, at least the first, and no more than |T|."""
    theta, fan_out = theta_of(instance), instance.whole("fan_out")
    return 1 < theta <= size_of(instance) and fan_out ** height(theta, fan_out) == theta


def _powers(sizes: range, fan_outs: tuple[int, ...]) -> Iterator[Instance]:
    for instance in budgets(sizes, fan_outs):
        share = instance.number("epsilon_S")
        if _is_power(instance) and share in (SHARES[1], SHARES[2]):
            yield instance


POWERS = family(
    "|T| from 2 to 24, theta a power of the fan-out (2, 3, 4), epsilon_S = 1/4, 1/2 of the budget",
    lambda: _powers(range(2, 7), (2,)),
    lambda: _powers(range(2, 25), (2, 3, 4)),
)


def _any_theta(sizes: range, fan_outs: tuple[int, ...]) -> Iterator[Instance]:
    for instance in budgets(sizes, fan_outs):
        if instance.number("epsilon_S") in (SHARES[1], SHARES[2]):
            yield instance


ANY_THETA = family(
    "|T| from 2 to 24, every theta from 2 to |T|, fan-outs 2, 3, 4, 16, epsilon_S = 1/4, 1/2 of "
    "the budget",
    lambda: _any_theta(range(2, 7), (2, 5)),
    lambda: _any_theta(range(2, 25), FAN_OUTS),
)


def constants_of(size: int, theta: int, fan_out: int) -> tuple[Fraction, Fraction]:
    """Return c_1 and c_2 as printed, with the height for log_f(theta)."""
    levels = height(theta, fan_out)
    first = Fraction(4 * (size - theta), size + 1)
    return first, Fraction(8 * (fan_out - 1) * levels**3 * size, size + 1)


def _equation_14(instance: Instance) -> Exact | None:
    if not _is_power(instance):
        return None
    first, second = constants_of(size_of(instance), theta_of(instance), instance.whole("fan_out"))
    return first / instance.number("epsilon_S") ** 2 + second / instance.number("epsilon_H") ** 2


def _repaired_14(instance: Instance) -> Exact | None:
    printed, levels = _equation_14(instance), tree_of(instance).height
    return None if printed is None else printed + Fraction(16 * levels**2, size_of(instance) + 1)


def _error(instance: Instance, *, shared: bool) -> Exact:
    return tree_of(instance).range_error(printed_scales(instance), shared=shared)


def _error_part(name: str, relation: Relation, *, shared: bool, amended: bool = False) -> Part:
    part = counted(name, POWERS, _equation_14, lambda item: _error(item, shared=shared), relation)
    return replace(part, small="accuracy", large="accuracy", amended=amended)


EQUATION_14 = Claim(
    id="blowfish-2014/equation-14",
    source="Section 7.2, Equation 14",
    quote="its exact form of expected error",
    statement="The expected squared error of a range is exactly c1/epsilon_S^2 + c2/epsilon_H^2, "
    "c1 = 4(|T| - theta)/(|T| + 1), c2 = 8(f - 1) log_f(theta)^3 |T|/(|T| + 1) (on average over "
    "ranges).",
    read_as="An equality on average over ranges, theta a power of f, log_f the height.",
    parts=(
        _error_part("the average error of a range", "=", shared=True),
        _error_part("the same, common noise counted twice", "=", shared=False),
        _error_part("it is at most that", "<=", shared=True),
        replace(
            _error_part("with a term for s_1, at most", "<=", shared=True, amended=True),
            claimed=_repaired_14,
        ),
    ),
    repaired="The average error is at most c1/epsilon_S^2 + c2/epsilon_H^2 + 16 h^2/((|T| + 1) "
    "epsilon^2), for theta a power of f.",
    explanation="The formula adds up, for every cumulative count, one S node and on average (f - "
    "1)/2 H nodes per level, with the same noise everywhere. But the nodes of H_1 have less noise "
    "than the others; where both ends of a range use the same S node its noise cancels; and the "
    "last block may be shorter. On the other hand s_1, the root of H_1, has noise 2h/epsilon and "
    "answers q[x_1, x_theta], which neither constant counts. So it is not the exact form; with a "
    "term for s_1 it is an upper bound.",
)


def _prefix_nodes(instance: Instance) -> Exact:
    """Return the average number of H nodes, over the counts q[1, j] (j = 1..|T|)."""
    tree = tree_of(instance)
    used = sum(
        sum(
            1
            for node in tree.prefix(last)
            if node[0] in ("H1", "H") and node[1:] != (1, tree.theta)
        )
        for last in range(1, tree.size + 1)
    )
    return Fraction(used, tree.size)


H_NODES = Claim(
    id="blowfish-2014/section-7.2-h-nodes-used",
    source="Section 7.2, proof of Theorem 7.2 (2)",
    quote="is bounded by the height",
    statement="On average, the number of H nodes used for a cumulative count is bounded by the "
    "height of the subtrees.",
    read_as="The average over all cumulative counts, of the H nodes that each needs.",
    parts=(
        replace(
            counted(
                "average over the counts",
                STRUCTURES,
                lambda item: tree_of(item).height,
                _prefix_nodes,
                "<=",
            ),
            small="accuracy",
        ),
        replace(
            counted(
                "(f - 1) times the height",
                STRUCTURES,
                lambda item: (item.whole("fan_out") - 1) * tree_of(item).height,
                _prefix_nodes,
                "<=",
            ),
            small="accuracy",
            amended=True,
        ),
    ),
    repaired="It is at most (f - 1) h; (f - 1) h / 2 where theta is a power of f.",
    explanation="On each level a count may need up to f - 1 siblings, (f - 1)/2 on average, so "
    "that with fan-out 16, which the experiments use, one level takes 7.5 nodes on average. The "
    "second fraction of Equation 13 and c2 of Equation 14 have the factor f - 1 that the sentence "
    "lacks.",
    identities=(
        Identity(
            "nodes of one level, on average over the f places",
            "Sum(k, (k, 0, f - 1))/f",
            "(f - 1)/2",
            whole="f k",
        ),
    ),
)


EQUATION_13 = Claim(
    id="blowfish-2014/equation-13",
    source="Section 7.2, Theorem 7.2 (2), Equation 13",
    quote="expected error of releasing a single count",
    statement="The error of a count or a range is O((|T| - theta)/(|T| epsilon_S^2) + (f - 1) "
    "log_f(theta)^3/epsilon_H^2).",
    read_as="Some constant, for every theta and fan-out; the error on average over ranges.",
    parts=(
        replace(
            counted(
                "theta a power of f, with the constant 11: the average error of a range",
                POWERS,
                lambda item: 11 * _inside_13(item) if _is_power(item) else None,
                lambda item: _error(item, shared=True),
                "<=",
            ),
            small="accuracy",
        ),
        replace(
            counted(
                "every theta and fan-out, with the constant 150",
                ANY_THETA,
                lambda item: 150 * _inside_13(item, below=True),
                lambda item: _error(item, shared=True),
                "<=",
            ),
            small="accuracy",
        ),
    ),
    proof="Equation 14, repaired, bounds the average error by 11 times the sum of the two terms "
    "where theta is a power of f. For every other theta the height is less than log_f(theta) + 1: "
    "at most twice log_f(theta) from theta = f on, so that the cube grows by 8 at the most; and "
    "below f there is one level, whose theta - 1 nodes are at most 4.3 times (f - 1) "
    "log_f(theta)^3 (the worst case is theta = 2, f = 17).",
)


def _log_below(value: int, base: int, parts: int = 64) -> Fraction:
    """Return the largest multiple of 1/parts that is at most log_base(value)."""
    target, steps = value**parts, 0
    while base ** (steps + 1) <= target:
        steps += 1
    return Fraction(steps, parts)


def _inside_13(instance: Instance, *, below: bool = False) -> Fraction:
    size, theta = size_of(instance), theta_of(instance)
    fan_out = instance.whole("fan_out")
    first = Fraction(size - theta, size) / instance.number("epsilon_S") ** 2
    levels = _log_below(theta, fan_out) if below else height(theta, fan_out)
    return first + Fraction((fan_out - 1) * levels**3) / instance.number("epsilon_H") ** 2


CLAIMS = (EQUATION_13, H_NODES, EQUATION_14)
