"""Steps after the noise: which of them are known to read nothing but what was released.

A name in this list stands for one step, which is a function of the noisy answers and of what is
public. Whatever else a description calls post-processing is its author's word: it may look at the
data again, for all that anybody can tell, and so it is an assumption.
"""

from __future__ import annotations

from blowproof.verifier.certify.base.verdict import Assumption

__all__ = ["STEPS", "step_assumptions"]

STEPS = {
    "isotonic": "the nearest rising sequence",
    "isotonic regression": "the nearest rising sequence",
    "straight stretches": "noisy prefixes on a line where that explains them as well",
    "clipping": "values outside the domain's range of answers are moved to its ends",
    "clipping to the domain": "coordinates outside the domain are moved to its ends",
    "clipping to [0, n]": "below 0 becomes 0; above n becomes n, where n is public",
    "rounding": "the nearest whole number",
    "least squares": "the nearest answers that agree with each other",
    "least-squares": "the nearest answers that agree with each other",
    "least squares onto the known counts": "the nearest table with the published counts",
    "no number below 0": "the nearest table without numbers below 0 that has the public sums",
    "uniform expansion": "every value gets an equal part of its bucket's count",
    "sums of noisy cells": "answers are sums of the cells of a noisy table",
    "counts from flows": "counts are sums of flows along the forest, and of public totals",
    "new centroid = old + sum / size": "computed from the noisy sums and sizes alone",
}
"""What each known step does, with nothing but the noisy answers and public facts."""


def step_assumptions(steps: tuple[str, ...]) -> tuple[Assumption, ...]:
    """Return what has to be assumed about steps that are not known.

    >>> step_assumptions(("isotonic", "print the true histogram"))[0].name
    'postprocessing-2'
    """
    return tuple(
        Assumption(
            f"postprocessing-{place}",
            f"the step {step!r} reads nothing but what was released",
        )
        for place, step in enumerate(steps, start=1)
        if step not in STEPS
    )
