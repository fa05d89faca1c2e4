"""Kind `irreducible`: a search, replayed. FORMAT.md says what a node is and why this is a proof.

Sets of effects are bit sets. Sums of parts are packed into one number each, coordinate j with the
radix reach_j + 2 m_j + 1, where m_j is the largest coordinate of an effect and reach_j is what no
sum of a part exceeds. The vectors that are asked for are -e and -e - d; they differ from a sum by
less than the radix in each coordinate, so that equal numbers are equal vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from math import floor
from operator import mul
from typing import Any

from .document import Budget, Exact, Rejected, want
from .world import Change, Effects, Vector, World, norm, plus, relations

MOST_SYMMETRIES = 20_000
MOST_CHOICES = 200_000
MOST_MARKED = 4  # the largest multisets that are excluded with their images
MOST_BITS = 1 << 20
PROOF = {
    **{"kind": str, "effects": int, "functionals": [[int]], "symmetries": [[int]]},
    **{"branches": [int], "choices": [int], "marks": [int], "reach": [int]},
}


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse the proof unless it shows that no neighbour pair changes the query by more."""
    table, effects = want(proof, PROOF, "the proof"), Effects(world)
    claim = floor(Fraction(value) * effects.scale)
    if effects.idle > claim:
        raise Rejected("a single move changes the query by more than the claim")
    if table["effects"] != len(effects.effects):
        raise Rejected("the proof is about another number of effects")
    if not effects.effects:
        return
    replay = Replay(effects, table, claim)
    columns = (table["branches"], table["choices"], table["marks"])
    for number, (d, choice, mark) in enumerate(zip(*columns, strict=True)):
        if not replay.takes(d):
            raise Rejected(f"node {number}: not one of the branches that are left")
        replay.step(d, choice, mark)
    if replay.takes(0) or replay.todo[-1]:
        raise Rejected("the proof ends before every branch is taken")


