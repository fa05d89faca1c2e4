"""All neighbours of scope "given", up to relabelling of records or one by one.

Up to relabelling, a pair is D1's histogram and a number of records for each kind of move. These are
listed by the model that proposes pairs for S(f, P), few moves first, all solutions of one search
before the next one: what the check of pairs accepts is handed out, and the rest is cut off by
the D3 that refutes it. `relabelled` turns one of them into all labelled pairs that it stands for.

Clauses name records. In readings 1 and 2 engine "sat" lists the labelled pairs. Readings 3 and 4
speak of multisets whose records can be numbered so that the clauses hold: `numbered_neighbours`
adds two such numberings, of D1 and of D2, to the model that proposes pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

from blowproof.models import BudgetError, InternalError, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.domain.regions import Area
from blowproof.models.policy.readings import Reading, is_labelled
from blowproof.models.queries.kinds import CountQuery
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.histograms.loop import checked_pair, is_pair
from blowproof.verifier.engines.histograms.master import Master
from blowproof.verifier.engines.histograms.numbered import Numbering
from blowproof.verifier.engines.histograms.refuter import Proposal, Refuter
from blowproof.verifier.exact.arrangements import arrangements
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["histogram_neighbours", "numbered_neighbours", "relabelled"]

MOST_LISTED = whole_limit(__name__, "MOST_LISTED")
LONGEST = whole_limit(__name__, "LONGEST")
MOST_REFUTED = whole_limit(__name__, "MOST_REFUTED")
FEW_VALUES = whole_limit(__name__, "FEW_VALUES")

NO_QUERY = CountQuery(Area(()), "none")


def histogram_neighbours(
    setting: Setting, reading: Reading, *, most: int, deadline: float | None = None
) -> Iterator[Pair]:
    """Yield every neighbour pair of I_Q once up to relabelling; TimeoutError at the deadline.

    `most` is the largest n. Clauses are not answered here: they name records. Where there are too
    many values, pairs over a few of each class come first, and then the BudgetError.
    """
    try:
        moves = Moves(setting, NO_QUERY, reading, _possible(setting))
        if not moves.kinds:
            return
    except BudgetError:
        values = _few_of_each_class(setting, deadline)
        if values:
            yield from _listed(Moves(setting, NO_QUERY, reading, values), most, deadline)
        raise
    yield from _listed(moves, most, deadline)


def _few_of_each_class(setting: Setting, deadline: float | None) -> tuple[Point, ...]:
    """Return the first values of each class that the facts cut out; () where these are too many."""
    classes = class_table(setting, deadline=deadline).classes
    each = FEW_VALUES // max(1, len(classes))
    return tuple(value for item in classes for value in item.take(each))


def _listed(moves: Moves, most: int, deadline: float | None) -> Iterator[Pair]:
    master, refuter = Master(moves, most=most), Refuter(moves)
    more_than = 0
    while more_than < 2 * most:  # D1's records, and those that are added
        at_most = max(1, 2 * more_than)
        yield from _of_few_moves(master, refuter, more_than, at_most, deadline)
        more_than = at_most
    if master.propose(above=-1, deadline=deadline) is not None:
        raise InternalError("CP-SAT lists all solutions, and finds one more")


def _of_few_moves(
    master: Master, refuter: Refuter, more_than: int, at_most: int, deadline: float | None
) -> Iterator[Pair]:
    """Yield the pairs of so many moves, and rule out all that were proposed.

    Solutions come by the hundred from one search, and the check of pairs judges each of them (among
    all values, also where the moves are between some). A search that finds mostly what is no pair
    is ended, and goes on once D3s have ruled these out.
    """
    from blowproof.models.programs.solutions import Solutions

    complete = False
    while not complete:
        pairs: list[Proposal] = []
        others: list[Proposal] = []
        seen: set[Hashable] = set()
        left = None if deadline is None else max(0.0, deadline - now())
        search = Solutions(master.of_moves(more_than, at_most), time_limit=left)
        for values in search:
            proposal = master.proposal(values)
            key = frozenset(proposal.first.items()), frozenset(proposal.counts.items())
            if key in seen:
                continue
            seen.add(key)
            found = _pair_or_none(master.moves, refuter, proposal, deadline)
            if found is not None:
                yield found
            (others if found is None else pairs).append(proposal)
            if len(others) > MOST_REFUTED + len(pairs):
                break
        else:
            complete = search.complete
        if not complete and deadline is not None and now() > deadline:
            raise TimeoutError
        for proposal in pairs:
            master.block(proposal)
        _rule_out(master, refuter, others, deadline)


def _pair_or_none(
    moves: Moves, refuter: Refuter, proposal: Proposal, deadline: float | None
) -> Pair | None:
    """Return the proposal as a pair, if it is one; the refuter knows where the check does not."""
    try:
        good = is_pair(moves, proposal, deadline)
    except TimeoutError:
        if refuter.mixtures or (deadline is not None and now() > deadline):
            raise
        good = refuter.refute(proposal, deadline) is None
    return checked_pair(moves, proposal) if good else None


def _rule_out(
    master: Master, refuter: Refuter, proposals: list[Proposal], deadline: float | None
) -> None:
    """Cut off proposals that are no pairs, and what their D3s refute besides."""
    known: list[Counter[Kind]] = []
    for proposal in proposals:
        if any(moves <= proposal.counts for moves in known):
            master.block(proposal)
            continue
        found = refuter.refute(proposal, deadline)
        if found is None and not refuter.mixtures and _knows_all(refuter.moves):
            raise InternalError("the check refuses a pair that no D3 refutes")
        if found is None:  # in reading 5 with bounds, or among all values, the check knows more
            master.block(proposal)
        else:
            known.append(found.moves)
            master.cut(found)


def _knows_all(moves: Moves) -> bool:
    """Whether the moves are between all possible values."""
    setting = moves.setting
    return setting.domain.size <= MOST_LISTED and len(moves.values) == len(_possible(setting))


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
