"""blowfish-2014, section 8: how hard it is. The reductions, on every small formula and graph."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from random import Random

from blowproof.models import (
    Clause,
    Database,
    Domain,
    Exact,
    Integers,
    Literal,
    Policy,
)
from blowproof.verifier.claims.stating import families as some
from blowproof.verifier.claims.stating.claim import Asked, Claim, Instance, Part
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.measures import Counted, Positive, Sensitivity

__all__ = ["CLAIMS", "FORMULAS", "all_equal", "printed_reduction", "second_model"]

Formula = tuple[tuple[int, ...], ...]


def _policy(formula: Formula, variables: int) -> Policy:
    """Return the reduction as printed: {0,1}^n, a clause for each clause, all secrets."""
    known = tuple(
        Clause([Literal(abs(x), {"value": 1}, inside=x > 0) for x in clause]) for clause in formula
    )
    return Policy(
        domain=Domain(value=Integers(0, 1)), database=Database(size=variables), known=known
    )


def _told_apart(formula: Formula, variables: int) -> Policy:
    """Return the reduction in which each variable has two values of its own, 2v and 2v + 1."""
    literals = [
        Clause([Literal(abs(x), {"value": 2 * abs(x) - (x < 0)}) for x in clause])
        for clause in formula
    ]
    own = [Clause([Literal(v, {"value": [2 * v - 1, 2 * v]})]) for v in range(1, variables + 1)]
    return Policy(
        domain=Domain(value=Integers(1, 2 * variables)),
        database=Database(size=variables),
        known=(*own, *literals),
    )


def _models(instance: Instance) -> int:
    """Return how many assignments satisfy the policy's clauses, by trying all of them."""
    policy = instance.the_policy
    values = list(policy.domain.points())
    size = policy.database.size or 0
    return sum(
        1
        for database in product(values, repeat=size)
        if all(clause.holds(database) for clause in policy.clauses)
    )


def second_model(instance: Instance) -> Exact | None:
    """Return 1 if the clauses have a second model, 0 if one only; None if there is none."""
    found = _models(instance)
    return int(found > 1) if found else None


def _clauses(variables: int, width: int) -> list[tuple[int, ...]]:
    return [
        tuple(v * sign for v, sign in zip(chosen, signs, strict=True))
        for count in range(1, width + 1)
        for chosen in combinations(range(1, variables + 1), count)
        for signs in product((1, -1), repeat=count)
    ]


def _formulas(
    name: str, variables: int, most: int, drawn: int
) -> Iterator[tuple[Formula, int, bool]]:
    for size in range(1, variables + 1):
        for many in range(most + 1):
            for formula in combinations(_clauses(size, 2), many):
                yield formula, size, False
    rng = Random(f"{some.SEED} {name}")
    for _ in range(drawn):
        size = rng.randint(3, 5)
        pool = [clause for clause in _clauses(size, 3) if len(clause) == 3]
        yield tuple(rng.sample(pool, min(len(pool), rng.randint(size, 3 * size)))), size, True


def printed_reduction(
    *, weighted: bool, variables: int, most: int, drawn: int
) -> Iterator[Instance]:
    """Yield the reduction as printed, for formulas listed and drawn."""
    for formula, size, sampled in _formulas("3SAT", variables, most, drawn):
        weights = tuple(2**place for place in range(size))
        query = Asked("weighted-sum(value)", (weights,)) if weighted else Asked()
        shape = f"{size} variables, {len(formula)} clauses"
        yield Instance(shape=shape, policy=_policy(formula, size), query=query, sampled=sampled)


def _repaired(variables: int, most: int, drawn: int) -> Iterator[Instance]:
    for formula, size, sampled in _formulas("3SAT", variables, most, drawn):
        shape = f"{size} variables, {len(formula)} clauses"
        if size <= 4:
            yield Instance(shape=shape, policy=_told_apart(formula, size), sampled=sampled)


FORMULAS = (
    "every formula with clauses of 1 or 2 literals: up to 3 variables and 2 clauses; 40 drawn ones "
    "with clauses of 3 literals on 3 to 5 variables"
)

