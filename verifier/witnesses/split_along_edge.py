"""Reading 1, other G, scope "any": an irreducible multiset with one move split along an edge of G.

Take an irreducible multiset of plain moves, and one move x -> y of it. Let (x', z) be an edge, x'
with the signature of x, and z' one with the signature of z from which y is reached plainly. In
place of x -> y let one record move from x' to z, in secret, and another from z' to y. The effects
still sum to zero, and T(D1, D2) has one element. A part without effect that holds both new moves,
or neither, is one of the old multiset; so the new one is irreducible, and a neighbour pair (see
`complete_graph`), if no part holds just one of them: so if phi(z) - phi(x) is no rational
combination of the old effects. To that end the old moves may leave a fact alone that x' -> z does
not. Where few effects only can be had along edges (a change of one attribute), irreducible
multisets with such an effect are hard to come by in another way.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import sub

from blowproof.models import Point
from blowproof.models.base.clock import now
from blowproof.models.domain.classes import ValueClass, locator
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.irreducibles import is_reducible
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.engines.search.from_circuits import heaviest_circuit
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.reductions.complete_graph import some_edge

__all__ = ["split_pairs"]

Vector = tuple[int, ...]

MOST_NEIGHBOURS = whole_limit(__name__, "MOST_NEIGHBOURS")
NEIGHBOURS = whole_limit(__name__, "NEIGHBOURS")
MOST_SPLITS = whole_limit(__name__, "MOST_SPLITS")
SAMPLE_BOXES = whole_limit(__name__, "SAMPLE_BOXES")
ALIKE = whole_limit(__name__, "ALIKE")


def split_pairs(
    moves: Moves, classes: Sequence[ValueClass], seconds: float, rng: random.Random
) -> Iterator[Pair]:
    """Yield pairs made from the heaviest circuit of plain moves that is met, heavier ones first.

    Every other time, the circuit leaves alone a fact that is chosen at random; else it has to be
    one that does not reach all facts, over few of the values.
    """
    end = now() + seconds
    noticed = sorted({j for kind in moves.kinds for j, by in enumerate(kind.effect) if by})
    if not noticed:
        return
    alone = rng.choice(noticed) if rng.random() < 1 / 2 else None
    found: dict[Vector, list[Kind]] = defaultdict(list)
    for kind in moves.kinds:
        touched = alone is not None and kind.effect[alone]
        if not kind.secret and any(kind.effect) and not touched:
            found[kind.effect].append(kind)
    table = EffectTable.by_effect(found)
    _, counts = heaviest_circuit(moves, seconds / 2, table)
    if not counts:
        return
    splitter = _Splitter(moves, classes, rng)
    tried: list[tuple[int, int, Pair]] = []
    for one, x, z, other in islice(splitter.splits(list(counts)), MOST_SPLITS):
        pair = splitter.pair(counts, one, x, z, other)
        if pair is not None:
            value = moves.query.difference(pair.moves(moves.reading)) * moves.scale
            tried.append((int(value), len(tried), pair))
        if now() > end:
            break
    yield from (pair for _, _, pair in sorted(tried, reverse=True)[:ALIKE])


class _Splitter:
    """Splits moves of a circuit over the values of some classes."""

    def __init__(self, moves: Moves, classes: Sequence[ValueClass], rng: random.Random) -> None:
        self.moves, self.rng = moves, rng
        self.setting, self.graph = moves.setting, moves.setting.graph
        self.classes = classes
        self.place_of = locator(classes)
        self.boxes = [list(islice(item.boxes(), SAMPLE_BOXES)) for item in classes]

    def splits(self, kinds: list[Kind]) -> Iterator[tuple[Kind, Point, Point, Point]]:
        """Yield (a move from x to y, x', z, z') for edges (x', z) and plain moves from z' to y."""
        self.rng.shuffle(kinds)
        for kind in kinds:
            assert kind.before is not None
            assert kind.after is not None
            for x, z in self._edges_from(kind.before):
                for other in self._alike(z):
                    if other != kind.after and not self.graph.is_edge(other, kind.after):
                        yield kind, x, z, other
                        break

    def _edges_from(self, x: Point) -> Iterator[tuple[Point, Point]]:
        """Yield edges from x, and from values of its class to each other class."""
        near = list(islice(self.graph.neighbours(x), MOST_NEIGHBOURS))
        possible = [z for z in near if z not in self.setting.impossible]
        for z in self.rng.sample(possible, min(len(possible), NEIGHBOURS)):
            yield x, z
        home = self.place_of(x)
        if home is None:
            return
        for place, boxes in enumerate(self.boxes):
            edge = () if place == home else some_edge(self.graph, self.boxes[home], boxes)
            if edge:
                yield edge[0], edge[1]

    def _alike(self, z: Point) -> list[Point]:
        """Return values with the signature of z, others first: z itself is entered."""
        place = self.place_of(z)
        if place is None:  # a value of a class that is not looked at
            return [z]
        boxes = self.boxes[place]
        ends = [box.nth(n) for box in (boxes[-1], boxes[0]) for n in (box.size - 1, 0)]
        return [*dict.fromkeys(y for y in [*ends, *self.classes[place].take(ALIKE)] if y != z), z]

    def pair(
        self, counts: Counter[Kind], one: Kind, x: Point, z: Point, other: Point
    ) -> Pair | None:
        """Return the circuit with a record of one of its moves split, if that is irreducible."""
        at_z = self.setting.effect(z)
        secret = tuple(map(sub, at_z, self.setting.effect(x)))
        assert one.after is not None
        plain = tuple(map(sub, self.setting.effect(one.after), at_z))
        if not any(secret) or not any(plain):
            return None
        others = counts - Counter([one])
        effects: Counter[Vector] = Counter([secret, plain])
        for kind, times in others.items():
            effects[kind.effect] += times
        distinct = sorted(effects)
        multiset = tuple((place, effects[effect]) for place, effect in enumerate(distinct))
        if is_reducible(distinct, multiset):
            return None
        rest = self.moves.pair(others, Counter())
        return Pair(before=(x, other, *rest.before), after=(z, one.after, *rest.after))
