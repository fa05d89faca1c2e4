"""Parts that sum to zero, by elimination; and moves split along an edge of G."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import assume, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from blowproof.models import (
    AttributeChange,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    Reading,
    Sum,
    parse_query,
    setting,
)
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.neighbours import check, zero_parts
from blowproof.verifier.witnesses.split_along_edge import split_pairs
from strategies import policies

FACTS = ("count", "marginal", "sum", "impossible")

multisets = st.integers(1, 3).flatmap(
    lambda width: st.dictionaries(
        st.tuples(*[st.integers(-3, 3)] * width), st.integers(1, 3), min_size=1, max_size=5
    )
)


def _listed(times: Counter[tuple[int, ...]]) -> bool:
    """Whether a proper part sums to zero: every part is tried."""
    whole = tuple(times.values())
    return any(
        any(part) and part != whole and not any(sum(k * x for k, x in zip(part, row, strict=True))
                                                for row in zip(*times, strict=True))
        for part in product(*(range(most + 1) for most in whole))
    )  # fmt: skip


@given(multisets)
@effort(max_examples=200)
def test_parts_are_those_of_the_definition(drawn: dict[tuple[int, ...], int]) -> None:
    times = Counter(drawn)
    assert zero_parts.zero_part(times) == _listed(times)


def test_too_many_parts_are_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    times: Counter[tuple[int, ...]] = Counter({(1,): 3, (-1,): 3, (2,): 1, (-2,): 1})
    assert zero_parts.zero_part(times) is True
    monkeypatch.setattr(zero_parts, "MOST_PARTS", 4)
    assert zero_parts.zero_part(times) is None


@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove"])
@given(st.data())
@effort(max_examples=60)
def test_both_checks_of_a_pair_agree(reading: Reading, data: st.DataObject) -> None:
    """The parts by elimination, and the search for a D3, on pairs that keep every fact."""
    policy = data.draw(policies(scope="any", kinds=FACTS, max_values=6, size="never"))
    found = prepare(setting(policy), reading)
    points = [x for x in policy.domain.points() if x not in found.impossible]
    assume(len(points) > 1)
    if reading == "add-remove":
        sides = [c for n in range(4) for c in combinations_with_replacement(points[:4], n)]
        totals = [tuple(f.total(Counter(side)) for f in found.equalities) for side in sides]
        before = data.draw(st.integers(0, len(sides) - 1))
        fits = [k for k, side in enumerate(sides)
                if totals[k] == totals[before] and not {*side} & {*sides[before]}]  # fmt: skip
        assume(fits)
        pair = Pair(before=sides[before], after=sides[data.draw(st.sampled_from(fits))])
    else:
        moved = data.draw(st.lists(st.sampled_from(points), min_size=2, max_size=6))
        order = data.draw(st.permutations(moved))
        kept = [(x, y) for x, y in zip(moved, order, strict=True) if x != y]
        assume(kept)
        pair = Pair(before=tuple(x for x, _ in kept), after=tuple(y for _, y in kept))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "MANY", 0)
        quick = check.check_pair(found, reading, pair)
        patch.setattr(check, "MANY", 1000)
        slow = check.check_pair(found, reading, pair)
    assert quick.holds == slow.holds


def _split(policy: Policy, seed: int) -> list[Pair]:
    """The pairs by splitting one move, over all values of a small domain."""
    found, query = prepare(setting(policy), "published"), parse_query("histogram", policy)
    points = tuple(x for x in policy.domain.points() if x not in found.impossible)
    moves = Moves(found, query, "published", points, seed)
    classes = class_table(found).classes
    return list(split_pairs(moves, classes, 0.05, random.Random(seed)))


@pytest.mark.parametrize(
    ("sets", "best"), [(("a", "b"), 1), (("a", "bc"), 1), (("ab", "bc"), 1), ((), 0)]
)
def test_a_split_move_makes_a_neighbour_pair(sets: tuple[str, ...], best: int) -> None:
    """Attribute secrets: one change of one attribute among plain moves; not above the true S."""
    domain = Domain(a=Labels(["0", "1"]), b=Labels(["0", "1", "2"]), c=Labels(["0", "1"]))
    known = tuple(Marginal(list(names)) for names in sets)
    policy = Policy(domain=domain, known=known, secrets=AttributeChange())
    found, query = prepare(setting(policy), "published"), parse_query("histogram", policy)
    values = [0]
    for pair in (pair for seed in range(8) for pair in _split(policy, seed)):
        assert check.check_pair(found, "published", pair)
        joined = [found.graph.is_edge(x, y) for x, y in zip(pair.before, pair.after, strict=True)]
        assert sum(joined) == 1
        values.append(int(query.difference(pair.moves("published"))))
    assert max(values) >= best
    upper = sensitivity(policy, "histogram", time_limit=1).upper
    assert upper is not None
    assert max(values) <= upper


def test_a_long_circuit_is_checked_without_its_sums() -> None:
    """One move by 5,001 and 5,001 moves by -1: minimal; twice as many of both are not."""
    terms = [(5001, {"x": 1}), (-1, {"x": 2})]
    policy = Policy(domain=Domain(x=Integers(0, 2)), known=(Sum(terms),))
    found = prepare(setting(policy), "published")
    for times in (1, 2):
        after = ((1,),) * times + ((2,),) * (5001 * times)
        verdict = check.check_pair(
            found, "published", Pair(before=((0,),) * len(after), after=after)
        )
        assert verdict.minimality == ("searched" if times == 1 else "refuted")
