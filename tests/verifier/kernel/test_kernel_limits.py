"""The kernel's limits, made so small that they bite: each ends as a rejection, or as unreadable."""

import copy
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from asked import resigned
from blowproof.verifier.kernel import (
    Unreadable,
    check,
    document,
    joined_boxes,
    policy,
    query,
    witness,
    world,
)
from blowproof.verifier.kernel.check import least_of, lower_bound, upper_bound, world_of
from blowproof.verifier.kernel.document import Budget, Rejected, load
from blowproof.verifier.kernel.measure import Change, Measure
from blowproof.verifier.kernel.proofs import branching, irreducible

Document = dict[str, Any]

FOLDER = Path(__file__).parents[2] / "certificates" / "valid"
TEXTS = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.json"))}
VALID: dict[str, Document] = {name: json.loads(text) for name, text in TEXTS.items()}


def told(table: Document, budget: Budget | None = None) -> None:
    """Check a certificate, with whatever it raises."""
    found, value = world_of(table, Budget() if budget is None else budget)
    lower_bound(found, table, least_of(table, value))
    upper_bound(found, table["proof"], value)


def altered(name: str, **changes: Any) -> Document:
    """A valid certificate with parts of its policy changed, and the digests of that."""
    table = copy.deepcopy(VALID[name])
    table["policy"].update(changes)
    return resigned(table)


LISTED = [[{"x": 0}, {"x": 1}]]
READ: list[tuple[ModuleType, str, int, Document]] = [
    (policy, "MOST_AXES", 1, VALID["four-cells"]),
    (policy, "MOST_CELLS", 1, VALID["four-cells"]),
    (policy, "MOST_FACTS", 4, VALID["four-cells"]),
    (policy, "MOST_SIDES", 9, VALID["four-cells"]),
    (policy, "MOST_CELLS", 1,
     altered("single-ranges",
              secrets={"kind": "partition", "cells": [{"x": 0}, {"x": {"min": 1, "max": 9}}]})),
]  # fmt: skip
REJECTED: list[tuple[ModuleType, str, int, str]] = [
    (query, "MOST_OUTPUTS", 99, "ranges-by-outputs"),
    (world, "MOST_POINTS", 2, "every-database-plain-moves"),
    (witness, "MOST_SUMS", -1, "irreducible-two-margins"),
    (witness, "MOST_SUMS", 1, "branching-bounds"),
    (irreducible, "MOST_SYMMETRIES", 2, "irreducible-add-remove"),
    (irreducible, "MOST_CHOICES", 0, "irreducible-two-margins"),
    (irreducible, "MOST_DEPTH", 2, "irreducible-two-margins"),
    (branching, "MOST_MOVES", 4, "branching-bounds"),
]
ASKED = {
    "ranges-by-outputs": {**VALID["single-ranges"], "proof": {"kind": "determined"}},
    **VALID,
}


