"""Every example is audited, ends in an exact answer, and gives the number of its story."""

import json
from pathlib import Path

import pytest

from blowproof.cli.main import run

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
PUBLISHED = {  # S of the query under the published reading, by hand (see the comments)
    # One household per region, swapped across the border: two out of four cells each way.
    ("census", "histogram"): 4,
    # A chain once around all four published cells, each changing two cells of the table.
    ("census_by_tenure", "histogram"): 8,
    # Passes form a prefix of the queue, so that neighbours differ in one student.
    ("exam_queue", "count(passes)"): 1,
    ("exam_queue", "histogram"): 2,
    # One crosses from 60k to 90k (secret), another moves back anywhere (plain): 120k to 30k.
    ("salaries", "histogram"): 4,
    # All records may move, to four cells that lose or gain one each; see the story.
    ("survey", "histogram"): 4,
}


def audited(capsys, name, query):
    code = run(["audit", str(EXAMPLES / f"{name}.toml"), "--query", query, "--json"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return json.loads(out)["queries"][0]


@pytest.mark.parametrize(("name", "query"), PUBLISHED)
def test_headline_number(capsys, name, query):
    found = audited(capsys, name, query)
    assert (found["lower"], found["upper"]) == (PUBLISHED[name, query],) * 2
    assert found["status"] in ("exact", "proved")


def test_every_example_has_a_headline_number():
    assert {name for name, _ in PUBLISHED} == {path.stem for path in EXAMPLES.glob("*.toml")}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_example_begins_with_its_story(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ") and len([line for line in lines if line.startswith("#")]) >= 3
    assert max(map(len, lines)) <= 100
