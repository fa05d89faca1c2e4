"""Independent routes to the same answers: brute force by the definition, and the engines."""

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    READINGS,
    BudgetError,
    Clause,
    Policy,
    Reading,
    UndeterminedError,
    setting,
)
from blowproof.models.policy.readings import LABELLED, is_labelled
from blowproof.verifier.ask import Engine, neighbours, sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import prepare, size_range
from blowproof.verifier.engines.brute import brute_neighbours
from blowproof.verifier.neighbours.check import check_pair
from refusals import answered, refuse
from strategies import policies, query_texts

COUNTED = ("count", "marginal", "sum", "impossible", "bound")
EQUAL = ("count", "marginal", "sum", "impossible")


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=60)
def test_histograms_agree_with_brute_force(reading: Reading, data: st.DataObject) -> None:
    policy = data.draw(policies(scope="given", kinds=COUNTED, max_values=6, max_records=3))
    _agree(policy, data, reading, "ilp")
    _agree(policy, data, reading, "auto")


@pytest.mark.parametrize("reading", LABELLED)
@given(st.data())
@settings(max_examples=60)
def test_labelled_records_agree_with_brute_force(reading: Reading, data: st.DataObject) -> None:
    policy = data.draw(policies(scope="given", max_values=5, max_records=3))
    _agree(policy, data, reading, "sat")


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=60)
def test_any_answers_agree_with_brute_force(reading: Reading, data: st.DataObject) -> None:
    """Under "any", brute force over n is a lower bound, met when the worst pair is small enough."""
    policy = data.draw(policies(scope="any", kinds=EQUAL, max_values=5, max_known=2))
    query = data.draw(st.sampled_from(query_texts(policy)))
    try:
        found = sensitivity(policy, query, reading=reading, time_limit=20)
        listed = sensitivity(policy, query, reading=reading, engine="brute", max_size=3)
    except BudgetError as error:
        refuse(error)
    answered(found.status == "exact", "bounds")
    assert listed.lower <= found.lower
    if (
        found.witness is not None
        and max(map(len, (found.witness.before, found.witness.after))) <= 3
    ):
        assert listed.lower == found.lower


def _agree(policy: Policy, data: st.DataObject, reading: Reading, engine: Engine) -> None:
    query = data.draw(st.sampled_from(query_texts(policy)))
    try:
        listed = sensitivity(policy, query, reading=reading, engine="brute")
        found = sensitivity(policy, query, reading=reading, engine=engine)
    except (BudgetError, UndeterminedError) as error:
        refuse(error)
    assert found.status == "exact"
    if listed.status == "bounds":  # nothing bounds n, and brute force looked at small databases
        assert reading == "markov" and listed.lower <= found.lower
    else:
        assert (found.lower, found.upper) == (listed.lower, listed.upper)


def complete_set(policy: Policy, reading: Reading) -> list[Pair]:
    """The neighbours that `auto` lists, each once, and the same as by brute force."""
    try:
        listed = list(neighbours(policy, reading=reading, engine="brute"))
        found = list(neighbours(policy, reading=reading, engine="ilp"))
        quick = list(neighbours(policy, reading=reading))
    except (BudgetError, UndeterminedError) as error:
        refuse(error)
    assert len(found) == len(set(found))
    assert set(found) == set(listed)
    assert len(quick) == len(set(quick)) and set(quick) == set(listed)
    return found


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=40)
def test_complete_neighbour_sets_agree(reading: Reading, data: st.DataObject) -> None:
    policy = data.draw(policies(scope="given", kinds=COUNTED, max_values=4, max_records=2))
    complete_set(policy, reading)


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=25)
def test_complete_neighbour_sets_agree_where_clauses_name_records(
    reading: Reading, data: st.DataObject
) -> None:
    kinds = data.draw(st.sampled_from([("clause",), ("clause", "clause", "count", "bound")]))
    policy = data.draw(policies(scope="given", kinds=kinds, max_values=3, max_records=3))
    assume(any(isinstance(fact, Clause) for fact in policy.known))
    found = complete_set(policy, reading)
    if reading == "add-remove":
        lengths = [len(pair.before) + len(pair.after) for pair in found]
        assert lengths == sorted(lengths)


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=60)
def test_the_pair_checker_knows_the_neighbours(reading: Reading, data: st.DataObject) -> None:
    """Of the pairs of small databases, the checker accepts those that brute force lists."""
    policy = data.draw(policies(scope="given", max_values=4, max_records=2))
    try:
        prepared = prepare(setting(policy), reading)
        low, high = size_range(prepared, reading)
        assume(high is not None and high <= 3)
        pairs = set(brute_neighbours(prepared, reading, sizes=range(low, (high or 0) + 1)))
    except (BudgetError, UndeterminedError) as error:
        refuse(error)
    for pair in pairs:
        assert check_pair(prepared, reading, pair)
    for candidate in _wrong_pairs(pairs, data):
        assert bool(check_pair(prepared, reading, candidate)) == (candidate in pairs)


def _wrong_pairs(pairs: set[Pair], data: st.DataObject) -> list[Pair]:
    """Pairs composed of two neighbour pairs: D1 of one and D2 of the other."""
    labelled = [pair for pair in pairs if pair.database is not None]
    if len(labelled) < 2:
        return []
    chosen = data.draw(
        st.lists(st.sampled_from(sorted(labelled, key=repr)), min_size=2, max_size=6)
    )
    databases = [pair.database for pair in chosen if pair.database is not None]
    return [
        Pair.labelled(first, second, keep=True)
        for first in databases
        for second in databases
        if first != second
    ]


def changes(pair: Pair, reading: Reading) -> object:
    """What a pair and its relabellings have in common."""
    if is_labelled(reading):
        moved: object = frozenset(Counter(zip(pair.before, pair.after, strict=True)).items())
    else:
        moved = (tuple(sorted(pair.before)), tuple(sorted(pair.after)))
    return moved, frozenset(pair.unchanged)


@pytest.mark.parametrize("reading", READINGS)
@given(st.data())
@settings(max_examples=30)
def test_pairs_up_to_relabelling_agree(reading: Reading, data: st.DataObject) -> None:
    """One of each pair and its relabellings, whoever lists them."""
    policy = data.draw(policies(scope="given", kinds=COUNTED, max_values=4, max_records=3))
    sets = []
    for engine in ("auto", "ilp"):
        try:
            pairs = list(neighbours(policy, reading=reading, engine=engine, every_label=False))
        except (BudgetError, UndeterminedError) as error:
            refuse(error)
        seen = [changes(pair, reading) for pair in pairs]
        assert len(seen) == len(set(seen))
        sets.append(set(seen))
    assert sets[0] == sets[1]
