"""Columns that tell of the same thing: one within the other, or a second name."""

import random

import pytest

from blowproof.models.data.inferred import infer, readable
from blowproof.models.data.nested import Nested, related
from blowproof.models.data.table_at import TableAt

STATES = {"Troy": "NY", "Ware": "MA", "Otis": "MA", "Utica": "NY", "Bath": "ME"}
REGIONS = {"NY": "east", "MA": "north", "ME": "north"}


def _rows(times=40):
    """Towns in states in regions, a number and a name for each town, and one column more."""
    draw = random.Random(3)
    codes = {town: 100 + 7 * at for at, town in enumerate(STATES)}
    rows = []
    for at in range(times):
        town = list(STATES)[at % len(STATES)]
        state = STATES[town]
        rows.append((codes[town], town, state, REGIONS[state], draw.choice("FM")))
    return rows


def _file(folder, rows):
    path = folder / "people.csv"
    lines = ["code,town,state,region,sex", *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _related(data):
    rows, found = infer(data)
    return related(data, rows, readable(data, found))


def test_each_lies_within_the_next_one_and_a_second_name_is_left_out(tmp_path):
    columns, found = _related(_file(tmp_path, _rows()))
    assert [(item.inner, item.outer) for item in found] == [("town", "state"), ("state", "region")]
    assert dict(found[0].groups) == {
        "MA": ("Otis", "Ware"),
        "ME": ("Bath",),
        "NY": ("Troy", "Utica"),
    }
    left_out = {item.name: item.words for item in columns if item.attribute is None}
    assert left_out == {"code": "it says the same as town"}


@pytest.mark.parametrize("odd", [(100, "Troy", "MA", "north", "F"), (100, "Troy", "", "east", "F")])
def test_one_row_that_differs_is_enough(tmp_path, odd):
    _, found = _related(_file(tmp_path, [*_rows(80), odd]))
    assert ("town", "state") not in {(item.inner, item.outer) for item in found}


def test_few_rows_say_nothing(tmp_path):
    columns, found = _related(_file(tmp_path, _rows(14)))
    assert not found and all(item.attribute is not None for item in columns)


def test_a_table_of_a_database_says_the_same(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("ibis")
    path = _file(tmp_path, _rows(80))
    with duckdb.connect(str(tmp_path / "people.duckdb")) as base:
        base.execute(f"CREATE TABLE people AS SELECT * FROM read_csv('{path}')")
    _, of_file = _related(path)
    _, of_table = _related(TableAt(str(tmp_path / "people.duckdb"), "people"))
    assert of_table == of_file and len(of_file) == 2


def test_what_is_impossible_is_all_that_the_data_lack():
    towns = Nested("town", "state", (("NY", ("Troy", "Utica")), ("MA", ("Ware", "Otis"))))
    regions = towns.impossible(["MA", "ME", "NY"])
    barred = {(town, state) for item in regions for town in item["town"] for state in item["state"]}
    assert barred == {
        (town, state)
        for town in ("Troy", "Utica", "Ware", "Otis")
        for state in ("MA", "ME", "NY")
        if STATES[town] != state
    }
    assert len(barred) == 4 * 2  # of three states one is left to each town
