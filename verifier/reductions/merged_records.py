"""Scope "given" with clauses: the records that clauses need, merged into one move.

Write u for the moves from D1 to D2, as in `conformal_parts`. For each clause, choose a record r
that makes it true in D1 and a record r' that makes it true in D2, the same one if any record does
both (all others then count for nothing). Where no record does, both move: r from true to false, r'
from false to true. Let R be the set of these r and r'; there are two at most for each clause.

*A part of u that moves all of R or none of it keeps every clause.* If it moves none, each r is
where it is in D1; if it moves all, each r' is where it is in D2.

Take R as one move, whose effect on equalities and bounds is the sum of its moves' effects. *Then u
has no two conformal parts* (as defined in `conformal_parts`), in any of the readings 1 and 2, with
any G: both parts keep the clauses, because one moves all of R and the other none, and both keep the
bounds; so both are in I_Q, and one of them is a D3. For G complete, or the reading 2, one bound
with one end may be left out, as there: the two parts do not break the same end. So u, R merged, is
irreducible for the equalities and rows, once rows are closed by slack. If R is empty, it is an
irreducible multiset of moves; else the moves outside R are irreducible together with one element
more, the sum of R (`irreducibles.search_from`). S is at most the largest weight of these, the
weights of R's moves added. A weight is a length of the norm (`models.norms`): lengths of moves add
up to one of all of them, so that what `Score.most` says of the largest holds in every norm.

What R's sum can be is a matter of the literals: r leaves values at which it makes its clause true,
and r' enters some. A record may serve several clauses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product
from operator import add

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Setting
from blowproof.models.base.clock import now
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.engines.irreducibles.search_from import Started
from blowproof.verifier.engines.irreducibles.symmetry import automorphisms
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.exact.coordinates import Instance, parts
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = [
    "Heaviest",
    "JointSums",
    "Needs",
    "heaviest_merged",
    "joint_sums",
    "merged_rows",
    "movers",
    "needs_of",
]

Vector = tuple[int, ...]
Needs = Mapping[int, tuple[tuple[int, bool], ...]]
"""For each record of R the clauses it serves, by place, each with whether it begins to do so."""

MOST_SUMS = whole_limit(__name__, "MOST_SUMS")
MOST_STEPS = whole_limit(__name__, "MOST_STEPS")
MOST_CHOICES = whole_limit(__name__, "MOST_CHOICES")


def merged_rows(setting: Setting, reading: Reading) -> tuple[int, ...] | None:
    """Return the rows (bounds, by place) in which parts are conformal once R is merged.

    None where the theorem does not apply: without clauses there is nothing to merge, and in the
    readings 3 and 4 records have no numbers.
    """
    if not setting.clauses or not is_labelled(reading):
        return None
    every = tuple(range(len(setting.bounds)))
    if reading == "published" and not setting.graph.complete:
        return every
    ends = [(fact.at_least is not None) + (fact.at_most is not None) for fact in setting.bounds]
    single = next((place for place in every if ends[place] == 1), None)
    return tuple(place for place in every if place != single)


def needs_of(setting: Setting) -> list[Needs] | None:
    """Return every choice of R and what its records do for the clauses; None: too many."""
    choices: list[list[tuple[int, ...]]] = []
    for clause in setting.clauses:
        records = sorted(set(clause.records))
        choices.append([(), *permutations(records, 2)])
    found: dict[tuple[tuple[int, tuple[tuple[int, bool], ...]], ...], None] = {}
    for number, choice in enumerate(product(*choices)):
        if number > MOST_CHOICES:
            return None
        needs: dict[int, list[tuple[int, bool]]] = {}
        for place, pair in enumerate(choice):
            for record, begins in zip(pair, (False, True), strict=False):
                needs.setdefault(record, []).append((place, begins))
        found[tuple((r, tuple(tasks)) for r, tasks in sorted(needs.items()))] = None
    return [dict(item) for item in found]


def movers(moves: Moves, needs: Needs) -> dict[int, list[Kind]]:
    """Return for each record of R the kinds of moves that it may make."""
    setting = moves.setting
    truth = {
        (place, record, x): setting.clauses[place].served_by(record, x)
        for record, tasks in needs.items()
        for place, _ in tasks
        for x in moves.values
    }
    return {
        record: [
            kind
            for kind in moves.kinds
            if kind.before is not None
            and kind.after is not None
            and all(
                truth[place, record, kind.after] == begins
                and truth[place, record, kind.before] != begins
                for place, begins in tasks
            )
        ]
        for record, tasks in needs.items()
    }


@dataclass
class JointSums:
    """The sums that R can have: for each the largest length, effects (by place; -1 is one that the
    table lacks) that add up, and the choices of R that have it.
    """

    weights: dict[Vector, int] = field(default_factory=dict)
    members: dict[Vector, tuple[int, ...]] = field(default_factory=dict)
    needs: dict[Vector, list[Needs]] = field(default_factory=dict)

    def note(self, total: Vector, weight: int, members: tuple[int, ...]) -> None:
        """Keep the largest weight for each sum."""
        if weight > self.weights.get(total, -1):
            self.weights[total], self.members[total] = weight, members


def joint_sums(
    moves: Moves, table: EffectTable, rows: Sequence[int], *, deadline: float
) -> JointSums | None:
    """Return the sums that R can have on equalities and rows, unless they are too many.

    None, too, if they are not all there by the deadline (a time of `now`).
    """
    choices = needs_of(moves.setting)
    if choices is None:
        return None
    choices = [needs for needs in choices if needs]
    where = {effect: place for place, effect in enumerate(table.effects)}
    result = JointSums()
    for needs in choices:
        sums = JointSums()
        sums.note((0,) * (len(moves.setting.equalities) + len(rows)), 0, ())
        for kinds in movers(moves, needs).values():
            alone: dict[Vector, int] = {}
            for kind in kinds:
                effect = kind.effect + tuple(kind.push[row] for row in rows)
                alone[effect] = max(alone.get(effect, 0), kind.length)
            longer = JointSums()
            if now() > deadline or len(sums.weights) * len(alone) > MOST_STEPS:
                return None
            for total, weight in sums.weights.items():
                for effect, more in alone.items():
                    members = sums.members[total]
                    members = (*members, where.get(effect, -1)) if any(effect) else members
                    longer.note(tuple(map(add, total, effect)), weight + more, members)
            sums = longer
            if len(sums.weights) > MOST_SUMS:
                return None
        for total, weight in sums.weights.items():
            result.note(total, weight, sums.members[total])
            result.needs.setdefault(total, []).append(needs)
        if len(result.weights) > MOST_SUMS:
            return None
    return result


@dataclass
class Heaviest:
    """The largest length of R and what is irreducible with its sum, for each sum searched."""

    by_sum: dict[Vector, int] = field(default_factory=dict)
    complete: bool = False

    @property
    def most(self) -> int:
        """The largest so far; it bounds all if `complete`."""
        return max(self.by_sum.values(), default=0)


def heaviest_merged(
    table: EffectTable, sums: JointSums, *, ceiling: int | None, seconds: float
) -> Heaviest:
    """Return the largest lengths of R and what is irreducible with its sum, for R not empty.

    It stops at `ceiling`, a length from which on it says nothing new, or when the time is up.
    """
    end = now() + seconds
    divided = [_Part(table, places) for places in parts(table.effects)]
    result = Heaviest()
    for total in sorted(sums.weights, key=lambda one: -len(sums.members[one])):
        weight = sums.weights[total]
        for part in divided:
            best = part.heaviest(sums.members[total], end)
            if best is None:
                return result
            weight += best
        result.by_sum[total] = weight
        if ceiling is not None and weight >= ceiling:
            return result
    result.complete = True
    return result


class _Part:
    """Effects that have nothing to do with the others, and what was found for them."""

    def __init__(self, table: EffectTable, places: Sequence[int]) -> None:
        self.effects = [table.effects[place] for place in places]
        self.weights = [table.weights[place] for place in places]
        self.place = {place: number for number, place in enumerate(places)}
        self.instance = Instance.of(self.effects, self.weights)
        self.found: dict[bytes, int] = {}
        self._permutations: NDArray[np.int32] | None = None

    def heaviest(self, members: Sequence[int], end: float) -> int | None:
        """Return the largest weight of what is irreducible with the sum of some effects."""
        own = [self.place[place] for place in members if place in self.place]
        vectors = self.instance.vectors
        total = vectors[own].sum(axis=0)
        if not own or not total.any():
            return 0
        if total.tobytes() in self.found:
            return self.found[total.tobytes()]
        if self._permutations is None:
            begun = now()
            share = max(0.0, end - begun) / 4
            self._permutations = automorphisms(self.instance, end=begun + share)
        left = end - now()
        if left <= 0:
            return None
        start = tuple(map(sum, zip(*(self.effects[place] for place in own), strict=True)))
        search = Started(
            self.effects, self.weights, start, rising=True, symmetry=True, time_limit=left
        )
        best = max((int(weight) for weight, _ in search), default=0)
        if not search.complete:
            return None
        images = sum(vectors[self._permutations[:, place]] for place in own)
        for image in np.asarray(images, dtype=vectors.dtype):
            self.found[image.tobytes()] = best
        return best
