"""designing-statistical-privacy-2015, Figure 2: the ratios that its text states."""

from __future__ import annotations

from fractions import Fraction

from blowproof.verifier.claims.designing.sums import PAPER
from blowproof.verifier.claims.stating.claim import Claim
from blowproof.verifier.claims.stating.measured import EPSILONS, against

__all__ = ["CLAIMS"]

WHY = (
    "Measured on the same data with noise that the certifier proves private. The printed "
    "calibration takes S of the cluster sums from Lemma 6.1 of blowfish-2014, where a record that "
    "crosses a border is forgotten; with it the gain comes out as printed, and what is released is "
    "not private."
)

ATTRIBUTE = Claim(
    id=f"{PAPER}/figure-2-attribute",
    source="Blowfish case study, on Figure 2",
    quote="by at least a factor of",
    statement="G^{attr,1} reduces the error of k-means on 1 % of the skin data by at least a "
    "factor of 1.5.",
    read_as="Means of 50 repetitions on the same data, measured anew with private noise.",
    parts=(
        against(
            "error under full secrets over that under G^{attr,1}: at least 3/2",
            "clusters",
            EPSILONS,
            better="attribute",
            worse="full",
            times=Fraction(3, 2),
        ),
        against(
            "at least 11/10",
            "clusters",
            EPSILONS,
            better="attribute",
            worse="full",
            times=Fraction(11, 10),
            amended=True,
        ),
    ),
    repaired="By a factor of 1.1 to 1.3.",
    explanation=WHY,
)

DISTANCE = Claim(
    id=f"{PAPER}/figure-2-distance",
    source="Blowfish case study, on Figure 2",
    quote="an improvement of",
    statement="G^{L1,128} is an improvement of 3 for epsilon up to 0.5, and of 2 above.",
    read_as="Means of 50 repetitions on the same data, measured anew with private noise.",
    parts=(
        against(
            "error under full secrets over that under G^{L1,128}, epsilon 1/10 and 1/2: at least 3",
            "distances",
            EPSILONS[:2],
            better="128",
            worse="full",
            times=3,
        ),
        against(
            "the same at epsilon = 1: at least 2",
            "distances",
            EPSILONS[2:],
            better="128",
            worse="full",
            times=2,
        ),
        against(
            "at least 12/10",
            "distances",
            EPSILONS,
            better="128",
            worse="full",
            times=Fraction(12, 10),
            amended=True,
        ),
    ),
    repaired="By a factor of 1.2 to 1.6.",
    explanation=WHY,
)

CLAIMS = (ATTRIBUTE, DISTANCE)
