"""Instances in families: small policies listed exhaustively, larger ones drawn with a seed.

Sizes start at 1, odd and even; regions are points, overlap or touch; leftovers have one value or
two; graphs are paths, stars, cycles, or have isolated values. Everything is yielded smallest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, product
from random import Random

from blowproof.models import (
    AttributeChange,
    Between,
    Count,
    Distance,
    Domain,
    Edges,
    Full,
    Integers,
    Known,
    Labels,
    Marginal,
    PartitionBy,
    PartitionCells,
    Policy,
)
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.claims.stating.claim import Asked, Family, Instance, Level

__all__ = [
    "LETTERS",
    "SEED",
    "disjoint_ranges",
    "drawn",
    "family",
    "graphs",
    "letters",
    "line",
    "lines",
    "marginal_sets",
    "partitions",
    "ranges_of",
    "secrets_on",
    "sizes_up_to",
    "small_graph_policies",
    "table",
]

SEED = 20140622
LETTERS = "vwxyzu"
NAMES = "abcdefgh"
HISTOGRAM = Asked()
Lister = Callable[[], Iterable[Instance]]


def family(
    shapes: str,
    quick: Lister,
    full: Lister | None = None,
    *,
    quickly: str = "",
) -> Family:
    """Return a family from what lists its quick and its full instances (None: the same)."""

    def instances(level: Level) -> Iterator[Instance]:
        return iter(quick() if level == "quick" or full is None else full())

    return Family(shapes, instances, quickly)


def drawn(name: str, count: int, draw: Callable[[Random], Instance]) -> Iterator[Instance]:
    """Yield instances drawn at random, the same ones on every run (`name` and SEED fix them)."""
    rng = Random(f"{SEED} {name}")
    for _ in range(count):
        yield replace(draw(rng), sampled=True)


# --- domains and secrets -------------------------------------------------------------------------


def table(*sizes: int, low: int = 1) -> Domain:
    """Return a domain on attributes a, b, ... with values low, low + 1, ..."""
    return Domain({NAMES[place]: Integers(low, low + size - 1) for place, size in enumerate(sizes)})


def sizes_up_to(
    most: int, attributes: Sequence[int], *, each: int | None = None
) -> Iterator[tuple[int, ...]]:
    """Yield every list of attribute sizes (1 up) with at most `most` values in all, smallest first.

    >>> list(sizes_up_to(3, (1, 2)))
    [(1,), (1, 1), (2,), (1, 2), (2, 1), (3,), (1, 3), (3, 1)]
    """
    limit = most if each is None else min(most, each)
    found: list[tuple[int, ...]] = []
    for count in attributes:
        for sizes in product(range(1, limit + 1), repeat=count):
            values = 1
            for size in sizes:
                values *= size
            if values <= most:
                found.append(sizes)
    return iter(sorted(found, key=_volume))


def _volume(sizes: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
    values = 1
    for size in sizes:
        values *= size
    return values, len(sizes), sizes


def secrets_on(domain: Domain, *, partitions: bool = True) -> Iterator[SecretsSpec]:
    """Yield the paper's kinds of secrets on a domain: full, attribute, partition, distance."""
    yield Full()
    yield AttributeChange()
    widest = max(attribute.size for _, attribute in domain.attributes)
    for threshold in sorted({1, 2, widest - 1, widest} - {0}):
        yield Distance(threshold=threshold)
    if len(domain) > 1:
        yield Distance(threshold=1, metric="linf")
        yield Distance(threshold="3/2", metric="l2")
    if partitions:
        for count in range(1, len(domain) + 1):
            for names in combinations(domain.names, count):
                yield PartitionBy(list(names))


