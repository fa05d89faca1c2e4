"""A change of more than the best in a norm other than l1, as conditional sums over literals.

The change x_o of an output is a sum over records of what D2's value adds less what D1's does; each
level c of the output's rows is a literal "the record reaches c" in either database. Then

    l2-squared   literals t_1, t_2, ... for each output, where t_k lets x_o >= k or x_o <= -k be,
                 and holds only with those before it: 1 + 3 + ... + (2 k - 1) = k ** 2, so the sum
                 of w_o (2 k - 1) t_k is at most, and can be, the size;
    linf         some x_o, or -x_o, is larger than the best;
    range        some x_a - x_b is, where 0 stands for an output that does not change.

Where that is too much to write down, the master goes without, and pairs that change f too little
are excluded one by one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, permutations

from blowproof.models import BoundQuery, Exact
from blowproof.models.norms import L2_SQUARED, LINF, RANGE
from blowproof.models.programs.boolean import Lit
from blowproof.verifier.engines.labelled.master import Master
from blowproof.verifier.engines.labelled.table import Databases
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.score import Score

__all__ = ["NormObjective"]

TERM_LIMIT = whole_limit(__name__, "TERM_LIMIT")

Terms = list[tuple[int, Lit]]
Rows = Sequence[Mapping[Hashable, int]]


class NormObjective:
    """Demands that f change by more than the best so far; without `exact` the demand is empty."""

    def __init__(self, master: Master, query: BoundQuery, rows: Rows | None, scale: int) -> None:
        """`rows`: of each value, scaled to integers; None where they are too many."""
        self.master, self.query = master, query
        self.exact = False
        if rows is None:
            return
        outputs = dict.fromkeys(output for row in rows for output in row)
        self.score = Score.of(query, outputs, scale)
        columns: dict[tuple[int, ...], int] = {}
        for output in outputs:
            column = tuple(row.get(output, 0) for row in rows)
            if len(set(column)) > 1:
                columns[column] = columns.get(column, 0) + self.score.weights.get(output, 1)
        self.columns = list(columns)
        self.times = list(columns.values())
        self.still = self._some_output_is_still(outputs, rows)
        self.exact = self._cost() <= TERM_LIMIT
        self.changes: list[Terms] = []
        if self.exact:
            self.changes = [self._change(column) for column in self.columns]
            self._squares: Terms = []
            if query.measure is L2_SQUARED:
                self._build_squares()

    def _some_output_is_still(self, outputs: Mapping[Hashable, None], rows: Rows) -> bool:
        """Whether an output besides those of `columns` never changes."""
        steady = any(len({row.get(output, 0) for row in rows}) == 1 for output in outputs)
        return steady or len(outputs) < (self.query.width or 0)

    def _reach(self, column: tuple[int, ...]) -> int:
        return self.master.table.size * (max(column) - min(column))

    def _cost(self) -> int:
        """How many literals the sums will have."""
        each = [2 * self.master.table.size * (len(set(column)) - 1) for column in self.columns]
        if self.query.measure is L2_SQUARED:
            return sum(
                2 * count * self._reach(column)
                for count, column in zip(each, self.columns, strict=True)
            )
        return sum(each) * (2 if self.query.measure is LINF else 2 * (len(each) + 1))

    def _change(self, column: tuple[int, ...]) -> Terms:
        """The change of an output as a weighted sum of literals."""
        terms: Terms = []
        master = self.master
        for low, high in pairwise(sorted(set(column))):
            above = frozenset(value for value, number in enumerate(column) if number >= high)
            for record in master.table.records:
                terms.append((high - low, master.second.member(record, above)))
                terms.append((low - high, master.first.member(record, above)))
        return terms

    def _build_squares(self) -> None:
        model = self.master.model
        for column, times, change in zip(self.columns, self.times, self.changes, strict=True):
            less = [(-weight, literal) for weight, literal in change]
            rising, before = self._fresh(), None
            for k in range(1, self._reach(column) + 1):
                step, up, down = self._fresh(), self._fresh(), self._fresh()
                model.add_clause([~step, ~rising, up])
                model.add_clause([~step, rising, down])
                model.weighted(change, lower=k, enforced_by=up)
                model.weighted(less, lower=k, enforced_by=down)
                if before is not None:
                    model.add_clause([~step, before])
                self._squares.append((times * (2 * k - 1), step))
                before = step
            self.master.tick()

    def change(self, pair: Databases) -> Exact:
        """Return the size of f's change in a proposal."""
        from blowproof.verifier.engines.labelled.objective import change_of

        return change_of(self.master.table, self.query, pair.first, pair.second)

    def demand_more_than(self, best: Exact) -> None:
        """Demand a larger change than this one from now on (no demand where not `exact`)."""
        if not self.exact:
            return
        least = Fraction(best * self.score.scale).__floor__() + 1
        if self.query.measure is L2_SQUARED:
            self.master.model.weighted(self._squares, lower=least)
        else:
            self._one_of(least)
        self.master.tick()

    def _one_of(self, least: int) -> None:
        """Demand that one output, or the difference of two, is so large."""
        model = self.master.model
        found = []
        for terms in self._candidates():
            literal = self._fresh()
            model.weighted(terms, lower=least, enforced_by=literal)
            found.append(literal)
        model.add_clause(found)

    def _candidates(self) -> list[Terms]:
        less = [[(-weight, literal) for weight, literal in terms] for terms in self.changes]
        if self.query.measure is LINF or (self.query.measure is RANGE and self.still):
            found = [*self.changes, *less]
        else:
            found = []
        if self.query.measure is RANGE:
            places = range(len(self.changes))
            found += [self.changes[one] + less[two] for one, two in permutations(places, 2)]
        return found

    def _fresh(self) -> Lit:
        return self.master.model.var(f"norm{len(self.master.model.variables)}")
