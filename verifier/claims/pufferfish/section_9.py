"""pufferfish-2012, section 9: induced neighbours, and the exam queue."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product

from blowproof.models import Exact
from blowproof.verifier.claims.stating.claim import Claim, Instance
from blowproof.verifier.claims.stating.families import family
from blowproof.verifier.claims.stating.identity import Identity
from blowproof.verifier.claims.stating.parts import counted

__all__ = ["CLAIMS"]

Database = frozenset[tuple[int, int]]
"""A set of records (student, done or not)."""


def _states(students: int) -> list[Database]:
    """Return D_0, ..., D_n: the first k students are done, the others are not."""
    return [frozenset((i, int(i < done)) for i in range(students)) for done in range(students + 1)]


def _queues(most: int) -> Iterator[Instance]:
    for students in range(1, most + 1):
        yield Instance(shape=f"{students} students", parameters={"students": students})


def _between(one: Database, two: Database) -> Iterator[Database]:
    """Yield what every non-empty proper subset of the moves makes of the first database."""
    moves = sorted(one ^ two)
    for many in range(1, len(moves)):
        for chosen in combinations(moves, many):
            yield one ^ frozenset(chosen)


def _induced(states: list[Database]) -> list[tuple[int, int]]:
    """Return the induced neighbours, by Definition 9.2 with proper non-empty subsets."""
    possible = set(states)
    return [
        (i, j)
        for i, j in product(range(len(states)), repeat=2)
        if i != j and not any(item in possible for item in _between(states[i], states[j]))
    ]


def _not_next(instance: Instance) -> Exact:
    """Return how many pairs are neighbours and not next to each other, or the other way round."""
    states = _states(instance.whole("students"))
    found = set(_induced(states))
    every = product(range(len(states)), repeat=2)
    return sum(((i, j) in found) != (abs(i - j) == 1) for i, j in every)


def _count_loss(instance: Instance) -> Exact:
    """Return the loss of noise of scale 1 on the number of students done, at epsilon = 1."""
    states = _states(instance.whole("students"))
    done = [sum(bit for _, bit in state) for state in states]
    return max(abs(done[i] - done[j]) for i, j in _induced(states))


def _impossible_states(instance: Instance) -> Exact:
    """Return how many 0/1 vectors are of the printed form: 1s first, then 0s."""
    students = instance.whole("students")
    return sum(
        any(all(bit == int(i < k) for i, bit in enumerate(row)) for k in range(students + 1))
        for row in product((0, 1), repeat=students)
    )


QUEUES = family("1 to 6 students", lambda: _queues(5), lambda: _queues(6))
EXAMPLE_9_1 = Claim(
    id="pufferfish-2012/example-9.1",
    source="Section 9.1, Example 9.1 and after Definition 9.3",
    quote="can be in only one of",
    statement="n students take an exam in order: n + 1 databases are possible, the induced "
    "neighbours are the pairs (D_i, D_(i+1)), and Laplace noise for differential privacy on the "
    "number of students done is induced neighbours private.",
    read_as="The exam queue, all databases listed.",
    parts=(
        counted(
            "possible databases",
            QUEUES,
            lambda item: item.whole("students") + 1,
            _impossible_states,
        ),
        counted("pairs on which the neighbours differ", QUEUES, lambda item: 0, _not_next),
        counted(
            "loss of noise of scale 1 over induced neighbours",
            QUEUES,
            lambda item: 1,
            _count_loss,
            "<=",
            small="privacy",
        ),
    ),
    proof="Going from D_i to D_j takes two moves for each student between, and those of one "
    "student lead to the next state.",
)

# --- the density of Example 9.1 ------------------------------------------------------------------


def _epsilons() -> Iterator[Instance]:
    for epsilon in (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(10)):
        yield Instance(shape="epsilon", parameters={"epsilon": epsilon})


EPSILONS = family("epsilon 1/10, 1/2, 1, 2, 10", _epsilons)


def _rate_loss(rate: Fraction) -> Exact:
    """Return the loss of noise of density rate / 2 exp(-rate |x|) on a count that changes by 1."""
    largest = max(abs(abs(x) - abs(x - 1)) for x in (Fraction(i, 4) for i in range(-20, 21)))
    return rate * largest


DENSITY = Claim(
    id="pufferfish-2012/example-9.1-density",
    source="Section 9.1, Example 9.1",
    quote="would add noise with density",
    statement="Noise of density exp(-|x| / epsilon) / (2 epsilon) on a count is "
    "epsilon-differentially private.",
    read_as="The density as printed, epsilon in the place of its inverse.",
    parts=(
        counted(
            "loss of the printed density",
            EPSILONS,
            lambda item: item.number("epsilon"),
            lambda item: _rate_loss(1 / item.number("epsilon")),
            "<=",
            small="privacy",
        ),
        counted(
            "loss of density epsilon / 2 exp(-epsilon |x|)",
            EPSILONS,
            lambda item: item.number("epsilon"),
            lambda item: _rate_loss(item.number("epsilon")),
            "<=",
            small="privacy",
            amended=True,
        ),
    ),
    repaired="Density epsilon / 2 exp(-epsilon |x|), as in Example 9.2.",
    amendment="misprint",
    explanation="The scale of the noise is 1 / epsilon, and the printed density has scale "
    "epsilon: for epsilon < 1 it loses 1 / epsilon, which is more than epsilon. Example 9.2 "
    "computes with the right density.",
    proof="The density ratio at distance 1 is at most exp(epsilon).",
)

# --- Example 9.2 ---------------------------------------------------------------------------------


def _ratios(most: int) -> Iterator[Instance]:
    for students in range(1, most + 1):
        for ratio in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)):
            yield Instance(
                shape=f"{students} students",
                parameters={"students": students, "exp_of_minus_epsilon": ratio},
            )


def _odds(instance: Instance) -> Exact:
    """Whether the output n is more than exp(epsilon) times as likely if student 1 is done.

    With t = exp(-epsilon) both sides, divided by epsilon / 2, are polynomials in t.
    """
    students, t = instance.whole("students"), instance.number("exp_of_minus_epsilon")
    done = sum((t ** (students - j) for j in range(1, students + 1)), Fraction(0)) / students
    return int(done > t**students / t)


EXAMPLE_9_2 = Claim(
    id="pufferfish-2012/example-9.2",
    source="Section 9.2, Example 9.2",
    quote="does not satisfy",
    statement="In the exam queue with all states equally likely, the output n is more than "
    "exp(epsilon) times as likely if student 1 is done than if not: Laplace noise is not "
    "Pufferfish private.",
    read_as="The strict inequality as printed, for every n.",
    parts=(
        counted(
            "whether the printed inequality is right",
            family(
                "1 to 12 students, exp(-epsilon) 1/10, 1/2, 9/10, 99/100",
                lambda: _ratios(6),
                lambda: _ratios(12),
            ),
            lambda item: 1,
            _odds,
        ),
        counted(
            "the same, two students or more",
            family(
                "1 to 12 students, exp(-epsilon) 1/10, 1/2, 9/10, 99/100",
                lambda: _ratios(6),
                lambda: _ratios(12),
            ),
            lambda item: 1 if item.whole("students") > 1 else None,
            _odds,
            amended=True,
        ),
    ),
    repaired="For two students or more; for one both sides are equal.",
    amendment="condition",
    explanation="With one student D_0 and D_1 are induced neighbours and the whole story; the "
    "bound is met with equality.",
    proof="The left-hand side is a mean of n terms, the smallest of which is the right-hand side.",
    identities=(
        Identity(
            "n terms x^j, x = exp(epsilon), add up to x (x^n - 1) / (x - 1): by one more term",
            "x*(x**(n + 1) - 1)/(x - 1) - x*(x**n - 1)/(x - 1)",
            "x**(n + 1)",
            whole="n",
            real="x",
        ),
    ),
)

# --- Definition 9.2 ------------------------------------------------------------------------------


def _constraints(most: int) -> Iterator[Instance]:
    """Yield every non-empty set of possible databases over up to `most` tuples, as a bit mask."""
    for tuples in range(1, most + 1):
        for mask in range(1, 1 << (1 << tuples)):
            yield Instance(shape=f"{tuples} tuples", parameters={"tuples": tuples, "mask": mask})


def _possible(instance: Instance) -> set[int]:
    mask = instance.whole("mask")
    return {item for item in range(1 << instance.whole("tuples")) if mask >> item & 1}


def _submasks(moves: int) -> Iterator[int]:
    """Yield every subset of some moves, all of them and none included."""
    chosen = moves
    while True:
        yield chosen
        if chosen == 0:
            return
        chosen = (chosen - 1) & moves


def _word_for_word(instance: Instance) -> Exact:
    """Whether some databases are neighbours if no subset whatever may lead to a possible one."""
    possible = _possible(instance)
    return int(
        any(
            not any(one ^ part in possible for part in _submasks(one ^ two))
            for one, two in combinations(possible, 2)
        )
    )


def _proper(instance: Instance) -> Exact:
    possible = _possible(instance)

    def linked(one: int, two: int) -> bool:
        proper = (part for part in _submasks(one ^ two) if part not in {0, one ^ two})
        return not any(one ^ part in possible for part in proper)

    return int(any(linked(one, two) for one, two in combinations(possible, 2)))


def _two_possible(instance: Instance) -> Exact | None:
    return 1 if len(_possible(instance)) > 1 else None


CONSTRAINTS = family(
    "every set of possible databases over 1 to 3 tuples",
    lambda: _constraints(3),
)
DEFINITION_9_2 = Claim(
    id="pufferfish-2012/definition-9.2",
    source="Section 9.1, Definition 9.2",
    quote="No subset of",
    statement="Databases that satisfy Q are induced neighbours iff no subset of the moves between "
    "them leads to a database that satisfies Q (so that two possible databases have neighbours).",
    read_as="Word for word, the whole set of moves being a subset of itself.",
    parts=(
        counted(
            "whether there are neighbours, word for word",
            CONSTRAINTS,
            _two_possible,
            _word_for_word,
            large="privacy",
        ),
        counted(
            "whether there are neighbours, with proper non-empty subsets",
            CONSTRAINTS,
            _two_possible,
            _proper,
            amended=True,
        ),
    ),
    repaired="No proper non-empty subset of the moves.",
    amendment="misprint",
    explanation="All the moves together lead to D_b, and none of them to D_a, and both satisfy Q: "
    "word for word no two databases would ever be neighbours, and every mechanism private.",
    proof="Of all pairs of possible databases take one with the fewest moves.",
)


CLAIMS = (EXAMPLE_9_1, DENSITY, DEFINITION_9_2, EXAMPLE_9_2)