def partitions(values: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield every partition of some values into cells.

    >>> list(partitions([1, 2]))
    [[[1, 2]], [[1], [2]]]
    """
    if not values:
        yield []
        return
    first, *rest = values
    for cells in partitions(rest):
        for place in range(len(cells)):
            yield [*cells[:place], [first, *cells[place]], *cells[place + 1 :]]
        yield [[first], *cells]


def cells_on_line(low: int, size: int) -> Iterator[PartitionCells]:
    """Yield every partition of the values low, low + 1, ... as secrets."""
    for cells in partitions(range(low, low + size)):
        yield PartitionCells([{"a": sorted(cell)} for cell in cells])


# --- known counts --------------------------------------------------------------------------------


def marginal_sets(domain: Domain, *, proper: bool = True) -> Iterator[tuple[str, ...]]:
    """Yield every non-empty set of attributes, as names; `proper`: not all of them."""
    most = len(domain) - 1 if proper else len(domain)
    for count in range(1, most + 1):
        yield from combinations(domain.names, count)


def ranges_of(size: int) -> list[tuple[int, int]]:
    """Return every range of the values 1..size, points first."""
    found = [(low, high) for low in range(1, size + 1) for high in range(low, size + 1)]
    return sorted(found, key=lambda ends: (ends[1] - ends[0], ends))


def disjoint_ranges(size: int, most: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield every set of at most `most` disjoint ranges of 1..size, the empty set first."""
    for count in range(most + 1):
        for chosen in combinations(sorted(ranges_of(size)), count):
            if all(one[1] < two[0] for one, two in pairwise(chosen)):
                yield chosen


def line(size: int, threshold: object, ranges: Iterable[tuple[int, int]] = ()) -> Policy:
    """Return distance secrets on the values 1..size, with known counts of ranges."""
    known: tuple[Known, ...] = tuple(Count({"a": Between(*ends)}) for ends in ranges)
    return Policy(domain=table(size), secrets=Distance(threshold=threshold), known=known)


def lines(
    size: int, thresholds: Sequence[int], most: int, query: Asked = HISTOGRAM
) -> Iterator[Instance]:
    """Yield every line of up to `size` values with up to `most` disjoint known ranges."""
    for length in range(1, size + 1):
        for threshold in thresholds:
            for ranges in disjoint_ranges(length, most):
                policy = line(length, threshold, ranges)
                shape = f"line of {length}, {len(ranges)} ranges"
                yield Instance(shape=shape, policy=policy, query=query)


# --- any graph, any counts -----------------------------------------------------------------------


def graphs(size: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield every graph on 0..size-1 up to renaming its nodes, as edges; fewest edges first."""
    import networkx as nx

    pairs = list(combinations(range(size), 2))
    kept: list[nx.Graph] = []
    for count in range(len(pairs) + 1):
        for edges in combinations(pairs, count):
            graph = nx.Graph()
            graph.add_nodes_from(range(size))
            graph.add_edges_from(edges)
            alike = (other for other in kept if other.number_of_edges() == count)
            if not any(nx.is_isomorphic(graph, other) for other in alike):
                kept.append(graph)
                yield edges


def letters(size: int, edges: Iterable[tuple[int, int]], counts: Iterable[Iterable[int]]) -> Policy:
    """Return a policy on the letters v, w, x, ... with listed secrets and known counts."""
    values = LETTERS[:size]
    pairs = [({"a": values[x]}, {"a": values[y]}) for x, y in edges]
    known = tuple(Count({"a": [values[x] for x in count]}) for count in counts)
    return Policy(domain=Domain(a=Labels(values)), secrets=Edges(pairs), known=known)


def small_graph_policies(size: int, counts: int, *, query: Asked = HISTOGRAM) -> Iterator[Instance]:
    """Yield every graph on up to `size` values with every set of up to `counts` known counts."""
    for values in range(1, size + 1):
        regions = [
            region for many in range(1, values + 1) for region in combinations(range(values), many)
        ]
        for edges in graphs(values):
            for many in range(counts + 1):
                for chosen in combinations(regions, many):
                    shape = f"{values} values, {len(edges)} secret pairs, {many} counts"
                    policy = letters(values, edges, chosen)
                    yield Instance(shape=shape, policy=policy, query=query)


def with_marginals(domain: Domain, secrets: SecretsSpec, sets: Iterable[Iterable[str]]) -> Policy:
    """Return a policy that knows marginals."""
    return Policy(domain=domain, secrets=secrets, known=tuple(Marginal(list(s)) for s in sets))


def named(domain: Domain) -> str:
    """Return a domain's sizes as a shape.

    >>> named(table(2, 3))
    '2x3'
    """
    return "x".join(str(attribute.size) for _, attribute in domain.attributes)
