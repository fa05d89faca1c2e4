"""Flows on spanning forests, and private partitions: exact inverses, stretches, honest loss."""

import math
from dataclasses import replace
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.kinds import transformed
from blowproof.mechanisms.kinds.data_dependent import Dawa, DawaTransformed, MatchingTransformed
from blowproof.mechanisms.kinds.transformed import Flows, NoisyTable, Transformed, graph_edges
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Request, release
from blowproof.mechanisms.structures.forests import Forest, forests, hubs, path
from blowproof.mechanisms.structures.partitions import (
    Ranked,
    deviations,
    interval_partition,
    matching_partition,
    scale_of,
)
from blowproof.models import (
    AttributeChange,
    BudgetError,
    Count,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    QueryError,
)
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.mechanisms.trees_and_prefixes import bind_query
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.noise import additive
from effort import at_most

HUGE = Fraction(10**9)  # noise of scale 1e-9 is 0 but once in 10**400000000 draws


def line(size, threshold=1):
    return Policy(domain=Domain(age=Integers(0, size - 1)), secrets=Distance(threshold=threshold))


GRID = Domain(a=Integers(0, 2), b=Integers(0, 1))
POLICIES = [
    *(line(size, reach) for size in range(1, 8) for reach in (1, 2, 3, 10)),
    Policy(domain=GRID),
    Policy(domain=GRID, secrets=AttributeChange()),
    Policy(domain=GRID, secrets=Distance(threshold=1)),
    Policy(domain=GRID, secrets=Distance(threshold=2)),
    Policy(domain=GRID, secrets=PartitionBy(["b"])),
    Policy(
        domain=Domain(a=Labels(["x", "y", "z", "w"])),
        secrets=Edges([({"a": "x"}, {"a": "y"}), ({"a": "y"}, {"a": "z"})]),
    ),
]


@pytest.fixture
def data(tmp_path):
    def write(policy, points):
        file = tmp_path / "data.csv"
        names = policy.domain.names
        rows = [",".join(str(v) for v in policy.domain.decode(point)) for point in points]
        file.write_text("\n".join([",".join(names), *rows]) + "\n")
        return Dataset(file, policy.domain)

    return write


def some_points(policy, count=25):
    rng = np.random.default_rng(len(policy.domain) * 100 + policy.domain.size)
    return [policy.domain.whole.nth(int(k)) for k in rng.integers(0, policy.domain.size, count)]


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 9))
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    ends = np.array(chosen, dtype=np.int64).reshape(len(chosen), 2)
    return size, ends[:, 0], ends[:, 1]


@given(graphs())
@settings(deadline=None)
def test_forests_span_and_stretch_as_networkx_says(case):
    size, u, v = case
    graph = nx.Graph(zip(u.tolist(), v.tolist(), strict=True))
    graph.add_nodes_from(range(size))
    for forest in forests(size, u, v):
        tree = nx.Graph((c, p) for c, p in enumerate(forest.parent.tolist()) if p >= 0)
        tree.add_nodes_from(range(size))
        assert set(map(frozenset, tree.edges)) <= set(map(frozenset, graph.edges))
        assert sorted(map(sorted, nx.connected_components(tree))) == sorted(
            map(sorted, nx.connected_components(graph))
        )
        assert nx.is_forest(tree)
        longest = max((nx.shortest_path_length(tree, a, b) for a, b in graph.edges), default=0)
        assert forest.stretch(u, v) == longest
        counts = np.arange(size) ** 2 - 3
        assert forest.counts(forest.flows(counts)).tolist() == counts.tolist()


