"""From `pip install` on: the demo, many policies in a pipeline, and what is said of the package."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from blowproof.cli.beginning.demo import examples
from blowproof.cli.main import cli, run
from blowproof.cli.pipeline import main

ROOT = Path(__file__).resolve().parents[3]


def test_the_demo_copies_the_examples_and_audits_the_first(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["demo"]) == 0
    out, err = capsys.readouterr()
    assert "query histogram: S = 4" in out and "blowproof init people.csv" in err
    copied = {str(item.relative_to(tmp_path / "examples")) for item in tmp_path.rglob("*.*")}
    assert {"census.toml", "census.csv", "sweep/grid.toml", "census2020/policy.toml"} <= copied
    Path("examples/census.toml").write_text(
        Path("examples/census_by_tenure.toml").read_text("utf-8"), "utf-8"
    )
    assert run(["demo"]) == 0  # what somebody changed stays
    assert "query histogram: S = 8" in capsys.readouterr().out


def test_the_installed_examples_are_those_of_the_repository():
    for file in sorted((ROOT / "examples").rglob("*")):
        if file.suffix in (".toml", ".csv", ".md"):
            installed = examples() / file.relative_to(ROOT / "examples")
            assert installed.read_bytes() == file.read_bytes(), "new file: run `make install`"


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_examples_in_the_help_name_files_that_the_demo_brings(name):
    epilog = cli.commands[name].epilog or ""
    for path in re.findall(r"examples/[\w./]+", epilog):
        assert (ROOT / path).exists(), path


def test_policies_in_a_pipeline(tmp_path, monkeypatch, capsys):
    """What the hook and the action run: a line each, SARIF files, and the gravest exit code."""
    monkeypatch.chdir(tmp_path)
    Path("rules").mkdir()
    good = Path("rules/policy.toml")
    good.write_text((ROOT / "examples/census.toml").read_text("utf-8"), "utf-8")
    Path("bad.toml").write_text("[domain]\nage = { min = 3, max = 0 }\n", "utf-8")
    assert main([str(good)]) == 0
    assert main([str(good), "--planned-scale=2"]) == 1
    assert "rules/policy.toml: what is planned is too small" in capsys.readouterr().out
    assert main(["--sarif", "found", "bad.toml", str(good), "--planned-scale=2"]) == 2
    logs = {item.name: json.loads(item.read_text("utf-8")) for item in Path("found").iterdir()}
    assert sorted(logs) == ["bad.toml.sarif", "rules_policy.toml.sarif"]
    rules = [item["ruleId"] for item in logs["rules_policy.toml.sarif"]["runs"][0]["results"]]
    assert "S-underestimated" in rules


def test_the_hook_and_the_action_run_what_is_there():
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    words = hook["entry"].split()
    assert words[:2] == ["python", "-m"]
    done = subprocess.run(
        [sys.executable, *words[1:], str(ROOT / "examples/census.toml")],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert re.search(hook["files"], "rules/policy-2026.toml")
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    steps = action["runs"]["steps"]
    assert any(words[2] in step.get("run", "") for step in steps)
    assert all("uses" in step or "shell" in step for step in steps)


def test_the_citation_names_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert f'version = "{citation["version"]}"' in project
