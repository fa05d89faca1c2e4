"""blowfish-2014, section 7.2: trees and the ordered hierarchical structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Distance, Exact
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.claims.stating.printed import evaluate, printed_scale
from blowproof.verifier.claims.stating.range_trees import OrderedTree, height, tree_nodes

__all__ = ["CLAIMS", "FAN_OUTS", "STRUCTURES", "size_of", "structures", "theta_of", "tree_of"]


def size_of(instance: Instance) -> int:
    """Return |T|."""
    policy = instance.policy
    return instance.whole("size") if policy is None else policy.domain.size


def theta_of(instance: Instance) -> int:
    """Return the threshold."""
    if instance.policy is None:
        return instance.whole("theta")
    secrets = instance.policy.secrets
    assert isinstance(secrets, Distance)
    return int(secrets.threshold)


def tree_of(instance: Instance, *, roots: bool = True) -> OrderedTree:
    """Return the ordered hierarchical structure of an instance."""
    return OrderedTree(size_of(instance), theta_of(instance), instance.whole("fan_out"), roots)


def structures(sizes: range, fan_outs: tuple[int, ...], least: int = 1) -> Iterator[Instance]:
    """Yield every |T|, theta (from `least` up to |T|) and fan-out."""
    for size in sizes:
        for theta in range(least, size + 1):
            for fan_out in fan_outs:
                given = {"size": size, "theta": theta, "fan_out": fan_out}
                yield Instance(shape=f"|T| = {size}", parameters=given)


FAN_OUTS = (2, 3, 4, 16)


STRUCTURES = family(
    "|T| from 1 to 24, theta from 1 to |T|, fan-outs 2, 3, 4, 16",
    lambda: structures(range(1, 7), (2, 5)),
    lambda: structures(range(1, 25), FAN_OUTS),
)


def _trees(sizes: range, fan_outs: tuple[int, ...]) -> Iterator[Instance]:
    for size in sizes:
        for fan_out in fan_outs:
            given: dict[str, Parameter] = {"size": size, "fan_out": fan_out}
            yield Instance(shape=f"fan-out {fan_out}", parameters=given)


TREES = family(
    "|T| from 1 to 300, fan-outs 2, 3, 4, 16",
    lambda: _trees(range(1, 41), (2, 3)),
    lambda: _trees(range(1, 301), FAN_OUTS),
)


def _depth(instance: Instance) -> Exact:
    size, fan_out = instance.whole("size"), instance.whole("fan_out")
    return max(level for level, _, _ in tree_nodes(1, size, fan_out))


TREE_HEIGHT = Claim(
    id="blowfish-2014/section-7.2-height",
    source="Section 7.2",
    quote="height of the tree is",
    statement="A tree of fan-out f over |T| values has height ceil(log_f |T|).",
    read_as="Levels below the root of the tree that the text describes.",
    parts=(
        counted(
            "levels below the root",
            TREES,
            lambda item: height(item.whole("size"), item.whole("fan_out")),
            _depth,
        ),
    ),
    proof="ceil(ceil(w / f) / f) = ceil(w / f^2), so that level i has nodes of ceil(w / f^i) "
    "values.",
)


def _printed_intervals(instance: Instance) -> Exact:
    """Return how many values the intervals of the root as printed hold, counted with repetition."""
    size, fan_out = instance.whole("size"), instance.whole("fan_out")
    width = -(-size // fan_out)
    starts = [1 + place * width for place in range(fan_out - 1)]
    ends = [(start, min(start + width - 1, size)) for start in starts if start <= size]
    ends.append((max(1, size - width + 1), size))
    return sum(high - low + 1 for low, high in ends)


def _divides(instance: Instance) -> Exact | None:
    size, fan_out = instance.whole("size"), instance.whole("fan_out")
    return size if size % fan_out == 0 else None


INTERVALS = Claim(
    id="blowfish-2014/section-7.2-intervals",
    source="Section 7.2",
    quote="recursively, the interval represented",
    statement="With delta = ceil(|T| / f), the intervals 1..delta, ..., |T| - delta + 1..|T| "
    "divide the domain among the root's children.",
    read_as="The intervals as printed cover each value once.",
    parts=(
        counted(
            "values that the intervals hold",
            TREES,
            lambda item: item.whole("size"),
            _printed_intervals,
        ),
        replace(
            counted("the same, if f divides |T|", TREES, _divides, _printed_intervals),
            amended=True,
        ),
    ),
    repaired="If f divides |T|; else the last interval is shorter, and there may be fewer than f.",
    amendment="condition",
    explanation="If f does not divide |T|, the last interval as printed, which has delta values "
    "too, overlaps the one before it, and records there would be counted twice on a level.",
)


def _s_nodes(instance: Instance) -> Exact:
    return len(tree_of(instance).blocks)


S_NODES = Claim(
    id="blowfish-2014/section-7.2-s-nodes",
    source="Section 7.2",
    quote="The number of S nodes",
    statement="The number of S nodes is k = ceil(n / 4) (as our copy of the paper prints it).",
    read_as="As our copy prints it; theta is meant where it prints 4.",
    parts=(
        counted(
            "k = ceil(|T| / 4)",
            STRUCTURES,
            lambda item: -(-item.whole("size") // 4),
            _s_nodes,
        ),
        replace(
            counted(
                "k = ceil(|T| / theta)",
                STRUCTURES,
                lambda item: -(-item.whole("size") // item.whole("theta")),
                _s_nodes,
            ),
            amended=True,
        ),
    ),
    repaired="k = ceil(|T| / theta).",
    amendment="misprint",
    explanation="The S nodes are s_1 = q[x_1, x_theta], ..., s_k = q[x_1, x_|T|], one for each "
    "multiple of theta: ceil(|T| / theta) of them, which is what the sentence goes on to say. "
    "Figure 2(a) has theta = 4; the misprint may be of our copy alone.",
)


def _levels(instance: Instance) -> Exact:
    """Return the loss of a plain tree with scale 2 / epsilon_i on level i, epsilon_i = 1 / h."""
    size, fan_out = size_of(instance), instance.whole("fan_out")
    levels = height(size, fan_out)
    if levels == 0:
        return 0
    scale = evaluate(
        printed_scale("blowfish-2014/section-7.2-hierarchical"), epsilon_i=Fraction(1, levels)
    )
    nodes = [node for node in tree_nodes(1, size, fan_out) if node[0] > 0]
    return max(
        sum((low <= x <= high) != (low <= y <= high) for _, low, high in nodes)
        for x in range(1, size + 1)
        for y in range(x + 1, size + 1)
    ) / Fraction(scale)


HIERARCHICAL = Claim(
    id="blowfish-2014/section-7.2-hierarchical",
    source="Section 7.2, on the hierarchical mechanism of Hay et al.",
    quote="the counts at level i are released",
    statement="A tree with noise 2/epsilon_i on level i and sum epsilon_i = epsilon is "
    "epsilon-differentially private (n known).",
    read_as="Uniform budgets, a record that moves (n known).",
    parts=(
        replace(
            counted(
                "loss with uniform budgets at epsilon = 1",
                family(
                    "|T| from 1 to 40, fan-outs 2, 3, 4, 16, full secrets",
                    lambda: _trees(range(1, 13), (2, 3)),
                    lambda: _trees(range(1, 41), FAN_OUTS),
                ),
                lambda item: 1,
                _levels,
                "<=",
            ),
            small="privacy",
        ),
    ),
    proof="A move changes at most two nodes of a level, by 1 each, and the root not at all.",
)


CLAIMS = (INTERVALS, TREE_HEIGHT, S_NODES, HIERARCHICAL)
