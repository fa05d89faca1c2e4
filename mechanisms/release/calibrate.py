"""Scales from verified numbers: S of one query, and whole descriptions brought to one epsilon.

Where neighbours differ in one secret move (nothing is known but n, and impossible values), S is a
maximum over the edges of G, which the certifier finds from the structure, fast on large domains.
Everything else is asked of the engines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.models import BoundQuery, BudgetError, Policy
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.certify.base.asked_before import Known
from blowproof.verifier.certify.base.lemmas import Lemma
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.base.verdict import INFINITE, Certified
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.engines.one_move.engine import along_one_edge
from blowproof.verifier.portfolio.problem import Problem

__all__ = [
    "recalibrated",
    "require_floats",
    "require_width",
    "structural_sensitivity",
]

SMALLEST = Fraction(1, 2**100)
"""Variances of its noise, and squares of their sums, are still floats."""
WIDEST = Fraction(2**200)
"""Scales, and roots of variances, up to which the same is true: nobody has so many records."""


def structural_sensitivity(problem: Problem, query: BoundQuery, reading: Reading) -> Answer | None:
    """Return S(f, P) where it is the change along the worst edge of G; None where it is not."""
    return along_one_edge(problem.setting(reading), query, reading)


def require_floats(epsilon: Fraction, mechanism: str) -> None:
    """Refuse an epsilon whose noise would be beyond floats, for what estimates in floats."""
    if epsilon < SMALLEST:
        raise RefusedError(
            f"the noise for so small an epsilon is wider than the numbers that {mechanism!r} "
            "estimates with\n  try: a larger --epsilon, or --mechanism laplace"
        )


def require_width(width: Fraction, what: str, *, squared: bool) -> None:
    """Refuse noise that is wider than any data, and than what errors are worked out in.

    `squared`: the width is a variance.

    >>> require_width(Fraction(10**9), "histogram", squared=False)
    """
    if width > (WIDEST**2 if squared else WIDEST):
        raise RefusedError(
            f"all that is proved of {what} calls for noise as wide as a number of "
            f"{len(str(int(width)))} digits: no data can be told from that"
            "\n  try: fewer known facts, a coarser query, or --reading secret-moves"
        )


def recalibrated(  # noqa: PLR0913 # keyword-only
    releases: Sequence[Release],
    policy: Policy,
    promise: Promise | Fraction,
    *,
    reading: Reading,
    answers: Answers | None,
    time_limit: float | None = None,
    known: Known | None = None,
    lemmas: Sequence[Lemma] = (),
) -> tuple[tuple[Release, ...], Certified]:
    """Return the releases with all scales multiplied alike, so that they lose epsilon in all.

    Where a rho is promised, their variances.

    The certifier's upper bound on their loss decides, so what comes out is proved by the same
    argument. The second answer is what it said about the releases as they came; `known` keeps it.
    `lemmas`: arguments that the caller stands for.
    """
    hint = "no scale of noise is known to be enough\n  try: --mechanism laplace"
    try:
        found = certify(
            Mechanism(releases=tuple(releases)),
            policy,
            promise,
            reading=reading,
            answers=answers,
            time_limit=time_limit,
            known=known,
            lemmas=lemmas,
        )
    except BudgetError as error:
        raise RefusedError(f"{error}: {hint}") from None
    if found.upper is None or found.upper == INFINITE:
        raise RefusedError(
            f"nothing bounds what these releases give away under {policy.name} (reading {reading}):"
            f" {hint}" + ("" if found.final else ", or a longer --time-limit")
        )
    limit = promise.limit if isinstance(promise, Promise) else promise
    factor = Fraction(found.upper) / limit
    squared = isinstance(promise, Promise) and promise.rho is not None
    for release in releases:
        require_width(factor * max(release.widths), "these releases together", squared=squared)
    return tuple(_scaled(release, factor) for release in releases), found


def _scaled(release: Release, factor: Fraction) -> Release:
    widths = tuple(width * factor for width in release.widths)
    width = widths if release.many else widths[0]
    if release.width == "scale":
        return replace(release, scale=width)
    if not factor:
        return replace(release, noise="discrete-laplace", variance=None, scale=width)
    return replace(release, variance=width)
