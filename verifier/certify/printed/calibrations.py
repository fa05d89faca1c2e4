"""Calibrations word for word as blowfish-2014 prints them: scales as data, to be proved or refuted.

Each function returns a mechanism from its parameters and nothing else; where the text can be read
in more than one way, every reading has a name. `privacy_grid` has the policies to try them on.
These are statements under test. Mechanisms that are meant for use are in `blowproof.mechanisms`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from blowproof.models import BoundQuery, Domain, Exact
from blowproof.models.mechanisms.mechanism import Mechanism, Prefixes, Release, Tree
from blowproof.models.queries.kinds import ClusterSizes, ClusterSums

__all__ = [
    "HIERARCHY_READINGS",
    "HierarchyReading",
    "corollary_8_3",
    "hierarchical",
    "kmeans",
    "ordered",
    "ordered_hierarchical",
    "plain_histogram",
    "tree_height",
]


def tree_height(width: int, fan_out: int) -> int:
    """Return h = ceil(log_f width): how often a width is divided until one value is left.

    >>> [tree_height(width, 3) for width in (1, 3, 4, 9, 10)]
    [0, 1, 2, 2, 3]
    """
    height = 0
    while width > 1:
        width = -(-width // fan_out)
        height += 1
    return height


def ordered(epsilon: Fraction, *, theta: int = 1) -> Mechanism:
    """Section 7.1: the cumulative histogram with Laplace noise of scale theta / epsilon.

    The section has theta = 1; section 7.2 says what it would be for other thresholds.
    """
    release = Release(query="cumulative(x)", scale=theta / epsilon)
    return Mechanism(name="ordered", releases=(release,), postprocessing=("isotonic",))


def hierarchical(size: int, fan_out: int, shares: Sequence[Fraction], *, root: bool) -> Mechanism:
    """Section 7.2, the basic tree: level i with scale 2 / epsilon_i, the epsilon_i adding up.

    `shares` are the epsilon_i of the levels; `root` says whether level 0 has one of them.
    """
    tree = Tree(attribute="x", fan_out=fan_out, first=0 if root else 1)
    return Mechanism(
        name="hierarchical",
        releases=(Release(query=tree, scale=tuple(2 / share for share in shares)),),
    )


@dataclass(frozen=True)
class HierarchyReading:
    """One way to read the budgeting of section 7.2.

    `roots`: the roots of H_2, H_3, ... are H nodes and are released. `s1_is_h`: s_1 gets the noise
    of H_1's nodes, as its root, not that of an S node. `h_counts_nodes`: h is the number of levels,
    root included, and not the height ceil(log_f theta) of the text.
    """

    name: str
    roots: bool
    s1_is_h: bool
    h_counts_nodes: bool = False


HIERARCHY_READINGS = (
    HierarchyReading("as-printed", roots=True, s1_is_h=True),
    HierarchyReading("roots-not-released", roots=False, s1_is_h=True),
    HierarchyReading("s1-as-s-node", roots=False, s1_is_h=False),
    HierarchyReading("h-counts-levels", roots=True, s1_is_h=True, h_counts_nodes=True),
)


def ordered_hierarchical(
    *,
    size: int,
    theta: int,
    fan_out: int,
    epsilon_s: Fraction,
    epsilon_h: Fraction,
    reading: HierarchyReading = HIERARCHY_READINGS[0],
) -> Mechanism:
    """Section 7.2: S nodes every theta values, a tree of H nodes over each theta values.

    s_i, i >= 2, has scale 1 / epsilon_S; the H nodes of H_i have 2h / epsilon_H; those of H_1 have
    2h / (epsilon_H + epsilon_S).
    """
    height = tree_height(theta, fan_out) + reading.h_counts_nodes
    in_first = 2 * height / (epsilon_h + epsilon_s)
    elsewhere = 2 * height / epsilon_h
    count = -(-size // theta)
    s1 = in_first if reading.s1_is_h else 1 / epsilon_s
    prefixes = Prefixes(attribute="x", every=theta, whole=True)
    releases = [Release(query=prefixes, scale=(s1, *[1 / epsilon_s] * (count - 1)))]
    if theta > 1:
        first = Tree(attribute="x", fan_out=fan_out, block=theta, first=1, blocks=(0, 0))
        releases.append(Release(query=first, scale=in_first))
    if count > 1 and (theta > 1 or reading.roots):
        start = 0 if reading.roots else 1
        others = Tree(
            attribute="x", fan_out=fan_out, block=theta, first=start, blocks=(1, count - 1)
        )
        releases.append(Release(query=others, scale=elsewhere))
    return Mechanism(name=f"ordered-hierarchical {reading.name}", releases=tuple(releases))


def kmeans(
    domain: Domain,
    centroids: Sequence[Sequence[Exact]],
    *,
    epsilon_sizes: Fraction,
    epsilon_sums: Fraction,
    sum_sensitivity: Exact,
) -> Mechanism:
    """Section 6: one iteration of k-means, sizes at sensitivity 2, sums at what Lemma 6.1 says.

    That is 2 theta for L1 distances, 2 max |A| for attribute secrets, 2 max d(P) for partitions,
    2 d(T) for the complete graph.
    """
    points = tuple(tuple(centroid) for centroid in centroids)
    sizes: BoundQuery = ClusterSizes(domain, points, "cluster-sizes")
    sums: BoundQuery = ClusterSums(domain, points, "cluster-sums")
    return Mechanism(
        name="k-means, lemma 6.1",
        releases=(
            Release(query=sizes, scale=2 / epsilon_sizes),
            Release(query=sums, scale=sum_sensitivity / epsilon_sums),
        ),
    )


def corollary_8_3(count_queries: int, epsilon: Fraction) -> Mechanism:
    """Corollary 8.3: the histogram with scale 2 max(|Q|, 1) / epsilon, for sparse facts."""
    scale = 2 * max(count_queries, 1) / epsilon
    return Mechanism(
        name="laplace, corollary 8.3", releases=(Release(query="histogram", scale=scale),)
    )


def plain_histogram(epsilon: Fraction, *, sensitivity: int = 2) -> Mechanism:
    """Section 3.2: the histogram as plain differential privacy would release it, facts ignored.

    The section speaks of variance 2 / epsilon^2, which is scale 1 / epsilon, the calibration for
    databases of unknown size; with n known the sensitivity is 2.
    """
    release = Release(query="histogram", scale=sensitivity / epsilon)
    return Mechanism(name="laplace, facts ignored", releases=(release,))
