"""data-dependent-blowfish, sections 2 to 4: spanning trees, transformed workloads, the budget."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from random import Random

import networkx as nx

from blowproof.models import Exact, Point, Policy
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.channels import Channel, draw, joint, ratio
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.linear import solve
from blowproof.verifier.claims.stating.listings import pairs
from blowproof.verifier.claims.stating.measures import Sensitivity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS", "RECORDS", "graph_of", "graph_policy"]

RECORDS = 2
"""How many records the databases of channels have."""
Graph = tuple[int, tuple[tuple[int, int], ...]]


def graph_policy(size: int, edges: tuple[tuple[int, int], ...]) -> Policy:
    """Return the policy with these secret pairs on the letters v, w, x, ..."""
    return some.letters(size, edges, ())


def graph_of(instance: Instance) -> Graph:
    """Return how many values there are, and the secret pairs."""
    graph, size = instance.the_policy.graph, instance.the_policy.domain.size
    found = [(x, y) for x, y in combinations(range(size), 2) if graph.is_edge((x,), (y,))]
    return size, tuple(found)


# --- section 2: a spanning tree instead of the graph ---------------------------------------------


@cache
def _trees(size: int, edges: tuple[tuple[int, int], ...]) -> list[tuple[tuple[int, int], ...]]:
    """Return the spanning trees of a connected graph."""
    found = []
    for chosen in combinations(edges, size - 1):
        graph = nx.Graph(list(chosen))
        graph.add_nodes_from(range(size))
        if nx.is_connected(graph):
            found.append(chosen)
    return found


def _spanned(most: int) -> Iterator[Instance]:
    for size in range(2, most + 1):
        for edges in some.graphs(size):
            for place, _ in enumerate(_trees(size, edges)):
                yield Instance(
                    shape=f"{size} values, {len(edges)} secret pairs",
                    policy=graph_policy(size, edges),
                    parameters={"tree": place},
                )


def _tree(instance: Instance) -> nx.Graph[int] | None:
    trees, place = _trees(*graph_of(instance)), instance.whole("tree")
    return nx.Graph(list(trees[place])) if place < len(trees) else None


def _channel(instance: Instance) -> Channel:
    return draw(instance.the_policy, RECORDS, 2, instance.whole("tree"))


def _stretched(instance: Instance) -> Exact | None:
    """Return exp(l epsilon): epsilon under the tree, l the longest way round in it."""
    tree = _tree(instance)
    if tree is None:
        return None
    size, edges = graph_of(instance)
    longest = max(nx.shortest_path_length(tree, x, y) for x, y in edges)
    small = ratio(graph_policy(size, tuple(tree.edges)), RECORDS, _channel(instance))
    return plain(small**longest)


STRETCH = Claim(
    id="data-dependent-blowfish/section-2-stretch",
    source="Section 2, approximate transformational equivalence",
    quote="maximum distance between any two",
    statement="G' a spanning tree of G in which neighbours of G are at most l apart: an (epsilon, "
    "G')-private mechanism is (l epsilon, G)-private.",
    read_as="Random channels, every spanning tree; l the longest way round.",
    parts=(
        counted(
            "exp(loss) of a random channel under G (2 records)",
            family(
                "every connected graph on 2 to 4 values, every spanning tree",
                lambda: _spanned(3),
                lambda: _spanned(4),
            ),
            _stretched,
            lambda item: plain(ratio(item.the_policy, RECORDS, _channel(item))),
            "<=",
            small="privacy",
            reading="published",
        ),
    ),
    proof="Walk along the tree from one end of the secret pair to the other, epsilon a step.",
)

# --- Definition 3.3 ------------------------------------------------------------------------------


def _workloads(most: int, seeds: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for edges in some.graphs(size):
            for seed in range(seeds):
                rng = Random(f"{some.SEED} {size} {edges} {seed}")
                rows = tuple(tuple(rng.randint(-2, 2) for _ in range(size)) for _ in range(3))
                yield Instance(
                    shape=f"{size} values, {len(edges)} secret pairs",
                    policy=graph_policy(size, edges),
                    query=Asked("matrix", rows),
                    sampled=True,
                )


def _largest_column(instance: Instance) -> Exact | None:
    """Return the largest L1 norm of a column of W P_G: column e is W (unit x - unit y)."""
    size, edges = graph_of(instance)
    rows = instance.query.rows
    if any(len(row) != size for row in rows):
        return None
    norms = [sum(abs(Fraction(row[x]) - Fraction(row[y])) for row in rows) for x, y in edges]
    return plain(Fraction(max(norms, default=0)))


def _all_trees(most: int) -> Iterator[Instance]:
    for size in range(2, most + 1):
        for edges in some.graphs(size):
            if len(edges) == size - 1 and _trees(size, edges):
                yield Instance(
                    shape=f"tree on {size} values",
                    policy=graph_policy(size, edges),
                )


def _is_tree(instance: Instance) -> Exact | None:
    size, edges = graph_of(instance)
    return 0 if len(edges) == size - 1 >= 1 and _trees(size, edges) else None


def _disagreements(instance: Instance) -> Exact:
    """Return for how many pairs of databases the two notions of neighbours differ.

    P_G without the row of the first value is square; x_G solves P_G x_G = x.
    """
    size, edges = graph_of(instance)
    values = range(size)
    matrix = [[(v == x) - (v == y) for x, y in edges] for v in values[1:]]
    found = 0
    neighbours = set(pairs(instance.the_policy, "published", RECORDS, True))
    for one, two in product(product(((v,) for v in values), repeat=RECORDS), repeat=2):
        counts = [[side.count((v,)) for v in values[1:]] for side in (one, two)]
        solved = [solve(matrix, side) for side in counts]
        assert solved[0] is not None
        assert solved[1] is not None
        change = sorted(abs(a - b) for a, b in zip(*solved, strict=True))
        linked = change[-1] == 1 and not any(change[:-1])
        found += linked != any((one, other) in neighbours for other in _orders(two))
    return found


def _orders(database: tuple[Point, ...]) -> list[tuple[Point, ...]]:
    return [database, database[::-1]]


DEFINITION_3_3 = Claim(
    id="data-dependent-blowfish/definition-3.3",
    source="Section 3, Definition 3.3",
    quote="transformation of the workload",
    statement="With W_G = W P_G, P_G the vertex-edge incidence matrix: Laplace noise for W under "
    "G is Laplace noise for W_G under differential privacy; for a tree, neighbours of x_G are "
    "those of x, so this is true of every mechanism.",
    read_as="Laplace noise for every graph; every mechanism for trees.",
    parts=(
        Part(
            name="S(W, G) is the largest L1 norm of a column of W P_G",
            family=family(
                "every graph on 1 to 4 values, three random rows",
                lambda: _workloads(3, 3),
                lambda: _workloads(4, 10),
            ),
            claimed=_largest_column,
            measure=Sensitivity("published"),
            reading="published",
            answers="any",
        ),
        counted(
            "trees: pairs of databases that are neighbours in one sense only (2 records)",
            family("every tree on 2 to 4 values", lambda: _all_trees(3), lambda: _all_trees(4)),
            _is_tree,
            _disagreements,
            small="privacy",
        ),
    ),
    proof="Changing a record along a secret pair adds a column of P_G to x, so it adds 1 or -1 to "
    "one coordinate of x_G. In a tree x_G is unique, its coordinates being sums over subtrees.",
)

# --- section 4: the budget -----------------------------------------------------------------------


def _graphs_only(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for edges in some.graphs(size):
            yield Instance(
                shape=f"{size} values, {len(edges)} secret pairs", policy=graph_policy(size, edges)
            )


def _two_steps(instance: Instance) -> tuple[Channel, list[Channel]]:
    policy = instance.the_policy
    first = draw(policy, RECORDS, 2, "partition")
    return first, [draw(policy, RECORDS, 2, ("counts", place)) for place in range(2)]


def _budget(instance: Instance) -> Exact:
    first, second = _two_steps(instance)
    policy = instance.the_policy
    return plain(
        ratio(policy, RECORDS, first) * max(ratio(policy, RECORDS, item) for item in second)
    )


BUDGET = Claim(
    id="data-dependent-blowfish/section-4-budget",
    source="Section 4, before Step 1",
    quote="using the sequential composition theorem",
    statement="An (epsilon_1, G)-private partition followed by (epsilon_2, G)-private counts that "
    "use it, and any uniform expansion, is (epsilon_1 + epsilon_2, G)-private.",
    read_as="Random channels for both steps.",
    parts=(
        counted(
            "exp(loss) of both outputs of random channels (2 records)",
            family(
                "every graph on 1 to 4 values", lambda: _graphs_only(3), lambda: _graphs_only(4)
            ),
            _budget,
            lambda item: plain(ratio(item.the_policy, RECORDS, joint(*_two_steps(item)))),
            "<=",
            small="privacy",
            reading="published",
        ),
    ),
    proof="Sequential composition; the expansion does not look at the data.",
)


# --- graphs with cycles --------------------------------------------------------------------------


def _cyclic(most: int) -> Iterator[Instance]:
    for item in _graphs_only(most):
        size, edges = graph_of(item)
        if len(edges) >= size and _trees(size, edges):
            yield item


def _has_cycle(instance: Instance) -> bool:
    size, edges = graph_of(instance)
    return len(edges) >= size and bool(_trees(size, edges))


def _unit_trees(instance: Instance) -> Exact:
    """Return for how many spanning trees each secret pair changes one coordinate of x_G only.

    x_G of a tree: the flow on its edges; moving a record changes it on the path between the values.
    """
    size, edges = graph_of(instance)
    found = 0
    for tree in _trees(size, edges):
        graph = nx.Graph(list(tree))
        found += max(nx.shortest_path_length(graph, x, y) for x, y in edges) == 1
    return found


def _least_squares(instance: Instance) -> Exact:
    """Return the largest L1 change of the shortest x_G by a secret pair: a column of P' P."""
    size, edges = graph_of(instance)
    rows = [[(v == x) - (v == y) for x, y in edges] for v in range(1, size)]
    square = [[sum(a * b for a, b in zip(one, two, strict=True)) for two in rows] for one in rows]
    largest = Fraction(0)
    for place in range(len(edges)):
        weights = solve(square, [row[place] for row in rows])
        assert weights is not None
        change = [
            sum(Fraction(w) * row[edge] for w, row in zip(weights, rows, strict=True))
            for edge in range(len(edges))
        ]
        largest = max(largest, sum((abs(Fraction(item)) for item in change), Fraction(0)))
    return plain(largest)


