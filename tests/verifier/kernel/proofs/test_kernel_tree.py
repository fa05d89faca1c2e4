"""Kind `irreducible` beside a slow replay of its own, which follows FORMAT.md step by step.

Vectors are tuples, sets are sets, multisets are counters; each step is computed anew. Proofs are
damaged in every way, and the verdicts must agree, whether the kernel keeps sums as bits or as sets.
"""

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.proofs import irreducible
from blowproof.verifier.kernel.proofs.irreducible import Points, Replay, Sums, replayed
from blowproof.verifier.kernel.world import Effects, norm, plus
from spelling import spelled

Vector = tuple[int, ...]
Document = dict[str, Any]

FOLDER = Path(__file__).parents[3] / "certificates" / "valid"
MOST_NODES = 150  # so that the slow replay does not take long
NAMES = [
    path.stem
    for path in sorted(FOLDER.glob("irreducible-*.json"))
    if len(json.loads(path.read_text())["proof"].get("nodes", [])) in range(1, MOST_NODES)
]


# the slow replay ---------------------------------------------------------------------------------


@dataclass
class Open:
    """An open node: its elements in order, what is available, the branches, the kept sums."""

    members: Vector
    available: set[int]
    branches: set[int]
    sums: set[Vector]
    mark: int


class Slow:
    """A replay that believes nothing and remembers little."""

    def __init__(self, moves: Effects, proof: Document, claim: int) -> None:
        self.moves, self.proof, self.claim = moves, proof, claim
        self.effects: list[Vector] = moves.effects
        self.covered: set[Vector] = set()
        self.group = [list(range(len(self.effects)))]
        self.kept = independent_coordinates(self.effects)
        most = [max(abs(d[j]) for d in self.effects) for j in self.kept]
        self.box = [min(max(b, 2 * m), 4000 * m) for b, m in zip(proof["box"], most, strict=True)]
        self.sound = all(map(self.is_symmetry, proof["symmetries"]))
        for p in self.group if self.sound else ():
            for q in proof["symmetries"]:
                image = [q[i] for i in p]
                if image not in self.group:
                    self.group.append(image)

    def accepts(self) -> bool:
        """Whether the proof is one."""
        if not self.sound:
            return False
        every = set(range(len(self.effects)))
        path = [Open((), every, set(every), {(0,) * len(self.kept)}, 0)]
        for place in self.proof["nodes"]:
            if not 0 <= place < len(self.proof["steps"]):
                return False
            self.leave(path)
            if not self.enter(path, *self.proof["steps"][place]):
                return False
        self.leave(path)
        return len(path) == 1 and not path[0].branches

    def is_symmetry(self, p: list[int]) -> bool:
        """Whether a list permutes the effects, by a linear map, with weights and secrets kept."""
        own, secret = range(len(self.effects)), self.moves.secret
        if sorted(p) != [*own]:
            return False
        both = [self.effects[i] + self.effects[p[i]] for i in own]
        if len(independent_coordinates(both)) != len(self.kept):
            return False
        return all(
            self.moves.weights[i] == self.moves.weights[p[i]]
            and (self.effects[i] in secret) == (self.effects[p[i]] in secret)
            for i in own
        )

    def leave(self, path: list[Open]) -> None:
        """Leave nodes without branches."""
        while len(path) > 1 and not path[-1].branches:
            self.finish(path.pop(), path[-1])

    def finish(self, node: Open, parent: Open) -> None:
        """Cover a node's images where it is marked, and exclude at its parent."""
        if node.mark and len(node.members) <= 4:
            self.covered |= {tuple(sorted(p[i] for i in node.members)) for p in self.group}
            gone = self.excluded(parent.members)
            parent.available -= gone
            parent.branches -= gone

    def excluded(self, w: Vector) -> set[int]:
        """All e of which a covered multiset in w + e holds e and the last of w, or e alone."""
        found = set()
        for multiset in self.covered:
            for e in set(multiset):
                inside = Counter(multiset) <= Counter([*w, e])
                if inside and (len(multiset) == 1 or w[-1] in (Counter(multiset) - Counter([e]))):
                    found.add(e)
        return found

    def enter(self, path: list[Open], d: int, choice: int, mark: int, look: int) -> bool:
        """Enter a child; whether that is allowed."""
        node, count = path[-1], len(self.effects)
        functionals = self.proof["functionals"]
        if not (0 <= d < count and abs(choice) <= len(functionals)) or d not in node.branches:
            return False
        members = (*node.members, d)
        total = added([self.effects[i] for i in members])
        opposite = tuple(-x for x in total)
        available, branches = set(node.available), set(range(count))
        if opposite in self.effects:
            last = self.effects.index(opposite)
            available.discard(last)
            if not self.within((*members, last)):
                return False
        step = [self.effects[d][j] for j in self.kept]
        sums = node.sums | {
            moved
            for moved in (tuple(x + y for x, y in zip(s, step, strict=True)) for s in node.sums)
            if all(abs(x) <= b for x, b in zip(moved, self.box, strict=True))
        }
        for e in list(available):
            if tuple(-self.effects[e][j] for j in self.kept) in sums:
                available.discard(e)
        if look:
            available -= self.excluded(members)
        if choice:
            y = [x * (1 if choice > 0 else -1) for x in functionals[abs(choice) - 1]]
            if dot(y, total) <= 0:
                return False
            branches = {e for e in range(count) if dot(y, self.effects[e]) < 0}
        if self.moves.longest is not None and len(members) + 2 > self.moves.longest:
            branches = set()
        node.branches.discard(d)
        node.available.discard(d)
        path.append(Open(members, available, available & branches, sums, mark))
        return True

    def within(self, members: Vector) -> bool:
        """Whether no choice of moves with these effects changes the query by more."""
        moves = self.moves
        if sum(moves.weights[i] for i in members) <= self.claim:
            return True
        if moves.longest is not None and len(members) > moves.longest:
            return True
        if not any(self.effects[i] in moves.secret for i in members):
            return True
        if len(self.group) > 1:
            return False
        sums = {frozenset[Any]()}
        for i in members:
            sums = {plus(part, more) for part in sums for more in moves.changes[self.effects[i]]}
        return all(norm(total) <= self.claim for total in sums)


