"""What a query answers: how much f changes between two databases, exactly.

A bound query answers one question for the engines: `difference(moves)`, the norm of the change of f
when records move (from `before` to `after`; None is a record that is not there, for readings that
add and remove). `row(point)` is one record's own contribution, a sparse vector: every query here
but the weighted sum is the sum of its rows. The norm is L1, unless a query says so in `measure`
(see `stacked`).

A new kind is a class with a `row`, `parse` and a line in `kinds`. All else that is asked of a query
has an answer here that is right for every kind: from the rows, where the domain is small, else
None. A kind that knows a shorter way says so, and is then as fast as the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import lcm, prod
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from blowproof.models.base.errors import QueryError
from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.facts.facts import Marginal
from blowproof.models.norms import L1, L2_SQUARED, Norm
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.arguments import query_arguments
from blowproof.models.queries.outputs import Outputs
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from blowproof.models.policy.policy import Policy

__all__ = ["BoundQuery", "Group", "Move", "Row", "cells_on", "net_change"]

Row = Mapping[Hashable, Exact]

MOST_CELLS = 2_000
LISTED = 20_000
LISTED_VALUES = 50_000
COMPARED_ROWS = 1_500


class Move(NamedTuple):
    """One record's change from `before` to `after`; `record` (from 0) where records matter."""

    before: Point | None
    after: Point | None
    record: int | None = None


class Group(NamedTuple):
    """Outputs that change by the same: how many they are, and their keys, one by one."""

    change: Exact
    times: int
    keys: Iterable[Hashable]


