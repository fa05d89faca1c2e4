"""A release whose planning is stopped, by the time limit or by Ctrl-C: refused, and nothing spent.

Nothing here measures time: deadlines lie in the past, and work that would never end is stopped.
"""

import json
import re
import time
from dataclasses import replace
from fractions import Fraction

import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.kinds.hierarchical import GUIDE
from blowproof.mechanisms.kinds.laplace import Laplace
from blowproof.mechanisms.release.registry import MECHANISMS, plan
from blowproof.mechanisms.release.release import Draw, Request
from blowproof.models import Count, Distance, Domain, Integers, Policy, Region
from blowproof.verifier.ask import sensitivity

POLICY = """
[domain]
age = { min = 0, max = 9 }
[secrets]
kind = "distance"
metric = "l1"
threshold = 2
"""
KNOWN = Policy(
    domain=Domain(age=Integers(0, 4)),
    secrets=Distance(threshold=2),
    known=(Count(Region(age=[0, 1])),),
)


@pytest.fixture
def files(tmp_path):
    (tmp_path / "p.toml").write_text(POLICY)
    (tmp_path / "d.csv").write_text("age\n" + "\n".join(str(k % 10) for k in range(40)) + "\n")
    return tmp_path


@pytest.fixture
def no_noise(monkeypatch):
    """Whatever draws fails the test."""

    def drawn(*arguments):
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(Draw, "__call__", drawn)
    monkeypatch.setattr(Draw, "choose", drawn)


def refused(capsys, files, *words):
    """What a refused release says."""
    kept = words if "--budget" in words else (*words, "--unaccounted")
    code = run(["release", str(files / "p.toml"), str(files / "d.csv"), "--epsilon", "1", *kept])
    out, err = capsys.readouterr()
    assert code == 1
    return out, err


@pytest.mark.parametrize("name", MECHANISMS)
def test_no_time_left_is_a_refusal(name):
    request = Request(policy=KNOWN, epsilon=Fraction(1), deadline=time.monotonic() - 1)
    with pytest.raises(RefusedError, match=r"the time limit was over.*nothing spent"):
        plan(name, request)


def test_no_question_is_asked_once_the_time_is_over():
    def oracle(*question):
        raise AssertionError("a question was asked")

    late = time.monotonic() - 1
    request = Request(policy=KNOWN, epsilon=Fraction(1), deadline=late, oracle=oracle)
    with pytest.raises(RefusedError, match="time limit"):
        request.sensitivity()


def test_the_structure_of_a_graph_may_use_up_the_time(monkeypatch):
    """No engine is begun after a structural search that ended past the deadline."""
    request = Request(policy=KNOWN, epsilon=Fraction(1), time_limit=1000)

    def slow(*question):
        object.__setattr__(request, "deadline", time.monotonic() - 1)

    monkeypatch.setattr("blowproof.mechanisms.release.request.structural_sensitivity", slow)
    with pytest.raises(RefusedError, match="time limit"):
        request.sensitivity()


def test_one_limit_for_all_questions():
    """Questions that only guide a choice leave most of the time to the certifier."""
    limits = []

    def oracle(policy, query, reading, limit):
        limits.append(limit)
        return sensitivity(policy, query, reading=reading)

    request = Request(
        policy=KNOWN,
        query="cumulative(age)",
        epsilon=Fraction(1),
        time_limit=400,
        oracle=oracle,
        options={"fan-out": "2", "block": "2"},
    )
    plan("hierarchical", request)
    assert limits and all(0 < limit <= GUIDE * 400 for limit in limits)


def test_what_was_bounded_in_time_is_released_though_the_question_took_all_of_it(monkeypatch):
    """The proof of noise that is set from a bound is that bound: it takes no search."""
    here = [0.0]
    monkeypatch.setattr("blowproof.mechanisms.release.request.now", lambda: here[0])

    def oracle(policy, query, reading, limit):
        assert limit is not None and limit <= 90
        here[0] += 101
        found = sensitivity(policy, query, reading=reading)
        assert found.upper is not None
        return replace(found, upper=found.upper + 1, status="bounds")

    request = Request(policy=KNOWN, epsilon=Fraction(1), time_limit=100, oracle=oracle)
    made = plan("laplace", request)
    exact = plan("laplace", Request(policy=KNOWN, epsilon=Fraction(1)))
    assert isinstance(made, Laplace)
    assert isinstance(exact, Laplace)
    assert made.release.scales[0] == exact.release.scales[0] + 1
    with pytest.raises(RefusedError, match="time limit was over"):
        plan("laplace", replace(request, query="cumulative(age)"))


@pytest.mark.wall_clock
@pytest.mark.parametrize("name", ["laplace", "transformed", "k-means"])
def test_planning_that_never_ends_is_cut_off(files, capsys, monkeypatch, no_noise, name):
    def forever(*arguments):
        while True:
            time.sleep(0.01)

    monkeypatch.setattr("blowproof.mechanisms.release.registry.import_module", forever)
    out, err = refused(capsys, files, "--mechanism", name, "--time-limit", "0.1")
    assert out == ""
    assert re.match(r"refused: (stopped at the|the) time limit (was over )?before the noise", err)
    assert "nothing was released and nothing spent" in err and "try: a longer --time-limit" in err
    assert err.count("\n") == 2


def test_ctrl_c_while_planning(files, capsys, monkeypatch, no_noise):
    def pressed(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("blowproof.mechanisms.release.request.structural_sensitivity", pressed)
    out, err = refused(capsys, files, "--json")
    document = json.loads(out)
    assert document["released"] is False and err == ""
    assert document["reason"].startswith("stopped by Ctrl-C before the noise was known")


@pytest.mark.wall_clock
def test_a_refusal_spends_nothing(files, capsys, monkeypatch):
    """The whole budget is there for the next release."""
    budget = ["--budget", "1"]

    def forever(name):
        while True:  # in short steps: a thread that is asleep cannot be halted
            time.sleep(0.01)

    with monkeypatch.context() as patched:
        patched.setattr("blowproof.mechanisms.release.registry.import_module", forever)
        refused(capsys, files, *budget, "--time-limit", "0.1")
    command = ["release", str(files / "p.toml"), str(files / "d.csv"), "--epsilon", "1", *budget]
    assert run(command) == 0
    assert run(command) == 1