CYCLES = family(
    "every connected graph with a cycle on 3 to 5 values", lambda: _cyclic(4), lambda: _cyclic(5)
)
GENERAL = Claim(
    id="data-dependent-blowfish/definition-3.3-cycles",
    source="Section 3, after Definition 3.3",
    quote="only for data-independent mechanisms",
    statement="If the policy graph has cycles, transformational equivalence holds for "
    "data-independent mechanisms only.",
    read_as="x_G by a spanning tree, or the shortest: some secret pair changes more than one "
    "record would.",
    parts=(
        counted(
            "spanning trees by whose x_G all neighbours are neighbours",
            CYCLES,
            lambda item: 0 if _has_cycle(item) else None,
            _unit_trees,
            small="privacy",
        ),
        counted(
            "the largest change of the shortest x_G: more than one record's",
            CYCLES,
            lambda item: Fraction(4, 3) if _has_cycle(item) else None,
            _least_squares,
            ">=",
            large="privacy",
        ),
    ),
    proof="The coordinates of x_G that a mechanism on x_G sees are not unique then. With those of "
    "a spanning tree, a secret pair off the tree changes two or more of them, so that noise which "
    "depends on x_G may cost twice epsilon. With any other linear x_G = R x: on a cycle of L "
    "edges R P_G is a projection Q of rank L - 1 that sends the cycle to 0, so each diagonal "
    "entry is at most the sum of its row's other entries in size; if all columns had L1 norm 1 at "
    "most, the trace L - 1 would be at most 1, which is false for L > 2. For Laplace noise only W "
    "P_G counts (definition-3.3).",
)


CLAIMS = (STRETCH, DEFINITION_3_3, GENERAL, BUDGET)
