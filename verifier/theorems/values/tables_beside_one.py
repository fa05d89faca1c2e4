"""Tables of every level, beside one published table: S of the whole stack, and its worst pair.

*Setting.* Equality facts: the cells of one published marginal, on the attributes K, and perhaps n;
impossible values. Scope "any". The query is a stack of marginals, on attributes A_1, A_2, ..., with
one weight each. (A nesting tree is a product here: state, county within the
state, tract within the county. Its tables are marginals on the first attributes and some others, so
that nothing has to be listed but the cells of K.) A class is a cell of K that can hold records, and
N is how many there are; an attribute *varies* in a class if two possible values of it differ there.

*Statement, readings 1, 2 and 5 (an upper bound where G is not complete).* A table on A changes by
at most what follows, and S by at most the weighted sum (in linf and range, the weighted maximum):
- nothing, if A is within K;
- if K is within A: |+1, -1| for every class in which an attribute of A varies (added up, or once);
- else: for every combination of the published attributes in A, |+m, -m|, where m is the number of
  its classes, if an attribute of A that is not in K varies in one of the classes.
Here |+m, -m| is 2 m in l1 and range, 2 m^2 in l2-squared, and m in linf.

*Proof.* Cells of a marginal are independent signatures, so that a pair is a simple cycle through
some classes, or a move within one (see `simple_cycles`; reading 5 has the same pairs, for complete
G): each class that it visits loses one record x_c and gains one, y_c, and no other. If K is within
A, the cells of different classes are different, and a class changes its two cells by one each, or
none. Else, the m classes of a combination have m records that go and m that come in all, so that
the positive changes add up to at most m, and the negative ones too; sizes are convex, so that one
cell each is the worst. If the combination's classes allow one value only on A, nothing changes. In
range, what goes up most and what goes down most may be of two tables: each is half of some |+m,
-m|, so that both are at most the largest. QED

If the secrets are the partition by K itself, a pair is one move within a class: a table changes by
|+1, -1|, or by nothing if it is within K, or none of its attributes varies in any class. (A move
within a class has no effect on the facts, and is all of an irreducible multiset that it is in; in
readings 1 and 5 some move is secret, and in reading 2 all are.)

It is met, with G complete, by all classes at once, if x_c and y_c can be chosen alike in all of
them, different in every attribute: the plan counts what that pair changes, and checks it.

*Statement, reading 4.* S is at most the maximum, over attributes d that vary, of the sum over
tables that are not within K of |+2, -2| if d is not in A, and of |+1, +1, -1, -1| if it is (in linf
and range, of the maximum over these tables).

*Proof.* Two databases differ by at most two records that come and two that go, in four cells. Those
that come differ in some attribute d, those that go in some e: a table on A changes by at most |+2|
by those that come if d is not in A, else by |+1| + |+1|; so too with e; a table within K does not
change. The sum is one part in d and one in e, both at most the best (in linf the larger of the two,
in range what the one raises and the other lowers). One record each is no more. It is met by two
that come and two that go within one class, where that lets the attributes differ. QED
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, product
from math import prod

from blowproof.models import Box, Exact, Impossible, Marginal, Point, Setting
from blowproof.models.base.numbers import plain
from blowproof.models.domain.regions import Positions
from blowproof.models.norms import Norm
from blowproof.models.queries.histogram import Histogram
from blowproof.models.queries.marginal import MarginalQuery
from blowproof.models.queries.query import BoundQuery
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.theorems.values.tables_by_attribute import (
    Known,
    added,
    by_attribute,
    is_by_attribute,
    up_and_down,
)

__all__ = ["no_tables", "tables_beside_one"]

READINGS = ("published", "secret-moves", "pufferfish", "markov")
MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
MOST_PIECES = whole_limit(__name__, "MOST_PIECES")

Table = tuple[frozenset[int], Fraction]
"""The attributes of a marginal, and its weight."""


def no_tables(question: Question) -> str:
    """Return why the theorem does not speak about a question, or ""."""
    setting = question.setting
    if question.reading not in READINGS or setting.scope != "any":
        return "it speaks about readings 1, 2, 4 and 5, and any answers"
    listed = setting.as_listed and not (setting.bounds or setting.clauses)
    if not listed or _published(setting) is None:
        return "it speaks about one published marginal"
    if not isinstance(question.query, Stacked) or _tables(question.query, setting) is None:
        return "it speaks about stacks of marginals with one weight each"
    return ""


def _published(setting: Setting) -> frozenset[int] | None:
    """Return the attributes of the one published marginal; None where other facts are known."""
    known = [fact for fact in setting.policy.known if not isinstance(fact, Impossible)]
    if len(known) != 1 or not isinstance(known[0], Marginal):
        return None
    return frozenset(setting.domain.axes(known[0].attributes))


def _tables(query: Stacked, setting: Setting) -> list[Table] | None:
    """Return the marginals and their weights, which multiply the size of a table's change."""
    found: list[Table] = []
    for part in query.parts:
        axes = _axes(part.query, setting)
        if axes is None or not part.uniform:
            return None
        found.append((axes, part.weights[0]))
    return found


