"""SARIF: what the published schema asks for, and lines of the policy file that are right."""

import json
from pathlib import Path

import pytest

from blowproof.cli.asking import ask
from blowproof.cli.asking.errors import Exit
from blowproof.cli.audit.shown.sarif import RULES, Result, sarif_document
from blowproof.cli.main import run
from blowproof.models import BudgetError
from schemas import SARIF, STORE, faults, needs_schemas

POLICY = """\
[domain]
sex = ["F", "M"]
age = { min = 0, max = 2 }

[[known]]
impossible = { sex = "F", age = 2 }

[[known]]
count = { sex = "F" }
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a policy.toml").write_text(POLICY, encoding="utf-8")
    return "a policy.toml"


def log(capsys, *arguments):
    code = run(["audit", *arguments, "--format", "sarif"])
    found = json.loads(capsys.readouterr().out)
    if STORE is not None:
        assert faults(SARIF, found) == []
    (item,) = found["runs"]
    rules = item["tool"]["driver"]["rules"]
    for result in item["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
    assert item["invocations"][0]["exitCode"] == code
    return code, item["results"]


def place(result):
    found = result["locations"][0]["physicalLocation"]
    return found["artifactLocation"]["uri"], found["region"]["startLine"]


def test_a_plan_that_is_too_small_points_at_the_fact_that_costs(capsys, path):
    code, results = log(capsys, path, "--planned-scale", "2")
    assert code == 1
    assert [result["ruleId"] for result in results] == ["S-underestimated", "plain-dp-not-enough"]
    assert {place(result) for result in results} == {("a%20policy.toml", 8)}
    assert "below" not in results[0]["message"]["text"]


def test_beside_a_plan_that_is_enough_plain_noise_is_only_a_note(capsys, path):
    code, results = log(capsys, path, "--planned-scale", "4")
    assert (code, [result["level"] for result in results]) == (0, ["note"])


def test_a_policy_that_costs_nothing_has_no_results(capsys, path):
    Path(path).write_text(POLICY.rpartition("[[known]]")[0], encoding="utf-8")
    assert log(capsys, path) == (0, [])


def test_a_refuted_mechanism_is_a_result(capsys, path):
    Path("plan.toml").write_text('[[release]]\nquery = "histogram"\nscale = 1\n', encoding="utf-8")
    code, results = log(capsys, path, "--mechanism", "plan.toml")
    assert (code, results[0]["ruleId"], results[0]["level"]) == (1, "mechanism-refuted", "error")


def test_what_is_open_is_a_result(capsys, path, monkeypatch):
    def too_large(*_, **__):
        raise BudgetError("too large for today")

    monkeypatch.setattr(ask, "sensitivity", too_large)
    code, results = log(capsys, path, "--reading", "add-remove")
    assert code == 3
    assert [result["ruleId"] for result in results] == ["undecided"]


def test_contradictory_facts_are_a_result_with_all_their_lines(capsys, path):
    text = POLICY + "answer = 3\n[database]\nsize = 2\n"
    Path(path).write_text(text, encoding="utf-8")
    code, results = log(capsys, path)
    (result,) = results
    assert (code, result["ruleId"]) == (2, "contradictory")
    lines = [place(result)[1]] + [
        item["physicalLocation"]["region"]["startLine"] for item in result["relatedLocations"]
    ]
    assert sorted(lines) == [8, 12]


def test_a_policy_that_is_not_understood_is_a_result_with_its_line(capsys, path):
    Path(path).write_text(POLICY.replace("max = 2 }\n\n", "maxx = 2 }\n\n"), encoding="utf-8")
    code, results = log(capsys, path)
    assert (code, results[0]["ruleId"], place(results[0])[1]) == (2, "invalid-policy", 3)


def test_an_absolute_path_is_a_file_uri_and_rules_are_unique(tmp_path):
    target = tmp_path / "p.toml"
    document = sarif_document(str(target), [Result("undecided", "open", ("known[0]",))], Exit.OK)
    (item,) = document["runs"][0]["results"]
    assert place(item) == (target.as_uri(), 1)
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_an_absolute_path_within_the_folder_is_relative_for_pipelines(capsys, path):
    _, results = log(capsys, str(Path(path).absolute()))
    (artifact,) = {
        json.dumps(item["locations"][0]["physicalLocation"]["artifactLocation"], sort_keys=True)
        for item in results
    }
    assert json.loads(artifact) == {"uri": "a%20policy.toml", "uriBaseId": "%SRCROOT%"}


def test_each_rule_says_what_to_do():
    for rule in RULES:
        help_ = rule.to_json()["help"]
        assert help_["text"].endswith(".") and help_["markdown"] == help_["text"]


@needs_schemas
def test_the_schema_finds_what_is_wrong():
    document = sarif_document("p.toml", [Result("undecided", "open", ("known[0]",))], Exit.OK)
    assert faults(SARIF, document) == []
    (result,) = document["runs"][0]["results"]
    result["level"] = "fatal"
    result["message"] = {}
    document["runs"][0]["tool"]["driver"]["rules"][0]["helpText"] = "no such key"
    assert len(faults(SARIF, document)) >= 3


@needs_schemas
@pytest.mark.parametrize("code", list(Exit))
def test_every_rule_makes_a_log_that_the_schema_accepts(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.toml").write_text(POLICY, encoding="utf-8")
    keys = tuple(f"known[{place % 2}]" for place in range(30))
    found = [Result(rule.id, "<b>é</b>\n", keys, line=0, query="histogram") for rule in RULES]
    for path in ("p.toml", str(tmp_path / "no such" / "p.toml"), "-"):
        assert faults(SARIF, sarif_document(path, found, code)) == []
