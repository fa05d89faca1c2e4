"""Walks over frames: circuits that are ones, as long as is known, for every query and scope."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    Steps,
    Sum,
    parse_query,
)
from blowproof.models.base.clock import Budget, now
from blowproof.models.norms import L2_SQUARED
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Progress, Question
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.irreducibles import is_irreducible
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.problem import Problem
from blowproof.verifier.theorems.affine_frames import best_frame, kernel, signatures_of
from blowproof.verifier.theorems.affine_frames import few_partitions as few
from blowproof.verifier.witnesses.frames import long_circuits as frames
from blowproof.verifier.witnesses.frames.long_circuits import long_circuits, no_long_circuits
from blowproof.verifier.witnesses.frames.one_more_move import Circuit
from blowproof.verifier.witnesses.frames.walk import frames_walked, irreducible
from blowproof.verifier.witnesses.frames.worth import Rows, Valued, arcs_of


def table(*sizes: int, known: tuple[str, ...], **more: object) -> Policy:
    """Attributes a, b, ... with so many labels each; every name in `known` is a marginal."""
    axes = zip("abcd", sizes, strict=False)
    domain = Domain(**{axis: Labels([f"{axis}{k}" for k in range(size)]) for axis, size in axes})
    facts = tuple(Marginal(list(name)) for name in known)
    return Policy(domain=domain, known=facts, **more)  # type: ignore[arg-type]


def told(policy: Policy, query: str) -> tuple[list[Progress], Question]:
    """Return what the walk tells about a question; it has work to count, and no end."""
    found: list[Progress] = []
    setting = Problem(policy).setting("published")
    question = Question(setting, parse_query(query, policy), "published", listener=found.append)
    assert not no_long_circuits(question)
    with Budget():
        long_circuits(question)
    return found, question


def best(policy: Policy, query: str) -> Fraction:
    """Return the heaviest pair that is told of, having checked every one."""
    found, question = told(policy, query)
    for progress in found:
        assert progress.witness is not None
        assert check_pair(question.setting, "published", progress.witness)
        moves = progress.witness.moves("published")
        assert question.query.difference(moves) == progress.lower
    return max((Fraction(progress.lower) for progress in found), default=Fraction(0))


@pytest.mark.parametrize(
    ("sizes", "known", "moves"),
    [
        ((2, 3, 2), "a b", 8),
        ((2, 7, 2), "a b", 32),
        ((3, 4, 2), "a b", 27),
        ((4, 4, 2), "a b", 54),
        ((2, 2, 4, 2), "a b c", 42),
    ],
)
def test_longest_that_are_known_are_met(sizes: tuple[int, ...], known: str, moves: int) -> None:
    policy = table(*sizes, known=tuple(known.split()))
    assert best(policy, "histogram") == 2 * moves
    free = "abcd"[len(sizes) - 1]
    assert best(policy, f"marginal({free})") == 2 * moves


def test_two_tables_that_share_an_attribute() -> None:
    """Circuits walked over effects were shorter, and a marginal's were not brought back."""
    policy = table(2, 4, 2, 2, known=("ab", "ac"))
    for query in ("histogram", "marginal(d)"):
        assert best(policy, query) >= 152


def test_many_classes_are_not_all_walked_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two margins of 2 x 20: over a dozen of the cells, and the pair is one of all."""
    monkeypatch.setattr(frames, "MOST_CLASSES", 12)
    assert best(table(2, 20, 2, known=("a", "b")), "marginal(c)") >= 40


def test_a_long_walk_says_what_it_has_by_then() -> None:
    """Two margins of 8 x 8: a step costs much, and something is known long before a walk ends."""
    cells = [(a, 8 + b) for a in range(8) for b in range(8)]
    basis = kernel([tuple(int(k in cell) for k in range(16)) for cell in cells])
    values = Rows(((),) * 64, tuple(np.eye(128)[2 * k : 2 * k + 2] for k in range(64)))
    worth = Valued(values, None, 10**6)
    with Budget():
        begun = now()
        first = next(frames_walked(basis, worth, seed=0, steps=10_000, end=begun + 60))
        assert now() - begun < 1
    assert first.worth >= 1_000


def test_one_move_is_secret_where_g_joins_few() -> None:
    policy = table(4, 4, 2, known=("a", "b"), secrets=AttributeChange())
    found, question = told(policy, "histogram")
    assert found
    for progress in found:
        assert progress.witness is not None
        assert check_pair(question.setting, "published", progress.witness)
    assert max(progress.lower for progress in found) == 100  # 94 by circuits with a secret move


def test_plain_moves_are_looked_for_beyond_what_the_query_sees() -> None:
    """28 and 42 before: moves that had to be plain took values that change the query less."""
    wards = table(3, 3, 3, known=("a", "b"), secrets=PartitionBy(["c"]))
    assert best(wards, "marginal(a,c)") == 30  # as many as with full secrets
    grid = Domain(x=Integers(0, 11), y=Integers(0, 11))
    facts = [Count({axis: Between(low, low + 3)}) for axis in "xy" for low in (0, 4)]
    secrets = Distance(metric="l1", threshold=8)
    policy = Policy(domain=grid, known=tuple(facts), secrets=secrets)
    assert best(policy, "cumulative(x)") >= 45


def test_fewer_records_where_there_are_few() -> None:
    answers = {"a": [20, 20, 20], "b": [15, 15, 15, 15]}
    facts = tuple(Marginal([axis], answers=numbers) for axis, numbers in answers.items())
    domain = table(3, 4, 2, known=()).domain
    policy = Policy(domain=domain, known=facts, database=Database(size=60))
    assert best(policy, "histogram") >= 30


def test_ranges_of_many_values_are_tried_by_some_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of all values were too many numbers, and nothing was tried: 0 from below."""
    monkeypatch.setattr("blowproof.verifier.witnesses.frames.worth.MOST_ENTRIES", 20_000)
    domain = Domain(a=Labels("xyz"), b=Labels("pqr"), c=Integers(0, 30))
    policy = Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])))
    # Nine cells; a record at 15 in place of 0 changes 15 * 16 + 15 ranges.
    assert best(policy, "ranges(c)") >= 6 * 255


