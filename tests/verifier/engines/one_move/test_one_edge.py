"""Nothing known but n: the largest change along one edge of G, on domains of any size."""

import pytest

from blowproof.models import (
    AttributeChange,
    Database,
    Distance,
    Domain,
    Edges,
    Full,
    Impossible,
    Integers,
    Labels,
    PartitionBy,
    Policy,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.neighbours.check import check_pair

SMALL = Domain(a=Integers(-1, 2), b=Labels(["x", "y"]))
SECRETS = [
    Full(),
    AttributeChange(),
    PartitionBy(["b"]),
    Distance(threshold=1),
    Distance(threshold=2, attributes=["a"]),
    Distance(threshold=1, strict=True),
    Edges([({"a": -1, "b": "x"}, {"a": 2, "b": "y"})]),
]
FACTS = [(), (Impossible({"a": 0}),), (Impossible({"b": "x"}),)]
QUERIES = ["histogram", "cumulative(a)", "ranges(a)", "sum(a)", "marginal(b)", "range(a,0,1)",
           "difference(b)", "difference(b,a)"]  # fmt: skip


@pytest.mark.parametrize("secrets", SECRETS, ids=repr)
@pytest.mark.parametrize("known", FACTS, ids=["free", "some", "half"])
@pytest.mark.parametrize("size", [None, 0, 1, 3])
def test_as_brute_force_says(secrets, known, size):
    database = Database(size=size, answers=None if size is None else "given")
    policy = Policy(domain=SMALL, secrets=secrets, known=known, database=database)
    for reading in ("published", "secret-moves"):
        low, high = size_range(setting(policy), reading)
        sizes = range(low, (2 if high is None else high) + 1)
        pairs = list(brute_neighbours(setting(policy), reading, sizes=sizes, every_label=False))
        for query in QUERIES:
            found = sensitivity(policy, query, reading=reading)
            change = parse_query(query, policy).difference
            truth = max((change(pair.moves(reading)) for pair in pairs), default=0)
            assert (found.lower, found.status) == (truth, "exact")
            if size != 0:
                assert found.engine == "edges"
            if found.witness is not None:
                assert check_pair(prepare(setting(policy), reading), reading, found.witness)


@pytest.mark.parametrize(
    ("query", "answer"),
    [("histogram", 2), ("cumulative(v)", 7), ("sum(v)", 7), ("range(v,5,999999)", 1)],
)
def test_large_domains(query, answer):
    policy = Policy(domain=Domain(v=Integers(0, 10**6)), secrets=Distance(threshold=7))
    found = sensitivity(policy, query)
    assert (found.lower, found.upper, found.engine) == (answer, answer, "edges")
