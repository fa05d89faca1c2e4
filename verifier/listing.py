"""All neighbours of scope "given", up to relabelling of records or one by one.

Up to relabelling, a pair is D1's histogram and a number of records for each kind of move. These are
listed by the same loop that finds S(f, P): propose, refute, cut; a pair that is not refuted is
handed out and blocked. `relabelled` turns one of them into all labelled pairs that it stands for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from blowproof.models import Point, Setting
from blowproof.models.policy import LABELLED, Reading
from blowproof.models.queries import CountQuery
from blowproof.models.regions import Area
from blowproof.verifier.answers import Pair
from blowproof.verifier.histograms import Master, checked_pair
from blowproof.verifier.moves import Moves
from blowproof.verifier.refute import Refuter

__all__ = ["histogram_neighbours", "relabelled"]

NO_QUERY = CountQuery(Area(()), "none")


def histogram_neighbours(
    setting: Setting, reading: Reading, *, most: int, deadline: float | None = None
) -> Iterator[Pair]:
    """Yield every neighbour pair of I_Q once up to relabelling; TimeoutError at the deadline.

    `most` is the largest n. Clauses are not answered here: they name records.
    """
    values = tuple(x for x in setting.domain.points() if x not in setting.impossible)
    moves = Moves(setting, NO_QUERY, reading, values)
    if not moves.kinds:
        return
    master, refuter = Master(moves, most=most), Refuter(moves)
    while (proposal := master.propose(above=-1, deadline=deadline)) is not None:
        refutation = None if reading == "markov" else refuter.refute(proposal, deadline)
        if refutation is not None:
            master.cut(refutation)
            continue
        yield checked_pair(moves, proposal)
        master.block(proposal)


def relabelled(pair: Pair, reading: Reading) -> Iterator[Pair]:
    """Yield every labelled pair that a pair stands for (in readings 3 and 4: the pair itself)."""
    if reading not in LABELLED:
        yield pair
        return
    roles = Counter(zip(pair.before, pair.after, strict=True))
    for point, times in pair.unchanged:
        roles[point, point] += times
    for order in _arrangements(roles, roles.total()):
        first, second = [x for x, _ in order], [y for _, y in order]
        yield Pair.labelled(first, second, keep=True)


Role = tuple[Point, Point]


def _arrangements(stock: Counter[Role], length: int) -> Iterator[Sequence[Role]]:
    """Yield every distinct order of a multiset."""
    if not length:
        yield ()
        return
    for role in [role for role, times in stock.items() if times]:
        stock[role] -= 1
        for rest in _arrangements(stock, length - 1):
            yield (role, *rest)
        stock[role] += 1
