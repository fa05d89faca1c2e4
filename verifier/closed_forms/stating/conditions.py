"""Preconditions of closed forms, each checked by machine; a failure is a sentence."""

from __future__ import annotations

from blowproof.models import (
    AttributeChange,
    BoundQuery,
    Box,
    Distance,
    Exact,
    Full,
    Integers,
    LinearFact,
    Marginal,
    PartitionBy,
    PartitionCells,
)
from blowproof.models.queries.kinds import (
    ClusterSizes,
    ClusterSums,
    Cumulative,
    Histogram,
    MarginalQuery,
    PartitionHistogram,
    SumQuery,
    WeightedSum,
)
from blowproof.verifier.closed_forms.stating.form import Case, Check

__all__ = [
    "KINDS",
    "PARTITIONS",
    "distance_on_all",
    "distance_threshold",
    "equality_facts",
    "facts_are_marginals",
    "graph_complete",
    "has_edge",
    "linear_attributes",
    "marginal_axes",
    "no_counts",
    "no_facts",
    "no_impossible",
    "no_size",
    "one_attribute",
    "one_change",
    "query_is",
    "secrets_are",
    "single_box",
    "sparse_facts",
]

_QUERY_NAMES: dict[type[BoundQuery], str] = {
    Histogram: "the complete histogram",
    MarginalQuery: "a marginal",
    PartitionHistogram: "the histogram of the partition",
    Cumulative: "a cumulative histogram",
    SumQuery: "a sum",
    WeightedSum: "a weighted sum",
    ClusterSizes: "the cluster sizes",
    ClusterSums: "the cluster sums",
}


def query_is(*kinds: type[BoundQuery]) -> Check:
    """The query is of one of these kinds (exactly: cluster sums are not cluster sizes)."""

    def check(case: Case) -> str | None:
        if type(case.query) in kinds:
            return None
        names = " or ".join(_QUERY_NAMES[kind] for kind in kinds)
        return f"it speaks about {names}, and the query is {case.query.name}"

    return check


def secrets_are(*kinds: type) -> Check:
    """The secrets are written as one of these kinds."""

    def check(case: Case) -> str | None:
        if isinstance(case.policy.secrets, kinds):
            return None
        names = " or ".join(dict.fromkeys(str(kind.kind) for kind in kinds))  # type: ignore[attr-defined]
        return f"it speaks about {names} secrets, and these are {case.policy.secrets.kind}"

    return check


PARTITIONS = (PartitionBy, PartitionCells)
KINDS = (Full, AttributeChange, Distance, *PARTITIONS)


def no_facts(case: Case) -> str | None:
    """Nothing is known but n, and every value is possible."""
    if case.policy.known:
        return f"it speaks about policies without known facts, and {_number(case)} known"
    return None


def no_counts(case: Case) -> str | None:
    """No counts are known (impossible values are allowed)."""
    if case.policy.linear_facts or case.policy.clauses:
        return f"it speaks about policies without known counts, and {_number(case)} known"
    return None


def _number(case: Case) -> str:
    count = len(case.policy.known)
    return "one fact is" if count == 1 else f"{count} facts are"


def no_impossible(case: Case) -> str | None:
    """Every value is possible."""
    return "some values are impossible" if case.policy.impossible.size else None


def no_size(case: Case) -> str | None:
    """n is not written (reading add-remove: a written n is one more fact)."""
    return (
        "n is written, which is one more known count"
        if case.policy.database.size is not None
        else None
    )


def equality_facts(case: Case) -> str | None:
    """The facts are counts and sums that are known exactly, and impossible values."""
    if case.policy.clauses:
        return f"{case.policy.clauses[0].name} is a clause over single records"
    bounded = next((fact for fact in case.policy.linear_facts if fact.bounded), None)
    return None if bounded is None else f"{bounded.name} is a bound, not a known count"


def sparse_facts(case: Case) -> str | None:
    """Each secret pair lifts at most one count query, and lowers at most one."""
    found = case.sparsity
    if found.sparse is None:
        return found.reasons[0]
    if found.offending is not None:
        return f"not sparse: one secret pair lifts {' and '.join(found.offending.lifts)}"
    return None


def facts_are_marginals(case: Case) -> str | None:
    """All facts are whole marginals."""
    if all(isinstance(fact, Marginal) for fact in case.policy.known):
        return None
    return "some fact is not a whole marginal"


def marginal_axes(case: Case) -> list[frozenset[int]]:
    """Return the attributes of each known marginal, as written."""
    facts = [fact for fact in case.policy.known if isinstance(fact, Marginal)]
    return [frozenset(case.domain.axes(fact.attributes)) for fact in facts]


def graph_complete(case: Case) -> str | None:
    """Any two values are a secret."""
    return None if case.graph.complete else "some two values are not a secret"


def has_edge(case: Case) -> str | None:
    """Some two values are a secret."""
    whole = case.domain.whole
    return None if case.graph.edge_between(whole, whole) else "no two values are a secret"


def distance_on_all(*metrics: str) -> Check:
    """The secrets are a distance threshold over all attributes, not strict."""

    def check(case: Case) -> str | None:
        secrets = case.policy.secrets
        if not isinstance(secrets, Distance):
            return f"it speaks about distance secrets, and these are {secrets.kind}"
        if secrets.attributes is not None and set(secrets.attributes) != set(case.domain.names):
            return "the distance leaves out some attributes"
        if secrets.strict:
            return "the distance must be below the threshold, not within it"
        if secrets.metric not in metrics and len(case.domain) > 1:
            return f"it speaks about the distance {' or '.join(metrics)}, not {secrets.metric}"
        return None

    return check


def widest_cell(case: Case) -> Exact:
    """Return the largest l1 diameter of a cell; ask only under a secret partition."""
    found = case.graph.stretch(range(len(case.domain)))
    assert found is not None
    return found


def distance_threshold(case: Case) -> Exact:
    """Return theta; ask only under distance secrets."""
    assert isinstance(case.policy.secrets, Distance)
    return case.policy.secrets.threshold


def linear_attributes(case: Case) -> str | None:
    """Every attribute is a row of integers or of ordered labels."""
    for name, attribute in case.domain.attributes:
        if not attribute.ordered:
            return f"the attribute {name!r} is not ordered"
        if attribute.numeric and not isinstance(attribute, Integers):
            return f"the attribute {name!r} is not made of integers"
    return None


def one_attribute(case: Case) -> str | None:
    """The domain is one attribute."""
    return None if len(case.domain) == 1 else "it speaks about a domain of one attribute"


def one_change(case: Case) -> str | None:
    """The secrets are single changes of attributes (G^attr)."""
    secrets = case.policy.secrets
    if isinstance(secrets, AttributeChange) and secrets.changes == 1:
        return None
    return "it speaks about secrets in which one attribute changes"


def single_box(fact: LinearFact) -> Box | None:
    """Return the box of a fact that counts one region once, else None."""
    if len(fact.terms) != 1 or fact.terms[0][0] != 1 or len(fact.terms[0][1].boxes) != 1:
        return None
    return fact.terms[0][1].boxes[0]
