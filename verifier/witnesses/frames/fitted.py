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
branch from label s to label t, and the branches are independent: in a class where it comes and
goes, Z_i gives a record t for s, and each Z_j gives c_ij records s for t. So the labels have rank g
- 1, and m is their relation. In all other classes a cycle comes with the label that it leaves with:
any that D1 has room for. How many classes each cycle has is improved step by step; classes that
hold more are visited by others, too.

Where all classes share labels, branches are between these. Else classes with the same labels are a
group, and the cycles with branches go round the classes of one or two groups; all other classes
are in the first cycles, which visit one class of these groups each.

In reading 1, where G is not complete, the last cycle is one record that changes its label along an
edge of G and stays in its class, and no other record makes a secret move: classes follow one
another so that there are moves along no edge.

Two margins have such a circuit of most records where they have a dozen values or so: then S is
nearly as large as n allows. Like any pair, it is checked before it counts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, combinations, pairwise, product, zip_longest

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.models.base.kept import cached_property
from blowproof.verifier.exact.span import full_rank
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.beside import Beside
from blowproof.verifier.witnesses.frames.stops import Joined, Label, Stop, in_order
from blowproof.verifier.witnesses.frames.worth import Arc

__all__ = ["Branch", "Fitting", "Group", "fitting"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_KINDS = whole_limit(__name__, "MOST_KINDS")
MOST_CYCLES = whole_limit(__name__, "MOST_CYCLES")
MOST_GROUPS = whole_limit(__name__, "MOST_GROUPS")
MOST_FIRST = whole_limit(__name__, "MOST_FIRST")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")
LARGEST = whole_limit(__name__, "LARGEST")
STEPS = whole_limit(__name__, "STEPS")
QUIET = whole_limit(__name__, "QUIET")
PARTS = (1, 2, 4)
"""A cycle is gone round no more often than one label has room for, or this part of it."""

Numbers = NDArray[np.int64]
Branch = tuple[Label, Label]
Needs = tuple[tuple[int, int], ...]


@dataclass
class _Cycle:
    """How often it is gone round, the classes that it visits, and how often along each branch."""

    times: int
    homes: list[int]
    along: list[tuple[int, Branch]] = field(default_factory=list)
    """Of each branch that it goes along: the group, and from which label to which."""


@dataclass(frozen=True)
class Group:
    """Classes with the same labels, as far as branches mind them."""

    homes: tuple[int, ...]
    kinds: tuple[Label, ...]


@dataclass(frozen=True)
class Fitting:
    """Classes, most records first, with how many records they hold and the labels that they have.

    `at` has the place in the table of each class and label. `needs` says what a record at a place
    takes of each `room`: of the records that D1 has with some fact, or without it.
    """

    homes: tuple[int, ...]
    held: dict[int, int]
    kinds: dict[int, tuple[Label, ...]]
    at: dict[tuple[int, Label], int]
    needs: dict[int, tuple[tuple[int, int], ...]]
    room: tuple[int, ...]

    @cached_property
    def groups(self) -> list[Group]:
        """Those that branches may be in, those that hold most first; one where all share labels."""
        common = set.intersection(*(set(self.kinds[home]) for home in self.homes))
        if len(common) > 1:
            return [Group(self.homes, tuple(sorted(common)))]
        found: dict[tuple[Label, ...], list[int]] = {}
        for home in self.homes:
            if 1 < len(self.kinds[home]) <= MOST_KINDS:
                found.setdefault(self.kinds[home], []).append(home)
        groups = [Group(tuple(homes), kinds) for kinds, homes in found.items()]
        return sorted(groups, key=lambda group: -sum(self.held[home] for home in group.homes))

    def circuits(
        self, edge: Branch | None, seed: int, end: float, joined: Joined | None = None
    ) -> Iterator[list[Arc]]:
        """Yield arcs; with an edge, the first is that of one record alone between these labels.

        `joined`: where all others may lead (anywhere).
        """
        rng = random.Random(seed)
        for groups in self._chosen(edge, joined):
            rank = sum(len(group.kinds) - 1 for group in groups)
            inside = sum(len(group.homes) for group in groups)
            several = inside < len(self.homes)
            plans = (_Plan(self, groups, edge, joined, part) for part in PARTS)
            each = {tuple(plan.tops.values()): plan for plan in plans}  # alike where room is plenty
            for first in range(MOST_FIRST + 1) if several else (0,):
                most = min(inside + (edge is not None), MOST_CYCLES, rank + 1)
                least = max(2, first + 1 + (edge is not None))
                for count, plan in product(range(most, least - 1, -1), each.values()):
                    if now() > end:
                        return
                    arcs = plan.arcs(count, first, rng)
                    if arcs:
                        yield arcs

    def _chosen(self, edge: Branch | None, joined: Joined | None) -> Iterator[tuple[Group, ...]]:
        """Yield one or two groups, the first of which has the labels of the edge."""
        able = [
            group
            for group in self.groups[:MOST_GROUPS]
            if edge is None or set(edge) <= set(group.kinds)
        ]
        for one in able:
            if joined is None or self.joinable(one, one, joined):
                yield (one,)
            others = (two for two in self.groups[:MOST_GROUPS] if two is not one)
            for two in others:
                if joined is None or self.joinable(one, two, joined):
                    yield (one, two)
                    break

    def joinable(self, one: Group, two: Group, joined: Joined) -> bool:
        """Return whether records may go from some class of the one to another of the other."""
        ends = ((a, b) for a, b in product(one.homes[:3], two.homes[:3]) if a != b)
        return any(
            joined(self.at[a, s], self.at[b, t])
            for a, b in ends
            for s, t in product(one.kinds[:2], two.kinds[:2])
        )

    def fit(self, home: int, kind: Label, room: Sequence[int]) -> int:
        """Return how many records with a label there is room for."""
        needs = self.needs[self.at[home, kind]]
        return min((room[k] // number for k, number in needs), default=LARGEST)


class _Plan:
    """Cycles of which those with branches go round the classes of some groups."""

    def __init__(
        self,
        fitting: Fitting,
        groups: Sequence[Group],
        edge: Branch | None,
        joined: Joined | None,
        part: int,
    ) -> None:
        self.fitting, self.groups, self.edge, self.joined = fitting, groups, edge, joined
        self.room = list(fitting.room)
        self.known: dict[tuple[int, int, int], tuple[int, list[int]]] = {}
        self.group = {home: k for k, group in enumerate(groups) for home in group.homes}
        tops = {}
        for home in fitting.homes:
            kinds = groups[self.group[home]].kinds if home in self.group else fitting.kinds[home]
            fits = max(fitting.fit(home, kind, self.room) for kind in kinds)
            tops[home] = min(fitting.held[home], fits // part)
        self.tops = tops
        order = sorted(fitting.homes, key=lambda home: -tops[home])
        inside = [[home for home in order if self.group.get(home) == k] for k in range(len(groups))]
        apart = joined is not None and not fitting.joinable(groups[0], groups[0], joined)
        self.unit = len(groups) if apart else 1  # they take turns
        together = zip(*inside, strict=False) if apart else zip_longest(*inside)
        self.inside = [home for home in chain(*together) if home is not None]
        others = set(fitting.homes).difference(self.inside)
        self.outside = [home for home in order if home in others and tops[home]]

    def arcs(self, count: int, first: int, rng: random.Random) -> list[Arc] | None:
        """Return the arcs of so many cycles, the first ones of which go round other classes; the
        last cycle's come first.
        """
        blocks = self._blocks(count, first, rng)
        told = None if blocks is None else self._times(blocks)
        if blocks is None or told is None:
            return None
        times, groups, taken = told
        branches = self._branches(times, groups)
        if branches is None:
            return None
        cycles = [_Cycle(m, list(block)) for m, block in zip(times, blocks, strict=True)]
        for i, (s, t) in enumerate(branches):
            cycles[i].along.append((groups[i], (s, t)))
            for j, back in taken[i]:
                cycles[j].along += [(groups[i], (t, s))] * back
        self._join(cycles)
        every = self._stops(cycles)
        return None if every is None else self._led(cycles, every, rng)

    def _blocks(self, count: int, first: int, rng: random.Random) -> list[list[int]] | None:
        """Return the classes of each cycle, so that many records move; no step of those tried made
        them more.
        """
        alone = self.edge is not None
        several = count - first - alone
        size = -(-len(self.outside) // max(first, 1))
        outside = [self.outside[k * size : (k + 1) * size] for k in range(first)]
        begun = [[home, *block] for home, block in zip(self.inside, outside, strict=False)]
        rest, unit = self.inside[first:], self.unit
        units = len(rest) // unit
        if several < 1 or units < several or not all(outside):
            return None

        def cut(sizes: Sequence[int]) -> list[list[int]]:
            ends = accumulate(sizes, initial=0)
            blocks = [rest[low * unit : high * unit] for low, high in pairwise(ends)]
            return [*begun, *blocks, *[[]] * alone]

        def moved(sizes: Sequence[int]) -> int:
            blocks = cut(sizes)
            told = self._times(blocks)
            return sum(m * len(b) for m, b in zip(told[0], blocks, strict=True)) if told else 0

        sizes = [units // several + (k >= several - units % several) for k in range(several)]
        best, quiet, seen = moved(sizes), 0, set()
        for _ in range(STEPS):
            one, two, step = rng.randrange(several), rng.randrange(several), rng.randint(0, 3)
            tried = list(sizes)
            tried[one] -= step
            tried[two] += step
            quiet += 1
            if tried[one] > 0 and tuple(tried) not in seen:
                seen.add(tuple(tried))
                value = moved(tried)
                quiet = 0 if value > best else quiet
                best, sizes = (value, tried) if value >= best else (best, sizes)
            if quiet > QUIET:
                break
        return cut(sizes) if best else None

    def _times(
        self, blocks: Sequence[Sequence[int]]
    ) -> tuple[list[int], list[int], list[list[tuple[int, int]]]] | None:
        """Return the m_i, the group of each branch, and the c_ij that are not 0; None: there are no
        such cycles.
        """
        last, alone = len(blocks) - 1, self.edge is not None
        about = [self._about(block) for block in blocks]
        tops = [top for top, _ in about]
        able = [list(each) for _, each in about]
        if alone:
            able[last][0] = 1
        ranks = [len(group.kinds) - 1 for group in self.groups]
        times, groups = [0] * last + [1], [0] * last
        taken: list[list[tuple[int, int]]] = [[] for _ in blocks]
        for i in reversed(range(last)):
            for k in range(len(self.groups)):
                if not ranks[k] or not able[i][k] or (alone and i == last - 1 and k):
                    continue
                m, back = 0, []
                for j in range(i + 1, last + 1):
                    c = min(able[j][k], (tops[i] - m) // times[j])
                    if c:
                        back.append((j, c))
                        m += c * times[j]
                if m > times[i]:
                    times[i], groups[i], taken[i] = m, k, back
            if not times[i]:
                return None
            k = groups[i]
            able[i][k] -= 1
            ranks[k] -= 1
            for j, c in taken[i]:
                able[j][k] -= c
        return times, groups, taken

    def _about(self, block: Sequence[int]) -> tuple[int, list[int]]:
        """Return what each class of a block holds at least, and how many are of each group."""
        key = (block[0], block[-1], len(block)) if block else (0, 0, 0)
        if key not in self.known:
            able = Counter(self.group.get(home) for home in block)
            top = min((self.tops[home] for home in block), default=1)
            self.known[key] = top, [able[k] for k in range(len(self.groups))]
        return self.known[key]

    def _branches(self, times: Sequence[int], groups: Sequence[int]) -> list[Branch] | None:
        """Return a branch for each equation, the last back along the edge; None: too few labels.

        What moves most records goes between the labels that have most room.
        """
        fit, room = self.fitting.fit, list(self.room)
        chosen: list[list[Label]] = []
        for k, group in enumerate(self.groups):
            home = group.homes[0]
            by_room = sorted(group.kinds, key=lambda kind: -fit(home, kind, room))
            labels = [] if self.edge is None or k else list(self.edge)
            for kind in by_room:
                if len(labels) <= groups.count(k) and kind not in labels:
                    labels += [kind] * _apart([*labels, kind])
            chosen.append(labels)
        trees = [{kind: kind for kind in labels} for labels in chosen]
        if self.edge is not None:
            trees[0][self.edge[1]] = self.edge[0]
        branches: list[Branch] = []
        for i, k in enumerate(groups):
            if self.edge is not None and i == len(groups) - 1:
                branches.append((self.edge[1], self.edge[0]))
                continue
            home, tree = self.groups[k].homes[0], trees[k]
            fits = {kind: fit(home, kind, room) for kind in chosen[k]}
            between = [(s, t) for s, t in combinations(chosen[k], 2) if tree[s] != tree[t]]
            if not between:
                return None
            one, two = max(between, key=lambda ends: min(fits[ends[0]], fits[ends[1]]))
            for kind in (one, two):
                for place, number in self.fitting.needs[self.fitting.at[home, kind]]:
                    room[place] -= number * times[i]
            branches.append((one, two))
            trees[k] = {s: tree[one] if t == tree[two] else t for s, t in tree.items()}
        return branches

    def _join(self, cycles: Sequence[_Cycle]) -> None:
        """Let cycles visit classes of others that hold more, as long as it is a forest.

        The one record alone has no class of its own, and visits one.
        """
        spare = {home: self.fitting.held[home] for cycle in cycles for home in cycle.homes}
        owner = {home: k for k, cycle in enumerate(cycles) for home in cycle.homes}
        for home, k in owner.items():
            spare[home] -= cycles[k].times
        trees = list(range(len(cycles)))
        for k in sorted(trees, key=lambda k: (bool(cycles[k].homes), -cycles[k].times)):
            alone = not cycles[k].homes
            for home in sorted(owner, key=lambda home: -spare[home]):
                if spare[home] < cycles[k].times or (alone and cycles[k].homes):
                    break
                if alone and self.group.get(home) != 0:
                    continue
                if trees[owner[home]] != trees[k]:
                    one, two = trees[owner[home]], trees[k]
                    trees = [two if tree == one else tree for tree in trees]
                    spare[home] -= cycles[k].times
                    cycles[k].homes.append(home)

    def _stops(self, cycles: Sequence[_Cycle]) -> list[list[Stop]] | None:
        """Return where each cycle stops, and with which labels; None where there is no room."""
        fitting, room = self.fitting, list(self.room)
        every: list[list[Stop]] = [[] for _ in cycles]
        free: list[tuple[int, int]] = []

        def leave(home: int, kind: Label, times: int) -> bool:
            if fitting.fit(home, kind, room) < times:
                return False
            for place, number in fitting.needs[fitting.at[home, kind]]:
                room[place] -= number * times
            return True

        for k, cycle in enumerate(cycles):
            left = list(cycle.homes)
            for group, (s, t) in cycle.along:
                home = next((home for home in left if self.group.get(home) == group), None)
                if home is None or not leave(home, s, cycle.times):
                    return None
                left.remove(home)
                every[k].append(Stop(home, t, s))
            free += [(k, home) for home in left]
        for k, home in sorted(free, key=lambda each: -cycles[each[0]].times):
            times, taken = cycles[k].times, Counter(stop.leaves for stop in every[k])
            fits = {kind: fitting.fit(home, kind, room) for kind in fitting.kinds[home]}
            kind = max(fits, key=lambda kind: (fits[kind] >= times, -taken[kind], fits[kind]))
            if leave(home, kind, times):
                every[k].append(Stop(home, kind, kind))
        return every

    def _led(
        self, cycles: Sequence[_Cycle], every: Sequence[list[Stop]], rng: random.Random
    ) -> list[Arc] | None:
        """Return the arcs from stop to stop; None where there is no way round."""
        at, arcs = self.fitting.at, []
        for k in reversed(range(len(cycles))):
            alone = self.edge is not None and k == len(cycles) - 1
            stops = every[k] if alone else in_order(every[k], at, self.joined, rng)
            if not stops:
                return None
            for one, two in zip(stops, [*stops[1:], stops[0]], strict=True):
                ends = at[one.home, one.leaves], at[two.home, two.comes]
                arcs.append((*ends, cycles[k].times))
        return arcs


def fitting(cells: Beside, held: Sequence[int], answers: Sequence[int]) -> Fitting | None:
    """Return the classes and labels; None where they are too few or too many.

    `held`: how many records each class has; `answers`: what the table's equalities count.
    """
    effects = cells.table.effects
    size = sum(held)
    if size * (int(np.abs(effects).max(initial=0)) + 1) > LARGEST:
        return None
    home_of = np.array(cells.home)
    at_home = [np.flatnonzero(home_of == home) for home in range(cells.count)]
    least = np.array([effects[places].min(axis=0) for places in at_home])
    most = np.array([effects[places].max(axis=0) for places in at_home])
    above = effects - least[home_of]
    rows = np.column_stack([above, most[home_of] - effects])
    varied = above.any(axis=0)
    at: dict[tuple[int, Label], int] = {}
    kinds: dict[int, dict[Label, None]] = {}
    for place, (home, row) in enumerate(zip(cells.home, above[:, varied].tolist(), strict=True)):
        if held[home] > 0:
            at.setdefault((home, tuple(row)), place)
            kinds.setdefault(home, {})[tuple(row)] = None
    homes = sorted(kinds, key=lambda home: (-held[home], home))
    if not 2 <= len(homes) <= MOST_CLASSES or not 2 <= max(map(len, kinds.values())) <= MOST_KINDS:
        return None
    numbers, all_held = np.array(answers), np.array(held)
    room = np.array([*(numbers - all_held @ least), *(all_held @ most - numbers)])
    if size > MOST_RECORDS:  # as many as are written out
        room = room * MOST_RECORDS // size
        held = [k * MOST_RECORDS // size for k in held]
        homes = [home for home in homes if held[home]]
    needs = {
        place: tuple((int(k), int(rows[place, k])) for k in np.flatnonzero(rows[place]))
        for place in at.values()
    }
    return Fitting(
        tuple(homes),
        {home: held[home] for home in homes},
        {home: tuple(sorted(kinds[home])) for home in homes},
        at,
        needs,
        tuple(int(n) for n in room),
    )


def _apart(kinds: Sequence[Label]) -> bool:
    """Whether labels are affinely independent."""
    return full_rank(np.array([[1, *kind] for kind in kinds], dtype=np.int64))
