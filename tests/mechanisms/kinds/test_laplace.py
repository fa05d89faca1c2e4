"""Releases by the Laplace mechanism: true answers, scales, agreement with the policy, S = 0."""

import random
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.noise.discrete_laplace import raw_discrete_laplace
from blowproof.mechanisms.release import draw, gate
from blowproof.mechanisms.release.calibrate import structural_sensitivity
from blowproof.mechanisms.release.registry import MECHANISMS, plan
from blowproof.mechanisms.release.release import Plan, Request, calibrated_scale, release
from blowproof.models import (
    AttributeChange,
    BlowproofError,
    BudgetError,
    Clause,
    Count,
    Database,
    DataError,
    Distance,
    Domain,
    Impossible,
    Integers,
    InternalError,
    Known,
    Labels,
    Literal,
    Marginal,
    NamedCount,
    PartitionBy,
    PartitionCells,
    Policy,
    PolicyError,
    QueryError,
    Steps,
    parse_query,
)
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Release
from blowproof.verifier.ask import Problem, sensitivity
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.certify.certify import certify

ONE = Fraction(1)
DOMAIN = Domain(
    sex=Labels(["F", "M"]), temp=Steps(35, 37, "1/2"), ward=Labels(["a", "b", "c"], ordered=True)
)
NUMBERS = Domain(x=Integers(-2, 3), y=Steps(0, 1, "1/3"))
CELLS = PartitionCells(
    [{"sex": "F"}, [{"sex": "M", "ward": "a"}, {"sex": "M", "ward": ["b", "c"]}]]
)
OLD = NamedCount("old", [{"temp": {"min": 36}, "sex": "F"}, {"ward": "c"}])


def written(folder, domain, records, name="data.csv"):
    """A data file of these points."""
    rows = [",".join(str(value) for value in domain.decode(point)) for point in records]
    path = folder / name
    path.write_text("\n".join([",".join(domain.names), *rows]) + "\n", encoding="utf-8")
    return path


def points(domain, count, seed=0):
    rng = random.Random(seed)
    sizes = [attribute.size for _, attribute in domain.attributes]
    return [tuple(rng.randrange(size) for size in sizes) for _ in range(count)]


def released(policy, query, path, epsilon=ONE, *, name="laplace", budget=None, **rest):
    made = plan(
        name, Request(policy=policy, query=query, epsilon=epsilon, accept_wide_bounds=True, **rest)
    )
    with Dataset(path, policy.domain) as data:
        return release(made, data, budget=budget)


class Spy:
    """A budget that remembers whether anybody spent from it."""

    def __init__(self):
        self.spent = 0

    def spend(self, request, mechanism, data):
        self.spent += 1
        return ("spent",)


# --- true answers ----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 37])
@pytest.mark.parametrize(
    "query",
    [
        "histogram",
        "marginal(ward,sex)",
        "marginal(temp)",
        "cumulative(temp)",
        "cumulative(ward)",
        "range(temp,71/2,36)",
        "ranges(ward)",
        "sum(temp)",
        "count(old)",
        "partition",
    ],
)
def test_true_answers_are_the_sums_of_the_rows(tmp_path, query, count):
    policy = Policy(domain=DOMAIN, secrets=CELLS, queries=(OLD,))
    check_rows(tmp_path, policy, query, points(DOMAIN, count))


def test_partition_by_attributes_counts_in_the_order_of_the_attributes(tmp_path):
    policy = Policy(domain=DOMAIN, secrets=PartitionBy(["ward", "sex"]))
    check_rows(tmp_path, policy, "partition", points(DOMAIN, 40))


@pytest.mark.parametrize("count", [0, 1, 25])
@pytest.mark.parametrize(
    "query", ["cluster-sizes({})", "cluster-sums({})", "matrix({})", "sum(y,x)"]
)
def test_true_answers_of_queries_with_files(tmp_path, query, count):
    text = "0 1/3\n1/7 0.25\n-2,1\n-2,1\n"  # the last centroid is never nearest
    if query.startswith("matrix"):
        rows = random.Random(5)
        text = "\n".join(
            " ".join(rows.choice(["0", "1", "-1/2", "3/4"]) for _ in range(24)) for _ in range(3)
        )
    (tmp_path / "extra.txt").write_text(text)
    query = query.format(tmp_path / "extra.txt")
    check_rows(tmp_path, Policy(domain=NUMBERS), query, points(NUMBERS, count, 3))


