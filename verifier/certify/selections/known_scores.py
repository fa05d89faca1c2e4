"""A best score where the numbers are known: what one pair loses, worked out from its own scores.

Under scope "given" nothing may be added to a pair: it holds n records, and the known counts. But
records that stay may hold other values that every fact counts alike, and the pair is a neighbour
pair still where the independent check says so. So the answer j that loses is put as far above the
answer i that gains as the facts allow, i above the others, in a few proportions, and the pair
that loses most is kept. Here is what it loses, from below.

`exponential`: i is drawn with probability e^(s_i / b) over the sum of all e^(s_j / b).

`maximum`: let t(x) be the chance that the noise of i exceeds that of another answer by x, of which
it is behind by x. i wins no more often than it beats j, t(x_j). And no less often than the product
of all t(x_j): given the noise of i, the events that it beats one answer and another are
independent, and their chances all grow with it, so that their mean is at least the product of
means (Chebyshev). Where that is not close, for scores that are, `winning` adds up the chances
themselves. Of equal scores the one that stands first wins, always or never i: a tie with j falls
alike in both databases, and the less telling of both cases counts; ties with others are lost, and
won on the first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import ceil, floor

from blowproof.models import BoundQuery, BudgetError, Point, Setting
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.selections.choices import log_between
from blowproof.verifier.certify.selections.noisy_partitions import around
from blowproof.verifier.certify.selections.winning import how_often
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import check_pair

__all__ = ["log_beats", "log_sum", "lost_on_known_numbers", "scores_of"]

MOST_VALUES = whole_limit(__name__, "MOST_VALUES")
MOST_SCORES = whole_limit(__name__, "MOST_SCORES")
SHARES = (Fraction(0), Fraction(1, 32), Fraction(1, 8), Fraction(1, 4), Fraction(2, 5))
"""How many of the records that stay are put to the answer that gains; the others to its rival."""

Scores = Mapping[object, Fraction]
Around = tuple[Fraction, Fraction]
Lost = Callable[[Scores, Scores, object, object, int], Fraction]
"""What is lost at least: scores on the first and the second, i, j, how many answers there are."""


def lost_on_known_numbers(
    asked: Asked, item: Selection, query: BoundQuery, pair: Pair
) -> tuple[Fraction, Pair | None]:
    """Return what a best score loses at least on some pair with the known numbers, and it; or 0."""
    outputs = query.outputs(asked.policy.domain)
    if outputs is None or outputs.count < 2 or query.per_record:
        return Fraction(0), None
    drawn = item.candidates == "exponential"
    lost = _drawn if drawn else _noisiest(item, _by_products)
    tried = [
        (_of(query, way, item.scale, outputs.count, lost), one, way)
        for one in (pair, *_rearranged(asked.setting, query, pair))
        for way in (one, one.reversed())
    ]
    if not drawn:  # closer, and longer to find: for what is most telling so far
        closer = _noisiest(item, _by_sums)
        best = max(tried, key=lambda each: each[0])[1:]
        for one, way in {best, (pair, pair), (pair, pair.reversed())}:
            tried.append((_of(query, way, item.scale, outputs.count, closer), one, way))
    for loss, one, _ in sorted(tried, key=lambda each: -each[0]):
        if loss > 0 and (one is pair or check_pair(asked.setting, asked.reading, one)):
            return loss, one
    return Fraction(0), None


def _of(query: BoundQuery, pair: Pair, scale: Fraction, count: int, lost: Lost) -> Fraction:
    """Return what the answer that gains most from the first to the second loses at least, or 0."""
    first, second = (
        {key: value / scale for key, value in scores_of(query, database).items()}
        for database in (pair.first(), pair.second())
    )
    keys = list({**first, **second})
    if len(keys) > MOST_SCORES:
        return Fraction(0)
    gain = {key: second.get(key, Fraction(0)) - first.get(key, Fraction(0)) for key in keys}
    if len(keys) < count:
        gain[None] = Fraction(0)  # an answer that is 0 in both
    winner, loser = max(gain, key=gain.__getitem__), min(gain, key=gain.__getitem__)
    if gain[winner] == gain[loser]:
        return Fraction(0)
    try:
        return lost(first, second, winner, loser, count)
    except BudgetError:  # exponents, or steps, beyond what is looked at
        return Fraction(0)


def scores_of(query: BoundQuery, database: Mapping[Point, int]) -> dict[object, Fraction]:
    """Return every answer that is not 0."""
    found: dict[object, Fraction] = defaultdict(Fraction)
    for x, times in database.items():
        for key, value in query.row(x).items():
            found[key] += times * Fraction(value)
    return {key: value for key, value in found.items() if value}


def _behind(scores: Scores, own: object, count: int) -> Counter[Fraction]:
    """Return by how much an answer is behind each other one, and how many of these there are."""
    mine = scores.get(own, Fraction(0))
    found = Counter(value - mine for key, value in scores.items() if key != own)
    still = count - len(scores) - (own not in scores)
    if still:
        found[-mine] += still
    return found


# --- the exponential mechanism -------------------------------------------------------------------


def _drawn(first: Scores, second: Scores, winner: object, loser: object, count: int) -> Fraction:
    """Return the logarithm of how much oftener the winner is drawn on the second, from below."""
    (_, most), (least, _) = (log_sum(_behind(scores, winner, count)) for scores in (second, first))
    return least - most


def log_sum(behind: Mapping[Fraction, int]) -> Around:
    """Return fractions around the logarithm of 1 and the sum of all e^x."""
    top = max(Fraction(0), *behind)
    low = high = Fraction(0)
    for x, times in ((Fraction(0), 1), *behind.items()):
        below, above = around(x - top)
        low, high = low + times * below, high + times * above
    return top + log_between(low)[0], top + log_between(high)[1]


# --- noisy maximum -------------------------------------------------------------------------------


Told = Callable[[Counter[Fraction], Fraction, bool, Fraction | None, bool], Fraction]
"""The logarithm of a chance to win: by how much the answer is behind the others, and behind its
rival; whether a tie with that is a win; steps in a scale; whether from above.
"""


def _noisiest(item: Selection, told: Told) -> Lost:
    """Return what tells how much oftener a winner wins on the second, from below."""
    steps = item.scale if item.noise == "discrete-laplace" else None

    def lost(first: Scores, second: Scores, winner: object, loser: object, count: int) -> Fraction:
        ahead = max(first.keys() - {winner}, key=first.__getitem__, default=loser)
        return max(against(first, second, winner, rival, count) for rival in {loser, ahead})

    def against(
        first: Scores, second: Scores, winner: object, rival: object, count: int
    ) -> Fraction:
        ways = []
        for tie in (True, False) if steps is not None else (False,):
            logs = []
            for scores, up in ((second, False), (first, True)):
                far = scores.get(rival, Fraction(0)) - scores.get(winner, Fraction(0))
                others = _behind(scores, winner, count)
                others[far] -= 1
                logs.append(told(+others, far, tie, steps, up))
            ways.append(logs[0] - logs[1])
        return min(ways)

    return lost


def _by_products(
    others: Counter[Fraction], far: Fraction, tie: bool, steps: Fraction | None, up: bool
) -> Fraction:
    """Return it by the chances to beat one answer each: above, that of the rival alone."""
    rival = log_beats(far, steps, tie=tie)[up]
    if up:
        return rival
    return sum((n * log_beats(x, steps, tie=False)[0] for x, n in others.items()), rival)


def _by_sums(
    others: Counter[Fraction], far: Fraction, tie: bool, steps: Fraction | None, up: bool
) -> Fraction:
    """Return it by adding up what the noise of the answer may be."""
    lost, won = (Counter[Fraction](), +others) if up else (+others, Counter[Fraction]())
    (won if tie else lost)[far] += 1
    chance = how_often(lost, won, steps)[up]
    if not chance:
        raise BudgetError("the chance is too small to tell it")
    return log_between(chance)[up]


def log_beats(x: Fraction, scale: Fraction | None, *, tie: bool) -> Around:
    """Return fractions around log t(x), x in scales, in steps of 1 / scale (None: there are none);
    a `tie` is a win.

    For x > 0, Laplace: t(x) = e^-x (2 + x) / 4. With steps, let k be how many are needed, and q =
    e^(-1 / scale): for k >= 1, t = q^k (k (1 - q) + (1 + q + 2 q^2) / (1 + q)) / (1 + q)^2. Else it
    is 1 less the chance of the other.

    >>> low, high = log_beats(Fraction(0), None, tie=True)
    >>> round(float(low), 6), round(float(high), 6)  # one of two, as often as not
    (-0.693147, -0.693147)
    """
    if scale is None:
        if x > 0:
            low, high = log_between((2 + x) / 4)
            return low - x, high - x
        small, large = around(x)
        return log_between(1 - large * (2 - x) / 4)[0], log_between(1 - small * (2 - x) / 4)[1]
    steps = ceil(x * scale) if tie else floor(x * scale) + 1
    down, up = around(-1 / scale)
    if steps >= 1:
        small, large = _factor(steps, down, up)
        return log_between(small)[0] - steps / scale, log_between(large)[1] - steps / scale
    small, large = _factor(1 - steps, down, up)
    below, above = around(-(1 - steps) / scale)
    return log_between(1 - above * large)[0], log_between(1 - below * small)[1]


def _factor(steps: int, down: Fraction, up: Fraction) -> Around:
    """Return fractions around t / q^steps, where q lies between these."""
    low = (steps * (1 - up) + (1 + down + 2 * down * down) / (1 + up)) / (1 + up) ** 2
    high = (steps * (1 - down) + (1 + up + 2 * up * up) / (1 + down)) / (1 + down) ** 2
    return low, high


# --- other records that stay ---------------------------------------------------------------------


def _rearranged(setting: Setting, query: BoundQuery, pair: Pair) -> Iterator[Pair]:
    """Yield pairs with the same moves, in which records that stay hold other values."""
    if setting.clauses or pair.database is not None:
        return
    facts = (*setting.equalities, *setting.bounds)
    change = scores_of(query, Counter(pair.after))
    for key, value in scores_of(query, Counter(pair.before)).items():
        change[key] = change.get(key, Fraction(0)) - value
    lifts: dict[object, dict[tuple[int, ...], Point]] = defaultdict(dict)
    for x in (*pair.before, *pair.after, *islice(setting.domain.points(), MOST_VALUES)):
        row = {key: value for key, value in query.row(x).items() if value}
        ((key, number), *more) = row.items() or ((None, 0),)
        if number > 0 and not more and x not in setting.impossible:
            lifts[key].setdefault(tuple(fact.coefficient(x) for fact in facts), x)
    if len(lifts) < 2:
        return
    ranked = sorted(lifts, key=lambda key: change.get(key, Fraction(0)))
    held = [(x, times, tuple(fact.coefficient(x) for fact in facts)) for x, times in pair.unchanged]
    for low, high in ((ranked[0], ranked[-1]), (ranked[-1], ranked[0])):
        for share in SHARES:
            placed: Counter[Point] = Counter()
            for x, times, told in held:
                one, two = lifts[high].get(told, x), lifts[low].get(told, x)
                gained = round(times * share)
                placed[one] += gained
                placed[two] += times - gained
            yield replace(pair, unchanged=tuple(sorted((+placed).items())))
