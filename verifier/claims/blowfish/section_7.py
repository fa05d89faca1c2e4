"""blowfish-2014, section 7 and 7.1: cumulative histograms and the ordered mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from blowproof.models import Distance, Exact, Full, Policy
from blowproof.models.policy.readings import BLOWFISH
from blowproof.models.secrets import SecretsSpec
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import (
    Asked,
    Claim,
    Family,
    Formula,
    Instance,
    Parameter,
    Part,
    Relation,
    in_readings,
)
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity, sensitivities
from blowproof.verifier.claims.stating.printed import Loss, evaluate, printed_scale

__all__ = ["CLAIMS"]


def _line(size: int, secrets: SecretsSpec) -> Instance:
    policy = Policy(domain=some.table(size), secrets=secrets)
    shape = f"line of {size}, {secrets.kind}"
    theta = int(secrets.threshold) if isinstance(secrets, Distance) else size
    query = Asked("cumulative(a)")
    return Instance(shape=shape, policy=policy, query=query, parameters={"theta": theta})


def _full_lines(most: int) -> Iterator[Instance]:
    return (_line(size, Full()) for size in range(1, most + 1))


def _lines(most: int, thetas: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for theta in range(1, thetas + 1):
            yield _line(size, Distance(threshold=theta))


FULL = family("lines of 1 to 40 values", lambda: _full_lines(6), lambda: _full_lines(40))
LINE_GRAPH = family("lines of 1 to 16 values", lambda: _lines(6, 1), lambda: _lines(16, 1))
THRESHOLDS = family(
    "lines of 1 to 8 values, theta from 1 to 10", lambda: _lines(4, 5), lambda: _lines(8, 10)
)


def _parts(name: str, where: Family, claimed: Formula, relation: Relation = "=", *, amended: bool = False) -> tuple[Part, ...]:  # noqa: E501 # fmt: skip
    return in_readings(
        Part(
            name=name,
            family=where,
            claimed=claimed,
            measure=Sensitivity("published"),
            relation=relation,
            answers="any",
            amended=amended,
        ),
        sensitivities(),
        BLOWFISH,
    )


def _size(instance: Instance) -> int:
    return instance.the_policy.domain.size


def _theta(instance: Instance) -> int:
    secrets = instance.the_policy.secrets
    assert isinstance(secrets, Distance)
    return int(secrets.threshold)


GLOBAL = Claim(
    id="blowfish-2014/section-7-global",
    source="Section 7, after Definition 7.1",
    quote="global sensitivity of",
    statement="The cumulative histogram has global sensitivity |T| - 1.",
    read_as="Full secrets on a line, n known.",
    parts=_parts("equality", FULL, lambda item: _size(item) - 1),
    proof="From the first value to the last one a record passes every count but the last.",
    identities=(
        Identity(
            "one for each count that is passed",
            "Sum(1, (i, 1, T - 1))",
            "T - 1",
            whole="T i",
        ),
    ),
)

LINE = Claim(
    id="blowfish-2014/section-7.1-line-graph",
    source="Section 7.1",
    quote="for a line graph is 1",
    statement="On the line graph (theta = 1) the cumulative histogram has S = 1.",
    read_as="theta = 1 on every line; the equality, and the bound that the mechanism uses.",
    parts=(
        *_parts("equality", LINE_GRAPH, lambda item: 1 if _theta(item) == 1 else None),
        *_parts("bound", LINE_GRAPH, lambda item: 1 if _theta(item) == 1 else None, "<="),
        *_parts(
            "two values or more",
            LINE_GRAPH,
            lambda item: 1 if _theta(item) == 1 and _size(item) > 1 else None,
            amended=True,
        ),
    ),
    repaired="If |T| >= 2; with one value S is 0.",
    amendment="condition",
    explanation="A domain of one value has no edge. The bound, which the mechanism uses, holds.",
    proof="Between neighbouring values one count changes, by 1.",
)

THETA = Claim(
    id="blowfish-2014/section-7.2-theta",
    source="Section 7.2, first paragraph",
    quote="the sensitivity of releasing cumulative histogram",
    statement="For |x - y| <= theta the cumulative histogram has S = theta.",
    read_as="Any whole theta on every line; the equality, and the bound.",
    parts=(
        *_parts("equality", THRESHOLDS, _theta),
        *_parts("bound", THRESHOLDS, _theta, "<="),
        *_parts(
            "min(theta, |T| - 1)",
            THRESHOLDS,
            lambda item: min(_theta(item), _size(item) - 1),
            amended=True,
        ),
    ),
    repaired="S = min(theta, |T| - 1).",
    amendment="condition",
    explanation="No record can pass more than |T| - 1 counts, so that a larger theta is not "
    "reached. Section 7.2 itself lets theta be |T|, where S is |T| - 1.",
    proof="A move by d positions changes d counts by 1 each.",
)

# --- the ordered mechanism -----------------------------------------------------------------------


def _loss(name: str, where: Family, printed: str, claimed: Formula) -> tuple[Part, ...]:
    scale = printed_scale(printed)
    return tuple(
        Part(
            name=name,
            family=where,
            claimed=claimed,
            measure=Loss(reading, scale),
            relation="<=",
            reading=reading,
            answers="any",
        )
        for reading in BLOWFISH
    )


ORDERED = Claim(
    id="blowfish-2014/section-7.1-ordered-mechanism",
    source="Section 7.1",
    quote="Ordered Mechanism",
    statement="Laplace noise of scale 1 / epsilon on every cumulative count is (epsilon, "
    "P_1)-Blowfish private on the line graph.",
    read_as="The exact loss of its noise on the line graph, by the certifier.",
    parts=_loss(
        "exact privacy loss at epsilon = 1",
        LINE_GRAPH,
        "blowfish-2014/section-7.1-ordered-mechanism",
        lambda item: 1 if _theta(item) == 1 else None,
    ),
    proof="S is at most 1 (see section-7.1-line-graph), and Theorem 5.1.",
)

ORDERED_THETA = Claim(
    id="blowfish-2014/section-7.2-ordered-theta",
    source="Section 7.2, first paragraph",
    quote="would add noise from",
    statement="For a threshold theta the ordered mechanism adds noise of scale theta / epsilon, "
    "and is private.",
    read_as="The exact loss at scale theta/epsilon, by the certifier.",
    parts=_loss(
        "exact privacy loss at epsilon = 1",
        THRESHOLDS,
        "blowfish-2014/section-7.2-ordered-theta",
        lambda item: 1,
    ),
    proof="S is at most theta (see section-7.2-theta), and Theorem 5.1.",
)

# --- errors --------------------------------------------------------------------------------------


def _laplace_variance(scale: Fraction) -> Fraction:
    """Return E z^2 for density exp(-|z| / b) / (2 b): the integral is b^2 Gamma(3)."""
    from math import factorial

    return scale**2 * factorial(2)


EPSILONS = (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3))


def _ranges(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for low in range(1, size + 1):
            for high in range(low, size + 1):
                for epsilon in EPSILONS:
                    given: dict[str, Parameter] = {
                        "size": size,
                        "low": low,
                        "high": high,
                        "epsilon": epsilon,
                    }
                    yield Instance(shape=f"|T| = {size}", parameters=given)


def _range_error(instance: Instance) -> Exact:
    """Return the variance of s_high - s_(low - 1), every count with its own noise, s_0 being 0."""
    scale = evaluate(
        printed_scale("blowfish-2014/section-7.1-ordered-mechanism"),
        epsilon=instance.number("epsilon"),
    )
    counts = 1 if instance.whole("low") == 1 else 2
    return counts * _laplace_variance(scale)


def _error_part(name: str, claimed: Formula, relation: Relation, *, amendment: bool = False) -> Part:  # noqa: E501 # fmt: skip
    return Part(
        name=name,
        family=family(
            "every range of up to 12 values, epsilon 1/10, 1/2, 1, 3",
            lambda: _ranges(4),
            lambda: _ranges(12),
        ),
        claimed=claimed,
        measure=Counted(_range_error),
        relation=relation,
        small="accuracy",
        large="accuracy",
        amended=amendment,
    )


THEOREM_7_1 = Claim(
    id="blowfish-2014/theorem-7.1",
    source="Section 7.1, Theorem 7.1, Equation 12",
    quote="the expected error of a range query",
    statement="Under the line graph, the ordered mechanism answers a range query with expected "
    "squared error at most 4 / epsilon^2.",
    read_as="Without constrained inference, as the theorem says nothing of it.",
    parts=(_error_part("bound", lambda item: 4 / item.number("epsilon") ** 2, "<="),),
    proof="A range is the difference of two counts, or one count, each with noise of variance 2 / "
    "epsilon^2. (Without the isotonic regression, which the theorem does not speak about.)",
    identities=(
        Identity(
            "two counts, each with noise of scale 1/e",
            "2*2*(1/e)**2",
            "4/e**2",
            real="e",
        ),
    ),
)

EQUATION_12 = Claim(
    id="blowfish-2014/equation-12",
    source="Section 7.1, Equation 12, with the sentence before it",
    quote="at most two noisy cumulative counts",
    statement="Every range needs at most two noisy counts; its error is at most 4 / epsilon^2, "
    "and smaller than that where one count is enough.",
    read_as="The variance of the one or two counts of each range.",
    parts=(
        _error_part("bound", lambda item: 4 / item.number("epsilon") ** 2, "<="),
        _error_part(
            "2 / epsilon^2 from the first value, 4 / epsilon^2 from any other",
            lambda item: (2 if item.whole("low") == 1 else 4) / item.number("epsilon") ** 2,
            "=",
        ),
    ),
    proof="See Theorem 7.1.",
    identities=(
        Identity(
            "two counts, each with noise of scale 1/e",
            "2*2*(1/e)**2",
            "4/e**2",
            real="e",
        ),
    ),
)


def _epsilons() -> Iterator[Instance]:
    for epsilon in EPSILONS:
        yield Instance(shape="a scale", parameters={"epsilon": epsilon})


COUNT_ERROR = Claim(
    id="blowfish-2014/section-7.1-count-error",
    source="Section 7.1",
    quote="has an error with an expectation",
    statement="Each noisy count of the ordered mechanism has expected squared error 2 / epsilon^2.",
    read_as="The variance of the noise on one count, before any inference.",
    parts=(
        Part(
            name="variance of the noise",
            family=family("epsilon 1/10, 1/2, 1, 3", _epsilons),
            claimed=lambda item: 2 / item.number("epsilon") ** 2,
            measure=Counted(
                lambda item: _laplace_variance(
                    evaluate(
                        printed_scale("blowfish-2014/section-7.1-ordered-mechanism"),
                        epsilon=item.number("epsilon"),
                    )
                )
            ),
            small="accuracy",
        ),
    ),
    proof="Laplace noise of scale b has variance 2 b^2.",
    identities=(
        Identity(
            "the second moment of Laplace noise of scale 1/e",
            "2*Integral(z**2*e*exp(-z*e)/2, (z, 0, oo))",
            "2/e**2",
            real="e z",
        ),
    ),
)


CLAIMS = (
    GLOBAL,
    LINE,
    ORDERED,
    COUNT_ERROR,
    THEOREM_7_1,
    EQUATION_12,
    THETA,
    ORDERED_THETA,
)
