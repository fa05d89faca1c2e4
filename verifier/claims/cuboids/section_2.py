"""exact-cuboids-draft, section 2: data cubes, differential privacy and the Laplace mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from blowproof.models import Exact, Policy
from blowproof.models.base.numbers import plain
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.listings import pairs
from blowproof.verifier.claims.stating.measures import Counted, Sensitivity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["AGES", "CLAIMS", "FACT_TABLE", "SALARIES", "SEXES"]

# --- Figure 1 and Example 2.1 --------------------------------------------------------------------

SEXES = ("M", "F")
AGES = ("0-10", "11-20", "21-30", "31-40", "41-50", "51-60", "60+")
SALARIES = ("0-10k", "10-50k", "50-200k", "200-500k", "500k+")
FACT_TABLE = (
    ("F", "21-30", "10-50k"),
    ("F", "21-30", "10-50k"),
    ("F", "31-40", "50-200k"),
    ("F", "41-50", "500k+"),
    ("M", "21-30", "10-50k"),
    ("M", "21-30", "50-200k"),
    ("M", "31-40", "50-200k"),
    ("M", "60+", "500k+"),
)
"""Figure 1(a)."""
PRINTED_CELLS = (
    ("*", "0-10k", 0),
    ("*", "10-50k", 3),
    ("*", "50-200k", 3),
    ("*", "500k+", 2),
    ("21-30", "*", 4),
    ("31-40", "*", 2),
    ("41-50", "*", 1),
    ("60+", "*", 1),
    *(("21-30", salary, count) for salary, count in zip(SALARIES, (0, 3, 1, 0, 0), strict=True)),
    *(("31-40", salary, count) for salary, count in zip(SALARIES, (0, 0, 2, 0, 0), strict=True)),
)
"""Figure 1(b), (c), (d): age, salary, printed count."""


def _cells() -> Iterator[Instance]:
    for age, salary, count in PRINTED_CELLS:
        stars = (age, salary).count("*")
        yield Instance(
            shape=f"cuboid of {2 - stars}",
            parameters={"age": age, "salary": salary, "printed": count},
        )


def _count(age: str, salary: str) -> int:
    return sum(age in ("*", row[1]) and salary in ("*", row[2]) for row in FACT_TABLE)


def _from_finer(instance: Instance) -> Exact:
    """Return a cell's count by adding up the cells of the cuboid {Age, Salary} below it."""
    age, salary = instance.word("age"), instance.word("salary")
    ages = AGES if age == "*" else (age,)
    salaries = SALARIES if salary == "*" else (salary,)
    return sum(_count(*cell) for cell in product(ages, salaries))


CELLS = family("the 18 counts that Figure 1 prints", _cells)
EXAMPLE_2_1 = Claim(
    id="exact-cuboids-draft/example-2.1",
    source="Section 2.1, Example 2.1 and Figure 1",
    quote="we find three such rows",
    statement="The cuboids {Salary}, {Age} and {Age, Salary} of the fact table are as printed; "
    "three rows are aged 21-30 and earn 10-50k; {Salary} follows from {Age, Salary}.",
    read_as="The printed tables, counted again from the printed rows.",
    parts=(
        counted(
            "counted in the fact table",
            CELLS,
            lambda item: item.whole("printed"),
            lambda item: _count(item.word("age"), item.word("salary")),
        ),
        counted(
            "added up from the cuboid {Age, Salary}",
            CELLS,
            lambda item: item.whole("printed"),
            _from_finer,
        ),
    ),
)

# --- Definition 2.2 ------------------------------------------------------------------------------


def _properties(most: int) -> Iterator[Instance]:
    """Yield every property of 1 to `most` values, as the one row of a matrix."""
    for size in range(1, most + 1):
        for row in product((0, 1), repeat=size):
            yield Instance(
                shape=f"{size} values, {sum(row)} with the property",
                policy=Policy(domain=some.table(size)),
                query=Asked("matrix", (row,)),
            )


PROPERTIES = family(
    "every property of 1 to 5 values", lambda: _properties(3), lambda: _properties(5)
)
COUNT = Claim(
    id="exact-cuboids-draft/section-2.2-count",
    source="Section 2.2, after Definition 2.2",
    quote="to count how many rows",
    statement="The number of rows with property P has S = 1.",
    read_as="Add or remove one row; any property of a row.",
    parts=(
        Part(
            name="equality",
            family=PROPERTIES,
            claimed=lambda item: 1,
            measure=Sensitivity("add-remove"),
            reading="add-remove",
            answers="any",
        ),
        Part(
            name="bound",
            family=PROPERTIES,
            claimed=lambda item: 1,
            measure=Sensitivity("add-remove"),
            relation="<=",
            reading="add-remove",
            answers="any",
        ),
        Part(
            name="equality, if some value has the property",
            family=PROPERTIES,
            claimed=lambda item: 1 if any(item.query.rows[0]) else None,
            measure=Sensitivity("add-remove"),
            reading="add-remove",
            answers="any",
            amended=True,
        ),
    ),
    repaired="If some value has the property; S = 0 otherwise.",
    amendment="condition",
    explanation="A property that no value has is never counted. The bound holds always.",
    proof="One record is added or removed, and it is counted or not.",
)

