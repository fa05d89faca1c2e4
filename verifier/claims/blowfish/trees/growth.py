"""blowfish-2014, section 7: statements with an O, each with a constant that is enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.blowfish.section_7_2 import STRUCTURES, TREES, tree_of
from blowproof.verifier.claims.blowfish.trees.true_errors import average_error
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.claims.stating.range_trees import OrderedTree, height

__all__ = ["CLAIMS"]


def _hierarchical_total(instance: Instance) -> Exact:
    """Return the error of all cumulative counts from one tree, uniform budgets, epsilon = 1."""
    size, fan_out = instance.whole("size"), instance.whole("fan_out")
    tree = OrderedTree(size, size, fan_out)
    read = sum(len(tree.prefix(last)) for last in range(1, size + 1))
    return 2 * (2 * tree.height) ** 2 * read


def _with_constant(instance: Instance) -> Exact:
    size, fan_out = instance.whole("size"), instance.whole("fan_out")
    return 8 * (fan_out - 1) * size * height(size, fan_out) ** 3


HIERARCHICAL = Claim(
    id="blowfish-2014/section-7.1-hierarchical-error",
    source="Section 7.1, before the SVD bound",
    quote="results in a total error of",
    statement="The hierarchical mechanism has total error O(|T| log^3 |T| / epsilon^2) for the "
    "cumulative histogram.",
    read_as="The tree with uniform budgets; some constant that depends on f alone.",
    parts=(
        replace(
            counted(
                "total error, against 8 (f - 1) |T| ceil(log_f |T|)^3",
                TREES,
                _with_constant,
                _hierarchical_total,
                "<=",
            ),
            small="accuracy",
        ),
    ),
    proof="A cumulative count is the sum of at most f - 1 nodes on each of ceil(log_f |T|) "
    "levels, and each node has noise of scale 2 ceil(log_f |T|)/epsilon. The constant depends on "
    "f, as the paper's O does.",
)


def _nodes(instance: Instance) -> Exact:
    return len(tree_of(instance).nodes)


def _most_read(instance: Instance) -> Exact:
    """Return the most nodes that one range reads: those of two prefixes."""
    tree = tree_of(instance)
    return 2 * max(len(tree.prefix(last)) for last in range(1, tree.size + 1))


COMPLEXITY = Claim(
    id="blowfish-2014/section-7.2-complexity",
    source="Section 7.2, Complexity Analysis",
    quote="construction of the hybrid tree",
    statement="The structure is built in O(|T|) and answers a range in O(log theta).",
    read_as="Nodes made and nodes read, for a fixed fan-out.",
    parts=(
        counted(
            "nodes of the structure, against 3 |T|",
            STRUCTURES,
            lambda item: 3 * item.whole("size"),
            _nodes,
            "<=",
        ),
        counted(
            "nodes read for a range, against 2 + 2 (f - 1) ceil(log_f theta)",
            STRUCTURES,
            lambda item: 2 + 2 * (item.whole("fan_out") - 1) * tree_of(item).height,
            _most_read,
            "<=",
        ),
    ),
    proof="There are at most |T| S nodes, and a tree over w values whose nodes have two children "
    "or more has at most 2 w - 1 nodes. A prefix reads one S node and at most f - 1 nodes on each "
    "level of one subtree.",
)


def _domains(most: int) -> Iterator[Instance]:
    for fan_out in (2, 16):
        for power in range(2, most + 1):
            given: dict[str, Parameter] = {"power": power, "fan_out": fan_out}
            yield Instance(shape=f"fan-out {fan_out}", parameters=given)


def _crossing(instance: Instance) -> Exact:
    """Return the least theta at which the ordered mechanism's error exceeds that of the tree."""
    size, fan_out = 2 ** instance.whole("power"), instance.whole("fan_out")
    tree = average_error(size, size, fan_out)[0]
    line = average_error(size, 1, fan_out)[1]  # at theta it has theta times the noise
    theta = 1
    while theta**2 * line <= tree:
        theta += 1
    return Fraction(theta**2, instance.whole("power") ** 3)


WHERE = family(
    "|T| = 4, 8, ..., 4096, fan-outs 2 and 16", lambda: _domains(6), lambda: _domains(12)
)
CROSSOVER = Claim(
    id="blowfish-2014/section-7.2-crossover",
    source="Section 7.2, first paragraph",
    quote="However, the errors become comparable",
    statement="The ordered mechanism is better than any differentially private one for small "
    "theta, comparable at theta = log |T|, and worse than the hierarchical one from theta = "
    "O(log^(3/2) |T|).",
    read_as="Where the ordered mechanism's error passes the tree's, within a factor of the power.",
    parts=(
        replace(
            counted(
                "theta^2/log_2(|T|)^3 where it exceeds the tree's error: at most 4",
                WHERE,
                lambda item: 4,
                _crossing,
                "<=",
            ),
            small="accuracy",
        ),
        replace(
            counted("the same: at least 1/4", WHERE, lambda item: Fraction(1, 4), _crossing, ">="),
            large="accuracy",
        ),
    ),
)

CLAIMS = (HIERARCHICAL, COMPLEXITY, CROSSOVER)
