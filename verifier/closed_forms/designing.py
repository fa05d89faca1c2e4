"""designing-statistical-privacy-2015: sums and cluster sizes, without known facts."""

from __future__ import annotations

from blowproof.models import Distance, Domain, Exact, Full, Integers, Policy
from blowproof.models.base.numbers import magnitude, plain
from blowproof.models.policy.readings import BLOWFISH
from blowproof.models.queries.kinds import ClusterSizes, SumQuery
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating.form import Case, Counterexample, form
from blowproof.verifier.engines.one_move.by_structure import largest_change

__all__ = ["FORMS"]

PAPER = "designing-statistical-privacy-2015"
SOURCE = f"{PAPER}, 'Answering queries with Blowfish'"
CLUSTERS = f"{PAPER}, 'K-means clustering'"


def _all_summed(case: Case) -> str | None:
    query = case.query
    if not isinstance(query, SumQuery):
        return f"it speaks about the sum of every attribute, and the query is {query.name}"
    if set(query.axes) != set(range(len(case.domain))):
        return "it speaks about the sums of all attributes, and the query leaves some out"
    return None


def _attribute(position: int, case: Case) -> list[Exact]:
    """Return the coordinate at a position (0 or -1) of every attribute."""
    items = [item for _, item in case.domain.attributes]
    return [item.coordinate(position % item.size) for item in items]


@form(
    f"{PAPER}/sums-global",
    "The global sensitivity of the sums of all attributes is the sum of max(|a_i|, |b_i|).",
    source=SOURCE,
    readings=("add-remove",),
    checks=(_all_summed, need.no_facts, need.no_size),
)
def sums_global(case: Case) -> Exact:
    """One record is added or removed, anywhere in the product of the attributes."""
    ends = zip(_attribute(0, case), _attribute(-1, case), strict=True)
    return plain(sum((max(magnitude(a), magnitude(b)) for a, b in ends), start=0))


def _sum_wrong(low: int, high: int, theta: int) -> Counterexample:
    policy = Policy(domain=Domain(a=Integers(low, high)), secrets=Distance(threshold=theta))
    query = SumQuery(policy.domain, (0,), "sum(a)")
    exact = largest_change(policy, query)
    return Counterexample(
        policy=policy, query=query, reading="published", claimed=theta, exact=exact
    )


@form(
    f"{PAPER}/sums-distance",
    "l1 distance secrets: S of the sums of all attributes is theta.",
    source=SOURCE,
    checks=(_all_summed, need.distance_on_all("l1"), need.no_facts),
    wrong=(_sum_wrong(0, 0, 1), _sum_wrong(0, 1, 2)),
)
def sums_distance(case: Case) -> Exact:
    """Too large where no two values are exactly theta apart."""
    return need.distance_threshold(case)


@form(
    f"{PAPER}/sums-partition",
    "Partition secrets: S of the sums of all attributes is the largest l1 diameter of a cell.",
    source=f"{SOURCE} (from its example of age ranges)",
    checks=(_all_summed, need.secrets_are(*need.PARTITIONS), need.no_facts),
)
def sums_partition(case: Case) -> Exact:
    """Any two values of a cell are a secret."""
    return need.widest_cell(case)


@form(
    f"{PAPER}/sums-attribute",
    "One-attribute secrets: S of the sums of all attributes is the widest range a_i - b_i.",
    source=SOURCE,
    checks=(_all_summed, need.one_change, need.no_facts),
)
def sums_attribute(case: Case) -> Exact:
    """One attribute goes from one end to the other."""
    ends = zip(_attribute(0, case), _attribute(-1, case), strict=True)
    return plain(max(b - a for a, b in ends))


@form(
    f"{PAPER}/sums-repaired",
    "Without known counts, S of any sums is the largest l1 distance, on them, of a secret pair.",
    source=f"{SOURCE}, repaired and extended to every graph and every choice of attributes",
    readings=BLOWFISH,
    checks=(need.query_is(SumQuery), need.no_counts),
    repaired=True,
)
def sums_repaired(case: Case) -> Exact:
    """One record changes (see `largest_change`). For attribute secrets with c changes that is the
    sum of the c widest ranges; for l1 distances the largest reachable distance of at most theta.
    """
    return largest_change(case.policy, case.query)


@form(
    f"{PAPER}/cluster-sizes-global",
    "The global sensitivity of the cluster sizes is 1.",
    source=CLUSTERS,
    readings=("add-remove",),
    checks=(need.query_is(ClusterSizes), need.no_facts, need.no_size),
)
def cluster_sizes_global(case: Case) -> Exact:
    """One record is added or removed, and it has one nearest centroid."""
    return 1


def _one_cluster(values: int) -> Counterexample:
    policy = Policy(domain=Domain(a=Integers(0, values - 1)), secrets=Full())
    query = ClusterSizes(policy.domain, ((0,),), "cluster-sizes")
    return Counterexample(policy=policy, query=query, reading="published", claimed=2, exact=0)


@form(
    f"{PAPER}/cluster-sizes",
    "The cluster sizes have S = 2 under full, partition, distance and attribute secrets.",
    source=CLUSTERS,
    checks=(need.query_is(ClusterSizes), need.secrets_are(*need.KINDS), need.no_facts),
    wrong=(_one_cluster(1), _one_cluster(2)),
)
def cluster_sizes(case: Case) -> Exact:
    """Too large where no secret pair has its ends in different clusters."""
    return 2


FORMS = (
    sums_global,
    sums_distance,
    sums_partition,
    sums_attribute,
    sums_repaired,
    cluster_sizes_global,
    cluster_sizes,
)
