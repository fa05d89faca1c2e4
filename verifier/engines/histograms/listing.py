"""All neighbours of scope "given", up to relabelling of records or one by one.

Up to relabelling, a pair is D1's histogram and a number of records for each kind of move. These are
listed by the same loop that finds S(f, P): propose, refute, cut; a pair that is not refuted is
handed out and blocked. `relabelled` turns one of them into all labelled pairs that it stands for.

Clauses name records. In readings 1 and 2 engine "sat" lists the labelled pairs. Readings 3 and 4
speak of multisets whose records can be numbered so that the clauses hold: `numbered_neighbours`
adds two such numberings, of D1 and of D2, to the model that proposes pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from blowproof.models import BudgetError, Point, Setting
from blowproof.models.domain.regions import Area
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.queries.kinds import CountQuery
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.histograms.loop import checked_pair, is_pair
from blowproof.verifier.engines.histograms.master import Master
from blowproof.verifier.engines.histograms.numbered import Numbering
from blowproof.verifier.engines.histograms.refuter import Refuter
from blowproof.verifier.exact.arrangements import arrangements
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Moves

__all__ = ["histogram_neighbours", "numbered_neighbours", "relabelled"]

MOST_LISTED = whole_limit(__name__, "MOST_LISTED")
LONGEST = whole_limit(__name__, "LONGEST")

NO_QUERY = CountQuery(Area(()), "none")


def histogram_neighbours(
    setting: Setting, reading: Reading, *, most: int, deadline: float | None = None
) -> Iterator[Pair]:
    """Yield every neighbour pair of I_Q once up to relabelling; TimeoutError at the deadline.

    `most` is the largest n. Clauses are not answered here: they name records.
    """
    moves = Moves(setting, NO_QUERY, reading, _possible(setting))
    if not moves.kinds:
        return
    master, refuter = Master(moves, most=most), Refuter(moves)
    while (proposal := master.propose(above=-1, deadline=deadline)) is not None:
        refutation = None if reading == "markov" else refuter.refute(proposal, deadline)
        if refutation is not None:
            master.cut(refutation)
            continue
        if refuter.mixtures and not is_pair(moves, proposal, deadline):
            master.block(proposal)
            continue
        yield checked_pair(moves, proposal)
        master.block(proposal)


def numbered_neighbours(
    setting: Setting, reading: Reading, *, most: int, deadline: float | None = None
) -> Iterator[Pair]:
    """Yield every neighbour pair of readings 3 and 4 where clauses name records.

    In reading 3 those of the fewest moves come first. So each is minimal: a D3 on the way would be
    a pair of fewer moves from the same D1, which was handed out before and, when it was, ruled out
    all pairs from this D1 that make its moves and more.
    """
    moves = Moves(setting, NO_QUERY, reading, _possible(setting))
    if not moves.kinds:
        return
    master = Master(moves, most=most)
    Numbering.of(setting, moves.values).add_both(master)
    minimal = reading != "markov"
    while (proposal := master.propose(above=-1, deadline=deadline, fewest=minimal)) is not None:
        yield checked_pair(moves, proposal)
        master.block(proposal, and_more=minimal)


def _possible(setting: Setting) -> tuple[Point, ...]:
    if setting.domain.size > MOST_LISTED:
        raise BudgetError(
            f"neighbours are listed over single values, and the domain has {setting.domain.size}"
            "\n  try: a coarser domain"
        )
    return tuple(x for x in setting.domain.points() if x not in setting.impossible)


def relabelled(pair: Pair, reading: Reading) -> Iterator[Pair]:
    """Yield every labelled pair that a pair stands for (in readings 3 and 4: the pair itself).

    The first orders have the records that change at the front.
    """
    if not is_labelled(reading):
        yield pair
        return
    roles = Counter(zip(pair.before, pair.after, strict=True))
    for point, times in pair.unchanged:
        roles[point, point] += times
    if roles.total() > LONGEST:
        raise BudgetError(
            f"a labelled pair is two lists of {roles.total()} records\n"
            "  try: listing pairs up to relabelling (--up-to-relabelling)"
        )
    for order in arrangements(roles):
        first, second = [x for x, _ in order], [y for _, y in order]
        yield Pair.labelled(first, second, keep=True)
