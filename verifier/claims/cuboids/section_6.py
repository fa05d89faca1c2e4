"""exact-cuboids-draft, section 6: noisy cells made consistent with known cuboids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

from blowproof.models import Exact, Point
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.cuboids.section_3_neighbours import cuboid_tables
from blowproof.verifier.claims.cuboids.section_4 import known_cuboids
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Family, Formula, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.linear import Matrix, kernel_projection
from blowproof.verifier.claims.stating.parts import counted

__all__ = [
    "CLAIMS",
    "TWO_CUBOIDS",
    "Cells",
    "cell_of",
    "cell_sums",
    "constraint_rows",
    "cuboid_axes",
    "degree_of",
    "drawn_counts",
    "gaps_of",
    "nearest_cells",
    "none_wrong",
]

Cells = dict[Point, Fraction]
Axes = tuple[int, ...]


def _tables(most: int, many: tuple[int, ...]) -> Iterator[Instance]:
    """Yield tables with known cuboids, true counts and noisy ones drawn with a seed."""
    for place, item in enumerate(cuboid_tables(most, (1, 2, 3), many)):
        yield replace(item, parameters={"draw": place}, sampled=True)


def _family(most: int, many: tuple[int, ...]) -> Family:
    words = " or ".join({1: "one", 2: "two"}[count] for count in many)
    return family(
        f"tables of 1 to 3 attributes with up to {most} values, every {words} cuboids known, the "
        "counts drawn at random",
        lambda: _tables(4, many),
        lambda: _tables(most, many),
    )


def drawn_counts(instance: Instance) -> tuple[Cells, Cells]:
    """Return true counts 0..5 and noisy ones, quarters away from them."""
    rng = Random(f"{some.SEED} {instance.parameters['draw']}")
    points = sorted(instance.the_policy.domain.points())
    true = {x: Fraction(rng.randint(0, 5)) for x in points}
    return true, {x: count + Fraction(rng.randint(-12, 12), 4) for x, count in true.items()}


def cuboid_axes(instance: Instance) -> list[Axes]:
    """Return the places of the attributes of each known cuboid."""
    domain = instance.the_policy.domain
    known = known_cuboids(instance)
    assert known is not None
    return [tuple(sorted(domain.axis(name) for name in names)) for names in known]


def cell_of(point: Point, axes: Axes) -> Point:
    """Return the cell of a cuboid that a value belongs to."""
    return tuple(point[axis] for axis in axes)


def cell_sums(cells: Cells, axes: Axes) -> Cells:
    """Return the counts of the cells of a cuboid."""
    found: Cells = {}
    for point, count in cells.items():
        found[cell_of(point, axes)] = found.get(cell_of(point, axes), Fraction(0)) + count
    return found


def constraint_rows(points: list[Point], axes_of: Iterable[Axes]) -> list[list[int]]:
    """Return the consistency constraints (equation 1), a row for each cell of each cuboid."""
    rows = []
    for axes in axes_of:
        for cell in sorted({cell_of(point, axes) for point in points}):
            rows.append([int(cell_of(point, axes) == cell) for point in points])
    return rows


@cache
def _projection(points: tuple[Point, ...], axes_of: tuple[Axes, ...]) -> Matrix:
    return kernel_projection(constraint_rows(list(points), axes_of), len(points))


def nearest_cells(instance: Instance) -> Cells:
    """Return the solution of problems (2) and (3), by exact projection.

    The noise is projected onto what the known cells leave open, and the true counts are added.
    """
    true, noisy = drawn_counts(instance)
    points = tuple(true)
    matrix = _projection(points, tuple(cuboid_axes(instance)))
    noise = [noisy[x] - true[x] for x in points]
    return {
        x: true[x] + sum((a * b for a, b in zip(row, noise, strict=True)), Fraction(0))
        for x, row in zip(points, matrix, strict=True)
    }


def gaps_of(true: Cells, noisy: Cells, axes: Axes) -> Cells:
    """Return c(b) minus the noisy sum, for each cell b of a cuboid."""
    known, seen = cell_sums(true, axes), cell_sums(noisy, axes)
    return {cell: count - seen[cell] for cell, count in known.items()}


def degree_of(cells: Cells, axes: Axes) -> int:
    """Return deg(C): how many base cells there are in a cell of C."""
    return len(cells) // len({cell_of(point, axes) for point in cells})


# --- equations 6 and 7: one cuboid ---------------------------------------------------------------


def _by_equation_7(instance: Instance) -> Cells:
    true, noisy = drawn_counts(instance)
    [axes] = cuboid_axes(instance)
    gaps = gaps_of(true, noisy, axes)
    multipliers = {cell: Fraction(2, degree_of(true, axes)) * gap for cell, gap in gaps.items()}
    return {x: multipliers[cell_of(x, axes)] / 2 + count for x, count in noisy.items()}


def _by_blocks(instance: Instance) -> Cells:
    """Return the solution for two cuboids in one pass: our closed form of the printed system."""
    true, noisy = drawn_counts(instance)
    cuboids = cuboid_axes(instance)
    shared = tuple(sorted(set.intersection(*map(set, cuboids))))
    moved = dict(noisy)
    for axes, sign in (*((axes, 1) for axes in cuboids), (shared, -1)):
        gaps, degree = gaps_of(true, noisy, axes), degree_of(true, axes)
        for x in moved:
            moved[x] += sign * gaps[cell_of(x, axes)] / degree
    return moved


def _differing(solve_it: Callable[[Instance], Cells]) -> Formula:
    def count(instance: Instance) -> Exact:
        mine, best = solve_it(instance), nearest_cells(instance)
        return sum(mine[x] != best[x] for x in best)

    return count


def none_wrong(*many: int) -> Formula:
    """Return the formula that claims 0 where so many cuboids are known."""
    return lambda instance: 0 if len(known_cuboids(instance) or ()) in many else None


EQUATION_7 = Claim(
    id="exact-cuboids-draft/equation-7",
    source="Section 6.1, equations 6 and 7",
    quote="a simple linear-time algorithm",
    statement="One cuboid known: adding (c(b) - noisy sum of b) / deg(C) to each base cell below "
    "b solves problem (2).",
    read_as="The result, against an exact projection.",
    parts=(
        counted(
            "base cells in which it differs from the exact projection",
            _family(12, (1,)),
            none_wrong(1),
            _differing(_by_equation_7),
            small="accuracy",
        ),
    ),
    proof="The correction is the same for all cells below b, hence orthogonal to every change "
    "that keeps the known sums; and it makes the sums right.",
    identities=(
        Identity(
            "d cells, each moved by the same share, add up to the known count",
            "s + d*((c - s)/d)",
            "c",
            whole="d",
            real="c s",
        ),
    ),
)

TWO_CUBOIDS = _family(8, (2,))
"""What problem (3) is checked on."""

# --- Theorem 6.1 ---------------------------------------------------------------------------------


def _broken_sums(instance: Instance) -> Exact:
    true, _ = drawn_counts(instance)
    best = _best(instance)
    return sum(
        count != cell_sums(best, axes)[cell]
        for axes in cuboid_axes(instance)
        for cell, count in cell_sums(true, axes).items()
    )


def _best(instance: Instance) -> Cells:
    return _by_equation_7(instance) if len(cuboid_axes(instance)) == 1 else _by_blocks(instance)


def _bias(instance: Instance) -> Exact:
    """Return in how many cells the mean of c^ differs from c, the noise being 1 or -1 in a cell.

    The estimate is affine in the noise, so its mean is its value at the mean noise, zero; here it
    is worked out as the mean over both signs of a noise that is drawn.
    """
    true, noisy = drawn_counts(instance)
    points = tuple(true)
    matrix = _projection(points, tuple(cuboid_axes(instance)))
    noise = [noisy[x] - true[x] for x in points]

    def estimate(place: int, sign: int) -> Fraction:
        moved = (entry * sign * one for entry, one in zip(matrix[place], noise, strict=True))
        return true[points[place]] + sum(moved, Fraction(0))

    means = [(estimate(place, 1) + estimate(place, -1)) / 2 for place in range(len(points))]
    return sum(mean != true[x] for mean, x in zip(means, points, strict=True))


def _not_reduced(instance: Instance) -> Exact:
    """Return how many cells keep the variance: a row of the projection has squared length 1."""
    true, _ = drawn_counts(instance)
    matrix = _projection(tuple(true), tuple(cuboid_axes(instance)))
    lengths = [sum((entry * entry for entry in row), Fraction(0)) for row in matrix]
    return plain(Fraction(sum(length >= 1 for length in lengths)))


BOTH = _family(8, (1, 2))
THEOREM_6_1 = Claim(
    id="exact-cuboids-draft/theorem-6.1",
    source="Section 6.1, Theorem 6.1",
    quote="noise is even reduced",
    statement="The solution of problems (2) and (3) takes linear time, agrees with the known "
    "cells, is unbiased, and has a smaller variance than the noisy count in every base cell.",
    read_as="Unbiased, consistent, a smaller variance in each base cell; linear: one pass over "
    "the cells.",
    parts=(
        counted(
            "two cuboids: base cells in which one pass over the cells misses the solution",
            TWO_CUBOIDS,
            none_wrong(2),
            _differing(_by_blocks),
            small="accuracy",
        ),
        counted(
            "known cells that it breaks", BOTH, none_wrong(1, 2), _broken_sums, small="accuracy"
        ),
        counted("base cells with a bias", BOTH, none_wrong(1, 2), _bias, small="accuracy"),
        counted(
            "base cells whose variance is not smaller",
            BOTH,
            none_wrong(1, 2),
            _not_reduced,
            small="accuracy",
        ),
    ),
    proof="The estimate is the truth plus the projection P of the noise onto the changes that "
    "keep the known sums: unbiased, with variance P[a, a] times the noise's. Each base cell is in "
    "a known cell, so its unit vector is not orthogonal to that cell's row, and P[a, a] < 1. For "
    "two cuboids P takes from each cell the mean gap of its cells in C1 and in C2, and gives back "
    "that of its cell in the cuboid of shared attributes: one pass, which is linear. All cells "
    "need independent noise of one variance.",
    identities=(
        Identity(
            "the variance of a cell after the projection, one cuboid, d cells to a known one",
            "(1 - 1/d)**2 + (d - 1)/d**2",
            "1 - 1/d",
            whole="d",
        ),
    ),
)


CLAIMS = (EQUATION_7, THEOREM_6_1)
