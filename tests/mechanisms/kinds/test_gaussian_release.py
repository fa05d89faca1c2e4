"""Releases of Gaussian noise for a rho: the gate, the noise, and accounts in one measure each."""

import csv
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from blowproof.mechanisms.answers.vectors import Vector, single, whole
from blowproof.mechanisms.base.errors import LedgerError, OverspentError, RefusedError
from blowproof.mechanisms.budget.accountant import Accountant
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release import gate
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.models import Count, Database, Domain, InternalError, Labels, Policy, PolicyError
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Release

POLICY = Policy(domain=Domain(x=Labels(["a", "b", "c"])))
HALF, ONE = Fraction(1, 2), Fraction(1)


def request(**more):
    return Request(policy=POLICY, accept_wide_bounds=True, **more)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "d.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["x"], *[[label] for label in "abc" * 50]])
    return path


def released(made, data, **more):
    with Dataset(data, POLICY.domain) as dataset:
        return release(made, dataset, **more)


def test_the_variance_is_what_rho_calls_for(data):
    """S in squares is 2, so that rho = 1/2 takes a variance of 2; the certifier agrees."""
    made: Any = plan("gaussian", request(rho=HALF))
    (item,) = made.description.releases
    assert (item.noise, item.variance) == ("discrete-gaussian", 2)
    found = gate.proved(made)
    assert found.verdict == "proved" and found.loss == HALF
    answers = released(made, data).answers
    assert all(isinstance(value, int) for value in answers)


def test_noise_is_drawn_at_the_declared_variance_on_the_grid():
    names = single([str(k) for k in range(100_000)], column="k")
    truth = Vector(whole([7] * 100_000), HALF, names)
    item = Release(query="x", noise="discrete-gaussian", variance=Fraction(4), grid=HALF)
    found = gate.raw_noisy(item, truth)
    assert found.grid == HALF
    noise = (found.units - 7).astype(float) / 2
    assert abs(np.var(noise) - 4) < 0.2 and abs(noise.mean()) < 0.1


def test_each_output_may_have_its_own_variance():
    names = single([str(k) for k in range(90_000)], column="k")
    truth = Vector(whole([0] * 90_000), ONE, names, (30_000, 30_000, 30_000))
    widths = (Fraction(1), Fraction(100), Fraction(10_000))
    item = Release(query="x", noise="discrete-gaussian", variance=widths)
    parts = np.split(gate.raw_noisy(item, truth).units.astype(float), 3)
    assert all(0.9 < np.var(part) / width < 1.1 for part, width in zip(parts, widths, strict=True))


def test_bounded_noise_is_judged_and_not_drawn():
    names = single(["0"], column="k")
    law = (Fraction(1, 4), Fraction(1, 2), Fraction(1, 4))
    with pytest.raises(RefusedError, match="not bounded"):
        gate.raw_noisy(
            Release(query="x", noise="bounded", probabilities=law), Vector(whole([0]), ONE, names)
        )


def test_gaussian_noise_has_no_pure_epsilon():
    with pytest.raises(RefusedError, match="--rho R"):
        plan("gaussian", request(epsilon=ONE))


@pytest.mark.parametrize("rho", [0.5, True, "1/x", 0, -1])
def test_only_exact_rhos_above_zero_are_taken(rho):
    with pytest.raises(PolicyError):
        request(rho=rho)


def test_one_promise_and_no_other():
    with pytest.raises(PolicyError, match="an epsilon and a rho"):
        request(rho=ONE, epsilon=ONE)
    with pytest.raises(PolicyError, match="not above 0"):
        request()


def test_what_does_not_change_is_released_as_it_is():
    policy = Policy(domain=Domain(x=Labels(["a", "b"], ordered=True)))
    made: Any = plan("gaussian", Request(policy=policy, query="range(x,a,b)", rho=ONE))
    assert made.description.releases[0].scales == (0,)


@pytest.mark.parametrize("name", ["laplace", "hierarchical", "dawa"])
def test_only_pure_mechanisms_take_a_rho_as_an_epsilon(name, data):
    """epsilon^2 / 2 <= rho, proved by the gate in rho; and it is said."""
    policy = Policy(domain=Domain(x=Labels(["a", "b", "c"], ordered=True)))
    made = plan(name, Request(policy=policy, rho=HALF, accept_wide_bounds=True))
    with Dataset(data, policy.domain) as dataset:
        found = release(made, dataset)
    assert gate.proved(made).promise.rho == HALF
    said = any("rho = 1/2 is used as epsilon = 1" in note for note in found.notes)
    assert said == (name == "laplace")  # the others have Gaussian noise


