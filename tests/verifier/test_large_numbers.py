"""Numbers of any size in policies: answers stay right, and nothing is called contradictory wrongly.

The values come from theory that does not depend on the size of the numbers (one record moves, one
is added), or from the same policy with small numbers, where brute force lists the databases.
"""

import random
import time
from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blowproof.models import (
    AttributeChange,
    Between,
    BudgetError,
    Clause,
    ContradictionError,
    Count,
    Database,
    Distance,
    Domain,
    Impossible,
    Integers,
    Known,
    Labels,
    Literal,
    Marginal,
    Policy,
    Reading,
    Sum,
    UndeterminedError,
)
from blowproof.models import setting as setting_of
from blowproof.models.base.clock import Budget
from blowproof.models.programs.linear import LinearModel, weighted_sum
from blowproof.models.programs.linear_exact import reduced, solve_exactly
from blowproof.models.programs.linear_lp import Inequality, maximum, subdeterminants
from blowproof.models.programs.linear_window import windowed
from blowproof.models.programs.to_cpsat import Outcome, solve
from blowproof.verifier.ask import certified, neighbours, sensitivity
from blowproof.verifier.databases.consistency import FactModel, check_consistent, prepare
from blowproof.verifier.engines.irreducibles import longest
from blowproof.verifier.exact.arrangements import arrangements
from blowproof.verifier.moves.edges_at_once import joined
from blowproof.verifier.neighbours.check import check_pair

SEX = Domain(sex=Labels(["F", "M"]))
TABLE = Domain(sex=Labels(["F", "M"]), ward=Labels(["a", "b", "c"]))
X = Domain(x=Labels(["a", "b", "c"]))
SIZES = [2 * 10**9, 2**31 - 1, 2**31, 2**40 + 1, 2**61, 2**63, 10**12, 10**30]
READINGS_WITH_N: list[Reading] = ["published", "secret-moves", "add-remove", "markov"]


def female(answer: int) -> Count:
    return Count({"sex": "F"}, answer=answer)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("reading", READINGS_WITH_N)
def test_n_is_of_any_size(size: int, reading: Reading) -> None:
    policy = Policy(domain=SEX, database=Database(size=size))
    found = sensitivity(policy, reading=reading)
    assert (found.lower, found.upper, found.status) == (2, 2, "exact")
    assert found.witness is not None
    assert found.witness.first().total() == found.witness.second().total() == size
    assert check_pair(prepare(setting_of(policy), reading), reading, found.witness)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("reading", READINGS_WITH_N)
def test_answers_are_of_any_size(size: int, reading: Reading) -> None:
    """Two wards are merged by no fact, so records move between the wards of one sex."""
    known = (Marginal(["sex"], answers=[size, 3]),)
    found = sensitivity(Policy(domain=TABLE, known=known), reading=reading)
    small = (Marginal(["sex"], answers=[5, 3]),)
    expected = sensitivity(Policy(domain=TABLE, known=small), reading=reading)
    assert (found.lower, found.upper) == (expected.lower, expected.upper)
    assert found.status == "exact"
    fixed = sensitivity(Policy(domain=SEX, known=known), reading=reading)
    assert (fixed.lower, fixed.upper) == (0, 0)


@pytest.mark.parametrize("size", SIZES)
def test_one_answer_of_any_size(size: int) -> None:
    policy = Policy(domain=SEX, known=(female(size),))
    assert sensitivity(policy, reading="add-remove").upper == 1
    with pytest.raises(UndeterminedError, match=f"leave it {size} or more"):
        sensitivity(policy)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("reading", ["published", "secret-moves"])
@pytest.mark.parametrize(
    "known",
    [
        (Count({"sex": "F"}, at_least=7),),
        (Count({"sex": "F"}, at_least=1, at_most=2),),
        (Count({"ward": "a"}, answer=2), Count({"sex": "F"}, at_most=3)),
        (Count({"ward": ["a", "b"]}, answer=3), Count({"ward": ["b", "c"]}, answer=4)),
    ],
    ids=["at least", "a range", "a count and a bound", "two counts"],
)
def test_other_facts_beside_a_large_n(
    size: int, reading: Reading, known: tuple[Known, ...]
) -> None:
    """From 20 records on, n does not matter to these facts, unless they contradict it."""
    policies = [Policy(domain=TABLE, known=known, database=Database(size=n)) for n in (20, size)]
    if len(known) == 2 and all(
        isinstance(fact, Count) and not fact.bounded for fact in known
    ):  # 7 records or fewer
        for policy in policies:
            with pytest.raises(ContradictionError):
                sensitivity(policy, reading=reading)
        return
    small, found = (sensitivity(policy, reading=reading, time_limit=20) for policy in policies)
    assert small.status == "exact"
    assert found.lower <= small.lower
    assert found.upper is not None and found.upper >= small.lower
    assert (found.lower, found.upper) == (small.lower, small.upper)


