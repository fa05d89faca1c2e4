"""data-dependent-blowfish, section 5: partitions into buckets of one or two values."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product

from blowproof.models import Exact
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.blowfish.section_5 import QUERIES, tables
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.measures import Sensitivity
from blowproof.verifier.claims.stating.parts import counted

__all__ = [
    "CLAIMS",
    "HISTOGRAMS",
    "Bucket",
    "Partition",
    "counts_of",
    "histograms",
    "partitions_of",
    "printed_cost",
]

Bucket = tuple[int, ...]
Partition = tuple[Bucket, ...]

# --- section 5.1 ---------------------------------------------------------------------------------


def _twice_add_remove(instance: Instance) -> Exact:
    return plain(2 * Fraction(Sensitivity("add-remove")(instance, None).lower))


HALF = Claim(
    id="data-dependent-blowfish/section-5.1-half-budget",
    source="Section 5.1",
    quote="Utilizing the fact that",
    statement="An epsilon/2-differentially private algorithm is (epsilon, G)-Blowfish private.",
    read_as="S when a record changes is at most twice S when one is added or removed.",
    parts=(
        Part(
            name="S(f, G) is at most twice S under adding and removing one record",
            family=family(
                "tables of 1 or 2 attributes with up to 6 values, every kind of secrets, six "
                "queries",
                lambda: tables(2, (1, 2), QUERIES),
                lambda: tables(6, (1, 2), QUERIES),
            ),
            claimed=_twice_add_remove,
            measure=Sensitivity("published"),
            relation="<=",
            reading="published",
            answers="any",
        ),
    ),
    proof="Changing a record is removing it and adding another one. This is without known counts; "
    "with them more records change at once.",
)

# --- section 5.2: costs and matchings ------------------------------------------------------------


def histograms(most: int, largest: int) -> Iterator[Instance]:
    """Yield every histogram of up to `most` values with counts 0..largest, as a numeral."""
    for size in range(1, most + 1):
        for code in range((largest + 1) ** size):
            for epsilon in (Fraction(1, 2), Fraction(2)):
                yield Instance(
                    shape=f"{size} values",
                    parameters={
                        "values": size,
                        "counts_in_base": largest + 1,
                        "counts": code,
                        "epsilon_2": epsilon,
                    },
                )


def counts_of(instance: Instance) -> list[int]:
    """Return the histogram."""
    base, code = instance.whole("counts_in_base"), instance.whole("counts")
    return [code // base**place % base for place in range(instance.whole("values"))]


def _cost(counts: list[int], bucket: Bucket, epsilon: Fraction) -> Fraction:
    """Return the cost of a bucket by its definition: distances from the mean, and 1 / epsilon_2."""
    mean = Fraction(sum(counts[i] for i in bucket), len(bucket))
    return sum((abs(counts[i] - mean) for i in bucket), Fraction(0)) + 1 / epsilon


def printed_cost(counts: list[int], bucket: Bucket, epsilon: Fraction) -> Fraction:
    """Return the cost of a bucket of one or two values, as printed."""
    return Fraction(abs(counts[bucket[0]] - counts[bucket[-1]])) + 1 / epsilon


@cache
def _matchings(size: int) -> tuple[Partition, ...]:
    """Return every matching of a complete graph, as pairs."""
    if size == 0:
        return ((),)
    found = list(_matchings(size - 1))
    for other in range(size - 1):
        for rest in _matchings(size - 1):
            if all(other not in pair for pair in rest):
                found.append((*rest, (other, size - 1)))
    return tuple(found)


@cache
def partitions_of(size: int) -> tuple[Partition, ...]:
    """Return every partition into buckets of one or two values."""
    return tuple(
        tuple(sorted((*pairs, *((i,) for i in range(size) if all(i not in p for p in pairs)))))
        for pairs in _matchings(size)
    )


def _wrong_costs(instance: Instance) -> Exact:
    counts, epsilon = counts_of(instance), instance.number("epsilon_2")
    size = len(counts)
    buckets: list[Bucket] = [(i,) for i in range(size)]
    buckets += list(combinations(range(size), 2))
    return sum(
        _cost(counts, bucket, epsilon) != printed_cost(counts, bucket, epsilon)
        for bucket in buckets
    )


def _cheapest(counts: list[int], epsilon: Fraction) -> set[Partition]:
    costs = {
        cells: sum((_cost(counts, cell, epsilon) for cell in cells), Fraction(0))
        for cells in partitions_of(len(counts))
    }
    return {cells for cells, cost in costs.items() if cost == min(costs.values())}


def _heaviest(counts: list[int], epsilon: Fraction) -> set[Partition]:
    """Return the heaviest matchings of the printed graph, as their buckets.

    Pairs of values weigh 2 K - cost, the edge from a value to its own second vertex K - cost; K is
    just large enough that all weights are positive. A matching may leave values out.
    """
    size = len(counts)
    dearest = max(
        (printed_cost(counts, pair, epsilon) for pair in combinations(range(size), 2)),
        default=Fraction(0),
    )
    k = max(1 / epsilon, dearest / 2) + Fraction(1, 10)
    weights: dict[Partition, Fraction] = {}
    for pairs in _matchings(size):
        free = [i for i in range(size) if all(i not in pair for pair in pairs)]
        for taken in product((False, True), repeat=len(free)):
            single = [(i,) for i, used in zip(free, taken, strict=True) if used]
            cells: Partition = tuple(sorted((*pairs, *single)))
            weights[cells] = sum(
                (k * len(cell) - printed_cost(counts, cell, epsilon) for cell in cells),
                Fraction(0),
            )
    return {cells for cells, weight in weights.items() if weight == max(weights.values())}


def _not_cheapest(instance: Instance) -> Exact:
    counts, epsilon = counts_of(instance), instance.number("epsilon_2")
    return len(_heaviest(counts, epsilon) ^ _cheapest(counts, epsilon))


@cache
def _perfect(vertices: tuple[int, ...]) -> tuple[Partition, ...]:
    """Return every perfect matching of a complete graph."""
    if not vertices:
        return ((),)
    first, *rest = vertices
    return tuple(
        ((first, other), *more)
        for other in rest
        for more in _perfect(tuple(vertex for vertex in rest if vertex != other))
    )


def _perfect_not_cheapest(instance: Instance) -> Exact:
    """Return in how many partitions the heaviest perfect matchings and the cheapest ones differ.

    Vertex size + i is the second vertex of i; second vertices are joined to each other for free.
    """
    counts, epsilon = counts_of(instance), instance.number("epsilon_2")
    size = len(counts)
    costs: dict[Partition, Fraction] = {}
    for matching in _perfect(tuple(range(2 * size))):
        if any(x < size <= y and y != x + size for x, y in matching):
            continue  # no such edge
        pairs: list[Bucket] = [(x, y) for x, y in matching if y < size]
        pairs += [(x,) for x, y in matching if x < size <= y]
        cells = tuple(sorted(pairs))
        costs[cells] = sum((printed_cost(counts, cell, epsilon) for cell in cells), Fraction(0))
    best = {cells for cells, cost in costs.items() if cost == min(costs.values())}
    return len(best ^ _cheapest(counts, epsilon))


HISTOGRAMS = family(
    "every histogram of 1 to 4 values with counts 0 to 3, epsilon_2 1/2 and 2",
    lambda: histograms(3, 2),
    lambda: histograms(4, 3),
)
COSTS = Claim(
    id="data-dependent-blowfish/section-5.2-costs",
    source="Section 5.2",
    quote="we can rewrite the cost",
    statement="A bucket of two costs |x_i - x_j| + 1/epsilon_2, a bucket of one 1/epsilon_2.",
    read_as="The two formulas, on small counts.",
    parts=(counted("buckets with another cost", HISTOGRAMS, lambda item: 0, _wrong_costs),),
    proof="The mean of two numbers is half their distance away from both.",
    identities=(
        Identity(
            "two values, y and y + d, about their mean",
            "(y + d - (2*y + d)/2) + ((2*y + d)/2 - y)",
            "d",
            real="y d",
        ),
    ),
)
THEOREM_5_1 = Claim(
    id="data-dependent-blowfish/theorem-5.1",
    source="Section 5.2, Theorem 5.1",
    quote="maximum weighted matching",
    statement="If all weights are positive, the heaviest matchings of the graph C are the "
    "cheapest partitions into buckets of one or two values; so are the heaviest perfect matchings "
    "if second vertices are joined for free and no constant is added.",
    read_as="Every matching of the graph listed, all weights positive.",
    parts=(
        counted(
            "partitions that are only one of the two",
            HISTOGRAMS,
            lambda item: 0,
            _not_cheapest,
            small="accuracy",
        ),
        counted(
            "with perfect matchings",
            HISTOGRAMS,
            lambda item: 0,
            _perfect_not_cheapest,
            small="accuracy",
        ),
    ),
    proof="A value that a matching leaves out could take its second vertex, of positive weight. "
    "So all values are matched, and the weight is K times their number minus the cost. Perfect "
    "matchings match them by definition; second vertices that are left are even in number.",
)


CLAIMS = (HALF, COSTS, THEOREM_5_1)
