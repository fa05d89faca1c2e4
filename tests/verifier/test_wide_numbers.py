"""Numbers beyond 64 bits: what a scale depends on, and the true answers, stay exact.

Everything is compared with Python's own numbers, from the definitions and not from the code under
test. Before, k-means multiplied squares, lengths and margins in int64, which wraps round silently.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from blowproof.mechanisms.kinds.kmeans import KMeans, first_centroids
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.registry import MECHANISMS, plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.mechanisms.structures.memberships import Clusters, Memberships
from blowproof.models import Count, Database, Distance, Domain, Full, Integers, Policy, Steps
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify

ONE = Fraction(1)
WIDTHS = [2**31, 2**53, 2**63, 2**70, 10**30]


def weights_by_definition(query, point):
    """s_j(x) = max(0, m - (E_j - min E)), E_j = |x - c_j|^2; the nearest alone where m = 0."""
    clusters = query.clusters
    kinds = [kind for _, kind in clusters.domain.attributes]
    x = [
        Fraction(kind.coordinate(at)) / clusters.grid for kind, at in zip(kinds, point, strict=True)
    ]
    centroids = clusters.centroids.tolist()
    squares = [sum((a - b) ** 2 for a, b in zip(x, c, strict=True)) for c in centroids]
    least = min(squares)
    if clusters.margin == 0:
        return x, [int(j == squares.index(least)) for j in range(len(squares))]
    return x, [max(0, clusters.margin - (square - least)) for square in squares]


def row_by_definition(query, point):
    """N_j, or V_j = s_j(x) (x - c_j), of one record."""
    x, weights = weights_by_definition(query, point)
    if not query.sums:
        return weights
    return [
        s * (a - b)
        for s, c in zip(weights, query.clusters.centroids.tolist(), strict=True)
        for a, b in zip(x, c, strict=True)
    ]


def loss_by_definition(releases, pairs):
    """The largest loss over some secret moves of one record; infinite where noise is missing."""
    worst = Fraction(0)
    for x, y in pairs:
        loss = Fraction(0)
        for item in releases:
            one, two = (row_by_definition(item.query, point) for point in (x, y))
            change = sum(abs(a - b) for a, b in zip(one, two, strict=True))
            assert change == 0 or item.scales[0] > 0
            loss += change / item.scales[0] if change else 0
        worst = max(worst, loss)
    return worst


def first_releases(policy, **options):
    """The releases of the first iteration."""
    made = KMeans(Request(policy=policy, epsilon=ONE, options={"iterations": "1", **options}))
    centroids = first_centroids(made.clusters, made.low, made.high)
    return made.calibrated(centroids)[:2]


def some_pairs(policy, seed=0, most=300):
    """Every edge of G where there are few, else moves between ends, near borders, and at random."""
    (_, kind), *more = policy.domain.attributes
    if kind.size < 40 and not more:
        return list(policy.graph.edges())
    rng = random.Random(seed)
    sizes = [kind.size for _, kind in policy.domain.attributes]
    points = [tuple(0 for _ in sizes), tuple(size - 1 for size in sizes)]
    points += [tuple(rng.randrange(size) for size in sizes) for _ in range(24)]
    points += [tuple(size * k // 12 for size in sizes) for k in range(1, 12)]
    return [pair for pair in combinations(points, 2) if policy.graph.is_edge(*pair)][:most]


ATTACKS: dict[str, Integers | Steps] = {
    "income by 100000": Steps(0, 3_000_000, 100_000),
    "income by 1000000": Steps(0, 3_000_000, 1_000_000),
    "0 to 2^32 - 1": Integers(0, 2**32 - 1),
    "0 to 10^9": Integers(0, 10**9),
}


@pytest.mark.parametrize("kind", ATTACKS.values(), ids=ATTACKS)
@pytest.mark.parametrize("margin", [None, "0", "1/2", "1"])
def test_k_means_scales_do_not_overflow(kind, margin):
    """They lost 4.62, 4,787, everything (a scale of 0) and everything."""
    policy = Policy(domain=Domain(income=kind))
    options = {"clusters": "3"} if margin is None else {"clusters": "3", "margin": margin}
    releases = first_releases(policy, **options)
    assert 0 < loss_by_definition(releases, some_pairs(policy)) <= 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("secrets", [Full(), "near"], ids=["full", "near"])
@pytest.mark.parametrize("axes", [1, 2])
def test_k_means_scales_do_not_overflow_at(width, secrets, axes):
    """Domains of that width: some hundred secret moves, each by definition."""
    if secrets == "near":
        secrets = Distance(threshold=width // 3)
    names = "xy"[:axes]
    policy = Policy(domain=Domain(**{name: Integers(0, width) for name in names}), secrets=secrets)
    for margin in ("0", "1"):
        releases = first_releases(policy, clusters="3", margin=margin)
        assert 0 < loss_by_definition(releases, some_pairs(policy)) <= 1


@pytest.mark.parametrize("start", [0, -(2**63), 10**30])
@pytest.mark.parametrize("step", [*WIDTHS, Fraction(2**63, 7)])
def test_k_means_of_wide_steps_is_proved(start, step):
    """Few values, far apart or far from 0: all moves by definition, and the certifier agrees."""
    kind = Steps(start, start + 6 * step, step)
    policy = Policy(domain=Domain(x=kind), secrets=Distance(threshold=2 * step))
    counts = np.array([5, 0, 3, 9, 1, 0, 2])
    options = {"clusters": "2", "iterations": "2"}
    made = plan(
        "k-means", Request(policy=policy, epsilon=ONE, options=options, accept_wide_bounds=True)
    )
    found = release(made, NoisyTable(counts, policy.domain))
    assert len(found.description.releases) == 5  # two steps, and the sizes of the last clusters
    assert loss_by_definition(found.description.releases, policy.graph.edges()) <= 1
    assert certify(found.description, policy, ONE).verdict == "proved"
    assert all(kind.min <= Fraction(centroid) <= kind.max for centroid in found.answers)


def test_a_scale_that_wrapped_round_is_refuted():
    """The measure above can fail, and so can the certifier."""
    policy = Policy(domain=Domain(income=ATTACKS["income by 100000"]))
    sizes, sums = first_releases(policy, clusters="3")
    wrapped = Fraction((int(sums.scales[0]) % 2**62) // 8)
    short = type(sums)(query=sums.query, noise="discrete-laplace", scale=wrapped)
    assert loss_by_definition((sizes, short), some_pairs(policy)) > 1
    mechanism = Mechanism(releases=(sizes, short))
    assert certify(mechanism, policy, ONE).verdict == "refuted"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("margin", [0, 1])
def test_cluster_answers_do_not_overflow_at(width, margin):
    """True sizes and sums of records anywhere, and of very many of them."""
    rng = random.Random(width)
    domain = Domain(x=Integers(-width, width), y=Integers(0, width))
    centroids = [[rng.randint(-width, width), rng.randint(0, width)] for _ in range(3)]
    apart = min(
        sum((a - b) ** 2 for a, b in zip(c, d, strict=True)) for c, d in combinations(centroids, 2)
    )
    made = np.array(centroids, dtype=object)
    clusters = Clusters(domain, ONE, made, margin * apart)
    points = [(rng.randrange(2 * width + 1), rng.randrange(width + 1)) for _ in range(8)]
    counts = [rng.choice([1, 10**6, 2**62]) for _ in points]
    for sums in (False, True):
        query = Memberships(clusters, sums=sums)
        rows = [row_by_definition(query, point) for point in points]
        held = clusters.coordinates(np.array(points, dtype=object))
        found = query.answers(held, np.array(counts)).tolist()
        assert found == [
            sum(n * row[k] for n, row in zip(counts, rows, strict=True)) for k in range(len(found))
        ]
        assert query.rows(np.array(points, dtype=object)).tolist() == rows
        for point, row in zip(points, rows, strict=True):
            assert query.row(point) == {k: value for k, value in enumerate(row) if value}


@pytest.mark.parametrize("width", [100, *WIDTHS])
def test_first_centroids_are_spread_at(width):
    low, high = np.array([-width], dtype=object), np.array([width], dtype=object)
    found = [at for (at,) in first_centroids(3, low, high).tolist()]
    assert found == [0, -width // 2, width // 2]


# --- every mechanism, as the certifier sees it ----------------------------------------------------

FEW = np.array([4, 0, 3, 1, 9, 0, 2])


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("width", [2**31, 2**53, 2**63, 10**30])
def test_what_is_drawn_at_wide_values_is_proved(name, width):
    """Values far from 0 and far apart; sums of them, clusters of them, and plain counts."""
    kind = Steps(-width, 2 * width, Fraction(width, 2))
    known = (Count({"x": [kind.value(0), kind.value(1)]}, answer=4),)
    policy = Policy(
        domain=Domain(x=kind),
        secrets=Distance(threshold=width),
        known=known if name == "consistent" else (),
        database=Database(size=19) if name == "consistent" else Database(),
    )
    queries = {"laplace": ["sum(x)", "histogram"], "ordered": ["cumulative(x)"]}
    queries["hierarchical"], queries["gaussian"] = queries["ordered"], queries["laplace"]
    promise = Promise(rho=Fraction(2, 9)) if name == "gaussian" else Promise(epsilon=Fraction(2, 3))
    for query in queries.get(name, ["histogram"]):
        request = Request(
            accept_wide_bounds=True,
            policy=policy,
            query=query,
            epsilon=promise.epsilon or Fraction(0),
            rho=promise.rho,
            options={"iterations": "2", "clusters": "3"} if name == "k-means" else {},
        )
        found = release(plan(name, request), NoisyTable(FEW, policy.domain))
        judged = certify(found.description, policy, promise)
        assert judged.verdict == "proved", (query, judged)


@pytest.mark.parametrize("width", [2**31, 2**53, 2**63, 10**30])
def test_the_scale_of_a_wide_sum_is_its_longest_secret_move(width):
    """By hand: a record moves by at most half of the width, in steps of a quarter."""
    kind = Steps(0, 4 * width, Fraction(width, 4))
    policy = Policy(domain=Domain(x=kind), secrets=Distance(threshold=Fraction(width, 2)))
    made = plan(
        "laplace",
        Request(policy=policy, query="sum(x)", epsilon=Fraction(1, 3), accept_wide_bounds=True),
    )
    assert made.description is not None
    (item,) = made.description.releases
    assert item.scales == (3 * Fraction(width, 2),)
    found = release(made, NoisyTable(np.ones(17, dtype=np.int64), policy.domain))
    (answer,) = found.answers
    assert abs(Fraction(answer) - 17 * 2 * width) <= 200 * item.scales[0]
    assert (Fraction(answer) / item.grid).denominator == 1


def test_k_means_on_more_attributes_than_arrays_have_axes():
    domain = Domain(**{f"a{k}": Integers(0, 1) for k in range(70)})
    releases = first_releases(Policy(domain=domain), clusters="2")
    pairs = [(tuple([0] * 70), tuple([1] * 70)), (tuple([0] * 70), tuple([1] + [0] * 69))]
    assert 0 < loss_by_definition(releases, pairs) <= 1
