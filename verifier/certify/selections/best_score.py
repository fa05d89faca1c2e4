"""The best of many scores: noisy maximum, and the exponential mechanism, by the range of a change.

Let the scores of two neighbours differ by d_1, ..., d_k, and range(d) = max d_i - min d_i (an
answer that does not change counts as 0).

* `maximum`: the largest of the scores plus Laplace noise of scale b each wins; ties fall in a fixed
  order. Fix the noise of all but i: then i wins iff its own noise is above (or at) a threshold,
  max over j of (score_j + noise_j) less score_i. On the neighbour the threshold is higher by at
  most max d_j - d_i <= range(d), so that the chance falls by a factor of at most e^(range(d) / b).
  (With discrete noise the scores are counts, and thresholds move by whole steps.)
* `exponential`: i is drawn with probability proportional to e^(score_i / b). Of its logarithm, d_i
  / b is gained, and at least min d / b, at most max d / b, lost to the sum: range(d) / b at most.

So a choice loses at most S(query, P) in the norm range, divided by b.

*How far they come.* Scope "any": copies of values added to both databases of a pair leave the moves
what they are (and the pair is checked again), and may lift answers at will. Let i be an answer that
gains d_i, j one that gains d_j, and rho = (d_i - d_j) / b.

`exponential`: lift j far above all others. Then j has nearly all of the weight in both, and i gains
rho, less log(1 + (k - 1) e^-f), where all k - 1 others are f below j on the second.

`maximum`: lift j by g above i on the first, and i by D above all others on both, g > D > 0. Let
t(x) be the chance that the noise of i exceeds that of j by x (or by more, as ties fall). On the
first, i wins at most that often: t(g). On the second, g' = g - (d_i - d_j): i beats j with t(g'),
and then wins unless another answer beats i, and so j: (k - 2) t(g' + D) at the most. For Laplace
noise, t(x) = e^(-x / b) (2 + x / b) / 4; for discrete noise, with q = e^(-1 / b), t(x) is in
proportion to q^x ((x + c) (1 - q) + q), c = (1 + q^2) / (1 - q^2). In both, t(g') / t(g) >= e^rho
(1 - (d_i - d_j) / g), and t(g' + D) / t(g') <= e^(-D / b) (1 + D / g'). So i gains rho, less as
little as one likes: every epsilon below S / b is refuted, up to that, where i and j are the answers
that range is about. (Scope "given", where nothing may be added: `known_scores`, and
`listed_scores`.)

Here f and D / b are at least 60, e^-60 < 2^-86, and g at least 2^30 (d_i - d_j).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import ceil
from operator import itemgetter

from blowproof.models import BoundQuery, BudgetError, Point, PolicyError, QueryError, Setting, show
from blowproof.models.base.numbers import magnitude, plain, total
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.models.norms import RANGE
from blowproof.models.stacks.stacked import ONE, Part, in_norm
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import Loss, LossBounds
from blowproof.verifier.certify.selections.known_scores import lost_on_known_numbers
from blowproof.verifier.certify.selections.listed_scores import lost_on_few_databases
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import check_pair

__all__ = ["BEST", "best_score"]

BEST = ("maximum", "exponential")
FAR, LITTLE = 60, Fraction(1, 1 << 86)
"""e^-FAR is less than LITTLE."""
FINE = 1 << 30
"""How many times the change the gap is that makes a chance small."""
MOST_VALUES = whole_limit(__name__, "MOST_VALUES")


def best_score(asked: Asked, number: int, item: Selection, part: Part) -> LossBounds:
    """Return what the choice of a best score loses at the most."""
    for key, given in (("penalty", item.penalty), ("longest", item.longest), ("step", item.step),
                       ("scale", item.narrower or None)):  # fmt: skip
        if given is not None:
            what = "one scale" if key == "scale" else f"no {key}"
            raise PolicyError(f"a choice of the {item.candidates} has {what}", key=key)
    upper: Loss | None = None
    lower, pair = Fraction(0), None
    try:
        found = sensitivity(
            asked.policy,
            in_norm(part.query, RANGE, asked.policy.domain),
            reading=asked.reading,
            answers=asked.answers,
            engine=asked.engine,
            time_limit=asked.left(Fraction(1, 2)),
        )
        why = f"S({part.query.name}) in the norm range is not bounded"
        if found.witness is not None and part.weights == ONE:
            lower, pair = _reached(asked, item, part.query, found.witness)
        if found.upper is not None:
            upper = plain(Fraction(found.upper) / item.scale)
            most = show(found.upper)
            why = f"loses at most S in the norm range / scale = {most} / {show(item.scale)}"
    except (BudgetError, QueryError) as error:
        why = f"S({part.query.name}) in the norm range is not known: {error}"
    said = f"choice {number}, of the {item.candidates}: {why}"
    return LossBounds(lower=plain(lower), upper=upper, pair=pair, engine="choices", notes=(said,))


def _reached(
    asked: Asked, item: Selection, query: BoundQuery, pair: Pair
) -> tuple[Fraction, Pair | None]:
    """Return what a choice loses at least, and the pair that shows it, or 0."""
    if asked.setting.scope == "given":
        listed = lost_on_few_databases(asked, item, query)
        return max(listed, lost_on_known_numbers(asked, item, query, pair), key=itemgetter(0))
    reached = _drawn if item.candidates == "exponential" else _noisiest
    return reached(asked, item.scale, query, pair)


def _drawn(
    asked: Asked, scale: Fraction, query: BoundQuery, pair: Pair
) -> tuple[Fraction, Pair | None]:
    """Return what the exponential mechanism loses at least, and the pair that shows it, or 0."""
    setting, outputs = asked.setting, query.outputs(asked.policy.domain)
    if outputs is None or outputs.count < 2 or query.per_record:
        return Fraction(0), None
    change, far = _changes(query, pair)
    still = [Fraction(0)] if len(change) < outputs.count else []
    gain = max([*change.values(), *still])
    lifted = min(_lifting(setting, query, change, outputs.count), default=None)
    if lifted is None:
        return Fraction(0), None
    loss, above, top = lifted
    copies = ceil((2 * far + FAR * scale) / above)
    crowded = _crowded(pair, {top: copies})
    if not check_pair(setting, asked.reading, crowded):
        return Fraction(0), None
    least = (gain - loss) / scale - (outputs.count - 1) * LITTLE
    return (least, crowded) if least > 0 else (Fraction(0), None)


def _changes(query: BoundQuery, pair: Pair) -> tuple[dict[object, Fraction], Fraction]:
    """Return what each answer gains, and what no answer exceeds on either database."""
    change: dict[object, Fraction] = defaultdict(Fraction)
    far = Fraction(0)
    for x, times in (*((x, -1) for x in pair.before), *((x, 1) for x in pair.after)):
        for key, value in query.row(x).items():
            change[key] += Fraction(times * value)
            far += magnitude(value)
    for x, times in pair.unchanged:
        far += times * total(magnitude(value) for value in query.row(x).values())
    return change, far


def _crowded(pair: Pair, copies: Mapping[Point, int]) -> Pair:
    """Return the pair with so many more records that stay."""
    both = dict(pair.unchanged)
    for x, times in copies.items():
        both[x] = both.get(x, 0) + times
    return replace(pair, unchanged=tuple(sorted(both.items())))


def _noisiest(
    asked: Asked, scale: Fraction, query: BoundQuery, pair: Pair
) -> tuple[Fraction, Pair | None]:
    """Return what the noisy maximum loses at least, and the pair that shows it, or 0."""
    setting, outputs = asked.setting, query.outputs(asked.policy.domain)
    if outputs is None or outputs.count < 2 or query.per_record:
        return Fraction(0), None
    change, far = _changes(query, pair)
    lifts = _alone(setting, query, pair)
    gains = sorted(lifts, key=lambda key: change.get(key, Fraction(0)))
    if len(gains) < 2:
        return Fraction(0), None
    loser, winner = gains[0], gains[-1]
    apart = change.get(winner, Fraction(0)) - change.get(loser, Fraction(0))
    if apart <= 0:
        return Fraction(0), None
    (low, each_low), (high, each_high) = lifts[winner], lifts[loser]
    beyond = ceil(FAR * scale) + 1  # D, and one step for ties
    raised = ceil((2 * far + beyond) / each_low)
    gap = max(FINE * apart, Fraction(2 * beyond))
    copies = ceil((gap + 2 * far + raised * each_low) / each_high)
    crowded = _crowded(pair, {low: raised, high: copies})
    if not check_pair(setting, asked.reading, crowded):
        return Fraction(0), None
    others = 3 * (outputs.count - 2) * beyond * LITTLE  # t(g' + D) / t(g'), and log(1 - x) > -2 x
    least = apart / scale - 2 * apart / gap - 2 * others
    return (least, crowded) if least > 0 else (Fraction(0), None)


def _alone(setting: Setting, query: BoundQuery, pair: Pair) -> dict[object, tuple[Point, Fraction]]:
    """Return values that lift one answer and nothing else, by answer, and by how much each."""
    zeros = setting.impossible.boxes
    found: dict[object, tuple[Point, Fraction]] = {}
    for x in (*pair.before, *pair.after, *islice(setting.domain.points(), MOST_VALUES)):
        row = {key: Fraction(value) for key, value in query.row(x).items() if value}
        ((key, value), *others) = row.items() or ((None, Fraction(0)),)
        possible = not any(x in box for box in zeros)
        if possible and not others and value > found.get(key, (x, Fraction(0)))[1]:
            found[key] = x, value
    return found


def _lifting(
    setting: Setting, query: BoundQuery, change: Mapping[object, Fraction], outputs: int
) -> Iterator[tuple[Fraction, Fraction, Point]]:
    """Yield values that lift one answer above all others: its change, by how much, the value."""
    zeros = setting.impossible.boxes
    for x in islice(setting.domain.points(), MOST_VALUES):
        row = query.row(x)
        ranked = sorted([*row.values(), *([0] if len(row) < outputs else [])], reverse=True)
        above = Fraction(ranked[0] - ranked[1]) if len(ranked) > 1 else Fraction(0)
        if above > 0 and ranked[0] > 0 and not any(x in box for box in zeros):
            top = max(row, key=lambda key: row[key])
            yield change.get(top, Fraction(0)), above, x
