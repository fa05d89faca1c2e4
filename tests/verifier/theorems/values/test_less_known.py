"""What facts say of a query counts for nothing: against all neighbour pairs of random policies."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st

from blowproof.models import (
    BlowproofError,
    Count,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    Reading,
    parse_query,
    setting,
)
from blowproof.verifier.ask import neighbours, sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.theorems.most_moves import largest_move
from blowproof.verifier.theorems.values.less_known import change_less_facts
from refusals import answered, refuse
from strategies import policies, query_texts

READINGS: tuple[Reading, ...] = ("published", "secret-moves", "pufferfish")


@given(st.data())
@effort(max_examples=40)
def test_no_pair_changes_more_than_its_moves_do(data: st.DataObject) -> None:
    policy = data.draw(policies(max_values=5, max_records=3, scope="given"))
    text = data.draw(st.sampled_from(query_texts(policy)))
    reading = data.draw(st.sampled_from(READINGS))
    try:
        query = parse_query(text, policy)
        found = prepare(setting(policy), reading)
        change = change_less_facts(found, query)
        pairs = [*neighbours(policy, reading=reading, engine="brute")]
    except BlowproofError as error:
        refuse(error)
    answered(change is not None, "changes")
    if change is None:
        return
    for pair in pairs:
        assert query.difference(pair.moves(reading)) <= change * len(pair.before)


BANDS = tuple(Count({"pay": list(range(low, low + 10))}) for low in range(0, 90, 10))


@pytest.mark.parametrize(
    ("text", "change"), [("sum(pay)", 9), ("cumulative(pay)", 90), ("range(pay,0,49)", 0)]
)
def test_a_sum_beside_bands_changes_by_the_width_of_a_band(text: str, change: int) -> None:
    """Of the cumulative counts the ten at ends of bands are known."""
    policy = Policy(domain=Domain(pay=Integers(0, 99)), known=BANDS)
    found = setting(policy)
    query = parse_query(text, policy)
    wide = {"sum(pay)": 99, "cumulative(pay)": 99, "range(pay,0,49)": 1}
    assert query.one_move(policy.domain) == wide[text]
    if text == "cumulative(pay)":
        assert change_less_facts(found, query) is None  # too many outputs: their whole range
    else:
        assert change_less_facts(found, query) == change


def test_few_cumulative_counts_are_less_those_that_are_known() -> None:
    policy = Policy(
        domain=Domain(pay=Integers(0, 29)),
        known=(Count({"pay": list(range(10))}), Count({"pay": list(range(10, 20))})),
    )
    query = parse_query("cumulative(pay)", policy)
    assert query.one_move(policy.domain) == 29
    assert largest_move(setting(policy), query, "published") == 27


def test_whole_numbers_are_not_rounded() -> None:
    huge = 10**18
    policy = Policy(domain=Domain(pay=Integers(0, 4 * huge)), known=(Count({"pay": [0, huge]}),))
    change = change_less_facts(setting(policy), parse_query("sum(pay)", policy))
    assert change is not None and 4 * huge - 1 <= change <= 4 * huge


def test_a_sum_beside_tables_that_are_wide() -> None:
    """Two tables that share an attribute, and pay by bands: a tenth of what it was."""
    domain = Domain(team=Labels("abcd"), grade=Labels("xyz"), sex=Labels("fm"), pay=Integers(0, 99))
    tables = Marginal(["team", "grade"]), Marginal(["team", "sex"])
    policy = Policy(domain=domain, known=(*tables, *BANDS))
    found = sensitivity(policy, "sum(pay)", time_limit=1)
    moves = sensitivity(policy, "histogram", time_limit=1)
    assert found.upper is not None and moves.upper is not None
    assert Fraction(found.upper) <= 9 * Fraction(moves.upper) / 2
