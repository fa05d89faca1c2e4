"""Counts on one side of a further fact, margins that were listed, and pairs where records are."""

from __future__ import annotations

import importlib
import random
import sys
from pathlib import Path

import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Impossible,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.irreducibles import longest
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems import listed_margins as listed
from blowproof.verifier.theorems.beside import facts_beside, groups_of
from blowproof.verifier.theorems.listed_margins import (
    LEFT,
    LISTED,
    factors,
    listed_margins,
    longest_listed,
    longest_with_one_more,
    often,
)
from blowproof.verifier.theorems.one_sided import one_sided
from blowproof.verifier.theorems.two_cycles import most_one_sided

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))


def asked(policy: Policy, text: str) -> Question:
    found = prepare(setting(policy), "published")
    return Question(found, parse_query(text, policy), "published")


def labels(letter: str, count: int) -> Labels:
    return Labels([f"{letter}{k}" for k in range(count)])


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_a_count_on_one_side_agrees_with_the_search(columns: int) -> None:
    domain = Domain(c=labels("c", columns), s=labels("s", 2), f=labels("f", 2))
    known = (Marginal(["c"]), Marginal(["s"]))
    for side in ("s0", "s1"):
        query = NamedCount("q", {"s": side, "f": "f0"})
        policy = Policy(domain=domain, known=known, queries=(query,))
        found = one_sided(asked(policy, "count(q)"))
        assert found is not None
        assert found.lower == found.upper == (columns + 1) ** 2 // 3
        truth = sensitivity(policy, "count(q)", engine="search", time_limit=100)
        assert truth.status == "exact"
        assert truth.lower == found.lower


@pytest.mark.parametrize("seed", range(3))
def test_holes_keep_the_bound(seed: int) -> None:
    rng = random.Random(seed)
    spoken = 0
    for _ in range(8):
        domain = Domain(c=labels("c", 3), s=labels("s", 2), f=labels("f", 2))
        holes = [
            Impossible([{"c": f"c{rng.randrange(3)}", "s": f"s{rng.randrange(2)}"}])
            for _ in range(rng.randint(0, 2))
        ]
        where = {"c": [f"c{k}" for k in rng.sample(range(3), rng.randint(1, 3))], "s": "s0"}
        query = NamedCount("q", where if rng.random() < 0.5 else {**where, "f": "f0"})
        policy = Policy(
            domain=domain, known=(Marginal(["c"]), Marginal(["s"]), *holes), queries=(query,)
        )
        question = asked(policy, "count(q)")
        found = one_sided(question)
        if found is None:
            continue
        truth = sensitivity(policy, "count(q)", engine="search", time_limit=60)
        assert found.lower <= truth.lower <= found.upper  # type: ignore[operator]
        if found.witness is not None:
            assert check_pair(question.setting, "published", found.witness)
        spoken += 1
    assert spoken >= 3


@pytest.mark.parametrize(
    ("cells", "counted", "lower", "upper"),
    [(3, 1, 3, 4), (4, 1, 4, 5), (4, 2, 7, 8), (24, 8, 152, 208), (120, 1, 120, 121)],
)
def test_a_count_of_some_of_the_cells(cells: int, counted: int, lower: int, upper: int) -> None:
    """The path that cycles share, and moves of label 1, lead through the cells that count."""
    domain = Domain(c=labels("c", cells), s=labels("s", 2), f=labels("f", 2))
    where = {"c": [f"c{k}" for k in range(counted)], "s": "s0", "f": "f0"}
    known = (Marginal(["c"]), Marginal(["s"]))
    policy = Policy(domain=domain, known=known, queries=(NamedCount("q", where),))
    question = asked(policy, "count(q)")
    found = one_sided(question)
    assert found is not None and found.witness is not None
    assert found.lower == lower <= upper
    if cells <= 4:
        truth = sensitivity(policy, "count(q)", engine="search", time_limit=60)
        assert truth.status == "exact"
        assert lower <= truth.lower <= upper
    if cells <= 24:
        assert check_pair(question.setting, "published", found.witness)


def test_a_count_on_both_sides_is_left_alone() -> None:
    domain = Domain(c=labels("c", 3), s=labels("s", 2), f=labels("f", 2))
    policy = Policy(
        domain=domain,
        known=(Marginal(["c"]), Marginal(["s"])),
        queries=(NamedCount("q", {"f": "f0"}),),
    )
    assert one_sided(asked(policy, "count(q)")) is None


def test_the_shares_of_the_cycles_are_the_best() -> None:
    for count in range(1, 60):
        x, y, m = most_one_sided(count)
        assert x + y + m == count + 1
        assert x * y + m * (x + y) <= (count + 1) ** 2 // 3
        assert x * y + m * (x + y) >= (count + 1) ** 2 // 3 - 1