class Replay:
    """Where the replay stands: `path` is the open node w, the other lists have an entry for each
    node from the root to w.
    """

    def __init__(self, moves: Effects, proof: dict[str, Any], claim: int) -> None:
        self.moves, self.claim, self.budget = moves, claim, moves.world.budget
        count, rows = len(moves.effects), proof["functionals"]
        if any(len(row) != len(moves.effects[0]) for row in rows):
            raise Rejected("a functional has the wrong length")
        if any(abs(choice) > len(rows) for choice in proof["choices"]):
            raise Rejected("a functional that is not there")
        self.budget.spend(len(rows) * count * len(moves.effects[0]), len(rows) * count)
        self.values = [[sum(map(mul, row, d)) for d in moves.effects] for row in rows]
        self.below = [[_bits(sign * v < 0 for v in row) for sign in (1, -1)] for row in self.values]
        maps = self._symmetries(proof["symmetries"])
        self.images = list(zip(*maps, strict=True))  # of each effect, under every symmetry
        self.wide = 1 + count // 4096  # what a bit set costs
        self.covered: list[dict[int, int]] = [{} for _ in moves.effects]
        self.alone = 0  # effects e of which the multiset {e} is covered
        self.seen: set[Vector] = set()
        self._pack(proof["reach"])
        self.path: list[int] = []
        self.marks: list[int] = []
        self.totals, self.weights = [0], [0]
        self.parts: list[set[int] | None] = [None]
        self.available = [(1 << count) - 1]
        self.todo = [(1 << count) - 1]

    def _pack(self, reach: list[int]) -> None:
        """Choose the number of each effect; `steps` and `room` keep the reach: 2 r fields, one for
        the positive and one for the negative sums of each coordinate, whose top bits stay set as
        long as no sum leaves it.
        """
        kept = independent(self.moves.effects, self.budget)
        if len(reach) != len(kept) or min(reach) < 0:
            raise Rejected("the reach has the wrong length")
        radix, offset, units, most = 1, 0, [], 0
        for limit, column in zip(reach, kept, strict=True):
            most = max(most, limit + max(map(abs, column)))
            span = limit + 2 * max(map(abs, column))
            units.append(radix)
            offset += span * radix
            radix *= span + 1
        vectors = list(zip(*kept, strict=True))
        ends = [(most.bit_length() + 1) * k for k in range(1, 2 * len(reach) + 1)]
        self.each = 1 + radix.bit_length() // 64  # numbers of 64 bits
        self.budget.spend(0, len(vectors) * (self.each + ends[-1] // 64))
        self.keys = [sum(map(mul, d, units)) for d in vectors]
        self.closing = {-key: k for k, key in enumerate(self.keys)}
        self.small, self.offset = 2 * offset < MOST_BITS, offset
        self.far = 2 * max(map(abs, self.keys))  # of two effects
        self.cost = 20 + offset // 100 if self.small else 0
        self.sums: list[tuple[Any, Any]] = []
        self._keep(*([1 << offset] if self.small else [frozenset([0])] * 2))
        self.guard = sum(1 << end - 1 for end in ends)
        fields = [end - 1 - most.bit_length() for end in ends]
        self.rooms = [self.guard + sum(r << p for r, p in zip(reach * 2, fields, strict=True))]
        self.steps = [
            sum(max(x, 0) << p for x, p in zip((*d, *(-x for x in d)), fields, strict=True))
            for d in vectors
        ]

    def _symmetries(self, generators: list[list[int]]) -> list[Vector]:
        """Check each generator (linear on D, keeps the weights), return all of their products."""
        effects, weights = self.moves.effects, self.moves.weights
        secret = [d in self.moves.secret for d in effects]
        basis, forms = relations(effects, self.budget)
        for p in generators:
            self.budget.spend(len(effects) * len(basis) * len(effects[0]))
            if sorted(p) != list(range(len(effects))):
                raise Rejected("a symmetry is no permutation of the effects")
            images = [effects[p[b]] for b in basis]
            for i, (own, coordinates) in enumerate(forms):
                columns = zip(effects[p[i]], *images[: len(coordinates)], strict=True)
                if any(sum(map(mul, (own, *coordinates), column)) for column in columns):
                    raise Rejected("a symmetry is not linear")
                if (weights[i], secret[i]) != (weights[p[i]], secret[p[i]]):
                    raise Rejected("a symmetry changes a weight, or takes a secret effect to none")
        found: set[Vector] = {tuple(range(len(effects)))}
        frontier = list(found)
        while frontier:
            last = frontier.pop()
            for g in generators:
                self.budget.spend(len(last))
                product = tuple([g[i] for i in last])
                if product not in found:
                    found.add(product)
                    frontier.append(product)
                    self.budget.spend(0, len(product))
            if len(found) > MOST_SYMMETRIES:
                raise Rejected("the symmetries have too many products")
        return sorted(found)

    def takes(self, d: int) -> bool:
        """Leave what is finished; return whether d is a branch of the node that is open then."""
        while self.path and not self.todo[-1]:
            self._leave()
        return 0 <= d < len(self.keys) and bool(self.todo[-1] >> d & 1)

    def step(self, d: int, choice: int, mark: int) -> None:
        """Enter the node w + d."""
        path, key = self.path, self.keys[d]
        if len(self.sums) == len(path):  # not before w has a child
            self._grow(self.keys[path[-1]])
        fresh = self.available[-1]
        if self.covered[d]:
            fresh &= ~self._excluded(len(path), d)
        self.available[-1] ^= 1 << d
        self.todo[-1] ^= 1 << d
        path.append(d)
        self.marks.append(mark)
        self.totals.append(self.totals[-1] + key)
        self.weights.append(self.weights[-1] + self.moves.weights[d])
        self.rooms.append(self.rooms[-1] - self.steps[d])
        if self.rooms[-1] & self.guard != self.guard:
            raise Rejected("sums of parts leave the stated reach")
        last = self.closing.get(self.totals[-1])
        if last is not None and self.weights[-1] + self.moves.weights[last] > self.claim:
            self._judge([*path, last])
        todo = fresh if self.moves.longest is None or len(path) + 2 <= self.moves.longest else 0
        if choice:
            values, sign = self.values[abs(choice) - 1], 1 if choice > 0 else -1
            if sign * sum([values[i] for i in path]) <= 0:
                raise Rejected("a functional is not positive on the sum of a node")
            todo &= self.below[abs(choice) - 1][choice < 0]
        self.budget.spend(4 + len(path) + (8 + todo.bit_count()) * self.wide, self.wide - 1)
        self.parts.append(None)
        self.available.append(fresh)
        self.todo.append(todo & ~self._closing(todo, key))

    def _grow(self, key: int) -> None:
        """Add the sums of the parts of w that hold its last element."""
        if self.small:
            old = self.sums[-1][0]
            self._keep(old | (old << key if key > 0 else old >> -key))
        else:
            one, two = self.sums[-1]
            if len(one) > len(two):
                one, two = two, one
            self._keep(one.union([total + key for total in one]), two)

    def _keep(self, sums: Any, others: Any = b"") -> None:
        """Keep sums of parts: as bits of a number, and bytes of those that may be asked for; or as
        two sets of numbers, of the parts of some of the elements and of the parts of all others.
        """
        self.sums.append((sums, others))
        if self.small:
            near = sums >> self.offset - self.far & (2 << 2 * self.far) - 1
            self.sums[-1] = sums, near.to_bytes(self.far // 4 + 1, "little")
        kept = self.cost or len(sums) * self.each
        self.budget.spend(self.cost // 20 or kept, kept)

    def _closing(self, todo: int, key: int) -> int:
        """Return the effects e of a bit set with -e among the sums of parts of w and a last d."""
        found, keys, far = 0, self.keys, self.far
        sums, data = self.sums[-1]
        while todo:
            low = todo & -todo
            todo ^= low
            one = -keys[low.bit_length() - 1]
            if self.small:
                one += far
                two = one - key
                if data[one >> 3] >> (one & 7) & 1 or data[two >> 3] >> (two & 7) & 1:
                    found |= low
            else:
                self.budget.spend(2 * len(sums) * (1 + self.each // 32))
                if not data.isdisjoint([x - t for x in (one, one - key) for t in sums]):
                    found |= low
        return found

    def _leave(self) -> None:
        """Leave a finished node; where the proof says so, exclude its images from now on."""
        depth = len(self.path)
        if len(self.sums) > depth:
            self.budget.room += self.cost or len(self.sums[-1][0]) * self.each
            self.sums.pop()
        member = sorted(self.path) if depth <= MOST_MARKED else []
        self.path.pop()
        self.totals.pop()
        self.weights.pop()
        self.rooms.pop()
        self.parts.pop()
        self.available.pop()
        self.todo.pop()
        self.budget.room += self.wide - 1
        if not self.marks.pop() or not member:
            return
        self.budget.spend(len(self.images[0]) * len(member))
        columns = zip(*(self.images[i] for i in member), strict=True)
        for image in set(map(tuple, map(sorted, columns))):
            self._cover(image)
        gone = self.alone
        if self.path:
            gone |= self._excluded(len(self.path) - 1, self.path[-1])
        self.available[-1] &= ~gone
        self.todo[-1] &= ~gone

    def _cover(self, image: Vector) -> None:
        """Note a multiset: each of its elements is excluded where all the others are there."""
        self.budget.spend(len(image) ** 2, len(image) * (len(image) - 1))
        if len(image) == 1:
            self.alone |= 1 << image[0]
        for i, e in enumerate(image):
            for j, d in enumerate(image):
                if i != j:
                    one, two = (*(x + 1 for k, x in enumerate(image) if k not in (i, j)), 0, 0)[:2]
                    key = one + two * (len(self.keys) + 1)  # the other elements, two at most
                    old = self.covered[d].get(key, 0)
                    self.covered[d][key] = old | 1 << e
                    self.budget.spend(self.wide, max(0, e - old.bit_length()) // 1024)

    def _excluded(self, depth: int, d: int) -> int:
        """Return the e that complete a covered multiset with d and a part of the path above it."""
        parts = self.parts[depth]
        if parts is None:
            w, base = sorted(self.path[:depth]), len(self.keys) + 1
            parts = {a + 1 + (b + 1) * base for a, b in combinations(w, 2)}
            parts.update([0], [a + 1 for a in w])
            self.parts[depth] = parts
            self.budget.spend(len(parts))
        gone, table = 0, self.covered[d]
        for key in table.keys() & parts:
            gone |= table[key]
        return gone

    def _judge(self, members: list[int]) -> None:
        """Refuse unless every choice of moves with these effects changes at most `claim`."""
        moves, key = self.moves, tuple(sorted(members))
        long = moves.longest is not None and len(members) > moves.longest
        if key in self.seen or long or not any(moves.effects[i] in moves.secret for i in key):
            return
        self.seen.add(key)
        self.budget.spend(0, len(key))
        if len(self.images[0]) > 1 or self._exceeds([moves.changes[moves.effects[i]] for i in key]):
            raise Rejected("an irreducible multiset changes the query by more than the claim")

    def _exceeds(self, options: list[set[Change]]) -> bool:
        """Whether a choice of changes from each list has a sum with a norm above the claim.

        Sums are grown choice by choice; one that cannot get above the claim any more is dropped.
        """
        left = sum(max(map(norm, changes)) for changes in options)
        sums: set[Change] = {frozenset()}
        for changes in sorted(options, key=len):
            left -= max(map(norm, changes))
            grown: set[Change] = set()
            for part in sums:
                self.budget.spend(len(changes) * (2 + len(part) + len(next(iter(changes)))))
                totals = (plus(part, change) for change in changes)
                grown.update(total for total in totals if norm(total) + left > self.claim)
            if len(grown) > MOST_CHOICES:
                raise Rejected("an irreducible multiset has too many choices of moves", limit=True)
            sums = grown
        return bool(sums)


def independent(effects: Sequence[Vector], budget: Budget) -> list[Vector]:
    """Return the first independent coordinates of the effects, which determine the others."""
    columns = list(zip(*effects, strict=True))
    return [columns[place] for place in relations(columns, budget)[0]]


def _bits(flags: Iterable[bool]) -> int:
    return int("0" + "".join("01"[flag] for flag in flags)[::-1], 2)
