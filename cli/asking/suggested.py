"""Queries that a policy can answer: for lists to choose from, and for completion in shells."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from blowproof.models import Policy

__all__ = ["suggested"]

MOST = 60


def suggested(policy: Policy) -> list[str]:
    """Return queries of the policy's attributes, those that newcomers ask first at the front.

    >>> from blowproof.models import Domain, Integers, Labels, Policy
    >>> found = suggested(Policy(domain=Domain(sex=Labels(["F", "M"]), age=Integers(0, 9))))
    >>> found[:3], "sum(age)" in found, "cumulative(sex)" in found
    (['histogram', 'marginal(sex)', 'marginal(age)'], True, False)
    """
    from blowproof.models.queries.arguments import query_name

    names = policy.domain.names
    found = ["histogram", *(query_name("marginal", [name]) for name in names)]
    found += [query_name("count", [query.name]) for query in policy.queries]
    for name, attribute in policy.domain.attributes:
        if attribute.ordered:
            found += [query_name(kind, [name]) for kind in ("cumulative", "ranges")]
        if attribute.numeric:
            found.append(query_name("sum", [name]))
    if len(names) > 2:
        found += [query_name("marginal", pair) for pair in combinations(names, 2)]
    if not policy.graph.complete:
        found.append("partition")
    return found[:MOST]
