"""Differences of two values, rectangles of two attributes: their answers, and their changes."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.models import (
    Distance,
    Domain,
    Integers,
    Labels,
    Marginal,
    Move,
    Policy,
    QueryError,
    parse_query,
)
from blowproof.models.queries.kinds import Rectangles
from blowproof.verifier.ask import sensitivity

Capture = pytest.CaptureFixture[str]
DOMAIN = Domain(x=Integers(0, 3), sex=Labels(["F", "M"]), y=Integers(0, 2))
POLICY = Policy(domain=DOMAIN)
COUNTS = np.arange(24, dtype=np.int64) ** 2 % 17
POINTS = list(DOMAIN.points())


def by_rows(query: str, policy: Policy = POLICY) -> list[int]:
    """Return the answers as the sums of the records' rows, in the order of the outputs."""
    asked = parse_query(query, policy)
    outputs = asked.outputs(DOMAIN)
    assert outputs is not None
    found = [0] * outputs.count
    for point, count in zip(POINTS, COUNTS.tolist(), strict=True):
        for key, value in asked.row(point).items():
            found[outputs.place(key)] += count * int(value)
    return found


@pytest.mark.parametrize(
    "query", ["difference(sex)", "difference(sex,y)", "difference(sex,y,x)", "rectangles(x,y)",
              "rectangles(y,x)", "rectangles(x,y,50)"],
)  # fmt: skip
def test_answers_are_the_sums_of_rows_and_changes_those_of_answers(query: str) -> None:
    asked = parse_query(query, POLICY)
    assert parse_query(asked.name, POLICY) == asked
    answers = true_answers(asked, POLICY, NoisyTable(COUNTS, DOMAIN))
    assert answers.units.tolist() == by_rows(query)
    assert len(list(answers.names.rows())) == len(answers)
    for moves in ([(0, 23)], [(3, 4), (11, 2)], [(5, 9), (9, 5)], [(1, 2), (7, 8), (20, 3)]):
        moved = COUNTS.copy()
        for before, after in moves:
            moved[before] -= 1
            moved[after] += 1
        other = true_answers(asked, POLICY, NoisyTable(moved, DOMAIN)).units
        change = asked.difference([Move(POINTS[a], POINTS[b]) for a, b in moves])
        assert change == abs(other - answers.units).sum()


@pytest.mark.parametrize("query", ["difference(sex,x)", "rectangles(x,y)", "rectangles(x,y,20)"])
@pytest.mark.parametrize("known", [(), (Marginal(("x",)),)])
def test_engines_say_what_brute_force_says(query: str, known: tuple[Marginal, ...]) -> None:
    domain = Domain(x=Integers(0, 1), sex=Labels(["F", "M"]), y=Integers(0, 1))
    policy = Policy(domain=domain, known=known, secrets=Distance(threshold=1))
    found = sensitivity(policy, query)
    brute = sensitivity(policy, query, engine="brute", max_size=4)
    assert (found.lower, found.upper) == (brute.lower, brute.lower)


@pytest.mark.parametrize("query", ["difference(sex,x)", "rectangles(x,y)"])
def test_the_kernel_replays_them(query: str, tmp_path: Path, capsys: Capture) -> None:
    policy = tmp_path / "p.toml"
    policy.write_text(
        '[domain]\nx = {min = 0, max = 2}\nsex = ["F", "M"]\ny = {min = 0, max = 1}\n'
        '[[known]]\nmarginal = ["y"]\n'
    )
    proof = tmp_path / "c.json"
    asked = [str(policy), "--query", query]
    assert run(["sensitivity", *asked, "--certificate", str(proof), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "proved"
    assert run(["check", str(proof), "--policy", asked[0], *asked[1:]]) == 0


def test_the_sample_of_rectangles_is_always_the_same() -> None:
    """It is public: a part of what is asked, and no part of the noise."""
    one, two = (list(parse_query("rectangles(x,y,9)", POLICY).spans()) for _ in range(2))  # type: ignore[attr-defined]
    assert one == two
    assert all(0 <= a <= b < 4 and 0 <= c <= d < 3 for (a, b), (c, d) in one)
    assert len(set(one)) > 3


def test_what_neither_counts_is_refused() -> None:
    for query, why in (
        ("difference(x)", "4 values"),
        ("difference(sex,sex)", "twice"),
        ("rectangles(x)", "two attributes"),
        ("rectangles(x,sex)", "not ordered"),
        ("rectangles(x,x)", "twice"),
        ("rectangles(x,y,0)", "no number"),
        ("rectangles(x,y,1000000)", "no number|too many"),
        ("rectangles(x,y,5,5)", "two attributes"),
    ):
        with pytest.raises(QueryError, match=why):
            parse_query(query, POLICY)


def test_every_rectangle_stands_there_once() -> None:
    asked = parse_query("rectangles(x,y)", POLICY)
    spans = list(asked.spans())  # type: ignore[attr-defined]
    ranges = [[(a, b) for a, b in product(range(n), repeat=2) if a <= b] for n in (4, 3)]
    assert sorted(spans) == sorted(product(*ranges))
    outputs = asked.outputs(DOMAIN)
    assert outputs is not None
    assert [outputs.place(key) for key in spans] == list(range(60))


@pytest.mark.parametrize("longest", [9, 2**40, 2**62 - 1, 2**62, 2**70])
def test_a_sample_of_rectangles_holds_the_positions_between_their_ends(longest: int) -> None:
    policy = Policy(domain=Domain(x=Integers(1, longest), y=Integers(0, 30)))
    query = parse_query("rectangles(x,y,40)", policy)
    assert isinstance(query, Rectangles)
    spans = list(query.spans())
    for (a, b), (c, d) in spans[:6]:
        for point in ((a, c), (b, d), (max(0, a - 1), c), (b, min(30, d + 1))):
            held = [at for at, (one, two) in enumerate(spans)
                    if one[0] <= point[0] <= one[1] and two[0] <= point[1] <= two[1]]  # fmt: skip
            assert query.row(point) == dict.fromkeys(held, 1)
            assert all(type(key) is int for key in query.row(point))
