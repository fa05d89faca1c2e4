"""The textual form of queries: `parse_query("range(age,18,65)", policy)`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from blowproof.models.domain import Domain
from blowproof.models.errors import PolicyError, QueryError, nearest
from blowproof.models.policy import Policy
from blowproof.models.queries import (
    BoundQuery,
    ClusterSizes,
    ClusterSums,
    CountQuery,
    Cumulative,
    Histogram,
    MarginalQuery,
    MatrixQuery,
    PartitionHistogram,
    Ranges,
    Row,
    SumQuery,
    WeightedSum,
)
from blowproof.models.regions import Between, Region
from blowproof.models.secrets import PartitionGraph

__all__ = ["QUERY_FORMS", "parse_query"]

QUERY_FORMS = (
    "histogram",
    "marginal(A,B,...)",
    "cumulative(A)",
    "range(A,LOW,HIGH)",
    "ranges(A)",
    "sum(A,...)",
    "count(NAME)",
    "partition",
    "matrix(FILE)",
    "cluster-sizes(FILE)",
    "cluster-sums(FILE)",
    "weighted-sum(A,FILE)",
)
_FORM = re.compile(r"\s*([a-z-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse_query(text: str, policy: Policy) -> BoundQuery:
    """Return the query that a text names, bound to the policy.

    >>> from blowproof.models import Domain, Integers
    >>> parse_query("range(age, 18, 65)", Policy(domain=Domain(age=Integers(0, 115))))
    range(age,18,65)
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise QueryError(f"{text!r} is not a query\n  try: {_forms()}")
    kind, inner = match.groups()
    builder = _BUILDERS.get(kind)
    if builder is None:
        hint = nearest(kind, _BUILDERS, what="query")
        raise QueryError(f"there is no query {kind!r}\n  try: {hint}")
    arguments = [] if inner is None else _split(inner)
    try:
        return builder(kind, arguments, policy)
    except PolicyError as error:
        hint = f"\n  try: {error.hint}" if error.hint else ""
        raise QueryError(f"in the query {text.strip()}: {error.reason}{hint}") from None


def _forms() -> str:
    return ", ".join(QUERY_FORMS)


def _split(inner: str) -> list[str]:
    """Split at commas outside double quotes."""
    parts = re.findall(r'\s*("[^"]*"|[^,]*)\s*(?:,|$)', inner)[: inner.count(",") + 1]
    parts = parts if not inner.strip().endswith('"') or parts[-1] else parts[:-1]
    return [part.strip().strip('"') for part in parts]


def _name(kind: str, arguments: list[str]) -> str:
    return f"{kind}({','.join(arguments)})" if arguments else kind


def _need(kind: str, arguments: list[str], count: int | None) -> None:
    form = next(form for form in QUERY_FORMS if re.match(re.escape(kind) + r"(\(|$)", form))
    wrong = len(arguments) != count if count is not None else not arguments
    if wrong or any(not argument for argument in arguments):
        raise QueryError(f"{_name(kind, arguments)} does not fit\n  try: {form}")


def _histogram(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, 0)
    return Histogram()


def _marginal(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, None)
    return MarginalQuery(policy.domain.axes(arguments), _name(kind, arguments))


def _ordered(domain: Domain, name: str) -> int:
    axis = domain.axis(name)
    if not domain.attribute(axis).ordered:
        raise PolicyError(
            f"the attribute {name!r} is not ordered",
            hint="declare { labels = [...], ordered = true }, or ask for marginal(...)",
        )
    return axis


def _numeric(domain: Domain, name: str) -> int:
    axis = domain.axis(name)
    if not domain.attribute(axis).numeric:
        raise PolicyError(f"the attribute {name!r} is not a number", hint="sum a numeric attribute")
    return axis


def _cumulative(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, 1)
    axis = _ordered(policy.domain, arguments[0])
    size = policy.domain.attribute(axis).size
    form = Cumulative if kind == "cumulative" else Ranges
    return form(axis, size, _name(kind, arguments))


def _range(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, 3)
    name, low, high = arguments
    _ordered(policy.domain, name)
    area = policy.domain.area(Region({name: Between(low, high)}))
    return CountQuery(area, _name(kind, arguments))


def _sum(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, None)
    policy.domain.axes(arguments)
    axes = tuple(_numeric(policy.domain, name) for name in arguments)
    return SumQuery(policy.domain, axes, _name(kind, arguments))


def _count(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, 1)
    return CountQuery(policy.query_area(arguments[0]), _name(kind, arguments))


def _partition(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, 0)
    graph = policy.graph
    if not isinstance(graph, PartitionGraph):
        raise PolicyError(
            "the secrets are not a partition",
            hint='the query "partition" needs [secrets] kind = "partition"',
        )
    return PartitionHistogram(graph)


def _path(name: str, policy: Policy) -> Path:
    """A file of a query lies where the command runs, else beside the policy file."""
    here = Path(name)
    if here.exists() or here.is_absolute() or policy.folder is None:
        return here
    beside = policy.folder / name
    return beside if beside.exists() else here


def _matrix(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    from blowproof.models.tables import read_matrix

    _need(kind, arguments, 1)
    size = policy.domain.size
    rows = read_matrix(_path(arguments[0], policy), size)
    columns: tuple[Row, ...] = tuple(
        {output: row[place] for output, row in enumerate(rows) if row[place]}
        for place in range(size)
    )
    return MatrixQuery(policy.domain, columns, _name(kind, arguments))


def _clusters(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    from blowproof.models.tables import read_centroids

    _need(kind, arguments, 1)
    for name in policy.domain.names:
        _ordered(policy.domain, name)
    centroids = read_centroids(_path(arguments[0], policy), len(policy.domain))
    form = ClusterSizes if kind == "cluster-sizes" else ClusterSums
    return form(policy.domain, tuple(centroids), _name(kind, arguments))


def _weighted(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    from blowproof.models.tables import read_weights

    _need(kind, arguments, 2)
    axis = _numeric(policy.domain, arguments[0])
    weights = read_weights(_path(arguments[1], policy))
    return WeightedSum(policy.domain, axis, weights, _name(kind, arguments))


_BUILDERS: dict[str, Callable[[str, list[str], Policy], BoundQuery]] = {
    "histogram": _histogram,
    "marginal": _marginal,
    "cumulative": _cumulative,
    "range": _range,
    "ranges": _cumulative,
    "sum": _sum,
    "count": _count,
    "partition": _partition,
    "matrix": _matrix,
    "cluster-sizes": _clusters,
    "cluster-sums": _clusters,
    "weighted-sum": _weighted,
}
