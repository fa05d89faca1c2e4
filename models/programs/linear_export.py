"""A linear model as a file: LP or MPS, with plain rows only, so that every reader understands it.

Neither format has clauses or (portably) conditional rows, so a model goes through three pure steps
on its way out: clauses become sums, conditions become big-M terms (M from the row's own exact
bounds, so the integer solutions stay the same), and two-sided rows become two rows. The objective's
constant rides on a variable that is fixed at 1. The text holds exact integers; most readers hold
doubles, and round what is beyond 2**53.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from blowproof.models.programs.linear import (
    BoolLiteral,
    Clause,
    Constraint,
    IntVar,
    LinearConstraint,
    LinearExpr,
    LinearModel,
    weighted_sum,
)

__all__ = ["Export", "Row", "plain_rows", "to_lp", "to_mps"]

ONE = "one"
"""The exported name of the constant 1. Variables are x_..., so that it cannot clash."""

_WIDTH = 200  # characters to a line: some readers cut longer ones


class Export(NamedTuple):
    """A file's text, and its variables' names with the model's own names."""

    text: str
    names: dict[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    """terms `sense` bound, where sense is "<=", ">=" or "=" and nothing is conditional."""

    name: str
    expr: LinearExpr
    sense: str
    bound: int


def plain_rows(model: LinearModel) -> list[Row]:
    """Return rows with the same integer solutions as the model's constraints.

    >>> model = LinearModel()
    >>> x, b = model.int_var("x", lower=0, upper=9), model.bool_var("b")
    >>> _ = model.add(x, lower=4, enforced_by=~b), model.add_clause([b, ~b])
    >>> for row in plain_rows(model): print(row.expr, row.sense, row.bound)
    x + 4*b >= 4
    0 >= 0
    """
    rows = [_without_clause(c) for c in model.constraints]
    one_sided = [half for row in rows for half in _split(row)]
    return [_without_condition(row) for row in one_sided]


def _without_clause(constraint: Constraint) -> LinearConstraint:
    """A clause says that its true literals number at least one; a negated one counts 1 - x."""
    if isinstance(constraint, LinearConstraint):
        return constraint
    return _row_of_clause(constraint)


def _row_of_clause(clause: Clause) -> LinearConstraint:
    negated = sum(literal.negated for literal in clause.literals)
    terms = [(-1 if x.negated else 1, x.variable) for x in clause.literals]
    return LinearConstraint(clause.name, weighted_sum(terms), 1 - negated, None)


def _split(row: LinearConstraint) -> list[LinearConstraint]:
    """Two ends become two rows, but for an unconditional equality, which every format has."""
    if row.lower is None or row.upper is None:
        return [row]
    if row.lower == row.upper and row.enforced_by is None:
        return [row]
    return [
        replace(row, name=f"{row.name}_lower", upper=None),
        replace(row, name=f"{row.name}_upper", lower=None),
    ]


def _without_condition(row: LinearConstraint) -> Row:
    """Where the condition fails, a multiple of it lifts the row beyond all that expr can be."""
    expr, literal = row.expr, row.enforced_by
    low, high = expr.bounds()
    if row.lower is not None:
        expr, bound = _relaxed(expr, row.lower, literal, -max(0, row.lower - low))
        return Row(row.name, expr, "=" if row.lower == row.upper else ">=", bound)
    assert row.upper is not None  # a row has one end at least
    expr, bound = _relaxed(expr, row.upper, literal, max(0, high - row.upper))
    return Row(row.name, expr, "<=", bound)


def _relaxed(
    expr: LinearExpr, bound: int, literal: BoolLiteral | None, slack: int
) -> tuple[LinearExpr, int]:
    """Return expr and bound such that the bound moves by `slack` where the literal is false."""
    if literal is None:
        return expr, bound
    if literal.negated:  # false iff the variable is 1: expr - slack*x against bound
        return expr - slack * literal.variable, bound
    return expr + slack * literal.variable, bound + slack


def to_lp(
    model: LinearModel, *, head: Iterable[str] = (), about: Mapping[str, str] | None = None
) -> Export:
    """Return the model in the CPLEX LP format.

    The comments before it hold the lines of `head`, then each exported name beside what `about`
    says of the model's own name (default: that name).

    >>> model = LinearModel(name="two")
    >>> a, b = model.bool_var("a"), model.int_var("b (years)", lower=-1, upper=3)
    >>> _ = model.add(2 * a + b, upper=3)
    >>> model.maximise(a + b)
    >>> text, names = to_lp(model)
    >>> names
    {'x_a': 'a', 'x_b_years': 'b (years)'}
    >>> print("\\n".join(text.splitlines()[3:9]))
    Maximize
     obj: + 1 x_a + 1 x_b_years
    Subject To
     r_c1: + 2 x_a + 1 x_b_years <= 3
    Bounds
     0 <= x_a <= 1
    """
    names = _safe_names((v.name for v in model.variables), prefix="x_")
    rows = plain_rows(model)
    row_names = _safe_names((row.name for row in rows), prefix="r_")
    goal = model.objective if model.objective is not None else LinearExpr()
    lines = [f"\\ {line}" for line in _legend(model, names, head, about or {})]
    lines += ["Maximize", *_folded(f" obj: {_lp_sum(goal, names, constant=goal.constant)}")]
    lines += ["Subject To"]
    for row in rows:
        body = f" {row_names[row.name]}: {_lp_sum(row.expr, names)} {row.sense} {row.bound}"
        lines += _folded(body)
    lines += ["Bounds", *(f" {v.lower} <= {names[v.name]} <= {v.upper}" for v in model.variables)]
    lines += [f" {ONE} = 1", "General", *(f" {names[v.name]}" for v in model.variables), "End"]
    return Export("\n".join(lines) + "\n", {safe: name for name, safe in names.items()})


def to_mps(
    model: LinearModel, *, head: Iterable[str] = (), about: Mapping[str, str] | None = None
) -> Export:
    """Return the model in free MPS, which is maximised (OBJSENSE MAX) and all integer.

    `head` and `about` are as in `to_lp`.
    """
    names = _safe_names((v.name for v in model.variables), prefix="x_")
    rows = plain_rows(model)
    row_names = _safe_names((row.name for row in rows), prefix="r_")
    sense = {"<=": "L", ">=": "G", "=": "E"}
    lines = [f"* {line}" for line in _legend(model, names, head, about or {})]
    lines += [f"NAME {_clean(model.name)}", "OBJSENSE", "    MAX", "ROWS", " N  obj"]
    lines += [f" {sense[row.sense]}  {row_names[row.name]}" for row in rows]
    lines += ["COLUMNS", "    MARKER  'MARKER'  'INTORG'", *_mps_columns(model, rows, names)]
    lines += ["    MARKER  'MARKER'  'INTEND'", "RHS"]
    lines += [f"    RHS  {row_names[row.name]}  {row.bound}" for row in rows if row.bound]
    lines += ["BOUNDS", f" FX BND  {ONE}  1"]
    for v in model.variables:
        lines += [f" LO BND  {names[v.name]}  {v.lower}", f" UP BND  {names[v.name]}  {v.upper}"]
    return Export("\n".join([*lines, "ENDATA", ""]), {safe: n for n, safe in names.items()})


def _mps_columns(model: LinearModel, rows: list[Row], names: dict[str, str]) -> Iterator[str]:
    row_names = _safe_names((row.name for row in rows), prefix="r_")
    entries: dict[IntVar, list[tuple[str, int]]] = {v: [] for v in model.variables}
    goal = model.objective if model.objective is not None else LinearExpr()
    for label, expr in [("obj", goal), *((row_names[row.name], row.expr) for row in rows)]:
        for coefficient, variable in expr.terms:
            entries[variable].append((label, coefficient))
    for variable, column in entries.items():
        for label, coefficient in column or [
            ("obj", 0)
        ]:  # a variable in no row is one all the same
            yield f"    {names[variable.name]}  {label}  {coefficient}"
    yield f"    {ONE}  obj  {goal.constant}"


def _lp_sum(expr: LinearExpr, names: dict[str, str], *, constant: int = 0) -> str:
    terms = [(c, names[v.name]) for c, v in expr.terms]
    if constant or not terms:  # a row without a variable is not a row to most readers
        terms.append((constant, ONE))
    return " ".join(f"{'-' if c < 0 else '+'} {abs(c)} {name}" for c, name in terms)


def _folded(line: str) -> list[str]:
    """Break a long row between terms; LP rows may go on, on lines that begin with a blank."""
    lines, current = [], ""
    for piece in re.split(r" (?=[+-] \d)", line):
        if current and len(current) + len(piece) > _WIDTH:
            lines.append(current)
            current = " "
        current += (" " if current.strip() else "") + piece
    return [*lines, current]


def _legend(
    model: LinearModel, names: dict[str, str], head: Iterable[str], about: Mapping[str, str]
) -> Iterator[str]:
    yield f"{_clean(model.name)}: {len(model.variables)} variables, written by blowproof"
    yield from head
    yield from (f"{safe} is {about.get(name, name)}" for name, safe in names.items())


def _clean(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:60]


def _safe_names(names: Iterable[str], *, prefix: str) -> dict[str, str]:
    """Return distinct names that no format objects to: the prefix keeps off its keywords."""
    safe: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        base = candidate = prefix + _clean(name)
        number = 2
        while candidate in used:
            candidate, number = f"{base}__{number}", number + 1
        used.add(candidate)
        safe[name] = candidate
    return safe
