"""blowfish-2014, Theorem 7.2 (1): privacy of the ordered hierarchical structure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Exact
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.queries.kinds import MatrixQuery
from blowproof.models.queries.query import Row
from blowproof.verifier.claims.blowfish.section_7_2 import (
    FAN_OUTS,
    STRUCTURES,
    size_of,
    structures,
    theta_of,
    tree_of,
)
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance, Parameter, Part, Value
from blowproof.verifier.claims.stating.families import family, line
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.claims.stating.printed import certified, evaluate, printed_scale

__all__ = ["CLAIMS", "SHARES", "budgets", "printed_scales"]


SHARES = (Fraction(1, 100), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(99, 100))


def budgets(sizes: range, fan_outs: tuple[int, ...]) -> Iterator[Instance]:
    """Yield structures with theta from 2, for several shares of the budget."""
    for instance in structures(sizes, fan_outs, least=2):
        for share in SHARES:
            given: dict[str, Parameter] = {
                "fan_out": instance.whole("fan_out"),
                "epsilon_S": share,
                "epsilon_H": 1 - share,
            }
            policy = line(size_of(instance), theta_of(instance))
            nodes = Asked("nodes of the structure")
            yield replace(instance, parameters=given, policy=policy, query=nodes)


BUDGETS = family(
    "|T| from 2 to 16, theta from 2 to |T|, fan-outs 2, 3, 4, 16, epsilon_S = 1/100, 1/4, 1/2, "
    "3/4, 99/100 of the budget",
    lambda: budgets(range(2, 7), (2,)),
    lambda: budgets(range(2, 17), FAN_OUTS),
)


def _nodes_changed(instance: Instance, kinds: tuple[str, ...], *, roots: bool = True) -> int:
    tree = tree_of(instance, roots=roots)
    return max(
        (
            sum(1 for kind, _, _ in tree.changed(x, y) if kind in kinds)
            for x, y in tree.secret_pairs()
        ),
        default=0,
    )


def _all_s(instance: Instance) -> Exact:
    """Return the most S nodes, s_1 included, that one secret move changes."""
    tree = tree_of(instance)
    ends = [high for _, high in tree.blocks]
    return max((sum(1 for end in ends if x <= end < y) for x, y in tree.secret_pairs()), default=0)


def _below_roots(instance: Instance) -> Exact:
    tree = tree_of(instance)
    roots = {("H1", *tree.blocks[0])}
    return max(
        (
            sum(1 for node in tree.changed(x, y) if node[0] in ("H1", "H") and node not in roots)
            for x, y in tree.secret_pairs()
        ),
        default=0,
    )


H_KINDS = ("H1", "H", "root")


CHANGES = Claim(
    id="blowfish-2014/section-7.2-changes",
    source="Section 7.2, Privacy Budgeting Strategy, and the proof of Theorem 7.2",
    quote="at most one S node changes",
    statement="When a record moves by at most theta, at most one S node and at most 2h H nodes "
    "change.",
    read_as="S nodes with s_1 among them; H nodes with the roots of the subtrees, as released.",
    parts=(
        replace(
            counted("S nodes", STRUCTURES, lambda item: 1, _all_s, "<="),
            small="privacy",
        ),
        replace(
            counted(
                "H nodes (roots of the subtrees included)",
                STRUCTURES,
                lambda item: 2 * tree_of(item).height or None,
                lambda item: _nodes_changed(item, H_KINDS),
                "<=",
            ),
            small="privacy",
        ),
        replace(
            counted(
                "H nodes below the roots of all subtrees",
                STRUCTURES,
                lambda item: 2 * tree_of(item).height,
                _below_roots,
                "<=",
            ),
            amended=True,
        ),
    ),
    repaired="At most one S node and 2h H nodes below the roots of the subtrees; a record that "
    "crosses from one block to the next changes the two roots as well.",
    explanation="Two values of one block have an ancestor in common, below which at most h nodes "
    "each change. Two values of neighbouring blocks have none: all h + 1 nodes on the way from "
    "each leaf to the root of its subtree change, 2h + 2 in all (one of them is the S node s_1 if "
    "the first block is involved).",
    proof="Below the roots, each of the two values lies in one node per level.",
)


def printed_scales(instance: Instance) -> dict[str, Fraction]:
    """Return the Laplace scale of each kind of node, as printed."""
    names: dict[str, Exact] = {
        "epsilon_S": instance.number("epsilon_S"),
        "epsilon_H": instance.number("epsilon_H"),
        "h": tree_of(instance).height,
    }
    first = evaluate(printed_scale("blowfish-2014/theorem-7.2-H1"), **names)
    subtree = evaluate(printed_scale("blowfish-2014/theorem-7.2-H"), **names)
    return {
        "S": evaluate(printed_scale("blowfish-2014/theorem-7.2-S"), **names),
        "H1": first,
        "top": first,
        "H": subtree,
        "root": subtree,
    }


Scales = Callable[[Instance], Mapping[str, Fraction]]


class TreeLoss:
    """The exact privacy loss of the structure, by the certifier; listed again to confirm it."""

    def __init__(self, scales: Scales, *, roots: bool) -> None:
        self.scales, self.roots = scales, roots

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the loss of noise on every node, as one matrix of counts."""
        domain, tree = instance.the_policy.domain, tree_of(instance, roots=self.roots)
        columns: list[Row] = [
            {place: 1 for place, (_, low, high) in enumerate(tree.nodes) if low <= x <= high}
            for x in range(1, tree.size + 1)
        ]
        scales = self.scales(instance)
        release = Release(
            query=MatrixQuery(domain, tuple(columns)),
            scale=tuple(scales[kind] for kind, _, _ in tree.nodes),
        )
        return certified(instance, release, "published", time_limit)

    def recheck(self, instance: Instance) -> str:
        """Return how the number was confirmed: every secret pair, node by node."""
        scales, tree = self.scales(instance), tree_of(instance, roots=self.roots)
        listed = max(tree.loss_of(x, y, scales) for x, y in tree.secret_pairs())
        agrees = listed == self(instance, None).lower
        return "every secret pair and every node was listed" if agrees else ""


