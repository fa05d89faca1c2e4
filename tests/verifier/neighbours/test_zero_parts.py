"""Parts that sum to zero, by elimination; and moves split along an edge of G."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations_with_replacement, product
from math import gcd

import pytest
from hypothesis import assume, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from blowproof.models import (
    AttributeChange,
    Count,
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
from blowproof.verifier.neighbours.cycle_parts import part_of_cycle
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


def _round_a_cycle(length: int, label: int) -> Counter[tuple[int, ...]]:
    """Effects round a cycle of classes: once, with the label in the end, and back `label` times."""
    effects: Counter[tuple[int, ...]] = Counter()
    for k in range(length):
        step = [0] * (length + 1)
        step[k] -= 1
        step[(k + 1) % length] += 1
        step[length] = label if k == 0 else 0
        effects[tuple(step)] += 1
    effects[(*[0] * length, -1)] += label
    return effects


@pytest.mark.parametrize("length", [3, 12, 200])
def test_long_circuits_are_seen_without_writing_out_fractions(
    monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    monkeypatch.setattr(zero_parts, "MOST_WORK", 0)
    circuit = _round_a_cycle(length, 5)
    assert zero_parts.zero_part(circuit) is False
    assert zero_parts.zero_part(Counter({each: 2 * n for each, n in circuit.items()})) is True
    assert zero_parts.zero_part(circuit + Counter([next(iter(circuit))])) is not False
    monkeypatch.setattr(zero_parts, "MOST_STEPS", 0)
    assert zero_parts.zero_part(circuit) is None


@given(multisets)
@effort(max_examples=100)
def test_one_relation_is_told_only_where_there_is_one(drawn: dict[tuple[int, ...], int]) -> None:
    times = Counter(drawn)
    if zero_parts._one_relation(times):
        assert not any(sum(x * n for x, n in zip(row, times.values(), strict=True))
                       for row in zip(*times, strict=True))  # fmt: skip
        assert _listed(times) == (gcd(*times.values()) > 1)


def test_too_many_parts_are_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    times: Counter[tuple[int, ...]] = Counter({(1,): 3, (-3,): 2, (2,): 2, (-5,): 1})
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


# many moves beside a few facts that count much ----------------------------------------------------


def _crossing(counties: int, *, balanced: bool) -> tuple[Policy, Pair]:
    """Two rings of counties; along one all become men, along the other women."""
    domain = Domain(county=Integers(0, 2 * counties - 1), sex=Labels(["F", "M"]))
    policy = Policy(domain=domain, known=(Marginal(["county"]), Count({"sex": "F"})))
    rings = [(ring * counties + k, ring * counties + (k + 1) % counties)
             for ring in range(2) for k in range(counties)]  # fmt: skip
    ends = [(a, b, a < counties if balanced else a % 2 == 0) for a, b in rings]
    before = tuple((a, 0 if out else 1) for a, _, out in ends)
    after = tuple((b, 1 if out else 0) for _, b, out in ends)
    return policy, Pair(before=before, after=after)


@pytest.mark.parametrize("balanced", [True, False])
def test_exchanges_that_cancel_over_two_groups_of_facts_are_judged(balanced: bool) -> None:
    """Thousands of moves, the counties of which are independent facts, and one fact beside them.

    Two rings whose effects on the count of women cancel are a pair; two rings each of which leaves
    it alone are not. Both had no verdict after minutes: effects of all facts were written out.
    """
    policy, pair = _crossing(1600, balanced=balanced)
    verdict = check.check_pair(setting(policy), "published", pair)
    assert verdict.minimality == ("searched" if balanced else "refuted")
    assert bool(verdict) is balanced


def test_exchanges_in_counties_that_cancel_are_no_pair() -> None:
    domain = Domain(county=Integers(0, 2999), sex=Labels(["F", "M"]), old=Labels(["y", "n"]))
    known = (Marginal(["county"]), Count({"sex": "F"}), Count({"old": "y"}))
    policy = Policy(domain=domain, known=known)
    ends = [((k, 0, 0), (k, 1, 0)) if k < 750 else ((k, 1, 0), (k, 0, 0)) for k in range(1500)]
    ends += [((k, 0, 0), (k, 0, 1)) if k % 2 else ((k, 0, 1), (k, 0, 0)) for k in range(1500, 3000)]
    before, after = zip(*ends, strict=True)
    verdict = check.check_pair(setting(policy), "published", Pair(before=before, after=after))
    assert (bool(verdict), verdict.minimality) == (False, "refuted")


@pytest.mark.parametrize("seed", range(40))
def test_cycles_beside_a_few_facts_are_judged_as_the_search_does(seed: int) -> None:
    """Random permutations of a few values with a count or two beside a table's margin."""
    rng = random.Random(seed)
    rows = rng.randint(3, 6)
    domain = Domain(row=Integers(0, rows - 1), a=Integers(0, 1), b=Integers(0, 1))
    known = (Marginal(["row"]), Count({"a": 0}), Count({"b": 0, "a": 1}))[: rng.randint(2, 3)]
    policy = Policy(domain=domain, known=known)
    found = setting(policy)
    for _ in range(60):
        targets = rng.sample(range(rows), rows)
        before = tuple((k, rng.randrange(2), rng.randrange(2)) for k in range(rows))
        after = tuple((k, rng.randrange(2), rng.randrange(2)) for k in targets)
        facts = [found.effect(x) for x in before], [found.effect(x) for x in after]
        one, two = (tuple(map(sum, zip(*some, strict=True))) for some in facts)
        if one == two and all(x != y for x, y in zip(before, after, strict=True)):
            break
    else:
        return
    home = {x: tuple((k, v) for k, v in enumerate(found.effect(x)) if v) for x in before + after}
    told = part_of_cycle([(home[x], home[y]) for x, y in zip(before, after, strict=True)])
    pair = Pair(before=before, after=after)
    verdict = check.check_pair(found, "published", pair)
    assert verdict.minimality in ("searched", "refuted")
    if told is not None:
        assert told is not bool(verdict)


