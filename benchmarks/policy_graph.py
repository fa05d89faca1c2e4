"""Policy graphs: alpha and xi of 20 to 200 count queries, beside exhaustive search by networkx.

python benchmarks/policy_graph.py [--queries 20 50 100 200] [--patience 5] [--limit 60]

The policies are what ranges, grids, marginals and listed secrets give: cliques, grids with and
without gaps, interval graphs, stars, trees, sparse and dense graphs, many components. Our times are
those of the processor, on one thread, so that other work on the machine does not spoil them. The
peer lists all simple cycles (`simple_cycles`) and all simple paths (`all_simple_paths`) until its
patience ends.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterable
from math import isqrt

import networkx as nx

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Distance,
    Domain,
    Edges,
    Integers,
    Labels,
    Marginal,
    Policy,
)
from blowproof.verifier.engines.policy_graph.graph import SINK, SOURCE, alpha, policy_graph, xi
from blowproof.verifier.engines.policy_graph.longest import Longest


def ranges(queries: int) -> Policy:
    """Ranges on a line, gaps between them, a threshold that bridges several at once."""
    rng = random.Random(1)
    known, place = [], 0
    for _ in range(queries):
        width = rng.choice([1, 2, 2, 3, 8])
        known.append(Count({"x": Between(place, place + width - 1)}))
        place += width + rng.randint(0, 3)
    domain = Domain(x=Integers(0, place + 10))
    return Policy(domain=domain, secrets=Distance(threshold=5), known=tuple(known))


def tiles(queries: int, *, kept: float, metric: str, seed: int = 3) -> Policy:
    """Tiles of 8 x 8 in a plane, 2 apart; a threshold of 3 joins a tile to those beside it."""
    rng = random.Random(seed)
    side = isqrt(int(queries / kept)) + 1
    places = [(i, j) for i in range(side) for j in range(side)]
    if kept < 1:
        rng.shuffle(places)
    domain = Domain(x=Integers(0, 10 * side + 5), y=Integers(0, 10 * side + 5))
    known = [
        Count({"x": Between(10 * i, 10 * i + 7), "y": Between(10 * j, 10 * j + 7)})
        for i, j in places[:queries]
    ]
    return Policy(domain=domain, secrets=Distance(threshold=3, metric=metric), known=tuple(known))


def packed(queries: int) -> Policy:
    """Tiles of 2 x 2 that fill the plane, so that nothing is left outside: no way from v+ to v-."""
    side = isqrt(queries)
    domain = Domain(x=Integers(0, 2 * side - 1), y=Integers(0, 2 * side - 1))
    known = tuple(
        Count({"x": Between(2 * i, 2 * i + 1), "y": Between(2 * j, 2 * j + 1)})
        for i in range(side)
        for j in range(side)
    )
    return Policy(domain=domain, secrets=Distance(threshold=1), known=known)


def star(queries: int) -> Policy:
    """One long range with many short ones beside it, which are far from each other."""
    width = 10 * queries
    domain = Domain(x=Integers(0, width), y=Integers(0, 9))
    known = [Count({"y": Between(0, 1)})]
    known += [
        Count({"x": Between(10 * i, 10 * i + 1), "y": Between(3, 4)}) for i in range(queries - 1)
    ]
    return Policy(domain=domain, secrets=Distance(threshold=2), known=tuple(known))


def marginal(queries: int) -> Policy:
    """One marginal with full secrets: a clique."""
    domain = Domain(a=Integers(1, queries), b=Integers(0, 10**6))
    return Policy(domain=domain, known=(Marginal(["a"]),))


def marginals(queries: int) -> Policy:
    """Five disjoint marginals, attribute secrets: five cliques."""
    domain = Domain({f"a{k}": Integers(1, queries // 5) for k in range(5)})
    known = tuple(Marginal([name]) for name in domain.names)
    return Policy(domain=domain, secrets=AttributeChange(), known=known)


def listed(graph: nx.Graph) -> Policy:
    """Listed secrets between the values of one attribute, each counted: the graph itself."""
    names = {node: f"n{place}" for place, node in enumerate(graph)}
    domain = Domain(a=Labels(list(names.values())))
    pairs = [({"a": names[u]}, {"a": names[v]}) for u, v in graph.edges]
    return Policy(domain=domain, secrets=Edges(pairs), known=(Marginal(["a"]),))


FAMILIES: dict[str, Callable[[int], Policy]] = {
    "marginal (clique)": marginal,
    "five marginals": marginals,
    "ranges on a line": ranges,
    "grid of tiles": lambda n: tiles(n, kept=1, metric="l1"),
    "grid, packed": packed,
    "grid, 15 % missing": lambda n: tiles(n, kept=0.85, metric="l1"),
    "king's grid, 40 % missing": lambda n: tiles(n, kept=0.6, metric="linf"),
    "star of ranges": star,
    "tree": lambda n: listed(nx.random_labeled_tree(n, seed=5)),
    "sparse random": lambda n: listed(nx.gnm_random_graph(n, 3 * n // 2, seed=5)),
    "dense random": lambda n: listed(nx.gnp_random_graph(n, 0.3, seed=5)),
    "geometric": lambda n: listed(nx.random_geometric_graph(n, 1.5 / n**0.5, seed=5)),
    "split (hubs, leaves)": lambda n: listed(nx.complete_bipartite_graph(n // 8, n - n // 8)),
    "many components": lambda n: listed(
        nx.disjoint_union_all(nx.gnm_random_graph(10, 15, seed=k) for k in range(n // 10))
    ),
}


def exhaustive(found: Iterable[object], patience: float) -> float | None:
    """Return the seconds that listing everything takes, None beyond the patience."""
    start = time.perf_counter()
    for _ in found:
        if time.perf_counter() - start > patience:
            return None
    return time.perf_counter() - start


def show(found: Longest) -> str:
    """Return a length, or its bounds."""
    return str(found.lower) if found.exact else f"{found.lower}..{found.upper}"


def row(name: str, policy: Policy, options: argparse.Namespace) -> str:
    """Return one line of the table."""
    start = time.process_time()
    graph = policy_graph(policy)
    built = time.process_time() - start
    start = time.process_time()
    cycle = alpha(graph, time_limit=options.limit)
    path = xi(graph, time_limit=options.limit)
    searched = time.process_time() - start
    peers = [
        exhaustive(nx.simple_cycles(graph), options.patience),
        exhaustive(nx.all_simple_paths(graph, SOURCE, SINK), options.patience),
    ]
    shown = [f"{t:.2f}" if t is not None else f"> {options.patience:g}" for t in peers]
    cells = [
        *(name, str(graph.number_of_nodes() - 2), str(graph.number_of_edges())),
        *(show(cycle), show(path), f"{built:.2f}", f"{searched:.2f}", *shown),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, nargs="+", default=[20, 50, 100, 200])
    parser.add_argument("--patience", type=float, default=5)
    parser.add_argument("--limit", type=float, default=60)
    parser.add_argument("--family", default="", help="only families whose name has this in it")
    options = parser.parse_args()
    print("| family | queries | arcs | alpha | xi | graph s | search s | cycles s | paths s |")
    print("|" + " --- |" * 9)
    for name, family in FAMILIES.items():
        for queries in options.queries if options.family in name else ():
            print(row(name, family(queries), options), flush=True)


if __name__ == "__main__":
    main()
