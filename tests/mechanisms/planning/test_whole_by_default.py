"""Whole numbers by default: what an estimate was made to have, the rounded one has too."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from blowproof.cli.main import run
from blowproof.mechanisms.answers.vectors import Estimate, cells_of
from blowproof.mechanisms.combining.alike import agreeing, rounded_alike
from blowproof.mechanisms.combining.whole import MOST_TOGETHER, whole_answers
from blowproof.mechanisms.planning import planner
from blowproof.mechanisms.planning.candidates import Candidate
from blowproof.mechanisms.planning.default import ALIKE, APART, REST, _rounded
from blowproof.mechanisms.release.release import Request
from blowproof.models import parse_query
from blowproof.models.files.reading import parse_policy

TOWN = """
[domain]
district = ["north", "centre", "south"]
age = ["0-17", "18-64", "65+"]
[database]
answers = "given"
data = "town.csv"
[[known]]
marginal = ["district"]
[[known]]
count = { age = ["0-17", "18-64"] }
"""


@pytest.fixture
def town(tmp_path: Path) -> Path:
    rows = [("north", "0-17")] * 41 + [("centre", "65+")] * 23 + [("south", "18-64")] * 30
    lines = "".join(f"{district},{age}\n" for district, age in rows)
    (tmp_path / "town.toml").write_text(TOWN, "utf-8")
    (tmp_path / "town.csv").write_text(f"district,age\n{lines}", "utf-8")
    return tmp_path


def test_rounding_keeps_what_is_public(town: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["release", str(town / "town.toml"), str(town / "town.csv"), "--unaccounted"]
    for _ in range(3):
        assert run([*words, "--epsilon", "1", "--mechanism", "consistent", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        table = np.array([int(value) for value in found["values"]]).reshape(3, 3)
        assert table.sum(axis=1).tolist() == [41, 23, 30]
        assert table[:, :2].sum() == 71


def test_a_table_of_some_attributes_keeps_what_is_known_of_them(town: Path) -> None:
    policy = parse_policy(TOWN, name="town", folder=town)
    query = parse_query("marginal(age,district)", policy)
    values = np.array([41.2, 22.5, 7.3, -0.2, -0.1, 0.3, 0.0, 0.6, 22.4])
    table = values.reshape(3, 3)
    table += (np.array([41, 23, 30]) - table.sum(axis=0)) / 3
    answers = Estimate(table.ravel(), cells_of(policy.domain, (1, 0)))
    request = Request(policy=policy, query=query, epsilon=Fraction(1))
    found = _rounded(answers, query, request)
    rounded = np.array([int(value) for value in found]).reshape(3, 3)
    assert rounded.sum(axis=0).tolist() == [41, 23, 30]
    assert abs(rounded - table).max() < 2


def test_many_answers_keep_sums_that_do_not_overlap() -> None:
    many = 3 * MOST_TOGETHER
    rng = np.random.default_rng(5)
    values = rng.normal(3, 2, many)
    rows = np.zeros((2, many), dtype=np.int64)
    rows[0, : many // 3] = rows[1, many // 2 :] = 1
    known = np.round(rows @ values)
    for row, total in zip(rows, known, strict=True):
        values[row > 0] += (total - row @ values) / row.sum()
    found = whole_answers(values, csr_array(rows), known)
    assert found is not None
    assert (rows @ found == known).all() and abs(found - values).max() <= 1
    assert (found[rows.sum(axis=0) == 0] == np.rint(values[rows.sum(axis=0) == 0])).all()
    rows[1, :] = 1
    assert whole_answers(values, csr_array(rows), rows @ values) is None


def test_sums_that_the_values_do_not_have_are_not_forced() -> None:
    facts = csr_array(np.array([[1, 1, 1]]))
    assert whole_answers(np.array([1.4, 2.6, -0.4]), facts, np.array([9.0])).tolist() == [1, 3, 0]  # type: ignore[union-attr]


def test_that_tables_are_rounded_one_by_one_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table and its margin from one estimate, whose rounded numbers need not add up."""
    (tmp_path / "p.toml").write_text("[domain]\nx = { min = 0, max = 4 }\n", "utf-8")
    (tmp_path / "d.csv").write_text("x\n" + "1\n3\n" * 20, "utf-8")
    policy, data, kept = (str(tmp_path / name) for name in ("p.toml", "d.csv", "plan.json"))
    asked = ["--query", "histogram", "--query", "cumulative(x)", "--epsilon", "1"]
    monkeypatch.setattr(planner, "candidates", lambda query, policy: [Candidate("ordered")])
    monkeypatch.setattr(planner, "strategies", lambda request, asked: [[] for _ in asked.texts])
    assert run(["plan", policy, data, *asked, "--output", kept]) == 0
    for real in (False, True):
        capsys.readouterr()
        words = ["release", policy, data, "--plan", kept, "--unaccounted", "--json"]
        assert run([*words, *(["--real"] if real else [])]) == 0
        assert (APART in json.loads(capsys.readouterr().out)["notes"]) is not real


