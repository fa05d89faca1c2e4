"""blowfish-2014, section 6: k-means clustering."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain, combinations
from random import Random

from blowproof.models import (
    AttributeChange,
    Distance,
    Domain,
    Exact,
    Full,
    PartitionBy,
    PartitionCells,
    Point,
    Policy,
)
from blowproof.models.base.numbers import plain
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Asked, Claim, Formula, Instance, Part, Value
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Sensitivity
from blowproof.verifier.claims.stating.parts import with_kernel
from blowproof.verifier.claims.stating.printed import Loss

__all__ = ["CLAIMS"]

PUBLISHED = Sensitivity("published")


# --- the families --------------------------------------------------------------------------------


def _values(domain: Domain, point: Point) -> tuple[int, ...]:
    return tuple(value for value in domain.decode(point) if isinstance(value, int))


def _domains(size: int, grids: Sequence[tuple[int, int]]) -> Iterator[Domain]:
    for low in (0, 1, -1):
        for values in range(1, size + 1):
            yield some.table(values, low=low)
    for low in (0, 1):
        for sizes in grids:
            yield some.table(*sizes, low=low)


def _secrets(domain: Domain) -> Iterator[SecretsSpec]:
    yield from some.secrets_on(domain)
    if len(domain) == 1:
        low = min(_values(domain, x)[0] for x in domain.points())
        yield from some.cells_on_line(low, domain.size)


def _clusters(text: str, size: int, grids: Sequence[tuple[int, int]], most: int) -> Iterator[Instance]:  # noqa: E501 # fmt: skip
    """Yield domains, secrets, and every set of up to `most` centroids on the domain's values."""
    for domain in _domains(size, grids):
        centroids = [_values(domain, point) for point in domain.points()]
        for secrets in _secrets(domain):
            for count in range(1, most + 1):
                for chosen in combinations(centroids, count):
                    yield Instance(
                        shape=f"{some.named(domain)}, {secrets.kind}, {count} centroids",
                        policy=Policy(domain=domain, secrets=secrets),
                        query=Asked(text, chosen),
                    )


def _drawn(text: str, count: int) -> Iterator[Instance]:
    """Yield larger domains with random secrets, and centroids anywhere."""

    def draw(rng: Random) -> Instance:
        sizes = rng.choice([(6,), (9,), (3, 3), (2, 5), (2, 2, 2), (3, 2, 2)])
        domain = some.table(*sizes, low=rng.randint(-4, 3))
        secrets = rng.choice(list(some.secrets_on(domain)))
        halves = [Fraction(half, 2) for half in range(-10, 11)]
        chosen = tuple(
            tuple(plain(rng.choice(halves)) for _ in sizes) for _ in range(rng.randint(1, 4))
        )
        shape = f"{some.named(domain)}, drawn"
        policy = Policy(domain=domain, secrets=secrets)
        return Instance(shape=shape, policy=policy, query=Asked(text, chosen))

    return some.drawn("clusters", count, draw)


SHAPES = (
    "values low..low+3 (low -1, 0, 1), grids 2 x 2 and 2 x 3 (low 0, 1), every kind of secrets and "
    "every partition of the line, every set of 1 or 2 centroids on the values; 150 drawn "
    "with up to 12 values and 4 centroids anywhere"
)
SUMS = family(
    SHAPES,
    lambda: _clusters("cluster-sums", 2, [], 2),
    lambda: chain(_clusters("cluster-sums", 4, [(2, 2), (2, 3)], 2), _drawn("cluster-sums", 150)),
)
SIZES = family(
    SHAPES,
    lambda: _clusters("cluster-sizes", 2, [], 2),
    lambda: chain(_clusters("cluster-sizes", 4, [(2, 2), (2, 3)], 2), _drawn("cluster-sizes", 150)),
)

# --- q_size --------------------------------------------------------------------------------------


def _crossing(instance: Instance) -> Exact:
    """Return 2 if some secret pair has its ends in different clusters, else 0."""
    query = Asked("cluster-sizes", instance.query.rows).on(instance.the_policy)
    edges = instance.the_policy.graph.edges()
    return 2 if any(query.row(x) != query.row(y) for x, y in edges) else 0


def _under_full(formula: Formula) -> Formula:
    def claimed(instance: Instance) -> Exact | None:
        return formula(instance) if isinstance(instance.the_policy.secrets, Full) else None

    return claimed


