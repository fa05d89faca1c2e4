"""What classes change together in other norms: against every choice, and against the definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    Between,
    BlowproofError,
    Count,
    Domain,
    Exact,
    Impossible,
    Integers,
    Known,
    Labels,
    Marginal,
    Point,
    Policy,
    Reading,
    setting,
)
from blowproof.models.base.clock import Budget
from blowproof.models.norms import L2_SQUARED, NORMS
from blowproof.models.queries.matrix import MatrixQuery
from blowproof.models.queries.query import Row
from blowproof.models.stacks.stacked import Part, Stacked
from blowproof.models.stacks.written import parse_question
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.plan import answer
from blowproof.verifier.portfolio.registry import named
from blowproof.verifier.portfolio.strategy import Reduction
from blowproof.verifier.theorems.values import in_norms
from blowproof.verifier.theorems.values.in_norms import (
    Kind,
    above,
    above_in_classes,
    best_by_orders,
    best_in_norm,
    kinds_of,
)
from blowproof.verifier.theorems.values.lines_in_norms import on_a_line
from refusals import refuse
from strategies import policies

OTHERS = [norm for norm in NORMS if norm != "l1"]
DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 4))
QUERIES = (
    "histogram", "marginal(age)", "marginal(sex)", "sum(age)", "cumulative(age)", "ranges(age)",
    "1/2*histogram + 3*marginal(sex)", "marginal(sex) + 1/3*sum(age)", "cumulative(age) + sum(age)",
    "[1,2,3,1/2,5]*marginal(age)",
)  # fmt: skip


def choices(
    query: Stacked, classes: Sequence[Sequence[Point]], each: int, most: int | None
) -> Exact:
    """The largest change of any exchanges, one after the other."""
    pairs = [[(x, y) for x in values for y in values] for values in classes]
    best: Exact = 0
    for chosen in product(*(product(every, repeat=each) for every in pairs)):
        steps = [step for some in chosen for step in some if step[0] != step[1]]
        for some in [steps] if most is None else combinations(steps, min(most, len(steps))):
            change: dict[Point, int] = {}
            for x, y in some:
                change[x] = change.get(x, 0) - 1
                change[y] = change.get(y, 0) + 1
            best = max(best, query.norm(change))
    return best


def drawn_classes(data: st.DataObject, count: int) -> list[list[Point]]:
    values = st.tuples(st.integers(0, 1), st.integers(0, 4))
    return [
        sorted(data.draw(st.sets(values, min_size=1, max_size=3)))
        for _ in range(data.draw(st.integers(1, count)))
    ]


@pytest.mark.parametrize("norm", OTHERS)
@given(data=st.data())
@settings(max_examples=60)
def test_one_exchange_in_each_class(norm: str, data: st.DataObject) -> None:
    query = parse_question(data.draw(st.sampled_from(QUERIES)), Policy(domain=DOMAIN), norm)
    assert isinstance(query, Stacked)
    classes = drawn_classes(data, 3)
    true = choices(query, classes, 1, None)
    found = best_in_norm(query, classes)
    assert found is not None and found.lower <= true <= found.upper
    change: dict[Point, int] = {}
    for x, y in found.pairs:
        change[x], change[y] = change.get(x, 0) - 1, change.get(y, 0) + 1
    assert query.norm(change) == found.lower
    if norm != "l2-squared":
        assert found.upper == true
    line = on_a_line(query, classes, float("inf"))
    assert line is None or line.lower <= true <= line.upper


@pytest.mark.parametrize("norm", OTHERS)
@given(data=st.data())
@settings(max_examples=30)
def test_so_many_exchanges_of_so_many_in_all(norm: str, data: st.DataObject) -> None:
    query = parse_question(data.draw(st.sampled_from(QUERIES)), Policy(domain=DOMAIN), norm)
    assert isinstance(query, Stacked)
    classes, most = drawn_classes(data, 2), data.draw(st.integers(1, 3))
    upper = above(query, kinds_of(query, classes), 2, most)
    assert upper is not None and choices(query, classes, 2, most) <= upper


@pytest.mark.parametrize("norm", OTHERS)
def test_many_values_of_a_class_are_bounded_without_comparing_all(norm: str) -> None:
    """More values than are compared two by two: the bound is no smaller than the worst two."""
    wide = Domain(a=Integers(0, 9), b=Integers(0, 9))
    for text in ("histogram", "marginal(a) + 1/2*marginal(b)", "sum(a) + marginal(b)"):
        query = parse_question(text, Policy(domain=wide), norm)
        assert isinstance(query, Stacked)
        values = list(product(range(10), repeat=2))
        true = max(query.norm({x: -1, y: 1}) for x, y in combinations(values, 2))
        found = best_in_norm(query, [values])
        assert found is not None and found.lower <= true <= found.upper


THEOREMS = ("cycles", "exchanges", "beside", "listed", "bounds", "one-sided")


@pytest.mark.parametrize("name", THEOREMS)
@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove"])
@given(data=st.data())
@settings(max_examples=40)
def test_theorems_in_other_norms_say_nothing_false(
    name: str, reading: Reading, data: st.DataObject
) -> None:
    """Each theorem by itself, against every database of few records."""
    theorem = named(name)
    policy = data.draw(policies(max_values=5, max_records=3))
    text = data.draw(st.sampled_from(["histogram", *_of(policy)]))
    norm = data.draw(st.sampled_from(OTHERS))
    try:
        query = parse_question(text, policy, norm)
        question = Question(prepare(setting(policy), reading), query, reading)
        if theorem.why_not(question):
            return
        assert not isinstance(theorem.run, Reduction)
        found = theorem.run(question)
        if found is None:
            return
        assert isinstance(found, Answer)
        listed = sensitivity(
            policy,
            query,
            reading=reading,
            engine="brute",
            max_size=3,
        )
    except BlowproofError as error:
        refuse(error)
    assert found.upper is None or listed.lower <= found.upper
    assert listed.upper is None or found.lower <= listed.upper
    if found.witness is not None:
        moves = found.witness.moves(question.reading)
        assert query.difference(moves) == found.lower
        assert check_pair(question.setting, question.reading, found.witness)


def _of(policy: Policy) -> list[str]:
    found = [f"marginal({name})" for name in policy.domain.names]
    for name in policy.domain.names:
        if isinstance(policy.domain[name], Integers):
            found += [f"sum({name})", f"cumulative({name})", f"ranges({name})"]
    return [*found, f"{found[0]} + 1/2*histogram"]


@pytest.mark.parametrize(
    ("query", "sizes"),
    [
        ("cumulative(age)", (16, 2, 2)),
        ("ranges(age)", (36, 2, 4)),
        ("sum(age)", (64, 8, 0)),
        ("marginal(age)", (8, 2, 4)),
        ("marginal(sex)", (0, 0, 0)),
    ],
)
def test_by_hand(query: str, sizes: tuple[int, int, int]) -> None:
    """Two sexes, ages 0 to 4: every sex exchanges one age for another, all at once."""
    policy = Policy(domain=DOMAIN, known=(Marginal(["sex"]),))
    for norm, size in zip(OTHERS, sizes, strict=True):
        answer = sensitivity(policy, query, norm=norm)
        assert (answer.lower, answer.upper) == (size, size)


def test_an_exchange_in_every_norm() -> None:
    """A woman of age 0 goes and one of age 4 comes (or of age 2 and of age 0); a man goes alone."""
    policy = Policy(domain=DOMAIN, known=(Count({"sex": "F"}),))
    for query, sizes in {"sum(age)": (16, 4, 0), "ranges(age)": (9, 1, 2)}.items():
        for norm, size in zip(OTHERS, sizes, strict=True):
            answer = sensitivity(policy, query, norm=norm, reading="add-remove")
            assert (answer.lower, answer.upper) == (size, size)


def test_classes_with_outputs_of_their_own_all_change() -> None:
    """Along the sum of all outputs no class's rows lie apart: one class was found to change, 4."""
    domain = Domain(school=Labels("abcdef"), sex=Labels("FM"), age=Integers(0, 3))
    policy = Policy(domain=domain, known=(Marginal(["school"]),))
    query = parse_question("marginal(school,sex)", policy, "l2-squared")
    question = Question(prepare(setting(policy), "published"), query, "published")
    run = named("cycles").run
    assert not isinstance(run, Reduction)
    found = run(question)
    assert isinstance(found, Answer) and found.lower == found.upper == 12