def _margin(table: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    """Sums over all other axes, in the order of the axes."""
    rest = tuple(axis for axis in range(table.ndim) if axis not in axes)
    kept = sorted(axes)
    return table.sum(axis=rest).transpose([kept.index(axis) for axis in axes])


def _in_all(sizes: list[int], total: NDArray[Any]) -> Any:
    """What is known of a table by its attributes: how many there are in all."""
    return lambda axes: (csr_array(np.ones((1, prod(sizes[axis] for axis in axes)))), total)


@pytest.mark.parametrize("negative", [False, True])
def test_tables_are_rounded_so_that_all_that_they_share_agrees(negative: bool) -> None:
    """Margins of a made-up table with fractions: of every size, and some known sums."""
    rng = np.random.default_rng(11)
    every = [(0, 1), (2, 1), (0, 2), (1,), (3, 1), (0, 3)]
    for _ in range(6):
        sizes = [int(size) for size in rng.integers(1, 5, 4)]
        table = rng.normal(0.5, 2.0, sizes) if negative else rng.exponential(1.5, sizes)
        table += np.round(table.sum()) / table.size - table.mean()  # n is known
        table = table if negative else abs(table) * (round(table.sum()) / abs(table).sum())
        tables = [(axes, _margin(table, axes).ravel()) for axes in every]
        assert agreeing(tables, sizes) == list(range(len(every)))
        total = np.array([float(round(table.sum()))])
        found = rounded_alike(tables, sizes, _in_all(sizes, total))
        assert found is not None
        for (one, values), units in zip(tables, found, strict=True):
            assert units.dtype == np.int64 and units.sum() == total[0]
            assert abs(units - values).max() < 4
            assert negative or (units >= 0).all()
            for (two, _), others in zip(tables, found, strict=True):
                shared = sorted({*one} & {*two})
                left, right = (
                    _margin(item.reshape([sizes[a] for a in axes]), tuple(map(axes.index, shared)))
                    for axes, item in ((one, units), (two, others))
                )
                assert (left == right).all()


def test_rounded_tables_are_the_nearest_ones_by_brute_force() -> None:
    """A margin first, and then the table of which it is one: in L1, with whole numbers near by."""
    rng = np.random.default_rng(4)
    for _ in range(6):
        table = rng.exponential(1.0, (2, 2))
        tables = [((0, 1), table.ravel()), ((0,), table.sum(axis=1))]
        found = rounded_alike(tables, [2, 2], lambda axes: None)
        assert found is not None
        units, rows = found
        assert abs(rows - tables[1][1]).max() <= 0.5
        sums = [np.array(it) for it in product(range(6), repeat=4)]
        allowed = [it for it in sums if (it.reshape(2, 2).sum(axis=1) == rows).all()]
        least = min(float(abs(it - table.ravel()).sum()) for it in allowed)
        assert float(abs(units - table.ravel()).sum()) == pytest.approx(least)


def test_tables_that_do_not_agree_are_left_alone() -> None:
    tables = [((0,), np.array([1.5, 2.5])), ((0, 1), np.array([1.0, 1.0, 1.0, 1.5]))]
    assert agreeing(tables, [2, 2]) == [0]
    many = [((0,), np.zeros(MOST_TOGETHER + 1)), ((0,), np.zeros(MOST_TOGETHER + 1))]
    assert rounded_alike(many, [MOST_TOGETHER + 1], lambda axes: None) is None


def test_two_margins_of_one_release_have_the_same_sums(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.toml").write_text(
        '[domain]\nx = { min = 0, max = 2 }\ny = { min = 0, max = 3 }\nz = ["a", "b"]\n', "utf-8"
    )
    (tmp_path / "d.csv").write_text("x,y,z\n" + "1,2,a\n0,3,b\n2,2,b\n" * 30, "utf-8")
    policy, data, kept = (str(tmp_path / name) for name in ("p.toml", "d.csv", "plan.json"))
    asked = ["--query", "marginal(x,y)", "--query", "marginal(z,y)", "--query", "marginal(y)"]
    monkeypatch.setattr(planner, "candidates", lambda query, policy: [Candidate("laplace")])
    assert run(["plan", policy, data, *asked, "--epsilon", "1", "--output", kept]) == 0
    capsys.readouterr()
    words = ["release", policy, data, "--plan", kept, "--unaccounted", "--json"]
    for _ in range(3):
        assert run(words) == 0
        found = json.loads(capsys.readouterr().out)
        values = np.array([int(value) for value in found["values"]])
        one, two, three = np.split(values, [12, 20])
        assert one.reshape(3, 4).sum(axis=0).tolist() == three.tolist()
        assert two.reshape(2, 4).sum(axis=0).tolist() == three.tolist()
        assert ALIKE in found["notes"] and not {APART, REST} & set(found["notes"])
