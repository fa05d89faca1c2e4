"""The polytope that holds all differences of neighbours, from few questions to the verifier.

Begin with the differences that are known: those of single moves, and of a worst pair. Which sums of
the answers never change (`fixed`) is asked in one question; a pair that changes one is a difference
more, and it is asked again. Then the facets of the hull are asked for at once, S in the norm linf:
a pair beyond a facet is a difference more, until there is none, and the hull is that of all
differences. Where time ends first, the hull is drawn larger by what is not ruled out. Whatever is
found out on the way, the noise rests on the last question alone, which the certifier asks again.

Where everything is secret and the facts stay as they are when two values of an attribute change
places, so do the differences: each found one brings its images. Were that ever wrong, the hull
would be too large, and the noise too wide, but private.

*A box* (`boxed`) holds them all where the hull is too large to be described: each answer goes as
far as any difference takes it, and what never changes stays. It takes one question for what never
changes, and one for each kind of answer; the last question judges it as it does a hull. Without
what never changes it would be the cube, which has as many dimensions as there are answers: beside
three margins of 2 x 2 x 3 values 12 in place of 7, and 1.8 times the error.

Floats (Qhull) say which points have a facet in common; the facet is worked out in fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.masks import mask
from blowproof.models import BoundQuery, BudgetError, QueryError, Setting
from blowproof.models.norms import LINF
from blowproof.models.policy.readings import Reading
from blowproof.models.queries.outputs import Outputs
from blowproof.models.queries.query import Move
from blowproof.models.stacks.combined import combined
from blowproof.models.stacks.stacked import Part, in_norm
from blowproof.verifier.asked.answer import Answer

__all__ = [
    "MOST_BOXED",
    "MOST_OUTPUTS",
    "Hull",
    "Rows",
    "boxed",
    "fixed_rows",
    "hull_around",
    "images_of",
    "searched",
]

Row = tuple[int, ...]
Rows = tuple[Row, ...]
Images = Callable[[Row], Iterable[Row]]
MOST_BOXED = 40
"""Answers of a box: of that of 6 x 6 cells beside both margins, one draw in 400 is kept."""
MOST_OUTPUTS, MOST_DIMENSIONS, MOST_FACETS, LARGEST = 24, 6, 1_500, 10**12
FEW_VALUES, ROUNDS, KINDS = 60, 60, 12


@dataclass(frozen=True)
class Hull:
    """Facets as whole rows: a difference on the hull reaches `unit` in one, and none is beyond."""

    facets: Rows
    fixed: Rows
    unit: int

    def beyond(self, difference: Sequence[int]) -> bool:
        """Whether a difference lies outside."""
        return any(abs(_times(row, difference)) > self.unit for row in self.facets)


def _times(row: Sequence[int], other: Sequence[int]) -> int:
    return sum(map(int.__mul__, row, other))


def fixed_rows(differences: Iterable[Row], size: int) -> Rows:
    """Return rows that no difference changes, all others being sums of them: in reduced form.

    >>> fixed_rows([(1, -1, 0), (0, 1, -1)], 3), fixed_rows([(1, 0)], 2)
    (((1, 1, 1),), ((0, 1),))
    """
    seen = _reduced([list(map(Fraction, item)) for item in differences])
    pivots = [next(at for at, value in enumerate(row) if value) for row in seen]
    found = []
    for free in (at for at in range(size) if at not in pivots):
        row = [Fraction(0)] * size
        row[free] = Fraction(1)
        for pivot, other in zip(pivots, seen, strict=True):
            row[pivot] = -other[free]
        found.append(row)
    return tuple(_whole(row) for row in _reduced(found))


def _reduced(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Return the reduced echelon form, without rows of zeros."""
    found: list[list[Fraction]] = []
    for column in range(len(rows[0]) if rows else 0):
        at = next((k for k, row in enumerate(rows) if row[column]), None)
        if at is None:
            continue
        head = rows.pop(at)
        head = [x / head[column] for x in head]
        rows = [[x - row[column] * y for x, y in zip(row, head, strict=True)] for row in rows]
        found = [[x - row[column] * y for x, y in zip(row, head, strict=True)] for row in found]
        found.append(head)
    return found


