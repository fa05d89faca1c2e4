"""Kind `irreducible`: a search, replayed. FORMAT.md says what a node is and why this is a proof.

Sums of parts are kept within a box. Where it has few points they are bits of one number (`Points`),
as sets of effects are, in which the bit of e is where -e is in the box: a shift by the number of d
tells all e with -e - d among the sums. Else they are a set of packed vectors (`Sums`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, compress
from math import inf, prod
from operator import mul
from typing import Any

from ..document import Budget, Exact, Rejected, want, words
from ..independent import Vector, parts, relations
from ..measure import Change, Measure
from ..world import Effects, World, plus

MOST_SYMMETRIES = 20_000
MOST_CHOICES = 200_000
MOST_MARKED = 4  # the largest multisets that are excluded with their images
MOST_DEPTH = 4000
MOST_BITS = 1 << 18
PROOF = {
    **{"kind": str, "effects": int, "functionals": [[int]], "symmetries": [[int]]},
    **{"box": [int], "steps": [[int]], "nodes": [int]},
}


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse the proof unless it shows that no neighbour pair changes the query by more."""
    effects = Effects(world)
    claim = effects.claimed(value)
    if "parts" not in proof:
        return replayed(effects, want(proof, PROOF, "the proof"), claim)
    tables = want(proof, {"kind": str, "parts": [PROOF]}, "the proof")["parts"]
    for (part, _), table in zip(parts(effects), tables, strict=True):
        replayed(part, table, claim)
    return None


class Points:
    """Sums of parts as bits of a number: for each point of the box, whether it is one."""

    def __init__(self, vectors: Sequence[Vector], box: Sequence[int], budget: Budget) -> None:
        self.numbers, self.reached = [0] * len(vectors), [1] * len(vectors)
        middle, size = 0, 1
        for j in sorted(range(len(box)), key=box.__getitem__):
            for k, d in enumerate(vectors):
                times = 2 * box[j] + 1 - abs(d[j])
                self.reached[k] = repeated(self.reached[k], size, times) << max(0, d[j]) * size
                self.numbers[k] += d[j] * size
            middle += box[j] * size
            size *= 2 * box[j] + 1
        far = max(map(abs, self.numbers))
        self.none, self.kept = 1 << middle, 2 + (size + 4 * far) // 1000
        self.bits = [1 << far - number for number in self.numbers]
        self.shifts = [middle - far - number for number in self.numbers]
        budget.spend(len(vectors) * len(box) * self.kept, len(vectors) * self.kept)

    def grown(self, sums: int, d: int) -> tuple[int, int]:
        """Return the sums of parts of w + d, from those of w, and what keeping them takes."""
        number = self.numbers[d]
        moved = sums << number if number > 0 else sums >> -number
        return sums | moved & self.reached[d], self.kept

    def closing(self, sums: int, d: int, available: int) -> int:
        """Return the available effects e with -e - d among the sums."""
        return available & sums >> self.shifts[d]


class Sums:
    """Sums of parts as a set of packed vectors."""

    none = frozenset([0])
    kept = 2

    def __init__(self, keys: list[int], edge: int, guard: int, budget: Budget) -> None:
        self.keys, self.edge, self.guard, self.budget = keys, edge, guard, budget
        self.bits = [1 << k for k in range(len(keys))]
        self.each = 1 + guard.bit_length() // 64

    def grown(self, sums: frozenset[int], d: int) -> tuple[frozenset[int], int]:
        """Return the sums of parts of w + d, from those of w, and what keeping them takes."""
        self.budget.spend(len(sums) * self.each)
        key, edge, guard = self.keys[d], self.edge, self.guard
        moved = [x + key for x in sums]
        found = sums.union([x for x in moved if (edge + x) & (edge - x) & guard == guard])
        return found, self.kept + len(found) * self.each

    def closing(self, sums: frozenset[int], d: int, available: int) -> int:
        """Return the available effects e with -e - d among the sums."""
        self.budget.spend(available.bit_count() * self.each)
        keys, away = self.keys, -self.keys[d]
        return sum([1 << e for e in places(available) if away - keys[e] in sums])


