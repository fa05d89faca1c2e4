"""What a linear model is written with: integer variables, literals and linear expressions.

`linear.py` builds models from these. Every number is an int of any size, and checked to be one.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

__all__ = [
    "Assignment",
    "BoolLiteral",
    "IntVar",
    "LinearExpr",
    "as_expr",
    "value_of",
    "weighted_sum",
    "whole",
]

Assignment: TypeAlias = Mapping[str, int]


def whole(value: object, what: str) -> int:
    """Return the value as an int; what merely looks like one (a float, a Fraction) is refused."""
    try:
        return operator.index(value)  # type: ignore[arg-type] # raises for what is not an integer
    except TypeError:
        raise TypeError(
            f"{what} must be an int, not {value!r}; scale fractions to integers first"
        ) from None


class _Arithmetic:
    """The operators that variables and expressions share."""

    __slots__ = ()

    def __add__(self, other: IntVar | LinearExpr | int) -> LinearExpr:
        left, right = as_expr(self), as_expr(other)
        return LinearExpr(left.terms + right.terms, left.constant + right.constant)

    __radd__ = __add__

    def __neg__(self) -> LinearExpr:
        return self * -1

    def __sub__(self, other: IntVar | LinearExpr | int) -> LinearExpr:
        return self + -1 * as_expr(other)

    def __rsub__(self, other: IntVar | LinearExpr | int) -> LinearExpr:
        return -self + other

    def __mul__(self, factor: int) -> LinearExpr:
        expr, by = as_expr(self), whole(factor, "a coefficient")
        return LinearExpr(tuple((by * c, v) for c, v in expr.terms), by * expr.constant)

    __rmul__ = __mul__


@dataclass(frozen=True, slots=True, repr=False)
class IntVar(_Arithmetic):
    """A handle: a name and the integers lower..upper. Two equal handles are the same variable."""

    name: str
    lower: int
    upper: int

    def __post_init__(self) -> None:
        if not self.name or "\n" in self.name:
            raise ValueError(f"a variable's name is a non-empty single line, not {self.name!r}")
        object.__setattr__(self, "lower", whole(self.lower, f"the lower end of {self.name}"))
        object.__setattr__(self, "upper", whole(self.upper, f"the upper end of {self.name}"))
        if self.lower > self.upper:
            raise ValueError(f"{self.name} has the empty domain [{self.lower}, {self.upper}]")

    def __invert__(self) -> BoolLiteral:
        return BoolLiteral(self, negated=True)

    def __repr__(self) -> str:
        return f"{self.name} in [{self.lower}, {self.upper}]"


@dataclass(frozen=True, slots=True)
class BoolLiteral:
    """A 0/1 variable or its negation; `~x` writes the latter.

    >>> ~IntVar("rainy", 0, 1)
    ~rainy
    """

    variable: IntVar
    negated: bool = False

    def __post_init__(self) -> None:
        if (self.variable.lower, self.variable.upper) not in {(0, 1), (0, 0), (1, 1)}:
            raise ValueError(f"{self.variable!r} is not a 0/1 variable, so it is no literal")

    def __invert__(self) -> BoolLiteral:
        return BoolLiteral(self.variable, not self.negated)

    def holds(self, assignment: Assignment) -> bool:
        """Return the literal's truth value."""
        return (value_of(self.variable, assignment) == 1) != self.negated

    def __repr__(self) -> str:
        return ("~" if self.negated else "") + self.variable.name


@dataclass(frozen=True, slots=True, repr=False)
class LinearExpr(_Arithmetic):
    """A sum of integer multiples of variables and a constant, each variable once, none times 0.

    >>> x, y = IntVar("x", 0, 4), IntVar("y", -1, 1)
    >>> 3 * x - y + 2 * y - 7
    3*x + y - 7
    >>> (3 * x - y).bounds()
    (-1, 13)
    """

    terms: tuple[tuple[int, IntVar], ...] = ()
    constant: int = 0

    def __post_init__(self) -> None:
        merged: dict[IntVar, int] = {}
        for coefficient, variable in self.terms:
            if not isinstance(variable, IntVar):
                raise TypeError(f"{variable!r} is not a variable")
            times = whole(coefficient, f"the coefficient of {variable.name}")
            merged[variable] = merged.get(variable, 0) + times
        object.__setattr__(self, "terms", tuple((c, v) for v, c in merged.items() if c))
        object.__setattr__(self, "constant", whole(self.constant, "a constant"))

    def evaluate(self, assignment: Assignment) -> int:
        """Return the exact value under an assignment of the variables by name."""
        return self.constant + sum(c * value_of(v, assignment) for c, v in self.terms)

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest value over the variables' domains (interval sums)."""
        ends = [sorted((c * v.lower, c * v.upper)) for c, v in self.terms]
        low, high = sum(e[0] for e in ends), sum(e[1] for e in ends)
        return self.constant + low, self.constant + high

    def __repr__(self) -> str:
        signed = [(c, v.name if abs(c) == 1 else f"{abs(c)}*{v.name}") for c, v in self.terms]
        if self.constant or not signed:
            signed.append((self.constant, str(abs(self.constant))))
        text = " ".join(f"{'-' if sign < 0 else '+'} {body}" for sign, body in signed)
        return text[2:] if text.startswith("+") else "-" + text[2:]


def weighted_sum(terms: Iterable[tuple[int, IntVar]], *, constant: int = 0) -> LinearExpr:
    """Return the sum of coefficient times variable; linear in the number of terms, unlike `+`.

    >>> weighted_sum((k, IntVar(f"x{k}", 0, 1)) for k in (1, 2, 3))
    x1 + 2*x2 + 3*x3
    """
    return LinearExpr(tuple(terms), constant)


def as_expr(value: object) -> LinearExpr:
    """Return a variable or an integer as an expression."""
    if isinstance(value, LinearExpr):
        return value
    if isinstance(value, IntVar):
        return LinearExpr(((1, value),))
    return LinearExpr((), whole(value, "a constant"))


def value_of(variable: IntVar, assignment: Assignment) -> int:
    """Return the variable's value; one that is missing, or no int, is refused."""
    if variable.name not in assignment:
        raise ValueError(f"the assignment says nothing about {variable.name!r}")
    return whole(assignment[variable.name], f"the value of {variable.name}")
