"""The front door: exit codes, JSON to the letter of the contract, clear errors, and manners."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from blowproof.cli.asking.options import ENGINES, READINGS
from blowproof.cli.main import cli, one_thread, run

ROOT = Path(__file__).resolve().parents[2]

GIVEN = """
[domain]
sex = ["F", "M"]
age = { min = 0, max = 1 }
[database]
size = 3
[[known]]
count = { sex = "F" }
answer = 1
[[query]]
name = "old"
count = { age = 1 }
"""
WIDE = GIVEN.replace('count = { sex = "F" }\nanswer = 1', "impossible = { age = 1 }")
CONTRADICTION = GIVEN.replace("answer = 1", "answer = 4")
ANSWER_KEYS = [
    *("schema", "policy", "query", "reading", "answers", "lower", "upper", "status", "witness"),
    *("engine", "seconds"),
]
LISTING_KEYS = ["schema", "policy", "reading", "answers", "count", "complete", "pairs"]


@pytest.fixture
def given(tmp_path):
    return written(tmp_path, GIVEN)


def written(folder: Path, text: str, name: str = "given.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def said(capsys, *arguments: str) -> tuple[int, str, str]:
    code = run([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


def document(capsys, *arguments: str) -> tuple[int, dict]:
    code, out, err = said(capsys, *arguments, "--json")
    assert err == ""
    return code, json.loads(out)


# --- JSON and exit codes -------------------------------------------------------------------------


def test_sensitivity_json_has_the_keys_of_the_contract(capsys, given):
    code, found = document(capsys, "sensitivity", given, "--engine", "brute")
    assert code == 0
    assert [key for key in found if key in ANSWER_KEYS] == ANSWER_KEYS
    assert found["schema"] == "blowproof/sensitivity/1"
    assert (found["policy"], found["query"], found["answers"]) == ("given", "histogram", "given")
    assert (found["lower"], found["upper"], found["status"]) == (4, 4, "exact")
    witness = found["witness"]
    assert len(witness["before"]) == len(witness["after"]) == 2
    assert all(len(record) == 2 for record in witness["before"])
    assert sum(times for _, times in witness["unchanged"]) == 1


def test_a_zero_has_no_witness(capsys, given):
    code, found = document(capsys, "sensitivity", given, "--query", "marginal(sex)")
    assert (code, found["lower"], found["upper"], found["witness"]) == (0, 0, 0, None)


def test_bounds_only_is_exit_3(capsys, given):
    code, found = document(capsys, "sensitivity", given, "--engine", "brute", "--answers", "any")
    assert (code, found["status"], found["upper"], found["answers"]) == (3, "bounds", None, "any")


def test_what_brute_force_refuses_is_bounds_with_the_reason(capsys, tmp_path):
    policy = written(tmp_path, GIVEN.replace("size = 3", "size = 40"))
    code, found = document(capsys, "sensitivity", policy, "--engine", "brute")
    assert (code, found["lower"], found["upper"], found["witness"]) == (3, 0, None, None)
    assert "budget" in found["notes"][0]


def test_neighbours_json(capsys, given):
    code, found = document(capsys, "neighbours", given)
    assert code == 0
    assert [key for key in found if key in LISTING_KEYS] == LISTING_KEYS
    assert found["schema"] == "blowproof/neighbours/1"
    assert (found["complete"], found["count"]) == (True, len(found["pairs"]))
    assert {"before", "after", "unchanged"} <= set(found["pairs"][0])


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_a_limit_is_exit_0_and_not_complete(capsys, given, limit):
    code, found = document(capsys, "neighbours", given, "--limit", limit)
    assert (code, found["complete"], found["count"]) == (0, False, limit)
    assert len(found["pairs"]) == limit


def test_a_limit_that_cuts_nothing_is_complete(capsys, given):
    _, everything = document(capsys, "neighbours", given)
    code, found = document(capsys, "neighbours", given, "--limit", everything["count"])
    assert (code, found["complete"]) == (0, True)


def test_a_list_that_is_cut_short_is_exit_3(capsys, tmp_path):
    policy = written(tmp_path, GIVEN.replace("size = 3", "size = 40"))
    code, found = document(capsys, "neighbours", policy, "--time-limit", "0.5")
    assert (code, found["count"], found["complete"]) == (3, len(found["pairs"]), False)
    assert found["stopped"]


def test_neighbours_up_to_relabelling_are_fewer(capsys, given):
    _, every = document(capsys, "neighbours", given)
    code, once = document(capsys, "neighbours", given, "--up-to-relabelling")
    assert (code, once["complete"]) == (0, True)
    assert 0 < once["count"] < every["count"]
    assert "database" not in once["pairs"][0]


def test_neighbours_under_scope_any_is_exit_2(capsys, given):
    code, out, err = said(capsys, "neighbours", given, "--answers", "any", "--json")
    assert (code, out) == (2, "")
    assert "scope" in err


def test_neighbours_for_people(capsys, given):
    code, out, _ = said(capsys, "neighbours", given, "--limit", "2")
    assert code == 0
    assert out.startswith("1.\n") and "and there are more" in out


def test_schema_is_a_schema_that_accepts_the_examples(capsys):
    from jsonschema import Draft202012Validator

    code, out, _ = said(capsys, "schema")
    assert code == 0
    validator = Draft202012Validator(json.loads(out))
    for path in (ROOT / "examples").glob("*.toml"):
        validator.validate(tomllib.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 0),
        (("--claimed", "4"), 0),
        (("--claimed", "7/2"), 1),
        (("--claimed", "3.999999999999999999999"), 1),
        (("--planned-scale", "4"), 0),
        (("--planned-scale", "2"), 1),
        (("--planned-scale", "2", "--epsilon", "2"), 0),
        (("--planned-scale", "40", "--epsilon", "1/10"), 0),
        (("--planned-scale", "39.9", "--epsilon", "0.1"), 1),
        (("--claimed", "4", "--planned-scale", "3"), 1),
        (("--answers", "any"), 0),  # a theorem bounds what brute force does not
        (("--answers", "any", "--reading", "add-remove"), 0),  # and here too
        (("--answers", "any", "--reading", "add-remove", "--claimed", "1"), 1),
        (("--answers", "any", "--reading", "add-remove", "--claimed", "4"), 0),
        (("--answers", "any", "--reading", "add-remove", "--claimed", "9"), 0),
        (("--claimed", "-1"), 2),
        (("--claimed", "nan"), 2),
        (("--claimed", "1/0"), 2),
        (("--epsilon", "0"), 2),
        (("--query", "histogram", "--query", "count(old)"), 0),
        (("--query", "histogram", "--query", "count(old)", "--claimed", "1"), 2),
        (("--query", "histogramm"), 2),
    ],
)
def test_audit_exit_codes(capsys, given, options, code):
    limit = ("--time-limit", "1") if "any" in options else ()  # there is no end of databases
    assert said(capsys, "audit", given, "--engine", "brute", *limit, *options)[0] == code


def test_audit_json_says_what_the_screen_shows(capsys, given):
    options = ("--engine", "brute", "--planned-scale", "2", "--epsilon", "1/2")
    code, found = document(capsys, "audit", given, *options)
    assert (code, found["schema"], found["size"], found["epsilon"]) == (
        *(1, "blowproof/audit/1", 3),
        "1/2",
    )
    (query,) = found["queries"]
    assert (query["lower"], query["upper"], query["reading"]) == (4, 4, "published")
    assert query["plain"] == {"sensitivity": 2, "real_epsilon": {"lower": 1, "upper": 1}}
    assert query["noise"]["scale"] == query["noise"]["expected_error"] == 8
    assert [row["reading"] for row in query["readings"]] == list(READINGS)
    assert query["judgements"] == [{"what": "the planned scale", "enough_for": 1, "enough": False}]


def test_audit_shows_what_does_not_apply_with_its_reason(capsys, tmp_path):
    (tmp_path / "weights.txt").write_text("1\n2\n-1/2\n", encoding="utf-8")
    policy = written(tmp_path, GIVEN)
    query = "weighted-sum(age,weights.txt)"
    code, out, _ = said(capsys, "audit", policy, "--engine", "brute", "--query", query)
    assert code == 0
    assert "does not apply" in out
    code, _, err = said(capsys, "audit", policy, "--reading", "markov", "--query", query)
    assert code == 2 and "weighs single records" in err


def test_compare(capsys, tmp_path):
    old = written(tmp_path, GIVEN.replace("answer = 1", "answer = 0"), "old.toml")
    new = written(tmp_path, GIVEN, "new.toml")
    assert said(capsys, "compare", old, new, "--engine", "brute")[0] == 1
    assert said(capsys, "compare", new, old, "--engine", "brute")[0] == 0
    options = ("--engine", "brute", "--answers", "any")
    assert said(capsys, "compare", new, old, *options)[0] == 3
    code, found = document(capsys, "compare", old, new, "--engine", "brute")
    assert (code, found["schema"], found["grows"]) == (1, "blowproof/compare/1", True)
    assert [found["queries"][0][which]["upper"] for which in ("old", "new")] == [2, 4]


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "needles"),
    [
        (["aduit", "x"], ["there is no command 'aduit'", "did you mean 'audit'?"]),
        (["audit", "POLICY", "--reading", "publishd"], ["did you mean 'published'?"]),
        (["audit", "POLICY", "--jsn"], ["No such option", "--json"]),
        (["audit"], ["POLICY", "blowproof audit --help"]),
        (["sensitivity", "POLICY", "--engine", "brut"], ["brut", "brute"]),
        (["sensitivity", "POLICY", "--query", "sum(agee)"], ["agee", "did you mean 'age'?"]),
        (["sensitivity", "POLICY", "--time-limit", "inf"], ["seconds"]),
        (["sensitivity", "gven.toml"], ["there is no such file"]),
        (["sensitivity", "."], ["cannot be read"]),
        (["neighbours", "POLICY", "--limit", "-1"], ["--limit"]),
    ],
)
def test_bad_input_is_one_clear_message(capsys, given, arguments, needles):
    arguments = [given if word == "POLICY" else word for word in arguments]
    code, out, err = said(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    for needle in needles:
        assert needle in err


def test_an_error_in_the_file_names_file_line_and_key(capsys, tmp_path):
    path = written(tmp_path, GIVEN.replace("size = 3", "szie = 3"))
    code, out, err = said(capsys, "audit", path, "--json")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {path}:6: database.szie: ")
    assert "try: did you mean 'size'?" in err


@pytest.mark.parametrize("command", ["audit", "sensitivity", "neighbours"])
def test_contradictory_facts_are_bad_input(capsys, tmp_path, command):
    code, out, err = said(capsys, command, written(tmp_path, CONTRADICTION), "--json")
    assert (code, out) == (2, "")
    assert "no database satisfies the facts: known[0]" in err


def test_no_arguments_and_help_and_version(capsys):
    assert said(capsys) == said(capsys, "--help")
    assert said(capsys, "--help")[0] == 0
    code, out, _ = said(capsys, "--version")
    assert code == 0 and out.startswith("blowproof ")


@pytest.mark.parametrize("name", list(cli.commands))
def test_every_help_ends_with_an_example(capsys, name):
    code, out, _ = said(capsys, name, "--help")
    assert code == 0
    last = " ".join(out.rstrip().rpartition("\n\n")[2].split())
    assert last.startswith("Example: blowproof " + name)
    assert max(map(len, out.splitlines())) <= 80


def test_names_of_readings_and_engines_are_the_ones_of_the_packages():
    from blowproof import models
    from blowproof.verifier import ask
    from blowproof.verifier.portfolio import registry

    assert (READINGS, ENGINES) == (models.READINGS, ask.ENGINES)
    assert set(registry.offered()) == set(ENGINES)


def test_a_bug_is_said_in_one_sentence(capsys, given, monkeypatch):
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("blowproof.cli.asking.ask.sensitivity", broken)
    code, out, err = said(capsys, "sensitivity", given)
    assert (code, out) == (2, "")
    assert "this is a bug in blowproof" in err and "try: blowproof --debug, and" in err
    assert run(["--debug", "sensitivity", given]) == 2
    assert "Traceback" in capsys.readouterr().err


# --- manners: run as a process -------------------------------------------------------------------

LOADED = """
import sys
from blowproof.cli.main import run
run(sys.argv[1:])
heavy = {"numpy", "rich", "ortools", "pysat", "networkx", "sympy", "duckdb", "scipy"}
found = heavy & set(sys.modules)
ours = ("blowproof.models", "blowproof.verifier")
found |= {name for name in sys.modules if name.startswith(ours)}
verifier = "blowproof.verifier"  # rooms that hold a docstring, and the names of engines
found -= {verifier, f"{verifier}.asked", f"{verifier}.asked.names"}
sys.exit(repr(sorted(found)) if found else 0)
"""

TINY = """
import sys
from blowproof.cli.main import run
code = run(sys.argv[1:])
heavy = {"ortools", "pysat", "networkx", "sympy", "scipy", "numba", "rustworkx", "duckdb"}
found = heavy & set(sys.modules)
sys.exit(repr(sorted(found)) if found else code)
"""

SLOW = """
import sys, time
from fractions import Fraction
from blowproof.cli.asking import ask as asking
from blowproof.cli.main import main
from blowproof.verifier.ask import Progress

