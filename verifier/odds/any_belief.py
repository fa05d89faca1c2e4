"""Any belief whatever: the largest ratio is that of two databases.

P(M = w | s) is a mean of P(M(D) = w) over databases of which s is true, so at most the largest of
them, and P(M = w | s') at least the smallest. A belief that halves its trust between those two
databases meets both (pufferfish-2012, Theorem 3.1, in general). So the largest odds ratio is the
largest P(M(D1) = w) / P(M(D2) = w) over databases D1 of s, D2 of s', and outputs w.

For the policy's own secrets (`Values`) the two databases differ in some record's secret move, and
in whatever else the facts allow. `widest` bounds that where databases are too many to list: engine
"ilp" proposes pairs, and none of them is refuted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

from blowproof.models import BudgetError, InternalError, Point
from blowproof.models.attackers.secrets import Statement, Values
from blowproof.models.base.clock import now
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.verifier.engines.histograms.master import Master
from blowproof.verifier.limits.limit import real_limit, whole_limit
from blowproof.verifier.moves.best_choice import size_of
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.odds.base.answer import Factor, Shown
from blowproof.verifier.odds.base.asked import Asked
from blowproof.verifier.odds.base.chances import Additive
from blowproof.verifier.odds.base.evaluate import compared, odds_ratio
from blowproof.verifier.odds.listed import belief_json, belief_table
from blowproof.verifier.reductions.few_values import reduce_values

__all__ = ["any_odds", "most_apart"]

Database = tuple[Point, ...]
Way = tuple[Statement, Statement]
HALF = Fraction(1, 2)
MOST_PAIRS = whole_limit(__name__, "MOST_PAIRS")
SECONDS = real_limit(__name__, "SECONDS")


def any_odds(asked: Asked) -> tuple[Factor, Factor | None, Shown | None, tuple[str, ...]]:
    """Return bounds on the largest odds ratio over all beliefs, what shows it, and notes."""
    try:
        found, shown = _listing(asked)
    except BudgetError as refusal:
        upper = most_apart(asked)
        if upper is None:
            raise
        return Factor.exp(0), upper, None, (str(refusal).partition("\n")[0],)
    return found, found, shown, ("every two databases compared",)


def _listing(asked: Asked) -> tuple[Factor, Shown | None]:
    databases = asked.databases()
    if len(databases) ** 2 > MOST_PAIRS:
        raise BudgetError(f"{len(databases)} databases are too many to compare every two")
    best = Factor.exp(0)
    shown: tuple[Way, tuple[Database, Database], Hashable] | None = None
    seen: set[tuple[Database, Database]] = set()
    truths: dict[str, list[Database]] = {}
    for pair in asked.attackers.pairs.pairs(asked.policy, asked.size):
        asked.in_time()
        one, two = ([*_true(truths, s, databases)] for s in pair)
        for first in one:
            for second in two:
                if (first, second) in seen:
                    continue
                seen |= {(first, second), (second, first)}
                back = (pair[1], pair[0])
                for way, ends in ((pair, (first, second)), (back, (second, first))):
                    found, output = _of_two(asked, *ends)
                    if found.above(best):
                        best, shown = found, (way, ends, output)
                        asked.board.reached(best, _shown(asked, best, *shown))
    return best, None if shown is None else _shown(asked, best, *shown)


def _shown(
    asked: Asked,
    found: Factor,
    way: Way,
    ends: tuple[Database, Database],
    output: Hashable,
) -> Shown:
    """Return the belief that halves its trust, evaluated by itself."""
    belief = dict.fromkeys(ends, HALF)
    reached = odds_ratio(asked.chances, belief, way, output, asked.epsilon)
    if reached is None or found.above(reached):
        raise InternalError("a belief does not reach the odds that it should")
    return Shown(
        prior=belief_json(asked, belief),
        secret=(way[0].text, way[1].text),
        output=asked.chances.to_json(output),
        reached=reached,
        table=belief_table(asked, belief, way),
    )


def _true(
    truths: dict[str, list[Database]], statement: Statement, databases: Sequence[Database]
) -> list[Database]:
    if statement.text not in truths:
        truths[statement.text] = [d for d in databases if statement.holds(d)]
    return truths[statement.text]


def _of_two(asked: Asked, first: Database, second: Database) -> tuple[Factor, Hashable]:
    """Return the largest ratio of one database's chances to another's, and the output."""
    chances = asked.chances
    if isinstance(chances, Additive):
        return chances.loss(first, second), chances.at(first, second)
    best, shown = Factor.exp(0), None
    for output in chances.outputs([first, second]):
        found = compared(chances, first, second, output, asked.epsilon)
        if found is not None and (shown is None or found.above(best)):
            best, shown = found, output
    return best, shown


def most_apart(asked: Asked) -> Factor | None:
    """Return what no two databases of the policy with a secret move exceed; None: not known.

    Additive noise, scope "given". Clauses are left out, which only adds databases.
    """
    chances, setting = asked.chances, asked.setting
    pairs = asked.attackers.pairs
    if not isinstance(chances, Additive) or not isinstance(pairs, Values):
        return None
    if setting.scope != "given" or setting.size is None:
        return None
    if any(not weight for part in chances.parts for weight in part.weights):
        return None
    query = Stacked(
        tuple(
            Part(part.query, tuple(1 / scale for scale in part.weights), part.outputs)
            for part in chances.parts
        )
    )
    try:
        core = reduce_values(setting, query, "pufferfish", deadline=asked.deadline)
        moves = Moves.over(setting, query, "pufferfish", core.values, deadline=asked.deadline)
        master = Master(moves, most=setting.size)
        scaled = _most_changed(master, asked) if core.enough else master.bound()
    except BudgetError:
        return None
    return Factor.exp(moves.unscaled(scaled))


def _most_changed(master: Master, asked: Asked) -> int:
    """Return what no pair that the master can propose exceeds (scaled)."""
    end = now() + SECONDS
    end = end if asked.deadline is None else min(end, asked.deadline)
    best = 0
    try:
        while (proposal := master.propose(above=best, deadline=end)) is not None:
            best = max(best + 1, size_of(proposal.counts))
    except TimeoutError:
        return master.bound()
    return best
