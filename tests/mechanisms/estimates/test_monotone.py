"""Estimates that are known to rise or to fall."""

import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining.estimator import Estimated, Estimator
from blowproof.mechanisms.combining.measurements import measured_in
from blowproof.mechanisms.combining.monotone import Order, order_of
from blowproof.models import Database, Domain, Integers, Marginal, Policy, QueryError, parse_query
from blowproof.models import Labels as Words
from blowproof.models.mechanisms.mechanism import Release

POLICY = Policy(domain=Domain(age=Integers(0, 7)))
FALLING = np.array([40.0, 31.0, 22.0, 14.0, 9.0, 5.0, 2.0, 1.0])
NOISE = Release(query="histogram", noise="discrete-laplace", scale=Fraction(6))


def estimated(noisy: np.ndarray, query: str, numbers: str, order: str | None) -> Estimated:
    made = Estimator(POLICY, [measured_in(NOISE, [Fraction(x) for x in noisy], POLICY)],
                     reading="published", size=int(FALLING.sum()))  # fmt: skip
    asked = parse_query(query, POLICY)
    how = None if order is None else order_of(order, asked, POLICY.domain)
    return made.answers(asked, numbers, how)


def drawn(seed: int) -> np.ndarray:
    return FALLING + np.rint(np.random.default_rng(seed).laplace(0, 6, 8))


def test_the_nearest_numbers_in_order_against_all_of_them() -> None:
    """Brute force over whole numbers on a grid; two of the numbers are known."""
    rng = np.random.default_rng(3)
    grid = np.arange(-2, 5)
    rows = [np.array(row) for row in itertools.combinations_with_replacement(grid.tolist(), 5)]
    for _ in range(30):
        values = rng.integers(-2, 5, 5).astype(float)
        errors = np.ones(5)
        known = sorted(rng.choice(5, 2, replace=False).tolist())
        errors[known] = 0.0
        able = [row for row in rows if all(row[at] == values[at] for at in known)]
        order = Order(falling=False, follows=False)
        if not able:
            with pytest.raises(RefusedError, match="not in that order"):
                order.step(values, errors)
            continue
        found = order.step(values, errors)
        assert (np.diff(found) >= -1e-9).all() and (found[known] == values[known]).all()
        least = min(float(((row - values) ** 2).sum()) for row in able)
        assert ((found - values) ** 2).sum() <= least + 1e-9
        # and no sequence in that order is nearer: the way to each makes a blunt angle
        assert all((values - found) @ (row - found) <= 1e-9 for row in able)
        turned = Order(falling=True, follows=False).step(values[::-1].copy(), errors[::-1].copy())
        assert turned[::-1] == pytest.approx(found)


@pytest.mark.parametrize("numbers", ["real", "positive", "whole"])
@pytest.mark.parametrize(("query", "order"), [("marginal(age)", "falling"),
                                              ("cumulative(age)", "rising")])  # fmt: skip
def test_estimates_are_in_order_and_nearer_to_the_truth(
    numbers: str, query: str, order: str
) -> None:
    truth = FALLING if order == "falling" else np.cumsum(FALLING)
    sign = -1 if order == "falling" else 1
    plain, better = 0.0, 0.0
    for seed in range(12):
        noisy = drawn(seed)
        before = estimated(noisy, query, numbers, None)
        after = estimated(noisy, query, numbers, order)
        assert (sign * np.diff(after.values) >= -1e-9).all()
        assert after.bias is not None and after.how == "simulated, 40 rounds"
        if numbers == "whole":
            assert (after.values == np.rint(after.values)).all()
        if order == "falling":
            assert after.values.sum() == pytest.approx(FALLING.sum())  # n is known, and kept
        squares = [float(((it.values - truth) ** 2).sum()) for it in (before, after)]
        if numbers == "real":
            assert squares[1] <= squares[0] + 1e-6
        plain, better = plain + squares[0], better + squares[1]
    assert better < 0.8 * plain if order == "falling" else better <= plain + 1e-6


def test_the_errors_that_are_told_are_those_of_many_draws() -> None:
    truth, found = FALLING, []
    for seed in range(150):
        found.append(estimated(drawn(seed), "marginal(age)", "real", "falling"))
    apart = np.array([item.values for item in found]) - truth
    told = np.mean([np.sqrt((item.errors**2).mean()) for item in found])
    assert np.sqrt((apart**2).mean()) == pytest.approx(told, rel=0.15)
    inside = [(item.ends[0] <= truth) & (truth <= item.ends[1]) for item in found]
    assert np.mean(inside) > 0.93


def test_a_known_count_that_would_break_is_refused() -> None:
    policy = Policy(
        domain=Domain(age=Integers(0, 3), sex=Words(["F", "M"])),
        database=Database(size=8),
        known=(Marginal(("age",), answers=(1, 4, 2, 1)),),
    )
    made = Estimator(policy, [], reading="published")
    query = parse_query("marginal(age)", policy)
    for text in ("rising", "falling"):
        with pytest.raises(RefusedError, match="not in that order"):
            made.answers(query, "real", order_of(text, query, policy.domain))


def test_what_has_no_order_is_refused() -> None:
    domain = Domain(age=Integers(0, 3), sex=Words(["F", "M"]))
    policy = Policy(domain=domain)
    for text in ("histogram", "marginal(sex)", "ranges(age)", "sum(age)"):
        with pytest.raises(QueryError, match="one ordered attribute"):
            order_of("rising", parse_query(text, policy), domain)
    with pytest.raises(QueryError, match="never falls"):
        order_of("falling", parse_query("cumulative(age)", policy), domain)


def test_the_command_says_what_it_assumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text("[domain]\nage = { min = 0, max = 7 }\n")
    rows = "".join(f"{at}\n" * int(many) for at, many in enumerate(FALLING))
    Path("d.csv").write_text("age\n" + rows)
    drawing = ["release", "p.toml", "d.csv", "--mechanism", "laplace", "--epsilon", "1/3"]
    assert run([*drawing, "--unaccounted", "--output", "a.csv"]) == 0
    asked = ["estimate", "p.toml", "a.csv", "--query", "marginal(age)", "--monotone", "falling"]
    capsys.readouterr()
    assert run([*asked, "--synthetic", "made.csv", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    values = document["values"]
    assert values == sorted(values, reverse=True) and sum(values) == 124
    made = Path("made.csv").read_text().split()[1:]
    assert [made.count(str(at)) for at in range(8)] == values  # records agree with them
    assert document["monotone"] == "falling"
    assert any("which nobody checked" in note for note in document["notes"])
    rising = [*asked[:4], "cumulative(age)", "--monotone", "rising", "--numbers", "real", "--json"]
    assert run(rising) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["values"] == sorted(document["values"])
    assert not any("nobody checked here" in note for note in document["notes"])
    assert any("biased by" in note for note in document["notes"])
    assert run([*asked[:4], "sum(age)", "--monotone", "rising"]) == 2
