"""Proofs of kind "branching": cases over numbers of records, found by the search in `cases`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from blowproof.models import Exact
from blowproof.verifier.kernel.document import Rejected
from blowproof.verifier.kernel.proofs.branching import problem_of
from blowproof.verifier.kernel.world import World

__all__ = ["by_cases"]


def by_cases(
    world: World, value: Exact, limit: float, reasons: list[str]
) -> Iterator[dict[str, Any]]:
    """Yield a proof by cases; why there is none is added to the reasons."""
    from blowproof.verifier.proofs.cases.search import prove

    try:
        problem = problem_of(world, value)
    except Rejected as reason:
        reasons.append(f"branching: {reason}")
        return
    found = prove(problem, deadline=time.monotonic() + limit)
    if found.proof is None:
        reasons.append(f"branching: {found.reason}")
    else:
        yield {"kind": "branching", **found.proof}
