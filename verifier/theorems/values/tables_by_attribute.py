"""Tables beside one published attribute, where the secret is any one attribute of a record.

*Setting.* As in `tables_beside_one`: a stack of marginals, scope "any", one published marginal,
here of one attribute k; G joins values that differ in one attribute. N classes: the values of k
that can hold records. |+m, -m| is 2 m in l1 and range, 2 m^2 in l2-squared, m in linf; what tables
(and classes) change by is added up in l1 and l2-squared, and in linf and range the largest counts.

*Statement.* A pair is a move within a class along an edge, which changes one attribute d other than
k: w |+1, -1| for each table on an A with d in A. Or it is a simple cycle of two classes or more,
and then

reading 2: a table without k does not change. One with k changes by at most |+1, -1| for each class
in which another attribute of A varies; where these others have two combinations of values only, for
an even number of them.

readings 1 and 5: a table with k changes by at most the same, without that it is even; one without
k by at most |+(N - 1), -(N - 1)|. If A without k has two combinations only, and varies in all
classes, tables on A and on A with k together change by no more than the larger of: all classes, and
|+(N - 2), -(N - 2)|; all but one, and |+(N - 1), -(N - 1)|.

*Proof.* A pair is a simple cycle, or a move within a class (`simple_cycles`). In a cycle, a move
along an edge goes to another class, so it changes k and nothing else. Reading 2: so do all. Let u_c
be the other attributes of the record that leaves class c: those of what the next class gains. What
a table without k loses in one class it gains in the next. One with k changes in class c, by +1 and
-1, iff u of c and of the class before it differ on A; both are possible in c, so A varies there.
Where u has two values on A, they alternate as one goes round: an even number of changes.
Readings 1 and 5: some move is along an edge, from c to c', with the same other attributes z. On a
table without k the record that leaves c and the one that enters c' cancel; what is left are N - 1
that go and N - 1 that come. If A has two values only, and every class changes: c loses z and gains
the other, c' gains z and loses the other, and they cancel, so N - 2 are left. QED

Both are met where values a, b, z can be found that differ in each attribute (of two attributes with
two values each z has one as a, one as b): reading 2 goes round with a, b, a, b, ..., and z last if
N is odd; in readings 1 and 5 each class loses a and gains b, and z moves along the edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from math import prod

from blowproof.models import AttributeChange, Exact, Point, Setting
from blowproof.models.base.numbers import total
from blowproof.models.norms import Norm
from blowproof.models.queries.query import BoundQuery
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Known", "added", "by_attribute", "is_by_attribute", "up_and_down"]

MOST_TRIED = whole_limit(__name__, "MOST_TRIED")

Weights = Mapping[frozenset[int], Fraction]


@dataclass(frozen=True)
class Known:
    """The published attribute, and its classes: where each attribute varies, two values far apart,
    and (`fixed`) the position of each attribute that does not vary.
    """

    key: int
    cells: Sequence[int]
    varies: Sequence[frozenset[int]]
    ends: Sequence[tuple[Point, Point]]
    sizes: Sequence[int]

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.cells)

    def varying(self, axes: frozenset[int]) -> int:
        """Return in how many classes some attribute of a set varies."""
        return sum(bool(axes & each) for each in self.varies)

    def combinations(self, axes: frozenset[int]) -> int:
        """Return what the combinations of values of some attributes do not exceed."""
        return prod(self.sizes[axis] for axis in axes if any(axis in each for each in self.varies))


def up_and_down(norm: Norm, times: int) -> Exact:
    """Return |+m, -m|: an output rises so far, and another falls so far."""
    return norm.of([(times, 1), (-times, 1)])


def added(norm: Norm, sizes: Iterable[Exact]) -> Exact:
    """Return what changes of these sizes of different outputs do not exceed: added up, or the
    largest, where that is what the norm looks at.
    """
    return total(sizes) if norm.adds else max(sizes, default=0)


def is_by_attribute(setting: Setting) -> bool:
    """Whether the secret is any one attribute."""
    return setting.policy.secrets == AttributeChange()


def by_attribute(
    setting: Setting, query: BoundQuery, weights: Weights, known: Known, reading: str
) -> tuple[Exact, Pair | None]:
    """Return what no pair exceeds, and a pair that may meet it."""
    norm = query.measure
    alone, single = _within_a_class(setting, weights, known, norm)
    if reading == "secret-moves":
        upper, pairs = _round(weights, known, norm), _rounds(setting, known)
    else:
        upper, pairs = _one_edge(weights, known, norm), _edges(setting, known)
    found = [pair for pair in pairs if pair is not None]
    if single is not None:
        found.append(single)
    best = max(found, key=lambda pair: query.difference(pair.moves("published")), default=None)
    return max(upper, alone), best


def _within_a_class(
    setting: Setting, weights: Weights, known: Known, norm: Norm
) -> tuple[Exact, Pair | None]:
    """Return what one attribute of one record changes at most, and the pair that does."""
    one = up_and_down(norm, 1)

    def cost(d: int) -> Exact:
        return added(norm, (one * weight for axes, weight in weights.items() if d in axes))

    places = sorted(frozenset().union(*known.varies) - {known.key}, key=cost, reverse=True)
    for d in places:
        for x, y in known.ends:
            other = (*x[:d], y[d], *x[d + 1 :])
            if other != x and _possible(setting, other):
                return cost(places[0]), Pair(before=(x,), after=(other,))
    return (cost(places[0]) if places else 0), None


def _classes(norm: Norm, weight: Fraction, times: int) -> Exact:
    """Return what a table changes by, |+1, -1| in so many classes."""
    return weight * up_and_down(norm, 1) * (times if norm.adds else min(times, 1))


def _round(weights: Weights, known: Known, norm: Norm) -> Exact:
    """Return the bound of reading 2 on a cycle."""
    found: list[Exact] = []
    for axes, weight in weights.items():
        others = axes - {known.key}
        if known.key not in axes or known.count < 2:
            continue
        classes = known.varying(others)
        if known.combinations(others) == 2:
            classes -= classes % 2
        found.append(_classes(norm, weight, classes))
    return added(norm, found)


def _one_edge(weights: Weights, known: Known, norm: Norm) -> Exact:
    """Return the bound of readings 1 and 5 on a cycle."""
    found: list[Exact] = []
    for axes, weight in weights.items():
        if known.key in axes or known.count < 2:
            continue
        beside = weights.get(axes | {known.key}, Fraction(0))
        classes = known.varying(axes)
        if not classes:
            continue
        one_less = weight * up_and_down(norm, known.count - 1)
        whole = added(norm, [_classes(norm, beside, classes), one_less])
        if known.combinations(axes) == 2 and classes == known.count:
            two_less = weight * up_and_down(norm, known.count - 2)
            all_but_one = added(norm, [_classes(norm, beside, classes - 1), one_less])
            whole = max(added(norm, [_classes(norm, beside, classes), two_less]), all_but_one)
        found.append(whole)
    for axes, weight in weights.items():
        others = axes - {known.key}
        if known.key in axes and known.count > 1 and others not in weights:
            found.append(_classes(norm, weight, known.varying(others)))
    return added(norm, found)


# --- pairs ---------------------------------------------------------------------------------------


def _rounds(setting: Setting, known: Known) -> Iterator[Pair | None]:
    """Yield pairs of reading 2: values a, b, a, b, ..., and z where classes are odd."""
    if known.count < 2:
        return
    for a, b, z in _colours(setting, known):
        last = [z] if known.count % 2 else []
        rest = [*(islice(_turns(a, b), known.count - len(last))), *last]
        for place in range(known.count):  # where a class has one value only, so has the one before
            for axis in range(len(known.sizes)):
                if axis != known.key and axis not in known.varies[place]:
                    value = known.ends[place][0][axis]
                    for near in (place - 1, place):
                        rest[near] = (*rest[near][:axis], value, *rest[near][axis + 1 :])
        cells = [*known.cells[1:], known.cells[0]]
        before = [_at(u, known.key, cell) for u, cell in zip(rest, known.cells, strict=True)]
        after = [_at(u, known.key, cell) for u, cell in zip(rest, cells, strict=True)]
        if all(_possible(setting, x) for x in (*before, *after)):
            yield Pair(before=tuple(before), after=tuple(after))


def _edges(setting: Setting, known: Known) -> Iterator[Pair | None]:
    """Yield pairs of readings 1 and 5: every class loses a and gains b, but for z on the edge."""
    if known.count < 2:
        return
    full = max(map(len, known.varies))
    order = sorted(range(known.count), key=lambda place: len(known.varies[place]) < full)
    first, second = order[:2]
    tried = (z for _, _, z in _colours(setting, known, known.ends[first]))
    for z in islice(tried, MOST_TRIED):
        before = [known.ends[place][0] for place in order]
        after = [known.ends[place][1] for place in (*order[1:], order[0])]
        before[0] = _at(z, known.key, known.cells[first])
        after[0] = _at(z, known.key, known.cells[second])
        moved = [(x, y) for x, y in zip(before, after, strict=True) if x != y]
        if _possible(setting, before[0]) and _possible(setting, after[0]):
            yield Pair(before=tuple(x for x, _ in moved), after=tuple(y for _, y in moved))


def _colours(
    setting: Setting, known: Known, ends: tuple[Point, Point] | None = None
) -> Iterator[tuple[Point, Point, Point]]:
    """Yield a, b and z: unlike in every attribute that allows it, and of attributes with two values
    z has the first as a, the next as b, and so on. `ends`: a and b; else values that no class has
    for its only one are taken before others.
    """
    widest = max(range(known.count), key=lambda place: len(known.varies[place]))
    a, b = ends or known.ends[widest]
    only = [{known.ends[place][0][axis] for place in range(known.count)
             if axis not in known.varies[place]} for axis in range(len(known.sizes))]  # fmt: skip
    options: list[list[int]] = []
    turn = 0
    for axis, size in enumerate(known.sizes):
        free = [value for value in range(min(size, 5)) if value not in only[axis]]
        if ends is None and only[axis] and len(free) >= 3:
            a, b = (*a[:axis], free[0], *a[axis + 1 :]), (*b[:axis], free[1], *b[axis + 1 :])
        others = [v for v in [*free, *range(min(size, 5))] if v not in (a[axis], b[axis])]
        if others:
            options.append([others[0], a[axis], b[axis]])
        else:
            options.append([(a, b)[turn % 2][axis], (a, b)[1 - turn % 2][axis]])
            turn += size == 2
    seen = 0
    for choice in product(*options):
        if _possible(setting, _at(choice, known.key, known.cells[widest])):
            yield a, b, choice
            seen += 1
        if seen >= MOST_TRIED:
            return


def _turns(a: Point, b: Point) -> Iterator[Point]:
    while True:
        yield from (a, b)


def _at(x: Sequence[int], axis: int, value: int) -> Point:
    return (*x[:axis], value, *x[axis + 1 :])


def _possible(setting: Setting, x: Point) -> bool:
    """Whether a record can hold a value."""
    return not any(
        all(place in side for place, side in zip(x, box.sides, strict=True))
        for box in setting.impossible.boxes
    )
