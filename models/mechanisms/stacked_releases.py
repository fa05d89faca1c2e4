"""A mechanism's releases as one query, divided by the noise scales.

The L1 norm of its change between two databases is the privacy loss of the additive noise: for
Laplace noise of scale b, the probabilities of any answer differ by a factor of at most
exp(|change| / b), which is attained; outputs have independent noise, so their losses add up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import Exact, magnitude, plain, total
from blowproof.models.domain.regions import Point
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.mechanisms.trees_and_prefixes import TreeQuery, bind_query
from blowproof.models.policy.policy import Policy
from blowproof.models.queries.kinds import MatrixQuery
from blowproof.models.queries.outputs import Outputs, outputs_of
from blowproof.models.queries.query import BoundQuery, Move, Row, net_change

__all__ = ["Part", "Stacked", "bind_release"]


@dataclass(frozen=True)
class Part:
    """A query whose outputs are multiplied by weights: one for all, or one for each.

    The weight of a tree's output is that of its level. `outputs` numbers the outputs; None where
    one weight is all there is and the query is none that we know.
    """

    query: BoundQuery
    weights: tuple[Fraction, ...]
    outputs: Outputs | None = None

    @property
    def uniform(self) -> bool:
        """Whether all outputs have the same weight."""
        return len(self.weights) == 1

    def weight(self, key: Hashable) -> Fraction:
        """Return the weight of an output."""
        if self.uniform:
            return self.weights[0]
        if isinstance(self.query, TreeQuery):
            return self.weights[_level(key) - self.query.levels.start]
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
        found: dict[Hashable, Exact] = defaultdict(int)
        for point, times in net_change(moves).items():
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


def bind_release(release: Release, policy: Policy) -> Part:
    """Return a release's query, its `weights` being the scales themselves.

    A list of scales must have one for each output (for each level of a tree).
    """
    query = bind_query(release.query, policy)
    scales = tuple(Fraction(scale) for scale in release.scales)
    single = not isinstance(release.scale, tuple)
    tree = isinstance(query, TreeQuery)
    outputs = None if tree else outputs_of(query, policy.domain)
    count = _count(query, outputs)
    if single or len(scales) == count == 1:
        return Part(query, scales[:1], outputs)
    if count is None:
        count = max(len(scales), _places(query))  # rows of zeros need no scale, and may have one
        outputs = Outputs(count, _as_place)
    if count != len(scales):
        what = "level" if tree else "output"
        found = f"{len(scales)} scale{'' if len(scales) == 1 else 's'}"
        raise PolicyError(
            f"{found}, but {query.name} has {count} {what}{'' if count == 1 else 's'}",
            key="scale",
            hint=f"write one scale for all, or one for each {what}",
        )
    return Part(query, scales, outputs)


def _count(query: BoundQuery, outputs: Outputs | None) -> int | None:
    """Return how many scales a list has, where that is known."""
    if isinstance(query, TreeQuery):
        return len(query.levels)
    return None if outputs is None else outputs.count


def _level(key: Hashable) -> int:
    assert isinstance(key, tuple)
    return int(key[0])


def _places(query: BoundQuery) -> int:
    """Return how many outputs a matrix has, up to its last row that is not zero."""
    columns = query.columns if isinstance(query, MatrixQuery) else ()
    return 1 + max((_as_place(key) for row in columns for key in row), default=-1)


def _as_place(key: Hashable) -> int:
    """The outputs of a query made by a mechanism are numbered from 0."""
    if not isinstance(key, int):
        raise PolicyError(
            f"the output {key!r} has no number, so it has no scale",
            key="scale",
            hint="one scale for all outputs",
        )
    return key


@dataclass(frozen=True, repr=False)
class Stacked(BoundQuery):
    """Several weighted queries as one: its rows are theirs, below each other, times the weights.

    >>> from blowproof.models.queries.kinds import Histogram
    >>> parts = (Part(Histogram(), (Fraction(1, 2),)), Part(Histogram(), (Fraction(1, 3),)))
    >>> Stacked(parts).difference([Move((0,), (1,))])
    Fraction(5, 3)
    """

    parts: tuple[Part, ...]
    name: str = "releases"

    def row(self, point: Point) -> Row:
        """One record adds its weighted row in every part."""
        return {
            (number, key): plain(value * part.weight(key))
            for number, part in enumerate(self.parts)
            for key, value in part.query.row(point).items()
        }

    def difference(self, moves: Iterable[Move]) -> Exact:
        """Return the sum of the parts' losses."""
        listed = list(moves)
        return total(part.loss(listed) for part in self.parts)

    def norm(self, change: Mapping[Point, int]) -> Exact:
        """Return the L1 norm of the weighted change when the histogram changes."""
        moves = [
            Move(None, point) if times > 0 else Move(point, None)
            for point, times in change.items()
            for _ in range(abs(times))
        ]
        return self.difference(moves)
