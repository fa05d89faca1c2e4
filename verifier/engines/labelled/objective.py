"""||f(D1) - f(D2)||_1 > best, as clauses and one sum; `other_norms` has the other norms.

With a sign s_o in {-1, 1} for every output o, the norm is the largest value of
sum_o s_o (f_o(D2) - f_o(D1)), so it exceeds `best` iff some signs reach beyond it: the signs are
variables. Outputs are integers after scaling; those that are multiples of one another up to a
constant (n is the same in D1 and D2) or a sign are one output with a weight.

An output's levels 0 = c_0 < c_1 < ... over the values give, per record, level j and database, a
literal A for "s_o agrees with [the record reaches c_j]": in D2 positive signs want it to reach the
level, in D1 they want it not to. Then

    s_o (r(y) - r(x)) = sum_j (c_j - c_(j-1)) (A_j(y) + A_j(x) - 1).

Where no value counts for more than one output (histograms), three literals per record replace
those of all outputs. Where even the levels are too many, the master goes without, and pairs that
change f too little are excluded one by one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import gcd, lcm

from blowproof.models import BoundQuery, Exact, Move
from blowproof.models.base.numbers import plain
from blowproof.models.norms import L1
from blowproof.models.programs.boolean import Lit
from blowproof.verifier.engines.labelled.master import Master
from blowproof.verifier.engines.labelled.other_norms import NormObjective
from blowproof.verifier.engines.labelled.table import Databases, Table
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["Objective", "change_of", "objective_of", "trivial_bound"]

TERM_LIMIT = whole_limit(__name__, "TERM_LIMIT")
NUMBER_LIMIT = whole_limit(__name__, "NUMBER_LIMIT")
DIAGRAM_LIMIT = whole_limit(__name__, "DIAGRAM_LIMIT")

Row = tuple[int, ...]


def change_of(
    table: Table, query: BoundQuery, first: Sequence[int], second: Sequence[int]
) -> Exact:
    """Return the size of f(D1) - f(D2) exactly."""
    return query.difference(
        Move(table.values[x], table.values[y], i)
        for i, (x, y) in enumerate(zip(first, second, strict=True))
        if x != y
    )


def trivial_bound(table: Table, query: BoundQuery) -> Exact:
    """Return sum_i max_{x, y} ||f's change when record i goes from x to y||_1.

    It bounds S(f, P) by the triangle inequality; for the histogram it is 2n. In l2-squared the sum
    is one of roots, squared (see `Norm.repeated`).
    """
    if query.per_record:
        weights: Sequence[Exact] = query.weights  # type: ignore[attr-defined]
        column: list[Exact] = [query.row(x)[0] for x in table.values] or [0]
        heavy = Fraction(sum(abs(Fraction(w)) for w in weights[: table.size]))
        return plain(heavy * (max(column) - min(column)))
    largest = max(
        (
            query.difference([Move(x, y)])
            for place, x in enumerate(table.values)
            for y in table.values[:place]
        ),
        default=0,
    )
    return query.measure.repeated(largest, table.size)


def objective_of(master: Master, query: BoundQuery) -> Objective | NormObjective:
    """Return what demands larger changes, in the query's norm."""
    if query.measure is L1:
        return Objective(master, query)
    rows = _rows(master.table, query)
    if rows is None:
        return NormObjective(master, query, None, 1)
    scale = lcm(*(v.denominator for row in rows for v in row.values()), 1)
    whole = [{output: int(value * scale) for output, value in row.items()} for row in rows]
    return NormObjective(master, query, whole, scale)


