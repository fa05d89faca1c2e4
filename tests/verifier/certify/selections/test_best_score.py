"""Noisy maximum and the exponential mechanism, beside the probabilities of the choices."""

import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest

from blowproof.models import Domain, Labels, Marginal, Policy, PolicyError
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
    less = judged(candidates, 4, Fraction(49, 100))
    assert less.verdict == ("refuted" if candidates == "exponential" else "undecided")


@pytest.mark.parametrize("query", ["histogram", "marginal(x)"])
def test_the_pair_of_an_exponential_mechanism_loses_what_is_said(query):
    """It was undecided, with a loss of at least 0. The chances are worked out with 60 digits."""
    known = replace(
        POLICY, domain=Domain(x=Labels("abc"), y=Labels("uv")), known=(Marginal(["y"]),)
    )
    item = Selection(query=query, candidates="exponential", scale=Fraction(3, 2))
    found = certify(Mechanism(selections=(item,)), known, Fraction(1))
    pair, least = found.witness, found.lower
    assert found.verdict == "refuted" and pair is not None and isinstance(least, int | Fraction)
    scores = []
    for changed in (pair.before, pair.after):
        held = Counter(dict(pair.unchanged)) + Counter(changed)
        counts: Counter[object] = Counter()
        for (x, y), times in held.items():
            counts[x if query != "histogram" else (x, y)] += times
        scores.append(counts)
    with localcontext() as context:
        context.prec = 60
        keys = [*product(range(3), range(2))] if query == "histogram" else [*range(3)]
        chances = []
        for counts in scores:
            weights = {key: (Decimal(counts[key]) * 2 / 3).exp() for key in keys}
            chances.append({key: weight / sum(weights.values()) for key, weight in weights.items()})
        one, two = chances
        lost = max(abs((one[key] / two[key]).ln()) for key in keys)
        assert Decimal(least.numerator) / least.denominator <= lost + Decimal(10) ** -40
    assert isinstance(found.upper, int | Fraction) and found.upper - least < Fraction(1, 10**20)


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
