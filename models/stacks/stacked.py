"""Several queries as one, with weights and a norm: what is asked when more than one is released.

S of the stack is what pays for all of its outputs together: at most the sum of the single ones, and
often less, since no pair need be worst for all. A single query in another norm than l1 is a stack
of one (`in_norm`). Engines and theorems that look for a particular kind of query do not find it in
a stack, so none of them takes one norm for another.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm

from blowproof.models.base.errors import PolicyError, QueryError
from blowproof.models.base.kept import cached_property
from blowproof.models.base.numbers import Exact, magnitude, plain, total
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.norms import L1, L2_SQUARED, RANGE, Norm, norm_named
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.outputs import Outputs
from blowproof.models.queries.query import BoundQuery, Move, Row, net_change

__all__ = ["ONE", "Part", "Stacked", "in_norm", "is_histogram", "stack"]

ONE = (Fraction(1),)


@dataclass(frozen=True)
class Part:
    """A query whose outputs have weights: one for all, or one for each.

    `outputs` numbers the outputs as the weights do (a tree's by level); None where one weight is
    all there is and the query is none that we know.
    """

    query: BoundQuery
    weights: tuple[Fraction, ...]
    outputs: Outputs | None = field(default=None, compare=False)

    @property
    def uniform(self) -> bool:
        """Whether all outputs have the same weight."""
        return len(self.weights) == 1

    @cached_property
    def alike(self) -> Exact | None:
        """The weight of all outputs, where they have the same."""
        return plain(self.weights[0]) if self.uniform else None

    def weight(self, key: Hashable) -> Fraction:
        """Return the weight of an output."""
        if self.uniform:
            return self.weights[0]
        assert self.outputs is not None
        place = self.outputs.place(key)
        if place >= len(self.weights):
            raise PolicyError(
                f"the output {key!r} has no scale", key="scale", hint="one scale for each output"
            )
        return self.weights[place]

    def changes(self, moves: Iterable[Move]) -> dict[Hashable, Exact]:
        """Return how much each output changes, before weights, without zeros."""
        if self.query.per_record:
            raise ValueError("a query that weighs records has no rows to add up")
        return self._changes(net_change(moves))

    def _changes(self, change: Mapping[Point, int]) -> dict[Hashable, Exact]:
        found: dict[Hashable, Exact] = defaultdict(int)
        for point, times in change.items():
            for key, value in self.query.row(point).items():
                found[key] += times * value
        return {key: plain(value) for key, value in found.items() if value}

    def loss(self, moves: Iterable[Move]) -> Exact:
        """Return the L1 norm of the weighted change."""
        listed = list(moves)
        if self.uniform:
            return plain(self.query.difference(listed) * self.weights[0])
        changes = self.changes(listed)
        return total(magnitude(value) * self.weight(key) for key, value in changes.items())

    def counted(self, change: Mapping[Point, int], norm: Norm) -> Iterator[Counted]:
        """Yield the outputs' changes as a norm takes them, with their weights."""
        if self.uniform and self.weights[0] == 1:
            yield from self.query.counted(change)
        elif self.uniform:
            weight = plain(self.weights[0])
            for item in self.query.counted(change):
                yield norm.weighted(item, weight)
        else:
            for key, value in self._changes(change).items():
                yield norm.weighted((value, 1), self.weight(key))


@dataclass(frozen=True, repr=False)
class Stacked(BoundQuery):
    """Several weighted queries as one, measured by a norm.

    In l1, linf and range, the rows are those of the parts, below each other, times the weights; in
    l2-squared they are without weights, and `weight` says how often a square counts. `width`: how
    many outputs there are, for norms that ask whether some output does not change.

    >>> from blowproof.models.queries.kinds import Histogram
    >>> parts = (Part(Histogram(), (Fraction(1, 2),)), Part(Histogram(), (Fraction(1, 3),)))
    >>> Stacked(parts).difference([Move((0,), (1,))])
    Fraction(5, 3)
    >>> from blowproof.models.norms import L2_SQUARED
    >>> Stacked(parts, measure=L2_SQUARED).difference([Move((0,), (1,)), Move((0,), (1,))])
    Fraction(20, 3)
    """

    parts: tuple[Part, ...]
    name: str = "releases"
    measure: Norm = L1
    width: int | None = None

    def row(self, point: Point) -> Row:
        """One record adds its row in every part, times the weights where these go into rows."""
        found: dict[Hashable, Exact] = {}
        for number, part in enumerate(self.parts):
            row = part.query.row(point)
            if self._in_rows and part.alike != 1:
                row = {key: plain(value * part.weight(key)) for key, value in row.items()}
            found |= {(number, key): value for key, value in row.items()}
        return found

    @property
    def _in_rows(self) -> bool:
        """Whether weights multiply changes (degree 1), or count outputs."""
        return self.measure.degree == 1

    def weight(self, output: Hashable) -> Exact:
        """Return how often an output counts."""
        if self._in_rows:
            return 1
        assert isinstance(output, tuple)
        number, key = output
        part = self.parts[number]
        return plain(part.weight(key)) if part.alike is None else part.alike

    @cached_property
    def factor(self) -> Exact:
        """The largest number that all weights are whole multiples of; 0 where all are 0.

        >>> from blowproof.models.queries.kinds import Histogram
        >>> parts = [Part(Histogram(), (Fraction(2, 5),)), Part(Histogram(), (Fraction(1, 3),))]
        >>> Stacked(tuple(parts)).factor, Stacked(tuple(parts[:1])).factor
        (Fraction(1, 15), Fraction(2, 5))
        """
        weights = [weight for part in self.parts for weight in part.weights]
        common = lcm(*(weight.denominator for weight in weights))
        return plain(Fraction(gcd(*(int(weight * common) for weight in weights)), common))

    def without_factor(self) -> BoundQuery:
        """Return the stack with weights divided by their factor; in l1 one part of weight 1 is its
        query itself.
        """
        parts = tuple(
            replace(part, weights=tuple(weight / self.factor for weight in part.weights))
            for part in self.parts
        )
        if len(parts) > 1 or not parts[0].uniform:
            return replace(self, parts=parts)
        query = parts[0].query
        return query if self.measure is L1 else replace(self, parts=parts, name=query.name)

    @property
    def per_record(self) -> bool:  # type: ignore[override]
        """Whether a part weighs single records."""
        return any(part.query.per_record for part in self.parts)

    @property
    def heaviest(self) -> Exact:
        """The most that a record weighs in a part."""
        return max((part.query.heaviest for part in self.parts), default=1)

    @property
    def records(self) -> int | None:
        """How many records there must be, where a part weighs each by itself; else None."""
        known = (part.query.records for part in self.parts)
        return next((count for count in known if count is not None), None)

    def difference(self, moves: Iterable[Move]) -> Exact:
        """Return the norm of the change under the moves."""
        listed = list(moves)
        if self.measure is L1:
            return total(part.loss(listed) for part in self.parts)
        if self.per_record:  # one part, of one output (see `stack`)
            (part,) = self.parts
            size = part.query.difference(listed)
            return self.measure.of([self.measure.weighted((size, 1), part.weights[0])])
        return self.norm(net_change(listed))

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the norm of the change: a sum over outputs is one over parts.

        For of([weighted((x, t), w)]) is w of([(x, t)]) then, in both norms that add up, and a
        fraction that all outputs of a part share is multiplied once.
        """
        if not self.measure.adds or not all(part.uniform for part in self.parts):
            return super().norm(change)
        sizes: list[Exact] = []
        for part in self.parts:
            if self.measure is L2_SQUARED:
                size = part.query.squares(change)
            else:
                size = self.measure.of(part.query.counted(change))
            sizes.append(size if part.alike == 1 else size * part.weights[0])
        return total(sizes)

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return the changes of all outputs, with weights, and of one that does not change."""
        found = [item for part in self.parts for item in part.counted(change, self.measure)]
        if self.still(int(sum(times for value, times in found if value))):
            found.append((0, 1))
        return found

    # --- values that stand for others (see `reductions.few_values`) -------------------------------

    def areas(self, domain: Domain) -> list[Area] | None:
        """Return the areas of all parts.

        A record's part of every norm is convex in its row, so corners stand for all where rows are
        linear, whatever other parts say that are the same on a class. Of a histogram, two values
        stand for a class, since all that leaves it may leave one value, and all that enters it
        enter another: no choice makes any norm larger. It must have one weight, and no sum beside
        it, which would rather have corners.
        """
        several = [part for part in self.parts if part.query.few > 1]
        if any(not part.uniform for part in several) or (several and self.slopes):
            return None
        found: list[Area] = []
        for part in self.parts:
            areas = part.query.areas(domain)
            if areas is None:
                return None
            found += [area for area in areas if area not in found]
        return found

    @property
    def few(self) -> int:  # type: ignore[override]
        """How many values stand for all of a class."""
        return max((part.query.few for part in self.parts), default=1)

    @property
    def slopes(self) -> tuple[int, ...]:
        """The axes that some part is linear in."""
        axes = (axis for part in self.parts for axis in part.query.slopes)
        return tuple(dict.fromkeys(axes))

    @property
    def widest_at_ends(self) -> bool:  # type: ignore[override]
        """Whether, of the values in a box, two at its corners change f most, in any norm.

        So where all rows are linear, as norms are convex; and for one part that says so in l1, for
        what changes no more outputs, and none by more, is no larger in any norm.
        """
        alone = len(self.parts) == 1 and self.parts[0].query.widest_at_ends
        return alone or all(part.query.slopes for part in self.parts)

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the axes that determine the row."""
        none: frozenset[int] = frozenset()
        return none.union(*(part.query.axes_read(domain) for part in self.parts))

    @property
    def longest_row(self) -> int:
        """The number of outputs that one record may be in."""
        return sum(part.query.longest_row for part in self.parts)

    @property
    def axis_length(self) -> int:
        """The number of positions that it counts along an axis."""
        return max((part.query.axis_length for part in self.parts), default=1)

    def plainest(self) -> BoundQuery:
        """Return the parts with shorter rows that determine them."""
        return Stacked(tuple(Part(part.query.plainest(), ONE) for part in self.parts))


def is_histogram(query: BoundQuery) -> bool:
    """Return whether the outputs are the cells of the histogram, each as it is, in some norm."""
    if isinstance(query, Stacked) and len(query.parts) == 1:
        (part,) = query.parts
        return all(weight == 1 for weight in part.weights) and part.query.separates
    return query.separates


def in_norm(query: BoundQuery, norm: Norm | str, domain: Domain) -> BoundQuery:
    """Return a query, measured by a norm; a query in l1 is itself.

    >>> from blowproof.models import Domain, Integers
    >>> from blowproof.models.queries.kinds import Histogram
    >>> squared = in_norm(Histogram(), "l2-squared", Domain(age=Integers(0, 9)))
    >>> squared, squared.difference([Move((0,), (1,)), Move((0,), (2,))])
    (histogram, 6)
    """
    norm = norm_named(norm)
    if query.measure is norm:
        return query
    if isinstance(query, Stacked):
        parts = query.parts
    else:
        parts = (Part(query, ONE, query.outputs(domain)),)
    return stack(parts, norm, domain, name=query.name)


def stack(parts: Sequence[Part], norm: Norm | str, domain: Domain, *, name: str) -> Stacked:
    """Return several weighted queries as one question in a norm."""
    norm = norm_named(norm)
    for part in parts:
        if part.query.per_record and len(parts) > 1:
            raise QueryError(
                f"{part.query.name} weighs single records, and has no place in a stack\n"
                "  try: ask for it alone"
            )
        if min(part.weights, default=0) < 0:
            raise QueryError(
                f"a weight of {part.query.name} is {min(part.weights)}, and no weight is below 0\n"
                "  try: the weight without its sign"
            )
    return Stacked(tuple(parts), name, norm, _width(parts, domain, norm))


def _width(parts: Sequence[Part], domain: Domain, norm: Norm) -> int | None:
    """Return how many outputs a stack has; QueryError where a norm needs it and nobody knows."""
    counts = []
    for part in parts:
        found = part.query.outputs(domain)
        counts.append(None if found is None else found.count)
    known = [count for count in counts if count is not None]
    if len(known) == len(counts):
        return sum(known)
    if norm is RANGE:
        raise QueryError(
            f"how many outputs {parts[counts.index(None)].query.name} has is not known, and an "
            "output that does not change counts in the norm range\n  try: --norm linf"
        )
    return None
