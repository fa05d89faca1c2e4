"""The kernel on its own: files, attacks, mutations, hostile input, a copied folder."""

import copy
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asked import resigned
from blowproof.verifier.kernel import Unreadable, Verdict, check, check_text
from blowproof.verifier.kernel.check import SCHEMA
from blowproof.verifier.kernel.document import MOST_DIGITS, load
from blowproof.verifier.kernel.proofs import irreducible
from spelling import spelled

FOLDER = Path(__file__).parents[2] / "certificates"
KERNEL = Path(__file__).parents[3] / "verifier" / "kernel"
KINDS = {
    *("single", "cells", "cycles", "irreducible", "graver"),
    *("four-cells", "every-database", "branching", "merged"),
    *("exchanges", "secret-arc", "determined", "limits", "one-sided", "margins"),
    *("circuits", "beside", "tables"),
}


def files(folder: str) -> list[Path]:
    return sorted((FOLDER / folder).glob("*.json"))


def names(path: Path) -> str:
    return path.stem


VALID = {path.stem: json.loads(path.read_text()) for path in files("valid")}


@pytest.mark.parametrize("path", files("valid"), ids=names)
def test_valid_certificates_are_accepted(path: Path) -> None:
    verdict = check_text(path.read_text())
    assert verdict.accepted, verdict.reason
    assert verdict.kind in path.stem or path.stem == "zero"
    how_much = f"= {verdict.value}"
    if "bound" in path.stem and verdict.least != verdict.value:
        how_much = f"is at least {verdict.least} and at most {verdict.value}"
    assert f"{how_much} under the reading {verdict.reading}" in verdict.claim


@pytest.mark.parametrize("path", files("invalid"), ids=names)
def test_attacks_are_rejected(path: Path) -> None:
    verdict = check_text(path.read_text())
    assert not verdict.accepted
    assert verdict.reason and not verdict.claim


@pytest.mark.parametrize("path", files("malformed"), ids=names)
def test_malformed_files_are_unreadable(path: Path) -> None:
    with pytest.raises(Unreadable):
        check_text(path.read_text())


