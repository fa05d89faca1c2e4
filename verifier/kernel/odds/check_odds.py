"""`check_odds`: all of a certificate of odds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..document import Budget, Unreadable
from .above import check_argument, check_neighbours
from .below import check_belief
from .claim import Case


def check_odds(document: dict[str, Any], budget: Budget, nested: Callable[..., Any]) -> Case:
    """Refuse a certificate unless what it claims holds; `nested` checks a certificate inside it."""
    case = Case(document, budget)
    if not case.claims:
        raise Unreadable("nothing is claimed")
    proof, belief = case.table.get("proof"), case.table.get("belief")
    if proof is not None and proof.get("kind") == "neighbours":
        check_neighbours(case, proof, nested)
        return case
    if "at_least" in case.claims:
        check_belief(case, belief)
    if "at_most" in case.claims:
        check_argument(case, proof)
    return case
