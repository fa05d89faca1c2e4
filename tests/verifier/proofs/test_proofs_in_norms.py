"""Kinds `branching` and `merged` in every norm: against brute force, and forged."""

import random
import time
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from test_branching_proofs import LITTLE, STEPS, accepted, attempt, kernel_world, mutants, questions
from test_branching_proofs import Question as Asked
from test_kernel_merged import changed, entangled

from blowproof.models import (
    AttributeChange,
    Between,
    BlowproofError,
    BoundQuery,
    Clause,
    Count,
    Database,
    Domain,
    Exact,
    Integers,
    Labels,
    Literal,
    Marginal,
    Policy,
    Reading,
    setting,
)
from blowproof.models.norms import NORMS
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import certified
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.brute import brute_sensitivity
from blowproof.verifier.kernel.check import FAULTS, upper_bound, world_of
from blowproof.verifier.kernel.document import Budget, Rejected, Unreadable
from blowproof.verifier.kernel.goal import Goal
from blowproof.verifier.kernel.measure import Measure
from blowproof.verifier.kernel.proofs.branching import Problem, problem_of
from blowproof.verifier.proofs.merged import merged_proofs

OTHERS = [name for name in NORMS if name != "l1"]


def problem_in(policy: Policy, text: str, reading: Reading, value: Exact, norm: str) -> Problem:
    """The kernel's problem of a pair whose change is larger than a value in a norm."""
    return problem_of(kernel_world(policy, parse_question(text, policy, norm), reading), value)


def by_brute_force(policy: Policy, text: str, reading: Reading, norm: str) -> Exact:
    prepared = prepare(setting(policy, "given"), reading)
    assert prepared.size is not None
    query, sizes = parse_question(text, policy, norm), [prepared.size]
    return brute_sensitivity(prepared, query, reading, sizes=sizes, complete=True).lower


@st.composite
def attacked(draw: st.DrawFn) -> tuple[Asked, str, list[dict[str, Any]]]:
    """A question, a norm, a proof of its value there, and what was forged from that."""
    question, norm = draw(questions(max_values=4)), draw(st.sampled_from(OTHERS))
    prepared = prepare(setting(question.policy, "given"), question.reading)
    assume(prepared.size is not None)
    asked = question.policy, question.query, question.reading
    value = by_brute_force(*asked, norm)
    found = attempt(problem_in(*asked, value, norm))
    assert found.proof is not None, found.reason
    proofs = [found.proof, *mutants(draw, found.proof)]
    return replace(question, value=value), norm, proofs


@settings(max_examples=25)
@given(attacked())
def test_cases_prove_the_value_in_every_norm_and_nothing_below(
    case: tuple[Asked, str, list[dict[str, Any]]],
) -> None:
    question, norm, proofs = case
    if question.value > 0:
        value = question.value - LITTLE
        below = problem_in(question.policy, question.query, question.reading, value, norm)
        assert attempt(below).proof is None
        for forged in proofs:
            assert not accepted(below, forged)


AGES = Domain(sex=Labels(["F", "M"]), age=Integers(0, 3))
BOUNDED = Policy(
    domain=AGES,
    secrets=AttributeChange(),
    known=(Count({"sex": "F"}, answer=1), Count({"age": Between(0, 1)}, at_least=1)),
    database=Database(size=4),
)
PLAIN = Policy(domain=AGES, secrets=AttributeChange(), known=(Marginal(["sex"]),))
CLAUSES = Policy(
    domain=AGES,
    secrets=AttributeChange(),
    known=(
        Clause([Literal(1, {"sex": "F"}), Literal(2, {"sex": "F"})]),
        Count({"sex": "F"}, answer=2),
    ),
    database=Database(size=4),
)
PROVED = [
    (BOUNDED, "histogram", "l2-squared", "branching", 8),
    (BOUNDED, "histogram", "range", "branching", 3),
    (BOUNDED, "marginal(age)", "linf", "branching", 2),
    (PLAIN, "sum(age)+1/3*marginal(sex)", "l2-squared", "branching", 9),
    (CLAUSES, "histogram", "l2-squared", "merged", 4),
    (CLAUSES, "histogram", "linf", "merged", 1),
    (CLAUSES, "histogram", "range", "merged", 2),
]


