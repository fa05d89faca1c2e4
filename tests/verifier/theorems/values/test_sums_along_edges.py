"""Sums in reading 2: the heaviest cycles along edges are what the search finds, edge by edge."""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Database,
    Distance,
    Domain,
    Exact,
    Impossible,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    Steps,
    parse_query,
    setting,
)
from blowproof.models.domain.regions import Box, Positions
from blowproof.models.secrets import OffsetGraph
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.simple_cycles import single_cycles
from blowproof.verifier.theorems.values import sums_along_edges as sums
from blowproof.verifier.theorems.values.sums_along_edges import best_edge, heaviest_cycle

FOREVER = float("inf")
Secrets = Distance | AttributeChange | PartitionBy


def graphs(rng: random.Random) -> Secrets:
    """Return secrets that look at offsets."""
    metric = rng.choice(("l1", "l2", "linf"))
    axes = rng.choice((["x", "y"], ["x"], ["y"]))
    kinds: list[Secrets] = [
        Distance(metric=metric, threshold=rng.randint(1, 3)),
        Distance(metric=metric, threshold=rng.randint(1, 2), attributes=axes),
        AttributeChange(changes=rng.randint(1, 2)),
        PartitionBy(["y"]),
    ]
    return rng.choice(kinds)


def drawn(rng: random.Random) -> Policy:
    """Return precincts of a small grid, one inside of another or apart, some places impossible."""
    width, height = rng.randint(2, 5), rng.randint(2, 3)
    y = Steps(0, 2 * (height - 1), 2) if rng.random() < 0.3 else Integers(0, height - 1)
    domain = Domain(x=Integers(0, width - 1), y=y)
    cut = rng.randint(0, width - 1)
    known: list[Count | Impossible | Marginal] = [Count({"x": Between(0, cut)})]
    if rng.random() < 0.5:
        known.append(Count({"x": Between(0, cut), "y": 0}))
    if rng.random() < 0.3:
        known = [Marginal(["x"])]
    if rng.random() < 0.4:
        known.append(Impossible({"x": rng.randint(0, width - 1), "y": 0}))
    return Policy(domain=domain, known=tuple(known), secrets=graphs(rng))


@pytest.mark.parametrize("seed", range(60))
def test_cycles_of_boxes_are_what_the_search_finds(seed: int) -> None:
    rng = random.Random(seed)
    policy = drawn(rng)
    query = rng.choice(("sum(x)", "sum(x,y)", "sum(y)", "cumulative(x)", "ranges(x)"))
    found = prepare(setting(policy), "secret-moves")
    if found.graph.complete:
        return
    told = single_cycles(Question(found, parse_query(query, policy), "secret-moves"))
    slow = sensitivity(policy, query, reading="secret-moves", engine="search")
    assert told is not None and slow.status == "exact"
    assert told.upper is not None and told.lower <= slow.lower <= told.upper
    assert told.lower == told.upper or query in ("cumulative(x)", "ranges(x)")
    if told.witness is not None:
        assert check_pair(found, "secret-moves", told.witness).holds


NORMS = ("l2-squared", "linf", "range")
WEIGHED = ("sum(x)", "sum(x,y)", "sum(y)", "cumulative(x)", "ranges(x)", "2/3*sum(x,y)",
           "marginal(x)", "histogram", "[1,3]*sum(x,y)", "sum(x) + 1/2*sum(y)")  # fmt: skip


@pytest.mark.parametrize("seed", range(90))
def test_in_other_norms_too(seed: int) -> None:
    rng = random.Random(seed)
    policy = drawn(rng)
    query, norm = WEIGHED[seed % len(WEIGHED)], NORMS[seed % len(NORMS)]
    found = prepare(setting(policy), "secret-moves")
    if found.graph.complete:
        return
    asked = parse_question(query, policy, norm)
    told = single_cycles(Question(found, asked, "secret-moves"))
    slow = sensitivity(policy, query, norm=norm, reading="secret-moves", engine="search")
    assert told is not None and slow.status == "exact"
    assert told.upper is not None and told.lower <= slow.lower <= told.upper
    if query in ("sum(x)", "sum(y)"):
        assert told.lower == told.upper
    if told.witness is not None:
        assert asked.difference(told.witness.moves("secret-moves")) == told.lower
        assert check_pair(found, "secret-moves", told.witness).holds


