"""Distinct orders of a multiset, one after the other and without recursion.

The records of a database of 10^5 records have more orders than anybody lists, but the first ones
are wanted at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

__all__ = ["arrangements", "arrangements_of_blocks"]

Item = TypeVar("Item")


def arrangements(stock: Mapping[Item, int]) -> Iterator[list[Item]]:
    """Yield every distinct order of a multiset, in the lexicographic order of its keys' places.

    >>> ["".join(order) for order in arrangements({"b": 1, "a": 2})]
    ['baa', 'aba', 'aab']
    """
    items = [item for item, times in stock.items() if times]
    order = [place for place, item in enumerate(items) for _ in range(stock[item])]
    yield [items[place] for place in order]
    while _next(order):
        yield [items[place] for place in order]


def _next(order: list[int]) -> bool:
    """Turn an order into the next one in lexicographic order; False if it is the last."""
    pivot = len(order) - 2
    while pivot >= 0 and order[pivot] >= order[pivot + 1]:
        pivot -= 1
    if pivot < 0:
        return False
    other = len(order) - 1
    while order[other] <= order[pivot]:
        other -= 1
    order[pivot], order[other] = order[other], order[pivot]
    order[pivot + 1 :] = reversed(order[pivot + 1 :])
    return True


def arrangements_of_blocks(stocks: Sequence[Mapping[Item, int]]) -> Iterator[list[list[Item]]]:
    """Yield every choice of an order for each multiset, the last one's changing fastest.

    >>> list(arrangements_of_blocks([{1: 1}, {2: 1, 3: 1}]))
    [[[1], [2, 3]], [[1], [3, 2]]]
    """
    streams = [arrangements(stock) for stock in stocks]
    chosen = [next(stream) for stream in streams]
    while True:
        yield list(chosen)
        for place in reversed(range(len(stocks))):
            following = next(streams[place], None)
            if following is not None:
                chosen[place] = following
                break
            streams[place] = arrangements(stocks[place])
            chosen[place] = next(streams[place])
        else:
            return