@given(st.data())
@settings(max_examples=120, deadline=None)
def test_the_best_order_is_the_best_of_all_choices(data: st.DataObject) -> None:
    """Records of up to five classes that are counted once, or nowhere, by every choice of two."""
    size = data.draw(st.integers(1, 6))
    counted = data.draw(st.lists(st.integers(-1, 3), min_size=size, max_size=size))
    columns: tuple[Row, ...] = tuple({} if place < 0 else {place: 1} for place in counted)
    inner = MatrixQuery(Domain(x=Integers(0, size - 1)), columns)
    weight = data.draw(st.sampled_from([Fraction(1), Fraction(2, 3)]))
    query = Stacked((Part(inner, (weight,)),), measure=L2_SQUARED)
    one_class = st.lists(st.tuples(st.integers(0, size - 1)), min_size=1, max_size=4)
    classes = data.draw(st.lists(one_class, min_size=1, max_size=5))
    found = best_by_orders(query, classes)
    assert found is not None and found.lower == found.upper == choices(query, classes, 1, None)
    change: Counter[Point] = Counter()
    for x, y in found.pairs:
        change[x] -= 1
        change[y] += 1
    assert query.norm(change) == found.lower
    assert len(found.pairs) <= len(classes)
    assert all(any({x, y} <= set(each) for each in classes) for x, y in found.pairs)


