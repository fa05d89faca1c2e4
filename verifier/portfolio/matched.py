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
moves. So the pair is one of P. Where cells are fewer than kinds, the check of pairs has to say.

So two margins of r x c and one more fact are c cells and a fact beside them: a pair goes through
(c + 1)^2 / 2 exchanges at the most, and through so many where r is large.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, product
from math import prod

from blowproof.models import Full, Marginal, PartitionBy, Point, Reading, Setting, setting
from blowproof.verifier.asked.answer import Answer, Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.strategy import Reduction
from blowproof.verifier.theorems.values.free_change import axes_of_facts

__all__ = ["matched", "no_matches"]

MOST_TABLES = whole_limit(__name__, "MOST_TABLES")
MOST_CELLS = whole_limit(__name__, "MOST_CELLS")


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
    places: list[int | None] = [*_tables(question.setting)[:MOST_TABLES]]
    return [
        Reduction(partial(_without, place), partial(_spread, place), lambda _, upper: upper)
        for place in places or [None]
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
    assert isinstance(fact, Marginal)
    easier = setting(replace(policy, secrets=Full()), "any")
    if axes_of_facts(easier).isdisjoint(found.domain.axes(fact.attributes)):
        return easier
    return setting(replace(policy, secrets=PartitionBy(fact.attributes)), "any")


def _without(place: int | None, question: Question) -> Question:
    easier = _known_less(question.setting, place)
    reading: Reading = "published" if easier.graph.complete else "secret-moves"
    return replace(question, setting=easier, reading=reading)


def _spread(place: int | None, question: Question, found: Answer) -> Pair | None:
    """Return what goes and what comes, each kind of move in a cell of its own where there are."""
    pair, known = found.witness, question.setting.policy.known
    if pair is None or place is None:
        return _checked(question, pair)
    easier, fact = _known_less(question.setting, place), known[place]
    assert isinstance(fact, Marginal)
    axes = easier.domain.axes(fact.attributes)
    moves = list(zip(pair.before, pair.after, strict=True))
    taken: set[tuple[int, ...]] = set()
    moved: dict[tuple[Point, Point], tuple[Point, Point]] = {}
    for kind in dict.fromkeys(moves):
        for cell in islice(_cells(easier, axes), MOST_CELLS):
            x, y = ends = tuple(_with(point, axes, cell) for point in kind)
            alike = all(
                easier.effect(p) == easier.effect(q) for p, q in zip(ends, kind, strict=True)
            )
            if cell in taken or x == y or not alike or any(p in easier.impossible for p in ends):
                continue
            taken.add(cell)
            moved[kind] = x, y
            break
    gone, come = zip(*(moved.get(kind, kind) for kind in moves), strict=True)
    spread = Pair.multisets(gone, come)
    return spread if moved.keys() == set(moves) else _checked(question, spread)


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
