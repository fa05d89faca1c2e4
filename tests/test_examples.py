"""Every example is audited, ends in an exact answer, and gives the number of its story."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.models.files.reading import read_policy
from blowproof.verifier.ask import sensitivity
from corpus import BY_NAME

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PUBLISHED = {  # S of the query under the published reading, and the corpus case that gives it
    ("census", "histogram"): (4, "example-census"),
    ("census_by_tenure", "histogram"): (8, "example-census-by-tenure"),
    ("exam_queue", "count(passes)"): (1, "example-exam-queue"),
    ("exam_queue", "histogram"): (2, "exam-queue"),
    ("genome", "histogram"): (6, "example-genome"),
    ("hospital", "histogram"): (16, "margins-of-2x3-with-a-free-attribute"),
    ("locations", "histogram"): (8, "example-locations"),
    ("salaries", "histogram"): (4, "example-salaries"),
    ("staff", "histogram"): (8, "example-staff"),
    ("survey", "histogram"): (4, "example-survey"),
}
CLAUSES = ("exam_queue",)  # rules about single records need given answers


def names():
    return sorted(path.stem for path in EXAMPLES.glob("*.toml"))


def audited(capsys, name, query, *options):
    code = run(["audit", str(EXAMPLES / f"{name}.toml"), "--query", query, "--json", *options])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return json.loads(out)["queries"][0]


@pytest.mark.parametrize(("name", "query"), PUBLISHED)
def test_headline_number(capsys, name, query):
    number, case = PUBLISHED[name, query]
    assert BY_NAME[case].answer == number
    found = audited(capsys, name, query)
    assert (found["lower"], found["upper"]) == (number, number)
    assert found["status"] in ("exact", "proved")


def test_every_example_has_a_headline_number():
    assert sorted({name for name, _ in PUBLISHED}) == names()
    assert len(names()) >= 8


@pytest.mark.parametrize("name", names())
def test_the_data_fit_and_give_no_more_than_any_answers_do(name):
    """S(given) <= S(any); and the audits above have the worst pairs in the databases at hand."""
    policy = read_policy(EXAMPLES / f"{name}.toml")
    assert policy.database.data is not None
    given = sensitivity(policy, answers="given", time_limit=60)
    assert given.status == "exact"
    assert given.lower == PUBLISHED[name, "histogram"][0]
    if name not in CLAUSES:
        assert given.lower <= sensitivity(policy, answers="any", time_limit=60).lower


def test_the_script_gives_the_data_that_are_kept(tmp_path):
    subprocess.run([sys.executable, str(EXAMPLES / "make_data.py"), str(tmp_path)], check=True)
    drawn = sorted(path.name for path in tmp_path.glob("*.csv"))
    assert len(drawn) >= 6
    for name in drawn:
        assert (tmp_path / name).read_bytes() == (EXAMPLES / name).read_bytes(), name
    assert max(path.stat().st_size for path in EXAMPLES.glob("*.csv")) < 50_000


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_begins_with_its_story(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ") and len([line for line in lines if line.startswith("#")]) >= 3
    assert max(map(len, lines)) <= 100
