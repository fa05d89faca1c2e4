"""blowfish-2014 without known counts: sections 6 (k-means) and 7 (cumulative histograms)."""

from __future__ import annotations

from blowproof.models import Distance, Exact, Full, PartitionCells, Policy
from blowproof.models.base.numbers import plain
from blowproof.models.policy.readings import BLOWFISH
from blowproof.models.queries.cluster_sizes import Clusters
from blowproof.models.queries.kinds import ClusterSizes, ClusterSums, Cumulative
from blowproof.models.secrets import AttributeChange
from blowproof.models.secrets.spread import diameter
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating.counterexamples import on_line
from blowproof.verifier.closed_forms.stating.form import Case, Counterexample, form
from blowproof.verifier.engines.one_move.by_structure import largest_change

__all__ = ["FORMS"]


# --- section 6 -----------------------------------------------------------------------------------


def _clusters(
    policy: Policy, kind: type[Clusters], centroids: tuple[int, ...], claimed: Exact
) -> Counterexample:
    query = kind(policy.domain, tuple((c,) for c in centroids), kind.name)
    exact = largest_change(policy, query)
    return Counterexample(
        policy=policy, query=query, reading="published", claimed=claimed, exact=exact
    )


@form(
    "blowfish-2014/section-6-q-size",
    "The cluster sizes at fixed centroids have S = 2 without known facts.",
    source="blowfish-2014, Section 6",
    checks=(need.query_is(ClusterSizes), need.no_facts, need.secrets_are(*need.KINDS)),
    wrong=(_clusters(on_line(0, 0), ClusterSizes, (0,), 2),
           _clusters(on_line(0, 1), ClusterSizes, (0,), 2)),
)  # fmt: skip
def section_6_q_size(case: Case) -> Exact:
    """Too large where no secret pair has its ends in different clusters."""
    return 2


@form(
    "blowfish-2014/lemma-6.1-full",
    "Full secrets: S of the cluster sums is at most 2 d(T), twice the l1 diameter of the domain.",
    source="blowfish-2014, Section 6",
    relation="<=",
    checks=(need.query_is(ClusterSums), need.secrets_are(Full), need.no_facts),
    wrong=(_clusters(on_line(1, 2), ClusterSums, (1, 2), 2),),
)
def lemma_6_1_full(case: Case) -> Exact:
    """A record that changes its cluster takes its coordinates along, however close it stays."""
    return 2 * diameter(case.domain, [case.domain.whole], range(len(case.domain)))


@form(
    "blowfish-2014/lemma-6.1-attribute",
    "One-attribute secrets: S of the cluster sums is twice the widest attribute.",
    source="blowfish-2014, Lemma 6.1",
    checks=(
        need.query_is(ClusterSums),
        need.secrets_are(AttributeChange),
        lambda case: (
            None
            if getattr(case.policy.secrets, "changes", 1) == 1
            else "it speaks about secrets in which one attribute changes"
        ),
        need.no_facts,
    ),
    wrong=(
        _clusters(on_line(0, 1, AttributeChange()), ClusterSums, (0,), 2),
        _clusters(on_line(1, 2, AttributeChange()), ClusterSums, (1, 2), 2),
    ),
)
def lemma_6_1_attribute(case: Case) -> Exact:
    """Too small where a crossing record takes along large coordinates; else too large."""
    return 2 * max(plain((item.size - 1) * item.step) for _, item in case.domain.attributes)


@form(
    "blowfish-2014/lemma-6.1-distance",
    "Distance secrets ||x - y||_1 <= theta: S of the cluster sums is 2 theta.",
    source="blowfish-2014, Lemma 6.1",
    checks=(need.query_is(ClusterSums), need.distance_on_all("l1"), need.no_facts),
    wrong=(
        _clusters(on_line(0, 0, Distance(threshold=1)), ClusterSums, (0,), 2),
        _clusters(on_line(1, 2, Distance(threshold=1)), ClusterSums, (1, 2), 2),
    ),
)
def lemma_6_1_distance(case: Case) -> Exact:
    """Too small where a crossing record takes along large coordinates; else too large."""
    return plain(2 * need.distance_threshold(case))


