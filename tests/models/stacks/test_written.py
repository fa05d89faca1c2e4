"""Stacks as text: weights, lists of weights, several queries as one."""

from collections import defaultdict
from collections.abc import Hashable
from fractions import Fraction
from random import Random

import pytest

from blowproof.models import Domain, Exact, Integers, Labels, Move, Policy, QueryError
from blowproof.models.norms import L1, L2_SQUARED, NORMS
from blowproof.models.stacks.stacked import Stacked
from blowproof.models.stacks.written import parse_question

POLICY = Policy(domain=Domain({"age": Integers(0, 9), "pay": Integers(0, 4), "a+b": Labels("xy")}))
POINTS = list(POLICY.domain.points())
MOVE = [Move((0, 0, 0), (3, 2, 0))]


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("histogram", (2, 2, 1, 2)),
        ("sum(age,pay)", (5, 13, 3, 1)),
        ("2 * sum(age,pay)", (10, 26, 6, 2)),
        ("[1, 1/4] * sum(age,pay)", (Fraction(7, 2), 10, 3, Fraction(5, 2))),
        ("histogram + 1/4*sum(age)", (Fraction(11, 4), Fraction(17, 4), 1, 2)),
        ("sum(age) + sum(pay)", (5, 13, 3, 1)),
        ("sum(age)+histogram", (5, 11, 3, 4)),
        ('marginal("a+b") + sum(age)', (3, 9, 3, 3)),
    ],
)
def test_changes_of_a_stack(text: str, sizes: tuple[int, ...]) -> None:
    for norm, size in zip(NORMS, sizes, strict=True):
        asked = parse_question(text, POLICY, norm)
        assert asked.difference(MOVE) == size, norm
        again = parse_question(asked.name, POLICY, norm)
        assert again == asked and hash(again) == hash(asked)


@pytest.mark.parametrize(
    "text",
    [
        "1/3 * marginal(age,pay) + 1/4 * sum(age)",
        "marginal(pay)",
        "[1, 1/4] * sum(age,pay)",
        'histogram + 2/3 * marginal("a+b") + cumulative(age)',
    ],
)
def test_the_norm_of_a_stack_is_that_of_all_its_outputs(text: str) -> None:
    draw = Random(3)
    for norm in NORMS.values():
        asked = parse_question(text, POLICY, norm)
        for _ in range(30):
            some = {point: draw.choice([-2, -1, 1, 3]) for point in draw.sample(POINTS, 6)}
            rows = [(times, asked.row(point).items()) for point, times in some.items()]
            keys = {key for _, row in rows for key, _ in row}
            total = {key: sum(times * dict(row).get(key, 0) for times, row in rows) for key in keys}
            outputs = [(value, asked.weight(key)) for key, value in total.items()]
            if asked.width is not None and len(keys) < asked.width:
                outputs.append((0, 1))  # one that no record is in
            assert asked.norm(some) == norm.of(outputs), (norm, some)


def test_a_query_alone_in_l1_is_itself() -> None:
    assert not isinstance(parse_question("histogram", POLICY), Stacked)
    assert parse_question("histogram", POLICY).measure is L1
    assert parse_question("histogram", POLICY, "l2-squared").measure is L2_SQUARED


def test_several_texts_are_one_question() -> None:
    both = parse_question(["histogram", "1/4 * sum(age)"], POLICY)
    assert both == parse_question("histogram + 1/4 * sum(age)", POLICY)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0 * histogram", "the weight 0 is not above 0"),
        ("-1 * histogram", "the weight -1 is not above 0"),
        ("0.5 * histogram", "'0.5' is not of the form 'p/q'"),
        ("x * histogram", "'x' is not an exact number"),
        ("[1, 2] * sum(age)", "2 weights, but sum(age) has 1 outputs"),
        ("histogram +", "'' is not a query"),
        ("1/0 * histogram", "divides by zero"),
    ],
)
def test_what_is_no_stack_is_refused(text: str, reason: str) -> None:
    with pytest.raises(QueryError) as error:
        parse_question(text, POLICY)
    assert reason in str(error.value)
    assert "\n  try: " in str(error.value)


@pytest.mark.parametrize("text", ["ranges(age)", "1/3 * ranges(age) + cumulative(pay)"])
def test_squares_of_ranges_are_those_of_each_range(text: str) -> None:
    asked, draw = parse_question(text, POLICY, "l2-squared"), Random(7)
    for _ in range(30):
        change = {point: draw.randint(-3, 3) for point in draw.sample(POINTS, 5)}
        total: dict[Hashable, Exact] = defaultdict(int)
        for point, times in change.items():
            for output, value in asked.row(point).items():
                total[output] += times * value
        assert asked.norm(change) == sum(
            x * x * asked.weight(output) for output, x in total.items()
        )
