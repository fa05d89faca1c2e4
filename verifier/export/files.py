"""The engines' models as files: DIMACS (labelled records), LP and MPS (histograms).

The model asks: are there two databases in I_Q with a secret change (in readings 3 and 4: any)
between them, and, where asked for, with ||f(D1) - f(D2)||_1 at least N? That is the master model of
the engines "sat" and "ilp" before their first cut. **Minimality is not in it**: that no D3 refutes
the pair is a statement about all databases, and one file of either kind asks for one to exist. So
without a solution no neighbours change f (by N), and a solution is a pair of databases that may or
may not be minimal: the most that f changes over all solutions bounds S(f, P) from above. The LP and
MPS models have moves between values that the facts, G or f tell apart, and no others.

A pair has no size limit under scope "any", so the LP and MPS models get one: no more records move
than in the longest irreducible multiset, which no neighbour pair exceeds, or than `records` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from blowproof.models import (
    BoundQuery,
    BudgetError,
    Exact,
    Point,
    Policy,
    QueryError,
    Setting,
    UndeterminedError,
    parse_query,
    setting,
    show,
)
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.programs.boolean_lowering import to_dimacs
from blowproof.models.programs.linear_export import to_lp, to_mps
from blowproof.models.programs.linear_terms import weighted_sum
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.histograms.master import Master
from blowproof.verifier.engines.labelled.master import Master as LabelledMaster
from blowproof.verifier.engines.labelled.objective import Objective
from blowproof.verifier.engines.labelled.table import VALUE_LIMIT, Clock, tabulate
from blowproof.verifier.engines.search.engine import longest_moves
from blowproof.verifier.export.map import columns, literals, printable
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.reductions.few_values import reduce_values

__all__ = ["FORMATS", "Encoded", "Format", "encode"]

Format = Literal["dimacs", "lp", "mps"]
FORMATS: tuple[Format, ...] = ("dimacs", "lp", "mps")

SEARCH_SECONDS = real_limit(__name__, "SEARCH_SECONDS")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")

PAIR = {
    "published": "with a secret change",
    "secret-moves": "where every change is a secret one",
    "add-remove": "that differ in records added and removed",
    "pufferfish": "with a secret change",
    "markov": "that differ in one to four records added and removed",
}


@dataclass(frozen=True)
class Encoded:
    """A model as text, what each of its variables means, and what the model asks, in sentences."""

    format: Format
    text: str
    variables: dict[str, dict[str, Any]]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Asked:
    """What is to be encoded."""

    setting: Setting
    query: BoundQuery
    reading: Reading
    at_least: Exact | None
    records: int | None
    format: Format

    def head(self, *more: str) -> tuple[str, ...]:
        """The sentences that every format begins with."""
        what = f"two databases D1, D2 that satisfy the facts, {PAIR[self.reading]}"
        if self.at_least is not None:
            what += f", whose {self.query.name} differs by {show(self.at_least)} or more (L1)"
        scope = f"reading {self.reading}, answers {self.setting.scope}"
        return tuple(
            printable(line)
            for line in (
                f"policy {self.setting.policy.name}, {scope}, query {self.query.name}",
                f"a solution: {what}",
                "minimality is not asked for: no solution means that no such neighbours change "
                "the query, a solution need not be a neighbour pair",
                *more,
            )
        )


def encode(  # keyword-only options
    policy: Policy,
    query: BoundQuery | str = "histogram",
    *,
    format: Format,  # the contract's name for it
    reading: Reading = "published",
    answers: Answers | None = None,
    at_least: Exact | None = None,
    records: int | None = None,
) -> Encoded:
    """Return "is there a pair of databases, and one that changes f by `at_least`?" as a model.

    `records`, where the policy does not say: exactly n for DIMACS; for LP and MPS the most that D1
    holds (scope "given") or that change (scope "any").
    """
    prepared = prepare(setting(policy, answers), reading)
    bound = parse_query(query, policy) if isinstance(query, str) else query
    if at_least is not None and at_least < 0:
        raise QueryError("a change is 0 or more\n  try: a positive --at-least")
    asked = _Asked(prepared, bound, reading, at_least, records, format)
    return _dimacs(asked) if format == "dimacs" else _program(asked)


# --- labelled records: DIMACS --------------------------------------------------------------------


def _dimacs(asked: _Asked) -> Encoded:
    if not is_labelled(asked.reading):
        raise QueryError(
            f"the SAT model labels records, and the reading {asked.reading!r} does not\n"
            "  try: --format lp"
        )
    values, reason = _values(asked)
    table = tabulate(asked.setting, _size(asked), asked.query, values)
    master = LabelledMaster(table, asked.reading, Clock(None))
    try:
        if asked.at_least is not None:
            objective = Objective(master, asked.query)
            if not objective.exact:
                raise BudgetError(
                    f"the change of {asked.query.name} has too many terms for one sum of "
                    "literals\n  try: --format lp, or leave --at-least out"
                )
            objective.demand_at_least(asked.at_least)
        meanings = literals(asked.setting, table.values, [x.name for x in master.model.variables])
        head = asked.head(
            f"n = {table.size}; {reason}",
            "records that no clause and no weight tells apart are sorted: by value before, then "
            "by value after",
            f"variables beyond {len(master.model.variables)} are auxiliary",
        )
        about = {name: meaning["means"] for name, meaning in meanings.items()}
        text, names = to_dimacs(master.model, head=head, about=about)
    finally:
        master.close()
    variables = {str(code): meanings[name] for code, name in names.items()}
    return Encoded("dimacs", text, variables, head)


def _values(asked: _Asked) -> tuple[Sequence[Point] | None, str]:
    """All values where they are few; else some that stand for all."""
    size = asked.setting.domain.size
    if size <= VALUE_LIMIT:
        return None, "every possible value is there"
    core = reduce_values(asked.setting, asked.query, asked.reading)
    return core.values, core.reason + _not_enough(core.enough)


def _not_enough(enough: bool) -> str:
    return "" if enough else "; others might make the query change more"


def _size(asked: _Asked) -> int:
    known = asked.setting.size
    if known is None:
        known = asked.query.records
    if known is not None and asked.records not in (None, known):
        raise QueryError(f"n is {known} here, not {asked.records}\n  try: leave --records out")
    size = known if known is not None else asked.records
    if size is None:
        raise UndeterminedError(
            "the SAT model has a variable for each record, and nothing says how many there are\n"
            "  try: --records N, or --format lp"
        )
    return size


# --- histograms and kinds of moves: LP and MPS ---------------------------------------------------


def _program(asked: _Asked) -> Encoded:
    if asked.setting.clauses or asked.query.per_record:
        raise QueryError(
            "LP and MPS models hold histograms, which know no single records\n"
            "  try: --format dimacs"
        )
    core = reduce_values(asked.setting, asked.query, asked.reading)
    moves = Moves(asked.setting, asked.query, asked.reading, core.values)
    most, reason = _most(asked, moves)
    master = Master(moves, most=most)
    linear = master.linear
    linear.name = "pairs of databases"
    if asked.setting.scope == "any":
        linear.add(weighted_sum((1, v) for v in master.counts.values()), upper=most, name="most")
    if asked.at_least is not None:
        least = Fraction(asked.at_least * moves.scale).__ceil__()
        low, high = master.gain.bounds()
        if least > high:
            linear.add_clause([], name="out_of_reach")
        elif least > low:
            linear.add(master.gain, lower=least, name="at_least")
    linear.maximise(master.gain)
    meanings = columns(master)
    times = "" if moves.scale == 1 else f", times {moves.scale}"
    head = asked.head(
        f"the objective is at most the change of {asked.query.name}{times}, and can be equal to it",
        reason,
        core.reason + _not_enough(core.enough),
    )
    about = {name: meaning["means"] for name, meaning in meanings.items()}
    write = to_lp if asked.format == "lp" else to_mps
    text, names = write(linear, head=head, about=about)
    variables = {safe: meanings[name] for safe, name in names.items()}
    return Encoded(asked.format, text, variables, head)


def _most(asked: _Asked, moves: Moves) -> tuple[int, str]:
    """Return how many records D1 holds, or move, at the most, and why."""
    if asked.setting.scope == "given":
        most, what = size_range(asked.setting, asked.reading)[1], "D1 holds"
        proved = True
    elif asked.reading == "markov":
        most, what, proved = 4, "make up the change:", True
    else:
        most, what, proved = None, "change:", False
        if asked.records is None:
            most, proved = longest_moves(moves, SEARCH_SECONDS)
    if asked.records is not None and (most is None or asked.records < most):
        return asked.records, f"{what} at most {asked.records} records, as asked"
    if most is None:
        raise UndeterminedError(
            "nothing bounds the number of records\n  try: --records N, or --answers any"
        )
    if most > MOST_RECORDS and asked.setting.scope == "any":
        raise BudgetError(
            f"all that is proved is that at most {most} records change at once\n"
            "  try: --records N, for pairs with at most N changed records"
        )
    sure = "no neighbour pair has more" if proved else "more are possible, the search was stopped"
    return most, f"{what} at most {most} records; {sure}"
