"""`blowproof sweep`: grids, keys, workers that die, results that are kept, claims, the page."""

import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pytest

import blowproof
from blowproof.cli.asking import cluster
from blowproof.cli.main import run
from blowproof.cli.sweeping import pool
from blowproof.cli.sweeping.grid import Claimed, read_grid
from blowproof.cli.sweeping.kept import Kept
from blowproof.cli.sweeping.page import Spot, front
from blowproof.cli.sweeping.points import points_of
from blowproof.cli.sweeping.run import _batches, sweep_through
from blowproof.cli.sweeping.work import answer_batch
from blowproof.models.base.errors import BlowproofError
from blowproof.models.files.reading import read_policy
from blowproof.verifier.ask import sensitivity

TEMPLATE = """
[domain]
sex = ["F", "M"]
age = ["0-17", "18-64", "65+"]
[[known]]
marginal = {{one}}
{{two}}
"""
GRID = """
policies = ["base.toml"]
template = "offices.toml"
[parameters]
one = [["sex"], ["age"]]
[parameters.two]
nothing = ""
sex = '''
[[known]]
marginal = ["sex"]'''
[questions]
queries = ["histogram", "marginal(age)"]
readings = ["published", "add-remove"]
"""
BASE = '[domain]\nsex = ["F", "M"]\nage = { min = 0, max = 9 }\n'


@pytest.fixture
def grid(tmp_path):
    (tmp_path / "base.toml").write_text(BASE, encoding="utf-8")
    (tmp_path / "offices.toml").write_text(TEMPLATE, encoding="utf-8")
    path = tmp_path / "grid.toml"
    path.write_text(GRID, encoding="utf-8")
    return path


def swept(capsys, *arguments):
    code = run(["sweep", *map(str, arguments), "--json"])
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, json.loads(out) if out else None, err


def test_every_point_is_what_sensitivity_says(capsys, grid, tmp_path):
    code, found, _ = swept(capsys, grid, "--jobs", "1")
    assert code == 0
    assert found["questions"] == found["answered"] == len(found["rows"]) == (1 + 4) * 2 * 2
    for row in found["rows"]:
        one = dict(json.loads(row["settings"]))
        path = tmp_path / "one.toml"
        text = BASE
        if one:
            two = '[[known]]\nmarginal = ["sex"]\n' if one["two"] == "sex" else ""
            text = TEMPLATE.replace("{{one}}", one["one"]).replace("{{two}}", two)
        path.write_text(text, encoding="utf-8")
        alone = sensitivity(read_policy(path), row["query"], reading=row["reading"])
        assert (row["lower"], row["upper"]) == (str(alone.lower), str(alone.upper)), row
    with duckdb.connect() as connection:
        rows = connection.execute(
            "SELECT key, upper FROM read_parquet(?)", [str(grid.with_suffix(".parquet"))]
        ).fetchall()
    assert rows == [(row["key"], row["upper"]) for row in found["rows"]]


def test_norms_and_stacks_are_swept(capsys, grid):
    """They were refused: a grid knew l1 and single queries only."""
    asked = GRID.replace('"marginal(age)"]', '"histogram + 1/4*marginal(age)"]\nnorms = ["linf"]')
    grid.write_text(asked, encoding="utf-8")
    norms = ("--norm", "l2-squared", "--norm", "range")
    code, found, _ = swept(capsys, grid, "--jobs", "1", *norms)
    assert code == 0 and found["questions"] == (1 + 4) * 2 * 2 * 2
    policy = read_policy(grid.parent / "base.toml")
    for row in found["rows"]:
        if row["policy"] == "base":
            alone = sensitivity(policy, row["query"], reading=row["reading"], norm=row["norm"])
            assert (row["lower"], row["upper"]) == (str(alone.lower), str(alone.upper)), row
    assert {row["norm"] for row in found["rows"]} == {"l2-squared", "range"}
    _, found, _ = swept(capsys, grid, "--jobs", "1")
    assert {row["norm"] for row in found["rows"]} == {"linf"} and not found["known_before"]


def test_processes_say_what_one_says(capsys, grid, tmp_path):
    one = swept(capsys, grid, "--jobs", "1", "--output", tmp_path / "one.parquet")[1]
    two = swept(capsys, grid, "--jobs", "2", "--output", tmp_path / "two.parquet")[1]
    wanted = ("key", "lower", "upper", "status", "error")
    assert [[row[name] for name in wanted] for row in one["rows"]] == [
        [row[name] for name in wanted] for row in two["rows"]
    ]


