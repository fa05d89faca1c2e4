"""Reading 3 with two margins: against the search, cycles of small graphs, and what it refuses."""

from __future__ import annotations

import random
from itertools import product

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
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.theorems.families.two_margins import longest_cycle, two_margins

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