class Node:
    """An open node: what is available, what is left to take, its sum and weight, whether it is to
    be covered, and once they are asked for the sums of its parts.
    """

    __slots__ = ("available", "held", "mark", "sums", "todo", "total", "weight")

    def __init__(self, available: int, todo: int, total: int, weight: int, mark: int) -> None:
        self.available, self.todo, self.mark = available, todo, mark
        self.total, self.weight = total, weight
        self.sums: Any = None
        self.held = 0


class Replay:
    """A search that is gone through again, and checked at each step."""

    def __init__(self, moves: Effects, proof: dict[str, Any], claim: int) -> None:
        self.moves, self.claim, self.budget = moves, claim, moves.world.budget
        self.within = moves.measure.within(claim)  # the length whose changes are within the claim
        count, rows = len(moves.effects), proof["functionals"]
        if any(len(row) != len(moves.effects[0]) for row in rows):
            raise Rejected("a functional has the wrong length")
        maps = self._symmetries(proof["symmetries"])
        self.images = list(zip(*maps, strict=True))  # of each effect, under every symmetry
        self.sums = self._pack(proof["box"])
        each = max((words(v) for row in rows for v in row), default=1)
        self.budget.spend(
            len(rows) * count * len(moves.effects[0]) * each, 2 * len(rows) * count * each
        )
        self.budget.spend(count, count * count // 64)  # a bit for each effect, of each effect
        values = [[sum(map(mul, row, d)) for d in moves.effects] for row in rows]
        values += [[-v for v in row] for row in reversed(values)]
        self.steps = self._steps(proof["steps"], [[1] * count, *values])
        self.units = [1 << 2 * e for e in range(count)]  # at most three are known by their sum
        self.covered: dict[int, int] = defaultdict(int)  # by the sum of all but one: which ones
        self.seen: set[Vector] = set()
        every = sum(self.sums.bits)
        self.path, self.held = [Node(every, every, 0, 0, 0)], 0  # the open nodes, what they keep
        self.path[0].sums = self.sums.none
        self.members: list[int] = []  # of the deepest one

    def _pack(self, box: list[int]) -> Points | Sums:
        """Choose the number of each effect, equal for equal sums, and how sums of parts are kept.

        A number has a field for each coordinate. In a sum and in `edge` less a sum the top bits of
        the fields (`guard`) tell whether it is in the box.
        """
        kept = independent(self.moves.effects, self.budget)
        most = [max(map(abs, x)) for x in kept]
        if len(box) != len(kept):
            raise Rejected("the box has the wrong length")
        box = [min(max(b, 2 * m), MOST_DEPTH * m) for b, m in zip(box, most, strict=True)]
        width = ((2 * MOST_DEPTH + 4) * max(most)).bit_length() + 1
        vectors = list(zip(*kept, strict=True))
        self.keys = [sum(v << width * j for j, v in enumerate(x)) for x in vectors]
        self.wide = 1 + width * len(box) // 64
        self.budget.spend(len(vectors) * len(box) * self.wide, len(vectors) * self.wide)
        if prod(2 * b + 1 for b in box) <= MOST_BITS:
            return Points(vectors, box, self.budget)
        guard = sum(1 << width * j + width - 1 for j in range(len(box)))
        edge = guard + sum(b << width * j for j, b in enumerate(box))
        return Sums(self.keys, edge, guard, self.budget)

    def _steps(self, steps: list[list[int]], values: list[list[int]]) -> list[tuple[Any, ...]]:
        """Return, for each kind of entry, all that it needs.

        By choice (0 for none, -k for the negative of k): the values on the effects, the effects
        below zero, and the sums that were seen to be above zero.
        """
        bits, most = self.sums.bits, len(values) // 2
        sides = [sum(compress(bits, [v < 0 for v in y])) for y in values]
        sides[0] = sum(bits)
        wide = self.sums.kept
        self.budget.spend(len(sides) * len(bits) * wide // 4, len(sides) * wide + 2 * len(steps))
        above: list[set[int]] = [set() for _ in values]
        found = []
        for d, choice, mark, look in steps:
            if not (0 <= d < len(bits) and -most <= choice <= most):
                raise Rejected("an effect or a functional that is not there")
            own = (d, bits[d], self.keys[d], self.moves.weights[d])
            found.append((*own, sides[choice], values[choice], above[choice], mark, look))
        return found

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

    def run(self, nodes: Iterable[int]) -> None:
        """Enter the nodes in turn; Rejected unless that ends with no branch left."""
        path, members, steps, bits = self.path, self.members, self.steps, self.sums.bits
        closing, every = self.sums.closing, sum(bits)
        ends = {-key: k for k, key in enumerate(self.keys)}
        weights = self.moves.weights
        least = self.within - max(weights)  # what weighs no more closes within the claim
        longest = inf if self.moves.longest is None else self.moves.longest - 2
        for place, step in enumerate(nodes):
            node = path[-1] if path[-1].todo else self._leave()
            d, bit, key, weight, side, values, above, mark, look = steps[step]
            if not node.todo & bit:
                self.refuse(f"node {place}: not one of the branches that are left")
                continue
            if node.sums is None:
                self._grow(node)
            total, weight = node.total + key, node.weight + weight
            if total not in above:
                self._place_above(total, above, [*members, d], values)
            free = node.available ^ closing(node.sums, d, node.available)
            node.available ^= bit
            node.todo ^= bit
            if (last := ends.get(total)) is not None:
                free &= every ^ bits[last]
                if weight > least:
                    self._judge((*members, d, last), weight + weights[last])
            left = free & side if len(members) < longest else 0
            if left and look:
                stays = ~self._excluded((*members, d))
                free, left = free & stays, left & stays
            if left:
                members.append(d)
                path.append(Node(free, left, total, weight, mark))
            elif mark:
                self._mark(node, (*members, d))
        if self._leave().todo:
            raise Rejected("the proof ends before every branch is taken")

    def _leave(self) -> Node:
        """Leave what is finished; return the node that is open then."""
        while not self.path[-1].todo and len(self.path) > 1:
            done, node = tuple(self.members), self.path.pop()
            self.members.pop()
            if node.mark:
                self._mark(self.path[-1], done)
        return self.path[-1]

    def _grow(self, node: Node) -> None:
        """Find the sums of parts of the deepest open node."""
        if len(self.members) > MOST_DEPTH:
            raise Rejected("a node has too many elements", limit=True)
        up = self.path[-2]
        node.sums, kept = self.sums.grown(up.sums, self.members[-1])
        node.held = up.held + kept
        self.budget.spend(0, max(0, node.held - self.held))
        self.held = max(self.held, node.held)

    def _place_above(self, total: int, above: set[int], w: list[int], values: list[int]) -> None:
        """Note that a functional is above zero on the sum of w, and so on every equal sum."""
        self.budget.spend(1 + len(w) // 8, 1)
        if sum([values[i] for i in w]) <= 0:
            raise Rejected("a functional is not positive on the sum of a node")
        above.add(total)

    def refuse(self, reason: str) -> None:
        """Refuse an entry."""
        raise Rejected(reason)

    def _mark(self, up: Node, members: Vector) -> None:
        """Cover a finished node with its images, and exclude at its parent what they complete."""
        if len(members) > MOST_MARKED:
            return
        columns = zip(*(self.images[i] for i in members), strict=True)
        images, known = set(map(tuple, map(sorted, columns))), len(self.covered)
        for image in images:
            total = sum([self.units[e] for e in image])
            for e in set(image):
                self.covered[total - self.units[e]] |= 1 << e
        new, each = len(self.covered) - known, 2 + len(self.units) // 500
        self.budget.spend((len(self.images[0]) + 2 * len(images)) * len(members), new * each)
        stays = ~self._excluded(members[:-1])
        up.available &= stays
        up.todo &= stays

    def _excluded(self, members: Sequence[int]) -> int:
        """Return the e that complete a covered multiset with a part of w that holds its last
        element, and those that are one on their own.
        """
        own, parts = [self.units[e] for e in members], {0}
        if own:
            last = own.pop()
            parts.update([last], [last + x for x in own])
            parts.update([last + x + y for x, y in combinations(own, 2)])
        self.budget.spend(1 + len(parts) // 4)
        found = 0
        for part in self.covered.keys() & parts:
            found |= self.covered[part]
        return sum([self.sums.bits[e] for e in places(found)])

    def _judge(self, members: Vector, weight: int) -> None:
        """Refuse unless every choice of moves with these effects changes at most `claim`."""
        moves, key = self.moves, tuple(sorted(members))
        long = moves.longest is not None and len(members) > moves.longest
        within = weight <= self.within or long or key in self.seen
        if within or not any(moves.effects[i] in moves.secret for i in key):
            return
        self.seen.add(key)
        self.budget.spend(0, len(key))
        if len(self.images[0]) > 1 or self._exceeds([moves.changes[moves.effects[i]] for i in key]):
            raise Rejected("an irreducible multiset changes the query by more than the claim")

    def _exceeds(self, options: list[set[Change]]) -> bool:
        return exceeds(options, self.claim, self.budget, self.moves.measure)


def replayed(
    effects: Effects, table: dict[str, Any], claim: int, kind: type[Replay] = Replay
) -> None:
    """Refuse the proof unless every branch is taken and every irreducible is within the claim."""
    if table["effects"] != len(effects.effects):
        raise Rejected("the proof is about another number of effects")
    if not effects.effects:
        return
    if min(table["nodes"], default=0) < 0:
        raise Rejected("a step that is not there")
    replay = kind(effects, table, claim)
    replay.budget.spend(len(table["nodes"]) * (8 + replay.sums.kept + replay.wide))
    replay.run(table["nodes"])


def repeated(flags: int, size: int, times: int) -> int:
    """Return so many copies, each `size` bits further up."""
    found, copies = flags, 1
    while copies < times:
        more = min(copies, times - copies)
        found |= found << size * more
        copies += more
    return found


def places(flags: int) -> Iterator[int]:
    """Yield the places of the bits that are set."""
    while flags:
        low = flags & -flags
        yield low.bit_length() - 1
        flags ^= low


def exceeds(options: Iterable[set[Change]], claim: int, budget: Budget, measure: Measure) -> bool:
    """Whether a choice of changes from each set has a sum whose size is above the claim.

    Sums are grown choice by choice; one that cannot get above the claim any more is dropped: the
    lengths of what is still to come are added to its own.
    """
    options, within = sorted(options, key=len), measure.within(claim)

    def length(change: Change) -> int:
        return measure.length(measure.size(change))

    left = sum(max(map(length, changes)) for changes in options)
    sums: set[Change] = {frozenset()}
    for changes in options:
        left -= max(map(length, changes))
        grown: set[Change] = set()
        for part in sums:
            budget.spend(len(changes) * (2 + len(part) + len(next(iter(changes)))))
            totals = (plus(part, change) for change in changes)
            grown.update(total for total in totals if length(total) + left > within)
            if len(grown) > MOST_CHOICES:
                raise Rejected("an irreducible multiset has too many choices of moves", limit=True)
        sums = grown
    return any(measure.size(total) > claim for total in sums)


def independent(effects: Sequence[Vector], budget: Budget) -> list[Vector]:
    """Return the first independent coordinates of the effects, which determine the others."""
    columns = list(zip(*effects, strict=True))
    return [columns[place] for place in relations(columns, budget)[0]]