def check_rows(folder, policy, query, records):
    """Compare with the sum of what every record adds, keyed and ordered as the query is."""
    bound = parse_query(query, policy)
    total: dict[Any, Any] = {}
    for point in records:
        for key, value in bound.row(point).items():
            total[key] = total.get(key, 0) + value
    keys: set[Any] = {key for point in policy.domain.points() for key in bound.row(point)}
    with Dataset(written(folder, policy.domain, records), policy.domain) as data:
        found = true_answers(bound, policy, data)
    values = list(found)
    assert len(found.names.columns) == len(next(iter(found.names.rows()))) >= 1
    assert len(list(found.names.rows())) == len(values) == found.names.size
    if "cluster" in query:
        keys |= {(2, 0), (2, 1), (3, 0), (3, 1)} if "sums" in query else set(range(4))
    if query == "sum(y,x)":
        expected = [total.get(axis, 0) for axis in (1, 0)]
    else:
        expected = [total.get(key, 0) for key in sorted(keys)]
    assert values == expected
    assert all((value / found.grid).denominator == 1 for value in map(Fraction, values))


def test_weighted_sums_follow_the_order_of_the_file(tmp_path):
    (tmp_path / "weights.txt").write_text("1/2\n3\n-2\n")
    policy = Policy(domain=NUMBERS)
    query = f"weighted-sum(y,{tmp_path / 'weights.txt'})"
    path = written(tmp_path, NUMBERS, [(0, 1), (0, 3), (5, 2)])
    with Dataset(path, NUMBERS) as data:
        found = true_answers(query, policy, data)
    assert list(found) == [Fraction(1, 6) + 3 - Fraction(4, 3)]
    short = written(tmp_path, NUMBERS, [(0, 1)], "short.csv")
    with Dataset(short, NUMBERS) as data, pytest.raises(DataError, match="3 weights"):
        true_answers(query, policy, data)


def test_names_of_outputs_are_the_values(tmp_path):
    policy = Policy(domain=DOMAIN)
    with Dataset(written(tmp_path, DOMAIN, [(1, 2, 0)]), DOMAIN) as data:
        found = true_answers("marginal(ward,temp)", policy, data)
        ranges = true_answers("ranges(ward)", policy, data)
    assert found.names.columns == ("ward", "temp")
    assert [row for row, n in zip(found.names.rows(), found, strict=True) if n] == [("a", 36)]
    assert list(ranges.names.rows())[:4] == [("a", "a"), ("a", "b"), ("a", "c"), ("b", "b")]


# --- scales ----------------------------------------------------------------------------------

POLICIES: dict[str, Policy] = {
    "full": Policy(domain=DOMAIN),
    "attribute": Policy(domain=DOMAIN, secrets=AttributeChange(changes=1)),
    "distance": Policy(domain=DOMAIN, secrets=Distance(threshold=1, attributes=["temp"])),
    "partition": Policy(domain=DOMAIN, secrets=CELLS, queries=(OLD,)),
    "marginal": Policy(domain=DOMAIN, known=(Marginal(["sex"]),)),
}
QUERIES = ["histogram", "marginal(temp)", "cumulative(temp)", "range(temp,35,35)", "sum(temp)"]
TINY = Domain(sex=Labels(["F", "M"]), temp=Steps(35, 36, "1/2"))
TINY_POLICIES = {
    "full": Policy(domain=TINY),
    "attribute": Policy(domain=TINY, secrets=AttributeChange(changes=1)),
    "distance": Policy(domain=TINY, secrets=Distance(threshold="1/2", attributes=["temp"])),
    "partition": Policy(domain=TINY, secrets=PartitionBy(["sex"])),
    "marginal": Policy(domain=TINY, known=(Marginal(["sex"]),)),
    "count": Policy(
        domain=TINY,
        known=(Impossible({"sex": "M", "temp": 36}), Count({"temp": 35}, answer=2)),
        database=Database(size=4),
    ),
}


def planned(policy, **rest) -> Any:
    return plan("laplace", Request(policy=policy, accept_wide_bounds=True, **rest))


@pytest.mark.parametrize("name", TINY_POLICIES)
@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove", "markov"])
def test_descriptions_are_proved_and_tight(name, reading):
    """The certifier computes exactly epsilon: less noise would be refuted, none is wasted."""
    policy = TINY_POLICIES[name]
    for query in QUERIES if reading != "markov" else QUERIES[:2]:
        made = planned(policy, query=query, epsilon=ONE, reading=reading)
        said = certify(made.description, policy, ONE, reading=reading)
        assert said.verdict == "proved"
        assert said.loss == (1 if made.sensitivity.upper else 0)


