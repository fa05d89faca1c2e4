"""Cumulative counts by classes and their widths, instead of one value after the other.

*Statement.* Readings 1 and 2, equality facts. Let w_c be the width of class c on the attribute (its
last position less its first), and v_c the mean of the query's rows at these two ends. Then S of the
cumulative histogram is at most half of the largest sum of w_c + w_d over the moves (from c to d) of
an irreducible multiset, plus what such a multiset changes the query by that has v_c in each class.

*Proof.* A pair's moves are an irreducible multiset, for each G (see `complete_graph`), and S(given)
<= S(any). The row of a value x of c has 1 from x on, and v_c has 1/2 between the ends of c; so they
differ by 1/2 in as many places as c is wide: |row(x) - v_c| = w_c / 2. A move from x in c to y in d
changes f by row(y) - row(x) = (row(y) - v_d) + (v_d - v_c) + (v_c - row(x)). Added up over the
moves, the middle terms are the change of the query with v_c in each class. QED.

*In other norms* sizes do not add up, but their lengths do (`models.norms`; in squares the roots). A
row less v_c has 1/2 in w_c places: w_c / 4 in l2-squared, 1/2 in linf; in range it may have -1/2 in
others as well, if w_c > 1. So the length of twice the change is at most that of the ends of an
irreducible multiset, added up, and of what its middles change twice; and what that allows, divided
by 2 (by 4 in squares), is no less than S, which is whole. A weight multiplies S.

Where facts know the attribute's classes, the middle terms cancel, and nothing is lost by the rest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from blowproof.models import BoundQuery, Exact, Point, Setting
from blowproof.models.base.numbers import plain
from blowproof.models.domain.classes import ValueClass
from blowproof.models.norms import L1, RANGE, Norm
from blowproof.models.queries.query import Row
from blowproof.models.stacks.stacked import ONE, Part, Stacked
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.engines.irreducibles import longest
from blowproof.verifier.engines.search.effects import SEARCH_EFFECTS, EffectTable
from blowproof.verifier.engines.search.engine import multiset_sensitivity
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.reductions.complete_graph import complete_setting
from blowproof.verifier.reductions.few_values import possible_classes
from blowproof.verifier.reductions.fewer_facts import freed

__all__ = ["by_ends", "weighted_prefixes"]

LONGEST_AXIS = whole_limit(__name__, "LONGEST_AXIS")


@dataclass(frozen=True, repr=False)
class _Middles(BoundQuery):
    """Twice the mean of the cumulative rows at both ends of a value's class."""

    size: int
    ends: dict[Point, tuple[int, int]] = field(hash=False)
    name: str = "middles"

    @property
    def longest_row(self) -> int:
        """The number of prefixes."""
        return self.size

    def row(self, point: Point) -> Row:
        """One record adds 1 from the first end on, and 1 more from the last end on."""
        low, high = self.ends[point]
        return {place: 1 if place < high else 2 for place in range(low, self.size)}


def weighted_prefixes(query: BoundQuery) -> tuple[int, Fraction] | None:
    """Return the axis of cumulative counts that all have one weight, and the weight; else None."""
    if isinstance(query, Stacked):
        part, *others = query.parts
        axis = part.query.prefix_axis
        return None if others or axis is None or not part.uniform else (axis, part.weights[0])
    return None if query.prefix_axis is None else (query.prefix_axis, Fraction(1))


def by_ends(question: Question) -> Answer | None:
    """Return an upper bound on S of a cumulative histogram, and the moves that it comes from.

    Readings 1 and 2, equality facts. None where the axis is too long, or the classes too many.
    """
    norm, setting = question.query.measure, question.setting
    found_axis = weighted_prefixes(question.query)
    assert found_axis is not None
    axis, weight = found_axis
    size = setting.domain.attribute(axis).size
    free = _free(setting)
    half = question.by(1 / 2)
    if size > LONGEST_AXIS:
        return None
    ends: dict[Point, tuple[int, int]] = {}
    for item in possible_classes(free, [], deadline=half):
        ends |= dict.fromkeys(item.take(2), _ends(item, axis))
    moves = Moves.over(
        free,
        _middles(norm, size, ends),
        question.reading,
        tuple(ends),
        seed=question.seed,
        deadline=half,
    )
    table = EffectTable.of(moves)
    if table.widest > SEARCH_EFFECTS:
        return None

    def width(kind: Kind) -> int:
        return sum(
            norm.length(_end(norm, ends[x])) for x in (kind.before, kind.after) if x is not None
        )

    widest = [max(kinds, key=width) for kinds in table.kinds]
    around = max(map(width, table.idle), default=0)
    pair: Pair | None = None
    if table.effects:
        weights = [width(kind) for kind in widest]
        found = longest(table.effects, weights, time_limit=question.left)
        if found.upper is None:
            return None
        around = max(around, int(found.upper))
        chosen = Counter({widest[place]: times for place, times in found.witness})
        pair = moves.pair(chosen, Counter()) if chosen else None
    middles = multiset_sensitivity(moves, time_limit=question.left).upper
    if middles is None:
        return None
    twice = norm.most(around + norm.length(int(middles)))
    upper: Exact = plain(weight * (twice // 2**norm.degree))
    why = "half the widths of the classes, added up over the moves, and what their middles change"
    return question.answer(0, upper, why, witness=pair if free is setting else None)


def _free(setting: Setting) -> Setting:
    """Return the setting for any answers, with full secrets."""
    free = freed(setting) if setting.scope == "given" else setting
    return free if free.graph.complete else complete_setting(free)


def _ends(item: ValueClass, axis: int) -> tuple[int, int]:
    """Return the first and the last position of a class on an axis."""
    runs = [run for box in item.boxes() for run in box.sides[axis].runs]
    return min(low for low, _ in runs), max(high for _, high in runs) - 1


def _end(norm: Norm, ends: tuple[int, int]) -> int:
    """Return the size of twice what a row of a class differs by from the mean of both ends."""
    width = ends[1] - ends[0]
    return min(width, 2) if norm is RANGE else int(norm.of([(1, width)]))


def _middles(norm: Norm, size: int, ends: dict[Point, tuple[int, int]]) -> BoundQuery:
    middles = _Middles(size, ends)
    return middles if norm is L1 else Stacked((Part(middles, ONE),), "middles", norm, size)
