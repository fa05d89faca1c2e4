"""Cycles that fit together two by two: against all cuts of irreducible multisets into cycles."""

from __future__ import annotations

import importlib
import random
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from blowproof.verifier.engines.irreducibles import first_irreducibles
from blowproof.verifier.theorems.lengths import fitting_cycles
from blowproof.verifier.theorems.lengths.fitting_cycles import fitting, longest_of_cycles
from blowproof.verifier.theorems.listed_margins import FITTING, LISTED

Point = tuple[int, ...]
Arc = tuple[int, int, Point]
"""From a class, to a class, and the label."""
Cut = tuple[tuple[int, Point], ...]
"""Lengths and labels of cycles."""

LINE = ((0,), (1,))
BOX = ((0, 0), (0, 1), (1, 0), (1, 1))
CORNER = BOX[:3]
LABELS = {(2,): LINE, (3,): CORNER, (2, 2): BOX}

sys.path.append(str(Path(__file__).parents[4] / "benchmarks"))


def _plus(x: Point, y: Point) -> Point:
    return tuple(p + q for p, q in zip(x, y, strict=True))


def arcs_of(effect: Point, others: tuple[int, ...]) -> Arc:
    """The move of an effect on one-way margins, the last of which is the base."""
    start, one, two = 0, 0, 0
    for side in others:  # the class of each factor that the record leaves, and comes to
        part = effect[start : start + side]
        one = one * side + (part.index(-1) if -1 in part else 0)
        two = two * side + (part.index(1) if 1 in part else 0)
        start += side
    points = LABELS[others]
    label = tuple(q - p for p, q in zip(points[one], points[two], strict=True))
    base = effect[start:]
    return (base.index(-1), base.index(1), label) if any(base) else (0, 0, label)


def cycles_with(first: Arc, left: Counter[Arc]) -> Iterator[tuple[Arc, ...]]:
    """Simple cycles of these arcs that begin with one of them."""

    def longer(path: tuple[Arc, ...]) -> Iterator[tuple[Arc, ...]]:
        if path[-1][1] == path[0][0]:
            yield path
            return
        met = {arc[0] for arc in path}
        for arc in left:
            if arc[0] == path[-1][1] and arc[0] not in met and left[arc]:
                yield from longer((*path, arc))

    yield from longer((first,))


def cuts(left: Counter[Arc]) -> Iterator[Cut]:
    """All cuts of a circulation into simple cycles."""
    first = min((arc for arc in left if left[arc]), default=None)
    if first is None:
        yield ()
        return
    for cycle in cycles_with(first, left):
        label = (0,) * len(first[2])
        for arc in cycle:
            label = _plus(label, arc[2])
        for others in cuts(left - Counter(cycle)):
            yield ((len(cycle), label), *others)


@pytest.mark.parametrize(
    ("others", "base", "size"), [((2,), 4, 8), ((3,), 3, 7), ((2, 2), 2, 9), ((2, 2), 3, 7)]
)
def test_cycles_of_the_best_cuts_fit(others: tuple[int, ...], base: int, size: int) -> None:
    one_way = importlib.import_module("irreducible").one_way
    effects = one_way(*others, base)
    found = list(first_irreducibles(effects, size, limit=20_000))
    random.Random(0).shuffle(found)
    fits = fitting(LABELS[others], base)
    lists = fitting_cycles._Lists(fits)
    seen = misfits = 0
    for multiset in sorted(found[:400], key=lambda each: -sum(n for _, n in each))[:60]:
        arcs = Counter({arcs_of(effects[k], others): n for k, n in multiset})
        every = set(cuts(arcs))
        most = max(map(len, every))
        if most < 2:
            continue
        norms = {
            cut: sum(fits.norm[label] for _, label in cut) for cut in every if len(cut) == most
        }
        for cut, norm in norms.items():
            fit = all(fits(one, two) for one, two in combinations(cut, 2))
            misfits += not fit
            if norm == min(norms.values()):
                seen += 1
                assert fit
                *held, last = (lists.cycles.index(cycle) for cycle in cut)
                lists.held = Counter(held)
                assert lists._stands(last)
    assert seen > 40
    assert misfits


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_one_fact_beside_cells_is_as_it_is_known(classes: int) -> None:
    assert longest_of_cycles(LINE, classes) == (classes + 1) ** 2 // 2


@pytest.mark.parametrize(
    ("points", "classes", "most", "known"),
    [(CORNER, 2, 10, (2, 3)), (CORNER, 3, 20, (3, 3)), (BOX, 2, 12, (2, 2, 2)), (BOX, 3, 28, None)],
)
def test_small_tables_have_less(
    points: tuple[Point, ...], classes: int, most: int, known: tuple[int, ...] | None
) -> None:
    assert longest_of_cycles(points, classes) == most >= LISTED[known or (2, 2, 3)]


def test_exchanges_spoil_lists_that_fit() -> None:
    """A list of 32 moves that fit two by two: no exchange of the first and the last is harmless."""
    lists = fitting_cycles._Lists(fitting(BOX, 3))
    long = [(3, (3, 1)), *[(3, (-1, 1))] * 6, *[(2, (1, -2))] * 4, (3, (-1, 1))]
    assert lists.fits(long[0], long[1]) and lists.fits(long[0], (2, (1, -2)))
    assert sum(a for a, _ in long) == 32
    assert [sum(each) for each in zip(*(v for _, v in long), strict=True)] == [0, 0]
    *held, last = (lists.cycles.index(cycle) for cycle in long)
    lists.held = Counter(held)
    assert not lists._stands(last)


def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting_cycles, "MOST_NODES", 100)
    assert longest_of_cycles(CORNER, 3) is None


def test_sums_that_have_no_digit_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitting_cycles, "DIGIT", 20)
    fitting_cycles._place.cache_clear()
    assert longest_of_cycles(CORNER, 3) is None
    fitting_cycles._place.cache_clear()


def test_tables_that_are_kept_are_above_what_is_known() -> None:
    """The benchmark goes through them: `benchmarks/irreducible.py --fitting`."""
    assert FITTING[3, 5] >= 43
    assert FITTING[2, 2, 4] >= 42
