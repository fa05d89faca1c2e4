"""blowfish-2014, section 4: neighbours."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from blowproof.models import Exact, Point, Policy
from blowproof.verifier.claims.stating import sparse_families as sparse
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import databases, pairs
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS", "FREE", "secret_moves", "single_moves"]


Records = tuple[Point, ...]


def _sized(instances: Iterator[Instance], sizes: Sequence[int]) -> Iterator[Instance]:
    """Yield each policy without answers, at several n."""
    for instance in instances:
        for size in sizes:
            yield replace(instance, parameters={**instance.parameters, "n": size})


def _free(size: int, most: int) -> Iterator[Instance]:
    for values in range(1, size + 1):
        yield from _sized(sparse.graph_policies(values, 0), range(1, most + 1))


FREE = family(
    "every graph on up to 4 values up to renaming, without constraints, n = 1, 2",
    lambda: _free(3, 2),
    lambda: _free(4, 2),
)


def secret_moves(policy: Policy, first: Records, second: Records) -> frozenset[tuple[int, Point]]:
    """Return T(D1, D2): the records that make a secret move, with their new values."""
    graph = policy.graph
    return frozenset(
        (place, y)
        for place, (x, y) in enumerate(zip(first, second, strict=True))
        if x != y and graph.is_edge(x, y)
    )


def _as_printed(instance: Instance) -> Exact:
    """Return 1 if some pair meets condition 3(a) as printed: D3 = D1 rules out all of them."""
    policy = instance.the_policy
    world = databases(policy, instance.whole("n"))
    for first in world:
        changes = [secret_moves(policy, first, other) for other in world]
        if any(own and not any(part < own for part in changes) for own in changes):
            return 1
    return 0


def _not_empty(instance: Instance) -> Exact:
    """Return 1 if there are neighbours in the reading "published"."""
    size = instance.whole("n")
    found = pairs(instance.the_policy, "published", size)
    return int(any(len(first) == size for first, _ in found))


def _has_secret(instance: Instance) -> Exact | None:
    return 1 if instance.the_policy.graph.edge_count else None


DEFINITION_4_1 = Claim(
    id="blowfish-2014/definition-4.1",
    source="Section 4, Definition 4.1",
    quote="Condition 3 ensures that",
    statement="D1, D2 are neighbours if they satisfy Q, T(D1, D2) is not empty, and no D3 in I_Q "
    "has T(D1, D3) strictly inside T(D1, D2), or the same T and fewer changes.",
    read_as="Word for word, D3 = D1 included; the repair is the reading `published`.",
    parts=(
        replace(
            counted("there are neighbours at all", FREE, _has_secret, _as_printed),
            large="privacy",
        ),
        replace(
            counted("the same, T(D1, D3) not being empty", FREE, _has_secret, _not_empty),
            amended=True,
        ),
    ),
    repaired="In 3(a), T(D1, D3) is not empty.",
    amendment="misprint",
    explanation="D3 = D1 satisfies Q, and T(D1, D1) is empty, hence strictly inside every "
    "non-empty T(D1, D2). Read to the letter, 3(a) rules out every pair, no policy has "
    "neighbours, and every mechanism is private. The remark below the definition shows what is "
    "meant: without constraints the neighbours are the pairs with one secret move.",
    proof="With that word, one secret move alone is a neighbour pair where nothing is known.",
)


def single_moves(instance: Instance, *, edges: bool) -> Exact:
    """Return how many pairs are neighbours or differ in one record, but not both."""
    policy, size = instance.the_policy, instance.whole("n")
    found = {
        pair for pair in pairs(policy, "published", size, every_label=True) if len(pair[0]) == size
    }
    world = databases(policy, size)
    wanted = {
        (first, second)
        for first in world
        for second in world
        if sum(x != y for x, y in zip(first, second, strict=True)) == 1
        and (not edges or secret_moves(policy, first, second))
    }
    return len(found ^ wanted)


NO_CONSTRAINTS = Claim(
    id="blowfish-2014/section-4-no-constraints",
    source="Section 4, after Definition 4.1",
    quote="some individual tuples value is changed",
    statement="Without constraints D1 and D2 are neighbours iff one record changes along an edge "
    "of G.",
    read_as="Pairs by Definition 4.1 against pairs that differ along one edge, listed.",
    parts=(
        counted(
            "pairs on which the two sides differ",
            FREE,
            lambda item: None if item.the_policy.known else 0,
            lambda item: single_moves(item, edges=True),
        ),
    ),
    proof="All databases are in I_Q: of several secret moves one alone is a D3 for 3(a), and of "
    "further changes none is needed, so 3(b) rules them out.",
)


def _chains(size: int, most: int) -> Iterator[Instance]:
    for instance in _free(size, most):
        values = instance.the_policy.domain.size
        for x, y in combinations(range(values), 2):
            yield replace(instance, parameters={**instance.parameters, "x": x, "y": y})


def _chain(instance: Instance) -> Exact:
    """Return how many neighbour steps lead from D + {x} to D + {y}; 0 if none do."""
    policy, size = instance.the_policy, instance.whole("n")
    rest: Records = ((0,),) * (size - 1)
    start: Records = ((instance.whole("x"),), *rest)
    goal: Records = ((instance.whole("y"),), *rest)
    steps: dict[Records, list[Records]] = {}
    for first, second in pairs(policy, "published", size, every_label=True):
        steps.setdefault(first, []).append(second)
    distance: dict[Records, int] = {start: 0}
    queue: deque[Records] = deque([start])
    while queue:
        here = queue.popleft()
        for there in steps.get(here, ()):
            if there not in distance:
                distance[there] = distance[here] + 1
                queue.append(there)
    return distance.get(goal, 0)


def _hops(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    if policy.known or max(instance.whole("x"), instance.whole("y")) >= policy.domain.size:
        return None
    return policy.graph.distance((instance.whole("x"),), (instance.whole("y"),)) or 0


EQUATION_9 = Claim(
    id="blowfish-2014/equation-9",
    source="Section 4, Equation 9",
    quote="shortest distance between",
    statement="Without constraints, Pr[M(D + x) in S] <= exp(epsilon d_G(x, y)) Pr[M(D + y) in "
    "S]; if no path joins x and y, nothing bounds it.",
    read_as="The tightest such factor over databases of 2 records; no path: no bound.",
    parts=(
        replace(
            counted(
                "neighbour steps from D + x to D + y (0: none)",
                family(
                    "every graph on up to 4 values up to renaming, every two values, n = 1, 2",
                    lambda: _chains(3, 2),
                    lambda: _chains(4, 2),
                ),
                _hops,
                _chain,
            ),
            small="privacy",
        ),
    ),
    proof="Along a shortest path in G each step is a neighbour pair, and the factors multiply; "
    "every chain of neighbours from D + x to D + y takes the one record along some path.",
)


CLAIMS = (DEFINITION_4_1, NO_CONSTRAINTS, EQUATION_9)
