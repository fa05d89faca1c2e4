"""What a secret arc costs, beside the same maximum over all edges of G, one by one."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from blowproof.models import (
    AttributeChange,
    Count,
    Distance,
    Domain,
    Edges,
    Impossible,
    Integers,
    Labels,
    PartitionBy,
    Point,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.base.clock import now
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.theorems.values.secret_arc_above import with_a_secret_arc

DOMAIN = Domain(a=Labels(["p", "q", "r"]), x=Integers(0, 4), y=Integers(0, 2))
SECRETS: tuple[Any, ...] = (
    AttributeChange(),
    AttributeChange(changes=2),
    Distance(threshold=1),
    Distance(threshold=2, metric="linf", attributes=["x", "y"]),
    Distance(threshold=3, metric="l2", attributes=["x", "y"]),
    PartitionBy(["a"]),
    Edges([({"a": "p", "x": 0, "y": 0}, {"a": "q", "x": 4, "y": 1})]),
)
QUERIES = ("cumulative(x)", "sum(x)", "marginal(x,y)", "marginal(y)", "range(x,1,3)", "sum(x,y)")


def drawn(rng: random.Random, secrets: Any) -> Policy:
    """Return a policy with one to three facts, and perhaps an impossible region."""
    regions = ({"a": ["p"]}, {"x": [0, 3]}, {"x": [1], "y": [0, 2]}, {"y": 1}, {"a": "q", "x": 4})
    known: list[Any] = [Count(cut) for cut in rng.sample(regions, rng.randint(1, 3))]
    if rng.random() < 0.5:
        known.append(Impossible({"a": "r", "x": rng.randint(0, 4)}))
    return Policy(domain=DOMAIN, secrets=secrets, known=tuple(known))


def one_by_one(policy: Policy, query: Any) -> Any:
    """Return the statement's maximum, over values and edges as they are listed."""
    found = setting(policy)
    points = [p for p in product(*(range(k.size) for _, k in DOMAIN.attributes))
              if p not in found.impossible]  # fmt: skip

    def home(point: Point) -> tuple[bool, ...]:
        return tuple(fact.coefficient(point) > 0 for fact in found.equalities)

    def change(x: Point, y: Point) -> Any:
        return query.norm({x: -1, y: 1}) if x != y else 0

    across: dict[Any, Any] = {}
    edges: dict[Any, Any] = {}
    for x, y in product(points, repeat=2):
        ends = tuple(sorted((home(x), home(y))))
        across[ends] = max(across.get(ends, 0), change(x, y))
        if found.graph.is_edge(x, y):
            edges[ends] = max(edges.get(ends, 0), change(x, y))
    within = {a: size for (a, b), size in across.items() if a == b}
    whole = sum(within.values())
    sums = [
        along if a == b else along + across[a, b] + whole - within[a] - within[b]
        for (a, b), along in edges.items()
    ]
    return max(sums, default=0)


@pytest.mark.parametrize("place", range(len(SECRETS)))
def test_it_is_the_maximum_over_all_edges(place):
    rng = random.Random(place)
    for _ in range(4):
        policy = drawn(rng, SECRETS[place])
        found = setting(policy)
        table = class_table(found)
        homes = {row.tobytes(): number for number, row in enumerate(table.effects)}
        for text in rng.sample(QUERIES, 3):
            query = parse_query(text, policy)
            told = with_a_secret_arc(found, query, homes.get, end=now() + 60)
            assert told == one_by_one(policy, query), (policy, text)
