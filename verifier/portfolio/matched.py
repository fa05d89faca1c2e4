"""Reading 3 by other secrets: what goes is matched with what comes, in cells of a published table.

*Statement.* Reading 3, scope "any", equality facts and impossible values. Let the policy know a
marginal B, or n. Then S(f, P) is at most S(f, P') in reading 1, where P' has full secrets and does
not know B; and at most S(f, P'') in reading 2, where P'' does not know B, and its secrets are the
cells of B.

*Proof.* In a pair as many records come as go in each cell of B. Match them within the cells, in any
way: no value both comes and goes, since these two would be a part without effect, and all of the
pair, which has none then. So each match is a move between two values of one cell. A part of these
moves without effect in P' has none in P, as each leaves B as it is; it is a part of what comes and
goes: nothing, or all. So the moves are a pair of P', which changes f by the same. In P'' all of
them are secret, and no part of them leads into I_Q. QED.

P'' says more where another fact speaks of the attributes of B: then not every two classes of the
others have values in one cell of B (two tables by department: people go and come within one).

*The way back.* Let each kind of move of a pair of P' (what goes, and what comes) have a cell of B
for itself, of values whose other counts are the same. Then a part of what comes and goes that
leaves B as it is has as many of what goes and of what comes of each kind: it is a part of the
moves. So the pair is one of P. Where cells are fewer than kinds, the check of pairs has to say; and
pairs of fewer cells of another table are looked for, which have fewer kinds of moves (`_few`): what
is made impossible leaves a pair a pair.

So two margins of r x c and one more fact are c cells and a fact beside them: a pair goes through
(c + 1)^2 / 2 exchanges at the most, and through so many where r is large.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import prod
from typing import TypeVar

from blowproof.models import (
    Box,
    Domain,
    Full,
    Known,
    Marginal,
    PartitionBy,
    Point,
    Positions,
    Reading,
    Setting,
    setting,
)
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.strategy import Reduction
from blowproof.verifier.reductions.fewer_facts import declared_empty, left_over
from blowproof.verifier.theorems.values.free_change import axes_of_facts

__all__ = ["matched", "no_matches"]

MOST_TABLES = whole_limit(__name__, "MOST_TABLES")
MOST_CELLS = whole_limit(__name__, "MOST_CELLS")
MOST_FITTED = whole_limit(__name__, "MOST_FITTED")

SPARE = (2, 5)
"""How many kinds of moves more than cells a pair may have, where few cells are asked about."""

Kind = TypeVar("Kind", bound=Hashable)


def no_matches(question: Question) -> str:
    """Return why what goes is not matched with what comes, or ""."""
    found = question.setting
    if question.reading != "add-remove" or question.query.per_record:
        return "it speaks about reading 3, and sums of rows"
    if found.scope == "given" or found.clauses:
        return "it is asked for any answers"
    if not found.as_listed:
        return "the policy lists other facts than are known"
    return "" if found.policy.knows_size else "n is not known"


def matched(question: Question) -> list[Reduction]:
    """Return a question about other secrets for each table that may be left out, or for n."""
    places = _tables(question.setting)[:MOST_TABLES]
    left_out: list[int | None] = [*places]
    whole = [
        Reduction(partial(_without, place), partial(_spread, place), lambda _, upper: upper)
        for place in left_out or [None]
    ]
    return whole + [
        Reduction(partial(_few, place, spare), partial(_spread, place), lambda _, upper: None)
        for place in places
        for spare in SPARE
    ]


def _tables(found: Setting) -> list[int]:
    """Return which of the known facts are marginals, the largest ones first: their cells serve."""
    cells = {
        place: prod(found.domain[name].size for name in fact.attributes)
        for place, fact in enumerate(found.policy.known)
        if isinstance(fact, Marginal)
    }
    return sorted(cells, key=lambda place: -cells[place])


def _known_less(found: Setting, place: int | None) -> Setting:
    """Return the setting with other secrets and without one known fact."""
    if place is None:
        return setting(replace(found.policy, secrets=Full()), "any")
    fact, policy = found.policy.known[place], found.policy.without([place])
    easier = setting(replace(policy, secrets=Full()), "any")
    assert isinstance(fact, Marginal)
    if axes_of_facts(easier).isdisjoint(found.domain.axes(fact.attributes)):
        return easier
    return setting(replace(policy, secrets=PartitionBy(fact.attributes)), "any")


def _without(place: int | None, question: Question) -> Question:
    easier = _known_less(question.setting, place)
    reading: Reading = "published" if easier.graph.complete else "secret-moves"
    return replace(question, setting=easier, reading=reading)


def _few(place: int, spare: int, question: Question) -> Question | None:
    """Return the question without a table, about so few cells of another that kinds may fit.

    A cell is kept where the first table has as many cells for it as there are kept ones of no more
    than that, and `spare`: a pair may have that many kinds of moves at them.
    """
    found = setting(replace(question.setting.policy.without([place]), secrets=Full()), "any")
    domain = found.domain
    first = _axes(domain, question.setting.policy.known[place])
    others = [_axes(domain, found.policy.known[other]) for other in _tables(found)[:1]]
    if not others or not set(first).isdisjoint(others[0]):
        return None
    cells = list(islice(_cells(found, first), MOST_CELLS))
    held = [
        _at(domain.whole, others[0], cell) for cell in islice(_cells(found, others[0]), MOST_CELLS)
    ]
    if len(cells) * len(held) > MOST_FITTED:
        return None
    boxes = found.impossible.boxes
    room = [sum(bool(left_over([_at(box, first, each)], boxes)) for each in cells) for box in held]
    kept: list[int] = []
    for here in sorted(range(len(held)), key=lambda here: -room[here]):
        if sum(room[each] <= room[here] for each in kept) + 1 + spare <= room[here]:
            kept.append(here)
    if len(kept) < 2 or len(kept) == len(held):
        return None
    rest = [box for here, box in enumerate(held) if here not in kept]
    return replace(question, setting=declared_empty(found, rest), reading="published")


def _axes(domain: Domain, fact: Known) -> tuple[int, ...]:
    assert isinstance(fact, Marginal)
    return domain.axes(fact.attributes)


def _at(box: Box, axes: tuple[int, ...], cell: tuple[int, ...]) -> Box:
    """Return the part of a box with these positions on some axes."""
    sides = list(box.sides)
    for axis, place in zip(axes, cell, strict=True):
        sides[axis] = Positions.of([place])
    return Box(tuple(sides))


def _spread(place: int | None, question: Question, found: Answer) -> Pair | None:
    """Return what goes and what comes, each kind of move in a cell of its own where there are."""
    pair, known = found.witness, question.setting.policy.known
    if pair is None or place is None:
        return _checked(question, pair)
    easier = _known_less(question.setting, place)
    axes = _axes(easier.domain, known[place])
    moves = list(zip(pair.before, pair.after, strict=True))
    moved: dict[tuple[Point, Point], dict[int, tuple[Point, Point]]] = {}
    for kind in dict.fromkeys(moves):
        moved[kind] = {}
        for number, cell in enumerate(islice(_cells(easier, axes), MOST_CELLS)):
            x, y = ends = tuple(_with(point, axes, cell) for point in kind)
            alike = all(
                easier.effect(p) == easier.effect(q) for p, q in zip(ends, kind, strict=True)
            )
            if x != y and alike and not any(p in easier.impossible for p in ends):
                moved[kind][number] = x, y
    cells = _one_each({kind: list(fits) for kind, fits in moved.items()})
    put = {kind: moved[kind][cell] for kind, cell in cells.items()}
    gone, come = zip(*(put.get(kind, kind) for kind in moves), strict=True)
    spread = Pair.multisets(gone, come)
    return spread if len(put) == len(moved) else _checked(question, spread)


def _one_each(fits: Mapping[Kind, Sequence[int]]) -> dict[Kind, int]:
    """Return a cell for each kind, no two the same, for as many kinds as can be.

    >>> _one_each({"a": [1, 2], "b": [1], "c": [1]})
    {'b': 1, 'a': 2}
    """
    taken: dict[int, Kind] = {}

    def placed(kind: Kind, tried: set[int]) -> bool:
        for cell in fits[kind]:
            if cell not in tried:
                tried.add(cell)
                if cell not in taken or placed(taken[cell], tried):
                    taken[cell] = kind
                    return True
        return False

    for kind in fits:
        placed(kind, set())
    return {kind: cell for cell, kind in taken.items()}


def _checked(question: Question, pair: Pair | None) -> Pair | None:
    """Return a pair if a check of it ends and says that it is one, in half of what time is left."""
    if pair is None:
        return None
    end = question.by(1 / 2)
    holds = check_pair(question.setting, question.reading, pair, deadline=end).holds
    return pair if holds else None


def _cells(found: Setting, axes: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    return product(*(found.domain.whole.sides[axis] for axis in axes))


def _with(point: Point, axes: tuple[int, ...], cell: tuple[int, ...]) -> Point:
    put = dict(zip(axes, cell, strict=True))
    return tuple(put.get(axis, place) for axis, place in enumerate(point))
