"""Manners on a terminal: the bar, whole files, what is not comparable, completion."""

import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from blowproof.cli.asking.progress import _Shown, closed, loading
from blowproof.cli.main import run
from blowproof.cli.text.files import save
from blowproof.models import DataError
from blowproof.models.data.tabular import Table

ROOT = Path(__file__).resolve().parents[3]
CENSUS = str(ROOT / "examples/census.toml")


def test_the_first_line_of_an_audit_is_the_answer(capsys):
    assert run(["audit", CENSUS]) == 0
    first, second, third, *_ = capsys.readouterr().out.splitlines()
    noise = "Laplace noise of scale 4 for epsilon = 1"
    assert (first, second) == (
        f"census: histogram may be published with {noise}",
        "(S = 4, proved).",
    )
    assert third.startswith("S is how far the released numbers can differ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--planned-scale", "2"],
            "census: for histogram the planned scale = 2 is too small for epsilon = 1: 4 is needed",
        ),
        (
            ["--query", "marginal(region)"],
            "census: marginal(region) may be published without noise",
        ),
        (
            ["--norm", "l2-squared"],
            "census: histogram may be published with Gaussian noise of variance 2 for rho = 1",
        ),
        (
            ["--norm", "range"],
            "census: one place of histogram may be published, each chosen with weight exp(its",
        ),
    ],
)
def test_the_first_line_says_whether_it_may_be_published_and_how(capsys, options, said):
    assert run(["audit", CENSUS, *options]) in (0, 1)
    assert " ".join(capsys.readouterr().out.split()).startswith(said)


def test_the_first_line_says_where_nothing_should_be_published(capsys, tmp_path):
    (tmp_path / "hard.toml").write_text(HARD, encoding="utf-8")
    assert run(["audit", str(tmp_path / "hard.toml"), "--time-limit", "1"]) == 3
    assert capsys.readouterr().out.startswith("hard: do not publish histogram like this (")


def test_what_to_do_names_the_planner_and_consistent_tables(capsys):
    assert run(["audit", CENSUS]) == 0
    said = " ".join(capsys.readouterr().out.partition("do this")[2].split())
    assert "blowproof plan compares all mechanisms" in said and "--mechanism consistent" in said


def test_policies_of_different_domains_are_not_comparable(capsys):
    assert run(["compare", CENSUS, str(ROOT / "examples/hospital.toml")]) == 3
    out = capsys.readouterr().out
    assert "Not comparable: the domains differ" in out and "grows" not in out


def test_a_bar_closes_with_the_bounds_however_large_they_are():
    assert closed(10**400, 10**500) == pytest.approx(0.8)
    assert closed(0, 3) == 0 and closed(3, 3) == 1 and closed(3, None) == 0


HARD = """
[domain]
a = ["1", "2", "3", "4", "5"]
b = ["1", "2", "3", "4", "5"]
c = ["1", "2", "3", "4", "5"]
[[known]]
marginal = ["a"]
[[known]]
marginal = ["b"]
[[known]]
marginal = ["c"]
"""


@pytest.mark.wall_clock
def test_a_terminal_shows_the_bounds_and_the_time(tmp_path):
    (tmp_path / "hard.toml").write_text(HARD, "utf-8")
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "blowproof.cli", "sensitivity", "hard.toml"]
    asked = subprocess.Popen(
        [*command, "--time-limit", "3"], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while True:
        if select.select([mine], [], [], 60)[0]:
            try:
                chunk = os.read(mine, 65536)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
    asked.wait(60)
    os.close(mine)
    text = seen.decode("utf-8", "replace")
    assert "reading hard.toml" in text and "0:0" in text and "<= S" in text
    assert "histogram, published" in text and "Ctrl-C stops" in text


def test_what_is_paid_for_does_not_say_that_it_can_be_stopped():
    def line(shown):
        return "".join(str(cell) for column in shown.__rich__().columns for cell in column.cells)

    assert line(_Shown("planning")).endswith("planning (Ctrl-C stops)")
    assert line(_Shown("writing out.csv", stops=False)).endswith("writing out.csv")


def test_a_file_that_could_not_be_written_whole_is_not_left(tmp_path, monkeypatch):
    target = tmp_path / "report.html"
    target.write_text("old", "utf-8")

    def fails(self, other):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match=r"report\.html"):
        save(str(target), "new")
    assert target.read_text("utf-8") == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["report.html"]


def test_a_saved_file_keeps_its_mode_and_its_link(tmp_path):
    target, link = tmp_path / "a.txt", tmp_path / "b.txt"
    target.write_text("old", "utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    save(str(link), "new")
    assert target.read_text("utf-8") == "new" and link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640


def test_only_data_files_are_suggested_for_a_data_file(tmp_path):
    (tmp_path / "people.toml").write_text("", "utf-8")
    (tmp_path / "peoples.csv").write_text("a\n", "utf-8")
    with pytest.raises(DataError, match=r"did you mean 'peoples\.csv'"):
        Table(tmp_path / "people.csv")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (f"blowproof sensitivity {CENSUS} --query marg", "marginal(region)"),
        ("blowproof release p.toml d.csv --mechanism cons", "consistent"),
        (f"blowproof audit {CENSUS} --reading sec", "secret-moves"),
    ],
)
def test_shells_complete_queries_mechanisms_and_readings(words, found):
    environment = {
        "_BLOWPROOF_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "PATH": "/usr/bin:/bin",
    }
    command = [str(Path(sys.executable).parent / "blowproof")]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert f"plain,{found}" in done.stdout.splitlines()


def test_an_empty_export_warns(tmp_path, capsys):
    policy = tmp_path / "p.toml"
    policy.write_text('[domain]\na = ["x"]\n[database]\nsize = 2\n', "utf-8")
    assert run(["encode", str(policy), "--format", "lp"]) == 0
    assert "no two values are secret from each other" in capsys.readouterr().err
    assert run(["encode", str(ROOT / "examples/survey.toml"), "--format", "lp"]) == 0
    assert capsys.readouterr().err == ""


TERMINAL = """
import io, sys

class Terminal(io.StringIO):
    loaded = None

    def isatty(self):
        return True

    def write(self, text):
        if self.loaded is None:
            self.loaded = set(sys.modules)
        return super().write(text)

sys.stderr = shown = Terminal()
from blowproof.cli.main import run
code = run({command!r})
slow = {{"blowproof.verifier.ask", "numpy", "rich"}} & shown.loaded
print(code, shown.getvalue()[:8].strip(), sorted(slow))
"""


@pytest.mark.parametrize("words", [
    ["plan", CENSUS, "--query", "histogram", "--epsilon", "1", "--json"],
    ["sensitivity", CENSUS, "--json"],
])  # fmt: skip
def test_a_person_sees_that_it_begins_before_anything_slow_is_loaded(words):
    code = TERMINAL.format(command=words)
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "0 loading []"


def test_what_is_said_while_loading_is_gone_afterwards_and_never_in_a_pipe(monkeypatch, capsys):
    with loading():
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with loading():
        said = capsys.readouterr().err
    gone = capsys.readouterr().err
    assert said.startswith("\rloading") and gone == f"\r{' ' * (len(said) - 1)}\r"
