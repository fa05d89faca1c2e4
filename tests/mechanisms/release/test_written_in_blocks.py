"""Parquet files of answers are written block by block, with types that are those of all rows."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from blowproof.mechanisms.release.publish import write_columns

CASES: dict[str, tuple[list[Any], str]] = {
    "whole": ([1, -2, 3, -(2**63), 5], "BIGINT"),
    "floats": ([0.5, 2.0, -1.0, 1e300, 0.1], "DOUBLE"),
    "texts": (["a", "", "b", "c", "d"], "VARCHAR"),
    "beyond 64 bits, late": ([1, 2, 3, 4, 2**63], "VARCHAR"),
    "holes": ([1, None, 3, None, 5], "BIGINT"),
    "holes alone": ([None] * 5, "VARCHAR"),
    "mixed late": ([1, 2, 3, 4, 0.5], "VARCHAR"),
    "mixed within a block": ([1, 0.5, 3, 4, 5], "VARCHAR"),
}


@pytest.mark.parametrize("block", [1, 2, 100])
def test_columns_keep_their_values_and_order(tmp_path: Path, block: int) -> None:
    place = tmp_path / "rows.parquet"
    columns = [values for values, _ in CASES.values()]
    write_columns(list(CASES), zip(*columns, strict=True), place, block)
    found: list[tuple[Any, ...]] = duckdb.read_parquet(str(place)).fetchall()
    kinds = [str(kind) for kind in duckdb.read_parquet(str(place)).types]
    assert kinds == [kind for _, kind in CASES.values()]
    for got, (values, kind) in zip(zip(*found, strict=True), CASES.values(), strict=True):
        texts = [None if value is None else str(value) for value in values]
        assert list(got) == (texts if kind == "VARCHAR" else values)


def test_no_rows_are_a_file_all_the_same(tmp_path: Path) -> None:
    place = tmp_path / "rows.parquet"
    write_columns(["a", "b"], iter(()), place)
    assert duckdb.read_parquet(str(place)).columns == ["a", "b"]
    assert not duckdb.read_parquet(str(place)).fetchall()
