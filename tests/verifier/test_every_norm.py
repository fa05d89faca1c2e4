"""S in every norm: against the definition, against l1, and by hand."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    READINGS,
    BlowproofError,
    BudgetError,
    Count,
    Distance,
    Domain,
    Exact,
    Integers,
    Labels,
    Policy,
    QueryError,
    Reading,
)
from blowproof.models.norms import L2_SQUARED, NORMS, RANGE
from blowproof.models.policy.setting import setting
from blowproof.models.stacks.stacked import Stacked
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import ENGINES as ENGINE_NAMES
from blowproof.verifier.ask import Engine, explain, sensitivity
from blowproof.verifier.engines.one_move.worst_edge import worst_edge
from blowproof.verifier.portfolio.registry import ENGINES, LAST, THEOREMS, Strategy
from corpus import IN_NORMS, InNorms
from refusals import left_out, refuse
from strategies import policies, question_texts

SMALL = Domain(sex=Labels(["F", "M"]), age=Integers(0, 3))
FREE = Policy(domain=SMALL)
TIED = Policy(domain=SMALL, known=(Count({"sex": "F"}),))


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=40)
def test_no_norm_contradicts_the_definition(reading: Reading, data: st.DataObject) -> None:
    """Whatever is known in the end, every pair of small databases lies within it."""
    policy = data.draw(policies(max_values=5, max_records=3))
    query = data.draw(question_texts(policy))
    for norm in NORMS:
        try:
            listed = sensitivity(
                policy, query, norm=norm, reading=reading, engine="brute", max_size=3
            )
            found = sensitivity(policy, query, norm=norm, reading=reading, time_limit=10)
        except BlowproofError as error:
            left_out(error)
            continue
        assert found.norm == listed.norm == norm
        assert found.upper is None or listed.lower <= found.upper
        assert listed.upper is None or found.lower <= listed.upper
        assert not (found.status == listed.status == "exact") or found.lower == listed.lower


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=30)
def test_norms_are_in_order(reading: Reading, data: st.DataObject) -> None:
    """linf <= l1, linf <= range + linf <= l1 + linf, l2-squared between linf ** 2 and l1 ** 2; with
    whole rows, l1 <= l2-squared."""
    policy = data.draw(policies(scope="given", max_values=5, max_records=3))
    query = data.draw(question_texts(policy).filter(lambda text: "*" not in text))
    size: dict[str, Exact] = {}
    for norm in NORMS:
        try:
            size[norm] = sensitivity(
                policy, query, norm=norm, reading=reading, engine="brute"
            ).lower
        except BlowproofError as error:
            refuse(error)
    assert size["linf"] <= size["l1"] and size["range"] <= min(size["l1"], 2 * size["linf"])
    assert size["linf"] ** 2 <= size["l2-squared"] <= size["l1"] ** 2
    assert size["l2-squared"] <= size["linf"] * size["l1"]
    if "sum" not in query:
        assert size["l1"] <= size["l2-squared"]


@pytest.mark.parametrize(
    ("query", "sizes"),
    [
        ("histogram", (2, 2, 1, 2)),
        ("sum(age)", (3, 9, 3, 0)),
        ("cumulative(age)", (3, 3, 1, 1)),
        ("ranges(age)", (6, 6, 1, 2)),
        ("histogram + 1/4*sum(age)", (Fraction(11, 4), Fraction(17, 4), 1, 2)),
        ("sum(age) + 2*marginal(sex)", (7, 13, 3, 5)),
    ],
)
def test_one_record_alone(query: str, sizes: tuple[Exact, ...]) -> None:
    """Nothing is known: the worst move of one record, by hand."""
    for norm, size in zip(NORMS, sizes, strict=True):
        answer = sensitivity(FREE, query, norm=norm)
        assert (answer.lower, answer.upper, answer.norm) == (size, size, norm)


@given(st.data())
@settings(max_examples=80)
def test_the_worst_edge_is_that_of_all_edges(data: st.DataObject) -> None:
    """With structure or without, the worst edge in a norm is the worst of all."""
    policy = data.draw(policies(max_known=0, max_values=8))
    norm = data.draw(st.sampled_from([norm for norm in NORMS.values() if norm.name != "l1"]))
    stacked = parse_question(data.draw(question_texts(policy)), policy, norm)
    assert isinstance(stacked, Stacked)
    found = worst_edge(setting(policy), stacked.parts, norm)
    moves = [stacked.norm({x: -1, y: 1}) for x, y in policy.graph.edges(limit=1000)]
    assert found is not None and found.loss == max(moves, default=0)


def test_large_domains_have_their_worst_edge() -> None:
    domain = Domain(age=Integers(0, 10**5), pay=Integers(0, 10**6))
    policy = Policy(domain=domain, secrets=Distance(metric="l1", threshold=10))
    for norm, size in (("l2-squared", 100 + Fraction(2, 3)), ("linf", 10)):
        answer = sensitivity(policy, "sum(age,pay) + 1/3*histogram", norm=norm)
        assert (answer.lower, answer.upper, answer.engine) == (size, size, "edges")
    for query, sizes in {"histogram": (2, 1, 2), "cumulative(pay)": (10, 1, 1)}.items():
        found = [sensitivity(policy, query, norm=norm) for norm in list(NORMS)[1:]]
        assert tuple(answer.lower for answer in found) == sizes
        assert all(answer.status == "exact" for answer in found)


def test_one_output_is_asked_in_l1() -> None:
    """By every engine that knows it: a sum over tied records."""
    for norm, size in zip(NORMS, (6, 36, 6, 0), strict=True):
        answer = sensitivity(TIED, "sum(age)", norm=norm)
        assert (answer.lower, answer.upper) == (size, size)
        assert answer.witness is None or norm != "range"
    steps, told = explain(TIED, "sum(age)", norm="l2-squared", run=True)
    assert told is not None and told.upper == 36 and steps


def test_a_strategy_that_says_nothing_is_about_l1() -> None:
    assert Strategy("new", "engine", "a new engine", lambda question: None).norms == ("l1",)
    steps, _ = explain(TIED, norm="linf")
    told = {step.strategy.name: step.why_not for step in steps}
    only = [item.name for item in (*THEOREMS, *ENGINES, LAST) if "linf" not in item.norms]
    assert told["one-sided"] == "it is about l1, not linf"
    for name in only:
        assert told[name]


def test_a_range_needs_to_know_how_many_outputs_there_are() -> None:
    two = Policy(domain=Domain(sex=Labels(["F", "M"])))
    assert sensitivity(two, "histogram", norm="range").upper == 2
    assert RANGE is not L2_SQUARED
    with pytest.raises(QueryError, match="there is no norm"):
        sensitivity(two, norm="l4")


@pytest.mark.parametrize("engine", ENGINE_NAMES)
@pytest.mark.parametrize("case", IN_NORMS, ids=lambda case: case.name)
def test_engines_agree_with_the_corpus_in_every_norm(case: InNorms, engine: Engine) -> None:
    """Every engine answers in every norm what it answers in l1, or refuses all of them."""
    refused = set()
    for norm, value in zip(NORMS, case.answers, strict=True):
        try:
            answer = sensitivity(
                case.policy,
                case.query,
                norm=norm,
                reading=case.reading,
                engine=engine,
                max_size=3,
                time_limit=60 if engine == "auto" else 0.5,
            )
        except (BudgetError, QueryError):
            refused.add(norm)
            continue
        assert answer.lower <= value
        assert answer.upper is None or answer.upper >= value
        if answer.status == "exact" or engine == "auto":
            assert answer.lower == answer.upper == value
    assert not refused or refused == set(NORMS)
