"""The irreducible of the largest value, where summed weights bound values from above."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.verifier.engines.irreducibles.choice import engines
from blowproof.verifier.engines.irreducibles.circuits import circuits
from blowproof.verifier.engines.irreducibles.multiset import Multiset, canonical, is_reducible
from blowproof.verifier.engines.irreducibles.search import Engine, Stopwatch, explore
from blowproof.verifier.exact.coordinates import Instance, Number, length_bound
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Best", "Progress", "Result"]

Progress = Callable[[int, Number], None]
"""Called a few times a second with the number of nodes and the best value so far."""

PIVOTS = whole_limit(__name__, "PIVOTS")


@dataclass(frozen=True)
class Result:
    """`lower` is attained by `witness`, which `is_reducible` does not refute; `upper` is a theorem.

    `complete` says that the search ended and the two are equal.
    """

    lower: Number
    witness: Multiset
    upper: Number | None
    complete: bool
    nodes: int
    seconds: float


class Best:
    """The best value so far and its multiset, from circuits first and then from the engines."""

    def __init__(
        self,
        instance: Instance,
        clock: Stopwatch,
        evaluate: Callable[[Multiset], Number],
        best: Number,
        on_progress: Progress | None,
    ) -> None:
        self.instance = instance
        self.clock = clock
        self.evaluate = evaluate
        self.best = best
        self.on_progress = on_progress
        self.witness: Multiset = ()
        self.seen: set[Multiset] = set()
        self.nodes = 0

    def run(self, permutations: NDArray[np.int32]) -> Result:
        """Search until the end or the time limit."""
        for _, multiset in circuits(self.instance, PIVOTS, end=self.clock.end()):
            self.offer(multiset)
        for engine, most_nodes in engines(
            self.instance, permutations, eager=True, clock=self.clock
        ):
            if self._drive(engine, most_nodes):
                return self._result(self.best)
            if self.clock.expired:  # before the next engine prepares itself
                break
        heaviest = max(self.instance.weights)
        return self._result(None, self.instance.value(length_bound(self.instance) * heaviest))

    def offer(self, multiset: Multiset) -> None:
        """Evaluate the multiset unless it was evaluated before or cannot beat the best."""
        bound = sum(self.instance.weights[i] * times for i, times in multiset)
        if bound <= self._threshold() or multiset in self.seen:
            return
        self.seen.add(multiset)
        value = self.evaluate(multiset)
        if value > self.best:
            if is_reducible(self.instance.effects, multiset):
                raise AssertionError(f"the search reported a reducible multiset: {multiset}")
            self.best, self.witness = value, multiset

    def _drive(self, engine: Engine, most_nodes: int | None) -> bool:
        """Whether the engine came to its end."""
        engine.raise_threshold(self._threshold())
        found = explore(self.instance, engine, self.clock, most_nodes, self._report)
        for members in found:
            self.offer(canonical(members))
            engine.raise_threshold(self._threshold())
        self.nodes += engine.nodes
        return found.complete

    def _threshold(self) -> int:
        """A summed weight exceeds the best value iff it exceeds this whole number."""
        return int(self.best * self.instance.scale // 1)

    def _report(self, nodes: int) -> None:
        if self.on_progress is not None:
            self.on_progress(self.nodes + nodes, self.best)

    def _result(self, proved: Number | None, bound: Number = 0) -> Result:
        """`proved`: the maximum, if the search ended; otherwise `bound` holds for every value."""
        return Result(
            lower=self.best,
            witness=self.witness,
            upper=max(bound, self.best) if proved is None else proved,
            complete=proved is not None,
            nodes=self.nodes,
            seconds=self.clock.seconds,
        )