Q_SIZE = Claim(
    id="blowfish-2014/section-6-q-size",
    source="Section 6",
    quote="same as a histogram query",
    statement="The cluster sizes have sensitivity 2, under differential privacy and under "
    "Blowfish policies.",
    read_as="Any centroids, fixed; full secrets, then any secrets.",
    parts=(
        Part(
            name="full secrets",
            family=SIZES,
            claimed=_under_full(lambda instance: 2),
            measure=PUBLISHED,
            reading="published",
            answers="any",
        ),
        Part(
            name="any secrets",
            family=SIZES,
            claimed=lambda instance: 2,
            measure=PUBLISHED,
            reading="published",
            answers="any",
        ),
        Part(
            name="2 if a secret pair joins two clusters, else 0",
            family=SIZES,
            claimed=_crossing,
            measure=PUBLISHED,
            reading="published",
            answers="any",
            amended=True,
        ),
    ),
    repaired="2 if some secret pair has its ends in different clusters, else 0; so at most 2.",
    amendment="condition",
    explanation="With one cluster, or secrets that stay inside the clusters, no size can change.",
    proof="One record changes; it leaves one cluster for another, or stays.",
)

# --- q_sum ---------------------------------------------------------------------------------------


def _l1(one: tuple[int, ...], two: tuple[int, ...]) -> int:
    return sum(abs(a - b) for a, b in zip(one, two, strict=True))


def _diameter(domain: Domain, points: Sequence[Point]) -> int:
    values = [_values(domain, point) for point in points]
    return max((_l1(one, two) for one in values for two in values), default=0)


