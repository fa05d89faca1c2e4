"""Where an answer stays open, it says whether more time would help, and why not."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.release.request import calibrated_scale, status_notes
from blowproof.models import BudgetError, Count, Domain, Labels, Policy
from blowproof.models.base.clock import now, spend
from blowproof.models.files.writing import to_toml
from blowproof.verifier import plan
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.names import NO_MORE
from blowproof.verifier.asked.question import Question
from blowproof.verifier.portfolio.strategy import Reduction, Strategy

POLICY = Policy(domain=Domain(a=Labels(["x", "y", "z"])), known=(Count({"a": ["x", "y"]}),))


def refuses(question: Question) -> Answer | None:
    raise BudgetError("two values are too many\n  try: one")


def goes_on(question: Question) -> Answer | None:
    while question.deadline is None or now() < question.deadline:
        spend(0.1)
    return None


def ends(question: Question) -> Answer | None:
    return question.answer(0, 9)


def alone(monkeypatch: pytest.MonkeyPatch, *engines: Strategy) -> None:
    """Let a plan have these engines and nothing else."""
    monkeypatch.setattr(plan, "THEOREMS", ())
    monkeypatch.setattr(plan, "ENGINES", engines)
    monkeypatch.setattr(plan, "LAST", Strategy("last", "witness", "nothing", ends))


def engine(name: str, work: object, *, plans: bool = False) -> Strategy:
    return Strategy(name, "engine", name, work, plans=plans)  # type: ignore[arg-type]


def reduced(question: Question) -> Question:
    return question


@pytest.mark.parametrize("limit", [None, 60.0])
def test_all_have_ended(limit: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    alone(monkeypatch, engine("one", ends), engine("two", refuses), engine("three", refuses))
    answer = sensitivity(POLICY, time_limit=limit)
    assert (answer.status, answer.final) == ("bounds", True)
    assert answer.notes[-1] == (
        f"{NO_MORE}: every method that applies has come to its end; "
        "two values are too many (two, three)"
    )


@pytest.mark.parametrize("plans", [False, True])
def test_the_clock_has_ended_one(plans: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    alone(monkeypatch, engine("one", ends), engine("two", goes_on, plans=plans))
    answer = sensitivity(POLICY, time_limit=60)
    assert (answer.status, answer.final) == ("bounds", False)
    assert not any(NO_MORE in note for note in answer.notes)


def beside_an_easier_question(
    monkeypatch: pytest.MonkeyPatch, *, inside: object, beside: object
) -> None:
    """Let one engine answer an easier question, and another the question itself."""
    way = Reduction(reduced, lambda question, answer: None, lambda question, upper: None)
    easier = Strategy("easier", "reduction", "an easier question", way)
    real = plan.plan

    def inner(question: Question, **options: object) -> list[plan.Step]:
        steps = (engine("in", inside),) if options.get("inner") else (easier, engine("by", beside))
        monkeypatch.setattr(plan, "ENGINES", steps)
        return real(question, **options)  # type: ignore[arg-type]

    alone(monkeypatch)
    monkeypatch.setattr(plan, "plan", inner)


def test_the_clock_has_ended_an_easier_question(monkeypatch: pytest.MonkeyPatch) -> None:
    beside_an_easier_question(monkeypatch, inside=goes_on, beside=ends)
    assert not sensitivity(POLICY, time_limit=60).final


def test_an_easier_question_does_not_say_that_more_time_will_not_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All that applies to the easier question has ended; what was asked beside it has not."""
    beside_an_easier_question(monkeypatch, inside=ends, beside=goes_on)
    answer = sensitivity(POLICY, time_limit=60)
    assert not answer.final
    assert not any(NO_MORE in note for note in answer.notes)


def test_an_exact_answer_says_nothing_of_more_time() -> None:
    answer = sensitivity(POLICY, time_limit=60)
    assert (answer.status, answer.final) == ("exact", False)
    assert "more_time_helps" not in answer.to_json(POLICY.domain)


def test_people_scripts_and_audits_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    alone(monkeypatch, engine("one", ends), engine("two", refuses))
    file = tmp_path / "p.toml"
    file.write_text(to_toml(POLICY), encoding="utf-8")
    assert run(["sensitivity", str(file), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["more_time_helps"] is False
    assert run(["sensitivity", str(file)]) == 3
    told = " ".join(capsys.readouterr().out.split())
    assert f"bounds ({NO_MORE})" in told
    assert "two values are too many (two)" in told
    assert run(["audit", str(file)]) == 3
    told = " ".join(capsys.readouterr().out.split())
    assert f"open: {NO_MORE})." in told
    assert "two values are too many (two)" in told
    assert "search was stopped" not in told
    assert run(["audit", str(file), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["queries"][0]["more_time_helps"] is False


def test_a_release_does_not_advise_what_does_not_help() -> None:
    answer = sensitivity(POLICY)
    for final, advice in ((True, False), (False, True)):
        open_ = replace(answer, upper=None, status="bounds", final=final)
        with pytest.raises(RefusedError) as refusal:
            calibrated_scale(open_, Fraction(1))
        assert ("--time-limit" in str(refusal.value)) is advice
        notes = status_notes(replace(open_, upper=100))
        assert ("in time" in notes[0]) is advice
