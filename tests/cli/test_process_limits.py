"""A process that takes too much memory, or is asked to end, ends with the bounds reached by then.

No test looks at a clock: processes have a generous limit only so that a hang becomes a failure.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from blowproof.cli.asking import memory, stoppable
from blowproof.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
CENSUS = str(ROOT / "examples" / "census.toml")
HANG = 300  # seconds: no measure, only a guard
LINUX = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc here")

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

GREEDY = """
    import numpy
    held = []
    while True:
        held.append(numpy.ones(10**6))  # 8 MB
"""
AT_ONCE = """
    held = [None] * 10**10
"""
FOREVER = "time.sleep(3600)"

WAITING_FOR_DATA = """
import sys, time
from blowproof.cli.asking import ask as asking
from blowproof.cli.main import main
from blowproof.models.data.dataset import Dataset

def sensitivity(policy, *args, **rest):
    data = Dataset("DATA", policy.policy.domain)
    print(data.size, data._file._folder.name, file=sys.stderr, flush=True)
    while True:  # an engine that nobody can stop
        try:
            time.sleep(3600)
        except BaseException:
            pass

asking.sensitivity = sensitivity
main()
"""


def process(script, *words):
    return subprocess.Popen(
        [sys.executable, "-c", script, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip


def bounds(running):
    """The document of a question that was stopped, once the process has ended."""
    out, err = running.communicate(timeout=HANG)
    found = json.loads(out)
    assert (running.returncode, err) == (3, "")
    assert (found["lower"], found["upper"], found["status"]) == (4, "17/2", "bounds")
    return found


@LINUX
@pytest.mark.parametrize("step", [GREEDY, AT_ONCE], ids=["step by step", "at once"])
def test_memory_that_runs_out_ends_in_bounds_and_says_so(step):
    script = SLOW.replace("STEP", step.strip())
    running = process(script, "sensitivity", CENSUS, "--json", "--memory-limit", "1GB")
    assert running.stderr and running.stderr.readline() == "searching\n"
    (note,) = bounds(running)["notes"]
    assert note.startswith("stopped at the memory limit")


@LINUX
def test_a_file_that_takes_too_much_memory_is_refused_in_one_sentence(tmp_path):
    """In a process of its own: one that ran other tests has memory to spare."""
    path = tmp_path / "p.toml"
    labels = ", ".join(f'"{place}"' for place in range(700_000))
    path.write_text(f"[domain]\na = [{labels}]\n")
    script = "from blowproof.cli.main import main; main()"
    running = process(script, "sensitivity", str(path), "--memory-limit", "100MB")
    out, err = running.communicate(timeout=HANG)
    assert (running.returncode, out) == (3, "")
    assert "too large to be read within the memory limit" in err and "--memory-limit" in err


@pytest.mark.parametrize("command", ["audit", "sparse", "neighbours", "encode", "closed-forms"])
def test_every_command_that_searches_has_a_memory_limit(command, capsys):
    for text in ("8", "none", "-1GB", "1MB", "9" * 50 + "GB"):
        words = ["--format", "lp"] if command == "encode" else []
        assert run([command, CENSUS, "--memory-limit", text, *words]) == 2
        assert "is not a size from 100MB on" in capsys.readouterr().err


def test_the_limit_is_eight_gigabytes_or_three_quarters_of_the_machine(monkeypatch):
    for machine, limit in [(None, 8), (64, 8), (8, 6), (4, 3)]:
        monkeypatch.setattr(memory, "available", lambda size=machine: size and size * 10**9)
        assert memory.default_limit() == limit * 10**9


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_that_ask_to_end_do_what_ctrl_c_does(name):
    unlike_nohup = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    script = unlike_nohup + SLOW.replace("STEP", FOREVER)
    running = process(script, "sensitivity", CENSUS, "--json")
    assert running.stderr and running.stderr.readline() == "searching\n"
    running.send_signal(getattr(signal, name))
    if name != "SIGINT":
        running.send_signal(getattr(signal, name))  # as `timeout` does
    asked = "Ctrl-C" if name == "SIGINT" else name
    assert bounds(running)["notes"] == [f"stopped by {asked}"]


def test_a_signal_while_python_cleans_up_is_heard():
    script = """
import os, signal
from blowproof.cli.asking import memory

class Ends:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)  # what is raised here is printed, and goes nowhere
        sum(1 for _ in range(10))

