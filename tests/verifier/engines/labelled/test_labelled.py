"""Engine sat: against brute force, on policies with known answers, and when it is stopped."""

import importlib.util
import sys
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from blowproof.models import (
    BudgetError,
    Clause,
    Count,
    Database,
    Domain,
    Edges,
    Full,
    Integers,
    Labels,
    Literal,
    Marginal,
    Policy,
    QueryError,
    Reading,
    Setting,
    UndeterminedError,
    exact,
    parse_query,
    setting,
)
from blowproof.models.queries.kinds import WeightedSum
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.asked.question import Progress
from blowproof.verifier.databases.consistency import prepare
from blowproof.verifier.engines.brute import brute_neighbours, brute_sensitivity
from blowproof.verifier.engines.labelled.engine import labelled_neighbours, labelled_sensitivity
from refusals import refuse
from strategies import policies, query_texts

LABELLED: tuple[Reading, ...] = ("published", "secret-moves", "pufferfish")
MOST_DATABASES = 700
WEIGHTS = st.sampled_from([exact(w) for w in (0, 1, -1, 2, "1/2", "-3/2")])


def prepared(policy: Policy, reading: Reading = "published") -> Setting:
    try:
        return prepare(setting(policy), reading)
    except UndeterminedError as error:
        refuse(error)


def ask(policy: Policy, query: str = "histogram", reading: Reading = "published") -> Answer:
    return labelled_sensitivity(prepared(policy, reading), parse_query(query, policy), reading)


def exam_queue(n: int) -> Policy:
    """pufferfish-2012, Example 9.1: students take an exam in order; record 1 comes first."""
    order = [Clause([Literal(i, {"taken": 1}), Literal(i + 1, {"taken": 0})]) for i in range(1, n)]
    return Policy(
        domain=Domain(taken=Integers(0, 1)), database=Database(size=n), known=tuple(order)
    )


