"""What moves of given effects can change together: bounds without a program, in every norm."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Attribute,
    Count,
    Domain,
    Exact,
    Integers,
    Labels,
    Marginal,
    Policy,
    setting,
)
from blowproof.models.base.clock import Budget, now
from blowproof.models.norms import L1, NORMS
from blowproof.models.norms.norm import Counted
from blowproof.models.stacks.stacked import Stacked
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.engines.search.graver_lists import _by_output, _most
from blowproof.verifier.moves.best_choice import (
    _packed,
    _unpacked,
    best_choice,
    bound_of,
    by_swapping,
    good_choice,
    longest_of,
    size_of,
)
from blowproof.verifier.moves.choices_at_once import better_choice
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.moves.score import PLAIN, Score

AXES: dict[str, Attribute] = {"sex": Labels("FM"), "age": Integers(0, 2)}
POLICY = Policy(domain=Domain(**AXES), known=(Count({"sex": "F"}), Count({"age": [0, 1]})))
QUERIES = ("histogram", "sum(age)", "cumulative(age)", "1/3*histogram+2*marginal(age)")


@given(st.data())
@settings(max_examples=80)
def test_no_choice_exceeds_the_bound(data: st.DataObject) -> None:
    norm = data.draw(st.sampled_from([*NORMS]))
    query = parse_question(data.draw(st.sampled_from(QUERIES)), POLICY, norm)
    found = prepare(setting(POLICY, "any"), "published")
    moves = Moves.over(found, query, "published", tuple(POLICY.domain.points()))
    table = EffectTable.of(moves)
    places = st.integers(0, len(table.effects) - 1)
    chosen = data.draw(st.dictionaries(places, st.integers(1, 2), min_size=1, max_size=2))
    groups = table.groups(tuple(sorted(chosen.items())))
    every = product(*(combinations_with_replacement(kinds, times) for kinds, times in groups))
    sizes = []
    for choice in every:
        counts = dict.fromkeys((kind for some in choice for kind in some), 0)
        for some in choice:
            for kind in some:
                counts[kind] += 1
        sizes.append(size_of(counts))
    assert max(sizes) == best_choice(groups)[0] <= bound_of(groups)
    score = moves.score
    assert score.most(longest_of(groups)) >= max(sizes)
    added = sum(max(kind.length for kind in kinds) * times for kinds, times in groups)
    assert longest_of(groups) <= added


def test_squares_of_a_table_are_not_those_of_one_cell() -> None:
    """Six moves leave two cells, three each, and enter two: 4 * 9, where 2 * 8^2 = 128 bounded it
    and every irreducible multiset asked for a program of its own."""
    domain = Domain(ward=Labels("abc"), out=Labels("xy"), age=Labels("uvw"))
    policy = Policy(domain=domain, known=(Marginal(["ward"]), Marginal(["out"])))
    found = sensitivity(policy, norm="l2-squared")
    assert (found.lower, found.upper) == (36, 36)


@given(st.lists(st.integers(-40_000, 40_000), min_size=1, max_size=9), st.integers(3, 9))
def test_a_packed_change_is_the_change(numbers: list[int], width: int) -> None:
    outputs: dict[object, int] = {place: place for place in range(len(numbers))}
    change: dict[object, int] = dict(enumerate(numbers))
    kind = Kind((0,), (1,), True, (), (), change, PLAIN, 0, 0)
    names: list[object] = [*outputs]
    assert _unpacked(_packed(kind, outputs, width), width, names) == change


def test_changes_of_many_outputs_count_as_work() -> None:
    """Tried and compared in plain Python they took minutes of which nobody was told."""
    domain = Domain(x=Integers(0, 299))
    policy = Policy(domain=domain, known=(Count({"x": [0, 5, 6]}),))
    found = prepare(setting(policy, "any"), "published")
    spent = {}
    for query in ("cumulative(x)", "ranges(x)"):
        moves = Moves(found, parse_question(query, policy), "published", ((0,), (140,), (299,)))
        with Budget():
            begun = now()
            kinds = moves.kinds
            listed = now()
            by_swapping([(kinds, 4)])
            spent[query] = listed - begun, now() - listed
    assert spent["ranges(x)"][0] > 20 * spent["cumulative(x)"][0] > 0
    assert spent["ranges(x)"][1] > 50 * spent["cumulative(x)"][1] > 0


@given(st.data())
@settings(max_examples=60)
def test_moves_that_are_alike_are_swapped_together(data: st.DataObject) -> None:
    """A choice that is as good as it says, and that no single swap makes better; of very many, in
    as many steps as of few: one after the other took minutes."""
    norm = data.draw(st.sampled_from([*NORMS]))
    query = parse_question(data.draw(st.sampled_from(QUERIES)), POLICY, norm)
    found = prepare(setting(POLICY, "any"), "published")
    moves = Moves.over(found, query, "published", tuple(POLICY.domain.points()))
    table = EffectTable.of(moves)
    places = st.integers(0, len(table.effects) - 1)
    times = st.sampled_from([1, 3, 40, 30_000])
    chosen = data.draw(st.dictionaries(places, times, min_size=1, max_size=3))
    groups = table.groups(tuple(sorted(chosen.items())))
    value, choice = by_swapping(groups)
    assert value == size_of(choice) <= bound_of(groups)
    late = good_choice(groups, 0.0)  # no program has time: a choice is made all the same
    assert value <= late[0] == size_of(late[1]) <= bound_of(groups)
    for kinds, most in groups:
        assert sum(choice[kind] for kind in kinds) == most
        for old, new in product(kinds, kinds):
            if choice[old] and old is not new:
                other = choice.copy()
                other[old] -= 1
                other[new] += 1
                assert size_of(other) <= value


@given(st.data())
@settings(max_examples=60)
def test_squares_in_arrays_are_those_of_one_after_the_other(data: st.DataObject) -> None:
    """Also where they do not fit 64 bits: then they are not added up in arrays."""
    text = data.draw(st.sampled_from([*QUERIES, "[1,2,5/2]*marginal(age)"]))
    query = parse_question(text, POLICY, "l2-squared")
    found = prepare(setting(POLICY, "any"), "published")
    moves = Moves.over(found, query, "published", tuple(POLICY.domain.points()))
    table, score = EffectTable.of(moves), moves.score
    large = data.draw(st.sampled_from([1, 30, 12_000]))
    times = st.lists(st.integers(0, large), min_size=len(table.kinds), max_size=len(table.kinds))
    rows = data.draw(st.lists(times, min_size=1, max_size=4))
    wide = data.draw(st.sampled_from([1, 2**30]))
    kinds = [
        [replace(kind, change={o: x * wide for o, x in kind.change.items()}) for kind in group]
        for group in table.kinds
    ]
    told = _by_output(np.array(rows, dtype=np.int16), kinds, score).tolist()
    for row, most in zip(rows, told, strict=True):
        reach = {}
        for output in {o for group in kinds for kind in group for o in kind.change}:
            changes = [[kind.change.get(output, 0) for kind in group] for group in kinds]
            up = sum(n * max(each) for n, each in zip(row, changes, strict=True))
            down = sum(n * min(each) for n, each in zip(row, changes, strict=True))
            reach[output] = max(up, -down)
        assert most == score.size(reach)
    lengths = [sum(n * w for n, w in zip(row, table.weights, strict=True)) for row in rows]
    bounds = _most(np.array(lengths, dtype=np.int64), score).tolist()
    assert bounds == [score.most(length) for length in lengths]


@given(st.data())
@settings(max_examples=60)
def test_the_size_of_a_change_is_what_its_norm_says(data: st.DataObject) -> None:
    outputs: st.SearchStrategy[object] = st.sampled_from("abcd")
    numbers = st.dictionaries(outputs, st.integers(-9, 9))
    norm = data.draw(st.sampled_from([*NORMS.values()]))
    score = Score(norm, data.draw(st.dictionaries(outputs, st.integers(1, 5))), width=5)
    one, two = data.draw(numbers), data.draw(numbers)
    both = {output: one.get(output, 0) + two.get(output, 0) for output in "abcd"}
    sizes = [
        norm.of([(0, 1), *((x, score.weights.get(output, 1)) for output, x in change.items())])
        for change in (one, both)
    ]
    assert score.size(one) == sizes[0]
    assert score.gained(one, two) == sizes[1] - sizes[0]


@given(st.data())
@settings(max_examples=60)
def test_choices_in_arrays_are_those_one_by_one(data: st.DataObject) -> None:
    """What is known leaves out only what is no larger."""
    norm = data.draw(st.sampled_from([*NORMS]))
    query = parse_question(data.draw(st.sampled_from(QUERIES)), POLICY, norm)
    found = prepare(setting(POLICY, "any"), "published")
    moves = Moves.over(found, query, "published", tuple(POLICY.domain.points()))
    table = EffectTable.of(moves)
    places = st.integers(0, len(table.effects) - 1)
    chosen = data.draw(st.dictionaries(places, st.integers(1, 9), min_size=1, max_size=3))
    groups = table.groups(tuple(sorted(chosen.items())))
    sizes = []
    for kinds in product(*(kinds for kinds, _ in groups)):
        counts: Counter[Kind] = Counter()
        for kind, (_, times) in zip(kinds, groups, strict=True):
            counts[kind] += times
        sizes.append(size_of(counts))
    best = max(sizes)
    for known in (-1, data.draw(st.sampled_from(sizes)), best - 1):
        better = better_choice(groups, moves.score, known)
        assert better is not None
        assert size_of(better) == best if best > known else not better
    assert better_choice(groups, moves.score, best) == Counter()


class Tripled(type(L1)):  # type: ignore[misc]
    """Three times l1, as somebody might add it."""

    name = "l1-tripled"

    def of(self, changes: Iterable[Counted]) -> Exact:
        return 3 * L1.of(changes)


def test_a_norm_of_ones_own_is_not_taken_for_another() -> None:
    """Three times l1 is more than the range that outputs span, which is what the last norm asks."""
    linf = parse_question("histogram", POLICY, "linf")
    assert isinstance(linf, Stacked)
    query = replace(linf, measure=Tripled())
    found = prepare(setting(POLICY, "any"), "published")
    moves = Moves.over(found, query, "published", tuple(POLICY.domain.points()))
    table = EffectTable.of(moves)
    for chosen in product(range(len(table.effects)), repeat=2):
        groups = table.groups(tuple(sorted(Counter(chosen).items())))
        every = [
            size_of(Counter({kind: times for kind, (_, times) in zip(kinds, groups, strict=True)}))
            for kinds in product(*(kinds for kinds, _ in groups))
        ]
        assert max(every) <= bound_of(groups)
        assert max(every) <= best_choice(groups)[0] <= bound_of(groups)
        assert better_choice(groups, moves.score, 0) is None


def test_numbers_that_arrays_do_not_hold_are_left_to_others() -> None:
    for times, norm in product((1, 2**70), NORMS):
        query = parse_question(f"{times}*sum(age)+histogram", POLICY, norm)
        found = prepare(setting(POLICY, "any"), "published")
        moves = Moves.over(found, query, "published", tuple(POLICY.domain.points()))
        table = EffectTable.of(moves)
        groups = table.groups(((0, 3), (1, 3)))
        assert (better_choice(groups, moves.score, 0) is None) == (times > 1)
        every = [
            size_of(Counter({one: 3}) + Counter({two: 3}))
            for one, two in product(*(kinds for kinds, _ in groups))
        ]
        assert best_choice(groups)[0] == max(every)


def test_groups_that_have_kinds_in_common_choose_for_themselves() -> None:
    """One move of a kind alone, and one of any kind that has its effect: the first one stays."""
    for text, norm in product(("sum(age)", "histogram+2*sum(age)"), NORMS):
        found = prepare(setting(POLICY, "any"), "published")
        query = parse_question(text, POLICY, norm)
        moves = Moves.over(found, query, "published", tuple(POLICY.domain.points()))
        for kinds in EffectTable.of(moves).kinds:
            for one in kinds:
                groups = [((one,), 1), (kinds, 1)]
                best = max(size_of(Counter([one]) + Counter([other])) for other in kinds)
                for value, choice in (by_swapping(groups), best_choice(groups)):
                    assert choice[one] >= 1 and choice.total() == 2
                    assert value == size_of(choice) <= best
                assert best_choice(groups)[0] == best
