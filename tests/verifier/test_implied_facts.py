"""An implied fact changes neither S nor, by much, the work: whatever is written beside it."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from blowproof.models import Between, Count, Domain, Integers, Known, Labels, Marginal, Policy
from blowproof.models.base.clock import Budget
from blowproof.verifier.ask import sensitivity

WORK = 3.0
"""Seconds of work that each question has; a question that is settled needs a part of it."""

TABLES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("a",),),
    (("a", "b"),),
    (("b",), ("c",)),
    (("a", "b"), ("a", "c")),
    (("a",), ("c",)),
)
QUERIES = ("histogram", "marginal(c)", "cumulative(b)", "marginal(a,b)")
DOMAIN = Domain(a=Labels(["p", "q", "r"]), b=Integers(0, 3), c=Labels(["u", "v"]))


def implied(rng: random.Random, tables: tuple[tuple[str, ...], ...]) -> list[Known]:
    """Return facts that follow: n, a coarser table, a union of cells, a fact written twice."""
    table = rng.choice(tables)
    axis = rng.choice(table)
    union: dict[str, object] = {"a": ["p", "q"], "b": Between(1, 3), "c": "u"}
    found: list[Known] = [
        Count({}),
        Marginal([axis]),
        Marginal(list(table)),
        Count({axis: union[axis]}),
    ]
    return rng.sample(found, rng.randint(1, len(found)))


@pytest.mark.parametrize("seed", range(10))
def test_implied_facts_change_nothing(seed: int) -> None:
    rng = random.Random(seed)
    tables = TABLES[seed % len(TABLES)]
    known: list[Known] = [Marginal(list(table)) for table in tables]
    written = [*known, *implied(rng, tables)]
    rng.shuffle(written)
    query = rng.choice(QUERIES)
    policy = Policy(domain=DOMAIN, known=tuple(known))
    used = []
    answers = []
    for asked in (policy, replace(policy, known=tuple(written))):
        with Budget() as budget:
            answers.append(sensitivity(asked, query, time_limit=WORK))
        used.append(budget.used)
    one, two = answers
    assert (one.status, one.lower, one.upper) == (two.status, two.lower, two.upper)
    assert used[1] <= 3 * used[0] + 0.5
