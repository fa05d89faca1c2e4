"""Kind `beside`: cells, and any facts or bounds beside them.

Readings 1, 2 and 5, equality facts, impossible values, and bounds with their slack (see *Bounds* in
FORMAT.md: of a pair's moves, with slack, no proper part has no effect; some bound with one end may
be left out). `base`: equalities whose N signatures are affinely independent (classes). `labels`:
further equalities, and every bound that tells values of one class apart: what these leave open no
other equality tells. A label's width is the largest difference of its coefficients in one class;
those of an equality are first divided by what they have in common.

Moves without effect are a circulation on the classes in which each label adds up to 0, slack being
a loop of label 1 or -1. Of simple cycles, each of which leaves a class once at the most, such a
multiset has at most

* no label: one, of N moves;
* one label, of width w: w (N + 1), and w (N + 1)^2 / 2 moves (`cells`, (b));
* one label more, of width w: where L moves were the most, L max(2, 2 w L - 1);
* all at once, k labels: as many as whole points that sums of cycles can be, each no further from 0
  than k times what the labels of a cycle can be; N moves each;
* two labels: those of `plane`.

In reading 2 a cycle of secret moves stays in a component of G: N is that of the largest, N_1, and
w max((N_1 + 1)^2 / 2, 2 N_1 N_2) stands for w (N + 1)^2 / 2, or, as L max(2, 2 w L - 1) for parts
that are cycles, N_1 max(2, 2 w N_1 - 1) if that is less. Without a label N is 2 (1 if no two
classes are joined), or what the largest component keeps when classes with one other beside them are
left out, over and over: no cycle of three or more visits these. And no move changes f by more than
one along an edge does (`single_move`). Where numbers say what the last labels sum to over all
records, or lack of the most, 1 + the sum of these h stands for all of their factors.

A bound with two ends that no pair can both reach counts as one with one end: where the moves, with
its slack, change its row by no more than the ends are apart, rises and falls added up.

So a class exchanges no more records than there are cycles, and all together no more than there are
moves (or n); f changes by these, or by so many moves, each as large as the largest; a histogram
beside one label, in the norms beside l1, by what `squares` says. Beside one label of width 1 it
matters what f sees of classes and labels (`labels`). The proofs are
at the heads of `theorems/beside.py`, `beside_bounds.py` and `lengths/along_edges.py` of the
verifier, and in FORMAT.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, prod
from typing import Any, NamedTuple

from ...document import Exact, Rejected, want
from ...independent import Span, Sparse, independent, records
from ...joined_boxes import near, united
from ...measure import Change
from ...world import World, less
from ..cells import Place, largest, restricted
from ..single_move import along_an_edge
from .labels import seen
from .plane import Label, in_the_plane
from .squares import histogram

Inside = dict[Sparse, list[Place]]
"""What is in each class, by its signature."""
MOST_LABELS = 200
MOST_SUMMED = 10**6


def refute(world: World, proof: dict[str, Any], value: Exact) -> None:
    """Refuse unless so many moves, or exchanges, are within the value."""
    shape = {"kind": str, "base": [int], "labels": [int], "forms": [[[int]]]}
    told = want(proof, shape, "the proof")
    scale, most = bound(world, told["base"], told["labels"], told["forms"])
    if most > world.measure.claim(value, scale):
        raise Rejected("so many moves may change the query by more than the value")


def bound(
    world: World, base: Sequence[int], labels: Sequence[int], forms: Sequence[Sequence[Label]]
) -> tuple[int, int]:
    """Return a scale, and what no neighbour pair exceeds, as a size."""
    if not world.labelled or world.policy.clauses or world.query.weights is not None:
        raise Rejected("this kind of proof is for equalities and bounds, in readings 1, 2 and 5")
    world.by_position(single=True)
    cells, _, _ = world.classes()
    scale, rows = world.rows(cells)
    effects = [world.sparse(cell.point) for cell in cells]
    inside = classes_of(world, list(zip(effects, rows, strict=True)), base)
    if not inside:
        return scale, 0
    parts: Sequence[Sequence[int]] = [range(len(inside))]
    if world.reading == "secret-moves" and not world.free:
        edges = _edges(world, list(inside), base)
        parts = _joined(len(inside), edges if labels else _on_cycles(edges))
        if edges and not labels:
            parts = [*parts, range(2)]
    kept = rows_of(world)
    far = [k for k in kept if k not in labels and _apart(inside, k)]
    if len(far) == 1 and _may_leave_one(world) and len(kept) == len(world.bounds):
        found = labelled(world, inside, [*labels, *far], kept)
        fact = world.bounds[far[0] - len(world.equalities)]
        own = [dict(effect).get(far[0], 0) for members in inside.values() for effect, _ in members]
        reach = (max(own) - min(own)) * lengths(world, found, parts, [])[0]
        if fact.low is not None and fact.high is not None and fact.high - fact.low >= reach:
            kept = [k for k in kept if k not in far]
    found = labelled(world, inside, labels, kept)
    moves, cycles = lengths(world, found, parts, forms)
    most = changed(world, inside, moves, cycles, scale)
    if world.query.kind == "histogram" and len(labels) == 1 and not any(found.slack):
        whole = histogram(world.measure.name, len(inside), found.widths[0], world.budget)
        most = most if whole is None else min(most, whole)
    if found.widths == [1] and not any(found.slack):
        held = moves if world.size is None else min(moves, world.size)
        most = min([most, *seen(world, inside, labels[0], held)])
    return scale, most


def classes_of(world: World, places: Sequence[Place], base: Sequence[int]) -> Inside:
    """Return the places by the signatures of the base, which are independent."""
    if not set(base) <= set(range(len(world.equalities))):
        raise Rejected("there is no such fact")
    inside: Inside = defaultdict(list)
    kept = set(base)
    for effect, row in places:
        inside[restricted(effect, kept, world)].append((effect, row))
    if not independent(list(inside), world.budget):
        raise Rejected("the signatures are not independent")
    return inside


def _edges(world: World, signatures: list[Sparse], base: Sequence[int]) -> set[tuple[int, int]]:
    """Return every two classes, by place, of which an edge of G joins some values."""
    number = {signature: place for place, signature in enumerate(signatures)}
    graph, kept = world.policy.graph, set(base)
    cells = world.cells([*world.equalities, *world.bounds], graph.cuts, exact=True)
    home = {cell.boxes: number[restricted(world.sparse(cell.point), kept, world)] for cell in cells}
    boxes = united([(cell.boxes, cell.box) for cell in cells], world.budget)
    places = [home[kind] for kind, _ in boxes]
    joined = near(graph, [box for _, box in boxes], world.budget)
    found = {(places[i], places[j]) for i, j in joined}
    return {(a, b) for a, b in found if a != b}


def _on_cycles(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the edges without those of classes that have one other beside them, over and over: a
    cycle of three classes or more takes none of these.
    """
    while True:
        beside = Counter(a for a, _ in edges)
        kept = {(a, b) for a, b in edges if min(beside[a], beside[b]) > 1}
        if len(kept) == len(edges):
            return kept
        edges = kept


