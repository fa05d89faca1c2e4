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

So a choice loses at most S(query, P) in the norm range, divided by b. It is an upper bound: nothing
is refuted by it.
"""

from __future__ import annotations

from fractions import Fraction

from blowproof.models import BudgetError, PolicyError, QueryError, show
from blowproof.models.base.numbers import plain
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.models.norms import RANGE
from blowproof.models.stacks.stacked import Part, in_norm
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import Bounds, Loss

__all__ = ["BEST", "best_score"]

BEST = ("maximum", "exponential")


def best_score(asked: Asked, number: int, item: Selection, part: Part) -> Bounds:
    """Return what the choice of a best score loses at the most."""
    for key, given in (("penalty", item.penalty), ("longest", item.longest), ("step", item.step),
                       ("scale", item.narrower or None)):  # fmt: skip
        if given is not None:
            what = "one scale" if key == "scale" else f"no {key}"
            raise PolicyError(f"a choice of the {item.candidates} has {what}", key=key)
    upper: Loss | None = None
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
        if found.upper is not None:
            upper = plain(Fraction(found.upper) / item.scale)
            most = show(found.upper)
            why = f"loses at most S in the norm range / scale = {most} / {show(item.scale)}"
    except (BudgetError, QueryError) as error:
        why = f"S({part.query.name}) in the norm range is not known: {error}"
    said = f"choice {number}, of the {item.candidates}: {why}"
    return Bounds(lower=0, upper=upper, pair=None, engine="choices", notes=(said,))
