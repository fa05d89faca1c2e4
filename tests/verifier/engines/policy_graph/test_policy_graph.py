"""Sparsity, policy graphs, longest cycles and paths: against listing, networkx and brute force."""

import json
import random
from itertools import combinations, combinations_with_replacement, product

import networkx as nx
import pytest

from blowproof.cli.main import run
from blowproof.models import (
    AttributeChange,
    Between,
    BudgetError,
    Count,
    Distance,
    Domain,
    Edges,
    Full,
    Impossible,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    PolicyError,
    Region,
    Sum,
    setting,
)
from blowproof.models.base.clock import Budget, Pace, Worker
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases import count_queries, sparsity
from blowproof.verifier.databases.count_queries import CountQueries
from blowproof.verifier.databases.sparsity import sparse
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.engines.policy_graph import graph as graphs
from blowproof.verifier.engines.policy_graph import longest
from blowproof.verifier.engines.policy_graph.cycle_program import improve
from blowproof.verifier.engines.policy_graph.cycle_search import Block, greedy_cycle
from blowproof.verifier.engines.policy_graph.graph import (
    SINK,
    SOURCE,
    alpha,
    policy_graph,
    policy_graph_bound,
    xi,
)
from blowproof.verifier.engines.policy_graph.longest import Longest, longest_cycle, longest_path
from blowproof.verifier.witnesses.policy_graph_walk import pair_along
from effort import at_most

# --- the paper's examples -------------------------------------------------------------------------


@pytest.fixture
def printed():
    """Example 8.1: full secrets, and the four counts of the marginal over A1 and A2."""
    domain = Domain(A1=Labels(["a1", "a2"]), A2=Labels(["b1", "b2"]), A3=Labels(["c1", "c2", "c3"]))
    return Policy(domain=domain, known=(Marginal(["A1", "A2"]),))


def test_example_8_1_is_sparse(printed):
    assert sparse(printed) == sparsity.Sparsity(True)
    queries = CountQueries(printed)
    assert queries.effect((0, 0, 0), (1, 1, 1)) == ([3], [0])
    assert queries.effect((0, 1, 0), (0, 1, 1)) == ([], [])


def test_example_8_2_has_alpha_4_and_xi_1(printed):
    graph = policy_graph(printed)
    q = [fact.name for fact in printed.linear_facts]
    assert set(graph.edges) == {(SOURCE, SINK), *((a, b) for a in q for b in q if a != b)}
    assert graph.has_edge(q[0], q[3])
    assert (alpha(graph).lower, alpha(graph).upper) == (4, 4)
    assert xi(graph) == Longest(1, 1, (SOURCE, SINK))


def test_a_star_of_ranges_has_no_long_path():
    """Theorem 8.6 says S = 2(max(Q) + 1) = 10 here, but 4 moves are the most, so S is at most 8.

    A long range is near three short ones that are far apart: one component of 4, and no path has
    all of it.
    """
    domain = Domain(x=Integers(0, 20), y=Integers(0, 20))
    ranges = [(0, 20, 0, 1), (0, 1, 3, 3), (9, 10, 3, 3), (19, 20, 3, 3)]
    known = tuple(Count({"x": Between(a, b), "y": Between(c, d)}) for a, b, c, d in ranges)
    policy = Policy(domain=domain, secrets=Distance(threshold=2), known=known)
    bound = policy_graph_bound(policy)
    assert (bound.alpha.lower, bound.xi.lower, bound.xi.upper) == (2, 4, 4)


# --- longest cycles and paths ---------------------------------------------------------------------


def exhaustive_cycle(graph):
    return max((len(cycle) for cycle in nx.simple_cycles(graph)), default=0)


def exhaustive_path(graph, source, target):
    return max((len(p) - 1 for p in nx.all_simple_paths(graph, source, target)), default=0)


def random_digraph(rng, *, symmetric):
    size = rng.randint(2, 8)
    chance = rng.choice([0.15, 0.3, 0.5, 0.8])
    graph = nx.DiGraph()
    graph.add_nodes_from(range(size))
    for u, v in product(range(size), repeat=2):
        if u != v and rng.random() < chance:
            graph.add_edge(u, v)
            if symmetric:
                graph.add_edge(v, u)
    return graph


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("subset_limit", [12, 1])  # 1: the linear model even for tiny blocks
def test_longest_is_what_exhaustive_search_says(symmetric, subset_limit, monkeypatch):
    monkeypatch.setattr(longest, "SUBSET_LIMIT", subset_limit)
    rng = random.Random(7)
    for _ in range(120 if subset_limit > 1 else 25):
        graph = random_digraph(rng, symmetric=symmetric)
        if symmetric and graph.number_of_edges() > 36:
            continue
        found = longest_cycle(graph)
        assert found.lower == found.upper == exhaustive_cycle(graph)
        found = longest_path(graph, 0, 1)
        assert found.lower == found.upper == exhaustive_path(graph, 0, 1)


