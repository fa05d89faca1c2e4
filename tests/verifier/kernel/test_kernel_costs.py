"""What a certificate makes the kernel do is paid for: by steps, by room, by the length of numbers.

Nothing here measures time: steps that are taken are counted, and grow as the work does.
"""

import random
from typing import Any

import pytest

from asked import resigned
from blowproof.verifier.kernel import Unreadable, check
from blowproof.verifier.kernel.boxes import Finder, inside
from blowproof.verifier.kernel.check import SCHEMA, lower_bound, upper_bound, world_of
from blowproof.verifier.kernel.document import MOST_KEPT, MOST_STEPS, Budget, Rejected, common
from blowproof.verifier.kernel.proofs import branching
from blowproof.verifier.kernel.world import Effects

Document = dict[str, Any]
HISTOGRAM = {"kind": "histogram", "arguments": []}


def question(domain: Document, **changes: Any) -> Document:
    """A certificate about a policy; `policy` and the other keys as given."""
    policy = {"database": {"answers": "any"}, "domain": domain, "known": [],
              "secrets": {"kind": "full"}, **changes.pop("policy", {})}  # fmt: skip
    asked = {"schema": SCHEMA, "policy": policy, "query": HISTOGRAM, "norm": "l1", "value": 0,
             "reading": "published", "answers": policy["database"]["answers"], "witness": None,
             "proof": {"kind": "cycles"}}  # fmt: skip
    return resigned({**asked, **changes})


def taken(document: Document) -> tuple[int, int]:
    """Steps and room that a whole check takes, whatever comes out."""
    budget = Budget()
    try:
        world, value = world_of(document, budget)
        lower_bound(world, document, value)
        upper_bound(world, document["proof"], value)
    except Rejected as reason:
        assert not reason.limit, reason
    return MOST_STEPS - budget.left, MOST_KEPT - budget.room


def unit_fractions(count: int, digits: int) -> list[str]:
    """1/p for odd numbers p of so many digits, hardly any of which share a factor."""
    rng = random.Random(count)
    return [f"1/{10**digits + 2 * rng.randrange(10**digits) + 1}" for _ in range(count)]


LONG = unit_fractions(400, 200)
LINE = {"x": {"min": 0, "max": 399}}
GRID = {f"a{k}": {"min": 0, "max": fraction, "step": fraction} for k, fraction in enumerate(LONG)}
SUM = {"kind": "sum", "arguments": [*GRID]}
PAIR = {"before": [[k] for k in range(50)], "after": [[k] for k in range(50, 100)]}
WEIGHTED = {"before": [[0]] * 400, "after": [[1]] * 400, "records": [*range(1, 401)],
            "database": [[0]] * 400}  # fmt: skip
FRACTIONS = {
    "rows-of-a-matrix": question(LINE, query={"kind": "matrix", "arguments": [], "data": [LONG]}),
    "a-pair-and-a-matrix": question(
        LINE, query={"kind": "matrix", "arguments": [], "data": [LONG]}, value=1, witness=PAIR
    ),
    "weights": question(
        LINE,
        query={"kind": "weighted-sum", "arguments": ["x"], "data": LONG},
        value=1,
        witness=WEIGHTED,
    ),
    "centroids": question(
        {f"a{k}": {"min": 0, "max": 1} for k in range(400)},
        query={"kind": "cluster-sizes", "arguments": [], "data": [LONG]},
    ),
    "steps-of-a-distance": question(
        GRID, policy={"secrets": {"kind": "distance", "metric": "l2", "threshold": 1}}
    ),
    "sums-of-many-grids": question(
        GRID,
        query=SUM,
        proof={"kind": "single"},
        policy={"secrets": {"kind": "attribute", "changes": 1}},
    ),
}


@pytest.mark.parametrize("name", FRACTIONS)
def test_attack_fractions_with_a_long_common_denominator(name: str) -> None:
    """1.6 MB of them took 2.3 GB and 140 s: every row was scaled, and none was charged for."""
    verdict = check(FRACTIONS[name], steps=5_000_000)
    assert verdict.reason == "the fractions have no short common denominator"


