"""What experiments gave that were done once: numbers of `benchmarks/paper_figures.py`, as data.

A claim about a figure is held against these means. They are measurements on the public data sets,
with our mechanisms, and are not made again when the ledger runs: measured.json says by what and in
which unit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from blowproof.models import Exact
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.stating.claim import Instance, Part, Relation, Value
from blowproof.verifier.claims.stating.families import family

__all__ = ["EPSILONS", "against", "mean"]

EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1))
"""The epsilons at which clusterings were measured."""


@cache
def _tables() -> Any:
    text = files("blowproof.verifier.claims.stating").joinpath("measured.json").read_text("utf-8")
    return json.loads(text)


def mean(table: str, line: str, instance: Instance) -> Fraction:
    """Return what was measured of a line at the instance's epsilon, on its data set."""
    found = _tables()[table]
    place = found["columns"].index(instance.word("data"))
    return Fraction(found[f"{line} {instance.number('epsilon')}"][place])


def _instances(table: str, epsilons: tuple[Fraction, ...]) -> Iterator[Instance]:
    for data in _tables()[table]["columns"]:
        for epsilon in epsilons:
            yield Instance(
                shape=str(data), parameters={"data": str(data), "epsilon": plain(epsilon)}
            )


@dataclass(frozen=True)
class Measured:
    """How many times the error of one line is that of another."""

    table: str
    worse: str
    better: str

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the quotient of the two means."""
        above, below = (mean(self.table, line, instance) for line in (self.worse, self.better))
        return Value.of(plain(above / below))

    def recheck(self, instance: Instance) -> str:
        """Return where the number is from."""
        return f"measured once by {_tables()['by']}"


def against(  # noqa: PLR0913 # keyword-only options
    name: str,
    table: str,
    epsilons: tuple[Fraction, ...],
    *,
    better: str,
    worse: str,
    times: Exact,
    relation: Relation = ">=",
    amended: bool = False,
) -> Part:
    """Return a part: the error of `worse` is (at least) `times` that of `better`."""
    found = _tables()
    shapes = f"{found[table]['unit']}; measured once by {found['by']}: every data set and epsilon"
    return Part(
        name=name,
        family=family(shapes, lambda: _instances(table, epsilons)),
        claimed=lambda item: times,
        measure=Measured(table, worse, better),
        relation=relation,
        small="accuracy",
        large="accuracy",
        amended=amended,
    )
