"""The search for irreducibles: why it is complete, and the loop that drives an engine.

**The tree.** A node is a multiset w without a zero-sum part, with sum s and Sigma, the set of sums
of its non-empty parts. The root is empty. At a node some effects are *available*; the others are
dropped or excluded.

- *Dropped*: -d in Sigma. If an irreducible M contains w + d, then the part of w with sum -d makes a
  zero-sum part together with d, so it is all of M, so it is w, and d = -s. Hence d can only close.
- *Closing*: if -s is an effect, w + (-s) is irreducible: a zero-sum part contains -s, thus leaves
  out of w a part with sum zero, thus nothing. It is reported, and -s is dropped.
- *Excluded*: e such that w + e contains a *covered* multiset or an image of one.

**Branches.** Take a linear y with y.s > 0. What an irreducible M has beyond w sums to -s, so it
contains an element of N = {d available : y.d < 0}, unless it closes M or contains an excluded
element. Each element of N becomes a child in turn (N is everything at the root); a finished child
is excluded for the siblings after it. The children's own copies of a tried element count as
*further* elements: w may hold an excluded effect, what is forbidden is to add one more of it.

**Covered.** c is covered if for each irreducible M that contains c, an image of M under the
symmetries has been met. Claim: a finished node w is covered. By induction on the time of finishing,
let M contain w. If M closes w it is reported, or its last element is excluded. If what M has beyond
w has an excluded element, M contains an image g(c) of a multiset covered earlier, so an image of
g^-1(M), which is an image of M, was met. Else M has an element of N beyond w, which was a child
(then M contains a node that finished earlier) or was excluded by an earlier sibling. Only
compositions of the given linear maps are used, so these need not form a group; every one of them
keeps what is maximised, which is the condition on symmetries. When the root is finished, the empty
multiset is covered: the search is complete. Without symmetries, M is reported once: of the children
that M contains, all but the first lack an element of M.

**What may be approximate.** Sigma may lack sums (they may not fit into memory): less is dropped,
and reported multisets are then checked one by one. The list of functionals, the order of children
and the covered multisets that are remembered influence the length of the search only.

**It ends** if Sigma is exact and all normals of `functionals.py` are present: on an infinite path
the effects that repeat for ever have no positive relation (Sigma would show it), so some normal is
>= 0 on them and, as they accumulate, > 0 on s; the penalty on effects that w holds prefers it in
the end, and it adds none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from blowproof.models.base.clock import now, spend
from blowproof.verifier.engines.irreducibles.multiset import (
    MOST_SUMS,
    TooManySumsError,
    canonical,
    is_irreducible,
)
from blowproof.verifier.exact.coordinates import Instance
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Engine", "Exploration", "Stopwatch", "explore"]

SLICE = real_limit(__name__, "SLICE")
FIRST_SLICE = whole_limit(__name__, "FIRST_SLICE")


class Engine(Protocol):
    """A search that can be run in slices."""

    @property
    def seconds(self) -> float:
        """What a node costs."""

    @property
    def nodes(self) -> int:
        """Nodes visited so far."""

    def raise_threshold(self, weight: int) -> None:
        """Report only irreducibles that weigh more than this from now on."""

    def advance(self, nodes: int) -> bool | None:
        """True when the search is finished, False when it is not, None when it cannot go on."""

    def take(self) -> Iterator[tuple[list[int], bool]]:
        """The irreducibles found since the last call, each with whether it still needs a check."""


class Stopwatch:
    """Seconds since the start, and whether the limit has passed."""

    def __init__(self, limit: float | None) -> None:
        self.start = now()
        self.limit = limit

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return now() - self.start

    def end(self, part: float = 1.0) -> float | None:
        """The time (of `now`) when that part of the limit has passed."""
        return None if self.limit is None else self.start + part * self.limit

    @property
    def expired(self) -> bool:
        """Whether the limit has passed."""
        return self.limit is not None and self.seconds >= self.limit


class Exploration:
    """Irreducibles in the order in which the engine reports them, then `complete`: did it end?"""

    def __init__(
        self,
        instance: Instance,
        engine: Engine,
        clock: Stopwatch,
        most_nodes: int | None,
        on_slice: Callable[[int], None] | None,
    ) -> None:
        self.instance = instance
        self.engine = engine
        self.clock = clock
        self.most_nodes = most_nodes
        self.on_slice = on_slice
        self.complete = False
        self.undecided = False

    def __iter__(self) -> Iterator[list[int]]:
        nodes = FIRST_SLICE
        outcome: bool | None = False
        while outcome is False and not self._stops():
            begun, before = now(), self.engine.nodes
            outcome = self.engine.advance(nodes)
            spend((self.engine.nodes - before) * self.engine.seconds)
            nodes = _next_slice(self.engine.nodes - before, now() - begun, nodes)
            for members, doubtful in self.engine.take():
                if not doubtful or self._decided(members):
                    yield members
            if self.on_slice is not None:
                self.on_slice(self.engine.nodes)
        self.complete = outcome is True and not self.undecided

    def _decided(self, members: Sequence[int]) -> bool:
        """Whether a multiset is irreducible; False, and `undecided`, if there is no time for it."""
        try:
            if not self.clock.expired:
                multiset = canonical(members)
                return is_irreducible(self.instance.effects, multiset, most=MOST_SUMS)
        except TooManySumsError:
            pass
        self.undecided = True
        return False

    def _stops(self) -> bool:
        enough = self.most_nodes is not None and self.engine.nodes >= self.most_nodes
        return enough or self.clock.expired


def explore(
    instance: Instance,
    engine: Engine,
    clock: Stopwatch,
    most_nodes: int | None = None,
    on_slice: Callable[[int], None] | None = None,
) -> Exploration:
    """Run the engine to its end, the time limit, or that many nodes."""
    return Exploration(instance, engine, clock, most_nodes, on_slice)


def _next_slice(done: int, seconds: float, nodes: int) -> int:
    """About SLICE seconds of nodes at the present speed, at most four times as many as before."""
    if seconds <= 0 or done == 0:
        return nodes
    return max(1, min(4 * nodes, int(done * SLICE / seconds)))
