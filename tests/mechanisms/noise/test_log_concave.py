"""Rejection from an envelope: it lies above every weight, and what is drawn has these weights."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise
from math import exp
from random import Random

import pytest

from blowproof.mechanisms.noise import k_norm
from blowproof.mechanisms.noise.k_norm import points_within, raw_k_norm
from blowproof.mechanisms.noise.log_concave import (
    Envelope,
    enveloped,
    geometric,
    power,
    raw_log_concave,
)


def weights(rate: Fraction, power: int):  # type: ignore[no-untyped-def]
    """Enclosures of f(r) / f(s) for f(r) = (r + 1)^power 2^-(rate r), rate a whole number."""

    def ratio(r: int, s: int, bits: int) -> tuple[Fraction, Fraction]:
        found = Fraction(r + 1, s + 1) ** power * Fraction(2) ** int(rate * (s - r))
        slack = Fraction(1, 1 << bits)
        return found * (1 - slack), found * (1 + slack)

    return ratio


@pytest.mark.parametrize(
    ("rate", "power", "guess", "wide"),
    [(1, 0, 1, 1), (1, 20, 28, 6), (1, 20, 3, 1), (1, 20, 500, 40), (4, 9, 3, 2)],
)
def test_the_envelope_lies_above_every_weight(rate: int, power: int, guess: int, wide: int) -> None:
    ratio = weights(Fraction(rate), power)
    found = enveloped(ratio, 0, guess, wide)
    best = max(range(200), key=lambda r: ratio(r, 0, 200)[0])
    assert abs(found.mode - best) <= 1
    for r in range(200):
        assert ratio(r, found.mode, 200)[0] <= found.at(r)


def test_what_is_drawn_has_the_weights() -> None:
    random = Random(4)
    ratio = weights(Fraction(1), 6)
    envelope = enveloped(ratio, 0, 8, 3)
    drawn = Counter(raw_log_concave(ratio, envelope, 0, random.randbytes) for _ in range(6000))
    exact = {r: (r + 1) ** 6 * 2.0**-r for r in range(80)}
    total = sum(exact.values())
    squares = sum(
        (drawn[r] - 6000 * value / total) ** 2 / (6000 * value / total)
        for r, value in exact.items()
        if value / total > 0.002
    )
    assert squares < 60  # some 17 degrees of freedom


def test_few_bits_decide_as_many_do() -> None:
    """Enclosures that are wide at first are asked for again, closer, before anything is decided."""
    exact = weights(Fraction(1), 3)
    asked_for = []

    def hazy(r: int, s: int, bits: int) -> tuple[Fraction, Fraction]:
        asked_for.append(bits)
        low, high = exact(r, s, bits)
        return (low, high) if bits > 400 else (low * Fraction(9, 10), high * Fraction(10, 9))

    envelope = enveloped(exact, 0, 4, 2)
    one, two = Random(8), Random(8)
    for _ in range(200):
        first = raw_log_concave(hazy, envelope, 0, one.randbytes)
        assert first >= 0
        raw_log_concave(exact, envelope, 0, two.randbytes)
    assert max(asked_for) > 400


@pytest.mark.parametrize(("width", "count", "b"), [(1, 3, Fraction(2)), (2, 4, Fraction(1)),
                                                   (4, 2, Fraction(3, 2))])  # fmt: skip
def test_k_norm_noise_in_many_dimensions_has_the_same_radius(
    width: int, count: int, b: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The branch for many dimensions, in a few: the gauge against its probabilities."""
    monkeypatch.setattr(k_norm, "MOST_LISTED", 1)
    random = Random(7)
    rounds = 4000
    drawn: Counter[int] = Counter()
    for _ in range(rounds):
        point = raw_k_norm(b, width, count, source=random.randbytes).reshape(count, width)
        each = abs(point).max() if width == 1 else max(abs(row).sum() // 2 for row in point)
        drawn[int(each)] += 1
    many = [points_within(width, count, r) for r in range(120)]
    shells = [many[0], *(b - a for a, b in pairwise(many))]
    chances = [shell * exp(-r / float(b)) for r, shell in enumerate(shells)]
    total = sum(chances)
    squares = sum(
        (drawn[r] - rounds * p / total) ** 2 / (rounds * p / total)
        for r, p in enumerate(chances)
        if rounds * p / total > 10
    )
    assert squares < 70


def test_the_radius_of_thousands_of_dimensions_stays_where_it_belongs() -> None:
    found = raw_k_norm(Fraction(3), 2, 3000).reshape(3000, 2)
    assert (found.sum(axis=1) == 0).all()
    assert 8000 < abs(found).max() < 10500


def test_an_envelope_draws_as_it_says() -> None:
    half = Fraction(1, 2)
    found = Envelope(3, 2, 4, Fraction(1), (half, half), (Fraction(1), Fraction(1, 4)))
    random = Random(3)
    drawn = Counter(found.draw(random.randbytes) for _ in range(4000))
    total = 3 + half + Fraction(1, 3)
    for r in (-1, 0, 1, 2, 4, 5, 6):
        assert abs(drawn[r] / 4000 - float(found.at(r) / total)) < 0.03


@pytest.mark.parametrize("fall", [Fraction(1, 3), Fraction(9, 10), Fraction(97, 99)])
def test_runs_are_geometric(fall: Fraction) -> None:
    random, draws = Random(5), 6000
    drawn = Counter(geometric(fall, random.randbytes) for _ in range(draws))
    squares, seen, degrees = 0.0, 0, 0
    for k in range(max(drawn) + 1):
        expected = draws * float((1 - fall) * fall**k)
        if expected < 8:
            break
        squares += (drawn[k] - expected) ** 2 / expected
        seen, degrees = seen + drawn[k], degrees + 1
    rest = draws * float(fall**degrees)
    squares += (draws - seen - rest) ** 2 / rest
    assert squares < degrees + 5 * (2 * degrees) ** 0.5 + 8


def test_a_power_lies_between_its_ends() -> None:
    random = Random(6)
    for _ in range(300):
        below, times = random.randint(1, 10**6), random.randint(0, 400)
        base, bits = Fraction(random.randint(0, below), below), random.choice([1, 8, 64, 200])
        low, high = power(base, times, bits)
        assert Fraction(low, 1 << bits) <= base**times <= Fraction(high, 1 << bits)
        assert high - low <= 1
    low, high = power(Fraction(10**30 - 1, 10**30), 10**30, 64)
    assert abs(low / 2**64 - exp(-1)) < 1e-12
    assert high - low <= 1


def test_numbers_far_out_are_drawn_in_a_few_steps() -> None:
    """Run by run, step by step, the tail of noise of scale 10^30 came to no end."""
    fall = Fraction(10**30 - 1, 10**30)
    asked = 0
    random = Random(7)

    def source(length: int) -> bytes:
        nonlocal asked
        asked += 1
        return random.randbytes(length)

    found = [geometric(fall, source) for _ in range(200)]
    assert asked < 200 * 20
    assert 0.8e30 < sum(found) / 200 < 1.25e30
