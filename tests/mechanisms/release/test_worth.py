"""Worthless noise: `release` drew noise of scale 7,380,363,120 on 2,000 records, and charged."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.release.registry import MECHANISMS, plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.models import Distance, Domain, Integers, Policy, Steps, parse_query
from blowproof.models.data.dataset import Dataset
from blowproof.verifier.ask import sensitivity

LINE = Policy(domain=Domain(x=Integers(0, 9)), secrets=Distance(threshold=1))
TINY = Fraction(1, 10**6)


class Account:
    """A budget that counts the charges."""

    charges = 0

    def spend(self, request, mechanism, data):
        self.charges += 1
        return ()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x\n" + "\n".join(str(k % 10) for k in range(2000)) + "\n")
    return path


def asked(name, epsilon, **rest):
    query = "cumulative(x)" if name in ("ordered", "hierarchical") else "histogram"
    promise: Any = {"rho": epsilon**2 / 2} if name == "gaussian" else {"epsilon": epsilon}
    return Request(policy=LINE, query=query, **promise, **rest)


@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - {"consistent"}))
def test_noise_larger_than_any_count_is_refused_before_the_charge(file, name):
    account = Account()
    with Dataset(file, LINE.domain) as data:
        with pytest.raises(RefusedError, match=r"nothing spent\n  try: .*--accept-wide-bounds"):
            release(plan(name, asked(name, TINY)), data, budget=account)
        assert account.charges == 0
        release(plan(name, asked(name, Fraction(1))), data, budget=account)
        release(plan(name, asked(name, TINY, accept_wide_bounds=True)), data, budget=account)
    assert account.charges == 2


def test_an_unknown_number_of_records_is_compared_with_nothing(file):
    """A refusal by n would tell what `add-remove` keeps secret."""
    request = asked("laplace", TINY, reading="add-remove")
    with Dataset(file, LINE.domain) as data:
        release(plan("laplace", request), data)


@pytest.mark.parametrize(("lower", "refused"), [(0, True), (1, True), (2, False), (8, False)])
def test_bounds_further_apart_than_four_times_are_refused(lower, refused):
    """S is between 1 and 8: more patience may spare most of that noise."""
    policy = replace(LINE, secrets=Distance(threshold=9), known=())

    def oracle(policy, query, reading, limit):
        found = sensitivity(policy, query, reading=reading)
        return replace(found, lower=lower, upper=8, status="bounds")

    request = Request(policy=policy, epsilon=Fraction(1), oracle=oracle, engine="search")
    if not refused:
        plan("laplace", request)
        return
    with pytest.raises(RefusedError, match="upper bound"):
        plan("laplace", request)
    plan("laplace", replace(request, accept_wide_bounds=True))


def test_the_option_of_the_command(file, capsys, tmp_path):
    policy = tmp_path / "p.toml"
    policy.write_text("[domain]\nx = { min = 0, max = 9 }\n")
    words = ["release", str(policy), str(file), "--epsilon", "1/1000000", "--unaccounted", "--json"]
    assert run(words) == 1
    reason = json.loads(capsys.readouterr().out)["reason"]
    assert "scale 2000000" in reason and "at most 2000" in reason
    assert run([*words, "--accept-wide-bounds"]) == 0


@pytest.mark.parametrize(
    ("query", "most"), [("histogram", 7), ("sum(x)", 63), ("sum(t)", 21), ("marginal(x)", 7)]
)
def test_the_largest_answer(query, most):
    domain = Domain(x=Integers(0, 9), t=Steps(-3, 2, "1/2"))
    bound = parse_query(query, Policy(domain=domain))
    assert bound.largest_answer(domain, 7) == most