def sensitivity(*args, listener, **rest):
    listener(Progress(lower=4, upper=Fraction(17, 2), what="searching"))
    print("searching", file=sys.stderr, flush=True)
    STEP

asking.sensitivity = sensitivity
main()
"""

LATER = """
    time.monotonic = lambda: 10**9  # the time is over, however long anything took
    time.sleep(600)
"""

HANG = 300  # seconds: no measure, only a guard


def process(*arguments: str, **options) -> subprocess.Popen:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *arguments], **{**pipes, **options})


@pytest.mark.parametrize("arguments", [["--help"], ["audit", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments):
    running = process("-c", LOADED, *arguments)
    _, err = running.communicate(timeout=HANG)
    assert (running.returncode, err) == (0, "")


def test_a_tiny_question_loads_no_solver(tmp_path):
    """Imports are nearly all that it costs; a search that needs a solver loads it then."""
    policy = written(
        tmp_path, '[domain]\na = ["x", "y"]\nb = ["p", "q"]\n[[known]]\nmarginal = ["a"]\n'
    )
    running = process("-c", TINY, "sensitivity", policy)
    out, err = running.communicate(timeout=HANG)
    assert (running.returncode, err) == (0, "")
    assert out.startswith("S = 4")


STUBBORN = """
    from blowproof.models.programs.solving import run_interruptibly
    run_interruptibly(lambda: time.sleep(600), cancel=lambda: None)
