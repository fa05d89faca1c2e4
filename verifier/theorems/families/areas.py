"""Boxes that lie inside of one another, or apart: what each holds besides those inside of it.

Found by sorting, for thousands of boxes; what is kept grows with their number, and not with its
square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product

from blowproof.models import Box, Exact, LinearFact, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.stacks.stacked import is_histogram
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.sparse_facts import SparseFacts
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.values.one_secret_arc import one_secret_arc

__all__ = ["Node", "cycle", "nested", "points_of", "positions_of", "staying", "with_one_secret_arc"]

MOST_OPEN = whole_limit(__name__, "MOST_OPEN")
SHORT_AXIS = whole_limit(__name__, "SHORT_AXIS")
TRIED = whole_limit(__name__, "TRIED")


@dataclass(eq=False)
class Node:
    """A box of facts, those right inside of it, and its number of records where that is known."""

    box: Box
    answer: int | None
    inner: list[Node] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many values its class has."""
        return self.box.size - sum(node.box.size for node in self.inner)

    @property
    def held(self) -> int | None:
        """How many records its class has in every database; None where that is not known."""
        numbers = [self.answer, *(node.answer for node in self.inner)]
        if any(number is None for number in numbers):
            return None
        first, *others = (number for number in numbers if number is not None)
        return first - sum(others)


def nested(setting: Setting, facts: Sequence[LinearFact], end: float) -> list[Node] | None:
    """Return the facts' boxes with those right inside of them, the whole domain first; None where
    two of them overlap, or a fact is no count of one box.
    """
    whole = setting.domain.whole
    numbers: dict[Box, int | None] = {whole: setting.size}
    for fact in facts:
        terms = [(times, area) for times, area in fact.terms if times]
        if len(terms) != 1 or terms[0][0] != 1 or len(terms[0][1].boxes) != 1:
            return None
        box = terms[0][1].boxes[0]
        if any(len(side.runs) != 1 for side in box.sides):
            return None
        numbers[box] = fact.answer if numbers.get(box) is None else numbers[box]
    nodes = [Node(box, answer) for box, answer in numbers.items()]
    axis = max(range(len(whole.sides)), key=lambda k: len({box.sides[k] for box in numbers}))
    nodes.sort(key=lambda node: (node.box.sides[axis].runs[0][0], -node.box.size))
    return nodes if _linked(nodes, axis, end) else None


def _linked(nodes: Sequence[Node], axis: int, end: float) -> bool:
    """Link each box to the smallest one around it; False where two overlap."""
    open_: list[Node] = []
    for number, node in enumerate(nodes):
        if number % 1000 == 0 and now() > end:
            return False
        low = node.box.sides[axis].runs[0][0]
        open_ = [other for other in open_ if other.box.sides[axis].runs[0][1] > low]
        if len(open_) > MOST_OPEN:
            return False
        around = None
        for other in open_:
            if not all(_meet(a.runs[0], b.runs[0])
                       for a, b in zip(node.box.sides, other.box.sides, strict=True)):  # fmt: skip
                continue
            if not all(_within(a.runs[0], b.runs[0])
                       for a, b in zip(node.box.sides, other.box.sides, strict=True)):  # fmt: skip
                return False  # of equal beginnings the larger box came first
            if around is None or other.box.size < around.box.size:
                around = other
        if around is not None:
            around.inner.append(node)
        open_.append(node)
    return True


def _meet(one: tuple[int, int], two: tuple[int, int]) -> bool:
    return one[0] < two[1] and two[0] < one[1]


def _within(one: tuple[int, int], two: tuple[int, int]) -> bool:
    return two[0] <= one[0] and one[1] <= two[1]


def points_of(node: Node, axes: Sequence[int]) -> Iterator[Point]:
    """Yield values of a class that differ on some axes: in its box, and in none inside of it."""
    box = node.box
    spots = [_spots(node, axis) if axis in axes else [side.runs[0][0]]
             for axis, side in enumerate(box.sides)]  # fmt: skip
    for axis, side in enumerate(box.sides):
        if node.inner and axis not in axes:  # a place beside what lies inside
            spots[axis] = sorted({*spots[axis], *_edges(node, axis), side.runs[0][1] - 1})
    tried = islice(product(*spots), TRIED)
    yield from (x for x in tried if not any(x in other.box for other in node.inner))