def dot(y: list[int], x: Vector) -> int:
    return sum(a * b for a, b in zip(y, x, strict=True))


def added(vectors: list[Vector]) -> Vector:
    return tuple(map(sum, zip(*vectors, strict=True)))


def independent_coordinates(vectors: list[Vector]) -> list[int]:
    """The first coordinates whose columns are linearly independent."""
    rows: list[list[Fraction]] = []
    found = []
    for j in range(len(vectors[0])):
        column = [Fraction(vector[j]) for vector in vectors]
        for row in rows:
            lead = next(i for i, x in enumerate(row) if x)
            column = [x - column[lead] / row[lead] * y for x, y in zip(column, row, strict=True)]
        if any(column):
            rows.append(column)
            found.append(j)
    return found


# proofs, whole and damaged -----------------------------------------------------------------------


def question(name: str) -> tuple[Effects, Document, int]:
    """The effects of a certificate, its proof with a step for each node, and its scaled claim."""
    document = json.loads((FOLDER / f"{name}.json").read_text())
    world, value = world_of(document, Budget())
    moves = Effects(world)
    return moves, spelled(document["proof"]), int(value * moves.scale)


def fast(moves: Effects, proof: Document, claim: int) -> bool:
    try:
        replayed(moves, proof, claim)
    except (Rejected, IndexError):
        return False
    return True


def damaged(proof: Document, rng: random.Random) -> Document:
    """The proof with one to three things changed."""
    mutant = copy.deepcopy(proof)
    steps, nodes, most = mutant["steps"], mutant["nodes"], len(proof["functionals"])
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(steps))
        match rng.randrange(12):
            case 0 if nodes:
                del nodes[rng.randrange(len(nodes))]
            case 1 if nodes:
                nodes.insert(rng.randrange(len(nodes)), rng.choice(nodes))
            case 2 if len(nodes) > 1:
                k = rng.randrange(len(nodes) - 1)
                nodes[k : k + 2] = nodes[k + 1], nodes[k]
            case 3:
                steps[place][0] = rng.randrange(-1, proof["effects"] + 1)
            case 4:
                steps[place][1] = rng.randint(-most - 1, most + 1)
            case 5:
                steps[place][1] = 0
            case 6:
                for step in steps:
                    step[2] = rng.choice((step[2], 1))
            case 7:
                for step in steps:
                    step[3] = rng.choice((step[3], 0, 1))
            case 8:
                mutant["box"] = [rng.choice((b, rng.randint(-1, 5))) for b in mutant["box"]]
            case 9 if mutant["symmetries"]:
                del mutant["symmetries"][rng.randrange(len(mutant["symmetries"]))]
            case 10:
                p = list(range(proof["effects"]))
                i, j = rng.sample(p, 2)
                p[i], p[j] = j, i
                mutant["symmetries"].append(p)
            case 11 if most:
                row = rng.choice(mutant["functionals"])
                row[rng.randrange(len(row))] += rng.choice((-1, 1))
    return mutant


