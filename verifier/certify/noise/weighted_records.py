"""Releases that weigh single records: n is the number of weights, and records have numbers.

Composed with other releases, whose worst pair may name no records or hold too few of them, the pair
is numbered, and filled up, before it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from blowproof.models import Point, QueryError
from blowproof.models.policy.readings import is_labelled
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import LossBounds
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import check_pair

__all__ = ["numbered", "numbered_bounds", "require_weights"]

MOST_FILLERS = whole_limit(__name__, "MOST_FILLERS")


def require_weights(asked: Asked, parts: Sequence[Part]) -> None:
    """Refuse weights without labelled records, and those for different or wrong numbers of them."""
    counts: dict[int, str] = {}
    for name, records in _weighted(parts):
        if not is_labelled(asked.reading):
            raise QueryError(
                f"{name} weighs single records, and the reading {asked.reading!r} does not "
                "label them\n  try: --reading published or secret-moves"
            )
        counts.setdefault(records, name)
    if asked.setting.scope == "given" and asked.setting.size is not None and counts:
        counts = {asked.setting.size: "the policy", **counts}
    if len(counts) > 1:
        (count, name), (other, second), *_ = counts.items()
        raise QueryError(
            f"{second} has weights for {other} records, and {name} has {count}\n"
            "  try: one weight for each record"
        )


def _weighted(parts: Iterable[Part]) -> Iterator[tuple[str, int]]:
    """Yield the names of queries that weigh records, and how many records they have."""
    for part in parts:
        if part.query.records is not None:
            yield part.query.name, part.query.records


def numbered(asked: Asked, parts: Sequence[Part], pair: Pair) -> Pair | None:
    """Return the pair with as many records as there are weights, each with a number.

    None where it has more, or where no record that stays can be added: minimality is looked at
    again, for a record more may make a D3.
    """
    count = next((records for _, records in _weighted(parts)), None)
    if count is None or pair.records is not None:
        return pair
    rest = [point for point, times in pair.unchanged for _ in range(times)]
    missing = count - len(pair.before) - len(rest)
    if missing < 0:
        return None
    for filler in _fillers(asked, pair) if missing else ((),):
        stay = (*rest, *filler * missing)
        found = Pair.labelled((*pair.before, *stay), (*pair.after, *stay), keep=True)
        if check_pair(asked.setting, asked.reading, found):
            return found
    return None


def _fillers(asked: Asked, pair: Pair) -> Iterator[tuple[Point]]:
    """Yield values for the records that stay: those of the pair first."""
    setting = asked.setting
    first = range(min(setting.domain.size, MOST_FILLERS))
    values = [*pair.before, *pair.after, *(setting.domain.whole.nth(place) for place in first)]
    for value in dict.fromkeys(values):
        if value not in setting.impossible:
            yield (value,)


def numbered_bounds(asked: Asked, parts: Sequence[Part], found: LossBounds) -> LossBounds:
    """Return the bounds with a numbered pair; where there is none, the lower one is given up."""
    if found.pair is None:
        return found
    pair = numbered(asked, parts, found.pair)
    if pair is not None:
        return replace(found, pair=pair)
    why = "the worst pair found does not have as many records as there are weights"
    return replace(found, lower=0, pair=None, notes=(*found.notes, why))
