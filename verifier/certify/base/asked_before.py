"""What the verifier said before in the same run: asked once, and not again for other scales.

The loss of additive noise is the sensitivity of the stacked releases, each weighted with 1 / scale
(in l2-squared, 1 / variance). With all weights multiplied by one factor it is multiplied by that
factor, and so are its bounds: whatever bound a scale was calibrated by proves the scaled releases
too. Nothing that is known in one norm is said of another.

*Added up.* Losses of additive noise are sums over the outputs, of |change| / scale or of squares by
variances: what a pair loses to all releases is the sum of what it loses to groups of them. So no
pair loses more than the groups' bounds together, and a group's pair loses no less to all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Exact
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, Norm
from blowproof.models.queries.query import BoundQuery
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.certify.base.verdict import Loss, LossBounds

__all__ = ["Known"]


class Known:
    """Answers under one policy, reading and scope; nothing here is asked about another."""

    def __init__(self) -> None:
        self._found: list[tuple[Norm, tuple[Part, ...], LossBounds]] = []

    def learn(self, query: BoundQuery, answer: Answer) -> None:
        """Keep the S of a query: the loss of noise of scale 1 on it (on each of its parts)."""
        parts = query.parts if isinstance(query, Stacked) else (Part(query, (Fraction(1),)),)
        found = LossBounds(
            lower=answer.lower,
            upper=answer.upper,
            pair=answer.witness,
            engine=answer.engine,
            notes=answer.notes,
        )
        self.keep(parts, found, query.measure)

    def keep(self, parts: Sequence[Part], found: LossBounds, norm: Norm = L1) -> None:
        """Keep the bounds on the loss of these weighted parts."""
        self._found.append((norm, tuple(parts), found))

    def find(self, parts: Sequence[Part], norm: Norm = L1) -> LossBounds | None:
        """Return the best bounds that are known of these parts, at these weights; None if none."""
        best: LossBounds | None = None
        for measured, kept, found in self._found:
            factor = _factor(kept, parts) if measured is norm else None
            if factor is None:
                continue
            upper = None if found.upper is None else _times(found.upper, factor)
            scaled = replace(found, lower=_times(found.lower, factor), upper=upper)
            best = scaled if best is None else _tighter(best, scaled)
        return best

    def added(self, parts: Sequence[Part], norm: Norm = L1) -> LossBounds | None:
        """Return the bounds on the loss of parts that are known in groups; None if some are not.

        The largest groups first: they are bounded together, which is less than one by one.
        """
        rest, upper = list(parts), Fraction(0)
        lower: Exact = 0
        pair: Pair | None = None
        groups = [kept for measured, kept, found in self._found
                  if measured is norm and found.upper is not None]  # fmt: skip
        for kept in sorted(groups, key=len, reverse=True):
            group = _among(kept, rest)
            found = None if group is None else self.find(group, norm)
            if group is None or found is None or found.upper is None:
                continue
            if isinstance(found.lower, str) or isinstance(found.upper, str):
                return None
            for taken in group:  # the same part twice is two releases
                del rest[next(place for place, part in enumerate(rest) if part is taken)]
            upper += found.upper
            if found.lower > lower:
                lower, pair = found.lower, found.pair
        if rest:
            return None
        why = "what is known of the releases, added up"
        return LossBounds(lower=lower, upper=plain(upper), pair=pair, engine="parts", notes=(why,))


def _among(kept: Sequence[Part], parts: Sequence[Part]) -> tuple[Part, ...] | None:
    """Return those of the parts that are kept ones at other weights, in their order."""
    found: list[Part] = []
    for old in kept:
        same = (new for new in parts if not any(new is taken for taken in found)
                and _factor([*kept[: len(found)], old], [*found, new]) is not None)  # fmt: skip
        new = next(same, None)
        if new is None:
            return None
        found.append(new)
    return tuple(found)


def _tighter(one: LossBounds, two: LossBounds) -> LossBounds:
    if two.upper is None or isinstance(two.upper, str):
        return one
    if one.upper is None or isinstance(one.upper, str):
        return two
    return two if two.upper < one.upper else one


def _times(loss: Loss, factor: Fraction) -> Loss:
    return loss if isinstance(loss, str) else plain(loss * factor)


def _factor(kept: Sequence[Part], parts: Sequence[Part]) -> Fraction | None:
    """Return by what the weights of the kept parts give those of the others; None if nothing."""
    if len(kept) != len(parts):
        return None
    pairs: list[tuple[Fraction, Fraction]] = []
    for old, new in zip(kept, parts, strict=True):
        if len(old.weights) != len(new.weights):
            return None
        pairs += zip(old.weights, new.weights, strict=True)
    ratios = {new / old for old, new in pairs if old}
    if len(ratios) != 1 or any(new for old, new in pairs if not old):
        return None
    same = (old.query is new.query or old.query == new.query
            for old, new in zip(kept, parts, strict=True))  # fmt: skip
    return ratios.pop() if all(same) else None
