"""Noisy maximum and the exponential mechanism, beside the probabilities of the choices."""

import math
from fractions import Fraction
from itertools import product

import pytest

from blowproof.models import Domain, Labels, Policy, PolicyError
from blowproof.models.mechanisms.mechanism import Mechanism, Selection
from blowproof.models.mechanisms.mechanism_file import parse_mechanism
from blowproof.verifier.certify.certify import certify

POLICY = Policy(domain=Domain(x=Labels(["a", "b", "c"])))


def judged(candidates, scale, epsilon, **more):
    item = Selection(query="histogram", candidates=candidates, scale=Fraction(scale), **more)
    return certify(Mechanism(selections=(item,)), POLICY, Fraction(epsilon))


@pytest.mark.parametrize("candidates", ["maximum", "exponential"])
def test_a_choice_loses_the_range_by_its_scale(candidates):
    """One record moves: one count rises, one falls, one stays. The range is 2."""
    found = judged(candidates, 4, Fraction(1, 2))
    assert found.verdict == "proved" and found.upper == Fraction(1, 2)
    assert judged(candidates, 4, Fraction(49, 100)).verdict == "undecided"


def exponential(counts, scale):
    weights = [math.exp(count / scale) for count in counts]
    return [weight / sum(weights) for weight in weights]


def maximum(counts, scale, reach=40):
    """The chances of each winner under discrete Laplace noise, ties to the first."""
    law = {k: math.exp(-abs(k) / scale) for k in range(-reach, reach + 1)}
    whole = sum(law.values())
    chances = [0.0] * len(counts)
    for noise in product(law, repeat=len(counts)):
        scores = [count + k for count, k in zip(counts, noise, strict=True)]
        chances[scores.index(max(scores))] += math.prod(law[k] / whole for k in noise)
    return chances


@pytest.mark.parametrize("law", [exponential, maximum])
def test_no_choice_is_more_telling_than_the_bound(law):
    scale = 2
    for counts in ((3, 3, 0), (1, 0, 5), (4, 4, 4)):
        for i, j in ((0, 1), (1, 2), (2, 0)):
            moved = list(counts)
            moved[i], moved[j] = moved[i] - 1, moved[j] + 1
            pairs = zip(law(counts, scale), law(moved, scale), strict=True)
            assert all(abs(math.log(p / q)) <= 2 / scale + 1e-6 for p, q in pairs)


def test_what_a_best_score_has_not_is_refused():
    with pytest.raises(PolicyError, match="no penalty"):
        judged("maximum", 4, 1, penalty=Fraction(1))
    text = '[[selection]]\nquery = "histogram"\ncandidates = "maximum"\nscale = [1, 2]\n'
    with pytest.raises(PolicyError, match="one scale"):
        certify(parse_mechanism(text), POLICY, Fraction(1))
