"""The classes of a cycle, in an order in which one move is along an edge of G, and no other.

Let each class c of some classes lose a record with value x_c and gain one with y_c: round a cycle,
the record that leaves c goes to the class that comes next, from x_c to y_next. In which order the
classes come plays no part for what changes (see `simple_cycles`). It does for which moves are
secret: in reading 1 a cycle with exactly one secret move is a neighbour pair whatever else D1 holds
(3(a) would need a proper part of one move, 3(b) a part of the cycle without effect).

So a pair of classes is taken with a secret arc from one to the other, and the others are put in
between, each where the two arcs that come with it are plain. Most are where G joins few values.
What the query does not look at is free: an edge whose ends have the rows of the given values leaves
the change as it is. Else one end of the edge may be as it was given, or neither; what changes the
query most is tried first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice, permutations, product
from operator import itemgetter

from blowproof.models import Box, Exact, Point, Positions, SecretGraph
from blowproof.models.base.clock import now
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Exchange", "one_secret_arc"]

Exchange = tuple[Point, Point]
"""The value of the record that leaves a class, and of the one that comes (maybe the same)."""
_Arc = tuple[int, int, list[Exchange]]
"""Places with a secret arc from the first to the second, and what all exchange then."""

CHOICES = whole_limit(__name__, "CHOICES")
STARTS = whole_limit(__name__, "STARTS")
ORDERS = whole_limit(__name__, "ORDERS")
TURNED = whole_limit(__name__, "TURNED")
MOST_TURNED = whole_limit(__name__, "MOST_TURNED")
TRIES = whole_limit(__name__, "TRIES")


def one_secret_arc(
    graph: SecretGraph,
    exchanges: Sequence[Exchange],
    areas: Sequence[Sequence[Box]],
    *,
    end: float,
    axes: Collection[int] | None = None,
    worth: Callable[[Sequence[Exchange]], Exact] | None = None,
) -> Iterator[tuple[Exchange, ...]]:
    """Yield exchanges in an order with one secret arc, for some choices of that arc.

    `areas`: some boxes of each exchange's class, where values at the ends of an edge are looked
    for if no arc between the given ones is secret. Classes that fit nowhere are left out. `axes`:
    those that the query looks at (all, if None). `worth` says what exchanges change it by: the best
    choices come first, where none is worth as much as the given one.
    """
    choices = _secret(graph, exchanges, areas, axes, end)
    if worth is not None:
        choices = _best_first(choices, worth, exchanges, end)
    for one, two, chosen in islice(choices, STARTS):
        if now() >= end:
            return
        rest = [place for place in range(len(exchanges)) if place not in (one, two)]
        order: list[int] | None = None
        rng = random.Random(0)
        for _ in range(ORDERS):
            # The arc from `one` to `two` closes the cycle.
            found = _between(graph, chosen, [two, one], list(rest), end)
            if found is not None and (order is None or len(found) > len(order)):
                order = found
            if order is not None and len(order) == len(exchanges):
                break
            rng.shuffle(rest)
        if order is not None:
            yield tuple(chosen[place] for place in (order[-1], *order[:-1]))  # secret first


def _best_first(
    choices: Iterator[_Arc],
    worth: Callable[[Sequence[Exchange]], Exact],
    given: Sequence[Exchange],
    end: float,
) -> Iterator[_Arc]:
    """Yield choices that are worth what is given at once, and then the others by their worth.

    Of these the best are tried with classes turned round (see `_turned`).
    """
    goal = worth(given)
    met: list[tuple[Exact, int, _Arc]] = []
    for number, choice in enumerate(islice(choices, CHOICES)):
        value = worth(choice[2])
        now()
        if value >= goal:
            yield choice
        else:
            met.append((value, -number, choice))
    met.sort(key=itemgetter(0, 1), reverse=True)
    few = len(given) <= MOST_TURNED
    for _, _, choice in met[:TURNED] if few else ():
        turned = _turned(choice, worth, given, end)
        if worth(turned[2]) > met[0][0]:
            yield turned
    yield from (choice for _, _, choice in sorted(met, key=itemgetter(0, 1), reverse=True))


def _turned(
    choice: _Arc,
    worth: Callable[[Sequence[Exchange]], Exact],
    given: Sequence[Exchange],
    end: float,
) -> _Arc:
    """Return a choice in which what leaves the second place is what came to it, and other classes
    exchange the same two values the other way round, one after the other, where that is worth more.

    For then the edge goes from a class that loses a value to one that gains it, and all that share
    an output with the latter have to gain it, too.
    """
    one, two, exchanges = choice
    chosen = list(exchanges)
    chosen[two] = (given[two][1], chosen[two][1])
    best = worth(chosen)
    for place in range(len(chosen)):
        if place in (one, two) or now() >= end:
            continue
        x, y = chosen[place]
        chosen[place] = (y, x)
        value = worth(chosen)
        if value > best:
            best = value
        else:
            chosen[place] = (x, y)
    return one, two, chosen


def _secret(
    graph: SecretGraph,
    exchanges: Sequence[Exchange],
    areas: Sequence[Sequence[Box]],
    axes: Collection[int] | None,
    end: float,
) -> Iterator[_Arc]:
    """Yield two places with a secret arc from the first to the second, and the exchanges then."""
    ends = list(_pairs(len(exchanges)))
    given = [(i, j) for i, j in ends if graph.is_edge(exchanges[i][0], exchanges[j][1])]
    for one, two in given:
        yield one, two, list(exchanges)
    if axes is not None:
        yield from _alike(graph, exchanges, areas, axes, ends, end)
    for one, two in () if given else ends:
        edge = _edge(graph, areas[one], areas[two])
        if edge is None:
            continue
        leaving, coming = edge
        for near in (
            _edge(graph, [Box.at(exchanges[one][0])], areas[two]),
            _edge(graph, areas[one], [Box.at(exchanges[two][1])]),
        ):
            if near is not None:
                yield one, two, _with(exchanges, one, two, near)
        # The last value of a class, too: it is seldom near any that others exchange.
        far = [tuple(box.nth(box.size - 1) for box in areas[k][-1:]) for k in (one, two)]
        ends_of = product((*exchanges[one], *far[0], leaving), (*exchanges[two], *far[1], coming))
        for comes, goes in sorted(ends_of, key=lambda e: (e[0] == leaving) + (e[1] == coming)):
            chosen = list(exchanges)
            chosen[one], chosen[two] = (leaving, comes), (goes, coming)
            yield one, two, chosen


def _edge(graph: SecretGraph, one: Sequence[Box], two: Sequence[Box]) -> Exchange | None:
    """Return values of each that an edge joins, or None."""
    return next((edge for a in one for b in two if (edge := graph.edge_between(a, b))), None)


def _with(exchanges: Sequence[Exchange], one: int, two: int, edge: Exchange) -> list[Exchange]:
    """Return exchanges with what leaves one place, and what comes to another, as an edge says."""
    chosen = list(exchanges)
    chosen[one], chosen[two] = (edge[0], chosen[one][1]), (chosen[two][0], edge[1])
    return chosen


def _alike(
    graph: SecretGraph,
    exchanges: Sequence[Exchange],
    areas: Sequence[Sequence[Box]],
    axes: Collection[int],
    ends: Sequence[tuple[int, int]],
    stop: float,
) -> Iterator[_Arc]:
    """Yield such places, and exchanges whose rows are the given ones, along an edge."""
    for one, two in ends:
        if now() >= stop:
            return
        leaving = list(_at(exchanges[one][0], areas[one], axes))
        edge = _edge(graph, leaving, list(_at(exchanges[two][1], areas[two], axes)))
        if edge is not None:
            yield one, two, _with(exchanges, one, two, edge)


def _at(value: Point, boxes: Sequence[Box], axes: Collection[int]) -> Iterator[Box]:
    """Yield where the boxes hold what the value holds on these axes."""
    for box in boxes:
        if all(value[axis] in box.sides[axis] for axis in axes):
            yield Box.of(
                Positions.of([value[axis]]) if axis in axes else side
                for axis, side in enumerate(box.sides)
            )


def _pairs(count: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of different places: all of them, or some where they are many."""
    if count * (count - 1) <= TRIES:
        yield from permutations(range(count), 2)
        return
    rng = random.Random(0)
    for _ in range(TRIES):
        one, two = rng.sample(range(count), 2)
        yield one, two


def _between(
    graph: SecretGraph, chosen: Sequence[Exchange], order: list[int], rest: list[int], end: float
) -> list[int] | None:
    """Put the rest into the order where both arcs that come are plain; None: an arc is secret."""

    def plain(one: int, two: int) -> bool:
        return not graph.is_edge(chosen[one][0], chosen[two][1])

    def put(place: int) -> bool:
        for spot in range(len(order) - 1, 0, -1):
            if plain(order[spot - 1], place) and plain(place, order[spot]):
                order.insert(spot, place)
                return True
        return False

    while rest and now() < end:
        left = [place for place in rest if not put(place)]
        if len(left) == len(rest):
            break  # what is left fits nowhere
        rest = left
    return order if len(order) > 2 or plain(*order) else None
