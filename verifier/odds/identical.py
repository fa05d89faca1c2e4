"""Identically distributed records: one belief f for all, so fewer attackers than `independent`.

Where databases can be listed the answer is that of `search`, with one family for each sum of two
histograms. Else what bounds independent attackers bounds these. From below serves the policy with
the numbers that a worst pair of independent attackers has, where facts have none of their own:
attackers who know these numbers are among those that are asked about.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from blowproof.models import BudgetError, Count, Database, Known, Marginal, Point, PolicyError, Sum
from blowproof.verifier.odds.base.answer import Factor, Shown
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.base.board import OddsBoard
from blowproof.verifier.odds.families.search import searched
from blowproof.verifier.odds.independent import independent_odds

__all__ = ["identical_odds"]

WHY = "one belief for all records: independent beliefs from above"


def identical_odds(
    asked: Asked,
) -> tuple[Factor, Factor | None, Shown | None, str, tuple[str, ...]]:
    """Return bounds on the largest odds ratio, what shows the lower one, why, and notes."""
    try:
        found = searched(asked)
        return (found.lower, found.upper, found.shown, f"one belief for all: {found.why}",
                found.notes)  # fmt: skip
    except (BudgetError, PolicyError) as refusal:
        if not asked.by_graph:
            raise
        others = replace(asked, board=OddsBoard())  # what other attackers reach is nothing to these
        _, upper, shown, _, notes = independent_odds(others)
        notes = (str(refusal).partition("\n")[0], *notes)
        asked.board.bounded(upper)
    lower, shown = _from_below(asked, shown)
    return lower, upper, shown, WHY, notes


def _from_below(asked: Asked, shown: Shown | None) -> tuple[Factor, Shown | None]:
    """Return what beliefs reach who know the numbers of a pair's databases, and such a belief."""
    prior = None if shown is None else shown.prior
    if not isinstance(prior, dict) or "records" not in prior or asked.setting.scope == "given":
        return Factor.exp(0), None
    domain = asked.policy.domain
    database = [domain.encode(row[0][0]) for row in prior["records"]]
    policy = replace(
        asked.policy,
        known=tuple(_numbered(asked, database)),
        database=Database(size=len(database), answers="given"),
    )
    try:
        found = searched(replace(asked, policy=policy, answers=None))
    except (BudgetError, PolicyError):
        return Factor.exp(0), None
    return found.lower, found.shown


def _numbered(asked: Asked, database: Sequence[Point]) -> Iterator[Known]:
    """Yield the policy's facts with the numbers that a database has."""
    domain = asked.policy.domain
    for fact in asked.policy.known:
        if not isinstance(fact, (Count, Marginal, Sum)):
            yield fact
            continue
        parts = fact.bind(domain, "known")
        totals = tuple(sum(part.coefficient(x) for x in database) for part in parts)
        if isinstance(fact, Count):
            yield Count(fact.where, answer=totals[0])
        elif isinstance(fact, Marginal):
            yield Marginal(fact.attributes, answers=totals)
        else:
            yield Sum(fact.terms, equals=totals[0])
