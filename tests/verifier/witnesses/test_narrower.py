"""Narrower bounds: frames of few signatures, secret moves that plain ones compensate for."""

import time
from dataclasses import replace
from functools import partial
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    AttributeChange,
    Between,
    BudgetError,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Exact,
    Integers,
    Labels,
    Literal,
    Marginal,
    PartitionBy,
    Policy,
    QueryError,
    UndeterminedError,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.claims.stating.affine_families import with_signatures
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.reductions.complete_graph import complete_setting
from blowproof.verifier.reductions.few_values import reduce_values
from blowproof.verifier.theorems.affine_frames import (
    Frame,
    Signatures,
    best_frame,
    change_above,
    kernel,
    signatures_of,
    steps,
)
from blowproof.verifier.theorems.most_moves import ceiling
from blowproof.verifier.witnesses.affine_frame import by_frames
from blowproof.verifier.witnesses.compensated_move import best_compensated
from blowproof.verifier.witnesses.one_secret_move import OneSecret
from refusals import refuse
from strategies import policies, query_texts

FOREVER = float("inf")


def drawn(seed: int, dependencies: int) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return distinct signatures with so many dependencies, and sizes of their classes."""
    rng = Random(seed)
    rank = rng.randint(1, 2)
    while True:
        count = rank + 1 + dependencies
        found = {tuple(rng.randint(0, 6 // rank) for _ in range(rank)) for _ in range(count)}
        if len(found) == count and len(kernel(sorted(found))) == dependencies:
            return sorted(found), [rng.choice((1, 2, 3)) for _ in range(count)]


@pytest.mark.parametrize("dependencies", [0, 1, 2, 3])
def test_frames_bound_the_search_engine(dependencies: int) -> None:
    for seed in range(8):
        signatures, sizes = drawn(seed, dependencies)
        policy = with_signatures(signatures, sizes)
        exact = sensitivity(policy, engine="search")
        assert exact.status == "exact"
        found = signatures_of(class_table(setting(policy)))
        assert found is not None and sorted(found[0].vectors) == signatures
        most = change_above(found[0], end=FOREVER)
        assert most is not None and exact.lower <= most
        moves = change_above(replace(found[0], large=(True,) * len(sizes)), end=FOREVER)
        assert moves is None or exact.witness is None or len(exact.witness.before) <= moves // 2
        best = best_frame(found[0])
        assert best is None or best.worth <= exact.lower
        if dependencies == 1 and best is not None:
            assert exact.lower == max(2 * sum(found[0].large), best.worth)


@pytest.mark.parametrize("dependencies", [1, 2, 3])
def test_the_flow_of_a_frame_is_a_pair_of_its_worth(dependencies: int) -> None:
    for seed in range(8):
        signatures, sizes = drawn(seed, dependencies)
        policy = with_signatures(signatures, sizes)
        found = setting(policy)
        collapsed = signatures_of(class_table(found))
        assert collapsed is not None
        frame = best_frame(collapsed[0])
        assert isinstance(frame, Frame)
        values = [[x for item in each for x in item.take(2)] for each in collapsed[1]]
        before, after = [], []
        for one, two, records in steps(frame, collapsed[0].large):
            assert records > 0
            before += [values[one][0]] * records
            after += [values[two][-1 if len(values[two]) < 2 else 1]] * records
        pair = Pair(before=tuple(before), after=tuple(after))
        query = parse_query("histogram", policy)
        assert query.difference(pair.moves("published")) == frame.worth
        assert check_pair(found, "published", pair)


def above(value: Exact) -> tuple[Exact, Exact]:
    """Return what is known where S is at most this."""
    return 0, value


def test_the_frames_answer_where_no_search_ends() -> None:
    policy = with_signatures([(0,), (1009,), (3301,)], (2, 2, 2))
    found = setting(policy)
    question = Question(found, parse_query("histogram", policy), "published", time.monotonic() + 9)
    top = ceiling(question)
    assert top is not None
    answer = by_frames(replace(question, known=partial(above, top.value)))
    assert answer is not None and answer.status == "exact"
    assert answer.lower == change_above(Signatures(((0,), (1009,), (3301,)), (True,) * 3), end=1e99)


@pytest.mark.parametrize("secrets", [AttributeChange(), Distance(metric="l1", threshold=1)])
def test_frames_with_other_graphs(secrets: AttributeChange | Distance) -> None:
    for seed in range(5):
        signatures, sizes = drawn(seed, seed % 3)
        policy = replace(with_signatures(signatures, sizes), secrets=secrets)
        for reading in ("published", "secret-moves"):
            plain = sensitivity(policy, reading=reading, engine="search", time_limit=20)
            question = Question(setting(policy), parse_query("histogram", policy), reading)
            top = ceiling(question)
            assert top is not None and plain.lower <= top.value
            answer = by_frames(replace(question, known=partial(above, top.value)))
            assert answer is None or answer.lower == plain.lower


def compensated(policy: Policy, text: str, seconds: float = 1.0) -> tuple[list[Pair], list[int]]:
    """Return the pairs that are found for the policy, and their changes, times the scale 1."""
    found = prepare(setting(policy), "published")
    query = parse_query(text, policy)
    free = complete_setting(found)
    core = reduce_values(free, query, "published")
    moves = Moves(free, query, "published", core.values)
    placing = OneSecret(found, query, moves, EffectTable.of(moves))
    pairs: list[Pair] = []
    values: list[int] = []

    def keep(value: int, pair: Pair) -> None:
        pairs.append(pair)
        values.append(value)
        assert query.difference(pair.moves("published")) * moves.scale == value
        assert check_pair(found, "published", pair)

    best_compensated(placing, above=0, seconds=seconds, on_best=keep)
    return pairs, values


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_compensated_pairs_are_pairs(data: st.DataObject) -> None:
    kinds = ("count", "sum", "bound", "bound", "clause", "impossible")
    graphs = ("attribute", "by", "cells", "distance", "edges")
    policy = data.draw(
        policies(scope="given", kinds=kinds, secrets=graphs, max_values=6, max_records=4)
    )
    text = data.draw(st.sampled_from(["histogram", *query_texts(policy)]))
    try:
        exact = sensitivity(policy, text, engine="brute")
        pairs, _ = compensated(policy, text, 0.5)
    except (UndeterminedError, BudgetError, QueryError) as error:
        refuse(error)
    for pair in pairs:
        value = parse_query(text, policy).difference(pair.moves("published"))
        assert exact.status == "bounds" or value <= exact.lower


WARDS = Domain(sex=Labels(["F", "M"]), ward=Labels(["a", "b"]), age=Integers(0, 19))


def hospital(*more: Count | Clause) -> Policy:
    known = (
        Marginal(["sex", "ward"], answers=[3, 2, 3, 2]),
        Count({"age": Between(5, 14), "sex": "F"}, answer=3),
    )
    return Policy(domain=WARDS, known=(*known, *more), database=Database(size=10))


def test_a_bound_and_a_clause_make_pairs_worse() -> None:
    bound = Count({"age": Between(None, 1)}, at_least=2)
    clause = Clause([Literal(1, {"sex": "F"}), Literal(2, {"ward": "a"}, inside=False)])
    bare = sensitivity(replace(hospital(), secrets=AttributeChange()), time_limit=5)
    for facts in ((bound,), (clause,), (bound, clause)):
        for secrets in (AttributeChange(), PartitionBy(["sex"])):
            _, values = compensated(replace(hospital(*facts), secrets=secrets), "histogram", 2)
            if secrets.kind == "attribute":
                assert bare.upper is not None and values[-1] > bare.upper
            assert values == sorted(set(values))
