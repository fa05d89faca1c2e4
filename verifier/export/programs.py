"""LP and MPS: histograms and moves between values that the facts, G or f tell apart.

A pair has no size limit under scope "any", so these models get one: no more records move than in
the longest irreducible multiset, which no neighbour pair exceeds, or than `records` says.

A minimal model has the cuts that engine "ilp" makes while it looks for more than S, until there is
no such pair: its optimum is S, met by a neighbour pair. Where the time ends first, the optimum that
is left is proved to be at most what the model itself gives CP-SAT.
"""

from __future__ import annotations

from fractions import Fraction

from blowproof.models import BudgetError, QueryError, UndeterminedError, show
from blowproof.models.base.clock import now
from blowproof.models.programs.linear_export import to_lp, to_mps
from blowproof.models.programs.linear_terms import weighted_sum
from blowproof.verifier.databases.consistency import size_range
from blowproof.verifier.engines.histograms.loop import Known, best_proposal
from blowproof.verifier.engines.histograms.master import MasterAndRefuter
from blowproof.verifier.engines.search.engine import longest_moves
from blowproof.verifier.export.asked import Asked, Encoded, Optimum, not_enough
from blowproof.verifier.export.map import columns
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.reductions.few_values import reduce_values

__all__ = ["program"]

SEARCH_SECONDS = real_limit(__name__, "SEARCH_SECONDS")
MOST_RECORDS = whole_limit(__name__, "MOST_RECORDS")
CUTTING = real_limit(__name__, "CUTTING")


def program(asked: Asked) -> Encoded:
    """Return the pairs of databases as an integer program that maximises the change."""
    if asked.setting.clauses or asked.query.per_record:
        raise QueryError(
            "LP and MPS models hold histograms, which know no single records\n"
            "  try: --format dimacs"
        )
    core = reduce_values(asked.setting, asked.query, asked.reading)
    moves = Moves(asked.setting, asked.query, asked.reading, core.values)
    most, proved, reason = _most(asked, moves)
    proposer = MasterAndRefuter(moves, most)
    master = proposer.master
    linear = master.linear
    linear.name = "pairs of databases"
    if asked.setting.scope == "any":
        linear.add(weighted_sum((1, v) for v in master.counts.values()), upper=most, name="most")
    optimum = _cut(asked, moves, proposer) if asked.minimal else None
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
    goal = (
        f"the objective is at most the change of {asked.query.name}{times}, and can be equal to it"
    )
    told = (reason, core.reason + not_enough(core.enough))
    head = asked.head(goal, *told)
    if optimum is not None:
        said = _said(optimum, whole=proved and core.enough)
        head = asked.head(goal, said, *told, pairs="no cut rules out a neighbour pair")
    about = {name: meaning["means"] for name, meaning in meanings.items()}
    write = to_lp if asked.format == "lp" else to_mps
    text, names = write(linear, head=head, about=about)
    variables = {safe: meanings[name] for safe, name in names.items()}
    return Encoded(asked.format, text, variables, head, optimum)


def _cut(asked: Asked, moves: Moves, proposer: MasterAndRefuter) -> Optimum:
    """Add the cuts; return what the objective's optimum is, unscaled."""
    from blowproof.models.programs.to_cpsat import solve

    end = None if asked.seconds is None else now() + asked.seconds
    cutting = None if asked.seconds is None else now() + CUTTING * asked.seconds
    found = best_proposal(moves, proposer, Known(), deadline=cutting)
    if found.status == "exact":
        return Optimum(found.lower, found.lower)
    goal = proposer.master.linear.without_groups(())
    goal.maximise(proposer.master.gain)
    left = None if end is None else max(0.0, end - now())
    most = solve(goal, time_limit=left).upper
    bounds = [found.upper, None if most is None else moves.unscaled(most)]
    return Optimum(found.lower, min((b for b in bounds if b is not None), default=None))


def _said(optimum: Optimum, *, whole: bool) -> str:
    """What the optimum is; `whole`: no neighbour pair is left out of the model."""
    if optimum.lower == optimum.upper:
        name = "S" if whole else "the most that such neighbours change, no more than S,"
        return f"minimal: the optimum is {name} = {show(optimum.lower)}; 0 without a solution"
    known = "" if optimum.upper is None else f" and at most {show(optimum.upper)}"
    return (
        "the time limit ended the search for cuts: the optimum is no less than S, at least "
        f"{show(optimum.lower)}{known}"
    )


def _most(asked: Asked, moves: Moves) -> tuple[int, bool, str]:
    """Return how many records D1 holds, or move, at the most, whether that is all, and why."""
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
        return asked.records, False, f"{what} at most {asked.records} records, as asked"
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
    return most, proved, f"{what} at most {most} records; {sure}"
