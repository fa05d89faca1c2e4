"""Kind `every-database`: all databases of n records are listed, and the definition is applied.

The changes from D1 to another database are a bit set: (record, new value) for labelled records, and
k-th copy of a value removed or added for multisets. So what D3 may do (SEMANTICS, section 2) is a
question about subsets. Clauses and weights name records; they have proofs of this kind only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

from .document import Exact, Rejected, want
from .policy import Point, inside
from .witness import PAIR, Pair, change_of, totals
from .world import Vector, World

Database = tuple[Point, ...]
NAMED = {**PAIR, "records": [int], "database": [list]}


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


def check_pair(world: World, witness: dict[str, Any], value: Exact) -> None:
    """Refuse a witness with record numbers unless it is a neighbour pair that changes so much."""
    if "records" not in witness or "database" not in witness:
        raise Rejected("records are not numbered, though clauses or weights name them")
    table, listing, point = want(witness, NAMED, "the witness"), Listing(world), world.policy.point
    before, after, one = ([point(x) for x in table[key]] for key in ("before", "after", "database"))
    rest = Counter({point(x): want(times, int) for x, times in table.get("unchanged", [])})
    if len(one) != listing.size:
        raise Rejected("the listed database has the wrong number of records")
    records, two = [record - 1 for record in table["records"]], list(one)
    for record, x, y in zip(records, before, after, strict=True):
        if record < 0 or one[record] != x or x == y:
            raise Rejected("the changing records do not hold what they should")
        two[record] = y
    if len(set(records)) != len(records) or Counter(one) != Counter(before) + rest:
        raise Rejected("the listed database is not the one of the witness")
    pair = tuple(one), tuple(two)
    if not any(set(pair) <= set(databases) for databases in listing.alike.values()):
        raise Rejected("the databases of the witness do not satisfy every fact and clause")
    if listing.change(*pair) != value:
        raise Rejected("the witness changes the query by another amount")
    if not any(listing.neighbours(pair[0], [pair[1]])):
        raise Rejected("the witness is no neighbour pair")


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
        return all(
            any(inside(database[k], area) == told for k, area, told in clause)
            for clause in self.policy.clauses
        )

    def change(self, one: Database, two: Database) -> Exact:
        """Return the change of the query."""
        self.world.budget.spend(4 * len(one))
        query = self.world.query
        if query.weights is None:
            return change_of(self.world, Pair(list(one), list(two), Counter()))
        axis, place = self.policy.axes[query.places[0]], query.places[0]
        columns = zip(query.weights, one, two, strict=True)
        steps = (w * (y[place] - x[place]) * axis.step for w, x, y in columns)
        total = sum(steps, Fraction(0))
        return total if total >= 0 else -total

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
            else:
                yield (
                    all_of != 0
                    and secret == all_of
                    and not any(c and c != all_of and c | all_of == all_of for _, c in marks)
                )

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
