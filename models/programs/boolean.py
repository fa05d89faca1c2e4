"""Boolean models that belong to no solver: named variables, clauses, and sums kept as sums.

`boolean_lowering.py` turns the sums into clauses; `to_pysat.py` solves; `evaluate` checks.

>>> model = BooleanModel(name="committee")
>>> ann, bob, cy = (model.var(name) for name in ("ann", "bob", "cy"))
>>> model.add_clause([ann, ~bob])
ann or ~bob
>>> model.exactly([ann, bob, cy], 2)
ann + bob + cy = 2
>>> model.evaluate({"ann": False, "bob": True, "cy": True})
[ann or ~bob]
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["BooleanModel", "Clause", "Constraint", "Lit", "Truth", "WeightedSum"]

Truth: TypeAlias = Mapping[str, bool]


@dataclass(frozen=True, slots=True, repr=False)
class Lit:
    """A variable (code > 0) or its negation (code < 0), made by `BooleanModel.var` and `~`."""

    name: str
    code: int

    def __invert__(self) -> Lit:
        return Lit(self.name, -self.code)

    def holds(self, assignment: Truth) -> bool:
        """Return the literal's truth value; a missing or non-boolean value is refused."""
        if self.name not in assignment:
            raise ValueError(f"the assignment says nothing about {self.name!r}")
        value = assignment[self.name]
        if value not in (True, False) or isinstance(value, float):
            raise TypeError(f"the value of {self.name} must be a bool, not {value!r}")
        return bool(value) == (self.code > 0)

    def __repr__(self) -> str:
        return self.name if self.code > 0 else f"~{self.name}"


@dataclass(frozen=True, slots=True, repr=False)
class Clause:
    """At least one of the literals holds; an empty clause is never satisfied."""

    literals: tuple[Lit, ...]

    def holds(self, true: AbstractSet[int]) -> bool:
        """Return whether the clause is satisfied; `true`: the codes of the literals that hold."""
        for literal in self.literals:  # noqa: SIM110 # thousands, after each answer of a solver
            if literal.code in true:
                return True
        return False

    def __repr__(self) -> str:
        return " or ".join(map(repr, self.literals)) or "false"


@dataclass(frozen=True, slots=True, repr=False)
class WeightedSum:
    """lower <= the weights of the true literals <= upper, demanded only if `enforced_by` holds."""

    terms: tuple[tuple[int, Lit], ...]
    lower: int | None
    upper: int | None
    enforced_by: Lit | None = None

    def holds(self, true: AbstractSet[int]) -> bool:
        """Return whether it is satisfied; `true`: the codes of the literals that hold."""
        if self.enforced_by is not None and self.enforced_by.code not in true:
            return True
        value = sum([weight for weight, literal in self.terms if literal.code in true])
        above = self.lower is None or self.lower <= value
        return above and (self.upper is None or value <= self.upper)

    def __repr__(self) -> str:
        terms = [str(x) if w == 1 else f"{w}*{x}" for w, x in self.terms]
        left = "" if self.lower is None else f"{self.lower} <= "
        right = "" if self.upper is None else f" <= {self.upper}"
        if self.lower == self.upper:
            left, right = "", f" = {self.upper}"
        condition = "" if self.enforced_by is None else f" if {self.enforced_by}"
        return f"{left}{' + '.join(terms) or 0}{right}{condition}"


Constraint: TypeAlias = Clause | WeightedSum


class BooleanModel:
    """A builder that only grows, which is what lets a `SatSession` follow it incrementally."""

    def __init__(self, *, name: str = "model") -> None:
        self.name = name
        self._literals: dict[str, Lit] = {}
        self._constraints: list[Constraint] = []

    @property
    def variables(self) -> tuple[Lit, ...]:
        """The variables; the i-th has code i, counted from 1."""
        return tuple(self._literals.values())

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints in the order in which they were added."""
        return tuple(self._constraints)

    def constraints_from(self, start: int) -> list[Constraint]:
        """Return the constraints added after the first `start` ones."""
        return self._constraints[start:]

    def var(self, name: str) -> Lit:
        """Make a variable; the name must be new."""
        if not name or "\n" in name or name in self._literals:
            raise ValueError(f"the name {name!r} is taken, empty or more than one line")
        literal = self._literals[name] = Lit(name, len(self._literals) + 1)
        return literal

    def add_clause(self, literals: Iterable[Lit]) -> Clause:
        """Demand that a literal holds. (A condition c is one more literal, ~c.)"""
        clause = Clause(tuple(self._known(x) for x in literals))
        self._constraints.append(clause)
        return clause

    def at_most(
        self, literals: Iterable[Lit], bound: int, *, enforced_by: Lit | None = None
    ) -> WeightedSum:
        """Demand that no more than `bound` of the literals hold."""
        return self.weighted(((1, x) for x in literals), upper=bound, enforced_by=enforced_by)

    def at_least(
        self, literals: Iterable[Lit], bound: int, *, enforced_by: Lit | None = None
    ) -> WeightedSum:
        """Demand that `bound` or more of the literals hold."""
        return self.weighted(((1, x) for x in literals), lower=bound, enforced_by=enforced_by)

    def exactly(
        self, literals: Iterable[Lit], bound: int, *, enforced_by: Lit | None = None
    ) -> WeightedSum:
        """Demand that `bound` of the literals hold."""
        unit = ((1, x) for x in literals)
        return self.weighted(unit, lower=bound, upper=bound, enforced_by=enforced_by)

    def weighted(
        self,
        terms: Iterable[tuple[int, Lit]],
        *,
        lower: int | None = None,
        upper: int | None = None,
        enforced_by: Lit | None = None,
    ) -> WeightedSum:
        """Demand lower <= sum of weights of true literals <= upper. Weights may be negative."""
        if lower is None and upper is None:
            raise ValueError("a sum needs a lower or an upper bound")
        low, high = (None if end is None else _whole(end, "a bound") for end in (lower, upper))
        if low is not None and high is not None and low > high:
            raise ValueError(f"no number is between {low} and {high}")
        row = WeightedSum(
            tuple((_whole(w, f"the weight of {x}"), self._known(x)) for w, x in terms),
            low,
            high,
            None if enforced_by is None else self._known(enforced_by),
        )
        self._constraints.append(row)
        return row

    def evaluate(self, assignment: Truth) -> list[Constraint]:
        """Return the constraints that the assignment violates, without any solver's help.

        Every variable needs a value; names that the model does not know are ignored.
        """
        true = {x.code if x.holds(assignment) else -x.code for x in self._literals.values()}
        return [c for c in self._constraints if not c.holds(true)]

    def _known(self, literal: Lit) -> Lit:
        if not isinstance(literal, Lit):
            raise TypeError(f"{literal!r} is not a literal of a boolean model")
        mine = self._literals.get(literal.name)
        if mine is None or mine.code != abs(literal.code):
            raise ValueError(f"{literal} is not a literal of {self.name!r}")
        return literal

    def __repr__(self) -> str:
        sizes = f"{len(self._literals)} variables, {len(self._constraints)} constraints"
        return f"BooleanModel({self.name!r}, {sizes})"


def _whole(value: object, what: str) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type] # raises for what is not an integer
    except TypeError:
        raise TypeError(f"{what} must be an int, not {value!r}; scale fractions first") from None