"""


@pytest.mark.parametrize("step", ["time.sleep(600)", "while True: sum(range(1000))", STUBBORN])
def test_ctrl_c_ends_with_the_bounds(given, step):
    running = process("-c", SLOW.replace("STEP", step), "sensitivity", given, "--json")
    assert running.stderr and running.stderr.readline() == "searching\n"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=HANG)
    found = json.loads(out)
    assert (running.returncode, err) == (3, "")
    assert (found["lower"], found["upper"], found["status"]) == (4, "17/2", "bounds")
    assert found["notes"] == ["stopped by Ctrl-C"]


def test_a_time_limit_ends_with_the_bounds(given):
    script = SLOW.replace("STEP", LATER)
    running = process("-c", script, "sensitivity", given, "--time-limit", "999")
    out, _ = running.communicate(timeout=HANG)
    assert running.returncode == 3
    assert out.startswith("4 <= S <= 17/2   bounds")


def test_an_audit_that_is_stopped_recommends_from_the_upper_bound(given):
    options = ("--time-limit", "999", "--epsilon", "2", "--reading", "add-remove")
    running = process("-c", SLOW.replace("STEP", LATER), "audit", given, *options)
    out, _ = running.communicate(timeout=HANG)
    assert running.returncode == 3
    assert "Laplace noise of scale 17/4" in " ".join(out.split())


def test_a_closed_pipe_ends_quietly(given):
    running = process("-m", "blowproof.cli", "neighbours", given)
    assert running.stdout and running.stderr
    running.stdout.readline()
    running.stdout.close()
    assert running.stderr.read() == ""
    assert running.wait(timeout=HANG) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", [["schema"], ["--help"], ["sensitivity", "POLICY", "--json"]])
def test_a_full_disk_is_one_clear_sentence(given, command):
    command = [given if word == "POLICY" else word for word in command]
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        running = process("-m", "blowproof.cli", *command, stdout=full)
        _, err = running.communicate(timeout=HANG)
    assert running.returncode == 2
    assert err == "error: No space left on device\n"


def test_output_survives_a_locale_without_the_letters(tmp_path):
    policy = written(tmp_path, GIVEN.replace('"F"', '"Zoë \\u001b[31m"'))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for options in ([], ["--json"]):
        arguments = ("-m", "blowproof.cli", "audit", policy, "--engine", "brute", *options)
        running = process(*arguments, env=environment)
        out, err = running.communicate(timeout=HANG)
        assert (running.returncode, err) == (0, "")
        assert "\x1b" not in out


@pytest.mark.parametrize(("said", "found"), [(None, "1"), ("4", "4")])
def test_arrays_have_one_thread_unless_the_caller_says_otherwise(monkeypatch, said, found):
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if said is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", said)
    one_thread()
    assert os.environ["OPENBLAS_NUM_THREADS"] == found