@pytest.mark.parametrize("shape", [(2, 3), (2, 4), (2, 5), (3, 3), (2, 2, 2), (2, 2, 3)])
def test_what_was_listed_is_listed_again(shape: tuple[int, ...]) -> None:
    """The others take a minute each: `benchmarks/irreducible.py 3x4 2x2x2x2`."""
    one_way = importlib.import_module("irreducible").one_way
    found = longest(one_way(*shape), time_limit=200)
    assert found.complete
    assert found.lower == LISTED[shape]


@pytest.mark.parametrize("shape", [(2, 3), (2, 4), (2, 5), (3, 3), (2, 2, 2)])
def test_classes_are_left_as_often_as_is_said(shape: tuple[int, ...]) -> None:
    """3 x 4 takes three minutes each: `benchmarks/irreducible.py --left 3x4`."""
    measured = importlib.import_module("irreducible")
    for place, side in enumerate(shape):
        found = longest(measured.one_way(*shape), measured.leaving(shape, [place]))
        assert found.complete
        assert found.lower == LEFT[shape].classes[side]
        squared = measured.left_squares(shape, place, LEFT[shape].classes[side])
        assert squared.complete
        assert squared.lower == LEFT[shape].sides[side]
    found = longest(measured.one_way(*shape), measured.leaving(shape, range(len(shape))))
    assert found.complete
    assert found.lower == LEFT[shape].cell


@pytest.mark.parametrize(
    ("table", "query", "squares"),
    [
        ({"r": 3, "c": 4}, "marginal(r,f)", 538),
        ({"r": 3, "c": 4}, "marginal(c,f)", 422),
        ({"r": 2, "c": 2, "d": 3}, "marginal(r,f)", 612),
        ({"r": 2, "c": 2, "d": 3}, "marginal(d,f)", 412),
        ({"r": 3, "c": 3}, "marginal(c,f)", 166),
    ],
)
def test_tables_of_one_side_in_squares(table: dict[str, int], query: str, squares: int) -> None:
    """All that leave a class leave with one label and come with the other."""
    domain = Domain(**{name: labels(name, side) for name, side in table.items()}, f=labels("f", 2))
    policy = Policy(domain=domain, known=tuple(Marginal([name]) for name in table))
    found = sensitivity(policy, query, norm="l2-squared", time_limit=20)
    assert (found.status, found.lower) == ("exact", squares)


def test_a_class_more_than_was_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """3 x 5 from 2 x 5, whose class of two rows is left 11 times at the most, 4 x 4 from 3 x 4."""
    assert longest_with_one_more((4, 4)) == 9 * 54 - 1
    assert longest_with_one_more((3, 5)) == longest_with_one_more((5, 3)) == 72
    assert longest_with_one_more((2, 2, 4)) == 60
    monkeypatch.setattr(listed, "FITTING", {})
    monkeypatch.setattr(listed, "CIRCUITS", {})
    assert longest_with_one_more((4, 4)) == 27 * 25
    assert longest_with_one_more((3, 5)) == 18 * 21
    assert longest_with_one_more((2, 2, 4)) == 24 * 23