def test_both_ways_agree_on_larger_blocks(monkeypatch):
    """Twelve nodes: dynamic programming against the linear model."""
    for seed in range(6):
        graph = nx.gnm_random_graph(12, 17, seed=seed).to_directed()
        monkeypatch.setattr(longest, "SUBSET_LIMIT", 12)
        one = longest_cycle(graph), longest_path(graph, 0, 1)
        monkeypatch.setattr(longest, "SUBSET_LIMIT", 1)
        two = longest_cycle(graph), longest_path(graph, 0, 1)
        assert [(a.lower, a.upper) for a in one] == [(b.lower, b.upper) for b in two]


@pytest.mark.parametrize(
    ("graph", "length"),
    [
        (nx.complete_graph(200), 200),
        (nx.complete_bipartite_graph(5, 195), 10),
        (nx.star_graph(199), 2),
        (nx.balanced_tree(3, 4), 2),
        (nx.cycle_graph(200), 200),
        (nx.grid_2d_graph(13, 15), 194),
        (nx.grid_2d_graph(14, 14), 196),
        (nx.disjoint_union_all([nx.complete_graph(k) for k in range(2, 19)]), 18),
        (nx.petersen_graph(), 9),
        (nx.windmill_graph(20, 10), 10),
        (nx.wheel_graph(100), 100),
        (nx.empty_graph(5), 0),
        (nx.empty_graph(0), 0),
    ],
)
def test_known_longest_cycles(graph, length):
    found = longest_cycle(graph.to_directed(), time_limit=20)
    assert (found.lower, found.upper) == (length, length)


def test_bounds_are_sound_when_stopped():
    for seed in range(4):
        graph = nx.gnm_random_graph(24, 34, seed=seed).to_directed()
        exact, path = longest_cycle(graph), longest_path(graph, 0, 1)
        seen: list[Longest] = []
        for limit in (0.0, 0.001):
            stopped = longest_cycle(graph, time_limit=limit, on_bound=seen.append)
            assert stopped.lower <= exact.lower <= stopped.upper
            stopped = longest_path(graph, 0, 1, time_limit=limit)
            assert stopped.lower <= path.lower <= stopped.upper
        longest_cycle(graph, on_bound=seen.append)
        assert all(found.lower <= exact.lower <= found.upper for found in seen)


def test_a_path_to_itself_is_refused():
    with pytest.raises(ValueError, match="use longest_cycle"):
        longest_path(nx.DiGraph([(1, 2)]), 1, 1)


# --- sparsity and the policy graph, against listing the edges of G --------------------------------


def random_policy(rng, *, impossible=True):
    domain = Domain(a=Integers(0, rng.randint(1, 4)), b=Labels([*"xyz"][: rng.randint(1, 3)]))
    pairs = list(combinations(domain.points(), 2))
    listed = [
        tuple(dict(zip(domain.names, domain.decode(p), strict=True)) for p in pair)
        for pair in rng.sample(pairs, min(len(pairs), 4))
    ]
    secrets = rng.choice(
        [
            Full(),
            AttributeChange(changes=1),
            Distance(threshold=1),
            Distance(threshold=2, attributes=["a"]),
            PartitionBy(["b"]),
            Edges(listed),
        ]
    )

    def region():
        low, high = sorted(rng.randrange(domain["a"].size) for _ in range(2))
        some = Region(a=Between(low, high))
        labels = domain["b"].size
        return (
            some
            if rng.random() < 0.5
            else Region(a=Between(low, high), b="xyz"[rng.randrange(labels)])
        )

    known = []
    for _ in range(rng.randint(0, 3)):
        known.append(
            rng.choice(
                [
                    lambda: Count(region()),
                    lambda: Count([region(), region()]),
                    lambda: Marginal([rng.choice("ab")]),
                    lambda: Sum([(1, region()), (rng.choice([1, -1]), region())], equals=0),
                ]
            )()
        )
    if impossible and rng.random() < 0.4:
        known.append(Impossible(region()))
    return Policy(domain=domain, secrets=secrets, known=tuple(known)).with_answers("any")


