"""What a mechanism releases, as data: which queries, with which noise, at which scales.

A mechanism is judged by this description and by nothing else, so every mechanism of ours carries
one, and a mechanism file (see `mechanism_file`) says the same in TOML. Steps that only look at what
was released (isotonic regression, least squares, rounding) are `postprocessing`: they cost nothing.
Whatever looks at the data again is a release of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from blowproof.models.errors import PolicyError
from blowproof.models.queries import BoundQuery

__all__ = ["Channel", "Mechanism", "Noise", "Prefixes", "Release", "Tree"]

Noise = Literal["laplace", "discrete-laplace"]


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Range counts on one ordered attribute, arranged in trees.

    The positions are cut into consecutive blocks of `block` values (None: one block, the whole
    attribute; the last may be shorter). Over each block stands a tree: its root, level 0, counts
    the block, and a node of w > 1 values has up to `fan_out` children of ceil(w / fan_out) values
    each (the last shorter, none empty). Level by level the nodes of level `first` to `last` (None:
    the leaves) are released, in the blocks `blocks[0]` to `blocks[1]` (None: all, counted from 0).
    """

    attribute: str
    fan_out: int
    block: int | None = None
    first: int = 0
    last: int | None = None
    blocks: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True)
class Prefixes:
    """The counts of the first k * `every` values of an ordered attribute, k = 1, 2, ...

    The last prefix is the whole attribute if `whole`, else the last one shorter than that.
    """

    attribute: str
    every: int = 1
    whole: bool = False


@dataclass(frozen=True, kw_only=True)
class Release:
    """One query with noise: `scale` is one number for all outputs, or one for each.

    For a `Tree` the list has one scale per level, from `first` on. A query is written as in the
    contract, or is bound already (a matrix made by a mechanism).
    """

    query: str | Tree | Prefixes | BoundQuery
    noise: Noise = "laplace"
    scale: Fraction | tuple[Fraction, ...]

    def __post_init__(self) -> None:
        """Refuse floats and negative scales."""
        if self.noise not in ("laplace", "discrete-laplace"):
            raise PolicyError(f"there is no noise {self.noise!r}", key="noise")
        for scale in self.scales:
            if isinstance(scale, bool) or not isinstance(scale, (int, Fraction)):
                raise PolicyError(f"a scale is an exact fraction, not {scale!r}", key="scale")
            if scale < 0:
                raise PolicyError(f"a scale is not negative: {scale}", key="scale")

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """The scales as a tuple: one, or one per output (or level)."""
        return self.scale if isinstance(self.scale, tuple) else (self.scale,)


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A finite channel: `rows[i][j]` is the probability of output j on input i.

    `of` says what the inputs are: a record's values, or whole databases. Entries are fractions or
    expressions in eps, as written.
    """

    of: Literal["record", "database"]
    inputs: tuple[Any, ...]
    outputs: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Mechanism:
    """Releases that compose, or one finite channel; and what is done to the noisy answers."""

    name: str = "mechanism"
    releases: tuple[Release, ...] = ()
    channel: Channel | None = None
    postprocessing: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Either releases or a channel."""
        if bool(self.releases) == (self.channel is not None):
            raise PolicyError("a mechanism has either releases or a channel", key="release")

    def __iter__(self) -> Iterator[Release]:
        """Yield the releases."""
        return iter(self.releases)