def test_classes_of_a_table_by_a_smaller_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of 4 x 4 by 3 x 4; one of 3 x 3, which is left 8 times, by 2 x 3 as well.

    By circuits one of 4 x 4 is left less often.
    """
    assert often((4, 4), 0, 485) == 9 * 24 - 1
    monkeypatch.setattr(listed, "CIRCUITS", {})
    assert [often((4, 4), factor, 675) for factor in (0, 1)] == [25 * 11, 25 * 11]
    assert [often((3, 5), factor, 378) for factor in (0, 1)] == [21 * 11, 21 * 6]
    assert often((3, 3), 0, 15) == 8
    monkeypatch.setattr(listed, "LISTED", {(2, 3): 8})
    assert longest_with_one_more((3, 3)) == 8 * 9
    assert often((3, 3), 0, 72) == 4 * 9


def test_a_count_of_one_shift_is_exact() -> None:
    """11..27 before: a class of four is left eleven times at the most."""
    domain = Domain(w=labels("w", 3), s=labels("s", 4), g=labels("g", 2))
    policy = Policy(
        domain=domain,
        known=(Marginal(["w"]), Marginal(["s"])),
        queries=(NamedCount("q", {"s": "s3", "g": "g0"}),),
    )
    told = listed_margins(asked(policy, "count(q)"))
    assert told is not None and told.upper == 11


def test_no_table_is_said_to_be_in_a_smaller_one() -> None:
    assert longest_listed((3, 4)) == longest_listed((4, 3)) == 27
    assert longest_listed((4, 4)) is None
    assert longest_listed((3,)) is None
    assert longest_listed((2, 2, 2, 2)) == 30


@pytest.mark.parametrize("seed", range(4))
def test_listed_margins_bound_what_the_search_finds(seed: int) -> None:
    """Tables of three rows and columns with holes, with subtotals that are implied."""
    rng = random.Random(seed)
    for _ in range(6):
        domain = Domain(r=labels("r", 3), c=labels("c", rng.randint(2, 3)), f=labels("f", 2))
        known: list[object] = [Marginal(["r"]), Marginal(["c"])]
        known += [
            Impossible([{"r": f"r{rng.randrange(3)}", "c": f"c{rng.randrange(2)}"}])
            for _ in range(rng.randint(0, 2))
        ]
        if rng.random() < 0.5:
            known.append(Count({"r": ["r0", "r1"]}))
        if rng.random() < 0.5:
            known.append(Count({}))
        policy = Policy(domain=domain, known=tuple(known))  # type: ignore[arg-type]
        question = asked(policy, "histogram")
        sides = factors(class_table(question.setting), groups_of(question.setting))
        assert sides is not None
        found = listed_margins(question)
        truth = sensitivity(policy, engine="search", time_limit=100)
        assert truth.status == "exact"
        if found is not None:
            assert found.upper >= truth.lower  # type: ignore[operator]


def test_dependent_facts_are_no_factor() -> None:
    domain = Domain(r=labels("r", 3), c=labels("c", 3))
    cells = tuple(
        Count([{"r": "r0", "c": f"c{k}"}, {"r": "r1", "c": f"c{(k + 1) % 3}"}]) for k in range(3)
    )
    policy = Policy(domain=domain, known=(Marginal(["r"]), *cells))
    question = asked(policy, "histogram")
    sides = factors(class_table(question.setting), groups_of(question.setting))
    found = listed_margins(question)
    truth = sensitivity(policy, engine="search", time_limit=100)
    assert sides is None or found is None or found.upper >= truth.lower  # type: ignore[operator]


def test_cycles_leave_out_classes_that_hold_too_few() -> None:
    """Nobody but one in the first class: it takes part in no long cycle."""
    domain = Domain(c=labels("c", 6), s=labels("s", 2), f=labels("f", 2))
    policy = Policy(
        domain=domain,
        known=(
            Marginal(["c"], answers=[1, 90, 90, 90, 90, 90]),
            Marginal(["s"], answers=[200, 251]),
        ),
        database=Database(size=451, answers="given"),
    )
    question = asked(policy, "marginal(f)")
    found = facts_beside(question)
    assert found is not None
    assert found.witness is not None
    assert (found.lower, found.upper) == (2 * 18, 2 * 24)
    assert check_pair(question.setting, "published", found.witness)


@pytest.mark.parametrize("held", [0, 1, 2, 3])
def test_few_with_a_label_move_few(held: int) -> None:
    """So many of a rare kind: (h + 1) N moves at the most, and a pair that has nearly as many."""
    domain = Domain(c=labels("c", 6), s=labels("s", 2), f=labels("f", 2))
    policy = Policy(
        domain=domain,
        known=(Marginal(["c"], answers=[50] * 6), Marginal(["s"], answers=[held, 300 - held])),
        database=Database(size=300, answers="given"),
    )
    question = asked(policy, "marginal(f)")
    found = facts_beside(question)
    assert found is not None
    assert found.upper == 2 * max(1, min(24, 6 * (held + 1)))
    if held:
        assert found.witness is not None
        assert found.lower == (0, 2 * 12, 2 * 16, 2 * 18)[held]
        assert check_pair(question.setting, "published", found.witness)


@pytest.mark.parametrize("seed", range(3))
def test_few_with_a_label_agree_with_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    spoken = 0
    for _ in range(6):
        domain = Domain(c=labels("c", rng.randint(2, 3)), s=labels("s", 2))
        held = [(rng.randrange(2), int(rng.random() < 0.3)) for _ in range(rng.randint(3, 4))]
        policy = Policy(
            domain=domain,
            known=(
                Marginal(
                    ["c"],
                    answers=[sum(c == k for c, _ in held) for k in range(domain.attribute(0).size)],
                ),
                Marginal(["s"], answers=[sum(s == k for _, s in held) for k in range(2)]),
            ),
            database=Database(size=len(held), answers="given"),
        )
        found = facts_beside(asked(policy, "histogram"))
        truth = sensitivity(policy, engine="brute", time_limit=30)
        if found is not None:
            assert found.lower <= truth.lower <= found.upper  # type: ignore[operator]
            spoken += 1
    assert spoken