def test_offices_that_share_their_outputs_are_exact() -> None:
    """It was 54..58: no theorem met the bound, which took the sizes one by one."""
    domain = Domain(area=Labels("abcdefg"), kind=Labels("uvwxyz"))
    empty = [("a", "xyz"), ("b", "uyz"), ("c", "uvw"), ("d", "uvz"), ("e", "vwxy"), ("f", "uwy")]
    none = [Impossible({"area": a, "kind": list(k)}) for a, k in empty]
    known: tuple[Known, ...] = (Marginal(["area"]), *none)
    policy = Policy(domain=domain, known=known)
    found = sensitivity(policy, "marginal(kind)", norm="l2-squared")
    assert found.lower == found.upper == 54 and found.decided_by[1][1] == "cycles"


@pytest.mark.parametrize("query", ["marginal(sex,race)", "marginal(state,race)"])
def test_an_attribute_that_nobody_looks_at_costs_nothing(query: str) -> None:
    """Values of a pair differ where the query looks, not by age alone."""
    found = []
    for ages in (0, 99):
        domain = Domain(
            state=Labels("abcdefg"), sex=Labels("FM"), race=Labels("pqr"), age=Integers(0, ages)
        )
        policy = Policy(domain=domain, known=(Marginal(["state"]), Marginal(["sex"])))
        asked = Question(setting(policy), parse_question(query, policy, "l2-squared"), "published")
        told = answer(asked, "beside")
        assert told.lower == told.upper
        found.append(told.lower)
    assert found[0] == found[1]


