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
from typing import Any, Literal, get_args

from blowproof.models.attackers.attackers import Attackers
from blowproof.models.base.errors import InternalError, PolicyError
from blowproof.models.queries.query import BoundQuery

__all__ = [
    "BLOCKS",
    "COSTS",
    "DRAWN",
    "NOISES",
    "WIDTH",
    "Channel",
    "Mechanism",
    "Noise",
    "Prefixes",
    "Release",
    "Selection",
    "Tree",
]

Noise = Literal[
    "laplace",
    "discrete-laplace",
    "discrete-k-norm",
    "discrete-steps",
    "discrete-gaussian",
    "discrete-gaussian-steps",
    "bounded",
]
NOISES = get_args(Noise)
COSTS: tuple[Noise, ...] = ("laplace", "discrete-laplace")
"""The noise that costs of a choice may have."""
DRAWN = "drawn-intervals"
"""The candidates of a choice that is drawn from all interval partitions, by their costs."""
BLOCKS = "drawn-blocks"
"""The same, of all partitions of a grid into blocks that lie within each other."""
WIDTH: dict[str, str] = {
    "discrete-gaussian": "variance",
    "discrete-gaussian-steps": "variance",
    "bounded": "probabilities",
}
"""What says how wide a noise is; of the others, it is `scale`."""


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
    """One query with noise, which one of three keys describes.

    * `scale`, of Laplace noise: one number for all outputs, or one for each. For a `Tree` the list
      has one per level, from `first` on. Discrete Laplace noise is `grid` times an integer k, with
      probability proportional to exp(-|k| * grid / scale).
      K-norm noise has one scale for all outputs together: `grid` times a vector z of integers, with
      probability proportional to exp(-|z| * grid / scale). For `groups` of one output, |z| is the
      largest |z_j|; for groups of m consecutive outputs, which add up to 0 each, half the sum of a
      group's |z_j|, at its largest. With `facets`, rows of whole numbers with one for each output,
      |z| is the largest |row z|, and z is any that no row of `fixed` changes (row z = 0).
      Noise on steps, for a histogram, has a discrete Laplace number for every two values that
      differ in one attribute of `along`, by one position where it is ordered: it is added to the
      count of the one, and taken off that of the other.
    * `variance`, of discrete Gaussian noise: sigma^2, above 0, listed as scales are. The noise is
      `grid` times an integer k, with probability proportional to exp(-(k * grid)^2 / (2 variance)).
      On steps ("discrete-gaussian-steps") each step has such a number.
    * `probabilities`, of bounded noise (cell keys): an odd number of them, that add up to 1; those
      of -m, ..., 0, ..., m times `grid`, for every output alike.

    A query is written as in the contract, or is bound already (a matrix made by a mechanism).
    """

    query: str | Tree | Prefixes | BoundQuery
    noise: Noise = "laplace"
    scale: Fraction | tuple[Fraction, ...] | None = None
    variance: Fraction | tuple[Fraction, ...] | None = None
    probabilities: tuple[Fraction, ...] = ()
    grid: Fraction = Fraction(1)
    groups: int = 1
    along: tuple[str, ...] = ()
    facets: tuple[tuple[int, ...], ...] = ()
    fixed: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        """Refuse floats, widths that are none, those of another noise, and an empty grid."""
        if self.noise not in NOISES:
            reason = f"there is no noise {self.noise!r}"
            raise PolicyError(reason, key="noise", hint=f"write one of {', '.join(NOISES)}")
        self._require_one_width()
        self._require_groups()
        for width in self.widths:
            value = _fraction(width, self.width)
            if value < 0 or (self.width == "variance" and not value):
                low, hint = ("above 0", "1 or 1/2") if self.width == "variance" else (
                    "not negative", "0 or more"
                )  # fmt: skip
                reason = f"a {self.width.removesuffix('ies')} is {low}: {width}"
                raise PolicyError(reason, key=self.width, hint=f"use {hint}")
        if self.probabilities and (sum(self.probabilities) != 1 or not len(self.probabilities) % 2):
            raise PolicyError(
                f"{len(self.probabilities)} probabilities that add up to {sum(self.probabilities)}",
                key="probabilities",
                hint='an odd number of them, centred at 0, with sum 1: ["1/4", "1/2", "1/4"]',
            )
        if _fraction(self.grid, "grid") <= 0:
            raise PolicyError(
                f"a grid is positive: {self.grid}", key="grid", hint="write 1 or 1/1024"
            )

    def _require_groups(self) -> None:
        if bool(self.along) != (self.noise in ("discrete-steps", "discrete-gaussian-steps")):
            hint = 'noise = "discrete-steps" has it: along = ["x", "y"]'
            raise PolicyError(f"{self.noise} noise and along = {list(self.along)}", key="along",
                              hint=hint)  # fmt: skip
        if self.along and (self.many or self.grid != 1):
            reason = f"noise on steps has one {self.width}, and steps of 1"
            raise PolicyError(reason, key=self.width, hint='write e.g. "2", and no grid')
        joint = self.noise == "discrete-k-norm"
        if self.groups < 1 or (self.groups > 1 and not joint):
            reason = f"{self.noise} noise has no groups of {self.groups} outputs"
            raise PolicyError(
                reason, key="groups", hint='noise = "discrete-k-norm" has them, from 1'
            )
        if joint and self.many:
            raise PolicyError("K-norm noise has one scale", key="scale", hint='write e.g. "2"')
        self._require_facets(joint=joint)

    def _require_facets(self, *, joint: bool) -> None:
        """Refuse rows of a body that are of different lengths, or where no body is."""
        rows = (*self.facets, *self.fixed)
        if rows and (not joint or not self.facets or self.groups != 1):
            reason = "facets, and what they leave fixed, are a body of their own"
            hint = 'write noise = "discrete-k-norm", and no groups'
            raise PolicyError(reason, key="facets", hint=hint)
        kinds = {type(number) for row in rows for number in row}
        if kinds - {int} or len({len(row) for row in rows}) > 1:
            raise PolicyError("the rows of facets are whole numbers, one for each output",
                              key="facets", hint="write [[1, 0], [0, 1], [1, 1]]")  # fmt: skip

    def _require_one_width(self) -> None:
        given = {
            "scale": self.scale is not None,
            "variance": self.variance is not None,
            "probabilities": bool(self.probabilities),
        }
        for key, is_given in given.items():
            if is_given and key != self.width:
                reason = f"{self.noise} noise has a {self.width}, and no {key}"
                hint = f"write {self.width} instead"
                raise PolicyError(reason, key=key, hint=hint)
        if not given[self.width]:
            raise PolicyError(f"the release has no {self.width}", hint=_EXAMPLE[self.width])

    @property
    def width(self) -> str:
        """The key that says how wide the noise is: scale, variance or probabilities."""
        return WIDTH.get(self.noise, "scale")

    @property
    def many(self) -> bool:
        """Whether there is a width for each output (or level), and not one for all."""
        return isinstance(self.variance if self.scale is None else self.scale, tuple)

    @property
    def widths(self) -> tuple[Fraction, ...]:
        """The scales, variances or probabilities as a tuple."""
        if self.probabilities:
            return self.probabilities
        width = self.variance if self.scale is None else self.scale
        assert width is not None
        return width if isinstance(width, tuple) else (width,)

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """The scales of Laplace noise as a tuple: one, or one per output (or level)."""
        if self.width != "scale":
            raise InternalError(f"{self.noise} noise has no scale")
        return self.widths


