"""What claims are checked with: families, listings, policy graphs, trees, printed scales."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

import pytest

from blowproof.models import AttributeChange, Distance, Full, Policy
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.printed import calibrations as certified_readings
from blowproof.verifier.claims.blowfish.theorem_7_2 import TreeLoss, printed_scales
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating import sparse_families as sparse
from blowproof.verifier.claims.stating.channels import draw, ratio
from blowproof.verifier.claims.stating.claim import Asked, Instance
from blowproof.verifier.claims.stating.listings import longest_secret_change, most_changed, pairs
from blowproof.verifier.claims.stating.measures import Positive, Sensitivity
from blowproof.verifier.claims.stating.policy_graphs import policy_graph
from blowproof.verifier.claims.stating.printed import Loss, evaluate, printed_scale
from blowproof.verifier.claims.stating.range_trees import OrderedTree, height, tree_nodes
from blowproof.verifier.databases.sparsity import sparse as is_sparse
from blowproof.verifier.engines.policy_graph.graph import policy_graph_bound

# --- families ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "count"), [(1, 1), (2, 2), (3, 4), (4, 11), (5, 34)])
def test_graphs_up_to_renaming(size, count):
    assert len(list(some.graphs(size))) == count


@pytest.mark.parametrize("size", [2, 3])
def test_graph_policies_miss_nothing(size):
    """Every labelled graph with every set of counts is a renaming of exactly one instance."""

    def key(edges, regions, names):
        return (
            frozenset(frozenset(names[x] for x in edge) for edge in edges),
            frozenset(frozenset(names[x] for x in region) for region in regions),
        )

    every = list(permutations(range(size)))
    listed: Counter[object] = Counter()
    for instance in sparse.graph_policies(size, 2):
        policy = instance.the_policy
        edges = [(x[0], y[0]) for x, y in policy.graph.edges()]
        regions = [
            [x for x in range(size) if (x,) in fact.terms[0][1]] for fact in policy.linear_facts
        ]
        for image in {key(edges, regions, names) for names in every}:
            listed[image] += 1
    subsets = [c for n in range(1, size + 1) for c in combinations(range(size), n)]
    wanted = sum(
        1
        for m in range(size * (size - 1) // 2 + 1)
        for _ in combinations(list(combinations(range(size), 2)), m)
        for n in range(3)
        for _ in combinations(subsets, n)
    )
    assert set(listed.values()) == {1}
    assert len(listed) == wanted


def test_drawn_instances_are_the_same_every_time():
    def policies():
        return [item.the_policy for item in sparse.drawn_policies("t", 20, size=5, counts=3)]

    assert policies() == policies()
    assert len({repr(policy) for policy in policies()}) > 10


def test_sizes_begin_at_one_odd_and_even():
    sizes = list(some.sizes_up_to(6, (2,)))
    assert sizes[0] == (1, 1)
    assert {(1, 5), (5, 1), (2, 3), (3, 2), (1, 6)} <= set(sizes)
    assert all(a * b <= 6 for a, b in sizes)


def test_disjoint_ranges_touch_and_leave_gaps():
    found = set(some.disjoint_ranges(4, 2))
    assert {(), ((1, 1),), ((1, 2), (3, 4)), ((1, 1), (4, 4))} <= found
    assert ((1, 2), (2, 3)) not in found


# --- definitions listed --------------------------------------------------------------------------


def test_the_listed_policy_graph_is_that_of_the_verifier():
    instances = [*sparse.graph_policies(3, 2), *some.lines(4, (1, 2), 2)]
    instances += [*sparse.disjoint_marginals(4, (2,)), *sparse.marginal_tables(4, (2,))]
    for instance in instances[::3]:
        policy = instance.the_policy
        mine = policy_graph(policy)
        assert (mine is not None) == is_sparse(policy).sparse
        if mine is not None:
            bound = policy_graph_bound(policy)
            assert (mine.alpha, mine.xi) == (bound.alpha.lower, bound.xi.lower)


def test_listed_changes_agree_with_the_bound():
    policy = some.line(4, 1, [(2, 3)])
    assert longest_secret_change(policy, "secret-moves", 3) == 2
    number, pair = most_changed(policy, "secret-moves", 3)
    assert number == 2 and pair is not None and len(pair.before) == 2
    assert all(len(first) == len(second) for first, second in pairs(policy, "published", 2))


def test_positive_is_the_sign_of_s():
    one = Instance(shape="", policy=some.line(1, 1))
    two = Instance(shape="", policy=some.line(2, 1))
    for instance, sign in ((one, 0), (two, 1)):
        assert Positive(Sensitivity("published"))(instance, None).lower == sign


def test_sensitivities_are_those_of_the_engines():
    for instance in list(sparse.disjoint_marginals(4, (2,)))[::4]:
        for reading in ("published", "secret-moves"):
            value = Sensitivity(reading)(instance, None)  # type: ignore[arg-type]
            again = sensitivity(instance.the_policy, reading=reading)  # type: ignore[arg-type]
            assert (value.lower, value.upper) == (again.lower, again.upper)


# --- printed scales ------------------------------------------------------------------------------


def test_printed_scales_are_formulas_and_nothing_else():
    assert evaluate("2*max(queries,1)/epsilon", queries=0, epsilon=Fraction(1, 2)) == 4
    assert evaluate("a-b/3", a=1, b=1) == Fraction(2, 3)
    for bad in ("__import__('os')", "a.b", "1.5", "min(a,b)", "'x'"):
        with pytest.raises(ValueError, match="may not contain"):
            evaluate(bad, a=1, b=2)


def test_the_loss_is_s_over_the_scale():
    instance = Instance(shape="", policy=some.line(4, 1, [(1, 2)]))
    loss = Loss("published", printed_scale("blowfish-2014/corollary-8.3-calibration"))
    assert loss(instance, None).lower == 2
    assert loss.recheck(instance).startswith("S / scale, S by brute force")
    wider = Loss("published", lambda item: 5)
    assert wider(instance, None).upper == Fraction(4, 5)


# --- the ordered hierarchical structure ----------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "theta", "fan_out"), [(3, 2, 2), (4, 2, 2), (7, 3, 2), (6, 6, 4), (10, 4, 3)]
)
def test_tree_losses_are_those_of_the_other_description(size, theta, fan_out):
    """The certifier's own transcription of section 7.2, as trees and prefixes."""
    share = Fraction(1, 3)
    given = {"fan_out": fan_out, "epsilon_S": share, "epsilon_H": 1 - share}
    instance = Instance(shape="", policy=some.line(size, theta), parameters=given)
    domain = {"x": some.table(size).attribute(0)}
    policy = Policy(domain=type(some.table(1))(domain), secrets=Distance(threshold=theta))
    for reading in certified_readings.HIERARCHY_READINGS[:2]:
        mechanism = certified_readings.ordered_hierarchical(
            size=size,
            theta=theta,
            fan_out=fan_out,
            epsilon_s=share,
            epsilon_h=1 - share,
            reading=reading,
        )
        loss = certify(mechanism, policy, Fraction(1)).loss
        mine = TreeLoss(printed_scales, roots=reading.roots)(instance, None)
        assert (mine.lower, mine.upper) == (loss, loss)
        assert TreeLoss(printed_scales, roots=reading.roots).recheck(instance)