def test_long_numbers_count_as_many() -> None:
    budget = Budget(steps=1000, room=1000)
    budget.widen([1 << 640])
    budget.spend(10, 1)
    assert (budget.left, budget.room) == (1000 - 110, 1000 - 11)
    budget.widen([1])  # never less again
    budget.spend(1)
    assert budget.left == 1000 - 121
    assert common([2, 4, 3], Budget()) == 12


def test_rows_of_long_numbers_cost_more_than_those_of_short_ones() -> None:
    def asked(fraction: str) -> Document:
        rows = [[fraction] * 400]
        return question(LINE, query={"kind": "matrix", "arguments": [], "data": rows})

    short, long = taken(asked("1/3")), taken(asked(LONG[0]))
    assert long[0] > 5 * short[0]
    assert long[1] - short[1] > 5 * 2 * 400  # so many words more for each entry


def cells(count: int) -> Document:
    """A partition of a line, by cells."""
    listed = [{"x": {"min": 2 * k, "max": 2 * k + 1}} for k in range(count)]
    return question(
        {"x": {"min": 0, "max": 2 * count - 1}},
        policy={"secrets": {"kind": "partition", "cells": listed}},
        value=2,
        witness={"before": [[0]], "after": [[1]]},
    )


def near_values(count: int) -> Document:
    """Secrets of a short distance on a long axis of which every position is told apart."""
    return question(
        {"x": {"min": 0, "max": count - 1}},
        policy={"secrets": {"kind": "distance", "metric": "l1", "threshold": 2}},
        query={"kind": "marginal", "arguments": ["x"]},
        reading="secret-moves",
        value=2,
        witness={"before": [[0]], "after": [[1]]},
    )


@pytest.mark.parametrize("family", [cells, near_values])
def test_attack_ten_thousand_cells(family: Any) -> None:
    """They took 90 s: each value was looked for in each cell, and each side compared with each."""
    assert check(family(1000)).accepted
    for count in (1000, 4000):  # a square of the number would be 1000 for each, and 4000
        assert taken(family(count))[0] < 250 * count


