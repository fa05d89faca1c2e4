"""Reading 4: over few values the ceiling is what four cells can change."""

from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Count,
    Domain,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    parse_query,
    setting,
)
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


def blocks(many: int) -> Policy:
    """People by block, and tracts by sex and by age: too many classes for lists of fours."""
    names = [f"b{place}" for place in range(many)]
    tracts = [names[place : place + 10] for place in range(0, many, 10)]
    return Policy(
        domain=Domain(block=Labels(names), sex=Labels("FM"), age=Integers(0, 8)),
        known=(
            Marginal(["block"]),
            *(Count({"block": tract, "sex": "F"}) for tract in tracts),
            *(Count({"block": tract, "age": age}) for tract in tracts for age in range(9)),
        ),
        queries=(NamedCount("old", {"sex": "F", "age": 8}),),
    )


def test_as_many_come_as_go_where_n_is_known() -> None:
    """Two records for two, each of which may be counted or not; a pair that is counted is found."""
    policy = blocks(120)
    query = parse_query("count(old)", policy)
    most = ceiling(Question(prepare(setting(policy), "markov"), query, "markov"))
    assert most is not None
    assert most.value == 2
    assert most.why.startswith("n is known")
    told = sensitivity(policy, query, reading="markov", time_limit=20)
    assert (told.lower, told.upper) == (1, 2)
    free = Policy(domain=policy.domain, known=policy.known[1:2], queries=policy.queries)
    most = ceiling(Question(prepare(setting(free), "markov"), query, "markov"))
    assert most is not None
    assert most.value == 4