THEOREM_8_1 = Claim(
    id="blowfish-2014/theorem-8.1",
    source="Section 8, Theorem 8.1",
    quote="Checking whether",
    statement="S(f, P) > 0 iff a formula has a second model, where records are variables, clauses "
    "constraints, and 0 and 1 a secret pair: so deciding S(f, P) > 0 is NP-hard, for h as well.",
    read_as="The printed reduction, run both ways; h needs one value more for each variable.",
    parts=(
        Part(
            name="f that tells all databases apart (weights 2^i)",
            family=family(
                FORMULAS,
                lambda: printed_reduction(weighted=True, variables=2, most=2, drawn=5),
                lambda: printed_reduction(weighted=True, variables=3, most=2, drawn=40),
            ),
            claimed=second_model,
            measure=Positive(Sensitivity("published", "given")),
            reading="published",
            answers="given",
            small="nothing",
            large="nothing",
        ),
        Part(
            name="the complete histogram, by the same reduction",
            family=family(
                FORMULAS,
                lambda: printed_reduction(weighted=False, variables=2, most=2, drawn=5),
                lambda: printed_reduction(weighted=False, variables=3, most=2, drawn=40),
            ),
            claimed=second_model,
            measure=Positive(Sensitivity("published", "given")),
            reading="published",
            answers="given",
            small="nothing",
            large="nothing",
        ),
        Part(
            name="the complete histogram, with two values for each variable",
            family=family(FORMULAS, lambda: _repaired(2, 2, 2), lambda: _repaired(3, 2, 20)),
            claimed=second_model,
            measure=Positive(Sensitivity("published", "given")),
            reading="published",
            answers="given",
            small="nothing",
            large="nothing",
            amended=True,
        ),
    ),
    repaired="For h let variable i have two values of its own, 2i - 1 and 2i, and a clause say "
    "that record i holds one of them: then S(h, P) > 0 iff the formula has a second model.",
    amendment="condition",
    explanation="The theorem stands; the reduction that its sketch prints does not show it for "
    "the histogram. Two models with equally many true variables have equal histograms over {0, "
    "1}, so a formula such as (x or y) and (not x or not y) has two models and S(h, P) = 0. "
    "Values of their own tell the variables apart.",
    proof="If there is a second model, walk from one model to another by minimal steps; each step "
    "is a neighbour pair, and f differs along it. If there is none, there are no neighbours.",
)


def _most_changes(instance: Instance) -> Exact:
    from blowproof.verifier.claims.stating.listings import longest_secret_change

    return longest_secret_change(instance.the_policy, "published", instance.whole("n"))


def all_equal(size: int) -> Iterator[Instance]:
    """Yield n = 1 up to `size` records with the value 0 or 1, all equal; asks for their sum."""
    for records in range(1, size + 1):
        clauses = [
            Clause([Literal(i, {"value": 1}), Literal(i + 1, {"value": 1}, inside=False)])
            for i in range(1, records)
        ]
        if records > 1:
            clauses.append(
                Clause([Literal(records, {"value": 1}), Literal(1, {"value": 1}, inside=False)])
            )
        yield Instance(
            shape=f"n = {records}",
            policy=Policy(
                domain=Domain(value=Integers(0, 1)),
                database=Database(size=records),
                known=tuple(clauses),
            ),
            query=Asked("sum(value)"),
            parameters={"n": records},
        )


ANY_NUMBER = Claim(
    id="blowfish-2014/section-8-any-number",
    source="Section 8, first paragraph",
    quote="differ in any number of tuples",
    statement="Under general constraints, neighbours can differ in any number of records.",
    read_as="For each n some constraint whose neighbours differ in all n records.",
    parts=(
        Part(
            name="all records equal: neighbours differ in n",
            family=family(
                "n = 1 to 6 records that are all equal", lambda: all_equal(4), lambda: all_equal(6)
            ),
            claimed=lambda instance: instance.whole("n"),
            measure=Counted(_most_changes),
            reading="published",
            answers="given",
            small="nothing",
            large="nothing",
        ),
    ),
    proof="The clauses x_i <= x_(i+1) around a cycle leave two databases, which differ everywhere.",
)

CLAIMS = (ANY_NUMBER, THEOREM_8_1)