@pytest.fixture(scope="module")
def hardness() -> ModuleType:
    """The module `benchmarks/hardness.py`, which is no package."""
    path = Path(__file__).parents[4] / "benchmarks" / "hardness.py"
    spec = importlib.util.spec_from_file_location("hardness", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["hardness"] = module
    spec.loader.exec_module(module)
    return module


# Against brute force


@pytest.mark.parametrize("reading", LABELLED)
@given(policies(scope="given", max_values=6, max_records=4, max_known=4))
@settings(max_examples=25, deadline=None)
def test_the_neighbours_are_those_of_brute_force(reading: Reading, policy: Policy) -> None:
    found = prepared(policy, reading)
    assert found.size is not None
    assume(policy.domain.size**found.size <= MOST_DATABASES)
    stream = labelled_neighbours(found, reading)
    pairs = list(stream)
    assert stream.complete
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == set(brute_neighbours(found, reading, sizes=[found.size]))


@pytest.mark.parametrize("reading", LABELLED)
@given(policies(scope="given", max_values=8, max_records=4, max_known=4), st.data())
@settings(max_examples=40, deadline=None)
def test_sensitivities_are_those_of_brute_force(
    reading: Reading, policy: Policy, data: st.DataObject
) -> None:
    found = prepared(policy, reading)
    assert found.size is not None
    assume(policy.domain.size**found.size <= MOST_DATABASES)
    queries = [parse_query(text, policy) for text in query_texts(policy)]
    numeric = [axis for axis, (_, a) in enumerate(policy.domain.attributes) if a.numeric]
    if numeric:
        weights = data.draw(st.tuples(*[WEIGHTS] * found.size))
        queries.append(WeightedSum(policy.domain, numeric[0], weights))
    pairs = list(brute_neighbours(found, reading, sizes=[found.size]))
    for query in data.draw(st.permutations(queries))[:4]:
        expected = max((query.difference(pair.moves(reading)) for pair in pairs), default=0)
        answer = labelled_sensitivity(found, query, reading)
        assert (answer.lower, answer.upper, answer.status) == (expected, expected, "exact")
        assert (answer.witness is None) == (expected == 0)


@pytest.mark.parametrize("reading", LABELLED)
@given(
    policies(scope="any", kinds=("count", "marginal", "sum", "impossible"), max_values=5),
    st.data(),
)
@settings(max_examples=40, deadline=None)
def test_answers_may_be_free(reading: Reading, policy: Policy, data: st.DataObject) -> None:
    found = prepared(policy, reading)
    query = parse_query(data.draw(st.sampled_from(query_texts(policy))), policy)
    sizes = [1, 2, 3]
    assume(policy.domain.size ** sizes[-1] <= MOST_DATABASES)
    expected = brute_sensitivity(found, query, reading, sizes=sizes, complete=True)
    answer = labelled_sensitivity(found, query, reading, sizes=sizes, complete=True)
    assert (answer.lower, answer.status) == (expected.lower, "exact")
    assert labelled_sensitivity(found, query, reading, sizes=sizes).upper is None


# Known answers


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_the_exam_queue_has_a_chain_of_databases(n: int) -> None:
    """n + 1 databases D_0, ..., D_n, and D_i has the neighbours D_(i-1) and D_(i+1)."""
    policy = exam_queue(n)
    pairs = list(labelled_neighbours(prepared(policy), "published"))
    ones = {(sum(x for (x,) in p.database or ()), len(p.before)) for p in pairs}
    assert len(pairs) == 2 * n
    assert ones == {(i, 1) for i in range(n + 1)}
    assert ask(policy).lower == 2
    assert ask(policy, "sum(taken)").lower == 1


def test_two_models_with_equally_many_ones_have_equal_histograms() -> None:
    """Exactly one of two records is 1: two databases, neighbours, and one histogram."""
    clauses = [
        Clause([Literal(1, {"x": 1}), Literal(2, {"x": 1})]),
        Clause([Literal(1, {"x": 0}), Literal(2, {"x": 0})]),
    ]
    policy = Policy(
        domain=Domain(x=Integers(0, 1)), database=Database(size=2), known=tuple(clauses)
    )
    assert len(list(labelled_neighbours(prepared(policy), "published"))) == 2
    assert ask(policy).upper == 0
    weighted = WeightedSum(policy.domain, 0, (1, 2))
    assert labelled_sensitivity(prepared(policy), weighted, "published").lower == 1


@pytest.mark.parametrize(("ratio", "seed"), list(product([3.0, 4.26, 5.0], [1, 2, 3])))
def test_formulas(hardness: ModuleType, ratio: float, seed: int) -> None:
    formula = hardness.random_formula(12, ratio, seed)
    policy = hardness.formula_policy(formula, 12)
    models = hardness.models(formula, 12, 5000)
    answer = ask(policy)
    assert (answer.lower, answer.status) == (hardness.expected_histogram(models), "exact")
    weighted = hardness.ask(policy, hardness.binary_weights(policy), None)
    assert (weighted.lower > 0) == (len(models) > 1)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_vertex_covers(hardness: ModuleType, seed: int) -> None:
    edges = hardness.random_graph(8, 3.0, seed)
    cover = hardness.smallest_cover(edges, 8)
    for size in (cover - 1, cover, cover + 1):
        policy = hardness.cover_policy(edges, 8, size)
        assert ask(policy, "count(jokers)").upper == int(size >= cover)


@pytest.mark.parametrize(("sizes", "moves"), [((2, 2), 2), ((2, 3), 3), ((3, 3), 3)])
def test_cycles_of_two_margins(sizes: tuple[int, int], moves: int) -> None:
    """Two one-way margins with one record per row and column: permutations, cycle by cycle."""
    rows, columns = sizes
    policy = Policy(
        domain=Domain(A=Labels("abc"[:rows]), B=Labels("xyz"[:columns]), C=Labels("01")),
        known=(
            Marginal(["A"], answers=[columns] * rows),
            Marginal(["B"], answers=[rows] * columns),
        ),
        database=Database(size=rows * columns),
    )
    answer = ask(policy)
    assert answer.status == "exact"
    assert answer.lower >= 2 * moves


@pytest.mark.parametrize("query", ["histogram", "ranges(x)"])
def test_without_an_objective_the_answer_is_the_same(
    query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = Policy(
        domain=Domain(x=Integers(0, 3)),
        secrets=Edges([({"x": 0}, {"x": 1}), ({"x": 1}, {"x": 3})]),
        known=(Count({"x": [1, 2]}, at_least=1),),
        database=Database(size=3),
    )
    expected = ask(policy, query)
    monkeypatch.setattr("blowproof.verifier.engines.labelled.objective.TERM_LIMIT", 0)
    again = ask(policy, query)
    assert (again.lower, again.status) == (expected.lower, "exact")


# Limits


def slow() -> Policy:
    """Three-way margins over many records: hours of work."""
    return Policy(
        domain=Domain(A=Integers(0, 4), B=Integers(0, 4), C=Integers(0, 2)),
        known=(
            Marginal(["A"], answers=[5] * 5),
            Marginal(["B"], answers=[5] * 5),
            Marginal(["C"], answers=[9, 8, 8]),
        ),
    )


@pytest.mark.parametrize("limit", [0.0, 1.0])
def test_the_time_limit_leaves_sound_bounds(limit: float) -> None:
    policy = slow()
    told: list[Progress] = []
    answer = labelled_sensitivity(
        prepared(policy),
        parse_query("histogram", policy),
        "published",
        time_limit=limit,
        listener=told.append,
    )
    assert answer.status == "bounds"
    assert answer.upper == 2 * 25
    assert [progress.lower for progress in told] == sorted(p.lower for p in told)
    assert not told or told[-1].lower == answer.lower


def test_a_stream_that_is_cut_short_says_so() -> None:
    policy = Policy(domain=Domain(x=Integers(0, 9)), database=Database(size=6))
    stream = labelled_neighbours(prepared(policy), "published", time_limit=1.0)
    assert 0 < len(list(stream)) < 10**6 * 6 * 9
    assert not stream.complete


def test_large_domains_and_other_readings_are_refused() -> None:
    policy = Policy(domain=Domain(age=Integers(0, 10**12)), database=Database(size=3))
    with pytest.raises(BudgetError, match="lists at most"):
        ask(policy)
    with pytest.raises(QueryError, match="add-remove"):
        ask(exam_queue(2), reading="add-remove")
    free = Policy(domain=Domain(x=Integers(0, 1)), secrets=Full())
    with pytest.raises(QueryError, match="which n"):
        ask(free)


def test_chosen_values_stand_for_the_domain() -> None:
    """Without facts, one record that changes: two values are enough."""
    policy = Policy(domain=Domain(age=Integers(0, 10**12)), database=Database(size=3))
    query = parse_query("histogram", policy)
    answer = labelled_sensitivity(prepared(policy), query, "published", values=[(0,), (7,)])
    assert (answer.lower, answer.status) == (2, "exact")
