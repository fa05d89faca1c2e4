"""Irreducibles that hold one more element, given by its sum, exactly once.

Let d be a sum of effects, and take it as one more element of its own. What is looked for are the
multisets z of effects such that z and this one element are irreducible together: z sums to -d and
has no non-empty part that sums to zero. The search of `search` finds them if it starts at the node
{d}, with the effects available below it and the element itself not: its argument for completeness
is about what lies below a node, and uses no more of the symmetries than that they map what is
looked for to itself. So those that leave d where it is may be used.

If effects lie in several parts (see `coordinates.parts`), z has no part that sums to zero iff that
is true of what it takes from each of them, and d is a sum of one vector of each of their spans: the
largest weight of z is a sum over the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.engines.irreducibles.choice import Crew, engines
from blowproof.verifier.engines.irreducibles.multiset import Multiset, canonical, is_reducible
from blowproof.verifier.engines.irreducibles.search import Engine, Stopwatch, explore
from blowproof.verifier.engines.irreducibles.search_python import PlainEngine
from blowproof.verifier.engines.irreducibles.symmetry import automorphisms
from blowproof.verifier.engines.irreducibles.warming import Meanwhile
from blowproof.verifier.exact.coordinates import Instance, Number, Vector

__all__ = ["Started"]


@dataclass
class Started:
    """A search for the z that are irreducible with `start`, heavier than `above` (z alone).

    Iterating yields (weight, z) with no more than `time_limit` seconds; `complete` tells afterwards
    whether the search ended. With `rising`, only what is heavier than all before is yielded, so the
    last is the heaviest. `symmetry`: of those that symmetries map to one another, one at least.

    >>> effects = [(1,), (-1,), (3,), (-3,)]
    >>> search = Started(effects, [1, 1, 1, 1], (2,))
    >>> sorted(search), search.complete
    ([(2, ((0, 1), (3, 1))), (2, ((1, 2),))], True)
    """

    effects: Sequence[Vector]
    weights: Sequence[Number]
    start: Vector
    above: Number = -1
    time_limit: float | None = None
    rising: bool = False
    symmetry: bool = False
    complete: bool = False
    nodes: int = 0

    def __iter__(self) -> Iterator[tuple[Number, Multiset]]:
        clock = Stopwatch(self.time_limit)
        if not any(self.start):
            yield from [(0, ())] if self.above < 0 else []
            self.complete = True
            return
        instance, place, inside = self._instance()
        permutations = np.arange(len(instance.effects), dtype=np.int32)[None]
        if self.symmetry:
            every = automorphisms(instance, end=clock.end(1 / 4))
            permutations = every[every[:, place] == place]
        for engine, most_nodes in engines(instance, permutations, eager=self.rising, clock=clock):
            begin(engine, place, () if inside else (place, instance.opposite[place]))
            found = self._drive(engine, instance, place, clock, most_nodes)
            if most_nodes is not None and not self.rising:
                found = iter(list(found))  # what a try finds counts if it ends
                if not self.complete:
                    continue
            yield from found
            if self.complete or clock.expired:
                return

    def _instance(self) -> tuple[Instance, int, bool]:
        """The effects, the place of the start among them, and whether it is one of theirs."""
        effects, weights = [tuple(effect) for effect in self.effects], list(self.weights)
        inside = tuple(self.start) in effects
        if not inside:
            effects += [tuple(self.start), tuple(-x for x in self.start)]
            weights += [0, 0]
        return Instance.of(effects, weights), effects.index(tuple(self.start)), inside

    def _drive(
        self, engine: Engine, instance: Instance, place: int, clock: Stopwatch, most: int | None
    ) -> Iterator[tuple[Number, Multiset]]:
        own = instance.weights[place]
        limit = int(self.above * instance.scale // 1) + own
        engine.raise_threshold(limit)
        explored = explore(instance, engine, clock, most)
        for members in explored:
            weight = sum(instance.weights[i] for i in members)
            if weight <= limit:
                continue
            if self.rising:
                if is_reducible(instance.effects, canonical(members)):
                    raise AssertionError(f"the search reported a reducible multiset: {members}")
                limit = weight
                self.above = instance.value(weight - own)
                engine.raise_threshold(limit)
            rest = list(members)
            rest.remove(place)
            yield instance.value(weight - own), canonical(rest)
        self.nodes += engine.nodes
        self.complete = explored.complete


def begin(engine: Engine, place: int, excluded: Sequence[int]) -> None:
    """Make {effect at `place`} the only child of the root, and nothing `excluded` available."""
    if isinstance(engine, Meanwhile):
        engine = engine.engine
    if isinstance(engine, PlainEngine):
        (root,) = engine.path
        root.todo = 1 << place
        for e in excluded:
            root.available &= ~(1 << e)
    else:
        state = cast("Crew", engine).first.state
        _clear(state.todo[0])
        _flip(state.todo[0], place)
        for e in excluded:
            _flip(state.available[0], e)


def _clear(words: NDArray[np.uint64]) -> None:
    words[:] = 0


def _flip(words: NDArray[np.uint64], e: int) -> None:
    words[e >> 6] ^= np.uint64(1) << np.uint64(e & 63)