def _axes(query: BoundQuery, setting: Setting) -> frozenset[int] | None:
    if type(query) is Histogram:
        return frozenset(range(len(setting.domain)))
    return frozenset(query.axes) if type(query) is MarginalQuery else None


def tables_beside_one(question: Question) -> Answer | None:
    """Return bounds on S of the stack, which meet where the worst pair can be built."""
    started, setting = time.perf_counter(), question.setting
    published = _published(setting)
    query = question.query
    assert published is not None and isinstance(query, Stacked)
    tables = _tables(query, setting)
    assert tables is not None
    classes = _classes(setting, published)
    if not classes:
        return None
    norm = query.measure
    if question.reading == "markov":
        upper, pair = _markov(tables, published, classes, norm)
        why = "two records come and two go, and differ in the attribute that costs least"
    elif is_by_attribute(setting) and len(published) == 1:
        known = _by_cell(setting, published, classes)
        weights = _weights(tables, norm)
        upper, pair = by_attribute(setting, query, weights, known, question.reading)
        why = (
            f"{len(classes)} cells of one published table, and a record that changes one attribute"
        )
    else:
        inside = _within(setting, published)
        visited = [_widest(classes)] if inside else classes
        counted = [_any_of(classes)] if inside else classes
        sizes = (weight * _most(axes, published, counted, norm) for axes, weight in tables)
        upper = added(norm, sizes)
        why = f"{len(visited)} cells of one published table: each loses a record and gains one"
        pair = _cycle(visited) if inside or setting.graph.complete else None
    lower = 0 if pair is None else query.difference(pair.moves(question.reading))
    if not lower:
        pair = None
    return question.answer(lower, plain(upper), why, witness=pair, engine="tables", since=started)


def _weights(tables: Sequence[Table], norm: Norm) -> dict[frozenset[int], Fraction]:
    """Return the weight of each set of attributes that is tabulated, all its tables together."""
    found: dict[frozenset[int], list[Fraction]] = {}
    for axes, weight in tables:
        found.setdefault(axes, []).append(weight)
    return {axes: Fraction(added(norm, weights)) for axes, weights in found.items()}


def _by_cell(setting: Setting, published: frozenset[int], classes: Sequence[_Class]) -> Known:
    """Return the classes of one published attribute."""
    (key,) = published
    return Known(
        key,
        [item.cell[key] for item in classes],
        [item.varies for item in classes],
        [item.ends for item in classes],
        [attribute.size for _, attribute in setting.domain.attributes],
    )


@dataclass(frozen=True)
class _Class:
    """A cell of the published table that can hold records.

    `varies`: the attributes in which two of its possible values differ; `ends`: two possible values
    that differ in as many of them as were found.
    """

    cell: dict[int, int]
    varies: frozenset[int]
    ends: tuple[Point, Point]


def _classes(setting: Setting, published: frozenset[int]) -> list[_Class] | None:
    """Return the classes that have a possible value; None where they are too many to look at."""
    domain = setting.domain
    sizes = [attribute.size for _, attribute in domain.attributes]
    axes = sorted(published)
    if prod(sizes[axis] for axis in axes) > MOST_CLASSES:
        return None
    found = []
    for cell in product(*(range(sizes[axis]) for axis in axes)):
        fixed = dict(zip(axes, cell, strict=True))
        sides = (Positions.span(fixed.get(axis, 0), fixed.get(axis, size - 1) + 1)
                 for axis, size in enumerate(sizes))  # fmt: skip
        pieces = [Box.of(sides)]
        for area in setting.impossible.boxes:
            pieces = [rest for piece in pieces for rest in piece.minus(area) if rest]
            if len(pieces) > MOST_PIECES:
                return None
        if pieces:
            found.append(_class(fixed, pieces))
    return found


