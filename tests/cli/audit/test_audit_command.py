"""`blowproof audit` as a command: what its JSON carries, plans that are judged, and manners."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blowproof.cli.asking import ask
from blowproof.cli.audit.options import FORMATS
from blowproof.cli.main import run

# --- the command ---------------------------------------------------------------------------------

POLICY = """
[domain]
sex = ["F", "M"]
age = { min = 0, max = 1 }
[[known]]
count = { sex = "F" }
"""
PLAN = '[[release]]\nquery = "histogram"\nscale = "SCALE"\n'


@pytest.fixture
def path(tmp_path):
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return str(tmp_path / "policy.toml")


def said(capsys, *arguments):
    code = run(list(arguments))
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def test_json_carries_everything(capsys, path):
    code, out, _ = said(
        capsys, "audit", path, "--json", "--query", "histogram", "--query", "sum(age)"
    )
    found = json.loads(out)
    assert code == found["exit_code"] == 0
    first, second = found["queries"]
    assert (first["upper"], second["query"]) == (4, "sum(age)")
    assert first["at_once"]["records"] == first["at_once"]["most"] == 2
    assert first["at_once"]["sparse"] is True
    assert [fact["upper"] for fact in first["facts"]] == [2]
    assert {form["agrees"] for form in first["closed_forms"]["applying"]} <= {True, False}
    assert first["closed_forms"]["reached"]
    moves = first["chain"]["moves"]
    assert sorted(move["before"] for move in moves) == sorted(first["witness"]["before"])
    assert moves[0]["lifts"] == moves[1]["lowers"] or moves[0]["lowers"] == moves[1]["lifts"]
    assert 5.65 < first["noise"]["standard_deviation"] < 5.66


@pytest.mark.parametrize(
    ("scale", "epsilon", "code"), [("4", "1", 0), ("2", "2", 0), ("7/2", "1", 1)]
)
def test_a_mechanism_is_judged(capsys, path, tmp_path, scale, epsilon, code):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace("SCALE", scale), encoding="utf-8")
    options = ("--mechanism", str(plan), "--epsilon", epsilon)
    found = said(capsys, "audit", path, *options, "--json")
    assert found[0] == code
    assert json.loads(found[1])["mechanism"]["verdict"] == ("refuted" if code else "proved")
    _, text, _ = said(capsys, "audit", path, *options)
    assert ("plan is refuted" if code else "plan is proved private") in " ".join(text.split())


def test_a_mechanism_that_is_not_understood_names_its_line(capsys, path, tmp_path):
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.replace("SCALE", "-1"), encoding="utf-8")
    code, out, err = said(capsys, "audit", path, "--mechanism", str(plan))
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {plan}:3: release[0].scale")


@pytest.mark.parametrize(
    ("words", "code"), [(["--format", "json"], 0), (["--format", "text", "--json"], 2)]
)
def test_formats(capsys, path, words, code):
    found, out, _ = said(capsys, "audit", path, *words)
    assert found == code
    assert code or json.loads(out)["schema"] == "blowproof/audit/1"


@pytest.mark.wall_clock
def test_no_search_at_all_still_ends_with_a_bound(capsys, path, monkeypatch):
    """The engines hang: n records bound S, and what was not reached is said."""

    def hang(*_, **__):
        while True:  # in short steps: a thread that is asleep cannot be halted
            time.sleep(0.01)

    monkeypatch.setattr(ask, "sensitivity", hang)
    monkeypatch.setattr(ask, "GRACE", 0.1)
    sized = POLICY.replace("[[known]]", "[database]\nsize = 3\n[[known]]") + "answer = 1\n"
    Path(path).write_text(sized, encoding="utf-8")
    code, out, _ = said(capsys, "audit", path, "--json", "--time-limit", "1")
    (query,) = json.loads(out)["queries"]
    assert (code, query["lower"], query["status"]) == (3, 0, "bounds")
    assert query["upper"] <= 6 and "scale" in query["recommendation"]
    assert any(not fact["reached"] or fact["status"] == "bounds" for fact in query["facts"])


def test_every_line_fits_80_columns(capsys, path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = said(capsys, "audit", path, "--planned-scale", "2")
    assert max(map(len, out.splitlines())) <= 80
    for label in ("protected", "known", "at once", "plain DP", "closed forms", "noise", "facts"):
        assert f"\n{label}  " in out
    assert "your epsilon = 1 is really 2" in " ".join(out.split())


# --- manners -------------------------------------------------------------------------------------

HANGING = """
import sys, time
from blowproof.cli.asking import ask as asking
from blowproof.cli.main import main
from blowproof.verifier.ask import Progress

def sensitivity(*args, listener, **rest):
    listener(Progress(lower=2, upper=None, what="searching"))
    print("searching", file=sys.stderr, flush=True)
    time.sleep(600)

