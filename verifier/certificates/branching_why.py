"""What a closed case rests on: the assumption behind each limit.

A case that is closed without the last assumption is closed for the case above it as well, so the
distinction was not needed there and is left out of the proof.
"""

from __future__ import annotations

from dataclasses import dataclass

from blowproof.verifier.kernel.branching import Branch, Case, Replay
from blowproof.verifier.kernel.counts import Row, Terms

__all__ = ["Why", "enter", "reasons"]


@dataclass
class Why:
    """Which assumption (a number above 0; 0: the problem itself) gave each limit, and each sign."""

    low: list[int]
    high: list[int]
    least: dict[int, int]
    most: dict[int, int]
    signs: frozenset[int]

    @staticmethod
    def nothing(width: int) -> Why:
        """Return the reasons at the root."""
        return Why([0] * width, [0] * width, {}, {}, frozenset())


def enter(
    replay: Replay, case: Branch, why: Why, child: Case, ident: int
) -> tuple[tuple[Branch, Why] | None, set[int]]:
    """Return a case of a case with its reasons; or None, and the assumptions that close it."""
    assumptions, turned = child
    below = replay.case(case, ([], turned))
    assert below is not None
    signs = why.signs | {ident} if turned else why.signs
    why = Why(list(why.low), list(why.high), dict(why.least), dict(why.most), signs)
    for assumption in assumptions:
        needs = _assume(replay, below, why, assumption, ident)
        if needs is not None:
            return None, needs - {0}
    return (below, why), set()


def _assume(replay: Replay, case: Branch, why: Why, assumption: Row, ident: int) -> set[int] | None:
    """Make an assumption; return what it clashes with, itself included, or None."""
    terms = assumption[0]
    if terms and terms[0][1] < 0:
        terms = tuple((variable, -times) for variable, times in terms)
    if len(terms) == 1:
        v = terms[0][0]
        before = case.low[v], case.high[v]
        fits = replay.assume(case, assumption)
        why.low[v] = ident if case.low[v] != before[0] else why.low[v]
        why.high[v] = ident if case.high[v] != before[1] else why.high[v]
        return None if fits else {why.low[v], why.high[v]}
    old = case.limits.get(replay.number.get(terms, -1), (None, None))
    fits = replay.assume(case, assumption)
    place = replay.number[terms]
    if case.limits[place][0] != old[0]:
        why.least[place] = ident
    if case.limits[place][1] != old[1]:
        why.most[place] = ident
    return None if fits else _clash(replay, case, why, place)


def _clash(replay: Replay, case: Branch, why: Why, place: int) -> set[int]:
    """Return the assumptions that leave nothing to a row."""
    low, high = case.limits[place]
    least, most = why.least.get(place, 0), why.most.get(place, 0)
    if low is not None and high is not None and low > high:
        return {least, most}
    terms = replay.rows[place]
    top = _greatest(case, terms)
    if low is not None and top is not None and top < low:
        return {least} | _ends(why, terms, 1)
    return {most} | _ends(why, terms, -1)


def reasons(
    replay: Replay, case: Branch, why: Why, goal: int, multiples: list[tuple[int, int]]
) -> set[int]:
    """Return the assumptions that a leaf rests on."""
    total = {variable: goal * times for variable, times in case.goal.items()}
    found: set[int] = set(why.signs) if goal else set()
    for place, times in multiples:
        found.add((why.least if times > 0 else why.most).get(place, 0))
        for variable, number in replay.rows[place]:
            total[variable] = total.get(variable, 0) + times * number
    found |= _ends(why, tuple(total.items()), 1)
    return found - {0}


def _greatest(case: Branch, terms: Terms) -> int | None:
    total = 0
    for variable, times in terms:
        end = case.high[variable] if times > 0 else case.low[variable]
        if end is None:
            return None
        total += times * end
    return total


def _ends(why: Why, terms: Terms, sign: int) -> set[int]:
    """Return what gave the limits that decide a form's greatest (or least) value."""
    return {
        (why.high if sign * times > 0 else why.low)[variable] for variable, times in terms if times
    }