def test_far_places_of_a_district_are_the_worst_in_squares() -> None:
    # one goes 5 to the right out of it, one comes 5 to the right into it: 10 on one axis. Before,
    # 68 to 100: the pair that is worst in l1 has moved 8 on one axis and 2 on the other.
    policy = Policy(
        domain=Domain(x=Integers(0, 99), y=Integers(0, 99)),
        known=(Count({"x": Between(30, 41), "y": Between(30, 45)}),),
        secrets=Distance(metric="l1", threshold=5),
    )
    for norm, value in (("l2-squared", 100), ("linf", 10), ("range", 10)):
        told = sensitivity(policy, "sum(x,y)", norm=norm, reading="secret-moves", time_limit=0.5)
        assert (told.lower, told.upper) == (value, value)


def ends(side: Positions, rng: random.Random) -> Positions:
    """Return some of the positions."""
    return Positions.of(p for p in side if rng.random() < 0.5) or Positions.of([side.nth(0)])


@pytest.mark.parametrize("seed", range(150))
def test_the_best_edge_of_two_boxes_is_the_best_of_all(seed: int) -> None:
    rng = random.Random(seed)
    domain = Domain(x=Integers(0, 6), y=Steps(0, 6, rng.choice((1, 2))), z=Integers(0, 2))
    policy = Policy(domain=domain, secrets=graphs(rng))
    graph = policy.graph
    assert isinstance(graph, OffsetGraph)
    one, two = (Box.of(ends(side, rng) for side in domain.whole.sides) for _ in range(2))
    steps = {0: rng.choice((1, -1)), 1: rng.choice((2, -1)), 2: rng.choice((1, -3))}
    slopes: dict[int, Exact] = {axis: steps[axis] for axis in rng.sample(range(3), 2)}

    def worth(x: tuple[int, ...], y: tuple[int, ...]) -> Exact:
        return sum((slope * (y[axis] - x[axis]) for axis, slope in slopes.items()), start=0)

    every = [worth(x, y) for x in one.points() for y in two.points() if graph.is_edge(x, y)]
    told = best_edge(graph, one, two, slopes)
    assert told is not None
    if told:
        ((value, (x, y)),) = told
        assert graph.is_edge(x, y) and x in one and y in two
        assert value == worth(x, y) == max(every)
    else:  # but for values that stay where they are
        assert max(every, default=0) <= 0
        assert not every or any(x in two for x in one.points())


