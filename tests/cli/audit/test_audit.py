"""The audit beyond S: the chain of moves, what facts cost, bounds that need no search, plans."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.cli.asking.ask import Session
from blowproof.cli.asking.options import Options
from blowproof.cli.audit.bound_at_hand import by_records
from blowproof.cli.audit.chain_of_moves import best_order, chain_of
from blowproof.cli.audit.cost_of_facts import facts_left_out, instead, published_instead, region_of
from blowproof.cli.audit.findings import Plan
from blowproof.cli.audit.noise import NOISE
from blowproof.cli.audit.search import complete_all, decide_all
from blowproof.cli.audit.sentences import chain_words
from blowproof.models import (
    Between,
    BudgetError,
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    parse_query,
    setting,
)
from blowproof.models.files.reading import parse_policy
from blowproof.verifier.ask import sensitivity, upper_bound
from blowproof.verifier.engines.irreducibles import longest, longest_bound
from blowproof.verifier.neighbours.check import check_pair
from corpus import BY_NAME, CORPUS
from refusals import answered, refuse
from strategies import policies, query_texts

SMALL = st.integers(-2, 2)


def session(**options):
    asked = {"reading": "published", "answers": None, "engine": "auto"} | options
    return Session(Options(**asked, time_limit=None, seed=None))


def test_readings_with_the_same_pairs_say_the_same_when_the_time_is_over():
    """With full secrets, readings 1 and 2 have the same pairs: one answer is that of both."""
    policy = Policy(
        domain=Domain(a=Labels("xy"), b=Labels("pq")), known=(Marginal(["a"]), Marginal(["b"]))
    )
    asked = session()
    plan = Plan(noise=NOISE["l1"], promised=Fraction(1))
    drafts = decide_all(policy, [parse_query("histogram", policy)], asked, plan, None)
    asked.deadline = 0.0
    assert asked.over
    (found,) = complete_all(policy, drafts, asked, None)
    said = {row.reading: row.answer for row in found.rows if row.answer is not None}
    for reading in ("published", "secret-moves", "pufferfish"):
        assert (said[reading].lower, said[reading].witness) == (4, said["published"].witness)
    assert "add-remove" not in said or said["add-remove"].witness is None


# --- the chain -----------------------------------------------------------------------------------


def cost(effects, order):
    """How often a move does not make up for the one before, and how far out of balance it gets."""
    moves = [effects[place] for place in order]
    breaks = sum(
        not any(a < 0 < b for a, b in zip(first, second, strict=True))
        for first, second in pairwise(moves)
    )
    unrest, total = 0, [0] * len(moves[0])
    for move in moves:
        total = [a + b for a, b in zip(total, move, strict=True)]
        unrest += sum(map(abs, total))
    return breaks, unrest


@settings(max_examples=60)
@given(st.lists(st.tuples(SMALL, SMALL, SMALL), min_size=1, max_size=5))
def test_the_order_of_the_chain_is_the_best_of_all(effects):
    order = best_order(effects)
    assert sorted(order) == list(range(len(effects)))
    if any(any(effect) for effect in effects):
        best = min(cost(effects, other) for other in permutations(range(len(effects))))
        assert cost(effects, order) == best


@pytest.mark.parametrize("size", [2, 7, 30])
def test_a_cycle_is_walked_around_without_a_break(size):
    """Sparse facts: also where the chain is too long to try all orders."""
    arcs = [(place * 7) % size for place in range(size)] if size % 7 else range(size)
    effects = [tuple((q == arc) - (q == (arc + 1) % size) for q in range(size)) for arc in arcs]
    assert cost(effects, best_order(effects))[0] == 0


@pytest.mark.parametrize(
    "case", [c for c in CORPUS if c.reading == "published" and c.answer], ids=lambda c: c.name
)
def test_the_chain_is_the_same_pair_and_its_moves_balance(case):
    answer = sensitivity(case.policy, case.query, reading=case.reading, time_limit=20)
    pair = answer.witness
    assert pair is not None
    chain = chain_of(case.policy, pair, case.reading, None)
    changes = zip(pair.before, pair.after, strict=True)
    assert Counter(zip(chain.pair.before, chain.pair.after, strict=True)) == Counter(changes)
    assert check_pair(setting(case.policy), case.reading, chain.pair).minimality != "refuted"
    balance: Counter[str] = Counter()
    for link in chain.links:
        balance.update(dict(link.lifts))
        balance.subtract(dict(link.lowers))
    assert (
        not case.policy.known
        or case.policy.clauses
        or case.name == "bound-that-binds"
        or (not any(balance.values()))
    )
    assert chain_words(chain)


def test_the_chain_of_a_cycle_in_words():
    policy = BY_NAME["example-8.3"].policy
    answer = sensitivity(policy)
    assert answer.witness is not None
    words = chain_words(chain_of(policy, answer.witness, "published", None))
    assert words.count("lifts it and lowers") == 3 and words.endswith(", which 1 lifts.")


# --- what facts cost -----------------------------------------------------------------------------


def test_costs_are_those_of_the_policy_without_the_fact():
    policy = BY_NAME["two-margins-2x3-published"].policy
    query = parse_query("histogram", policy)
    found = facts_left_out(policy, None, query, session(), seconds=60)
    for item in found:
        assert item.answer is not None
        bare = Policy(
            domain=policy.domain,
            known=tuple(fact for place, fact in enumerate(policy.known) if place != item.place),
        )
        listed = sensitivity(bare, query, engine="brute", max_size=3)
        assert item.answer.lower == item.answer.upper == listed.lower
    uppers = [item.answer.upper for item in found if item.answer is not None]
    assert uppers == sorted(uppers, key=str) and {item.place for item in found} == {0, 1}


def test_n_stays_known_when_the_fact_that_gives_it_away_is_left_out():
    policy = Policy(domain=Domain(x=Labels("pqr")), known=(Marginal(["x"], answers=[1, 2, 0]),))
    query = parse_query("histogram", policy)
    (item,) = facts_left_out(policy, 3, query, session(), seconds=60)
    assert item.answer is not None
    assert (item.answer.lower, item.answer.upper, item.answer.answers) == (2, 2, "given")


def test_what_is_not_reached_is_said():
    policy = BY_NAME["two-margins-2x3-published"].policy
    query = parse_query("histogram", policy)
    found = facts_left_out(policy, None, query, session(), seconds=0)
    assert [item.reached for item in found] == [False, False]
    assert not published_instead(policy, query, session(), seconds=0)[0].reached


LINE = Domain(x=Integers(0, 11), y=Labels("uvw"))
RANGES = st.tuples(
    st.integers(0, 11), st.integers(0, 11), st.sets(st.sampled_from("uvw"), min_size=1)
)


@st.composite
def counted_policies(draw):
    known = [
        Count({"x": Between(min(a, b), max(a, b)), "y": sorted(labels)})
        for a, b, labels in draw(st.lists(RANGES, min_size=1, max_size=3))
    ]
    return Policy(domain=LINE, known=tuple(known))


@settings(max_examples=60)
@given(counted_policies())
def test_other_publications_are_disjoint_nested_or_one(policy):
    points = list(LINE.points())
    held = [{p for p in points if p in fact.terms[0][1]} for fact in policy.linear_facts]
    for words, other in instead(policy):
        areas = [{p for p in points if p in fact.terms[0][1]} for fact in other.linear_facts]
        assert set().union(*areas) == set().union(*held)
        if "disjoint cells" in words:
            assert sum(map(len, areas)) == len(set().union(*areas))
            assert all(area <= old or not area & old for area in areas for old in held)
        elif "chain" in words:
            assert len(areas) == len(held)
            assert all(a <= b or b <= a or not a & b for a in areas for b in areas)
        else:
            assert sum(map(len, areas)) == len(set().union(*areas))


@settings(max_examples=60)
@given(counted_policies())
def test_a_box_is_written_as_regions_that_cover_it(policy):
    for fact in policy.linear_facts:
        for box in fact.terms[0][1].boxes:
            area = LINE.area(list(region_of(LINE, box.sides)))
            assert all((p in area) == (p in box) for p in LINE.points())


def test_disjoint_counts_have_no_better_arrangement():
    known = (Count({"x": Between(0, 3)}), Count({"x": Between(4, 7)}))
    assert list(instead(Policy(domain=LINE, known=known))) == []


# --- bounds without a search ---------------------------------------------------------------------


@settings(max_examples=30)
@given(st.sets(st.tuples(st.integers(0, 1), st.integers(-1, 2)), min_size=2, max_size=4))
def test_no_irreducible_is_longer_than_its_bound(signatures):
    rows = sorted(signatures)
    effects = sorted({(b[0] - a[0], b[1] - a[1]) for a in rows for b in rows if a != b})
    found = longest(effects, time_limit=1)
    answered(found.complete, "bounds")
    assert found.lower <= longest_bound(effects)


@settings(max_examples=60)
@given(st.data())
def test_bounds_without_a_search_hold(data):
    policy = data.draw(policies(scope="given", max_values=5, max_records=3))
    query = parse_query(data.draw(st.sampled_from(query_texts(policy))), policy)
    plain = query.largest_change(policy.domain)
    try:
        exact = sensitivity(policy, query, engine="brute")
    except BudgetError as error:
        refuse(error)
    size = len(exact.witness.first()) and exact.witness.first().total() if exact.witness else 3
    for bound in (
        by_records(query, "published", size, plain),
        upper_bound(policy, query),
    ):
        assert bound is None or exact.lower <= bound.value
    if query.per_record or policy.clauses or exact.witness is None:
        return
    sized = replace(policy, database=replace(policy.database, size=size))
    for reading in ("add-remove", "markov"):
        try:
            exact = sensitivity(sized, query, reading=reading, engine="brute")
        except BudgetError as error:
            refuse(error)
        bound = by_records(query, reading, size, plain)
        assert bound is None or exact.lower <= bound.value


def test_scope_given_asks_for_numbers_only_where_they_can_be_counted():
    overlapping = (Count({"x": Between(0, 5)}, answer=2), Count({"x": Between(3, 7)}, answer=1))
    policy = Policy(domain=LINE, known=overlapping, database=Database(size=4))
    assert list(instead(policy)) == []
    text = '[domain]\nx = ["a", "b"]\n[[known]]\nmarginal = ["x"]\n'
    assert list(instead(parse_policy(text))) == []
