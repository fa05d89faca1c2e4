"""What the package answers: the longest irreducible, a best one, all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from blowproof.verifier.engines.irreducibles.best_value import Best, Progress, Result
from blowproof.verifier.engines.irreducibles.choice import compile_all, engines, identity
from blowproof.verifier.engines.irreducibles.multiset import Multiset, canonical
from blowproof.verifier.engines.irreducibles.search import Stopwatch, explore
from blowproof.verifier.engines.irreducibles.symmetry import automorphisms, check_symmetry
from blowproof.verifier.engines.irreducibles.warming import ready
from blowproof.verifier.exact.coordinates import Instance, Number, length_bound, parts

__all__ = [
    "Enumeration",
    "first_irreducibles",
    "improve",
    "irreducibles",
    "largest_part",
    "longest",
    "longest_bound",
    "warm_up",
]

Effects = Sequence[Sequence[int]]


class Enumeration:
    """Irreducibles, each once, as an iterator; `complete` if it has run out and none is missing."""

    def __init__(
        self,
        instance: Instance,
        *,
        limit: int | None = None,
        time_limit: float | None = None,
        largest: int | None = None,
    ) -> None:
        self.complete = False
        self._limit = limit
        self._multisets = self._run(instance, time_limit, largest)
        self._yielded = 0

    def __iter__(self) -> Iterator[Multiset]:
        return self

    def __next__(self) -> Multiset:
        if self._limit is not None and self._yielded >= self._limit:
            raise StopIteration
        multiset = next(self._multisets)
        self._yielded += 1
        return multiset

    def _run(
        self, instance: Instance, time_limit: float | None, largest: int | None
    ) -> Iterator[Multiset]:
        clock = Stopwatch(time_limit)
        if not instance.effects:
            self.complete = True
            return
        for engine, most_nodes in engines(
            instance, identity(instance), largest=largest, eager=False
        ):
            found = explore(instance, engine, clock, most_nodes)
            # What an engine finds that only gets a try counts if it ends: the next starts afresh.
            members = found if most_nodes is None else list(found)
            if most_nodes is not None and not found.complete and not clock.expired:
                continue
            yield from map(canonical, members)
            self.complete = found.complete
            return


NOTHING = Result(lower=0, witness=(), upper=0, complete=True, nodes=0, seconds=0.0)


def longest(
    effects: Effects,
    weights: Sequence[Number] | None = None,
    *,
    time_limit: float | None = None,
    on_progress: Progress | None = None,
    lower_bound_hint: int = 0,
    symmetry: bool = True,
) -> Result:
    """The largest total weight (without weights: size) of an irreducible.

    Exact when `complete`, by the argument in `search`. When stopped, `upper` is
    `coordinates.length_bound` times the largest weight. `lower_bound_hint` is a value believed to
    be attained: only irreducibles that reach it are looked for. If none does, the witness is empty,
    and a finished search has proved that all are lighter.

    >>> result = longest([(1,), (-1,), (3,), (-3,)])
    >>> result.lower, result.upper, result.complete
    (4, 4, True)
    """
    clock = Stopwatch(time_limit)
    instance = Instance.of(effects, weights)
    if not instance.effects:
        return NOTHING
    divided = parts(instance.effects)
    if len(divided) > 1:

        def alone(part: list[int], left: float | None, best: Number) -> Result:
            return longest(
                [instance.effects[i] for i in part],
                [instance.value(instance.weights[i]) for i in part],
                time_limit=left,
                on_progress=on_progress,
                symmetry=symmetry,
            )

        return _part_by_part(divided, clock, alone, 0)

    def total(multiset: Multiset) -> Number:
        return instance.value(sum(instance.weights[i] * times for i, times in multiset))

    below = instance.value(lower_bound_hint * instance.scale - 1)
    permutations = automorphisms(instance, end=clock.end(1 / 4)) if symmetry else identity(instance)
    result = Best(instance, clock, total, below, on_progress).run(permutations)
    return result if result.witness else replace(result, lower=0, complete=False)


def longest_bound(effects: Effects) -> int:
    """A size that no irreducible exceeds, at once and without a search: see `length_bound`.

    >>> longest_bound([(1,), (-1,)])
    2
    """
    return max(
        (length_bound(Instance.of([effects[i] for i in part])) for part in parts(effects)),
        default=0,
    )


def largest_part(effects: Effects) -> int:
    """How many effects the largest part has; irreducibles lie in one part each (see `parts`)."""
    return max(map(len, parts(effects)), default=0)


def _part_by_part(
    divided: list[list[int]],
    clock: Stopwatch,
    alone: Callable[[list[int], float | None, Number], Result],
    best: Number,
) -> Result:
    """The best of all parts: `alone` searches one, in its share of the time, given the best."""
    witness: Multiset = ()
    uppers: list[Number | None] = []
    nodes = 0
    for number, part in enumerate(divided):
        left = None
        if clock.limit is not None:
            left = max(0.0, clock.limit - clock.seconds) / (len(divided) - number)
        found = alone(part, left, best)
        nodes += found.nodes
        uppers.append(found.upper)
        if found.witness and found.lower > best:
            best = found.lower
            witness = tuple((part[i], times) for i, times in found.witness)
    known = [upper for upper in uppers if upper is not None]
    upper = max([best, *known]) if len(known) == len(uppers) else None
    return Result(
        lower=best,
        witness=witness,
        upper=upper,
        complete=upper == best,
        nodes=nodes,
        seconds=clock.seconds,
    )


def improve(
    effects: Effects,
    upper_weights: Sequence[Number],
    evaluate: Callable[[Multiset], Number],
    *,
    best: Number = 0,
    symmetries: Sequence[Sequence[int]] = (),
    time_limit: float | None = None,
    on_progress: Progress | None = None,
) -> Result:
    """The largest `evaluate(M)` above `best` over irreducibles M, for an objective that is not
    additive.

    The caller warrants that evaluate(M) is at most the sum of `upper_weights` over M, and that it
    does not change under `symmetries` (permutations of effect indices; that each acts linearly on
    the effects is checked here). `evaluate` is called at most once per multiset, and only where
    that sum exceeds the best value so far. An empty witness says that nothing was found to beat
    `best`, which is `lower` then.

    >>> effects = [(1,), (-1,), (3,), (-3,)]
    >>> improve(effects, [1, 1, 1, 1], lambda multiset: len(multiset)).lower
    2
    """
    clock = Stopwatch(time_limit)
    instance = Instance.of(effects, upper_weights)
    if not instance.effects:
        return replace(NOTHING, lower=best, upper=best)
    divided = parts(instance.effects)
    if len(divided) > 1 and not symmetries:

        def alone(part: list[int], left: float | None, best: Number) -> Result:
            return improve(
                [instance.effects[i] for i in part],
                [instance.value(instance.weights[i]) for i in part],
                lambda multiset: evaluate(tuple((part[i], times) for i, times in multiset)),
                best=best,
                time_limit=left,
                on_progress=on_progress,
            )

        return _part_by_part(divided, clock, alone, best)
    listed = {tuple(range(len(instance.effects)))}
    listed.update(check_symmetry(instance, permutation) for permutation in symmetries)
    permutations = np.array(sorted(listed), dtype=np.int32)
    return Best(instance, clock, evaluate, best, on_progress).run(permutations)


def irreducibles(
    effects: Effects, *, limit: int | None = None, time_limit: float | None = None
) -> Enumeration:
    """All irreducibles: the Hilbert basis of {u >= 0 : sum of u_i effect_i = 0}, in no particular
    order.

    >>> found = irreducibles([(1,), (-1,), (2,), (-2,)])
    >>> sorted(found), found.complete
    ([((0, 1), (1, 1)), ((0, 2), (3, 1)), ((1, 2), (2, 1)), ((2, 1), (3, 1))], True)
    """
    return Enumeration(Instance.of(effects), limit=limit, time_limit=time_limit)


def first_irreducibles(
    effects: Effects, max_size: int, *, limit: int | None = None, time_limit: float | None = None
) -> Enumeration:
    """All irreducibles with at most `max_size` elements (which is at least 2)."""
    return Enumeration(Instance.of(effects), limit=limit, time_limit=time_limit, largest=max_size)


def warm_up() -> None:
    """Compile the search, or load it if it was compiled before, and wait for that.

    The first time after an installation that takes some ten seconds, later a fraction of one. A
    search does it by itself, in the background, and without it where its time is up before.
    """
    while not ready(compile_all, wait=1.0):
        pass
