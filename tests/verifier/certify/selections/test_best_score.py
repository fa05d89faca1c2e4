"""Noisy maximum and the exponential mechanism, beside the probabilities of the choices."""

import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import Any

import pytest

from blowproof.models import Database, Domain, Labels, Marginal, Policy, PolicyError, setting
from blowproof.models.mechanisms.mechanism import Mechanism, Selection
from blowproof.models.mechanisms.mechanism_file import parse_mechanism
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.selections import listed_scores, winning
from blowproof.verifier.certify.selections.known_scores import log_beats
from blowproof.verifier.certify.selections.winning import how_often
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.neighbours.check import check_pair

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
    assert less.verdict == "refuted" and less.witness is not None
    assert isinstance(less.lower, int | Fraction)
    assert Fraction(499, 1000) < less.lower <= Fraction(1, 2)


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

    def at_most(noise):
        return sum(law[k] for k in range(-reach, min(noise, reach) + 1)) / whole

    chances = [0.0] * len(counts)
    for place, own in enumerate(counts):
        for k, weight in law.items():
            rest = [own + k - other - (j < place) for j, other in enumerate(counts) if j != place]
            chances[place] += weight / whole * math.prod(map(at_most, rest))
    return chances


def beats(far, scale, noise):
    """The chance that one answer's noise exceeds another's by so much, times e^(far / scale)."""
    q = math.exp(-1 / scale)
    if noise == "laplace":
        return (2 + far / scale) / 4
    c = (1 + q * q) / (1 - q * q)
    return ((1 - q) / (1 + q)) ** 2 * ((far + c) / (1 - q) + q / (1 - q) ** 2)


def test_how_often_one_noise_exceeds_another():
    """Both laws by adding up chances, or areas: the formula that `maximum` is refuted by."""
    scale = 1.5
    law = {k: math.exp(-abs(k) / scale) for k in range(-60, 61)}
    whole = sum(law.values()) ** 2
    for far in (1, 3, 7):
        true = sum(law[x] * law[y] for x in law for y in law if x - y >= far) / whole
        told = beats(far, scale, "discrete-laplace") * math.exp(-far / scale)
        assert math.isclose(true, told, rel_tol=1e-9)
        step, area = 0.001, 0.0
        for n in range(-30_000, 30_000):
            x = (n + 0.5) * step
            above = x + far
            tail = 1 - math.exp(above / scale) / 2 if above < 0 else math.exp(-above / scale) / 2
            area += math.exp(-abs(x) / scale) / (2 * scale) * tail * step
        assert math.isclose(area, beats(far, scale, "laplace") * math.exp(-far / scale),
                            rel_tol=1e-5)  # fmt: skip


@pytest.mark.parametrize("noise", ["laplace", "discrete-laplace"])
@pytest.mark.parametrize(
    ("query", "known", "size"),
    [
        ("histogram", (), 2),
        ("marginal(x)", (Marginal(["y"]),), 4),
        ("histogram", (Marginal(["y"]),), 2),
    ],
)
def test_a_noisy_maximum_with_too_small_a_scale_is_refuted_with_a_pair(noise, query, known, size):
    """It was undecided. What the pair loses is worked out again, from the counts themselves."""
    domain = Domain(x=Labels("abc"), y=Labels("uv"))
    policy = replace(POLICY, domain=domain, known=known)
    scale = Fraction(3, 2)
    item = Selection(query=query, candidates="maximum", scale=scale, noise=noise)
    proved = certify(Mechanism(selections=(item,)), policy, Fraction(size) / scale)
    assert proved.verdict == "proved" and proved.upper == Fraction(size) / scale
    found = certify(
        Mechanism(selections=(item,)), policy, Fraction(size) / scale - Fraction(1, 1000)
    )
    assert found.verdict == "refuted" and found.witness is not None
    both = []
    for changed in (found.witness.before, found.witness.after):
        held = Counter(dict(found.witness.unchanged))
        held.update(changed)
        counts: dict[tuple[int, ...], int] = {}
        for x in policy.domain.points():
            key = x if query == "histogram" else x[:1]
            counts[key] = counts.get(key, 0) + held[x]
        both.append(counts)
    one, two = both
    top = max(one, key=one.__getitem__)
    second = max((key for key in one if key != top), key=one.__getitem__)
    others = [key for key in one if key not in (top, second)]
    g, less = one[top] - one[second], two[top] - two[second]
    away = min(two[second] - two[key] for key in others)
    assert g - less == size and away >= 60 * scale
    rate = beats(less, 1.5, noise) / beats(g, 1.5, noise)
    spoilt = len(others) * math.exp(-(away - 1) / 1.5) * beats(less + away, 1.5, noise) \
        / beats(less, 1.5, noise)  # fmt: skip
    assert isinstance(found.lower, int | Fraction)
    assert found.lower <= size / 1.5 + math.log(rate) + math.log1p(-spoilt) + 1e-12
    assert found.lower > Fraction(size) / scale - Fraction(1, 10**6)


