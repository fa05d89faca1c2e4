"""The digest of data: what saving a file anew keeps, and what is a change."""

import csv
import gzip
import os
import shutil
from typing import Any

import pytest

from blowproof.models import DataError
from blowproof.models.data.content import content_of, order_of

ROWS = [("F", "1", "36.50"), ("M", "2", "37"), ("F", "1", "36.50"), ("", "3", "35")]
NAMES = ("sex", "age", "temp")


def written(folder, rows=ROWS, names=NAMES, name="d.csv", between=",", end="\n"):
    lines = [between.join(row) for row in (names, *rows)]
    (folder / name).write_bytes((end.join(lines) + end).encode())
    return folder / name


@pytest.fixture
def digest(tmp_path):
    return content_of(written(tmp_path)).digest


def turned(rows, order):
    return [tuple(row[at] for at in order) for row in rows]


SAME: dict[str, dict[str, Any]] = {
    "windows-line-ends": {"end": "\r\n"},
    "tabs": {"name": "e.tsv", "between": "\t"},
    "rows-in-another-order": {"rows": ROWS[::-1]},
    "columns-in-another-order": {"rows": turned(ROWS, (2, 0, 1)), "names": ("temp", "sex", "age")},
    "columns-renamed": {"names": ("Sex", "years", "t")},
    "numbers-respelled": {"rows": [(a, f"+{b}", f"{c}0" if "." in c else c) for a, b, c in ROWS]},
    "blanks-and-capitals": {"rows": [(f" {a.lower()} ", b, c) for a, b, c in ROWS]},
    "quotes": {"rows": [tuple(f'"{cell}"' for cell in row) for row in ROWS]},
}


@pytest.mark.parametrize("how", SAME)
def test_saving_data_anew_keeps_the_digest(tmp_path, digest, how):
    assert content_of(written(tmp_path, **{"name": "e.csv", **SAME[how]})).digest == digest


def test_a_newline_more_at_the_end_keeps_the_digest(tmp_path, digest):
    place = written(tmp_path, name="e.csv")
    place.write_bytes(place.read_bytes() + b"\n")
    assert content_of(place).digest == digest


def test_compression_keeps_the_digest(tmp_path, digest):
    place = tmp_path / "d.csv.gz"
    place.write_bytes(gzip.compress((tmp_path / "d.csv").read_bytes()))
    assert content_of(place).digest == digest


@pytest.mark.parametrize("types", ["VARCHAR", "exact", "double"])
def test_parquet_keeps_the_digest(tmp_path, digest, types):
    import duckdb

    place = tmp_path / "d.parquet"
    columns = {
        "VARCHAR": "sex, age, temp",
        "exact": "sex, age::SMALLINT AS age, temp::DECIMAL(9, 4) AS temp",
        "double": "sex, age::BIGINT AS age, temp::DOUBLE AS temp",
    }[types]
    source = f"read_csv('{tmp_path / 'd.csv'}', header = true, all_varchar = true)"
    duckdb.sql(f"COPY (SELECT {columns} FROM {source}) TO '{place}' (FORMAT parquet)")
    assert content_of(place).digest == digest


OTHER: dict[str, dict[str, Any]] = {
    "a-row-more": {"rows": [*ROWS, ("M", "1", "36")]},
    "an-equal-row-more": {"rows": [*ROWS, ROWS[0]]},
    "a-row-less": {"rows": ROWS[:-1]},
    "a-cell": {"rows": [*ROWS[:-1], ("", "3", "36")]},
    "cells-of-two-rows-swapped": {"rows": [("F", "2", "36.50"), ("M", "1", "37"), *ROWS[2:]]},
    "a-column-less": {"rows": turned(ROWS, (0, 1)), "names": NAMES[:2]},
    "no-rows": {"rows": []},
}


@pytest.mark.parametrize("how", OTHER)
def test_a_change_is_other_content(tmp_path, digest, how):
    assert content_of(written(tmp_path, **{"name": "e.csv", **OTHER[how]})).digest != digest


def test_numbers_beyond_doubles_are_read(tmp_path):
    rows = [(str(2**63), str(-(2**127)), "1" * 500)]
    first = content_of(written(tmp_path, rows=rows))
    assert first.rows == 1 and content_of(written(tmp_path, rows=[*rows, *rows])).rows == 2


def test_line_ends_inside_quotes_in_a_large_file(tmp_path):
    """Some such files are read by one thread alone."""
    for name, end in (("d.csv", "\n"), ("e.csv", "\r\n")):
        with (tmp_path / name).open("w", newline="") as file:
            writer = csv.writer(file, lineterminator=end)
            writer.writerow(["note", "filler", "key"])
            for key in range(40_000):
                note = ("plain", "two\nlines", 'a "quote", and\r\nmore')[key % 3]
                writer.writerow([note, "x" * 600, key])
    first, second = (content_of(tmp_path / name) for name in ("d.csv", "e.csv"))
    assert first.rows == second.rows == 40_000 and first.digest == second.digest
    assert order_of(tmp_path / "d.csv") == order_of(tmp_path / "e.csv")


def test_the_order_of_rows_has_a_digest_of_its_own(tmp_path):
    first = order_of(written(tmp_path))
    assert order_of(written(tmp_path, name="e.csv", end="\r\n")) == first
    assert order_of(written(tmp_path, name="e.csv", rows=ROWS[::-1])) != first
    assert order_of(written(tmp_path, name="e.csv", rows=[ROWS[2], ROWS[1], ROWS[0], ROWS[3]])) == (
        first
    )


def test_a_file_that_is_written_to_meanwhile_is_noticed(tmp_path):
    place = written(tmp_path)
    content = content_of(place)
    content.require_unchanged()
    with place.open("a") as file:
        file.write("M,1,36\n")
    with pytest.raises(DataError, match="changed while it was read"):
        content.require_unchanged()
    place.unlink()
    with pytest.raises(DataError):
        content.require_unchanged()


def test_a_file_is_known_by_its_inode_too(tmp_path):
    place = written(tmp_path)
    os.link(place, tmp_path / "e.csv")
    shutil.copy(place, tmp_path / "f.csv")
    first, linked, copied = (content_of(tmp_path / f"{name}.csv") for name in "def")
    assert (first.device, first.inode) == (linked.device, linked.inode)
    assert first.inode != copied.inode and first.digest == copied.digest


def test_bytes_in_a_column_that_no_policy_names(tmp_path):
    import duckdb

    place = tmp_path / "d.parquet"
    found = set()
    for item in ("'\\xFF\\xFE'::BLOB", "'\\xFF'::BLOB", "encode('é')"):
        duckdb.sql(f"COPY (SELECT 1 AS age, {item} AS shape) TO '{place}' (FORMAT parquet)")
        found.add(content_of(place).digest)
    assert len(found) == 3
    (tmp_path / "d.csv").write_text("age,shape\n1,é\n", encoding="utf-8")
    assert content_of(tmp_path / "d.csv").digest in found
