"""Cells put together, and effects in parts, against a listing of single values and of subsets."""

import copy
import json
from collections import defaultdict
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product
from random import Random
from typing import Any

import networkx
import pytest

from asked import resigned
from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Distance,
    Domain,
    Edges,
    Full,
    Impossible,
    Integers,
    Known,
    Labels,
    Marginal,
    PartitionBy,
    PartitionCells,
    Policy,
    Region,
    Steps,
    Sum,
)
from blowproof.models.files.writing import canonical
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.kernel import Verdict, check, world
from blowproof.verifier.kernel.boxes import Box, inside
from blowproof.verifier.kernel.check import SCHEMA, world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.independent import parts
from blowproof.verifier.kernel.joined_boxes import near, united
from blowproof.verifier.kernel.proofs import cycles
from blowproof.verifier.kernel.world import Change, Effects, norm, plus
from blowproof.verifier.proofs.irreducible_parts import parted

READINGS = ("published", "secret-moves", "add-remove")
DOMAINS = (
    Domain(a=Integers(0, 9)),
    Domain(a=Integers(-2, 4), b=Labels(["x", "y", "z"])),
    Domain(a=Steps(0, 2, "1/2"), b=Integers(0, 3)),
    Domain(a=Integers(0, 2), b=Labels(["u", "v"]), c=Integers(0, 2)),
)


def some_region(rng, domain):
    region: dict[str, Any] = {}
    for name, kind in domain.attributes:
        values = [kind.value(k) for k in range(kind.size)]
        if rng.random() < 0.3:
            continue
        if kind.ordered and rng.random() < 0.7:
            low, high = sorted(rng.choices(range(kind.size), k=2))
            region[name] = Between(values[low], values[high])
        else:
            region[name] = rng.sample(values, rng.randint(1, len(values)))
    return region or {domain.names[0]: [domain.attribute(0).value(0)]}


def some_secrets(rng, domain):
    names = list(domain.names)
    kind = domain.attribute(0)
    values = [kind.value(k) for k in range(kind.size)]
    points = [dict(zip(names, domain.decode(x), strict=True)) for x in domain.points()]
    every = [(x, y) for k, x in enumerate(points) for y in points[:k]]
    pairs = rng.sample(every, rng.randint(1, 6))
    cut = rng.randint(1, len(values) - 1)
    metric, threshold = rng.choice(["l1", "l2", "linf"]), rng.choice([1, 2, "3/2", 3])
    return rng.choice(
        [
            Full(),
            AttributeChange(changes=1),
            AttributeChange(changes=2) if len(names) > 1 else AttributeChange(changes=1),
            PartitionBy(names[-1:]),
            PartitionCells([Region({names[0]: values[:cut]}), Region({names[0]: values[cut:]})]),
            Edges(pairs),
            Distance(metric=metric, threshold=threshold, strict=rng.random() < 0.3),
            Distance(threshold=1, attributes=names[:1]),
        ]
    )


def some_queries(rng, policy):
    name = policy.domain.names[0]
    queries = [("histogram", []), ("histogram", []), ("marginal", [name]), ("sum", [name])]
    queries += [("cumulative", [name]), ("ranges", [name])]
    if policy.secrets.kind == "partition":
        queries.append(("partition", []))
    return dict(zip(("kind", "arguments"), rng.choice(queries), strict=True))