@pytest.mark.parametrize(("module", "name", "most", "table"), READ, ids=lambda x: str(x)[:20])
def test_policies_beyond_a_limit_are_unreadable(
    module: ModuleType, name: str, most: int, table: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    world_of(table, Budget())
    monkeypatch.setattr(module, name, most)
    with pytest.raises(Unreadable, match="too many"):
        check(table)


@pytest.mark.parametrize(("module", "name", "most", "asked"), REJECTED)
def test_work_beyond_a_limit_is_rejected_as_such(
    module: ModuleType, name: str, most: int, asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ASKED[asked]
    before = check(table).reason
    monkeypatch.setattr(module, name, most)
    with pytest.raises(Rejected) as found:
        told(table)
    assert found.value.limit
    verdict = check(table)
    assert not verdict.accepted
    assert verdict.reason == str(found.value) != before


@pytest.mark.parametrize("name", ["MOST_BYTES", "MOST_LISTS", "MOST_DIGITS"])
def test_texts_beyond_a_limit_are_unreadable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXTS["branching-bounds"]
    assert load(text) == VALID["branching-bounds"]
    monkeypatch.setattr(document, name, 1)
    with pytest.raises(Unreadable, match=r"too large|not an exact number"):
        load(text)


@pytest.mark.parametrize("name", VALID)
@pytest.mark.parametrize("what", ["steps", "room"])
def test_any_budget_ends_in_the_same_verdict_or_in_a_limit(name: str, what: str) -> None:
    """With each smaller budget the check stops for that reason alone; with the real one it ends."""
    outcomes = []
    most = 1
    while most < 10**10:
        try:
            told(VALID[name], Budget(**{what: most}))
            outcomes.append(True)
        except Rejected as reason:
            assert reason.limit
            assert {"steps": "steps", "room": "memory"}[what] in str(reason)
            outcomes.append(False)
        most *= 3
    assert outcomes == sorted(outcomes)
    assert outcomes[-1]
    assert not outcomes[0] or what == "room"


def test_what_is_kept_is_given_back() -> None:
    """Otherwise a long proof would be rejected for memory that it does not hold."""
    for name in ("irreducible-two-margins", "irreducible-structural-zero"):
        budget = Budget()
        found, value = world_of(VALID[name], budget)
        moves = world.Effects(found)
        claim = int(value) * moves.scale
        replay = irreducible.Replay(moves, VALID[name]["proof"], claim)
        nodes = VALID[name]["proof"]["nodes"]
        before = budget.room
        replay.run(nodes)
        assert budget.room > before - 10 * len(nodes)


def test_the_real_limits_are_those_of_the_format() -> None:
    text = " ".join((Path(document.__file__).parent / "FORMAT.md").read_text().split())
    assert document.MOST_STEPS == 10**9
    assert document.MOST_KEPT == 12 * 10**6
    assert "10^9 steps" in text
    assert "1.2 * 10^7 numbers" in text
    assert (document.MOST_BYTES, document.MOST_LISTS) == (10**8, 10**7)
    assert "10^8 bytes and 10^7 lists" in text


def test_choices_are_not_listed_beyond_their_limit() -> None:
    one, two = ({Change([((place, k), 1)]) for k in range(700)} for place in range(2))
    budget = Budget()
    with pytest.raises(Rejected, match="too many choices"):
        irreducible.exceeds([one, two], 0, budget, Measure("l1"))
    assert document.MOST_STEPS - budget.left < 700 * 700 * 4 / 2  # all of them take twice as many


def test_sums_for_a_d3_are_not_listed_beyond_their_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    found, _ = world_of(VALID["irreducible-two-margins"], Budget())
    sizes: list[int] = []

    class Seen(set[Any]):
        def __len__(self) -> int:
            sizes.append(super().__len__())
            return sizes[-1]

    monkeypatch.setattr(witness, "set", Seen, raising=False)
    monkeypatch.setattr(witness, "MOST_SUMS", 1000)
    start = (0,) * 4
    records = [(1, [((j, k, 0, 0), (0,), False) for k in range(100)], True) for j in range(2)]
    records += [(1, [((0, 0, k, 0), (0,), False) for k in range(100)], True)]
    with pytest.raises(Rejected, match="too many parts"):
        witness._reached(found, start, records)
    assert max(sizes) < 1200  # not the 20,000 of a whole round


def test_joined_boxes_are_paid_for_as_they_are_found() -> None:
    document_ = altered(
        "single-ranges", secrets={"kind": "distance", "metric": "l1", "threshold": 9}
    )
    found, _ = world_of(document_, Budget())
    boxes = [(((k, k + 1),),) for k in range(10)]
    assert len(list(joined_boxes.near(found.policy.graph, boxes, Budget()))) == 90
    with pytest.raises(Rejected, match="memory"):
        list(joined_boxes.near(found.policy.graph, boxes, Budget(room=50)))


def test_moves_of_cases_are_paid_for_as_they_are_listed() -> None:
    found, value = world_of(VALID["branching-bounds"], Budget())
    before = found.budget.room
    moves = branching.problem_of(found, value).moves
    assert before - found.budget.room >= sum(4 + 4 * len(move.change) for move in moves)
