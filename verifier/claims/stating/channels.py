"""Finite channels on databases, drawn with a seed, and their exact loss over all neighbours.

For statements about mechanisms in general (composition, the axioms): a channel is a table of exact
probabilities, its loss the largest ratio of two of them, which is exp(epsilon).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

from blowproof.models import Point, Policy
from blowproof.verifier.claims.stating.families import SEED
from blowproof.verifier.claims.stating.listings import pairs

__all__ = ["Channel", "draw", "joint", "mixture", "ratio"]

Database = tuple[Point, ...]


@dataclass(frozen=True)
class Channel:
    """For each database the probabilities of the outputs, all above zero."""

    rows: dict[Database, tuple[Fraction, ...]]

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        return len(next(iter(self.rows.values())))

    def then(self, step: Sequence[Sequence[Fraction]]) -> Channel:
        """Return the channel whose output goes through a random step that ignores the data."""
        return Channel(
            {
                database: tuple(
                    sum((row[i] * step[i][j] for i in range(len(row))), Fraction(0))
                    for j in range(len(step[0]))
                )
                for database, row in self.rows.items()
            }
        )


def draw(policy: Policy, size: int, outputs: int, name: object) -> Channel:
    """Return a channel on all databases of `size` records, its weights 1 to 9 drawn at random."""
    rng = Random(f"{SEED} {name}")
    databases = product(list(policy.domain.points()), repeat=size)
    return Channel({database: distribution(rng, outputs) for database in databases})


def distribution(rng: Random, outputs: int) -> tuple[Fraction, ...]:
    """Return a random distribution with exact probabilities."""
    weights = [rng.randint(1, 9) for _ in range(outputs)]
    return tuple(Fraction(weight, sum(weights)) for weight in weights)


def joint(first: Channel, second: Sequence[Channel]) -> Channel:
    """Return both outputs, the second channel being chosen by the first one's output."""
    return Channel(
        {
            database: tuple(
                row[i] * chance for i in range(len(row)) for chance in second[i].rows[database]
            )
            for database, row in first.rows.items()
        }
    )


def mixture(share: Fraction, first: Channel, second: Channel) -> Channel:
    """Return the channel that runs the first one with probability `share`, else the second."""
    return Channel(
        {
            database: tuple(
                share * a + (1 - share) * b for a, b in zip(row, second.rows[database], strict=True)
            )
            for database, row in first.rows.items()
        }
    )


def ratio(policy: Policy, size: int, channel: Channel) -> Fraction:
    """Return the largest Pr[M(D1) = o] / Pr[M(D2) = o] over neighbours, in both directions."""
    worst = Fraction(1)
    for first, second in pairs(policy, "published", size, every_label=True):
        if len(first) == size:
            for a, b in zip(channel.rows[first], channel.rows[second], strict=True):
                worst = max(worst, a / b, b / a)
    return worst
