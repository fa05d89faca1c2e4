"""Write the data files of the examples: generated, from a fixed seed, about nobody.

python examples/make_data.py [FOLDER]     (default: the folder of this script)

`survey.csv` and `exam_queue.csv` are small and part of their stories; the others are drawn. A test
checks that this script gives exactly the files that are kept beside it.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

Row = Sequence[object]
Item = TypeVar("Item")

SEED = 20141


def census(random: Random) -> Iterator[Row]:
    """Households: larger ones own more often, and the south is larger than the north."""
    yield "region", "size", "tenure"
    for _ in range(600):
        region = pick(random, {"north": 2, "south": 3})
        size = pick(random, {"1": 4, "2": 3, "3+": 2})
        yield region, size, pick(random, {"owned": 2 if size == "1" else 4, "rented": 3})


def salaries(random: Random) -> Iterator[Row]:
    """Employees by band."""
    yield ("band",)
    for _ in range(150):
        yield (pick(random, {"0k": 2, "30k": 9, "60k": 6, "90k": 2, "120k": 1}),)


def hospital(random: Random) -> Iterator[Row]:
    """Patients: nobody on the maternity ward is old, the old are transferred more often."""
    yield "ward", "outcome", "age"
    for _ in range(240):
        ward = pick(random, {"surgery": 4, "medicine": 5, "maternity": 2})
        age = pick(random, {"0-17": 2, "18-64": 4, "65+": 0 if ward == "maternity" else 5})
        yield ward, pick(random, {"home": 5, "transferred": 3 if age == "65+" else 1}), age


def locations(random: Random) -> Iterator[Row]:
    """Phones: three crowds, and others anywhere."""
    yield "x", "y"
    crowds = [((2, 5), (3, 6)), ((7, 9), (2, 5)), ((4, 8), (9, 12)), ((0, 14), (0, 14))]
    for _ in range(500):
        (left, right), (low, high) = crowds[pick(random, {0: 5, 1: 3, 2: 4, 3: 8})]
        yield between(random, left, right), between(random, low, high)


def genome(random: Random) -> Iterator[Row]:
    """Donors: two copies of one of three inherited blocks each."""
    yield "rs1", "rs2", "rs3", "rs4", "rs5"
    blocks = {(0, 0, 0, 0, 0): 6, (1, 0, 1, 1, 0): 3, (0, 1, 1, 0, 1): 2}
    for _ in range(300):
        pair = pick(random, blocks), pick(random, blocks)
        yield [first + second for first, second in zip(*pair, strict=True)]


def staff(random: Random) -> Iterator[Row]:
    """Conversations between two of four people."""
    yield ("talk",)
    pairs = ["Ana-Ben", "Ana-Cem", "Ana-Dee", "Ben-Cem", "Ben-Dee", "Cem-Dee"]
    for _ in range(40):
        yield (pick(random, dict.fromkeys(pairs, 1)),)


DRAWN = (census, salaries, hospital, locations, genome, staff)


def pick(random: Random, weights: dict[Item, int]) -> Item:
    """Return one of the items, with probabilities in proportion to the whole-number weights."""
    place = int(random.random() * sum(weights.values()))
    for item, weight in weights.items():
        place -= weight
        if place < 0:
            return item
    raise AssertionError


def between(random: Random, low: int, high: int) -> int:
    """Return a whole number from low to high."""
    return low + int(random.random() * (high - low + 1))


def main(folder: Path) -> None:
    """Write all drawn files into a folder."""
    for place, drawn in enumerate(DRAWN):
        with (folder / f"{drawn.__name__}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(drawn(Random(SEED + place)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
