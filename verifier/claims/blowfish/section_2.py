"""blowfish-2014, section 2: notation."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from blowproof.models import Exact, Full, Policy
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import (
    Asked,
    Claim,
    Instance,
    Parameter,
    Part,
    in_readings,
)
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.measures import Sensitivity, sensitivities
from blowproof.verifier.claims.stating.parts import counted, with_kernel

__all__ = ["CLAIMS"]


def _partitioned(most: int) -> Iterator[Instance]:
    """Yield full secrets with the histogram of every partition of the values, as a matrix."""
    for size in range(1, most + 1):
        for cells in some.partitions(range(size)):
            rows = tuple(tuple(int(value in cell) for value in range(size)) for cell in cells)
            policy = Policy(domain=some.table(size), secrets=Full())
            yield Instance(
                shape=f"{size} values, {len(cells)} cells",
                policy=policy,
                query=Asked("matrix", rows),
            )


PARTITIONS = family(
    "every partition of 1 to 5 values", lambda: _partitioned(3), lambda: _partitioned(5)
)


def _two_cells(instance: Instance) -> Exact:
    return 2 if len(instance.query.rows) > 1 else 0


def _full_secrets(instance: Instance) -> bool:
    policy = instance.the_policy
    return isinstance(policy.secrets, Full) and _is_partition(instance)


def _is_partition(instance: Instance) -> bool:
    size = instance.the_policy.domain.size
    columns = list(zip(*instance.query.rows, strict=True))
    return len(columns) == size and all(sum(column) == 1 for column in columns)


SECTION_2 = Claim(
    id="blowfish-2014/section-2-histogram",
    source="Section 2",
    quote="for all histogram queries",
    statement="S(h_P) = 2 for the histogram of every partition of the domain.",
    read_as="Every partition of the domain, full secrets, no facts; an equality.",
    parts=(
        *in_readings(
            Part(
                name="equality",
                family=PARTITIONS,
                claimed=lambda item: 2 if _full_secrets(item) else None,
                measure=Sensitivity("published"),
                answers="any",
            ),
            sensitivities(),
            ("published",),
        ),
        Part(
            name="2 from two cells on, else 0",
            family=PARTITIONS,
            claimed=_two_cells,
            measure=Sensitivity("published"),
            reading="published",
            answers="any",
            amended=True,
        ),
    ),
    repaired="If there are two cells or more; the one count of a single cell is n, which is known.",
    amendment="condition",
    explanation="A partition into one cell has a histogram that never changes when n is known.",
    proof="One record leaves one cell for another.",
)


def _sizes(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(2)):
            given: dict[str, Parameter] = {"size": size, "epsilon": epsilon}
            yield Instance(shape=f"|T| = {size}", parameters=given)


ERROR = Claim(
    id="blowfish-2014/section-2-laplace-error",
    source="Section 2, after Definition 2.4",
    quote="accuracy of the Laplace mechanism for histograms",
    statement="The Laplace mechanism answers the histogram with error 8 |T| / epsilon^2.",
    read_as="The sum over all values of the variance of noise of scale 2/epsilon.",
    parts=(
        counted(
            "sum of the variances of the noise, of scale 2 / epsilon",
            family("|T| from 1 to 40, epsilon 1/10, 1, 2", lambda: _sizes(40)),
            lambda item: 8 * item.whole("size") / item.number("epsilon") ** 2,
            lambda item: plain(
                sum(
                    (2 * (2 / item.number("epsilon")) ** 2 for _ in range(item.whole("size"))),
                    Fraction(0),
                )
            ),
        ),
    ),
    proof="Laplace noise of scale b has variance 2 b^2.",
    identities=(
        Identity(
            "the variance of noise of scale 2/e, once for each of T values",
            "T*2*(2/e)**2",
            "8*T/e**2",
            whole="T",
            real="e",
        ),
    ),
)


CLAIMS = (with_kernel(SECTION_2), ERROR)