TOLD: Counter[bool] = Counter()


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_agree_with_a_slow_replay(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    moves, proof, claim = question(name)
    rng = random.Random(name)
    tried = [(proof, claim), (proof, claim - 1), (proof, claim + 1)]
    tried += [(damaged(proof, rng), rng.choice((claim, claim, claim - 1))) for _ in range(30)]
    for mutant, value in tried:
        slow = Slow(moves, mutant, value).accepts()
        for most in (1 << 18, 0):
            monkeypatch.setattr(irreducible, "MOST_BITS", most)
            assert fast(moves, mutant, value) == slow, (name, most, mutant)
        TOLD[slow] += 1
    assert Slow(moves, proof, claim).accepts()
    assert not Slow(moves, proof, claim - 1).accepts()


def test_enough_was_accepted_and_rejected() -> None:
    assert min(TOLD[True], TOLD[False]) > 30


# searches of the test's own, in every order ------------------------------------------------------


def grown(moves: Effects, box: list[int], rng: random.Random, *, marks: bool) -> Document:
    """A proof found by the slow replay itself: random branches, functionals, marks and looks."""
    rank = len(independent_coordinates(moves.effects))
    rows = [[rng.randint(-2, 2) for _ in moves.effects[0]] for _ in range(4 * rank)] + [
        [int(i == j) for j in range(len(moves.effects[0]))] for i in range(len(moves.effects[0]))
    ]
    proof: Document = {
        **{"kind": "irreducible", "effects": len(moves.effects), "functionals": rows},
        **{"symmetries": [], "box": box, "steps": [], "nodes": []},
    }
    slow = Slow(moves, proof, 10**9)
    every = set(range(len(moves.effects)))
    path = [Open((), every, set(every), {(0,) * rank}, 0)]
    while True:
        slow.leave(path)
        if not path[-1].branches:
            return proof
        d = rng.choice(sorted(path[-1].branches))
        total = added([moves.effects[i] for i in (*path[-1].members, d)])
        able = [
            sign * (k + 1)
            for k, row in enumerate(rows)
            for sign in (1, -1)
            if sign * dot(row, total) > 0
        ]
        choice = min(able, key=lambda c: len(side(moves, rows, c) & path[-1].available))
        step = [d, choice, int(marks and rng.random() < 0.5), rng.randrange(2)]
        proof["nodes"].append(len(proof["steps"]))
        proof["steps"].append(step)
        if len(proof["steps"]) > MOST_NODES:
            return proof
        assert slow.enter(path, d, choice, step[2], step[3])


def side(moves: Effects, rows: list[list[int]], choice: int) -> set[int]:
    sign = 1 if choice > 0 else -1
    row = rows[abs(choice) - 1]
    return {e for e, x in enumerate(moves.effects) if sign * dot(row, x) < 0}


SMALL = [
    *("irreducible-given-n", "irreducible-attribute-secrets", "irreducible-structural-zero"),
    *("irreducible-another-graph-read-as-published", "irreducible-sums-at-corners"),
]


@pytest.mark.parametrize("name", SMALL)
def test_searches_in_any_order_are_proofs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    moves, proof, claim = question(name)
    rng, done = random.Random(name), 0
    for _ in range(4):
        box = [rng.randint(0, 5) for _ in proof["box"]]
        own = grown(moves, box, rng, marks=True)
        if len(own["steps"]) > MOST_NODES:
            continue
        done += 1
        for most in (1 << 18, 0):
            monkeypatch.setattr(irreducible, "MOST_BITS", most)
            assert fast(moves, own, claim)
            assert not fast(moves, own, claim - 1)
            for mutant in (damaged(own, rng) for _ in range(3)):
                assert fast(moves, mutant, claim) == Slow(moves, mutant, claim).accepts()
    assert done


# sums of parts -----------------------------------------------------------------------------------


def vectors_with_opposites(rng: random.Random) -> list[Vector]:
    rank, most = rng.randint(1, 3), rng.randint(1, 3)
    some = {tuple(rng.randint(-most, most) for _ in range(rank)) for _ in range(4)}
    units = {tuple(int(i == j) for j in range(rank)) for i in range(rank)}
    return sorted({tuple(s * x for x in d) for d in some | units for s in (1, -1)} - {(0,) * rank})


def kept_sums(vectors: list[Vector], box: list[int], path: list[int]) -> Iterator[set[Vector]]:
    sums = {(0,) * len(box)}
    for d in path:
        yield sums
        more = {tuple(a + b for a, b in zip(s, vectors[d], strict=True)) for s in sums}
        sums |= {s for s in more if all(abs(x) <= b for x, b in zip(s, box, strict=True))}


def test_sums_are_those_in_the_box() -> None:
    """Bits and sets of packed vectors, beside sets of tuples: what completes a part with d."""
    rng = random.Random(1)
    for _ in range(150):
        vectors = vectors_with_opposites(rng)
        most = [max(map(abs, x)) for x in zip(*vectors, strict=True)]
        box = [2 * m + rng.randint(0, 3) for m in most]
        width = 24
        keys = [sum(v << width * j for j, v in enumerate(x)) for x in vectors]
        guard = sum(1 << width * j + width - 1 for j in range(len(box)))
        edge = guard + sum(b << width * j for j, b in enumerate(box))
        ways: list[Any] = [Points(vectors, box, Budget()), Sums(keys, edge, guard, Budget())]
        path = [rng.randrange(len(vectors)) for _ in range(rng.randint(1, 12))]
        kept = [way.none for way in ways]
        for d, sums in zip(path, kept_sums(vectors, box, path), strict=True):
            for k, way in enumerate(ways):
                found = way.closing(kept[k], d, sum(way.bits))
                told = {e for e, bit in enumerate(way.bits) if found & bit}
                assert told == {
                    e
                    for e, x in enumerate(vectors)
                    if tuple(-a - b for a, b in zip(x, vectors[d], strict=True)) in sums
                }
                kept[k] = way.grown(kept[k], d)[0]


def test_repeated_bits() -> None:
    for flags, size, times in product((0, 1, 5, 6), (3, 7), range(1, 20)):
        assert irreducible.repeated(flags, size, times) == sum(
            flags << size * k for k in range(times)
        )


def test_multisets_of_three_are_known_by_their_sums() -> None:
    moves, proof, claim = question("irreducible-two-margins")
    units = Replay(moves, proof, claim).units
    found: dict[int, Vector] = {}
    for size in range(4):
        for multiset in product(range(len(units)), repeat=size):
            key = tuple(sorted(multiset))
            assert found.setdefault(sum(units[e] for e in key), key) == key


# limits ------------------------------------------------------------------------------------------


def test_a_node_of_too_many_elements_ends_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers of sums are told apart up to that size only."""
    moves, proof, claim = question("irreducible-two-margins-and-a-free-attribute")
    depth = deepest(moves, proof, claim)
    assert depth > 2
    monkeypatch.setattr(irreducible, "MOST_DEPTH", depth)
    assert fast(moves, proof, claim)
    for most in range(2, depth):
        monkeypatch.setattr(irreducible, "MOST_DEPTH", most)
        with pytest.raises(Rejected, match="too many elements") as reason:
            replayed(moves, proof, claim)
        assert reason.value.limit


def deepest(moves: Effects, proof: Document, claim: int) -> int:
    """How many elements the largest node with branches has."""
    slow, found = Slow(moves, proof, claim), 0
    every = set(range(len(moves.effects)))
    path = [Open((), every, set(every), {(0,) * len(slow.kept)}, 0)]
    for place in proof["nodes"]:
        slow.leave(path)
        assert slow.enter(path, *proof["steps"][place])
        found = max(found, len(path[-1].members) if path[-1].branches else 0)
    return found


def test_the_largest_depth_is_that_of_the_format() -> None:
    text = (Path(irreducible.__file__).parents[1] / "FORMAT.md").read_text()
    assert f"at most {irreducible.MOST_DEPTH} elements" in text
