"""Policies and files of `realistic.py` that are too large to keep: made again from a fixed seed.

`make(FOLDER)` copies the policies of `benchmarks/realistic` into a folder and writes the rest there
too. The people in the files are nobody.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

__all__ = ["KEPT", "make"]

KEPT = Path(__file__).parent / "realistic"
SEED = 1740


def make(folder: Path) -> list[Path]:
    """Write every policy and every file that they name; return the policies in order of name."""
    folder.mkdir(parents=True, exist_ok=True)
    for kept in KEPT.glob("*.toml"):
        _write(folder / kept.name, kept.read_text(encoding="utf-8"))
    for name, text in (
        ("counties", counties()),
        ("tracts", areas(2000, 300, 51, tracts_printed=True)),
        ("tracts_unprinted", areas(2000, 300, 51, tracts_printed=False)),
        ("towns", towns(51, 300)),
        ("districts_tiled", tiled(10)),
    ):
        _write(folder / f"{name}.toml", text)
    for name, rows in (
        ("adult", adult()),
        ("hospital", hospital()),
        ("stations", points(5, 100)),
        ("points", points(5, 20)),
    ):
        _write_rows(folder / f"{name}.csv", rows)
    return sorted(folder.glob("*.toml"))


def _write(path: Path, text: str) -> None:
    """Write a file unless it says so already: another run may be reading it."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def _write_rows(path: Path, rows: Iterable[Sequence[object]]) -> None:
    lines = [",".join(str(item) for item in row) for row in rows]
    _write(path, "\n".join(lines) + "\n")


# policies ---------------------------------------------------------------------------------------


def counties() -> str:
    """3,143 counties, each with its printed number of people."""
    return f"""# Every county of the country, 3,143 of them, with its printed number of people.
#
#? histogram | published secret-moves | = 6286 | T1: 3,143 classes of several values
#? marginal(sex) | published | = 6286 | T2: 3,143 moves from one sex to the other
#? marginal(county) | published | = 0 | printed
#? count(old_women) | published | = 3143 | T2: each of 3,143 moves changes it by 1
#? cumulative(age) | published | = 12572 | T2: 3,143 moves through four cuts
#? histogram | add-remove | = 2 | an exchange inside of a county

[domain]
county = {_labels(f"c{i:04}" for i in range(1, 3144))}
sex = ["F", "M"]
age = {{ labels = ["0-17", "18-34", "35-49", "50-64", "65+"], ordered = true }}

[[known]]
marginal = ["county"]

[[query]]
name = "old_women"
count = {{ sex = "F", age = "65+" }}
"""


def areas(tracts: int, counties: int, states: int, *, tracts_printed: bool) -> str:
    """A tree of areas as ranges of one number: tracts inside of counties inside of states."""
    rng = random.Random(SEED)
    ends = sorted(rng.sample(range(1, tracts), counties - 1))
    edges = [0, *ends, tracts]
    outer = [0, *sorted(rng.sample(range(1, counties), states - 1)), counties]
    spans = [(a, b - 1) for a, b in pairwise(edges)]
    spans += [(edges[a], edges[b] - 1) for a, b in pairwise(outer)]
    classes = tracts if tracts_printed else counties
    known = [f"[[known]]\ncount = {{ tract = {{ min = {a}, max = {b} }} }}\n" for a, b in spans]
    if tracts_printed:
        known.insert(0, '[[known]]\nmarginal = ["tract"]\n')
    what = "tracts, counties and states are" if tracts_printed else "counties and states are"
    wide = sum(b - a for a, b in spans[:counties])  # what one visit of each county can change
    zero = "= 0 | printed" if tracts_printed else f"= {wide} | each county is visited once"
    return f"""# {tracts:,} tracts in {counties} counties in {states} states; {what} printed.
#
#? histogram | published | = {2 * classes} | T1: a laminar family with {classes} smallest areas
#? marginal(sex) | published | = {2 * classes} | T2: all moves from one sex to the other
#? sum(tract) | published | {zero}
#? count(women) | published | = {classes} | T2: each of {classes} moves changes it by 1
#? histogram | secret-moves | = {2 * classes} | full secrets: as published
#? histogram | add-remove | = 2 | an exchange inside of a smallest area

[domain]
tract = {{ min = 0, max = {tracts - 1} }}
sex = ["F", "M"]

{"".join(known)}
[[query]]
name = "women"
count = {{ sex = "F" }}
"""


