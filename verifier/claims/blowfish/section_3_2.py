"""blowfish-2014, section 3.2: why publicly known counts matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from blowproof.models import Count, Exact, Policy
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.measures import Positive, Sensitivity
from blowproof.verifier.claims.stating.parts import counted
from blowproof.verifier.claims.stating.printed import Loss, printed_scale

__all__ = ["CLAIMS"]


def _chain(most: int) -> Iterator[Instance]:
    """Yield r_1, ..., r_k with the counts of r_i and r_(i+1) together known, full secrets."""
    for size in range(2, most + 1):
        known = tuple(Count({"a": [low, low + 1]}) for low in range(1, size))
        policy = Policy(domain=some.table(size), known=known)
        yield Instance(shape=f"k = {size}", policy=policy)


CHAINS = family("k from 2 to 6", lambda: _chain(4), lambda: _chain(6))


def _is_chain(instance: Instance) -> bool:
    policy = instance.the_policy
    return len(policy.known) == policy.domain.size - 1


NOT_DETERMINED = Claim(
    id="blowfish-2014/section-3.2-not-determined",
    source="Section 3.2",
    quote="does not provide enough information",
    statement="Knowing c(r_1) + c(r_2), c(r_2) + c(r_3), ..., c(r_(k-1)) + c(r_k) does not always "
    "determine the counts.",
    read_as="Some table is not determined by its sums; n is known, as section 3.1 says throughout.",
    parts=(
        Part(
            name="some neighbours have different counts, n unknown",
            family=CHAINS,
            claimed=lambda item: 1 if _is_chain(item) else None,
            measure=Positive(Sensitivity("add-remove")),
            reading="add-remove",
            answers="any",
            large="nothing",
        ),
        Part(
            name="some neighbours have different counts, n known",
            family=CHAINS,
            claimed=lambda item: 1 if _is_chain(item) else None,
            measure=Positive(Sensitivity("published")),
            reading="published",
            answers="any",
            large="nothing",
        ),
        Part(
            name="the same, k even",
            family=CHAINS,
            claimed=lambda item: (
                1 if _is_chain(item) and item.the_policy.domain.size % 2 == 0 else None
            ),
            measure=Positive(Sensitivity("published")),
            reading="published",
            answers="any",
            large="nothing",
            amended=True,
        ),
    ),
    repaired="If k is even, or n is not known.",
    amendment="condition",
    explanation="Throughout the paper n is known. For odd k it completes the equations: n minus "
    "the known sums of (r_1, r_2), (r_3, r_4), ... is c(r_k), and all other counts follow, before "
    "anything is released. For even k the counts can move by +1, -1, +1, ..., and the example "
    "works.",
    proof="The equations leave the vector (1, -1, 1, ...) free, whose sum is 0 iff k is even.",
)


def _one_more(most: int) -> Iterator[Instance]:
    for instance in _chain(most):
        policy = instance.the_policy
        for value in range(1, policy.domain.size + 1):
            known = (*policy.known, Count({"a": value}))
            yield replace(instance, policy=replace(policy, known=known))


DETERMINED = Claim(
    id="blowfish-2014/section-3.2-one-more",
    source="Section 3.2",
    quote="all counts can be reconstructed",
    statement="With one more count c(r_i), all counts can be reconstructed.",
    read_as="S(h, P) = 0 once any one count is known beside the sums.",
    parts=tuple(
        Part(
            name="S(h, P) = 0",
            family=family(
                "k from 2 to 5, every i",
                lambda: _one_more(3),
                lambda: _one_more(5),
            ),
            claimed=lambda item: (
                0 if len(item.the_policy.known) == item.the_policy.domain.size else None
            ),
            measure=Sensitivity(reading),
            reading=reading,
            answers="any",
        )
        for reading in ("published", "add-remove")
    ),
    proof="From c(r_i) the sums give its neighbours, and so on along the chain.",
)


NOISE = printed_scale("blowfish-2014/section-3.2-noise")


def _unknown(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        yield Instance(shape=f"{size} values", policy=Policy(domain=some.table(size)))


SCALES = family("1 to 8 values, full secrets", lambda: _unknown(4), lambda: _unknown(8))


VARIANCE = Claim(
    id="blowfish-2014/section-3.2-noise",
    source="Section 3.2",
    quote="independent noise with variance",
    statement="Differential privacy allows all counts c(r_i) to be answered with independent "
    "noise of variance 2 / epsilon^2 (scale 1 / epsilon).",
    read_as="The scale 1/epsilon for each count, under the neighbours of Definition 2.1 (n known).",
    parts=(
        Part(
            name="loss at epsilon = 1, a record changes (Definition 2.1)",
            family=SCALES,
            claimed=lambda item: None if item.the_policy.known else 1,
            measure=Loss("published", NOISE),
            relation="<=",
            reading="published",
            answers="any",
        ),
        Part(
            name="loss at epsilon = 1, a record is added or removed",
            family=SCALES,
            claimed=lambda item: None if item.the_policy.known else 1,
            measure=Loss("add-remove", NOISE),
            relation="<=",
            reading="add-remove",
            answers="any",
        ),
        Part(
            name="loss at epsilon = 1 of scale 2 / epsilon, a record changes",
            family=SCALES,
            claimed=lambda item: None if item.the_policy.known else 1,
            measure=Loss("published", "2/epsilon"),
            relation="<=",
            reading="published",
            answers="any",
            amended=True,
        ),
    ),
    repaired="Variance 8 / epsilon^2 (scale 2 / epsilon); 2 / epsilon^2 is right where records "
    "are added and removed.",
    explanation="By Definition 2.1 a record changes its value and n stays: two counts change, "
    "S(h) is 2 (as Section 2 says), and noise of scale 1 / epsilon has a loss of 2 epsilon. The "
    "variance is that of unbounded differential privacy. The argument about averaging estimators "
    "is the same with the larger variance.",
)


def _averages(most: int) -> Iterator[Instance]:
    for size in range(2, most + 1):
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(2)):
            given: dict[str, Parameter] = {"k": size, "epsilon": epsilon}
            yield Instance(shape=f"k = {size}", parameters=given)


def _average_variance(instance: Instance) -> Exact:
    """Return the variance of the mean of the estimators of c(r_1), noise term by noise term."""
    size, variance = instance.whole("k"), 2 / instance.number("epsilon") ** 2
    weights = [Fraction(0)] * size
    for place in range(size):  # c(r_1) = a_1 - a_2 + ... +- c~(r_place)
        weights[place] += Fraction((-1) ** place, size)
    return sum((weight**2 * variance for weight in weights), Fraction(0))


AVERAGE = Claim(
    id="blowfish-2014/section-3.2-average",
    source="Section 3.2",
    quote="By averaging these estimators",
    statement="The k estimators of a count that the constraints give, each with variance 2 / "
    "epsilon^2, average to one with variance 2 / (k epsilon^2).",
    read_as="The variance of the plain mean of the k estimators, each with its own noise.",
    parts=(
        counted(
            "variance of the mean",
            family("k from 2 to 40, epsilon 1/10, 1, 2", lambda: _averages(40)),
            lambda item: 2 / (item.whole("k") * item.number("epsilon") ** 2),
            _average_variance,
        ),
    ),
    proof="Each estimator carries a noise term of its own, and the terms are independent.",
    identities=(
        Identity(
            "the variance of the mean of k estimators",
            "k*(2/e**2)/k**2",
            "2/(k*e**2)",
            whole="k",
            real="e",
        ),
    ),
)


CLAIMS = (NOT_DETERMINED, DETERMINED, VARIANCE, AVERAGE)