class BoundQuery(ABC):
    """A query on one domain. `name` is its contract form."""

    name: str
    per_record: bool = False
    """Whether records weigh differently, so that `row` is one record's before its weight."""
    separates: bool = False
    """Whether every value of the domain has an output of its own, and nothing else: a histogram."""
    binary: bool = False
    """Whether every output is a number of records: rows hold nothing but zeros and ones."""
    one_way: bool = False
    """Whether no move of one record makes one output larger and another smaller."""
    widest_at_ends: bool = False
    """Whether, of the values in a box, two at its corners change f most."""
    measure: Norm = L1
    """The norm in which its change counts."""
    width: int | None = None
    """How many outputs there are, where somebody needs to know."""
    few: int = 1
    """How many values stand for all that no fact and none of the `areas` tells apart."""
    unit: Exact | None = None
    """A number that all rows are multiples of, for those whose rows are too many to look at."""

    @property
    def records(self) -> int | None:
        """How many records there must be, where it weighs each by itself; else None."""
        return None

    @property
    def heaviest(self) -> Exact:
        """The most that a record weighs."""
        return 1

    @abstractmethod
    def row(self, point: Point) -> Row:
        """Return one record's contribution as a sparse vector of exact numbers."""

    def rows(self, places: NDArray[Any]) -> NDArray[Any] | None:
        """Return the rows of many values at once, outputs numbered from 0; None: one by one.

        `places` has a row of positions for each value.
        """
        return None

    def difference(self, moves: Iterable[Move]) -> Exact:
        """Return the exact norm of f's change under the moves."""
        return self.norm(net_change(moves))

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the norm of f's change when the histogram changes by `change`."""
        return self.measure.of(self.counted(change))

    def counted(self, change: Mapping[Point, int]) -> Iterable[Counted]:
        """Return how the outputs change when the histogram does: (change, how many change so)."""
        total: dict[Hashable, Exact] = defaultdict(int)
        for point, times in change.items():
            for output, value in self.row(point).items():
                total[output] += times * value
        return [(value, 1) for value in total.values() if value]

    def squares(self, change: Mapping[Point, int]) -> Exact:
        """Return the sum of the squares of f's changes when the histogram changes by `change`."""
        return L2_SQUARED.of(self.counted(change))

    def groups(self, change: Mapping[Point, int]) -> Iterable[Group] | None:
        """Return the outputs that change alike, the change of the histogram being given.

        None: list them.
        """
        return None

    def weight(self, output: Hashable) -> Exact:
        """Return how often an output counts in `measure`."""
        return 1

    def still(self, changed: int) -> bool:
        """Return whether some output does not change, where so many may (for the norm `range`)."""
        return self.width is not None and changed < self.width

    # --- as text ---------------------------------------------------------------------------------

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> Self:
        """Return the query with these arguments; they are as many as its form has."""
        raise QueryError(f"{cls.__name__} has no text")

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return the arguments in canonical form, the name of a file left out."""
        return [*query_arguments(self.name)]

    def data(self) -> object:
        """Return the exact numbers of the query's file, in lists; None where there is none."""
        return None

    # --- outputs ---------------------------------------------------------------------------------

    def outputs(self, domain: Domain) -> Outputs | None:
        """Return the outputs in order; None: a matrix, whose last rows may be zeros, or unknown."""
        return None

    @property
    def height(self) -> int:
        """The number of outputs of a matrix, up to its last row that is not zero; else 0."""
        return 0

    def output_name(self, key: Hashable, domain: Domain) -> str:
        """Return the name of an output: the query's, and the label."""
        label = self.label(key, domain)
        return f"{self.name}: {label}" if label else self.name

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return what an output counts or adds up; nothing where the query's name says it."""
        return f"output {key + 1}" if isinstance(key, int) else str(key)

    @property
    def axis_length(self) -> int:
        """The number of positions, or stretches of them, that it counts along an axis; else 1."""
        return 1

    @property
    def longest_row(self) -> int:
        """The number of outputs that one record may be in, where that may be many; else 1."""
        return 1

    def entries(self, domain: Domain, *, labelled: bool) -> Iterable[Exact] | None:
        """Return numbers such that every change of an output is a sum of multiples of them.

        `labelled`: as many records come as go. None: not known, and too many values to look at.
        """
        if self.binary or self.unit is not None:
            return [1 if self.unit is None else self.unit]
        if domain.size > LISTED:
            return None
        return (number for x in domain.points() for number in self.row(x).values())

    def grid(self, domain: Domain) -> Fraction | None:
        """Return a grid 1/d that holds everything a record, or a change of one, can add; None:
        unknown.
        """
        found = self.entries(domain, labelled=False)
        return None if found is None else Fraction(1, lcm(*(x.denominator for x in found)))

    @property
    def prefix_axis(self) -> int | None:
        """The axis whose prefixes are counted, each of them and nothing else; else None."""
        return None

    def cell_axes(self, domain: Domain) -> tuple[int, ...] | None:
        """Return the attributes whose cells the outputs are, row-major; None if they are not."""
        return None

    @property
    def compared(self) -> tuple[int, tuple[int, ...]] | None:
        """Return the attribute whose two values it compares, and those of its cells; else None."""
        return None

    def counted_along(self, domain: Domain) -> int | None:
        """Return the one axis whose positions it counts, one by one or stretches; None: several."""
        return None

    def plainest(self) -> BoundQuery:
        """Return a query with shorter rows that determines this one, and is determined by it."""
        return self

    def adds_up(self, other: BoundQuery) -> bool:
        """Whether it is known that every output is a sum of outputs of the other, none of which
        goes into two.
        """
        return False

    def counts_by(self, domain: Domain) -> frozenset[int] | None:
        """Return axes if the outputs are the counts of each combination on these, no other numbers;
        None where they are something else.
        """
        return frozenset(range(len(domain))) if self.separates else None

    def largest_answer(self, domain: Domain, size: int) -> Exact | None:
        """Return what no output exceeds, without its sign, on so many records; None: unknown."""
        return size if self.binary else None

    # --- values that stand for others ------------------------------------------------------------

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return axes that determine the row (all of them where that is not known)."""
        return frozenset(range(len(domain)))

    def counted_areas(self, domain: Domain) -> list[Area] | None:
        """Return the areas whose records the outputs count, an area for each output; None where
        they count none, or too many.
        """
        return None

    def areas(self, domain: Domain) -> list[Area] | None:
        """Return areas such that of the values that no area and no fact tells apart few stand for
        all: `few` of them, or corners along the `slopes`. None where every value is needed.
        """
        return self.counted_areas(domain)

    @property
    def slopes(self) -> tuple[int, ...]:
        """The axes that the row is linear in, where it reads no others: corners stand for all."""
        return ()

    def cells(self, domain: Domain) -> list[Area] | None:
        """Return areas that cut out values on which the row is the same; None: too many."""
        found = self.counted_areas(domain)
        return found if found is not None else cells_on(sorted(self.axes_read(domain)), domain)

    # --- how much one record changes --------------------------------------------------------------

    def one_record(self, domain: Domain) -> Exact | None:
        """Return what f changes by at the most when one record comes or goes; None: unknown."""
        if domain.size > LISTED or self.per_record:
            return None
        return max((self.norm({x: 1}) for x in domain.points()), default=0)

    def one_move(self, domain: Domain) -> Exact | None:
        """Return what f changes by at the most when one record takes any other value."""
        one = self.one_record(domain)
        return None if one is None else self.measure.repeated(one, 2)

    def all_records(self, domain: Domain) -> Exact | None:
        """Return what f changes by at the most when all records change; None: it grows with n."""
        return None

    def farthest(self, domain: Domain) -> tuple[Point, Point] | None:
        """Return two values such that no two others change f by more; None: unknown."""
        return None

    def largest_change(self, domain: Domain) -> Exact | None:
        """Return, exactly, the most that f changes by when one record takes any other value.

        That is what bounded differential privacy assumes: S for full secrets, nothing being known.
        None where that is not known, and there are too many values to compare.
        """
        pair = self.farthest(domain)
        if pair is not None:
            return self.norm({pair[0]: -1, pair[1]: 1}) if pair[0] != pair[1] else 0
        if domain.size > LISTED_VALUES or self.per_record:
            return None
        firsts = {frozenset(self.row(x).items()): x for x in domain.points()}
        if len(firsts) > COMPARED_ROWS:
            return None
        pairs = combinations(firsts.values(), 2)
        return max((self.norm({x: -1, y: 1}) for x, y in pairs), default=0)

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return the most that f changes by along an edge of G, all values being possible.

        None where the structure of G and of the query do not tell: then edges are listed.
        """
        return None

    def __init_subclass__(cls) -> None:
        """What an older kind says of its rows holds no more where a kind has rows of its own."""
        super().__init_subclass__()
        if "row" not in vars(cls):
            return
        for older in cls.__mro__[1:]:
            if older is not BoundQuery and "row" in vars(older):
                for name in vars(older).keys() & _OF_ROWS - vars(cls).keys():
                    setattr(cls, name, vars(BoundQuery)[name])

    def __repr__(self) -> str:
        return self.name


_OF_ROWS = frozenset(name for name in vars(BoundQuery) if not name.startswith("_")) - {
    "row",
    "parse",
    "name",
}


def net_change(moves: Iterable[Move]) -> dict[Point, int]:
    """Return the change of the histogram under the moves, without its zeros.

    >>> net_change([Move((0,), (1,)), Move((1,), (2,))])
    {(0,): -1, (2,): 1}
    """
    change: dict[Point, int] = {}
    for before, after, _ in moves:
        if before is not None:
            change[before] = change.get(before, 0) - 1
        if after is not None:
            change[after] = change.get(after, 0) + 1
    return {point: times for point, times in change.items() if times}


def cells_on(axes: Sequence[int], domain: Domain) -> list[Area] | None:
    """Return the cells of a marginal; None where they are too many."""
    if prod(domain.attribute(axis).size for axis in axes) > MOST_CELLS:
        return None
    names = [domain.names[axis] for axis in axes]
    return [Area((box,)) for _, box in Marginal(names).cells(domain)] if names else []