_EXAMPLE = {
    "scale": 'write e.g. scale = "2"',
    "variance": 'write e.g. variance = "2"',
    "probabilities": 'write e.g. probabilities = ["1/4", "1/2", "1/4"]',
}


def _fraction(value: object, what: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)):
        raise PolicyError(
            f"a {what} is an exact fraction, not {value!r}", key=what, hint='write 3 or "7/2"'
        )
    return Fraction(value)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A choice made from noisy costs: a partition of a query's answers into buckets, the cheapest.

    `candidates` says which buckets there are: "intervals", runs of 1, 2, 4, ... answers (`longest`
    at the most, a power of two; None: all that fit), or "pairs", any one or two answers. A bucket
    costs its deviation, the sum of |answer - mean|, plus `penalty`, which is public (None: some
    number), plus noise of its own of `scale`; `narrower` has other scales for buckets of 1, 2, 4,
    ... answers, where 0 is no noise. Discrete noise and the costs live on the multiples of 1 / w,
    where w is the largest number of answers that a bucket has ("pairs": of 1). The cheapest
    partition alone is published; ties fall in a fixed order of the partitions.

    Or a partition into intervals is drawn (`candidates` "drawn-intervals"), with probability in
    proportion to e^(-cost / scale), its cost being that of its buckets without any noise: the sum
    of |answer - median|, plus `penalty`. Or one into blocks of a grid ("drawn-blocks"), in the same
    way: any partitions that are fixed beforehand.

    Or a best score is chosen: "maximum", the largest answer plus Laplace noise of `scale` each, or
    "exponential", an answer drawn with probability proportional to e^(answer / scale).

    What that loses the certifier works out by itself. Of other `candidates`, whose costs it does
    not know, `step` says by how much one record that joins or leaves changes a candidate's cost at
    the most, and that is then an assumption.
    """

    query: str
    candidates: str
    scale: Fraction
    narrower: tuple[Fraction, ...] = ()
    noise: Noise = "discrete-laplace"
    penalty: Fraction | None = None
    longest: int | None = None
    step: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse floats, negative numbers, and noise of no width at all."""
        if self.noise not in COSTS:
            reason = f"costs have no noise {self.noise!r}"
            raise PolicyError(reason, key="noise", hint=f"write one of {', '.join(COSTS)}")
        numbers = [("scale", scale) for scale in self.scales]
        numbers += [("step", self.step or Fraction(0)), ("penalty", self.penalty or Fraction(0))]
        for key, value in numbers:
            if _fraction(value, key) < 0:
                reason = f"a {key} is not negative: {value}"
                raise PolicyError(reason, key=key, hint="use 0 or more")
        if not self.scale:
            raise PolicyError("a choice needs a scale above 0", key="scale", hint="write 1 or 1/2")
        if self.longest is not None and (self.longest < 1 or self.longest & (self.longest - 1)):
            raise PolicyError(
                f"the longest bucket has 1, 2, 4, 8, ... answers, not {self.longest}",
                key="longest",
                hint="write a power of two",
            )

    @property
    def scales(self) -> tuple[Fraction, ...]:
        """The scales for buckets of 1, 2, 4, ... answers; the last is that of all wider ones."""
        return (*self.narrower, self.scale)

    def scale_of(self, power: int) -> Fraction:
        """Return the scale of the noise on buckets of 2**power answers.

        >>> scales = {"narrower": (Fraction(3),), "scale": Fraction(7)}
        >>> item = Selection(query="histogram", candidates="intervals", **scales)
        >>> [str(item.scale_of(power)) for power in (0, 1, 5)]
        ['3', '7', '7']
        """
        return self.scales[min(power, len(self.narrower))]


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
    """Releases and choices that compose, or one finite channel; and what is done to the answers.

    `attackers`: whom `odds` judges it against. `folder` is that of the mechanism file: files that
    its queries name may lie there.
    """

    name: str = "mechanism"
    releases: tuple[Release, ...] = ()
    channel: Channel | None = None
    postprocessing: tuple[str, ...] = field(default=())
    selections: tuple[Selection, ...] = ()
    attackers: Attackers | None = None
    folder: Path | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Either releases and choices, or a channel."""
        if bool(self.releases or self.selections) == (self.channel is not None):
            raise PolicyError(
                "a mechanism has either releases (or choices) or a channel",
                key="release",
                hint="write [[release]] or [[selection]] tables, or one [channel]",
            )

    def __iter__(self) -> Iterator[Release]:
        """Yield the releases."""
        return iter(self.releases)
