"""The textual form of queries: `parse_query("range(age,18,65)", policy)`.

A bound query's `name` is its one canonical text: no spaces, ends of ranges as values, and a name
that is more than letters, digits and a few signs in double quotes, escaped as in JSON. What is
written otherwise means the same; the canonical text reads back to the same query.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from blowproof.models.base.errors import PolicyError, QueryError, nearest
from blowproof.models.base.numbers import show
from blowproof.models.domain.attributes import Attribute, Labels
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Between, Region
from blowproof.models.policy.policy import Policy
from blowproof.models.queries.kinds import (
    ClusterSizes,
    ClusterSums,
    CountQuery,
    Cumulative,
    Histogram,
    MarginalQuery,
    MatrixQuery,
    PartitionHistogram,
    Ranges,
    SumQuery,
    WeightedSum,
)
from blowproof.models.queries.query import BoundQuery, Row
from blowproof.models.secrets import PartitionGraph

__all__ = ["QUERY_FORMS", "parse_query", "query_arguments", "query_name"]

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
LONGEST = 1000
"""Digits of a number that is a label."""

_FORM = re.compile(r"\s*([a-z-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_ARGUMENT = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([^",][^,]*|))\s*(,|\Z)', re.DOTALL)
_BARE = re.compile(r"[\w.:/~+%-]+")


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
    try:
        return builder(kind, [] if inner is None else _split(kind, inner), policy)
    except PolicyError as error:
        hint = f"\n  try: {error.hint}" if error.hint else ""
        raise QueryError(f"in the query {text.strip()}: {error.reason}{hint}") from None


def _forms() -> str:
    return ", ".join(QUERY_FORMS)


def query_name(kind: str, arguments: Sequence[object] = ()) -> str:
    """Return the canonical text of a query: every argument can be told from every other.

    >>> query_name("marginal", ["sex", "a,b"]), query_name("count", ["x) = 0"])
    ('marginal(sex,"a,b")', 'count("x) = 0")')
    """
    return f"{kind}({','.join(_written(str(item)) for item in arguments)})" if arguments else kind


def query_arguments(text: str) -> list[str]:
    """Return the arguments in the text of a query.

    >>> query_arguments('marginal(sex,"a,b")'), query_arguments("histogram")
    (['sex', 'a,b'], [])
    """
    match = _FORM.fullmatch(text)
    kind, inner = match.groups() if match else (text, None)
    return [] if inner is None else _split(kind, inner)


def _written(text: str) -> str:
    if _BARE.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _split(kind: str, inner: str) -> list[str]:
    """Split at commas outside double quotes; a text in quotes is one as in JSON."""
    found, end, more = [], 0, ","
    while more:
        match = _ARGUMENT.match(inner, end)
        if match is None:
            raise PolicyError(
                f"the quotes in {inner[end:].strip()!r} do not fit",
                hint='put a name in double quotes as in JSON: "a,b", or \\" for a quote in it',
            )
        quoted, bare, more = match.groups()
        found.append(_unquoted(quoted) if quoted else bare.strip())
        if not (quoted or found[-1]):
            raise _misfit(f"{kind}({inner})", kind)
        end = match.end()
    return found


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        hint = "a backslash is written twice, and other escapes as in JSON"
        raise PolicyError(f"{text} is not a text in quotes", hint=hint) from None


def _need(kind: str, arguments: list[str], count: int | None) -> None:
    wrong = len(arguments) != count if count is not None else not arguments
    if wrong:
        raise _misfit(query_name(kind, arguments), kind)


def _misfit(text: str, kind: str) -> QueryError:
    form = next(form for form in QUERY_FORMS if re.match(re.escape(kind) + r"(\(|$)", form))
    return QueryError(f"{text} does not fit\n  try: {form}")


def _histogram(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, 0)
    return Histogram()


def _marginal(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, None)
    return MarginalQuery(policy.domain.axes(arguments), query_name(kind, arguments))


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
    return form(axis, size, query_name(kind, arguments))


def _range(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, 3)
    name, *ends = arguments
    axis = _ordered(policy.domain, name)
    attribute = policy.domain.attribute(axis)
    low, high = (_end(attribute, text) for text in ends)
    area = policy.domain.area(Region({name: Between(low, high)}))
    side = area.boxes[0].sides[axis]
    values = [attribute.value(side.nth(place)) for place in (0, side.size - 1)]
    told = [value if isinstance(value, str) else show(value) for value in values]
    return CountQuery(area, query_name(kind, [name, *told]))


def _end(attribute: Attribute, text: str) -> str | int:
    """Return an end of a range: a number as it is written, or a label."""
    labels = attribute.labels if isinstance(attribute, Labels) else ()
    whole = text.removeprefix("-").isdecimal() and len(text) < LONGEST
    return int(text) if whole and labels and isinstance(labels[0], int) else text


def _sum(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, None)
    policy.domain.axes(arguments)
    axes = tuple(_numeric(policy.domain, name) for name in arguments)
    return SumQuery(policy.domain, axes, query_name(kind, arguments))


def _count(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    _need(kind, arguments, 1)
    return CountQuery(policy.query_area(arguments[0]), query_name(kind, arguments))


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
    from blowproof.models.files.tables import read_matrix

    _need(kind, arguments, 1)
    size = policy.domain.size
    rows = read_matrix(_path(arguments[0], policy), size)
    columns: tuple[Row, ...] = tuple(
        {output: row[place] for output, row in enumerate(rows) if row[place]}
        for place in range(size)
    )
    return MatrixQuery(policy.domain, columns, query_name(kind, arguments))


def _clusters(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    from blowproof.models.files.tables import read_centroids

    _need(kind, arguments, 1)
    for name in policy.domain.names:
        _ordered(policy.domain, name)
    centroids = read_centroids(_path(arguments[0], policy), len(policy.domain))
    form = ClusterSizes if kind == "cluster-sizes" else ClusterSums
    return form(policy.domain, tuple(centroids), query_name(kind, arguments))


def _weighted(kind: str, arguments: list[str], policy: Policy) -> BoundQuery:
    from blowproof.models.files.tables import read_weights

    _need(kind, arguments, 2)
    axis = _numeric(policy.domain, arguments[0])
    weights = read_weights(_path(arguments[1], policy))
    return WeightedSum(policy.domain, axis, weights, query_name(kind, arguments))


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
