"""designing-statistical-privacy-2015: averaging, cluster sizes, distances, noise."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from blowproof.models import Domain, Exact, Integers, Policy
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.cuboids.section_3 import ADJACENT, adjacent_rows, averaged_variance
from blowproof.verifier.claims.designing.sums import PAPER, ends_of
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.linear import rank
from blowproof.verifier.claims.stating.parts import counted, of_sensitivity

__all__ = ["CLAIMS"]

# --- averaging -----------------------------------------------------------------------------------

AVERAGING = Claim(
    id=f"{PAPER}/section-composition-averaging",
    source="Desiderata, 'Composition'",
    quote="averaged together to get a",
    statement="The sums of neighbouring counts known, k noisy counts of variance 2 / epsilon^2: "
    "averaging estimates x_1 with variance 2 / (k epsilon^2); any one count reveals all others.",
    read_as="The best estimate by exact least squares; n not known.",
    parts=(
        counted(
            "variance of the best estimate, by exact least squares",
            ADJACENT,
            lambda item: plain(2 / item.number("epsilon") ** 2 / item.whole("k")),
            averaged_variance,
            small="accuracy",
            large="privacy",
        ),
        counted(
            "unknowns that are left when one count is known as well, over all counts",
            ADJACENT,
            lambda item: 0,
            lambda item: max(_left(item.whole("k"), place) for place in range(item.whole("k"))),
        ),
    ),
    proof="The sums leave a multiple of (1, -1, 1, ...) open, of squared length k, and 1 in each "
    "place up to its sign.",
    identities=(
        Identity(
            "the variance of the mean of k estimates",
            "k*(2/e**2)/k**2",
            "2/(k*e**2)",
            whole="k",
            real="e",
        ),
    ),
)


def _left(size: int, place: int) -> int:
    known = [int(i == place) for i in range(size)]
    return size - rank([*adjacent_rows(size), known])


# --- cluster sizes -------------------------------------------------------------------------------


def _clusters(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        domain = Domain(a=Integers(0, size - 1))
        for secrets in some.secrets_on(domain):
            for many in (1, 2, 3):
                for places in combinations(range(size), many):
                    rows = tuple((place,) for place in places)
                    yield Instance(
                        shape=f"line of {size}, {many} centroids, {secrets.kind}",
                        policy=Policy(domain=domain, secrets=secrets),
                        query=Asked("cluster-sizes", rows),
                    )


CLUSTERS = family(
    "lines of 1 to 6 values, every 1 to 3 centroids on them, every kind of secrets",
    lambda: _clusters(4),
    lambda: _clusters(6),
)


def _crosses(instance: Instance) -> bool:
    """Whether some secret pair has its ends in different clusters."""
    policy = instance.the_policy
    centers = [Fraction(row[0]) for row in instance.query.rows]
    low = ends_of(policy.domain)[0][0]

    def nearest(position: int) -> int:
        value = low + position
        return min(range(len(centers)), key=lambda place: (abs(centers[place] - value), place))

    pairs = combinations(range(policy.domain.size), 2)
    return any(policy.graph.is_edge((x,), (y,)) and nearest(x) != nearest(y) for x, y in pairs)


CLUSTER_SIZES = Claim(
    id=f"{PAPER}/cluster-sizes",
    source="Blowfish case study, 'K-means clustering'",
    quote="policy-specific global sensitivity",
    statement="The numbers of points in the clusters have global sensitivity 1, and S = 2 under "
    "every policy discussed.",
    read_as="Any centroids; add or remove for the global one.",
    parts=(
        of_sensitivity("global", CLUSTERS, lambda item: 1, reading="add-remove"),
        of_sensitivity("equality under policies", CLUSTERS, lambda item: 2),
        of_sensitivity("bound under policies", CLUSTERS, lambda item: 2, "<="),
        of_sensitivity(
            "2 if a secret pair crosses a border, else 0",
            CLUSTERS,
            lambda item: 2 if _crosses(item) else 0,
            amended=True,
        ),
    ),
    repaired="If some secret pair has its ends in different clusters; else S = 0.",
    amendment="condition",
    explanation="With one cluster, or a partition that lies within the clusters, no secret move "
    "changes a size. The number is an upper bound, so only accuracy is lost.",
    proof="One record leaves one cluster and enters another one.",
)

# --- what a distance threshold promises further away ---------------------------------------------


def _lines(most: int) -> Iterator[Instance]:
    for size in range(2, most + 1):
        for threshold in range(1, size + 1):
            for apart in range(1, size):
                yield Instance(
                    shape=f"line of {size}, theta = {threshold}",
                    policy=some.line(size, threshold),
                    parameters={"apart": apart, "threshold": threshold},
                )


def _rounded(instance: Instance, up: bool) -> Exact | None:
    """Return d / theta, rounded; None for a policy that is not the line of the parameters."""
    apart, threshold = instance.whole("apart"), instance.whole("threshold")
    policy = instance.the_policy
    if apart >= policy.domain.size or policy != some.line(policy.domain.size, threshold):
        return None
    return -(-apart // threshold) if up else apart // threshold


def _hops(instance: Instance) -> Exact:
    """Return the fewest secret pairs that lead from a value to one so far away: its exponent."""
    policy, apart = instance.the_policy, instance.whole("apart")
    reached, steps = {0}, 0
    while apart not in reached:
        steps += 1
        reached |= {
            y
            for x in reached
            for y in range(policy.domain.size)
            if policy.graph.is_edge((x,), (y,))
        }
    return steps


FURTHER = family(
    "lines of 2 to 12 values, every threshold and distance", lambda: _lines(8), lambda: _lines(12)
)
THRESHOLD = Claim(
    id=f"{PAPER}/distance-threshold",
    source="Blowfish case study, 'Distance threshold'",
    quote="with a resolution better than 10",
    statement="Under G^{d,theta}, outputs on databases with one record changed from x to y differ "
    "at most by the factor exp(floor(d(x, y) / theta) epsilon).",
    read_as="The factor with the floor as printed, against the distance in the graph.",
    parts=(
        counted(
            "secret pairs from x to y, each of which costs epsilon",
            FURTHER,
            lambda item: _rounded(item, up=False),
            _hops,
            "<=",
            small="privacy",
        ),
        counted(
            "the same, rounded up",
            FURTHER,
            lambda item: _rounded(item, up=True),
            _hops,
            amended=True,
        ),
    ),
    repaired="exp(ceil(d(x, y) / theta) epsilon), if values lie densely enough: on a grid whose "
    "steps divide theta.",
    amendment="misprint",
    explanation="Values less than theta apart are a secret pair, and cost epsilon; rounded down, "
    "the exponent would be 0 and such outputs would have to be equally likely. The brackets must "
    "be those that round up (the text here may have lost them in print). Also, where the domain "
    "has gaps wider than theta, no chain of secret pairs leads across and nothing is promised.",
    proof="Walk from x to y in steps of theta.",
)

LAPLACE = Claim(
    id=f"{PAPER}/laplace-deviation",
    source="'Answering queries with Blowfish', and the Laplace mechanism before",
    quote="is also compatible with",
    statement="Laplace noise of standard deviation sqrt(2) S / epsilon is epsilon-differentially "
    "private, with S(f, G) in place of S(f) Blowfish private.",
    read_as="The exact loss at that deviation, by the certifier.",
    parts=(
        counted(
            "variance of Laplace noise of scale S / epsilon",
            family(
                "S from 0 to 9, epsilon 1/10, 1, 2",
                lambda: (
                    Instance(shape="S, epsilon", parameters={"S": s, "epsilon": e})
                    for s in range(10)
                    for e in (Fraction(1, 10), Fraction(1), Fraction(2))
                ),
            ),
            lambda item: plain(2 * (item.number("S") / item.number("epsilon")) ** 2),
            lambda item: _second_moment(item.number("S") / item.number("epsilon")),
        ),
    ),
    proof="The density has rate epsilon / S, so two answers that differ by S in L1 norm change it "
    "at most by exp(epsilon); blowfish-2014, Theorem 5.1, checks the loss over all neighbours.",
)


def _second_moment(scale: Fraction) -> Exact:
    """Return the second moment of Laplace noise: that of the difference of two exponentials.

    An exponential of mean b has mean b and second moment 2 b^2; of a difference, the squares add
    up and twice the product of the means goes off.
    """
    return plain(2 * (2 * scale**2) - 2 * scale * scale)


CLAIMS = (AVERAGING, CLUSTER_SIZES, THRESHOLD, LAPLACE)
