"""What a certificate costs: solving, writing the proof, checking it, and its size.

python benchmarks/certificates.py [--limit 60] [name ...]

Families: tables of one-way margins and the like (as in `irreducible.py`, with a free attribute, so
that S is twice the longest irreducible), the whole questions of `engines.py`, and queries with long
rows. Times are seconds
of CPU of this process, because other work shares the machine: `solve` is the answer, `write` the
search for the proof, `kernel` the check that everything rests on.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

from engines import FAMILIES as WHOLE

from blowproof.models import (
    Between,
    BlowproofError,
    Count,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    Reading,
    parse_query,
    show,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.engines.irreducibles import warm_up
from blowproof.verifier.kernel import check_text
from blowproof.verifier.proofs.write import certify_answer

Row = tuple[str, Policy, Reading, str]

TABLES: tuple[tuple[tuple[int, ...], tuple[str, ...], Reading], ...] = (
    ((2, 3), ("A", "B"), "published"),
    ((2, 2, 2), ("A", "B", "C"), "published"),
    ((2, 4), ("A", "B"), "published"),
    ((3, 3), ("A", "B"), "published"),
    ((2, 2, 2), ("AB", "BC"), "published"),
    ((2, 2, 2), ("AB", "BC", "AC"), "published"),
    ((2, 5), ("A", "B"), "published"),
    ((2, 2, 3), ("A", "B", "C"), "published"),
    ((2, 2, 3), ("AB", "BC", "AC"), "add-remove"),
    ((2, 3, 3), ("AB", "BC", "AC"), "add-remove"),
    ((3, 3, 3), ("AB", "BC", "AC"), "add-remove"),
    ((3, 3, 4), ("AB", "BC", "AC"), "add-remove"),
    ((2, 2, 2, 3), ("AB", "AC", "AD", "BC", "BD", "CD"), "add-remove"),
    ((6, 6), ("A", "B"), "add-remove"),
    ((2, 2, 2, 2), ("A", "B", "C", "D"), "published"),
    ((2, 6), ("A", "B"), "published"),
    ((3, 4), ("A", "B"), "published"),
)


def tables() -> Iterator[Row]:
    """Full secrets, marginals of a table with one attribute more."""
    for sizes, sets, reading in TABLES:
        shape = dict(zip("ABCDE", sizes, strict=False))
        if reading != "add-remove":
            shape["Z"] = 2
        domain = Domain({n: Labels([f"{n}{k}" for k in range(s)]) for n, s in shape.items()})
        known = tuple(Marginal(list(names)) for names in sets)
        name = "x".join(map(str, sizes)) + " " + ",".join(sets)
        yield name, Policy(domain=domain, known=known), reading, "histogram"


def whole() -> Iterator[Row]:
    """The questions of `engines.py`."""
    for family, rows in WHOLE.items():
        for name, policy, reading, _ in rows():
            yield f"{family}: {name}", policy, reading, "histogram"


def rows() -> Iterator[Row]:
    """Queries with as many outputs as values, or pairs of values; two ranges that overlap."""
    readings: tuple[Reading, ...] = ("published", "secret-moves", "add-remove")
    for query, size in (("cumulative(x)", 100), ("cumulative(x)", 1000), ("ranges(x)", 60)):
        ends = ((size // 5, size // 2), (size // 3, 2 * size // 3))
        known = tuple(Count({"x": Between(*pair)}) for pair in ends)
        for reading in readings:
            policy = Policy(domain=Domain(x=Integers(0, size - 1)), known=known)
            yield f"{query}, {size} values", policy, reading, query


def row(name: str, policy: Policy, reading: Reading, query: str, limit: float) -> str:
    """Return a line of the table."""
    start = time.process_time()
    try:
        answer = sensitivity(policy, query, reading=reading, time_limit=limit)
    except BlowproofError as error:
        return f"| {name} | {reading} | {str(error).splitlines()[0][:40]} | | | | | |"
    solved = time.process_time() - start
    start = time.process_time()
    asked = parse_query(query, policy)
    answer, found = certify_answer(policy, asked, answer, time_limit=limit)
    wrote = time.process_time() - start
    if found.document is None:
        return (
            f"| {name} | {reading} | {told(answer)} | {solved:.2f} | - | | | {found.reason[:70]} |"
        )
    text = found.text
    start = time.process_time()
    assert check_text(text).accepted
    checked = time.process_time() - start
    write = max(0.0, wrote - checked)  # the writer runs the kernel too
    cells = [name, reading, told(answer), f"{solved:.2f}", f"{write:.2f}", f"{checked:.3f}"]
    return f"| {' | '.join([*cells, f'{len(text) / 1000:.1f}', found.kind])} |"


def told(answer: Answer) -> str:
    """Return S, or its bounds."""
    if answer.status != "bounds":
        return show(answer.lower)
    return f"{show(answer.lower)}..{'?' if answer.upper is None else show(answer.upper)}"[:20]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; default: everything")
    parser.add_argument("--limit", type=float, default=60.0)
    options = parser.parse_args()
    warm_up()
    print("| question | reading | S | solve | write | kernel | kB | kind |\n|" + " --- |" * 8)
    for questions in (tables, whole, rows):
        for name, *question in questions():
            if not options.names or any(part in name for part in options.names):
                print(row(name, *question, options.limit), flush=True)


if __name__ == "__main__":
    main()