def test_rows_of_millions_of_numbers_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It took nine seconds to find that they are too many."""
    domain = Domain(age=Integers(0, 9_999_999), sex=Labels(["F", "M"]))
    ranges = [Between(160_000, 669_999), Between(140_000, 309_999)]
    policy = Policy(domain=domain, known=tuple(Count({"age": each}) for each in ranges))
    one = setting(policy)
    table = class_table(one)

    def told(text: str) -> Exact | None:
        question = Question(one, parse_question(text, policy, "l2-squared"), "published")
        home = list(range(len(table.classes)))
        return above_in_classes(question, table, home, 1, 4, end=float("inf"))

    assert told("sum(age)") is not None
    monkeypatch.setattr(in_norms, "kinds_of", lambda query, classes: pytest.fail("written out"))
    assert told("cumulative(age)") is None


def test_whole_rows_at_once_are_rows_one_by_one() -> None:
    rng = random.Random(9)
    policy = Policy(domain=Domain(age=Integers(0, 5)))
    asked = [
        (w, parse_question(f"{w}*cumulative(age)", policy, "l2-squared")) for w in ("1", "2/3")
    ]
    for weight, query in asked:
        assert isinstance(query, Stacked)
        for _ in range(30):
            rows: list[dict[Hashable, Exact]] = [
                {(0, k): rng.randint(-4, 4) for k in range(5)} for _ in range(rng.randint(2, 5))
            ]
            kind = Kind({frozenset(row.items()): row for row in rows})
            few = list(kind.rows.values())
            if len(few) < 2:
                continue
            told = in_norms._largest_alike(query, few, kind.spread())
            apart = [{key: two[key] - one[key] for key in one} for one, two in combinations(few, 2)]
            w = Fraction(weight)
            assert told is not None
            l1 = max(sum(max(x, -x) for x in each.values()) for each in apart)
            assert told[0] == l1 * w
            assert told[1] == max(sum(x * x for x in each.values()) for each in apart) * w
    alone = asked[0][1]
    assert isinstance(alone, Stacked)
    huge: list[Row] = [{(0, 0): 2**31}, {(0, 0): -(2**31)}]
    kind = Kind({frozenset(row.items()): row for row in huge})
    assert in_norms._largest_alike(alone, huge, kind.spread()) is None


def test_rows_that_are_written_out_are_counted_as_work() -> None:
    domain = Domain(a=Labels(["x", "y"]), b=Integers(0, 59))
    query = parse_question("cumulative(b)", Policy(domain=domain), "l2-squared")
    assert isinstance(query, Stacked)
    used = []
    for size in (20, 60):
        with Budget() as budget:
            kinds_of(query, [[(k, b) for b in range(60 - size, 60)] for k in range(2)])
            used.append(budget.used + budget.owed)
    assert used[1] > 3 * used[0] > 0


@pytest.mark.parametrize("seed", [3, 8])
def test_clusters_are_added_class_by_class(seed: int, tmp_path: Path) -> None:
    """Sums at meeting points, a gate for each half of a park: each row has one point's outputs."""
    rng = random.Random(seed)
    policy = Policy(domain=Domain(x=Integers(0, 5), y=Integers(0, 2)))
    points = [f"{rng.randint(0, 5)},{rng.randint(0, 2)}" for _ in range(3)]
    (tmp_path / "points.csv").write_text("\n".join([*points, ""]))
    query = parse_question(f"cluster-sums({tmp_path / 'points.csv'})", policy, "l2-squared")
    assert isinstance(query, Stacked)
    halves: list[list[Point]] = [
        [(x, y) for x in range(k, k + 3) for y in range(3)] for k in (0, 3)
    ]
    found = best_in_norm(query, halves)
    steps = [[{x: -1, y: 1} for x, y in product(half, half) if x != y] for half in halves]
    alone = [{}, *(step for half in steps for step in half)]
    both = [{**one, **two} for one, two in product(*steps)]
    truth = max(query.norm(each) for each in (*alone, *both))
    assert found is not None and found.lower == found.upper == truth
    change = {x: sign for pair in found.pairs for x, sign in zip(pair, (-1, 1), strict=True)}
    assert query.norm(change) == truth
    bound = above(query, kinds_of(query, halves))
    assert bound is not None and bound > truth  # what is known without