@pytest.mark.parametrize("seed", range(60))
def test_no_cycle_is_heavier(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    count = rng.randint(2, 6)
    arcs: dict[int, dict[int, Exact]] = {}
    for a in range(count):
        for b in range(a):
            if rng.random() < 0.6:
                arcs.setdefault(a, {})[b] = rng.randint(-4, 6)
                arcs.setdefault(b, {})[a] = rng.randint(-4, 6)

    def weight(cycle: tuple[int, ...]) -> Exact | None:
        ways = [(a, b) for a, b in zip(cycle, (*cycle[1:], cycle[0]), strict=True)]
        if any(b not in arcs.get(a, {}) for a, b in ways):
            return None
        return sum((arcs[a][b] for a, b in ways), start=0)

    least, above = rng.choice((2, 3)), rng.choice((0, 0, 5))
    cycles = [c for size in range(least, count + 1) for c in permutations(range(count), size)]
    best = max([above, *(value for c in cycles if (value := weight(c)) is not None)])
    found = heaviest_cycle(arcs, end=FOREVER, least=least, above=above)
    assert found.weight == found.upper == best
    assert (weight(found.cycle) if found.cycle else above) == best
    monkeypatch.setattr(sums, "MOST_STEPS", 3)
    short = heaviest_cycle(arcs, end=FOREVER, least=least, above=above)
    assert short.weight <= best <= short.upper


@pytest.mark.parametrize("seed", range(40))
def test_cycles_leave_what_heavy_arcs_join_by_light_ones(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Columns with heavy arcs within, and light ones between: the bound holds without a search."""
    rng = random.Random(seed)
    column, weights = [rng.randrange(3) for _ in range(6)], [rng.randint(-1, 4) for _ in range(3)]
    arcs: dict[int, dict[int, Exact]] = {
        a: {
            b: weights[column[a]] + rng.randint(0, 1) if column[a] == column[b] else 0
            for b in range(6)
            if b != a
        }
        for a in range(6)
    }
    cycles = [c for size in range(2, 7) for c in permutations(range(6), size) if c[0] == min(c)]
    best = max(sum(arcs[a][b] for a, b in zip(c, (*c[1:], c[0]), strict=True)) for c in cycles)
    assert heaviest_cycle(arcs, end=FOREVER).upper == max(0, best)
    monkeypatch.setattr(sums, "MOST_STEPS", 0)
    assert heaviest_cycle(arcs, end=FOREVER).upper >= best


def test_degrees_of_many_programmes_are_seen_two_moves_of_three() -> None:
    """35 programmes of 3 degrees each: a cycle has two moves between degrees in each of them, or
    fewer, and one that is not seen. It was 140..210.
    """
    policy = Policy(
        domain=Domain(programme=Integers(1, 35), degree=Labels("bmd"), origin=Labels("heo")),
        known=(Marginal(["programme", "degree"]),),
        secrets=AttributeChange(changes=1),
    )
    query = parse_question("marginal(degree,origin)", policy)
    told = single_cycles(Question(prepare(setting(policy), "secret-moves"), query, "secret-moves"))
    assert told is not None
    assert told.lower == told.upper == 140


@pytest.mark.parametrize(
    ("side", "metric", "threshold", "value"),
    [(6, "l1", 3, 7), (10**6, "l1", 3, 7), (1000, "l2", 40, 150)],
)
def test_three_precincts_of_a_grid(side: int, metric: str, threshold: int, value: int) -> None:
    """7 was 3..9: more edges than can be listed, and a cycle of three."""
    half = side // 2
    west, east = Between(0, half - 1), Between(half, side - 1)
    policy = Policy(
        domain=Domain(x=Integers(0, side - 1), y=Integers(0, side - 1)),
        known=(Count({"x": west, "y": west}), Count({"x": east, "y": west}), Count({"y": east})),
        secrets=Distance(metric=metric, threshold=threshold),
    )
    found = prepare(setting(policy), "secret-moves")
    told = single_cycles(Question(found, parse_query("sum(x,y)", policy), "secret-moves"))
    assert told is not None and told.witness is not None
    assert (told.lower, told.upper) == (value, value)
    assert check_pair(found, "secret-moves", told.witness).holds


@pytest.mark.parametrize(
    ("query", "ends"), [("cumulative(x)", (7, 7)), ("ranges(x)", (6958, 6990))]
)
def test_counts_along_an_axis_of_a_grid(query: str, ends: tuple[int, int]) -> None:
    """3..9 and 2,994..8,982 before."""
    half, side = Between(0, 499), Between(500, 999)
    policy = Policy(
        domain=Domain(x=Integers(0, 999), y=Integers(0, 999)),
        known=(Count({"x": half, "y": half}), Count({"x": side, "y": half}), Count({"y": side})),
        secrets=Distance(metric="l1", threshold=3),
    )
    found = prepare(setting(policy), "secret-moves")
    told = single_cycles(Question(found, parse_query(query, policy), "secret-moves"))
    assert told is not None and told.witness is not None
    assert (told.lower, told.upper) == ends
    assert check_pair(found, "secret-moves", told.witness).holds


def test_a_precinct_with_nobody_takes_no_part() -> None:
    line = Domain(x=Integers(0, 9))
    known = (Count({"x": Between(0, 3)}, answer=2), Count({"x": Between(4, 5)}, answer=0))
    policy = Policy(
        domain=line,
        known=known,
        secrets=Distance(metric="l1", threshold=2),
        database=Database(size=3, answers="given"),
    )
    found = prepare(setting(policy), "secret-moves")
    told = single_cycles(Question(found, parse_query("sum(x)", policy), "secret-moves"))
    assert told is not None and told.witness is not None
    assert (told.lower, told.upper) == (2, 2)
    assert check_pair(found, "secret-moves", told.witness).holds