def _joined(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the classes in groups that no edge leads out of."""
    root = list(range(count))

    def find(place: int) -> int:
        while root[place] != place:
            root[place] = place = root[root[place]]
        return place

    for a, b in pairs:
        root[find(a)] = find(b)
    found: dict[int, list[int]] = defaultdict(list)
    for place in range(count):
        found[find(place)].append(place)
    return list(found.values())


class Labelled(NamedTuple):
    """The labels in each class; which are of bounds, and close by slack; `few`: what each sums to
    over all records, or lacks of the most, if that is less; None where it is not known.
    """

    inside: list[set[tuple[int, ...]]]
    slack: list[bool]
    few: list[int | None]

    @property
    def widths(self) -> list[int]:
        """How far labels of one class lie apart, each by itself."""
        return [max(column) for column in zip(*self.spreads, strict=True)]

    @property
    def spreads(self) -> list[list[int]]:
        """The same for every class."""
        return [[max(column) - min(column) for column in zip(*held, strict=True)]
                for held in self.inside]  # fmt: skip


def labelled(world: World, inside: Inside, labels: Sequence[int], rows: Sequence[int]) -> Labelled:
    """Return the labels; refuse them where something else tells values of one class apart. `rows`:
    the bounds that count.
    """
    known, kept = len(world.equalities), set(rows)
    if len(set(labels)) < len(labels) or not set(labels) <= kept | set(range(known)):
        raise Rejected("there is no such label")
    if len(labels) > MOST_LABELS:
        raise Rejected("there are too many labels", limit=True)
    apart = dict.fromkeys(
        less(effect, members[0][0]) for members in inside.values() for effect, _ in members
    )
    world.budget.spend(4 * sum(map(len, apart)) + len(apart), 2 * sum(map(len, apart)))
    if {k for row in apart for k, _ in row} & (kept - set(labels)):
        raise Rejected("a bound that tells values of one class apart is no label")
    equal = [{k: v for k, v in row if k < known} for row in apart]
    seen = [{k: v for k, v in row.items() if k in labels} for row in equal]
    if len(Span(equal, world.budget).kept) != len(Span(seen, world.budget).kept):
        raise Rejected("another fact tells values of one class apart")
    held, least = [], []
    for members in inside.values():
        found = [dict(effect) for effect, _ in members]
        least.append([min(each.get(k, 0) for each in found) for k in labels])
        held.append([[each.get(k, 0) - low for k, low in zip(labels, least[-1], strict=True)]
                     for each in found])  # fmt: skip
        world.budget.spend(4 * len(found) * (1 + len(labels)), len(found) * len(labels))
    steps = [gcd(*(row[j] for rows in held for row in rows)) for j in range(len(labels))]
    if 0 in steps:
        raise Rejected("a label that is the same in all of a class")
    steps = [1 if k >= known else step for k, step in zip(labels, steps, strict=True)]
    short = [{tuple([v // s for v, s in zip(row, steps, strict=True)]) for row in rows}
             for rows in held]  # fmt: skip
    told = Labelled(short, [k >= known for k in labels], [])
    return told._replace(few=_few(world, inside, labels, least, steps, told.spreads))


def rows_of(world: World) -> list[int]:
    """Return the bounds that count, by place; where moves are alike one with one end does not."""
    known = len(world.equalities)
    ends = [k for k, fact in enumerate(world.bounds, known) if None in (fact.low, fact.high)]
    left_out = ends[:1] if _may_leave_one(world) else []
    return [k for k in range(known, known + len(world.bounds)) if k not in left_out]


def _may_leave_one(world: World) -> bool:
    """Whether a bound with one end may be left out."""
    return (world.free or world.reading == "secret-moves") and world.reading != "pufferfish"


def _apart(inside: Inside, row: int) -> bool:
    """Whether a row tells values of one class apart."""
    return any(
        len({dict(effect).get(row, 0) for effect, _ in members}) > 1 for members in inside.values()
    )


def _few(
    world: World,
    inside: Inside,
    labels: Sequence[int],
    least: Sequence[Sequence[int]],
    steps: Sequence[int],
    spreads: Sequence[Sequence[int]],
) -> list[int | None]:
    """Return what labels sum to over all records, or lack of the most in each class, if less."""
    base = {k for signature in inside for k, _ in signature}
    answers = [fact.answer for fact in world.equalities]
    if world.bounds or world.size is None or None in answers:
        return [None] * len(labels)
    totals = [
        world.size,
        *(value if k in base else 0 for k, value in enumerate(answers) if value is not None),
    ]
    held = records(list(inside), totals, world.budget)
    if held is None or any(n < 0 or n.denominator > 1 for n in held):
        return [None] * len(labels)
    found: list[int | None] = []
    for j, (label, step) in enumerate(zip(labels, steps, strict=True)):
        above = (answers[label] or 0) - sum(n * low[j] for n, low in zip(held, least, strict=True))
        most = sum(n * spread[j] for n, spread in zip(held, spreads, strict=True))
        sums = Fraction(above, step)
        found.append(int(min(sums, most - sums)) if 0 <= sums <= most else None)
    return found


# --- how many -----------------------------------------------------------------------------------


def lengths(
    world: World,
    found: Labelled,
    parts: Sequence[Sequence[int]],
    forms: Sequence[Sequence[Label]],
) -> tuple[int, int]:
    """Return how many moves a pair makes at the most, and of how many simple cycles."""
    count, widths = len(found.inside), found.widths
    largest_part, second = sorted((0, *map(len, parts)), reverse=True)[:2]
    if not widths:
        return largest_part, 1
    first = widths[0] * max((largest_part + 1) ** 2, 4 * largest_part * second) // 2
    lengths = [largest_part, min(first, largest_part * max(2, 2 * widths[0] * largest_part - 1))]
    cycles = widths[0] * (count + 1) if len(widths) == 1 else _in_a_box(world, found, parts)
    for width in widths[1:]:
        if lengths[-1] >= largest_part * cycles:
            break  # each stage would double its digits for nothing
        lengths.append(lengths[-1] * max(2, 2 * width * lengths[-1] - 1))
    moves = min(lengths[-1], largest_part * cycles) if len(widths) > 1 else lengths[-1]
    several = 1
    for k in reversed(range(len(widths))):
        if (few := found.few[k]) is None:
            break
        several += few
        moves = min([moves, *(length * several for length in lengths[k : k + 1])])
    else:
        cycles = min(cycles, several)
    if len(widths) == 2:
        slack = [label for label, loose in zip(((1, 0), (0, 1)), found.slack, strict=True) if loose]
        for form in forms:
            some = in_the_plane(found.inside, form, slack, world.budget)
            moves, cycles = min(moves, some[0]), min(cycles, some[1])
    return moves, min(cycles, moves)


def _in_a_box(world: World, found: Labelled, parts: Sequence[Sequence[int]]) -> int:
    """Return how many sums of cycles' labels there can be: they are no further from 0, in each
    label and in all together, than so many times what one cycle's can be.
    """
    several, spreads = len(found.widths), found.spreads
    together = []
    for held in found.inside:
        world.budget.spend(len(held) ** 2 * several)
        together.append(max(sum(abs(a - b) for a, b in zip(one, two, strict=True))
                            for one in held for two in held))  # fmt: skip
    sides = [several * max(sum(spreads[c][j] for c in part) for part in parts)
             for j in range(several)]  # fmt: skip
    width = several * max(sum(together[c] for c in part) for part in parts)
    everything = prod(2 * side + 1 for side in sides)
    width = min(width, sum(sides))
    if width == sum(sides) or several * width > MOST_SUMMED:
        return everything
    ways = [1] + [0] * width  # of coordinates so far, by the total of their sizes
    world.budget.spend(2 * several * width)
    for side in sides:
        running, longer = 0, []
        for total in range(width + 1):
            running += ways[total] - (ways[total - side - 1] if total > side else 0)
            longer.append(2 * running - ways[total])  # sizes 0, ..., side, and both signs
        ways = longer
    return sum(ways)


def changed(world: World, inside: Inside, moves: int, cycles: int, scale: int) -> int:
    """Return what so many moves change the query by, or exchanges in classes, if that is less."""
    measure = world.measure
    most = moves if world.size is None else min(moves, world.size)
    rows = {row for members in inside.values() for _, row in members}
    single = largest(world, rows).size
    if world.reading == "secret-moves" and (edge := along_an_edge(world)) is not None:
        single = min(single, measure.claim(edge, scale))
    whole = measure.repeated(single, most)
    if measure.name != "l1":
        return whole
    known: dict[frozenset[Change], int] = {}
    sizes, left, total = [], most, 0
    for members in inside.values():
        own = frozenset(row for _, row in members)
        if own not in known:
            known[own] = largest(world, own).size
        sizes.append(known[own])
    for size in sorted(sizes, reverse=True):
        total += size * min(cycles, left)
        left -= min(cycles, left)
    return min(whole, total)