@pytest.mark.parametrize("size", range(1, 14))
@pytest.mark.parametrize("reach", [1, 2, 3, 5])
def test_hubs_stretch_at_most_three(size, reach):
    pairs = [(i, j) for i in range(size) for j in range(i + 1, min(size, i + reach + 1))]
    ends = np.array(pairs, dtype=np.int64).reshape(len(pairs), 2)
    forest = hubs(size, reach)
    edges = {(min(c, p), max(c, p)) for c, p in enumerate(forest.parent.tolist()) if p >= 0}
    assert edges <= set(pairs)
    assert forest.stretch(ends[:, 0], ends[:, 1]) <= 3
    assert path(size).stretch(ends[:, 0], ends[:, 1]) == min(reach, size - 1)


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
def test_declared_scale_is_the_sensitivity(policy):
    """The noise is that of S by the definition, found by brute force."""
    made = Transformed(Request(policy=policy, epsilon=Fraction(1)))
    query = Flows(policy.domain, np.arange(policy.domain.size), made.forest)
    found = sensitivity(policy, query, engine="brute", max_size=1)
    assert found.lower == made.stretch
    u, v = graph_edges(policy)
    assert made.forest.stretch(u, v) == made.stretch
    totals = Flows(policy.domain, query.vertex, made.forest, edges=False, roots=True, name="totals")
    assert sensitivity(policy, totals, engine="brute", max_size=2).lower == 0


@pytest.mark.parametrize(
    "secrets",
    [
        Distance(metric="linf", threshold=2),
        Distance(metric="l1", threshold=3),
        Distance(metric="l2", threshold=2, strict=True),
        Distance(metric="linf", threshold=1, attributes=["a", "c"]),
        AttributeChange(),
        AttributeChange(changes=2),
        PartitionBy(["b"]),
        Distance(metric="l1", threshold=Fraction(1, 2)),
    ],
    ids=repr,
)
def test_edges_are_listed_as_the_graph_lists_them(secrets):
    domain = Domain(a=Integers(0, 3), b=Labels(["p", "q", "r"]), c=Integers(0, 2))
    policy = Policy(domain=domain, secrets=secrets)
    listed = {frozenset(map(domain.rank, edge)) for edge in policy.graph.edges()}
    u, v = graph_edges(policy)
    assert len(u) == len(listed)
    assert {frozenset(edge) for edge in zip(u.tolist(), v.tolist(), strict=True)} == listed


def test_too_many_edges_are_refused_before_they_are_listed():
    line = Integers(0, 10**6)
    for secrets in (Distance(metric="linf", threshold=10**5), Distance(threshold=10**5)):
        with pytest.raises(BudgetError, match="listed one by one"):
            graph_edges(Policy(domain=Domain(a=line, b=line, c=line), secrets=secrets))


@pytest.mark.parametrize("policy", POLICIES[3:], ids=repr)
def test_without_noise_every_answer_is_exact(policy, data):
    found = data(policy, some_points(policy))
    queries = ["histogram", f"marginal({policy.domain.names[-1]})"]
    if policy.domain.names[0] in ("age", "a") and policy.domain.attribute(0).ordered:
        name = policy.domain.names[0]
        queries += [f"cumulative({name})", f"ranges({name})", f"sum({name})", f"range({name},0,0)"]
    for query in queries:
        request = Request(policy=policy, query=query, epsilon=HUGE)
        answer = release(plan("transformed", request), found).answers
        assert list(answer) == list(true_answers(query, policy, found))


def test_noisy_tables_answer_like_data(data):
    policy = Policy(domain=Domain(a=Integers(0, 2), b=Labels(["p", "q"]), c=Integers(0, 1)))
    found = data(policy, some_points(policy, 40))
    counts = np.array(list(true_answers("histogram", policy, found)), dtype=object)
    table = NoisyTable(counts, policy.domain)
    for query in ("marginal(a)", "marginal(c,a)", "marginal(b,c)", "sum(a,c)", "ranges(a)"):
        assert list(true_answers(query, policy, table)) == list(true_answers(query, policy, found))


def test_known_facts_need_the_verifier(data):
    """Neighbours may differ in several records: the scale is S of the flows, not the stretch."""
    base = Domain(a=Integers(0, 1), b=Integers(0, 2))
    policy = Policy(domain=base, known=(Marginal(["a"]), Marginal(["b"])))
    made = Transformed(Request(policy=policy, epsilon=Fraction(1)))
    assert made.sensitivity is not None
    assert made.sensitivity.upper is not None
    assert made.sensitivity.upper > made.stretch
    assert made.description is not None
    assert made.description.releases[0].scale == made.sensitivity.upper


