"""Edges that are listed are measured in the norm of the question, not in l1."""

from __future__ import annotations

import pytest

from blowproof.models import Distance, Domain, Integers, Labels, Move, Policy, parse_query
from blowproof.models.norms import NORMS
from blowproof.models.stacks.stacked import in_norm
from blowproof.verifier.engines.one_move.by_structure import listed_change

DOMAIN = Domain(age=Integers(0, 5), sex=Labels(["F", "M"]))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("text", ["histogram", "sum(age)", "cumulative(age)", "marginal(sex)"])
def test_edges_are_listed_in_the_norm_that_is_asked(norm, text):
    policy = Policy(domain=DOMAIN, secrets=Distance(threshold=3, attributes=["age"]))
    query = in_norm(parse_query(text, policy), norm, DOMAIN)
    edges = policy.graph.edges()
    assert listed_change(policy, query) == max(query.difference([Move(*edge)]) for edge in edges)
