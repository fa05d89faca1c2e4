"""From a boolean model to clauses: a pipeline of pure functions, and the DIMACS text.

Sums become clauses in one of two ways, which are independent enough to check one another:

- "diagram": the decision diagram of the sum, a node per (position, sum so far) that matters. At
  most n * (bound + 1) nodes for n unit weights; unit propagation passes through it both ways.
- "adder": binary adders and a comparison of the result with the bounds. Linear in the bits of the
  weights, so it takes over ("auto") where huge weights would make the diagram large.

In both, new variables are *defined* by the old ones (equivalences, not implications): each solution
of the model is exactly one solution of its clauses, and model counts carry over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd
from typing import Literal, NamedTuple, TypeAlias

from blowproof.models.base.clock import now
from blowproof.models.programs.boolean import BooleanModel, Clause, Lit, WeightedSum

__all__ = ["Cnf", "Dimacs", "Encoding", "lower", "to_dimacs"]

Encoding: TypeAlias = Literal["auto", "diagram", "adder"]

_TRUE = 1 << 62
"""Stands for the constant true, its negation for false, until the clauses are written."""

_MAX_DIAGRAM_NODES = 20_000


@dataclass(frozen=True, slots=True)
class Cnf:
    """Clauses over 1..variables; the first `named` of these are the model's own, in its order."""

    clauses: tuple[tuple[int, ...], ...]
    variables: int
    named: int


class Dimacs(NamedTuple):
    """A DIMACS text, and the names of its first variables."""

    text: str
    names: dict[int, str]


@dataclass(frozen=True, slots=True)
class _Sum:
    """`guard` implies low <= sum <= high; positive weights, one literal to a variable."""

    terms: tuple[tuple[int, int], ...]
    low: int
    high: int
    guard: int

    @property
    def total(self) -> int:
        return sum(weight for weight, _ in self.terms)


LOOK = 32
"""After so many variables the clock is looked at."""

FRESH = 4e-6
"""Seconds for a variable, and for the clauses about it."""


@dataclass(slots=True)
class _Sink:
    """Where the encoders write: clauses so far, and the last variable used."""

    last: int
    clauses: list[tuple[int, ...]] = field(default_factory=list)

    def fresh(self) -> int:
        self.last += 1
        if self.last % LOOK == 0:
            now(LOOK * FRESH)  # a sum of many terms takes minutes: workers pause and end here
        return self.last

    def add(self, *literals: int) -> None:
        """Write a clause, without false literals; one with a true literal says nothing."""
        if _TRUE not in literals:
            self.clauses.append(tuple(x for x in literals if x != -_TRUE))


def lower(model: BooleanModel, *, encoding: Encoding = "auto", start: int = 0) -> Cnf:
    """Return clauses with the same solutions over the model's variables.

    With `start`, only the constraints after the first `start` ones are lowered.

    >>> model = BooleanModel()
    >>> x, y = model.var("x"), model.var("y")
    >>> _ = model.at_most([x, y], 1), model.weighted([(3, x), (-2, y)], lower=-3)
    >>> lower(model).clauses
    ((-1, -2),)
    """
    named = len(model.variables)
    sink = _Sink(last=named)
    for constraint in model.constraints_from(start):
        if isinstance(constraint, Clause):
            sink.add(*(x.code for x in constraint.literals))
        else:
            _lower_sum(constraint, sink, encoding)
    return Cnf(tuple(sink.clauses), sink.last, named)


def _lower_sum(constraint: WeightedSum, sink: _Sink, encoding: Encoding) -> None:
    row = _normal(constraint)
    row = _clipped(row)
    row = _divided(row)
    if row.low > row.high or row.low > row.total:
        sink.add(-row.guard)
    elif row.low == 0 and row.high == row.total:
        pass
    elif _is_clause(row):
        sink.add(-row.guard, *(x for _, x in row.terms))
    elif _is_clause(_complement(row)):
        sink.add(-row.guard, *(-x for _, x in row.terms))
    else:
        _encode(row, sink, encoding)


