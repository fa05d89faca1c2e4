"""T1 to T6: closed values with proofs, each held against certificates that the kernel checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from blowproof.models import (
    Between,
    Count,
    Distance,
    Domain,
    Exact,
    Full,
    Integers,
    Known,
    Policy,
)
from blowproof.models.policy.readings import Reading
from blowproof.verifier.claims.cuboids.section_3_neighbours import cuboid_tables
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import (
    Asked,
    Claim,
    Family,
    Formula,
    Instance,
    Part,
    Relation,
)
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.measures import Proven, Sensitivity

__all__ = ["CLAIMS"]


def proven(
    name: str,
    where: Family,
    claimed: Formula,
    relation: Relation = "=",
    reading: Reading = "published",
) -> Part:
    """Return a part whose every S is proved by a certificate."""
    return Part(
        name=name,
        family=where,
        claimed=claimed,
        measure=Proven(reading),
        relation=relation,
        reading=reading,
        answers="any",
        kernel=True,
    )


# --- T1: independent signatures ------------------------------------------------------------------


def _cells(sizes: Sequence[int], *, free: bool) -> Policy:
    """Return a line cut into cells of these sizes, all counts known; `free`: a binary attribute."""
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    known: tuple[Known, ...] = tuple(
        Count({"a": Between(end - size + 1, end)}) for end, size in zip(ends, sizes, strict=True)
    )
    attributes = {"a": Integers(1, sum(sizes))} | ({"b": Integers(0, 1)} if free else {})
    return Policy(domain=Domain(attributes), known=known)


def _nested(size: int, depth: int) -> Policy:
    """Return a line on which the ranges 1..1, 1..2, ... up to `depth` are known."""
    known = tuple(Count({"a": Between(1, end)}) for end in range(1, depth + 1))
    return Policy(domain=Domain(a=Integers(1, size), b=Integers(0, 1)), known=known)


def _independent(most: int) -> Iterator[Instance]:
    for many in range(1, most + 1):
        for sizes in product((1, 2), repeat=many):
            yield Instance(
                shape=f"{many} cells",
                policy=_cells(sizes, free=True),
                parameters={"cells": many},
            )
        for depth in range(1, many):
            yield Instance(
                shape=f"{depth} nested ranges",
                policy=_nested(many, depth),
                parameters={"cells": depth + 1 if depth < many else depth},
            )


CELLS = family(
    "lines of 1 to 5 cells of one or two values, all counted, and nested ranges; a binary "
    "attribute that no fact mentions",
    lambda: _independent(3),
    lambda: _independent(5),
)


def _all_classes(instance: Instance) -> Exact | None:
    return 2 * instance.whole("cells") if "cells" in instance.parameters else None


T1 = Claim(
    id="ours/t1",
    source="verifier/theorems/simple_cycles",
    statement="Full secrets, affinely independent signatures, N classes of two values or more: as "
    "many as N records change at once, and S(histogram) = 2 N.",
    read_as="Any answers, equality counts; partitions into cells and nested totals as examples.",
    status="theorem",
    parts=(proven("S(histogram)", CELLS, _all_classes),),
    proof="Irreducible multisets are simple cycles on the classes.",
    proof_in="verifier/theorems/simple_cycles",
)

# --- T2: an attribute that no fact mentions ------------------------------------------------------


def _free_sums(most: int) -> Iterator[Instance]:
    for many in range(1, most + 1):
        for sizes in product((1, 2), repeat=many):
            for width in (1, 3):
                policy = _cells(sizes, free=False)
                low = policy.domain.attributes
                wider = Domain({**dict(low), "b": Integers(0, width)})
                yield Instance(
                    shape=f"{many} cells",
                    policy=Policy(domain=wider, known=policy.known),
                    query=Asked("sum(b)"),
                    parameters={"cells": many, "width": width},
                )


def _longest_times_width(instance: Instance) -> Exact:
    return instance.whole("cells") * instance.whole("width")


T2 = Claim(
    id="ours/t2",
    source="verifier/theorems/values/free_change",
    statement="Full secrets, a query on attributes that no fact mentions: S is the length of the "
    "longest irreducible multiset times the largest change that one move makes.",
    read_as="Any answers, equality counts; sums of an attribute of 2 or 4 values, lengths by T1.",
    status="theorem",
    parts=(
        proven(
            "S(sum of the free attribute)",
            family(
                "lines of 1 to 4 cells of one or two values; a free attribute 0..1 or 0..3",
                lambda: _free_sums(2),
                lambda: _free_sums(4),
            ),
            _longest_times_width,
        ),
    ),
    proof="All moves may make the same change at once; and no query changes by more than that for "
    "each move.",
    proof_in="verifier/theorems/values/free_change",
)

# --- T3: cells and one more fact -----------------------------------------------------------------


def _tables_of_two(most: int) -> Iterator[Instance]:
    for columns in range(1, most + 1):
        domain = Domain(a=Integers(1, columns), b=Integers(0, 1), c=Integers(0, 1))
        yield Instance(
            shape=f"2 x {columns}",
            policy=some.with_marginals(domain, Full(), (["a"], ["b"])),
            parameters={"columns": columns},
        )


def _met(instance: Instance) -> Exact | None:
    columns = instance.whole("columns")
    return 2 * ((columns + 1) ** 2 // 2) if columns > 1 else None


T3 = Claim(
    id="ours/t3",
    source="verifier/theorems/two_cycles",
    statement="Full secrets, both margins of 2 x c known, classes of two values or more: floor((c "
    "+ 1)^2 / 2) records change at once, and no partition with one more count has more.",
    read_as="Any answers; the equality for 2 x c, whose upper half is the bound for any N cells "
    "and one more count of w = 1.",
    status="theorem",
    parts=(
        proven(
            "S(histogram) of 2 x c, with a free binary attribute",
            family("c = 1 to 3", lambda: _tables_of_two(2), lambda: _tables_of_two(3)),
            _met,
        ),
    ),
    proof="Cut the circulation into cycles with the least sum of squared labels: those of either "
    "sign meet their common cells in one order, which bounds b |A| + a |B| by (N + 1)^2/2, and a "
    "block argument bounds how many there are. Two cycles of neighbouring lengths meet it.",
    identities=(
        Identity(
            "c = 2m: m and m + 1 arcs, m + 1 and m times",
            "m*(m + 1) + (m + 1)*m",
            "((2*m + 1)**2 - 1)/2",
            whole="m",
        ),
        Identity(
            "c = 2m - 1: m arcs once, and m times all 2m - 1",
            "m + m*(2*m - 1)",
            "(2*m)**2/2",
            whole="m",
        ),
    ),
    proof_in="verifier/theorems/two_cycles",
)

# --- T4: rows that are added lower nothing -------------------------------------------------------


def _larger(most: int) -> Iterator[Instance]:
    for rows in (2, 3):
        for columns in range(2, most + 1):
            domain = Domain(a=Integers(1, columns), b=Integers(1, rows))
            yield Instance(
                shape=f"{rows} x {columns}",
                policy=some.with_marginals(domain, Full(), (["a"], ["b"])),
                parameters={"columns": columns},
            )


T4 = Claim(
    id="ours/t4",
    source="verifier/theorems/two_cycles",
    statement="Full secrets, both margins of r x c known: S(histogram) is at least that of 2 x c, "
    "4 for c = 2, 8 for c = 3.",
    read_as="Any answers; a pair of a part of the table is a pair of the table.",
    status="theorem",
    parts=(
        Part(
            name="S(histogram) of r x c",
            family=family("2 x 2, 2 x 3, 3 x 2, 3 x 3", lambda: _larger(2), lambda: _larger(3)),
            claimed=lambda item: {2: 4, 3: 8}[item.whole("columns")],
            measure=Sensitivity("published"),
            relation=">=",
            reading="published",
            answers="any",
        ),
    ),
    proof="An irreducible multiset over some of the values is one over all of them.",
    proof_in="verifier/theorems/two_cycles",
)

# --- T5: add-remove, two marginals that share attributes -----------------------------------------


def _two_marginals(most: int) -> Iterator[Instance]:
    for item in cuboid_tables(most, (2, 3), (2,), each=3):
        names = [set(getattr(fact, "attributes", ())) for fact in item.the_policy.known]
        if not names[0] <= names[1] and not names[1] <= names[0]:
            yield item


def _blocks(instance: Instance) -> Exact | None:
    """Return 2 min(r, c), where each value of what is shared leaves a block of r x c cells."""
    policy = instance.the_policy
    first, second = (set(getattr(fact, "attributes", ())) for fact in policy.known)
    sizes = {name: attribute.size for name, attribute in policy.domain.attributes}

    def cells(names: set[str]) -> int:
        found = 1
        for name in names:
            found *= sizes[name]
        return found

    smaller = min(cells(first - second), cells(second - first))
    outside = cells(set(sizes) - first - second)
    return 2 * smaller if smaller > 1 else 2 if outside > 1 else 0


T5 = Claim(
    id="ours/t5",
    source="verifier/theorems/exchanges",
    statement="Add-remove, two marginals that share attributes: S(histogram) = 2 min(r, c) over "
    "blocks of r x c cells.",
    read_as="Any answers; where the smaller side has one cell: 2 if some attribute is in neither "
    "marginal, else 0.",
    status="theorem",
    parts=(
        proven(
            "S(histogram)",
            family(
                "tables of 2 or 3 attributes with up to 9 values, two marginals, none in the other",
                lambda: _two_marginals(4),
                lambda: _two_marginals(9),
            ),
            _blocks,
            reading="add-remove",
        ),
    ),
    proof="The matrix falls into blocks, each the incidence matrix of a complete bipartite graph, "
    "which is totally unimodular; its circuits are the simple cycles.",
    proof_in="verifier/theorems/exchanges",
)

# --- T6: no secret pair changes a known count ----------------------------------------------------


def _idle(most: int) -> Iterator[Instance]:
    for size in range(2, most + 1):
        for threshold in range(1, size):
            for query, change in (("histogram", 2), ("sum(age)", threshold)):
                domain = Domain(age=Integers(1, size), sex=Integers(0, 1))
                policy = Policy(
                    domain=domain,
                    secrets=Distance(threshold=threshold, attributes=["age"]),
                    known=(Count({"sex": 0}), Count({"sex": 1})),
                )
                yield Instance(
                    shape=f"{size} ages",
                    policy=policy,
                    query=Asked(query),
                    parameters={"change": change},
                )


IDLE = family(
    "distance secrets on 2 to 6 ages, the sexes counted; every threshold",
    lambda: _idle(3),
    lambda: _idle(6),
)

T6 = Claim(
    id="ours/t6",
    source="verifier/theorems/alone",
    statement="If no secret pair changes a known count, neighbours differ in one secret move, and "
    "S is the largest change along one secret pair.",
    read_as="Readings 1 and 2, any answers, equality counts.",
    status="theorem",
    parts=tuple(
        proven("S", IDLE, lambda item: item.whole("change"), reading=reading)
        for reading in ("published", "secret-moves")
    ),
    proof="One secret move alone keeps all counts, so it is a D3 for any larger set of moves.",
    proof_in="verifier/theorems/alone",
)

CLAIMS = (T1, T2, T3, T4, T5, T6)
