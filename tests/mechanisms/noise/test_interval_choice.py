"""Partitions drawn by the exponential mechanism: their probabilities, exactly."""

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import exp, log2

import numpy as np
import pytest

from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.noise.exponential import exp_minus
from blowproof.mechanisms.noise.interval_choice import raw_interval_choice
from blowproof.mechanisms.noise.rounded_down import Powers
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import release
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.structures.medians import FINE, median_costs
from blowproof.models import Domain, Integers, Policy, QueryError
from blowproof.models.mechanisms.mechanism import DRAWN, Selection
from blowproof.verifier.certify.selections.selections import choice_factor

COSTS = [[0, 3, -2, 5, 1, 0], [0, 0, 4, 7, -3, 2], [0, 0, 0, 0, 9, 1]]


def partitions(size: int) -> Iterator[tuple[int, ...]]:
    if size == 0:
        yield ()
    for power in range(3):
        if 1 << power <= size:
            for rest in partitions(size - (1 << power)):
                yield (*rest, size)


def cost(ends: tuple[int, ...], costs: list[list[int]]) -> int:
    starts = (0, *ends)
    return sum(costs[int(log2(end - start))][end] for start, end in zip(starts, ends, strict=False))


@pytest.mark.parametrize("rate", [Fraction(3, 10), Fraction(1, 50), Fraction(2)])
def test_partitions_are_drawn_in_proportion_to_their_weights(rate: Fraction) -> None:
    source = random.Random(7)
    draws = 3_000
    found = Counter(
        tuple(raw_interval_choice(COSTS, rate, source=source.randbytes)) for _ in range(draws)
    )
    weights = {ends: exp(-float(rate) * cost(ends, COSTS)) for ends in partitions(5)}
    whole = sum(weights.values())
    assert set(found) <= set(weights)
    expected = {ends: draws * weight / whole for ends, weight in weights.items()}
    large = [ends for ends in expected if expected[ends] >= 5]
    chi = sum((found[ends] - expected[ends]) ** 2 / expected[ends] for ends in large)
    assert chi < 35  # nine degrees of freedom at the most: one time in ten thousand


def test_a_number_at_a_border_is_drawn_on_until_it_decides() -> None:
    """Both partitions of two values have the chance 1/2; the number begins with exactly that."""
    for last, ends in ((b"\xff", [2]), (b"\x00", [1, 2])):
        asked: list[int] = []

        def source(many: int, last: bytes = last, asked: list[int] = asked) -> bytes:
            asked.append(many)
            if len(asked) == 1:
                first = 0x80 if last == b"\xff" else 0x7F
                rest = b"\x00" if last == b"\xff" else b"\xff"
                return rest * (many - 1) + bytes([first])
            if len(asked) < 5:
                return (b"\x00" if last == b"\xff" else b"\xff") * many
            return last * many

        assert raw_interval_choice([[0, 0, 0], [0, 0, 0]], Fraction(1), source=source) == ends
        assert len(asked) > 4  # more than one round of bits was needed


def test_costs_beyond_any_word_are_told_apart() -> None:
    for huge in (2**31, 2**53, 2**63, 2**70):
        assert raw_interval_choice([[0, 0, 0], [0, 0, huge]], Fraction(1)) == [1, 2]
        assert raw_interval_choice([[0, huge, huge], [0, 0, 0]], Fraction(1)) == [2]
        assert raw_interval_choice([[0, -huge, -huge], [0, 0, 0]], Fraction(1)) == [1, 2]


@pytest.mark.parametrize("unit", [1, 2**31, 2**53, 2**63])
def test_the_costs_are_deviations_from_the_median_and_a_penalty(unit: int) -> None:
    counts = [count * unit for count in (5, 1, 1, 9, 2)]
    found = median_costs(np.array(counts, dtype=object), 3, Fraction(3, 2))
    for power in range(3):
        for end in range(1 << power, 6):
            held = sorted(counts[end - (1 << power) : end])
            middle = held[len(held) // 2]
            part = sum(abs(count - middle) for count in held) + Fraction(3, 2)
            assert Fraction(int(found[power, end]), FINE) == part


def test_deviations_of_long_runs_are_those_of_sorted_ones() -> None:
    counts = np.random.default_rng(3).integers(0, 9, 70)
    found = median_costs(counts, 7, Fraction(0)) // FINE
    for power in range(7):
        for end in range(1 << power, 71):
            held = counts[end - (1 << power) : end]
            assert found[power, end] == abs(held - np.median(held)).sum()


def test_neighbours_never_lose_more_than_the_certifier_says() -> None:
    """Every partition of every pair of small histograms that differ in one move."""
    scale = Fraction(5)
    factor = choice_factor(Selection(query="histogram", candidates=DRAWN, scale=scale), 4)
    assert factor is not None
    worst = 0.0
    for one in ([3, 0, 2, 1], [0, 4, 0, 0], [1, 1, 1, 3]):
        for here in range(4):
            for there in range(4):
                two = list(one)
                two[here] -= 1
                two[there] += 1
                if min(two) < 0 or here == there:
                    continue
                chances = []
                for counts in (one, two):
                    costs = median_costs(np.array(counts), 3, Fraction(0)).tolist()
                    weight = {ends: exp(-cost(ends, costs) / FINE / float(scale))
                              for ends in partitions(4)}  # fmt: skip
                    chances.append({ends: w / sum(weight.values()) for ends, w in weight.items()})
                worst = max(
                    worst,
                    *(abs(float(np.log(chances[0][at] / chances[1][at]))) for at in chances[0]),
                )
    assert worst <= 2 * float(factor)
    assert worst > 0.2 * float(factor)


@pytest.mark.parametrize("mechanism", ["dawa", "dawa-transformed"])
def test_a_drawn_partition_is_proved_and_released(mechanism: str) -> None:
    policy = Policy(domain=Domain(x=Integers(0, 15)))
    made = made_ready(mechanism, Request(policy=policy, epsilon=Fraction(2)))
    assert proved(made).verdict == "proved"
    assert made.opening[0].candidates == DRAWN  # type: ignore[union-attr]
    found = release(made, NoisyTable(np.array([50] * 8 + [0] * 8), policy.domain))
    assert len(found.answers) == 16
    noisy = made_ready(
        mechanism, Request(policy=policy, epsilon=Fraction(2), options={"partition": "noisy"})
    )
    assert noisy.opening[0].candidates == "intervals"  # type: ignore[union-attr]
    with pytest.raises(QueryError, match="no partition"):
        made_ready(
            mechanism, Request(policy=policy, epsilon=Fraction(2), options={"partition": "best"})
        )


@pytest.mark.parametrize(
    "rate", [Fraction(1, 10**9), Fraction(3, 10), Fraction(1), Fraction(29, 2)]
)
def test_powers_are_never_above_the_truth_and_hardly_below_it(rate: Fraction) -> None:
    """By far more digits, asked in any order, for numbers of one digit, of several, and of none."""
    draw, bits, precision = random.Random(12), 96, 4_000
    most = int(2_000 / rate)
    powers = Powers(rate, most, bits)
    for steps in [0, 1, 63, most, most // 64 * 64, *(draw.randrange(most) for _ in range(20))]:
        if steps > most:
            continue
        mantissa, power = powers(steps)
        found = mantissa * Fraction(2) ** power
        low, high = exp_minus(rate * steps, precision)
        assert found <= Fraction(high, 1 << precision)
        assert found >= Fraction(low, 1 << precision) * (1 - Fraction(4, 1 << bits))
