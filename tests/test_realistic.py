"""The benchmark of realistic policies: what it asks, how it judges, and that it can be resumed."""

import importlib
import json
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import blowproof
from blowproof.models import parse_query

BENCHMARKS = next(p / "benchmarks" for p in Path(__file__).parents if (p / "benchmarks").is_dir())


@pytest.fixture
def realistic(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module `benchmarks/realistic.py`, which is no package."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("realistic", "realistic_made"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("realistic")


def test_every_policy_is_read_and_every_question_understood(
    realistic: ModuleType, tmp_path: Path
) -> None:
    policies = realistic.make(tmp_path)
    asked = {policy: realistic.questions(policy) for policy in policies}
    every = [question for found in asked.values() for question in found]
    assert len(policies) >= 25
    assert len({question.key for question in every}) == len(every) >= 150
    assert all(asked.values())
    for path, found in asked.items():
        policy = blowproof.read(path)
        for query in {question.query for question in found}:
            parse_query(query, policy)


def test_what_is_made_is_the_same_each_time(realistic: ModuleType, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    realistic.make(one)
    realistic.make(two)
    assert [p.name for p in sorted(one.iterdir())] == [p.name for p in sorted(two.iterdir())]
    assert all(p.read_bytes() == (two / p.name).read_bytes() for p in one.iterdir())


@pytest.mark.parametrize(
    "line", ["#? histogram | published | 12 | why", "#? sum(a) | markov | = 3"]
)
def test_a_truth_without_relation_or_reason_is_refused(
    realistic: ModuleType, tmp_path: Path, line: str
) -> None:
    path = tmp_path / "p.toml"
    path.write_text(line, encoding="utf-8")
    with pytest.raises(ValueError, match=r"p\.toml"):
        realistic.questions(path)


def test_bounds_are_held_against_what_is_known(realistic: ModuleType) -> None:
    asked = realistic.Asked("p", "histogram", "published", "=", Fraction(4), "why")
    assert not asked.excludes(Fraction(2), None)
    assert not asked.excludes(Fraction(4), Fraction(4))
    assert asked.excludes(Fraction(5), None)
    assert asked.excludes(Fraction(0), Fraction(3))
    least, most = replace(asked, relation=">="), replace(asked, relation="<=")
    assert not least.excludes(Fraction(5), None)
    assert least.excludes(Fraction(0), Fraction(3))
    assert not most.excludes(Fraction(0), Fraction(3))
    assert most.excludes(Fraction(5), None)


def test_a_contradiction_a_crash_and_a_wrong_exit_code_are_failures(realistic: ModuleType) -> None:
    asked = [realistic.Asked("p", name, "published") for name in ("histogram", "marginal(a)")]
    asked += [realistic.Asked("q", "histogram", "published")]

    def row(at: int, code: int, lower: str, upper: str, status: str) -> Any:
        return realistic.Row(asked[at].key, code, lower, upper, status)

    fair = [
        row(0, 0, "4", "4", "exact"),
        row(1, 3, "2", "9", "bounds"),
        row(2, 0, "2", "2", "proved"),
    ]
    rows = {found.key: found for found in fair}
    assert realistic.failures(asked, rows) == []
    assert realistic.did_not_travel(asked, rows) == [
        "p marginal(a) published: at most 9; the histogram 4"
    ]
    bad = [
        row(1, 0, "5", "5", "exact"),
        row(0, 0, "4", "9", "bounds"),
        row(2, -9, "", "", "killed"),
    ]
    for broken in bad:
        assert len(realistic.failures(asked, rows | {broken.key: broken})) == 1


def test_ratios_and_their_summary(realistic: ModuleType) -> None:
    bounds = [("0", "0"), ("4", "5"), ("4", "40"), ("4", str(10**400)), ("0", "3"), ("4", "")]
    asked = [realistic.Asked("p", str(i), "published") for i in range(len(bounds))]
    rows = {
        a.key: realistic.Row(a.key, 0, low, high, "")
        for a, (low, high) in zip(asked, bounds, strict=True)
    }
    line = realistic.summary(asked, rows)
    assert "1 exact, 1 within 1.5, 1 within 10, 3 worse" in line
    assert len(realistic.table(asked, rows, {}, {})) == 2 + len(bounds)


def test_a_question_runs_alone_and_is_not_asked_twice(
    realistic: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "p.toml").write_text(
        '[domain]\na = ["x", "y"]\nb = ["u", "v"]\n[[known]]\nmarginal = ["a"]\n'
    )
    asked = [realistic.Asked("p", "histogram", "published", "=", Fraction(4), "T1")]
    asked += [realistic.Asked("p", "marginal(c)", "published")]
    rows = realistic.ask_all(asked, tmp_path, 60, jobs=2)
    assert (rows[asked[0].key].lower, rows[asked[0].key].upper) == ("4", "4")
    assert rows[asked[0].key].cpu > 0
    assert rows[asked[0].key].megabytes > 0
    assert rows[asked[1].key].exit == 2
    assert [line[:15] for line in realistic.failures(asked, rows)] == ["p marginal(c) p"]
    path = tmp_path / "rows-60.jsonl"
    lines = path.read_text().splitlines()
    assert len(lines) == 2
    path.write_text(
        "\n".join([json.dumps({**json.loads(lines[0]), "cpu": 77.0}), lines[1], '{"key": "cut'])
    )
    again = realistic.ask_all(asked, tmp_path, 60, jobs=1)
    assert 77.0 in {row.cpu for row in again.values()}
    assert len(path.read_text().splitlines()) == 2  # what was cut short does not spoil the next row
