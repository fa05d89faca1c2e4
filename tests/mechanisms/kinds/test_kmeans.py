"""Cluster queries whose sensitivity shrinks with the secret, and the k-means built on them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.base.spread import halton
from blowproof.mechanisms.kinds.kmeans import (
    KMeans,
    first_centroids,
    longest_move,
    usual_iterations,
)
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Draw, Request
from blowproof.mechanisms.structures.memberships import Clusters, Memberships, bounds, squares
from blowproof.models import (
    AttributeChange,
    Count,
    Database,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    Labels,
    Move,
    PartitionBy,
    PartitionCells,
    Policy,
    QueryError,
    Region,
    Steps,
)

UNIT = Fraction(1)
DOMAINS = [
    Domain(x=Integers(0, 6)),
    Domain(x=Integers(-2, 1), y=Integers(0, 3)),
    Domain(x=Steps(0, 2, "1/2"), y=Labels(["p", "q", "r"], ordered=True)),
    Domain(x=Integers(0, 2), y=Integers(0, 1), z=Integers(5, 6)),
]


def secrets_of(domain):
    names = list(domain.names)
    kinds = [Full(), AttributeChange(changes=1), PartitionBy(names[:1])]
    kinds += [Distance(threshold=t, metric=m) for t in (1, 2, 3) for m in ("l1", "l2", "linf")]
    return kinds


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda d: "x".join(map(str, d.names)))
def test_no_secret_move_is_longer(domain):
    from blowproof.mechanisms.answers.vectors import attribute_grid

    grid = attribute_grid(domain, range(len(domain)))
    point = Clusters(domain, grid, np.zeros((1, len(domain)), dtype=np.int64), 0)
    for secrets in secrets_of(domain):
        policy = Policy(domain=domain, secrets=secrets)
        ends = [point.coordinates(np.array(pair)) for pair in policy.graph.edges()]
        longest = max((int(abs(a - b).sum()) for a, b in ends), default=0)
        assert longest <= longest_move(policy, grid)
        if isinstance(secrets, (Full, AttributeChange)):
            assert longest == longest_move(policy, grid)


def test_length_of_listed_cells():
    domain = Domain(x=Integers(0, 9))
    cells = PartitionCells([Region(x=[0, 1, 5]), Region(x=[2, 3, 4, 6, 7, 8, 9])])
    assert longest_move(Policy(domain=domain, secrets=cells), UNIT) == 7
    edges = Edges([({"x": 1}, {"x": 2})])
    assert longest_move(Policy(domain=domain, secrets=edges), UNIT) == 9


@st.composite
def clusterings(draw):
    domain = draw(st.sampled_from(DOMAINS))
    secrets = draw(st.sampled_from(secrets_of(domain)))
    grid = Fraction(1, 2)
    base = Clusters(domain, grid, np.zeros((1, len(domain)), dtype=np.int64), 0)
    corners = base.coordinates(
        np.array([[0] * len(domain), [k.size - 1 for _, k in domain.attributes]])
    )
    coordinate = [st.integers(int(a), int(b)) for a, b in corners.T]
    centroids = draw(st.lists(st.tuples(*coordinate), min_size=1, max_size=4))
    margin = draw(st.sampled_from([0, 1, 3, 10, 40]))
    clusters = Clusters(domain, grid, np.array(centroids, dtype=np.int64), margin)
    return Policy(domain=domain, secrets=secrets), clusters


@given(clusterings())
@settings(max_examples=120, deadline=None)
def test_bounds_hold_over_every_secret_move(case):
    policy, clusters = case
    found = bounds(clusters, longest_move(policy, clusters.grid))
    for query, bound in [
        (Memberships(clusters, sums=False), found.sizes),
        (Memberships(clusters, sums=True), found.sums),
    ]:
        for x, y in policy.graph.edges():
            assert query.difference([Move(x, y)]) <= bound


def in_squares(query, x, y):
    one, other = query.row(x), query.row(y)
    return sum((one.get(k, 0) - other.get(k, 0)) ** 2 for k in {*one, *other})


@given(clusterings())
@settings(max_examples=60, deadline=None)
def test_bounds_on_squares_hold_over_every_secret_move(case):
    policy, clusters = case
    found = squares(clusters, longest_move(policy, clusters.grid))
    for sums, bound in ((False, found.sizes), (True, found.sums)):
        query = Memberships(clusters, sums=sums)
        for x, y in policy.graph.edges():
            assert in_squares(query, x, y) <= bound


@pytest.mark.parametrize("margin", [0, 50**2])
def test_bounds_on_squares_are_what_two_corners_change(margin):
    """Centroids in two corners: a record that goes from one end to the other changes nearly all."""
    domain = Domain(x=Integers(0, 100), y=Integers(0, 100))
    clusters = Clusters(domain, UNIT, np.array([[20, 20], [80, 80]]), margin)
    found, in_l1 = squares(clusters, 200), bounds(clusters, 200)
    most = {False: 0, True: 0}
    for x, y in [((49, 50), (51, 50)), ((0, 0), (100, 100)), ((0, 100), (100, 1))]:
        for sums in (False, True):
            query = Memberships(clusters, sums=sums)
            most[sums] = max(most[sums], in_squares(query, x, y))
    assert most[False] <= found.sizes <= 2 * max(1, margin) ** 2 == in_l1.sizes**2 / 2
    assert most[True] <= found.sums <= in_l1.sums**2 / 2


@pytest.mark.parametrize("margin", ["0", "1"])
@pytest.mark.parametrize("size", [7, 130])
def test_every_iteration_is_within_its_share_of_a_rho(size, margin):
    """By brute force over G where it is small, by the argument where it is not: both are drawn."""
    domain = Domain(x=Integers(0, size - 1), y=Integers(0, size - 1))
    policy = Policy(domain=domain, secrets=Distance(threshold=2))
    options = {"iterations": "3", "clusters": "2", "margin": margin}
    rho = Fraction(1, 2)
    made = plan("k-means", Request(policy=policy, rho=rho, options=options))
    counts = np.full((size, size), 40, dtype=np.int64)
    draw = Draw(made, NoisyTable(counts, domain))
    made.run(draw)
    assert len(draw.drawn) == 2 * 3 + 1
    assert {item.noise for item in draw.drawn if any(item.widths)} == {"discrete-gaussian"}
    if size > 7:
        return
    lost = Fraction(0)
    for item in draw.drawn:
        worst = max(in_squares(item.query, x, y) for x, y in policy.graph.edges())
        lost += worst / (2 * item.widths[0]) if worst else 0
    assert 0 < lost <= rho


def test_a_rho_is_worth_more_than_its_epsilon():
    """Noise of three iterations: less than half as wide as where it is used as an epsilon."""
    domain = Domain(x=Integers(0, 63), y=Integers(0, 63))
    options = {"iterations": "3", "margin": "0"}
    wide = []
    policy = Policy(domain=domain)
    for request in (
        Request(policy=policy, rho=Fraction(1, 2), options=options),
        Request(policy=policy, epsilon=UNIT, options=options),
    ):
        made = KMeans(request)
        sums = made.calibrated(made.start)[1]
        wide.append(float(sums.widths[0]) ** (1 / 2 if sums.width == "variance" else 1))
    assert wide[0] < 0.5 * wide[1]


def test_where_no_record_changes_its_cluster_sizes_have_no_noise():
    """Nothing changes in them, and the sums have Gaussian noise for a rho all the same."""
    domain = Domain(x=Integers(0, 0), y=Integers(0, 9))
    options = {"clusters": "1", "iterations": "1", "sizes": "0"}
    made = plan("k-means", Request(policy=Policy(domain=domain), rho=UNIT, options=options))
    assert isinstance(made, KMeans)
    sizes, sums, _ = made.calibrated(made.start)
    assert not any(sizes.widths)
    assert sums.noise == "discrete-gaussian"
    draw = Draw(made, NoisyTable(np.full((1, 10), 50, dtype=np.int64), domain))
    (_, y) = made.run(draw)
    assert abs(y - Fraction(9, 2)) < 1


@pytest.mark.parametrize("size", [1, 10])
def test_no_records_and_one_cell(size):
    policy, options = Policy(domain=Domain(x=Integers(3, 2 + size))), {"clusters": "2"}
    for request in (
        Request(policy=policy, rho=UNIT, options=options),
        Request(policy=policy, epsilon=UNIT, options=options),
    ):
        draw = Draw(made := KMeans(request), NoisyTable(np.zeros(size, dtype=int), policy.domain))
        assert all(3 <= at <= 2 + size for at in made.run(draw))


def test_hard_clusters_are_those_of_the_contract():
    """Margin 0: the nearest centroid, ties to the first, as in cluster-sizes(FILE)."""
    from blowproof.models.queries.kinds import ClusterSizes

    domain = DOMAINS[1]
    centroids = np.array([[0, 0], [2, 2], [-1, 3]])
    contract = ClusterSizes(domain, tuple(tuple(map(int, c)) for c in centroids))
    mine = Memberships(Clusters(domain, UNIT, centroids, 0), sums=False)
    for point in domain.points():
        assert mine.row(point) == contract.row(point)


def test_the_bound_shrinks_with_theta():
    """What Lemma 6.1 claims of hard sums is true of gradual ones, up to a constant."""
    domain = Domain(x=Integers(0, 255), y=Integers(0, 255))
    centroids = np.array([[60, 60], [190, 60], [60, 190], [190, 190]])
    margin = 130**2
    gradual = Clusters(domain, UNIT, centroids, margin)
    hard = Clusters(domain, UNIT, centroids, 0)
    for theta in (1, 4):
        sums = Fraction(bounds(gradual, theta).sums, margin)
        assert sums < Fraction(bounds(hard, theta).sums, 4)
    assert bounds(gradual, 1).sums * 6 < bounds(gradual, 16).sums


def test_without_secrets_lloyd_s_iterations_are_exact():
    """No two values are joined: no noise, and hard clusters."""
    domain = Domain(x=Integers(0, 40), y=Integers(0, 40))
    policy = Policy(domain=domain, secrets=PartitionBy(["x", "y"]))
    counts = np.zeros((41, 41), dtype=np.int64)
    counts[3:9, 3:9] = counts[30:38, 28:36] = 2
    made = KMeans(Request(policy=policy, epsilon=UNIT, options={"clusters": "2"}))
    draw = Draw(made, NoisyTable(counts, domain))
    found = np.array([float(v) for v in made.run(draw)]).reshape(2, 2)
    assert sorted(found.tolist()) == [[5.5, 5.5], [33.5, 31.5]]
    assert all(scale == 0 for item in draw.drawn for scale in item.scales)
    assert all(item.query.clusters.margin == 0 for item in draw.drawn)  # type: ignore[union-attr]


def test_iterations_find_well_separated_clusters():
    domain = Domain(x=Integers(0, 63), y=Integers(0, 63))
    policy = Policy(domain=domain, secrets=Distance(threshold=2))
    counts = np.zeros((64, 64), dtype=np.int64)
    centres = [(10, 12), (50, 10), (12, 52), (52, 50)]
    for x, y in centres:
        counts[x - 3 : x + 4, y - 3 : y + 4] += 400
    made = plan("k-means", Request(policy=policy, epsilon=Fraction(4), options={"iterations": "6"}))
    draw = Draw(made, NoisyTable(counts, domain))
    found = np.array([float(v) for v in made.run(draw)]).reshape(4, 2)
    for centre in centres:
        assert abs(found - centre).sum(axis=1).min() < 4
    assert len(draw.drawn) == 2 * 6 + 1  # six steps, then the sizes of the last clusters


def test_every_iteration_is_within_its_share():
    """The declared releases of one iteration, certified by brute force over the edges of G."""
    policy = Policy(domain=DOMAINS[1], secrets=Distance(threshold=1))
    made = KMeans(
        Request(policy=policy, epsilon=Fraction(3), options={"iterations": "3", "clusters": "2"})
    )
    for centroids in (made.low + np.array([[0, 0], [8, 8]]), np.array([[0, 0], [0, 0]])):
        sizes, sums, _ = made.calibrated(centroids)
        for x, y in policy.graph.edges():
            loss = Fraction(0)
            for item in (sizes, sums):
                assert isinstance(item.query, Memberships)
                changed = item.query.difference([Move(x, y)])
                loss += changed / item.scales[0] if changed else 0
            assert loss <= 1


def test_first_centroids_are_public_and_inside():
    low, high = np.array([-4, 0]), np.array([4, 100])
    found = first_centroids(5, low, high)
    assert (found >= low).all()
    assert (found <= high).all()
    assert len({tuple(c) for c in found.tolist()}) == 5
    assert found.tolist() == first_centroids(5, low, high).tolist()


def test_points_are_spread_as_halton_s_sequence_is():
    for dimension in (1, 2, 7):
        sequence = scipy.stats.qmc.Halton(d=dimension, scramble=False)
        assert halton(300, dimension).tolist() == sequence.random(300).tolist()


def test_refusals():
    known = Policy(domain=DOMAINS[0], known=(Count({"x": 1}),))
    with pytest.raises(RefusedError, match="one record"):
        KMeans(Request(policy=known, epsilon=Fraction(1)))
    labels = Policy(domain=Domain(sex=Labels(["F", "M"])))
    with pytest.raises(QueryError, match="not ordered"):
        KMeans(Request(policy=labels, epsilon=Fraction(1)))
    free = Policy(domain=DOMAINS[0])
    with pytest.raises(QueryError, match="clusters"):
        KMeans(Request(policy=free, epsilon=Fraction(1), options={"clusters": "0"}))


@given(clusterings(), st.booleans(), st.sampled_from([1, 10**15]), st.data())
@settings(max_examples=60, deadline=None)
def test_answers_are_the_sums_of_the_rows(case, sums, times, data):
    """All records at once, with Python's own numbers where int64 would not hold them."""
    policy, clusters = case
    points = list(policy.domain.points())
    counts = [times * data.draw(st.integers(0, 3)) for _ in points]
    query = Memberships(clusters, sums=sums)
    held = clusters.coordinates(np.array(points, dtype=np.int64))
    found = query.answers(held, np.array(counts, dtype=np.int64)).tolist()
    rows = [query.row(point) for point in points]
    expected = [
        sum(n * row.get(k, 0) for n, row in zip(counts, rows, strict=True))
        for k in range(len(found))
    ]
    assert found == expected