@pytest.mark.parametrize("fan_out", [2, 3, 5])
def test_prefixes_count_what_they_should(fan_out):
    for size in range(1, 14):
        for theta in range(1, size + 1):
            tree = OrderedTree(size, theta, fan_out)
            assert len(set(tree.nodes)) == len(tree.nodes)
            for last in range(size + 1):
                chosen = tree.prefix(last)
                assert chosen <= set(tree.nodes) | {("top", 1, size)}
                held = sorted(x for _, low, high in chosen for x in range(low, high + 1))
                assert held == list(range(1, last + 1))


def test_heights():
    for fan_out in (2, 3, 16):
        for size in range(1, 60):
            levels = max(level for level, _, _ in tree_nodes(1, size, fan_out))
            assert levels == height(size, fan_out)
            assert fan_out ** height(size, fan_out) >= size


def test_range_errors_by_hand():
    tree = OrderedTree(2, 1, 2)  # prefixes: q[1,1] = s_1, q[1,2] = s_2; ranges 1..1, 1..2, 2..2
    scales = dict.fromkeys(("S", "top", "H1", "H", "root"), Fraction(1))
    assert tree.range_error(scales, shared=True) == Fraction(2 + 2 + 4, 3)
    assert tree.range_error(scales, shared=False) == Fraction(2 + 2 + 4, 3)


# --- channels ------------------------------------------------------------------------------------


def test_channels_are_exact_and_their_ratio_is_over_neighbours():
    policy = some.letters(3, [(0, 1)], ())
    channel = draw(policy, 1, 3, "test")
    assert all(sum(row) == 1 for row in channel.rows.values())
    rows = [channel.rows[((0,),)], channel.rows[((1,),)]]
    worst = max(max(a / b, b / a) for a, b in zip(*rows, strict=True))
    assert ratio(policy, 1, channel) == worst
    nobody = some.letters(3, (), ())
    assert ratio(nobody, 1, channel) == 1


def test_queries_are_asked_of_smaller_policies_too():
    for size in (1, 2, 3):
        policy = Policy(domain=some.table(size), secrets=Full())
        assert Asked("cumulative(a)").on(policy).name == "cumulative(a)"
        assert Asked("weighted-sum(a)", ((1, -2),)).on(policy).per_record
    grid = Policy(domain=some.table(2, 2), secrets=AttributeChange())
    assert Asked("matrix", ((1, 0, 0, 1),)).on(grid).row((1, 1)) == {0: 1}
