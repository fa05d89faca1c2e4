"""data-dependent-blowfish, section 6: the experiments, against those that were done again."""

from __future__ import annotations

from fractions import Fraction

from blowproof.verifier.claims.stating.claim import Claim
from blowproof.verifier.claims.stating.measured import against

__all__ = ["CLAIMS"]

EPSILONS = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10))

DAWA = Claim(
    id="data-dependent-blowfish/section-6",
    source="Section 6, Results and explanations",
    quote="always has a lower error",
    statement="On the seven data sets DAWA + Transformed always has a lower error than DAWA.",
    read_as="All seven histograms at three epsilons, measured anew with private first steps.",
    parts=(
        against(
            "error of DAWA over that of DAWA + Transformed: at least 1",
            "histograms",
            EPSILONS,
            better="dawa-transformed",
            worse="dawa",
            times=1,
        ),
        against(
            "the same at epsilon = 1/10",
            "histograms",
            EPSILONS[2:],
            better="dawa-transformed",
            worse="dawa",
            times=1,
            amended=True,
        ),
    ),
    repaired="At epsilon = 1/10, on all seven; at the smaller epsilons the two are within a fifth "
    "of each other on those where it is not lower.",
    amendment="condition",
    explanation="Done again with a first step that is private (section-5.1-first-step says why "
    "the public one is not), it has the lower error on 13 of 21 pairs of data set and epsilon: on "
    "all seven at 1/10, four at 1/100, two at 1/1000. The means are of five trials, as in the "
    "paper.",
)

MATCHING = Claim(
    id="data-dependent-blowfish/section-6-matching",
    source="Section 6, on Figure 5",
    quote="does not perform very",
    statement="Matching + Transformed is better than Laplace on half of Income and on the "
    "simulated data, and not better than Transformed + Laplace.",
    read_as="Both data sets at three epsilons, measured anew.",
    parts=(
        against(
            "error of Laplace over that of the matching: at least 1",
            "matching",
            EPSILONS,
            better="matching-transformed",
            worse="laplace",
            times=1,
        ),
        against(
            "error of the matching over that of Transformed + Laplace: at least 1",
            "matching",
            EPSILONS,
            better="transformed",
            worse="matching-transformed",
            times=1,
        ),
    ),
    explanation="Every one of the k (k - 1)/2 pairs of values has noise of its own, and the "
    "heaviest matching is the one whose noise is luckiest: its buckets join counts that are far "
    "apart, and spreading them evenly costs a hundred to ten thousand times Laplace's error. The "
    "second half of the sentence is right. The parameters of the simulated data are not printed.",
)

CLAIMS = (DAWA, MATCHING)
