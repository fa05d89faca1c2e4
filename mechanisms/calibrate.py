"""Scales from verified numbers: S of one query, and whole descriptions brought to one epsilon.

Where neighbours differ in one secret move (nothing is known but n, and impossible values), S is a
maximum over the edges of G, which the certifier finds from the structure, fast on large domains.
Everything else is asked of the engines.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from blowproof.mechanisms.errors import RefusedError
from blowproof.models import BoundQuery, BudgetError, Policy, setting
from blowproof.models.mechanism import Mechanism, Release
from blowproof.models.numbers import plain
from blowproof.models.policy import Answers, Reading
from blowproof.models.stacked import Part
from blowproof.verifier.answers import Answer, Pair
from blowproof.verifier.certify.api import certify
from blowproof.verifier.certify.certified import INFINITE, Certified
from blowproof.verifier.certify.edges import one_secret_move, worst_edge
from blowproof.verifier.feasible import prepare
from blowproof.verifier.pairs import require_pair

__all__ = ["recalibrated", "structural_sensitivity"]


def structural_sensitivity(
    policy: Policy, query: BoundQuery, reading: Reading, answers: Answers | None
) -> Answer | None:
    """Return S(f, P) where it is the change along the worst edge of G; None where it is not."""
    start = time.perf_counter()
    found = prepare(setting(policy, answers), reading)
    if query.per_record or not one_secret_move(found, reading):
        return None
    worst = worst_edge(found, [Part(query, (Fraction(1),))])
    if worst is None:
        return None
    pair = None
    if worst.edge is not None:
        size = found.size if found.scope == "given" else None
        rest = ((worst.edge[0], size - 1),) if size is not None and size > 1 else ()
        pair = Pair(before=worst.edge[:1], after=worst.edge[1:], unchanged=rest)
        require_pair(found, reading, pair)
    return Answer(
        policy=policy.name,
        query=query.name,
        reading=reading,
        answers=found.scope,
        lower=plain(worst.loss),
        upper=plain(worst.loss),
        status="exact",
        witness=pair,
        engine="edges",
        seconds=time.perf_counter() - start,
        notes=(worst.how,),
    )


def recalibrated(
    releases: Sequence[Release],
    policy: Policy,
    epsilon: Fraction,
    *,
    reading: Reading,
    answers: Answers | None,
    time_limit: float | None = None,
) -> tuple[tuple[Release, ...], Certified]:
    """Return the releases with all scales multiplied alike, so that they lose epsilon in all.

    The certifier's upper bound on their loss decides, so what comes out is proved by the same
    argument. The second answer is what it said about the releases as they came.
    """
    hint = "no scale of noise is known to be enough\n  try: --mechanism laplace"
    try:
        found = certify(
            Mechanism(releases=tuple(releases)),
            policy,
            epsilon,
            reading=reading,
            answers=answers,
            time_limit=time_limit,
        )
    except BudgetError as error:
        raise RefusedError(f"{error}: {hint}") from None
    if found.upper is None or found.upper == INFINITE:
        raise RefusedError(
            f"nothing bounds what these releases give away under {policy.name} (reading {reading}):"
            f" {hint}, or a longer --time-limit"
        )
    factor = Fraction(found.upper) / epsilon
    return tuple(_scaled(release, factor) for release in releases), found


def _scaled(release: Release, factor: Fraction) -> Release:
    scales = tuple(scale * factor for scale in release.scales)
    return replace(release, scale=scales if isinstance(release.scale, tuple) else scales[0])
