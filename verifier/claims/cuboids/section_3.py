"""exact-cuboids-draft, section 3: averaging known sums, and the first two worked examples."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

from blowproof.models import Between, Count, Domain, Exact, Integers, Labels, Marginal, Policy
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.cuboids.linear import kernel_projection, rank
from blowproof.verifier.claims.cuboids.section_2 import AGES, FACT_TABLE, SALARIES, SEXES
from blowproof.verifier.claims.stating.claim import Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Sensitivity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["ADJACENT", "CLAIMS", "adjacent_rows", "averaged_variance"]

# --- Example 3.1: the sums of neighbouring counts are known --------------------------------------


def adjacent_rows(size: int) -> list[list[int]]:
    """Return the known sums c(r_i) + c(r_(i+1)) of `size` counts, one row each."""
    return [[int(place in (i, i + 1)) for place in range(size)] for i in range(size - 1)]


def _chains(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for epsilon in (Fraction(1, 10), Fraction(1), Fraction(2)):
            yield Instance(shape=f"k = {size}", parameters={"k": size, "epsilon": epsilon})


def averaged_variance(instance: Instance) -> Exact:
    """Return the variance of the best unbiased estimate of c(r_1), by exact least squares.

    The estimate is the projection of the noisy counts onto the known sums; its variance is that of
    one count's noise, of scale 1 / epsilon, times a diagonal entry of the projection.
    """
    size = instance.whole("k")
    matrix = kernel_projection(adjacent_rows(size), size)
    return plain(2 / instance.number("epsilon") ** 2 * matrix[0][0])


def _printed_variance(instance: Instance) -> Exact:
    return plain(2 / (instance.whole("k") * instance.number("epsilon") ** 2))


ADJACENT = family("k from 1 to 12, epsilon 1/10, 1, 2", lambda: _chains(8), lambda: _chains(12))


def _chain_policies(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        facts = tuple(Count({"a": Between(i, i + 1)}) for i in range(1, size))
        policy = Policy(domain=Domain(a=Integers(1, size)), known=facts)
        yield Instance(shape=f"k = {size}", policy=policy, parameters={"k": size})


def _k(instance: Instance) -> Exact | None:
    policy = instance.the_policy
    size = policy.domain.size
    facts = [Count({"a": Between(i, i + 1)}) for i in range(1, size)]
    return size if list(policy.known) == facts else None


EXAMPLE_3_1 = Claim(
    id="exact-cuboids-draft/example-3.1",
    source="Section 3, Example 3.1",
    statement="k counts, the k - 1 sums of neighbouring ones known: averaging k independent "
    "estimates predicts c(r_1) with variance 2 / (k epsilon^2); one known count tells all others.",
    parts=(
        counted(
            "variance of the best estimate, by exact least squares",
            ADJACENT,
            _printed_variance,
            averaged_variance,
            small="accuracy",
            large="privacy",
        ),
        counted(
            "unknowns that are left when c(r_1) is known as well",
            ADJACENT,
            lambda item: 0,
            lambda item: (
                item.whole("k")
                - rank(
                    [
                        *adjacent_rows(item.whole("k")),
                        [int(i == 0) for i in range(item.whole("k"))],
                    ]
                )
            ),
        ),
        Part(
            name="S of the histogram: one record for each value, so k",
            family=family("k from 1 to 9", lambda: _chain_policies(6), lambda: _chain_policies(9)),
            claimed=_k,
            measure=Sensitivity("add-remove"),
            reading="add-remove",
            answers="any",
        ),
    ),
    proof="What the sums leave open is a multiple of (1, -1, 1, ...), of squared length k: "
    "projecting onto it leaves each count 1/k of its noise's variance. The k estimates use one "
    "noise each, so they are independent. For the same reason the smallest change that the sums "
    "allow changes all k counts, and generic privacy adds noise of scale k / epsilon instead.",
)


def _sums(most: int) -> Iterator[Instance]:
    """Yield every list of true counts 0, 1, 2 of up to `most` values, as a number in base 3."""
    for size in range(2, most + 1):
        for code in range(3**size):
            shape = f"k = {size}"
            yield Instance(shape=shape, parameters={"k": size, "counts_in_base_3": code})


def _counts(instance: Instance) -> list[int]:
    code, size = instance.whole("counts_in_base_3"), instance.whole("k")
    return [code // 3**i % 3 for i in range(size)]


def _tables_left(instance: Instance) -> Exact:
    """Return how many lists of counts have the same sums of neighbours."""
    counts = _counts(instance)
    sums = [a + b for a, b in pairwise(counts)]
    found = 0
    for first in range(sums[0] + 1):
        guess = [first]
        for total in sums:
            guess.append(total - guess[-1])
        found += min(guess) >= 0
    return found


def _both_ways(instance: Instance) -> bool:
    """Whether a step of (1, -1, 1, ...) forwards or backwards keeps all counts at least 0."""
    counts = _counts(instance)
    return all(counts[0::2]) or all(counts[1::2])


RECONSTRUCTION = Claim(
    id="exact-cuboids-draft/example-3.1-reconstruction",
    source="Section 3, Example 3.1",
    statement="From the k - 1 sums of neighbouring counts alone the table cannot be reconstructed.",
    parts=(
        counted(
            "tables with the same sums",
            family(
                "every table of 2 to 6 values with counts 0, 1, 2",
                lambda: _sums(4),
                lambda: _sums(6),
            ),
            lambda item: 2,
            _tables_left,
            ">=",
            large="privacy",
        ),
        counted(
            "tables with the same sums, if all odd or all even counts are above zero",
            family(
                "every table of 2 to 6 values with counts 0, 1, 2",
                lambda: _sums(4),
                lambda: _sums(6),
            ),
            lambda item: 2 if _both_ways(item) else None,
            _tables_left,
            ">=",
            amended=True,
        ),
    ),
    repaired="If c(r_1), c(r_3), ... are all above zero, or c(r_2), c(r_4), ... are; otherwise the "
    "sums determine the table.",
    explanation="One degree of freedom is left over the integers, but counts are not negative. "
    "With a zero at an odd and at an even place neither step along (1, -1, 1, ...) is possible: "
    "two values with the sum 0 are both empty, and everybody knows it. No noise on the counts can "
    "protect what the known sums tell already.",
    proof="The tables with the same sums are the table plus multiples of (1, -1, 1, ...).",
)

# --- Figure 2 ------------------------------------------------------------------------------------


def _genders(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for men in range(size + 1):
            yield Instance(
                shape=f"{size} records",
                parameters={"records": size, "men": men},
            )


def _possible_neighbours(instance: Instance) -> Exact:
    """Return how many neighbours with one gender changed have the known number of men."""
    size, men = instance.whole("records"), instance.whole("men")
    found = 0
    for table in product("FM", repeat=size):
        if table.count("M") != men:
            continue
        for place in range(size):
            other = list(table)
            other[place] = "F" if table[place] == "M" else "M"
            found += other.count("M") == men
    return found


FIGURE_2 = Claim(
    id="exact-cuboids-draft/section-3-figure-2",
    source="Section 3, after Example 3.1, and Figure 2",
    statement="If the number of men is known, changing the gender of one record leads out of the "
    "possible databases: of each such pair one is impossible.",
    parts=(
        counted(
            "pairs with both sides possible",
            family("up to 8 records, any number of men", lambda: _genders(5), lambda: _genders(8)),
            lambda item: 0,
            _possible_neighbours,
        ),
    ),
)

# --- Example 3.2 ---------------------------------------------------------------------------------

DOMAIN = Domain(sex=Labels(SEXES), age=Labels(AGES), salary=Labels(SALARIES))
FIRST_IS_MALE = (("M", *FACT_TABLE[0][1:]), *FACT_TABLE[1:])
AGES_SWAPPED = (
    *FACT_TABLE[:2],
    ("F", FACT_TABLE[3][1], FACT_TABLE[2][2]),
    ("F", FACT_TABLE[2][1], FACT_TABLE[3][2]),
    *FACT_TABLE[4:],
)


def _named(name: str) -> tuple[tuple[str, ...], ...]:
    return {"T1": FIRST_IS_MALE, "T2": AGES_SWAPPED}[name]


def _markov(instance: Instance) -> Exact:
    """Whether the two tables are Markov neighbours by Definition 3.1, word for word."""
    one, two = FACT_TABLE, _named(instance.word("table"))
    for place in (1, 2):  # the cuboids {Age} and {Salary}
        if sorted(row[place] for row in one) != sorted(row[place] for row in two):
            return 0
    difference = [one.count(row) - two.count(row) for row in {*one, *two}]
    nonzero = [entry for entry in difference if entry]
    return int(len(nonzero) <= 4 and all(abs(entry) == 1 for entry in nonzero))


def _two_tables() -> Iterator[Instance]:
    policy = Policy(domain=DOMAIN, known=(Marginal(["age"]), Marginal(["salary"])))
    for name in ("T1", "T2"):
        yield Instance(shape=name, policy=policy, parameters={"table": name})


EXAMPLE_3_2 = Claim(
    id="exact-cuboids-draft/example-3.2",
    source="Section 3.1, Example 3.2",
    statement="The ages and the salaries of Figure 1 being known, changing the first row's sex and "
    "swapping the ages of rows 3 and 4 both give Markov neighbours.",
    parts=(
        counted(
            "whether it is a Markov neighbour",
            family("the two tables", _two_tables),
            lambda item: 1,
            _markov,
            reading="markov",
        ),
    ),
)


CLAIMS = (EXAMPLE_3_1, RECONSTRUCTION, FIGURE_2, EXAMPLE_3_2)
