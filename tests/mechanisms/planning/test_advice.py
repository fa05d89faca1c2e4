"""Advice about publications: what would be gained if something else were known."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.planning import advice, planner
from blowproof.mechanisms.planning.advice import advised
from blowproof.mechanisms.planning.candidates import Candidate
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.request import Request
from blowproof.models import (
    AttributeChange,
    BoundQuery,
    Database,
    Domain,
    Full,
    Labels,
    Marginal,
    Policy,
)
from blowproof.models.policy.readings import Reading
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer

DOMAIN = Domain(sex=Labels(["F", "M"]), ward=Labels(["a", "b", "c"]))


def told(policy: Policy) -> dict[str, float]:
    work = workload(["histogram"], [], policy)
    found = advised(Request(policy=policy, query=work.queries[0], epsilon=Fraction(1)), work)
    assert [item.rmse for item in found] == sorted(item.rmse for item in found)
    return {item.change: item.saves or 0.0 for item in found}


def test_two_margins_cost_more_than_their_table() -> None:
    found = told(Policy(domain=DOMAIN, known=(Marginal(("sex",)), Marginal(("ward",)))))
    assert set(found) == {
        "leave out marginal(sex)",
        "leave out marginal(ward)",
        "publish marginal(sex,ward) in place of marginal(sex) and marginal(ward)",
    }
    assert all(saved > 0.3 for saved in found.values())


def test_a_coarser_table_has_the_sums_of_its_numbers() -> None:
    fine = Marginal(("sex", "ward"), answers=(5, 6, 7, 8, 9, 10))
    policy = Policy(
        domain=Domain(sex=Labels(["F", "M"]), ward=Labels(["a", "b", "c"]), x=Labels(["0", "1"])),
        known=(fine,),
        database=Database(size=45),
    )
    found = told(policy)
    assert "publish marginal(ward) in place of marginal(sex,ward)" in found
    assert "leave out marginal(sex,ward)" in found


def test_the_command_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(
        '[domain]\nsex = ["F", "M"]\nward = ["a", "b"]\n[[known]]\nmarginal = ["ward"]\n'
    )
    command = ["plan", "p.toml", "--query", "histogram", "--epsilon", "1", "--advice"]
    assert run([*command, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["advice"][0]
    assert first["change"] == "leave out marginal(ward)"
    assert first["saves"] == pytest.approx(1 - first["rmse"] / first["now"])
    assert run(command) == 0
    assert "other publications" in capsys.readouterr().out


def test_where_no_mechanism_answers_advice_says_what_one_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(
        '[domain]\nsex = ["F", "M"]\nward = ["a", "b"]\n[[known]]\nmarginal = ["ward"]\n'
        '[[known]]\ncount = { sex = "F" }\n'
    )
    asked = planner.made_ready

    def none_as_it_is(name: str, request: Request) -> object:
        if len(request.policy.known) == 2:
            raise RefusedError("too hard: nothing was drawn and nothing spent")
        return asked(name, request)

    monkeypatch.setattr(advice, "made_ready", none_as_it_is)
    monkeypatch.setattr(planner, "made_ready", none_as_it_is)
    command = ["plan", "p.toml", "--query", "histogram", "--epsilon", "1"]
    assert run(command) == 1
    shown = capsys.readouterr().out
    assert "laplace, " in shown and ": too hard\n" in shown
    assert "leave out marginal(ward): RMSE " in shown  # also where nobody asked for advice
    assert run([*command, "--advice", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["advice"]
    assert {item["change"] for item in told} == {
        "leave out marginal(ward)",
        "leave out how many records have sex = F",
    }
    assert all(item["now"] is None and item["saves"] is None for item in told)
    assert run([*command, "--advice"]) == 1
    assert "now no mechanism found" in capsys.readouterr().out


def test_a_refused_plan_says_how_large_s_is_and_what_it_would_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(
        '[domain]\na = ["1", "2"]\nb = ["1", "2"]\n[database]\nsize = 5\n'
        '[[known]]\nmarginal = ["a"]\nanswers = [2, 3]\n'
    )
    command = ["plan", "p.toml", "--query", "histogram", "--epsilon", "1/10"]
    assert run(command) == 1
    shown = " ".join(capsys.readouterr().out.split())
    # S = 4, the scale is 40, and no count is above 5: from 4/5 on noise is no larger
    assert "histogram: S = 4, so Laplace noise has a scale of 40" in shown
    assert "on 5 records the numbers are at most 5: noise is no larger from epsilon 4/5 on" in shown
    assert "other publications" in shown and "leave out marginal(a): RMSE" in shown
    assert run([*command, "--json"]) == 1
    written = json.loads(capsys.readouterr().out)
    assert written["sensitivities"] == [
        {"query": "histogram", "norm": "l1", "lower": 4, "upper": 4, "status": "exact"}
    ]
    assert written["advice"]


def test_where_leaving_out_one_fact_does_not_help_more_are_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = (Marginal(("sex",)), Marginal(("ward",)), Marginal(("sex", "ward")))
    asked = advice.made_ready

    def hard(name: str, request: Request) -> object:
        if len(request.policy.known) > 1:
            raise RefusedError("too hard: nothing was drawn and nothing spent")
        return asked(name, request)

    monkeypatch.setattr(advice, "made_ready", hard)
    found = told(Policy(domain=DOMAIN, known=known))
    assert set(found) == {
        "leave out all that is known but marginal(sex)",
        "leave out all that is known but marginal(ward)",
        "leave out all that is known but marginal(sex,ward)",
        "leave out all that is known",
    }


def test_reading_2_is_named_where_plain_moves_come_into_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Under full secrets, or where nothing is known, both readings are the same."""
    asked = advice.made_ready

    def only_secret_moves(name: str, request: Request) -> object:
        if request.reading == "published":
            raise RefusedError("too hard: nothing was drawn and nothing spent")
        return asked(name, request)

    monkeypatch.setattr(advice, "made_ready", only_secret_moves)
    known = (Marginal(("sex",)), Marginal(("ward",)))
    near = Policy(domain=DOMAIN, secrets=AttributeChange(), known=known)
    assert set(told(near)) == {"promise less: --reading secret-moves"}
    assert not told(replace(near, secrets=Full()))
    assert not told(replace(near, known=()))


