"""Scope "given" with bounds or clauses: what a neighbour pair's moves look like.

Write u for the moves from D1 to D2, A u = 0 for the equalities and B u for what the rows of the
bounds change by. A *part* is a multiset v inside u with A v = 0. Parts v_1, ..., v_k that make up u
are *conformal* if no row of B rises by one of them and falls by another. The numbers of D1 + v_J,
for any union J of them, then lie between those of D1 and of D2, so D1 + v_J keeps every bound.

*No clauses: no two conformal parts v, w make up u.* For D1 + v and D1 + w are in I_Q. In readings 2
and 3 each is a D3. In reading 1, if both have secret moves, each is one by 3(a); if v has none, D1
+ w is one by 3(b). So u is irreducible for the equalities and the rows of B together, once each
row is closed by *slack* moves of effect +-e_i. This bounds |u| whatever n is.

*One end less.* Let G be complete, or the reading 2 or 3. If u = v + w, neither D1 + v nor D1 + w
is in I_Q, or it would be a D3. Take one end of one bound, say row >= l: v and w do not both break
it. With x = (the row of D1) - l, x + p_v < 0 and x + p_w < 0 would add up to 2 x + p_u < 0, but
x >= 0 and x + p_u >= 0. So v breaks one end and w another one. Hence, if some bound has one end
only, u has no two parts that are conformal in the other rows: that row may be left out. A policy
whose only bound has one end has the irreducible multisets of the equalities.

*Ends far apart.* Let no part of u change the row of a bound by more than K. If it has two ends, 2 K
apart or more, D1 is K or more away from one of them, which no part breaks: as far as this pair is
concerned the bound has one end only, and its row may be left out as well. Let a move change the row
by no more than w: if no pair makes more than L moves, K = w L. If L counts slack moves of this row,
too, then K = w L / 2: with slack, what rises is as much as what falls.

*Clauses.* For each of c clauses take a record r that makes it true in D1, and one, r', in D2. Let G
be complete, or the reading 2. A part that moves no r leads from D1 to where every clause is true;
so if u has k >= 2 conformal parts, each moves an r, and k <= c. In reading 1 with another G, a part
that moves neither an r nor an r' may be left out or be all that is done: k <= 2 c. (Reading 3: some
numbering must satisfy the clauses. Where w records of one value are among the r of D1, which holds
m of them, a part is in the way if it removes m - w + 1 or more, which at most w parts can do.)

*One end and one clause* (G complete, or reading 2): u has at most two parts, conformal or not. For
if u = v + w, each breaks the end or the clause. What breaks the clause moves r and not r'; so v and
w do not both break it, and not both break the end: one breaks this and one that. Of three or more
parts, take one that moves neither r nor r', or else (r and r' moved by one part) any: it and what
is left both keep the clause, so both break the end, which cannot be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blowproof.models import Setting
from blowproof.models.policy.readings import Reading
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["Parts", "all_parts_of", "conformal_table", "other_parts_of", "parts_of"]


@dataclass(frozen=True)
class Parts:
    """A theorem: the moves of a neighbour pair are at most `most` irreducible parts.

    Irreducible for the equalities and the bounds' `rows` (by place), with slack.
    """

    rows: tuple[int, ...]
    most: int


def parts_of(setting: Setting, reading: Reading) -> Parts | None:
    """Return what the moves of a neighbour pair of scope "given" are made of, if a theorem says it.

    >>> from blowproof.models import Count, Domain, Labels, Policy, setting
    >>> known = (Count({"sex": "F"}, at_least=3),)
    >>> policy = Policy(domain=Domain(sex=Labels(["F", "M"])), known=known)
    >>> parts_of(setting(policy), "published")
    Parts(rows=(), most=1)
    """
    clauses = len(setting.clauses)
    every = tuple(range(len(setting.bounds)))
    if reading == "markov" or (reading == "pufferfish" and clauses):
        return None
    if reading == "pufferfish":  # either part leads from D1, and back from D2, into I_Q
        return Parts(every, 1)
    if reading == "published" and not setting.graph.complete:
        return Parts(every, max(1, 2 * clauses))
    ends = [(f.at_least is not None) + (f.at_most is not None) for f in setting.bounds]
    if clauses:
        return Parts((), 2) if sum(ends) + clauses == 2 else Parts(every, clauses)
    single = next((place for place in every if ends[place] == 1), None)
    return Parts(tuple(place for place in every if place != single), 1)


def all_parts_of(
    setting: Setting, reading: Reading, lengths: Mapping[Parts, int] | None = None
) -> list[Parts]:
    """Return the theorem for every bound of one end that it may leave out, the first one first.

    `lengths`: how many moves there are at the most, slack included, by what is known of parts.
    Bounds whose ends are far apart then count as bounds of one end.
    """
    found = parts_of(setting, reading)
    if found is None or setting.clauses or reading not in ("published", "secret-moves"):
        return [] if found is None else [found]
    if reading == "published" and not setting.graph.complete:
        return [found]
    every = range(len(setting.bounds))
    single = [k for k in every if _one_ended(setting, k, lengths or {})]
    return [Parts(tuple(k for k in every if k != one), 1) for one in single] or [found]


def _one_ended(setting: Setting, place: int, lengths: Mapping[Parts, int]) -> bool:
    """Whether a bound has one end, or two of which no pair of so many moves reaches both."""
    bound = setting.bounds[place]
    if bound.at_least is None or bound.at_most is None:
        return True
    twice = [most if place in part.rows else 2 * most for part, most in lengths.items()]
    twice += [] if setting.size is None else [2 * setting.size]
    one_move = sum(abs(times) for times, _ in bound.terms)
    return bool(twice) and bound.at_most - bound.at_least >= one_move * min(twice)


def other_parts_of(setting: Setting, reading: Reading) -> Parts | None:
    """Return the theorem that `parts_of` leaves out, for one end and one clause in reading 3: with
    the row of the bound there is one part only. (In the other readings `merged_records` says more.)
    """
    one_of_each = len(setting.clauses) == 1 == len(setting.bounds)
    if reading == "add-remove" and one_of_each and parts_of(setting, reading) == Parts((), 2):
        return Parts((0,), 1)
    return None


def conformal_table(moves: Moves, rows: Sequence[int]) -> EffectTable:
    """Return the kinds of moves by their effect on the equalities and on some rows, with slack.

    A slack move is a kind that moves nothing and changes nothing.
    """
    found: dict[tuple[int, ...], list[Kind]] = defaultdict(list)
    for kind in moves.kinds:
        found[kind.effect + tuple(kind.push[row] for row in rows)].append(kind)
    nothing = (0,) * len(moves.setting.equalities)
    still = (0,) * len(moves.setting.bounds)
    slack = Kind(None, None, False, nothing, still, {}, moves.score, 0, 0)
    for place in range(len(rows)):
        for sign in (1, -1):
            unit = tuple(sign * (place == other) for other in range(len(rows)))
            found[nothing + unit].append(slack)
    return EffectTable.by_effect(found)
