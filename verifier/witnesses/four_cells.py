"""Four cells of which no fact knows two from the other two: the shortest pairs beside tables.

Let the classes a, b and c, d of values have signatures with s_a + s_b = s_c + s_d. In reading 4
records of a and b in the place of records of c and d are a pair. In reading 1, with a G that is not
complete, a record goes from c to a along an edge of G, and one from d to b; or, where that is an
edge, too, by a third class, e: one record from d to e, and another from there to b, along no edge.
With one secret move no part of the moves is a D3 (`reductions/complete_graph`).

The moves of frames are many and far between, so that these are found where time is short.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import NamedTuple

import numpy as np

from blowproof.models import Area, Point, SecretGraph, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import ValueClass
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Four", "alike", "exchanged", "with_one_secret"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_FOURS = whole_limit(__name__, "MOST_FOURS")
MOST_BOXES = whole_limit(__name__, "MOST_BOXES")
MOST_THIRDS = whole_limit(__name__, "MOST_THIRDS")


class Four(NamedTuple):
    """Classes (by place) with s_a + s_b = s_c + s_d; neither a nor b is c or d."""

    a: int
    b: int
    c: int
    d: int


def alike(table: ClassTable, rng: random.Random, counted: Sequence[int] = ()) -> Iterator[Four]:
    """Yield some of the fours, by chance; of many classes only some are looked at.

    One of the `counted` classes, which a query counts, is looked at, and in every other four.
    """
    count = len(table.classes)
    one_of_them = rng.choice(counted) if counted else None
    places = sorted(rng.sample(range(count), min(count, MOST_CLASSES)))
    if count > MOST_CLASSES:  # those that share facts have sums in common
        order = np.lexsort(table.effects.T).tolist()
        start = rng.randrange(count - MOST_CLASSES)
        if one_of_them is not None:
            before = order.index(one_of_them) - rng.randrange(MOST_CLASSES)
            start = min(max(0, before), count - MOST_CLASSES)
        places = sorted(order[start : start + MOST_CLASSES])
    sums: defaultdict[bytes, list[tuple[int, int]]] = defaultdict(list)
    for number, one in enumerate(places):
        others = places[number + 1 :]
        for two, row in zip(others, table.effects[one] + table.effects[others], strict=True):
            sums[row.tobytes()].append((one, two))
    together = [pairs for pairs in sums.values() if len(pairs) > 1]
    around = [pairs for pairs in together if any(one_of_them in pair for pair in pairs)]
    for number in range(MOST_FOURS if together else 0):
        pairs = rng.choice(around if around and number % 2 else together)
        (a, b), (c, d) = rng.sample(pairs, 2)
        if not {a, b} & {c, d}:
            yield Four(a, b, c, d)


def exchanged(
    table: ClassTable, rng: random.Random, end: float, areas: Sequence[Area] = ()
) -> Iterator[Pair]:
    """Yield pairs of reading 4: two values come where two others go; `areas`: a query's."""
    boxes = [next(item.boxes()).nth(0) for item in table.classes] if areas else []
    counted = [place for place, x in enumerate(boxes) if any(x in area for area in areas)]
    for four in alike(table, rng, counted):
        if now() > end:
            return
        for a, b, c, d in product(*(_ends(table.classes[place]) for place in four)):
            yield Pair(before=(c, d), after=(a, b))


def with_one_secret(
    setting: Setting, table: ClassTable, rng: random.Random, end: float
) -> Iterator[Pair]:
    """Yield pairs of reading 1 with one secret move, the others plain."""
    graph, classes = setting.graph, table.classes
    for four in alike(table, rng):
        if now() > end:
            return
        for a, b, c, d in (four, four._replace(a=four.b, b=four.a)):
            edge = _edge(graph, classes[c], classes[a])
            if edge is None:
                continue
            (x, to), (leaving, coming) = edge, (_ends(classes[d]), _ends(classes[b]))
            for z, w in product(leaving, coming):
                if not graph.is_edge(z, w):
                    yield Pair(before=(x, z), after=(to, w))
            for third in rng.sample(range(len(classes)), min(len(classes), MOST_THIRDS)):
                for y, z, w in product(_ends(classes[third]), leaving, coming):
                    if y not in (z, w) and not graph.is_edge(z, y) and not graph.is_edge(y, w):
                        yield Pair(before=(x, z, y), after=(to, y, w))


def _edge(graph: SecretGraph, one: ValueClass, two: ValueClass) -> tuple[Point, Point] | None:
    """Return an edge of G from one class to another, or None where none is seen."""
    boxes = product(islice(one.boxes(), MOST_BOXES), islice(two.boxes(), MOST_BOXES))
    return next((edge for a, b in boxes if (edge := graph.edge_between(a, b)) is not None), None)


def _ends(item: ValueClass) -> Sequence[Point]:
    """Return two values of a class, far from one another."""
    boxes = list(islice(item.boxes(), MOST_BOXES))
    return list(dict.fromkeys((boxes[0].nth(0), boxes[-1].nth(boxes[-1].size - 1))))