class Objective:
    """Demands that f change by more than the best so far; without `exact` the demand is empty."""

    def __init__(self, master: Master, query: BoundQuery) -> None:
        self.master, self.table, self.query = master, master.table, query
        self._terms: list[tuple[int, Lit]] = []
        self._constant = 0
        self._scale = 1
        self._binary = False
        self.exact = self._build()

    def change(self, pair: Databases) -> Exact:
        """Return ||f(D1) - f(D2)||_1 of a proposal."""
        return change_of(self.table, self.query, pair.first, pair.second)

    def demand_more_than(self, best: Exact) -> None:
        """Demand a larger change than this one from now on (no demand where not `exact`)."""
        self._demand(Fraction(best * self._scale).__floor__() + 1)

    def demand_at_least(self, value: Exact) -> None:
        """Demand this change or a larger one from now on (no demand where not `exact`)."""
        self._demand(Fraction(value * self._scale).__ceil__())

    def _demand(self, least: int) -> None:
        if self.exact:
            self.master.model.weighted(self._digits(), lower=least - self._constant)
            self.master.tick()

    def _digits(self) -> list[tuple[int, Lit]]:
        """Return terms with the same sum; one too large for a diagram is made binary."""
        total = sum(weight for weight, _ in self._terms)
        if not self._binary and len(self._terms) * total > DIAGRAM_LIMIT:
            model = self.master.model
            bits = [(1 << k, model.var(f"digit{k}")) for k in range(total.bit_length())]
            minus = [(-weight, literal) for weight, literal in bits]
            model.weighted([*self._terms, *minus], lower=0, upper=0)
            self._terms, self._binary = bits, True
        return self._terms

    def _build(self) -> bool:
        if not self.query.per_record:
            rows = _rows(self.table, self.query)
            if rows is None:
                return False
            self._scale = lcm(*(v.denominator for row in rows for v in row.values()), 1)
            if self._is_one_hot(rows):
                self._build_one_hot(rows)
                return True
            if len({output for row in rows for output in row}) * len(rows) > 4 * NUMBER_LIMIT:
                return False
            outputs = _outputs(rows, self._scale)
            levels = sum(len(set(row)) - 1 for row in outputs)
            if 2 * levels * self.table.size > TERM_LIMIT:
                return False
            for place, (row, weight) in enumerate(outputs.items()):
                sign = self.master.model.var(f"sign[{place}]")
                for record in self.table.records:
                    self._add_output(sign, record, row, weight)
                self.master.tick()
            return True
        self._build_weighted()
        return True

    def _build_weighted(self) -> None:
        weights: Sequence[Exact] = self.query.weights  # type: ignore[attr-defined]
        column = [self.query.row(x)[0] for x in self.table.values]
        products = [[weight * value for value in column] for weight in weights[: self.table.size]]
        self._scale = lcm(*(v.denominator for row in products for v in row), 1)
        sign = self.master.model.var("sign")
        for record, row in enumerate(products):
            self._add_output(sign, record, tuple(int(v * self._scale) for v in row), 1)

    def _add_output(self, sign: Lit, record: int, row: Row, weight: int) -> None:
        levels = sorted(set(row))
        for low, high in pairwise(levels):
            above = frozenset(v for v, number in enumerate(row) if number >= high)
            for side, direction in ((self.master.second, sign), (self.master.first, ~sign)):
                agrees = self._fresh()
                member = side.member(record, above)
                self.master.model.add_clause([~agrees, ~member, direction])
                self.master.model.add_clause([~agrees, member, ~direction])
                self._terms.append(((high - low) * weight, agrees))
            self._constant -= (high - low) * weight

    def _is_one_hot(self, rows: Sequence[Mapping[Hashable, Exact]]) -> bool:
        numbers = {value for row in rows for value in row.values()}
        outputs = {output for row in rows for output in row}
        return len(outputs) > 2 and len(numbers) == 1 and all(len(row) <= 1 for row in rows)

    def _build_one_hot(self, rows: Sequence[Mapping[Hashable, Exact]]) -> None:
        """A record counts for one output at most: +1, -1, or (no output) 0 times the number."""
        number = int(next(v for row in rows for v in row.values()) * self._scale)
        cells: dict[Hashable, set[int]] = defaultdict(set)
        for value, row in enumerate(rows):
            for output in row:
                cells[output].add(value)
        signs = {output: self.master.model.var(f"sign[{n}]") for n, output in enumerate(cells)}
        nowhere = self.table.every.difference(*cells.values())
        for record in self.table.records:
            for side, wanted in ((self.master.second, 1), (self.master.first, -1)):
                gains, spares = self._fresh(), self._fresh()
                for output, values in cells.items():
                    sign = signs[output] if wanted > 0 else ~signs[output]
                    member = side.member(record, frozenset(values))
                    for literal in (gains, spares):
                        self.master.model.add_clause([~literal, ~member, sign])
                for value in nowhere:
                    self.master.model.add_clause([~gains, ~side.at[record][value]])
                self._terms += [(abs(number), gains), (abs(number), spares)]
                self._constant -= abs(number)
            self.master.tick()

    def _fresh(self) -> Lit:
        return self.master.model.var(f"gain{len(self.master.model.variables)}")


def _rows(table: Table, query: BoundQuery) -> list[dict[Hashable, Exact]] | None:
    """Return each value's row without zeros, or None where they are too many to write down."""
    rows: list[dict[Hashable, Exact]] = []
    size = 0
    for point in table.values:
        row = {output: value for output, value in query.row(point).items() if value}
        size += len(row)
        if size > NUMBER_LIMIT:
            return None
        rows.append(row)
    return rows


def _outputs(rows: Sequence[Mapping[Hashable, Exact]], scale: int) -> dict[Row, int]:
    """Return the different outputs as rows over the values, with weights."""
    columns: dict[Hashable, list[int]] = {}
    for value, row in enumerate(rows):
        for output, number in row.items():
            columns.setdefault(output, [0] * len(rows))[value] = int(number * scale)
    outputs: dict[Row, int] = defaultdict(int)
    for column in columns.values():
        common = gcd(*(number - column[0] for number in column))
        if common:
            steps = [(number - column[0]) // common for number in column]
            least, most = min(steps), max(steps)
            up = tuple(step - least for step in steps)
            down = tuple(most - step for step in steps)
            outputs[min(up, down)] += common
    return outputs
