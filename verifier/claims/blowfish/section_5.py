"""blowfish-2014, section 5: without constraints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

from blowproof.models import Distance, Exact, Full, Integers, PartitionBy, PartitionCells, Policy
from blowproof.models.base.numbers import magnitude
from blowproof.models.policy.readings import Reading
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating import sparse_families as sparse
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance, Part, Value, in_readings
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.listings import pairs
from blowproof.verifier.claims.stating.measures import Sensitivity, sensitivities
from blowproof.verifier.claims.stating.parts import with_kernel

__all__ = ["CLAIMS"]

# --- the families --------------------------------------------------------------------------------

QUERIES = ("histogram", "marginal(a)", "marginal(b)", "cumulative(a)", "ranges(a)", "sum(a,b)")


def tables(most: int, attributes: tuple[int, ...], queries: tuple[str, ...]) -> Iterator[Instance]:
    """Yield tables without constraints, with every kind of secrets and several queries."""
    for sizes in some.sizes_up_to(most, attributes):
        domain = some.table(*sizes)
        for secrets in some.secrets_on(domain):
            for text in queries:
                if "b" in text and len(sizes) < 2:
                    continue
                policy = Policy(domain=domain, secrets=secrets)
                shape = f"{some.named(domain)}, {secrets.kind}"
                yield Instance(shape=shape, policy=policy, query=Asked(text))


NO_FACTS = family(
    "tables of 1 or 2 attributes with up to 8 values, every kind of secrets (full, attribute, "
    "distance, partition), six queries",
    lambda: tables(3, (1, 2), QUERIES),
    lambda: tables(8, (1, 2), QUERIES),
)
HISTOGRAMS = family(
    "tables of 1 to 3 attributes with up to 8 values, every kind of secrets",
    lambda: tables(4, (1, 2), ("histogram",)),
    lambda: tables(8, (1, 2, 3), ("histogram",)),
)

# --- Theorem 5.1, Lemma 5.2 ----------------------------------------------------------------------


class ListedLoss:
    """The loss of Laplace noise of scale S(f, P), at epsilon = 1, over all neighbours listed.

    S comes from the engines, the neighbours from the definitions, each pair in both directions.
    """

    def __init__(self, reading: Reading, most: int) -> None:
        self.reading, self.most = reading, most

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return the largest change of the query over the listed pairs, divided by S."""
        scale = Sensitivity(self.reading, None)(instance, time_limit)
        policy, query = instance.the_policy, instance.query.on(instance.the_policy)
        assert scale.upper is not None
        rows = [
            query.norm(_change(first, second))
            for first, second in pairs(policy, self.reading, self.most)
        ]
        largest = max(rows, default=0)
        if scale.upper == 0:
            return Value.of(0 if largest == 0 else 1_000_000)
        return Value.of(Fraction(largest) / scale.upper)

    def recheck(self, instance: Instance) -> str:
        """Return how the number was confirmed."""
        return f"every pair of neighbours with up to {self.most} records was listed"


def _change(first: tuple[tuple[int, ...], ...], second: tuple[tuple[int, ...], ...]) -> dict[tuple[int, ...], int]:  # noqa: E501 # fmt: skip
    return {x: second.count(x) - first.count(x) for x in {*first, *second}}


THEOREM_5_1 = Claim(
    id="blowfish-2014/theorem-5.1",
    source="Section 5, Theorem 5.1",
    quote="vector of independent random",
    statement="Adding Laplace noise of scale S(f, P) / epsilon to every output of f is (epsilon, "
    "P)-Blowfish private.",
    read_as="The exact loss of independent Laplace noise of that scale, by the certifier.",
    parts=tuple(
        Part(
            name="loss at epsilon = 1 over all neighbours of up to 3 records",
            family=family(
                "every graph on up to 3 values with up to 2 counts up to renaming; lines of up to "
                "3 values with up to 2 ranges",
                lambda: sparse.graph_policies(3, 1),
                lambda: (
                    item
                    for part in (
                        *(sparse.graph_policies(size, 2) for size in (1, 2, 3)),
                        some.lines(3, (1, 2), 2),
                    )
                    for item in part
                ),
            ),
            claimed=lambda instance: 1,
            measure=ListedLoss(reading, 3),
            relation="<=",
            reading=reading,
            answers="any",
        )
        for reading in ("published", "secret-moves")
    ),
    proof="The densities of f(D1) + noise and f(D2) + noise differ by a factor of at most "
    "exp(epsilon |f(D1) - f(D2)|_1 / S), and S bounds that norm over N(P). The noise is "
    "symmetric, so that it does not matter that N(P) need not be. Where S is 0 no noise is needed.",
    identities=(
        Identity(
            "the loss of noise of scale S/e on a change of S",
            "S/(S/e)",
            "e",
            whole="S",
            real="e",
        ),
    ),
)


