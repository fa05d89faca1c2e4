"""Identically distributed records: one belief f for all, so fewer attackers than `independent`.

Where databases can be listed the answer is that of `search`, with one family for each sum of two
histograms. Else what bounds independent attackers bounds these, and nothing is known from below
but 1, which every belief reaches.
"""

from __future__ import annotations

from blowproof.models import BudgetError, PolicyError
from blowproof.verifier.odds.base.answer import Factor, Shown
from blowproof.verifier.odds.base.asked import Asked
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
        return found.lower, found.upper, found.shown, f"one belief for all: {found.why}", ()
    except (BudgetError, PolicyError) as refusal:
        if not asked.by_graph:
            raise
        _, upper, _, _, notes = independent_odds(asked)
        reason = str(refusal).partition("\n")[0]
        return Factor.exp(0), upper, None, WHY, (reason, *notes)
