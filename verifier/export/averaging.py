"""The averaging attack of blowfish-2014, section 3.2, on any policy's own known counts.

Somebody who releases every count with independent noise of one variance, calibrated as if nothing
were known, gives more away than that: the known counts tie the cells together, and the best linear
estimate of one cell combines all the noisy cells that lead to it. With A the matrix of the known
counts and P the projection onto its row space, that estimate is (I - P) applied to the noise, so
the share 1 - P_xx of the variance is left, as if 1 / (1 - P_xx) independent noisy copies of the
cell had been averaged. The paper's chain of k cells and k - 1 sums of neighbours gives k.

These are figures for a picture: floating point, and nothing is calibrated by them.

>>> from blowproof.models import Count, Domain, Integers, Policy
>>> known = tuple(Count({"r": [i, i + 1]}) for i in range(4))
>>> attack = averaging(Policy(domain=Domain(r=Integers(0, 4)), known=known), size_known=False)
>>> round(attack.estimates, 9), round(attack.left, 9), attack.cell in {(i,) for i in range(5)}
(5.0, 0.2, True)
>>> attack.ways[0][1]  # a sum of two cells that is known, less the other one
1.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blowproof.models import Area, BudgetError, LinearFact, Point, Policy
from blowproof.models.domain.classes import ValueClass, collapse
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Averaging", "averaging"]

MOST_FACTS = whole_limit(__name__, "MOST_FACTS")
NOTHING_LEFT = 1e-9


@dataclass(frozen=True, kw_only=True)
class Averaging:
    """What averaging leaves of the noise, for the cell that suffers most.

    `left` is the share of the variance that is left (0: the known counts give the cell away without
    any release), `mean_left` its average over all cells that can hold a record, and `cells` how
    many suffer as much as `cell`. `ways` are the known counts that the cell is in, the best first:
    the fact (None: the number of records), and the variance of what it gives, which is the known
    number less all other noisy cells in it, where one noisy cell has variance 1.
    """

    cell: Point
    left: float
    mean_left: float
    cells: int
    facts: int
    rank: int
    ways: tuple[tuple[LinearFact | None, float], ...]

    @property
    def estimates(self) -> float:
        """How many independent noisy copies of the cell the attack amounts to."""
        return float("inf") if self.left == 0 else 1 / self.left


def averaging(policy: Policy, *, size_known: bool = True) -> Averaging:
    """Return what the averaging attack leaves of independent noise on every cell.

    Only equalities tie cells together: bounds and clauses are passed over, impossible values are
    cells known to be 0, and n counts as a known sum if `size_known`.
    """
    import numpy

    facts = [fact for fact in policy.linear_facts if not fact.bounded]
    if len(facts) > MOST_FACTS:
        raise BudgetError(f"{len(facts)} known counts; at most {MOST_FACTS} are averaged")
    areas: list[Area] = []
    rows: list[list[tuple[int, int]]] = []
    for fact in facts:
        rows.append([(times, len(areas) + place) for place, (times, _) in enumerate(fact.terms)])
        areas.extend(area for _, area in fact.terms)
    classes = [c for c in collapse(policy.domain, [*areas, policy.impossible])
               if len(areas) not in c.inside]  # fmt: skip
    if not classes:
        raise BudgetError("no value is possible, so there is nothing to average")
    matrix = [[_coefficient(row, item) for item in classes] for row in rows]
    if size_known or not matrix:
        matrix.append([1] * len(classes) if size_known else [0] * len(classes))
    sizes = numpy.array([float(item.size) for item in classes])
    # Cells of one class share their column, so P can be had from the classes: a cell of class c is
    # the column times 1 / sqrt(size), and the projection is that of the matrix with these weights.
    weighted = numpy.array(matrix, dtype=float) * numpy.sqrt(sizes)
    _, values, right = numpy.linalg.svd(weighted, full_matrices=False)
    rank = int((values > 1e-9 * max(1.0, values.max(initial=0.0))).sum())
    taken = (right[:rank] ** 2).sum(axis=0) / sizes
    left = numpy.clip(1 - taken, 0, 1)
    left[left < NOTHING_LEFT] = 0
    worst = int(left.argmin())
    alike = sum(
        item.size
        for item, share in zip(classes, left, strict=True)
        if share <= left[worst] + NOTHING_LEFT
    )
    return Averaging(
        cell=classes[worst].take(1)[0],
        left=float(left[worst]),
        mean_left=float((left * sizes).sum() / sizes.sum()),
        cells=alike,
        facts=len(facts),
        rank=rank,
        ways=_ways([*facts, *([None] if size_known else [])], matrix, sizes.tolist(), worst),
    )


def _ways(
    facts: Sequence[LinearFact | None], matrix: list[list[int]], sizes: list[float], cell: int
) -> tuple[tuple[LinearFact | None, float], ...]:
    """What each known count alone says of a cell: the known number less the other noisy cells."""
    found = []
    for fact, row in zip(facts, matrix, strict=False):  # without facts there is one row of zeros
        own = row[cell] ** 2
        if own:
            every = sum(times**2 * size for times, size in zip(row, sizes, strict=True))
            found.append((fact, every / own - 1))
    return tuple(sorted(found, key=lambda way: way[1]))


def _coefficient(row: list[tuple[int, int]], item: ValueClass) -> int:
    return sum(times for times, area in row if area in item.inside)