def some_policy(rng):
    domain = rng.choice(DOMAINS)
    known: list[Known] = [Count(some_region(rng, domain)) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.3:
        known.append(Marginal([domain.names[-1]]))
    if rng.random() < 0.2:
        known.append(Sum([(2, some_region(rng, domain)), (-1, some_region(rng, domain))]))
    if rng.random() < 0.4:
        known.append(Impossible(some_region(rng, domain)))
    return Policy(domain=domain, known=tuple(known), secrets=some_secrets(rng, domain))


def world_about(policy, query, reading):
    claim = {
        **{"schema": SCHEMA, "policy": json.loads(canonical(policy)), "query": query, "value": 0},
        **{"norm": "l1", "reading": reading, "answers": "any", "witness": None, "proof": {}},
    }
    return world_of(resigned(claim), Budget())[0]


def listed(found):
    """Effects, the changes that a move from value to value can make, secret effects, and idle."""
    policy, query = found.policy, found.query
    points = [x for x in product(*(range(axis.size) for axis in policy.axes))
              if not inside(x, policy.zeros)]  # fmt: skip
    rows = {x: frozenset((k, v) for k, v in query.row(x).items() if v) for x in points}
    signs = {x: found.effect(x) for x in points}
    changes, secret, idle = defaultdict(set), set(), 0
    moves = []
    if found.labelled:
        for x, y in product(points, repeat=2):
            hidden = policy.graph.joined(x, y)
            if x != y and (hidden or found.reading == "published"):
                away = frozenset((k, -v) for k, v in rows[x])
                effect = tuple(b - a for a, b in zip(signs[x], signs[y], strict=True))
                moves.append((effect, plus(away, rows[y]), hidden))
    else:
        for x in points:
            moves.append((signs[x], rows[x], True))
            away = frozenset((k, -v) for k, v in rows[x])
            moves.append((tuple(-v for v in signs[x]), away, True))
    for effect, change, hidden in moves:
        if any(effect):
            changes[effect].add(change)
            secret |= {effect} if hidden else set()
        elif hidden:
            idle = max(idle, norm(change))
    return changes, secret, idle


def largest(options, size=norm):
    return max(size(total) for total in totals(options))


def totals(options):
    sums: set[Change] = {frozenset()}
    for changes in options:
        sums = {plus(part, change) for part in sums for change in changes}
    return sums


@pytest.mark.parametrize("seed", range(120))
@pytest.mark.parametrize("large", [False, True])
def test_effects_are_those_of_single_values(seed, large, monkeypatch):
    """Grouped, as in a domain that is too large to list, and with a cell for each value."""
    if large:
        monkeypatch.setattr(world, "MOST_POINTS", 0)
    rng = Random(seed)
    policy = some_policy(rng)
    query, reading = some_queries(rng, policy), rng.choice(READINGS)
    found = world_about(policy, query, reading)
    if not any(True for _ in found.cells([])):
        return
    changes, secret, idle = listed(found)
    moves = Effects(world_about(policy, query, reading))
    scale = moves.scale
    if large and query["kind"] == "sum" and not found.free:  # all moves count as secret
        assert set(moves.effects) >= set(changes)
        assert moves.secret >= secret
    else:
        assert set(moves.effects) == set(changes)
        assert moves.secret == secret
        assert moves.idle == idle * scale
        weights = [max(map(norm, changes[d])) * scale for d in moves.effects]
        assert moves.weights == weights
    assert moves.idle >= idle * scale
    for _ in range(8 if changes else 0):
        picked = rng.choices(sorted(changes), k=rng.randint(2, 3))
        if sum(len(changes[d]) for d in picked) < 60:
            true = largest([changes[d] for d in picked]) * scale
            assert largest([moves.changes[d] for d in picked], moves.measure.size) >= true


@pytest.mark.parametrize("seed", range(60))
def test_near_boxes_are_those_that_an_edge_joins(seed, monkeypatch):
    monkeypatch.setattr(world, "MOST_POINTS", 0)
    rng = Random(1000 + seed)
    policy = some_policy(rng)
    found = world_about(policy, {"kind": "count", "arguments": []} | some_queries(rng, policy),
                        "secret-moves")  # fmt: skip
    cells, joins, areas = found.classes()
    graph = found.policy.graph
    if not joins:
        return
    boxes = [box for area in areas for box in area]
    held = [list(product(*([p for a, b in side for p in range(a, b)] for side in box)))
            for box in boxes]  # fmt: skip
    assert len({x for some in held for x in some}) == sum(map(len, held))
    counted = iter(map(len, held))
    for cell, area in zip(cells, areas, strict=True):
        assert min(world.MANY, sum(next(counted) for _ in area)) == cell.size
    truth = {
        (i, j)
        for i, j in product(range(len(boxes)), repeat=2)
        if any(graph.joined(x, y) for x in held[i] for y in held[j] if x != y)
    }
    told = list(near(graph, boxes, Budget()))
    assert set(told) == truth
    assert len(told) == len(set(told))
    for cell, area in zip(cells, areas, strict=True):
        points = [x for box in area for x in held[boxes.index(box)]]
        assert {found.effect(x) for x in points} == {found.effect(cell.point)}


def test_united_boxes_hold_what_their_parts_did():
    rng = Random(5)
    for _ in range(50):
        cuts = [sorted({0, 6, *rng.choices(range(1, 6), k=2)}) for _ in range(3)]
        sides = [[((a, b),) for a, b in pairwise(c)] for c in cuts]
        boxes: list[tuple[int, Box]] = [(rng.randint(0, 1), box) for box in product(*sides)]
        found = united(boxes, Budget())
        assert len(found) <= len(boxes)

        def held(boxes):
            return sorted(
                (kind, x)
                for kind, box in boxes
                for x in product(*([p for a, b in side for p in range(a, b)] for side in box))
            )

        assert held(found) == held(boxes)


def effects_of(vectors, weight=1):
    """Effects of which each has one change, all of them secret."""
    made = Effects.__new__(Effects)
    made.world = world_about(Policy(domain=DOMAINS[0]), {"kind": "histogram", "arguments": []},
                             "secret-moves")  # fmt: skip
    made.effects = sorted(set(vectors))
    made.changes = {d: {frozenset([(d, weight)])} for d in made.effects}
    made.weights = [weight] * len(made.effects)
    made.secret, made.longest, made.idle, made.scale = set(made.effects), None, 0, 1
    made.measure = made.world.measure
    return made


@pytest.mark.parametrize("seed", range(80))
def test_parts_of_a_graph_are_its_blocks(seed):
    """And no simple cycle is longer than the kind `cycles` says."""
    rng = Random(seed)
    count = rng.randint(2, 6)
    graph = networkx.DiGraph()
    for _ in range(rng.randint(1, 9)):
        graph.add_edge(*rng.sample(range(count), 2))
    vectors = [tuple((v == k) - (u == k) for k in range(1, count)) for u, v in graph.edges]
    moves = effects_of(vectors)
    blocks = list(networkx.biconnected_components(graph.to_undirected()))
    found = parts(moves)
    assert sorted(size + 1 for _, size in found) == sorted(map(len, blocks))
    assert sorted(d for part, _ in found for d in part.effects) == moves.effects
    longest = max(map(len, networkx.simple_cycles(graph)), default=0)
    assert longest <= cycles.bound(moves) == max(map(len, blocks))
    moves.longest = 1
    assert cycles.bound(moves) == 1
    moves.secret = set(rng.sample(moves.effects, 1))
    assert [part.secret for part, _ in parts(moves)] == [moves.secret]


@pytest.mark.parametrize("seed", range(60))
def test_an_irreducible_lies_in_one_part(seed):
    rng = Random(seed)
    vectors = [v for v in product((-1, 0, 1), repeat=3) if any(v)]
    some = rng.sample(vectors, rng.randint(2, 6))
    some += [tuple(-v for v in d) for d in rng.sample(some, 1)]
    moves = effects_of([(*d, d[0] + d[1]) for d in some])
    found = [set(part.effects) for part, _ in parts(moves)]
    zero = []
    for size in (1, 2, 3, 4):
        for multiset in combinations_with_replacement(moves.effects, size):
            if not any(map(sum, zip(*multiset, strict=True))):
                zero.append(multiset)
    for multiset in zero:
        pieces = [[d for d in multiset if d in part] for part in found]
        for piece in pieces:
            assert not any(map(sum, zip(*piece, strict=True)))


def two_parts():
    """Two pairs of overlapping ranges far from each other, under a distance: two parts."""
    known = tuple(Count({"x": Between(a, b)})
                  for a, b in ((0, 10), (5, 15), (500, 510), (505, 515)))  # fmt: skip
    domain = Domain(x=Integers(0, 999))
    return Policy(domain=domain, known=known, secrets=Distance(threshold=8))


def certificate():
    policy = two_parts()
    answer = sensitivity(policy, reading="secret-moves")
    base = world_about(policy, {"kind": "histogram", "arguments": []}, "secret-moves")
    moves = Effects(base)
    assert answer.witness is not None
    query = {"kind": "histogram", "arguments": []}
    document = {
        **{"schema": SCHEMA, "policy": json.loads(canonical(policy)), "query": query},
        **{"norm": "l1", "reading": "secret-moves", "answers": "any", "value": int(answer.lower)},
        "witness": answer.witness.to_json(policy.domain),
    }
    document = resigned(document)
    (proof,) = parted(moves, int(answer.lower), 20.0)
    return document, proof


def test_a_proof_in_parts_needs_each_of_them():
    document, proof = certificate()
    assert len(proof["parts"]) == 2
    assert check({**document, "proof": proof}) == check({**document, "proof": copy.deepcopy(proof)})
    assert check({**document, "proof": proof}).accepted
    one, two = proof["parts"]
    empty = {**one, "nodes": []}
    for forged in ([], [one], [two], [one, two, two], [empty, two], [one, empty]):
        found: Verdict = check({**document, "proof": {**proof, "parts": forged}})
        assert not found.accepted
    lower = {**document, "value": document["value"] - 2, "witness": None}
    assert not check({**lower, "proof": proof}).accepted


def test_parts_cannot_be_named_for_effects_that_are_linked():
    policy = Policy(domain=DOMAINS[0], known=(Count({"a": Between(0, 4)}),
                                              Count({"a": Between(3, 7)})))  # fmt: skip
    moves = Effects(world_about(policy, {"kind": "histogram", "arguments": []}, "published"))
    assert len(parts(moves)) == 1


def test_thousands_of_cells_are_few_classes():
    """40 disjoint rectangles: 41 signatures. What counts is the steps that it takes."""
    rng, known = Random(1), []
    spots = rng.sample([(x, y) for x in range(10) for y in range(10)], 40)
    for x, y in spots:
        left, low = 100 * x + rng.randint(0, 30), 100 * y + rng.randint(0, 30)
        known.append(Count({"x": Between(left, left + 60), "y": Between(low, low + 60)}))
    domain = Domain(x=Integers(0, 1100), y=Integers(0, 1100))
    policy = Policy(domain=domain, known=tuple(known), secrets=Distance(threshold=5))
    found = world_about(policy, {"kind": "histogram", "arguments": []}, "secret-moves")
    assert len(found.kinds()[0]) > 4000
    moves = Effects(found)
    near_pairs = sum(1 for d in moves.effects if sorted(d)[0] == -1 and sorted(d)[-1] == 1)
    assert len(moves.effects) == 80 + near_pairs
    assert Budget().left - found.budget.left < 5_000_000
    assert cycles.bound(moves) >= 4


def test_a_long_side_costs_its_runs_once():
    """Every second of many values, under a distance: the least offset is found by one walk."""
    size = 40_000
    evens = list(range(0, size, 2))
    policy = Policy(domain=Domain(x=Integers(0, size - 1)), known=(Count({"x": evens}),),
                    secrets=Distance(threshold=1))  # fmt: skip
    moves = Effects(world_about(policy, {"kind": "histogram", "arguments": []}, "secret-moves"))
    assert moves.effects == [(-1,), (1,)]
    assert moves.idle == 0
    assert moves.weights == [2, 2]


def test_fractions_of_a_query_are_scaled_once():
    policy = Policy(domain=Domain(a=Steps(0, "3/2", "1/2"), b=Integers(0, 3)), secrets=Full())
    moves = Effects(world_about(policy, {"kind": "sum", "arguments": ["a"]}, "published"))
    assert (moves.scale, Fraction(moves.idle, moves.scale)) == (2, Fraction(3, 2))


def test_an_empty_domain_has_no_moves():
    policy = Policy(domain=DOMAINS[0], known=(Impossible({"a": Between(0, 9)}),))
    try:
        moves = Effects(world_about(policy, {"kind": "histogram", "arguments": []}, "published"))
    except Rejected:
        return
    assert moves.effects == []
    assert moves.idle == 0
