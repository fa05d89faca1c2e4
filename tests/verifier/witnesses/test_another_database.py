"""Two databases with the known numbers: what they differ in, against all databases."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, product

import pytest

from blowproof.models import (
    AttributeChange,
    Count,
    Database,
    Domain,
    Exact,
    Integers,
    Marginal,
    Policy,
    Reading,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Progress, Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.witnesses.frames.another_database import (
    another_database,
    no_other_database,
)


def told(policy: Policy, text: str, reading: Reading) -> Exact:
    """The best pair that is told, which is one by the checker; 0: none."""
    query, found = parse_query(text, policy), [Progress(0, None, "")]
    question = Question(setting(policy), query, reading, listener=found.append)
    assert not no_other_database(question)
    assert another_database(question) is None
    prepared = prepare(question.setting, reading)
    for progress in found[1:]:
        assert progress.witness is not None
        assert check_pair(prepared, reading, progress.witness)
        assert query.difference(progress.witness.moves(reading)) == progress.lower > 0
    return max(progress.lower for progress in found)


def printed(sides: tuple[int, ...], size: int, of: int, seed: int) -> Policy:
    """All margins of so many sides of a table that was drawn."""
    rng, names = random.Random(seed), "abc"[: len(sides)]
    records = [tuple(rng.randrange(side) for side in sides) for _ in range(size)]
    known = []
    for axes in combinations(range(len(sides)), of):
        held = Counter(tuple(record[axis] for axis in axes) for record in records)
        cells = product(*(range(sides[axis]) for axis in axes))
        known.append(Marginal([names[axis] for axis in axes], answers=[held[c] for c in cells]))
    domain = Domain({name: Integers(0, side - 1) for name, side in zip(names, sides, strict=True)})
    return Policy(domain=domain, known=tuple(known), database=Database(size=size))


@pytest.mark.parametrize("reading", ["published", "add-remove"])
@pytest.mark.parametrize("seed", range(6))
def test_no_more_than_all_databases_tell(seed: int, reading: Reading) -> None:
    """Something is found where there is something: each pair of a few records."""
    sides, size, of = [((2, 3), 4, 1), ((2, 2, 2), 4, 1), ((2, 2, 2), 6, 2)][seed % 3]
    policy = printed(sides, size, of, seed)
    for text in ("histogram", "range(b,0,0)", "sum(a)"):
        exact = sensitivity(policy, text, reading=reading)
        found = told(policy, text, reading)
        assert exact.status in ("exact", "proved") and found <= exact.lower
        assert (found > 0) == (exact.lower > 0) or text == "sum(a)"


@pytest.mark.parametrize(("seed", "least"), [(1, 8), (2, 8)])
def test_printed_margins_of_three_ways_have_pairs(seed: int, least: int) -> None:
    assert told(printed((3, 3, 3), 30, 2, seed), "histogram", "published") >= least


def test_questions_that_it_is_not_for() -> None:
    policy = printed((2, 2), 4, 1, 0)
    count = (Count({"a": 0}, at_least=1),)
    free = Policy(domain=policy.domain, known=(Marginal(["a"]),))
    bounded = Policy(domain=policy.domain, known=count, database=Database(size=4))
    single = Policy(
        domain=policy.domain,
        known=policy.known,
        database=policy.database,
        secrets=AttributeChange(),
    )
    cases = ((free, "known numbers"), (bounded, "equality"), (single, "secret"))
    for each, why in cases:
        query = parse_query("histogram", each)
        assert why in no_other_database(Question(setting(each), query, "published"))