def test_each_published_cell_holds_so_many_and_no_more() -> None:
    """Two tables that share an attribute, given: longest circuits found no room."""
    a, b, c = range(4), range(4), range(2)
    cells = [[[1 + (5 * x + 3 * y + z) % 6 for z in c] for y in b] for x in a]
    by_b = [sum(cells[x][y]) for x in a for y in b]
    by_c = [sum(cells[x][y][z] for y in b) for x in a for z in c]
    facts = (Marginal(["a", "b"], answers=by_b), Marginal(["a", "c"], answers=by_c))
    domain = table(4, 4, 2, 2, known=()).domain
    policy = Policy(domain=domain, known=facts, database=Database(size=sum(by_b)))
    assert best(policy, "histogram") >= sum(by_b)


def test_what_a_walk_yields_are_frames_and_none_is_beyond_the_best() -> None:
    rng = random.Random(5)
    for seed in range(12):
        count, width = rng.randint(4, 7), rng.randint(1, 3)
        rows = {tuple(rng.randint(0, 1) for _ in range(width)) for _ in range(count)}
        vectors = sorted(rows)
        basis = kernel(vectors)
        if len(basis) < 2:
            continue
        effects = np.array(vectors)
        values = Rows(
            tuple(((place,), (place,)) for place in range(len(vectors))),
            tuple(np.eye(2 * len(vectors))[2 * k : 2 * k + 2] for k in range(len(vectors))),
        )
        worth = Valued(values, None, 10**6)
        for frame in frames_walked(basis, worth, seed=seed, steps=200, end=float("inf")):
            arcs = arcs_of(frame.blocks, frame.vector, [True] * len(vectors))
            assert sum(times for _, _, times in arcs) * 2 == frame.worth
            moved = [effects[two] - effects[one] for one, two, _ in arcs]
            assert irreducible(np.array(moved), [times for _, _, times in arcs])


def test_the_best_of_few_frames_is_found() -> None:
    for sizes, known in (((2, 2, 2), ("a", "b", "c")), ((2, 3, 2), ("a", "b"))):
        policy = table(*sizes, known=known)
        setting = Problem(policy).setting("published")
        listed = signatures_of(class_table(setting))
        assert listed is not None
        assert few(listed[0])
        frame = best_frame(listed[0])
        assert frame is not None
        assert best(policy, "histogram") == frame.worth


def test_walks_begin_in_the_lattice_of_dependencies() -> None:
    """By multiples of five a basis of their fractions has determinants that are all too large."""
    pay = np.array([[x, y] for x in range(20, 96, 5) for y in range(3)])
    basis = frames.dependencies(pay)
    assert not (np.array(basis) @ pay).any()
    assert not np.array(basis).sum(axis=1).any()
    values = Rows(
        tuple(((place,), (place,)) for place in range(len(pay))),
        tuple(np.eye(2 * len(pay))[2 * k : 2 * k + 2] for k in range(len(pay))),
    )
    worth = Valued(values, None, 10**5)
    first = next(frames_walked(basis, worth, seed=0, steps=600, end=float("inf")))
    assert first.worth > 0


def test_what_is_no_circuit_is_refused() -> None:
    """Two relations at once, a multiple of one, and moves that do not sum to 0."""
    line = np.array([[1], [-1], [2]])
    assert not irreducible(line, [1, 3, 1])
    assert not irreducible(line[:2], [2, 2])
    assert not irreducible(line[:2], [1, 2])
    assert irreducible(line[1:], [2, 1])


