"""What is to be written as a model, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from blowproof.models import BoundQuery, Exact, Setting, show
from blowproof.models.policy.readings import Reading
from blowproof.verifier.export.map import printable

__all__ = ["FORMATS", "Asked", "Encoded", "Format", "Optimum", "not_enough"]

Format = Literal["dimacs", "lp", "mps", "qdimacs"]
FORMATS: tuple[Format, ...] = ("dimacs", "lp", "mps", "qdimacs")

PAIR = {
    "published": "with a secret change",
    "secret-moves": "where every change is a secret one",
    "add-remove": "that differ in records added and removed",
    "pufferfish": "with a secret change",
    "markov": "that differ in one to four records added and removed",
}
CANDIDATES = (
    "minimality is not asked for: no solution means that no such neighbours change the query, a "
    "solution need not be a neighbour pair"
)


@dataclass(frozen=True)
class Optimum:
    """What the most is that the query changes by in the model: `lower` is met by a neighbour pair.

    `upper` is None where nothing bounds it.
    """

    lower: Exact
    upper: Exact | None


@dataclass(frozen=True)
class Encoded:
    """A model as text, what each of its variables means, and what the model asks, in sentences.

    `optimum`: for minimal models, what an outside solver is to find.
    """

    format: Format
    text: str
    variables: dict[str, dict[str, Any]]
    notes: tuple[str, ...]
    optimum: Optimum | None = None


@dataclass(frozen=True)
class Asked:
    """What is to be encoded. `seconds`: how long to look for cuts, where they are asked for."""

    setting: Setting
    query: BoundQuery
    reading: Reading
    at_least: Exact | None
    records: int | None
    format: Format
    minimal: bool = False
    seconds: float | None = None

    def head(self, *more: str, pairs: str = CANDIDATES) -> tuple[str, ...]:
        """The sentences that every format begins with; `pairs` says which solutions are pairs."""
        what = f"two databases D1, D2 that satisfy the facts, {PAIR[self.reading]}"
        if self.at_least is not None:
            what += f", whose {self.query.name} differs by {show(self.at_least)} or more (L1)"
        scope = f"reading {self.reading}, answers {self.setting.scope}"
        return tuple(
            printable(line)
            for line in (
                f"policy {self.setting.policy.name}, {scope}, query {self.query.name}",
                f"a solution: {what}",
                pairs,
                *more,
            )
        )


def not_enough(enough: bool) -> str:
    """Say so, where the chosen values need not stand for all."""
    return "" if enough else "; others might make the query change more"
