"""What engines tell while they work: bounds and pairs of the question that was asked, no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from blowproof.models import (
    READINGS,
    BudgetError,
    Clause,
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Literal,
    Marginal,
    PartitionCells,
    Policy,
    Reading,
    UndeterminedError,
    setting,
)
from blowproof.verifier.ask import Progress, sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.neighbours.check import check_pair
from refusals import answered, refuse
from strategies import policies, query_texts


def _told(policy: Policy, text: str, reading: Reading, seconds: float = 5) -> list[Progress]:
    heard: list[Progress] = []
    answer = sensitivity(policy, text, reading=reading, time_limit=seconds, listener=heard.append)
    return [*heard, Progress(answer.lower, answer.upper, "the answer", answer.witness)]


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@effort(max_examples=40)
def test_what_is_told_on_the_way_is_true(reading: Reading, data: st.DataObject) -> None:
    policy = data.draw(policies(max_values=5, max_records=3, scope="given"))
    text = data.draw(st.sampled_from(query_texts(policy)))
    try:
        listed = sensitivity(policy, text, reading=reading, engine="brute", max_size=3)
    except (BudgetError, UndeterminedError) as error:
        refuse(error)
    answered(listed.status == "exact", "bounds")
    found = prepare(setting(policy), reading)
    for told in _told(policy, text, reading):
        assert told.lower <= listed.lower, told.what
        assert told.upper is None or told.upper >= listed.lower, told.what
        if told.witness is not None:
            assert check_pair(found, reading, told.witness).minimality != "refuted", told.what
            assert not check_pair(found, reading, told.witness).reason.startswith(("D1", "known"))


def test_a_policy_without_its_clauses_is_another_one() -> None:
    """Clauses tie all records to one value of `a`; without them single records move, and S is 2."""
    domain = Domain(a=Labels(["u", "v"]), b=Integers(0, 1))
    n = 6
    same = [
        Clause([Literal(one, {"a": "u"}), Literal(two, {"a": "v"})])
        for one, two in [*((k, k + 1) for k in range(1, n)), (n, 1)]
    ]
    bound = Count({"b": 0}, at_least=1)
    policy = Policy(domain=domain, known=(*same, bound), database=Database(size=n))
    for reading in ("published", "add-remove"):
        for told in _told(policy, "marginal(a)", reading):
            assert told.lower <= 2 * n
            assert told.upper is None or told.upper >= 2 * n


def test_bounds_that_were_told_are_kept() -> None:
    first = Progress(4, 9, "first")
    assert Progress(2, 6, "second").after(first) == Progress(4, 6, "second")
    assert Progress(5, None, "third").after(first) == Progress(5, 9, "third")


def test_who_decided_is_told_with_the_bounds_that_are_kept() -> None:
    """A question that was cut off had bounds, and nobody who said so."""
    below, above = ("lower", "search", "a pair"), ("upper", "ceiling", "few records")
    first = Progress(4, 9, "first", decided_by=(below, above))
    less = ("upper", "parts", "fewer")
    both = ("lower", "sat", "a worse pair"), less
    assert Progress(2, 6, "second", decided_by=both).after(first).decided_by == (below, less)
    policy = Policy(domain=Domain(a=Labels("xyz"), b=Labels("pqr")), known=(Marginal(["a"]),))
    told = _told(policy, "histogram", "published")
    assert told[-2].upper == 6  # the last one is the answer
    assert [end for end, _, _ in told[-2].decided_by] == ["lower", "upper"]


def test_a_record_may_have_several_literals_in_a_clause() -> None:
    """Taken back, the reply leaves the clause true by the same record's other literal."""
    one = [Literal(2, {"a": [0, 3, 4]}, inside=False), Literal(1, {"a": 2}), Literal(2, {"a": 4})]
    always = [Literal(2, {}), Literal(1, {"a": 1})]
    policy = Policy(
        domain=Domain(a=Integers(0, 4)),
        secrets=PartitionCells([{"a": 0}, {"a": [1, 2, 3, 4]}]),
        known=(Clause(one), Clause(always)),
        database=Database(size=3),
    )
    listed = sensitivity(policy, engine="brute")
    found = sensitivity(policy, time_limit=20)
    assert found.lower <= listed.lower
    assert found.upper is None or found.upper >= listed.lower
