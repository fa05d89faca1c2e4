"""Counting a file of 10^7 records: 20 region counts, a two-way marginal and n, beside pyarrow.

    python benchmarks/data_counts.py [records]

pyarrow reads the same columns and applies the same masks; unlike `Dataset` it does not check that
every value lies in the domain. Files are made by DuckDB in a temporary folder and removed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from blowproof.models.data.dataset import Dataset
from blowproof.models.domain.attributes import Integers, Labels, Steps
from blowproof.models.domain.domain import Domain
from blowproof.models.domain.regions import Between, Region

WARDS = [f"ward {place}" for place in range(50)]
DOMAIN = Domain(
    sex=Labels(["F", "M"]),
    ward=Labels(WARDS),
    age=Integers(0, 115),
    temp=Steps(35, 42, "1/2"),
)
ENDS = [(3 * place, 3 * place + 40, WARDS[place]) for place in range(20)]
Answers = tuple[list[int], list[int], int]
RECORDS = """
    SELECT CASE WHEN hash(i) % 2 = 0 THEN 'F' ELSE 'M' END AS sex,
           'ward ' || (hash(i + 1000000007) % 50) AS ward,
           CAST(hash(i + 2000000011) % 116 AS INTEGER) AS age,
           CAST(35 + CAST(hash(i + 3000000019) % 15 AS INTEGER) * 0.5 AS DECIMAL(4, 1)) AS temp
    FROM range({records}) AS t(i)
"""


def with_blowproof(path: Path) -> Answers:
    """Count with `Dataset`, which also checks every value."""
    regions = [
        Region(sex="F", ward=[ward, "ward 7", "ward 49"], age=Between(low, high))
        for low, high, ward in ENDS
    ]
    with Dataset(path, DOMAIN) as data:
        return data.counts([DOMAIN.area(r) for r in regions]), data.marginal((0, 1)), data.size


def with_pyarrow(path: Path) -> Answers:
    """Count with pyarrow's masks and groups, all columns in memory."""
    whole = pyarrow.parquet.read_table if path.suffix == ".parquet" else pyarrow.csv.read_csv
    table = whole(path)
    women = pc.equal(table["sex"], "F")
    counts = []
    for low, high, ward in ENDS:
        age = pc.and_(pc.greater_equal(table["age"], low), pc.less_equal(table["age"], high))
        wards = pc.is_in(table["ward"], pa.array([ward, "ward 7", "ward 49"]))
        counts.append(pc.sum(pc.and_(women, pc.and_(age, wards))).as_py())
    groups = table.group_by(["sex", "ward"]).aggregate([([], "count_all")]).to_pylist()
    cells = {(row["sex"], row["ward"]): row["count_all"] for row in groups}
    return counts, [cells.get((sex, ward), 0) for sex in "FM" for ward in WARDS], len(table)


def timed(count: Callable[[Path], Answers], path: Path) -> tuple[float, Answers]:
    """Return the seconds that a count takes, and what it answers."""
    start = time.perf_counter()
    answers = count(path)
    return time.perf_counter() - start, answers


def main(records: int) -> None:
    """Print one line per format; the two must agree."""
    print(f"{records:,} records, 4 attributes: 20 region counts, a marginal of 100 cells, n")
    print(f"{'format':8} {'MB':>6} {'blowproof s':>12} {'pyarrow s':>10} {'ratio':>6}")
    with tempfile.TemporaryDirectory(prefix="blowproof-bench-") as folder:
        for ending in ("parquet", "csv"):
            path = Path(folder) / f"people.{ending}"
            duckdb.sql(f"COPY ({RECORDS.format(records=records)}) TO '{path}'")
            ours, answers = timed(with_blowproof, path)
            theirs, expected = timed(with_pyarrow, path)
            assert answers == expected, "the two disagree"
            size = path.stat().st_size / 1e6
            print(f"{ending:8} {size:6.0f} {ours:12.2f} {theirs:10.2f} {ours / theirs:6.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