@pytest.mark.parametrize(("policy", "query", "norm", "kind", "value"), PROVED)
def test_questions_that_only_these_kinds_prove(
    policy: Policy, query: str, norm: str, kind: str, value: int
) -> None:
    """They were `exact`: both kinds of proof knew l1 alone."""
    answer, found = certified(policy, query, norm=norm)
    assert (answer.lower, answer.status, found.kind) == (value, "proved", kind), found.reason
    assert found.document is not None
    world, _ = world_of(found.document, Budget())
    with pytest.raises(Rejected):
        upper_bound(world, found.document["proof"], value - LITTLE)


@pytest.mark.parametrize(
    ("nodes", "norm"),
    [
        ([["sign", 0], ["leaf", [[-1, 1]]]], "l2-squared"),  # what is told of a sign is no end
        ([["between", 0, 1], ["leaf", [[-1, 1]]]], "l1"),
        ([["reach"], ["leaf", [[-1, 1]]]], "l2-squared"),
        ([["leaf", [[-1, 1]]]], "l2-squared"),  # squares of outputs that may be any
        ([["leaf", [[-1, 1]]]], "linf"),
        ([["between", -1, 0]], "l2-squared"),
        ([["between", 99, 0]], "l2-squared"),
        ([["between", 0, True]], "l2-squared"),
        ([["between", 0]], "l2-squared"),
    ],
)
def test_goals_that_a_norm_does_not_have(nodes: list[Any], norm: str) -> None:
    problem = problem_in(BOUNDED, "histogram", "published", 1, norm)
    assert not accepted(problem, {"groups": [], "cuts": [], "nodes": nodes})


def goal(norm: str, least: int, width: int | None = None) -> Goal:
    """Two outputs: x0 = u - d of variables 0 and 1, x1 twice variable 2."""
    outputs: dict[Hashable, list[tuple[int, int]]] = {"a": [(0, 1), (1, -1)], "b": [(2, 2)]}
    weights: dict[Hashable, int] = {"a": 3, "b": 1}
    return Goal(Measure(norm, width, weights.__getitem__), outputs, least, Budget(STEPS))


@given(
    st.lists(st.integers(-6, 6), min_size=4, max_size=4),
    st.lists(st.integers(0, 5), min_size=3, max_size=3),
)
def test_the_row_of_squares_is_never_below_them(ends: list[int], variables: list[int]) -> None:
    asked = goal("l2-squared", 0)
    one, two = sorted(ends[:2]), sorted(ends[2:])
    u, d, b = variables
    if not (one[0] <= u - d <= one[1] and two[0] <= 2 * b <= two[1]):
        return
    terms, least = asked.row(((0, *one), (1, *two)))
    assert sum(times * variables[v] for v, times in terms) - least >= 3 * (u - d) ** 2 + 4 * b * b


def test_cases_of_outputs_leave_nothing_out() -> None:
    asked = goal("l2-squared", 5)
    (low, below), (high, above) = asked.of((), "between", 0, 2)
    assert (low, high) == ([(((0, -1), (1, 1)), -2)], [(((0, 1), (1, -1)), 3)])
    assert (below, above) == (((0, None, 2),), ((0, 3, None),))
    (_, told), _ = asked.of(above, "between", 0, 1)  # an end that is known is not lost
    assert told[-1] == (0, 3, 1)
    for norm, width, cases in (("linf", None, 4), ("range", None, 6), ("range", 2, 2)):
        assert len(goal(norm, 5, width).of((), "reach")) == cases


def test_clauses_are_proved_in_every_norm_and_nothing_below_is() -> None:
    """What the records of clauses change is added up in lengths, and forged proofs are refused."""
    proved = set()
    for place in range(18):
        rng = random.Random(f"norms {place}")
        policy, norm = entangled(rng), OTHERS[place % 3]
        reading: Reading = rng.choice(("published", "secret-moves"))
        query = parse_question("histogram", policy, norm)
        with suppress(BlowproofError, Rejected):
            value = by_brute_force(policy, "histogram", reading, norm)
            for claim in {value, Fraction(value) / 2}:
                world = kernel_world(policy, query, reading)
                for proof in merged_proofs(world, claim, time.monotonic() + 60):
                    for tried in (proof, *(changed(proof, rng) for _ in range(4))):
                        if refuted(policy, query, reading, tried, claim):
                            assert claim >= value, (policy, reading, norm, claim, value)
                            proved |= {norm} if tried is proof else set()
    assert proved == set(OTHERS)


def refuted(
    policy: Policy, query: BoundQuery, reading: Reading, proof: dict[str, Any], claim: Exact
) -> bool:
    """Whether the kernel accepts that nothing is above the claim."""
    try:
        upper_bound(kernel_world(policy, query, reading), proof, claim)
    except (Rejected, Unreadable, *FAULTS):
        return False
    return True
