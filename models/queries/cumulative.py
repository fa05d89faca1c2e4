"""The cumulative histogram of one ordered attribute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from blowproof.models.base.numbers import Exact
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Area, Point
from blowproof.models.norms.norm import Counted
from blowproof.models.queries.arguments import ordered_axis, query_name
from blowproof.models.queries.marginal import MarginalQuery
from blowproof.models.queries.outputs import Outputs, numbered_outputs, value_label
from blowproof.models.queries.query import BoundQuery, Group, Row
from blowproof.models.secrets import SecretGraph

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Policy

__all__ = ["AlongAxis", "Cumulative", "prefix_runs", "sum_runs"]


@dataclass(frozen=True, repr=False)
class AlongAxis(BoundQuery):
    """Counts along one ordered attribute, which all its positions' counts determine, and which
    determine them.
    """

    axis: int
    size: int
    name: str = ""
    binary = True

    @classmethod
    def parse(cls, kind: str, arguments: Sequence[str], policy: Policy) -> Self:
        """Return the counts along the attribute named."""
        axis = ordered_axis(policy.domain, arguments[0])
        return cls(axis, policy.domain.attribute(axis).size, query_name(kind, arguments))

    def counted_along(self, domain: Domain) -> int:
        """Return the attribute."""
        return self.axis

    def plainest(self) -> BoundQuery:
        """Return each position's count: they fix one another."""
        return MarginalQuery((self.axis,))

    def arguments(self, domain: Domain) -> list[str | Exact]:
        """Return the attribute."""
        return [domain.names[self.axis]]

    @property
    def axis_length(self) -> int:
        """The number of positions."""
        return self.size

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the attribute."""
        return frozenset([self.axis])

    def areas(self, domain: Domain) -> list[Area] | None:
        """Return the positions."""
        return self.cells(domain)

    def one_move(self, domain: Domain) -> Exact | None:
        """Return what the move from one end to the best other changes."""
        return self.largest_change(domain)


@dataclass(frozen=True, repr=False)
class Cumulative(AlongAxis):
    """The cumulative histogram s_i of one ordered attribute: how many records are at most i."""

    name: str = "cumulative"
    one_way = True
    widest_at_ends = True

    def row(self, point: Point) -> Row:
        """One record adds 1 to every prefix that reaches it."""
        return dict.fromkeys(range(point[self.axis], self.size), 1)

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return the prefix sums, run by run: the axis is never walked."""
        return list(prefix_runs(change, self.axis, self.size))

    def groups(self, change: Mapping[Point, int]) -> Iterator[Group]:
        """Yield the prefixes with equal sums: the prefix of k + 1 positions has the key k."""
        for value, low, high in sum_runs(change, self.axis, self.size):
            keys = range(max(0, low - 1), high - 1)
            yield Group(value, len(keys), keys)

    def outputs(self, domain: Domain) -> Outputs:
        """Return the prefixes, by length."""
        return numbered_outputs(self.size)

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the last value of a prefix."""
        assert isinstance(key, int)
        return f"up to {value_label(domain, self.axis, key)}"

    @property
    def prefix_axis(self) -> int:
        """The attribute."""
        return self.axis

    @property
    def longest_row(self) -> int:
        """The number of prefixes."""
        return self.size

    def one_record(self, domain: Domain) -> Exact:
        """A record at the first position is in every prefix."""
        return self.size

    def farthest(self, domain: Domain) -> tuple[Point, Point]:
        """Return the two ends: as many prefixes change as positions are passed."""
        return domain.ends

    def along(self, graph: SecretGraph) -> Exact | None:
        """Return the most positions that an edge passes."""
        return graph.reach(self.axis)


def sum_runs(change: Mapping[Point, int], axis: int, size: int) -> list[tuple[int, int, int]]:
    """Return (S_k, first k, the k behind the last) for the runs of S, k from 0 to the size.

    S_k is the change of the number of records at the first k positions.
    """
    runs = [(0, 0, 1)]
    for value, length in prefix_runs(change, axis, size):
        low = runs[-1][2]
        if value == runs[-1][0]:
            runs[-1] = (value, runs[-1][1], low + length)
        else:
            runs.append((value, low, low + length))
    return runs


def prefix_runs(change: Mapping[Point, int], axis: int, size: int) -> list[tuple[int, int]]:
    """Return the prefix sums of a change along an axis, as (value, how many positions)."""
    steps: dict[int, int] = defaultdict(int)
    for point, times in change.items():
        steps[point[axis]] += times
    runs: list[tuple[int, int]] = []
    running, last = 0, 0
    for place in sorted(steps):
        if place > last:
            runs.append((running, place - last))
        running, last = running + steps[place], place
    runs.append((running, size - last))
    return runs
