"""The printed calibrations on grids of policies: verdicts as data, smallest refuting policies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Distance,
    Domain,
    Full,
    Integers,
    Labels,
    Marginal,
    PartitionCells,
    Policy,
    Reading,
)
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.certify.base.verdict import Certified
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.printed.calibrations import (
    HIERARCHY_READINGS,
    corollary_8_3,
    hierarchical,
    kmeans,
    ordered,
    ordered_hierarchical,
    plain_histogram,
    tree_height,
)

__all__ = ["Calibration", "PrintedVerdict", "calibrations", "printed_verdicts", "smallest_refuting"]

HALF, ONE = Fraction(1, 2), Fraction(1)
SIZES = (1, 2, 3, 4, 5, 6, 8, 9, 12)
FAN_OUTS = (2, 3, 4)
SPLITS = (Fraction(1, 4), HALF, Fraction(3, 4))
"""Shares of epsilon for the S nodes."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """A printed calibration for one policy: `id` is that of the claim, `variant` how it is read."""

    id: str
    variant: str
    parameters: dict[str, str]
    policy: Policy
    mechanism: Mechanism
    epsilon: Fraction
    reading: Reading = "published"


@dataclass(frozen=True)
class PrintedVerdict:
    """A calibration and what the certifier says of it."""

    calibration: Calibration
    certified: Certified


def calibrations(
    *,
    sizes: Sequence[int] = SIZES,
    fan_outs: Sequence[int] = FAN_OUTS,
    splits: Sequence[Fraction] = SPLITS,
) -> Iterator[Calibration]:
    """Yield every printed calibration on a grid of policies, small policies first."""
    for size in sizes:
        yield from _ordered(size)
        for fan_out in fan_outs:
            yield from _basic_tree(size, fan_out)
            yield from _hierarchies(size, fan_out, splits)
    yield from _kmeans()
    yield from _sparse()
    yield from _plain()


def printed_verdicts(items: Iterable[Calibration] | None = None) -> list[PrintedVerdict]:
    """Certify printed calibrations (None: all of the grid)."""
    chosen = calibrations() if items is None else items
    return [
        PrintedVerdict(
            item, certify(item.mechanism, item.policy, item.epsilon, reading=item.reading)
        )
        for item in chosen
    ]


def smallest_refuting(verdicts: Iterable[PrintedVerdict]) -> dict[tuple[str, str], PrintedVerdict]:
    """Return, for each calibration and variant that is refuted, the smallest refuting policy.

    Smallest: fewest values, then the first in the grid.
    """
    found: dict[tuple[str, str], PrintedVerdict] = {}
    for item in verdicts:
        key = (item.calibration.id, item.calibration.variant)
        if item.certified.verdict == "refuted" and (
            key not in found or _values(item) < _values(found[key])
        ):
            found[key] = item
    return found


def _values(item: PrintedVerdict) -> int:
    return item.calibration.policy.domain.size


def _line(size: int, theta: int) -> Policy:
    return Policy(
        name=f"{size} values, theta = {theta}",
        domain=Domain(x=Integers(1, size)),
        secrets=Distance(threshold=theta),
    )


def _ordered(size: int) -> Iterator[Calibration]:
    for theta in range(1, size + 1):
        yield Calibration(
            id="blowfish-2014/section-7.1",
            variant="theta = 1" if theta == 1 else "any theta",
            parameters={"size": str(size), "theta": str(theta)},
            policy=_line(size, theta),
            mechanism=ordered(ONE, theta=theta),
            epsilon=ONE,
        )


def _basic_tree(size: int, fan_out: int) -> Iterator[Calibration]:
    """Uniform budgets, on the complete graph (theta = |T|)."""
    height = tree_height(size, fan_out)
    for root, levels in ((True, height + 1), (False, height)):
        if levels:
            yield Calibration(
                id="blowfish-2014/section-7.2",
                variant=f"basic tree, root {'' if root else 'not '}released",
                parameters={"size": str(size), "fan-out": str(fan_out)},
                policy=_line(size, size),
                mechanism=hierarchical(size, fan_out, [ONE / levels] * levels, root=root),
                epsilon=ONE,
            )


def _hierarchies(size: int, fan_out: int, splits: Sequence[Fraction]) -> Iterator[Calibration]:
    for theta in range(1, size + 1):
        for share in splits:
            for reading in HIERARCHY_READINGS:
                mechanism = ordered_hierarchical(
                    size=size,
                    theta=theta,
                    fan_out=fan_out,
                    epsilon_s=share,
                    epsilon_h=1 - share,
                    reading=reading,
                )
                yield Calibration(
                    id="blowfish-2014/theorem-7.2",
                    variant=reading.name if theta > 1 else f"{reading.name}, theta = 1",
                    parameters={
                        "size": str(size),
                        "theta": str(theta),
                        "fan-out": str(fan_out),
                        "epsilon_S": str(share),
                    },
                    policy=_line(size, theta),
                    mechanism=mechanism,
                    epsilon=ONE,
                )


def _kmeans() -> Iterator[Calibration]:
    """Two centroids on a line that starts at 0 or beyond, and on a square."""
    for first in (0, 1):
        domain = Domain(x=Integers(first, 2))
        centroids = [[first], [2]] if first else [[0], [2]]
        length = 2 - first
        secrets: dict[str, tuple[SecretsSpec, int]] = {
            "l1 distance": (Distance(threshold=1), 2),
            "partition": (PartitionCells([{"x": Between(first, 2)}]), 2 * length),
            "attribute": (AttributeChange(), 2 * length),
            "complete graph": (Full(), 2 * length),
        }
        for variant, (graph, sensitivity) in secrets.items():
            yield Calibration(
                id="blowfish-2014/lemma-6.1",
                variant=f"{variant}, from {first}",
                parameters={"centroids": str(centroids), "sensitivity": str(sensitivity)},
                policy=Policy(name=f"{first}..2, {variant}", domain=domain, secrets=graph),
                mechanism=_iteration(domain, centroids, sensitivity),
                epsilon=ONE,
            )
    square = Domain(x=Integers(0, 1), y=Integers(0, 1))
    yield Calibration(
        id="blowfish-2014/lemma-6.1",
        variant="attribute, square",
        parameters={"centroids": "[[0, 1], [1, 1]]", "sensitivity": "2"},
        policy=Policy(name="a square", domain=square, secrets=AttributeChange()),
        mechanism=_iteration(square, [[0, 1], [1, 1]], 2),
        epsilon=ONE,
    )


def _iteration(domain: Domain, centroids: Sequence[Sequence[int]], sensitivity: int) -> Mechanism:
    """The sums have almost all of the budget, so that nothing hides behind the sizes' part."""
    return kmeans(
        domain, centroids, epsilon_sizes=HALF, epsilon_sums=HALF, sum_sensitivity=sensitivity
    )


