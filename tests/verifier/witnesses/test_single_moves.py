"""Moves that no fact notices: also those that only the query tells apart."""

from __future__ import annotations

import random

from blowproof.models import (
    Between,
    Domain,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    PartitionBy,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.base.clock import now
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.witnesses.single_moves import idle_pairs


def test_a_move_between_values_that_only_the_query_tells_apart() -> None:
    """Ages in the middle of a ward are a class of their own only because they are asked for."""
    policy = Policy(
        domain=Domain(ward=Labels("pq"), age=Integers(0, 99)),
        secrets=PartitionBy(["ward"]),
        known=(Marginal(["ward"]),),
        queries=(NamedCount("some", {"ward": "q", "age": Between(40, 50)}),),
    )
    query, whole = parse_query("count(some)", policy), setting(policy)
    table = class_table(whole, tuple(query.areas(whole.domain) or ()))
    found = [
        pair
        for pair in idle_pairs(whole, "secret-moves", table, now() + 5, random.Random(1))
        if query.difference(pair.moves("secret-moves"))
    ]
    assert found
    assert all(check_pair(whole, "secret-moves", pair).holds for pair in found[:20])
