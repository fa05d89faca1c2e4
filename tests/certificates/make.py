"""Writes the certificates of this folder: `python tests/certificates/make.py`.

valid/: one for each kind of proof and family. invalid/: each an attack, named after what it tries;
most take a valid certificate and change it the way somebody would who wants a smaller number to be
believed. malformed/: what is no certificate at all. The tests read the files, not this script.

What still stands is left as it is (`standing`); what is written anew is named, with the reason.
"""

from __future__ import annotations

import copy
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from math import prod
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from standing import read, why_renewed

from blowproof.models import (
    AttributeChange,
    Between,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Impossible,
    Integers,
    Labels,
    Literal,
    Marginal,
    NamedCount,
    PartitionBy,
    PartitionCells,
    Policy,
    Reading,
    Region,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.kernel import check
from blowproof.verifier.kernel.check import SCHEMA, world_of
from blowproof.verifier.kernel.document import Budget
from blowproof.verifier.kernel.proofs.branching import problem_of
from blowproof.verifier.kernel.world import Effects
from blowproof.verifier.portfolio.searches import by_ceiling
from blowproof.verifier.proofs.cases.search import prove
from blowproof.verifier.proofs.claim import claim_of, digests
from blowproof.verifier.proofs.graver import proofs_with
from blowproof.verifier.proofs.irreducible_parts import parted
from blowproof.verifier.proofs.write import certify_answer
from blowproof.verifier.theorems.beside import facts_beside
from blowproof.verifier.theorems.beside_bounds import bounds_beside
from blowproof.verifier.theorems.longest_irreducible import longest_of_points

HERE = Path(__file__).parent
Document = dict[str, Any]


def table(*sizes: int) -> Domain:
    """Attributes A, B, C, ... with unordered labels."""
    names = zip("ABCDEF", sizes, strict=False)
    return Domain({n: Labels([f"{n.lower()}{i}" for i in range(size)]) for n, size in names})


def margins(domain: Domain, *sets: str, **options: Any) -> Policy:
    """A policy that knows marginals, each named by its attributes' letters."""
    return Policy(domain=domain, known=tuple(Marginal(list(names)) for names in sets), **options)


LINE = Domain(x=Integers(0, 199))
LARGE = Domain(A=Labels(["a0", "a1"]), B=Labels(["b0", "b1"]), z=Integers(0, 999))
HALVES = (Marginal(["A"], answers=[9, 9]), Marginal(["B"], answers=[9, 9]))
SEVEN, EIGHT = (Count({"z": k}, at_least=1) for k in (7, 8))
EITHER = Clause([Literal(1, {"A": "a0"}), Literal(2, {"B": "b0"})])
VALID: dict[str, tuple[Policy, str, Reading]] = {
    "single-cumulative": (
        Policy(domain=Domain(x=Integers(0, 79)), secrets=Distance(threshold=20)),
        "cumulative(x)",
        "secret-moves",
    ),
    "single-ranges": (
        Policy(domain=Domain(x=Integers(0, 9)), secrets=Distance(threshold=3, strict=True)),
        "ranges(x)",
        "secret-moves",
    ),
    "cells-states-and-states-by-sex": (
        margins(table(3, 2, 2), "A", "AB"),
        "histogram",
        "published",
    ),
    "cells-a-table-beside-a-count": (margins(table(5, 2, 2), "A", "B"), "histogram", "published"),
    "cells-nested-totals-with-numbers": (
        Policy(
            domain=table(3, 2),
            known=(
                Count({"A": "a0"}, answer=2),
                Count({"A": ["a0", "a1"]}, answer=4),
            ),
            database=Database(size=6, answers="given"),
        ),
        "marginal(B)",
        "secret-moves",
    ),
    "exchanges-sums-beside-a-total": (
        Policy(domain=LINE, known=(Count({"x": Between(0, 99)}),)),
        "sum(x)",
        "add-remove",
    ),
    "exchanges-nobody-in-a-class": (
        Policy(
            domain=table(3, 4),
            known=(Marginal(["A"], answers=[2, 0, 1]),),
            database=Database(answers="given"),
        ),
        "marginal(B)",
        "add-remove",
    ),
    "exchanges-two-margins": (margins(table(3, 4), "A", "B"), "histogram", "add-remove"),
    "exchanges-a-bound-that-is-implied": (
        Policy(
            domain=Domain(A=Labels(["a0", "a1"]), x=Integers(0, 3)),
            known=(Marginal(["A"], answers=[5, 4]), Count({"A": "a0", "x": 0}, at_most=5)),
            database=Database(answers="given"),
        ),
        "sum(x)",
        "add-remove",
    ),
    "cycles-adults-only-by-a-count": (
        Policy(
            domain=Domain(A=Labels(["a0", "a1"]), x=Integers(0, 5)),
            known=(Marginal(["A"], answers=[2, 1]), Count({"x": Between(2, 5)}, answer=3)),
            database=Database(size=3),
        ),
        "cumulative(x)",
        "published",
    ),
    "limits-three-with-a-rare-disease": (
        Policy(
            domain=table(4, 2, 2),
            known=(Marginal(["A"], answers=[9] * 4), Marginal(["B"], answers=[3, 33])),
            database=Database(size=36),
            queries=(NamedCount("some", {"B": "b0", "C": "c0"}),),
        ),
        "count(some)",
        "published",
    ),
    "determined-a-total": (margins(table(3, 2), "A", "AB"), "marginal(B)", "published"),
    "secret-arc-age-by-ward": (
        Policy(
            domain=Domain(ward=Labels(["a", "b", "c"]), age=Integers(0, 29)),
            secrets=AttributeChange(),
            known=(Marginal(["ward"]),),
        ),
        "cumulative(age)",
        "published",
    ),
    "one-sided-women-with-a-degree": (
        margins(table(4, 2, 2), "A", "B", queries=(NamedCount("some", {"B": "b1", "C": "c1"}),)),
        "count(some)",
        "published",
    ),
    "margins-of-three-by-three": (margins(table(3, 3, 9), "A", "B"), "marginal(C)", "published"),
    "margins-of-which-few-leave-one-class": (
        margins(
            table(2, 2, 2, 2), "A", "B", "C", queries=(NamedCount("some", {"A": "a0", "D": "d0"}),)
        ),
        "count(some)",
        "published",
    ),
    "cycles-one-marginal": (margins(table(2, 3), "B"), "histogram", "published"),
    "cycles-ranges-on-10^12-values": (
        Policy(
            domain=Domain(x=Integers(0, 10**12)),
            known=tuple(Count({"x": Between(k * 10**9, k * 10**9 + 99)}) for k in range(1, 7)),
        ),
        "histogram",
        "published",
    ),
    "cycles-partition-with-a-distance": (
        Policy(
            domain=Domain(x=Integers(0, 3)),
            secrets=Distance(threshold=1),
            known=(Count({"x": Between(1, 2)}),),
        ),
        "histogram",
        "secret-moves",
    ),
    "irreducible-two-margins": (margins(table(2, 3), "A", "B"), "histogram", "published"),
    "irreducible-two-margins-and-a-free-attribute": (
        margins(table(2, 3, 2), "A", "B"),
        "histogram",
        "published",
    ),
    "irreducible-add-remove": (margins(table(3, 3), "A", "B"), "histogram", "add-remove"),
    "irreducible-structural-zero": (
        Policy(
            domain=table(2, 3),
            known=(Marginal(["A"]), Marginal(["B"]), Impossible({"A": "a0", "B": "b1"})),
        ),
        "histogram",
        "secret-moves",
    ),
    "irreducible-attribute-secrets": (
        Policy(domain=table(3, 2), secrets=AttributeChange(), known=(Marginal(["A"]),)),
        "histogram",
        "secret-moves",
    ),
    "irreducible-another-graph-read-as-published": (
        Policy(
            domain=Domain(x=Integers(0, 15)),
            secrets=Distance(threshold=2),
            known=(Count({"x": Between(4, 7)}), Count({"x": Between(6, 11)})),
        ),
        "histogram",
        "published",
    ),
    "irreducible-sums-at-corners": (
        Policy(
            domain=Domain(x=Integers(0, 99)),
            known=(Count({"x": Between(0, 60)}), Count({"x": Between(50, 80)})),
        ),
        "sum(x)",
        "published",
    ),
    "irreducible-given-n": (
        Policy(
            domain=table(2, 3),
            known=(Marginal(["A"], answers=[2, 1]), Marginal(["B"], answers=[1, 1, 1])),
        ),
        "histogram",
        "published",
    ),
    "irreducible-bounds": (
        Policy(domain=LARGE, known=(HALVES[0], SEVEN, EIGHT), database=Database(size=18)),
        "histogram",
        "published",
    ),
    "cycles-a-bound": (
        Policy(domain=LARGE, known=(HALVES[0], EIGHT), database=Database(size=18)),
        "histogram",
        "published",
    ),
    "cycles-a-clause-without-numbers": (
        Policy(
            domain=Domain(taken=Labels(["no", "yes"])),
            known=(Clause([Literal(1, {"taken": "yes"}), Literal(2, {"taken": "yes"})]),),
            database=Database(size=3),
        ),
        "histogram",
        "add-remove",
    ),
    "merged-a-clause-and-a-bound": (
        Policy(domain=LARGE, known=(*HALVES, SEVEN, EITHER), database=Database(size=18)),
        "histogram",
        "published",
    ),
    "merged-plain-moves": (
        Policy(
            domain=LARGE,
            secrets=AttributeChange(),
            known=(HALVES[0], EITHER),
            database=Database(size=18),
        ),
        "histogram",
        "published",
    ),
    "four-cells": (margins(table(2, 3), "A", "B"), "histogram", "markov"),
    "four-cells-marginal": (margins(table(2, 2, 2), "A"), "marginal(B)", "markov"),
    "every-database-clauses": (
        Policy(
            domain=Domain(taken=Labels(["no", "yes"])),
            known=tuple(
                Clause([Literal(i, {"taken": "yes"}), Literal(i + 1, {"taken": "no"})])
                for i in (1, 2)
            ),
            database=Database(size=3),
        ),
        "histogram",
        "published",
    ),
    "every-database-a-bound": (
        Policy(
            domain=Domain(x=Labels(["p", "q", "r"])),
            secrets=Edges([({"x": "p"}, {"x": "q"})]),
            known=(Count({"x": "q"}, at_most=1),),
            database=Database(size=2),
        ),
        "histogram",
        "published",
    ),
    "every-database-plain-moves": (
        Policy(
            domain=Domain(x=Integers(0, 3)),
            secrets=Distance(threshold=1),
            known=(Count({"x": Between(1, 2)}, answer=1),),
            database=Database(size=2),
        ),
        "histogram",
        "published",
    ),
    "zero": (Policy(domain=table(3, 2), secrets=PartitionBy(["A"])), "partition", "published"),
    "beside-a-table-by-its-margins": (
        margins(
            Domain(
                A=Labels([f"a{k}" for k in range(5)]),
                B=Labels(["F", "M"]),
                C=Labels(["c0", "c1"]),
            ),
            *("A", "B"),
        ),
        "marginal(A,B)",
        "published",
    ),
}
BRANCHING: dict[str, tuple[Policy, str, Reading]] = {
    "branching-plain-moves-under-scope-any": (
        Policy(
            domain=Domain(x=Integers(0, 3)),
            secrets=PartitionCells([Region({"x": [0, 2]}), Region({"x": [1, 3]})]),
            known=(Count({"x": [2, 3]}),),
        ),
        "histogram",
        "published",
    ),
    "branching-four-cells-and-bounds": (
        Policy(
            domain=Domain(x=Integers(0, 59)),
            known=(
                Count({"x": Between(10, 29)}, at_most=3),
                Count({"x": Between(20, 49)}, at_least=2),
            ),
            database=Database(size=6),
        ),
        "sum(x)",
        "markov",
    ),
    "branching-bounds": (
        Policy(
            domain=table(2, 3),
            known=(Marginal(["A"], answers=[6, 6]), Count({"B": "b0"}, at_most=3)),
            database=Database(size=12),
        ),
        "histogram",
        "published",
    ),
}
FILES = {  # what lies beside the policies of `WITH_FILES`
    "m.csv": "1 0 1/2\n0 3 -2\n",
    "c.csv": "0\n3/2\n",
    "w.csv": "1\n-2\n1/3\n",
    "people.csv": "x,y\n0,p\n0,q\n1,p\n2,p\n",
}
LITTLE = Domain(x=Integers(0, 2))
PEOPLE = Policy(
    domain=Domain(x=Integers(0, 2), y=Labels(["p", "q"])),
    known=(Marginal(["x"]),),
    database=Database(answers="given", data="people.csv"),
)
WITH_FILES: dict[str, tuple[Policy, str, Reading]] = {
    "cycles-a-matrix-from-a-file": (Policy(domain=LITTLE), "matrix(m.csv)", "published"),
    "cycles-clusters-from-a-file": (Policy(domain=LITTLE), "cluster-sums(c.csv)", "add-remove"),
    "every-database-weights-from-a-file": (
        Policy(domain=LITTLE, known=(Count({"x": 0}),)),
        "weighted-sum(x,w.csv)",
        "published",
    ),
    "cycles-counts-of-data": (PEOPLE, "histogram", "published"),
    "cycles-counts-of-data-without-size": (PEOPLE, "histogram", "add-remove"),
}
GRAVER: dict[str, tuple[tuple[int, ...], str]] = {  # all two-way margins; what the first facts name
    "graver-all-facts-first": ((2, 3, 3), ""),
    "graver-slices": ((2, 3, 4), "C"),
    "graver-slices-too-few-for-the-weights": ((2, 2, 3), "A"),
}


def resigned(document: Document) -> Document:
    """Put in the digests that belong to the document."""
    return {**document, "digests": digests(document)}


def changed(document: Document, *path: Any, to: Any) -> Document:
    """Return a copy with one place changed."""
    result = copy.deepcopy(document)
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to(place[path[-1]]) if callable(to) else to
    return result


def _cut(values: list[int]) -> list[int]:
    return values[:-1]


def attacks(valid: dict[str, Document]) -> dict[str, Document]:
    """Return the invalid certificates by name."""
    tree = valid["irreducible-two-margins-and-a-free-attribute"]
    other = valid["irreducible-add-remove"]
    plain = valid["cycles-one-marginal"]
    small = valid["every-database-plain-moves"]
    cells = valid["four-cells"]
    found = {
        "off-by-one-bound-below": changed(tree, "value", to=lambda v: v - 1),
        "off-by-one-bound-above": changed(tree, "value", to=lambda v: v + 1),
        "swapped-digest": changed(tree, "digests", to=plain["digests"]),
        "policy-changed-under-the-digest": changed(tree, "policy", "secrets", "kind", to="edges"),
        "swapped-reading": changed(tree, "reading", to="add-remove"),
        "swapped-reading-of-small-databases": changed(small, "reading", to="secret-moves"),
        "swapped-scope": changed(tree, "answers", to="given"),
        "swapped-scope-everywhere": resigned(
            changed(
                changed(tree, "answers", to="given"), "policy", "database", "answers", to="given"
            )
        ),
        "proof-for-another-problem": changed(tree, "proof", to=other["proof"]),
        "proof-of-another-kind": changed(tree, "proof", to={"kind": "cycles"}),
        "no-proof-needed-says-the-file": changed(tree, "proof", to={"kind": "single"}),
        "databases-that-cannot-be-listed": changed(tree, "proof", to={"kind": "every-database"}),
        "four-cells-for-another-reading": changed(cells, "reading", to="add-remove"),
        "fewer-facts-for-the-same-proof": resigned(
            changed(tree, "policy", "known", to=lambda facts: facts[:1])
        ),
        "a-smaller-query-with-the-same-value": resigned(
            changed(tree, "query", to={"kind": "marginal", "arguments": ["A"]})
        ),
    }
    found.update(_file_attacks(valid))
    found.update(_theorem_attacks(valid))
    found.update(_cell_attacks(valid))
    found.update(_between_attacks(valid))
    found.update(_length_attacks(valid))
    found["moves-counted-from-the-end"] = _counted_from_the_end()
    found["data-without-their-numbers"] = _data_without_numbers()
    found.update(_tree_attacks(tree))
    found.update(_witness_attacks(valid))
    found.update(_case_attacks(valid["branching-bounds"]))
    found.update(_refuted_attacks(valid["branching-plain-moves-under-scope-any"]))
    found.update(_piece_attacks(valid))
    found.update(_bound_attacks(valid))
    found.update(_sum_attacks(valid))
    found.update(_label_attacks(valid["beside-a-table-by-its-margins"]))
    return found


def _label_attacks(known: Document) -> dict[str, Document]:
    """What is true of a table that sees classes and labels alone, of one that sees more."""
    above = {**known, "witness": None, "at_least": 0}
    more = changed(above, "query", "arguments", to=["A", "C"])
    whole = changed(above, "query", to={"kind": "histogram", "arguments": []})
    return {
        "beside-a-table-with-more": resigned(more),
        "beside-a-histogram-with-more": resigned(whole),
        "beside-a-table-one-less": changed(above, "value", to=lambda v: v - 1),
    }


def _theorem_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    """Kinds by a theorem, where it does not hold, or says less."""
    cells = valid["cells-states-and-states-by-sex"]
    beside = valid["cells-a-table-beside-a-count"]
    one, table_, few, arc = (
        valid[name]
        for name in (
            "one-sided-women-with-a-degree",
            "margins-of-three-by-three",
            "margins-of-which-few-leave-one-class",
            "secret-arc-age-by-ward",
        )
    )
    small = valid["irreducible-two-margins"]["proof"]
    rounds = valid["exchanges-two-margins"]
    first, second = rounds["proof"]["factors"]
    every = [*first, *second]
    factors = {
        "twice": [first, first],
        "cut": [_cut(first), _cut(second)],
        "mixed": [every[::2], every[1::2]],
        "in-one": [every, []],
    }
    return {
        **{
            f"exchanges-factors-{name}": changed(rounds, "proof", "factors", to=other)
            for name, other in factors.items()
        },
        "exchanges-without-factors": changed(rounds, "proof", to={"kind": "exchanges"}),
        "exchanges-factors-one-less": changed(rounds, "value", to=lambda v: v - 1),
        "exchanges-factors-where-records-move": changed(rounds, "reading", to="published"),
        "exchanges-where-records-move": changed(cells, "proof", to={"kind": "exchanges"}),
        "exchanges-of-dependent-signatures": changed(
            valid["irreducible-add-remove"], "proof", to={"kind": "exchanges"}
        ),
        "determined-what-the-facts-leave-open": changed(
            {**cells, "value": 0, "witness": None}, "proof", to={"kind": "determined"}
        ),
        "secret-arc-where-everything-is-secret": changed(cells, "proof", to={"kind": "secret-arc"}),
        "secret-arc-beside-another-fact": changed(beside, "proof", to={"kind": "secret-arc"}),
        "secret-arc-one-less": changed(arc, "value", to=lambda v: v - 1),
        "one-sided-a-histogram": changed(
            beside, "proof", to={"kind": "one-sided", "base": beside["proof"]["base"]}
        ),
        "one-sided-every-fact-in-the-base": changed(one, "proof", "base", to=list(range(7))),
        "one-sided-no-base": changed(one, "proof", "base", to=[]),
        "margins-one-less": changed(table_, "proof", "longest", to=lambda v: v - 1),
        "margins-of-fewer-facts": changed(table_, "proof", "factors", to=_cut),
        "margins-in-one-factor": changed(
            table_, "proof", "factors", to=lambda all_: [[k for few in all_ for k in few]]
        ),
        "margins-left-less-often": changed(few, "proof", "left", to=[0, 6]),
        "margins-left-from-behind": changed(few, "proof", "left", to=[-1, 7]),
        "margins-of-another-table": changed(table_, "proof", "table", to=small),
        "margins-without-some-branches": changed(table_, "proof", "table", "nodes", to=_cut),
    }


def smaller() -> tuple[Policy, Answer]:
    """Return the policy of four cells beside a count, and its answer."""
    policy = margins(table(4, 2, 2), "A", "B")
    return policy, sensitivity(policy, "histogram", time_limit=20)


def bounds_of(valid: dict[str, Document]) -> dict[str, Document]:
    """Return certificates of bounds: the pair of a smaller answer, and the proof of a larger."""
    beside, name = valid["cells-a-table-beside-a-count"], "cells-a-pair-of-bounds"
    policy, answer = smaller()
    few = claimed(policy, "histogram", answer)
    pair = {**beside, "at_least": few["value"], "witness": few["witness"]}
    return {
        name: standing(name, pair, "cells") or pair,
        "cells-an-upper-bound": {**beside, "at_least": 0, "witness": None},
    }


def by_circuits(question: Question) -> Answer | None:
    """What circuits alone say, though blocks of classes say less (`frames_above`)."""
    answer = by_ceiling(question)
    most = longest_of_points(class_table(question.setting).effects, differences=True)
    return None if answer is None else replace(answer, upper=2 * most)


LENGTHS: dict[str, tuple[Policy, Reading, Callable[[Question], Answer | None]]] = {
    "circuits-bound-three-tables": (
        margins(table(3, 3, 2), "AB", "AC", "BC"),
        "published",
        by_circuits,
    ),
    "beside-bounds-of-two-counts": (
        margins(table(8, 2, 2, 2), "A", "B", "C"),
        "published",
        facts_beside,
    ),
    "beside-bounds-of-two-counts-in-wards": (
        margins(table(3, 3, 2, 2), "AB", "C", "D", secrets=PartitionBy(["A"])),
        "secret-moves",
        facts_beside,
    ),
    "beside-a-bound-with-two-ends": (
        Policy(
            domain=table(6, 2, 9),
            known=(
                Marginal(["A"], answers=[50] * 6),
                Count({"B": "b0"}, at_least=100, at_most=120),
            ),
            database=Database(size=300),
        ),
        "published",
        bounds_beside,
    ),
    "beside-a-bound-with-ends-far-apart": (
        Policy(
            domain=table(6, 2, 9),
            known=(
                Marginal(["A"], answers=[50] * 6),
                Count({"B": "b0"}, at_least=100, at_most=124),
            ),
            database=Database(size=300),
        ),
        "published",
        bounds_beside,
    ),
    "tables-bound-two-that-share-an-attribute": (
        margins(table(3, 3, 3, 2), "AB", "AC"),
        "published",
        by_ceiling,
    ),
}
"""What theorems bound by so many moves: what bounds it (the pairs of these are left out)."""


def lengths_of() -> dict[str, Document]:
    """Return certificates of bounds by the number of moves."""
    found = {}
    for name, (policy, reading, theorem) in LENGTHS.items():
        histogram = parse_query("histogram", policy)
        answer = theorem(Question(prepare(setting(policy), reading), histogram, reading))
        assert answer is not None
        answer = replace(answer, lower=0, witness=None)
        held = standing(name, claimed(policy, "histogram", answer), name.partition("-")[0])
        document = held or certify_answer(policy, histogram, answer)[1].document
        assert document is not None
        assert name.startswith(document["proof"]["kind"])
        found[name] = {**document, "tools": {}}
    return found


def _length_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    """So many moves, by an ellipsoid or labels that are none, or less than what they bound."""
    circuits, two, wards, loose, far, shared = (valid[name] for name in LENGTHS)
    shape, facts = circuits["proof"]["shape"], circuits["proof"]["facts"]
    flat = [[0] * len(shape)] + [[0, *row[1:]] for row in shape[1:]]
    lopsided = [[shape[0][0], shape[0][1] + 1, *shape[0][2:]], *shape[1:]]
    every = len(two["proof"]["base"]) + 4
    moves = {"circuits": circuits, "beside": two, "beside-in-wards": wards, "beside-bounds": loose}
    moves["tables"] = shared
    grids, (known,) = shared["proof"]["tables"], shared["proof"]["sums"]
    (times, *ends), *others = known["terms"]
    mixed = [[[grids[1][0][0], *grids[0][0][1:]], *grids[0][1:]],
             [[grids[0][0][0], *grids[1][0][1:]], *grids[1][1:]], *grids[2:]]  # fmt: skip
    return {
        **{f"tables-{name}": changed(shared, "proof", "tables", to=to) for name, to in {
            "without-one": grids[1:],
            "of-cells-that-are-exchanged": mixed,
            "with-one-twice": [*grids, grids[0]],
            "with-a-cell-from-the-end": [[[-1, *grids[0][0][1:]], *grids[0][1:]], *grids[1:]],
            "with-a-row-that-is-cut": [[grids[0][0][:2], *grids[0][1:]], *grids[1:]],
            "of-none": [],
        }.items()},
        **{f"tables-by-a-sum-{name}": changed(shared, "proof", "sums", to=[{**known, **to}])
           for name, to in {
            "of-less": {"terms": [[times - 1, *ends], *others]},
            "over-more": {"over": known["over"] + 1},
            "over-nothing": {"over": 0},
            "of-other-moves": {"terms": [[times, *ends[2:], *ends[-2:]], *others]},
            "without-a-term": {"terms": others},
            "with-a-factor-below-zero": {"terms": [*known["terms"], [-1, *ends]]},
            "of-another-table": {"columns": known["columns"] + 1},
        }.items()},
        "tables-by-no-sum": changed(shared, "proof", "sums", to=[]),
        "tables-where-records-come-and-go": changed(shared, "reading", to="add-remove"),
        **{f"{name}-one-less": changed(of, "value", to=lambda v: v - 1)
           for name, of in moves.items()},
        "circuits-of-a-flat-ellipsoid": changed(circuits, "proof", "shape", to=flat),
        "circuits-of-a-matrix-that-is-not-symmetric": changed(
            circuits, "proof", "shape", to=lopsided
        ),
        "circuits-of-no-ellipsoid": changed(
            circuits, "proof", "shape", to=[[-x for x in row] for row in shape]
        ),
        "circuits-of-fewer-facts": changed(
            {**circuits, "proof": {**circuits["proof"], "facts": facts[:-1]}},
            "proof", "shape", to=[row[:-1] for row in shape[:-1]],
        ),
        "circuits-of-a-fact-twice": changed(
            circuits, "proof", "facts", to=[facts[0], facts[0], *facts[2:]]
        ),
        "circuits-where-records-come-and-go": changed(circuits, "reading", to="add-remove"),
        "beside-without-a-label": changed(two, "proof", "labels", to=_cut),
        "beside-without-labels": changed(two, "proof", "labels", to=[]),
        "beside-a-label-twice": changed(two, "proof", "labels", to=lambda v: [v[0], v[0]]),
        "beside-no-such-label": changed(two, "proof", "labels", to=lambda v: [*v, 99]),
        "beside-a-label-from-the-end": changed(two, "proof", "labels", to=lambda v: [-1, *v]),
        "beside-a-label-in-the-base": changed(
            two, "proof", "labels", to=[*two["proof"]["labels"], two["proof"]["base"][0]]
        ),
        "beside-every-fact-in-the-base": changed(two, "proof", "base", to=list(range(every))),
        "beside-no-base": changed(two, "proof", "base", to=[]),
        "beside-a-form-of-a-line": changed(two, "proof", "forms", to=[[[1, 1, 0]]]),
        "beside-a-form-of-both-signs": changed(two, "proof", "forms", to=[[[1, 1, 0], [-1, 0, 1]]]),
        "beside-a-form-of-nothing": changed(two, "proof", "forms", to=[[[1, 0, 0], [1, 0, 0]]]),
        "beside-wards-that-are-not-secret": resigned(
            changed(wards, "policy", "secrets", to={"kind": "full"})
        ),
        "beside-edges-where-all-may-move": changed(wards, "reading", to="published"),
        "beside-a-bound-that-is-no-label": changed(loose, "proof", "labels", to=[]),
        "beside-a-bound-with-ends-not-far-apart": resigned(
            changed(
                changed(far, "policy", "known", 1, to=lambda fact: {**fact, "at_most": 123}),
                *("proof", "labels"),
                to=[],
            )
        ),
        "beside-a-bound-in-the-base": changed(
            loose, "proof", "base", to=[*loose["proof"]["base"], *loose["proof"]["labels"]]
        ),
    }  # fmt: skip


def _between_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    """Bounds that do not hold, or that are none."""
    both, above = valid["cells-a-pair-of-bounds"], valid["cells-an-upper-bound"]
    whole = valid["cells-a-table-beside-a-count"]
    return {
        "between-bounds-more-than-the-pair": changed(both, "at_least", to=lambda v: v + 1),
        "between-bounds-less-than-the-pair": changed(both, "at_least", to=lambda v: v - 1),
        "between-bounds-below-the-proof": changed(both, "value", to=lambda v: v - 1),
        "between-bounds-above-the-proof-and-its-pair": {**whole, "at_least": whole["value"] + 1},
        "between-bounds-that-meet": {**whole, "at_least": whole["value"]},
        "between-bounds-crossed": {**both, "at_least": both["value"], "value": both["at_least"]},
        "between-bounds-from-below-zero": changed(above, "at_least", to=-1),
        "between-bounds-without-a-pair": changed(above, "at_least", to=1),
        "between-bounds-without-a-proof-for-less": changed(above, "value", to=lambda v: v - 1),
    }


def _cell_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    """Kind `cells`: other bases, other readings, and the value of a smaller pair."""
    beside = valid["cells-a-table-beside-a-count"]
    nested = valid["cells-states-and-states-by-sex"]
    both = valid["cells-a-pair-of-bounds"]
    fewer, answer = smaller()
    few = certify_answer(fewer, parse_query("histogram", fewer), answer)[1].document
    assert few is not None
    less = {**beside, "value": both["at_least"], "witness": both["witness"]}
    facts = len(beside["proof"]["base"]) + 2
    return {
        "cells-the-value-of-a-smaller-pair": less,
        "cells-the-smaller-pair-and-its-base": {**less, "proof": few["proof"]},
        "cells-every-fact-in-the-base": changed(beside, "proof", "base", to=list(range(facts))),
        "cells-no-base": changed(beside, "proof", "base", to=[]),
        "cells-no-such-fact": changed(nested, "proof", "base", to=lambda base: [*base, 99]),
        "cells-a-fact-from-the-end": changed(nested, "proof", "base", to=lambda base: [-1, *base]),
        "cells-where-records-come-and-go": changed(nested, "reading", to="add-remove"),
    }


def _file_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    """What a certificate holds of files and data is what its digests say."""
    matrix, data = valid["cycles-a-matrix-from-a-file"], valid["cycles-counts-of-data"]
    unknown = valid["cycles-counts-of-data-without-size"]
    zeros = changed(matrix, "query", "data", to=[[0, 0, 0]])
    fewer = {"answers": [4, 0, 0], "size": 4}
    return {
        "numbers-of-another-file": {**zeros, "value": 0, "witness": None},
        "digest-of-another-file": changed(matrix, "digests", "file", to="0" * 64),
        "digest-of-a-file-where-none-is": changed(data, "digests", to=lambda d: {**d, "file": ""}),
        "digests-without-that-of-the-file": changed(
            matrix, "digests", to=lambda d: {key: d[key] for key in ("policy", "query")}
        ),
        "query-changed-under-the-digest": changed(
            data, "query", to={"kind": "marginal", "arguments": ["x"]}
        ),
        "counts-changed-under-the-digest": changed(data, "counted", to=fewer),
        "counts-that-the-witness-does-not-have": resigned(changed(data, "counted", to=fewer)),
        "size-of-the-data-left-out": resigned(
            changed(data, "counted", to=lambda c: {"answers": c["answers"]})
        ),
        "size-of-the-data-where-it-is-no-fact": resigned(
            changed(unknown, "counted", to=lambda c: {**c, "size": 4})
        ),
        "matrix-for-another-reading": changed(matrix, "reading", to="add-remove"),
    }


def pieces(name: str, *, attack: str = "") -> Document:
    """Return a certificate of kind `graver`; or, as an attack, one with a proof with symmetries."""
    sizes, attribute = GRAVER[name]
    policy = margins(table(*sizes), "AB", "AC", "BC")
    answer = sensitivity(policy, "histogram", reading="add-remove", time_limit=100)
    claim = claimed(policy, "histogram", answer)
    held = standing_attack(attack, claim) if attack else standing(name, claim, "graver")
    if held is not None:
        return held
    moves = Effects(world_of(claim, Budget())[0])
    named = [attribute in letters for letters in ("AB", "AC", "BC") for _ in _cells(sizes, letters)]
    first = [place for place, is_named in enumerate(named) if is_named]
    proofs = proofs_with(moves, first, int(answer.lower), None)
    documents = ({**claim, "proof": proof, "tools": {}} for proof in proofs)
    return next(each for each in documents if attack or check(each).accepted)


def _cells(sizes: tuple[int, ...], letters: str) -> range:
    return range(prod(sizes["ABC".index(letter)] for letter in letters))


def _claim(policy: Document, **claim: Any) -> Document:
    """Return a certificate about the histogram, under scope given, with the digest put in."""
    query = {"kind": "histogram", "arguments": []}
    start = {"schema": SCHEMA, "digests": {}, "policy": policy, "query": query, "norm": "l1"}
    return resigned({**start, "answers": "given", **claim})


def _counted_from_the_end() -> Document:
    """S is 6, by a cycle of three moves. Move -1 is the last one to Python; its number of moves,
    however, would be the variable before the first of the moves: the records of the last cell.
    """
    policy = {
        "database": {"answers": "given", "size": 6},
        "domain": {"a": ["p", "q", "r"], "b": ["0", "1"]},
        "known": [{"marginal": ["a"], "answers": [2, 2, 2]}],
        "secrets": {"kind": "full"},
    }
    nodes = [["cut", 0], ["leaf", [[12, 1], [22, 1]]], ["leaf", [[-1, 1], [23, 2]]]]
    rest = [[["p", "0"], 1], [["q", "0"], 2], [["r", "1"], 2]]
    return _claim(
        policy,
        reading="published",
        value=2,
        witness={"before": [["p", "0"]], "after": [["p", "1"]], "unchanged": rest},
        proof={"kind": "branching", "groups": [[-1]], "cuts": [[1, [[0, 1]], []]], "nodes": nodes},
    )


def _data_without_numbers() -> Document:
    """S is 2 with n, which the data tell; without it, one record more is a neighbour."""
    policy = {
        "database": {"answers": "given", "data": "people.csv"},
        "domain": {"a": ["p", "q"]},
        "secrets": {"kind": "full"},
    }
    return _claim(
        policy,
        reading="add-remove",
        value=1,
        witness={"before": [], "after": [["q"]]},
        proof={"kind": "cycles"},
    )


def _spelled(proof: Document) -> Document:
    """Return the same proof with a step for each node, in order."""
    steps = [[*proof["steps"][place]] for place in proof["nodes"]]
    return {**proof, "steps": steps, "nodes": list(range(len(steps)))}


def _tree_attacks(tree: Document) -> dict[str, Document]:
    proof = _spelled(tree["proof"])
    tree = {**tree, "proof": proof}
    truncated = copy.deepcopy(tree)
    padded = copy.deepcopy(tree)
    empty = copy.deepcopy(tree)
    truncated["proof"]["nodes"] = _cut(proof["nodes"])
    padded["proof"]["nodes"] = [*proof["nodes"], proof["nodes"][-1]]
    empty["proof"]["nodes"] = []
    first = proof["symmetries"][0]
    swapped = [*first]
    swapped[0], swapped[1] = swapped[1], swapped[0]
    turned = [[d, -choice, *marks] for d, choice, *marks in proof["steps"]]
    return {
        "truncated-proof": truncated,
        "proof-with-a-node-too-many": padded,
        "proof-without-nodes": empty,
        "symmetry-that-is-no-permutation": changed(
            tree, "proof", "symmetries", 0, to=[0] * len(first)
        ),
        "symmetry-that-is-none": changed(tree, "proof", "symmetries", 0, to=swapped),
        "functional-of-wrong-sign": changed(tree, "proof", "steps", to=turned),
        "functional-of-zeros": changed(
            tree, "proof", "functionals", 0, to=lambda row: [0] * len(row)
        ),
        "functional-that-is-not-there": changed(tree, "proof", "steps", 0, 1, to=10**6),
        "branch-that-is-not-open": changed(tree, "proof", "nodes", 1, to=proof["nodes"][0]),
        "marks-where-nothing-is-finished-alike": changed(
            tree, "proof", "steps", to=lambda steps: [[d, c, 1, 1] for d, c, _, _ in steps]
        ),
        "box-of-another-rank": changed(tree, "proof", "box", to=lambda box: [*box, 4]),
        "step-that-is-not-there": changed(tree, "proof", "nodes", 0, to=10**6),
        "step-counted-from-the-end": changed(tree, "proof", "nodes", 0, to=-len(proof["steps"])),
        "fewer-effects": changed(tree, "proof", "effects", to=lambda count: count - 1),
    }


def _case_attacks(cases: Document) -> dict[str, Document]:
    proof = cases["proof"]
    cut = next(k for k, (_, part, _) in enumerate(proof["cuts"]) if len(part) > 1)
    leaf = max(k for k, node in enumerate(proof["nodes"]) if node[0] == "leaf")
    inner = next(k for k, node in enumerate(proof["nodes"]) if node[0] == "cut")
    group = proof["groups"]
    return {
        "cut-not-justified": changed(cases, "proof", "cuts", cut, 1, 0, 1, to=lambda k: k + 1),
        "cut-without-a-part": changed(cases, "proof", "cuts", cut, 1, to=[]),
        "cut-of-moves-that-differ": changed(cases, "proof", "groups", 0, to=group[0] + group[1]),
        "cut-that-keeps-every-secret": changed(
            cases, "proof", "cuts", cut, 1, 0, 1, to=lambda k: -k
        ),
        "leaf-of-the-wrong-sign": changed(
            cases, "proof", "nodes", leaf, 1, to=lambda rows: [[k, -times] for k, times in rows]
        ),
        "leaf-of-no-rows": changed(cases, "proof", "nodes", leaf, 1, to=[]),
        "leaf-instead-of-cases": changed(
            cases, "proof", "nodes", to=lambda nodes: [*nodes[:inner], nodes[leaf]]
        ),
        "case-left-out": changed(cases, "proof", "nodes", to=_cut),
    }


def _refuted_attacks(cases: Document) -> dict[str, Document]:
    proof = cases["proof"]
    second = next(k for k, (base, _, _) in enumerate(proof["cuts"]) if base == 2)
    moved = next(k for k, (_, _, plain) in enumerate(proof["cuts"]) if plain)
    return {
        "cut-with-plain-moves-that-are-too-many": changed(
            cases, "proof", "cuts", moved, 2, 0, 1, to=lambda k: k + 1
        ),
        "cut-that-counts-all-moves-beside-plain-ones": changed(
            cases, "proof", "cuts", moved, 0, to=3
        ),
        "cut-that-counts-all-moves-without-a-secret-one": changed(
            cases, "proof", "cuts", second, 0, to=3
        ),
        "cut-in-reading-4": _cut_in_reading_4(),
    }


def _cut_in_reading_4() -> Document:
    """S is 4 in reading 4, by four records more, and 1 in reading 3: a part of them is a pair."""
    policy = {
        "database": {"answers": "any"},
        "domain": {"a": ["p", "q", "r", "s"]},
        "known": [],
        "secrets": {"kind": "full"},
    }
    claim = _claim(
        policy,
        reading="add-remove",
        value=1,
        witness={"before": [], "after": [["q"]]},
        proof={"kind": "branching"},
    )
    claim = resigned({**claim, "answers": "any"})
    attack = {**claim, "reading": "markov"}
    held = standing_attack("cut-in-reading-4", attack)
    found = prove(problem_of(world_of(claim, Budget())[0], 1))
    return held or {**attack, "proof": {"kind": "branching", **(found.proof or {})}}


def _piece_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    whole, slices = valid["graver-all-facts-first"], valid["graver-slices"]
    few = valid["graver-slices-too-few-for-the-weights"]
    short = changed(slices, "proof", "rest", "nodes", to=_cut)
    long = changed(slices, "proof", "rest", "nodes", to=lambda nodes: [*nodes, nodes[-1]])
    cells = [[a, b, c] for a in ("a0", "a1") for b in ("b0", "b1") for c in ("c0", "c1")]
    odd = [cell for cell in cells if sum(int(label[1]) for label in cell) % 2]
    square = {"before": odd, "after": [cell for cell in cells if cell not in odd], "unchanged": []}
    nothing = copy.deepcopy(whole["proof"]["rest"])
    symmetric = "graver-with-symmetries-where-slices-are-few"
    return {
        "graver-of-a-smaller-change": changed(changed(whole, "witness", to=square), "value", to=8),
        "graver-of-no-change": changed(changed(whole, "witness", to=None), "value", to=0),
        "graver-without-a-search": changed(slices, "proof", "rest", to=nothing),
        "graver-with-a-search-cut-short": short,
        "graver-with-a-node-too-many": long,
        "graver-with-fewer-facts-first": changed(slices, "proof", "first", to=_cut),
        "graver-with-a-fact-that-is-not-there": changed(
            slices, "proof", "first", to=lambda places: [*places, -1]
        ),
        "graver-with-the-facts-of-other-slices": changed(
            slices, "proof", "first", to=few["proof"]["first"]
        ),
        symmetric: pieces("graver-slices-too-few-for-the-weights", attack=symmetric),
    }


def _bound_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    """One bound with one end may be left out; the others have slack."""
    two, one = valid["irreducible-bounds"], valid["cycles-a-bound"]
    clause = valid["cycles-a-clause-without-numbers"]
    swap = {
        "before": [["a0", "b0", 0], ["a1", "b0", 0]],
        "after": [["a1", "b0", 1], ["a0", "b0", 1]],
    }
    rest = [[["a0", "b0", 7], 1], [["a0", "b0", 8], 7], [["a1", "b0", 0], 8]]
    less = {"value": one["value"], "proof": one["proof"], "witness": {**swap, "unchanged": rest}}
    none = {"before": [["yes"]], "after": [["no"]], "unchanged": [[["no"], 2]]}
    return {
        "two-bounds-left-out": {**two, **less},
        "a-bound-left-out-that-has-two-ends": resigned(
            changed(one, "policy", "known", 1, to=lambda fact: {**fact, "at_most": 9})
        ),
        "bounds-left-out-that-have-two-ends": resigned(
            changed(
                two,
                *("policy", "known"),
                to=lambda facts: [facts[0], *({**fact, "at_most": 9} for fact in facts[1:])],
            )
        ),
        "bounds-in-the-reading-of-four-cells": changed(two, "reading", to="markov"),
        "witness-that-nobody-can-number": changed(clause, "witness", to=none),
    }


def _sum_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    """The records of clauses, merged: their sum occurs once, and every sum is searched."""
    both, plain = valid["merged-a-clause-and-a-bound"], valid["merged-plain-moves"]
    bound = valid["irreducible-bounds"]
    rest = both["proof"]["rest"]
    return {
        "merged-without-the-sums": changed(both, "proof", "joint", to=[]),
        "merged-with-a-sum-left-out": changed(both, "proof", "joint", to=_cut),
        "merged-with-a-sum-too-many": changed(
            both, "proof", "joint", to=lambda all_of: [*all_of, all_of[-1]]
        ),
        "merged-sums-in-another-order": changed(
            both, "proof", "joint", to=lambda all_of: all_of[::-1]
        ),
        "merged-where-records-have-no-numbers": changed(
            changed(both, "reading", to="add-remove"),
            "witness",
            to=lambda w: {key: w[key] for key in ("before", "after", "unchanged")},
        ),
        "merged-sum-that-occurs-twice": changed(
            both, "proof", "joint", 0, "nodes", 1, to=both["proof"]["joint"][0]["nodes"][0]
        ),
        "merged-search-that-begins-with-a-move": changed(
            both, "proof", "joint", 0, "nodes", to=lambda nodes: nodes[1:]
        ),
        "merged-with-a-symmetry-of-the-moves": changed(
            both,
            *("proof", "joint", 0, "symmetries"),
            to=[[*rest["symmetries"][0], rest["effects"]]],
        ),
        "merged-where-no-clause-is": changed(
            bound, "proof", to={"kind": "merged", "rest": bound["proof"], "joint": []}
        ),
        "merged-records-that-stay": changed(both, "proof", to={**rest, "kind": "irreducible"}),
        "plain-moves-as-if-they-were-secret": changed(
            plain, "proof", to={**plain["proof"]["rest"], "kind": "irreducible"}
        ),
        "merged-with-a-bound-of-two-ends": resigned(
            changed(both, "policy", "known", 2, to=lambda fact: {**fact, "at_most": 9})
        ),
    }


def _witness_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    tree = valid["irreducible-two-margins-and-a-free-attribute"]
    plain = valid["cycles-one-marginal"]
    bound = valid["every-database-a-bound"]
    clauses = valid["every-database-clauses"]
    moves = plain["witness"]
    twice = {
        "before": moves["before"] + moves["before"],
        "after": moves["after"] + moves["after"],
        "unchanged": [],
    }
    zero = valid["irreducible-structural-zero"]
    impossible = [["a0", "b1"], 1]
    attribute = valid["irreducible-attribute-secrets"]
    swap = {"before": [["a0", "b0"], ["a1", "b1"]], "after": [["a1", "b1"], ["a0", "b0"]]}
    return {
        "wrong-witness": changed(tree, "witness", "after", 0, to=["a0", "b0", "c0"]),
        "witness-that-changes-less": changed(
            tree, "witness", to={"before": [["a0", "b0", "c0"]], "after": [["a0", "b0", "c1"]]}
        ),
        "no-witness": changed(tree, "witness", to=None),
        "non-minimal-pair": changed(
            changed(plain, "witness", to=twice), "value", to=lambda v: 2 * v
        ),
        "witness-with-an-impossible-value": changed(zero, "witness", "unchanged", to=[impossible]),
        "witness-that-moves-plainly": changed(
            changed(attribute, "witness", to={**swap, "unchanged": []}), "value", to=0
        ),
        "witness-outside-a-bound": changed(bound, "witness", "unchanged", to=[[["q"], 1]]),
        "witness-of-another-size": changed(bound, "witness", "unchanged", to=[[["r"], 2]]),
        "witness-without-record-numbers": changed(
            clauses, "witness", to=lambda w: {k: v for k, v in w.items() if k != "records"}
        ),
        "witness-that-breaks-a-clause": changed(clauses, "witness", "database", 2, to=["yes"]),
        "witness-that-begins-outside-a-clause": changed(
            clauses,
            "witness",
            to={
                **{"before": [["yes"]], "after": [["no"]], "unchanged": [[["no"], 2]]},
                **{"records": [2], "database": [["no"], ["yes"], ["no"]]},
            },
        ),
        "witness-that-ends-outside-a-clause": changed(
            clauses,
            "witness",
            to={
                **{"before": [["no"]], "after": [["yes"]], "unchanged": [[["no"], 2]]},
                **{"records": [2], "database": [["no"], ["no"], ["no"]]},
            },
        ),
        "witness-of-nothing": changed(
            changed(plain, "witness", to={"before": [], "after": [], "unchanged": []}),
            "value",
            to=0,
        ),
    }


MALFORMED = {
    "empty": "",
    "not-json": "S = 4",
    "a-list": "[]",
    "a-float": '{"schema": "blowproof/certificate/5", "value": 4.0}',
    "not-a-number": '{"value": NaN}',
    "a-key-twice": '{"value": 4, "value": 5}',
    "another-schema": '{"schema": "blowproof/sensitivity/1"}',
    "nothing-but-the-schema": '{"schema": "blowproof/certificate/5"}',
    "deep-nesting": "[" * 100_000,
    "deep-policy": '{"policy":' * 5000 + "1" + "}" * 5000,
    "a-number-of-ten-thousand-digits": '{"value": ' + "9" * 10_000 + "}",
}


def broken(valid: dict[str, Document]) -> dict[str, str]:
    """Return malformed certificates that begin from a valid one."""
    tree = valid["irreducible-two-margins"]
    found = {
        "unknown-kind": changed(tree, "proof", "kind", to="trust-me"),
        "unknown-reading": changed(tree, "reading", to="all"),
        "unknown-norm": changed(tree, "norm", to="l2"),
        "no-norm": {key: tree[key] for key in tree if key != "norm"},
        "format-4": changed(tree, "schema", to="blowproof/certificate/4"),
        "query-without-arguments": resigned(changed(tree, "query", to={"kind": "histogram"})),
        "labels-of-two-types": resigned(changed(tree, "policy", "domain", "A", to=["a0", "a1", 1])),
        "unknown-key": {**tree, "accepted": True},
        "value-of-the-wrong-type": changed(tree, "value", to="eight"),
        "a-bound-of-the-wrong-type": {**tree, "at_least": "two"},
        "value-is-true": changed(tree, "value", to=True),
        "fraction-not-in-lowest-terms": changed(tree, "value", to="16/2"),
        "nodes-are-text": changed(tree, "proof", "nodes", to="0123"),
        "a-node-is-true": changed(tree, "proof", "nodes", 0, to=True),
        "value-outside-the-domain": changed(tree, "witness", "before", 0, to=["a9", "b0"]),
        "policy-without-domain": resigned(changed(tree, "policy", to={"secrets": {}})),
        "attribute-of-no-size": resigned(
            changed(tree, "policy", "domain", "A", to={"min": 1, "max": 0})
        ),
        "range-backwards": resigned(
            changed(tree, "policy", "known", to=[{"count": {"A": {"min": "a1", "max": "a0"}}}])
        ),
    }
    return {name: json.dumps(document) for name, document in found.items()}


def standing(name: str, claim: Document, kind: str = "") -> Document | None:
    """Return the certificate of the folder if it stands; else say why it is made anew."""
    held = read(HERE / "valid" / f"{name}.json")
    why = why_renewed(held, claim, kind)
    if why:
        print(f"valid/{name} is renewed: {why}")
    return None if why else held


def standing_attack(name: str, claim: Document) -> Document | None:
    """Return the attack of the folder if it is about the claim, and still one."""
    held = read(HERE / "invalid" / f"{name}.json")
    return None if why_renewed(held, claim, accepted=False) else held


def claimed(policy: Policy, query: str, answer: Answer) -> Document:
    """Return what a certificate of an answer claims, with the pair of the answer."""
    found = prepare(setting(policy, answer.answers), answer.reading)
    return claim_of(policy, parse_query(query, policy), answer, found)


def made(name: str, policy: Policy, query: str, reading: Reading) -> Document:
    """Return the certificate that stands, or a new one."""
    kind = next((k for k in KINDS if name.startswith(k)), "")
    answer = sensitivity(policy, query, reading=reading, time_limit=20)
    held = standing(name, claimed(policy, query, answer), kind)
    if held is not None:
        return held
    answer, found = certify_answer(policy, parse_query(query, policy), answer, time_limit=20)
    if found.document is None:
        sys.exit(f"{name}: no certificate: {found.reason}")
    document = {**found.document, "tools": {}}
    if kind in ("every-database", "cycles"):  # proofs without a choice, where others come first
        document["proof"] = {"kind": kind}
    elif kind == "irreducible" != found.kind:  # where a shorter proof comes first
        moves = Effects(world_of(found.document, Budget())[0])
        document["proof"] = next(parted(moves, moves.claimed(answer.upper or 0), 20.0))
    elif kind == "branching" != found.kind:
        problem = problem_of(world_of(found.document, Budget())[0], answer.lower)
        cases = prove(problem, deadline=time.monotonic() + 20).proof
        document["proof"] = {"kind": kind, **(cases or {})}
    told = check(document)
    if not told.accepted or (kind and told.kind != kind):
        sys.exit(f"{name}: the proof is of kind {told.kind}: {told.reason}")
    return document


def main() -> None:
    """Write every file that is new, and every one that no longer stands."""
    beside = Path(mkdtemp())
    for name, text in FILES.items():
        (beside / name).write_text(text)
    with_files = {
        name: (replace(policy, folder=beside), query, reading)
        for name, (policy, query, reading) in WITH_FILES.items()
    }
    asked = {**VALID, **BRANCHING, **with_files}
    valid = {name: made(name, *question) for name, question in asked.items()}
    valid.update({name: pieces(name) for name in GRAVER})
    valid.update(bounds_of(valid))
    valid.update(lengths_of())
    for folder, files in (
        ("valid", {name: json.dumps(document) for name, document in valid.items()}),
        ("invalid", {name: json.dumps(document) for name, document in attacks(valid).items()}),
        ("malformed", {**MALFORMED, **broken(valid)}),
    ):
        (HERE / folder).mkdir(exist_ok=True)
        for old in (HERE / folder).glob("*.json"):
            if old.stem not in files:
                print(f"{folder}/{old.stem} is gone: nothing makes it")
                old.unlink()
        for name, text in files.items():
            file = HERE / folder / f"{name}.json"
            if not file.exists() or file.read_text(encoding="ascii") != text + "\n":
                print(f"{folder}/{name} is written")
                file.write_text(text + "\n", encoding="ascii")


KINDS = (
    *(
        "irreducible",
        "cycles",
        "cells",
        "single",
        "four-cells",
        "every-database",
        "branching",
        "merged",
        "exchanges",
        "determined",
        "secret-arc",
        "one-sided",
        "margins",
        "limits",
        "beside",
    ),
)

if __name__ == "__main__":
    main()
