"""Kind `every-database`: all databases of n records are listed, and the definition is applied.

The changes from D1 to another database are a bit set: (record, new value) for labelled records, and
k-th copy of a value removed or added for multisets. So what D3 may do (SEMANTICS, section 2) is a
question about subsets.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

from ..boxes import Point
from ..document import Exact, Rejected, want
from ..independent import Vector
from ..witness import Pair, change_of, satisfied, totals
from ..world import World

Database = tuple[Point, ...]


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless no neighbour pair changes the query by more than the value."""
    want(proof, {"kind": str}, "the proof")
    listing = Listing(world)
    for databases in listing.alike.values():
        for one in databases:
            if world.named or not world.labelled or list(one) == sorted(one):  # or it is relabelled
                worse = [two for two in databases if listing.change(one, two) > value]
                if any(listing.neighbours(one, worse)):
                    raise Rejected("a neighbour pair changes the query by more than the claim")


class Listing:
    """All databases in I_Q, by the totals of the equalities (`alike`)."""

    def __init__(self, world: World) -> None:
        self.world, self.policy, weights = world, world.policy, world.query.weights
        self.size = world.size if weights is None else len(weights)
        if self.size is None or world.size not in (None, self.size):
            raise Rejected("n is not a number, so the databases cannot be listed")
        points, size = world.points(), self.size
        boxes = sum(len(area) for clause in self.policy.clauses for _, area, _ in clause)
        width = world.look + 2 * boxes
        world.budget.spend(size, size)
        world.budget.spend(size * (2 + width) * len(points) ** min(size, 40) if size else 1)
        listed: Iterator[Database] = (
            product(points, repeat=size)
            if world.labelled
            else combinations_with_replacement(points, size)
        )
        self.number = {x: k for k, x in enumerate(points)}
        self.alike: dict[Vector, list[Database]] = defaultdict(list)
        for database in listed:
            found = totals(world, Counter(database)) if self._clauses(database) else None
            if found is not None:
                self.alike[found[: len(world.equalities)]].append(database)
                world.budget.spend(0, size + 2)

    def _clauses(self, database: Database) -> bool:
        numbers = range(len(database)) if self.world.labelled else [None] * len(database)
        return satisfied(self.world, Counter(zip(numbers, database, strict=True)))

    def change(self, one: Database, two: Database) -> Exact:
        """Return the change of the query."""
        self.world.budget.spend(4 * len(one))
        return change_of(self.world, Pair([*one], [*two], Counter(), [*range(len(one))]))

    def neighbours(self, one: Database, some: list[Database]) -> Iterator[bool]:
        """Say of each of some databases whether it is a neighbour of D1."""
        if not some:
            return
        known = (totals(self.world, Counter(one)) or ())[: len(self.world.equalities)]
        found = self.alike[known]
        self.world.budget.spend(4 * len(found) * (len(one) + len(some)))
        marks = {self._marks(one, three) for three in found}
        for two in some:
            secret, all_of = self._marks(one, two)
            if self.world.reading == "markov":
                ones = all(times == 1 for times in self._differences(one, two).values())
                yield 0 < all_of.bit_count() <= 4 and ones
            elif self.world.reading == "published":
                yield secret != 0 and not any(
                    (t and t != secret and t | secret == secret)
                    or (t == secret and c != all_of and c | all_of == all_of)
                    for t, c in marks
                )
            elif self.world.reading == "pufferfish":
                yield secret != 0 and self._sure(all_of, marks)
            else:
                yield (
                    all_of != 0
                    and secret == all_of
                    and not any(c and c != all_of and c | all_of == all_of for _, c in marks)
                )

    def _sure(self, every: int, marks: set[tuple[int, int]]) -> bool:
        """Reading 5: whether a belief may be certain of D1 and of D2, told a secret change.

        It may not if some part of the other changes leads from D1 into I_Q, and undoing it leads
        from D2 there: of a part and the rest, one leaves the secret change out. What that does not
        refute counts as a pair, which can refuse a good proof, never accept a bad one.
        """
        between = {c for _, c in marks if c | every == every}
        return not any(c and c != every and every ^ c in between for c in between)

    def _marks(self, one: Database, two: Database) -> tuple[int, int]:
        """Return the secret changes and all changes from one database to another, as bit sets."""
        secret = every = 0
        if self.world.labelled:
            for k, (x, y) in enumerate(zip(one, two, strict=True)):
                if x != y:
                    bit = 1 << (k * len(self.number) + self.number[y])
                    every |= bit
                    secret |= bit if self.policy.graph.joined(x, y) else 0
            return secret, every
        for (x, sign), times in self._differences(one, two).items():
            spot = (2 * self.number[x] + (sign > 0)) * (len(one) + 1)
            every |= ((1 << times) - 1) << spot
        return every, every

    def _differences(self, one: Database, two: Database) -> dict[tuple[Point, int], int]:
        change = Counter(two)
        change.subtract(one)
        return {(x, 1 if k > 0 else -1): abs(k) for x, k in change.items() if k}
