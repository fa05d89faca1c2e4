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

*How far `exponential` comes.* Scope "any": add T copies of a value that lifts one answer j above
all others to both databases of a pair; the moves stay what they are (and the pair is checked
again). Then j has nearly all of the weight in both, and the answer i that gains most gains (d_i -
d_j) / b, less log(1 + (k - 1) e^-g), where all k - 1 others are g below j on the second. T is taken
for g >= 60, and e^-60 < 2^-86. So every epsilon below S / b is refuted, up to that, where j is the
answer that loses most. Of `maximum` nothing is refuted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import ceil

from blowproof.models import BoundQuery, BudgetError, Point, PolicyError, QueryError, Setting, show
from blowproof.models.base.numbers import magnitude, plain, total
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.models.norms import RANGE
from blowproof.models.stacks.stacked import Part, in_norm
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import Bounds, Loss
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.neighbours.check import check_pair

__all__ = ["BEST", "best_score"]

BEST = ("maximum", "exponential")
FAR, LITTLE = 60, Fraction(1, 1 << 86)
"""e^-FAR is less than LITTLE."""
MOST_VALUES = whole_limit(__name__, "MOST_VALUES")


def best_score(asked: Asked, number: int, item: Selection, part: Part) -> Bounds:
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
        if item.candidates == "exponential" and found.witness is not None:
            lower, pair = _reached(asked, item.scale, part.query, found.witness)
        if found.upper is not None:
            upper = plain(Fraction(found.upper) / item.scale)
            most = show(found.upper)
            why = f"loses at most S in the norm range / scale = {most} / {show(item.scale)}"
    except (BudgetError, QueryError) as error:
        why = f"S({part.query.name}) in the norm range is not known: {error}"
    said = f"choice {number}, of the {item.candidates}: {why}"
    return Bounds(lower=plain(lower), upper=upper, pair=pair, engine="choices", notes=(said,))


def _reached(
    asked: Asked, scale: Fraction, query: BoundQuery, pair: Pair
) -> tuple[Fraction, Pair | None]:
    """Return what the exponential mechanism loses at least, and the pair that shows it, or 0."""
    setting, outputs = asked.setting, query.outputs(asked.policy.domain)
    if setting.scope != "any" or outputs is None or outputs.count < 2 or query.per_record:
        return Fraction(0), None
    change: dict[object, Fraction] = defaultdict(Fraction)
    far = Fraction(0)
    for x, times in (*((x, -1) for x in pair.before), *((x, 1) for x in pair.after)):
        for key, value in query.row(x).items():
            change[key] += Fraction(times * value)
            far += magnitude(value)
    for x, times in pair.unchanged:
        far += times * total(magnitude(value) for value in query.row(x).values())
    still = [Fraction(0)] if len(change) < outputs.count else []
    gain = max([*change.values(), *still])
    lifted = min(_lifting(setting, query, change, outputs.count), default=None)
    if lifted is None:
        return Fraction(0), None
    loss, above, top = lifted
    copies = ceil((2 * far + FAR * scale) / above)
    both = dict(pair.unchanged)
    both[top] = both.get(top, 0) + copies
    crowded = replace(pair, unchanged=tuple(sorted(both.items())))
    if not check_pair(setting, asked.reading, crowded):
        return Fraction(0), None
    least = (gain - loss) / scale - (outputs.count - 1) * LITTLE
    return (least, crowded) if least > 0 else (Fraction(0), None)


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
