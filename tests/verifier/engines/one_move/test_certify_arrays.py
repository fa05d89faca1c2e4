"""Clusters and matrices: all edges in array operations, against every edge one by one."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from blowproof.models import (
    AttributeChange,
    BoundQuery,
    Distance,
    Domain,
    Full,
    Impossible,
    Integers,
    Labels,
    NamedCount,
    PartitionBy,
    PartitionCells,
    Policy,
    Steps,
    setting,
)
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.models.mechanisms.stacked_releases import bind_release
from blowproof.models.queries.kinds import ClusterSizes, ClusterSums, MatrixQuery
from blowproof.models.queries.query import Move
from blowproof.models.stacks.stacked import Stacked
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.engines.one_move import farthest
from blowproof.verifier.engines.one_move.farthest import farthest_edge
from blowproof.verifier.engines.one_move.row_table import row_table
from blowproof.verifier.engines.one_move.worst_edge import worst_edge

ONE = Fraction(1)


def weighted(releases, policy):
    parts = [bind_release(release, policy) for release in releases]
    return [replace(part, weights=tuple(1 / w for w in part.weights)) for part in parts]


def some_domain(rng):
    low = rng.randint(-2, 2)
    first: Any = Steps(low, low + 2, "1/2") if rng.random() < 0.3 else Integers(low, low + 4)
    labels = Labels("abc"[: rng.randint(1, 3)], ordered=True)
    return Domain(x=first, y=Integers(0, rng.randint(0, 3)), s=labels)


def some_secrets(rng, domain):
    rest = [label for label in domain["s"].labels if label != "a"]
    cells: Any = [{"s": "a"}, {"s": rest}] if rest else [{"s": "a"}]
    return rng.choice(
        [
            Full(),
            AttributeChange(changes=rng.randint(1, 3)),
            PartitionBy(rng.choice([["s"], ["x", "y"], ["y"]])),
            PartitionCells(cells),
            Distance(threshold=rng.randint(1, 4), metric=rng.choice(["l1", "l2", "linf"])),
            Distance(threshold="3/2"),
        ]
    )


def some_release(rng, domain):
    centroids = tuple(
        tuple(Fraction(rng.randint(-4, 8), rng.randint(1, 3)) for _ in range(3))
        for _ in range(rng.randint(1, 4))
    )
    columns: Any = tuple(
        {
            key: Fraction(rng.randint(-3, 3), rng.randint(1, 2))
            for key in range(rng.choice([2, 20]))
            if rng.random() < 0.6
        }
        for _ in range(domain.size)
    )
    query = rng.choice(
        [
            ClusterSizes(domain, centroids),
            ClusterSums(domain, centroids),
            MatrixQuery(domain, columns),
            "marginal(x,y)",
            "count(corner)",
        ]
    )
    count = 3 * len(centroids) if isinstance(query, ClusterSums) and rng.random() < 0.5 else 1
    scales = tuple(Fraction(rng.randint(1, 5), rng.randint(1, 3)) for _ in range(count))
    return Release(query=query, scale=scales if count > 1 else scales[0])


@pytest.mark.parametrize("seed", range(80))
def test_all_edges_at_once(seed):
    rng = random.Random(seed)
    domain = some_domain(rng)
    corner = {"x": domain["x"].value(0), "y": 0}
    policy = Policy(
        domain=domain,
        secrets=some_secrets(rng, domain),
        known=(Impossible(corner),) if rng.random() < 0.3 else (),
        queries=(NamedCount("corner", corner),),
    )
    parts = weighted([some_release(rng, domain) for _ in range(rng.randint(1, 2))], policy)
    stacked: Any = Stacked(tuple(parts))
    expected = max(
        (
            stacked.difference([Move(x, y)])
            for x, y in policy.graph.edges()
            if x not in policy.impossible and y not in policy.impossible
        ),
        default=0,
    )
    table: Any = row_table(parts, domain)
    for place, point in enumerate(domain.points()):
        exact = sum(abs(value) for value in stacked.row(point).values())
        assert Fraction(int(abs(table.rows[place]).sum()), table.denominator) == exact
    found: Any = farthest_edge(setting(policy), table.rows)
    assert Fraction(found[0], table.denominator) == expected
    edge: Any = worst_edge(setting(policy), parts)
    assert edge.loss == expected


@pytest.mark.parametrize("seed", range(60))
def test_the_farthest_rows_of_a_clique(seed):
    rng = np.random.default_rng(seed)
    count, outputs = rng.integers(2, 25), rng.integers(1, 9)
    rows = rng.integers(-3, 4, (count, outputs)) * (rng.random((count, outputs)) < 0.5)
    rows = np.unique(rows, axis=0)

    def apart(pair):
        return int(abs(rows[pair[0]] - rows[pair[1]]).sum())

    most = max(apart((i, j)) for i in range(len(rows)) for j in range(len(rows)))
    ways: list[Any] = [
        farthest._by_signs(rows, 10**9),
        farthest._by_pairs(rows),
        farthest._by_supports(rows),
    ]
    assert [apart(way) for way in ways] == [most] * 3


def test_clusters_on_a_map():
    """400 x 300 positions, four clusters: exact within seconds, and far above Lemma 6.1's bound."""
    domain = Domain(lat=Integers(0, 399), lon=Integers(0, 299))
    centroids = ((50, 50), (350, 100), (100, 250), (300, 200))
    sums = Release(query=ClusterSums(domain, centroids), scale=Fraction(6))
    policy = Policy(domain=domain, secrets=Distance(threshold=3))
    found: Any = certify(Mechanism(releases=(sums,)), policy, ONE)
    assert (found.verdict, found.loss) == ("refuted", Fraction(1175, 6))
    (before,), (after,) = found.witness.before, found.witness.after
    assert abs(before[0] - after[0]) + abs(before[1] - after[1]) <= 3
    everything = replace(policy, secrets=Full())
    assert certify(Mechanism(releases=(sums,)), everything, ONE).loss == Fraction(1284, 6)


def test_a_query_that_says_its_unit_needs_no_listing():
    class Halves(BoundQuery):
        name = "halves"
        unit = Fraction(1, 2)

        def row(self, point):
            return {0: Fraction(point[0] % 3, 2)}

    domain = Domain(x=Integers(0, 99_999))
    policy = Policy(domain=domain, secrets=Distance(threshold=1))
    release = Release(
        query=Halves(), noise="discrete-laplace", scale=Fraction(2), grid=Fraction(1, 2)
    )
    assert certify(Mechanism(releases=(release,)), policy, ONE).loss == Fraction(1, 2)
