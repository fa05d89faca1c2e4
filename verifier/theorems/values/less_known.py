"""What one move changes a query by, less what the known facts say of it.

*Statement.* Let g be f, of which each output has a linear combination of equality facts taken away.
Two databases of I_Q agree on the facts, so that f and g change by the same between them. A pair of
M moves changes f by no more than M times (in l2-squared M^2 times) what one move changes g by; and
if output j of g lies between a_j and b_j over the possible values, that is at most the norm of the
vector of all b_j - a_j, in l1, l2-squared and linf. (In the norm range, one output may rise and
another fall.)

So the sum of pay beside counts by pay band changes by the width of a band, not by that of all pay;
of cumulative counts those that are published count nothing. A class of values that no fact tells
apart counts with the least and the most that f is on it. Which combinations are best is a linear
program for each output; its solution, in floats, only proposes: a_j and b_j are found exactly, for
what it proposes in fractions and for 0.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from blowproof.models import BlowproofError, BoundQuery, Exact, Setting
from blowproof.models.base.clock import now
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1, L2_SQUARED, LINF
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.theorems.values.seen_values import seen_values

__all__ = ["change_less_facts"]

MOST_OUTPUTS = whole_limit(__name__, "MOST_OUTPUTS")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
MOST_VALUES = whole_limit(__name__, "MOST_VALUES")
FINENESS = whole_limit(__name__, "FINENESS")
SECONDS = real_limit(__name__, "SECONDS")

Ends = list[tuple[Exact, Exact]]
"""The least and the most that an output is on each class."""


def change_less_facts(setting: Setting, query: BoundQuery) -> Exact | None:
    """Return what one move changes the query by at the most, less facts; None: nothing is known.

    >>> from blowproof.models import Count, Domain, Integers, Policy, parse_query
    >>> from blowproof.models import setting as setting_of
    >>> policy = Policy(domain=Domain(pay=Integers(0, 90)), known=(Count({"pay": [0, 90]}),))
    >>> change_less_facts(setting_of(policy), parse_query("sum(pay)", policy))
    90
    """
    if query.per_record or not setting.equalities or query.measure not in (L1, L2_SQUARED, LINF):
        return None
    found: Exact | None = setting.kept.get(
        ("less facts", query), lambda: _less_facts(setting, query)
    )
    return found


def _less_facts(setting: Setting, query: BoundQuery) -> Exact | None:
    end = now() + SECONDS
    try:
        table = class_table(setting, deadline=end)
        if table.effects.size > MOST_ENTRIES:
            return None
        values = seen_values(setting, query, table, end=end)
        if values is None or query.longest_row * sum(map(len, values)) > MOST_VALUES:
            return None
        rows = [[query.row(x) for x in points] for points in values]
        outputs = dict.fromkeys(key for each in rows for row in each for key in row)
        if len(outputs) > MOST_OUTPUTS or len(outputs) * sum(map(len, rows)) > MOST_VALUES:
            return None
        sizes: list[tuple[Exact, Exact]] = [(0, 1)]  # some output may stay as it is
        for key in outputs:
            held = [[row.get(key, 0) for row in each] for each in rows]
            ends = [(min(each), max(each)) for each in held]
            sizes.append((_spread(table.effects, ends, end), query.weight(key)))
    except (BlowproofError, TimeoutError, OverflowError):
        return None
    return plain(query.measure.of(sizes))


def _spread(rows: NDArray[np.int64], ends: Ends, end: float) -> Exact:
    """Return how far an output, less the best combination found, lies apart at the most."""
    best = max(high for _, high in ends) - min(low for low, _ in ends)
    times = _proposed(rows, ends, end)
    if times is None:
        return best
    places = [place for place, number in enumerate(times) if number]
    taken = [sum(times[place] * row[place] for place in places) for row in rows.tolist()]
    low = min(one - less for (one, _), less in zip(ends, taken, strict=True))
    high = max(two - less for (_, two), less in zip(ends, taken, strict=True))
    return min(best, plain(Fraction(high - low)))


def _proposed(rows: NDArray[np.int64], ends: Ends, end: float) -> list[Fraction] | None:
    """Return a combination of facts, in fractions; None where none is found in time."""
    from scipy.optimize import linprog

    count, facts = rows.shape
    left = end - now()
    scale = max(abs(float(x)) for both in ends for x in both)
    if left <= 0 or not 0 < scale < 1e15:
        return None
    floats = rows.astype(np.float64)
    lows, highs = (np.array([float(each[k]) for each in ends]) / scale for k in (0, 1))
    ones, none = np.ones((count, 1)), np.zeros((count, 1))
    # Variables: the combination, the least of the output, the most of it.
    above = np.hstack([-floats, none, -ones])
    below = np.hstack([floats, ones, none])
    solved = linprog(
        np.concatenate([np.zeros(facts), [-1.0, 1.0]]),
        A_ub=np.vstack([above, below]),
        b_ub=np.concatenate([-highs, lows]),
        bounds=(None, None),
        method="highs",
        options={"time_limit": max(0.1, left)},
    )
    if solved.x is None:
        return None
    return [
        Fraction(float(x) * scale).limit_denominator(FINENESS) for x in solved.x[:facts].tolist()
    ]