@pytest.mark.parametrize(("apart", "patient"), [(8, True), (1_000, False)])
def test_nobody_waits_for_bounds_that_are_far_apart(apart: int, patient: bool) -> None:
    """A first look has a small part of the time; a second one comes where it may help."""
    policy = Policy(domain=DOMAIN, known=(Marginal(("sex",)), Marginal(("ward",))))
    limits: list[float] = []

    def oracle(under: Policy, query: BoundQuery, reading: Reading, limit: float | None) -> Answer:
        assert limit is not None
        if query.name == "histogram":
            limits.append(limit)
        found = sensitivity(under, query, reading=reading)
        return replace(found, upper=apart * found.lower, status="bounds")

    work = workload(["histogram"], [], policy)
    asked = Request(
        policy=policy, query=work.queries[0], epsilon=Fraction(1), time_limit=1_000, oracle=oracle
    )
    found = planner.planned(asked, work, size=None)
    assert not found.options
    assert (max(limits) > 200) is patient
    kept = found.sensitivities[0]
    assert kept is not None and kept.upper == apart * kept.lower


def test_a_refused_plan_says_what_stands_in_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(
        '[domain]\na = ["1", "2"]\nb = ["1", "2"]\n'
        '[[known]]\nmarginal = ["a"]\n[[known]]\nmarginal = ["b"]\n'
    )

    def hard(*arguments: object) -> object:
        raise RefusedError("too hard: nothing was drawn and nothing spent")

    monkeypatch.setattr(planner, "_require_worth", hard)
    for promise, line in (
        (["--epsilon", "1"], "noise with a scale of 10 would take epsilon 0.4"),
        (["--rho", "1"], "noise with a standard error of 10 would take rho 0.02"),
    ):
        assert run(["plan", "p.toml", "--query", "histogram", *promise]) == 1
        shown = " ".join(capsys.readouterr().out.split())
        assert line in shown  # S is 4
        assert "tie records together, so that one secret may change 4 records at once" in shown
    Path("p.toml").write_text('[domain]\na = ["1", "2"]\nb = ["1", "2"]\n')
    assert run(["plan", "p.toml", "--query", "histogram", "--epsilon", "1"]) == 1
    assert "what stands in the way" not in capsys.readouterr().out


def test_a_plan_says_where_facts_are_what_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sixteen wards are known: a cycle of as many records takes Laplace noise of scale 32 on two
    sums that one record alone changes by 1.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(planner, "candidates", lambda query, policy: [Candidate("laplace")])
    monkeypatch.setattr(planner, "strategies", lambda request, asked: [[] for _ in asked.texts])
    wards = ", ".join(f'"w{at}"' for at in range(16))
    domain = f'[domain]\nward = [{wards}]\nx = ["0", "1"]\n'
    known = '[[known]]\nmarginal = ["ward"]\n'
    line = "what is published costs more than 10 times the error: --advice"
    words = ["plan", "p.toml", "--query", "marginal(x)", "--epsilon", "1"]
    for text, costly in ((domain, False), (domain + known, True)):
        Path("p.toml").write_text(text)
        assert run(words) == 0
        assert (line in " ".join(capsys.readouterr().out.split())) is costly