def test_one_more_move_joins_a_circuit_in_one_way_or_none() -> None:
    """By all multisets: of those with the new effect once, one or none is irreducible."""
    rng = random.Random(5)
    met = 0
    while met < 40:
        size = rng.randint(1, 3)
        effects = np.array([[rng.randint(-3, 3) for _ in range(size)] for _ in range(size + 1)])
        minors = [
            (-1) ** k * round(float(np.linalg.det(np.delete(effects, k, axis=0).astype(float))))
            for k in range(size + 1)
        ]
        times = [abs(k) for k in minors]
        effects = effects * np.sign(minors)[:, None]
        if max(times) > 9 or not all(times) or not irreducible(effects, times):
            continue
        met += 1
        more = [rng.randint(-2, 2) for _ in range(size)]
        every = product(*(range(c + 8) for c in times))
        found = [v for v in every if not (np.array(v) @ effects + more).any()]
        least = [v for v in found if any(a < c for a, c in zip(v, times, strict=True))]
        circuit = Circuit(effects, times)
        told_of = circuit.with_one(more)
        assert least == ([] if told_of is None else [tuple(told_of)])
        for place in range(size + 1):
            both = [tuple(more), tuple((effects[place] - more).tolist())]
            counted: Counter[tuple[int, ...]] = Counter()
            for k, each in enumerate(effects.tolist()):
                counted[tuple(each)] += times[k] - (k == place)
            counted.update(both)
            named = sorted(counted)
            parts = tuple((k, counted[each]) for k, each in enumerate(named) if counted[each])
            assert circuit.goes_round(more, place) == is_irreducible(named, parts)
        circuit.places = []  # its effects were not seen to be of full rank: nothing is said
        assert not circuit.goes_round(more, 0)


def test_the_sum_of_a_number_is_known_and_moves_of_it_are_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A wage bill: hardly any circuit has one move along an edge, one may go round by an edge."""
    pay = range(20, 201, 5)
    policy = Policy(
        domain=Domain(a=Labels(list("abc")), b=Labels(list("xyz")), pay=Steps(20, 200, 5)),
        known=(Marginal(["a"]), Marginal(["b"]), Sum([(x, {"pay": x}) for x in pay])),
        secrets=Distance(metric="l1", threshold=5, attributes=["pay"]),
    )
    monkeypatch.setattr(frames, "STEPS", 100)
    assert best(policy, "histogram") >= 60


def test_paths_keep_off_edges_that_no_plain_move_can_take() -> None:
    """Firms by class, size and region: one value of each signature, so that few moves are plain."""
    groups = [(["a0", "a1", "a2"], "c0"), (["a0", "a1", "a2"], "c1")]
    groups += [(["a3", "a4", "a5"], "c0"), (["a3", "a4", "a5"], "c1")]
    policy = table(6, 2, 2, known=("a", "b"), secrets=AttributeChange(changes=1))
    counts = tuple(Count({"a": classes, "c": region}) for classes, region in groups)
    assert best(replace(policy, known=(*policy.known, *counts)), "histogram") >= 300


def test_later_walks_take_their_time() -> None:
    """4 x 4 cells: 16 classes and 9 blocks, so 576 steps until a walk of the last third is cold."""
    basis = kernel([(*np.eye(4)[i], *np.eye(4)[j]) for i, j in product(range(4), repeat=2)])
    seen = 0

    def worth(vectors: np.ndarray, cuts: np.ndarray) -> np.ndarray:
        nonlocal seen
        seen += 1
        return np.abs(vectors).sum(axis=0).astype(float)

    ends = [seen for _ in frames_walked(basis, worth, seed=0, steps=4_500, end=float("inf"))]
    lengths = [two - one for one, two in pairwise([0, *ends])]
    late = [n for n, end in zip(lengths, ends, strict=True) if end - n > 3_000]
    assert min(late[:-1]) >= 576 > min(lengths)


def test_frames_are_worth_what_the_norm_says() -> None:
    """Margins of 4 x 3 in squares: the best frame in l1 gives 286 (or less), others 304."""
    domain = Domain(
        w=Labels(["a", "b", "c", "d"]), o=Labels(["x", "y", "z"]), f=Labels(["0", "1", "2"])
    )
    known = (
        Marginal(["w"], answers=[90] * 4),
        Marginal(["o"], answers=[120] * 3),
        Impossible({"w": "c", "f": "2"}),
    )
    policy = Policy(domain=domain, known=known, database=Database(size=360))
    found = sensitivity(policy, norm="l2-squared", time_limit=20)
    assert (found.status, found.lower) == ("exact", 304)


@pytest.mark.parametrize("apart", [True, False])
def test_two_values_of_each_class_are_chosen_together(apart: bool) -> None:
    """In a histogram each class has outputs of its own; where all share two, they add up."""
    rng = np.random.default_rng(3)
    rows = [np.eye(10)[2 * k : 2 * k + 2] for k in range(5)] if apart else [np.eye(2)] * 5
    worth = Valued(Rows(((),) * 5, tuple(rows), L2_SQUARED), None, 10**6, squared=True)
    assert worth.squared is not None
    for _ in range(5):
        leaving, coming = rng.integers(0, 9, size=(2, 5))
        both = np.concatenate([coming, leaving])
        each = (coming, leaving) if apart else ([coming.sum()], [leaving.sum()])
        told = np.square(worth.squared @ both).sum()
        assert told == pytest.approx(sum(float(np.square(x).sum()) for x in each))
