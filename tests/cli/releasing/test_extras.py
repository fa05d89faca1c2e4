"""What goes with a release: refused before anything is spent, and never at the cost of answers."""

import csv
import json
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.cli.releasing import extras
from blowproof.models import BudgetError

LINE = '[domain]\nage = { min = 0, max = 5 }\nsex = ["F", "M"]\n'
PLANE = "[domain]\nx = { min = 0, max = 5 }\ny = { min = 0, max = 4 }\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Path("p.toml").write_text(LINE)
    rows = "".join(f"{place % 6},{'FM'[place % 2]}\n" for place in range(60))
    Path("d.csv").write_text("age,sex\n" + rows)


def unspent() -> bool:
    """No account was opened: nothing could be charged."""
    return not any(Path("state").rglob("*")) if Path("state").exists() else True


@pytest.mark.parametrize("query", ["ranges(age)", "marginal(sex)", "histogram", "sum(age)"])
def test_quantiles_that_do_not_follow_are_refused_before_anything_is_spent(
    query: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["release", "p.toml", "d.csv", "--query", query, "--mechanism", "laplace"]
    assert run([*asked, "--epsilon", "1", "--budget", "1", "--quantile", "1/2"]) == 2
    assert "quantiles follow from" in capsys.readouterr().err
    assert unspent()


def test_quantiles_of_a_plan_of_several_queries_are_refused_before_anything_is_spent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["--query", "cumulative(age)", "--query", "marginal(sex)", "--epsilon", "1"]
    assert run(["plan", "p.toml", "d.csv", *asked, "--output", "plan.json"]) == 0
    command = ["release", "p.toml", "d.csv", "--plan", "plan.json", "--budget", "1"]
    assert run([*command, "--quantile", "1/2"]) == 2
    assert "quantiles are said of one query" in capsys.readouterr().err
    assert unspent()
    assert run([*command, "--output", "out.csv"]) == 0
    estimated = ["estimate", "p.toml", "out.csv", "--query", "cumulative(age)"]
    assert run([*estimated, "--quantile", "1/2"]) == 0  # what the refusal says to try
    assert "quantile 1/2: " in capsys.readouterr().out


def test_answers_that_are_paid_for_are_shown_whatever_fails_beside_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise BudgetError("too many records")

    monkeypatch.setattr(extras, "_records", fails)
    command = ["release", "p.toml", "d.csv", "--query", "marginal(age)", "--mechanism", "laplace",
               "--epsilon", "1", "--unaccounted", "--synthetic", "made.csv"]  # fmt: skip
    assert run(command) == 0
    shown = capsys.readouterr()
    assert "marginal(age), released by laplace" in shown.out and "count" in shown.out
    assert "not all that goes with it was made: too many records" in shown.err
    assert not Path("made.csv").exists()
    assert run([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["released"] and document["failed"] == "too many records"
    assert len(document["values"]) == 6


def test_records_are_made_up_from_clusters_too() -> None:
    Path("plane.toml").write_text(PLANE)
    rows = "".join(f"{place % 6},{place % 5}\n" for place in range(400))
    Path("plane.csv").write_text("x,y\n" + rows)
    command = ["release", "plane.toml", "plane.csv", "--mechanism", "k-means", "--set",
               "clusters=2", "--epsilon", "10", "--unaccounted", "--synthetic"]  # fmt: skip
    assert run([*command, "made.csv"]) == 0
    with Path("made.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 400  # n is public


def test_records_are_not_made_up_for_weights_of_single_records(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("w.txt").write_text("1\n" * 60)
    command = ["release", "p.toml", "d.csv", "--query", "weighted-sum(age,w.txt)", "--mechanism",
               "laplace", "--epsilon", "1", "--budget", "1", "--synthetic", "made.csv"]  # fmt: skip
    assert run(command) == 2
    assert "weighs single records" in capsys.readouterr().err
    assert unspent()


def test_a_plan_for_another_policy_is_refused_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where its queries have no meaning under this one."""
    assert run(["plan", "p.toml", "--query", "marginal(sex)", "--epsilon", "1",
                "--output", "plan.json"]) == 0  # fmt: skip
    Path("plane.toml").write_text(PLANE)
    Path("plane.csv").write_text("x,y\n0,0\n")
    assert run(["release", "plane.toml", "plane.csv", "--plan", "plan.json", "--budget", "1"]) == 2
    assert "the policy is another one" in capsys.readouterr().err


def test_a_split_above_the_budget_is_refused_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--query", "sum(age)", "--query", "marginal(sex)", "--epsilon", "1"]
    assert run(["plan", "p.toml", "d.csv", *asked, "--output", "plan.json"]) == 0
    plan = json.loads(Path("plan.json").read_text())
    parts = plan["options"][plan["chosen"]]["settings"]["releases"]
    assert len(parts) == 2
    for part in parts:
        part["budget"] = "9/10"
    Path("plan.json").write_text(json.dumps(plan))
    assert run(["release", "p.toml", "d.csv", "--plan", "plan.json", "--budget", "1"]) == 1
    assert "the split adds up to 9/5, the budget is 1" in capsys.readouterr().err
    assert unspent()


def test_a_plan_is_not_written_over_another_file(capsys: pytest.CaptureFixture[str]) -> None:
    """Only over the plan of the same question, or where somebody says so; before any work."""
    plan = ["plan", "p.toml", "--query", "marginal(sex)", "--output", "out.json", "--epsilon"]
    Path("out.json").write_text("mine")
    assert run([*plan, "1"]) == 2
    assert "out.json: this file exists, and is no plan of this question" in capsys.readouterr().err
    assert Path("out.json").read_text() == "mine"
    assert run([*plan, "1", "--overwrite"]) == 0
    written = Path("out.json").read_text()
    assert run([*plan, "1"]) == 0  # the same question
    for other in ([*plan, "2"], [*plan, "1", "--query", "sum(age)"],
                  ["plan", "p.toml", "d.csv", *plan[2:], "1"]):  # fmt: skip
        assert run(other) == 2
        assert "another --output, or --overwrite" in capsys.readouterr().err
    assert Path("out.json").read_text() == written


def test_what_cannot_be_paid_is_not_planned(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = ["release", "p.toml", "d.csv", "--query", "marginal(sex)", "--budget", "1", "--epsilon"]
    assert run([*ask, "1/2"]) == 0

    def planned(*asked: object, **more: object) -> None:
        raise AssertionError("a plan was made")

    monkeypatch.setattr("blowproof.mechanisms.planning.default.planned", planned)
    assert run([*ask, "3/4"]) == 1
    error = capsys.readouterr().err
    assert "would bring the releases to 5/4" in error and "at most 1/2" in error
