"""rho, logarithms and what follows from an order, against many digits and direct sums."""

from fractions import Fraction

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blowproof.models import PolicyError
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.measures.logarithms import logarithm, rounded_down, rounded_up
from blowproof.verifier.certify.measures.orders import (
    epsilon_at,
    epsilon_of_order,
    from_pure,
    laplace_order_2,
    pure_of,
)

BIG = 10**60


def number(x):
    return mpmath.mpf(x.numerator) / x.denominator


@given(st.fractions(min_value=Fraction(1, BIG), max_value=BIG), st.integers(8, 200))
def test_logarithms_are_enclosed(x, bits):
    low, high = logarithm(x, bits)
    with mpmath.workdps(120):
        assert number(low) <= mpmath.log(number(x)) <= number(high)
    assert high - low < Fraction(1, 2 ** (bits - 4))


@given(st.fractions(), st.integers(0, 30))
def test_rounding_goes_where_it_says(x, digits):
    assert rounded_down(x, digits) <= x <= rounded_up(x, digits)
    assert rounded_up(x, digits) - rounded_down(x, digits) <= Fraction(1, 10**digits)


@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 2), Fraction(256, 100), 50, 10**6])
@pytest.mark.parametrize("power", [1, 5, 10, 40])
def test_epsilon_at_a_delta_is_the_best_order_rounded_up(rho, power):
    rho, delta = Fraction(rho), Fraction(1, 10**power)
    found = epsilon_at(rho, delta)
    with mpmath.workdps(60):

        def of(less):
            a = 1 + less
            tail = (power * mpmath.log(10) - mpmath.log(a)) / less
            return a * number(rho) + tail + mpmath.log(less / a)

        start = mpmath.sqrt(power * mpmath.log(10) / number(rho))
        best = min(of(start * mpmath.mpf(2) ** (mpmath.mpf(k) / 64)) for k in range(-2000, 1000))
        assert number(found) >= max(0, best) * mpmath.mpf("0.99") - mpmath.mpf("0.01")
        assert number(found) <= max(0, best) + mpmath.mpf(10) ** -9


@given(
    st.fractions(min_value=Fraction(1, 1000), max_value=100),
    st.fractions(min_value=Fraction(101, 100), max_value=1000),
    st.integers(1, 60),
)
def test_no_order_is_rounded_down(rho, order, power):
    found = epsilon_of_order(rho, Fraction(1, 10**power), order)
    with mpmath.workdps(80):
        a = number(order)
        delta = mpmath.exp((a - 1) * (a * number(rho) - number(found))) * (1 - 1 / a) ** a / (a - 1)
        assert delta <= mpmath.mpf(10) ** -power


def test_the_census_number():
    """The published global scale: rho = 2.56, and 17.14 at 10^-10."""
    rho = 1 / Fraction(339, 542) ** 2
    assert round(float(rho), 2) == 2.56
    assert round(float(epsilon_at(rho, Fraction(1, 10**10))), 2) == 17.14


@pytest.mark.parametrize("rho", [Fraction(1, 10**400), Fraction(10**400)])
def test_extreme_rhos_are_no_trouble(rho):
    assert epsilon_at(rho, Fraction(1, 10**10)) >= 0
    assert epsilon_at(rho, Fraction(1, 10**400)) >= 0


@given(st.fractions(min_value=Fraction(1, BIG), max_value=BIG))
def test_pure_epsilons_convert_one_way_and_are_not_gained(rho):
    assert from_pure(pure_of(rho)) <= rho


def direct(scale, d, digits=30):
    """D_2 of discrete Laplace noise by its definition."""
    with mpmath.workdps(digits):
        b = number(scale)
        reach = d + int(80 * b) + 40
        whole = mpmath.fsum(mpmath.exp(-abs(k) / b) for k in range(-reach, reach + 1))
        mean = mpmath.fsum(
            mpmath.exp((-2 * abs(k) + abs(k - d)) / b) for k in range(-reach, reach + 1)
        )
        return mpmath.log(mean / whole)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(40)])
@pytest.mark.parametrize("d", [1, 2, 5, 31])
def test_order_2_of_discrete_laplace_noise(scale, d):
    found = laplace_order_2(d / scale, discrete=True, steps=d)
    true = direct(scale, d)
    assert true - mpmath.mpf(10) ** -10 <= number(found) <= true


def test_order_2_of_laplace_noise():
    with mpmath.workdps(40):
        true = mpmath.log(
            mpmath.quad(
                lambda x: mpmath.exp(-2 * abs(x) + abs(x - 2)) / 2, [-mpmath.inf, 0, 2, mpmath.inf]
            )
        )
        found = laplace_order_2(Fraction(2), discrete=False, steps=1)
        assert true - mpmath.mpf(10) ** -10 <= number(found) <= true


def test_far_shifts_are_not_more_than_they_are():
    assert 9_000 < laplace_order_2(Fraction(10_000), discrete=True, steps=10) < 10_000


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"epsilon": Fraction(1), "rho": Fraction(1)},
        {"rho": Fraction(1), "delta": Fraction(1, 2)},
        {"epsilon": Fraction(0)},
        {"rho": Fraction(-1)},
        {"epsilon": 0.5},
        {"epsilon": True},
        {"epsilon": Fraction(1), "delta": Fraction(0)},
        {"epsilon": Fraction(1), "delta": Fraction(1)},
        {"epsilon": Fraction(1), "delta": 1e-10},
    ],
)
def test_what_promises_nothing_is_refused(given):
    with pytest.raises(PolicyError):
        Promise(**given)
