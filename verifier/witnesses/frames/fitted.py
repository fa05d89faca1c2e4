"""Circuits made to fit: cycles round the classes of a table, in which nearly all records move.

Under scope "given" a circuit counts only if D1 holds the records that it moves, and the heaviest
circuits want very many records of few classes. Here it is the other way round: what the classes
hold says how often a cycle is gone round, and then labels are looked for.

*Statement.* Let the classes and labels be those of `beside`: cells, and what further facts add.
Take simple cycles Z_1, ..., Z_g through classes, with labels v_1, ..., v_g, such that cycles and
the classes that they visit make up a forest (no way leads round from a cycle to a class of its own
by others), and whole numbers m_1, ..., m_g > 0 without a common divisor such that sum m_i v_i = 0
and the labels have rank g - 1. Then to go round each Z_i m_i times is irreducible.

*Proof.* A part without effect on the base is a circulation. In a forest the Z_i are all simple
cycles along these arcs, and no two have a common arc: so the part goes round each k_i times, 0 <=
k_i <= m_i. Its labels sum to 0: sum k_i v_i = 0. Relations of the v_i have rank 1, so that k is a
multiple of m; it is a whole one, as m has no common divisor: 0 or m. QED

*How they are found.* The last cycle is gone round once, m_g = 1. The others have m_i = sum of c_ij
m_j over later ones, c_ij >= 0 whole: what their classes hold, or less. Each of these equations is a
branch of a tree on g labels that are affinely independent: from label s to label t, Z_i takes one
record, and each Z_j takes c_ij back. So the labels have rank g - 1, and m is their relation. A
cycle needs no more arcs for that than 1 + sum of c_ij over i; along its others records keep their
labels, any that D1 has room for. How many classes each cycle has is improved step by step; classes
that hold more are visited by others, too.

In reading 1, where G is not complete, the last cycle is one record that changes its label along an
edge of G and stays in its class, and no other record makes a secret move.

Two margins have such a circuit of most records where they have a dozen values or so: then S is
nearly as large as n allows. Like any pair, it is checked before it counts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, pairwise, product

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.verifier.exact.span import full_rank
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.beside import Beside
from blowproof.verifier.witnesses.frames.worth import Arc

__all__ = ["Branch", "Fitting", "fitting"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_KINDS = whole_limit(__name__, "MOST_KINDS")
MOST_CYCLES = whole_limit(__name__, "MOST_CYCLES")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")
LARGEST = whole_limit(__name__, "LARGEST")
STEPS = whole_limit(__name__, "STEPS")
PARTS = (1, 2, 4)
"""A cycle is gone round no more often than one label has room for, or this part of it."""

Numbers = NDArray[np.int64]
Label = tuple[int, ...]
Branch = tuple[Label, Label]


@dataclass
class _Cycle:
    """How often it is gone round, classes that it visits, and labels that records leave and get."""

    times: int
    homes: list[int]
    left: list[Label] = field(default_factory=list)
    entered: list[Label] = field(default_factory=list)


@dataclass(frozen=True)
class Fitting:
    """Classes, most records first, with labels that all of them have, and room for labels.

    `at` has the place in the table of each class and label. `need` says what a record with a label
    takes of each `room`: of the records that D1 has with some fact, or without it.
    """

    homes: tuple[int, ...]
    held: tuple[int, ...]
    at: dict[tuple[int, Label], int]
    need: dict[Label, Numbers]
    room: Numbers

    def circuits(self, edge: Branch | None, seed: int, end: float) -> Iterator[list[Arc]]:
        """Yield arcs; with an edge, the first is that of one record alone between these labels."""
        rng = random.Random(seed)
        alone = edge is not None
        rank = len(next(iter(self.need)))
        most = min(len(self.homes) + alone, MOST_CYCLES, rank + 1)
        for count, part in product(range(most, 1, -1), PARTS):
            if now() > end:
                return
            top = max(self._fit(kind, self.room) for kind in self.need) // part
            held = [min(k, top) for k in self.held]
            sizes = _sizes(held, count - alone, rng, alone=alone)
            cycles = self._cycles(held, sizes, edge)
            if cycles is not None:
                yield self._arcs(cycles)

    def _cycles(
        self, held: Sequence[int], sizes: Sequence[int], edge: Branch | None
    ) -> list[_Cycle] | None:
        """Return cycles through so many classes each, those that hold most first."""
        times, taken = _times(held, sizes, alone=edge is not None)
        tree = self._tree(times, edge) if all(times) else None
        if tree is None:
            return None
        cycles = [_Cycle(m, []) for m in times]
        ends = pairwise([0, *accumulate(sizes)])
        for cycle, (low, high) in zip(cycles, ends, strict=False):
            cycle.homes += self.homes[low:high]
        for i, (s, t) in enumerate(tree):
            cycles[i].left.append(s)
            cycles[i].entered.append(t)
            for j, back in enumerate(taken[i]):
                cycles[j].left += [t] * back
                cycles[j].entered += [s] * back
        self._join(cycles, alone=edge is not None)
        left = self.room - sum(c.times * self.need[s] for c in cycles for s in c.left)
        if (left < 0).any() or any(len(c.left) > len(c.homes) for c in cycles):
            return None
        free = [cycle for cycle in cycles for _ in cycle.homes[len(cycle.left) :]]
        for cycle in sorted(free, key=lambda cycle: -cycle.times):
            kind = max(self.need, key=lambda kind: self._fit(kind, left))
            if self._fit(kind, left) >= cycle.times:
                left = left - cycle.times * self.need[kind]
                cycle.left.append(kind)
                cycle.entered.append(kind)
        return cycles

    def _fit(self, kind: Label, room: Numbers) -> int:
        """Return how many records with a label there is room for."""
        need = self.need[kind]
        return int((room[need > 0] // need[need > 0]).min(initial=LARGEST))

    def _tree(self, times: Sequence[int], edge: Branch | None) -> list[Branch] | None:
        """Return a branch for each equation, the last back along the edge; None: too few labels.

        What moves most records goes between the labels that have most room.
        """
        by_room = sorted(self.need, key=lambda kind: -self._fit(kind, self.room))
        last = (by_room[0], by_room[1]) if edge is None else (edge[1], edge[0])
        chosen = list(last)
        for kind in by_room:
            if len(chosen) < len(times) and kind not in chosen and _apart([*chosen, kind]):
                chosen.append(kind)
        if len(chosen) < len(times):
            return None
        room, trees = self.room.copy(), {kind: kind for kind in chosen}
        trees[last[1]] = last[0]
        branches: list[Branch] = []
        for m in times[:-2]:
            fit = {kind: self._fit(kind, room) for kind in chosen}
            between = [(s, t) for s, t in combinations(chosen, 2) if trees[s] != trees[t]]
            one, two = max(between, key=lambda ends: min(fit[ends[0]], fit[ends[1]]))
            room = room - m * (self.need[one] + self.need[two])
            branches.append((one, two))
            trees = {k: trees[one] if tree == trees[two] else tree for k, tree in trees.items()}
        return [*branches, last]

    def _join(self, cycles: Sequence[_Cycle], *, alone: bool) -> None:
        """Let cycles visit classes of others that hold more, as long as it is a forest.

        `alone`: the last one has no class of its own, and visits one.
        """
        spare = dict(zip(self.homes, self.held, strict=True))
        owner = {home: k for k, cycle in enumerate(cycles) for home in cycle.homes}
        for home, k in owner.items():
            spare[home] -= cycles[k].times
        trees = list(range(len(cycles)))
        for k in sorted(trees, key=lambda k: (bool(cycles[k].homes), -cycles[k].times)):
            for home in sorted(owner, key=lambda home: -spare[home]):
                full = alone and k == len(cycles) - 1 and cycles[k].homes
                if full or spare[home] < cycles[k].times:
                    break
                if trees[owner[home]] != trees[k]:
                    one, two = trees[owner[home]], trees[k]
                    trees = [two if tree == one else tree for tree in trees]
                    spare[home] -= cycles[k].times
                    cycles[k].homes.append(home)

    def _arcs(self, cycles: Sequence[_Cycle]) -> list[Arc]:
        """Return the arcs, the last cycle's first.

        Where it can be had, what leaves a class has another label than what comes to it.
        """
        arcs = []
        for cycle in reversed(cycles):
            moves = list(zip(cycle.left, cycle.entered, strict=True))
            order = [moves.pop(0)]
            while moves:
                came = order[-1][1]
                order.append(moves.pop(next((k for k, (s, _) in enumerate(moves) if s != came), 0)))
            homes = cycle.homes[: len(order)]
            for one, (s, t), two in zip(homes, order, [*homes[1:], homes[0]], strict=True):
                arcs.append((self.at[one, s], self.at[two, t], cycle.times))
        return arcs


def fitting(cells: Beside, held: Sequence[int], answers: Sequence[int]) -> Fitting | None:
    """Return the classes and labels; None where they are too few or too many.

    `held`: how many records each class has; `answers`: what the table's equalities count.
    """
    at: dict[tuple[int, Label], int] = {}
    labels: dict[int, set[Label]] = {}
    for place, (home, row) in enumerate(zip(cells.home, cells.labels.tolist(), strict=True)):
        at.setdefault((home, tuple(row)), place)
        labels.setdefault(home, set()).add(tuple(row))
    homes = sorted(
        (home for home in labels if held[home] > 0), key=lambda home: (-held[home], home)
    )
    size, effects = sum(held), cells.table.effects
    if not 2 <= len(homes) <= MOST_CLASSES or size * (int(np.abs(effects).max()) + 1) > LARGEST:
        return None
    common = sorted(set.intersection(*(labels[home] for home in homes)))
    if not 2 <= len(common) <= MOST_KINDS:
        return None
    at_home = [np.flatnonzero(np.array(cells.home) == home) for home in range(cells.count)]
    least = np.array([effects[places].min(axis=0) for places in at_home])
    most = np.array([effects[places].max(axis=0) for places in at_home])
    rows = np.column_stack([effects - least[list(cells.home)], most[list(cells.home)] - effects])
    numbers, all_held = np.array(answers), np.array(held)
    room = np.array([*(numbers - all_held @ least), *(all_held @ most - numbers)])
    used = rows.any(axis=0)
    need = {kind: rows[at[homes[0], kind]][used] for kind in common}
    if size > MOST_RECORDS:  # as many as are written out
        room = room * MOST_RECORDS // size
        held = [k * MOST_RECORDS // size for k in held]
        homes = [home for home in homes if held[home]]
    return Fitting(tuple(homes), tuple(held[home] for home in homes), at, need, room[used])


def _sizes(held: Sequence[int], count: int, rng: random.Random, *, alone: bool) -> list[int]:
    """Return how many classes each of so many cycles has, so that many records move; no step of
    those tried made them more.
    """
    sizes = [len(held) // count + (k >= count - len(held) % count) for k in range(count)]
    best = 0
    for _ in range(STEPS):
        one, two, step = rng.randrange(count), rng.randrange(count), rng.randint(0, 3)
        if sizes[one] > step:
            tried = list(sizes)
            tried[one] -= step
            tried[two] += step
            times, _ = _times(held, tried, alone=alone)
            value = sum(m * size for m, size in zip(times, tried, strict=False))
            if value >= best:
                best, sizes = value, tried
    return sizes


def _times(
    held: Sequence[int], sizes: Sequence[int], *, alone: bool
) -> tuple[list[int], list[list[int]]]:
    """Return the m_i, no more than their classes hold, and the c_ij, no more than have arcs.

    `alone`: the last cycle is one record, besides.

    >>> _times([9, 8, 4, 3, 2, 1], [2, 2, 2], alone=False)
    ([2, 2, 1], [[0, 1, 0], [0, 0, 2], [0, 0, 0]])
    """
    tops = [held[high - 1] for high in accumulate(sizes)] + [1] * alone
    arcs = [size - 1 for size in sizes] + [1] * alone
    arcs[-1] += not alone  # the last has no equation of its own
    times = [0] * len(tops)
    taken = [[0] * len(tops) for _ in tops]
    times[-1] = 1
    for i in reversed(range(len(tops) - 1)):
        for j in range(i + 1, len(tops)):
            if times[j]:
                taken[i][j] = min(arcs[j], (tops[i] - times[i]) // times[j])
                arcs[j] -= taken[i][j]
                times[i] += taken[i][j] * times[j]
    return times, taken


def _apart(kinds: Sequence[Label]) -> bool:
    """Whether labels are affinely independent."""
    return full_rank(np.array([[1, *kind] for kind in kinds], dtype=np.int64))
