"""The search written down: which branch, functional and mark at each node, and the symmetries.

A small program can replay the list (`blowproof.verifier.kernel`, kind "irreducible"). Children are
in the order in which the search took them, so that what is excluded at a node is the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm, prod

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.verifier.engines.irreducibles.arrays import state as names
from blowproof.verifier.engines.irreducibles.choice import PLAIN_EFFECTS, crew
from blowproof.verifier.engines.irreducibles.functionals import small_functionals
from blowproof.verifier.engines.irreducibles.search import Stopwatch
from blowproof.verifier.engines.irreducibles.search_from import begin
from blowproof.verifier.engines.irreducibles.search_python import PlainEngine
from blowproof.verifier.engines.irreducibles.symmetry import automorphisms
from blowproof.verifier.exact.available import AVAILABLE
from blowproof.verifier.exact.coordinates import Instance, Number, _independent, inverse
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Trace", "traced"]

MOST_PRODUCTS = whole_limit(__name__, "MOST_PRODUCTS")
TRIES = whole_limit(__name__, "TRIES")
MOST_PLAIN = whole_limit(__name__, "MOST_PLAIN")
SLICE = whole_limit(__name__, "SLICE")
NOTHING = 1 << 62  # a weight above which nothing is reported
POINTS = whole_limit(__name__, "POINTS")
MOST_POINTS = whole_limit(__name__, "MOST_POINTS")
FAR = whole_limit(__name__, "FAR")


@dataclass(frozen=True)
class Trace:
    """A finished search: `branches`, `choices`, `marks` and `depths` have an entry for each node.

    `choices`: 0 for every available effect, else +-(place + 1) of a functional, positive on the
    node's sum with that sign. `marks`: MARKED where the node is covered when it is finished,
    EXCLUDED where covered multisets excluded something. `box`: how far sums of parts were kept in
    each of the first independent coordinates, if not everywhere. `short`: some others were left
    out too, so that some branches are superfluous.
    """

    functionals: tuple[tuple[int, ...], ...]
    symmetries: tuple[tuple[int, ...], ...]
    branches: list[int]
    choices: list[int]
    marks: list[int]
    depths: list[int]
    box: tuple[int, ...] | None
    short: bool


def traced(  # noqa: PLR0913 # keyword-only options
    effects: Sequence[Sequence[int]],
    weights: Sequence[Number],
    *,
    symmetry: bool,
    keeps: Callable[[Sequence[int]], bool] = lambda _: True,
    largest: int | None = None,
    time_limit: float | None = None,
    start: tuple[int, Sequence[int]] | None = None,
    cores: int | None = None,
) -> Trace | None:
    """Search all irreducibles (of at most `largest` elements), written down; None if not finished.

    `keeps` says whether a permutation of the effects may be used as a symmetry. `start`: only those
    with this effect, which symmetries keep, and besides it none of some others. `cores`: how many
    to use (None: what `choice.searched_by` says); a search cut into tasks comes back as `short`.
    """
    clock = Stopwatch(time_limit)
    order = sorted(set(weights))  # only which are equal counts here
    instance = Instance.of(effects, [order.index(weight) for weight in weights])
    generators: list[tuple[int, ...]] = []
    count = len(instance.effects)
    group = np.arange(count, dtype=np.int32)[None]
    if symmetry:
        end = None if time_limit is None else now() + time_limit
        found = automorphisms(instance, end=end).tolist()
        generators, group = _generated([p for p in map(tuple, found) if keeps(p)], count)
        if clock.expired:
            return None
    outcome: bool | None = None
    box = _box(instance)
    few = small_functionals(instance) if count <= PLAIN_EFFECTS else None
    if few is not None:
        plain = PlainEngine(instance, few, group.tolist(), largest=largest, box=box)
        plain.raise_threshold(NOTHING)
        if start is not None:
            begin(plain, *start)
        outcome = plain.advance(MOST_PLAIN)
        if outcome:
            values = np.array(few, dtype=np.int64).reshape(-1, count)
            rows = np.array(plain.trace, dtype=np.int32).reshape(-1, 4)
            return _written(instance, generators, rows, values, box, short=False)
    if not AVAILABLE:
        return None
    # Compiled: imported when needed.
    from blowproof.verifier.engines.irreducibles.search_compiled import MOST_TRACED, Tree

    tree = Tree.of(instance, group, largest=largest, traced=True, box=box)
    engine = crew(tree, cores)
    engine.raise_threshold(NOTHING)
    if start is not None:
        begin(engine, *start)
    outcome = False
    while outcome is False:
        if clock.expired or engine.nodes > MOST_TRACED:
            return None
        outcome = engine.advance(SLICE)
    if outcome is None:
        return None
    rows, short = engine.split.rows(), engine.split.short
    return _written(instance, generators, rows, tree.problem.values.T, box, short=short)


def _box(instance: Instance) -> tuple[int, ...] | None:
    """How far sums are to be kept: further where more effects lead, as far as it costs little.

    None (everywhere) where the coordinates are not some of the effects' own, or are too many.
    """
    vectors, columns = instance.vectors, _columns(instance)
    most = np.abs(vectors).max(axis=0)
    widest = names.widest_box(vectors)
    own = [[effect[j] for j in columns] for effect in instance.effects]
    if vectors.tolist() != own or (2 * most > widest).any():
        return None
    if prod((4 * most + 1).tolist()) > MOST_POINTS:
        return tuple(np.minimum(FAR * most, widest).tolist())
    box, spread = 2 * most, np.abs(vectors).sum(axis=0)
    while True:
        longer = np.where(box + most <= widest, spread / box, 0)
        step = most * (np.arange(len(box)) == longer.argmax())
        if not longer.any() or prod((2 * (box + step) + 1).tolist()) > POINTS:
            return tuple(box.tolist())
        box += step


def _written(
    instance: Instance,
    generators: Sequence[tuple[int, ...]],
    rows: NDArray[np.int32],
    values: NDArray[np.int64] | NDArray[np.int32],
    box: tuple[int, ...] | None,
    *,
    short: bool,
) -> Trace:
    """The trace with the functionals that it uses only; `values[y, d]` is y.d."""
    used = sorted({abs(choice) for choice in rows[:, 1].tolist()} - {0})
    places = {0: 0, **{choice: place for place, choice in enumerate(used, 1)}}
    return Trace(
        functionals=tuple(_as_rows(instance, values[[choice - 1 for choice in used]])),
        symmetries=tuple(generators),
        branches=rows[:, 0].tolist(),
        choices=[places[abs(c)] * (1 if c > 0 else -1) for c in rows[:, 1].tolist()],
        marks=rows[:, 2].tolist(),
        depths=rows[:, 3].tolist(),
        box=box,
        short=short,
    )


def _generated(
    listed: Sequence[tuple[int, ...]], count: int
) -> tuple[list[tuple[int, ...]], NDArray[np.int32]]:
    """Generators among the listed permutations, and all of their products (not too many)."""
    identity = tuple(range(count))
    found = {identity}
    generators: list[tuple[int, ...]] = []
    too_many = 0
    for p in listed:
        if p in found:
            continue
        grown = _closed([*generators, p], identity)
        if grown is not None:
            generators.append(p)
            found = grown
        else:
            too_many += 1
        if too_many > TRIES:
            break
    return generators, np.array(sorted(found), dtype=np.int32)


def _closed(
    generators: Sequence[tuple[int, ...]], identity: tuple[int, ...]
) -> set[tuple[int, ...]] | None:
    """All products of the generators, None if they are too many."""
    found = {identity}
    frontier = [identity]
    while frontier:
        p = frontier.pop()
        for g in generators:
            product = tuple([g[i] for i in p])
            if product not in found:
                found.add(product)
                frontier.append(product)
        if len(found) > MOST_PRODUCTS:
            return None
    return found


def _as_rows(
    instance: Instance, values: NDArray[np.int64] | NDArray[np.int32]
) -> list[tuple[int, ...]]:
    """For each list of values y.d a whole-number y in the effects' own coordinates (scaled up)."""
    width = len(instance.effects[0])
    columns = _columns(instance)
    basis, inverse = _inverted(instance)
    rows = []
    for row in values.tolist():
        short = [sum(c * row[b] for c, b in zip(line, basis, strict=True)) for line in inverse]
        scale = lcm(*(value.denominator for value in short), 1)
        numbers = [int(value * scale) for value in short]
        shared = gcd(*numbers) or 1
        full = [0] * width
        for column, value in zip(columns, numbers, strict=True):
            full[column] = value // shared
        rows.append(tuple(full))
    return rows


def _columns(instance: Instance) -> list[int]:
    """The coordinates of the effects that `vectors` keeps, as places in the effects."""
    return _independent(instance.effects)


def _inverted(instance: Instance) -> tuple[list[int], list[list[Fraction]]]:
    """Effects that are a basis, and the inverse of the matrix whose rows they are."""
    columns = _columns(instance)
    basis = _independent(list(zip(*instance.vectors.tolist(), strict=True)))
    chosen = [[instance.effects[i][j] for j in columns] for i in basis]
    numerator, denominator = inverse(np.array(chosen, dtype=object))
    return basis, [[Fraction(int(x), denominator) for x in row] for row in numerator]