def _full(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    if not isinstance(policy.secrets, Full):
        return None
    return 2 * _diameter(policy.domain, list(policy.domain.points()))


def _attribute(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    if not isinstance(policy.secrets, AttributeChange):
        return None
    return 2 * max(attribute.size - 1 for _, attribute in policy.domain.attributes)


def _distance(instance: Instance) -> Exact | None:
    secrets = instance.the_policy.secrets
    fits = isinstance(secrets, Distance) and secrets.metric == "l1"
    return 2 * secrets.threshold if isinstance(secrets, Distance) and fits else None


def _partition(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    if not isinstance(policy.secrets, (PartitionBy, PartitionCells)):
        return None
    graph, points = policy.graph, list(policy.domain.points())
    cells = [[x, *(y for y in points if graph.is_edge(x, y))] for x in points]
    return 2 * max(_diameter(policy.domain, cell) for cell in cells)


def _exact_sum(instance: Instance) -> Exact:
    """The repair: the largest change along a secret pair, which a crossing record makes large."""
    policy, best = instance.the_policy, 0
    domain = policy.domain
    sizes = Asked("cluster-sizes", instance.query.rows).on(policy)
    for x, y in policy.graph.edges():
        one, two = _values(domain, x), _values(domain, y)
        origin = tuple(0 for _ in one)
        stays = sizes.row(x) == sizes.row(y)
        best = max(best, _l1(one, two) if stays else _l1(one, origin) + _l1(two, origin))
    return best


def _part(name: str, claimed: Formula, relation: str = "=") -> Part:
    part = Part(
        name=name,
        family=SUMS,
        claimed=claimed,
        measure=PUBLISHED,
        reading="published",
        answers="any",
    )
    return replace(part, relation="<=") if relation == "<=" else part


REPAIRED = (
    "S of the cluster sums is the largest, over the secret pairs (x, y), of |x - y|_1 if both lie "
    "in one cluster, and |x|_1 + |y|_1 if not."
)
WHY = (
    "A record that changes its cluster is taken out of one sum with its whole coordinate vector "
    "and enters another one with its whole vector: the sums change by |x|_1 + |y|_1, however "
    "close x and y are. Theta, the width of an attribute, the diameter of a cell or of the domain "
    "do not bound that; only the coordinates' sizes do. On the two values 1 and 2 with a centroid "
    "at each, moving from 1 to 2 changes the sums by 1 + 2 = 3, where the lemma says 2. SuLQ "
    "k-means with noise for the lemma's value is not private."
)
REPAIR_PART = replace(_part("the repaired value", _exact_sum), amended=True)
REPAIR_PROOF = (
    "Without constraints one record changes, along a secret pair; what it takes out of the sums, "
    "and puts in, is its own vector."
)

Q_SUM = Claim(
    id="blowfish-2014/section-6-q-sum",
    source="Section 6",
    quote="as large as the diameter",
    statement="Under differential privacy the cluster sums have sensitivity at most 2 d(T), as a "
    "record changes two sums by d(T) at most (d(T): the l1 diameter).",
    read_as="One step at fixed centroids: an upper bound for a record that goes from x to y.",
    parts=(_part("bound", _full, "<="), REPAIR_PART),
    repaired=REPAIRED,
    explanation=WHY,
    proof=REPAIR_PROOF,
)


class Smaller:
    """1 if S is smaller than it is for full secrets, else 0."""

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Compare the two, both from the engines."""
        full = replace(instance, policy=replace(instance.the_policy, secrets=Full()))
        mine, whole = PUBLISHED(instance, time_limit), PUBLISHED(full, time_limit)
        assert mine.upper is not None and whole.upper is not None
        return Value.of(int(mine.upper < whole.upper))


def _some_lemma(instance: Instance) -> Exact | None:
    named = (_attribute(instance), _distance(instance), _partition(instance))
    return 1 if any(value is not None for value in named) else None


def _at_most_full(instance: Instance) -> Exact | None:
    full = replace(instance, policy=replace(instance.the_policy, secrets=Full()))
    return None if _some_lemma(instance) is None else PUBLISHED(full, None).upper


LEMMA_6_1 = Claim(
    id="blowfish-2014/lemma-6.1",
    source="Section 6, Lemma 6.1 with its proof",
    quote="are smaller than the global sensitivity",
    statement="The cluster sums have S = max_A 2 |A| for one-attribute secrets (|A|: the width of "
    "A), 2 theta for l1 distance secrets, at most 2 max d(P_i) for a partition, each smaller than "
    "under differential privacy.",
    read_as="The numbers of its proof, at any fixed centroids, and the inequality it states.",
    parts=(
        _part("one-attribute secrets: 2 max |A|", _attribute),
        _part("l1 distance secrets: 2 theta", _distance),
        _part("partition secrets: at most 2 max d(P_i)", _partition, "<="),
        Part(
            name="smaller than for full secrets",
            family=SUMS,
            claimed=_some_lemma,
            measure=Smaller(),
            small="accuracy",
            reading="published",
            answers="any",
        ),
        _part("not larger than for full secrets", _at_most_full, "<="),
        REPAIR_PART,
    ),
    repaired=f"{REPAIRED} It is never larger than for full secrets.",
    explanation=f"{WHY} Nor is S always smaller than for full secrets: with one attribute, or one "
    "cell, the graphs agree.",
    proof=REPAIR_PROOF,
)


def _lemma_scale(instance: Instance) -> Exact:
    value = _lemma(instance)
    assert value is not None
    return value


def _lemma(instance: Instance) -> Exact | None:
    for formula in (_attribute, _distance, _partition):
        value = formula(instance)
        if value is not None:
            return value
    return None


CALIBRATION = Claim(
    id="blowfish-2014/section-6-calibration",
    source="Section 6, after Lemma 6.1",
    quote="with the appropriate policy specific sensitivity",
    statement="SuLQ k-means with Laplace noise for the cluster sums at the S of Lemma 6.1 is "
    "Blowfish private (one step, at fixed centroids).",
    read_as="One iteration at fixed centroids, noise for q_sum as the lemma gives it.",
    parts=(
        Part(
            name="exact privacy loss at epsilon = 1",
            family=SUMS,
            claimed=lambda item: 1 if _lemma(item) is not None else None,
            measure=Loss("published", _lemma_scale),
            relation="<=",
            reading="published",
            answers="any",
        ),
    ),
    repaired="Noise for the S of the repaired lemma.",
    explanation=WHY,
)


def _singletons(size: int) -> Iterator[Instance]:
    for instance in _clusters("cluster-sums", size, [(2, 2), (2, 3)], 2):
        policy = instance.the_policy
        if isinstance(policy.secrets, PartitionBy) and policy.graph.edge_count == 0:
            for text in ("cluster-sums", "cluster-sizes"):
                yield replace(instance, query=Asked(text, instance.query.rows))


SINGLETONS = Claim(
    id="blowfish-2014/section-6.1-finest-partition",
    source="Section 6.1, on partition|120000",
    quote="we can do the clustering exactly",
    statement="If every cell of the partition is a single value, the cluster sizes and sums have "
    "S = 0 and clustering is exact.",
    read_as="A cell for each value: S = 0 for sizes and sums.",
    parts=(
        Part(
            name="S = 0",
            family=family(
                "lines of up to 4 values and grids 2 x 2, 2 x 3, every set of 1 or 2 centroids",
                lambda: _singletons(2),
                lambda: _singletons(4),
            ),
            claimed=lambda item: 0 if item.the_policy.graph.edge_count == 0 else None,
            measure=PUBLISHED,
            reading="published",
            answers="any",
        ),
    ),
    proof="There is no secret pair, so there are no neighbours.",
)

CLAIMS = (with_kernel(Q_SIZE), Q_SUM, with_kernel(LEMMA_6_1), CALIBRATION, SINGLETONS)
