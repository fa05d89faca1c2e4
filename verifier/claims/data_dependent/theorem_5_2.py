"""data-dependent-blowfish, Theorem 5.2: a private matching."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from random import Random

from blowproof.models import Exact
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.data_dependent.partitions import (
    HISTOGRAMS,
    Bucket,
    Partition,
    counts_of,
    histograms,
    partitions_of,
    printed_cost,
)
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]


def _neighbouring(instance: Instance) -> Iterator[tuple[int, list[int]]]:
    """Yield the histograms with one record more or less, and where."""
    counts = counts_of(instance)
    for place, count in enumerate(counts):
        for step in (1, -1):
            if count + step >= 0:
                yield place, [*counts[:place], count + step, *counts[place + 1 :]]


def _most_changed(instance: Instance, least: bool) -> Exact:
    """Return by how much the edges of a matching change in all, at the most or the least."""
    counts, epsilon = counts_of(instance), instance.number("epsilon_2")
    found = [
        sum(
            abs(printed_cost(counts, cell, epsilon) - printed_cost(other, cell, epsilon))
            for cell in cells
        )
        for cells in partitions_of(len(counts))
        for _, other in _neighbouring(instance)
    ]
    return plain(Fraction(min(found) if least else max(found)))


ONE_EDGE = Claim(
    id="data-dependent-blowfish/theorem-5.2-one-edge",
    source="Section 5.2, proof of Theorem 5.2",
    quote="exactly one edge",
    statement="If one record is added or removed, exactly one edge of the matching changes its "
    "weight, by one.",
    read_as="The weights of one matching, on two neighbouring data sets.",
    parts=(
        counted("the least change", HISTOGRAMS, lambda item: 1, lambda x: _most_changed(x, True)),
        counted(
            "the largest change",
            HISTOGRAMS,
            lambda item: 1,
            lambda x: _most_changed(x, False),
            "<=",
        ),
        counted(
            "the largest change, as repaired",
            HISTOGRAMS,
            lambda item: 1,
            lambda x: _most_changed(x, False),
            "<=",
            amended=True,
        ),
    ),
    repaired="At most one edge changes, by one at the most.",
    amendment="condition",
    explanation="The record's value may be alone in its bucket, whose weight does not depend on "
    "the counts. The proof only uses the upper bound.",
    proof="The value is in one bucket.",
)


def _lost(instance: Instance) -> Exact:
    """Return how often an outcome is lost by one record although its edge's noise is raised by 2.

    Noise in eighths, drawn at random, on every edge; the matching M that wins on the histogram is
    put to each neighbour with the noise of its edge at the record's value raised by 2.
    """
    counts, epsilon = counts_of(instance), instance.number("epsilon_2")
    size = len(counts)
    rng = Random(f"{some.SEED} {counts}")
    buckets: list[Bucket] = [(i,) for i in range(size)]
    buckets += list(combinations(range(size), 2))
    lost = 0
    for _ in range(12):
        noise = {bucket: Fraction(rng.randint(-24, 24), 8) for bucket in buckets}
        best = max(partitions_of(size), key=lambda cells: _weight(counts, cells, noise, epsilon))
        for place, other in _neighbouring(instance):
            edge = next(cell for cell in best if place in cell)
            raised = {**noise, edge: noise[edge] + 2}
            weights = [_weight(other, cells, raised, epsilon) for cells in partitions_of(size)]
            lost += _weight(other, best, raised, epsilon) < max(weights)
    return lost


def _weight(
    counts: list[int], cells: Partition, noise: dict[Bucket, Fraction], epsilon: Fraction
) -> Fraction:
    return sum((noise[c] - printed_cost(counts, c, epsilon) for c in cells), Fraction(0))


THEOREM_5_2 = Claim(
    id="data-dependent-blowfish/theorem-5.2",
    source="Section 5.2, Theorem 5.2",
    quote="The algorithm defined as above",
    statement="The heaviest matching under Laplace noise of scale 2 / epsilon on every weight is "
    "epsilon-differentially private (one record added or removed).",
    read_as="Exact probabilities of the choice on small domains, add or remove one record.",
    parts=(
        counted(
            "outcomes lost by one record although the noise of their edge is raised by 2",
            family(
                "every histogram of 1 to 4 values with counts 0 to 2, epsilon_2 1/2 and 2, twelve "
                "random noises each",
                lambda: histograms(3, 1),
                lambda: histograms(4, 2),
            ),
            lambda item: 0,
            _lost,
            small="privacy",
        ),
    ),
    proof="Let M win on x, and let its edge e cover the value whose count changes. M's weight "
    "falls by at most 1, that of any other matching grows by at most 1; so with 2 more noise on "
    "e, M still wins against those without e, and those with e change as M does. The noise of all "
    "other edges being fixed, M wins iff that of e is above a threshold, which moves by at most "
    "2: the probability changes at most by exp(2 / (2 / epsilon)). This takes every value to be "
    "matched: Laplace noise has no bound, so no fixed K keeps all weights positive, and K has to "
    "be chosen after the noise, or perfect matchings be used, which comes to the same. Under a "
    "policy graph a record moves, which is two such steps: (2 epsilon, G).",
)


CLAIMS = (ONE_EDGE, THEOREM_5_2)
