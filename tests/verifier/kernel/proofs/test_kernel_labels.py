"""Kind `beside`, by what a query sees of cells and labels: never below S, proved where exact."""

from __future__ import annotations

import random
from typing import Any

import pytest

from asked import resigned
from blowproof.models import (
    Count,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    setting,
)
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import certified, sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.kernel import check
from blowproof.verifier.kernel.check import world_of
from blowproof.verifier.kernel.document import Budget, Rejected
from blowproof.verifier.kernel.proofs.lengths import beside, squares
from blowproof.verifier.proofs.claim import claim_of
from blowproof.verifier.theorems.lengths.label_changes import most_label_squares
from blowproof.verifier.theorems.values.squares_beside import (
    exchanged_squares,
    squares_of_sides,
)


def table(cells: int, counted: int = 1, others: int = 2) -> Policy:
    """Two margins; how many of a label are in the first cells is asked."""
    domain = Domain(
        a=Integers(0, cells - 1), b=Labels(["F", "M"]), c=Labels(["u", "v", "w"][:others])
    )
    asked = NamedCount("some", {"a": list(range(counted)), "b": "F"})
    return Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])), queries=(asked,))


def test_the_kernel_adds_up_what_the_theorems_do() -> None:
    budget = Budget()
    for count in (*range(1, 30), 51):
        assert squares.relabelled(count, budget) == most_label_squares(count)
        assert squares.exchanged(count, budget) == exchanged_squares(count)
        for moves in (1, count, count**2 // 3, (count + 1) ** 2 // 2):
            assert squares.sided(count, moves, Budget()) == squares_of_sides(count, moves)


def test_of_many_cells_less_is_said() -> None:
    """More than are tried: no class exchanges more than N + 1 records, nor all in more moves."""
    count, budget = squares.TRIED + 1, Budget(1)
    assert squares.relabelled(count, budget) == squares.exchanged(count, budget)
    assert squares.exchanged(count, budget) == (count + 1) * ((count + 1) ** 2 // 2)


QUERIES = (
    *("marginal(a,b)", "marginal(b,c)", "marginal(a,c)", "marginal(b)", "count(some)"),
    *("histogram+2*marginal(b)", "count(some)+marginal(b)", "marginal(a,b)+marginal(c)"),
)


def drawn(rng: random.Random) -> Policy:
    """A table of which some cells lack a label, and a count of some of them."""
    cells = rng.randint(1, 3)
    policy = table(cells, rng.randint(1, cells), rng.randint(1, 2))
    known: list[Any] = [Marginal(["a"])]
    where = [{"a": k, "b": rng.choice("FM")} for k in range(cells)]
    known.append(Count(where) if rng.random() < 0.6 else Marginal(["b"]))
    if rng.random() < 0.4:
        known.append(Impossible({"a": rng.randrange(cells), "b": "F"}))
    return Policy(domain=policy.domain, known=tuple(known), queries=policy.queries)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("norm", ["l1", "l2-squared"])
def test_no_bound_is_below_what_the_search_finds(seed: int, norm: str) -> None:
    rng = random.Random(f"{norm} {seed}")
    spoken = 0
    for text in QUERIES:
        policy = drawn(rng)
        query = parse_question(text, policy, norm)
        answer = sensitivity(policy, query, engine="search", time_limit=0.3)
        if answer.status == "bounds":
            continue
        found = prepare(setting(policy), "published")
        world = world_of(claim_of(policy, query, answer, found), Budget())[0]
        every = range(len(world.equalities))
        cells = policy.domain.attributes[0][1].size
        for label in (k for k in every if k >= cells):
            try:
                scale, most = beside.bound(world, list(range(cells)), [label], [])
            except Rejected:
                continue
            spoken += 1
            assert most >= world.measure.unit(scale) * answer.lower, (policy, text)
    assert spoken


EXACT = [
    (table(51), "marginal(a,b)", "l2-squared", 78_540),
    (table(12), "marginal(a,c)", "l2-squared", 1_344),
    (table(51), "marginal(b,c)", "l2-squared", 1_870_082),
    (table(12, 4), "count(some)", "l1", 32),
    (table(12, 4), "count(some)", "l2-squared", 32**2),
]


@pytest.mark.parametrize(("policy", "query", "norm", "value"), EXACT)
def test_what_is_exact_is_proved_and_nothing_less(
    policy: Policy, query: str, norm: str, value: int
) -> None:
    answer, found = certified(policy, query, norm=norm, time_limit=10)
    assert (answer.lower, answer.status, found.kind) == (value, "proved", "beside"), found.reason
    assert found.document is not None
    above = {**found.document, "witness": None, "at_least": 0}
    assert check(above).accepted
    assert not check({**above, "value": value - 1}).accepted


def above(policy: Policy, query: str, norm: str = "l2-squared") -> dict[str, Any]:
    found = certified(policy, query, norm=norm, time_limit=10)[1].document
    assert found is not None
    return {**found, "witness": None, "at_least": 0}


@pytest.mark.parametrize(
    ("norm", "query", "forged"),
    [
        ("l2-squared", "marginal(a,b)", ["a", "c"]),  # it tells values of one label apart
        ("l2-squared", "marginal(a,c)", ["c"]),  # an output of two cells
        ("l2-squared", "marginal(a,c)", ["b", "c"]),
        ("l1", "marginal(a,b)", ["a", "c"]),
        ("l1", "marginal(a,b)", ["a", "b", "c"]),
    ],
)
def test_the_bound_of_a_query_that_sees_less_is_refused(
    norm: str, query: str, forged: list[str]
) -> None:
    """Each of these queries changes by more than the one that was proved."""
    document = above(table(12), query, norm)
    other = resigned({**document, "query": {"kind": "marginal", "arguments": forged}})
    told = check(other)
    assert not told.accepted and "more than the value" in told.reason


def test_a_fact_that_is_wider_is_not_spoken_of() -> None:
    document = above(table(12, 4), "count(some)", "l1")
    assert check(document).accepted
    first, _ = document["policy"]["known"]
    wide = {
        "sum": [{"times": 2, "count": {"b": "F"}}, {"times": 1, "count": {"c": "u"}}],
    }
    other = resigned({**document, "policy": {**document["policy"], "known": [first, wide]}})
    told = check(other)
    assert not told.accepted and "more than the value" in told.reason
