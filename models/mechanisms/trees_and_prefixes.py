"""Queries that mechanisms release besides those of the contract: range trees, spaced prefixes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from blowproof.models.base.errors import PolicyError
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Point
from blowproof.models.mechanisms.mechanism import Prefixes, Tree
from blowproof.models.norms.norm import Counted
from blowproof.models.policy.policy import Policy
from blowproof.models.queries.arguments import query_name
from blowproof.models.queries.cumulative import sum_runs
from blowproof.models.queries.kinds import parse_query
from blowproof.models.queries.outputs import Outputs, numbered_outputs, span_label, value_label
from blowproof.models.queries.query import BoundQuery, Group, Row

__all__ = ["Node", "PrefixQuery", "TreeQuery", "bind_prefixes", "bind_query", "bind_tree"]

Node = tuple[int, int, int]
"""A node of a tree: its level, its first position, and the position after its last."""


@dataclass(frozen=True, repr=False)
class TreeQuery(BoundQuery):
    """The counts of a `Tree`'s nodes; an output's key is (level, first position)."""

    tree: Tree
    axis: int
    size: int
    name: str = "tree"
    binary = True

    @property
    def block(self) -> int:
        """How many positions a block has (the last one may have fewer)."""
        return self.size if self.tree.block is None else min(self.tree.block, self.size)

    @property
    def chosen(self) -> tuple[int, int]:
        """The first and the last block that is released."""
        last = -(-self.size // self.block) - 1
        return self.tree.blocks or (0, last)

    @property
    def depth(self) -> int:
        """The deepest level of any released block."""
        first, last = self.chosen
        width = self.block if last > first else min(self.block, self.size - first * self.block)
        depth = 0
        while width > 1:
            width = -(-width // self.tree.fan_out)
            depth += 1
        return depth

    @property
    def levels(self) -> range:
        """The levels that are released; empty if the trees are not that high."""
        last = self.depth if self.tree.last is None else self.tree.last
        return range(self.tree.first, last + 1)

    def above(self, place: int) -> Iterator[Node]:
        """Yield the nodes that hold a position, from the root of its block down."""
        number = place // self.block
        first, last = self.chosen
        if not first <= number <= last:
            return
        low = number * self.block
        high = min(low + self.block, self.size)
        level = 0
        while True:
            yield level, low, high
            if high - low == 1:
                return
            width = -(-(high - low) // self.tree.fan_out)
            low += (place - low) // width * width
            high = min(low + width, high)
            level += 1

    def nodes(self) -> Iterator[Node]:
        """Yield every node that is released, level by level."""
        first, last = self.chosen
        starts = range(first * self.block, min((last + 1) * self.block, self.size), self.block)
        row = [(low, min(low + self.block, self.size)) for low in starts]
        for level in range(self.levels.stop):
            if level >= self.levels.start:
                yield from ((level, low, high) for low, high in row)
            row = [part for low, high in row for part in self._children(low, high)]

    def _children(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        if high - low > 1:
            width = -(-(high - low) // self.tree.fan_out)
            yield from ((at, min(at + width, high)) for at in range(low, high, width))

    def row(self, point: Point) -> Row:
        """One record adds 1 to every node that holds it."""
        levels = self.levels
        return {
            (level, low): 1 for level, low, _ in self.above(point[self.axis]) if level in levels
        }

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the axis."""
        return frozenset([self.axis])

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the level of a node, and the values that it holds."""
        assert isinstance(key, tuple)
        level, low = key
        high = next(end for at, start, end in self.above(low) if (at, start) == (level, low))
        return f"level {level}, {span_label(domain, self.axis, low, high - 1)}"


@dataclass(frozen=True, repr=False)
class PrefixQuery(BoundQuery):
    """The counts of the first k * `every` values; an output's key is its place, from 0."""

    axis: int
    size: int
    every: int
    whole: bool
    name: str = "prefixes"
    one_way = True
    binary = True

    @property
    def count(self) -> int:
        """How many prefixes there are."""
        return (self.size - 1) // self.every + (1 if self.whole else 0)

    def end(self, place: int) -> int:
        """Return how many positions a prefix holds."""
        return min((place + 1) * self.every, self.size)

    def row(self, point: Point) -> Row:
        """One record adds 1 to every prefix that reaches it."""
        return dict.fromkeys(range(point[self.axis] // self.every, self.count), 1)

    def counted(self, change: Mapping[Point, int]) -> list[Counted]:
        """Return the prefix sums, run by run."""
        steps: dict[int, int] = defaultdict(int)
        for point, times in change.items():
            steps[min(point[self.axis] // self.every, self.count)] += times
        found: list[Counted] = []
        running = last = 0
        for place in sorted(steps):
            found.append((running, place - last))
            running, last = running + steps[place], place
        return [*found, (running, self.count - last)]

    def groups(self, change: Mapping[Point, int]) -> Iterator[Group]:
        """Yield the prefixes with equal sums."""
        for value, low, high in sum_runs(change, self.axis, self.size):
            keys = range(self._shorter(low), self._shorter(high))
            yield Group(value, len(keys), keys)

    def _shorter(self, length: int) -> int:
        """Return how many of the prefixes have fewer positions than that."""
        if length > self.size:
            return self.count
        return min(self.count, max(0, length - 1) // self.every)

    def outputs(self, domain: Domain) -> Outputs:
        """Return the prefixes, by length."""
        return numbered_outputs(self.count)

    def axes_read(self, domain: Domain) -> frozenset[int]:
        """Return the axis."""
        return frozenset([self.axis])

    def label(self, key: Hashable, domain: Domain) -> str:
        """Return the last value of a prefix."""
        assert isinstance(key, int)
        return f"up to {value_label(domain, self.axis, self.end(key) - 1)}"

    @property
    def axis_length(self) -> int:
        """The number of prefixes."""
        return self.count

    @property
    def longest_row(self) -> int:
        """The number of prefixes."""
        return self.count


def bind_query(query: str | Tree | Prefixes | BoundQuery, policy: Policy) -> BoundQuery:
    """Return a release's query, bound to a policy.

    >>> from blowproof.models import Domain, Integers
    >>> policy = Policy(domain=Domain(age=Integers(0, 9)))
    >>> tree = bind_query(Tree(attribute="age", fan_out=3), policy)
    >>> [(low, high) for level, low, high in tree.nodes() if level == 1]
    [(0, 4), (4, 8), (8, 10)]
    """
    if isinstance(query, str):
        return parse_query(query, policy)
    if isinstance(query, Tree):
        return bind_tree(query, policy.domain)
    return bind_prefixes(query, policy.domain) if isinstance(query, Prefixes) else query


def _axis(domain: Domain, name: str, what: str) -> int:
    axis = domain.axis(name)
    if not domain.attribute(axis).ordered:
        raise PolicyError(
            f"{what} needs an ordered attribute, and {name!r} is not",
            key="attribute",
            hint="declare { labels = [...], ordered = true }",
        )
    return axis


def bind_tree(tree: Tree, domain: Domain) -> TreeQuery:
    """Return a tree's counts on a domain."""
    axis = _axis(domain, tree.attribute, "a tree")
    size = domain.attribute(axis).size
    for key, value, least in (
        ("fan_out", tree.fan_out, 2),
        ("block", tree.block, 1),
        ("first", tree.first, 0),
        ("last", tree.last, tree.first),
    ):
        if value is not None and value < least:
            raise PolicyError(
                f"{key} = {value} is below {least}", key=key, hint=f"use {least} or more"
            )
    query = TreeQuery(tree, axis, size, query_name("tree", [tree.attribute]))
    if tree.blocks is not None:
        last = -(-size // query.block) - 1
        if not 0 <= tree.blocks[0] <= tree.blocks[1] <= last:
            reason = f"blocks = {list(tree.blocks)}, but there are the blocks 0 to {last}"
            raise PolicyError(reason, key="blocks", hint="write the first and the last one")
    return query


def bind_prefixes(prefixes: Prefixes, domain: Domain) -> PrefixQuery:
    """Return the counts of prefixes on a domain."""
    axis = _axis(domain, prefixes.attribute, "a prefix")
    if prefixes.every < 1:
        raise PolicyError(f"every = {prefixes.every} is below 1", key="every", hint="use 1 or more")
    size = domain.attribute(axis).size
    name = query_name("prefixes", [prefixes.attribute])
    return PrefixQuery(axis, size, prefixes.every, prefixes.whole, name)
