"""Writes the certificates of this folder: `python tests/certificates/make.py`.

valid/: one for each kind of proof and family. invalid/: each an attack, named after what it tries;
most take a valid certificate and change it the way somebody would who wants a smaller number to be
believed. malformed/: what is no certificate at all. The tests read the files, not this script.
"""

from __future__ import annotations

import copy
import json
import sys
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

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
    PartitionBy,
    Policy,
    Reading,
)
from blowproof.verifier.certificates.graver import proofs_with
from blowproof.verifier.kernel import check
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget
from blowproof.verifier.kernel.world import Effects
from blowproof.verifier.questions import certified

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
VALID: dict[str, tuple[Policy, str, Reading]] = {
    "single-cumulative": (
        Policy(domain=LINE, secrets=Distance(threshold=50)),
        "cumulative(x)",
        "secret-moves",
    ),
    "single-ranges": (
        Policy(domain=Domain(x=Integers(0, 9)), secrets=Distance(threshold=3, strict=True)),
        "ranges(x)",
        "secret-moves",
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
}
BRANCHING: dict[str, tuple[Policy, str, Reading]] = {
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
GRAVER: dict[str, tuple[tuple[int, ...], str]] = {  # all two-way margins; what the first facts name
    "graver-all-facts-first": ((2, 3, 3), ""),
    "graver-slices": ((2, 3, 4), "C"),
    "graver-slices-too-few-for-the-weights": ((2, 2, 3), "A"),
}


def resigned(document: Document) -> Document:
    """Put in the digest that belongs to the policy."""
    text = json.dumps(document["policy"], separators=(",", ":"))
    return {**document, "digest": sha256(text.encode()).hexdigest()}


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
        "swapped-digest": changed(tree, "digest", to=plain["digest"]),
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
        "a-smaller-query-with-the-same-value": changed(
            tree, "query", to={"kind": "marginal", "arguments": ["A"]}
        ),
    }
    found["moves-counted-from-the-end"] = _counted_from_the_end()
    found["data-without-their-numbers"] = _data_without_numbers()
    found.update(_tree_attacks(tree))
    found.update(_witness_attacks(valid))
    found.update(_case_attacks(valid["branching-bounds"]))
    found.update(_piece_attacks(valid))
    return found


def pieces(name: str) -> tuple[Document, Document]:
    """Return a certificate of kind `graver`, and one with a proof with symmetries."""
    sizes, attribute = GRAVER[name]
    policy = margins(table(*sizes), "AB", "AC", "BC")
    answer, found = certified(policy, "histogram", reading="add-remove", time_limit=100)
    if found.document is None:
        sys.exit(f"{name}: no certificate: {found.reason}")
    moves = Effects(world_of(found.document, Budget())[0])
    named = [attribute in letters for letters in ("AB", "AC", "BC") for _ in _cells(sizes, letters)]
    first = [place for place, is_named in enumerate(named) if is_named]
    proofs = [*proofs_with(moves, first, int(answer.lower), None)]
    documents = [{**found.document, "proof": proof, "tools": {}} for proof in proofs]
    accepted = [document for document in documents if check(document).accepted]
    return accepted[0], documents[0]


def _cells(sizes: tuple[int, ...], letters: str) -> range:
    return range(prod(sizes["ABC".index(letter)] for letter in letters))


def _claim(policy: Document, **claim: Any) -> Document:
    """Return a certificate about the histogram, under scope given, with the digest put in."""
    query = {"kind": "histogram", "arguments": []}
    start = {"schema": "blowproof/certificate/3", "digest": "", "policy": policy, "query": query}
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


def _tree_attacks(tree: Document) -> dict[str, Document]:
    proof = tree["proof"]
    columns = ("branches", "choices", "marks")
    truncated = copy.deepcopy(tree)
    padded = copy.deepcopy(tree)
    empty = copy.deepcopy(tree)
    for key in columns:
        truncated["proof"][key] = _cut(proof[key])
        padded["proof"][key] = [*proof[key], proof[key][-1]]
        empty["proof"][key] = []
    first = proof["symmetries"][0]
    swapped = [*first]
    swapped[0], swapped[1] = swapped[1], swapped[0]
    turned = [-choice for choice in proof["choices"]]
    return {
        "truncated-proof": truncated,
        "proof-with-a-node-too-many": padded,
        "proof-without-nodes": empty,
        "symmetry-that-is-no-permutation": changed(
            tree, "proof", "symmetries", 0, to=[0] * len(first)
        ),
        "symmetry-that-is-none": changed(tree, "proof", "symmetries", 0, to=swapped),
        "functional-of-wrong-sign": changed(tree, "proof", "choices", to=turned),
        "functional-of-zeros": changed(
            tree, "proof", "functionals", 0, to=lambda row: [0] * len(row)
        ),
        "functional-that-is-not-there": changed(tree, "proof", "choices", 0, to=10**6),
        "branch-that-is-not-open": changed(tree, "proof", "branches", 1, to=proof["branches"][0]),
        "marks-where-nothing-is-finished-alike": changed(
            tree, "proof", "marks", to=lambda marks: [1] * len(marks)
        ),
        "reach-below-zero": changed(tree, "proof", "reach", to=lambda row: [-1] * len(row)),
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


def _piece_attacks(valid: dict[str, Document]) -> dict[str, Document]:
    whole, slices = valid["graver-all-facts-first"], valid["graver-slices"]
    few = valid["graver-slices-too-few-for-the-weights"]
    names = ("branches", "choices", "marks")
    short, long = copy.deepcopy(slices), copy.deepcopy(slices)
    for key in names:
        short["proof"]["rest"][key] = _cut(slices["proof"]["rest"][key])
        long["proof"]["rest"][key].append(slices["proof"]["rest"][key][-1])
    cells = [[a, b, c] for a in ("a0", "a1") for b in ("b0", "b1") for c in ("c0", "c1")]
    odd = [cell for cell in cells if sum(int(label[1]) for label in cell) % 2]
    square = {"before": odd, "after": [cell for cell in cells if cell not in odd], "unchanged": []}
    nothing = copy.deepcopy(whole["proof"]["rest"])
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
        "graver-with-symmetries-where-slices-are-few": pieces(
            "graver-slices-too-few-for-the-weights"
        )[1],
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
    "a-float": '{"schema": "blowproof/certificate/3", "value": 4.0}',
    "not-a-number": '{"value": NaN}',
    "a-key-twice": '{"value": 4, "value": 5}',
    "another-schema": '{"schema": "blowproof/sensitivity/1"}',
    "nothing-but-the-schema": '{"schema": "blowproof/certificate/3"}',
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
        "unknown-key": {**tree, "accepted": True},
        "value-of-the-wrong-type": changed(tree, "value", to="eight"),
        "value-is-true": changed(tree, "value", to=True),
        "fraction-not-in-lowest-terms": changed(tree, "value", to="16/2"),
        "branches-are-text": changed(tree, "proof", "branches", to="0123"),
        "a-branch-is-true": changed(tree, "proof", "branches", 0, to=True),
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


def main() -> None:
    """Write every file."""
    valid: dict[str, Document] = {}
    for name, (policy, query, reading) in {**VALID, **BRANCHING}.items():
        answer, found = certified(policy, query, reading=reading, time_limit=20)
        if found.document is None:
            sys.exit(f"{name}: no certificate: {found.reason}")
        kind = next(k for k in KINDS if name.startswith(k) or name == "zero")
        if name != "zero" and found.kind != kind:
            sys.exit(f"{name}: the proof is of kind {found.kind}")
        valid[name] = {**found.document, "tools": {}}
        print(f"{name}: S = {answer.lower}, {found.kind}")
    valid.update({name: pieces(name)[0] for name in GRAVER})
    for folder, files in (
        ("valid", {name: json.dumps(document) for name, document in valid.items()}),
        ("invalid", {name: json.dumps(document) for name, document in attacks(valid).items()}),
        ("malformed", {**MALFORMED, **broken(valid)}),
    ):
        (HERE / folder).mkdir(exist_ok=True)
        for old in (HERE / folder).glob("*.json"):
            old.unlink()
        for name, text in files.items():
            (HERE / folder / f"{name}.json").write_text(text + "\n", encoding="ascii")


KINDS = ("irreducible", "cycles", "single", "four-cells", "every-database", "branching")

if __name__ == "__main__":
    main()