def test_counts_published_twice_are_one(capsys, grid):
    _, found, _ = swept(capsys, grid, "--jobs", "1")
    counts = {row["policy"]: row["counts"] for row in found["rows"]}
    assert (
        counts['offices[one=["sex"], two=sex]'] == counts['offices[one=["sex"], two=nothing]'] == 2
    )
    assert counts['offices[one=["age"], two=sex]'] == 5
    assert counts["base"] == 0


def test_nothing_is_answered_twice(capsys, grid, monkeypatch):
    swept(capsys, grid, "--jobs", "1")
    larger = GRID.replace('"marginal(age)"', '"marginal(age)", "marginal(sex)"')
    grid.write_text(larger, encoding="utf-8")
    asked = []

    def answered(batch):
        asked.append(batch)
        return []

    monkeypatch.setattr(pool, "answer_batch", answered)
    _, found, _ = swept(capsys, grid, "--jobs", "1")
    assert found["known_before"] == 20
    assert {item.query for batch in asked for item in batch.asked} == {"marginal(sex)"}


def test_bounds_are_asked_again_with_more_time(tmp_path):
    with Kept(str(tmp_path / "o.parquet"), [("k", {})]) as kept:
        row: dict[str, Any] = dict.fromkeys(
            ("policy", "settings", "query", "reading", "norm", "answers", "engine", "version"), ""
        )
        row |= {"lower": "1", "upper": "2", "status": "bounds", "counts": 1, "records": 1}
        row |= {"seconds": 1.0, "time_limit": 5.0, "decided_by": "", "notes": "", "error": None}
        kept.add([row | {"key": "k"}])
    again = Kept(str(tmp_path / "o.parquet"), [("k", {})])
    assert again.enough("k", 5.0) and again.enough("k", 2.0)
    assert not again.enough("k", 6.0) and not again.enough("k", None)
    assert not again.enough("other", 5.0)


def test_a_journal_cut_off_in_the_middle_loses_one_row(capsys, grid):
    _, whole, _ = swept(capsys, grid, "--jobs", "1")
    journal = Path(f"{grid.with_suffix('.parquet')}.journal")
    journal.write_bytes(journal.read_bytes()[:-40])
    code, found, _ = swept(capsys, grid, "--jobs", "1")
    assert (code, found["known_before"]) == (0, 19)
    assert [r["upper"] for r in found["rows"]] == [r["upper"] for r in whole["rows"]]


def test_the_key_changes_with_all_that_an_answer_depends_on(grid, tmp_path):
    data = tmp_path / "people.csv"
    data.write_text("sex,age\nF,0\n", encoding="utf-8")
    policy = tmp_path / "base.toml"
    policy.write_text(BASE + '[database]\ndata = "people.csv"\n', encoding="utf-8")
    grid.write_text('policies = ["base.toml"]\n', encoding="utf-8")

    def key(version="1"):
        (point,) = points_of(read_grid(str(grid)), version)
        return point.key

    keys = {key(), key("2")}
    data.write_text("sex,age\nM,0\n", encoding="utf-8")
    assert key() in keys  # the policy publishes n alone, and that is the same
    data.write_text("sex,age\nM,0\nM,1\n", encoding="utf-8")
    keys.add(key())
    policy.write_text(BASE, encoding="utf-8")
    keys.add(key())
    assert len(keys) == 4
    policy.write_text("# a comment\n" + BASE, encoding="utf-8")
    assert key() in keys


def begun(grid, tmp_path):
    """Start a sweep; return it, what its workers are forked from, and one of these workers."""
    program = (
        "import sys; from blowproof.cli.main import main; "
        f"sys.argv = ['blowproof', 'sweep', {str(grid)!r}, '--jobs', '2', '--json']; main()"
    )
    script = tmp_path / "sweep.py"
    script.write_text(f"if __name__ == '__main__':\n    {program}\n", encoding="utf-8")
    running = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    while running.poll() is None:
        for server in children(running.pid):
            for worker in children(server):
                return running, server, worker
        time.sleep(0.001)
    pytest.fail("it ended too soon")


def children(pid):
    """The processes that a process has begun."""
    with suppress(OSError):  # it ended while it was looked at
        tasks = Path(f"/proc/{pid}/task").glob("*/children")
        return [child for task in tasks for child in map(int, task.read_text().split())]
    return []


