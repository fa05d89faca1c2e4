"""Reading 4: over few values the ceiling is what four cells can change."""

from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import Count, Domain, Integers, Policy, parse_query, setting
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.theorems.most_moves import ceiling
from strategies import policies, query_texts


def test_four_cells_do_not_all_change_the_most() -> None:
    policy = Policy(domain=Domain(x=Integers(0, 9)), known=(Count({"x": [0, 1, 2]}),))
    found = prepare(setting(policy), "markov")
    most = ceiling(Question(found, parse_query("sum(x)", policy), "markov"))
    assert most is not None
    assert most.value == 9 + 8 + 7 + 6  # 36 before: four times the largest
    assert sensitivity(policy, "sum(x)", reading="markov").lower == most.value


@settings(max_examples=15)
@given(st.data())
def test_no_pair_changes_more(data: st.DataObject) -> None:
    policy = data.draw(policies(max_values=5, max_records=3))
    query = parse_query(data.draw(st.sampled_from(["histogram", *query_texts(policy)])), policy)
    if query.per_record:
        return
    most = ceiling(Question(prepare(setting(policy), "markov"), query, "markov"))
    exact = sensitivity(policy, query, reading="markov", engine="ilp")
    assert most is not None
    assert most.value >= exact.lower