# --- add or remove against replace ---------------------------------------------------------------


def _queries(most: int) -> Iterator[Instance]:
    for sizes in some.sizes_up_to(most, (1, 2)):
        domain = some.table(*sizes)
        policy = Policy(domain=domain)
        all_ones = tuple(1 for _ in range(domain.size))
        asked = [Asked("histogram"), Asked("cumulative(a)"), Asked("sum(a)"), Asked("ranges(a)")]
        asked.append(Asked("matrix", (all_ones,)))
        for query in asked:
            yield Instance(shape=f"{some.named(domain)}, {query.text}", policy=policy, query=query)


QUERIES = family(
    "tables of 1 or 2 attributes with up to 8 values, nothing known, five queries (the number of "
    "rows among them)",
    lambda: _queries(4),
    lambda: _queries(8),
)


def _twice(instance: Instance) -> Exact:
    """Return the least loss under adding and removing, were it twice that under replacing."""
    return plain(2 * Fraction(Sensitivity("published")(instance, None).lower))


def _double(instance: Instance) -> Exact:
    return plain(2 * Fraction(Sensitivity("add-remove")(instance, None).lower))


REPLACING = Claim(
    id="exact-cuboids-draft/section-2.2-indistinguishability",
    source="Section 2.2, after Definition 2.1",
    quote="if and only if it satisfies",
    statement="A mechanism is epsilon-indistinguishable (one row is replaced) iff it is 2 "
    "epsilon-differentially private (one row is added or removed).",
    read_as="Random channels on both kinds of neighbours; both directions, as printed.",
    parts=(
        Part(
            name="Laplace noise of scale 1: loss under adding and removing = 2 x under replacing",
            family=QUERIES,
            claimed=_twice,
            measure=Sensitivity("add-remove"),
            reading="add-remove",
            answers="any",
        ),
        Part(
            name="loss under replacing <= 2 x loss under adding and removing",
            family=QUERIES,
            claimed=_double,
            measure=Sensitivity("published"),
            relation="<=",
            reading="published",
            answers="any",
            amended=True,
        ),
    ),
    repaired="An epsilon-differentially private mechanism is 2 epsilon-indistinguishable; the "
    "converse fails. Doubling the noise is therefore enough, as the draft says.",
    explanation="The factor stands on the wrong side: replacing a row is removing one and adding "
    "one, so epsilon becomes 2 epsilon when one goes from adding and removing to replacing. In "
    "the other direction nothing follows, for the number of rows never changes when a row is "
    "replaced: a mechanism that prints it exactly is 0-indistinguishable, and not differentially "
    "private for any epsilon.",
    proof="Go from one table to the other through the table without the row.",
)

# --- Theorem 2.1 ---------------------------------------------------------------------------------


def _largest_loss(instance: Instance) -> Exact:
    """Return the loss of noise of scale S at epsilon = 1 over all listed neighbours."""
    policy = instance.the_policy
    query = instance.query.on(policy)
    scale = Sensitivity("add-remove", None)(instance, None).lower
    worst = max(
        (
            query.norm({x: two.count(x) - one.count(x) for x in {*one, *two}})
            for one, two in pairs(policy, "add-remove", 3)
        ),
        default=0,
    )
    if scale == 0:
        assert worst == 0, instance
        return 0
    return plain(Fraction(worst) / scale)


THEOREM_2_1 = Claim(
    id="exact-cuboids-draft/theorem-2.1",
    source="Section 2.2, Theorem 2.1",
    quote="The randomized algorithm that takes",
    statement="Laplace noise of scale S(F) / epsilon is epsilon-differentially private.",
    read_as="The exact loss when a row is added or removed, by the certifier.",
    parts=(
        Part(
            name="loss at epsilon = 1 over all neighbours of up to 3 records",
            family=family(
                "tables of 1 or 2 attributes with up to 4 values, nothing known, five queries",
                lambda: _queries(2),
                lambda: _queries(4),
            ),
            claimed=lambda item: 1,
            measure=Counted(_largest_loss),
            relation="<=",
            reading="add-remove",
            answers="any",
        ),
    ),
    proof="The density of the noise around F(T1) and around F(T2) differs at most by the factor "
    "exp(|F(T1) - F(T2)|_1 epsilon / S(F)) <= exp(epsilon).",
)


CLAIMS = (EXAMPLE_2_1, COUNT, REPLACING, THEOREM_2_1)
