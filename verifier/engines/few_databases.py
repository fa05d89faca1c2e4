"""Neighbours where there are few databases: listing all of them is quicker than asking solvers.

A model is built and solved for each pair that a solver proposes or refutes; a few hundred databases
are compared with one another in less time than a dozen of these take.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement, islice, product
from math import comb

from blowproof.models import Point, Setting
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import require_pair

__all__ = ["are_few", "listed_neighbours"]

MOST_TRIED = whole_limit(__name__, "MOST_TRIED")
MOST_COMPARED = whole_limit(__name__, "MOST_COMPARED")


def are_few(setting: Setting, reading: Reading, sizes: range) -> bool:
    """Whether so few databases of these sizes satisfy the facts that listing them is best.

    In reading 5 each pair is a question of its own, so it is left to the engines.
    """
    most, values = max(sizes, default=0), setting.domain.size
    if reading == "pufferfish" or most > MOST_TRIED or values > MOST_TRIED:
        return False
    labelled = is_labelled(reading)
    tried = sum(values**n if labelled else comb(values + n - 1, n) for n in sizes if values or n)
    if tried > MOST_TRIED:
        return False
    points = [x for x in setting.domain.points() if x not in setting.impossible]
    fits = setting.satisfied_by if labelled else setting.counts_fit
    fitting = (database for database in _databases(points, sizes, labelled) if fits(database))
    return sum(1 for _ in islice(fitting, MOST_COMPARED + 1)) <= MOST_COMPARED


def _databases(points: list[Point], sizes: range, labelled: bool) -> Iterator[tuple[Point, ...]]:
    for size in sizes:
        if labelled:
            yield from product(points, repeat=size)
        else:
            yield from combinations_with_replacement(points, size)


def listed_neighbours(
    setting: Setting,
    reading: Reading,
    sizes: range,
    *,
    every_label: bool,
    deadline: float | None = None,
) -> Iterator[Pair]:
    """Yield the neighbours, each accepted by the checker; TimeoutError past the deadline.

    Relabelling the records of a pair makes no other pair of it where no clause names records: so
    one of them is checked, and without `every_label` only that one is yielded.
    """
    alike = is_labelled(reading) and not setting.clauses
    seen = set()
    for pair in brute_neighbours(
        setting, reading, sizes=sizes, every_label=every_label, deadline=deadline
    ):
        changes = Counter(zip(pair.before, pair.after, strict=True)) if alike else Counter()
        key = (frozenset(changes.items()), frozenset(pair.unchanged))
        new = not alike or key not in seen
        if new:
            require_pair(setting, reading, pair, deadline=deadline)
            seen.add(key)
        if every_label or not alike:
            yield pair
        elif new:
            yield Pair(before=pair.before, after=pair.after, unchanged=pair.unchanged)