def listed_moves(policy):
    """Every secret move of possible values, and the names of what it lifts and lowers."""
    names = [fact.name for fact in policy.linear_facts]
    for x, y in product(policy.domain.points(), repeat=2):
        if policy.graph.is_edge(x, y) and policy.possible(x) and policy.possible(y):
            change = [b - a for a, b in zip(policy.signature(x), policy.signature(y), strict=True)]
            yield (
                (x, y),
                tuple(n for n, c in zip(names, change, strict=True) if c > 0),
                tuple(n for n, c in zip(names, change, strict=True) if c < 0),
            )


def zero_or_one(policy):
    values = [x for x in policy.domain.points() if policy.possible(x)]
    return all(set(policy.signature(x)) <= {0, 1} for x in values)


def test_sparse_is_what_listing_the_graph_says():
    rng = random.Random(11)
    verdicts = []
    for _ in range(300):
        policy = random_policy(rng)
        found = sparse(policy)
        verdicts.append(found.sparse)
        if found.sparse is None:
            assert not zero_or_one(policy)
            continue
        assert zero_or_one(policy)
        moves = list(listed_moves(policy))
        assert found.sparse == all(len(up) <= 1 and len(down) <= 1 for _, up, down in moves)
        if found.offending:
            pair = found.offending
            assert ((pair.source, pair.target), pair.lifts, pair.lowers) in moves
    assert min(verdicts.count(v) for v in (True, False, None)) > 20


def test_the_policy_graph_is_what_listing_the_graph_says():
    rng = random.Random(13)
    found = 0
    for _ in range(300):
        policy = random_policy(rng)
        if not sparse(policy).sparse:
            continue
        found += 1
        arcs = {(*(down or (SOURCE,)), *(up or (SINK,))) for _, up, down in listed_moves(policy)}
        assert set(policy_graph(policy).edges) == arcs | {(SOURCE, SINK)}
    assert found > 50


def test_the_bound_is_the_largest_number_of_records_that_change():
    """Every neighbour under reading "secret-moves" with up to L + 1 records, by brute force."""
    rng = random.Random(17)
    checked: list[int] = []
    while len(checked) < 25:
        policy = random_policy(rng)
        if not sparse(policy).sparse or policy.domain.size > 6:
            continue
        bound = policy_graph_bound(policy)
        assert bound.exact
        size = bound.upper + 1
        if policy.domain.size**size > 700:
            continue
        found = setting(policy, "any")
        pairs = brute_neighbours(found, "secret-moves", sizes=range(size + 1), every_label=False)
        assert max((len(pair.before) for pair in pairs), default=0) == bound.lower
        checked.append(bound.lower)
    assert len(set(checked)) >= 3


def irreducible(moves):
    """Whether effects sum to zero and no proper part of them does."""
    if any(map(sum, zip(*moves, strict=True))):
        return False
    parts = (part for k in range(1, len(moves)) for part in combinations(moves, k))
    return all(any(map(sum, zip(*part, strict=True))) for part in parts)


def test_irreducible_multisets_are_no_longer_than_the_bound():
    """The statement in the docstring of `policy_graph_bound`, by listing multisets of effects."""
    rng = random.Random(19)
    checked: list[int] = []
    while len(checked) < 60:
        policy = random_policy(rng)
        if not sparse(policy).sparse or not policy.linear_facts:
            continue
        effects = {
            tuple(b - a for a, b in zip(policy.signature(x), policy.signature(y), strict=True))
            for (x, y), _, _ in listed_moves(policy)
        }
        if len(effects) > 13:
            continue
        bound = policy_graph_bound(policy)
        lengths = [
            size
            for size in range(1, bound.upper + 2)
            if any(map(irreducible, combinations_with_replacement(sorted(effects), size)))
        ]
        assert max(lengths, default=0) == bound.lower == bound.upper
        checked.append(bound.lower)
    assert len(set(checked)) >= 4


@pytest.mark.parametrize("engine", ["search"])
def test_the_engines_stay_below_the_bound_and_reach_it(engine):
    """S(h, P) <= 2 L; it is 2 L where values of a class are plenty, so that nothing cancels."""
    domain = Domain(x=Integers(0, 11))
    for starts in [(0, 2), (1, 3, 6), (0, 4, 8), (2, 5)]:
        known = tuple(Count({"x": Between(a, a + 1)}) for a in starts)
        policy = Policy(domain=domain, secrets=Distance(threshold=2), known=known)
        answer = sensitivity(policy, reading="secret-moves", engine=engine, time_limit=20)
        bound = policy_graph_bound(policy)
        assert answer.upper is not None
        assert answer.lower == answer.upper <= 2 * bound.upper