asking.sensitivity = sensitivity
main()
"""


def process(*arguments, **options):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], **{**pipes, **options})


def test_ctrl_c_ends_with_bounds_and_a_recommendation(path):
    running = process("-c", HANGING, "audit", path, "--json")
    assert running.stderr and running.stderr.readline() == "searching\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=300)
    (query,) = json.loads(out)["queries"]
    assert (running.returncode, err) == (3, "")
    assert (query["lower"], query["upper"], query["status"]) == (2, 4, "bounds")
    assert "stopped by Ctrl-C" in query["readings"][0]["answer"]["notes"]
    assert not any(fact["reached"] for fact in query["facts"])
    assert "scale 4" in query["recommendation"]


@pytest.mark.parametrize("command", ["audit", "sensitivity", "neighbours", "compare"])
def test_facts_that_contradict_each_other_show_their_line(capsys, path, command):
    text = POLICY + "answer = 3\n\n[database]\nsize = 2\n"
    Path(path).write_text(text, encoding="utf-8")
    code, out, err = said(capsys, command, path, *([path] if command == "compare" else []))
    line = 1 + text.splitlines().index("size = 2")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {path}:{line}: no database satisfies the facts: known[0]")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("form", FORMATS)
def test_a_full_disk_is_one_clear_sentence(path, form):
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        command = ("-m", "blowproof.cli", "audit", path, "--format", form)
        running = process(*command, stdout=full)
        _, err = running.communicate(timeout=300)
    assert (running.returncode, err) == (2, "error: No space left on device\n")


@pytest.mark.wall_clock
def test_a_policy_that_is_too_large_is_one_clear_sentence(capsys, path, monkeypatch):
    def forever(path):
        while True:  # in short steps: a thread that is asleep cannot be halted
            time.sleep(0.01)

    monkeypatch.setattr("blowproof.models.files.reading.read_policy", forever)
    monkeypatch.setattr("blowproof.cli.asking.ask.READ_SECONDS", 0.2)
    code, out, err = said(capsys, "audit", path, "--time-limit", "0.2")
    assert (code, out) == (3, "")
    assert "too large to be read within the time limit" in err and "try: fewer" in err


# --- what the first line and the last one say ----------------------------------------------------

TWO_TABLES = """
[domain]
sex = ["F", "M"]
age = ["0-17", "18-39", "40-64", "65+"]
region = ["N", "E", "S", "W", "C"]
[[known]]
marginal = ["sex", "age"]
[[known]]
marginal = ["sex", "region"]
"""


def test_two_published_tables_name_the_one_to_drop(capsys, path):
    """Bounds nobody can use: the first line and `do this` name what the audit itself computed."""
    Path(path).write_text(TWO_TABLES, encoding="utf-8")
    code, out, _ = said(capsys, "audit", path, "--time-limit", "4", "--json")
    (query,) = json.loads(out)["queries"]
    assert code == 3 and query["upper"] > 100 * query["plain"]["sensitivity"]
    left_out = {fact["upper"] for fact in query["facts"] if fact["reached"]}
    assert query["warning"].startswith("Not worth releasing: S is at least")
    best = min(left_out)
    assert f"S = {best} without how many records have each sex and" in query["warning"]
    assert f"then noise of scale {best} is enough" in query["recommendation"]


def test_noise_as_large_as_the_table_is_said_first(capsys, path):
    sized = POLICY.replace("[[known]]", "[database]\nsize = 3\n[[known]]") + "answer = 1\n"
    Path(path).write_text(sized, encoding="utf-8")
    _, out, _ = said(capsys, "audit", path)
    assert "as large as all 3 records together" in " ".join(out.split())
    Path(path).write_text(sized.replace("size = 3", "size = 3000"), encoding="utf-8")
    _, out, _ = said(capsys, "audit", path)
    assert "Not worth" not in out


def test_what_to_do_is_no_noise_where_the_first_line_says_not_to_release(capsys, path):
    """The first line said "not worth releasing", the last one "add noise"."""
    sized = POLICY.replace("[[known]]", "[database]\nsize = 3\n[[known]]") + "answer = 1\n"
    Path(path).write_text(sized, encoding="utf-8")
    _, out, _ = said(capsys, "audit", path, "--json")
    (query,) = json.loads(out)["queries"]
    assert query["warning"].startswith("Not worth releasing")
    assert query["recommendation"].startswith("Do not publish")
    assert "would be safe, and of no use" in query["recommendation"]


@pytest.mark.parametrize(("query", "fits"), [("histogram", True), ("sum(age)", False)])
def test_a_mechanism_is_recommended_only_where_it_answers(path, query, fits, capsys):
    """`consistent` releases whole tables: it was recommended for every query."""
    assert run(["audit", str(path), "--query", query]) == 0
    assert ("--mechanism consistent" in capsys.readouterr().out) is fits
