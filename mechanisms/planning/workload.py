"""What is asked for: queries under one policy, each with a weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from blowproof.mechanisms.answers.true_answers import OUTPUT_LIMIT
from blowproof.models import BoundQuery, Policy, QueryError, exact, parse_query, show

__all__ = ["Workload", "workload"]

MOST_QUERIES = 100


@dataclass(frozen=True)
class Workload:
    """Queries as they were written, bound to the policy, and what an error in each counts."""

    texts: tuple[str, ...]
    queries: tuple[BoundQuery, ...]
    weights: tuple[Fraction, ...]

    def __len__(self) -> int:
        return len(self.texts)


def workload(texts: Sequence[str], weights: Sequence[object], policy: Policy) -> Workload:
    """Return the workload, or refuse one that is empty, named twice or weighed wrongly.

    No weights at all count every query alike.

    >>> from blowproof.models import Domain, Labels
    >>> policy = Policy(domain=Domain(sex=Labels(["F", "M"])))
    >>> [str(weight) for weight in workload(["histogram"], [], policy).weights]
    ['1']
    """
    if not texts:
        raise QueryError("the workload is empty: nothing is planned\n  try: --query histogram")
    if len(texts) > MOST_QUERIES:
        raise QueryError(
            f"{len(texts)} queries are too many to compare; {MOST_QUERIES} at most"
            "\n  try: a marginal, ranges(A) or matrix(FILE), which hold many in one"
        )
    if weights and len(weights) != len(texts):
        raise QueryError(
            f"{len(weights)} weights for {len(texts)} queries"
            "\n  try: one --weight for each --query, in the same order, or none"
        )
    numbers = tuple(Fraction(exact(item, key="weight")) for item in weights)
    for number in numbers:
        if number <= 0:
            raise QueryError(f"a weight is above 0, not {show(number)}\n  try: leave the query out")
    queries = tuple(parse_query(text, policy) for text in texts)
    for query in queries:
        outputs = query.outputs(policy.domain)
        if outputs is not None and outputs.count > OUTPUT_LIMIT:
            raise QueryError(
                f"{query.name} has {outputs.count:,} outputs; a release has {OUTPUT_LIMIT:,} at "
                "the most\n  try: cumulative(A), from which all ranges follow, or a coarser query"
            )
    names = [query.name for query in queries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise QueryError(f"{twice[0]} is asked for twice\n  try: once, with the larger weight")
    return Workload(tuple(texts), queries, numbers or (Fraction(1),) * len(texts))
