"""The definitions of neighbours by name, and what each of them says of a pair.

Who asks whether records are labelled, or whether plain moves count, asks here, so that a new
reading is a line of `RULES` and not a search for comparisons.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

__all__ = [
    "BLOWFISH",
    "LABELLED",
    "READINGS",
    "RULES",
    "Reading",
    "Rules",
    "is_labelled",
    "is_mixed",
]

Reading = Literal["published", "secret-moves", "add-remove", "markov", "pufferfish"]


class Rules(NamedTuple):
    """What a reading says of a neighbour pair."""

    labelled: bool
    """Whether a record keeps its identity, so that n is always known; else records come and go."""
    mixed: bool
    """Whether records may make plain moves beside secret ones."""


RULES: dict[str, Rules] = {
    "published": Rules(labelled=True, mixed=True),
    "secret-moves": Rules(labelled=True, mixed=False),
    "add-remove": Rules(labelled=False, mixed=False),
    "markov": Rules(labelled=False, mixed=False),
    "pufferfish": Rules(labelled=True, mixed=True),
}
READINGS: tuple[Reading, ...] = get_args(Reading)
LABELLED: tuple[Reading, ...] = tuple(name for name in READINGS if RULES[name].labelled)
"""The readings of labelled records, for those who go through them."""
BLOWFISH: tuple[Reading, ...] = ("published", "secret-moves")
"""The two readings of blowfish-2014's definition, which its statements are about."""


def is_labelled(reading: str) -> bool:
    """Whether a record keeps its identity under a reading."""
    return RULES[reading].labelled


def is_mixed(reading: str) -> bool:
    """Whether records may make plain moves beside secret ones."""
    return RULES[reading].mixed
