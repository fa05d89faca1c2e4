"""The workbench's plots as data: what is drawn is what the document says, however large it is."""

import json
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import pytest
from test_serve import CENSUS

from blowproof.cli.serving.app import HEADERS
from blowproof.cli.serving.plots import HUGE, plots
from blowproof.cli.serving.work import answer

ROOM = files("blowproof.cli.serving.vendored")


@pytest.fixture(scope="module")
def found():
    """The plots of the census, by the parts of the page."""
    events: list[dict] = []
    answer({"text": CENSUS}, Path(), events.append)
    return {name: spec for event in events for name, spec in event.get("plots", {}).items()}


def test_every_part_that_can_be_drawn_is(found):
    assert set(found) == {"errors", "learned", "attack", "facts", "plan", "odds"}
    for spec in found.values():
        assert spec["description"] and spec["data"]["values"]
        assert all(row["words"] for row in spec["data"]["values"])
        json.dumps(spec, allow_nan=False)


def test_what_each_fact_costs_is_what_the_table_says(found):
    rows = found["facts"]["data"]["values"]
    assert [(row["low"], row["high"], row["label"]) for row in rows[:2]] == [
        (4.0, 4.0, "4"),
        (2.0, 2.0, "2"),
    ]
    assert rows[0]["words"] == "As it is: S = 4" and rows[1]["words"].endswith("S = 2")


def test_what_has_no_table_beside_it_brings_one(found):
    table = found["errors"]["usermeta"]["table"]
    assert table["heads"] == ["epsilon", "0.1", "0.2", "0.5", "1", "2", "5"]
    assert ["plain DP (S = 2)", "20", "10", "4", "2", "1", "0.4"] in table["rows"]
    assert found["odds"]["usermeta"]["table"]["rows"][0] == ["as e^epsilon promises", "2.718"]


def test_labels_have_room_and_log_axes_have_few_marks(found):
    """A label of bounds was cut off; an axis had 4,000, 2,000, 700, 400, 200 and 70 on it."""
    facts = found["facts"]
    longest = max(len(row["label"]) for row in facts["data"]["values"])
    assert facts["padding"]["right"] >= 6 * longest
    (axis,) = {json.dumps(layer["encoding"]["y"]["axis"]) for layer in found["errors"]["layer"]
               if "y" in layer["encoding"]}  # fmt: skip
    marks = json.loads(axis)["values"]
    errors = [row["error"] for row in found["errors"]["data"]["values"]]
    assert len(marks) <= 12 and marks == sorted(marks)
    assert sum(min(errors) <= mark <= max(errors) for mark in marks) >= 2


def test_numbers_that_no_axis_holds_are_said_exactly():
    """S of 400 digits, only bounded: drawn at the end of the axis, said in words."""
    upper = 10**400
    fact = {"reached": True, "lower": 3, "upper": None, "words": "counts by a"}
    row = {"reading": "published", "answer": {"lower": 3, "upper": upper}}
    query = {"lower": 3, "upper": upper, "reading": "published", "readings": [row],
             "plain": {"sensitivity": 2}, "noise": {"kind": "laplace", "useful": True},
             "facts": [fact], "instead": [], "attackers": None,
             "picture": {"averaging": None}}  # fmt: skip
    drawn = plots(query, ("epsilon", "1/3"))
    bars = drawn["facts"]["data"]["values"]
    assert (bars[0]["low"], bars[0]["high"]) == (3.0, HUGE)
    assert bars[1]["words"] == "without counts by a: S = 3 … ?"
    names = {row["name"] for row in drawn["errors"]["data"]["values"]}
    assert names == {"published (S ≤ about 10^400)", "plain DP (S = 2)"}
    json.dumps(drawn, allow_nan=False)


def test_vendored_files_are_those_that_were_recorded():
    """Files of others are as `.ci/vega.py` made them, each with its licence."""
    record = json.loads(ROOM.joinpath("versions.json").read_text("utf-8"))
    for name, digest in record["files"].items():
        assert sha256(ROOM.joinpath(name).read_bytes()).hexdigest() == digest, name
    licences = ROOM.joinpath("licences.txt").read_text("utf-8")
    for name, package in record["packages"].items():
        assert f"{name} {package['version']}" in licences, name
        assert package["integrity"].startswith("sha512-")
    assert {"vega", "vega-lite", "vega-interpreter"} <= set(record["packages"])


def test_the_page_runs_no_code_made_of_text():
    rules = HEADERS["Content-Security-Policy"]
    assert "script-src 'self';" in rules and "unsafe" not in rules
