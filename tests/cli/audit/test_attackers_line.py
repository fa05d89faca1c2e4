"""The audit's line, and the page's section, on what attackers learn from the noise."""

import json
from pathlib import Path

import pytest

from blowproof.cli.main import run

ATTACKERS = Path(__file__).resolve().parents[3] / "examples" / "attackers"


def queue_of(students: int) -> str:
    """The queue of the examples, shorter: students from the front of it."""
    text = (ATTACKERS / "queue.toml").read_text(encoding="utf-8")
    first, *clauses = text.replace("size = 12", f"size = {students}").split("[[known]]\nclause")
    assert len(clauses) == 11
    return "[[known]]\nclause".join([first, *clauses[: students - 1]])


@pytest.mark.parametrize(
    ("name", "query", "power", "word"),
    [("trap", "histogram", 2, "is enough"), ("queue", "count(passes)", 6, "is needed")],
)
def test_the_audit_says_where_published_noise_is_too_small_against_attackers(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
    query: str,
    power: int,
    word: str,
) -> None:
    policy = str(ATTACKERS / f"{name}.toml")
    if name == "queue":
        policy = str(tmp_path / "queue.toml")
        Path(policy).write_text(queue_of(power), encoding="utf-8")
    run(["audit", policy, "--query", query, "--json"])
    found = json.loads(capsys.readouterr().out)["queries"][0]["attackers"]
    assert found["log_odds_at_least"] == power
    assert f"move by e^{power}, not by e^1" in found["words"] and word in found["words"]
    run(["audit", policy, "--query", query, "--reading", "pufferfish", "--json"])
    found = json.loads(capsys.readouterr().out)["queries"][0]["attackers"]
    assert found["log_odds_at_least"] == 1
    assert ("nobody" in found["words"]) == (word == "is enough")


def test_the_page_draws_a_belief_before_and_after(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run(["audit", str(ATTACKERS / "trap.toml"), "--html", str(page)])
    text = page.read_text(encoding="utf-8")
    assert "What an attacker learns" in text
    assert "before: 0.500; after, as e^epsilon promises: 0.731; " in text
    assert "after, with this noise: 0.881" in text
