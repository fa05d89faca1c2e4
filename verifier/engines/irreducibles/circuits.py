"""Circuits, the irreducibles of least support: a lower bound in milliseconds."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from random import Random

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now, spend
from blowproof.verifier.engines.irreducibles.multiset import Multiset, is_irreducible
from blowproof.verifier.exact.coordinates import Instance, Number
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["circuits", "circuits_lower_bound"]

LARGEST = whole_limit(__name__, "LARGEST")
ENTRY = real_limit(__name__, "ENTRY")
STEP = real_limit(__name__, "STEP")
COORDINATE = real_limit(__name__, "COORDINATE")


def circuits_lower_bound(
    effects: Sequence[Sequence[int]],
    weights: Sequence[Number] | None = None,
    budget: int = 200,
    *,
    seed: int = 0,
    time_limit: float | None = None,
) -> tuple[Number, Multiset]:
    """The largest total weight among the circuits met in `budget` random pivots, and that circuit.

    A circuit is an irreducible: its support carries one integer relation only, so every zero-sum
    part of it is a multiple of the primitive one, which is the circuit itself. (0, ()) if there are
    no effects. The walk ends at the time limit.
    """
    instance = Instance.of(effects, weights)
    spend(len(effects) * instance.rank * COORDINATE)
    end = None if time_limit is None else now() + time_limit
    found = list(circuits(instance, budget, seed, end))
    for weight, multiset in reversed(found):  # the heaviest comes last
        if is_irreducible(instance.effects, multiset):
            return instance.value(weight), multiset
    return 0, ()


def circuits(
    instance: Instance,
    budget: int,
    seed: int = 0,
    end: float | None = None,
    wanted: Container[int] | None = None,
) -> Iterator[tuple[int, Multiset]]:
    """Circuits that are heavier than all before, from a walk over bases.

    Each basis with each effect outside it gives one relation, hence one circuit and its negative.
    The walk pivots on the heaviest circuit of the basis or at random, and starts afresh now and
    then. `wanted`: each circuit has one of these effects.
    """
    if not instance.effects:
        return
    halves = instance.halves.tolist()
    first = next((i for i in halves if wanted is None or i in wanted), None)
    if first is None:
        return
    opposite = instance.opposite[first]
    best = instance.weights[first] + instance.weights[opposite]
    yield best, ((first, 1), (opposite, 1))
    random = Random(seed)
    tableau = _Tableau(instance, random)
    for step in range(budget):
        time_told = now(STEP + tableau.entries.size * ENTRY)
        if end is not None and time_told > end:
            return
        if step % 40 == 0 or tableau.overflows:
            tableau = _Tableau(instance, random)
        if tableau.overflows:
            continue
        column, negative, weight = tableau.heaviest()
        if weight > best:
            circuit = tableau.circuit(column, negative)
            if wanted is None or any(i in wanted for i, _ in circuit):
                best = weight
                yield best, circuit
        tableau.pivot(column if random.random() < 0.5 else random.randrange(len(instance.halves)))


class _Tableau:
    """One effect of each pair in a basis of theirs: `entries / scale` are the coordinates."""

    def __init__(self, instance: Instance, random: Random) -> None:
        order = random.sample(instance.halves.tolist(), len(instance.halves))
        self.instance = instance
        self.random = random
        self.half = np.array(order, dtype=np.int64)
        self.entries: NDArray[np.int64] = np.ascontiguousarray(instance.vectors[order].T)
        self.scale = 1
        self.basis = np.full(instance.rank, -1, dtype=np.int64)
        self.overflows = int(np.abs(self.entries).max()) > LARGEST
        weights = np.array(instance.weights, dtype=float)
        self.along = weights[self.half]
        self.against = weights[np.array(instance.opposite, dtype=np.int64)[self.half]]
        spend(instance.rank * (STEP + self.entries.size * ENTRY))
        for column in range(len(order)):
            free = np.flatnonzero((self.entries[:, column] != 0) & (self.basis < 0))
            if len(free) and not self.overflows:
                self._exchange(int(free[0]), column)

    def heaviest(self) -> tuple[int, bool, int]:
        """(column, negated?, weight) of the heaviest circuit of the basis with one more effect."""
        divisors = np.gcd.reduce(
            np.vstack([self.entries, np.full(self.entries.shape[1], self.scale)])
        )
        ups, downs = np.maximum(self.entries, 0), np.maximum(-self.entries, 0)
        # entries[:, c] / scale are the coordinates of c: c's own weight goes against the basis's
        along, against = self.along[self.basis], self.against[self.basis]
        one = along @ downs + against @ ups + self.scale * self.along
        two = along @ ups + against @ downs + self.scale * self.against
        totals = np.vstack([one, two]) / divisors
        totals[:, self.basis] = -1.0
        sign, column = divmod(int(totals.argmax()), totals.shape[1])
        members = self._members(column, bool(sign))
        return column, bool(sign), sum(self.instance.weights[i] * times for i, times in members)

    def circuit(self, column: int, negative: bool) -> Multiset:
        """The circuit of the basis and the effect in `column`, as effects with multiplicities."""
        return tuple(sorted(self._members(column, negative)))

    def pivot(self, column: int) -> None:
        """Bring the effect in `column` into the basis, for a random one that it may replace."""
        if column in self.basis:
            return
        rows = np.flatnonzero(self.entries[:, column])
        self._exchange(int(self.random.choice(rows.tolist())), column)

    def _members(self, column: int, negative: bool) -> list[tuple[int, int]]:
        opposite = self.instance.opposite
        if column in self.basis:
            i = int(self.half[column])
            return [(i, 1), (opposite[i], 1)]
        numbers = [-int(x) for x in self.entries[:, column]] + [self.scale]
        owners = [int(self.half[b]) for b in self.basis] + [int(self.half[column])]
        divisor = int(np.gcd.reduce(np.array(numbers))) * (-1 if negative else 1)
        signed = [(i, x // divisor) for i, x in zip(owners, numbers, strict=True) if x]
        return [(i, times) if times > 0 else (opposite[i], -times) for i, times in signed]

    def _exchange(self, row: int, column: int) -> None:
        """One fraction-free pivot: all entries stay whole, the new scale is the pivot's size."""
        pivot = int(self.entries[row, column])
        others = pivot * self.entries - np.outer(self.entries[:, column], self.entries[row])
        entries = others // self.scale
        entries[row] = self.entries[row]
        sign = 1 if pivot > 0 else -1
        self.entries, self.scale = sign * entries, sign * pivot
        self.basis[row] = column
        self.overflows = int(np.abs(self.entries).max()) > LARGEST