@pytest.mark.parametrize("which", ["worker", "server"])
def test_a_worker_that_is_killed_costs_its_question_and_nothing_else(grid, tmp_path, which):
    """Kill -9 in the middle: all rows come."""
    running, server, worker = begun(grid, tmp_path)
    os.kill(server if which == "server" else worker, signal.SIGKILL)
    out, _ = running.communicate(timeout=300)
    assert running.returncode == 0 and json.loads(out)["complete"]


def test_workers_end_with_the_sweep_that_is_killed(grid, tmp_path):
    """They waited for ever for somebody to hand them work."""
    running, server, worker = begun(grid, tmp_path)
    running.kill()
    running.communicate()
    assert any(gone(worker) for _ in range(3000)) and any(gone(server) for _ in range(3000))


def gone(pid):
    """Whether a process has ended; waits a moment if not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return True
    if state != "Z":
        time.sleep(0.01)
    return state == "Z"


class Dying:
    """A pool of processes that die of a bad question."""

    made: ClassVar[list[int]] = []

    def __init__(self, jobs, **_):
        self.made.append(jobs)

    def submit(self, task, part):
        future: pool.Future[list[Any]] = pool.Future()
        if any("bad" in batch for batch in part):
            future.set_exception(pool.BrokenProcessPool("died"))
        else:
            future.set_result([[row_of(name) for name in batch] for batch in part])
        return future

    def shutdown(self, **_):
        pass


def row_of(name, error=None):
    return {"key": name, "error": error, "seconds": 0.5}


def test_a_question_that_always_kills_its_worker_is_named(monkeypatch):
    """All of its batch was given up, and the rest of the sweep had one process."""
    Dying.made.clear()
    monkeypatch.setattr(pool, "ProcessPoolExecutor", Dying)
    monkeypatch.setattr(
        pool, "failed", lambda batch, reason: [row_of(name, reason) for name in batch]
    )
    monkeypatch.setattr(pool, "singly", lambda part: [[name] for batch in part for name in batch])
    batches: list[Any] = [["a1", "a2"], ["bad", "b1", "b2"], *([f"c{at}"] for at in range(20))]
    rows = [row for part in pool._local(batches, 2, None, lambda batch: batch) for row in part]
    assert sorted(row["key"] for row in rows) == sorted(name for batch in batches for name in batch)
    assert [(row["key"], row["error"]) for row in rows if row["error"]] == [("bad", pool.DIED)]
    assert Dying.made[0] == Dying.made[-1] == 2


def test_no_question_is_to_blame_where_no_process_begins(monkeypatch):
    """What processes are forked from had just died: two attempts, and the row was given up."""

    class Late(Dying):
        """All that was out is lost once; then no process begins, three times."""

        def submit(self, task, part):
            if len(self.made) in (2, 3, 4):
                raise ConnectionRefusedError
            future = super().submit(task, part)
            if len(self.made) == 1:
                future = pool.Future()
                future.set_exception(pool.BrokenProcessPool("died"))
            return future

    Dying.made.clear()
    monkeypatch.setattr(pool, "ProcessPoolExecutor", Late)
    monkeypatch.setattr(pool, "singly", lambda part: [[name] for batch in part for name in batch])
    batches: list[Any] = [["a"], ["b"], ["c"]]
    rows = [row for part in pool._local(batches, 1, None, lambda batch: batch) for row in part]
    assert {row["key"]: row["error"] for row in rows} == {"a": None, "b": None, "c": None}


def test_quick_batches_are_handed_out_together():
    batches: list[Any] = list("abcdefghijklmnopqrstuvwxyz")
    parts = pool._Parts(batches, 2)
    assert len(parts.take(lambda batch: batch)) == 1
    parts.heard([{"seconds": pool.SPAN / 5}])
    assert len(parts.take(lambda batch: batch)) == 3  # of 25: no worker is to be without
    parts.heard([{"seconds": 5.0}])
    assert len(parts.take(lambda batch: batch)) == 1


def test_workers_need_none_of_the_grids_files(tmp_path):
    """A folder had to be shared by all workers of a cluster."""
    (tmp_path / "people.csv").write_text("sex,age\nF,0\nM,1\n", encoding="utf-8")
    (tmp_path / "m.txt").write_text(" ".join("1" * 20), encoding="utf-8")
    (tmp_path / "base.toml").write_text(
        BASE + '[database]\ndata = "people.csv"\n[[known]]\nmarginal = ["sex"]\n', encoding="utf-8"
    )
    grid = tmp_path / "grid.toml"
    asked = '[questions]\nqueries = ["histogram", "matrix(m.txt)"]\n'
    grid.write_text('policies = ["base.toml"]\n' + asked, encoding="utf-8")
    batches = list(
        _batches(list(points_of(read_grid(str(grid)), "1")), read_grid(str(grid)), 1, "1")
    )
    blob = pickle.dumps(batches)
    for path in tmp_path.iterdir():
        path.unlink()
    rows = [row for batch in pickle.loads(blob) for row in answer_batch(batch)]
    assert [row["error"] for row in rows] == [None, None]
    assert [row["upper"] for row in rows] == ["4", "0"]


def test_bounds_travel_between_policies(capsys, grid, tmp_path):
    """What follows from a published table is answered by what is known without it."""
    written = GRID.replace('one = [["sex"], ["age"]]', 'one = [["sex", "age"], ["sex"]]')
    grid.write_text(written.replace("reading", "#"), encoding="utf-8")
    _, found, _ = swept(capsys, grid, "--jobs", "1")
    rows = {(row["policy"], row["query"]): row for row in found["rows"]}
    for one in ('["sex", "age"]', '["sex"]'):
        for query in ("histogram", "marginal(age)"):
            plain = rows[f"offices[one={one}, two=nothing]", query]
            more = rows[f"offices[one={one}, two=sex]", query]
            assert (plain["lower"], plain["upper"]) == (more["lower"], more["upper"])
            if int(more["upper"]):
                assert {end["name"] for end in json.loads(more["decided_by"])} == {"travel"}


def travelled(rows):
    """The names of the policies whose bounds, both of them, came from elsewhere."""
    return {
        row["policy"]
        for row in rows
        if {end["name"] for end in json.loads(row["decided_by"])} == {"travel"}
    }


@pytest.mark.parametrize("scope", ["any", "given"])
def test_bounds_travel_after_a_restart_and_with_numbers(capsys, grid, tmp_path, scope):
    """They began anew with every start, and only under scope "any"."""
    (tmp_path / "people.csv").write_text("sex,age\nF,0-17\nM,65+\nF,18-64\n", encoding="utf-8")
    (tmp_path / "offices.toml").write_text(
        TEMPLATE + '[database]\ndata = "people.csv"\n', encoding="utf-8"
    )
    asked = GRID.replace('policies = ["base.toml"]\n', "").replace("readings", "# readings")
    asked = asked.replace("[questions]", f'[questions]\nanswers = ["{scope}"]')
    asked = asked.replace('[["sex"], ["age"]]', '[["sex", "age"]]')
    grid.write_text(asked.split("sex = '''")[0] + "[questions]" + asked.split("[questions]")[1])
    assert swept(capsys, grid, "--jobs", "1")[1]["questions"] == 2
    grid.write_text(asked, encoding="utf-8")
    code, found, _ = swept(capsys, grid, "--jobs", "1")
    assert (code, found["known_before"], found["questions"]) == (0, 2, 4)
    assert all("pair" not in row for row in found["rows"])
    rows = [row for row in found["rows"] if "two=sex" in row["policy"]]
    assert travelled(row for row in rows if row["query"] == "histogram") == {rows[0]["policy"]}


def test_questions_of_one_policy_know_of_each_other_in_parts(capsys, grid, monkeypatch):
    """A policy with more questions than go into a batch began anew in the next one."""
    monkeypatch.setattr("blowproof.cli.sweeping.run.MOST_IN_BATCH", 1)
    queries = '["histogram", "marginal(sex,age)", "sum(age)"]'
    asked = f'policies = ["base.toml"]\n[questions]\nqueries = {queries}\n'
    grid.write_text(asked, encoding="utf-8")
    _, found, _ = swept(capsys, grid, "--jobs", "1")
    names = [{end["name"] for end in json.loads(row["decided_by"])} for row in found["rows"]]
    assert "travel" not in names[0] and "travel" in names[1]


@pytest.mark.wall_clock  # the cluster's processes are waited for
def test_a_cluster_says_what_processes_say(capsys, grid, tmp_path):
    distributed = pytest.importorskip("distributed")
    here = swept(capsys, grid, "--jobs", "1", "--output", tmp_path / "here.parquet")[1]
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        there = swept(
            capsys,
            grid,
            "--scheduler",
            cluster.scheduler_address,
            "--output",
            tmp_path / "o.parquet",
        )[1]
    assert [row["upper"] for row in here["rows"]] == [row["upper"] for row in there["rows"]]


def test_no_cluster_is_a_clear_error(capsys, grid, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    code, out, err = swept(capsys, grid, "--scheduler", "tcp://127.0.0.1:1")
    assert (code, out) == (2, None)
    assert "no cluster of ours answers at tcp://127.0.0.1:1" in err


def test_the_password_of_a_scheduler_is_never_shown(capsys, grid, monkeypatch):
    """Dask's own error repeated the address."""
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "PATIENCE", 1)
    code, out, err = swept(capsys, grid, "--scheduler", "tcp://ann:s3cret@127.0.0.1:1")
    assert (code, out) == (2, None)
    assert "ann:***@127.0.0.1:1" in err and "s3cret" not in err


