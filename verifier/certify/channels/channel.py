"""Finite channels: the largest ratio of probabilities over all neighbours and outputs, exactly.

A channel of `database` inputs maps a whole database to one output. A channel of `record` inputs is
a local mechanism: every record passes through it by itself, and all outputs are released. So the
largest ratio between two databases is the product, over the records that change, of the largest
ratio between the rows of their old and new values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from blowproof.models import QueryError, Setting
from blowproof.models.mechanisms.mechanism import Channel
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.ask import neighbours
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.channels.inputs import DatabaseRows, record_rows
from blowproof.verifier.certify.channels.local_channels import Ends, any_answers
from blowproof.verifier.certify.channels.ratios import Probabilities, Ratio
from blowproof.verifier.databases.consistency import size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.engines.one_move.worst_edge import EDGE_LIMIT, one_secret_move

__all__ = ["ChannelLoss", "channel_loss"]


@dataclass(frozen=True, kw_only=True)
class ChannelLoss:
    """The largest ratio found, and what shows it.

    `infinite`: an output is possible for one of two neighbours only. `upper` is the proven bound,
    equal to `lower` where the search ended; None where there is none.
    """

    lower: Ratio
    upper: Ratio | None
    infinite: bool = False
    pair: Pair | None = None
    outputs: tuple[str, ...] = ()
    engine: str = "channel"
    notes: tuple[str, ...] = ()


def channel_loss(asked: Asked, channel: Channel, probabilities: Probabilities) -> ChannelLoss:
    """Return the largest ratio over all neighbours, in both directions."""
    if channel.of == "database":
        return _databases(asked, channel, probabilities)
    if not is_labelled(asked.reading):
        raise QueryError(
            f"a channel of records keeps them in order, and the reading {asked.reading!r} does not"
            "\n  try: --reading published or secret-moves"
        )
    return _Records(asked, channel, probabilities).loss()


# --- whole databases -----------------------------------------------------------------------------


def _databases(asked: Asked, channel: Channel, probabilities: Probabilities) -> ChannelLoss:
    """Compare the rows of all neighbours; every database of the policy needs a row."""
    rows = DatabaseRows(channel, asked.setting.domain)
    low, high = size_range(asked.setting, asked.reading)
    sizes = list(range(low, high + 1)) if high is not None else rows.sizes
    note = f"databases of n = {', '.join(map(str, sizes))}"
    found = _Largest()
    labelled = is_labelled(asked.reading)
    seen: set[tuple[int, int]] = set()
    for pair in brute_neighbours(asked.setting, asked.reading, sizes=sizes):
        if labelled:
            assert pair.database is not None
            second = pair.reversed().database
            assert second is not None
            ends = rows.row(pair.database), rows.row(second)
        else:
            first, other = sorted(pair.first().elements()), sorted(pair.second().elements())
            ends = rows.row(first), rows.row(other)
        if ends in seen:
            continue
        seen |= {ends, ends[::-1]}
        for one, two, shown in ((*ends, pair), (*ends[::-1], pair.reversed())):
            ratio, output = probabilities.largest(one, two)
            found.offer(ratio, shown, [output])
    if high is not None or _size_fixed(asked.setting):
        return found.exact(channel, f"every pair compared: {note}")
    note = f"only {note} have rows, and neighbours may have any n: write size under [database]"
    return found.bounded(channel, None, note)


def _size_fixed(setting: Setting) -> bool:
    """Whether n is a known fact: 1 is a combination of what each value adds to the equalities."""
    from sympy import Matrix

    effects = {setting.effect(x) for x in setting.domain.points() if x not in setting.impossible}
    rows = [list(effect) for effect in sorted(effects)]
    with_n = Matrix([[*row, 1] for row in rows])
    return int(with_n.rank()) == int(Matrix(rows).rank())


class _Largest:
    """The largest ratio offered so far (None is infinite), with what shows it."""

    def __init__(self) -> None:
        self.ratio = Ratio.one()
        self.infinite = False
        self.shown: tuple[Pair, list[int]] | None = None

    def offer(self, ratio: Ratio | None, pair: Pair, outputs: list[int]) -> None:
        """Keep what is larger than anything before."""
        if self.infinite or (ratio is not None and not ratio.above(self.ratio)):
            return
        self.shown = pair, outputs
        if ratio is None:
            self.infinite = True
        else:
            self.ratio = ratio

    def exact(self, channel: Channel, note: str) -> ChannelLoss:
        return self.bounded(channel, self.ratio, note)

    def bounded(self, channel: Channel, upper: Ratio | None, note: str) -> ChannelLoss:
        pair, outputs = self.shown or (None, [])
        return ChannelLoss(
            lower=self.ratio,
            upper=upper,
            infinite=self.infinite,
            pair=pair,
            outputs=tuple(channel.outputs[place] for place in outputs),
            notes=(note,),
        )


# --- record by record ----------------------------------------------------------------------------


class _Records:
    """A local mechanism: the worst product of the changed records' ratios."""

    def __init__(self, asked: Asked, channel: Channel, probabilities: Probabilities) -> None:
        self.asked = asked
        self.channel = channel
        self.probabilities = probabilities
        self.rows = record_rows(channel, asked.setting)
        self.known: dict[Ends, tuple[Ratio | None, int]] = {}

    def ratio(self, ends: Ends) -> tuple[Ratio | None, int]:
        """Return the largest ratio of one record's move, and the output that has it."""
        if ends not in self.known:
            rows = self.rows[ends[0]], self.rows[ends[1]]
            self.known[ends] = self.probabilities.largest(*rows)
        return self.known[ends]

    def loss(self) -> ChannelLoss:
        """Return the worst over edges, over listed neighbours, or over irreducible multisets."""
        asked = self.asked
        if one_secret_move(asked.setting, asked.reading):
            return self._worst(self._edges()).exact(self.channel, "every edge compared")
        if asked.setting.scope == "given":
            pairs = neighbours(
                asked.policy,
                reading=asked.reading,
                answers=asked.answers,
                every_label=bool(asked.setting.clauses),
                time_limit=asked.left(),
            )
            found = _Largest()
            try:
                self._offer(found, pairs)
            except TimeoutError:
                return found.bounded(self.channel, None, "stopped at the time limit")
            return found.exact(self.channel, "every neighbour pair compared")
        return self._any()

    def _edges(self) -> Iterator[Pair]:
        setting = self.asked.setting
        rest = setting.size - 1 if setting.scope == "given" and setting.size else 0
        for x, y in setting.graph.edges(limit=EDGE_LIMIT):
            if x not in setting.impossible and y not in setting.impossible:
                unchanged = ((x, rest),) if rest else ()
                yield Pair(before=(x,), after=(y,), unchanged=unchanged)

    def _worst(self, pairs: Iterable[Pair]) -> _Largest:
        found = _Largest()
        self._offer(found, pairs)
        return found

    def _offer(self, found: _Largest, pairs: Iterable[Pair]) -> None:
        """Offer each pair in both directions."""
        seen: set[tuple[Ends, ...]] = set()
        for pair in pairs:
            key = tuple(sorted(zip(pair.before, pair.after, strict=True)))
            if key in seen:
                continue
            seen |= {key}
            for shown in (pair, pair.reversed()):
                ends = list(zip(shown.before, shown.after, strict=True))
                rates = [self.ratio(move) for move in ends]
                found.offer(
                    _product(rate for rate, _ in rates), shown, [place for _, place in rates]
                )

    def _any(self) -> ChannelLoss:
        """Scope any: irreducible multisets of moves, as for additive noise."""
        found, upper, note = any_answers(
            self.asked, list(self.rows), lambda ends: self.ratio(ends)[0]
        )
        best = _Largest()
        if found is not None:
            self._offer(best, [found])
        if best.infinite:
            upper = best.ratio
        return best.bounded(self.channel, upper, note)


def _product(ratios: Iterable[Ratio | None]) -> Ratio | None:
    product = Ratio.one()
    for ratio in ratios:
        if ratio is None:
            return None
        product = product.times(ratio)
    return product
