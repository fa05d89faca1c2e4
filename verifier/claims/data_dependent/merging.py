"""data-dependent-blowfish, section 4: values merged into buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations, product

from blowproof.models import Domain, Edges, Exact, Labels, Point, Policy
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.data_dependent.transforms import RECORDS, graph_of, graph_policy
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.channels import Channel, draw, ratio
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance, Part, Value
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Sensitivity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]

# --- section 4: merged values --------------------------------------------------------------------


def _merged(most: int) -> Iterator[Instance]:
    """Yield every graph on up to `most` values with every partition of them into buckets."""
    for size in range(1, most + 1):
        for edges in some.graphs(size):
            for cells in some.partitions(range(size)):
                text = "|".join("".join(map(str, sorted(cell))) for cell in sorted(cells))
                yield Instance(
                    shape=f"{size} values, {len(edges)} secret pairs, {len(cells)} buckets",
                    policy=graph_policy(size, edges),
                    parameters={"buckets": text},
                )


def _buckets(instance: Instance) -> list[int] | None:
    """Return the bucket of each value; None if the buckets are of another domain."""
    size = instance.the_policy.domain.size
    cells = instance.word("buckets").split("|")
    found = {int(digit): place for place, cell in enumerate(cells) for digit in cell}
    return [found[value] for value in range(size)] if set(found) == set(range(size)) else None


def _joined(instance: Instance) -> Policy:
    """Return the policy on buckets, G': two are a secret pair iff some of their values are."""
    bucket_of = _buckets(instance) or []
    names = [f"b{place}" for place in range(max(bucket_of) + 1)]
    found = {
        tuple(sorted((bucket_of[x], bucket_of[y])))
        for x, y in graph_of(instance)[1]
        if bucket_of[x] != bucket_of[y]
    }
    edges = [({"a": names[x]}, {"a": names[y]}) for x, y in sorted(found)]
    return Policy(domain=Domain(a=Labels(names)), secrets=Edges(edges))


def _split(instance: Instance) -> Policy:
    """Return G'': values in one bucket, or in buckets that G' joins, are secret pairs."""
    bucket_of, graph = _buckets(instance) or [], _joined(instance).graph
    found = tuple(
        (x, y)
        for x, y in combinations(range(len(bucket_of)), 2)
        if bucket_of[x] == bucket_of[y] or graph.is_edge((bucket_of[x],), (bucket_of[y],))
    )
    return graph_policy(len(bucket_of), found)


def _lifted(instance: Instance) -> tuple[Channel, Channel]:
    """Return a random channel on databases of buckets, and what it is on the values below them."""
    bucket_of = _buckets(instance) or []
    channel = draw(_joined(instance), RECORDS, 2, instance.word("buckets"))
    values: list[Point] = [(value,) for value in range(len(bucket_of))]
    databases = product(values, repeat=RECORDS)
    rows = {
        database: channel.rows[tuple((bucket_of[x[0]],) for x in database)]
        for database in databases
    }
    return channel, Channel(rows)


def _bucket_loss(instance: Instance) -> Exact | None:
    if _buckets(instance) is None:
        return None
    return plain(ratio(_joined(instance), RECORDS, _lifted(instance)[0]))


def _value_loss(policy_of: Callable[[Instance], Policy]) -> Callable[[Instance], Exact]:
    return lambda item: plain(ratio(policy_of(item), RECORDS, _lifted(item)[1]))


def _bucket_s(instance: Instance) -> Exact | None:
    """Return S(histogram, G')."""
    if _buckets(instance) is None:
        return None
    policy = Instance(shape="", policy=_joined(instance))
    return Sensitivity("published")(policy, None).lower


class _Workload:
    """S(W_m, P) for one of the policies on values, by the engines."""

    def __init__(self, policy_of: Callable[[Instance], Policy]) -> None:
        self.policy_of = policy_of

    def __call__(self, instance: Instance, time_limit: float | None) -> Value:
        """Return S of the bucket counts."""
        bucket_of = _buckets(instance) or []
        rows = tuple(
            tuple(int(bucket == place) for bucket in bucket_of)
            for place in range(max(bucket_of) + 1)
        )
        asked = replace(instance, policy=self.policy_of(instance), query=Asked("matrix", rows))
        return Sensitivity("published")(asked, time_limit)


MERGED = family(
    "every graph on up to 4 values with every partition into buckets",
    lambda: _merged(3),
    lambda: _merged(4),
)
THEOREM_4_1 = Claim(
    id="data-dependent-blowfish/theorem-4.1",
    source="Section 4, Theorem 4.1",
    quote="is equivalent to answering workload",
    statement="Answering the bucket counts on merged data under G' is equivalent to answering "
    "them on the data under G'', which splits the merged values and joins those of one bucket.",
    read_as="Both neighbour relations on bucket counts, listed.",
    parts=(
        counted(
            "exp(loss) of a random channel on buckets, under G'' and under G' (2 records)",
            MERGED,
            _bucket_loss,
            _value_loss(_split),
            small="privacy",
            large="accuracy",
            reading="published",
        ),
        Part(
            name="S of the bucket counts under G'' and of the merged histogram under G'",
            family=MERGED,
            claimed=_bucket_s,
            measure=_Workload(_split),
            reading="published",
            answers="any",
        ),
    ),
    proof="A secret pair of G'' either lies in one bucket, and nothing changes, or joins two "
    "buckets that G' joins; and each secret pair of G' comes from pairs of G''. No bucket is "
    "empty.",
)
LEMMA_4_1 = Claim(
    id="data-dependent-blowfish/lemma-4.1",
    source="Section 4, Lemma 4.1",
    quote="trivially follows from theorem 4.1",
    statement="Answering the bucket counts on merged data under G' is as private under G.",
    read_as="The neighbours of G among those of G'.",
    parts=(
        counted(
            "exp(loss) of a random channel on buckets, under G and under G' (2 records)",
            MERGED,
            _bucket_loss,
            _value_loss(lambda item: item.the_policy),
            "<=",
            small="privacy",
            reading="published",
        ),
        Part(
            name="S of the bucket counts under G and of the merged histogram under G'",
            family=MERGED,
            claimed=_bucket_s,
            measure=_Workload(lambda item: item.the_policy),
            relation="<=",
            reading="published",
            answers="any",
        ),
    ),
    proof="All secret pairs of G are among those of G''; Theorem 4.1.",
)


CLAIMS = (THEOREM_4_1, LEMMA_4_1)