def test_a_finder_tries_few_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    from blowproof.verifier.kernel import boxes

    tried = 0

    def counted(point: Any, area: Any) -> bool:
        nonlocal tried
        tried += 1
        return inside(point, area)

    monkeypatch.setattr(boxes, "inside", counted)
    some = [(((2 * k, 2 * k + 2),), ((0, 5),)) for k in range(1000)]
    finder = Finder(some)
    assert [finder.first((x, 3)) for x in range(2000)] == [x // 2 for x in range(2000)]
    assert finder.first((2000, 0)) is None
    assert tried == 2000


@pytest.mark.parametrize("most", [0, 3000, 1 << 29])
def test_a_finder_finds_the_first_box(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it keeps all axes, some, or none."""
    from blowproof.verifier.kernel import boxes

    monkeypatch.setattr(boxes, "MOST_BITS", most)
    rng = random.Random(most)

    def side() -> tuple[tuple[int, int], ...]:
        a, b, c, d = sorted(rng.sample(range(12), 4))
        return ((a, b), (c, d)) if rng.random() < 0.5 else ((a, d),)

    some = [(side(), side(), ((0, 4),)) for _ in range(25)]
    finder = Finder(some)
    for point in ((x, y, z) for x in range(-1, 12) for y in range(12) for z in (0, 3, 4)):
        first = next((k for k, box in enumerate(some) if inside(point, [box])), None)
        assert finder.first(point) == first


def many_runs(count: int) -> Document:
    """Boxes of many runs, every two of which are compared for plain moves."""
    return question(
        {"x": {"min": 0, "max": 4 * count}, "y": ["p", "q"], "z": {"min": 0, "max": 3}},
        policy={
            "secrets": {"kind": "distance", "metric": "l1", "threshold": 1},
            "known": [{"count": {"x": [2 * k for k in range(count)]}}, {"count": {"y": "p"}}],
        },
        proof={"kind": "branching", "groups": [], "cuts": [], "nodes": [["leaf", [[-1, 1]]]]},
    )


def test_attack_boxes_of_many_runs_in_a_proof_by_cases() -> None:
    budgets = []
    for count in (2000, 8000):
        budget = Budget()
        branching.problem_of(world_of(many_runs(count), budget)[0], 0)
        budgets.append(MOST_STEPS - budget.left)
    assert budgets[1] > 3.5 * budgets[0]


def test_attack_a_named_count_of_many_boxes() -> None:
    """Each cell is looked for in each of its boxes."""

    def asked(count: int) -> Document:
        boxes = [{"x": k, "y": k} for k in range(count)]
        wide = {"min": 0, "max": 10**4}
        return question(
            {"x": wide, "y": wide},
            query={"kind": "count", "arguments": ["c"]},
            policy={"query": [{"name": "c", "count": boxes}]},
            value=1,
            witness={"before": [[0, 0]], "after": [[0, 1]]},
        )

    steps = [taken(asked(count))[0] for count in (20, 80)]
    assert steps[1] > 30 * 80 * steps[0] // (20 * 20 * 20)


def test_attack_a_cut_with_thousands_of_conditions() -> None:
    """The case in which the k-th condition fails assumes all before it: a square of numbers."""

    def asked(count: int) -> Document:
        known = [{"count": {"x": "p"}, "at_most": 5 + k} for k in range(count)]
        return question(
            {"x": ["p", "q"], "y": ["r", "s"]},
            policy={"known": known, "database": {"answers": "given", "size": 9}},
            answers="given",
        )

    kept = []
    for count in (50, 400):
        budget = Budget()
        world, _ = world_of(asked(count), budget)
        problem = branching.problem_of(world, 0)
        secret = [m for m, move in enumerate(problem.moves) if any(move.effect)]
        lifts = [m for m in secret if sum(problem.moves[m].effect) > 0]
        proof = {"groups": [[lifts[0]]], "cuts": [[1, [[0, 1]], []]], "nodes": []}
        cases = branching.Cases(problem, proof, budget)
        before = budget.left, budget.room
        found = cases.of((), "cut", 0)
        assert len(found) > count
        kept.append(before[1] - budget.room)
        assert before[0] - budget.left >= len(found) ** 2
    assert kept[1] > 30 * kept[0]


def test_attack_more_effects_than_bits_for_each_are_kept() -> None:
    """A bit for each effect is a square of bits: 10^5 effects took more than a GB."""
    known = [{"sum": [{"times": k * k + 1, "count": {"x": k}} for k in range(120)]}]
    proof: Document = {"kind": "irreducible", "functionals": [], "symmetries": [], "steps": []}
    asked = question({"x": {"min": 0, "max": 200}}, policy={"known": known}, value=2,
                     witness={"before": [[150]], "after": [[151]]})  # fmt: skip
    world, _ = world_of(asked, Budget())
    count = len(Effects(world).effects)
    base = taken({**asked, "proof": {"kind": "cycles"}})[1]
    proof |= {"effects": count, "box": [1], "nodes": []}
    assert taken({**asked, "proof": proof})[1] - base >= count * count // 64 > 10**6


def test_attack_one_attribute_named_a_million_times() -> None:
    """Each name was looked for among all of them."""
    domain = {f"a{k}": ["p", "q"] for k in range(50)}
    for secrets in (
        {"kind": "partition", "by": ["a49"] * 1000},
        {"kind": "distance", "metric": "l1", "threshold": 1, "attributes": ["a49"] * 1000},
    ):
        with pytest.raises(Unreadable, match="named twice"):
            check(question(domain, policy={"secrets": secrets}))
    with pytest.raises(Unreadable, match="named twice"):
        check(question(domain, query={"kind": "marginal", "arguments": ["a1", "a1"]}))


def test_attack_copies_of_one_move_in_a_witness() -> None:
    """Multiples of an effect were listed before they were paid for."""
    half = 30_000
    ends = {"before": [["p"]] * half + [["q"]] * half, "after": [["q"]] * half + [["p"]] * half}
    asked = question({"x": ["p", "q", "r"]}, policy={"known": [{"count": {"x": "p"}}]},
                     witness=ends)  # fmt: skip
    assert not check(asked, steps=20_000_000).accepted


@pytest.mark.parametrize("steps", [1000, 10**5, 10**7])
def test_any_hostile_question_ends_within_its_steps(steps: int) -> None:
    """Each ends in a verdict for every budget; a larger one never turns it back."""
    for document in (*FRACTIONS.values(), cells(300), near_values(300), many_runs(300)):
        before = check(document, steps)
        after = check(document, 10 * steps)
        assert after.accepted >= before.accepted