# --- claims --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "code"), [("at_most = 40", 0), ("at_most = 1", 1), ("at_least = 5", 1)]
)
def test_claims_decide_the_exit_code(capsys, grid, claim, code):
    grid.write_text(GRID + f'[[claim]]\nquery = "histogram"\n{claim}\n', encoding="utf-8")
    found = swept(capsys, grid, "--jobs", "1")
    assert found[0] == code
    assert found[1]["claims"][0]["holds"] is (code == 0)
    assert found[1]["claims"][0]["answers"] == 10


def test_a_claim_is_open_while_its_bounds_straddle():
    claim = Claimed(at_most=5)
    assert (claim.holds(1, 5), claim.holds(6, 9), claim.holds(1, 9)) == (True, False, None)
    assert claim.holds(1, None) is None
    assert Claimed(at_least=3).holds(3, None) is True


def test_open_questions_end_with_3(capsys, grid, monkeypatch):
    def bounds(batch):
        rows = pool.failed(batch, "nobody knows")
        return [row | {"error": None} for row in rows]

    monkeypatch.setattr(pool, "answer_batch", bounds)
    assert swept(capsys, grid, "--jobs", "1")[0] == 3


def test_ctrl_c_keeps_what_was_found(grid, monkeypatch):
    begun = []
    answer = pool.answer_batch

    def stopped(batch):
        begun.append(batch)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return answer(batch)

    monkeypatch.setattr(pool, "answer_batch", stopped)
    output = str(grid.with_suffix(".parquet"))
    found = sweep_through(read_grid(str(grid)), output, version="1", jobs=1)
    assert found.stopped and 0 < len(found.rows) < found.size
    monkeypatch.setattr(pool, "answer_batch", answer)
    again = sweep_through(read_grid(str(grid)), output, version="1", jobs=1)
    assert again.complete and again.taken_over == len(found.rows)


