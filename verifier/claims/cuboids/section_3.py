"""exact-cuboids-draft, section 3: averaging known sums, and the first two worked examples."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from blowproof.models import Between, Count, Domain, Exact, Integers, Labels, Marginal, Policy
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.cuboids.section_2 import AGES, FACT_TABLE, SALARIES, SEXES
from blowproof.verifier.claims.stating.claim import Claim, Instance, Parameter, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.linear import kernel_projection, rank
from blowproof.verifier.claims.stating.measures import Positive, Sensitivity
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
    quote="with a variance of",
    statement="k counts, the k - 1 sums of neighbouring ones known: averaging k independent "
    "estimates predicts c(r_1) with variance 2 / (k epsilon^2); one known count tells all others.",
    read_as="The best unbiased estimate by exact least squares; n not known.",
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


RECONSTRUCTION = Claim(
    id="exact-cuboids-draft/example-3.1-reconstruction",
    source="Section 3, Example 3.1",
    quote="adversary can't reconstruct the table",
    statement="The k - 1 sums of neighbouring counts do not determine the table.",
    read_as="The equations leave some table open, as in blowfish's twin; n not known.",
    parts=(
        Part(
            name="some neighbours have different counts, n unknown",
            family=family("k from 2 to 9", lambda: _from_two(6), lambda: _from_two(9)),
            claimed=lambda item: None if _k(item) is None else 1,
            measure=Positive(Sensitivity("add-remove")),
            reading="add-remove",
            answers="any",
            large="nothing",
        ),
    ),
    proof="The sums leave multiples of (1, -1, 1, ...) free. (A single table in which some count "
    "of odd place and some count of even place are 0 is determined, since counts are not "
    "negative; the sentence says 'can't reconstruct' of the equations, not of every table. In "
    "blowfish-2014, section-3.2-not-determined, n is known, and odd k are determined.)",
)


def _from_two(most: int) -> Iterator[Instance]:
    return (item for item in _chain_policies(most) if item.the_policy.domain.size > 1)


# --- section 1: by which factor the noise falls --------------------------------------------------


def _tables(most: int) -> Iterator[Instance]:
    for size in range(1, most + 1):
        for rows in (1, 10, 100):
            given: dict[str, Parameter] = {"k": size, "rows": rows, "epsilon": 1}
            yield Instance(shape=f"k = {size}", parameters=given)


def _factor(instance: Instance) -> Exact:
    """Return by which factor averaging reduces the variance of one noisy count."""
    return plain(2 / instance.number("epsilon") ** 2 / averaged_variance(instance))


FACTOR = Claim(
    id="exact-cuboids-draft/section-1-factor",
    source="Section 1, first paragraph",
    quote="proportional to the size",
    statement="With certain background knowledge an adversary reduces the noise by a factor "
    "proportional to the size of the dataset.",
    read_as="The factor by which averaging reduces a count's variance; size: rows, then cells.",
    parts=(
        counted(
            "size: the number of rows",
            family("1 to 10 cells with 1, 10, 100 rows", lambda: _tables(4), lambda: _tables(10)),
            lambda item: item.whole("rows"),
            _factor,
            small="privacy",
            large="accuracy",
        ),
        counted(
            "size: the number of cells",
            family("1 to 10 cells with 1, 10, 100 rows", lambda: _tables(4), lambda: _tables(10)),
            lambda item: item.whole("k"),
            _factor,
            amended=True,
        ),
    ),
    repaired="The variance falls by the number of cells whose sums are known (Example 3.1), which "
    "has nothing to do with the number of rows.",
    amendment="misprint",
    explanation="Each cell brings one independent estimate, and rows bring none: ten cells with "
    "one row or with a thousand are estimated ten times as well. Example 3.1 says so itself.",
    proof="See example-3.1: projecting onto (1, -1, 1, ...), of squared length k.",
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
    quote="one of them is not possible",
    statement="If the number of men is known, changing the gender of one record leads out of the "
    "possible databases: of each such pair one is impossible.",
    read_as="Of each pair with one changed gender, listed for up to 8 records.",
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
    quote="is also a Markov basis",
    statement="The ages and the salaries of Figure 1 being known, changing the first row's sex "
    "and swapping the ages of rows 3 and 4 both give Markov neighbours.",
    read_as="Definition 3.1 word for word, on the printed rows.",
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


CLAIMS = (FACTOR, EXAMPLE_3_1, RECONSTRUCTION, FIGURE_2, EXAMPLE_3_2)