def _normal(constraint: WeightedSum) -> _Sum:
    """Positive weights, one literal per variable: w*~x is w - w*x, and x counts its net weight."""
    net: dict[int, int] = {}
    shift = 0
    for weight, literal in constraint.terms:
        sign = 1 if literal.code > 0 else -1
        shift += weight if sign < 0 else 0
        net[abs(literal.code)] = net.get(abs(literal.code), 0) + sign * weight
    shift += sum(weight for weight in net.values() if weight < 0)
    terms = tuple((abs(w), code if w > 0 else -code) for code, w in net.items() if w)
    total = sum(weight for weight, _ in terms)
    low = 0 if constraint.lower is None else constraint.lower - shift
    high = total if constraint.upper is None else constraint.upper - shift
    guard = _TRUE if constraint.enforced_by is None else constraint.enforced_by.code
    return _Sum(terms, low, high, guard)


def _clipped(row: _Sum) -> _Sum:
    """Bounds beyond what the sum can be say nothing more than its own ends."""
    return replace(row, low=max(0, row.low), high=min(row.total, row.high))


def _divided(row: _Sum) -> _Sum:
    """Divide by the weights' common divisor; the bounds are rounded inwards."""
    common = gcd(*(weight for weight, _ in row.terms))
    if common <= 1:
        return row
    terms = tuple((weight // common, x) for weight, x in row.terms)
    return replace(row, terms=terms, low=-(-row.low // common), high=row.high // common)


def _complement(row: _Sum) -> _Sum:
    """The same demand on the negated literals."""
    terms = tuple((weight, -x) for weight, x in row.terms)
    return replace(row, terms=terms, low=row.total - row.high, high=row.total - row.low)


def _is_clause(row: _Sum) -> bool:
    """No upper bound, and each literal alone is enough: at least one of them."""
    return row.high == row.total and 0 < row.low <= min(weight for weight, _ in row.terms)


def _encode(row: _Sum, sink: _Sink, encoding: Encoding) -> None:
    row = replace(row, terms=tuple(sorted(row.terms, key=lambda t: (-t[0], abs(t[1])))))
    layers = None if encoding == "adder" else _layers(row, budget=_budget(encoding))
    if layers is None:
        _adder(row, sink)
    else:
        sink.add(-row.guard, _diagram(row, layers, sink))


def _budget(encoding: Encoding) -> int | None:
    return _MAX_DIAGRAM_NODES if encoding == "auto" else None


def _layers(row: _Sum, *, budget: int | None) -> list[list[int]] | None:
    """Return, per position, the sums so far that leave the outcome open; None beyond the budget."""
    layers: list[list[int]] = []
    sums, rest, size = [0], row.total, 0
    for weight, _ in row.terms:
        undecided = [s for s in sums if _decided(row, s, rest) is None]
        layers.append(undecided)
        size += len(undecided)
        if budget is not None and size > budget:
            return None
        sums = sorted({s + step for s in undecided for step in (0, weight)})
        rest -= weight
    return layers


def _decided(row: _Sum, so_far: int, rest: int) -> int | None:
    """Return true or false where the terms to come cannot change the outcome any more."""
    if so_far > row.high or so_far + rest < row.low:
        return -_TRUE
    if so_far >= row.low and so_far + rest <= row.high:
        return _TRUE
    return None


def _diagram(row: _Sum, layers: list[list[int]], sink: _Sink) -> int:
    """Return a literal that is true iff the sum is within its bounds; built from the last term."""
    below: dict[int, int] = {}
    rest = 0
    for (weight, literal), sums in zip(reversed(row.terms), reversed(layers), strict=True):
        here: dict[int, int] = {}
        shared: dict[tuple[int, int], int] = {}
        for s in sums:
            children = (
                _child(row, s + weight, rest, below),
                _child(row, s, rest, below),
            )
            if children not in shared:
                shared[children] = _choice(literal, *children, sink)
            here[s] = shared[children]
        below, rest = here, rest + weight
    return below[0]


def _child(row: _Sum, so_far: int, rest: int, nodes: dict[int, int]) -> int:
    decided = _decided(row, so_far, rest)
    return nodes[so_far] if decided is None else decided


def _choice(test: int, if_true: int, if_false: int, sink: _Sink) -> int:
    """Return a literal equivalent to "if test then if_true else if_false"."""
    if if_true == if_false:
        return if_true
    node = sink.fresh()
    sink.add(-node, -test, if_true)
    sink.add(-node, test, if_false)
    sink.add(node, -test, -if_true)
    sink.add(node, test, -if_false)
    if abs(if_true) != _TRUE and abs(if_false) != _TRUE:
        sink.add(-node, if_true, if_false)  # implied; lets unit propagation see through the test
    return node


def _adder(row: _Sum, sink: _Sink) -> None:
    """Add the weights bit by bit, then compare the binary result with both bounds."""
    columns: list[list[int]] = [[] for _ in range(row.total.bit_length())]
    for weight, literal in row.terms:
        for bit in range(weight.bit_length()):
            if weight >> bit & 1:
                columns[bit].append(literal)
    result = _add_columns(columns, sink)
    _compare(result, row.high, row.guard, sink)
    # result >= low iff the complement, with as many bits, is at most the complement of low.
    full = (1 << len(result)) - 1
    _compare([-bit for bit in result], full - row.low, row.guard, sink)


def _add_columns(columns: list[list[int]], sink: _Sink) -> list[int]:
    """Return the result's bits, lowest first; three of a column become one, and a carry."""
    result: list[int] = []
    for position in range(len(columns)):
        column = columns[position]
        while len(column) > 1:
            a, b = column.pop(0), column.pop(0)
            c = column.pop(0) if column else -_TRUE
            column.append(_odd(a, b, c, sink))
            if position + 1 < len(columns):  # beyond the total's last bit every carry is 0
                columns[position + 1].append(_majority(a, b, c, sink))
        result.append(column[0] if column else -_TRUE)
    return result


def _odd(a: int, b: int, c: int, sink: _Sink) -> int:
    node = sink.fresh()
    for sa, sb, sc in ((1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)):
        sink.add(node, -sa * a, -sb * b, -sc * c)
        sink.add(-node, sa * a, sb * b, sc * c)
    return node


def _majority(a: int, b: int, c: int, sink: _Sink) -> int:
    node = sink.fresh()
    for x, y in ((a, b), (a, c), (b, c)):
        sink.add(node, -x, -y)
        sink.add(-node, x, y)
    return node


def _compare(bits: Sequence[int], bound: int, guard: int, sink: _Sink) -> None:
    """Demand that the binary number is at most the bound: a 1 over a 0 needs a 0 over a 1 above."""
    for position, bit in enumerate(bits):
        if not bound >> position & 1:
            above = (-b for p, b in enumerate(bits) if p > position and bound >> p & 1)
            sink.add(-guard, -bit, *above)


def to_dimacs(
    model: BooleanModel,
    *,
    encoding: Encoding = "auto",
    head: Iterable[str] = (),
    about: Mapping[str, str] | None = None,
    universal: Sequence[Lit] = (),
) -> Dimacs:
    """Return the model's clauses as a DIMACS text with a map of its variables.

    The comments before it hold the lines of `head`, then each named variable beside what `about`
    says of its name (default: "is" and the name). With `universal` variables, made one after the
    other, it is QDIMACS: there are values of those made before, so that for all of theirs there are
    values of the rest.

    >>> model = BooleanModel(name="one of two")
    >>> _ = model.exactly([model.var("left"), model.var("right")], 1)
    >>> text, names = to_dimacs(model)
    >>> names, text.splitlines()[:2]
    ({1: 'left', 2: 'right'}, ['c one of two, written by blowproof', 'c 1 is left'])
    """
    cnf = lower(model, encoding=encoding)
    names = {x.code: x.name for x in model.variables}
    lines = [f"c {model.name}, written by blowproof"]
    lines += [f"c {line}" for line in head]
    said = about or {}
    lines += [f"c {code} {said.get(name, f'is {name}')}" for code, name in names.items()]
    lines.append(f"p cnf {cnf.variables} {len(cnf.clauses)}")
    lines += _prefix([x.code for x in universal], cnf.variables) if universal else []
    lines += _dimacs_lines(cnf.clauses)
    return Dimacs("\n".join(lines) + "\n", names)


def _prefix(universal: Sequence[int], last: int) -> Iterable[str]:
    """Return the quantifier lines, outermost first."""
    blocks = [
        ("e", range(1, universal[0])),
        ("a", universal),
        ("e", range(universal[-1] + 1, last + 1)),
    ]
    return (" ".join(map(str, (mark, *codes, 0))) for mark, codes in blocks if codes)


def _dimacs_lines(clauses: Iterable[tuple[int, ...]]) -> Iterable[str]:
    return (" ".join(map(str, (*clause, 0))) for clause in clauses)
