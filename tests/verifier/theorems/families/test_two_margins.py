"""Reading 3 with two margins: against the search, cycles of small graphs, and what it refuses."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product
from math import inf

import networkx as nx
import pytest

from blowproof.models import (
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.base.clock import Budget
from blowproof.verifier import plan
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.names import BEYOND
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.portfolio.strategy import Strategy
from blowproof.verifier.theorems.families.two_margins import (
    _by_classes,
    longest_cycle,
    two_margins,
    two_tables,
)

QUERIES = ("histogram", "marginal(a,b)", "marginal(c)", "marginal(b,c)", "sum(b)", "cumulative(b)")


def asked(policy: Policy, text: str) -> Question:
    return Question(prepare(setting(policy), "add-remove"), parse_query(text, policy), "add-remove")


def some_policy(rng: random.Random) -> Policy:
    sizes = {name: rng.randint(1, 3) for name in "abc"}
    domain = Domain(
        a=Labels([f"a{k}" for k in range(sizes["a"])]),
        b=Integers(0, sizes["b"]),
        c=Labels([f"c{k}" for k in range(sizes["c"])]),
    )
    tables = rng.choice([(["a"], ["b"]), (["a", "b"], ["b", "c"]), (["a", "b"], ["a", "c"])])
    known = [Marginal(list(names)) for names in tables]
    zeros = [
        Impossible({"a": f"a{rng.randrange(sizes['a'])}", "b": rng.randrange(sizes["b"] + 1)})
        for _ in range(rng.choice([0, 0, 1, 2]))
    ]
    return Policy(domain=domain, known=(*known, *zeros))


@pytest.mark.parametrize("seed", range(30))
def test_random_tables_against_the_search(seed: int) -> None:
    rng = random.Random(seed)
    policy = some_policy(rng)
    text = rng.choice(QUERIES)
    question = asked(policy, text)
    found = two_margins(question)
    if found is None:  # one table says all that is known
        return
    truth = sensitivity(policy, text, reading="add-remove", engine="search")
    assert truth.status != "bounds" and truth.upper is not None and found.upper is not None
    assert found.lower <= truth.upper <= found.upper
    if found.witness is not None:
        assert question.query.difference(found.witness.moves("add-remove")) == found.lower
        assert check_pair(question.setting, "add-remove", found.witness)
    if text == "histogram" and not any(isinstance(fact, Impossible) for fact in policy.known):
        assert found.upper == truth.upper


@pytest.mark.parametrize("seed", range(20))
def test_cycles_are_no_longer_than_said(seed: int) -> None:
    rng = random.Random(seed)
    every = list(product(range(rng.randint(1, 4)), range(rng.randint(1, 4))))
    edges = rng.sample(every, rng.randint(1, len(every)))
    graph = nx.Graph([(f"r{r}", f"c{c}") for r, c in edges])
    longest = max((len(cycle) for cycle in nx.simple_cycles(graph)), default=0) // 2
    found = longest_cycle(edges)
    assert found.half >= longest
    if found.edges:
        assert found.half == longest
        assert len(set(found.edges)) == 2 * longest and set(found.edges) <= set(edges)
    if not longest:
        assert found.half == 0


def test_a_school_is_answered_at_once() -> None:
    school = Policy(
        domain=Domain(
            district=Labels([f"d{k}" for k in range(6)]),
            grade=Integers(0, 12),
            lunch=Labels(["free", "reduced", "paid"]),
            learner=Labels(["yes", "no"]),
        ),
        known=(Marginal(["district", "grade"]), Marginal(["district", "lunch"])),
    )
    for text in ("histogram", "marginal(grade,lunch)", "marginal(learner)"):
        found = two_margins(asked(school, text))
        assert found is not None and (found.lower, found.upper) == (6, 6), text


def test_n_counts_where_it_is_known() -> None:
    """Two counts and n: the rest is a class of its own, which n makes independent."""
    domain = Domain(a=Labels(["x", "y", "z"]), b=Labels(["p", "q", "r"]))
    counts = tuple(Count({axis: label}) for axis, label in ("ax", "ay", "bp", "bq"))
    with_n = Policy(domain=domain, known=counts, database=Database(size=12, answers="any"))
    truth = sensitivity(with_n, reading="add-remove", engine="search")
    found = two_margins(asked(with_n, "histogram"))
    assert found is not None and (found.lower, found.upper) == (6, 6)
    assert (truth.lower, truth.upper) == (6, 6)
    # without n, a record of the rest comes alone
    assert two_margins(asked(Policy(domain=domain, known=counts), "histogram")) is None


@pytest.mark.parametrize("seed", range(40))
def test_whole_tables_are_known_as_they_are_written(seed: int) -> None:
    """By the facts alone, as by a table of all classes; facts that follow may be missing."""
    rng = random.Random(seed)
    policy = some_policy(rng)
    known = tuple(fact for fact in policy.known if isinstance(fact, Marginal))
    by_classes = _by_classes(setting(replace(policy, known=known)), inf)
    whole = setting(replace(policy, known=rng.choice([known, (*known, Count({}))])))
    left = list(whole.equalities)
    left.pop(rng.randrange(len(left)))
    for facts in (whole.equalities, left):
        found = two_tables(replace(whole, equalities=tuple(facts)))
        if by_classes is None:  # one table is part of the other: a record goes for another
            assert found is None or (found.half < 2 and not found.points)
        elif found is not None:
            assert (found.half, len(found.points)) == (by_classes.half, len(by_classes.points))


def test_other_facts_are_no_two_whole_tables() -> None:
    domain = Domain({name: Labels(["x", "y", "z"]) for name in "abc"})
    tables = (Marginal(["a", "b"]), Marginal(["b", "c"]))
    whole = setting(Policy(domain=domain, known=tables))
    assert two_tables(whole) is not None
    for more in (Count({"a": "x"}), Count({"a": ["x", "y"]}), Impossible({"a": "x"})):
        assert two_tables(setting(Policy(domain=domain, known=(*tables, more)))) is None
    first, *others = whole.equalities
    alike = next(fact for fact in others if fact.terms[0][1].boxes[0].sides[1].nth(0) == 0)
    assert two_tables(replace(whole, equalities=tuple(others))) is not None
    rest = tuple(fact for fact in others if fact != alike)
    assert two_tables(replace(whole, equalities=rest)) is None
    assert two_tables(replace(whole, equalities=(*rest, first, alike))) is not None


def large() -> Policy:
    """Two tables of 8,000 and 12,000 cells."""
    sizes = {"a": 40, "b": 200, "c": 60, "d": 3, "e": 3}
    domain = Domain({name: Integers(1, size) for name, size in sizes.items()})
    return Policy(domain=domain, known=(Marginal(["a", "b"]), Marginal(["b", "c"])))


def test_two_tables_of_thousands_of_cells_are_exact() -> None:
    """Their classes, of which there are 480,000, took all the time, and nothing bounded S."""
    policy = large()
    with Budget():
        found = sensitivity(policy, "histogram", reading="add-remove")
    assert (found.lower, found.upper) == (80, 80)
    assert found.witness is not None and len(found.witness.before) == 40


def test_what_is_known_to_be_finite_is_said_where_nothing_else_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was refused, for want of time to find the classes of values."""
    nobody = Strategy("few classes", "witness", "finds nothing", lambda question: None)
    monkeypatch.setattr(plan, "LAST", nobody)
    found = sensitivity(large(), "marginal(a,c)", reading="published", time_limit=0.001)
    assert (found.lower, found.upper) == (0, None)
    assert any(note.startswith(BEYOND) for note in found.notes)