@pytest.mark.parametrize("law", [exponential, maximum])
def test_no_choice_is_more_telling_than_the_bound(law):
    scale = 2
    for counts in ((3, 3, 0), (1, 0, 5), (4, 4, 4)):
        for i, j in ((0, 1), (1, 2), (2, 0)):
            moved = list(counts)
            moved[i], moved[j] = moved[i] - 1, moved[j] + 1
            pairs = zip(law(counts, scale), law(moved, scale), strict=True)
            assert all(abs(math.log(p / q)) <= 2 / scale + 1e-6 for p, q in pairs)


def laplace_maximum(counts, scale, parts=4000):
    """The chances of each winner under Laplace noise, by adding up areas."""
    chances = [0.0] * len(counts)
    for k, own in enumerate(counts):
        for n in range(parts):
            z = 30 * scale * ((n + 0.5) / parts * 2 - 1)
            area = math.exp(-abs(z) / scale) / (2 * scale) * 60 * scale / parts
            for place, other in enumerate(counts):
                x = (own + z - other) / scale
                if place != k:
                    area *= 1 - math.exp(-x) / 2 if x > 0 else math.exp(x) / 2
            chances[k] += area
    return chances


SIZED = Database(size=30)
LABELS = Domain(x=Labels("abc"), y=Labels("uv"))


@pytest.mark.parametrize("answers", [[14, 16], [29, 1]])
@pytest.mark.parametrize(
    ("candidates", "noise"),
    [("maximum", "laplace"), ("maximum", "discrete-laplace"), ("exponential", "laplace")],
)
def test_a_best_score_is_refuted_where_the_numbers_are_known(candidates, noise, answers):
    """It was undecided: nothing may be added to a pair under scope "given"."""
    policy = Policy(domain=LABELS, known=(Marginal(["y"], answers=answers),), database=SIZED)
    item = Selection(query="marginal(x)", candidates=candidates, scale=Fraction(3, 2), noise=noise)
    found = certify(Mechanism(selections=(item,)), policy, Fraction(5, 2))
    pair, least = found.witness, found.lower
    assert found.verdict == "refuted" and pair is not None and isinstance(least, int | Fraction)
    check = check_pair(setting(policy), "published", pair)
    assert check and sum(times for _, times in pair.unchanged) + len(pair.before) == 30
    both = [[sum(n for x, n in held.items() if x[0] == k) for k in range(3)]
            for held in (pair.first(), pair.second())]  # fmt: skip
    laws: dict[str, Any] = {
        "laplace": laplace_maximum,
        "discrete-laplace": partial(maximum, reach=25),
    }
    law = exponential if candidates == "exponential" else laws[noise]
    one, two = (law(counts, 1.5) for counts in both)
    lost = max(abs(math.log(p / q)) for p, q in zip(one, two, strict=True))
    assert 2.5 < float(least) <= lost + 1e-4