def test_trees_can_be_named():
    policy = line(9, 4)
    made = [
        Transformed(Request(policy=policy, epsilon=Fraction(1), options={"tree": tree}))
        for tree in ("path", "hubs", "search")
    ]
    assert made[0].stretch == 4
    assert made[1].stretch == 3
    with pytest.raises(QueryError, match="no tree"):
        Transformed(Request(policy=policy, epsilon=Fraction(1), options={"tree": "oak"}))
    cumulative = Request(policy=line(9, 2), query="cumulative(age)", epsilon=Fraction(1))
    assert Transformed(cumulative).forest.parent.tolist() == path(9).parent.tolist()


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12), st.integers(1, 5))
@settings(deadline=None)
def test_deviations_by_definition(counts, length):
    if length > len(counts):
        return
    array = np.array(counts, dtype=np.int64)
    by_ranks = deviations(array, length, Ranked(array))
    for place, found in enumerate(deviations(array, length).tolist()):
        run = counts[place : place + length]
        mean = Fraction(sum(run), length)
        assert found == by_ranks[place] == length * sum(abs(x - mean) for x in run)


def test_long_runs_are_judged_as_short_ones_are(monkeypatch):
    """The same intervals, whether deviations are summed or found by ranks."""
    rng = np.random.default_rng(3)
    counts = np.repeat(rng.integers(0, 9, 40), 8) + rng.integers(0, 3, 320)
    found = []
    for wide in (1, 10**6):
        monkeypatch.setattr("blowproof.mechanisms.structures.partitions.WIDE", wide)
        found.append(interval_partition(counts, silent, penalty=Fraction(20)).tolist())
    assert found[0] == found[1] and len(found[0]) < 100


@given(graphs())
@settings(deadline=None)
def test_trees_are_equivalent_to_their_flows(case):
    """x = P y with the incidence matrix P of the tree, its root dropped, and W x = (W P) y.

    The ends of an edge of the tree are one unit of flow apart: an edge of the policy is a change of
    one entry of y by 1, which is what unconstrained differential privacy protects.
    """
    size, u, v = case
    tree = nx.minimum_spanning_tree(nx.Graph(zip(u.tolist(), v.tolist(), strict=True)))
    tree.add_nodes_from(range(size))
    ends = np.array([*tree.edges], dtype=np.int64).reshape(-1, 2)
    forest = forests(size, ends[:, 0], ends[:, 1])[0]
    heads, roots = forest.heads, forest.roots
    incidence = np.zeros((size, size), dtype=np.int64)
    incidence[np.arange(size), np.arange(size)] = 1
    incidence[forest.parent[heads], heads] = -1
    counts = np.arange(size) * 7 % 5
    flows = forest.flows(counts)
    assert (incidence @ flows).tolist() == counts.tolist()
    ranges = np.array(
        [[a <= k <= b for k in range(size)] for a in range(size) for b in range(a, size)]
    )
    transformed = ranges.astype(np.int64) @ incidence
    assert (transformed @ flows).tolist() == (ranges @ counts).tolist()
    for a, b in tree.edges:
        moved = counts.copy()
        moved[a] -= 1
        moved[b] += 1
        assert abs(forest.flows(moved) - flows).sum() == 1
        assert (forest.flows(moved)[roots] == flows[roots]).all()


