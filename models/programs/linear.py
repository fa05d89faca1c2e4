"""Integer linear models that belong to no solver: exact integers in, exact integers out.

Reading order: `linear_terms.py` (what is written), then `LinearConstraint` and `Clause` (what is
demanded) and `LinearModel` (the builder, and `evaluate`, which checks a solver's word).
`to_cpsat.py` solves these models; `linear_export.py` writes them as LP and MPS files.

Every number is an int of any size. A float or a Fraction is refused with TypeError: whoever holds
fractions multiplies the row by their common denominator, which keeps it the same row.

>>> model = LinearModel(name="coins")
>>> small, large = (model.int_var(name, lower=0, upper=9) for name in ("small", "large"))
>>> print(model.add(2 * small + 5 * large, lower=16, upper=16))
c1: 2*small + 5*large = 16
>>> model.maximise(small + large)
>>> model
LinearModel('coins', 2 variables, 1 constraint, maximise small + large)
>>> model.evaluate({"small": 3, "large": 2}), model.evaluate({"small": 10, "large": 0})
([], [small in [0, 9], c1: 2*small + 5*large = 16])
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from blowproof.models.programs.linear_terms import (
    Assignment,
    BoolLiteral,
    IntVar,
    LinearExpr,
    as_expr,
    value_of,
    weighted_sum,
    whole,
)

__all__ = [
    "Assignment",
    "BoolLiteral",
    "Clause",
    "Constraint",
    "IntVar",
    "LinearConstraint",
    "LinearExpr",
    "LinearModel",
    "Violation",
    "weighted_sum",
]


@dataclass(frozen=True, slots=True, repr=False)
class LinearConstraint:
    """lower <= expr <= upper (None: no such end), demanded only if `enforced_by` holds."""

    name: str
    expr: LinearExpr
    lower: int | None
    upper: int | None
    enforced_by: BoolLiteral | None = None
    group: str | None = None

    def holds(self, assignment: Assignment) -> bool:
        """Return whether the assignment satisfies this constraint."""
        if self.enforced_by is not None and not self.enforced_by.holds(assignment):
            return True
        value = self.expr.evaluate(assignment)
        above = self.lower is None or self.lower <= value
        return above and (self.upper is None or value <= self.upper)

    def __repr__(self) -> str:
        left = "" if self.lower is None else f"{self.lower} <= "
        right = "" if self.upper is None else f" <= {self.upper}"
        if self.lower == self.upper:
            left, right = "", f" = {self.upper}"
        condition = "" if self.enforced_by is None else f" if {self.enforced_by}"
        return f"{self.name}: {left}{self.expr}{right}{condition}"


@dataclass(frozen=True, slots=True, repr=False)
class Clause:
    """At least one of the literals holds; an empty clause is never satisfied."""

    name: str
    literals: tuple[BoolLiteral, ...]
    group: str | None = None

    def holds(self, assignment: Assignment) -> bool:
        """Return whether the assignment satisfies this clause."""
        return any(literal.holds(assignment) for literal in self.literals)

    def __repr__(self) -> str:
        return f"{self.name}: {' or '.join(map(repr, self.literals)) or 'false'}"


Constraint: TypeAlias = LinearConstraint | Clause
Violation: TypeAlias = IntVar | LinearConstraint | Clause


class LinearModel:
    """A builder: variables, constraints in the order they came, and at most one objective.

    A constraint may carry a `group`: the name under which `smallest_infeasible_subset` speaks
    about it, for instance the key of the fact in the policy file.
    """

    def __init__(self, *, name: str = "model") -> None:
        self.name = name
        self._variables: dict[str, IntVar] = {}
        self._constraints: dict[str, Constraint] = {}
        self._objective: LinearExpr | None = None

    @property
    def variables(self) -> tuple[IntVar, ...]:
        """The variables in the order in which they were made."""
        return tuple(self._variables.values())

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints in the order in which they were added."""
        return tuple(self._constraints.values())

    @property
    def objective(self) -> LinearExpr | None:
        """What is maximised, or None for a pure question of existence."""
        return self._objective

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the constraints' groups, each once, in order of appearance."""
        return tuple(dict.fromkeys(c.group for c in self.constraints if c.group is not None))

    def int_var(self, name: str, *, lower: int, upper: int) -> IntVar:
        """Make a variable over lower..upper; the name must be new."""
        variable = IntVar(name, lower, upper)
        if name in self._variables:
            raise ValueError(f"the model already has a variable {name!r}")
        self._variables[name] = variable
        return variable

    def bool_var(self, name: str) -> IntVar:
        """Make a 0/1 variable."""
        return self.int_var(name, lower=0, upper=1)

    def add(
        self,
        expr: LinearExpr | IntVar,
        *,
        lower: int | None = None,
        upper: int | None = None,
        enforced_by: BoolLiteral | IntVar | None = None,
        name: str | None = None,
        group: str | None = None,
    ) -> LinearConstraint:
        """Demand lower <= expr <= upper, if `enforced_by` holds. Give at least one end.

        The stored row has no constant: it is moved into the bounds.
        """
        row = self._known(as_expr(expr))
        low = None if lower is None else whole(lower, "a lower bound") - row.constant
        high = None if upper is None else whole(upper, "an upper bound") - row.constant
        if low is None and high is None:
            raise ValueError(f"{row} is given neither a lower nor an upper bound")
        if low is not None and high is not None and low > high:
            raise ValueError(f"nothing satisfies {lower} <= {row} <= {upper}")
        literal = None if enforced_by is None else self._literal(enforced_by)
        constraint = LinearConstraint(
            self._fresh_name(name), LinearExpr(row.terms), low, high, literal, group
        )
        self._constraints[constraint.name] = constraint
        return constraint

    def add_clause(
        self,
        literals: Iterable[BoolLiteral | IntVar],
        *,
        name: str | None = None,
        group: str | None = None,
    ) -> Clause:
        """Demand that a literal holds. (A condition c is one more literal, ~c.)"""
        clause = Clause(
            self._fresh_name(name), tuple(self._literal(literal) for literal in literals), group
        )
        self._constraints[clause.name] = clause
        return clause

    def maximise(self, expr: LinearExpr | IntVar) -> None:
        """Set the objective; to minimise e, maximise -e."""
        self._objective = self._known(as_expr(expr))

    def evaluate(self, assignment: Assignment) -> list[Violation]:
        """Return what the assignment violates: variables out of their domain, then constraints.

        This is the check that a solver's answer passes before anyone sees it. It uses nothing but
        Python's integers. Names that the model does not know are ignored.
        """
        broken: list[Violation] = [
            v for v in self.variables if not v.lower <= value_of(v, assignment) <= v.upper
        ]
        return broken + [c for c in self.constraints if not c.holds(assignment)]

    def without_groups(self, dropped: Iterable[str], *, objective: bool = True) -> LinearModel:
        """Return a copy that lacks the constraints of these groups (and, if asked, the goal)."""
        gone = frozenset(dropped)
        copy = LinearModel(name=self.name)
        copy._variables = dict(self._variables)
        copy._constraints = {n: c for n, c in self._constraints.items() if c.group not in gone}
        copy._objective = self._objective if objective else None
        return copy

    def _known(self, expr: LinearExpr) -> LinearExpr:
        for _, variable in expr.terms:
            self._check(variable)
        return expr

    def _literal(self, literal: BoolLiteral | IntVar) -> BoolLiteral:
        if not isinstance(literal, BoolLiteral | IntVar):
            raise TypeError(f"{literal!r} is not a literal: give a 0/1 variable or its negation")
        plain = BoolLiteral(literal) if isinstance(literal, IntVar) else literal
        self._check(plain.variable)
        return plain

    def _check(self, variable: IntVar) -> None:
        if self._variables.get(variable.name) != variable:
            raise ValueError(f"{variable!r} is not a variable of {self.name!r}")

    def _fresh_name(self, wanted: str | None) -> str:
        if wanted is None:
            number = len(self._constraints) + 1
            while f"c{number}" in self._constraints:
                number += 1
            return f"c{number}"
        if not wanted or "\n" in wanted or wanted in self._constraints:
            raise ValueError(f"{wanted!r} is taken, empty or more than one line")
        return wanted

    def __repr__(self) -> str:
        variables, rows = len(self._variables), len(self._constraints)
        goal = "" if self._objective is None else f", maximise {self._objective}"
        plural = ("" if variables == 1 else "s", "" if rows == 1 else "s")
        return (
            f"LinearModel({self.name!r}, {variables} variable{plural[0]}, "
            f"{rows} constraint{plural[1]}{goal})"
        )