def test_equal_empty_and_full_queries():
    domain = Domain(a=Labels(["x", "y", "z"]))
    twice = Policy(domain=domain, known=(Count({"a": "x"}), Count({"a": "x"})))
    found = sparse(twice).offending
    assert found is not None
    assert found.lifts == ("known[0]", "known[1]")
    with pytest.raises(PolicyError, match="not sparse"):
        policy_graph(twice)
    whole = Policy(domain=domain, known=(Count({}), Count({}), Count({"a": "x"})))
    bound = policy_graph_bound(whole)
    assert (bound.alpha.lower, bound.xi.lower, bound.lower) == (0, 2, 2)


def test_no_secret_pair_at_all():
    domain = Domain(a=Integers(0, 2))
    policy = Policy(domain=domain, known=(Impossible({"a": Between(1, 2)}), Count({"a": 0})))
    bound = policy_graph_bound(policy)
    assert (bound.xi.lower, bound.lower, bound.upper) == (1, 0, 0)


def test_bounds_and_clauses_are_outside_the_definition():
    domain = Domain(a=Labels(["x", "y"]))
    found = sparse(Policy(domain=domain, known=(Count({"a": "x"}, at_least=1),)))
    assert found.sparse is None
    assert "bound" in found.reasons[0]
    with pytest.raises(PolicyError, match="does not apply"):
        policy_graph_bound(Policy(domain=domain, known=(Count({"a": "x"}, at_least=1),)))


def test_a_huge_domain_is_not_listed():
    domain = Domain({f"x{axis}": Integers(0, 24) for axis in range(4)})
    known = tuple(Marginal([name]) for name in domain.names)
    attribute = Policy(domain=domain, secrets=AttributeChange(), known=known)
    bound = policy_graph_bound(attribute)
    assert (bound.alpha.lower, bound.xi.lower, bound.upper) == (25, 1, 25)
    assert sparse(Policy(domain=domain, known=known)).sparse is False


def test_too_much_work_is_refused(monkeypatch):
    monkeypatch.setattr(count_queries, "STEP_LIMIT", 10)
    domain = Domain(a=Integers(0, 99))
    known = tuple(Count({"a": Between(i, i + 1)}) for i in range(20))
    with pytest.raises(BudgetError, match="20 count queries"):
        policy_graph(Policy(domain=domain, secrets=Distance(threshold=1), known=known))


# --- the command ----------------------------------------------------------------------------------

SPARSE = """
[domain]
sex = ["F", "M"]
age = { min = 0, max = 99 }
[[known]]
marginal = ["sex"]
"""
ENTANGLED = SPARSE + "[[known]]\ncount = { age = 7 }\n"
BOUND = ENTANGLED + 'at_least = 1\n[database]\nsize = 9\nanswers = "given"\n'


def said(capsys, tmp_path, text, *options):
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    code = run(["sparse", str(path), *options])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out


def test_sparse_command_draws_the_graph(capsys, tmp_path):
    dot = tmp_path / "graph.dot"
    code, out = said(capsys, tmp_path, SPARSE, "--dot", str(dot))
    assert code == 0
    assert "policy: sparse" in out
    assert "alpha = 2" in out
    assert "S(histogram) <= 4" in out
    drawn = dot.read_text(encoding="utf-8")
    assert '"known[0] (sex = F)" -> "known[0] (sex = M)" [dir=both];' in drawn
    assert '"v+" -> "v-";' in drawn


def test_sparse_command_as_json(capsys, tmp_path):
    code, out = said(capsys, tmp_path, SPARSE, "--json")
    document = json.loads(out)
    assert code == 0
    assert (document["schema"], document["policy"]) == ("blowproof/sparse/1", "policy")
    assert document["sparse"] is True
    assert document["offending"] is None
    women, men = "known[0] (sex = F)", "known[0] (sex = M)"
    assert document["graph"]["nodes"] == ["v+", women, men, "v-"]
    assert sorted(document["graph"]["edges"]) == [[women, men], [men, women], ["v+", "v-"]]
    assert document["alpha"] == {"lower": 2, "upper": 2, "cycle": [women, men]}
    assert document["xi"] == {"lower": 1, "upper": 1, "path": ["v+", "v-"]}
    assert document["records"] == {"lower": 2, "upper": 2}


