"""Replaying a search: no irreducible multiset of effects changes the query by more than the claim.

Effects D are the distinct non-zero effects of the moves. A non-empty multiset is irreducible if it
sums to zero and no proper non-empty part does. With equality counts and impossible values, the
moves of a neighbour pair have one effect zero and are a single move, or are irreducible (a part
without effect would give a D3). The tree shows that every irreducible is listed, or is the image of
one that is; FORMAT.md has the argument in full. At a node w (a multiset, sum s):

* an effect e with -e among the sums of parts of w can only close: M = w + e irreducible, e = -s;
* the proof names a linear y with y.s > 0 (or none: then every effect is a branch); what an
  irreducible M has beyond w sums to -s, so it holds an effect below zero at y;
* these are the branches, except for excluded ones: siblings finished before, and effects e such
  that w + e holds an image of a finished, marked multiset.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .document import Budget, Rejected, items, only, wholes
from .linear import relations
from .sums import Sums
from .world import Change, Moves, Vector, norm

MOST_SYMMETRIES = 20_000
MOST_DEPTH = 100_000
MOST_NODES = 20_000_000
KEYS = (*("kind", "effects", "functionals", "symmetries", "branches", "choices", "marks", "reach"),)
MOST_CHOICES = 200_000
MOST_MARKED = 4  # the largest multisets that are excluded with their images


def replay(moves: Moves, proof: dict[str, Any], claim: int) -> None:
    """Refuse the proof unless it shows that no irreducible multiset changes more than `claim`."""
    only(proof, KEYS, "the proof")
    if proof.get("effects") != len(moves.effects):
        raise Rejected("the proof is about another number of effects")
    if moves.effects:
        Replay(moves, proof, claim).run()


class Replay:
    """Where the replay stands: the path from the root, what is available, what is left to do."""

    def __init__(self, moves: Moves, proof: dict[str, Any], claim: int) -> None:
        self.moves, self.claim, self.budget = moves, claim, moves.world.budget
        self.effects = moves.effects
        self.index = {d: i for i, d in enumerate(self.effects)}
        rows = [
            wholes(row, "functionals") for row in items(proof.get("functionals"), "functionals")
        ]
        width = len(self.effects[0])
        if any(len(row) != width for row in rows):
            raise Rejected("a functional has the wrong length")
        self.budget.spend(len(rows) * width * len(self.effects))
        self.values = [[sum(map(int.__mul__, row, d)) for d in self.effects] for row in rows]
        self.below = [_bits(i for i, v in enumerate(row) if v < 0) for row in self.values]
        self.above = [_bits(i for i, v in enumerate(row) if v > 0) for row in self.values]
        self.maps = self._symmetries(proof.get("symmetries"))
        self.entries = [wholes(proof.get(key), key) for key in ("branches", "choices", "marks")]
        if len({len(column) for column in self.entries}) != 1:
            raise Rejected("branches, choices and marks are not equally many")
        if len(self.entries[0]) > MOST_NODES:
            raise Rejected("the proof has too many nodes")
        if any(abs(choice) > len(rows) for choice in self.entries[1]):
            raise Rejected("a functional that is not there")
        few = independent(self.effects, self.budget)
        reach = wholes(proof.get("reach"), "reach")
        if len(reach) != len(few[0]) or min(reach) < 0:
            raise Rejected("the reach has the wrong length")
        self.sums = Sums(few, reach, self.budget)
        self.closing = {-key: i for i, key in enumerate(self.sums.keys)}
        self.images = list(zip(*self.maps, strict=True))  # of each effect, under every symmetry
        self.alone = 0  # effects of which the multiset {e} is covered
        self.covered: list[dict[int, int]] = [{} for _ in self.effects]
        self.seen: set[tuple[int, ...]] = set()
        everything = (1 << len(self.effects)) - 1
        self.chosen: list[int] = []
        self.marks: list[int] = []
        self.totals = [0]
        self.available, self.todo = [everything], [everything]
        self.parts, self.grown = (
            {0},
            list[set[int]](),
        )  # keys of parts of w with two elements or less
        self.summed = 0  # how many elements of w `sums` has: all but, perhaps, the last

    # symmetries ----------------------------------------------------------------------------------

    def _symmetries(self, listed: object) -> list[tuple[int, ...]]:
        """Check each generator (linear on D, keeps the weights), return all of their products."""
        count = len(self.effects)
        generators = [tuple(wholes(row, "symmetries")) for row in items(listed, "symmetries")]
        basis, forms = relations(self.effects)
        secret = self.moves.secret
        for p in generators:
            self.budget.spend(count * len(basis) * len(self.effects[0]))
            if sorted(p) != list(range(count)):
                raise Rejected("a symmetry is no permutation of the effects")
            images = [self.effects[p[b]] for b in basis]
            for i, (own, coordinates) in enumerate(forms):
                if any(_combined(own, self.effects[p[i]], coordinates, images)):
                    raise Rejected("a symmetry is not linear")
                if self.moves.weights[i] != self.moves.weights[p[i]]:
                    raise Rejected("a symmetry changes a weight")
                if secret and (self.effects[i] in secret) != (self.effects[p[i]] in secret):
                    raise Rejected("a symmetry takes a secret effect to a plain one")
        found = {tuple(range(count))}
        frontier = list(found)
        while frontier:
            p = frontier.pop()
            for g in generators:
                self.budget.spend(count)
                product = tuple(g[i] for i in p)
                if product not in found:
                    found.add(product)
                    frontier.append(product)
            if len(found) > MOST_SYMMETRIES:
                raise Rejected("the symmetries have too many products")
        return sorted(found)

    # the tree ------------------------------------------------------------------------------------

    def run(self) -> None:
        """Follow the proof node by node; every branch must be taken, and nothing be left over."""
        for number, (d, choice, mark) in enumerate(zip(*self.entries, strict=True)):
            if not self.takes(d):
                raise Rejected(f"node {number}: not one of the branches that are left")
            self.step(number, d, choice, mark)
        self._retreat()
        if self.chosen or self.todo[0]:
            raise Rejected("the proof ends before every branch is taken")

    def takes(self, d: int) -> bool:
        """Leave what is finished; return whether d is a branch of the node that is open then."""
        self._retreat()
        return 0 <= d < len(self.effects) and bool(self.todo[-1] >> d & 1)

    def step(self, number: int, d: int, choice: int, mark: int) -> None:
        """Enter the node w + d."""
        self.budget.spend(4 + len(self.chosen))
        if self.summed < len(self.chosen):  # not before w has a child
            self.sums.extend(self.chosen[-1])
            self.summed += 1
        fresh = self.available[-1] & ~self._excluded(self.parts, d)
        self.available[-1] &= ~(1 << d)
        self.todo[-1] &= ~(1 << d)
        if len(self.maps) > 1:
            self.grown.append(self._new_parts(d))
            self.parts |= self.grown[-1]
        self.chosen.append(d)
        self.marks.append(mark)
        self.totals.append(self.totals[-1] + self.sums.keys[d])
        self.available.append(fresh)
        closing = self.closing.get(self.totals[-1])
        if closing is not None:
            self._judge(closing)
        longest = self.moves.longest
        inner = longest is None or len(self.chosen) + 2 <= longest
        self.todo.append(self._branches(choice, fresh, number) if inner else 0)

    def _branches(self, choice: int, fresh: int, number: int) -> int:
        """Return the available effects below zero at the functional, less those that only close."""
        side = fresh
        if choice:
            values = self.values[abs(choice) - 1]
            total = sum([values[i] for i in self.chosen])
            if (total if choice > 0 else -total) <= 0:
                raise Rejected(f"node {number}: the functional is not positive on the sum")
            side &= (self.below if choice > 0 else self.above)[abs(choice) - 1]
        return side & ~self.sums.closing(side, self.chosen[-1])

    def _retreat(self) -> None:
        """Leave finished nodes; where the proof says so, exclude their images from now on."""
        while self.chosen and not self.todo[-1]:
            depth = len(self.chosen)
            if self.summed == depth:
                self.sums.undo()
                self.summed -= 1
            del self.available[-1], self.todo[-1], self.totals[-1]
            member = tuple(self.chosen)
            self.chosen.pop()
            if self.grown:
                self.parts -= self.grown.pop()
            if not self.marks.pop() or depth > MOST_MARKED:
                continue
            self.budget.spend(len(self.maps) * depth)
            columns = zip(*(self.images[i] for i in member), strict=True)
            for image in set(map(tuple, map(sorted, columns))):
                self._cover(image)
            gone = self.alone
            if self.chosen and self.grown:
                gone |= self._excluded(self.parts - self.grown[-1], self.chosen[-1])
            self.available[-1] &= ~gone
            self.todo[-1] &= ~gone

    def _cover(self, image: Sequence[int]) -> None:
        """Note a multiset: each of its elements is excluded where all the others are there."""
        self.budget.spend(len(image) ** 2)
        self.budget.keep(len(image) * (len(image) - 1))
        if len(image) == 1:
            self.alone |= 1 << image[0]
        for i, e in enumerate(image):
            for j, d in enumerate(image):
                if i != j:
                    table = self.covered[d]
                    key = self._key([x for k, x in enumerate(image) if k not in (i, j)])
                    table[key] = table.get(key, 0) | 1 << e

    def _excluded(self, parts: set[int], d: int) -> int:
        """Return the e that complete a covered multiset with d and one of the parts."""
        gone, table = 0, self.covered[d]
        if table:
            for key in table.keys() & parts:
                gone |= table[key]
        return gone

    def _key(self, part: Sequence[int]) -> int:
        """Return a number for a sorted multiset of at most two effects."""
        key = 0
        for i in part:
            key = key * (len(self.effects) + 1) + i + 1
        return key

    def _new_parts(self, d: int) -> set[int]:
        """Return the keys of the parts, of at most two elements, that w + d has and w has not."""
        base = len(self.effects) + 1
        after = d + 1
        keys = {a * base + base + after if a < d else after * base + a + 1 for a in self.chosen}
        keys.add(after)
        return keys - self.parts

    # what an irreducible changes -----------------------------------------------------------------

    def _judge(self, last: int) -> None:
        """Refuse unless every choice of moves with these effects changes at most `claim`."""
        moves, members = self.moves, [*self.chosen, last]
        weight = sum([moves.weights[i] for i in members])
        if weight <= self.claim:
            return
        if moves.longest is not None and len(members) > moves.longest:
            return
        if moves.secret is not None and not any(self.effects[i] in moves.secret for i in members):
            return
        if len(self.maps) > 1:
            raise Rejected("an irreducible multiset may change the query by more than the claim")
        key = tuple(sorted(members))
        if key not in self.seen:
            self.seen.add(key)
            options = [(moves.changes[self.effects[i]], k) for i, k in Counter(key).items()]
            if exceeds(options, self.claim, self.budget):
                raise Rejected("an irreducible multiset changes the query by more than the claim")


def independent(effects: Sequence[Vector], budget: Budget) -> list[Vector]:
    """Return the effects in independent coordinates, which determine the others."""
    columns = list(zip(*effects, strict=True))
    budget.spend(len(effects) * len(columns) ** 2)
    return list(zip(*(columns[place] for place in relations(columns)[0]), strict=True))


def exceeds(options: list[tuple[list[Change], int]], claim: int, budget: Budget) -> bool:
    """Whether `times` choices from each list can have a sum of changes with a norm above the claim.

    Sums are grown choice by choice; one that cannot get above the claim any more is dropped.
    """
    left = sum(max(map(norm, changes)) * times for changes, times in options)
    sums: set[frozenset[tuple[object, int]]] = {frozenset()}
    for changes, times in sorted(options, key=lambda item: len(item[0])):
        largest = max(map(norm, changes))
        for _ in range(times):
            left -= largest
            grown: set[frozenset[tuple[object, int]]] = set()
            for part in sums:
                budget.spend(len(changes) * (2 + len(part)))
                for change in changes:
                    total: dict[Any, int] = dict(part)
                    for output, value in change.items():
                        total[output] = total.get(output, 0) + value
                    if norm(total) + left > claim:
                        grown.add(frozenset(item for item in total.items() if item[1]))
            if len(grown) > MOST_CHOICES:
                raise Rejected("an irreducible multiset has too many choices of moves", limit=True)
            sums = grown
    return bool(sums)


def _combined(own: int, d: Vector, coordinates: list[int], images: list[Vector]) -> Vector:
    total = tuple(own * x for x in d)
    for k, image in zip(coordinates, images, strict=False):
        if k:
            total = tuple(x + k * y for x, y in zip(total, image, strict=True))
    return total


def _bits(numbers: Iterator[int]) -> int:
    word = 0
    for i in numbers:
        word |= 1 << i
    return word
