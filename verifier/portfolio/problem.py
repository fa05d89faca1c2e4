"""A policy under one scope, whose questions share what is derived from it and what they find.

Questions about one policy are related: a neighbour pair is one whatever the query, so that the
worst pair of one question is a lower bound for all others in its reading; and what bounds the
change of the histogram bounds the change of everything that is computed from it (`travelled`).
An audit asks all its questions of one `Problem`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import floor

from blowproof.models import BlowproofError, BoundQuery, Exact, Policy, Setting, setting
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.portfolio.bounds import Bounds
from blowproof.verifier.portfolio.related import Known, fits
from blowproof.verifier.theorems.most_moves import largest_move

__all__ = ["Problem", "same_pairs", "travelled"]


class Problem:
    """A policy under one scope (None: its own), prepared once for each kind of reading."""

    def __init__(self, policy: Policy, answers: Answers | None = None) -> None:
        self.policy, self.answers = policy, answers
        self._bare: Setting | None = None
        self._prepared: dict[bool, Setting] = {}
        self.known: dict[tuple[Reading, BoundQuery], Bounds] = {}
        self.abroad: tuple[Known, ...] = ()
        """What questions about other policies say about this one (see `related`)."""

    def setting(self, reading: Reading, *, deadline: float | None = None) -> Setting:
        """Return the setting with every number that the reading needs."""
        labelled = is_labelled(reading)
        if labelled not in self._prepared:
            if self._bare is None:
                self._bare = setting(self.policy, self.answers)
            found = prepare(self._bare, reading, deadline=deadline)
            if found.unchecked is not None:
                return found  # there may be more time the next time
            self._prepared[labelled] = found
        return self._prepared[labelled]

    def about(self, reading: Reading, query: BoundQuery) -> Bounds:
        """Return what is known of a question that was asked before."""
        return self.known.get((reading, query), Bounds())

    def remember(self, reading: Reading, query: BoundQuery, found: Bounds) -> None:
        """Keep what a question has found, for those that follow."""
        self.known[reading, query] = self.about(reading, query).meet(found)


def same_pairs(setting: Setting, reading: Reading) -> Reading:
    """Return reading 1 where it has the same pairs as this one, else the reading itself.

    With a complete G every changed record makes a secret move, so that T(D1, D2) is all that
    changes: reading 1 and reading 2 both say that no proper part of it leads into I_Q. With
    equalities besides, reading 5's pairs are these too (SEMANTICS, section 2).

    >>> from blowproof.models import Count, Domain, Labels
    >>> policy = Policy(domain=Domain(a=Labels(["x", "y"])), known=(Count({"a": "x"}),))
    >>> same_pairs(setting(policy), "secret-moves"), same_pairs(setting(policy), "add-remove")
    ('published', 'add-remove')
    """
    if not setting.graph.complete:
        return reading
    if reading == "pufferfish" and (setting.bounds or setting.clauses):
        return reading
    return "published" if reading in ("secret-moves", "pufferfish") else reading


def travelled(
    problem: Problem, found: Setting, reading: Reading, query: BoundQuery
) -> tuple[Exact | None, str, list[Pair]]:
    """Return an upper bound from other questions (None: none), why, and pairs to try.

    Let d be the change of the histogram between two neighbours. If g is a query with a row for each
    value, g changes by the sum over values of d(x) g(x). Where records stay as many, d is a sum of
    |d|_1 / 2 transfers of one record from a value to another, each of which changes g by at most
    the largest change c of one move; else of |d|_1 records more or less. So S(g) <= c S(h) / 2, or
    c S(h), where S(h) is the histogram's; in l2-squared, the square of the number of transfers
    times c (see `Norm.repeated`). So it is with the change of a marginal in the place of the
    histogram's, if its attributes determine g: records go from cell to cell. A marginal of fewer
    attributes adds up cells of one with more, so it changes by no more (the triangle inequality).

    A pair of reading 1 or 2 is one of reading 5, whatever the facts: no part of its changes without
    one secret move leads from D2 back into I_Q, so that equal weights on the changes (see
    `neighbours/joint_certainty`) leave an attacker certain of both. So pairs travel from readings 1
    and 2 to reading 5, and upper bounds the other way. A pair of any reading in which at most four
    cells of the histogram change, by 1 each, is one of reading 4, which asks for no more.
    """
    pairs: list[Pair] = []
    best: Exact | None = None
    why, move = "", _Move(found, reading, query)
    for (other_reading, other), bounds in problem.known.items():
        wider = reading == "pufferfish" and is_labelled(other_reading)
        narrower = other_reading == "pufferfish" and is_labelled(reading)
        if other_reading == reading and other == query:
            continue
        pair = bounds.pair
        if pair is not None and query.per_record and pair.records is None:
            pair = None  # it does not say which record makes which move
        if pair is not None and reading == "markov" != other_reading:
            pair = None if found.clauses else _of_few_cells(pair)
            wider = True
        if pair is not None and pair not in pairs and (other_reading == reading or wider):
            pairs.append(pair)
        if other_reading != reading and not narrower:
            continue
        upper = (
            None
            if bounds.upper is None
            else _from(found, reading, query, other, bounds.upper, move)
        )
        if upper is not None and (best is None or upper < best):
            best, why = upper, f"S({other.name}) is at most {bounds.upper}"
    for known in problem.abroad:
        if known.reading != reading:
            continue
        if known.pair is not None and known.pair not in pairs and fits(found, known.pair):
            pairs.append(known.pair)
        upper = None
        if known.upper is not None:
            upper = _from(found, reading, query, known.query, known.upper, move)
        if upper is not None and (best is None or upper < best):
            best, why = upper, f"S({known.query.name}) is at most {known.upper} under {known.name}"
    return best, why, pairs


def _of_few_cells(pair: Pair) -> Pair | None:
    """Return a pair as two histograms, where they differ in at most four cells by 1 each."""
    found = Pair.multisets(pair.before, pair.after)
    changed = (*found.before, *found.after)
    if not 0 < len(changed) <= 4 or len(set(changed)) < len(changed):
        return None
    rest = Counter(dict(pair.unchanged)) + Counter(dict(found.unchanged))
    return replace(found, unchanged=tuple(sorted(rest.items())))


class _Move:
    """The largest change of a query by one move, worked out once, where somebody asks for it."""

    def __init__(self, found: Setting, reading: Reading, query: BoundQuery) -> None:
        self.asked = found, query, "published" if is_labelled(reading) else reading
        self.told: list[Exact | None] = []

    def most(self) -> Exact | None:
        """Return it; None where it is not known."""
        if not self.told:
            found, query, reading = self.asked
            try:
                self.told.append(largest_move(found, query, reading))
            except (BlowproofError, OverflowError):
                self.told.append(None)
        return self.told[0]


def _from(
    found: Setting, reading: Reading, query: BoundQuery, other: BoundQuery, upper: Exact,
    move: _Move,
) -> Exact | None:  # fmt: skip
    """Return what S of another query says about this one."""
    if query == other:
        return upper
    if query.per_record or other.per_record:
        return None
    told = [upper] if query.adds_up(other) else []
    axes = other.counts_by(found.domain)
    if axes is not None and query.axes_read(found.domain) <= axes:
        bound = _from_histogram(reading, query, upper, move)
        told += [] if bound is None else [bound]
    return min(told, default=None)


def _from_histogram(reading: Reading, query: BoundQuery, upper: Exact, move: _Move) -> Exact | None:
    """Return what S(histogram) <= upper says about another query; None: nothing.

    A marginal may stand for the histogram where its attributes determine the other query.
    """
    one = move.most()
    if one is None:
        return None
    if query.measure is L1:
        return plain(Fraction(upper) * Fraction(one) / (2 if is_labelled(reading) else 1))
    # A whole number of transfers.
    transfers = floor(Fraction(upper) / (2 if is_labelled(reading) else 1))
    return query.measure.repeated(one, transfers)
