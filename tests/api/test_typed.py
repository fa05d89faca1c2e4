"""An example of each public name, which mypy checks: what goes in, and the type that comes out."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import assert_type

import pytest

import blowproof
from blowproof.planning import Plan
from blowproof.sweeping import Sweep
from blowproof.values import Answer, Audit, Check, Claims, Odds, Pair, Release, Verdict

TABLES = {"domain": {"sex": ["F", "M"]}, "known": [{"count": {"sex": "F"}}]}
NOISE = {"release": [{"query": "histogram", "scale": 2}]}
EXAMPLES: dict[str, Callable[[Path], None]] = {}


def example(function: Callable[[Path], None]) -> Callable[[Path], None]:
    EXAMPLES[function.__name__.removesuffix("_")] = function
    return function


@example
def read(folder: Path) -> None:
    (folder / "policy.toml").write_text('[domain]\nsex = ["F", "M"]\n', "utf-8")
    policy = blowproof.read(folder / "policy.toml")
    assert_type(policy, blowproof.Policy)
    assert policy.domain.size == blowproof.read(TABLES).domain.size == 2


@example
def sensitivity(folder: Path) -> None:
    answer = blowproof.sensitivity(TABLES, ["histogram", "1/2*marginal(sex)"])
    assert_type(answer, Answer)
    assert_type(answer.upper, int | Fraction | None)
    assert answer.upper == 0 and answer.status == "exact"


@example
def neighbours(folder: Path) -> None:
    pairs = list(blowproof.neighbours({**TABLES, "database": {"size": 2}, "known": []}, limit=1))
    assert_type(pairs, list[Pair])
    assert len(pairs[0].before) == len(pairs[0].after) == 1


@example
def audit(folder: Path) -> None:
    found = blowproof.audit(TABLES, epsilon="1/2", planned_scale=Fraction(1))
    assert_type(found, Audit)
    assert found.to_json()["exit_code"] == 0


@example
def audit_opendp(folder: Path) -> None:
    def asked(context: object) -> Claims:
        return blowproof.audit_opendp(context, {"sex": ["F", "M"]})

    with pytest.raises(blowproof.models.BlowproofError, match="Context"):
        asked(None)


@example
def certify(folder: Path) -> None:
    found = blowproof.certify(NOISE, {"domain": {"sex": ["F", "M"]}}, 1)
    assert_type(found, Verdict)
    assert found.verdict == "proved" and found.loss == 1


@example
def odds(folder: Path) -> None:
    found = blowproof.odds(NOISE, {"domain": {"sex": ["F", "M"]}}, "1")
    assert_type(found, Odds)
    assert found.verdict == "within"


@example
def check(folder: Path) -> None:
    blowproof.sensitivity(TABLES, certificate=folder / "proof.json")
    found = blowproof.check(folder / "proof.json", TABLES, "histogram")
    assert_type(found, Check)
    assert found.accepted and found.value == 0


@example
def plan(folder: Path) -> None:
    found = blowproof.plan({"domain": {"sex": ["F", "M"]}}, "histogram", epsilon=1)
    assert_type(found, Plan)
    assert found.chosen is not None and found.chosen["private"] == "proved"


@example
def release(folder: Path) -> None:
    (folder / "people.csv").write_text("sex\nF\nM\nM\n", "utf-8")
    policy = {"domain": {"sex": ["F", "M"]}}
    found = blowproof.release(
        policy, folder / "people.csv", epsilon=1, unaccounted=True, accept_wide_bounds=True
    )
    assert_type(found, Release)
    assert len(found.rows) == 2 and found.epsilon == 1


@example
def sweep(folder: Path) -> None:
    found = blowproof.sweep([TABLES], ["histogram"], jobs=1)
    assert_type(found, Sweep)
    assert [row["upper"] for row in found] == [0]


@pytest.mark.parametrize("name", sorted(set(blowproof.__all__) - {"Policy", "__version__"}))
def test_each_function_has_an_example(name: str, tmp_path: Path) -> None:
    EXAMPLES[name](tmp_path)
