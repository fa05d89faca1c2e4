"""DIMACS: two databases of n labelled records, as clauses; with cuts, if they are to be minimal.

A minimal formula asks for a change of at least N, or, where no N is given, for more than S. It has
a solution iff a neighbour pair changes the query by so much: the cuts were made until the solver
found a neighbour pair or nothing at all. So N = S has a solution and "more than S" has none, and
this is what an outside solver confirms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from blowproof.models import BudgetError, Exact, Point, QueryError, UndeterminedError, show
from blowproof.models.base.numbers import plain
from blowproof.models.policy.readings import is_labelled
from blowproof.models.programs.boolean import Lit
from blowproof.models.programs.boolean_lowering import to_dimacs
from blowproof.verifier.engines.labelled.engine import Models
from blowproof.verifier.engines.labelled.master import Master
from blowproof.verifier.engines.labelled.objective import Objective
from blowproof.verifier.engines.labelled.table import (
    VALUE_LIMIT,
    Deadline,
    Table,
    TimeUpError,
    tabulate,
)
from blowproof.verifier.export.asked import Asked, Encoded, Optimum, not_enough
from blowproof.verifier.export.map import literals
from blowproof.verifier.reductions.few_values import reduce_values

__all__ = ["demanded", "formula", "labelled_table", "written"]


def formula(asked: Asked) -> Encoded:
    """Return the pairs of databases as a formula."""
    if not is_labelled(asked.reading):
        raise QueryError(
            f"the SAT model labels records, and the reading {asked.reading!r} does not\n"
            "  try: --format lp"
        )
    table, reason = labelled_table(asked)
    if asked.minimal:
        return _minimal(asked, table, reason)
    master = Master(table, asked.reading, Deadline(None))
    try:
        demanded(asked, master)
        return written(asked, table, master, asked.head(*_said(table, reason, master)))
    finally:
        master.close()


def _minimal(asked: Asked, table: Table, reason: str) -> Encoded:
    with Models.of(table, asked.reading, Deadline(None)) as models:
        objective = demanded(asked, models.master, needed=True)
        assert objective is not None
        best, ended = _cut(models, objective, asked)
        upper = best if ended and asked.at_least is None else None
        head = asked.head(
            *_pairs(asked, best, ended),
            *_said(table, reason, models.master),
            pairs="no cut rules out a neighbour pair",
        )
        return written(asked, table, models.master, head, Optimum(best, upper))


def _cut(models: Models, objective: Objective, asked: Asked) -> tuple[Exact, bool]:
    """Cut off what is refuted until a pair meets the demand, or, without one, until none is left.

    Returns the largest change of a neighbour pair that was met, and whether the time was enough.
    """
    clock, best = Deadline(asked.seconds), plain(0)
    if asked.at_least is None:
        objective.demand_more_than(best)
    try:
        while (pair := models.master.propose(clock)) is not None:
            if models.cut_off(pair, clock):
                continue
            best = objective.change(pair)
            if asked.at_least is not None:
                return best, True
            objective.demand_more_than(best)
    except TimeUpError:
        return best, False
    return best, True


def _pairs(asked: Asked, best: Exact, ended: bool) -> tuple[str, ...]:
    """What a solution, or that there is none, means for S."""
    met = f"a neighbour pair changes the query by {show(best)}"
    if not ended:
        return (
            met,
            "the time limit ended the search for cuts: a solution may be no neighbour pair",
        )
    if asked.at_least is None:
        return (met, f"asked for: a change of more than {show(best)}; no solution shows S")
    return (met,) if best else ("no neighbour pair changes the query by so much",)


def demanded(asked: Asked, master: Master, *, needed: bool = False) -> Objective | None:
    """Add the demand for a change, where there is one (or `needed`: the means to make it)."""
    if asked.at_least is None and not needed:
        return None
    objective = Objective(master, asked.query)
    if not objective.exact:
        raise BudgetError(
            f"the change of {asked.query.name} has too many terms for one sum of "
            "literals\n  try: --format lp, or leave --at-least and --minimal out"
        )
    if asked.at_least is not None:
        objective.demand_at_least(asked.at_least)
    return objective


def written(  # what makes up a file
    asked: Asked,
    table: Table,
    master: Master,
    head: tuple[str, ...],
    optimum: Optimum | None = None,
    *,
    universal: Sequence[Lit] = (),
    more: Mapping[str, dict[str, Any]] | None = None,
) -> Encoded:
    """Return the master's model as text, with its variables explained (`more`: some of them)."""
    meanings = literals(asked.setting, table.values, [x.name for x in master.model.variables])
    meanings.update(more or {})
    about = {name: meaning["means"] for name, meaning in meanings.items()}
    text, names = to_dimacs(master.model, head=head, about=about, universal=universal)
    variables = {str(code): meanings[name] for code, name in names.items()}
    return Encoded(asked.format, text, variables, head, optimum)


def _said(table: Table, reason: str, master: Master) -> tuple[str, ...]:
    return (
        f"n = {table.size}; {reason}",
        "records that no clause and no weight tells apart are sorted: by value before, then by "
        "value after",
        f"variables beyond {len(master.model.variables)} are auxiliary",
    )


def labelled_table(asked: Asked) -> tuple[Table, str]:
    """Return the records and their values, and why these values are there."""
    values, reason = _values(asked)
    return tabulate(asked.setting, _size(asked), asked.query, values), reason


def _values(asked: Asked) -> tuple[Sequence[Point] | None, str]:
    """All values where they are few; else some that stand for all."""
    size = asked.setting.domain.size
    if size <= VALUE_LIMIT:
        return None, "every possible value is there"
    core = reduce_values(asked.setting, asked.query, asked.reading)
    return core.values, core.reason + not_enough(core.enough)


def _size(asked: Asked) -> int:
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
