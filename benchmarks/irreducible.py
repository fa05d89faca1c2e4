"""Longest irreducibles of table margins, side by side with 4ti2 and Normaliz.

`python benchmarks/irreducible.py --limit 60` prints one line per family: rank, number of effects,
the longest irreducible (or bounds), nodes and seconds; then the seconds of the peers that are
installed, which list the whole basis (`hilbert`, or `graver` for add-remove) because they have no
other way to its longest element.

`python benchmarks/irreducible.py --left 3x4` says how often irreducibles of one-way margins leave a
class of each factor, and a cell, at the most, and what the squares of how often each class of a
factor is left add up to (`LEFT` of `theorems/listed_margins`).

`python benchmarks/irreducible.py --fitting 2x2x4 3x5` prints upper bounds for one-way margins by
cycles that fit together (`FITTING` there), the side of most classes being the base.

`python benchmarks/irreducible.py --circuits 4x4` prints the longest circuit of one-way margins, by
all frames, and how often one leaves a class of each side, and a cell (`CIRCUITS` there).

`python benchmarks/irreducible.py --blocks 3x3x3` says whether no frame of all margins of one
attribute less changes the histogram, and one cell, by more than is recorded
(`lengths/heaviest_blocks`).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from pathlib import Path

from blowproof.verifier.engines.irreducibles import (
    Multiset,
    Result,
    improve,
    longest,
    warm_up,
)
from blowproof.verifier.exact.coordinates import Instance
from blowproof.verifier.theorems.affine_frames import kernel
from blowproof.verifier.theorems.lengths.fitting_cycles import longest_of_cycles
from blowproof.verifier.theorems.lengths.heaviest_blocks import HEAVIEST, Blocks, OneClass
from blowproof.verifier.theorems.lengths.listed_frames import longest_in_frames, most_left

Vector = tuple[int, ...]

NORMALIZ = """
import json, sys, PyNormaliz
effects = json.load(sys.stdin)
n = len(effects)
unit = [[int(i == j) for j in range(n)] for i in range(n)]
cone = PyNormaliz.Cone(equations=[list(row) for row in zip(*effects)], inequalities=unit)
print(len(cone.HilbertBasis()))
"""


def signatures(shape: Sequence[int], margins: Sequence[Sequence[int]]) -> list[Vector]:
    """The 0/1 signature of each cell of a table, for the counts of the given margins."""
    cells = list(product(*map(range, shape)))
    keys = [(m, v) for m in margins for v in product(*(range(shape[i]) for i in m))]
    return [
        tuple(int(all(c[i] == x for i, x in zip(m, v, strict=True))) for m, v in keys)
        for c in cells
    ]


def differences(points: Sequence[Vector]) -> list[Vector]:
    """The effects of changing one record."""
    found = {tuple(x - y for x, y in zip(a, b, strict=True)) for a in points for b in points}
    return sorted(d for d in found if any(d))


def additions(points: Sequence[Vector]) -> list[Vector]:
    """The effects of adding or removing one record."""
    return sorted({d for p in points for d in (p, tuple(-x for x in p))})


def one_way(*shape: int) -> list[Vector]:
    """Changes of one record under all one-way margins."""
    return differences(signatures(shape, [(i,) for i in range(len(shape))]))


def two_way(*shape: int) -> list[Vector]:
    """The signatures of all two-way margins."""
    return signatures(shape, list(combinations(range(len(shape)), 2)))


def leaving(shape: Sequence[int], axes: Sequence[int]) -> list[int]:
    """For each effect of `one_way`: whether it can leave the first class of each of these factors.

    So can what leads away from it, and what does not change the factor.
    """
    starts = {axis: sum(shape[:axis]) for axis in axes}
    parts = [
        [effect[at : at + shape[axis]] for axis, at in starts.items()] for effect in one_way(*shape)
    ]
    return [int(all(part[0] == -1 or not any(part) for part in each)) for each in parts]


def symmetries(shape: Sequence[int]) -> list[list[int]]:
    """Permutations of the effects of `one_way`: of each factor's classes, and of all ends."""
    effects = one_way(*shape)
    place = {effect: k for k, effect in enumerate(effects)}
    starts = [sum(shape[:axis]) for axis in range(len(shape))]
    found = []
    for orders in product(*(permutations(range(side)) for side in shape)):
        moved = [start + k for start, order in zip(starts, orders, strict=True) for k in order]
        there = [tuple(effect[k] for k in moved) for effect in effects]
        found.append([place[effect] for effect in there])
        found.append([place[tuple(-x for x in effect)] for effect in there])
    return found


