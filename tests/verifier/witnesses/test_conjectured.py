"""What a conjecture says stands beside the bounds, never in their place."""

from __future__ import annotations

import pytest

from blowproof.models import (
    Between,
    Count,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.secrets import Distance
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.plan import Run
from blowproof.verifier.witnesses.affine_frame import conjectured_by_frames

LINE = Domain(age=Integers(0, 29), sex=Labels(["F", "M"]))
OVERLAPPING = tuple(
    Count({"age": Between(low, high)}) for low, high in ((4, 20), (3, 9), (6, 24), (18, 29))
)


def asked(policy: Policy, text: str = "histogram", reading: str = "published") -> Question:
    found = prepare(setting(policy), reading)  # type: ignore[arg-type]
    return Question(found, parse_query(text, policy), reading)  # type: ignore[arg-type]


def test_what_is_conjectured_is_what_the_search_finds() -> None:
    for known in (OVERLAPPING[:2], OVERLAPPING[:3], (OVERLAPPING[0], OVERLAPPING[2])):
        policy = Policy(domain=LINE, known=known)
        guess = conjectured_by_frames(asked(policy))
        truth = sensitivity(policy, engine="search", time_limit=100)
        assert truth.status == "exact"
        assert guess == truth.lower


def test_an_exact_answer_conjectures_nothing() -> None:
    found = sensitivity(Policy(domain=LINE, known=OVERLAPPING[:2]), time_limit=60)
    assert found.status == "exact"
    assert found.conjectured is None
    assert "conjectured" not in found.to_json(LINE)


def test_bounds_name_it_in_words_that_nobody_mistakes() -> None:
    policy = Policy(domain=LINE, known=OVERLAPPING)
    run = Run(asked(policy))
    for step in run.steps:  # nobody but the ceiling and a pair over a few values
        step.why_not = "" if step.strategy.name in ("ceiling", "few classes") else "not here"
    found = run.answer(0.0)
    assert found.status == "bounds"
    assert found.upper is not None
    assert found.conjectured is not None
    assert found.lower <= found.conjectured <= found.upper
    assert found.to_json(LINE)["conjectured"] == found.conjectured
    assert any("conjecture, not a bound" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "reading"), [("sum(age)", "published"), ("histogram", "add-remove")]
)
def test_other_questions_have_no_conjecture(text: str, reading: str) -> None:
    policy = Policy(domain=LINE, known=OVERLAPPING)
    assert conjectured_by_frames(asked(policy, text, reading)) is None
    near = Policy(domain=LINE, known=(Marginal(["sex"]),), secrets=Distance(threshold=1))
    assert conjectured_by_frames(asked(near)) is None
