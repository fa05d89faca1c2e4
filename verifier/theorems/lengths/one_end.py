"""One bound of one end, and edges of G that change no other known number: one secret move, and a
cycle of plain moves that makes up for it.

*Statement.* Reading 1, scope "given", equality facts, one bound with one end, no clauses; no edge
of G between possible values changes an equality. Let the *height* of a value be its coefficient in
the bound's row, with the sign that makes the bound an upper end, and l the most that it rises along
an edge. Then a pair is a single secret move; or a secret move that rises, together with no more
than l irreducibles for the equalities, of plain moves, each of which lowers the row.

*Proof.* Let s >= 0 be what D1 leaves below the end, and u the moves of a pair, of total height h <=
s. Let e be a secret move among them, of height h_e. It changes no equality. If h_e <= s, then D1 +
e is in I_Q: by 3(a) it is the only secret move, by 3(b) the only move. Else every secret move of
the pair has a height above s, and rises. Were there two of them, then e and all plain moves would
have the height h less the others', below s, and lead into I_Q with fewer secret moves, against
3(a). So e is the only one, h_e > s, and the plain moves have no effect on the equalities: cut them
into irreducibles C_1, ..., C_k, of heights c_j. There is one, for e alone breaks the end. Leave out
C_j: by 3(b) what is left breaks the end, h - c_j > s >= h, so that each c_j is -1 or less. And h_e
+ (sum of the others) = h - c_j > s >= 0, where each of the k - 1 others is -1 or less: k - 1 < h_e
<= l. QED.

*And back.* If l = 1, and signatures for the equalities are independent (`simple_cycles`), then each
secret move of height 1, in a D1 that meets the end exactly, and any simple cycle of plain moves
that lowers the row, of other records, are a pair: the secret move alone breaks the end, and no
proper part of the cycle changes no equality. Arcs between different classes are plain, since they
change an equality.

*How much a query changes.* The secret move changes it by no more than E, what an edge does, and the
cycles by what `by_kind` says of so many exchanges. A query of one number, where l = 1 and
signatures are independent: for both signs t, the most of t f along an edge that rises, and the most
that one exchange in each class adds to t f where heights add up to -1 or less. The latter is found
class by class, for each sum of heights.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BlowproofError, Exact, LinearFact, Point
from blowproof.models.base.clock import now
from blowproof.models.norms import L1
from blowproof.models.queries.kinds import SumQuery
from blowproof.models.secrets import OffsetGraph
from blowproof.models.stacks.stacked import Stacked, is_histogram
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.joined_classes import Joined, different
from blowproof.verifier.reductions.given_numbers import embed
from blowproof.verifier.theorems.values.by_kind import most_in_classes
from blowproof.verifier.theorems.values.free_change import moved
from blowproof.verifier.theorems.values.in_norms import one_more_in_classes
from blowproof.verifier.theorems.values.seen_values import seen_values
from blowproof.verifier.theorems.values.sums_along_edges import best_edge

__all__ = ["Cells", "Crossed", "one_end", "past_one_end"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")

Edge = tuple[Point, Point]
Exchanges = dict[int, tuple[Exact, Edge]]
"""By what they change the height, the best exchange: what it is worth, what goes and what comes."""


@dataclass(frozen=True)
class Cells:
    """Classes of a table by their cell, `home`, and what irreducibles for the equalities are.

    No more than so many moves, the `longest`, and simple `cycles` on the cells. `independent`: the
    signatures are, so that each is one simple cycle.
    """

    table: ClassTable
    home: tuple[int, ...]
    count: int
    longest: int
    cycles: int
    independent: bool


@dataclass(frozen=True)
class Crossed:
    """What the theorem says: no pair changes the query by more; and a pair, where one is found."""

    upper: Exact
    pair: Pair | None
    why: str


def one_end(question: Question) -> bool:
    """Whether the theorem may speak about a question: reading 1, one bound with one end."""
    setting, query = question.setting, question.query
    if question.reading != "published" or setting.scope != "given" or setting.clauses:
        return False
    if len(setting.bounds) != 1 or query.per_record:
        return False
    (bound,) = setting.bounds
    return (bound.at_most is None) != (bound.at_least is None)


def past_one_end(
    question: Question, cells: Cells, along: Exact | None, end: float
) -> Crossed | None:
    """Return what a pair changes a query by at the most; None where the theorem does not speak.

    `along`: an edge of G changes it by no more, if that is known.
    """
    setting, query, table = question.setting, question.query, cells.table
    joined = Joined(setting, table, end)
    if any(joined(a, b) for a, b in different(setting, table, table.effects, end)):
        return None
    known = along, _along(question)
    along = min((size for size in known if size is not None), default=None)
    if along is None:
        return None
    (bound,) = setting.bounds
    heights = table.rows[:, table.equalities] * (1 if bound.at_least is None else -1)
    raising = list(_raising(table, heights, joined))
    if not raising:  # no edge changes any known number: see `alone`
        return None
    rise = max(int(heights[b] - heights[a]) for a, b in raising)
    most = rise * cells.longest
    each = min(rise * cells.cycles, most)
    uppers: list[Exact] = []
    with suppress(BlowproofError, TimeoutError, OverflowError):
        left = most_in_classes(question, table, cells.home, each, most, end=end)
        uppers += [] if left is None else [query.measure.together([along, left])]
        if each == 1 and query.measure is not L1:
            places = {cells.home[a] for a, _ in raising}
            more = one_more_in_classes(question, table, cells.home, places, end=end)
            uppers += [] if more is None else [more]
    pair = None
    if rise == 1 and cells.independent and cells.count <= MOST_CLASSES:
        upper, pair = _OneCycle(question, cells, heights.tolist(), raising, end).told(along)
        uppers += [] if upper is None else [max(along, upper)]
    why = "one record changes along an edge of G, and a cycle of plain moves makes up for the bound"
    return Crossed(min(uppers), pair, why) if uppers else None


def _along(question: Question) -> Exact | None:
    """Return what an edge changes the query by at the most, if its kind knows that.

    Of a stack in other norms: 0 where no part is changed.
    """
    query, graph = question.query, question.setting.graph
    if not isinstance(query, Stacked) or query.measure is L1:
        return query.along(graph)
    return 0 if all(part.query.along(graph) == 0 for part in query.parts) else None


def _raising(
    table: ClassTable, heights: NDArray[np.int64], joined: Joined
) -> Iterator[tuple[int, int]]:
    """Yield two classes of values that an edge may join, of which the second one is higher."""
    for b, height in enumerate(heights.tolist()):
        alike = (table.effects == table.effects[b]).all(axis=1) & (heights < height)
        for a in np.flatnonzero(alike).tolist():
            if joined(a, b):
                yield a, b


class _OneCycle:
    """A secret move that rises by 1, and a simple cycle of plain moves: the best for a query of one
    number, and some for others.

    `heights`, `raising`: of the table's classes.
    """

    def __init__(
        self,
        question: Question,
        cells: Cells,
        heights: Sequence[int],
        raising: Sequence[tuple[int, int]],
        end: float,
    ) -> None:
        self.question, self.cells, self.end = question, cells, end
        self.heights, self.raising = heights, raising

    def told(self, along: Exact) -> tuple[Exact | None, Pair | None]:
        """Return what no pair of a secret move and a cycle exceeds, and the best pair found."""
        query = self.question.query
        by_class = self._values()
        rows = [query.row(point) for held in by_class or () for point, _ in held]
        keys: set[Hashable] = {key for row in rows for key, value in row.items() if value}
        upper: Exact = 0
        most: Exact = 0
        best: Pair | None = None
        one = by_class is not None and len(keys) <= 1 and query.measure is L1
        few = self._few_values
        tried = [(1, by_class), (-1, by_class)] if one else [(0, few(1)), (0, few(0))]
        for sign, held in tried:
            cycle = None if held is None else self._best_cycle(held, keys, sign)
            if cycle is None:
                continue
            edges = self._edges(sign) if sign else None
            if edges is None:
                upper = max(upper, along + cycle[0])
            elif edges:
                upper = max(upper, edges[0][0] + cycle[0])
            for edge in self._some_edges() if edges is None else [each for _, each in edges]:
                for exchanges in self._ways(edge, cycle[1]):
                    pair = self._pair(edge, exchanges)
                    value = 0 if pair is None else query.difference(pair.moves("published"))
                    if pair is not None and value > most:
                        best, most = pair, value
        return upper if one else None, self._placed(best)

    def _values(self) -> list[list[tuple[Point, int]]] | None:
        """Return values of each class of the base with all rows and heights that there are; None
        where rows have more numbers than one.
        """
        setting, query = self.question.setting, self.question.query
        if is_histogram(query) or query.longest_row > 1:
            return None
        return self._by_home(seen_values(setting, query, self.cells.table, end=self.end))

    def _few_values(self, apart: int) -> list[list[tuple[Point, int]]]:
        """Return a few values of each class of the base: others in each (`apart` is 1) where there
        are enough, for outputs that mind one class; or alike ones (0).
        """
        axes = self.question.query.axes_read(self.question.setting.domain)
        seen = []
        for home, item in zip(self.cells.home, self.cells.table.classes, strict=True):
            box = next(iter(item.boxes()))
            # Not the first one, where an edge from another class is likely to end.
            near = [box.nth((2 * apart * home + k) % box.size) for k in (1, 2)]
            far = tuple(side.nth(side.size - 1) for side in box.sides)
            seen.append(list(dict.fromkeys([*near, box.nth(0), moved(near[0], far, axes)])))
        found = self._by_home(seen)
        assert found is not None
        return found

    def _by_home(self, seen: list[list[Point]] | None) -> list[list[tuple[Point, int]]] | None:
        if seen is None:
            return None
        by_class: list[list[tuple[Point, int]]] = [[] for _ in range(self.cells.count)]
        for place, points in enumerate(seen):
            by_class[self.cells.home[place]] += [(x, self.heights[place]) for x in points]
        return by_class

    def _some_edges(self) -> Iterator[Edge]:
        """Yield an edge that rises for each two classes that have one in their first boxes."""
        classes, graph = self.cells.table.classes, self.question.setting.graph
        for a, b in self.raising:
            edge = graph.edge_between(
                next(iter(classes[a].boxes())), next(iter(classes[b].boxes()))
            )
            if edge is not None:
                yield edge

    def _best_cycle(
        self, by_class: Sequence[Sequence[tuple[Point, int]]], keys: set[Hashable], sign: int
    ) -> tuple[Exact, list[Edge]] | None:
        """Return the best exchanges that lower the row together, one in each class or none.

        `sign`: the query goes up, or down; 0: it has several numbers, so norms are summed.
        """
        key = next(iter(keys), None)
        best: dict[int, tuple[Exact, list[Edge]]] = {0: (0, [])}
        for held in by_class:
            choices = self._in_one_number(held, key, sign) if sign else self._in_norm(held)
            longer = dict(best)
            for height, (total, edges) in best.items():
                for rise, (worth, edge) in choices.items():
                    known = longer.get(height + rise)
                    if known is None or total + worth > known[0]:
                        longer[height + rise] = total + worth, [*edges, edge]
            best = longer
            if now() > self.end:
                raise TimeoutError
        # Among the best the lowest: exchanges that all fall are seldom against one another.
        lower = [height for height in best if height < 0]
        return best[max(lower, key=lambda h: (best[h][0], -h))] if lower else None

    def _in_one_number(
        self, held: Sequence[tuple[Point, int]], key: Hashable, sign: int
    ) -> Exchanges:
        query = self.question.query
        ends: dict[int, list[tuple[Exact, Point]]] = {}
        for point, height in held:
            ends.setdefault(height, []).append((sign * query.row(point).get(key, 0), point))
        choices: Exchanges = {}
        for low, leaving in ends.items():
            goes = min(leaving)
            for high, coming in ends.items():
                comes = max(coming)
                worth = comes[0] - goes[0]
                if high - low not in choices or worth > choices[high - low][0]:
                    choices[high - low] = worth, (goes[1], comes[1])
        return choices

    def _in_norm(self, held: Sequence[tuple[Point, int]]) -> Exchanges:
        query = self.question.query
        choices: Exchanges = {}
        for (x, low), (y, high) in permutations(held, 2):
            worth = query.norm({x: -1, y: 1})
            if high - low not in choices or worth > choices[high - low][0]:
                choices[high - low] = worth, (x, y)
        return choices

    def _edges(self, sign: int) -> list[tuple[Exact, Edge]] | None:
        """Return the best edges that rise, with what they are worth; None: not known."""
        graph, query = self.question.setting.graph, self.question.query
        if not isinstance(graph, OffsetGraph) or type(query) is not SumQuery:
            return None
        slopes = {axis: sign * query.domain.attribute(axis).step for axis in query.axes}
        classes = self.cells.table.classes
        edges: list[tuple[Exact, Edge]] = []
        for a, b in self.raising:
            for one in classes[a].boxes():
                for two in classes[b].boxes():
                    told = best_edge(graph, one, two, slopes)
                    if told is None or now() > self.end:
                        return None
                    edges += told
        best = max((worth for worth, _ in edges), default=None)
        return [each for each in edges if each[0] == best]

    def _ways(self, edge: Edge, exchanges: Sequence[Edge]) -> Iterator[Sequence[Edge]]:
        """Yield the exchanges; and those where the edge's class exchanges such records twice."""
        yield exchanges
        setting = self.question.setting
        (bound,) = setting.bounds
        up = 1 if bound.at_least is None else -1

        def known(point: Point) -> list[int]:
            return [fact.coefficient(point) for fact in setting.equalities]

        rises = [up * (bound.coefficient(y) - bound.coefficient(x)) for x, y in exchanges]
        for place, (x, _) in enumerate(exchanges):
            if known(x) == known(edge[0]):
                if sum(rises) - rises[place] + 1 < 0:
                    yield [*exchanges[:place], edge, *exchanges[place + 1 :]]
                return

    def _pair(self, edge: Edge, exchanges: Sequence[Edge]) -> Pair | None:
        """Return the moves: the edge, and the exchanges in a cycle of plain moves."""
        goes = [x for x, _ in exchanges]
        comes = [y for _, y in exchanges]
        comes = [*comes[1:], *comes[:1]]
        graph = self.question.setting.graph
        if any(x == y or graph.is_edge(x, y) for x, y in zip(goes, comes, strict=True)):
            return None
        return Pair(before=(edge[0], *goes), after=(edge[1], *comes))

    def _placed(self, pair: Pair | None) -> Pair | None:
        """Return the pair among other records, in a database that meets the end exactly."""
        setting = self.question.setting
        if pair is None:
            return None
        (bound,) = setting.bounds
        answer = bound.at_most if bound.at_least is None else bound.at_least
        fact = LinearFact(name=bound.name, terms=bound.terms, answer=answer)
        left = 2.0 if self.question.left is None else min(2.0, self.question.left / 4)
        model = replace(setting, equalities=(*setting.equalities, fact), bounds=())
        try:
            return embed(model, pair, time_limit=left)
        except BlowproofError:
            return None
