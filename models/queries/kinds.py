"""All kinds of queries, by their form: `parse_query("range(age,18,65)", policy)`.

A new kind is a file beside this one and a line in `FORMS` (or a call of `register`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blowproof.models.base.errors import PolicyError, QueryError, nearest
from blowproof.models.queries.arguments import (
    query_arguments,
    query_name,
    split_arguments,
    split_query,
)
from blowproof.models.queries.cluster_sizes import ClusterSizes
from blowproof.models.queries.cluster_sums import ClusterSums
from blowproof.models.queries.count import CountQuery
from blowproof.models.queries.cumulative import Cumulative
from blowproof.models.queries.histogram import Histogram
from blowproof.models.queries.marginal import Difference, MarginalQuery
from blowproof.models.queries.matrix import MatrixQuery
from blowproof.models.queries.partition import PartitionHistogram
from blowproof.models.queries.query import BoundQuery
from blowproof.models.queries.ranges import Ranges, Rectangles
from blowproof.models.queries.sums import SumQuery
from blowproof.models.queries.weighted_sum import WeightedSum

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = [
    "FORMS",
    "ClusterSizes",
    "ClusterSums",
    "CountQuery",
    "Cumulative",
    "Difference",
    "Histogram",
    "MarginalQuery",
    "MatrixQuery",
    "PartitionHistogram",
    "Ranges",
    "Rectangles",
    "SumQuery",
    "WeightedSum",
    "parse_query",
    "register",
]

FORMS: dict[str, type[BoundQuery]] = {
    "histogram": Histogram,
    "marginal(A,B,...)": MarginalQuery,
    "difference(A,B,...)": Difference,
    "cumulative(A)": Cumulative,
    "range(A,LOW,HIGH)": CountQuery,
    "ranges(A)": Ranges,
    "rectangles(A,B,...)": Rectangles,
    "sum(A,...)": SumQuery,
    "count(NAME)": CountQuery,
    "partition": PartitionHistogram,
    "matrix(FILE)": MatrixQuery,
    "cluster-sizes(FILE)": ClusterSizes,
    "cluster-sums(FILE)": ClusterSums,
    "weighted-sum(A,FILE)": WeightedSum,
}
"""How a query is written, and who reads it; `...` stands for any number of arguments."""


def register(form: str, kind: type[BoundQuery]) -> None:
    """Make a kind of query known under its form, as "marginal(A,B,...)"; an old one is replaced."""
    for known in [item for item in FORMS if _word(item) == _word(form)]:
        del FORMS[known]
    FORMS[form] = kind


def parse_query(text: str, policy: Policy) -> BoundQuery:
    """Return the query that a text names, bound to the policy.

    >>> from blowproof.models import Domain, Integers, Policy
    >>> parse_query("range(age, 18, 65)", Policy(domain=Domain(age=Integers(0, 115))))
    range(age,18,65)
    """
    read = split_query(text)
    if read is None:
        raise QueryError(f"{text!r} is not a query\n  try: {', '.join(FORMS)}")
    kind, inner = read
    forms = {_word(form): form for form in FORMS}
    if kind not in forms:
        hint = nearest(kind, forms, what="query")
        raise QueryError(f"there is no query {kind!r}\n  try: {hint}")
    form = forms[kind]
    try:
        arguments = split_arguments(inner)
        if arguments is None:
            raise QueryError(f"{kind}({inner}) does not fit\n  try: {form}")
        if not _fits(arguments, form):
            raise QueryError(f"{query_name(kind, arguments)} does not fit\n  try: {form}")
        return FORMS[form].parse(kind, arguments, policy)
    except PolicyError as error:
        hint = f"\n  try: {error.hint}" if error.hint else ""
        raise QueryError(f"in the query {text.strip()}: {error.reason}{hint}") from None


def _word(form: str) -> str:
    return form.partition("(")[0]


def _fits(arguments: list[str], form: str) -> bool:
    """Whether a query has as many arguments as its form; `...` stands for any number."""
    listed = query_arguments(form)
    return bool(arguments) if "..." in listed else len(arguments) == len(listed)
