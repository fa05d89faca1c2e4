"""Thirty policies that are too hard for every engine: does each question end at its time limit?

python benchmarks/nasty.py [--limit 10] [--only NAME ...]

Many overlapping boxes in a domain of 10^25 values, hundreds of ranges on a line of 10^9, tables of
up to four attributes with margins of every order, dense secret graphs, hundreds of clauses. Each is
asked once, with a limit. Prints the bounds, how long the question took, how much of that was after
its limit, in real seconds and in those of the processor (on a machine that does other work these
are what the question itself cost), and whether the answer says that more time will not help. Exits
1 where more than LATE processor seconds were spent after the limit.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# as the command line does: more threads use up processors that they have no work for
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from blowproof.models import (
    AttributeChange,
    Between,
    BlowproofError,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Integers,
    Labels,
    Literal,
    Marginal,
    Policy,
    Reading,
)
from blowproof.verifier.ask import sensitivity

LATE = 2.0
FAR = 10**12
NEAR_ON_LINE = Distance(metric="l1", threshold=1000)


@dataclass(frozen=True)
class Nasty:
    """A question about a policy that nobody answers."""

    name: str
    policy: Policy
    query: str = "histogram"
    reading: Reading = "published"


def labels(count: int) -> Labels:
    """Return an attribute of so many values."""
    return Labels([f"v{number}" for number in range(count)])


def margins(*names: str) -> tuple[Marginal, ...]:
    """Return margins over attributes of one letter each."""
    return tuple(Marginal(list(name)) for name in names)


def boxes(rng: random.Random, count: int) -> tuple[Count, ...]:
    """Return counts over boxes in the plane."""
    ends = [[sorted(rng.sample(range(FAR), 2)) for _ in "ab"] for _ in range(count)]
    return tuple(Count({"a": Between(*one), "b": Between(*two)}) for one, two in ends)


def ranges(rng: random.Random, count: int) -> tuple[Count, ...]:
    """Return counts over ranges of a line of 10^9 values."""
    return tuple(Count({"x": Between(*sorted(rng.sample(range(10**9), 2)))}) for _ in range(count))


def clauses(rng: random.Random, records: int, count: int) -> tuple[Clause, ...]:
    """Return clauses of three records each."""
    return tuple(
        Clause([Literal(rng.randint(1, records), {"a": f"v{rng.randrange(9)}"}) for _ in range(3)])
        for _ in range(count)
    )


def areas(rng: random.Random) -> Iterator[Nasty]:
    """Yield boxes in the plane and ranges on a line."""
    plane = Domain(a=Integers(0, FAR), b=Integers(0, FAR), c=labels(50))
    yield Nasty("boxes 6", Policy(domain=plane, known=boxes(rng, 6)))
    yield Nasty("boxes 12", Policy(domain=plane, known=boxes(rng, 12)))
    yield Nasty("boxes 25", Policy(domain=plane, known=boxes(rng, 25)), "sum(a,b)")
    yield Nasty("boxes 60", Policy(domain=plane, known=boxes(rng, 60)))
    yield Nasty("boxes add", Policy(domain=plane, known=boxes(rng, 12)), "sum(a)", "add-remove")
    yield Nasty("boxes cells", Policy(domain=plane, known=boxes(rng, 20)), "sum(a,b)", "markov")
    line = Domain(x=Integers(0, 10**9))
    yield Nasty("ranges 30", Policy(domain=line, known=ranges(rng, 30)), "ranges(x)")
    yield Nasty(
        "ranges near",
        Policy(domain=line, known=ranges(rng, 30), secrets=NEAR_ON_LINE),
        "cumulative(x)",
    )
    yield Nasty("ranges 200", Policy(domain=line, known=ranges(rng, 200)))
    yield Nasty(
        "ranges steps",
        Policy(domain=line, known=ranges(rng, 200), secrets=NEAR_ON_LINE),
        "sum(x)",
        "secret-moves",
    )
    yield Nasty("ranges 1000", Policy(domain=line, known=ranges(rng, 1000)), "cumulative(x)")
    most = tuple(Count(fact.where, at_most=7) for fact in boxes(rng, 10))
    database = Database(size=1000, answers="given")
    yield Nasty("boxes most", Policy(domain=plane, known=most, database=database), "sum(a)")


def tables(rng: random.Random) -> Iterator[Nasty]:
    """Yield tables with margins, bounds and clauses."""
    four = Domain({name: labels(5) for name in "abcd"})
    yield Nasty("5^4 one", Policy(domain=four, known=margins("a", "b", "c", "d")))
    yield Nasty("5^4 two", Policy(domain=four, known=margins("ab", "bc", "cd", "da")))
    yield Nasty("5^4 three", Policy(domain=four, known=margins("abc", "bcd", "abd")), "marginal(c)")
    part = AttributeChange(changes=1)
    known = margins("ab", "bc")
    yield Nasty("5^4 part", Policy(domain=four, known=known, secrets=part), "marginal(d)")
    three = Domain({name: labels(9) for name in "abc"})
    circle = Policy(domain=three, known=margins("ab", "bc", "ca"), secrets=part)
    yield Nasty("9^3 circle", circle, "histogram", "secret-moves")
    tens = tuple(Marginal([name], answers=[10] * 9) for name in "abc")
    yield Nasty("9^3 given", Policy(domain=three, known=tens, database=Database(size=90)))
    odds = Policy(domain=three, known=margins("a", "b", "c"), secrets=part)
    yield Nasty("9^3 odds", odds, "histogram", "pufferfish")
    named = Policy(domain=three, known=clauses(rng, 30, 40), database=Database(size=30))
    yield Nasty("clauses 40", named)
    many = Policy(domain=three, known=clauses(rng, 100, 60), database=Database(size=100))
    yield Nasty("clauses 60", many, "marginal(b)")
    fives = (Marginal(["b"], answers=[5] * 9), *clauses(rng, 45, 30))
    yield Nasty("clauses beside", Policy(domain=three, known=fives, database=Database(size=45)))
    ends = [Count({"a": f"v{i}"}, at_most=5 + i) for i in range(9)]
    ends += [Count({"b": f"v{i}", "c": f"v{i}"}, at_least=1) for i in range(9)]
    yield Nasty("bounds 18", Policy(domain=three, known=tuple(ends), database=Database(size=60)))


def graphs(rng: random.Random) -> Iterator[Nasty]:
    """Yield dense secret graphs, remainders, and wide domains."""
    short = Domain(x=Integers(0, 63))
    pairs = [({"x": i}, {"x": j}) for i in range(64) for j in range(i) if rng.random() < 1 / 2]
    three = tuple(Count({"x": Between(*ends)}) for ends in ((0, 20), (10, 40), (30, 60)))
    dense = Policy(domain=short, known=three, secrets=Edges(pairs))
    yield Nasty("edges", dense, "ranges(x)")
    yield Nasty("edges alone", dense, "histogram", "secret-moves")
    left_over = [Count({"x": list(range(r, 2001, k))}) for k in (7, 11) for r in range(k)]
    remainders = Policy(domain=Domain(x=Integers(0, 2000)), known=tuple(left_over))
    yield Nasty("remainders", remainders, "cumulative(x)")
    square = Domain(x=Integers(0, 300), y=Integers(0, 300))
    near = Distance(metric="l2", threshold=40)
    for count, query, reading in (
        (20, "sum(x,y)", "published"),
        (12, "cumulative(x)", "secret-moves"),
    ):
        tiles = [
            Count({"x": Between(10 * i, 10 * i + 25), "y": Between(7 * i, 7 * i + 40)})
            for i in range(count)
        ]
        policy = Policy(domain=square, known=tuple(tiles), secrets=near)
        yield Nasty(f"tiles {count}", policy, query, reading)  # type: ignore[arg-type]
    wide = Domain(a=labels(3000), b=labels(3000))
    half = Count({"b": [f"v{i}" for i in range(0, 3000, 2)]})
    yield Nasty("wide", Policy(domain=wide, known=(Marginal(["a"]), half)), "marginal(b)")
    bits = Domain({f"q{i}": Labels(["0", "1"]) for i in range(40)})
    ones = tuple(Count({f"q{i}": "1"}) for i in range(40))
    yield Nasty("bits", Policy(domain=bits, known=ones), "marginal(q0,q1,q2)")


def nasty() -> list[Nasty]:
    """Return all of them, the same each time."""
    rng = random.Random(7)
    return [*areas(rng), *tables(rng), *graphs(rng)]


def asked(question: Nasty, limit: float) -> tuple[float, str]:
    """Return the processor seconds after the limit, and the row of the table."""
    at_limit: list[float] = []
    alarm = threading.Timer(limit, lambda: at_limit.append(time.process_time()))
    alarm.daemon = True
    began, used = time.monotonic(), time.process_time()
    alarm.start()
    try:
        found = sensitivity(
            question.policy, question.query, reading=question.reading, time_limit=limit
        )
        told = f"{_short(found.lower)} | {_short(found.upper)} | {'no' if found.final else ''}"
    except BlowproofError as refusal:
        told = f"{str(refusal)[:60]} | |"
    alarm.cancel()
    took, ended = time.monotonic() - began, time.process_time()
    after = ended - at_limit[0] if at_limit else 0.0
    row = f"| {question.name} | {question.query} | {question.reading} | {told} "
    return after, f"{row}| {took:.1f} | {ended - used:.1f} | {after:.2f} |"


def _short(value: object) -> str:
    digits = str(value)
    return digits if len(digits) <= 12 else f"10^{len(digits.partition('/')[0]) - 1}"


def main(arguments: Iterable[str] | None = None) -> int:
    """Ask all, print the table, and return whether one was late."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=10)
    parser.add_argument("--only", action="append", default=[])
    options = parser.parse_args(None if arguments is None else list(arguments))
    heads = "policy|query|reading|lower|upper|more time helps|seconds|CPU|CPU after the limit"
    print(f"| {' | '.join(heads.split('|'))} |\n|{' --- |' * 9}")
    late = []
    for question in nasty():
        if not options.only or question.name in options.only:
            after, row = asked(question, options.limit)
            print(row, flush=True)
            late += [question.name] if after > LATE else []
    print(f"\nlate: {', '.join(late) or 'none'}")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