def _edges(node: Node, axis: int) -> list[int]:
    """Return positions next to the boxes inside, where they leave some free on the axis."""
    low, high = node.box.sides[axis].runs[0]
    sides = sorted({other.box.sides[axis].runs[0] for other in node.inner})
    free, reached = [], low
    for start, stop in sides:
        if start > reached:
            free += [reached, start - 1]
        reached = max(reached, stop)
    if reached < high:
        free += [reached, high - 1]
    return free[:SHORT_AXIS] + free[-SHORT_AXIS:]


def _spots(node: Node, axis: int) -> list[int]:
    """Return all positions of a short axis, of a long one the ends, their neighbours, the middle.

    Where others lie inside, the ends of what they leave free too.
    """
    low, high = node.box.sides[axis].runs[0]
    if high - low <= SHORT_AXIS:
        return list(range(low, high))
    some = {low, low + 1, (low + high) // 2, high - 2, high - 1}
    return sorted(some | set(_edges(node, axis) if node.inner else ()))


def positions_of(node: Node, axis: int) -> int:
    """Return how many positions of an axis a box has."""
    low, high = node.box.sides[axis].runs[0]
    return high - low


def cycle(
    setting: Setting, pairs: Sequence[tuple[Point, Point]], classes: Sequence[Node]
) -> Pair | None:
    """Return the moves round a cycle in which, of each class, x goes and y comes."""
    before = tuple(x for x, _ in pairs)
    after = tuple(y for _, y in (*pairs[1:], pairs[0]))
    unchanged = staying(setting, classes, before)
    return None if unchanged is None else Pair(before=before, after=after, unchanged=unchanged)


def staying(
    setting: Setting, classes: Sequence[Node], going: Sequence[Point]
) -> tuple[tuple[Point, int], ...] | None:
    """Return records that stay where some go, so that all known numbers are met; None: unknown."""
    if setting.scope == "any":
        return ()
    facts = SparseFacts(setting.domain, setting.equalities)
    gone = Counter(map(facts.of, going))
    found = []
    for node in classes:
        x = next(points_of(node, ()), None)
        if x is None or node.held is None:
            return None
        left = node.held - gone[facts.of(x)]
        if left < 0:
            return None
        if left:
            found.append((x, left))
    return tuple(sorted(found))


def with_one_secret_arc(
    question: Question,
    pairs: Sequence[tuple[Point, Point]],
    classes: Sequence[Node],
    base: Sequence[LinearFact],
    upper: Exact,
    end: float,
) -> Pair | None:
    """Reading 1: return a cycle with one move along an edge of G, and a large change.

    `pairs`: what some classes exchange; `base`: the facts that count the areas. Each exchange
    leaves the other facts alone, too.
    """
    setting, query = question.setting, question.query
    facts, every = (
        SparseFacts(setting.domain, base),
        SparseFacts(setting.domain, setting.equalities),
    )
    # For a histogram all go the same way: by turns, every move would be along an edge by attribute.
    chosen = {
        facts.of(x): (min(x, y), max(x, y)) if is_histogram(query) else (x, y) for x, y in pairs
    }
    exchanges, areas = [], []
    for node in classes:
        value = next(points_of(node, ()), None)
        if value is not None:
            exchanges.append(chosen.get(facts.of(value), (value, value)))
            areas.append([] if node.inner else [node.box])
    best, worth = None, Fraction(0)
    for order in one_secret_arc(setting.graph, exchanges, areas, end=end):
        if all(every.of(x) == every.of(y) for x, y in order):
            pair = cycle(setting, order, classes)
            value_of = Fraction(0 if pair is None else query.difference(pair.moves("published")))
            if value_of > worth:
                best, worth = pair, value_of
        if worth == upper or now() > end:
            break
    return best
