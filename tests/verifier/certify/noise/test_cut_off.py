"""A certifier that the clock cuts off keeps the bounds that are about all of the loss."""

from fractions import Fraction

import pytest

from blowproof.models import Count, Domain, Integers, Labels, Marginal, Policy
from blowproof.models.mechanisms.mechanism import Mechanism, Release, Selection
from blowproof.verifier.asked.question import Progress
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify, undecided

DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 3))
POLICY = Policy(domain=DOMAIN, known=(Marginal(["sex"]), Count({"age": 1})))
LAPLACE = Release(query="histogram", scale=Fraction(2))
GAUSSIAN = Release(query="histogram", noise="discrete-gaussian", variance=Fraction(4))
SILENT = Release(query="marginal(sex)", scale=Fraction(0))
CHOICE = Selection(query="histogram", candidates="maximum", scale=Fraction(4))


def cut(mechanism: Mechanism, promise: Promise) -> object:
    latest = Progress(lower=1, upper=Fraction(7, 2), what="")
    return undecided(
        mechanism, POLICY, promise, reading="published", answers=None, latest=latest, why="late"
    ).upper


PURE = Promise(Fraction(3))


@pytest.mark.parametrize(
    ("mechanism", "promise", "upper"),
    [
        (Mechanism(releases=(LAPLACE,)), PURE, Fraction(7, 2)),
        (Mechanism(releases=(LAPLACE, LAPLACE)), PURE, Fraction(7, 2)),
        (Mechanism(releases=(LAPLACE, SILENT)), PURE, None),
        (Mechanism(releases=(LAPLACE,), selections=(CHOICE,)), PURE, None),
        (Mechanism(releases=(LAPLACE,)), Promise(epsilon=Fraction(3), delta=Fraction(1, 9)), None),
        (Mechanism(releases=(LAPLACE,)), Promise(rho=Fraction(3)), None),
        # Gaussian noise has no scale: this was an error, "a bug in blowproof"
        (Mechanism(releases=(GAUSSIAN, LAPLACE)), PURE, None),
    ],
)
def test_the_upper_bound_of_pure_noise_is_kept(
    mechanism: Mechanism, promise: Promise, upper: object
) -> None:
    """It was lost: "nothing bounds it from above", beside a sensitivity with bounds."""
    assert cut(mechanism, promise) == upper


def test_what_is_told_from_above_is_about_all_releases() -> None:
    """Parts that are asked one by one tell nothing from above by themselves."""
    told: list[Progress] = []
    releases = (LAPLACE, Release(query="cumulative(age)", scale=Fraction(3)))
    found = certify(
        Mechanism(releases=releases), POLICY, Fraction(1), listener=told.append, time_limit=20
    )
    assert found.lower is not None and not isinstance(found.lower, str)
    assert told and all(each.upper is None or each.upper >= found.lower for each in told)
