"""Reading 2, cells and facts beside them: no cycle of edges of G leaves a component of G.

*Statement.* Let the classes, labels and widths be those of `beside`, in reading 2, and call two
classes of the base joined if an edge of G leads from a value of one to a value of the other. Let
N_1 >= N_2 be how many classes the two largest components have (N_2 = 0 if there is one). With one
further fact, of width w, a pair makes at most w max((N_1 + 1)^2 / 2, 2 N_1 N_2) moves, rounded
down, and at most N_1 max(2, 2 w N_1 - 1). More facts: the stages of `beside` with this as the
first; and N_1 times the whole points, where W_j and W are the largest sums over the classes of one
component.

*Proof.* As for `beside`, the moves being along edges of G: a simple cycle lies in one component, so
that it has at most N_1 moves, and W_j and W bound its labels. Of (ii) only this changes: two cycles
A and B of one component meet as they did, N being its classes; if they are of different ones, a <=
|A|, b <= |B| (labels divided by w), and b |A| + a |B| <= 2 |A| |B| <= 2 N_1 N_2. (To exchange
segments two cycles must meet, so that (i) is about cycles of one component.) The second bound is
the first stage: simple cycles have at most N_1 moves, and labels of at most w N_1. QED.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from blowproof.models import Setting
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.moves.joined_classes import Joined, different

__all__ = ["components", "longest_along_edges"]


def components(
    setting: Setting, table: ClassTable, home: Sequence[int], deadline: float | None
) -> list[list[int]]:
    """Return the classes of the base in groups, between which no edge of G leads.

    >>> from blowproof.models import Domain, Integers, PartitionBy, Policy, setting
    >>> from blowproof.verifier.databases.value_classes import class_table
    >>> domain = Domain(x=Integers(0, 1), y=Integers(0, 1))
    >>> from blowproof.models import Marginal
    >>> policy = Policy(domain=domain, secrets=PartitionBy(["x"]), known=[Marginal(["x", "y"])])
    >>> one = setting(policy)
    >>> components(one, class_table(one), range(4), None)
    [[0, 1], [2, 3]]
    """
    root = list(range(max(home, default=-1) + 1))

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = place = root[root[place]]
        return place

    joined = Joined(setting, table, deadline)
    base = np.array(home, dtype=np.int64)[:, None]
    for a, b in different(setting, table, base, deadline):
        one, two = find(home[a]), find(home[b])
        if one != two and joined(a, b):
            root[two] = one
    found: dict[int, list[int]] = {}
    for place in range(len(root)):
        found.setdefault(find(place), []).append(place)
    return list(found.values())


def longest_along_edges(
    parts: Sequence[Sequence[int]], widths: Sequence[int], *, orders: int
) -> int:
    """Return how many moves a pair makes at the most, by stages.

    `parts`: the components, by classes of the base; `orders`: facts of which all orders are tried.

    >>> longest_along_edges([range(4)] * 10, [1], orders=4)
    28
    >>> longest_along_edges([range(4)], [2], orders=4)
    25
    """
    largest, second = sorted((0, 0, *map(len, parts)), reverse=True)[:2]
    if not widths:
        return largest
    first = max((largest + 1) ** 2, 4 * largest * second)
    staged = []
    for order in permutations(widths) if len(widths) <= orders else [tuple(widths)]:
        length = min(order[0] * first // 2, largest * max(2, 2 * order[0] * largest - 1))
        for width in order[1:]:
            length *= max(2, 2 * width * length - 1)
        staged.append(length)
    return min(staged)