@pytest.mark.parametrize("size", SIZES)
def test_another_graph_beside_a_large_n(size: int) -> None:
    policy = Policy(
        domain=Domain(place=Integers(0, 3)),
        secrets=Distance(metric="l1", threshold=1),
        known=(Count({"place": Between(1, 2)}, answer=2),),
        database=Database(size=size),
    )
    found = sensitivity(policy, reading="secret-moves", time_limit=20)
    assert (found.lower, found.upper) == (4, 4)


@pytest.mark.parametrize("records", [10**6, 10**9 - 3, 10**9, 2**31, 10**30])
def test_facts_that_imply_n(records: int) -> None:
    policy = Policy(domain=SEX, known=(Marginal(["sex"], answers=[records, 3]),))
    assert prepare(setting_of(policy), "published").size == records + 3


def test_a_count_that_nothing_bounds_is_said_to_be_so() -> None:
    known = (Count({"sex": "F"}),)
    given_scope = Database(answers="given")
    with pytest.raises(UndeterminedError, match=r"known\[0\]: 0 or more"):
        prepare(setting_of(Policy(domain=SEX, known=known, database=given_scope)), "add-remove")
    difference = Sum([(1, {"sex": "F"}), (-1, {"sex": "M"})])
    with pytest.raises(UndeterminedError, match="any number"):
        prepare(setting_of(Policy(domain=SEX, known=(difference,), database=given_scope)), "markov")


@pytest.mark.parametrize("factor", [1, 2**20, 2**31, 10**20])
def test_a_sum_that_follows_from_other_facts(factor: int) -> None:
    """F - factor M = 7 and M = 2 leave F and n no choice."""
    known = (
        Sum([(1, {"sex": "F"}), (-factor, {"sex": "M"})], equals=7),
        Count({"sex": "M"}, answer=2),
        Count({"sex": "F"}),
    )
    found = prepare(setting_of(Policy(domain=SEX, known=known)), "published")
    assert found.size == 2 * factor + 9
    assert found.equalities[2].answer == 2 * factor + 7


@pytest.mark.parametrize("factor", [2, 2**20, 2**31, 10**20])
def test_unlimited_counts_are_no_contradiction(factor: int) -> None:
    """F = factor M, and M at least 5: databases are large, but there are some."""
    known = (
        Sum([(1, {"sex": "F"}), (-factor, {"sex": "M"})], equals=0),
        Count({"sex": "M"}, at_least=5000),
    )
    policy = Policy(domain=SEX, known=known)
    check_consistent(policy)
    assert FactModel.of(setting_of(policy)).total_range() == (5000 * (factor + 1), None)


@pytest.mark.parametrize("number", [10, 2**31, 2**63, 10**30])
@pytest.mark.parametrize(
    ("known", "names"),
    [
        ([("F", 2, 0), ("size", 1, 0)], {"known[0]", "size"}),
        ([("F", 1, 1), ("M", 1, 1), ("size", 2, 1)], {"known[0]", "known[1]", "size"}),
        ([("F", 1, 1), ("none", 0, 0), ("size", 2, 1)], {"known[0]", "known[1]"}),
    ],
)
def test_contradictions_of_large_numbers_are_named(
    number: int, known: list[tuple[str, int, int]], names: set[str]
) -> None:
    """Each number is a multiple of a large one, and some more."""
    facts: list[Known] = []
    size = None
    for what, times, more in known:
        if what == "size":
            size = times * number + more
        elif what == "none":
            facts.append(Impossible({"sex": "F"}))
        else:
            facts.append(Count({"sex": what}, answer=times * number + more))
    with pytest.raises(ContradictionError) as caught:
        check_consistent(Policy(domain=SEX, known=tuple(facts), database=Database(size=size)))
    assert set(caught.value.facts) == names