def left_squares(shape: Sequence[int], axis: int, each: int, limit: float | None = None) -> Result:
    """The most that squares of how often each class of a factor is left add up to.

    `each`: what no class is left more often than. What does not change the factor leaves whichever
    class is left most.
    """
    start = sum(shape[:axis])
    effects = one_way(*shape)
    parts = [effect[start : start + shape[axis]] for effect in effects]
    leaves = [part.index(-1) if any(part) else -1 for part in parts]

    def squares(multiset: Multiset) -> int:
        times = [0] * (shape[axis] + 1)
        for place, number in multiset:
            times[leaves[place]] += number
        free = times.pop()
        times.sort()
        times[-1] += free
        return sum(number * number for number in times)

    return improve(
        effects, [each] * len(effects), squares, symmetries=symmetries(shape), time_limit=limit
    )


FAMILIES: dict[str, list[Vector]] = {
    "2x3": one_way(2, 3),
    "2x2x2": one_way(2, 2, 2),
    "2x4": one_way(2, 4),
    "3x3": one_way(3, 3),
    "2x2x2 AB,BC": differences(signatures((2, 2, 2), [(0, 1), (1, 2)])),
    "2x2x2 AB,BC,AC": differences(two_way(2, 2, 2)),
    "2x5": one_way(2, 5),
    "2x2x3": one_way(2, 2, 3),
    "2x6": one_way(2, 6),
    "2x2x2x2": one_way(2, 2, 2, 2),
    "3x4": one_way(3, 4),
    "2x7": one_way(2, 7),
    "2x2x4": one_way(2, 2, 4),
    "3x5": one_way(3, 5),
    "add-remove 2x2x3": additions(two_way(2, 2, 3)),
    "add-remove 2x3x3": additions(two_way(2, 3, 3)),
    "add-remove 3x3x3": additions(two_way(3, 3, 3)),
    "add-remove 3x3x4": additions(two_way(3, 3, 4)),
}


def ours(effects: list[Vector], limit: float) -> str:
    """L (or bounds), nodes and seconds."""
    result = longest(effects, time_limit=limit)
    value = str(result.lower) if result.complete else f"{result.lower}..{result.upper}"
    return f"{value:>12} {result.nodes:>10,} {result.seconds:>9.2f}"


def left(name: str, limit: float) -> None:
    """One line for each factor, and one for a cell."""
    shape = tuple(map(int, name.split("x")))
    axes = range(len(shape))
    for places in (*([axis] for axis in axes), list(axes)):
        what = "a cell" if len(places) > 1 else f"a class of {shape[places[0]]}"
        found = longest(one_way(*shape), leaving(shape, places), time_limit=limit)
        value = str(found.lower) if found.complete else f"{found.lower}..{found.upper}"
        print(f"{name} {what:<12} {value:>8} {found.nodes:>12,} {found.seconds:>9.2f}", flush=True)
        if len(places) == 1 and found.complete:
            most = left_squares(shape, places[0], int(found.lower), limit)
            value = str(most.lower) if most.complete else f"{most.lower}..{most.upper}"
            print(f"{name} {'squared':<12} {value:>8} {most.nodes:>12,} {most.seconds:>9.2f}")


def fourti2(effects: list[Vector], limit: float) -> str:
    """Seconds of 4ti2's hilbert on the directed effects."""
    return _fourti2("hilbert", effects, ["1 " * len(effects)], limit)


def graver(effects: list[Vector], limit: float) -> str:
    """Seconds of 4ti2's graver, for effects that are plus and minus signatures."""
    columns = [effect for effect in effects if effect > (0,) * len(effect)]
    return _fourti2("graver", columns, [], limit)


def normaliz(effects: list[Vector], limit: float) -> str:
    """Seconds of Normaliz on the directed effects."""
    if importlib.util.find_spec("PyNormaliz") is None:
        return "-"
    return _timed([sys.executable, "-c", NORMALIZ], json.dumps(effects), limit)


def _fourti2(program: str, columns: list[Vector], signs: list[str], limit: float) -> str:
    command = f"4ti2-{program}"
    if shutil.which(command) is None:
        return "-"
    rows = [" ".join(map(str, row)) for row in zip(*columns, strict=True)]
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "x"
        for suffix, lines in ((".mat", rows), (".sign", signs)):
            if lines:
                text = "\n".join([f"{len(lines)} {len(columns)}", *lines, ""])
                base.with_suffix(suffix).write_text(text)
        return _timed([command, "-q", str(base)], "", limit)