def test_a_smaller_variance_than_declared_is_not_proved():
    made: Any = plan("gaussian", request(rho=HALF))
    made.description = made.described(replace(made.release, variance=Fraction(19, 10)))
    with pytest.raises(RefusedError, match="loses more than rho"):
        gate.proved(made)


def test_noise_that_was_not_declared_is_not_drawn():
    made: Any = plan("gaussian", request(rho=HALF))
    guard = gate.Gate(made)
    with pytest.raises(InternalError, match="other noise"):
        guard.permit(replace(made.release, variance=Fraction(3)))


# --- accounts ------------------------------------------------------------------------------------


def account(data, **more):
    return Accountant(POLICY, data, ledger=data.parent / "l.sqlite", **more)


def test_an_account_of_rho_converts_an_epsilon_and_says_so(data):
    first = account(data, budget=ONE, measure="rho")
    assert first.spend(request(rho=HALF), "gaussian") == ("budget: rho = 1/2 of 1 spent, 1/2 left",)
    (said,) = account(data).spend(request(epsilon=HALF), "laplace")
    assert "rho = 5/8 of 1 spent" in said and "converted to epsilon^2 / 2 = 1/8" in said
    with pytest.raises(OverspentError, match="a rho of at most 3/8"):
        account(data, measure="rho").spend(request(rho=HALF), "gaussian")
    with pytest.raises(OverspentError, match="rho = 1/2 would bring"):
        account(data).spend(request(epsilon=ONE), "laplace")


def test_an_account_of_epsilon_takes_no_rho(data):
    account(data, budget=ONE).spend(request(epsilon=HALF), "laplace")
    with pytest.raises(LedgerError, match="a rho has no pure epsilon"):
        account(data, measure="rho")
    assert account(data).spent == HALF


def test_measures_are_never_added(data):
    """A further budget of the same people is an explicit act, and each keeps its own measure."""
    account(data, budget=ONE).spend(request(epsilon=HALF), "laplace")
    other = account(data, budget=ONE, measure="rho", new_guarantee=True)
    other.spend(request(rho=HALF), "gaussian")
    assert (account(data).spent, account(data, measure="rho").spent) == (HALF, HALF)
    account(data).spend(request(epsilon=HALF), "laplace")
    assert (account(data).spent, account(data, measure="rho").spent) == (ONE, HALF)


def test_an_account_is_not_charged_in_another_measure(data):
    with pytest.raises(LedgerError, match="opened for a release in epsilon"):
        account(data, budget=ONE).spend(request(rho=HALF), "gaussian")


def test_a_charge_without_its_measure_is_an_altered_ledger(data):
    from blowproof.mechanisms.base.errors import AlteredError
    from blowproof.mechanisms.budget.accounts import Book

    account(data, budget=ONE, measure="rho").spend(request(rho=HALF), "gaussian")
    entries = [dict(entry) for entry in account(data, measure="rho").ledger.entries()]
    Book(entries)
    entries[-1].pop("rho")
    entries[-1]["epsilon"] = "1/100"
    with pytest.raises(AlteredError):
        Book(entries)


@pytest.mark.parametrize(
    ("name", "known", "most"),
    [("ordered", (), 3), ("table", (), 2), ("transformed", (), 3), ("strategy", (), 2),
     ("consistent", (Count({"x": "a"}, answer=10),), 4),
     ("transformed", (Count({"x": "a"}, answer=10),), 4)],
)  # fmt: skip
def test_a_rho_buys_gaussian_noise_wherever_one_release_is_drawn(name, known, most):
    """Variance S / (2 rho) with S in squares, and the gate proves it in rho."""
    policy = Policy(
        domain=Domain(x=Labels(["a", "b", "c", "d"], ordered=True)),
        known=known,
        database=Database(size=30 if known else None),
    )
    query = "cumulative(x)" if name == "ordered" else "histogram"
    made: Any = plan(name, Request(policy=policy, query=query, rho=HALF, accept_wide_bounds=True))
    noisy = [item for item in made.description if item.noise == "discrete-gaussian"]
    assert noisy
    assert all(0 < item.widths[0] <= most for item in noisy)
    found: Any = gate.proved(made)
    assert found.upper <= HALF
    counts = NoisyTable(np.array([10, 8, 7, 5]), policy.domain)
    assert len(release(made, counts).answers) == 4
