"""A plan that takes too long on the workbench: said in words, and no end of the worker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blowproof.cli.asking.stoppable import Stopped
from blowproof.cli.releasing import plan
from blowproof.cli.serving import pool, work

POLICY = '[domain]\nward = ["a", "b", "c"]\n'


def test_a_plan_that_is_not_over_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def late(*_: object, **__: object) -> None:
        raise Stopped("stopped at the time limit")

    monkeypatch.setattr(plan, "plan_document", late)
    posted: list[dict[str, Any]] = []
    work.answer({"text": POLICY, "seconds": 5, "query": "histogram"}, tmp_path, posted.append)
    assert [event["kind"] for event in posted][-1] == "done"
    (found,) = [event for event in posted if event["kind"] == "plan"]
    assert "not over after 20 seconds" in found["html"]["plan"]


def test_the_server_waits_for_the_plan_and_the_odds() -> None:
    assert plan.OVERTIME * work.PLAN_SECONDS + work.ODDS_SECONDS <= pool.AFTER