# --- bad input -----------------------------------------------------------------------------------

ASKED = 'policies = ["base.toml"]\n[questions]\n'
WRONG = (
    ('policies = ["none.toml"]', "none.toml"),
    ('policies = ["x*.toml"]', "no file matches 'x*.toml'"),
    ("", "there is no policy in this grid"),
    ('polices = ["base.toml"]', "did you mean 'policies'?"),
    (ASKED + 'queries = []', "questions.queries: this is empty"),
    (ASKED + 'queries = ["sum(wage)"]', "base: in the query sum(wage)"),
    (ASKED + 'readings = ["publish"]', "did you mean 'published'?"),
    (ASKED + 'time_limit = 0', "not a time"),
    ('policies = ["base.toml"]\n[parameters]\na = ["b"]', "no template"),
    ('template = "offices.toml"\n[parameters]\none = [["sex"]]', "there is no parameter 'two'"),
    (GRID.replace("[questions]", '[parameters.wage]\nlow = "1"\n[questions]'), "nobody uses"),
    (GRID.replace('one = [["sex"], ["age"]]', 'one = ["a", "a"]'), "called alike"),
    (GRID.replace('one = [["sex"], ["age"]]', 'one = ["[\\"se\\"]"]'), '(with one = ["se"]'),
    (GRID + "[[claim]]\n", "this claims nothing"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_what_is_wrong_is_said_before_any_question(capsys, grid, text, said, monkeypatch):
    monkeypatch.setattr(pool, "answer_batch", lambda batch: pytest.fail("a question was asked"))
    grid.write_text(text, encoding="utf-8")
    code, out, err = swept(capsys, grid, "--jobs", "1")
    assert (code, out) == (2, None)
    assert said in err


def test_a_grid_of_a_billion_points_is_refused_with_its_number(grid):
    many = ", ".join(f'"{k}"' for k in range(1000))
    text = "".join(f"p{k} = [{many}]\n" for k in range(3))
    (grid.parent / "offices.toml").write_text("{{p0}}{{p1}}{{p2}}", encoding="utf-8")
    grid.write_text(f'template = "offices.toml"\n[parameters]\n{text}', encoding="utf-8")
    with pytest.raises(BlowproofError, match="1,000,000,000 questions"):
        read_grid(str(grid))


def test_results_never_overwrite_a_policy(capsys, grid):
    code, _, err = swept(capsys, grid, "--output", grid.parent / "base.toml")
    assert code == 2 and "would overwrite" in err


# --- the page ------------------------------------------------------------------------------------


def test_the_front_is_what_nothing_beats():
    spots = [Spot("a", 1, 2, True), Spot("b", 1, 3, True), Spot("c", 9, 3, True)]
    spots += [Spot("d", 14, 10**400, False, usable=False), Spot("e", 99, 0, True)]
    assert [spot.name for spot in front(spots)] == ["a", "c"]


def test_the_page_has_a_picture_for_each_question(capsys, grid, tmp_path):
    page = tmp_path / "sweep.html"
    swept(capsys, grid, "--jobs", "1", "--html", page)
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 4 and text.count('class="dot"') == 20
    assert "Content-Security-Policy" in text and "offices[one=[&quot;sex&quot;]" in text


def test_a_few_policies_stand_in_one_table(capsys, grid, tmp_path):
    """Two dots in a picture of their own for every question said less, on twelve screens."""
    (tmp_path / "more.toml").write_text(BASE + '[[known]]\nmarginal = ["sex"]\n', "utf-8")
    short = (
        'policies = ["base.toml", "more.toml"]\n[questions]\nqueries = ["sum(age)", "histogram"]\n'
    )
    grid.write_text(short, encoding="utf-8")
    swept(capsys, grid, "--jobs", "1", "--html", tmp_path / "sweep.html")
    text = (tmp_path / "sweep.html").read_text(encoding="utf-8")
    assert "<svg" not in text.partition("<h2>All answers")[0]
    assert "base (0 counts)" in text and "more (2 counts)" in text
    rows = re.findall(r'<tr><th scope="row">(\w.*?), published, answers any</th>(.*?)</tr>', text)
    assert [(name, re.findall("<td>(.*?)</td>", cells)) for name, cells in rows] == [
        ("sum(age)", ["9", "18"]),
        ("histogram", ["2", "4"]),
    ]


# --- from Python ---------------------------------------------------------------------------------


def test_frames_carry_numbers_of_any_size(tmp_path):
    wide = {"domain": {"age": {"min": 0, "max": 10**30}}}
    found = blowproof.sweep([wide], ["sum(age)"], jobs=1)
    (row,) = found
    assert row["upper"] == 10**30
    assert found.frame("pyarrow").column("upper").to_pylist() == [str(10**30)]
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(found)["upper"].to_list() == [str(10**30)]
    assert pyarrow_of(found.__dataframe__()).column("upper").to_pylist() == [str(10**30)]


def test_a_path_a_policy_and_tables_do(tmp_path):
    path = tmp_path / "office.toml"
    path.write_text(BASE, encoding="utf-8")
    kinds = [path, blowproof.read(path), {"domain": {"sex": ["F", "M"]}}]
    found = list(blowproof.sweep(kinds, jobs=1, output=tmp_path / "rows.parquet"))
    assert [row["policy"] for row in found] == ["office", "office", "policy 3"]
    assert [row["upper"] for row in found] == [2, 2, 2]


def test_the_example_has_two_hundred_publications():
    grid = read_grid(str(Path(__file__).parents[3] / "examples" / "sweep" / "grid.toml"))
    assert len(grid.sources) == 200
    assert sum(1 for _ in points_of(grid, "1")) == 400


def pyarrow_of(exchanged):
    """A table by the interchange protocol."""
    return pytest.importorskip("pyarrow.interchange").from_dataframe(exchanged)


def test_a_grid_on_standard_input_goes_to_a_file_with_a_name(capsys, grid, monkeypatch):
    """It was called "-.parquet", which commands take for an option."""
    text = GRID.replace('"candidates/*.toml"', "")
    piped = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
    monkeypatch.chdir(grid.parent)
    monkeypatch.setattr("sys.stdin", piped)
    code, found, _ = swept(capsys, "-", "--jobs", "1")
    assert code == 0 and found["output"] == "sweep.parquet"
    assert (grid.parent / "sweep.parquet").exists() and not (grid.parent / "-.parquet").exists()