def _cheapest_by_listing(costs, size):
    """Every way to cut 0..size into the given intervals."""
    ways: dict = {0: [(0, ())]}
    for end in range(1, size + 1):
        ways[end] = [
            (total + cost, (*ends, end))
            for (low, high), cost in costs.items()
            if high == end
            for total, ends in ways[low]
        ]
    return min(total for total, _ in ways[size])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_intervals_are_cheapest_without_noise(size):
    rng = np.random.default_rng(size)
    counts = rng.integers(0, 20, size)
    penalty = Fraction(3)
    costs = {}
    for length in (1, 2, 4, 8):
        for low in range(size - length + 1):
            run = counts[low : low + length].tolist()
            mean = Fraction(sum(run), length)
            costs[low, low + length] = sum(abs(x - mean) for x in run) + penalty
    ends = interval_partition(counts, silent, penalty=penalty).tolist()
    assert ends[-1] == size
    chosen = list(zip([0, *ends], ends, strict=False))
    assert sum(costs[pair] for pair in chosen) == _cheapest_by_listing(costs, size)


def silent(size, finer):
    """No noise on the costs."""
    return np.zeros(size, dtype=np.int64)


def test_matching_is_cheapest_without_noise():
    counts = np.array([9, 0, 4, 8, 1, 30])
    buckets = matching_partition(counts, silent, penalty=Fraction(2)).tolist()
    assert buckets[0] == buckets[3]
    assert buckets[1] == buckets[4]
    assert len(set(buckets)) == 4


def _single(counts, scale, reach):
    """The exact chance that three values stay apart, under discrete noise on a grid of 1/2.

    {0, 1} is not taken iff z01 + cost(01) > z0 + z1, and {1, 2} likewise; ties go to pairs. Given
    z1 the two are independent.
    """
    weights = np.exp(-abs(np.arange(-reach, reach + 1)) / scale)
    noise = weights / weights.sum()
    below = np.cumsum(np.convolve(noise, noise))  # P(z - z' <= t), t from -2 reach
    left, right = (2 * abs(counts[k] - counts[k + 1]) for k in (0, 1))
    z1 = np.arange(-reach, reach + 1)
    tails = [below[np.clip(d - z1 - 1 + 2 * reach, 0, 4 * reach)] for d in (left, right)]
    return float((noise * tails[0] * tails[1]).sum())


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_partition_loss_is_within_epsilon(epsilon):
    """The chance of "all single" on three values, computed, over every move of one record."""
    grid, reach = 2, 2000
    scale = float(scale_of(2, epsilon) * grid)
    worst = 0.0
    for counts in [(3, 3, 3), (5, 0, 5), (1, 4, 0), (0, 6, 6)]:
        for i, j in [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)]:
            if counts[i] == 0:
                continue
            other = list(counts)
            other[i] -= 1
            other[j] += 1
            one, two = _single(counts, scale, reach), _single(other, scale, reach)
            worst = max(worst, abs(math.log(one / two)))
            three, four = math.log1p(-one), math.log1p(-two)
            worst = max(worst, abs(three - four))
    assert 0 < worst <= float(epsilon)


@pytest.mark.parametrize("kind", [Dawa, DawaTransformed, MatchingTransformed])
@pytest.mark.parametrize("secrets", [Distance(threshold=1), Distance(threshold=3), Full()])
def test_bucket_noise_is_enough_whatever_the_buckets(kind, secrets):
    policy = Policy(domain=Domain(age=Integers(0, 5)), secrets=secrets)
    made = kind(Request(policy=policy, epsilon=Fraction(1)))
    rest = 1 - made.first
    chosen = certify(Mechanism(selections=(made.selection,)), policy, made.first)
    assert (chosen.verdict, chosen.assumptions) == ("proved", ())
    for vertex in ([0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5], [0] * 6, [0, 1, 1, 1, 1, 2]):
        releases, _ = made.releases(np.array(vertex))
        for item in releases:
            query = bind_query(item.query, policy)
            found = sensitivity(policy, query, engine="brute", max_size=1)
            assert found.lower <= item.scale * rest


