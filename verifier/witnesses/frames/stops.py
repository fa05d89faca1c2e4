"""The order in which a cycle visits its classes, so that records may go from each to the next.

Which labels a record comes with and leaves with is chosen for each class (`fitted`). To the sum of
labels it is the same in which order classes are visited, and which of them are come to with which
of the labels. A class that a record leaves with the label that it came with may be left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Joined", "Label", "Stop", "in_order"]

MOST_SWAPS = whole_limit(__name__, "MOST_SWAPS")

Label = tuple[int, ...]
Places = Mapping[tuple[int, Label], int]
Joined = Callable[[int, int], bool]
"""Whether records may go from a class of the table to another."""


@dataclass
class Stop:
    """A class that a cycle visits, the label that a record comes with, and that it leaves with."""

    home: int
    comes: Label
    leaves: Label

    @property
    def idle(self) -> bool:
        """Whether the sum of labels does not mind it."""
        return self.comes == self.leaves


def in_order(
    stops: Sequence[Stop], at: Places, joined: Joined | None, rng: random.Random
) -> list[Stop] | None:
    """Return stops round which records may go; None where no way is seen.

    Where it can be had, what leaves a class has another label than what comes to it.
    """

    def leads(one: Stop, two: Stop) -> bool:
        return joined is None or joined(at[one.home, one.leaves], at[two.home, two.comes])

    order: list[Stop] = []
    left = list(stops)
    while left:
        spot = next((k for k, x in enumerate(left) if not order or leads(order[-1], x)), None)
        if spot is None:
            break
        order.append(left.pop(spot))
    while len(order) > 1 and not leads(order[-1], order[0]):
        left.append(order.pop())
    for stop in left:
        gap = next(
            (k for k, x in enumerate(order) if leads(order[k - 1], stop) and leads(stop, x)), None
        )
        if gap is not None:
            order.insert(gap, stop)
        elif not stop.idle:
            return None
    if len(order) == 1 and (joined is not None or order[0].idle):
        return None
    _turned(order, at, leads, rng)
    return order


def _turned(
    order: list[Stop], at: Places, leads: Callable[[Stop, Stop], bool], rng: random.Random
) -> None:
    """Exchange labels that records come with, where they are those that they leave with."""
    count = len(order)
    for one in range(count):
        if not order[one].idle:
            continue
        others = list(range(count))
        for two in rng.sample(others, min(count, MOST_SWAPS)):
            a, b = order[one], order[two]
            if b.comes in (a.comes, a.leaves) or a.comes == b.leaves:
                continue
            if (a.home, b.comes) not in at or (b.home, a.comes) not in at:
                continue
            a.comes, b.comes = b.comes, a.comes
            if leads(order[one - 1], a) and leads(order[two - 1], b):
                break
            a.comes, b.comes = b.comes, a.comes
