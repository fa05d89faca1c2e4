"""Which engine runs: plain Python for as long as it is quick, then compiled code."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .functionals import small_functionals
from .instance import Instance
from .plain import PlainEngine
from .search import Engine

__all__ = ["engines", "identity"]

PLAIN_NODES = 300  # a few hundredths of a second
PLAIN_EFFECTS = 40


def engines(
    instance: Instance,
    permutations: NDArray[np.int32],
    *,
    largest: int | None = None,
    eager: bool,
) -> Iterator[tuple[Engine, int | None]]:
    """Engines to try in turn, each from the start, with the nodes after which to give up on it."""
    if len(instance.effects) <= PLAIN_EFFECTS:
        rows = small_functionals(instance)
        if rows is not None:
            yield PlainEngine(instance, rows, permutations.tolist(), largest=largest), PLAIN_NODES
    from .numbaengine import NumbaEngine

    yield NumbaEngine(instance, permutations, largest=largest, eager=eager), None


def identity(instance: Instance) -> NDArray[np.int32]:
    """The one symmetry that is always there."""
    return np.arange(len(instance.effects), dtype=np.int32)[None]
