"""What a closed case rests on: the assumption behind each limit.

A case that is closed without the last assumption is closed for the case above it as well, so the
distinction was not needed there and is left out of the proof.
"""

from __future__ import annotations

from dataclasses import dataclass

from blowproof.verifier.kernel.goal import Row, Terms
from blowproof.verifier.proofs.cases.state import Branch, Case, State

__all__ = ["Why", "enter", "reasons", "suppose"]


@dataclass
class Why:
    """Which assumption (a number above 0; 0: the problem itself) gave each limit, and which ones
    (`signs`) the goal's row rests on.
    """

    low: list[int]
    high: list[int]
    least: dict[int, int]
    most: dict[int, int]
    signs: frozenset[int]

    @staticmethod
    def nothing(width: int) -> Why:
        """Return the reasons at the root."""
        return Why([0] * width, [0] * width, {}, {}, frozenset())

    def copy(self, signs: frozenset[int]) -> Why:
        """Return reasons that can be changed without changing these."""
        return Why(list(self.low), list(self.high), dict(self.least), dict(self.most), signs)


def enter(
    state: State, case: Branch, why: Why, child: Case, ident: int
) -> tuple[tuple[Branch, Why] | None, set[int]]:
    """Return a case of a case with its reasons; or None, and the assumptions that close it."""
    assumptions, told = child
    below = state.case(case, ([], told))
    assert below is not None
    why = why.copy(why.signs if told is None else why.signs | {ident})
    for assumption in assumptions:
        needs = suppose(state, below, why, assumption, ident)
        if needs is not None:
            return None, clash(why, below, state, needs) - {0}
    return (below, why), set()


def suppose(
    state: State, case: Branch, why: Why, assumption: Row, ident: int
) -> list[tuple[int, int]] | None:
    """Make an assumption; return the sum of rows that it contradicts, or None.

    Multiples of rows by number, as in a leaf; a variable's own limits count as they always do.
    """
    terms = assumption[0]
    if len(terms) == 1:
        v = terms[0][0]
        before = case.low[v], case.high[v]
        fits = state.assume(case, assumption)
        why.low[v] = ident if case.low[v] != before[0] else why.low[v]
        why.high[v] = ident if case.high[v] != before[1] else why.high[v]
        return None if fits else [(-1 - v, 1)]
    place, _ = state.place(terms)
    old = case.limits.get(place, (None, None))
    fits = state.assume(case, assumption)
    low, high = case.limits[place]
    if low != old[0]:
        why.least[place] = ident
    if high != old[1]:
        why.most[place] = ident
    if fits:
        return None
    if low is not None and high is not None and low > high:
        return [(place, 1), (place, -1)]
    top = greatest(case, state.rows[place])
    return [(place, 1)] if low is not None and top is not None and top < low else [(place, -1)]


def clash(why: Why, case: Branch, state: State, multiples: list[tuple[int, int]]) -> set[int]:
    """Return the assumptions behind what `suppose` returned."""
    if multiples[0][0] < 0:
        v = -1 - multiples[0][0]
        return {why.low[v], why.high[v]}
    return reasons(state, case, why, 0, multiples)


def reasons(
    state: State, case: Branch, why: Why, goal: int, multiples: list[tuple[int, int]]
) -> set[int]:
    """Return the assumptions that a leaf rests on."""
    total = {variable: goal * times for variable, times in case.goal.items()}
    found: set[int] = set(why.signs) if goal else set()
    for place, times in multiples:
        found.add((why.least if times > 0 else why.most).get(place, 0))
        for variable, number in state.rows[place]:
            total[variable] = total.get(variable, 0) + times * number
    for variable, times in total.items():
        if times:
            found.add((why.high if times > 0 else why.low)[variable])
    return found - {0}


def greatest(case: Branch, terms: Terms) -> int | None:
    """Return the greatest value of a form between the variables' limits."""
    total = 0
    for variable, times in terms:
        end = case.high[variable] if times > 0 else case.low[variable]
        if end is None:
            return None
        total += times * end
    return total