def _whole(row: Sequence[Fraction]) -> Row:
    """Return a row as whole numbers without a common factor."""
    below = lcm(*(value.denominator for value in row))
    whole = [int(value * below) for value in row]
    common = gcd(*whole)
    return tuple(value // common for value in whole)


def hull_around(differences: Sequence[Row], fixed: Rows) -> Hull:
    """Return the hull of differences and of their negatives, on which `fixed` is 0.

    Refused where it has too many dimensions or facets to be described.

    >>> hull_around([(1, 0), (0, 1)], ())
    Hull(facets=((1, -1), (1, 1)), fixed=(), unit=1)
    """
    size = len(differences[0])
    heads = {next(at for at, value in enumerate(row) if value) for row in fixed}
    free = [at for at in range(size) if at not in heads]
    if len(free) > MOST_DIMENSIONS:
        raise BudgetError(
            f"the hull of the neighbours' differences has {len(free)} dimensions; up to "
            f"{MOST_DIMENSIONS} are described\n  try: --set shape=box, or --mechanism laplace"
        )
    points = sorted({tuple(sign * item[at] for at in free)
                     for item in differences for sign in (1, -1)})  # fmt: skip
    found = _facets(points) if len(free) > 1 else _ends(points)
    if len(found) > MOST_FACETS:
        raise BudgetError(
            f"the hull of the neighbours' differences has {len(found)} facets; up to {MOST_FACETS} "
            "are described\n  try: --set shape=box, or --mechanism laplace"
        )
    unit = lcm(*(value.denominator for row in found for value in row))
    if unit > LARGEST:
        raise BudgetError("the facets of the neighbours' differences have huge numbers"
                          "\n  try: --set shape=box, or --mechanism laplace")  # fmt: skip
    rows = []
    for facet in sorted(found):
        row = [0] * size
        for at, value in zip(free, facet, strict=True):
            row[at] = int(value * unit)
        rows.append(tuple(row))
    return Hull(tuple(rows), fixed, unit)


def _ends(points: Sequence[Row]) -> set[tuple[Fraction, ...]]:
    """Return the one facet of points on a line."""
    return {(Fraction(1, max(abs(value) for point in points for value in point)),)}


def _facets(points: Sequence[Row]) -> set[tuple[Fraction, ...]]:
    """Return the rows that are 1 on a facet and at most 1 on all points, one of row and -row."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(np.array(points, dtype=np.float64))
    found = set()
    for simplex in hull.simplices.tolist():
        rows = [[*map(Fraction, points[at]), Fraction(1)] for at in simplex]
        solved = _reduced(rows)
        if len(solved) < len(points[0]) or any(not row[k] for k, row in enumerate(solved)):
            continue
        row = tuple(line[-1] for line in solved)
        if max(sum(a * x for a, x in zip(row, item, strict=True)) for item in points) <= 1:
            found.add(max(row, tuple(-value for value in row)))
    return found


def images_of(setting: Setting, axes: Sequence[int]) -> Images:
    """Return what brings a difference of the cells of `axes` (row-major) to all its images.

    By changing places of two values of an attribute, where the facts, as a whole, stay the same.
    """
    domain = setting.domain
    sizes = [domain.attribute(axis).size for axis in axes]
    places = np.arange(int(np.prod(sizes))).reshape(sizes)
    swaps: list[NDArray[np.int64]] = []
    if setting.graph.complete and setting.scope == "any" and not setting.clauses:
        facts = {_signs([(times, mask(area, domain)) for times, area in fact.terms])
                 for fact in setting.equalities}  # fmt: skip
        holes = mask(setting.impossible, domain)
        for at, axis in enumerate(axes):
            for one, two in combinations(range(sizes[at]), 2):
                order = list(range(sizes[at]))
                order[one], order[two] = two, one
                turned = {
                    _signs([(times, mask(area, domain).take(order, axis=axis))
                            for times, area in fact.terms])
                    for fact in setting.equalities
                }  # fmt: skip
                if turned == facts and (holes.take(order, axis=axis) == holes).all():
                    swaps.append(places.take(order, axis=at).ravel())

    def images(difference: Row) -> Iterable[Row]:
        seen = {difference}
        waiting = [difference]
        while waiting:
            item = waiting.pop()
            for swap in swaps:
                other = tuple(item[at] for at in swap.tolist())
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    return images


def _signs(terms: Iterable[tuple[int, NDArray[np.bool_]]]) -> frozenset[tuple[int, bytes]]:
    return frozenset((times, np.ascontiguousarray(table).tobytes()) for times, table in terms)


@dataclass(frozen=True)
class _Differences:
    """The differences of one query's answers, as rows of whole steps of the grid."""

    query: BoundQuery
    here: Setting
    reading: Reading
    grid: Fraction
    ask: Callable[[BoundQuery], Answer]
    most: int = MOST_OUTPUTS

    @property
    def numbered(self) -> Outputs:
        found = self.query.outputs(self.here.domain)
        if found is None or self.query.per_record:
            raise QueryError(f"the outputs of {self.query.name} are not known one by one"
                             "\n  try: --set shape=cube, or --mechanism laplace")  # fmt: skip
        if found.count > self.most:
            raise BudgetError(
                f"{found.count:,} outputs; what holds their differences is described for "
                f"{self.most} at the most\n  try: --set shape=cube, or --mechanism laplace"
            )
        return found

    def changed(self, moves: Iterable[Move]) -> Row | None:
        """Return a difference; None where nothing changes."""
        row = [0] * self.numbered.count
        for key, value in Part(self.query, (Fraction(1),)).changes(moves).items():
            row[self.numbered.place(key)] = int(Fraction(value) / self.grid)
        return tuple(row) if any(row) else None

    def worst(self, query: BoundQuery) -> tuple[Answer, Row | None]:
        """Return S of a query, and the difference of its pair."""
        found = self.ask(query)
        if found.witness is None:
            return found, None
        return found, self.changed(found.witness.moves(self.reading))

    def combined(self, rows: Rows) -> BoundQuery:
        """Return sums of the outputs, in the norm linf."""
        return in_norm(combined(self.query, rows, self.here.domain), LINF, self.here.domain)

    def reach(self, row: Row) -> Fraction:
        """Return how far a sum of the answers changes at the most, as far as is known."""
        upper = self.ask(self.combined((row,))).upper
        if upper is None:
            raise BudgetError("it is not known how far each answer changes"
                              "\n  try: a longer --time-limit, or --mechanism laplace")  # fmt: skip
        return Fraction(upper)

    def single(self) -> Iterable[Row]:
        """Yield the differences of single moves that no fact sees, where all values are listed."""
        here = self.here
        facts = (*here.equalities, *here.bounds)
        if here.domain.size > FEW_VALUES or (here.scope == "given" and facts) or here.clauses:
            return
        points = [point for point in here.domain.points() if point not in here.impossible]
        for x, y in combinations(points, 2):
            same = all(fact.coefficient(x) == fact.coefficient(y) for fact in facts)
            if same and here.graph.is_edge(x, y):
                row = self.changed([Move(x, y)])
                if row is not None:
                    yield row

    def begun(self) -> tuple[Images, set[Row], Rows]:
        """Return what brings a difference to its images, some differences, and what no difference
        changes: it is no more than what these leave alone.
        """
        cells = self.query.cell_axes(self.here.domain)
        images: Images = (lambda row: (row,)) if cells is None else images_of(self.here, cells)
        size = self.numbered.count
        _, first = self.worst(self.query)
        found: set[Row] = set()
        for row in (*self.single(), *(() if first is None else (first,))):
            if row not in found:
                found.update(images(row))
        if not found:
            raise QueryError("nothing changes here\n  try: --mechanism laplace, without any noise")
        while fixed := fixed_rows(sorted(found), size):
            answer, row = self.worst(self.combined(fixed))
            if answer.upper == 0:
                break
            if row is None:
                raise BudgetError(
                    "it is not known which sums of the answers never change"
                    "\n  try: a longer --time-limit, --set shape=cube, or --mechanism laplace"
                )
            found.update(images(row))
        return images, found, fixed


def _units(size: int) -> Rows:
    return tuple(tuple(int(at == other) for other in range(size)) for at in range(size))


def boxed(
    query: BoundQuery,
    here: Setting,
    reading: Reading,
    grid: Fraction,
    *,
    ask: Callable[[BoundQuery], Answer],
) -> Hull:
    """Return a box around all differences: a facet for each answer that changes.

    `ask` answers S. Answers that change places with each other are of one kind, and their facets
    are alike; a facet is as much steeper as its answers change less.
    """
    search = _Differences(query, here, reading, grid, ask, MOST_BOXED)
    images, found, fixed = search.begun()
    if not fixed:
        raise QueryError("no sum of the answers stays as it is: the cube is this box"
                         "\n  try: --set shape=cube")  # fmt: skip
    size = search.numbered.count
    changed = [any(row[at] for row in found) for at in range(size)]
    kinds: list[set[Row]] = []
    for at in range(size):
        row = _units(size)[at]
        if changed[at] and not any(row in kind for kind in kinds):
            kinds.append(set(images(row)))
    if len(kinds) > KINDS:
        raise BudgetError(f"{len(kinds)} kinds of answers; up to {KINDS} are asked for one by one"
                          "\n  try: --set shape=cube, or --mechanism laplace")  # fmt: skip
    if len(kinds) == 1:  # the last question, S of all answers in the norm linf, says how far
        return Hull(_units(size), fixed, 1)
    reaches = [search.reach(min(kind)) for kind in kinds]
    unit = lcm(*(reach.numerator for reach in reaches))
    if unit > LARGEST:
        raise BudgetError("how far the answers change are huge numbers without common factors"
                          "\n  try: --set shape=cube, or --mechanism laplace")  # fmt: skip
    facets = [
        tuple(value * int(unit / reach) for value in row)
        for kind, reach in zip(kinds, reaches, strict=True)
        for row in kind
    ]
    return Hull(tuple(sorted(facets)), fixed, unit)


def searched(
    query: BoundQuery,
    here: Setting,
    reading: Reading,
    grid: Fraction,
    *,
    ask: Callable[[BoundQuery], Answer],
    late: Callable[[], bool],
) -> Hull:
    """Return the hull of all differences that were found; with time enough, of all that there are.

    `ask` answers S. Refused where the hull is too large to be described, or where it is not known
    what never changes.
    """
    search = _Differences(query, here, reading, grid, ask)
    images, found, fixed = search.begun()
    hull = hull_around(sorted(found), fixed)
    for _ in range(ROUNDS):
        _, row = search.worst(search.combined(hull.facets))
        if row is None or not hull.beyond(row) or late():
            break
        found.update(images(row))
        hull = hull_around(sorted(found), fixed)
    return hull
