"""Edges that are listed are measured in the norm of the question, not in l1."""

from __future__ import annotations

import random
from collections import OrderedDict
from fractions import Fraction
from typing import Any

import pytest

from blowproof.models import (
    AttributeChange,
    Distance,
    Domain,
    Full,
    Integers,
    Labels,
    Move,
    PartitionBy,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.norms import L1, L2_SQUARED, LINF, NORMS
from blowproof.models.stacks.combined import combined
from blowproof.models.stacks.stacked import ONE, Part, in_norm, stack
from blowproof.verifier.engines.one_move import worst_edge as engine
from blowproof.verifier.engines.one_move.by_structure import listed_change
from blowproof.verifier.engines.one_move.worst_edge import worst_edge

DOMAIN = Domain(age=Integers(0, 5), sex=Labels(["F", "M"]))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("text", ["histogram", "sum(age)", "cumulative(age)", "marginal(sex)"])
def test_edges_are_listed_in_the_norm_that_is_asked(norm, text):
    policy = Policy(domain=DOMAIN, secrets=Distance(threshold=3, attributes=["age"]))
    query = in_norm(parse_query(text, policy), norm, DOMAIN)
    edges = policy.graph.edges()
    assert listed_change(policy, query) == max(query.difference([Move(*edge)]) for edge in edges)


SECRETS: tuple[Any, ...] = (
    Full(),
    AttributeChange(changes=1),
    AttributeChange(changes=2),
    PartitionBy(["a"]),
    PartitionBy(["c"]),
    Distance(threshold=2),
    Distance(threshold=2, metric="linf"),
    Distance(threshold=2, attributes=["b"]),
)


@pytest.mark.parametrize("secrets", SECRETS)
def test_edges_on_the_axes_that_are_read_lose_all_that_any_edge_does(secrets):
    domain, rng = Domain(a=Integers(0, 2), b=Integers(0, 3), c=Labels(["x", "y"])), random.Random(0)
    policy = Policy(domain=domain, secrets=secrets)
    for text in ("marginal(a)", "marginal(b)", "cumulative(b)", "marginal(a,c)", "sum(a,b)"):
        query = parse_query(text, policy)
        outputs = query.outputs(domain)
        assert outputs is not None
        factors = [[rng.randint(-3, 3) for _ in range(outputs.count)] for _ in range(2)]
        facets = combined(query, factors, domain)
        asked = in_norm(facets, LINF, domain)
        found = worst_edge(setting(policy), [Part(facets, ONE)], LINF)
        every = [asked.difference([Move(*edge)]) for edge in policy.graph.edges()]
        assert found is not None
        assert found.loss == max(every, default=0)


def test_axes_that_are_not_read_multiply_no_edges():
    """10^6 values have 27 million edges here, of which 45 change the first attribute alone."""
    digits = [str(digit) for digit in range(10)]
    domain = Domain({name: Labels(digits) for name in "abcdef"})
    policy = Policy(domain=domain, secrets=AttributeChange(changes=1))
    facets = combined(parse_query("marginal(a)", policy), [range(10), [1, -1] * 5], domain)
    found = worst_edge(setting(policy), [Part(facets, ONE)], LINF)
    assert found is not None
    assert found.loss == 9


@pytest.mark.parametrize("norm", [L1, L2_SQUARED])
@pytest.mark.parametrize("metric", ["l1", "l2", "linf"])
@pytest.mark.parametrize("threshold", [1, 2, 3])
def test_tables_of_a_grid_are_compared_by_the_axes_that_change(threshold, metric, norm):
    """Each step counts once, however far it leads: which axes change together is all there is."""
    domain = Domain(a=Integers(0, 3), b=Integers(0, 2), c=Integers(0, 2))
    policy = Policy(domain=domain, secrets=Distance(threshold=threshold, metric=metric))
    rng = random.Random(threshold)
    for _ in range(5):
        texts = rng.sample(["marginal(a)", "marginal(b)", "marginal(a,c)", "histogram"], 3)
        parts = [Part(parse_query(text, policy), (Fraction(rng.randint(1, 9), 4),))
                 for text in texts]  # fmt: skip
        found = worst_edge(setting(policy), parts, norm)
        asked = stack(parts, norm, domain, name="tables")
        assert found is not None
        assert found.how.startswith("structure")
        assert found.loss == max(asked.difference([Move(*edge)]) for edge in policy.graph.edges())


def test_long_lists_of_edges_are_gone_through_once_and_in_no_hurry(monkeypatch):
    """Sums of a table's cells: all edges have to be listed, and FEW_EDGES of them at once."""
    domain = Domain(a=Integers(0, 3), b=Integers(0, 3))
    policy = Policy(domain=domain, secrets=Distance(threshold=2))
    calls: list[int] = []
    kept = engine._listed

    def listed(*args, limit):
        calls.append(limit)
        return kept(*args, limit=limit)

    monkeypatch.setattr(engine, "FEW_EDGES", 20)
    monkeypatch.setattr(engine, "_listed", listed)
    monkeypatch.setattr(engine, "_LISTED", OrderedDict())

    def asked(times: int, *, hurried: bool = False):
        facets = combined(
            parse_query("marginal(a,b)", policy), [range(0, 16 * times, times)], domain
        )
        return worst_edge(setting(policy), [Part(facets, ONE)], LINF, hurried=hurried)

    assert asked(1, hurried=True) is None
    assert calls == [20]
    found = asked(1)
    assert found is not None
    assert found.loss == 8  # two rows of the table further on
    assert asked(1) == found
    assert calls == [20, 20, 300_000, 20]
    assert asked(3).loss == 24