@form(
    "blowfish-2014/lemma-6.1-partition",
    "Partition secrets: S of the cluster sums is at most twice the largest l1 diameter of a cell.",
    source="blowfish-2014, Lemma 6.1",
    relation="<=",
    checks=(need.query_is(ClusterSums), need.secrets_are(*need.PARTITIONS), need.no_facts),
    wrong=(
        _clusters(
            on_line(1, 2, PartitionCells([{"a": [1, 2]}])),
            ClusterSums,
            (1, 2),
            2,
        ),
    ),
)
def lemma_6_1_partition(case: Case) -> Exact:
    """A record that changes its cluster takes its coordinates along."""
    return 2 * need.widest_cell(case)


@form(
    "blowfish-2014/lemma-6.1-repaired",
    "Without known facts, S of cluster sums (sizes) is the exact maximum over the secret pairs.",
    source="blowfish-2014, Lemma 6.1, repaired",
    readings=BLOWFISH,
    checks=(need.query_is(ClusterSums, ClusterSizes), need.no_counts),
    repaired=True,
)
def lemma_6_1_repaired(case: Case) -> Exact:
    """One record changes (see `largest_change`). From x in cluster i to y in cluster j the sums
    change by ||y - x||_1 if i = j, and by ||x||_1 + ||y||_1 if not: x leaves one sum, y enters the
    other. No function of the edge's length bounds the latter, only the coordinates do. Hence the
    maximum is taken over the edges themselves.
    """
    return largest_change(case.policy, case.query)


# --- section 7 -----------------------------------------------------------------------------------


def _cumulative(policy: Policy, claimed: Exact) -> Counterexample:
    query = Cumulative(0, policy.domain.size, "cumulative(a)")
    exact = largest_change(policy, query)
    return Counterexample(
        policy=policy, query=query, reading="published", claimed=claimed, exact=exact
    )


@form(
    "blowfish-2014/section-7-full",
    "Full secrets on an ordered domain: the cumulative histogram has S = |T| - 1.",
    source="blowfish-2014, Section 7",
    checks=(need.query_is(Cumulative), need.secrets_are(Full), need.no_facts, need.one_attribute),
)
def section_7_full(case: Case) -> Exact:
    """From the first value to the last, a record passes every count but the last one."""
    return case.domain.size - 1


@form(
    "blowfish-2014/section-7-distance",
    "Distance secrets |i - j| <= theta on an ordered domain: cumulative histograms have S = theta.",
    source="blowfish-2014, Sections 7.1 and 7.2",
    checks=(
        need.query_is(Cumulative),
        need.distance_on_all("l1"),
        need.no_facts,
        need.one_attribute,
        need.linear_attributes,
    ),
    wrong=(
        _cumulative(on_line(0, 0, Distance(threshold=1)), 1),
        _cumulative(on_line(0, 1, Distance(threshold=2)), 2),
    ),
)
def section_7_distance(case: Case) -> Exact:
    """Too large where theta is above |T| - 1, or no integer."""
    return need.distance_threshold(case)


@form(
    "blowfish-2014/section-7-repaired",
    "Without known facts, S of cumulative(A) is the most positions of A that a secret pair passes.",
    source="blowfish-2014, Section 7, repaired",
    readings=BLOWFISH,
    checks=(need.query_is(Cumulative), need.no_counts),
    repaired=True,
)
def section_7_repaired(case: Case) -> Exact:
    """One record changes (see `largest_change`); moving from p to q on A changes |q - p| prefix
    counts by 1. Under distance secrets on one attribute with steps of 1 the most positions are
    min(floor(theta), |A| - 1).
    """
    return largest_change(case.policy, case.query)


FORMS = (
    section_6_q_size,
    lemma_6_1_full,
    lemma_6_1_attribute,
    lemma_6_1_distance,
    lemma_6_1_partition,
    lemma_6_1_repaired,
    section_7_full,
    section_7_distance,
    section_7_repaired,
)
