"""blowfish-2014 without known counts: section 5, as printed, and what repairs it."""

from __future__ import annotations

from dataclasses import replace

from blowproof.models import Distance, Exact, Full
from blowproof.models.base.numbers import magnitude, plain
from blowproof.models.policy.readings import BLOWFISH
from blowproof.models.queries.kinds import Histogram, MarginalQuery, PartitionHistogram, WeightedSum
from blowproof.models.secrets import ByGraph
from blowproof.verifier.closed_forms.stating import conditions as need
from blowproof.verifier.closed_forms.stating.counterexamples import on_line
from blowproof.verifier.closed_forms.stating.form import Case, Counterexample, form
from blowproof.verifier.engines.one_move.by_structure import largest_change

__all__ = ["FORMS"]


def _one_query_axis(case: Case) -> int:
    axis = getattr(case.query, "axis", 0)
    assert isinstance(axis, int)
    return axis


@form(
    "blowproof/no-facts",
    "Without known counts, S is the largest change of the query along one secret pair.",
    source="ours; repairs blowfish-2014 sections 5 to 7 and designing-statistical-privacy-2015",
    readings=BLOWFISH,
    checks=(need.no_counts,),
    repaired=True,
)
def no_facts(case: Case) -> Exact:
    """See `engines.one_move.by_structure.largest_change` for statement and proof."""
    return largest_change(case.policy, case.query)


@form(
    "blowfish-2014/lemma-5.2",
    "Without known facts, noise for full secrets is enough for every G: S(f, P) <= S(f, P_full).",
    source="blowfish-2014, Lemma 5.2",
    relation="<=",
    checks=(need.no_facts,),
)
def lemma_5_2(case: Case) -> Exact:
    """Every edge of G is one of the complete graph."""
    return largest_change(replace(case.policy, secrets=Full()), case.query)


def _not_partition(case: Case) -> str | None:
    kind = case.policy.secrets.kind
    return "partitions are excepted in the paper's footnote" if kind == "partition" else None


@form(
    "blowfish-2014/section-5-histogram",
    "Without known facts, the complete histogram has S = 2 for reasonable G (partitions excepted).",
    source="blowfish-2014, Section 5",
    checks=(need.query_is(Histogram), need.no_facts, _not_partition, need.has_edge),
)
def section_5_histogram(case: Case) -> Exact:
    """One record leaves one cell for another."""
    return 2


def _coarser(case: Case) -> str | None:
    graph, query = case.graph, case.query
    if isinstance(query, PartitionHistogram):
        return None
    if isinstance(graph, ByGraph) and isinstance(query, MarginalQuery):
        if set(query.axes) <= set(graph.by):
            return None
        return "the marginal has an attribute that the partition is not by"
    return "the query is not the histogram of the secret partition, or coarser"


@form(
    "blowfish-2014/section-5-partition",
    "Under partition secrets, the histogram of the partition or a coarser one has S = 0.",
    source="blowfish-2014, Section 5",
    checks=(need.secrets_are(*need.PARTITIONS), need.no_facts, _coarser),
)
def section_5_partition(case: Case) -> Exact:
    """No secret move leaves its cell."""
    return 0


def _weights(case: Case) -> tuple[Exact, ...]:
    assert isinstance(case.query, WeightedSum)
    return case.query.weights


def _weighted(low: int, high: int, weights: tuple[int, ...], theta: int | None) -> Counterexample:
    policy = on_line(low, high, Full() if theta is None else Distance(threshold=theta))
    query = WeightedSum(policy.domain, 0, weights, "weighted-sum")
    claimed = max(weights) * (high - low if theta is None else theta)
    exact = max(map(abs, weights)) * (high - low if theta is None else min(theta, high - low))
    return Counterexample(
        policy=policy, query=query, reading="published", claimed=claimed, exact=exact
    )


@form(
    "blowfish-2014/section-5-linear-sum-full",
    "Full secrets on T = [a, b]: S of sum_i w_i x_i is (b - a) max w_i.",
    source="blowfish-2014, Section 5",
    checks=(
        need.query_is(WeightedSum),
        need.secrets_are(Full),
        need.no_facts,
        need.one_attribute,
    ),
    wrong=(_weighted(0, 1, (-1,), None), _weighted(0, 1, (-2, 1), None)),
)
def section_5_linear_sum_full(case: Case) -> Exact:
    """A negative weight of large magnitude is overlooked: it should be max |w_i|."""
    attribute = case.domain.attribute(_one_query_axis(case))
    return plain(max(_weights(case)) * (attribute.size - 1) * attribute.step)


@form(
    "blowfish-2014/section-5-linear-sum-distance",
    "Distance secrets |x - y| <= theta on T = [a, b]: S of sum_i w_i x_i is theta max w_i.",
    source="blowfish-2014, Section 5",
    checks=(
        need.query_is(WeightedSum),
        need.distance_on_all("l1"),
        need.no_facts,
        need.one_attribute,
    ),
    wrong=(_weighted(0, 0, (1,), 1), _weighted(0, 1, (-1,), 1), _weighted(0, 1, (1,), 2)),
)
def section_5_linear_sum_distance(case: Case) -> Exact:
    """Negative weights are overlooked, and thresholds above b - a or off the grid not reached."""
    return plain(max(_weights(case)) * need.distance_threshold(case))


@form(
    "blowfish-2014/section-5-linear-sum-repaired",
    "Without known facts, S of sum_i w_i x_i is max |w_i| times the widest secret pair.",
    source="blowfish-2014, Section 5, repaired",
    readings=BLOWFISH,
    checks=(need.query_is(WeightedSum), need.no_counts),
    repaired=True,
)
def section_5_linear_sum_repaired(case: Case) -> Exact:
    """One record changes (see `largest_change`); record i changes the sum by |w_i| |y - x|."""
    weights = _weights(case)
    heaviest = max((magnitude(weight) for weight in weights), default=0)
    unit = WeightedSum(case.domain, _one_query_axis(case), (1,), case.query.name)
    return plain(heaviest * largest_change(case.policy, unit))


FORMS = (
    lemma_5_2,
    section_5_histogram,
    section_5_partition,
    section_5_linear_sum_full,
    section_5_linear_sum_distance,
    section_5_linear_sum_repaired,
    no_facts,
)