@pytest.mark.parametrize("path", files("valid") + files("invalid"), ids=names)
def test_both_ways_to_keep_sums_agree(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As bits of a number, and as sets."""
    document = json.loads(path.read_text())
    if document["proof"]["kind"] == "irreducible":
        before = check(document)
        monkeypatch.setattr(irreducible, "MOST_BITS", 0)
        assert check(document) == before


@pytest.mark.parametrize("path", files("valid") + files("invalid"), ids=names)
def test_no_larger_box_refuses_a_proof(path: Path) -> None:
    """More sums of parts are seen then, and what they drop would have no irreducible below it."""
    document = json.loads(path.read_text())
    if document["proof"]["kind"] == "irreducible" and document["proof"].get("box"):
        before, box = check(document), document["proof"]["box"]
        for more in (1, 5, 10**5, 10**399):
            document["proof"]["box"] = [b + more for b in box]
            assert check(document).accepted == before.accepted


TREES = [name for name in VALID if name.startswith("irreducible")]


@pytest.mark.parametrize("name", TREES)
def test_bits_and_sets_agree_about_damaged_proofs(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Marks, choices and nodes changed: what is dropped and excluded must be the same."""
    document, rng, accepted = VALID[name], random.Random(name), 0
    for _ in range(30):
        proof = spelled(document["proof"])
        steps, most = proof["steps"], len(proof["functionals"])
        place = rng.randrange(len(steps))
        for step in steps:
            step[2] = rng.choice((step[2], step[2], 1 - step[2]))
            step[3] = rng.choice((step[3], step[3], 1 - step[3]))
        if rng.random() < 0.5:
            steps[place][1] = rng.randint(-most, most)
        if rng.random() < 0.3:
            del proof["nodes"][place]
        box = proof["box"]
        for more in ([0], [1], [2, 5], [9]):
            proof["box"] = [b + k for b, k in zip(box, more * len(box), strict=False)]
            told = check({**document, "proof": proof})
            with monkeypatch.context() as patched:
                patched.setattr(irreducible, "MOST_BITS", 0)
                assert check({**document, "proof": proof}) == told
            accepted += told.accepted
    assert accepted < 120


def test_every_kind_of_proof_has_a_file() -> None:
    assert {document["proof"]["kind"] for document in VALID.values()} == KINDS


def test_an_accepted_verdict_comes_from_check_alone() -> None:
    with pytest.raises(TypeError):
        Verdict(True, "")


# the folder alone --------------------------------------------------------------------------------


def test_the_kernel_runs_alone_from_a_copied_folder(tmp_path: Path) -> None:
    shutil.copytree(KERNEL, tmp_path / "kernel", ignore=shutil.ignore_patterns("__pycache__"))
    cases = [("valid", 0, "accepted"), ("invalid", 1, "rejected"), ("malformed", 2, "unreadable")]
    for folder, code, word in cases:
        done = subprocess.run(
            [sys.executable, "-S", "-m", "kernel", str(files(folder)[0])],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (code, "")
        assert done.stdout.startswith(word) and done.stdout.count("\n") == 1


# one change at a time ----------------------------------------------------------------------------

SAMPLED = 2
Place = tuple[Any, ...]


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Every place in a document; of long lists a sample, always with both ends."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        indices = range(len(value))
        some = random.Random(len(value)).sample(indices, min(SAMPLED, len(value)))
        for index in sorted({*some, *indices[:1], *indices[-1:]}):
            yield from places(value[index], (*path, index))


def at(document: Any, path: Place) -> Any:
    for key in path:
        document = document[key]
    return document


def copied_along(document: dict[str, Any], path: Place) -> tuple[dict[str, Any], Any]:
    """A copy of what leads to a place, and in it the container of the place. All else is shared:
    the kernel changes nothing that it reads.
    """
    found = container = copy.copy(document)
    for key in path[:-1]:
        container[key] = copy.copy(container[key])
        container = container[key]
    return found, container


def mutants(document: dict[str, Any], path: Place) -> Iterator[dict[str, Any]]:
    """The document with one place changed, dropped, or swapped with the next."""
    old = at(document, path)
    others: list[Any] = [None, True, [], {}, "x", -1, 10**30]
    if isinstance(old, int):
        others += [old + 1, old - 1, -old, str(old)]
    if isinstance(old, str):
        others += [f"{old}0", old[:-1], [old]]
    if isinstance(old, list):
        others += [old[:-1], old + old[-1:], old[::-1], old[1:]]
    for other in others:
        if other != old or type(other) is not type(old):
            mutant, parent = copied_along(document, path)
            parent[path[-1]] = other
            yield mutant
    mutant, parent = copied_along(document, path)
    del parent[path[-1]]
    yield mutant
    mutant, parent = copied_along(document, path)
    if isinstance(parent, list) and path[-1] + 1 < len(parent):
        parent[path[-1]], parent[path[-1] + 1] = parent[path[-1] + 1], parent[path[-1]]
        yield mutant


@pytest.mark.parametrize("name", VALID)
def test_no_mutant_is_accepted_with_another_meaning(name: str) -> None:
    document = VALID[name]
    as_it_was = json.dumps(document)
    told = check(document)
    count = 0
    for path in places(document):
        if path[0] == "tools":
            continue
        for mutant in mutants(document, path):
            count += 1
            try:
                verdict = check(mutant, steps=60_000)
            except Unreadable:
                continue
            weaker = (
                told.least < told.value <= verdict.value
                and verdict.least <= told.least
                and replace(verdict, claim="", value=0, least=0)
                == replace(told, claim="", value=0, least=0)
            )
            assert not verdict.accepted or verdict.claim == told.claim or weaker, path
    assert count > 100
    assert json.dumps(document) == as_it_was  # so that one mutant is not changed by another


# hostile input -----------------------------------------------------------------------------------

STEPS = 100_000
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.sampled_from([0, 1, -1, 2, 10**18])
    | st.text(max_size=4)
    | st.sampled_from(["1/2", "min", "max", "x", "p/q", "-3", "edges", "full", "any", "given"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["min", "max", "kind", "labels", "count", "times", "record", "in"])
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def survives(document: Any) -> None:
    try:
        verdict = check(document, steps=STEPS)
    except Unreadable:
        return
    assert verdict.accepted in (True, False)


@given(st.data())
@settings(max_examples=300)
def test_anything_in_any_place_is_survived(data: st.DataObject) -> None:
    document = copy.deepcopy(VALID[data.draw(st.sampled_from(sorted(VALID)))])
    path = data.draw(st.sampled_from(list(places(document))))
    at(document, path[:-1])[path[-1]] = data.draw(JSON)
    if path[0] in ("policy", "query") and isinstance(document["query"], dict):  # past the digests
        survives(resigned(document))
    survives(document)


@given(st.text(max_size=60) | JSON.map(json.dumps))
@settings(max_examples=100)
def test_any_text_is_survived(text: str) -> None:
    with pytest.raises(Unreadable):
        check_text(text)


def question(**policy: Any) -> dict[str, Any]:
    table = {"database": {"answers": "any"}, "secrets": {"kind": "full"}, **policy}
    asked = {
        "schema": SCHEMA,
        "policy": table,
        "query": {"kind": "histogram", "arguments": []},
        "norm": "l1",
        "reading": "published",
        "answers": table["database"]["answers"],
        "value": 2,
        "witness": None,
        "proof": {"kind": "cycles"},
    }
    return resigned(asked)


WIDE = {"x": {"min": 0, "max": 10**300}}
HUGE = [
    question(domain=WIDE, known=[{"marginal": ["x"]}]),
    question(domain={f"a{k}": ["p", "q"] for k in range(300)}, known=[]),
    question(
        domain={f"a{k}": ["p", "q"] for k in range(60)},
        known=[{"count": {f"a{k}": "p"}} for k in range(60)],
    ),
    question(
        domain=WIDE,
        known=[{"count": {"x": {"min": k, "max": 10**200 + k}}} for k in range(500)],
    ),
    resigned({**question(domain=WIDE), "query": {"kind": "cumulative", "arguments": ["x"]}}),
    resigned({**question(domain=WIDE), "query": {"kind": "marginal", "arguments": ["x"]}}),
    {**question(domain=WIDE, database={"answers": "given", "size": 10**100}), "value": 0,
     "proof": {"kind": "every-database"}},
    {**question(domain={"x": ["p", "q", "r"]}, database={"answers": "given", "size": 10**9}),
     "value": 0, "proof": {"kind": "every-database"}},
    {**question(domain=WIDE, secrets={"kind": "distance", "metric": "l2", "threshold": "1/3"}),
     "witness": {"before": [[0]], "after": [[1]], "unchanged": [[[5], 10**90]]}},
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(HUGE)))
def test_large_numbers_end_in_a_verdict(place: int) -> None:
    for value in (0, 2):
        try:
            verdict = check({**HUGE[place], "value": value}, steps=STEPS)
        except Unreadable:
            continue
        assert not verdict.accepted or place in (0, 5) or verdict.value == 0


def test_documents_are_read_strictly() -> None:
    for text in ('{"a": 1.0}', '{"a": 1, "a": 1}', '{"a": Infinity}', "[1]", "{" * 10**5):
        with pytest.raises(Unreadable):
            load(text)
    with pytest.raises(Unreadable):
        load('{"a": ' + "1" * (MOST_DIGITS + 1) + "}")
    assert load('{"a": -12}') == {"a": -12}
