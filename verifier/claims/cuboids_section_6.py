"""exact-cuboids-draft, section 6: noisy cells made consistent with known cuboids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

from blowproof.models import Exact, Point
from blowproof.models.numbers import plain
from blowproof.verifier.claims import families as some
from blowproof.verifier.claims.claim import Claim, Formula, Instance
from blowproof.verifier.claims.cuboids_linear import Matrix, kernel_projection, solve
from blowproof.verifier.claims.cuboids_section_3_neighbours import cuboid_tables
from blowproof.verifier.claims.cuboids_section_4 import known_cuboids
from blowproof.verifier.claims.families import family
from blowproof.verifier.claims.parts import counted

__all__ = ["CLAIMS"]

Cells = dict[Point, Fraction]
Axes = tuple[int, ...]


def _tables(most: int, many: tuple[int, ...]) -> Iterator[Instance]:
    """Yield tables with known cuboids, true counts and noisy ones drawn with a seed."""
    for place, item in enumerate(cuboid_tables(most, (1, 2, 3), many)):
        yield replace(item, parameters={"draw": place}, sampled=True)


def _family(most: int, many: tuple[int, ...]) -> some.Family:
    words = " or ".join({1: "one", 2: "two"}[count] for count in many)
    return family(
        f"tables of 1 to 3 attributes with up to {most} values, every {words} cuboids known, the "
        "counts drawn at random",
        lambda: _tables(4, many),
        lambda: _tables(most, many),
    )


def _counts(instance: Instance) -> tuple[Cells, Cells]:
    """Return true counts 0..5 and noisy ones, quarters away from them."""
    rng = Random(f"{some.SEED} {instance.parameters['draw']}")
    points = sorted(instance.the_policy.domain.points())
    true = {x: Fraction(rng.randint(0, 5)) for x in points}
    return true, {x: count + Fraction(rng.randint(-12, 12), 4) for x, count in true.items()}


def _cuboids(instance: Instance) -> list[Axes]:
    domain = instance.the_policy.domain
    known = known_cuboids(instance)
    assert known is not None
    return [tuple(sorted(domain.axis(name) for name in names)) for names in known]


def _at(point: Point, axes: Axes) -> Point:
    return tuple(point[axis] for axis in axes)


def _sums(cells: Cells, axes: Axes) -> Cells:
    found: Cells = {}
    for point, count in cells.items():
        found[_at(point, axes)] = found.get(_at(point, axes), Fraction(0)) + count
    return found


def _rows(points: list[Point], axes_of: Iterable[Axes]) -> list[list[int]]:
    """Return the consistency constraints (equation 1), a row for each cell of each cuboid."""
    rows = []
    for axes in axes_of:
        for cell in sorted({_at(point, axes) for point in points}):
            rows.append([int(_at(point, axes) == cell) for point in points])
    return rows


@cache
def _projection(points: tuple[Point, ...], axes_of: tuple[Axes, ...]) -> Matrix:
    return kernel_projection(_rows(list(points), axes_of), len(points))


def _nearest(instance: Instance) -> Cells:
    """Return the solution of problems (2) and (3), by exact projection.

    The noise is projected onto what the known cells leave open, and the true counts are added.
    """
    true, noisy = _counts(instance)
    points = tuple(true)
    matrix = _projection(points, tuple(_cuboids(instance)))
    noise = [noisy[x] - true[x] for x in points]
    return {
        x: true[x] + sum((a * b for a, b in zip(row, noise, strict=True)), Fraction(0))
        for x, row in zip(points, matrix, strict=True)
    }


def _gaps(true: Cells, noisy: Cells, axes: Axes) -> Cells:
    """Return c(b) minus the noisy sum, for each cell b of a cuboid."""
    known, seen = _sums(true, axes), _sums(noisy, axes)
    return {cell: count - seen[cell] for cell, count in known.items()}


def _degree(cells: Cells, axes: Axes) -> int:
    """Return deg(C): how many base cells there are in a cell of C."""
    return len(cells) // len({_at(point, axes) for point in cells})


# --- equations 6 and 7: one cuboid ---------------------------------------------------------------


def _by_equation_7(instance: Instance) -> Cells:
    true, noisy = _counts(instance)
    [axes] = _cuboids(instance)
    gaps = _gaps(true, noisy, axes)
    multipliers = {cell: Fraction(2, _degree(true, axes)) * gap for cell, gap in gaps.items()}
    return {x: multipliers[_at(x, axes)] / 2 + count for x, count in noisy.items()}


def _by_blocks(instance: Instance) -> Cells:
    """Return the solution for two cuboids in one pass: our closed form of the printed system."""
    true, noisy = _counts(instance)
    cuboids = _cuboids(instance)
    shared = tuple(sorted(set.intersection(*map(set, cuboids))))
    moved = dict(noisy)
    for axes, sign in (*((axes, 1) for axes in cuboids), (shared, -1)):
        gaps, degree = _gaps(true, noisy, axes), _degree(true, axes)
        for x in moved:
            moved[x] += sign * gaps[_at(x, axes)] / degree
    return moved


def _differing(solve_it: Callable[[Instance], Cells]) -> Formula:
    def count(instance: Instance) -> Exact:
        mine, best = solve_it(instance), _nearest(instance)
        return sum(mine[x] != best[x] for x in best)

    return count


def _none(instance: Instance) -> Exact:
    return 0


EQUATION_7 = Claim(
    id="exact-cuboids-draft/equation-7",
    source="Section 6.1, equations 6 and 7",
    statement="One cuboid known: adding (c(b) - noisy sum of b) / deg(C) to each base cell below b "
    "solves problem (2).",
    parts=(
        counted(
            "base cells in which it differs from the exact projection",
            _family(12, (1,)),
            _none,
            _differing(_by_equation_7),
            small="accuracy",
        ),
    ),
    proof="The correction is the same for all cells below b, hence orthogonal to every change that "
    "keeps the known sums; and it makes the sums right.",
)

# --- equation 12 and Figure 5: two cuboids -------------------------------------------------------


def _printed_matrix(instance: Instance) -> Matrix:
    """Return A as Figure 5 draws it: deg(C1), deg(C2) on the diagonal, e in both other blocks."""
    points = sorted(instance.the_policy.domain.points())
    first, second = _cuboids(instance)
    both = tuple(sorted({*first, *second}))
    cells = dict.fromkeys(points, Fraction(0))
    sizes = [len({_at(x, axes) for x in points}) for axes in (first, second)]
    degrees = [_degree(cells, axes) for axes in (first, second)]
    e = _degree(cells, both)
    side = [0] * sizes[0] + [1] * sizes[1]
    return [
        [
            Fraction(e if side[i] != side[j] else degrees[side[i]] if i == j else 0)
            for j in range(len(side))
        ]  # noqa: E501 # fmt: skip
        for i in range(len(side))
    ]


def _gram(instance: Instance) -> Matrix:
    """Return how many base cells each two known cells share: the matrix that (9) leads to."""
    points = sorted(instance.the_policy.domain.points())
    rows = _rows(points, _cuboids(instance))
    return [
        [Fraction(sum(a * b for a, b in zip(one, two, strict=True))) for two in rows]
        for one in rows
    ]


def _wrong_entries(instance: Instance) -> Exact:
    pairs = zip(_printed_matrix(instance), _gram(instance), strict=True)
    return sum(a != b for one, two in pairs for a, b in zip(one, two, strict=True))


def _disjoint(instance: Instance) -> Exact | None:
    first, second = _cuboids(instance)
    return None if set(first) & set(second) else 0


def _by_system(instance: Instance, matrix: Callable[[Instance], Matrix]) -> Cells | None:
    """Return the cells that a solution of A x = y leads to; None if there is no solution."""
    true, noisy = _counts(instance)
    cuboids = _cuboids(instance)
    cells = [(axes, cell) for axes in cuboids for cell in sorted({_at(x, axes) for x in true})]
    right = [2 * _gaps(true, noisy, axes)[cell] for axes, cell in cells]
    found = solve(matrix(instance), right)
    if found is None:
        return None
    times = dict(zip(cells, found, strict=True))
    return {
        x: count + sum((times[axes, _at(x, axes)] for axes in cuboids), Fraction(0)) / 2
        for x, count in noisy.items()
    }


def _system_differs(matrix: Callable[[Instance], Matrix]) -> Formula:
    def count(instance: Instance) -> Exact:
        best, mine = _nearest(instance), _by_system(instance, matrix)
        return len(best) if mine is None else sum(mine[x] != best[x] for x in best)

    return count


TWO_CUBOIDS = _family(8, (2,))
EQUATION_12 = Claim(
    id="exact-cuboids-draft/equation-12",
    source="Section 6.1, equations 10 to 12 and Figure 5",
    statement="Two cuboids known: problem (3) is solved by A x = y, where A has deg(C1) and deg(C2) "
    "on its diagonal and deg(C1 v C2) everywhere between cells of C1 and of C2.",
    parts=(
        counted(
            "entries of A that differ from the number of base cells that two known cells share",
            TWO_CUBOIDS,
            _none,
            _wrong_entries,
            small="accuracy",
        ),
        counted(
            "base cells in which the solution differs from the exact projection",
            TWO_CUBOIDS,
            _none,
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
            _none,
            _system_differs(_gram),
            amended=True,
        ),
    ),
    repaired="If the cuboids share no attribute; else the entry between b1 and b2 is deg(C1 v C2) "
    "where they agree on the shared attributes, and 0 where they do not. A_22 is n2 x n2, and A is "
    "singular: there are solutions, but more than one.",
    amendment="condition",
    explanation="Equation 10 sums over all cells of C2 as if each shared base cells with b1. Cells "
    "that differ in a shared attribute have none in common, as in the draft's Example 4.1, where "
    "both cuboids contain Age. With the printed A the system may have no solution, or one that "
    "breaks the known sums. Nothing private is lost, as only noisy counts go in.",
    proof="Equation 9 summed over the base cells below b1 has each multiplier of C2 as often as "
    "there are base cells below both.",
)

# --- Theorem 6.1 ---------------------------------------------------------------------------------


def _broken_sums(instance: Instance) -> Exact:
    true, _ = _counts(instance)
    best = _best(instance)
    return sum(
        count != _sums(best, axes)[cell]
        for axes in _cuboids(instance)
        for cell, count in _sums(true, axes).items()
    )


def _best(instance: Instance) -> Cells:
    return _by_equation_7(instance) if len(_cuboids(instance)) == 1 else _by_blocks(instance)


def _bias(instance: Instance) -> Exact:
    """Return in how many cells the mean of c^ differs from c, the noise being 1 or -1 in a cell.

    The estimate is affine in the noise, so its mean is its value at the mean noise, zero; here it
    is worked out as the mean over both signs of a noise that is drawn.
    """
    true, noisy = _counts(instance)
    points = tuple(true)
    matrix = _projection(points, tuple(_cuboids(instance)))
    wrong = 0
    for row, x in zip(matrix, points, strict=True):
        values = [
            true[x]
            + sum(
                (a * sign * (noisy[p] - true[p]) for a, p in zip(row, points, strict=True)),
                Fraction(0),
            )  # noqa: E501 # fmt: skip
            for sign in (1, -1)
        ]
        wrong += sum(values) / 2 != true[x]
    return wrong


def _not_reduced(instance: Instance) -> Exact:
    """Return how many cells keep the variance: a row of the projection has squared length 1."""
    true, _ = _counts(instance)
    matrix = _projection(tuple(true), tuple(_cuboids(instance)))
    lengths = [sum((entry * entry for entry in row), Fraction(0)) for row in matrix]
    return plain(Fraction(sum(length >= 1 for length in lengths)))


BOTH = _family(8, (1, 2))
THEOREM_6_1 = Claim(
    id="exact-cuboids-draft/theorem-6.1",
    source="Section 6.1, Theorem 6.1",
    statement="The solution of problems (2) and (3) takes linear time, agrees with the known cells, "
    "is unbiased, and has a smaller variance than the noisy count in every base cell.",
    parts=(
        counted(
            "two cuboids: base cells in which one pass over the cells misses the solution",
            TWO_CUBOIDS,
            _none,
            _differing(_by_blocks),
            small="accuracy",
        ),
        counted("known cells that it breaks", BOTH, _none, _broken_sums, small="accuracy"),
        counted("base cells with a bias", BOTH, _none, _bias, small="accuracy"),
        counted(
            "base cells whose variance is not smaller", BOTH, _none, _not_reduced, small="accuracy"
        ),
    ),
    proof="The estimate is the truth plus the projection P of the noise onto the changes that keep "
    "the known sums: unbiased, with variance P[a, a] times the noise's. Each base cell is in a "
    "known cell, so its unit vector is not orthogonal to that cell's row, and P[a, a] < 1. For two "
    "cuboids P takes from each cell the mean gap of its cells in C1 and in C2, and gives back that "
    "of its cell in the cuboid of shared attributes: one pass, which is linear. All cells need "
    "independent noise of one variance.",
)


CLAIMS = (EQUATION_7, EQUATION_12, THEOREM_6_1)