over, ends = memory.over, [Ends()]
memory.over = lambda: ends.clear() or over()
"""
    running = process(script + SLOW.replace("STEP", FOREVER), "sensitivity", CENSUS, "--json")
    out, err = running.communicate(timeout=HANG)
    assert "Exception ignored in: <function Ends.__del__" in err
    assert json.loads(out)["notes"] == ["stopped by SIGTERM"]


def test_a_signal_that_is_ignored_stays_ignored():
    script = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    running = process(script + SLOW.replace("STEP", FOREVER), "sensitivity", CENSUS, "--json")
    assert running.stderr and running.stderr.readline() == "searching\n"
    running.send_signal(signal.SIGHUP)  # as after nohup
    running.send_signal(signal.SIGTERM)
    assert bounds(running)["notes"] == ["stopped by SIGTERM"]


def test_sigterm_while_standard_input_is_read_ends_at_once():
    reading, writing = os.pipe()
    running = subprocess.Popen(
        [sys.executable, "-m", "blowproof.cli", "sensitivity", "-", "--memory-limit", "1GB"],
        stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.write(writing, b"[domain]\n" * 8000)  # waits until the command reads
    os.write(writing, b"#" * 70_000)
    running.send_signal(signal.SIGTERM)
    out, err = running.communicate(timeout=HANG)
    os.close(reading)
    os.close(writing)
    assert (running.returncode, out) == (3, "")
    assert err.lstrip() == "error: stopped before there was an answer\n"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_temporary_files_are_gone_although_a_thread_cannot_be_stopped(tmp_path, name):
    data = tmp_path / "d.csv"
    data.write_text("region,size,tenure\nnorth,1,owned\n")
    policy = tmp_path / "p.toml"
    policy.write_text(
        '[domain]\nregion = ["north"]\nsize = { min = 1, max = 3 }\ntenure = ["owned"]\n'
    )
    script = WAITING_FOR_DATA.replace("DATA", str(data))
    running = process(script, "sensitivity", str(policy))
    assert running.stderr
    size, folder = running.stderr.readline().split()
    assert size == "1" and Path(folder).is_dir()
    running.send_signal(getattr(signal, name))
    running.communicate(timeout=HANG)
    assert running.returncode == 3 and not Path(folder).exists()


def test_data_that_take_longer_than_the_limit_are_neither_released_nor_charged(
    tmp_path, monkeypatch, capsys
):
    from blowproof.models.data.dataset import Dataset

    data = tmp_path / "d.csv"
    data.write_text("a\nx\n")
    policy = tmp_path / "p.toml"
    policy.write_text('[domain]\na = ["x", "y"]\n')

    def endless(_):
        monkeypatch.setattr(time, "monotonic", lambda: 10**9)  # the time is over
        while True:
            time.sleep(0.01)

    monkeypatch.setattr(Dataset, "size", property(endless))
    code = run(["release", str(policy), str(data), "--epsilon", "1", "--mechanism", "laplace",
                "--unaccounted", "--time-limit", "999"])  # fmt: skip
    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert "stopped at the time limit while the data were read: nothing was released" in err


def test_a_halt_that_comes_too_late_is_not_told(capsys, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    stoppable.ignore_late_halts()

    class Cleaned:
        def __init__(self, error):
            self.error = error

        def __del__(self):
            raise self.error

    Cleaned(stoppable._Halt())
    assert capsys.readouterr().err == ""
    Cleaned(ValueError("ours"))
    assert "ours" in capsys.readouterr().err


@pytest.mark.parametrize("moment", ["taken", "half handed over"])
def test_what_was_posted_survives_a_signal_at_any_moment(monkeypatch, moment):
    """A signal may come between any two steps: in the middle of taking a post, or of showing it."""
    take = stoppable._next
    heard: list[object] = []

    def taken(work, deadline):
        report = take(work, deadline)
        if report is not None and moment == "taken":
            raise KeyboardInterrupt
        return report

    def on_post(what):
        if moment != "taken" and not heard:
            heard.append("begun")
            raise KeyboardInterrupt
        heard.append(what)

    def task(post):
        post("bounds")
        threading.Event().wait(HANG)

    monkeypatch.setattr(stoppable, "_next", taken)
    monkeypatch.setattr(stoppable._Work, "halt", lambda work: None)
    with pytest.raises(stoppable.Interrupted):
        stoppable.watch(task, time_limit=None, on_post=on_post)
    assert heard[-1] == "bounds"


def test_who_waits_to_be_alone_does_not_wait_for_others() -> None:
    """Importing what workers are forked from waited for threads of others, for minutes."""
    ended, mine = threading.Event(), threading.Event()
    other = threading.Thread(target=ended.wait, daemon=True)
    other.start()
    own = threading.Timer(0.01, mine.set)
    with stoppable.until_alone():
        own.start()
    assert mine.is_set() and not own.is_alive() and other.is_alive()
    ended.set()