# --- large coefficients of sums ------------------------------------------------------------------


@pytest.mark.parametrize("factor", [2**17, 2**31, 2**63, 10**30])
@pytest.mark.parametrize("reading", READINGS_WITH_N)
def test_sums_of_large_coefficients_under_any(factor: int, reading: Reading) -> None:
    """Nothing moves alone between F and M; factor M are exchanged for one F in reading 3."""
    known = (Sum([(factor, {"sex": "F"}), (-1, {"sex": "M"})]),)
    found = sensitivity(Policy(domain=SEX, known=known), reading=reading, time_limit=1)
    expected = factor + 1 if reading == "add-remove" else 0
    assert found.upper is not None
    assert found.lower <= expected <= found.upper
    if reading != "add-remove":
        assert found.status == "exact"


@pytest.mark.parametrize("factor", [2**20, 2**31, 2**63, 10**30])
@pytest.mark.parametrize("reading", READINGS_WITH_N)
def test_sums_of_large_coefficients_under_given(factor: int, reading: Reading) -> None:
    """The sum says that there are one F and two M, whatever the factor is from 4 on."""

    def policy(times: int) -> Policy:
        known = (Sum([(times, {"sex": "F"}), (-1, {"sex": "M"})], equals=times - 2),)
        return Policy(domain=TABLE, known=known, database=Database(size=3))

    listed = sensitivity(policy(6), reading=reading, engine="brute")
    found = sensitivity(policy(factor), reading=reading, time_limit=2)
    assert listed.status == "exact" and found.upper is not None
    assert found.lower <= listed.lower <= found.upper
    if reading in ("published", "secret-moves"):
        assert (found.status, found.lower) == ("exact", listed.lower)


def test_a_common_factor_of_large_effects_does_not_matter() -> None:
    effects = [(2**40,), (-(2**40),), (3 * 2**40,), (-3 * 2**40,)]
    assert longest(effects).upper == longest([(x // 2**40,) for (x,) in effects]).upper == 4
    with pytest.raises(BudgetError, match="coefficients"):
        longest([(2**40,), (-(2**40),), (1,), (-1,)])


# --- reading 4 without a bound on n --------------------------------------------------------------


@st.composite
def unlimited(draw: st.DrawFn) -> tuple[Known, ...]:
    """Facts about three values, of which no count bounds all."""
    region = st.lists(st.sampled_from("abc"), min_size=1, max_size=2, unique=True)
    number = st.integers(0, 2)
    known: list[Known] = []
    for _ in range(draw(st.integers(1, 2))):
        where = {"x": draw(region)}
        kind = draw(st.sampled_from(["count", "bound", "sum"]))
        if kind == "count":
            known.append(Count(where, answer=draw(number)))
        elif kind == "bound":
            known.append(Count(where, at_least=draw(number)))
        else:
            terms = [(draw(st.sampled_from([1, 2])), {"x": "a"}), (-1, {"x": draw(region)})]
            known.append(Sum(terms, equals=draw(number)))
    return tuple(known)


@given(unlimited())
@settings(max_examples=25)
def test_markov_needs_no_bound_on_n(known: tuple[Known, ...]) -> None:
    """Brute force over growing n reaches the answer, and never goes beyond it."""
    policy = Policy(domain=X, known=known, database=Database(answers="given"))
    try:
        found = sensitivity(policy, reading="markov")
    except ContradictionError:
        return
    assert found.status == "exact"
    listed = sensitivity(policy, reading="markov", engine="brute", max_size=6)
    assert listed.lower == found.lower == found.upper


def test_markov_where_one_answer_is_known() -> None:
    found = sensitivity(Policy(domain=X, known=(Count({"x": "a"}, answer=1),)), reading="markov")
    assert (found.lower, found.upper, found.status) == (2, 2, "exact")


# --- neighbours ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1_100, 100_000])
@pytest.mark.parametrize("reading", ["published", "secret-moves"])
def test_the_first_labelled_pairs_of_many_records(size: int, reading: Reading) -> None:
    policy = Policy(domain=SEX, database=Database(size=size))
    pairs = list(islice(neighbours(policy, reading=reading), 3))
    assert len(set(pairs)) == 3
    for pair in pairs:
        assert pair.database is not None and len(pair.database) == size
        assert len(pair.before) == 1


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), max_size=4))
def test_every_arrangement_comes_once(stock: dict[str, int]) -> None:
    from itertools import permutations

    items = [item for item, times in stock.items() for _ in range(times)][:7]
    stock = {item: items.count(item) for item in stock}
    found = [tuple(order) for order in arrangements(stock)]
    assert len(found) == len(set(found))
    assert set(found) == set(permutations(items))
    places = {item: place for place, item in enumerate(stock)}
    assert found == sorted(found, key=lambda order: [places[item] for item in order])


