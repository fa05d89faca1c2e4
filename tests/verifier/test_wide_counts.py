"""Counts beyond 64 bits, and values far from zero: true answers stay exact, from file to noise.

Sums, flows, trees, clusters and noise are compared with Python's own numbers.
"""

from __future__ import annotations

import random
from fractions import Fraction

import duckdb
import numpy as np
import pytest

from blowproof.mechanisms.answers.true_answers import held_cells, true_answers
from blowproof.mechanisms.answers.vectors import Vector, largest, roomy, single, whole
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.gate import raw_noisy
from blowproof.mechanisms.structures.forests import Forest, hubs, path
from blowproof.models import Domain, Integers, PartitionBy, Policy, Steps, parse_query
from blowproof.models.base.errors import InternalError
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Prefixes, Release, Tree
from blowproof.models.mechanisms.trees_and_prefixes import bind_query
from blowproof.models.queries.kinds import ClusterSizes, ClusterSums

ONE = Fraction(1)
WIDTHS = [2**31, 2**53, 2**63, 2**70, 10**30]
FAR = [2**31, 2**53, 2**59, 2**63, 2**70]
LINE = Domain(x=Integers(0, 5), y=Integers(-1, 1))


def wide_counts(far, size, seed=4):
    rng = random.Random(seed)
    return [rng.choice([0, 1, far - 1, far, 3 * far]) for _ in range(size)]


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize(
    "query",
    [
        "histogram",
        "marginal(y,x)",
        "cumulative(x)",
        "range(x,1,3)",
        "ranges(x)",
        "sum(x,y)",
        "partition",
        Tree(attribute="x", fan_out=2),
        Prefixes(attribute="x", every=2, whole=True),
    ],
    ids=str,
)
def test_true_answers_of_wide_counts_are_the_sums_of_the_rows(far, query):
    counts = wide_counts(far, LINE.size)
    policy = Policy(domain=LINE, secrets=PartitionBy(["y"]))
    table = NoisyTable(np.array(counts, dtype=object), LINE)
    bound = parse_query(query, policy) if isinstance(query, str) else bind_query(query, policy)
    found = [Fraction(answer) for answer in true_answers(query, policy, table)]
    totals: dict[object, Fraction] = {}
    for point, count in zip(LINE.points(), counts, strict=True):
        for key, value in bound.row(point).items():
            totals[key] = totals.get(key, Fraction(0)) + count * value
    zeros = [Fraction(0)] * (len(found) - len(totals))
    assert sorted(found) == sorted([*totals.values(), *zeros])
    assert table.size == sum(counts)


@pytest.mark.parametrize("far", FAR)
def test_flows_of_wide_counts_are_sums_over_subtrees(far):
    counts = wide_counts(far, 9)
    for forest in (path(9), hubs(9, 3), Forest(np.array([-1, 0, 0, 1, 1, -1, 5, 6, 5]))):
        flows = forest.flows(np.array(counts, dtype=object)).tolist()
        for vertex in range(9):
            below = 0
            for other in range(9):
                at = other
                while at not in (vertex, -1):
                    at = int(forest.parent[at])
                below += counts[other] if at == vertex else 0
            assert flows[vertex] == below
        assert forest.counts(whole(flows)).tolist() == counts
        if far < 2**62:
            again = forest.counts(np.array(flows, dtype=np.int64 if max(flows) < 2**62 else object))
            assert again.tolist() == counts


@pytest.mark.parametrize("width", WIDTHS)
def test_contract_clusters_at_wide_coordinates(width):
    """cluster-sizes(FILE) and cluster-sums(FILE): nearest by exact squares, ties to the first."""
    domain = Domain(x=Steps(-width, width, Fraction(width, 4)))
    centroids = ((Fraction(-width, 2),), (Fraction(width, 3),), (Fraction(width),))
    counts = wide_counts(2**61, 9)
    table = NoisyTable(np.array(counts, dtype=object), domain)
    policy = Policy(domain=domain)
    for query in (ClusterSizes(domain, centroids), ClusterSums(domain, centroids)):
        expected = [Fraction(0)] * 3
        for place, count in enumerate(counts):
            at = Fraction(-width) + place * Fraction(width, 4)
            squares = [(at - centre) ** 2 for (centre,) in centroids]
            times = at if isinstance(query, ClusterSums) else 1
            expected[squares.index(min(squares))] += count * times
        assert list(true_answers(query, policy, table)) == expected


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("far", [2**31, 2**53, 2**63, 2**100])
def test_data_far_from_zero_are_counted(far, ending, tmp_path):
    """Values around large numbers, from a file: positions, counts and sums are exact."""
    low, size = far - 3, 7
    values = [low + k for k in (0, 0, 1, 3, 6, 6, 6)]
    file = tmp_path / f"data.{ending}"
    if ending == "csv":
        file.write_text("\n".join(["x", *map(str, values)]) + "\n")
    else:
        column = "BIGINT" if far < 2**62 else "DECIMAL(38, 0)"  # a HUGEINT is stored as a double
        duckdb.sql(
            f"COPY (SELECT unnest({[str(v) for v in values]})::{column} AS x) TO '{file}'"
            " (FORMAT parquet)"
        )
    kinds: list[Integers | Steps] = [Integers(low, low + size - 1), Integers(-far, 2 * far)]
    kinds.append(Steps(0, 2 * far, Fraction(1, 2)))
    for kind in kinds:
        domain = Domain(x=kind)
        policy = Policy(domain=domain)
        with Dataset(file, domain) as data:
            assert list(true_answers("sum(x)", policy, data)) == [sum(values)]
            assert data.sparse_marginal((0,)) == {
                (kind.index(value),): values.count(value) for value in set(values)
            }
            places, counts = held_cells(data, (0,))
            assert sorted(zip(places[:, 0].tolist(), counts.tolist(), strict=True)) == sorted(
                (kind.index(value), values.count(value)) for value in set(values)
            )


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("scale", [0, 1, 2**41, 2**63])
def test_noise_is_added_without_wrapping_round(far, scale):
    truth = Vector(np.array([far, -far, 3 * far], dtype=object), ONE, single("abc", column="x"))
    made = Release(query="histogram", noise="discrete-laplace", scale=Fraction(scale))
    for value, true in zip(raw_noisy(made, truth), (far, -far, 3 * far), strict=True):
        assert abs(value - true) <= 200 * scale


def test_int64_next_to_its_end_gets_room():
    ends = np.array([2**63 - 1, -(2**63)])
    assert largest(ends) == 2**63
    assert Vector(ends, ONE, single("ab", column="x")).units.dtype == object
    assert whole([2**62 - 1]).dtype == np.int64
    mixed = whole(np.array([np.int64(5), 2**80], dtype=object)).tolist()
    assert mixed == [5, 2**80]
    assert all(type(item) is int for item in mixed)
    with pytest.raises(TypeError):
        whole(np.array([0.5, 2**80], dtype=object))
    with pytest.raises(InternalError, match="float64"):
        roomy(5, np.array([1.5]))
