"""Made-up records that have the estimated counts and break no known fact: microdata to work with.

They are made from released numbers and public facts alone, so they cost nothing more; and they tell
nothing that the released numbers do not: what no release measured is spread evenly.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining.estimator import MOST_CELLS, Estimator
from blowproof.mechanisms.release.publish import write_columns, write_rows
from blowproof.models import (
    BoundQuery,
    BudgetError,
    Domain,
    Policy,
    PolicyError,
    QueryError,
    Value,
    setting,
    show,
)
from blowproof.models.policy.policy import Answers

__all__ = ["made_from", "require_no_rules", "require_possible", "write_records"]

MOST_RECORDS = 50_000_000


def made_from(estimator: Estimator, answers: Answers | None = None) -> NDArray[np.int64]:
    """Return how many records each value of the domain gets, row-major.

    Known counts hold exactly; refused where a bound would break, or rules link single records.
    """
    policy = estimator.policy
    require_no_rules(policy)
    if not estimator.whole_facts:
        raise RefusedError("what was released without noise are no numbers of records")
    counts = np.rint(estimator.table("whole")).astype(np.int64)
    if counts.sum() > MOST_RECORDS:
        raise RefusedError(f"{counts.sum():,} records; {MOST_RECORDS:,} at most are written")
    if estimator.records is None:  # bounds are about all records
        _require_bounds(policy, counts, answers)
    return counts


def require_possible(policy: Policy, query: BoundQuery) -> None:
    """Refuse what no records are made up for, before anything is paid for them."""
    require_no_rules(policy)
    if policy.domain.size > MOST_CELLS:
        raise BudgetError(
            f"{policy.domain.size:,} cells; records are made up for {MOST_CELLS:,} at the most"
            "\n  try: a coarser domain, or leave --synthetic out"
        )
    if query.per_record:
        raise QueryError(
            f"{query.name} weighs single records, which made-up ones cannot agree with"
            "\n  try: leave --synthetic out"
        )


def require_no_rules(policy: Policy) -> None:
    """Refuse a policy whose rules say which record holds what: counts cannot keep them."""
    if policy.clauses:
        raise RefusedError(
            "the policy has rules about single records, which counts cannot keep: no records are "
            "made up\n  try: leave --synthetic out"
        )


def _require_bounds(policy: Policy, counts: NDArray[np.int64], answers: Answers | None) -> None:
    from blowproof.mechanisms.answers.masks import mask

    for fact in setting(policy, answers).bounds:
        total = sum(times * int(counts[mask(area, policy.domain).ravel()].sum())
                    for times, area in fact.terms)  # fmt: skip
        low, high = fact.at_least, fact.at_most
        if (low is not None and total < low) or (high is not None and total > high):
            raise RefusedError(
                f"the estimates break {fact.name}, a known bound: no records are made up"
                "\n  try: a larger epsilon"
            )


def _values(domain: Domain, place: int) -> tuple[Value, ...]:
    sizes = [kind.size for _, kind in domain.attributes]
    found = np.unravel_index(place, sizes)
    return tuple(
        kind.value(int(at)) for (_, kind), at in zip(domain.attributes, found, strict=True)
    )


def write_records(path: str | Path, domain: Domain, counts: NDArray[np.int64]) -> int:
    """Write the records to a .csv or .parquet file, a row each; return how many.

    Their order is that of the values: it says nothing.
    """
    place = Path(path)
    if place.suffix.lower() not in (".csv", ".parquet"):
        raise PolicyError(f"{place}: records are written to .csv or .parquet", key="synthetic")

    def rows() -> Iterator[tuple[object, ...]]:
        for at in np.flatnonzero(counts).tolist():
            row = tuple(
                it if isinstance(it, (str, int)) else show(it) for it in _values(domain, at)
            )
            for _ in range(int(counts[at])):
                yield row

    if place.suffix.lower() == ".csv":
        write_rows(domain.names, rows(), place)
    else:
        write_columns(domain.names, rows(), place)
    return int(counts.sum())