@pytest.mark.parametrize("seed", range(8))
def test_moves_that_many_records_make_are_judged_by_elimination(seed: int) -> None:
    """Two or three cycles round some classes, each gone round so often that a fact's labels cancel,
    or twice as often.
    """
    rng = random.Random(seed)
    met = {True: 0, False: 0}
    for _ in range(400):
        count, facts = rng.randint(3, 6), rng.randint(1, 2)
        cycles = [rng.sample(range(count), rng.randint(1, count)) for _ in range(facts + 1)]
        arcs = []
        for cycle in cycles:
            rises = [[rng.choice((-1, 0, 1)) for _ in range(facts)] for _ in cycle]
            arcs.append(list(zip(cycle, [*cycle[1:], cycle[0]], rises, strict=True)))
        sums = [[sum(rise[j] for _, _, rise in each) for j in range(facts)] for each in arcs]
        if facts == 1:
            times = [sums[1][0], -sums[0][0]]
        else:
            (a, b), (c, d), (e, f) = sums
            times = [c * f - d * e, e * b - f * a, a * d - b * c]
        if min(times) <= 0:
            continue
        whole = gcd(*times) if rng.random() < 0.7 else 1
        moves = []
        for each, often in zip(arcs, times, strict=True):
            for one, two, rise in each:
                ends = [[(one, 1)], [(two, 1)]]
                for j, step in enumerate(rise):
                    ends[step > 0] += [(count + j, 1)] * (step != 0)
                moves += [(tuple(ends[0]), tuple(ends[1]))] * (often // whole)
        effects: Counter[tuple[int, ...]] = Counter()
        for low, high in moves:
            change = Counter(dict(high))
            change.subtract(dict(low))
            effects[tuple(change[k] for k in range(count + facts))] += 1
        told = part_of_cycle(moves)
        if told is not None:
            met[told] += 1
            assert told is zero_parts.zero_part(effects)
    assert met[False] > 5


def test_two_cycles_round_many_classes_are_judged_at_once() -> None:
    """A hundred classes beside two sexes: elimination had 30,000,000 entries, and gave up."""
    labels = Labels([f"c{k}" for k in range(100)])
    policy = Policy(
        domain=Domain(a=labels, b=Labels("FM"), z=Labels("yn")),
        known=(Marginal(["a"]), Marginal(["b"])),
    )
    answer = sensitivity(policy)
    assert answer.lower == answer.upper == 2 * 5100
    assert answer.witness is not None
    verdict = check.check_pair(setting(policy), "published", answer.witness)
    assert verdict and verdict.minimality == "searched"
