"""Which classes of values an edge of G joins, as far as that is seen in a few boxes of each."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Box, Setting
from blowproof.models.base.clock import now
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.edges_at_once import near_classes

__all__ = ["Joined", "different"]

MOST_BOXES = whole_limit(__name__, "MOST_BOXES")
MOST_PAIRS = whole_limit(__name__, "MOST_PAIRS")


class Joined:
    """Says of two classes of a table whether an edge of G joins a value of one with one of the
    other: False is certain; True also where that would take too long to find out.
    """

    def __init__(self, setting: Setting, table: ClassTable, deadline: float | None) -> None:
        self.graph, self.table, self.deadline = setting.graph, table, deadline
        self._boxes: dict[int, list[Box]] = {}
        self._left = MOST_PAIRS

    def __call__(self, a: int, b: int) -> bool:
        """Whether an edge of G may join the classes with these places."""
        one, two = self._held(a), self._held(b)
        self._left -= len(one) * len(two)
        late = self.deadline is not None and now() > self.deadline
        if self._left < 0 or late or max(len(one), len(two)) > MOST_BOXES:
            return True
        return any(self.graph.edge_between(x, y) is not None for x in one for y in two)

    def _held(self, place: int) -> list[Box]:
        if place not in self._boxes:
            self._boxes[place] = list(islice(self.table.classes[place].boxes(), MOST_BOXES + 1))
        return self._boxes[place]


def different(
    setting: Setting, table: ClassTable, rows: NDArray[np.int64], deadline: float | None
) -> Iterator[tuple[int, int]]:
    """Yield two classes each whose rows differ and that are near enough for an edge of G."""
    _, group = np.unique(rows, axis=0, return_inverse=True)
    group = group.reshape(-1)
    apart = group[:, None] != group[None, :]
    near = near_classes(setting.graph, table.classes, deadline=deadline)
    if near is not None:
        apart &= near
    one, two = np.nonzero(np.triu(apart | apart.T, 1))
    yield from zip(one.tolist(), two.tolist(), strict=True)