@cache
def coarse_maximum(counts, scale, step=0.05):
    """The chances of each winner under Laplace noise, by midpoints."""
    points = [step * (k + 0.5) for k in range(int(-15 / step), int(15 / step))]

    def at_most(z):
        return 1 - math.exp(-z) / 2 if z > 0 else math.exp(z) / 2

    return [
        sum(
            step * math.exp(-abs(z)) / 2
            * math.prod(at_most(z + (own - other) / scale)
                        for j, other in enumerate(counts) if j != place)
            for z in points
        )
        for place, own in enumerate(counts)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("candidates", "noise", "far"),
    [("exponential", "laplace", 1e-6), ("maximum", "discrete-laplace", 1e-6),
     ("maximum", "laplace", 0.05)],
)  # fmt: skip
@pytest.mark.parametrize("known", [(), (Marginal(["y"], answers=(2, 1)),)])
def test_few_databases_are_refuted_by_their_worst_pair(candidates, noise, far, known, monkeypatch):
    """Of four records, 0.11 was found where 0.34 is the truth."""
    monkeypatch.setattr(listed_scores, "FINER", 1)
    monkeypatch.setattr(winning, "PARTS", 32)
    monkeypatch.setattr(winning, "REACH", 24)
    domain = LABELS if known else Domain(x=Labels("abc"))
    policy = Policy(domain=domain, known=known, database=Database(size=3, answers="given"))
    scale = Fraction(2)
    item = Selection(query="marginal(x)", candidates=candidates, scale=scale, noise=noise)
    found = certify(Mechanism(selections=(item,)), policy, Fraction(1, 20))
    laws: dict[str, Any] = {"laplace": coarse_maximum, "discrete-laplace": maximum}
    law = exponential if candidates == "exponential" else laws[noise]
    worst, seen = 0.0, set()
    for pair in brute_neighbours(setting(policy), "published", sizes=[3], every_label=False):
        both = tuple(
            tuple(sum(n for x, n in held.items() if x[0] == k) for k in range(3))
            for held in (pair.first(), pair.second())
        )
        if both not in seen:
            seen.add(both)
            one, two = (law(counts, scale=2) for counts in both)
            worst = max(worst, *(abs(math.log(p / q)) for p, q in zip(one, two, strict=True)))
    assert isinstance(found.lower, int | Fraction) and found.witness is not None
    assert worst - far < float(found.lower) <= worst + 1e-4
    assert check_pair(setting(policy), "published", found.witness)


def test_how_often_an_answer_wins():
    for counts in ((3, 3, 0), (1, 0, 5), (4, 4, 4)):
        behind = [Counter(Fraction(other - own, 2) for k, other in enumerate(counts) if k != place)
                  for place, own in enumerate(counts)]  # fmt: skip
        for place, (smooth, ties) in enumerate(
            zip(laplace_maximum(counts, 2), maximum(counts, 2, reach=30), strict=True)
        ):
            low, high = how_often(behind[place], {}, None)
            assert low <= high and float(low) - 1e-6 < smooth < float(high) + 1e-6
            assert high - low < Fraction(1, 50)
            lost = how_often(behind[place], {}, Fraction(2))
            won = how_often({}, behind[place], Fraction(2))
            assert float(lost[0]) - 1e-6 < ties < float(won[1]) + 1e-6
            assert lost[1] - lost[0] < Fraction(1, 10**20)


@pytest.mark.parametrize("noise", ["laplace", "discrete-laplace"])
@pytest.mark.parametrize("counts", [((40, 3), (39, 4)), ((0, 9), (1, 8)), ((5, 5), (4, 6))])
def test_how_often_one_answer_beats_another_is_the_same_by_sums(noise, counts):
    steps = Fraction(3) if noise == "discrete-laplace" else None
    for own, other in counts:
        for tie in (True, False) if steps else (True,):
            x = Fraction(other - own, 3)
            low, high = log_beats(x, steps, tie=tie)
            some = {x: 1}
            chances = how_often({}, some, steps) if tie else how_often(some, {}, steps)
            assert high - low < Fraction(1, 10**6)
            assert math.log(chances[0]) - 1e-6 <= float(high)
            assert float(low) <= math.log(chances[1]) + 1e-6


def test_what_a_best_score_has_not_is_refused():
    with pytest.raises(PolicyError, match="no penalty"):
        judged("maximum", 4, 1, penalty=Fraction(1))
    text = '[[selection]]\nquery = "histogram"\ncandidates = "maximum"\nscale = [1, 2]\n'
    with pytest.raises(PolicyError, match="one scale"):
        certify(parse_mechanism(text), POLICY, Fraction(1))