def test_fewer_iterations_are_made_where_noise_is_loud():
    """Ten were made whatever epsilon and n were, and the noise of each drowned the others."""
    policy = Policy(domain=Domain(x=Integers(0, 99)))
    made = {}
    for size in (None, 100, 10**4, 10**7):
        known = policy if size is None else replace(policy, database=Database(size=size))
        made[size] = KMeans(Request(policy=known, epsilon=Fraction(1))).iterations
    assert made == {None: 3, 100: 1, 10**4: 3, 10**7: 5}
    asked = Request(policy=policy, epsilon=Fraction(1), options={"iterations": "7"})
    assert KMeans(asked).iterations == 7


@pytest.mark.parametrize(("rho", "most"), [("1/2000000", 1), ("1/200", 2), ("1/50", 3), ("1/8", 5)])
def test_more_iterations_are_made_for_a_rho(rho, most):
    """Their noise grows with the root of how many there are, and not with their number."""
    policy = Policy(domain=Domain(x=Integers(0, 99)), database=Database(size=2451))
    assert KMeans(Request(policy=policy, rho=Fraction(rho))).iterations == most


@pytest.mark.parametrize(
    ("epsilon", "most"), [("1/10", 1), ("1/2", 2), ("1", 2), ("2", 3), ("1000", 5)]
)
def test_iterations_follow_from_epsilon_and_n(epsilon, most):
    """The skin pixels of `benchmarks/releases.md`: at 1/10 two were worse than a plain library."""
    assert usual_iterations(Fraction(epsilon), 2451, 4) == most


def test_n_of_the_data_is_used_where_the_policy_has_none():
    """It is public where records are labelled; three were made, however loud the noise."""
    domain = Domain(x=Integers(0, 63), y=Integers(0, 63))
    counts = np.zeros((64, 64), dtype=np.int64)
    counts[9:12, 9:12] = counts[50:53, 40:43] = 10
    policy, data = Policy(domain=domain), NoisyTable(counts, domain)
    for options, steps in (({}, 1), ({"iterations": "3"}, 3)):
        made = plan("k-means", Request(policy=policy, epsilon=Fraction(1), options=options))
        draw = Draw(made, data)
        made.run(draw)
        assert len(draw.drawn) == 2 * steps + 1
        assert draw.drawn[-1].scales[0] == 2 / Fraction(1, 20)