def test_sparse_command_names_the_offending_pair(capsys, tmp_path):
    code, out = said(capsys, tmp_path, ENTANGLED, "--json")
    found = json.loads(out)
    assert code == 1
    assert (found["sparse"], found["graph"], found["alpha"], found["xi"]) == (False, *[None] * 3)
    pair = found["offending"]
    assert pair["to"][1] == 7 != pair["from"][1]
    assert "known[1]" in pair["lifts"]
    code, out = said(capsys, tmp_path, ENTANGLED)
    assert code == 1
    assert "lifts   known[0] (sex = F), known[1]" in out


def test_sparse_command_is_undecided_about_bounds(capsys, tmp_path):
    code, out = said(capsys, tmp_path, BOUND)
    assert code == 3
    assert "known[1] is a bound" in out
    assert json.loads(said(capsys, tmp_path, BOUND, "--json")[1])["sparse"] is None
    assert said(capsys, tmp_path, SPARSE.replace("sex =", "sex"))[0] == 2


# --- work that is counted -------------------------------------------------------------------------


def cells(count):
    return Policy(domain=Domain(a=Integers(1, count)), known=(Marginal(["a"]),))


def test_a_walk_counts_the_free_nodes_beside_each_node_as_it_goes():
    """Not anew at each step: in a clique that looks at every node for every arc."""
    rows = tuple(tuple(v for v in range(120) if v != u) for u in range(120))
    with at_most(40_000):
        assert len(greedy_cycle(Block(rows), Pace())) == 120


def test_comparing_counts_hands_over_when_its_turn_is_over():
    """Three thousand counties are five million pairs of counts."""
    worker = Worker(lambda: sparse(cells(3000)))
    with Budget(), at_most(1_000_000):
        assert not worker.turn(0.05)
        assert 0.05 <= worker.used < 0.06
        worker.stop()


def test_what_is_too_large_for_its_time_is_refused_with_what_to_try(monkeypatch):
    with Budget() as budget:
        with pytest.raises(BudgetError, match="count queries were compared\n  try: more time"):
            policy_graph_bound(cells(3000), time_limit=0.05)
        assert budget.used < 0.06
        monkeypatch.setattr(graphs, "ARC", 1e-3)  # so that it is not the pairs that take long
        with pytest.raises(BudgetError, match=r"has more than .* arcs\n  try: more time"):
            policy_graph(cells(200), found=sparsity.Sparsity(True), deadline=budget.look() + 0.05)


def test_a_policy_graph_has_a_largest_size(monkeypatch):
    monkeypatch.setattr(graphs, "MOST_ARCS", 20)
    assert policy_graph(cells(4)).number_of_edges() == 13
    with pytest.raises(BudgetError, match="has more than 20 arcs"):
        policy_graph(cells(6))


@pytest.mark.parametrize("size", [100, 200])
def test_a_graph_that_cannot_be_cut_up_in_time_is_bounded_by_its_nodes(size):
    graph = nx.complete_graph(size, nx.DiGraph)
    with Budget() as budget, at_most(20 * size):
        assert longest_cycle(graph, time_limit=1e-3) == Longest(0, size)
        assert longest_path(graph, 0, 1, time_limit=1e-3) == Longest(1, size, (0, 1))
        assert budget.used < 0.01
    with Budget() as budget:
        assert longest_cycle(graph, time_limit=1).exact
        assert budget.used > graph.number_of_edges() * longest.PART


def test_a_model_that_cannot_be_written_in_time_is_not_begun():
    rows = tuple(tuple(v for v in range(50) if v != u) for u in range(50))
    told: list[object] = []
    with Budget() as budget, at_most(1000):
        pace = Pace(budget.look() + 1e-3)
        improve(Block(rows), floor=0, pace=pace, on_cycle=told.append, on_upper=told.append)
    assert not told


def test_moves_along_a_long_cycle_are_counted():
    """Each arc's move is apart from those before it: a comparison for every two of them."""
    used = []
    for count in (40, 160):
        known = tuple(Count({"a": [2 * k, 2 * k + 1]}) for k in range(count))
        policy = Policy(domain=Domain(a=Integers(0, 2 * count - 1)), known=known)
        queries = CountQueries(policy)
        with Budget() as budget:
            taken: list[tuple[int, ...]] = []
            for k in range(count):
                found = queries.move_along(k, (k + 1) % count, not_from=taken, not_to=taken)
                assert found is not None
                taken += found
            used.append(budget.used)
    assert used[1] > 10 * used[0]  # 16 times as many comparisons


def test_a_bound_stands_without_the_pair_that_there_was_no_time_for():
    policy = cells(250)
    bound = policy_graph_bound(policy)
    assert bound.exact and bound.upper == 250
    with Budget() as budget:
        assert pair_along(policy, bound) is not None
        assert pair_along(policy, bound, deadline=budget.look()) is None
