"""Kind `irreducible`: a search, replayed. FORMAT.md says what a node is and why this is a proof.

Vectors are packed into one number each. The vectors that are asked for are -e and -e - d; they
differ from a sum of a part by less than the radix in each coordinate, so that equal numbers are
equal vectors. Two packings are in use: one for any node, sums then being sets of numbers, and one
for nodes w with no sum of a part beyond a stated reach. There the sums are bits of one number, as
sets of effects are, and the bit of an effect is at its number: a shift by that of d tells all e
with -e - d among the sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import compress, permutations
from math import floor, inf
from operator import add, mul
from typing import Any

from .document import Budget, Exact, Rejected, want
from .world import Change, Effects, Vector, World, norm, plus, relations

MOST_SYMMETRIES = 20_000
MOST_CHOICES = 200_000
MOST_MARKED = 4  # the largest multisets that are excluded with their images
MOST_DEPTH = 4000
MOST_BITS = 1 << 18
FEW_SUMS, MOST_SUMS = 6, 4096  # larger sets are kept as the sums of two
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
    replayed(effects, table, claim)


class Node:
    """An open node w: its elements, the sum and the weight of them, what is available, what is left
    to take, and when they are first asked for, sums and small parts of it.
    """

    __slots__ = (
        *("up", "members", "total", "weight", "room", "mark", "available", "todo"),
        *("sums", "parts", "kept"),
    )

    def __init__(self, up: Node | None, room: int | None, *own: Any) -> None:
        self.up, self.room, self.kept = up, room, 0  # kept: numbers that go when the node does
        self.members, self.total, self.weight, self.mark, self.available, self.todo = own
        self.sums: Any = None
        self.parts: set[int] | None = None


class Replay:
    """A search that is gone through again, and checked at each step."""

    def __init__(self, moves: Effects, proof: dict[str, Any], claim: int) -> None:
        self.moves, self.claim, self.budget = moves, claim, moves.world.budget
        count, rows = len(moves.effects), proof["functionals"]
        if any(len(row) != len(moves.effects[0]) for row in rows):
            raise Rejected("a functional has the wrong length")
        maps = self._symmetries(proof["symmetries"])
        self.images = list(zip(*maps, strict=True))  # of each effect, under every symmetry
        room = self._pack(proof["reach"])
        self.wide = 1 + max(self.places) // 2048  # what a bit set costs
        self.words = max(self.places) // 64
        kept = 2 * len(rows) * count + (2 * len(rows) + count) * self.words
        self.budget.spend(len(rows) * count * len(moves.effects[0]), kept)
        self.bits = [1 << place for place in self.places]
        values = [[sum(map(mul, row, d)) for d in moves.effects] for row in rows]
        values += [[-v for v in row] for row in reversed(values)]
        self.values = [[1] * count, *values]  # by choice: 0 for none, -k for the negative of k
        self.below = [self._set([True] * count), *(self._set(v < 0 for v in y) for y in values)]
        self.most = len(rows)
        self.covered: list[dict[int, int]] = [defaultdict(int) for _ in moves.effects]
        self.units = [1 + 4 * (x + 2 * count * x * x) for x in range(count)]
        # two numbers are known by their sum and the sum of their squares
        self.alone = 0  # effects e of which the multiset {e} is covered
        self.seen: set[Vector] = set()
        self.node = Node(None, room, (), 0, 0, 0, self.below[0], self.below[0])
        self._keep(self.node, {0} if room is None else 1 << self.middle, {0})

    def _pack(self, reach: list[int]) -> int | None:
        """Choose the numbers and the bit of each effect. Return the room that the reach leaves: 2 r
        fields, one for the positive and one for the negative sums of each coordinate, whose top
        bits (`guard`) stay set as long as no sum leaves it; an effect takes its `steps`. None where
        all sums are to be sets.
        """
        kept, count = independent(self.moves.effects, self.budget), len(self.moves.effects)
        if len(reach) != len(kept) or min(reach) < 0:
            raise Rejected("the reach has the wrong length")
        most = [max(map(abs, x)) for x in kept]
        self.keys, self.near, self.steps = [0] * count, [0] * count, [0] * count
        radix, short, room, self.middle, self.guard = 1, 1, 0, 0, 0
        width = max(map(add, reach, most)).bit_length() + 1
        for limit, m, x in sorted(zip(reach, most, kept, strict=True), key=lambda each: each[:2]):
            self.keys = [key + v * radix for key, v in zip(self.keys, x, strict=True)]
            self.near = [key + v * short for key, v in zip(self.near, x, strict=True)]
            self.middle += (limit + 2 * m) * short
            radix *= (MOST_DEPTH + 2) * m + 1
            short *= limit + 2 * m + 1
            for sign in (1, -1):
                self.steps = [(step << width) + max(0, sign * v)
                              for step, v in zip(self.steps, x, strict=True)]  # fmt: skip
                room = (room << width) + limit + (1 << width - 1)
                self.guard = (self.guard << width) + (1 << width - 1)
            self.budget.spend(count, count * (3 + (radix.bit_length() + 2 * width) // 64))
        self.each = 1 + radix.bit_length() // 64  # numbers of 64 bits
        small, self.far = 2 * self.middle < MOST_BITS, max(map(abs, self.near))
        self.places = [key + self.far if small else k for k, key in enumerate(self.near)]
        self.effect_at = {place: k for k, place in enumerate(self.places)}
        return room if small else None

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
                raise Rejected("the symmetries have too many products", limit=True)
        return sorted(found)

    def run(self, entries: Iterable[tuple[int, int, int]]) -> None:
        """Enter the nodes in turn; Rejected unless that ends with no branch left."""
        keys, weights, bits, covered = self.keys, self.moves.weights, self.bits, self.covered
        closing = {-key: k for k, key in enumerate(keys)}
        least = self.claim - max(weights)  # what weighs no more closes within the claim
        longest = inf if self.moves.longest is None else self.moves.longest - 2
        for place, (d, choice, mark) in enumerate(entries):
            node = self.node if self.node.todo else self._open()
            if not 0 <= d < len(keys) or not node.todo & bits[d]:
                self.refuse(f"node {place}: not one of the branches that are left")
                continue
            members = (*node.members, d)
            key, weight, available = keys[d], node.weight + weights[d], node.available
            if weight > least and (last := closing.get(node.total + key)) is not None:
                self._judge((*members, last), weight + weights[last])
            if not -self.most <= choice <= self.most:
                raise Rejected("a functional that is not there")
            if choice:
                values = self.values[choice]
                if sum([values[i] for i in members]) <= 0:
                    raise Rejected("a functional is not positive on the sum of a node")
            node.available ^= bits[d]
            node.todo ^= bits[d]
            gone, todo = 0, available & self.below[choice] if len(members) <= longest else 0
            self.budget.spend((10 + len(members) // 8) * self.wide)
            if todo:
                gone = self._closing(node, todo, d)
                todo &= ~gone
            if todo and covered[d]:
                gone |= self._excluded(node, d)
                todo &= ~gone
            if todo:
                own = (members, node.total + key, weight, mark, available & ~gone, todo)
                self.node = Node(node, self._room(node, d), *own)
            elif mark:
                self._mark(node, members)
        if self._open().todo:
            raise Rejected("the proof ends before every branch is taken")

    def _room(self, node: Node, d: int) -> int | None:
        """Return the room that w + d leaves, None beyond the reach."""
        if len(node.members) == MOST_DEPTH:
            raise Rejected("a node has too many elements", limit=True)
        room = None if node.room is None else node.room - self.steps[d]
        return None if room is None or room & self.guard != self.guard else room

    def refuse(self, reason: str) -> None:
        """Refuse an entry."""
        raise Rejected(reason)

    def _open(self) -> Node:
        """Leave what is finished; return the node that is open then."""
        while not self.node.todo and self.node.up is not None:
            node, self.node = self.node, self.node.up
            self.budget.room += node.kept
            if node.mark:
                self._mark(self.node, node.members)
        return self.node

    def _closing(self, node: Node, todo: int, d: int) -> int:
        """Return effects e, at least all of a bit set, with -e among the sums of w and a last d."""
        one, two = node.sums or self._grow(node)
        if node.room is not None:
            return int(two >> self.far | two >> self.far + self.near[d])
        self.budget.spend(todo.bit_count() * (4 + self.wide + len(two) * self.each // 4))
        found, keys, at, key = 0, self.keys, self.effect_at, self.keys[d]
        shifts = [-key - t for t in two] + [-t for t in two]
        while todo:
            low = todo & -todo
            todo ^= low
            asked = keys[at[low.bit_length() - 1]]
            if not one.isdisjoint([shift - asked for shift in shifts]):
                found |= low
        return found

    def _grow(self, node: Node) -> Any:
        """Find the sums of parts of w from those of its parent, or, once beyond the reach, anew."""
        up, new = node.up or self.node, node.members[-1:]  # the root has its own
        one, two = up.sums or self._grow(up)
        if node.room is not None:
            key = self.near[new[0]]
            return self._keep(node, one | (one >> key if key > 0 else one << -key), None)
        if up.room is not None:
            one, two, new = {0}, {0}, node.members
        for key in [self.keys[d] for d in new]:
            one, two = sorted((one, two), key=len, reverse=True)
            two = two.union([t + key for t in two])
            if len(two) > FEW_SUMS and len(one) * len(two) <= MOST_SUMS:
                one, two = {x + t for x in one for t in two}, {0}
            self.budget.spend(len(two))
        return self._keep(node, one, two)

    def _keep(self, node: Node, one: Any, two: Any) -> Any:
        """Keep sums of parts: the bits of -x for each sum x, and of those that may be asked for; or
        two sets of numbers, of the sums of some of the elements and of the sums of all others.
        """
        if node.room is not None:
            two = one >> self.middle - 2 * self.far & (2 << 4 * self.far) - 1
        node.sums = one, two
        self._pay(node, self.middle // 32 if node.room is not None
                  else (len(one) + len(two)) * self.each)  # fmt: skip
        return node.sums

    def _pay(self, node: Node, numbers: int) -> None:
        """Pay for what is kept as long as the node is open."""
        self.budget.spend(numbers // 4, numbers)
        node.kept += numbers

    def _mark(self, up: Node, members: Vector) -> None:
        """Exclude the images of a finished node from now on; `up` is its parent."""
        if len(members) > MOST_MARKED:
            return
        self.budget.spend(len(self.images[0]) * len(members))
        columns = zip(*(self.images[i] for i in members), strict=True)
        for image in set(map(tuple, map(sorted, columns))):
            self._cover(image)
        gone = self.alone
        if up.up is not None:
            gone |= self._excluded(up.up, up.members[-1])
        up.available &= ~gone
        up.todo &= ~gone

    def _cover(self, image: Vector) -> None:
        """Note a multiset: each of its elements is excluded where all the others are there."""
        total, new = sum([self.units[e] for e in image]), 0
        if len(image) == 1:
            self.alone |= self.bits[image[0]]
        for d, e in permutations(image, 2):
            table = self.covered[d]
            known = len(table)
            table[total - self.units[d] - self.units[e]] |= self.bits[e]
            new += len(table) - known
        self.budget.spend((2 + 2 * len(image) ** 2) * self.wide, new * (2 + self.words))

    def _excluded(self, node: Node, d: int) -> int:
        """Return the e that complete a covered multiset with d and a part of w."""
        gone, table = 0, self.covered[d]
        for others in table.keys() & self._parts(node):
            gone |= table[others]
        return gone

    def _parts(self, node: Node) -> set[int]:
        """Return the parts of w of at most two elements, each the sum of its units."""
        if node.up is None:
            return {0}
        if node.parts is None:
            *w, last = [self.units[e] for e in node.members]
            node.parts = self._parts(node.up).union([last], [last + x for x in w])
            self._pay(node, len(node.parts))
        return node.parts

    def _judge(self, members: Vector, weight: int) -> None:
        """Refuse unless every choice of moves with these effects changes at most `claim`."""
        moves, key = self.moves, tuple(sorted(members))
        long = moves.longest is not None and len(members) > moves.longest
        within = weight <= self.claim or long or key in self.seen
        if within or not any(moves.effects[i] in moves.secret for i in key):
            return
        self.seen.add(key)
        self.budget.spend(0, len(key))
        if len(self.images[0]) > 1 or self._exceeds([moves.changes[moves.effects[i]] for i in key]):
            raise Rejected("an irreducible multiset changes the query by more than the claim")

    def _set(self, flags: Iterable[bool]) -> int:
        """Return the bit set of the effects with a flag."""
        found = bytearray(1 + max(self.places) // 8)
        for place in compress(self.places, flags):
            found[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(found, "little")

    def _exceeds(self, options: list[set[Change]]) -> bool:
        return exceeds(options, self.claim, self.budget)


def replayed(
    effects: Effects, table: dict[str, Any], claim: int, kind: type[Replay] = Replay
) -> None:
    """Refuse the proof unless every branch is taken and every irreducible is within the claim."""
    if table["effects"] != len(effects.effects):
        raise Rejected("the proof is about another number of effects")
    if not effects.effects:
        return
    columns = (table["branches"], table["choices"], table["marks"])
    kind(effects, table, claim).run(zip(*columns, strict=True))


def exceeds(options: Iterable[set[Change]], claim: int, budget: Budget) -> bool:
    """Whether a choice of changes from each set has a sum with a norm above the claim.

    Sums are grown choice by choice; one that cannot get above the claim any more is dropped.
    """
    options = sorted(options, key=len)
    left = sum(max(map(norm, changes)) for changes in options)
    sums: set[Change] = {frozenset()}
    for changes in options:
        left -= max(map(norm, changes))
        grown: set[Change] = set()
        for part in sums:
            budget.spend(len(changes) * (2 + len(part) + len(next(iter(changes)))))
            totals = (plus(part, change) for change in changes)
            grown.update(total for total in totals if norm(total) + left > claim)
        if len(grown) > MOST_CHOICES:
            raise Rejected("an irreducible multiset has too many choices of moves", limit=True)
        sums = grown
    return bool(sums)


def independent(effects: Sequence[Vector], budget: Budget) -> list[Vector]:
    """Return the first independent coordinates of the effects, which determine the others."""
    columns = list(zip(*effects, strict=True))
    return [columns[place] for place in relations(columns, budget)[0]]
