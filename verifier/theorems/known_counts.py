"""Scope "given": what the known numbers allow, by linear programs whose duals are checked exactly.

Let h be the histogram of a database over classes of values: A h = c, h >= 0. For any w with
w A >= g (in every class), g h <= w A h = w c. The solver proposes w in floating point; here it is
rounded, made feasible with the row of n (or with facts that count every class that matters), and
the bound is computed from it in whole numbers. So nothing depends on the solver being right.

*How many records move, readings 1 and 2.* Without clauses, every move of a pair with several moves
changes class: a part of the moves that changes no count could be dropped (see `complete_graph`).
Let M records move, x of them out of a class and y into it, u of its records stay. Nobody does both,
so x + y <= M, and u <= n - M. The class holds x + u records in D1 and y + u in D2, so if it holds
at least m in every database, 2 m <= M + 2 (n - M), and M <= 2 (n - m).

*Reading 3.* A record whose class counts for no fact is added or removed alone. So of several moves,
all are of other classes, of which D1 and D2 hold at most the maximum each.

*What the query can be.* Each output of a linear query lies between its minimum and its maximum over
I_Q, and so changes by at most their difference.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Setting
from blowproof.models.base.clock import now
from blowproof.verifier.databases.value_classes import ClassTable
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["GRAIN", "KnownCounts", "Vector", "most_added_and_removed", "most_moving"]

GRAIN = whole_limit(__name__, "GRAIN")
SHORTEST = real_limit(__name__, "SHORTEST")
LARGEST = whole_limit(__name__, "LARGEST")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")

Vector = NDArray[np.int64]


class KnownCounts:
    """The equalities of a setting with their answers over classes; `size`: and n, if known."""

    def __init__(
        self, setting: Setting, table: ClassTable, *, size: int | None, deadline: float | None
    ) -> None:
        self.deadline = deadline
        rows = [table.effects.T]
        answers = [fact.answer for fact in setting.equalities]
        self.sized = size is not None
        if size is not None:
            rows.append(np.ones((1, len(table.classes)), dtype=np.int64))
            answers.append(size)
        self.rows = np.vstack(rows)
        self.answers = [0 if answer is None else answer for answer in answers]
        self.usable = (
            None not in answers
            and max(map(abs, self.answers), default=0) < LARGEST
            and 0 < self.rows.size <= MOST_ENTRIES
        )

    def most(self, goal: Vector) -> int | None:
        """Return a number that `goal` times the histogram never exceeds; None: none was found.

        >>> import numpy as np
        >>> from blowproof.models import Count, Database, Domain, Labels, Policy, setting
        >>> domain = Domain(sex=Labels(["F", "M"]))
        >>> policy = Policy(domain=domain, known=(Count({"sex": "F"}, answer=3),),
        ...                 database=Database(size=5))
        >>> from blowproof.verifier.databases.value_classes import class_table
        >>> found = setting(policy)
        >>> known = KnownCounts(found, class_table(found), size=5, deadline=None)
        >>> known.most(np.array([1, 0])), known.most(np.array([0, 1]))
        (2, 3)
        """
        found = self.combination(goal)
        return None if found is None else floor(Fraction(found[1], GRAIN))

    def combination(self, goal: Vector) -> tuple[Vector, int] | None:
        """Return a combination of facts that counts GRAIN times the goal, or more, in every class,
        and what its answers add up to; None: none was found.
        """
        if not self.usable:
            return None
        dual = self._dual(goal)
        if dual is None:  # then what counts everything has to do
            dual = np.zeros(len(self.rows), dtype=np.int64)
        missing = goal * GRAIN - dual @ self.rows  # where this is above 0, the dual fails
        lift = int(missing.max(initial=0))
        if lift > 0:
            push = self._everywhere(missing)
            if push is None:
                return None
            dual = dual + lift * push
        if (dual @ self.rows < goal * GRAIN).any():
            return None
        return dual, sum(int(w) * answer for w, answer in zip(dual, self.answers, strict=True))

    def _dual(self, goal: Vector) -> Vector | None:
        from scipy.optimize import linprog

        left = None if self.deadline is None else self.deadline - now()
        left = None if left is None else max(left, SHORTEST)
        solved: Any = linprog(
            np.array(self.answers, dtype=float),
            A_ub=-self.rows.T.astype(float),
            b_ub=-goal.astype(float),
            bounds=(None, None),
            method="highs",
            options={} if left is None else {"time_limit": left},
        )
        if solved.x is None or not np.isfinite(solved.x).all():
            return None
        if np.abs(solved.x).max(initial=0) > LARGEST:
            return None
        rounded: Vector = np.rint(solved.x * GRAIN).astype(np.int64)
        return rounded

    def _everywhere(self, missing: Vector) -> Vector | None:
        """Return a combination of facts that counts every class where something is missing."""
        push = np.zeros(len(self.rows), dtype=np.int64)
        if self.sized:
            push[-1] = 1
            return push
        push[:] = 1
        counted = push @ self.rows
        enough = (counted >= 0).all() and (counted[missing > 0] >= 1).all()
        return push if enough else None

    def least(self, goal: Vector) -> int | None:
        """Return a number that `goal` times the histogram never falls below; None: none found."""
        most = self.most(np.negative(goal))
        return None if most is None else -most


def most_moving(known: KnownCounts, table: ClassTable, size: int) -> int:
    """Return how many records move at the most in readings 1 and 2, without clauses.

    Only a class that must hold more than half of all records says more than n does: it is the
    one that fewest facts count, where there is such a class at all.
    """
    if not len(table.classes):
        return size
    goal = np.zeros(len(table.classes), dtype=np.int64)
    goal[int(np.abs(table.rows).sum(axis=1).argmin())] = 1
    least = known.least(goal)
    return size if least is None else min(size, max(1, 2 * (size - least)))


def most_added_and_removed(known: KnownCounts, table: ClassTable) -> int | None:
    """Return how many moves a pair of reading 3 makes at the most, without clauses."""
    counted: Vector = np.asarray(table.rows.any(axis=1), dtype=np.int64)
    most = known.most(counted)
    return None if most is None else max(1, 2 * most)
