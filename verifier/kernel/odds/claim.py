"""What a certificate of odds is about: policy, mechanism, attackers, and the claimed bounds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product as combinations
from math import prod
from typing import Any, NamedTuple

from ..boxes import Point, inside
from ..document import Budget, Rejected, Unreadable, want
from ..policy import Policy
from ..proofs.every_database import Listing
from ..query import Query
from ..witness import satisfied, totals
from ..world import World
from .exponentials import Sum, add, positive, product

SCHEMA = "blowproof/odds-certificate/1"
BOUND = {"ratio": Fraction, "exp": Fraction}
DOCUMENT = {
    **{"schema": str, "digests": dict, "policy": dict, "answers": str, "mechanism": dict},
    **{"attackers": str, "claim": {"at_least?": BOUND, "at_most?": BOUND}},
    **{"belief?": dict, "proof?": dict, "listed?": list, "tools?": object},
}
CHANNEL = {"of": str, "inputs": list, "rows": [[Fraction]]}
RELEASE = {"query": dict, "scale": Fraction}
ATTACKERS = ("independent", "iid", "any", "listed")
MOST_OUTPUTS = 100_000

Database = tuple[Point, ...]
Output = Hashable


class Bound(NamedTuple):
    """A ratio r e^z."""

    ratio: Fraction
    exp: Fraction

    @staticmethod
    def of(table: dict[str, Any]) -> Bound:
        """Return a bound as the document has it."""
        if table["ratio"] <= 0:
            raise Unreadable("a ratio of odds is above 0")
        return Bound(Fraction(table["ratio"]), Fraction(table["exp"]))

    def above(self, top: Mapping[Fraction, Fraction], bottom: Sum, budget: Budget) -> bool:
        """Whether top / bottom is above it (`bottom` may be 0, and then top is not)."""
        difference = dict(top)
        add(difference, product(bottom, {self.exp: self.ratio}), Fraction(-1))
        return positive(difference, budget)

    def __str__(self) -> str:
        power = f"exp({self.exp})" if self.exp else ""
        return power if power and self.ratio == 1 else f"{self.ratio} {power}".strip()


class Mechanism:
    """How likely outputs are: releases with Laplace noise (up to a common factor), or a channel."""

    def __init__(self, policy: Policy, document: dict[str, Any], budget: Budget) -> None:
        table = want(document, {"releases?": [RELEASE], "channel?": CHANNEL}, "the mechanism")
        if len(table) != 1:
            raise Unreadable("a mechanism has releases, or a channel")
        self.policy, self.budget = policy, budget
        self.queries: list[tuple[Query, Fraction]] = []
        self.rows: dict[Hashable, list[Fraction]] = {}
        self.of = ""
        for release in table.get("releases", []):
            if release["scale"] <= 0:
                raise Unreadable("a scale is above 0")
            query = Query(policy, release["query"], budget)
            if query.weights is not None:
                raise Rejected("weights name records: no odds here", limit=True)
            self.queries.append((query, Fraction(release["scale"])))
        if "channel" in table:
            self._channel(**table["channel"])
        self._answers: dict[Database, dict[Hashable, Fraction]] = {}

    def _channel(self, of: str, inputs: list[Any], rows: list[list[Fraction]]) -> None:
        if of not in ("record", "database") or len(inputs) != len(rows):
            raise Unreadable("a channel has a row for each record or database")
        self.of = of
        for item, row in zip(inputs, rows, strict=True):
            key: Hashable = (
                self.policy.point(item) if of == "record" else tuple(map(self.policy.point, item))
            )
            if len(row) != len(rows[0]) or min(row) < 0 or sum(row) != 1 or key in self.rows:
                raise Unreadable("a row of a channel is no distribution, or stands twice")
            self.rows[key] = [Fraction(x) for x in row]

    def answers(self, database: Database) -> dict[Hashable, Fraction]:
        """Return the true answers that are not 0, by release and output."""
        key = tuple(sorted(database))
        if key not in self._answers:
            found: dict[Hashable, Fraction] = defaultdict(Fraction)
            for number, (query, _) in enumerate(self.queries):
                for x in key:
                    self.budget.spend(query.cost)
                    for output, value in query.row(x).items():
                        found[number, output] += value
            self._answers[key] = found
            self.budget.spend(0, len(found))
        return self._answers[key]

    def chance(self, database: Database, output: Output) -> Sum:
        """Return how likely an output is, up to a factor that is the same for all databases."""
        self.budget.spend(4 * len(database))
        if self.of == "database":
            assert isinstance(output, int)
            chance = self.rows[database][output]
        elif self.of == "record":
            assert isinstance(output, tuple)
            each = zip(database, output, strict=True)
            chance = prod((self.rows[x][k] for x, k in each), start=Fraction(1))
        else:
            return {-self.distance(self.answers(database), dict(output)): Fraction(1)}  # type: ignore[call-overload]
        return {Fraction(0): chance} if chance else {}

    def distance(
        self, one: Mapping[Hashable, Fraction], two: Mapping[Hashable, Fraction]
    ) -> Fraction:
        """Return how far answers are apart, each divided by its scale; what is missing is 0."""
        total = Fraction(0)
        self.budget.spend(4 * (len(one) + len(two)))
        for key in one.keys() | two.keys():
            assert isinstance(key, tuple)
            away = one.get(key, Fraction(0)) - two.get(key, Fraction(0))
            total += abs(away) / self.queries[key[0]][1]
        return total

    def outputs(self, databases: Sequence[Database]) -> list[Output]:
        """Return outputs of which one has the largest ratio; with noise see FORMAT.md."""
        width = max((len(row) for row in self.rows.values()), default=0)
        if self.of == "database":
            return list(range(width))
        if self.of == "record":
            size = len(databases[0]) if databases else 0
            self._few(width**size)
            return list(combinations(range(width), repeat=size))
        rows = [self.answers(database) for database in databases]
        keys = list(dict.fromkeys(key for row in rows for key in row))
        spans = [sorted({row.get(key, Fraction(0)) for row in rows}) for key in keys]
        self._few(prod(map(len, spans)))
        return [tuple(zip(keys, chosen, strict=True)) for chosen in combinations(*spans)]

    def _few(self, count: int) -> None:
        if count > MOST_OUTPUTS:
            raise Rejected("there are too many outputs to try them all", limit=True)
        self.budget.spend(8 * count, 8 * count)

    def output(self, table: Any) -> Output:
        """Return an output as the document has it."""
        if self.of == "database":
            return want(table, int, "an output")  # type: ignore[no-any-return]
        if self.of == "record":
            return tuple(want(table, [int], "an output"))
        found = []
        for number, key, value in want(table, [list], "an output"):
            named = tuple(key) if isinstance(key, list) else key
            found.append(((number, named), Fraction(want(value, Fraction, "an output"))))
            if not 0 <= number < len(self.queries):
                raise Unreadable("an output of no release")
        if len(dict(found)) != len(found):
            raise Unreadable("an output stands twice")
        return tuple(found)


class Case:
    """One certificate: policy, mechanism, attackers, and what is asked of them."""

    def __init__(self, document: dict[str, Any], budget: Budget) -> None:
        self.table = table = want(document, DOCUMENT)
        self.budget, self.policy = budget, Policy(table["policy"])
        if table["answers"] != self.policy.scope:
            raise Rejected("the scope is not the policy's")
        if self.policy.data:
            raise Rejected("odds are about written numbers, not about a data file", limit=True)
        self.kind = table["attackers"]
        if self.kind not in ATTACKERS or (self.kind == "listed") != ("listed" in table):
            raise Unreadable("no attackers of this kind, or beliefs that are missing")
        self.mechanism = Mechanism(self.policy, table["mechanism"], budget)
        plain = {"kind": "histogram", "arguments": []}
        releases = table["mechanism"].get("releases", [])
        first = releases[0]["query"] if releases else plain
        self.world = World(self.policy, "pufferfish", Query(self.policy, first, budget), budget)
        self.claims = {name: Bound.of(bound) for name, bound in table["claim"].items()}
        self.beliefs = [self.weights(item) for item in table.get("listed", [])]

    def inside(self, database: Database) -> bool:
        """Whether the facts, and the impossible values, allow a database."""
        self.budget.spend(self.world.look * len(database))
        size = self.world.size
        if size is None or len(database) != size:
            return False
        if any(inside(x, self.policy.zeros) for x in database):
            return False
        known = totals(self.world, Counter(database)) is not None
        return known and satisfied(self.world, Counter(enumerate(database)))

    def databases(self) -> list[Database]:
        """Return every database that the facts allow."""
        if self.policy.scope != "given":
            raise Rejected("the databases of facts without numbers are not listed", limit=True)
        return [d for some in Listing(self.world).alike.values() for d in some]

    def weights(self, table: Any) -> dict[Database, Fraction]:
        """Return a listed belief, given the facts."""
        found: dict[Database, Fraction] = defaultdict(Fraction)
        for records, weight in want(table, [list], "a belief"):
            database = tuple(map(self.policy.point, records))
            chance = Fraction(want(weight, Fraction, "a belief"))
            if chance < 0:
                raise Unreadable("a belief with a negative weight")
            if chance and self.inside(database):
                found[database] += chance
        return found

    def ends(self) -> Iterator[tuple[int, Point, Point]]:
        """Yield every secret pair, both ways: record i holds x, or y."""
        points = self.world.points()
        for i in range(self.world.size or 0):
            for x, y in combinations(points, repeat=2):
                self.budget.spend(8)
                if self.policy.graph.joined(x, y):
                    yield i, x, y
