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
from pathlib import Path
from typing import Any, Literal

from blowproof.models.errors import PolicyError
from blowproof.models.queries import BoundQuery

__all__ = ["Channel", "Mechanism", "Noise", "Prefixes", "Release", "Selection", "Tree"]

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
    contract, or is bound already (a matrix made by a mechanism). Discrete Laplace noise is `grid`
    times an integer k, with probability proportional to exp(-|k| * grid / scale).
    """

    query: str | Tree | Prefixes | BoundQuery
    noise: Noise = "laplace"
    scale: Fraction | tuple[Fraction, ...]
    grid: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        """Refuse floats, negative scales and an empty grid."""
        if self.noise not in ("laplace", "discrete-laplace"):
            raise PolicyError(
                f"there is no noise {self.noise!r}",
                key="noise",
                hint='write "laplace" or "discrete-laplace"',
            )
        for scale in self.scales:
            if _fraction(scale, "scale") < 0:
                raise PolicyError(
                    f"a scale is not negative: {scale}", key="scale", hint="use 0 or more"
                )
        if _fraction(self.grid, "grid") <= 0:
            raise PolicyError(
                f"a grid is positive: {self.grid}", key="grid", hint="write 1 or 1/1024"
            )

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """The scales as a tuple: one, or one per output (or level)."""
        return self.scale if isinstance(self.scale, tuple) else (self.scale,)


def _fraction(value: object, what: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise PolicyError(
            f"a {what} is an exact fraction, not {value!r}", key=what, hint='write 3 or "7/2"'
        )
    return Fraction(value)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A choice made from noisy costs: a partition of the values into buckets, the cheapest one.

    Every bucket that could be chosen has noise of its own, discrete Laplace of `scale`, on its
    cost, and one record that joins or leaves changes a bucket's cost by at most `step`. The choice
    alone is published. A record that moves leaves one bucket of the outcome and joins one (or stays
    in it); lowering the noise of both by 2 * step keeps the outcome cheapest. So the loss is at
    most 4 * step / scale, for neighbours that differ in one record, and for others that many times
    as much as they differ in records.
    """

    query: str
    candidates: str
    step: Fraction
    scale: Fraction

    def __post_init__(self) -> None:
        """Refuse floats, and noise of no width."""
        if _fraction(self.step, "step") < 0:
            raise PolicyError(
                f"a step is not negative: {self.step}", key="step", hint="use 0 or more"
            )
        if _fraction(self.scale, "scale") <= 0:
            raise PolicyError(
                f"a choice needs a scale above 0: {self.scale}", key="scale", hint="write 1 or 1/2"
            )

    @property
    def loss(self) -> Fraction:
        """The most that the choice gives away about one record that moves."""
        return 4 * self.step / self.scale


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
    """Releases that compose, or one finite channel; and what is done to the noisy answers.

    `folder` is that of the mechanism file: files that its queries name may lie there.
    """

    name: str = "mechanism"
    releases: tuple[Release, ...] = ()
    channel: Channel | None = None
    postprocessing: tuple[str, ...] = field(default=())
    selections: tuple[Selection, ...] = ()
    folder: Path | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Either releases or a channel."""
        if bool(self.releases) == (self.channel is not None):
            raise PolicyError(
                "a mechanism has either releases or a channel",
                key="release",
                hint="write [[release]] tables or one [channel]",
            )

    def __iter__(self) -> Iterator[Release]:
        """Yield the releases."""
        return iter(self.releases)
