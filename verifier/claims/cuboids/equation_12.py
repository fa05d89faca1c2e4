"""exact-cuboids-draft, equations 10 to 12: the linear system for two known cuboids."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from blowproof.models import Exact
from blowproof.verifier.claims.cuboids.section_6 import (
    TWO_CUBOIDS,
    Cells,
    cell_of,
    cell_sums,
    constraint_rows,
    cuboid_axes,
    degree_of,
    drawn_counts,
    gaps_of,
    nearest_cells,
    none_wrong,
)
from blowproof.verifier.claims.stating.claim import Claim, Formula, Instance
from blowproof.verifier.claims.stating.linear import Matrix, solve
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]


def _printed_matrix(instance: Instance) -> Matrix:
    """Return A as Figure 5 draws it: deg(C1), deg(C2) on the diagonal, e in both other blocks."""
    points = sorted(instance.the_policy.domain.points())
    first, second = cuboid_axes(instance)
    cells = dict.fromkeys(points, Fraction(0))
    degrees = [degree_of(cells, axes) for axes in (first, second)]
    e = degree_of(cells, tuple(sorted({*first, *second})))
    side = [i for i, axes in enumerate((first, second)) for _ in cell_sums(cells, axes)]
    places = range(len(side))

    def entry(i: int, j: int) -> int:
        return e if side[i] != side[j] else degrees[side[i]] if i == j else 0

    return [[Fraction(entry(i, j)) for j in places] for i in places]


def _gram(instance: Instance) -> Matrix:
    """Return how many base cells each two known cells share: the matrix that (9) leads to."""
    points = sorted(instance.the_policy.domain.points())
    rows = constraint_rows(points, cuboid_axes(instance))
    return [
        [Fraction(sum(a * b for a, b in zip(one, two, strict=True))) for two in rows]
        for one in rows
    ]


def _wrong_entries(instance: Instance) -> Exact:
    pairs = zip(_printed_matrix(instance), _gram(instance), strict=True)
    return sum(a != b for one, two in pairs for a, b in zip(one, two, strict=True))


def _disjoint(instance: Instance) -> Exact | None:
    cuboids = [set(axes) for axes in cuboid_axes(instance)]
    return 0 if len(cuboids) == 2 and not cuboids[0] & cuboids[1] else None


def _by_system(instance: Instance, matrix: Callable[[Instance], Matrix]) -> Cells | None:
    """Return the cells that a solution of A x = y leads to; None if there is no solution."""
    true, noisy = drawn_counts(instance)
    cuboids = cuboid_axes(instance)
    cells = [(axes, cell) for axes in cuboids for cell in sorted({cell_of(x, axes) for x in true})]
    right = [2 * gaps_of(true, noisy, axes)[cell] for axes, cell in cells]
    found = solve(matrix(instance), right)
    if found is None:
        return None
    times = dict(zip(cells, found, strict=True))
    return {
        x: count + sum((times[axes, cell_of(x, axes)] for axes in cuboids), Fraction(0)) / 2
        for x, count in noisy.items()
    }


def _system_differs(matrix: Callable[[Instance], Matrix]) -> Formula:
    def count(instance: Instance) -> Exact:
        best, mine = nearest_cells(instance), _by_system(instance, matrix)
        return len(best) if mine is None else sum(mine[x] != best[x] for x in best)

    return count


EQUATION_12 = Claim(
    id="exact-cuboids-draft/equation-12",
    source="Section 6.1, equations 10 to 12 and Figure 5",
    quote="can be solved in linear time",
    statement="Two cuboids known: problem (3) is solved by A x = y, where A has deg(C1) and "
    "deg(C2) on its diagonal and deg(C1 v C2) everywhere between cells of C1 and of C2.",
    read_as="The printed matrix, for any two cuboids.",
    parts=(
        counted(
            "entries of A that differ from the number of base cells that two known cells share",
            TWO_CUBOIDS,
            none_wrong(2),
            _wrong_entries,
            small="accuracy",
        ),
        counted(
            "base cells in which the solution differs from the exact projection",
            TWO_CUBOIDS,
            none_wrong(2),
            _system_differs(_printed_matrix),
            small="accuracy",
        ),
        counted(
            "entries of A, cuboids without shared attributes",
            TWO_CUBOIDS,
            _disjoint,
            _wrong_entries,
            amended=True,
        ),
        counted(
            "the solution with 0 between cells that disagree on a shared attribute",
            TWO_CUBOIDS,
            none_wrong(2),
            _system_differs(_gram),
            amended=True,
        ),
    ),
    repaired="If the cuboids share no attribute; else the entry between b1 and b2 is deg(C1 v C2) "
    "where they agree on the shared attributes, and 0 where they do not. A_22 is n2 x n2, and A "
    "is singular: there are solutions, but more than one.",
    amendment="condition",
    explanation="Equation 10 sums over all cells of C2 as if each shared base cells with b1. "
    "Cells that differ in a shared attribute have none in common, as in the draft's Example 4.1, "
    "where both cuboids contain Age. With the printed A the system may have no solution, or one "
    "that breaks the known sums. Nothing private is lost, as only noisy counts go in.",
    proof="Equation 9 summed over the base cells below b1 has each multiplier of C2 as often as "
    "there are base cells below both.",
)


CLAIMS = (EQUATION_12,)