def _timed(command: list[str], text: str, limit: float) -> str:
    start = time.monotonic()
    try:
        subprocess.run(
            command, input=text, text=True, capture_output=True, check=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return f"> {limit:g}"
    except subprocess.CalledProcessError as error:
        return f"failed ({error.returncode})"
    return f"{time.monotonic() - start:.2f}"


CORNERS = ((0, 0), (0, 1), (1, 0), (1, 1))
FITTING: dict[str, tuple[tuple[Vector, ...], int]] = {
    "2x5": (((0,), (1,)), 5),
    "3x3": (CORNERS[:3], 3),
    "2x2x3": (CORNERS, 3),
    "3x4": (CORNERS[:3], 4),
    "2x2x4": (CORNERS, 4),
    "3x5": (CORNERS[:3], 5),
}
"""Labels of the other sides, and how many classes the base has."""


def fitting(names: Sequence[str]) -> None:
    """Print how long irreducibles are at the most, and CPU seconds."""
    for name in names:
        started = time.process_time()
        most = longest_of_cycles(*FITTING[name])
        print(f"{name:<18} {most} {time.process_time() - started:>9.1f}", flush=True)


def of_cells(shape: Sequence[int]) -> list[list[int]]:
    """Permutations of the cells: two classes next to each other, two sides of one size."""
    cells = list(product(*map(range, shape)))
    found = []
    for side, size in enumerate(shape):
        for low in range(size - 1):
            swap = {low: low + 1, low + 1: low}
            found.append([(*c[:side], swap.get(c[side], c[side]), *c[side + 1 :]) for c in cells])
    for one, two in combinations(range(len(shape)), 2):
        if shape[one] == shape[two]:
            swap = {one: two, two: one}
            found.append([tuple(c[swap.get(k, k)] for k in range(len(shape))) for c in cells])
    places = {cell: place for place, cell in enumerate(cells)}
    return [[places[cell] for cell in each] for each in found]


def circuits(names: Sequence[str]) -> None:
    """Print the longest circuit, how many cuts of the cells were looked at, and CPU seconds.

    Then how often a circuit leaves some.
    """
    for name in names:
        shape = tuple(map(int, name.split("x")))
        started = time.process_time()
        basis = kernel(signatures(shape, [(i,) for i in range(len(shape))]))
        longest_of, cuts = longest_in_frames(basis, of_cells(shape))
        print(f"{name:<18} {longest_of:>8} {cuts:>12,} {time.process_time() - started:>9.1f}")
        for what, times, seconds in circuits_leave(shape):
            print(f"{name:<8} {what:<9} {times:>8} {'':>12} {seconds:>9.1f}")


def circuits_leave(shape: tuple[int, ...]) -> Iterator[tuple[str, int, float]]:
    """Yield how often a circuit leaves a class of so many, and a cell; and CPU seconds."""
    cells = list(product(*map(range, shape)))
    basis = kernel(signatures(shape, [(i,) for i in range(len(shape))]))
    for side in sorted(set(shape)):
        started = time.process_time()
        sets = [
            [place for place, cell in enumerate(cells) if cell[axis] == x]
            for axis, size in enumerate(shape)
            for x in range(size)
            if size == side
        ]
        times = most_left(basis, sets, of_cells(shape))
        yield f"one of {side}", times, time.process_time() - started
    started = time.process_time()
    times = most_left(basis, [[place] for place in range(len(cells))], of_cells(shape))
    yield "a cell", times, time.process_time() - started


def blocks(names: Sequence[str]) -> None:
    """Print whether the recorded bound holds, how many choices were made, and CPU seconds."""
    for name in names:
        shape = tuple(map(int, name.split("x")))
        basis = kernel(signatures(shape, list(combinations(range(len(shape)), len(shape) - 1))))
        every = Blocks(basis, of_cells(shape)), OneClass(basis, 0, of_cells(shape))
        for what, cuts, most in zip(("all", "one cell"), every, HEAVIEST[shape], strict=True):
            started = time.process_time()
            held = cuts.none_beyond(most)
            seconds = time.process_time() - started
            print(f"{name:<8} {what:<9} {most} {held} {cuts.nodes:>12,} {seconds:>9.1f}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", help="default: all")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for us")
    parser.add_argument(
        "--peer-limit", type=float, default=60.0, help="seconds a peer; 0: no peers"
    )
    parser.add_argument("--left", metavar="SIDES", help="how often classes and cells are left")
    parser.add_argument("--fitting", action="store_true", help="bounds by cycles that fit")
    parser.add_argument("--blocks", action="store_true", help="heaviest frames")
    parser.add_argument("--circuits", action="store_true", help="longest circuits")
    arguments = parser.parse_args()
    if arguments.circuits:
        circuits(arguments.families or ["3x4", "4x4"])
        return
    if arguments.blocks:
        blocks(arguments.families or ["3x3x3"])
        return
    if arguments.fitting:
        fitting(arguments.families or list(FITTING))
        return
    warm_up()
    if arguments.left:
        left(arguments.left, arguments.limit)
        return
    print(f"{'family':<18} rank    |D| {'longest':>12} {'nodes':>10} {'seconds':>9}", end=" ")
    print("    4ti2 Normaliz")
    for name in arguments.families or FAMILIES:
        effects = FAMILIES[name]
        head = f"{name:<18} {Instance.of(effects).rank:>4} {len(effects):>6}"
        print(head, ours(effects, arguments.limit), end=" ", flush=True)
        first = graver if name.startswith("add-remove") else fourti2
        for peer in (first, normaliz) if arguments.peer_limit > 0 else ():
            print(f"{peer(effects, arguments.peer_limit):>8}", end=" ", flush=True)
        print()


if __name__ == "__main__":
    main()
