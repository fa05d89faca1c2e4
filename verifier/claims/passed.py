"""The sentences that no row speaks about, each with a few words to find it by and the reason."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["Passed", "passed_over"]


class Passed(NamedTuple):
    """A sentence, or some of one kind: where it stands, a few of its words, why it has no row."""

    where: str
    words: str
    why: str


@cache
def passed_over() -> dict[str, tuple[Passed, ...]]:
    """Return the passed-over sentences of each paper, in its order."""
    text = files("blowproof.verifier.claims").joinpath("passed_over.json").read_text("utf-8")
    return {paper: tuple(Passed(*row) for row in rows) for paper, rows in json.loads(text).items()}