def towns(states: int, count: int) -> str:
    """State and town as two columns: a town lies in one state, elsewhere it is impossible."""
    rng = random.Random(SEED + 1)
    home = [*range(states), *(rng.randrange(states) for _ in range(count - states))]
    zeros = []
    for state in range(states):
        others = _labels(f"t{i:03}" for i in range(count) if home[i] != state)
        zeros.append(f'[[known]]\nimpossible = {{ state = "s{state:02}", town = {others} }}\n')
    return f"""# {count} towns in {states} states, two columns; each town lies in one state.
#
#? histogram | published | = {2 * count} | T1: {count} towns, the states are implied
#? marginal(sex) | published | = {2 * count} | T2: {count} moves from one sex to the other
#? marginal(state,sex) | published | = {2 * count} | T2: {count} moves from one sex to the other
#? marginal(state) | published | = 0 | printed
#? marginal(state,town) | published | = 0 | a town's number is printed, and it lies in one state
#? histogram | add-remove | = 2 | an exchange inside of a town

[domain]
state = {_labels(f"s{i:02}" for i in range(states))}
town = {_labels(f"t{i:03}" for i in range(count))}
sex = ["F", "M"]

[[known]]
marginal = ["state"]
[[known]]
marginal = ["town"]
{"".join(zeros)}"""


def tiled(side: int) -> str:
    """A square grid cut into square districts of 10 x 10, each with its printed number."""
    n = side * side
    spans = [(10 * i, 10 * i + 9) for i in range(side)]
    known = [
        f"[[known]]\ncount = {{ x = {{ min = {a}, max = {b} }}, y = {{ min = {c}, max = {d} }} }}\n"
        for a, b in spans
        for c, d in spans
    ]
    return f"""# {side} x {side} districts tile a grid; a place is secret to within 5 squares.
#
#? histogram | secret-moves | = {2 * n} | T1: a cycle through all districts, side by side
#? histogram | published | = {2 * n} | T1: such a cycle, one move secret, the others plain
#? marginal(x) | published
#? sum(x,y) | published
#? cluster-sizes(stations.csv) | published | <= {2 * n} | coarser than the histogram
#? range(x,0,{5 * side - 1}) | published | = 0 | printed: whole columns of districts
#? histogram | add-remove | = 2 | an exchange inside of a district

[domain]
x = {{ min = 0, max = {10 * side - 1} }}
y = {{ min = 0, max = {10 * side - 1} }}

[secrets]
kind = "distance"
metric = "l1"
threshold = 5

{"".join(known)}"""


def _labels(names: Iterable[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


# files ------------------------------------------------------------------------------------------


def adult() -> Iterator[Sequence[object]]:
    """3,000 people of 16 educations; few have none, and nobody's education is missing."""
    rng = random.Random(SEED + 2)
    text = (KEPT / "adult.toml").read_text(encoding="utf-8")
    listed = tomllib.loads(text)["domain"]["education"]
    weights = [2, 5, 10, 20, 16, 30, 38, 14, 350, 230, 45, 35, 170, 55, 18, 13]
    yield "age", "education", "race", "sex", "hours", "income"
    for row in range(3000):
        education = listed[row] if row < len(listed) else rng.choices(listed, weights)[0]
        yield (
            rng.randint(17, 90),
            education,
            rng.choices(["white", "black", "asian", "native", "other"], [85, 10, 3, 1, 1])[0],
            rng.choices(["F", "M"], [1, 2])[0],
            min(99, max(1, round(rng.gauss(40, 12)))),
            rng.choices(["low", "high"], [3, 1])[0],
        )


def hospital() -> Iterator[Sequence[object]]:
    """360 patients: nobody old on the maternity ward."""
    rng = random.Random(SEED + 3)
    yield "ward", "outcome", "age"
    for _ in range(360):
        ward = rng.choices(["surgery", "medicine", "maternity", "heart"], [4, 5, 3, 3])[0]
        ages = [2, 4, 0 if ward == "maternity" else 5]
        yield (
            ward,
            rng.choices(["home", "transferred", "stays"], [5, 2, 3])[0],
            rng.choices(["0-17", "18-64", "65+"], ages)[0],
        )


def points(count: int, side: int) -> Iterator[Sequence[object]]:
    """Points on a square grid, no two alike."""
    rng = random.Random(SEED + 4)
    for place in sorted(rng.sample(range(side * side), count)):
        yield divmod(place, side)
