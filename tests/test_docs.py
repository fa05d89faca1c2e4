"""The documentation site: it builds strictly, without a network, and every block of code is run.

After a wanted change of an output, `python tests/test_docs.py` writes the console blocks anew.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import our_theorems
from blowproof.models.files.reading import parse_policy
from blowproof.models.mechanisms.mechanism_file import read_mechanism
from blowproof.models.queries.kinds import parse_query
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.claims.ledger import all_claims
from blowproof.verifier.closed_forms import FORMS
from blowproof.verifier.portfolio.registry import THEOREMS
from blowproof.verifier.proofs.write import certify_answer
from certified import SEEN
from schemas import ACTION, CITATION, PRE_COMMIT, WORKFLOW, faults, needs_schemas

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NAMES = [str(page.relative_to(ROOT / "docs")) for page in PAGES]


def blocks(page: Path, kind: str) -> list[str]:
    return [match[2] for match in BLOCK.finditer(page.read_text("utf-8")) if match[1] == kind]


def commands(block: str) -> list[tuple[str, str]]:
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def run(page: Path) -> list[list[tuple[str, str]]]:
    """The console blocks of a page with what they print, in one folder from top to bottom."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    mark = "----- next -----"
    found = []
    with tempfile.TemporaryDirectory() as folder:
        state = {"BLOWPROOF_LEDGER": f"{folder}/ledger.db", "BLOWPROOF_STATE": f"{folder}/state"}
        environment = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", **state}
        for block in blocks(page, "console"):
            steps = [command for command, _ in commands(block)]
            script = "\n".join(f"{step}\ncode=$?; echo '{mark}'; (exit $code)" for step in steps)
            done = subprocess.run(
                ["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False, timeout=300,
            )  # fmt: skip
            printed = done.stdout.split(f"{mark}\n")[:-1]
            found.append(list(zip(steps, printed, strict=True)))
    return found


def test_every_block_is_of_a_kind_that_is_run():
    for page in PAGES:
        kinds = {match[1] for match in BLOCK.finditer(page.read_text("utf-8"))}
        assert kinds <= {"console", "python", "toml", "yaml"}, page


@pytest.mark.parametrize("name", NAMES)
def test_commands_print_what_the_page_shows(name):
    page = ROOT / "docs" / name
    shown = [commands(block) for block in blocks(page, "console")]
    assert run(page) == shown


@pytest.mark.parametrize("name", NAMES)
def test_python_runs(name):
    for block in blocks(ROOT / "docs" / name, "python"):
        exec(compile(block, name, "exec"), {})


@pytest.mark.parametrize("name", NAMES)
def test_policies_and_mechanisms_are_read(name, tmp_path):
    for block in blocks(ROOT / "docs" / name, "toml"):
        if "domain" in tomllib.loads(block):
            assert parse_policy(block).domain
        else:
            (tmp_path / "m.toml").write_text(block, "utf-8")
            assert read_mechanism(tmp_path / "m.toml").releases


@needs_schemas
def test_the_pipeline_files_are_valid_and_name_what_there_is():
    config, workflow = map(yaml.safe_load, blocks(ROOT / "docs/how-to/pipeline.md", "yaml"))
    workflow["on"] = workflow.pop(True)  # in YAML 1.1 `on` is a truth value
    assert faults(PRE_COMMIT, config) == faults(WORKFLOW, workflow) == []
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    assert [item["id"] for item in config["repos"][0]["hooks"]] == [hook["id"]]
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    step = workflow["jobs"]["audit"]["steps"][-1]
    assert set(step["with"]) <= set(action["inputs"])
    assert faults(ACTION, action) == []
    assert (
        faults(CITATION, yaml.load((ROOT / "CITATION.cff").read_text("utf-8"), yaml.BaseLoader))
        == []
    )


def test_every_theorem_of_the_code_is_in_the_tables():
    shown = our_theorems.tables()
    for name in [item.name for item in THEOREMS] + [form.id for form in FORMS]:
        if "/" not in name or name.startswith("blowproof/"):
            assert f"| {name.removeprefix('blowproof/')} |" in shown
    for claim in all_claims():
        assert (f"| {claim.id} |" in shown) == bool(claim.status)
    for seen in SEEN:
        (row,) = (line for line in shown.splitlines() if line.startswith(f"| {seen.theorem} |"))
        assert seen.kind in row
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (4, 5, 6) for row in rows)


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: f"{seen.theorem}-{seen.kind}")
def test_certificates_of_theorems_are_of_the_kinds_in_the_table(seen):
    query = parse_query(seen.query, seen.policy)
    answer = sensitivity(seen.policy, query, reading=seen.reading)
    assert [name for bound, name, _ in answer.decided_by if bound == "upper"] == [seen.theorem]
    proved, certificate = certify_answer(seen.policy, query, answer)
    assert (proved.status, certificate.kind) == ("proved", seen.kind)


@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed (extra docs)")
def test_the_site_builds_strictly():
    sources = ROOT / "build/docs-sources/blowproof"
    if sources.is_symlink():
        sources.unlink()
    sources.mkdir(parents=True, exist_ok=True)
    for item in (*(ROOT / "api").glob("*.py"), ROOT / "models"):
        if not (sources / item.name).exists():
            (sources / item.name).symlink_to(item)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "no_proxy": "*"},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    site = ROOT / "build/site"
    assert "Every block of code" in (site / "index.html").read_text("utf-8")
    assert (site / "search/search_index.js").exists()  # from a folder, no page can read the .json
    assert "blowproof.sensitivity" in (site / "reference/python.html").read_text("utf-8")
    theorems = (site / "theorems.html").read_text("utf-8")
    assert our_theorems.MARK not in theorems and "ours/t1" in theorems
    for page in site.rglob("*.html"):  # each link leads somewhere
        text = page.read_text("utf-8")
        for place in re.findall(r'<(?:a|link|script|img)[^>]* (?:href|src)="([^"#?]+)', text):
            if not re.match(r"[a-z]+:|/", place):
                assert (page.parent / place).resolve().exists(), (page.name, place)
    pages = "".join(page.read_text("utf-8") for page in site.rglob("*.html"))
    loaded = re.findall(r'<(?:script|img|link)[^>]+(?:src|href)="(https?://[^"]+)"', pages)
    assert [place for place in loaded if "canonical" not in place] == []


if __name__ == "__main__":
    for written in PAGES:
        text = written.read_text("utf-8")
        made = iter(run(written))
        for match in list(BLOCK.finditer(text)):
            if match[1] == "console":
                shown = "".join(f"$ {command}\n{out}" for command, out in next(made))
                text = text.replace(match[0], f"```console\n{shown}```")
        written.write_text(text, encoding="utf-8")