@pytest.mark.parametrize("reading", READINGS_WITH_N)
def test_neighbours_with_clauses_beyond_brute_force(reading: Reading) -> None:
    """31 values and 12 records: pairs come one by one, each of them a neighbour pair."""
    few = {"a": [1, 5, 9]}
    low = {"a": Between(0, 4)}
    policy = Policy(
        domain=Domain(a=Integers(0, 30)),
        secrets=Distance(metric="l1", threshold=3),
        known=(
            Count({"a": Between(0, 10)}, at_least=3),
            Count({"a": Between(8, 20)}, at_most=6),
            Clause([Literal(1, few), Literal(2, low, inside=False)]),
            Clause([Literal(3, few), Literal(4, low, inside=False)]),
        ),
        database=Database(size=12),
    )
    pairs = list(islice(neighbours(policy, reading=reading, every_label=False), 4))
    assert len(set(pairs)) == 4
    prepared = prepare(setting_of(policy), reading)
    assert all(check_pair(prepared, reading, pair) for pair in pairs)


# --- whole numbers of any size -------------------------------------------------------------------


def some_model(rng: random.Random, factor: int = 1) -> LinearModel:
    """A model whose rows are multiplied by a number, which leaves its solutions the same."""
    model = LinearModel()
    xs = [
        model.int_var(f"x{i}", lower=rng.randint(-3, 1), upper=rng.randint(1, 7))
        for i in range(rng.randint(1, 5))
    ]
    bs = [model.bool_var(f"b{i}") for i in range(rng.randint(0, 3))]
    for _ in range(rng.randint(1, 5)):
        expr = weighted_sum((factor * rng.randint(-4, 4), v) for v in xs + bs if rng.random() < 0.7)
        low = rng.randint(-8, 8)
        ends = rng.choice([(low, low), (low, None), (None, low), (low, low + rng.randint(0, 5))])
        lower, upper = (None if end is None else factor * end for end in ends)
        literal = rng.choice(bs) if bs and rng.random() < 0.3 else None
        enforced = None if literal is None else rng.choice([~literal, ~~literal])
        model.add(expr, lower=lower, upper=upper, enforced_by=enforced)
    if bs and rng.random() < 0.5:
        model.add_clause([~b if rng.random() < 0.5 else ~~b for b in bs])
    if rng.random() < 0.6:
        model.maximise(weighted_sum(((rng.randint(-4, 4), v) for v in xs + bs), constant=3))
    return model


@pytest.mark.parametrize("seed", range(40))
def test_exact_sums_agree_with_cpsat(seed: int) -> None:
    small, large = (some_model(random.Random(seed), factor) for factor in (1, 10**30))
    expected = solve(small)
    for model in (small, large):
        found = solve_exactly(model)
        assert (found.status, found.lower, found.upper) == (
            expected.status,
            expected.lower,
            expected.upper,
        )
        if found.assignment is not None:
            assert not model.evaluate(found.assignment)