@pytest.mark.parametrize("name", ["dawa", "dawa-transformed", "matching-transformed"])
def test_histograms_by_buckets(name, data):
    policy = line(8)
    points = [(k,) for k in range(8) for _ in range(100 if k < 4 else 3)]
    found = data(policy, points)
    made = release(plan(name, Request(policy=policy, epsilon=HUGE)), found)
    assert np.allclose(np.array(list(made.answers), dtype=float), [100] * 4 + [3] * 4)
    assert made.description.selections
    judged = certify(made.description, policy, HUGE)
    assert (judged.verdict, judged.assumptions) == ("proved", ())


def test_refusals(tmp_path):
    known = Policy(domain=Domain(age=Integers(0, 5)), known=(Count({"age": 1}),))
    with pytest.raises(RefusedError, match="one record"):
        DawaTransformed(Request(policy=known, epsilon=Fraction(1)))
    (tmp_path / "weights.csv").write_text("1\n2\n")
    weighed = replace(line(4), folder=tmp_path)
    with pytest.raises(QueryError, match="weighs records"):
        Dawa(Request(policy=weighed, query="weighted-sum(age,weights.csv)", epsilon=Fraction(1)))
    with pytest.raises(QueryError, match="share"):
        Dawa(Request(policy=line(4), epsilon=Fraction(1), options={"share": "3/2"}))
    with pytest.raises(QueryError, match="one attribute"):
        DawaTransformed(Request(policy=Policy(domain=GRID), epsilon=Fraction(1)))


def test_a_forest_has_no_cycle():
    from blowproof.models import InternalError

    with pytest.raises(InternalError):
        _ = Forest(np.array([1, 0])).order


def test_nothing_of_a_forest_is_asked_for_again_by_another_query(monkeypatch):
    """Edges, trees, their stretches and what the certifier finds out: once for all queries."""
    asked = []

    def noting(made):
        def noted(*what):
            asked.append(made.__name__)
            return made(*what)

        return noted

    monkeypatch.setattr(transformed, "_rated", noting(transformed._rated))
    monkeypatch.setattr(additive, "_searched", noting(additive._searched))
    request = Request(policy=line(200, 12), query="histogram", epsilon=Fraction(1))
    first = plan("transformed", request)
    once = list(asked)
    assert set(once) == {"_rated", "_searched"}
    other = plan("transformed", replace(request, query="range(age,3,150)"))
    assert asked == once
    assert isinstance(other, Transformed)
    assert other.draws_as(first)
    plan("transformed", Request(policy=line(200, 11), query="histogram", epsilon=Fraction(1)))
    assert asked == once + once


def test_long_rows_of_flows_are_not_listed_for_a_domain_of_thousands():
    """An argument says what a move changes; row by row it takes 14 million calls."""
    request = Request(policy=line(1_500, 12), query="histogram", epsilon=Fraction(1))
    with at_most(1_500_000):
        plan("transformed", request)


@pytest.mark.parametrize("policy", [line(7, 3), Policy(domain=GRID), POLICIES[-1]], ids=repr)
def test_flows_are_alike_where_their_rows_are(policy):
    """And only there: what was proved of one is taken for the other."""
    size = policy.domain.size
    vertex = np.arange(size)
    trees = {tuple(path(size).parent.tolist()): path(size)}
    for forest in (*forests(size, *graph_edges(policy)), hubs(size, 2), path(size)):
        trees.setdefault(tuple(forest.parent.tolist()), forest)
    made = [
        Flows(policy.domain, where, Forest(forest.parent.copy()), edges=edges, roots=roots)
        for forest in trees.values()
        for where in (vertex.copy(), vertex[::-1].copy())
        for edges, roots in ((True, False), (False, True), (True, True))
    ]
    points = list(policy.domain.points())
    rows = [[dict(item.row(x)) for x in points] for item in made]
    for one, of_one in zip(made, rows, strict=True):
        again = Flows(policy.domain, one.vertex.copy(), Forest(one.forest.parent.copy()),
                      edges=one.edges, roots=one.roots)  # fmt: skip
        assert again == one
        assert hash(again) == hash(one)
        for two, of_two in zip(made, rows, strict=True):
            if one == two:
                assert of_one == of_two
    assert sum(one == two for one in made for two in made) == len(made)
