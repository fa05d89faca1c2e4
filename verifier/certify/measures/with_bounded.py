"""A mechanism some of whose releases have bounded noise: its exact delta at an epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from blowproof.models import BudgetError, QueryError, show
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.norms import LINF
from blowproof.models.stacks.stacked import Part, stack
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.base.verdict import INFINITE, Delta, LossBounds, Verdict
from blowproof.verifier.certify.channels.exponential_sums import Number
from blowproof.verifier.certify.measures.bounded import bounded_delta, less, worst_delta
from blowproof.verifier.certify.measures.logarithms import rounded_down, rounded_up
from blowproof.verifier.certify.measures.sorts import BOUNDED, Judged, Sorts, pure_loss
from blowproof.verifier.certify.noise.additive import additive_loss

__all__ = ["with_bounded"]


def with_bounded(asked: Asked, mechanism: Mechanism, sorts: Sorts, promise: Promise) -> Judged:
    """Return the delta of bounded noise at the epsilon that the other releases leave.

    Gaussian releases beside it would need a delta of their own: that is not tried.
    """
    assert promise.delta is not None
    quiet = replace(asked, listener=None)
    rest, assumed = pure_loss(quiet, mechanism, sorts.pure_or_silent(bounded=False), promise.limit)
    laws = {release.probabilities for release in mechanism.releases if release.noise == BOUNDED}
    if rest.lower == INFINITE:
        return Judged(rest, assumed)
    if rest.upper is None or rest.upper == INFINITE or len(laws) > 1:
        why = "the other releases are not bounded" if len(laws) < 2 else "several laws are mixed"
        open_ = replace(rest, lower=0, upper=None, notes=(*rest.notes, f"bounded noise: {why}"))
        return Judged(open_, assumed)
    left = promise.limit - Fraction(rest.upper)
    if left < 0:
        return Judged(replace(rest, upper=None), assumed)
    steps = [replace(part, weights=(release.grid,)) for release, part in sorts.all
             if release.noise == BOUNDED]  # fmt: skip
    most = additive_loss(quiet, steps)
    law = laws.pop()
    lower, higher = Number({}), None
    notes = [*most.notes, *rest.notes]
    if most.pair is not None:
        changes = _steps_of(sorts, most.pair, asked)
        signs = (1,) if law == law[::-1] else (1, -1)
        at = promise.limit if rest.upper else left
        for sign in signs:
            one = bounded_delta(law, tuple(sorted(sign * d for d in changes)), at)
            lower = one if less(lower, one) else lower
    if most.upper is not None and most.upper != INFINITE:
        try:
            each = _largest_step(quiet, steps, int(most.upper))
            higher, worst = worst_delta(law, int(most.upper), left, each)
            if worst:
                notes.append(f"the worst way to change by {int(most.upper)} steps is {worst}")
        except BudgetError as error:
            notes.append(str(error))
    found = LossBounds(lower=0, upper=None, pair=most.pair, engine=most.engine, notes=tuple(notes))
    return Judged(found, assumed, _judged_delta(lower, higher, promise.delta))


def _largest_step(asked: Asked, parts: Sequence[Part], most: int) -> int:
    """Return by how many steps no output changes more: the S in linf, or `most` if it is not known.

    The weights of the parts are grids.
    """
    turned = [replace(part, weights=(1 / part.weights[0],)) for part in parts]
    try:
        query = stack(turned, LINF, asked.policy.domain, name="releases")
        found = sensitivity(
            asked.policy,
            query,
            reading=asked.reading,
            answers=asked.answers,
            engine=asked.engine,
            time_limit=asked.left(Fraction(1, 2)),
        )
    except (BudgetError, QueryError):
        return most
    return most if found.upper is None else min(most, int(found.upper))


def _judged_delta(lower: Number, upper: Number | None, promised: Fraction) -> Delta:
    """Return the delta between its bounds, and what they say about the promised one."""
    limit = Number({Fraction(0): promised})
    verdict: Verdict = "undecided"
    if less(limit, lower):
        verdict = "refuted"
    elif upper is not None and not less(limit, upper):
        verdict = "proved"
    exact = upper is not None and not less(lower, upper)
    low = max(Fraction(0), rounded_down(lower.between(256)[0], 20))
    high = None if upper is None else min(Fraction(1), rounded_up(upper.between(256)[1], 20))
    return Delta(_text(lower) if exact else None, low, high, verdict)


def _text(number: Number) -> str:
    """Return p - q * exp(epsilon) as text."""
    factors = dict(number.terms)
    first = show(factors.pop(Fraction(0), Fraction(0)))
    return first + "".join(f" - {show(-q)} * exp({show(e)})" for e, q in factors.items())


def _steps_of(sorts: Sorts, pair: Pair, asked: Asked) -> list[int]:
    """Return by how many steps the outputs with bounded noise change, with their signs."""
    moves = pair.moves(asked.reading)
    return [
        int(change / release.grid)
        for release, part in sorts.all
        if release.noise == BOUNDED and not part.query.per_record
        for change in part.changes(moves).values()
    ]
