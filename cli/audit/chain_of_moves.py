"""The chain of moves that links two neighbours: why so many records have to change together.

Every move disturbs some known facts, and others make up for it. The moves are put into an order in
which, as far as possible, each lifts a fact that the move before it has lowered, and little is out
of balance in between. Where the facts are sparse the moves are a cycle of the policy graph
(blowfish-2014, Definition 8.3), and the order walks around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from blowproof.models import Point, Policy, setting
from blowproof.models.policy.in_words import fact_label
from blowproof.models.policy.readings import is_labelled

if TYPE_CHECKING:
    from blowproof.models.policy.policy import Answers
    from blowproof.models.policy.readings import Reading, is_labelled
    from blowproof.verifier.asked.answer import Pair

__all__ = ["Chain", "Link", "best_order", "chain_of"]

Effect = tuple[int, ...]

FEW = 10
"""Up to this many moves, the best order of all is found; beyond, each next move is the best one."""

MANY = 400
"""Longer chains are left in the order in which the engine handed them over."""


@dataclass(frozen=True)
class Link:
    """One move: a record that changes, or (None) one that is added or removed.

    `lowers` and `lifts`: the known facts that it alone would make smaller or larger, and by how
    much, in the words of the policy.
    """

    before: Point | None
    after: Point | None
    record: int | None
    lowers: tuple[tuple[str, int], ...]
    lifts: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Chain:
    """A pair with its moves in the order of the chain, and what each does to the known facts."""

    pair: Pair
    links: tuple[Link, ...]


def chain_of(policy: Policy, pair: Pair, reading: Reading, answers: Answers | None) -> Chain:
    """Return the pair with its changes in an order that shows what links them."""
    found = setting(policy, answers)
    facts = (*found.equalities, *found.bounds)
    names = [fact_label(policy, fact) for fact in facts]

    def adds(point: Point | None) -> Effect:
        if point is None:
            return (0,) * len(facts)
        return tuple(fact.coefficient(point) for fact in facts)

    cached = {point: adds(point) for point in {*pair.before, *pair.after, None}}
    moves = pair.moves(reading)
    effects = [
        tuple(b - a for a, b in zip(cached[m.before], cached[m.after], strict=True)) for m in moves
    ]
    order = best_order(effects)
    links = tuple(
        Link(
            moves[place].before,
            moves[place].after,
            moves[place].record,
            tuple((names[q], -n) for q, n in enumerate(effects[place]) if n < 0),
            tuple((names[q], n) for q, n in enumerate(effects[place]) if n > 0),
        )
        for place in order
    )
    return Chain(_permuted(pair, order, reading), links)


def _permuted(pair: Pair, order: Sequence[int], reading: Reading) -> Pair:
    """The pair with its changes in the order of the chain, where each i is one move."""
    if not is_labelled(reading):
        return pair
    return replace(
        pair,
        before=tuple(pair.before[place] for place in order),
        after=tuple(pair.after[place] for place in order),
        records=None if pair.records is None else tuple(pair.records[place] for place in order),
    )


def best_order(effects: Sequence[Effect]) -> list[int]:
    """Return an order of the moves in which as many as possible make up for the one before.

    Among such orders, one that is out of balance the least in between (in the L1 norm, summed).

    >>> best_order([(1, 0, -1), (-1, 1, 0), (0, -1, 1)])  # each lifts what the last one lowered
    [0, 2, 1]
    """
    if len(effects) > MANY or not any(any(effect) for effect in effects):
        return list(range(len(effects)))
    return _exact(effects) if len(effects) <= FEW else _greedy(effects)


def _follows(first: Effect, second: Effect) -> bool:
    """Whether the second move lifts a fact that the first one lowers."""
    return any(a < 0 < b for a, b in zip(first, second, strict=True))


def _norm(effect: Effect) -> int:
    return sum(abs(number) for number in effect)


def _plus(first: Effect, second: Effect) -> Effect:
    return tuple(a + b for a, b in zip(first, second, strict=True))


def _exact(effects: Sequence[Effect]) -> list[int]:
    """Dynamic programming over the sets of moves already made, and the last of them."""
    count = len(effects)
    total = {0: (0,) * len(effects[0])}
    best: dict[tuple[int, int], tuple[int, int, list[int]]] = {}
    for chosen in range(1, 1 << count):
        low = (chosen & -chosen).bit_length() - 1
        total[chosen] = _plus(total[chosen & (chosen - 1)], effects[low])
        unrest = _norm(total[chosen])
        for last in range(count):
            if not chosen >> last & 1:
                continue
            rest = chosen & ~(1 << last)
            if not rest:
                best[chosen, last] = (0, unrest, [last])
                continue
            best[chosen, last] = min(
                (breaks + (not _follows(effects[p], effects[last])), sum_ + unrest, [*path, last])
                for p in range(count)
                if rest >> p & 1
                for breaks, sum_, path in [best[rest, p]]
            )
    return min(best[(1 << count) - 1, last] for last in range(count))[2]


def _greedy(effects: Sequence[Effect]) -> list[int]:
    """Next comes a move that follows the last one and leaves the least out of balance."""
    left = list(range(1, len(effects)))
    order, sofar = [0], effects[0]
    while left:
        last = effects[order[-1]]
        following = min(
            left,
            key=lambda p: (
                not _follows(last, effects[p]),
                _norm(_plus(sofar, effects[p])),
                p,
            ),
        )
        left.remove(following)
        order.append(following)
        sofar = _plus(sofar, effects[following])
    return order
