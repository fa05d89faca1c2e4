"""Gaussian noise: rho is half the sensitivity of the squares, divided by the variances.

For two neighbours, discrete Gaussian noise on a grid that holds all changes loses exactly
sum over outputs of (f_j(D1) - f_j(D2))^2 / (2 s_j) in zCDP (`measures.orders`). So the rho of all
releases together is half of one S: of the stack, in the norm l2-squared, with the weights 1 / s_j.
Where a record adds 0 or 1 to each output, one that moves changes none by more than 1, so its
squares add up to what it changes in l1: arguments about that (`lemmas`) hold of both. Of other
queries there are arguments about the squares themselves (`squares`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from blowproof.models import BudgetError, Exact
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, L2_SQUARED
from blowproof.models.stacks.stacked import Part, stack
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Listener, Progress
from blowproof.verifier.certify.base.asked import Asked, once_more
from blowproof.verifier.certify.base.lemmas import argued, many_values
from blowproof.verifier.certify.base.verdict import LossBounds
from blowproof.verifier.certify.noise.additive import many_rows
from blowproof.verifier.certify.noise.weighted_records import numbered_bounds
from blowproof.verifier.engines.one_move.worst_edge import one_secret_move

__all__ = ["gaussian_rho", "squared_weights"]

_HALF = Fraction(1, 2)


def squared_weights(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Turn variances into the weights of squares."""
    return tuple(
        replace(part, weights=tuple(1 / variance for variance in part.weights)) for part in parts
    )


def gaussian_rho(asked: Asked, parts: Sequence[Part]) -> LossBounds:
    """Return the rho of Gaussian releases over all neighbours; their weights are the variances."""
    if not parts:
        return LossBounds(lower=0, upper=0, pair=None, engine="structure")
    weighted = squared_weights(parts)
    known = None if asked.known is None else asked.known.find(weighted, L2_SQUARED)
    added = _added(asked, weighted) if known is None else None
    if added is not None and (asked.contents(_of_rho(added)) or many_rows(asked, weighted)):
        return numbered_bounds(asked, parts, _of_rho(added))
    found = _searched(asked, weighted, added) if known is None else known
    if asked.known is not None and known is None:
        asked.known.keep(weighted, found, L2_SQUARED)
    return numbered_bounds(asked, parts, _of_rho(found))


def _added(asked: Asked, weighted: Sequence[Part]) -> LossBounds | None:
    """Return what is known of several releases, added up; None where some are new."""
    if asked.known is None or asked.engine != "auto" or len(weighted) == 1:
        return None
    return asked.known.added(weighted, L2_SQUARED)


def _of_rho(found: LossBounds) -> LossBounds:
    """Return bounds on rho from those on squares."""
    upper = None if found.upper is None else _halved(found.upper)
    return replace(found, lower=_halved(found.lower), upper=upper)


def _halved(size: Exact | str) -> Exact:
    assert not isinstance(size, str)
    return plain(size * _HALF)


def _argued(asked: Asked, parts: Sequence[Part], *, few: bool = False) -> LossBounds | None:
    """Return what lemmas say of the squares; in L1, where no output changes by more than 1.

    None where they have no say, or where the rows can be listed (`few`: then too).
    """
    if asked.engine != "auto" or not one_secret_move(asked.setting, asked.reading):
        return None
    binary = all(part.query.binary for part in parts)
    lemmas, norm = (asked.lemmas, L1) if binary else (asked.squares, L2_SQUARED)
    if not lemmas or not (few or many_values(asked.setting, parts, norm)):
        return None
    found = argued(asked.setting, asked.policy, parts, lemmas, norm)
    if found is None or found.upper is None:
        return None
    return LossBounds(lower=0, upper=found.upper, pair=None, engine="argument", notes=(found.how,))


def _searched(asked: Asked, parts: Sequence[Part], known: LossBounds | None) -> LossBounds:
    """Ask lemmas where rows are too many to list, else questions; lemmas too if these stay open."""
    said = _argued(asked, parts)
    if said is not None:
        return said
    try:
        found = _by_questions(asked, parts, known)
    except BudgetError:
        said = _argued(asked, parts, few=True)
        if said is None:
            raise
        return said
    if found.upper is not None and found.lower == found.upper:
        return found
    said = _argued(asked, parts, few=True)
    if said is None or (found.upper is not None and _size(found.upper) <= _size(said.upper)):
        return found
    return replace(found, upper=said.upper, engine=said.engine, notes=said.notes)


def _size(upper: Exact | str | None) -> Exact:
    assert upper is not None and not isinstance(upper, str)
    return upper


def _by_questions(asked: Asked, parts: Sequence[Part], known: LossBounds | None) -> LossBounds:
    """Ask for the whole stack; what weighs single records, or is too much, part by part.

    No pair has more than the parts' S added up.
    """
    alone = len(parts) == 1
    if known is not None and known.upper is not None:
        return _once_more(asked, parts, known)
    if alone or not any(part.query.per_record for part in parts):
        try:
            return _one(asked, parts, asked.left())
        except BudgetError:
            if alone or asked.engine != "auto":
                raise
    lower: Exact = 0
    upper: Exact | None = 0
    pair: Pair | None = None
    for number, part in enumerate(parts):
        left = asked.left(Fraction(1, len(parts) - number))
        one = _one(asked, [part], left, whole=False)
        assert not isinstance(one.lower, str) and not isinstance(one.upper, str)
        upper = None if upper is None or one.upper is None else upper + one.upper
        if one.lower > lower:
            lower, pair = one.lower, one.pair
    return LossBounds(
        lower=lower, upper=upper, pair=pair, engine="parts", notes=("the releases added up",)
    )


def _once_more(asked: Asked, parts: Sequence[Part], known: LossBounds) -> LossBounds:
    """Ask for a stack whose groups are known, in a part of the time; add up what is known of them
    where that is less.
    """
    if any(part.query.per_record for part in parts):
        return known
    try:
        found = _one(asked, parts, once_more(asked))
    except BudgetError:
        return known
    if found.upper is None or _size(known.upper) < _size(found.upper):
        found = replace(found, upper=known.upper, notes=(*found.notes, *known.notes))
    if _size(found.lower) < _size(known.lower):
        found = replace(found, lower=known.lower, pair=known.pair)
    return found


def _one(
    asked: Asked, parts: Sequence[Part], limit: float | None, *, whole: bool = True
) -> LossBounds:
    """Ask for a stack; what it does not exceed is told only where it is the `whole` of them."""
    query = stack(parts, L2_SQUARED, asked.policy.domain, name="releases")
    answer = sensitivity(
        asked.policy,
        query,
        reading=asked.reading,
        answers=asked.answers,
        engine=asked.engine,
        time_limit=limit,
        listener=_halving(asked.listener, whole=whole),
    )
    return LossBounds(
        lower=answer.lower,
        upper=answer.upper,
        pair=answer.witness,
        engine=answer.engine,
        notes=answer.notes,
    )


def _halving(listener: Listener | None, *, whole: bool) -> Listener | None:
    """Tell of rho, not of S."""
    if listener is None:
        return None

    def tell(progress: Progress) -> None:
        upper = progress.upper * _HALF if whole and progress.upper is not None else None
        listener(replace(progress, lower=progress.lower * _HALF, upper=upper))

    return tell