@pytest.mark.parametrize("epsilon", [Fraction(1, 3), Fraction(7), Fraction(1, 1000)])
def test_the_scale_is_s_over_epsilon_exactly(epsilon):
    made = planned(POLICIES["marginal"], epsilon=epsilon)
    assert made.release.scale == Fraction(4) / epsilon
    assert certify(made.description, POLICIES["marginal"], epsilon).loss == epsilon


@pytest.mark.parametrize("name", ["full", "attribute", "distance", "partition"])
@pytest.mark.parametrize("query", [*QUERIES, "ranges(temp)"])
def test_structure_agrees_with_brute_force(name, query):
    policy = TINY_POLICIES[name]
    bound = parse_query(query, policy)
    for reading in ("published", "secret-moves"):
        found = structural_sensitivity(Problem(policy), bound, reading)
        assert found is not None
        brute = sensitivity(policy, bound, reading=reading, engine="brute", max_size=2)
        assert found.lower == found.upper == brute.lower


def test_noise_is_set_from_the_upper_bound(tmp_path):
    policy = POLICIES["marginal"]
    answer = Answer(
        policy="p", query="histogram", reading="published", answers="any", lower=4, upper=6,
        status="bounds", witness=None, engine="ilp", seconds=1.0,
    )  # fmt: skip
    made = planned(policy, epsilon=ONE, oracle=lambda *asked: answer)
    assert made.release.scale == 6
    assert any("4 <= S <= 6" in note for note in made.notes)


def test_nothing_is_released_where_nothing_bounds_s():
    answer = sensitivity(TINY_POLICIES["marginal"], engine="brute", max_size=2)
    assert answer.upper is None
    with pytest.raises(RefusedError, match="nothing bounds"):
        calibrated_scale(answer, ONE)


def test_add_remove_without_known_size_still_has_a_bound():
    made = planned(POLICIES["full"], epsilon=ONE, reading="add-remove")
    assert made.release.scale == 1


# --- releasing -------------------------------------------------------------------------------


def test_what_is_drawn_follows_the_declared_scale(tmp_path):
    """4,000 cells without records: the answers are the noise, and the mean of |noise| is known."""
    domain = Domain(x=Integers(0, 3_999))
    found = released(Policy(domain=domain), "histogram", written(tmp_path, domain, []))
    noise = np.abs(np.array(list(found.answers), dtype=float))
    scale = float(found.description.releases[0].scale)
    ratio = np.exp(-1 / scale)
    mean = 2 * ratio / (1 - ratio**2)
    deviation = np.sqrt(2 * ratio / (1 - ratio) ** 2 - mean**2)
    assert scale == 2
    assert abs(noise.mean() - mean) < 7 * deviation / np.sqrt(len(noise))
    zero = (1 - ratio) / (1 + ratio)
    assert abs((noise == 0).mean() - zero) < 7 * np.sqrt(zero / len(noise))


@pytest.mark.parametrize("name", ["full", "marginal", "distance"])
@pytest.mark.parametrize("query", [*QUERIES, "ranges(temp)"])
def test_noise_goes_down_with_epsilon(tmp_path, name, query):
    path = written(tmp_path, DOMAIN, points(DOMAIN, 20))
    policy = POLICIES[name]
    found = released(policy, query, path, Fraction(10**6))
    with Dataset(path, DOMAIN) as data:
        assert list(found.answers) == list(true_answers(query, policy, data))


def test_halves_get_noise_in_halves(tmp_path):
    path = written(tmp_path, DOMAIN, [(0, 1, 0)])
    made = planned(POLICIES["full"], query="sum(temp)", epsilon=ONE)
    assert made.release.grid == Fraction(1, 2)
    with Dataset(path, DOMAIN) as data:
        drawn = {value for _ in range(40) for value in made.run(draw.Draw(made, data))}
    assert {Fraction(value).denominator for value in drawn} == {1, 2}


def test_an_answer_that_no_secret_moves_is_released_as_it_is(tmp_path):
    policy = Policy(domain=DOMAIN, secrets=PartitionBy(["sex"]))
    path = written(tmp_path, DOMAIN, points(DOMAIN, 30))
    found = released(policy, "marginal(sex)", path, Fraction(1, 1000))
    assert found.description.releases[0].scale == 0
    assert any("no two neighbouring databases differ" in note for note in found.notes)
    with Dataset(path, DOMAIN) as data:
        assert list(found.answers) == data.marginal((0,))