def _for_full_secrets(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    if policy.known:
        return None
    full = replace(instance, policy=replace(policy, secrets=Full()))
    return Sensitivity("published")(full, None).upper


LEMMA_5_2 = Claim(
    id="blowfish-2014/lemma-5.2",
    source="Section 5, Lemma 5.2, and the sentence after its proof",
    quote="for all discriminative secret graphs",
    statement="Without constraints, what is differentially private is Blowfish private for every "
    "G; S(f, P) is never larger than the global sensitivity S(f).",
    read_as="S(f, P) <= S(f) for every graph and query listed; neighbours are a subset.",
    parts=in_readings(
        Part(
            name="S for G is at most S for full secrets",
            family=NO_FACTS,
            claimed=_for_full_secrets,
            measure=Sensitivity("published"),
            relation="<=",
            answers="any",
        ),
        sensitivities(),
    ),
    proof="Without constraints the neighbours are the pairs that differ in one record along an "
    "edge of G, and every edge of G is one of the complete graph: fewer neighbours, so what is "
    "bounded over all of them is bounded over these.",
)

# --- examples of section 5 -----------------------------------------------------------------------


def _two(instance: Instance) -> Exact | None:
    partition = isinstance(instance.the_policy.secrets, (PartitionBy, PartitionCells))
    return None if partition or instance.the_policy.known else 2


def _two_if_secret(instance: Instance) -> Exact:
    return 2 if instance.the_policy.graph.edge_count else 0


HISTOGRAM = Claim(
    id="blowfish-2014/section-5-histogram",
    source="Section 5, with its footnote",
    quote="for most reasonable policies",
    statement="Without constraints, the complete histogram has S = 2 for most reasonable "
    "policies, partitions excepted.",
    read_as="The paper's kinds of secrets, partitions apart, as its footnote says.",
    parts=(
        *in_readings(
            Part(
                name="S = 2",
                family=HISTOGRAMS,
                claimed=_two,
                measure=Sensitivity("published"),
                answers="any",
            ),
            sensitivities(),
        ),
        Part(
            name="2 if there is a secret pair, else 0 (partitions too)",
            family=HISTOGRAMS,
            claimed=_two_if_secret,
            measure=Sensitivity("published"),
            reading="published",
            answers="any",
            amended=True,
        ),
    ),
    repaired="S(h, P) = 2 if some two values are a secret pair, else 0; partitions included.",
    amendment="condition",
    explanation="A domain of one value, or a threshold that reaches no other value, has no secret "
    "pair; then nothing has to be hidden and S is 0.",
    proof="One record leaves one cell for another.",
)


def _coarser(size: int) -> Iterator[Instance]:
    for low in range(1, 2):
        for values in range(1, size + 1):
            for secrets in some.cells_on_line(low, values):
                policy = Policy(domain=some.table(values, low=low), secrets=secrets)
                shape = f"{values} values, {len(secrets.cells)} cells"
                yield Instance(shape=shape, policy=policy, query=Asked("partition"))
    for sizes in some.sizes_up_to(size + 4, (2, 3)):
        domain = some.table(*sizes)
        for names in some.marginal_sets(domain, proper=False):
            policy = Policy(domain=domain, secrets=PartitionBy(list(names)))
            for count in range(1, len(names) + 1):
                text = f"marginal({','.join(names[:count])})"
                shape = f"{some.named(domain)}, by {len(names)} attributes"
                yield Instance(shape=shape, policy=policy, query=Asked(text))


PARTITION = Claim(
    id="blowfish-2014/section-5-partition",
    source="Section 5",
    quote="can be released without any noise",
    statement="Under partition secrets the histogram of the partition, or of a coarser one, has S "
    "= 0: it can be released without noise.",
    read_as="The partition's own histogram and every coarser one.",
    parts=in_readings(
        Part(
            name="S = 0",
            family=family(
                "every partition of up to 5 values; partitions of tables by attributes, with up "
                "to 9 values, and marginals that are coarser",
                lambda: _coarser(3),
                lambda: _coarser(5),
            ),
            claimed=lambda instance: 0 if not instance.the_policy.known else None,
            measure=Sensitivity("published"),
            answers="any",
        ),
        sensitivities(),
    ),
    proof="No secret pair joins two cells, so a neighbour's one change stays inside its cell.",
)


def _sums(lows: tuple[int, ...], size: int, weights: tuple[int, ...], secrets: tuple[SecretsSpec, ...]) -> Iterator[Instance]:  # noqa: E501 # fmt: skip
    for records in (1, 2):
        for chosen in product(weights, repeat=records):
            for low, values, kind in product(lows, range(1, size + 1), secrets):
                policy = Policy(domain=some.table(values, low=low), secrets=kind)
                query = Asked("weighted-sum(a)", (chosen,))
                shape = f"{values} values, {records} weights, {kind.kind}"
                yield Instance(shape=shape, policy=policy, query=query)


def _width(instance: Instance) -> int:
    attribute = instance.the_policy.domain.attribute(0)
    assert isinstance(attribute, Integers)
    return attribute.max - attribute.min


def _reach(instance: Instance, *, cut: bool) -> Exact:
    secrets = instance.the_policy.secrets
    if isinstance(secrets, Full):
        return _width(instance)
    assert isinstance(secrets, Distance)
    return min(int(secrets.threshold), _width(instance)) if cut else secrets.threshold


def _printed_sum(instance: Instance) -> Exact | None:
    heaviest = max(instance.query.rows[0])
    return heaviest * _reach(instance, cut=False) if heaviest > 0 else None


def _repaired_sum(instance: Instance) -> Exact:
    return max(map(magnitude, instance.query.rows[0])) * _reach(instance, cut=True)


def _sum_parts(name: str, secrets: tuple[SecretsSpec, ...]) -> tuple[Part, ...]:
    shapes = family(
        f"1 or 2 weights in -2..2, one above 0, values low..low+3 with low -1 or 1, {name}",
        lambda: _sums((1,), 2, (-2, 1), secrets[:1]),
        lambda: _sums((-1, 1), 4, (-2, -1, 0, 1, 2), secrets),
    )
    printed = in_readings(
        Part(
            name=f"equality, {name}",
            family=shapes,
            claimed=_printed_sum,
            measure=Sensitivity("published"),
            answers="any",
        ),
        sensitivities(),
        ("published",),
    )
    repaired = replace(printed[0], name=f"max |w_i|, {name}", claimed=_repaired_sum, amended=True)
    return (*printed, repaired)


LINEAR_SUM = Claim(
    id="blowfish-2014/section-5-linear-sum",
    source="Section 5",
    quote="linear sum query",
    statement="For f = sum_i w_i x_i on T = [a, b]: S is (b - a) max w_i for full secrets, and "
    "theta max w_i for |x - y| <= theta.",
    read_as="max w_i word for word, so also for weights below zero.",
    parts=(
        *_sum_parts("full secrets", (Full(),)),
        *_sum_parts(
            "distance secrets, theta 1, 2, 5",
            (Distance(threshold=1), Distance(threshold=2), Distance(threshold=5)),
        ),
    ),
    repaired="S is max |w_i| times b - a, or times the largest distance of two values that is at "
    "most theta.",
    explanation="The weights may be any reals, and a weight of -2 moves the sum as far as one of "
    "2: with weights -2 and 1 the largest is 1, and noise for it is half of what is needed. The "
    "absolute values are meant. Beyond that, theta is only reached if theta <= b - a.",
    proof="One record changes, and the sum changes by |w_i| |y - x|.",
)

CLAIMS = (THEOREM_5_1, LEMMA_5_2, with_kernel(LINEAR_SUM), PARTITION, HISTOGRAM)
