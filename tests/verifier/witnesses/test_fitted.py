"""Circuits made to fit: irreducible, room for them in D1, and nearly as long as n allows."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from math import inf

import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    Setting,
    parse_query,
    setting,
)
from blowproof.verifier.asked.question import Progress, Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import ClassTable, class_table
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.neighbours.zero_parts import zero_part
from blowproof.verifier.theorems.beside import beside, groups_of, held_in
from blowproof.verifier.witnesses.frames import fitted
from blowproof.verifier.witnesses.frames import long_circuits as frames
from blowproof.verifier.witnesses.frames.fitted import Branch, Fitting, fitting
from blowproof.verifier.witnesses.frames.long_circuits import long_circuits
from blowproof.verifier.witnesses.frames.worth import Arc


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted, "STEPS", 300)


def margins(*totals: list[int], **more: object) -> Policy:
    """A table whose margins are known, and two attributes that they do not speak of."""
    sides = {name: len(each) for name, each in zip("abc", totals, strict=False)}
    axes = {name: Labels([f"{name}{k}" for k in range(size)]) for name, size in sides.items()}
    two = Labels(["no", "yes"])
    domain = Domain(**axes, free=two, other=two)
    known = tuple(
        Marginal([name], answers=tuple(each)) for name, each in zip("abc", totals, strict=False)
    )
    database = Database(size=sum(totals[0]))
    return Policy(domain=domain, known=known, database=database, **more)  # type: ignore[arg-type]


def drawn(rng: random.Random, most: int, *sizes: int) -> Policy:
    """A table of a few records, its margins known."""
    records = [[rng.randrange(size) for size in sizes] for _ in range(rng.randint(4, most))]
    each = [[sum(x[k] == v for x in records) for v in range(size)] for k, size in enumerate(sizes)]
    return margins(*each)


def made(policy: Policy) -> tuple[Setting, ClassTable, Fitting | None]:
    found = prepare(setting(policy), "published")
    table = class_table(found)
    cells = beside(table, groups_of(found))
    assert cells is not None
    held = held_in(cells, found)
    assert held is not None
    answers = [fact.answer for fact in found.equalities if fact.answer is not None]
    return found, table, fitting(cells, held, answers)


def effects(table: ClassTable, arcs: list[Arc]) -> Counter[tuple[int, ...]]:
    counts: Counter[tuple[int, ...]] = Counter()
    for one, two, times in arcs:
        counts[tuple((table.effects[two] - table.effects[one]).tolist())] += times
    return counts


def fits(found: Setting, table: ClassTable, arcs: list[Arc]) -> bool:
    """No fact counts more records that leave than D1 has."""
    for place, fact in enumerate(found.equalities):
        leaving = sum(times * int(table.effects[one, place]) for one, _, times in arcs)
        if leaving > (fact.answer or 0):
            return False
    return True


@pytest.mark.parametrize("seed", range(4))
def test_circuits_are_irreducible_and_there_is_room_for_them(seed: int) -> None:
    rng = random.Random(seed)
    many = 0
    for _ in range(5):
        sizes = rng.choice([(4, 3), (6, 2), (5, 4), (4, 2, 2)])
        found, table, some = made(drawn(rng, 60, *sizes))
        edges: list[Branch | None] = [None]
        if some is not None:
            kinds = some.groups[0].kinds
            edges.append((min(kinds), max(kinds)))
        for edge in edges:
            for arcs in some.circuits(edge, seed, inf) if some is not None else ():
                counts = effects(table, arcs)
                assert zero_part(counts) is False
                assert not any(map(sum, zip(*counts.elements(), strict=True)))
                assert fits(found, table, arcs)
                if edge is not None:
                    assert arcs[0][2] == 1
                    assert some is not None
                    assert arcs[0][:2] in {
                        (some.at[home, edge[0]], some.at[home, edge[1]]) for home in some.homes
                    }
                many += 1
    assert many > 20


@pytest.mark.parametrize("falls", [False, True])
def test_more_than_half_of_the_records_move(*, falls: bool) -> None:
    """24 x 6: each row holds as many, or a tenth less than the one before."""
    totals = [round(100 * 0.9**k) if falls else 40 for k in range(24)]
    sixth = sum(totals) // 6
    columns = [sum(totals) - 5 * sixth, *[sixth] * 5]
    found, table, some = made(margins(totals, columns))
    assert some is not None
    longest = max(some.circuits(None, 0, inf), key=lambda arcs: sum(m for _, _, m in arcs))
    assert sum(times for _, _, times in longest) > sum(totals) / 2
    assert zero_part(effects(table, longest)) is False
    assert fits(found, table, longest)


def told(policy: Policy) -> tuple[list[Progress], Setting]:
    """Return what is told of pairs, and the setting."""
    found: list[Progress] = []
    prepared = prepare(setting(policy), "published")
    query = parse_query("histogram", policy)
    long_circuits(Question(prepared, query, "published", listener=found.append))
    return found, prepared


@pytest.mark.parametrize("complete", [True, False])
def test_pairs_are_in_databases_with_the_known_numbers(
    monkeypatch: pytest.MonkeyPatch, *, complete: bool
) -> None:
    """Where G is not complete, one record makes a secret move, and all others plain ones."""
    monkeypatch.setattr(frames, "STEPS", 0)  # no walks
    policy = margins([40, 30, 24, 18, 14, 10, 8, 6, 5, 5], [80, 50, 30])
    if not complete:
        count = Count({"free": "yes"}, answer=60)
        secrets = PartitionBy(["a", "b"])
        policy = replace(policy, known=(*policy.known, count), secrets=secrets)
    posts, prepared = told(policy)
    best = max(posts, key=lambda post: post.lower)
    assert best.witness is not None
    assert check_pair(prepared, "published", best.witness)
    moves = list(zip(best.witness.before, best.witness.after, strict=True))
    secret = [prepared.graph.is_edge(x, y) for x, y in moves]
    assert all(secret) if complete else sum(secret) == 1
    assert len(moves) >= (60 if complete else 40)
    assert best.lower == 2 * len(moves)


def by_group(rng: random.Random, groups: int, rows: int, columns: int, most: int) -> Policy:
    """Two tables that share an attribute; nobody may tell values with the same label of it apart.

    Classes by the first two attributes have labels that those of another group lack.
    """
    domain = Domain(
        g=Labels([f"g{k}" for k in range(groups)]),
        a=Labels([f"a{k}" for k in range(rows)]),
        b=Labels([f"b{k}" for k in range(columns)]),
        free=Labels(["no", "yes"]),
    )
    records = [
        (rng.randrange(groups), rng.randrange(rows), rng.randrange(columns)) for _ in range(most)
    ]

    def counted(width: int, place: int) -> tuple[int, ...]:
        held = Counter((x[0], x[place]) for x in records)
        return tuple(held[g, k] for g in range(groups) for k in range(width))

    known = (
        Marginal(["g", "a"], answers=counted(rows, 1)),
        Marginal(["g", "b"], answers=counted(columns, 2)),
    )
    database = Database(size=most)
    return Policy(domain=domain, known=known, secrets=PartitionBy(["g"]), database=database)


@pytest.mark.parametrize("seed", range(3))
def test_labels_that_few_classes_have_make_circuits_too(seed: int) -> None:
    rng = random.Random(seed)
    many = 0
    for _ in range(3):
        policy = by_group(rng, rng.choice([2, 3]), rng.choice([4, 6]), 3, 90)
        found, table, some = made(policy)
        assert some is not None
        assert len(some.groups) > 1
        joined = frames._plainly(table, found)
        edge = next(frames._edges_of(table, some, found))
        for arcs in some.circuits(edge, seed, inf, joined):
            counts = effects(table, arcs)
            assert zero_part(counts) is False
            assert not any(map(sum, zip(*counts.elements(), strict=True)))
            assert fits(found, table, arcs)
            assert arcs[0][2] == 1
            assert all(joined(one, two) for one, two, _ in arcs[1:])
            many += 1
    assert many > 5


def test_pairs_of_groups_move_a_good_part_of_all_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """8 rows and 6 columns in each of two groups: no class has the labels of all."""
    monkeypatch.setattr(frames, "STEPS", 0)  # no walks
    monkeypatch.setattr(frames, "MOST_EDGES", 1)
    posts, prepared = told(by_group(random.Random(1), 2, 8, 6, 400))
    best = max(posts, key=lambda post: post.lower)
    assert best.witness is not None
    assert check_pair(prepared, "published", best.witness)
    moves = list(zip(best.witness.before, best.witness.after, strict=True))
    assert sum(prepared.graph.is_edge(x, y) for x, y in moves) == 1
    assert best.lower == 2 * len(moves)
    assert len(moves) > 100


def test_numbers_that_leave_no_room_have_no_circuits() -> None:
    """All records in one class; one label alone; a class that lacks the labels of others."""
    _, _, one = made(margins([20, 0, 0], [10, 10]))
    assert one is None
    _, _, full = made(margins([10, 10], [20, 0]))
    assert full is None or not list(full.circuits(None, 0, inf))


def test_of_huge_databases_a_part_is_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted, "MOST_RECORDS", 50_000)
    found, table, some = made(margins([10**8] * 6, [2 * 10**8] * 3))
    assert some is not None
    circuits = list(some.circuits(None, 0, inf))
    assert circuits
    for arcs in circuits:
        assert sum(times for _, _, times in arcs) <= 50_000
        assert fits(found, table, arcs)
