"""Numbers along an attribute that are known to rise, or to fall, made to do so.

Prefixes of counts rise, whatever the data are. Of the counts themselves somebody has to know it,
and says so. The nearest numbers in that order, in least squares, are never further from any numbers
that are in it than before: they are the projection on a convex cone, which shortens no way to a
point of the cone. Where some numbers are known exactly, these stay, and those between two of them
lie between these: the nearest ones within an interval are the nearest ones at all, clipped.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining.quantiles import axis_of
from blowproof.mechanisms.estimates.isotonic import rising
from blowproof.models import BoundQuery, Domain, QueryError

__all__ = ["ORDERS", "Order", "order_of"]

Floats = NDArray[np.float64]
ORDERS = ("rising", "falling")
EXACT = 1e-5
"""Standard errors below this share of the largest are those of numbers that are known."""


@dataclass(frozen=True)
class Order:
    """In which order the answers of a query are; `follows`: from what it counts, for any data."""

    falling: bool
    follows: bool

    def step(self, values: Floats, errors: Floats, *, whole: bool = False) -> Floats:
        """Return the nearest numbers in this order; those without an error stay.

        >>> order = Order(falling=True, follows=False)
        >>> order.step(np.array([5.0, 1.0, 2.0, 9.0]), np.array([1.0, 1.0, 1.0, 1.0])).tolist()
        [5.0, 4.0, 4.0, 4.0]
        >>> order.step(np.array([5.0, 1.0, 3.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])).tolist()
        [5.0, 2.0, 2.0, 0.0]
        """
        turn = slice(None, None, -1 if self.falling else 1)
        found = _in_order(values[turn], errors[turn])[turn]
        if whole:
            found = np.rint(found) if self.follows else _whole(found[turn])[turn]
        return np.asarray(found)


def order_of(text: str, query: BoundQuery, domain: Domain) -> Order:
    """Return the order that is asked for; refuse a query that has none, or another one."""
    try:
        axis_of(query, domain)
    except QueryError:
        raise QueryError(
            f"an order is that of counts along one ordered attribute, and {query.name} has none"
            "\n  try: --query 'cumulative(A)' or 'marginal(A)'"
        ) from None
    if text not in ORDERS:
        raise QueryError(f"there is no order {text!r}\n  try: {' or '.join(ORDERS)}")
    follows, falling = query.prefix_axis is not None, text == ORDERS[1]
    if follows and falling:
        raise QueryError(f"{query.name} never falls\n  try: --monotone {ORDERS[0]}")
    return Order(falling=falling, follows=follows)


def _in_order(values: Floats, errors: Floats) -> Floats:
    """Return the nearest rising numbers among those that agree with the ones that are known."""
    found = np.array(values, dtype=np.float64)
    known = np.flatnonzero(errors <= EXACT * errors.max(initial=0))
    ends = found[known]
    if (np.diff(ends) < -EXACT * (1 + abs(ends[:-1]))).any():
        raise RefusedError(
            "the known counts are not in that order: nothing was estimated"
            "\n  try: the other order, or leave --monotone out"
        )
    starts = [-1, *known.tolist()]
    stops = [*known.tolist(), len(found)]
    for start, stop in zip(starts, stops, strict=True):
        low = found[start] if start >= 0 else -np.inf
        high = found[stop] if stop < len(found) else np.inf
        inside = rising_at_all(found[start + 1 : stop])
        found[start + 1 : stop] = np.clip(inside, low, high)
    return found


def rising_at_all(values: Floats) -> Floats:
    """Return the nearest rising numbers, however small or large.

    >>> rising_at_all(np.array([-1.0, 3.0, 2.0])).tolist()
    [-1.0, 2.5, 2.5]
    """
    if not len(values):
        return values
    low = float(values.min())
    return rising(values - low, most=None) + low


def _whole(values: Floats) -> Floats:
    """Return whole numbers near rising ones, that rise and have the nearest whole sum.

    Each is rounded up or down, up where most is cut off: of two with the same whole part that is
    the later one, so that they rise.

    >>> _whole(np.array([0.5, 0.5, 1.4, 1.6])).tolist()
    [0.0, 1.0, 1.0, 2.0]
    """
    low = np.floor(values + 1e-9)
    missing = round(float(values.sum() - low.sum()))
    cut = np.round(values - low, 9)  # what is alike up to errors of floats is alike
    order = np.lexsort((-np.arange(len(values)), -cut))
    low[order[: max(0, missing)]] += 1
    return np.asarray(low)