def _alike(instance: Instance) -> Mapping[str, Fraction]:
    """Return the scales with every block treated alike: s_1 an S node, 2h / epsilon_H below."""
    share_s, share_h = instance.number("epsilon_S"), instance.number("epsilon_H")
    below = 2 * tree_of(instance).height / share_h
    return {"S": 1 / share_s, "top": 1 / share_s, "H1": below, "H": below, "root": below}


def _levels_counted(instance: Instance) -> Mapping[str, Fraction]:
    """Return the printed scales, h being the number of levels of a subtree, its root included."""
    levels, printed = tree_of(instance).height, printed_scales(instance)
    more = Fraction(levels + 1, levels)
    return {kind: scale if kind == "S" else scale * more for kind, scale in printed.items()}


def _one_budget(instance: Instance) -> Exact | None:
    """Return epsilon = 1, where there are subtrees (theta = 1 has none, and h = 0)."""
    return 1 if theta_of(instance) > 1 and size_of(instance) > 1 else None


def _privacy(name: str, scales: Scales, *, roots: bool) -> Part:
    return Part(
        name=name,
        family=BUDGETS,
        claimed=_one_budget,
        measure=TreeLoss(scales, roots=roots),
        relation="<=",
        reading="published",
        answers="any",
    )


THEOREM_7_2 = Claim(
    id="blowfish-2014/theorem-7.2",
    source="Section 7.2, Theorem 7.2 (1), with the scales before it",
    quote="The Ordered Hierarchical structure satisfies",
    statement="The ordered hierarchical structure with noise 1/epsilon_S on s_2, ..., s_k, "
    "2h/epsilon_H in H_2, ..., H_k and 2h/(epsilon_S + epsilon_H) in H_1 is (epsilon, P)-Blowfish "
    "private.",
    read_as="Part (1), with exactly the scales printed before it; the exact loss by the certifier.",
    parts=(
        _privacy("exact privacy loss at epsilon = 1", printed_scales, roots=True),
        _privacy("the roots of H_2, ..., H_k not released", printed_scales, roots=False),
        replace(
            _privacy("the roots not released, s_1 as the other S nodes", _alike, roots=False),
            amended=True,
        ),
        replace(
            _privacy("h counts the levels, the roots included", _levels_counted, roots=True),
            amended=True,
        ),
    ),
    repaired="(1) Do not release the roots of the subtrees, and give every S node, s_1 too, noise "
    "1/epsilon_S, and every H node, those of H_1 too, noise 2h/epsilon_H. Or (2) keep the "
    "structure and let h be the number of levels, ceil(log_f theta) + 1. Either is "
    "epsilon-private.",
    explanation="The proof counts at most one S node and 2h H nodes. A record that crosses from a "
    "later block to the next changes 2h + 2 H nodes, the roots of both subtrees among them, so "
    "that the H nodes alone cost epsilon_H (1 + 1/h), besides the S node's epsilon_S. And H_1 is "
    "given the whole budget for moves within it, where 2h of its nodes change, but a record that "
    "crosses from H_1 to H_2 changes h + 1 nodes of H_1, which costs (1/2 + 1/(2h)) epsilon, and "
    "nodes of H_2 besides. With theta = 2 and fan-out 2 the loss is up to 2 epsilon. Leaving out "
    "the roots of H_2, ..., H_k, which s_i - s_(i-1) gives anyway, does not repair H_1.",
    proof="(1) A move within a block changes no S node and at most 2h H nodes below the root, at "
    "epsilon_H / (2h) each; a move into the next block changes one S node, at epsilon_S, and h H "
    "nodes in each block. (2) With l = h + 1 levels a move within a block changes at most 2h "
    "nodes at epsilon / (2l) or less; from H_1 to H_2 it changes l nodes at epsilon / (2l) and l "
    "at epsilon_H / (2l); between later blocks one S node and 2l nodes at epsilon_H / (2l).",
    identities=(
        Identity(
            "repair 1, a move to the next block: one S node, h H nodes on either side",
            "s + 2*h*(t/(2*h))",
            "s + t",
            whole="h",
            real="s t",
        ),
        Identity(
            "repair 2, from H_1 to H_2, with l levels",
            "l*(s + t)/(2*l) + l*t/(2*l)",
            "(s + t)/2 + t/2",
            whole="l",
            real="s t",
        ),
    ),
)


CLAIMS = (CHANGES, THEOREM_7_2)
