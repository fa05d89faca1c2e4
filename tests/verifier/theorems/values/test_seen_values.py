"""Values that show a query's rows, in classes of a table that was made of other facts."""

from __future__ import annotations

from blowproof.models import (
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.reductions.fewer_facts import freed
from blowproof.verifier.theorems.values.seen_values import seen_values


def test_each_class_has_values_of_its_own_where_the_table_knows_a_bound_more() -> None:
    policy = Policy(
        domain=Domain(region=Labels("abc"), cost=Integers(0, 9)),
        known=(
            Marginal(("region",), answers=[4, 3, 2]),
            Count({"cost": 9}, at_most=2),
        ),
        database=Database(size=9),
        queries=(NamedCount("large", {"region": ["a", "b"], "cost": [5, 6, 7, 8, 9]}),),
    )
    found = setting(policy)
    table = class_table(found)
    values = seen_values(freed(found), parse_query("count(large)", policy), table)
    assert values is not None
    for item, points in zip(table.classes, values, strict=True):
        assert points
        assert all(any(point in box for box in item.boxes()) for point in points)