def _within(setting: Setting, published: frozenset[int]) -> bool:
    """Whether the secrets are the partition by the published attributes: moves within classes."""
    fixed = setting.graph.fixed
    return fixed is not None and published == frozenset(fixed)


def _widest(classes: Sequence[_Class]) -> _Class:
    """Return the class whose two values differ in most attributes."""
    return max(classes, key=lambda item: sum(a != b for a, b in zip(*item.ends, strict=True)))


def _any_of(classes: Sequence[_Class]) -> _Class:
    """Return a class in which every attribute varies that varies in some class."""
    return replace(classes[0], varies=frozenset().union(*(item.varies for item in classes)))


def _class(fixed: dict[int, int], pieces: Sequence[Box]) -> _Class:
    width = len(pieces[0].sides)
    varies = frozenset(
        axis
        for axis in range(width)
        if len({place for piece in pieces for place in islice(piece.sides[axis], 2)}) > 1
    )
    first = tuple(next(iter(side)) for side in pieces[0].sides)
    others = (_unlike(first, piece) for piece in pieces)
    second = max(others, key=lambda y: sum(a != b for a, b in zip(first, y, strict=True)))
    return _Class(fixed, varies, (first, second))


def _unlike(point: Point, piece: Box) -> Point:
    """Return a value of a box that differs from another wherever the box allows it."""
    return tuple(
        next((other for other in islice(side, 2) if other != place), place)
        for place, side in zip(point, piece.sides, strict=True)
    )


def _most(
    axes: frozenset[int], published: frozenset[int], classes: Sequence[_Class], norm: Norm
) -> Exact:
    """Return what a table changes by at most in readings 1, 2 and 5."""
    if axes <= published:
        return 0
    together: dict[tuple[int, ...], list[bool]] = {}
    for item in classes:
        key = tuple(item.cell[axis] for axis in sorted(axes & published))
        together.setdefault(key, []).append(bool(axes & item.varies))
    if published <= axes:
        return added(norm, (up_and_down(norm, 1) for each in together.values() if any(each)))
    return added(norm, (up_and_down(norm, len(each)) for each in together.values() if any(each)))


def _cycle(classes: Sequence[_Class]) -> Pair | None:
    """Return the pair in which every class loses its first value and gains its second."""
    moved = [item.ends for item in classes if item.ends[0] != item.ends[1]]
    if not moved:
        return None
    before = tuple(first for first, _ in moved)
    after = tuple(second for _, second in (*moved[1:], moved[0]))
    return Pair(before=before, after=after)


def _markov(
    tables: Sequence[Table],
    published: frozenset[int],
    classes: Sequence[_Class],
    norm: Norm,
) -> tuple[Exact, Pair | None]:
    """Return the most that reading 4 allows, and the pair that may have it.

    Two that come, alike but for d; two that go, alike but for d; and those unlike these.
    """

    one = norm.of([(1, 1), (1, 1), (-1, 1), (-1, 1)])

    def cost(d: int) -> Exact:
        sizes = ((weight, one if d in axes else up_and_down(norm, 2)) for axes, weight in tables
                 if not axes <= published)  # fmt: skip
        return added(norm, (weight * size for weight, size in sizes))

    varying = frozenset().union(*(item.varies for item in classes))
    places = sorted(varying | (published if len(classes) > 1 else frozenset()))
    if not places:
        return 0, None
    best = max(places, key=cost)
    pairs = (_two_and_two(item, best) for item in classes)
    return cost(best), next((pair for pair in pairs if pair is not None), None)


def _two_and_two(item: _Class, d: int) -> Pair | None:
    """Return two of one value and two of another, of a class, that differ in d among each other."""
    first, second = item.ends
    if d not in item.varies or first[d] == second[d]:
        return None
    swapped = [(*x[:d], y[d], *x[d + 1 :]) for x, y in ((first, second), (second, first))]
    return Pair(
        before=tuple(sorted((first, swapped[0]))), after=tuple(sorted((second, swapped[1])))
    )
