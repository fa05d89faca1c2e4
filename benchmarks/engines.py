"""How far the engines reach: families of policies, each beside what one would otherwise run.

python benchmarks/engines.py [--limit 10] [--peer-limit 10] [family ...]

Families: ranges, grid, attributes, given, facts. Each row is one question under a limit; `peer` is
Normaliz's Hilbert basis of the same effects (engine hilbert), or brute force, under its own limit.
The tables of marginals, beside 4ti2 and Normaliz, are in `irreducible.py`.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from blowproof.models import (
    AttributeChange,
    Between,
    BlowproofError,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Full,
    Impossible,
    Integers,
    Known,
    Labels,
    Literal,
    Marginal,
    PartitionBy,
    Policy,
    Reading,
    Steps,
    Sum,
    show,
)
from blowproof.verifier.ask import Engine, sensitivity
from blowproof.verifier.asked.answer import Answer

Row = tuple[str, Policy, Reading, Engine]


def ranges() -> Iterator[Row]:
    """Full secrets, overlapping ranges on one axis, |T| from 10^3 to 10^12."""
    for count, powers in ((4, (3, 6, 9, 12)), (5, (6,)), (6, (6,)), (7, (6,)), (20, (3, 12))):
        for power in powers:
            rng, size = random.Random(count), 10**power
            known = []
            for _ in range(count):
                low, high = sorted(rng.sample(range(1000), 2))
                known.append(
                    Count({"x": Between(low * size // 1000, (high + 1) * size // 1000 - 1)})
                )
            policy = Policy(domain=Domain(x=Integers(0, size - 1)), known=tuple(known))
            yield f"{count} ranges, |T| = 10^{power}", policy, "published", "hilbert"


def grid() -> Iterator[Row]:
    """Distance secrets on a 1000 x 1000 grid with rectangles, disjoint and overlapping."""
    domain = Domain(x=Integers(1, 1000), y=Integers(1, 1000))
    for overlapping in (False, True):
        for count in (5, 10, 20, 40, 60):
            known = tuple(rectangles(random.Random(count), count, overlapping=overlapping))
            policy = Policy(domain=domain, known=known, secrets=Distance(metric="l1", threshold=20))
            kind = "overlapping" if overlapping else "disjoint"
            for reading in ("secret-moves", "published"):
                yield f"{count} {kind} rectangles", policy, reading, "hilbert"


def rectangles(rng: random.Random, count: int, *, overlapping: bool) -> Iterator[Count]:
    """Random rectangles of 20..100; disjoint ones by rejection."""
    placed: list[tuple[int, int, int, int]] = []
    while len(placed) < count:
        width, height = rng.randint(20, 100), rng.randint(20, 100)
        left, top = rng.randint(1, 1000 - width), rng.randint(1, 1000 - height)
        box = (left, left + width, top, top + height)
        apart = all(box[1] < x or y < box[0] or box[3] < z or w < box[2] for x, y, z, w in placed)
        if overlapping or apart:
            placed.append(box)
            yield Count({"x": Between(box[0], box[1]), "y": Between(box[2], box[3])})


def attributes() -> Iterator[Row]:
    """Attribute secrets on six ternary attributes with several marginals."""
    domain = Domain({name: Labels(["0", "1", "2"]) for name in "abcdef"})
    for sets in (["a"], ["a", "b"], ["ab", "c"], ["ab", "bc"], ["ab", "cd", "ef"]):
        known = tuple(Marginal(list(names)) for names in sets)
        policy = Policy(domain=domain, known=known, secrets=AttributeChange())
        for reading in ("secret-moves", "published"):
            yield f"marginals {', '.join(sets)}", policy, reading, "hilbert"


def given() -> Iterator[Row]:
    """Scope given: two margins of 2 x 3 x 2 with n records."""
    domain = Domain(a=Labels(["0", "1"]), b=Labels(["0", "1", "2"]), c=Labels(["x", "y"]))
    for power in range(2, 7):
        n = 10**power
        known = (
            Marginal(["a"], answers=[n // 2, n - n // 2]),
            Marginal(["b"], answers=[n // 3, n // 3, n - 2 * (n // 3)]),
        )
        for secrets in (Full(), AttributeChange()):
            policy = Policy(domain=domain, known=known, secrets=secrets, database=Database(size=n))
            yield f"n = 10^{power}, {secrets.kind}", policy, "published", "brute"


def facts() -> Iterator[Row]:
    """Scope given, n = 40: the contract's own example, with its bound, its clause, both or none."""
    domain = Domain(
        sex=Labels(["F", "M"]),
        ward=Labels(["a", "b", "c"], ordered=True),
        age=Integers(0, 115),
        temp=Steps(35, 42, "1/2"),
    )
    equal = (
        Marginal(["sex", "ward"], answers=[8, 7, 5, 12, 8, 0]),
        Count({"age": Between(18, 65), "sex": "F", "ward": ["a", "b"]}, answer=12),
        Sum([(1, {"sex": "F"}), (-1, {"sex": "M"})], equals=0),
        Impossible({"sex": "M", "ward": "c"}),
    )
    bound = Count([{"age": Between(None, 9)}, {"age": Between(90, None)}], at_least=3)
    clause = Clause([Literal(1, {"sex": "F"}), Literal(2, {"ward": "a"}, inside=False)])
    cases: list[tuple[str, tuple[Known, ...]]] = [
        ("equalities", ()),
        ("with the bound", (bound,)),
        ("with the clause", (clause,)),
        ("with both", (bound, clause)),
    ]
    near = Distance(metric="l1", threshold=5, attributes=["age"])
    readings: tuple[Reading, ...] = ("published", "add-remove")
    for name, more in cases:
        policy = Policy(domain=domain, known=(*equal, *more), database=Database(size=40))
        for reading in readings:
            yield f"{name}, full secrets", policy, reading, "brute"
        for secrets in (AttributeChange(), near, PartitionBy(["sex"])):
            other = replace(policy, secrets=secrets)
            yield f"{name}, {secrets.kind} secrets", other, "published", "brute"