def _sparse() -> Iterator[Calibration]:
    """One range on a line with neighbouring secrets: sparse, and |Q| = 1."""
    for size in (3, 4, 5):
        policy = Policy(
            name=f"a range on {size} values",
            domain=Domain(x=Integers(1, size)),
            secrets=Distance(threshold=1),
            known=(Count({"x": Between(2, size - 1)}),),
        )
        readings: tuple[Reading, ...] = ("secret-moves", "published")
        for reading in readings:
            yield Calibration(
                id="blowfish-2014/corollary-8.3",
                variant=f"a range, {reading}",
                parameters={"size": str(size), "|Q|": "1"},
                policy=policy,
                mechanism=corollary_8_3(1, ONE),
                epsilon=ONE,
                reading=reading,
            )


def _plain() -> Iterator[Calibration]:
    """The chain of section 3.2, and a table with a known marginal."""
    for size in (2, 3, 4, 5, 6):
        labels = [f"r{place}" for place in range(1, size + 1)]
        chain = Policy(
            name=f"a chain of {size}",
            domain=Domain(R=Labels(labels)),
            known=tuple(Count({"R": [a, b]}) for a, b in pairwise(labels)),
        )
        cases: tuple[tuple[int, Reading], ...] = ((2, "published"), (1, "add-remove"))
        for sensitivity, reading in cases:
            yield Calibration(
                id="blowfish-2014/section-3.2",
                variant=f"a chain, scale {sensitivity}/epsilon, {reading}",
                parameters={"size": str(size), "sensitivity": str(sensitivity)},
                policy=chain,
                mechanism=plain_histogram(ONE, sensitivity=sensitivity),
                epsilon=ONE,
                reading=reading,
            )
    table = Domain(A=Labels(["a1", "a2"]), B=Labels(["b1", "b2"]))
    yield Calibration(
        id="blowfish-2014/section-3.2",
        variant="a known marginal, scale 2/epsilon",
        parameters={"size": "4", "sensitivity": "2"},
        policy=Policy(name="2 x 2, A known", domain=table, known=(Marginal(["A"]),)),
        mechanism=plain_histogram(ONE),
        epsilon=ONE,
    )
