"""Cells and a few facts beside them: how many moves at the most, against the search."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest

from blowproof.models import (
    Between,
    BoundQuery,
    Count,
    Database,
    Domain,
    Impossible,
    Integers,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    Sum,
    parse_query,
    setting,
)
from blowproof.models.norms import L2_SQUARED
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.irreducibles import irreducibles
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.neighbours.zero_parts import zero_part
from blowproof.verifier.proofs.write import certify_answer
from blowproof.verifier.theorems.beside import (
    all_at_once,
    beside,
    by_stages,
    facts_beside,
    few_labels,
    groups_of,
    longest_beside,
)
from blowproof.verifier.theorems.two_cycles import (
    Arc,
    exchanged_two,
    longest_two,
    moves_of,
    relabelled_two,
    sided_two,
    squared_two,
    squares_of,
)
from blowproof.verifier.theorems.values.squares_beside import (
    exchanged_squares,
    squares_beside,
    squares_of_sides,
)


def asked(policy: Policy, text: str = "histogram") -> Question:
    query: BoundQuery = parse_query(text, policy)
    return Question(prepare(setting(policy), "published"), query, "published")


def table(columns: int) -> Policy:
    """Both one-way margins of 2 x c."""
    domain = Domain(
        a=Labels([f"c{k}" for k in range(columns)]), b=Labels(["F", "M"]), z=Integers(0, 9)
    )
    return Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])))


@pytest.mark.parametrize("norm", ["l2-squared", "linf", "range"])
@pytest.mark.parametrize("seed", range(4))
def test_no_class_is_left_more_often_than_there_are_cycles(seed: int, norm: str) -> None:
    """Squares were bounded by those of all moves together, 2 m^2; the search lists every pair."""
    draw = random.Random(seed)
    cut = draw.choice([{"b": "F"}, {"b": "F", "z": Between(0, 4)}, {"a": ["c0", "c1"], "b": "F"}])
    domain = Domain(a=Labels(["c0", "c1", "c2"][: 2 + seed % 2]), b=Labels("FM"), z=Integers(0, 9))
    policy = Policy(domain=domain, known=(Marginal(["a"]), Count(cut)))
    query = parse_question("histogram", policy, norm)
    found = facts_beside(Question(prepare(setting(policy), "published"), query, "published"))
    listed = sensitivity(policy, query, engine="search")
    assert found is not None and found.upper is not None and listed.status == "exact"
    assert found.lower <= listed.lower <= found.upper


def test_squares_of_a_wide_table() -> None:
    """Two cycles that share 3 moves: 2 * 7 * 7 * 8. By how often a class is left it was 1,260."""
    policy = table(10)
    query = parse_question("histogram", policy, "l2-squared")
    found = facts_beside(Question(prepare(setting(policy), "published"), query, "published"))
    assert found is not None and found.lower == found.upper == 784


@pytest.mark.parametrize(
    ("columns", "moves"), [(2, 4), (3, 8), (4, 12), (5, 18), (6, 24), (7, 32), (10, 60), (51, 1352)]
)
def test_both_margins_of_two_rows(columns: int, moves: int) -> None:
    policy = table(columns)
    for text, change in (("histogram", 2), ("cumulative(z)", 9), ("range(z,2,3)", 1)):
        found = sensitivity(policy, text, time_limit=60)
        assert (found.status, found.lower, found.engine) == ("exact", change * moves, "beside")


@pytest.mark.parametrize("columns", range(1, 14))
@pytest.mark.parametrize("seed", range(3))
def test_two_cycles_are_irreducible(columns: int, seed: int) -> None:
    rng = random.Random(seed)
    widths = [rng.randint(0, 1 + seed) for _ in range(columns)] if seed else [1] * columns
    arcs = longest_two(widths)
    assert bool(arcs) == any(widths)
    if not arcs:
        return
    effects: Counter[tuple[int, ...]] = Counter()
    total = [0] * (columns + 1)
    for (c, out), (d, into), times in arcs:
        assert 0 <= out <= widths[c]
        assert 0 <= into <= widths[d]
        effect = [0] * (columns + 1)
        effect[c] -= 1
        effect[d] += 1
        effect[-1] = into - out
        effects[tuple(effect)] += times
        total = [t + times * e for t, e in zip(total, effect, strict=True)]
    assert not any(total)
    assert zero_part(effects) is False
    assert moves_of(arcs) <= max(widths) * (columns + 1) ** 2 // 2
    if not seed:
        assert moves_of(arcs) == (columns + 1) ** 2 // 2


def drawn(rng: random.Random) -> Policy:
    """Cells and one more count, of some values of each cell; impossible values; whole multiples."""
    cells, rows = rng.choice([(2, 2), (3, 2), (2, 3), (4, 2)])
    domain = Domain(a=Integers(0, cells - 1), b=Integers(0, rows - 1), z=Labels(["u", "v"]))
    known: list[object] = [Marginal(["a"])]
    kind = rng.randrange(3)
    some = {"a": Between(0, rng.randrange(cells)), "b": rng.randrange(rows)}
    if kind == 0:
        known.append(Count({"b": rng.randrange(rows)}))
    elif kind == 1:
        known.append(Count(some))
        known.append(Count({"a": 0}))
    else:
        terms = [(times, {"b": k}) for k, times in enumerate(rng.sample([1, 2, 3], rows))]
        known.append(Sum(terms))
    if rng.random() < 0.5:
        known.append(Impossible([{"a": rng.randrange(cells), "b": rng.randrange(rows)}]))
    rng.shuffle(known)
    return Policy(domain=domain, known=tuple(known))  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_the_search(seed: int) -> None:
    rng = random.Random(seed)
    spoken = exact = 0
    for number in range(20):
        policy = drawn(rng)
        text = ("histogram", "marginal(z)", "cumulative(b)", "marginal(b,z)")[number % 4]
        question = asked(policy, text)
        found = facts_beside(question)
        if found is None:
            continue
        truth = sensitivity(policy, text, engine="search", time_limit=20)
        assert found.upper is not None
        assert truth.lower <= found.upper, (policy, text)
        assert truth.upper is not None
        assert found.lower <= truth.upper, (policy, text)
        if found.witness is not None:
            assert check_pair(question.setting, "published", found.witness), (policy, text)
        spoken += 1
        exact += found.lower == found.upper
    assert spoken >= 15
    assert exact >= 1


def test_cells_that_lack_a_label() -> None:
    """Four cells of which one has one label have 11 moves: within the bound, not met by it."""
    domain = Domain(a=Integers(0, 3), b=Integers(0, 1), z=Labels(["u", "v"]))
    known = (Marginal(["a"]), Marginal(["b"]), Impossible([{"a": 0, "b": 0}]))
    found = facts_beside(asked(Policy(domain=domain, known=known)))
    assert found is not None
    assert found.upper == 24
    assert found.lower <= 22


def test_an_implied_fact_changes_nothing() -> None:
    known = table(7).known
    written = (Count({"b": "F"}), *known, Marginal(["b"]), Count({"a": ["c0", "c1"]}), Count({}))
    policy = Policy(domain=table(7).domain, known=written)
    found = sensitivity(policy, time_limit=30)
    assert (found.status, found.lower) == ("exact", 64)


def test_the_base_has_as_many_classes_as_can_be() -> None:
    """Two counts of ages make three cells, sexes two: two facts were beside these."""
    domain = Domain(sex=Labels(["F", "M"]), age=Integers(18, 99))
    bands = (Count({"age": Between(18, 34)}), Count({"age": Between(35, 64)}))
    question = asked(Policy(domain=domain, known=(Marginal(["sex"]), *bands)))
    found = facts_beside(question)
    assert found is not None
    assert (found.lower, found.upper) == (16, 16)  # as `search` says of 2 x 3
    assert found.witness is not None
    assert check_pair(question.setting, "published", found.witness)


def test_stages_bound_several_facts() -> None:
    assert by_stages(4, (1, 1)) == 276
    domain = Domain(
        a=Labels(["1", "2"]), b=Labels(["1", "2"]), c=Labels(["1", "2", "3", "4"]),
        z=Labels(["u", "v"]),
    )  # fmt: skip
    known = (Marginal(["a"]), Marginal(["b"]), Marginal(["c"]))
    found = facts_beside(asked(Policy(domain=domain, known=known)))
    assert found is not None
    assert found.upper == 462  # all at once (`two_beside`): less than twice what stages say


def test_sums_of_cycles_are_few_points() -> None:
    """Two facts beside cells: no fewer moves than there are, and fewer than by stages."""
    for sizes, known, longest in (
        ((2, 2, 3), (["a"], ["b"], ["c"]), 24),
        ((2, 2, 4), (["a"], ["b"], ["c"]), 42),
        ((2, 2, 2), (["a", "b"], ["a", "c"]), 8),
        ((2, 8, 2), (["a", "b"], ["a", "c"]), 620),
    ):
        axes = zip("abc", sizes, strict=True)
        domain = Domain(**{axis: Labels([str(k) for k in range(size)]) for axis, size in axes})
        policy = Policy(domain=domain, known=tuple(map(Marginal, known)))
        setting = asked(policy).setting
        found = beside(class_table(setting), groups_of(setting))
        assert found is not None
        assert len(found.widths) == 2
        assert longest <= all_at_once(found)
        if found.count > 10:
            assert all_at_once(found) < by_stages(found.count, found.widths) / 2


def test_known_numbers_hold_the_pair_where_it_fits() -> None:
    domain = Domain(a=Labels(["x", "y", "w"]), b=Labels(["F", "M"]), z=Integers(0, 9))
    many = 10**6
    known = tuple(
        Count(region, answer=answer)
        for region, answer in (
            ({"a": "x"}, many), ({"a": "y"}, many), ({"b": "F"}, many),
        )
    )  # fmt: skip
    found = sensitivity(
        Policy(domain=domain, known=known, database=Database(size=3 * many, answers="given")),
        time_limit=60,
    )
    assert (found.status, found.lower) == ("exact", 16)


@pytest.mark.parametrize(("columns", "squares"), [(2, 12), (3, 36), (4, 72)])
def test_squares_of_two_margins_are_what_the_search_says(columns: int, squares: int) -> None:
    """From the pair of most moves they were 32 for 2 x 3, and the bound was larger than 36."""
    policy = table(columns)
    query = parse_question("histogram", policy, "l2-squared")
    found = facts_beside(Question(prepare(setting(policy), "published"), query, "published"))
    assert found is not None and found.lower == found.upper == squares
    searched = sensitivity(policy, "histogram", norm="l2-squared", engine="search")
    assert searched.upper == squares


@pytest.mark.parametrize("count", [*range(1, 13), 51, 3143])
def test_the_two_cycles_have_the_squares_that_bound_all(count: int) -> None:
    arcs = squared_two(range(count))
    assert squares_of(arcs) == squares_beside(count, 1)
    assert sum(arc.times * (arc.target[1] - arc.source[1]) for arc in arcs) == 0
    inner = squares_beside(count, 1)
    best = max((2 * m + 1) * (count - m) * (count - m + 1) for m in range(count // 2 + 1))
    assert inner == 2 * best <= squares_beside(count, 2) // 4 + 1


@pytest.mark.parametrize("seed", range(6))
def test_no_pair_has_larger_squares(seed: int) -> None:
    """Cells and one fact with some labels: the search lists what there is."""
    draw = random.Random(f"squares {seed}")
    columns = draw.choice([2, 3])
    domain = Domain(a=Labels([f"c{k}" for k in range(columns)]), b=Labels("uvw"), z=Labels("01"))
    where = draw.choice([{"b": "u"}, {"b": ["u", "v"]}, {"a": "c0", "b": "u"}])
    sum_ = Sum([(1, {"b": "u"}), (2, {"b": "v"})])
    fact = Count(where) if seed % 3 else sum_
    policy = Policy(domain=domain, known=(Marginal(["a"]), fact))
    query = parse_question("histogram", policy, "l2-squared")
    found = facts_beside(Question(prepare(setting(policy), "published"), query, "published"))
    searched = sensitivity(policy, "histogram", norm="l2-squared", engine="search", time_limit=20)
    assert found is not None and found.upper is not None and searched.status == "exact"
    assert searched.upper is not None and found.lower <= searched.upper <= found.upper


@pytest.mark.parametrize("count", range(2, 13))
def test_the_two_cycles_that_exchange_most_meet_their_bound(count: int) -> None:
    arcs = exchanged_two(range(count))
    left = Counter(arc.source[0] for arc in arcs for _ in range(arc.times))
    entered = Counter(arc.target[0] for arc in arcs for _ in range(arc.times))
    assert left == entered
    assert sum(times * times for times in left.values()) == exchanged_squares(count)
    assert sum(arc.times * (arc.target[1] - arc.source[1]) for arc in arcs) == 0
    effects: Counter[tuple[int, ...]] = Counter()
    for (one, low), (two, high), times in arcs:
        effects[(*((k == two) - (k == one) for k in range(count)), high - low)] += times
    assert zero_part(effects) is False


@pytest.mark.parametrize(("norm", "times"), [("linf", 1), ("range", 2)])
@pytest.mark.parametrize("columns", [3, 5, 51])
def test_two_cycles_that_share_a_move_leave_one_value_most_often(
    columns: int, norm: str, times: int
) -> None:
    """51 cells were 42..51 in linf, and 84..102 in range."""
    query = parse_question("histogram", table(columns), norm)
    question = Question(prepare(setting(table(columns)), "published"), query, "published")
    found = facts_beside(question)
    assert found is not None and found.lower == found.upper == times * columns
    assert found.witness is not None
    assert check_pair(question.setting, "published", found.witness)


@pytest.mark.parametrize(("columns", "squares"), [(2, 20), (3, 44), (4, 84)])
def test_what_cells_exchange_is_what_irreducibles_do(columns: int, squares: int) -> None:
    """Every record of a cell may leave with one z and come with another: twice how often, squared.

    2 x 10 was 780..1,260, and 71 times as slow as in l1, to its limit.
    """
    policy = table(columns)
    query = parse_question("marginal(a,z)", policy, "l2-squared")
    found = facts_beside(Question(prepare(setting(policy), "published"), query, "published"))
    assert found is not None and found.lower == found.upper == squares
    assert squares == 2 * most_exchanged(columns)


def most_exchanged(count: int) -> int:
    """Return the most of squares of how often classes are left, over all irreducible multisets of
    effects (what class is left, what is entered, what that does to the label).
    """
    classes = range(count)
    arcs = {
        (*((k == two) - (k == one) for k in classes), label)
        for one in classes
        for two in classes
        for label in (-1, 0, 1)
    }
    effects = sorted(arc for arc in arcs if any(arc))
    most = 0
    for multiset in irreducibles(effects):
        left, within = [0] * count, 0
        for place, times in multiset:
            if -1 in effects[place][:-1]:
                left[effects[place].index(-1)] += times
            else:  # in whichever class
                within += times
        most = max(most, *(sum((x + within * (k == c)) ** 2 for k, x in enumerate(left))
                           for c in classes))  # fmt: skip
    return most


@pytest.mark.parametrize(("norm", "most"), [("l2-squared", 163_200), ("linf", 8), ("range", 16)])
def test_what_every_move_may_change_is_bounded_by_the_moves(norm: str, most: int) -> None:
    """All ranges of an age that no fact speaks of: 163,200..323,136 in squares, after 0.7 s."""
    domain = Domain(ward=Labels("abc"), sex=Labels("FM"), age=Integers(0, 99))
    policy = Policy(domain=domain, known=(Marginal(["ward"]), Marginal(["sex"])))
    query = parse_question("ranges(age)", policy, norm)
    found = facts_beside(Question(prepare(setting(policy), "published"), query, "published"))
    assert found is not None and found.lower == found.upper == most


def test_what_ten_cells_exchange() -> None:
    """Of labels 6 and 3, which have a common divisor, it would be 828."""
    answer = sensitivity(table(10), "marginal(a,z)", norm="l2-squared")
    assert answer.lower == answer.upper == 812


@pytest.mark.parametrize("seed", range(8))
def test_no_cells_exchange_more(seed: int) -> None:
    """Some labels only, rows with numbers of their own, weights; the search lists what there is."""
    draw = random.Random(f"exchanged {seed}")
    columns = draw.choice([2, 3])
    domain = Domain(a=Labels([f"c{k}" for k in range(columns)]), b=Labels("uv"), z=Labels("01"))
    where = draw.choice([{"b": "u"}, {"b": "u", "z": "0"}, {"a": "c0", "b": "u"}])
    empty = [Impossible({"a": "c1", "b": "v"})] if seed % 2 else []
    policy = Policy(domain=domain, known=(Marginal(["a"]), Count(where), *empty))
    written = draw.choice(["marginal(a,z)", "marginal(a,b)", "histogram"])
    query = parse_question(written, policy, "l2-squared")
    if seed % 3:
        width = columns * (4 if written == "histogram" else 2)
        weights = tuple(Fraction(draw.randint(1, 5), 3) for _ in range(width))
        bound = parse_query(written, policy)
        part = Part(bound, weights, bound.outputs(domain))
        query = Stacked((part,), measure=L2_SQUARED)
    found = facts_beside(Question(prepare(setting(policy), "published"), query, "published"))
    searched = sensitivity(policy, query, engine="search", time_limit=20)
    assert found is not None and found.upper is not None and searched.status == "exact"
    assert searched.upper is not None and found.lower <= searched.upper <= found.upper


@pytest.mark.parametrize(("norm", "times"), [("linf", 1), ("range", 2)])
@pytest.mark.parametrize("columns", [2, 3, 8])
def test_one_value_changes_by_so_many_as_there_are_cells(
    columns: int, norm: str, times: int
) -> None:
    """It was one more: how often a class is left. 2 x 8 was 8..9 in linf."""
    answer = sensitivity(table(columns), "histogram", norm=norm, time_limit=20)
    assert answer.lower == answer.upper == times * columns


@pytest.mark.parametrize(("columns", "squares"), [(2, 20), (3, 64), (4, 144)])
def test_squares_by_label_are_what_the_search_says(columns: int, squares: int) -> None:
    """By how often one label is left, and all moves, it was at most 20, 68 and 160."""
    domain = Domain(a=Integers(1, columns), b=Labels(["F", "M"]), z=Labels(["u", "v"]))
    policy = Policy(domain=domain, known=(Marginal(["a"]), Marginal(["b"])))
    query = parse_question("marginal(b,z)", policy, "l2-squared")
    listed = sensitivity(policy, query, engine="search")
    found = facts_beside(Question(prepare(setting(policy), "published"), query, "published"))
    assert found is not None and found.upper == squares
    assert listed.status == "exact"
    assert found.lower == listed.lower == squares


def test_squares_by_label_beside_fifty_one_cells() -> None:
    """Were labels 21 and 21 of two cycles one pair, it would be 1,871,604."""
    answer = sensitivity(table(51), "marginal(b,z)", norm="l2-squared")
    assert answer.lower == answer.upper == 2 * (871**2 + 420**2)


def test_squares_by_label_are_met_by_two_cycles() -> None:
    for count in range(1, 40):
        met = 0
        for arcs in (squared_two(range(count)), sided_two(range(count)), longest_two([1] * count)):
            ends = Counter(arc.target[1] for arc in arcs for _ in range(arc.times))
            met = max(met, ends[0] ** 2 + ends[1] ** 2)
        assert squares_of_sides(count, (count + 1) ** 2 // 2) == met


@pytest.mark.parametrize(("query", "squares"), [("marginal(a,b)", 588), ("marginal(a,z)", 812)])
def test_a_class_of_one_record_is_where_few_leave(query: str, squares: int) -> None:
    """Most of the ten cells lose six records or more, and one that holds a single one can be that
    which loses one; of the pairs that fit, the best for the query is taken.
    """
    known = (Marginal(["a"], answers=[1, *[50] * 9]), Marginal(["b"], answers=[220, 231]))
    policy = Policy(domain=table(10).domain, known=known, database=Database(size=451))
    question = Question(
        prepare(setting(policy), "published"),
        parse_question(query, policy, "l2-squared"),
        "published",
    )
    found = facts_beside(question)
    assert found is not None
    assert found.lower == found.upper == squares
    assert found.witness is not None
    assert check_pair(question.setting, "published", found.witness)


@pytest.mark.parametrize("seed", range(4))
def test_few_labels_are_no_bound_below_the_truth(seed: int) -> None:
    """One or two cells, a few records, and facts beside them that count hardly any."""
    draw = random.Random(seed)
    fewer = 0
    for cells, wide, size in ((1, 1, 5), (2, 1, 4), (1, 2, 4), (1, 1, 6)):
        domain = Domain(a=Labels("pq"[:cells]), z=Integers(0, wide), y=Labels("FM"))
        records = [(draw.randrange(cells), 0, 0) for _ in range(size - 2)]
        for _ in "ab":
            records.append((draw.randrange(cells), draw.randint(0, wide), draw.randrange(2)))
        held = Counter(a for a, _, _ in records)
        known = (
            Marginal(["a"], answers=[held[k] for k in range(cells)]),
            Sum([(k, {"z": k}) for k in (1, 2)[:wide]], equals=sum(z for _, z, _ in records)),
            Count({"y": "M"}, answer=sum(y for _, _, y in records)),
        )
        policy = Policy(domain=domain, known=known, database=Database(size=size))
        question = asked(policy)
        found = beside(class_table(question.setting), groups_of(question.setting))
        if found is None or not found.widths:
            continue
        few = few_labels(found, question.setting)
        assert None not in few
        most = longest_beside(found, few)
        truth = sensitivity(policy, engine="brute", time_limit=60)
        assert truth.status == "exact" and truth.lower <= 2 * most
        fewer += most < longest_beside(found)
    assert fewer


@pytest.mark.parametrize("cells", [3, 4, 7])
def test_one_record_of_either_kind_leaves_three_cycles(cells: int) -> None:
    """Labels (1, 1), (-1, 0) and (0, -1), each round all cells: a histogram changes by 2 a move."""
    places = Labels([f"c{k}" for k in range(cells)])
    domain = Domain(a=places, z=Labels("FM"), y=Labels("FM"), free=Labels(["no", "yes"]))
    known = (
        Marginal(["a"], answers=[3] * cells),
        Count({"z": "M"}, answer=1),
        Count({"y": "M"}, answer=1),
    )
    question = asked(Policy(domain=domain, known=known, database=Database(size=3 * cells)))
    before, after = [], []
    for (z, y), (to_z, to_y) in (((0, 0), (1, 1)), ((1, 0), (0, 0)), ((0, 1), (0, 0))):
        before += [(0, z, y, 0), *((k, 0, 0, 0) for k in range(1, cells))]
        after += [(1, to_z, to_y, 1), *(((k + 1) % cells, 0, 0, 1) for k in range(1, cells))]
    pair = Pair(before=tuple(before), after=tuple(after))
    assert check_pair(question.setting, "published", pair)
    found = facts_beside(question)
    assert found is not None
    assert found.upper == 2 * 3 * cells == question.query.difference(pair.moves("published"))


def test_parts_are_one_more_than_few_labels() -> None:
    """Twenty cells of 250 records and a count of ten beside another one: 11 * 220 moves, or what
    both counts leave, 101 * 20. Of many counts it is 20 moves for each that they count.
    """
    cells = [f"c{k}" for k in range(20)]
    kinds = ["home", "ward", "died", *"abcd"]
    domain = Domain(a=Labels(cells), out=Labels(kinds), age=Integers(0, 99))
    counts = [Count({"out": "ward", "a": cells[:8]}, answer=10)]
    for answers, moves in (([150], 11 * 220), ([90], 101 * 20), ([90, 5, 5, 7, 3], 121 * 20)):
        more = [Count({"out": kinds[2 + k]}, answer=n) for k, n in enumerate(answers)]
        table = Marginal(["a"], answers=[250] * 20)
        policy = Policy(domain=domain, known=(table, *counts, *more), database=Database(size=5000))
        question = asked(policy)
        found = facts_beside(question)
        assert found is not None and found.upper == 2 * moves
        told, proof = certify_answer(policy, question.query, found)
        assert proof.kind == "beside"
        assert told.proof is not None and told.proof.value == found.upper


@pytest.mark.parametrize("two", [sided_two, relabelled_two])
@pytest.mark.parametrize("count", [5, 8, 13])
def test_other_two_cycles_are_irreducible(two: Callable[[range], list[Arc]], count: int) -> None:
    effects: Counter[tuple[int, ...]] = Counter()
    for (one, low), (other, high), times in two(range(count)):
        effects[(*((k == other) - (k == one) for k in range(count)), high - low)] += times
    moves = [[times * each for each in effect] for effect, times in effects.items()]
    assert moves and not any(map(sum, zip(*moves, strict=True)))
    assert zero_part(effects) is False


@pytest.mark.parametrize(
    ("query", "lower", "upper"),
    [
        ("sum(age)", 98 * 9 * 8 + 81 * 8 * 17, 81 * 208 + 17 * 104),
        ("cumulative(age)", 18_072, 81 * 208 + 17 * 104),
        ("ranges(age)", 475_488, 2550 * 208 + 1428 * 104),
        ("count(old)", 208, 208),
    ],
)
def test_sums_change_most_from_the_least_values_to_the_largest(
    query: str, lower: int, upper: int
) -> None:
    """24 branches, and how many are minors; 208 adults leave at the most, and then 104 minors."""
    policy = Policy(
        domain=Domain(branch=Integers(1, 24), age=Integers(0, 99)),
        known=(Marginal(["branch"]), Count({"age": Between(0, 17)})),
        queries=(NamedCount("old", {"age": Between(60, 99)}),),
    )
    told = facts_beside(asked(policy, query))
    assert told is not None and told.upper is not None
    assert (told.lower, told.upper) == (lower, upper)
    assert told.witness is not None and check_pair(setting(policy), "published", told.witness)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_from_extreme_values_are_pairs(seed: int) -> None:
    rng, several = random.Random(seed), 0
    for _ in range(12):
        policy = drawn(rng)
        for query in ("sum(b)", "cumulative(b)", "ranges(b)"):
            question = asked(policy, query)
            told = facts_beside(question)
            if told is not None and told.witness is not None and told.lower:
                several += 1
                assert check_pair(question.setting, "published", told.witness)
    assert several >= 3