@pytest.mark.parametrize("seed", range(40))
def test_a_window_around_a_vertex_leaves_nothing_out(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly every variable counts as wide, so that the width is what the theorem asks for."""
    monkeypatch.setattr("blowproof.models.programs.linear_window.WIDE", 1)
    monkeypatch.setattr("blowproof.models.programs.linear_window.WINDOWS", (1, 2))
    model = reduced(some_model(random.Random(seed)))
    if model is None:
        return
    expected = solve(model)
    root = vertex(model)
    if root is None:
        assert expected.status == "infeasible"
        return
    top = None if model.objective is None else model.objective.bounds()[1]
    found = windowed(model, root, Outcome("unknown", upper=top), 20.0, 0, None)
    if found.status in ("optimal", "infeasible"):
        assert (found.status, found.lower) == (expected.status, expected.lower)
    else:  # rows with a condition: a solution is one, and "none" is not said
        assert found.lower is None or found.lower <= (expected.lower or 0)
        assert found.upper is None or expected.upper is None or found.upper >= expected.upper


def vertex(model: LinearModel) -> dict[str, Fraction] | None:
    from blowproof.models.programs.linear_exact import _BranchAndBound

    search = _BranchAndBound(model, time.monotonic() + 20, None)
    search.run()
    return search.root


@pytest.mark.parametrize("seed", range(30))
def test_linear_programs_agree_with_another_solver(seed: int) -> None:
    scipy = pytest.importorskip("scipy.optimize")
    rng = random.Random(seed)
    count = rng.randint(1, 6)
    rows = [
        Inequality(
            {j: rng.randint(-3, 3) for j in range(count)},
            rng.choice(["<=", ">=", "="]),
            rng.randint(-6, 9),
        )
        for _ in range(rng.randint(1, 4))
    ]
    rows.append(Inequality(dict.fromkeys(range(count), 1), "<=", 20))
    goal = {j: rng.randint(-3, 3) for j in range(count)}
    found = maximum(rows, goal, count)
    above = [(1 if row.sense != ">=" else -1, row) for row in rows]
    above += [(-1, row) for row in rows if row.sense == "="]
    other = scipy.linprog(
        [-goal[j] for j in range(count)],
        A_ub=[[sign * row.terms[j] for j in range(count)] for sign, row in above],
        b_ub=[sign * row.bound for sign, row in above],
    )
    assert found.status == {0: "optimal", 2: "infeasible"}[other.status]
    if other.status == 0:
        assert abs(float(found.value) + other.fun) < 1e-6


@pytest.mark.parametrize("seed", range(30))
def test_subdeterminants_are_bounded(seed: int) -> None:
    from itertools import combinations

    import numpy as np

    rng = random.Random(seed)
    low, high = rng.choice([(0, 1), (-1, 1), (-3, 3), (0, 9)])
    matrix = np.array([[rng.randint(low, high) for _ in range(4)] for _ in range(4)])
    bound = subdeterminants([{j: int(x) for j, x in enumerate(row) if x} for row in matrix])
    for order in range(1, 5):
        for rows in combinations(range(4), order):
            for columns in combinations(range(4), order):
                part = matrix[np.ix_(rows, columns)]
                assert abs(round(np.linalg.det(part))) <= bound


@pytest.mark.parametrize("bits", [31, 53, 63, 64, 70])
def test_positions_beyond_64_bits_are_joined_as_the_graph_says(bits: int) -> None:
    last = 2**bits
    domain = Domain(x=Integers(0, last), s=Labels(["a", "b"]))
    points = [(0, 0), (last, 0), (last, 1), (3, 0), (4, 1), (last - 3, 0)]
    for secrets in (AttributeChange(changes=1), Distance(threshold=3), Distance(threshold=last)):
        graph = secrets.bind(domain)
        told = [[graph.is_edge(x, y) for y in points] for x in points]
        assert joined(graph, points).tolist() == told


@pytest.mark.parametrize("times", [2**31, 2**63, 10**30])
@pytest.mark.parametrize("reading", ["published", "add-remove", "markov"])
def test_what_is_exact_with_large_coefficients_is_proved(times: int, reading: Reading) -> None:
    """A search for a proof that such numbers are too large for leaves the other kinds of proof."""
    known = (Sum([(times, {"sex": "F"}), (-times - 1, {"ward": "a"})], equals=0),)
    policy = Policy(domain=TABLE, known=known, database=Database(size=3))
    answer, found = certified(policy, reading=reading, time_limit=2)
    assert answer.status == "proved", found.reason


def test_facts_of_a_search_may_have_large_coefficients() -> None:
    """A multiple of one fact is added to another: the question stays, and so do small effects."""
    rows = [{"a": a, "b": b} for a in range(3) for b in range(3)]
    domain = Domain(a=Integers(0, 2), b=Integers(0, 2))
    known = [Count(row) for row in rows[:-1]]
    mixed = Sum([(1, rows[0]), (10**30, rows[3])])
    policy = Policy(domain=domain, known=(*known[1:], mixed))
    with Budget():
        found = sensitivity(policy, reading="secret-moves", norm="l2-squared", time_limit=0.1)
    assert found.lower == 0