def test_a_mechanism_that_draws_other_noise_than_it_declared_releases_nothing(tmp_path):
    made = planned(POLICIES["full"], epsilon=ONE)
    made.release = Release(query="histogram", noise="discrete-laplace", scale=Fraction(1))
    path = written(tmp_path, DOMAIN, [])
    with Dataset(path, DOMAIN) as data, pytest.raises(InternalError, match="declared"):
        release(made, data)


def test_noise_is_drawn_by_the_exact_sampler_and_by_nothing_else(tmp_path, monkeypatch):
    seen = []

    def spied(scale, size):
        seen.append((scale, size))
        return raw_discrete_laplace(0, size)

    monkeypatch.setattr(gate, "raw_discrete_laplace", spied)
    path = written(tmp_path, DOMAIN, points(DOMAIN, 9))
    found = released(POLICIES["marginal"], "marginal(temp)", path)
    assert seen == [(Fraction(4), 5)]
    assert sum(found.answers) == 9


FACTS: dict[str, tuple[Known, ...]] = {
    "impossible": (Impossible({"sex": "M"}),),
    "count": (Count({"sex": "M"}, answer=2),),
    "marginal": (Marginal(["sex"], answers=[3, 0]),),
    "bound": (Count({"sex": "M"}, at_least=2),),
    "clause": (Clause([Literal(2, {"sex": "F"})]),),
}


@pytest.mark.parametrize("kind", [*FACTS, "size"])
def test_data_that_contradict_the_policy_are_refused_before_anything_is_spent(tmp_path, kind):
    known = FACTS.get(kind, ())
    policy = Policy(domain=DOMAIN, known=known, database=Database(size=4 if kind == "size" else 3))
    spy = Spy()
    path = written(tmp_path, DOMAIN, [(0, 0, 0), (1, 0, 0), (0, 1, 2)])
    with pytest.raises(DataError, match="contradict"):
        released(policy, "marginal(sex)", path, budget=spy)
    assert spy.spent == 0
    fitting = written(tmp_path, DOMAIN, [(0, 0, 0), (0, 0, 0), (0, 1, 2)], "fitting.csv")
    if kind in ("impossible", "marginal", "clause"):
        assert released(policy, "marginal(sex)", fitting, budget=spy).notes[-1] == "spent"


def test_numbers_of_the_policy_do_not_matter_for_any_answers(tmp_path):
    policy = Policy(domain=DOMAIN, known=FACTS["count"], database=Database(size=99))
    path = written(tmp_path, DOMAIN, [(0, 0, 0)])
    assert len(released(policy, "histogram", path, answers="any").answers) == 30


def test_queries_too_large_are_refused_before_anything_is_spent(tmp_path):
    domain = Domain(x=Integers(0, 10**9))
    spy = Spy()
    path = written(tmp_path, domain, [(5,)])
    with pytest.raises(BlowproofError):
        released(Policy(domain=domain), "histogram", path, budget=spy)
    assert spy.spent == 0
    assert len(released(Policy(domain=domain), "sum(x)", path, budget=spy).answers) == 1


@pytest.mark.parametrize("query", ["ranges(x)", "histogram"])
def test_what_no_release_lists_is_refused_before_s_is_searched(query):
    policy = Policy(domain=Domain(x=Integers(0, 10**8)), secrets=Distance(threshold=3))
    with pytest.raises(BudgetError, match="outputs"):
        planned(policy, query=query, epsilon=ONE)


def test_the_document_says_what_was_done(tmp_path):
    found = released(
        POLICIES["marginal"], "sum(temp)", written(tmp_path, DOMAIN, points(DOMAIN, 5))
    )
    document = found.to_json()
    assert document["schema"] == "blowproof/release/1"
    assert document["noise"] == [
        {"query": "sum(temp)", "noise": "discrete-laplace", "scale": "4", "grid": "1/2"}
    ]
    assert document["epsilon"] == "1" and document["sensitivity"]["upper"] == 4
    assert len(document["values"]) == 1 and "seed" not in document


def test_names_and_epsilons_that_make_no_sense():
    with pytest.raises(QueryError, match="did you mean 'laplace'"):
        plan("laplac", Request(policy=POLICIES["full"], epsilon=ONE))
    wrong: list[Any] = [0, Fraction(-1), 0.5]
    for epsilon in wrong:
        with pytest.raises(PolicyError):
            Request(policy=POLICIES["full"], epsilon=epsilon)
    assert next(iter(MECHANISMS)) == "laplace"


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_registered_mechanism_is_there_under_its_name(name):
    file, kind = MECHANISMS[name]
    found = getattr(import_module(f"blowproof.mechanisms.kinds.{file}"), kind)
    assert issubclass(found, Plan) and found.name == name
