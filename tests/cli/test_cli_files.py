"""Files on the command line: inputs stay as they are, data fit the facts, closed streams."""

import gzip
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from blowproof.cli.main import run
from blowproof.models import PolicyError, QueryError
from blowproof.models.files.reading import read_policy
from blowproof.models.policy.setting import setting
from blowproof.verifier.ask import sensitivity

ROOT = Path(__file__).resolve().parents[2]
POLICY = '[domain]\nx = ["a", "b", "c"]\n'


def written(folder: Path, text: str, name: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


@pytest.mark.parametrize(
    "words",
    [
        ["sensitivity", "POLICY", "--certificate", "POLICY"],
        ["audit", "POLICY", "--certificate", "POLICY"],
        ["audit", "POLICY", "--html", "POLICY"],
        ["audit", "POLICY", "--html", "out", "--certificate", "out"],
        ["sparse", "POLICY", "--dot", "POLICY"],
        ["encode", "POLICY", "--format", "lp", "--output", "POLICY"],
        ["encode", "POLICY", "--format", "lp", "--output", "out", "--map", "out"],
        ["release", "POLICY", "DATA", "--epsilon", "1", "--unaccounted", "--output", "DATA"],
    ],
    ids=" ".join,
)
def test_no_input_and_no_other_output_is_overwritten(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    policy, data = written(tmp_path, POLICY, "p.toml"), written(tmp_path, "x\na\n", "d.csv")
    words = [{"POLICY": "./p.toml", "DATA": data}.get(word, word) for word in words]
    assert run(words) == 2
    assert "would overwrite" in capsys.readouterr().err
    assert Path(policy).read_text(encoding="utf-8") == POLICY
    assert Path(data).read_text(encoding="utf-8") == "x\na\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["audit", "POLICY", "--html", "no/page.html"],
        ["sensitivity", "POLICY", "--certificate", "no/cert.json"],
        ["plan", "POLICY", "--query", "histogram", "--epsilon", "1", "--output", "no/plan.json"],
    ],
    ids=" ".join,
)
def test_a_folder_that_is_not_there_is_said_before_any_work(words, tmp_path, monkeypatch, capsys):
    """A page that could not be written took all of its search with it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("blowproof.cli.asking.ask.Session.open", lambda *_: pytest.fail("asked"))
    written(tmp_path, POLICY, "p.toml")
    assert run([{"POLICY": "p.toml"}.get(word, word) for word in words]) == 2
    assert f"there is no folder {tmp_path / 'no'}" in capsys.readouterr().err


def test_an_output_that_cannot_be_written_is_named(tmp_path, capsys):
    policy = written(tmp_path, POLICY, "p.toml")
    target = str(tmp_path / "no" / "model.lp")
    assert run(["encode", policy, "--format", "lp", "--output", target]) == 2
    assert target in capsys.readouterr().err


DATA_FACTS = [
    ('count = { x = "a" }\nat_most = 1', "d.csv counts 2, which the fact does not allow"),
    ('sum = [{ times = -2, count = { x = "a" } }]\nat_least = -3', "d.csv counts -4"),
    ('impossible = [{ x = "b" }, { x = "c" }]', "called impossible: 1"),
    ('clause = [{ record = 1, in = { x = "b" } }]', "make no part of the clause true"),
]


@pytest.mark.parametrize(("fact", "why"), DATA_FACTS)
def test_data_that_break_a_fact_are_refused_with_its_line(fact, why, tmp_path, capsys):
    written(tmp_path, "x\na\na\nb\n", "d.csv")
    text = f'{POLICY}[database]\ndata = "d.csv"\n[[known]]\n{fact}\n'
    policy = written(tmp_path, text, "p.toml")
    with pytest.raises(PolicyError, match=why):
        setting(read_policy(policy))
    assert run(["sensitivity", policy]) == 2
    message = capsys.readouterr().err
    assert f"{policy}:5: known" in message and "try:" in message


@pytest.mark.parametrize(
    "fact",
    [
        'count = { x = "a" }\nat_most = 2',
        'impossible = { x = "c" }',
        'clause = [{ record = 3, in = { x = "b" } }]',
    ],
)
def test_data_that_fit_are_taken(fact, tmp_path):
    written(tmp_path, "x\na\na\nb\n", "d.csv")
    text = f'{POLICY}[database]\ndata = "d.csv"\n[[known]]\n{fact}\n'
    assert setting(read_policy(written(tmp_path, text, "p.toml"))).size == 3


@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_weights_of_records_that_are_not_there(count, tmp_path):
    text = '[domain]\nage = { min = 0, max = 3 }\n[database]\nsize = 2\nanswers = "given"\n'
    policy = read_policy(written(tmp_path, text, "p.toml"))
    weights = written(tmp_path, "".join(f"{i + 1}\n" for i in range(count)), "w.txt")
    with (
        pytest.raises((QueryError, PolicyError), match="weight")
        if count
        else pytest.raises(Exception, match=r"w\.txt")
    ):
        sensitivity(policy, f"weighted-sum(age,{weights})")


def test_as_many_weights_as_records(tmp_path):
    text = '[domain]\nage = { min = 0, max = 3 }\n[database]\nsize = 2\nanswers = "given"\n'
    policy = read_policy(written(tmp_path, text, "p.toml"))
    weights = written(tmp_path, "1\n5\n", "w.txt")
    assert sensitivity(policy, f"weighted-sum(age,{weights})").lower == 15


@pytest.mark.parametrize(("stream", "code"), [("2>&-", 2), (">&-", 2), (">&- 2>&-", 2)])
def test_exit_codes_stand_when_a_stream_is_closed(stream, code, tmp_path):
    missing = tmp_path / "nope.toml"
    command = f"'{sys.executable}' -m blowproof.cli audit '{missing}' {stream}"
    done = subprocess.run(command, shell=True, check=False, stderr=subprocess.DEVNULL)
    assert done.returncode == code


def test_a_closed_stdout_takes_nothing_and_says_nothing(tmp_path):
    policy = written(tmp_path, POLICY, "p.toml")
    command = f"'{sys.executable}' -m blowproof.cli sparse '{policy}' >&-"
    done = subprocess.run(command, shell=True, check=False, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("content", ["census.csv", "census.csv.gz", "census.parquet"])
def test_data_may_be_piped(tmp_path, content):
    """`-` is standard input for data, too, and is the same data: one account for both."""
    text = (ROOT / "examples/census.csv").read_bytes()
    if content.endswith("gz"):
        text = gzip.compress(text)
    elif content.endswith("parquet"):
        place = tmp_path / content
        sql = f"COPY (FROM read_csv('{ROOT}/examples/census.csv', all_varchar=true)) TO '{place}'"
        duckdb.sql(sql)
        text = place.read_bytes()
    policy, ledger = str(ROOT / "examples/census.toml"), str(tmp_path / "ledger.sqlite")
    words = ["release", policy, "-", "--epsilon", "1", "--budget", "1", "--ledger", ledger]
    words += ["--mechanism", "laplace", "--output", str(tmp_path / "noisy.csv")]
    command = [sys.executable, "-m", "blowproof.cli", *words]
    done = subprocess.run(command, input=text, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "noisy.csv").read_text("utf-8").splitlines()) == 13
    again = [policy, str(ROOT / "examples/census.csv"), "--epsilon", "1", "--budget", "1"]
    assert run(["release", *again, "--ledger", ledger]) == 1
    both = subprocess.run(
        [sys.executable, "-m", "blowproof.cli", "release", "-", "-", "--epsilon", "1"],
        input=text, capture_output=True, check=False,
    )  # fmt: skip
    assert both.returncode == 2 and b"the policy or the data, not both" in both.stderr
