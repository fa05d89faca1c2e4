"""How far apart two values are on a grid of steps, as electricity has it: its resistance.

Take every step for a wire of resistance 1. The resistance R(x, y) between two values is the least
energy of a unit flow from x to y, the sum of the squares of what flows along the steps. So the
energy of any unit flow is a bound from above, and here it is found in whole numbers: floats guess
the flow of least energy, it is rounded, and along a tree of steps it is made a flow again.

*Wherever the two values lie.* A smaller grid has no less resistance, for its flows are flows of
the larger one. Let x and y be a positions apart on an ordered attribute of n. Of the stretch that
begins at the lower one and goes up, and the stretch that begins at the upper one and goes down, one
has at least (n + a + 1) / 2 positions. So in some box of such sides (or smaller ones) x or y lies
at an end of each side, and what remains is which of them on which attribute: 2^(d - 1) boxes for d
attributes that change, one being turned over by symmetry. On an attribute without order all values
are alike.

*From below* (Nash-Williams). Steps between values that are k steps and k + 1 steps from a corner
cut it off from all that is farther. So R of a corner and a value that is m steps away is at least
the sum of 1 / (how many steps such a cut has) over k < m.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import prod

import numpy as np

from blowproof.models import BudgetError, Domain
from blowproof.models.secrets import SecretGraph
from blowproof.models.secrets.offsets import OffsetGraph
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["least_resistance", "most_resistance", "moves_along", "resistance_within"]

CELLS = whole_limit(__name__, "CELLS")
BOXES = whole_limit(__name__, "BOXES")
EDGES = whole_limit(__name__, "EDGES")
ROOMS = (24, 16, 12, 8, 6, 4, 3, 2, 1, 0)
"""Positions beyond the farther value that a box has on each side: what is farther hardly counts."""
FINE = whole_limit(__name__, "FINE")

Sides = tuple[tuple[int, bool], ...]
"""How many positions each attribute has, and whether it is ordered."""
Steps = tuple[int, ...]


def moves_along(graph: SecretGraph, domain: Domain) -> frozenset[Steps] | None:
    """Return how many steps an edge of G makes along each attribute: all ways, or more.

    None where they are too many.

    >>> from blowproof.models import Distance, Integers, Policy
    >>> grid = Domain(x=Integers(0, 9), y=Integers(0, 9))
    >>> policy = Policy(domain=grid, secrets=Distance(threshold=1))
    >>> sorted(moves_along(policy.graph, grid))
    [(0, 1), (1, 0)]
    """
    if isinstance(graph, OffsetGraph):
        return _by_offsets(graph, domain)
    try:
        if graph.edge_count > EDGES:
            return None
        kinds = [kind.ordered for _, kind in domain.attributes]
        found = {
            tuple(abs(p - q) if ordered else int(p != q)
                  for ordered, p, q in zip(kinds, x, y, strict=True))
            for x, y in graph.edges(limit=EDGES)
        }  # fmt: skip
    except BudgetError:
        return None
    return frozenset(found) if len(found) <= BOXES else None


def _by_offsets(graph: OffsetGraph, domain: Domain) -> frozenset[Steps] | None:
    found: list[tuple[Steps, int]] = [((), 0)]
    for axis, (_, kind) in zip(graph.axes, domain.attributes, strict=True):
        longer = []
        for steps, spent in found:
            for offset in range(axis.longest + 1):
                cost = axis.cost(offset)
                total = spent + cost if graph.together == "sum" else max(spent, cost)
                if total > graph.bound:
                    break
                far = offset and kind.ordered and not axis.line
                ways = range(1, kind.size) if far else (offset,)
                longer += [((*steps, way), total) for way in ways]
            if len(longer) > 4 * BOXES:
                return None
        found = longer
    moves = {steps for steps, _ in found if any(steps)}
    return frozenset(moves) if len(moves) <= BOXES else None


def most_resistance(moves: frozenset[Steps], sides: Sides) -> Fraction | None:
    """Return a number that no two values that far apart exceed; None where it takes too long.

    >>> line, square = ((10, True),), ((2, True), (2, True))
    >>> most_resistance(frozenset({(3,)}), line), most_resistance(frozenset({(1, 0)}), square)
    (Fraction(3, 1), Fraction(3, 4))
    """
    boxes = {box for move in moves for box in _boxes(move, sides)}
    if None in boxes or len(boxes) > BOXES:
        return None
    return max((resistance_within(*box) for box in boxes if box is not None), default=Fraction(0))


def _boxes(move: Steps, sides: Sides) -> Iterator[tuple[Sides, Steps, Steps] | None]:
    """Yield the boxes of two values so far apart, and where in it they lie; None: too large."""
    far = [-(-(size + apart + 1) // 2) if ordered else size
           for apart, (size, ordered) in zip(move, sides, strict=True)]  # fmt: skip
    for room in ROOMS:
        shape = [min(end, apart + 1 + room) if ordered else end
                 for end, apart, (_, ordered) in zip(far, move, sides, strict=True)]  # fmt: skip
        if prod(shape) <= CELLS:
            break
    else:
        yield None
        return
    ordered = [kind for _, kind in sides]
    turned = [at for at, apart in enumerate(move) if apart and ordered[at]][1:]
    for ways in product((False, True), repeat=len(turned)):
        over = {at for at, way in zip(turned, ways, strict=True) if way}
        x = [apart if at in over else 0 for at, apart in enumerate(move)]
        y = [0 if at in over else apart for at, apart in enumerate(move)]
        columns = sorted(zip(shape, ordered, x, y, strict=True))
        yield (
            tuple((size, kind) for size, kind, _, _ in columns),
            tuple(column[2] for column in columns),
            tuple(column[3] for column in columns),
        )


@lru_cache(maxsize=4096)
def resistance_within(sides: Sides, x: Steps, y: Steps) -> Fraction:
    """Return the energy of a unit flow from x to y in a grid: R, or hardly more.

    >>> round(float(resistance_within(((3, False),), (0,), (1,))), 5)
    0.66667
    """
    level = _levels(sides, x, y)
    cells = list(np.ndindex(*(size for size, _ in sides)))
    place = {cell: at for at, cell in enumerate(cells)}
    excess = [0] * len(cells)
    excess[place[x]] += FINE
    excess[place[y]] -= FINE
    energy = 0
    for at, cell in enumerate(cells):
        up = _parent(cell, sides)
        for other in _below(cell, sides):
            if other == up:
                continue
            flow = round(float(level[cell] - level[other]) * FINE)
            excess[at] -= flow
            excess[place[other]] += flow
            energy += flow * flow
    for at in range(len(cells) - 1, 0, -1):  # what is left over goes down the tree
        energy += excess[at] * excess[at]
        excess[place[_parent(cells[at], sides)]] += excess[at]
    assert excess[0] == 0, "what flows in flows out"
    return Fraction(energy, FINE * FINE)


def _below(cell: Steps, sides: Sides) -> Iterator[Steps]:
    """Yield the values a step away that are lower on an attribute."""
    for at, (position, (_, ordered)) in enumerate(zip(cell, sides, strict=True)):
        for lower in range(max(0, position - 1) if ordered else 0, position):
            yield (*cell[:at], lower, *cell[at + 1 :])


def _parent(cell: Steps, sides: Sides) -> Steps:
    """Return the value below in a tree of steps: lower on the last attribute that is above 0."""
    at = max((k for k, position in enumerate(cell) if position), default=None)
    if at is None:
        return cell
    return (*cell[:at], cell[at] - 1 if sides[at][1] else 0, *cell[at + 1 :])


def _levels(sides: Sides, x: Steps, y: Steps) -> np.ndarray:
    """Return about which potentials drive the flow of least energy, in floats."""
    spectra = []
    for size, ordered in sides:
        wires = np.eye(size, k=1) + np.eye(size, k=-1) if ordered else 1 - np.eye(size)
        spectra.append(np.linalg.eigh(np.diag(wires.sum(axis=0)) - wires))
    found = np.zeros([size for size, _ in sides])
    found[x] += 1.0
    found[y] -= 1.0
    total = np.zeros(found.shape)
    for axis, (values, vectors) in enumerate(spectra):
        found = np.moveaxis(np.tensordot(vectors.T, found, axes=(1, axis)), 0, axis)
        total += values.reshape([-1 if k == axis else 1 for k in range(len(sides))])
    found = np.divide(found, total, out=np.zeros_like(found), where=total > 1e-9)
    for axis, (_, vectors) in enumerate(spectra):
        found = np.moveaxis(np.tensordot(vectors, found, axes=(1, axis)), 0, axis)
    return found


def least_resistance(sides: Sides, steps: int) -> Fraction:
    """Return a number that R of a corner and some value so many steps away is not below.

    >>> least_resistance(((9, True),), 4), least_resistance(((9, True), (9, True)), 2)
    (Fraction(4, 1), Fraction(3, 4))
    """
    cuts = [0] * steps
    for at, (size, ordered) in enumerate(sides):
        ways = [1]
        for other, (many, in_order) in enumerate(sides):
            if other != at:
                ways = _times(ways, [1] * many if in_order else [1, many - 1], steps)
        ways = _times(ways, [1] * (size - 1) if ordered else [size - 1], steps)
        for k, count in enumerate(ways):
            cuts[k] += count
    return sum((Fraction(1, cut) for cut in cuts if cut), Fraction(0))


def _times(one: Sequence[int], two: Sequence[int], most: int) -> list[int]:
    """Return the product of two polynomials, without what is of a degree of `most` or more."""
    found = [0] * min(most, len(one) + len(two) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(two[: max(0, most - i)]):
            found[i + j] += a * b
    return found
