"""The worst move along one axis: the fast way against every pair, for trees of every shape."""

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from blowproof.models import (
    AttributeChange,
    Between,
    Distance,
    Domain,
    Full,
    Impossible,
    Integers,
    Labels,
    PartitionBy,
    PartitionCells,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.mechanisms.mechanism import Prefixes, Release, Tree
from blowproof.models.mechanisms.stacked_releases import bind_release
from blowproof.models.mechanisms.trees_and_prefixes import bind_prefixes, bind_tree
from blowproof.models.queries.kinds import Cumulative
from blowproof.models.queries.query import Move
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.engines.one_move.axis import Order, worst_move
from blowproof.verifier.engines.one_move.profile import shape_of
from blowproof.verifier.engines.one_move.worst_edge import worst_edge


def line(size, theta=None, **options):
    secrets = Full() if theta is None else Distance(threshold=theta)
    return Policy(domain=Domain(x=Integers(0, size - 1)), secrets=secrets, **options)


def weighted(releases, policy):
    """The releases bound, with weights 1 / scale."""
    parts = [bind_release(release, policy) for release in releases]
    return [replace(part, weights=tuple(1 / w for w in part.weights)) for part in parts]


def by_structure(policy, parts):
    """What the certifier finds."""
    found = worst_edge(setting(policy), parts)
    assert found is not None
    return found


def worst_listed(policy, parts):
    """The maximum over the edges of G, one by one, by the queries' own rows."""
    stacked = Stacked(tuple(parts))
    return max(
        (
            stacked.difference([Move(x, y)])
            for x, y in policy.graph.edges()
            if x not in policy.impossible and y not in policy.impossible
        ),
        default=0,
    )


# --- the shape of trees --------------------------------------------------------------------------


def children(low, high, fan_out):
    """The intervals of a node's children, as the description of `Tree` says."""
    width = -(-(high - low) // fan_out)
    return [(at, min(at + width, high)) for at in range(low, high, width)] if high - low > 1 else []


@pytest.mark.parametrize("size", range(1, 21))
def test_nodes_are_those_of_the_description(size):
    for fan_out, block in product((2, 3, 4), (None, 1, 2, 5, size)):
        query = bind_tree(Tree(attribute="x", fan_out=fan_out, block=block), line(size).domain)
        width = min(block or size, size)
        rows = [[(low, min(low + width, size)) for low in range(0, size, width)]]
        while any(high - low > 1 for low, high in rows[-1]):
            rows.append([part for node in rows[-1] for part in children(*node, fan_out)])
        expected = [(level, *node) for level, row in enumerate(rows) for node in row]
        assert list(query.nodes()) == expected
        assert query.depth == len(rows) - 1
        for place in range(size):
            above = [node for node in expected if node[1] <= place < node[2]]
            assert list(query.above(place)) == above
            assert set(query.row((place,))) == {(level, low) for level, low, _ in above}


def test_levels_and_blocks_are_cut_out():
    tree = Tree(attribute="x", fan_out=2, block=4, first=1, last=1, blocks=(1, 2))
    query = bind_tree(tree, line(11).domain)
    assert list(query.nodes()) == [(1, 4, 6), (1, 6, 8), (1, 8, 10), (1, 10, 11)]
    assert [dict(query.row((place,))) for place in (3, 4, 10)] == [{}, {(1, 4): 1}, {(1, 10): 1}]


@pytest.mark.parametrize("whole", [False, True])
def test_prefixes_are_those_of_the_description(whole):
    for size, every in product(range(1, 12), range(1, 13)):
        query = bind_prefixes(Prefixes(attribute="x", every=every, whole=whole), line(size).domain)
        ends = [k * every for k in range(1, size + 1) if k * every < size] + [size] * whole
        assert [query.end(place) for place in range(query.count)] == ends
        for place in range(size):
            assert set(query.row((place,))) == {k for k, end in enumerate(ends) if place < end}


# --- the worst move ------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 21))
def test_trees_of_every_size_fan_out_and_threshold(size):
    for fan_out in (2, 3, 4):
        policy = line(size)
        tree = Tree(attribute="x", fan_out=fan_out)
        levels = len(bind_tree(tree, policy.domain).levels)
        scales = tuple(Fraction(2 + level, 1 + level % 3) for level in range(levels))
        shape: Any = shape_of(
            weighted([Release(query=tree, scale=scales)], policy), policy.domain, policy.graph
        )
        profile = shape.profiles[0]
        losses = [[profile.loss(p, q) for q in range(size)] for p in range(size)]
        for theta in range(1, size + 1):
            expected = max(
                losses[p][q] for p in range(size) for q in range(p, min(size, p + theta + 1))
            )
            found: Any = worst_move(profile, Order.within(np.arange(size), theta))
            assert found.loss == expected
            assert not found.loss or losses[found.move[0]][found.move[1]] == expected


@pytest.mark.parametrize("size", range(1, 13))
def test_a_tree_per_block_with_prefixes_over_them(size):
    for theta, fan_out, first in product(range(1, size + 1), (2, 3), (0, 1)):
        policy = line(size, theta)
        last = -(-size // theta) - 1
        releases = [
            Release(query=Prefixes(attribute="x", every=theta, whole=True), scale=Fraction(3, 2)),
            Release(
                query=Tree(attribute="x", fan_out=fan_out, block=theta, first=first),
                scale=Fraction(5),
            ),
            Release(
                query=Tree(attribute="x", fan_out=3, block=theta, blocks=(0, last // 2)),
                scale=Fraction(7, 3),
            ),
        ]
        parts = weighted(releases, policy)
        found = by_structure(policy, parts)
        assert found.how.startswith("structure")
        assert found.loss == worst_listed(policy, parts)


def some_release(rng, size):
    def scale():
        return Fraction(rng.randint(1, 6), rng.randint(1, 3))

    kind = rng.randrange(8)
    if kind < 3:
        block = rng.choice([None, rng.randint(1, size)])
        count = -(-size // (block or size))
        low = rng.randrange(count)
        blocks = (low, rng.randrange(low, count)) if rng.random() < 0.4 else None
        query: Any = Tree(
            attribute="x",
            fan_out=rng.randint(2, 4),
            block=block,
            first=rng.choice([0, 0, 1]),
            blocks=blocks,
        )
        outputs = len(bind_tree(query, line(size).domain).levels)
    elif kind == 3:
        query = Prefixes(attribute="x", every=rng.randint(1, size), whole=rng.random() < 0.5)
        outputs = bind_prefixes(query, line(size).domain).count
    elif kind < 6:
        query, outputs = ("cumulative(x)", "histogram")[kind - 4], size
    else:
        low = rng.randrange(size)
        high = rng.randrange(low, size)
        query = rng.choice(["ranges(x)", "sum(x)", f"range(x,{low},{high})"])
        outputs = 1
    many = outputs > 1 and rng.random() < 0.6
    return Release(query=query, scale=tuple(scale() for _ in range(outputs)) if many else scale())


def some_secrets(rng, size):
    if rng.random() < 0.3:
        return Full()
    if rng.random() < 0.5:
        metric = rng.choice(["l1", "l2", "linf"])
        return Distance(threshold=rng.randint(1, size), metric=metric)
    cells = [rng.randrange(3) for _ in range(size)]
    return PartitionCells(
        [{"x": [p for p in range(size) if cells[p] == cell]} for cell in sorted(set(cells))]
    )


@pytest.mark.parametrize("seed", range(250))
def test_any_releases_under_any_secrets_on_one_attribute(seed):
    rng = random.Random(seed)
    size = rng.randint(1, 14)
    zeros = [rng.randrange(size) for _ in range(2)] if rng.random() < 0.3 else []
    policy = replace(
        line(size),
        secrets=some_secrets(rng, size),
        known=(Impossible({"x": sorted(set(zeros))}),) if zeros else (),
    )
    releases = [some_release(rng, size) for _ in range(rng.randint(1, 3))]
    parts = weighted(releases, policy)
    found = by_structure(policy, parts)
    assert found.how.startswith("structure")
    assert found.loss == worst_listed(policy, parts)


QUERIES = [
    *("histogram", "marginal(x)", "marginal(s,x)", "marginal(s)", "marginal(y,s)", "sum(x)"),
    *("sum(x,y)", "cumulative(x)", "cumulative(y)", "range(y,0,1)", "ranges(x)"),
]


@pytest.mark.parametrize("seed", range(120))
def test_releases_on_several_attributes(seed):
    rng = random.Random(seed)
    domain = Domain(
        x=Integers(0, rng.randint(0, 4)), s=Labels("abc"[: rng.randint(1, 3)]), y=Integers(0, 2)
    )
    secrets: Any = rng.choice(
        [
            Full(),
            AttributeChange(changes=rng.randint(1, 3)),
            PartitionBy(rng.choice([["s"], ["x", "y"], ["y"]])),
            Distance(threshold=rng.randint(1, 4), metric=rng.choice(["l1", "l2", "linf"])),
            Distance(threshold=2, attributes=["x"]),
        ]
    )
    policy = Policy(domain=domain, secrets=secrets)
    releases = [
        Release(query=rng.choice(QUERIES), scale=Fraction(rng.randint(1, 5), rng.randint(1, 2)))
        for _ in range(rng.randint(1, 3))
    ]
    parts = weighted(releases, policy)
    assert by_structure(policy, parts).loss == worst_listed(policy, parts)


def test_a_count_over_two_intervals_is_listed():
    policy = replace(
        line(9, 3), secrets=PartitionCells([{"x": Between(0, 4)}, {"x": Between(5, 8)}])
    )
    area = policy.domain.area
    from blowproof.models import Region
    from blowproof.models.queries.kinds import CountQuery

    count = CountQuery(area([Region({"x": [0, 4]}), Region({"x": 6})]))
    parts = weighted([Release(query=count, scale=Fraction(2))], policy)
    found = by_structure(policy, parts)
    assert (found.loss, found.how) == (Fraction(1, 2), "every edge compared")


def test_large_numbers_do_not_overflow():
    policy = line(50, 7)
    scales = tuple(Fraction(1, 10**15 + place) for place in range(50))
    parts = weighted([Release(query="cumulative(x)", scale=scales)], policy)
    assert by_structure(policy, parts).loss == worst_listed(policy, parts) > 2**50


def test_a_million_values_are_certified_by_structure():
    policy = line(10**6, 1000)
    releases = [
        Release(query=Prefixes(attribute="x", every=1000, whole=True), scale=Fraction(2)),
        Release(query=Tree(attribute="x", fan_out=16, block=1000, first=1), scale=Fraction(12)),
    ]
    found = by_structure(policy, weighted(releases, policy))
    assert found.loss == Fraction(1, 2) + 2 * 3 * Fraction(1, 12)


def test_a_query_that_only_looks_like_ours_is_listed():
    class Doubled(Cumulative):
        def row(self, point):
            return dict.fromkeys(super().row(point), 2)

    policy = line(9, 3)
    parts = weighted([Release(query=Doubled(0, 9), scale=Fraction(1))], policy)
    found = by_structure(policy, parts)
    assert (found.loss, found.how) == (6, "every edge compared")


def test_cells_of_another_partition_change_along_edges():
    cells = replace(line(6), secrets=PartitionBy(["x"]))
    other = parse_query("partition", cells)
    release = Release(query=other, scale=Fraction(1))
    assert by_structure(cells, weighted([release], cells)).loss == 0
    assert by_structure(line(6), weighted([release], line(6))).loss == 2