FAMILIES: dict[str, Callable[[], Iterator[Row]]] = {
    "ranges": ranges,
    "grid": grid,
    "attributes": attributes,
    "given": given,
    "facts": facts,
}


def timed(policy: Policy, reading: Reading, engine: Engine, limit: float) -> tuple[str, float]:
    """Return S (or bounds, or why not) and the seconds."""
    start = time.perf_counter()
    try:
        found = sensitivity(policy, reading=reading, engine=engine, time_limit=limit)
        text = told(found)
    except BlowproofError as error:
        text = str(error).split("\n", maxsplit=1)[0][:40]
    return text, time.perf_counter() - start


def told(found: Answer) -> str:
    """Return an answer as the table shows it; a long upper bound as the next power of ten."""
    if found.status != "bounds":
        return show(found.lower)
    if found.upper is None:
        return f"{show(found.lower)}.. (open)"
    upper = show(found.upper)
    return f"{show(found.lower)}..{upper if len(upper) < 12 else f'10^{len(upper)}'}"


def main() -> None:
    """Print one table per family."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--limit", type=float, default=10)
    parser.add_argument("--peer-limit", type=float, default=10)
    options = parser.parse_args()
    for family in options.families:
        print(f"\n{FAMILIES[family].__doc__}\n")
        print("| instance | reading | S | seconds | peer | S | seconds |\n|" + " --- |" * 7)
        for name, policy, reading, peer in FAMILIES[family]():
            text, seconds = timed(policy, reading, "auto", options.limit)
            cells = [name, reading, text, f"{seconds:.2f}"]
            if options.peer_limit > 0:
                theirs, took = timed(policy, reading, peer, options.peer_limit)
                cells += [peer, theirs, f"{took:.2f}"]
            print(f"| {' | '.join(cells)} |", flush=True)
        mine, theirs = (
            resource.getrusage(whose).ru_maxrss // 1024
            for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print(f"\nPeak memory so far: {mine} MB; {theirs} MB in another process.")


if __name__ == "__main__":
    main()
