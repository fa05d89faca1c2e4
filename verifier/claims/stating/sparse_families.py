"""Families of policies with known counts, for the statements of blowfish-2014, section 8."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from random import Random

from blowproof.models import AttributeChange, Between, Count, Distance, Full, Policy
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Instance

__all__ = [
    "apart",
    "disjoint_marginals",
    "drawn_policies",
    "graph_policies",
    "marginal_tables",
    "rectangles",
]

Ranges = tuple[tuple[int, int], ...]


def graph_policies(size: int, counts: int) -> Iterator[Instance]:
    """Yield every graph on `size` values with every set of up to `counts` counts, up to renaming.

    One of the instances that a renaming of the values maps to each other is yielded.
    """
    regions = [set(r) for many in range(1, size + 1) for r in combinations(range(size), many)]
    for edges in some.graphs(size):
        symmetries = _symmetries(size, edges)
        for many in range(counts + 1):
            for chosen in combinations(regions, many):
                if _is_first(chosen, symmetries):
                    shape = f"{size} values, listed secrets, {many} counts"
                    policy = some.letters(size, edges, map(sorted, chosen))
                    yield Instance(shape=shape, policy=policy)


def _symmetries(size: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return the renamings that leave a graph as it is."""
    wanted = {frozenset(edge) for edge in edges}
    return [
        names
        for names in permutations(range(size))
        if {frozenset((names[x], names[y])) for x, y in edges} == wanted
    ]


def _is_first(chosen: Sequence[set[int]], symmetries: list[tuple[int, ...]]) -> bool:
    own = sorted(sorted(region) for region in chosen)
    return all(
        own <= sorted(sorted(names[x] for x in region) for region in chosen) for names in symmetries
    )


def drawn_policies(name: str, count: int, *, size: int, counts: int) -> Iterator[Instance]:
    """Yield random graphs on `size` values with random counts."""
    pairs = list(combinations(range(size), 2))

    def draw(rng: Random) -> Instance:
        edges = rng.sample(pairs, rng.randint(1, len(pairs)))
        many = rng.randint(1, counts)
        regions = [rng.sample(range(size), rng.randint(1, size - 1)) for _ in range(many)]
        policy = some.letters(size, edges, map(sorted, regions))
        return Instance(shape=f"{size} values, listed secrets, drawn", policy=policy)

    return some.drawn(name, count, draw)


def marginal_tables(
    most: int, attributes: Sequence[int], *, proper: bool = True
) -> Iterator[Instance]:
    """Yield every table with up to `most` values, full secrets, one known marginal."""
    for sizes in some.sizes_up_to(most, attributes):
        domain = some.table(*sizes)
        for names in some.marginal_sets(domain, proper=proper):
            policy = some.with_marginals(domain, Full(), [names])
            yield Instance(shape=f"{some.named(domain)}, full", policy=policy)


def disjoint_marginals(most: int, attributes: Sequence[int]) -> Iterator[Instance]:
    """Yield tables with one-attribute secrets and every set of disjoint proper marginals."""
    for sizes in some.sizes_up_to(most, attributes):
        domain = some.table(*sizes)
        proper = list(some.marginal_sets(domain))
        for many in range(1, len(sizes) + 1):
            for chosen in combinations(proper, many):
                if len(set().union(*chosen)) == sum(map(len, chosen)):
                    policy = some.with_marginals(domain, AttributeChange(), chosen)
                    shape = f"{some.named(domain)}, {many} marginals"
                    yield Instance(shape=shape, policy=policy)


def rectangles(
    side: int, axes: int, thresholds: Sequence[object], metrics: Sequence[str], most: int
) -> Iterator[Instance]:
    """Yield [side]^axes with distance secrets and every set of up to `most` disjoint rectangles."""
    domain = some.table(*[side] * axes)
    boxes = sorted(
        product(some.ranges_of(side), repeat=axes),
        key=lambda box: (_volume(box), box),
    )
    for many in range(most + 1):
        for chosen in combinations(boxes, many):
            if all(apart(one, two) for one, two in combinations(chosen, 2)):
                for threshold, metric in product(thresholds, metrics):
                    secrets: SecretsSpec = Distance(threshold=threshold, metric=metric)
                    known = tuple(
                        Count({n: Between(*e) for n, e in zip(domain.names, box, strict=True)})
                        for box in chosen
                    )
                    policy = Policy(domain=domain, secrets=secrets, known=known)
                    yield Instance(shape=f"{side}^{axes}, {many} rectangles", policy=policy)


def _volume(box: Ranges) -> int:
    volume = 1
    for low, high in box:
        volume *= high - low + 1
    return volume


def apart(one: Ranges, two: Ranges) -> bool:
    """Whether two rectangles are disjoint."""
    return any(a[1] < b[0] or b[1] < a[0] for a, b in zip(one, two, strict=True))
