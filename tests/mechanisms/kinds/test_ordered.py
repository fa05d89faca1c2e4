"""The ordered and the hierarchical mechanism: private as declared, and as exact as promised."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from blowproof.mechanisms.answers.trees import (
    answer_prefixes,
    answer_tree,
    prefix_ends,
    tree_levels,
)
from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.estimates.isotonic import rising
from blowproof.mechanisms.estimates.trees import Measured, cumulative_estimate
from blowproof.mechanisms.release import calibrate
from blowproof.mechanisms.release.gate import raw_noisy
from blowproof.mechanisms.release.registry import plan
from blowproof.mechanisms.release.release import Draw, Request, release
from blowproof.mechanisms.structures.design import Setup, best_design, equation_15, evaluated
from blowproof.mechanisms.structures.ordered_hierarchical import Structure, variance
from blowproof.mechanisms.structures.tree_error import expected_error
from blowproof.models import (
    Between,
    BlowproofError,
    BudgetError,
    Count,
    Distance,
    Domain,
    Full,
    Integers,
    Labels,
    NamedCount,
    PartitionBy,
    PartitionCells,
    Policy,
    QueryError,
    Steps,
)
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Mechanism, Prefixes, Release, Tree
from blowproof.models.mechanisms.trees_and_prefixes import bind_query
from blowproof.verifier.certify.certify import certify

ONE = Fraction(1)
RNG = np.random.default_rng(20141)  # for data and for what tests add; releases have no seed


def line(size: int, theta: object = 1) -> Policy:
    return Policy(domain=Domain(x=Integers(0, size - 1)), secrets=Distance(threshold=theta))


def planned(name, policy, query="cumulative(x)", epsilon=ONE, **rest) -> Any:
    return plan(
        name, Request(policy=policy, query=query, epsilon=epsilon, accept_wide_bounds=True, **rest)
    )


@pytest.fixture
def sparse(tmp_path):
    """300 records on 60 positions, most of which hold none."""
    places = RNG.choice([3, 4, 17, 40, 41, 42, 59], size=300)
    path = tmp_path / "sparse.csv"
    path.write_text("x\n" + "\n".join(map(str, places)) + "\n")
    return path, np.bincount(places, minlength=60)


def released(name, policy, path, query="cumulative(x)", epsilon=ONE, **rest):
    with Dataset(path, policy.domain) as data:
        return release(planned(name, policy, query, epsilon, **rest), data)


# --- layouts: ours, vectorised, against the models' ------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 7, 16, 23])
@pytest.mark.parametrize("fan_out", [2, 3, 5])
def test_trees_and_prefixes_are_those_of_the_models(size, fan_out):
    policy = line(size)
    counts = RNG.integers(0, 9, size)
    for block in (1, 2, 5, size):
        levels = tree_levels(Tree(attribute="x", fan_out=fan_out, block=block), size)
        ours = [
            (depth, int(a), int(b))
            for depth, level in enumerate(levels)
            for a, b in zip(level.low, level.high, strict=True)
        ]
        for tree in (
            Tree(attribute="x", fan_out=fan_out, block=block),
            Tree(attribute="x", fan_out=fan_out, block=block, first=1),
            Tree(attribute="x", fan_out=fan_out, block=block, first=1, last=1),
        ):
            theirs: Any = bind_query(tree, policy)
            assert list(theirs.nodes()) == [node for node in ours if node[0] in theirs.levels]
            found = answer_tree(tree, counts)
            assert list(found) == [int(counts[a:b].sum()) for _, a, b in theirs.nodes()]
        for whole in (False, True):
            prefixes = Prefixes(attribute="x", every=block, whole=whole)
            query: Any = bind_query(prefixes, policy)
            ends = [query.end(place) for place in range(query.count)]
            assert prefix_ends(prefixes, size).tolist() == ends
            assert list(answer_prefixes(prefixes, counts)) == [int(counts[:k].sum()) for k in ends]


# --- the ordered mechanism -------------------------------------------------------------------


@pytest.mark.parametrize("theta", [1, 2, 5, 59, 1000])
def test_the_scale_is_the_exact_sensitivity(theta):
    made = planned("ordered", line(60, theta), epsilon=Fraction(1, 3))
    assert made.release.scale == 3 * min(theta, 59)
    assert certify(made.description, line(60, theta), ONE).loss == Fraction(1, 3)


def test_the_scale_counts_positions_not_units():
    domain = Domain(t=Steps(0, 10, "1/4"))
    for strict, theta, expected in ((False, "3/2", 6), (True, "3/2", 5), (False, "13/8", 6)):
        policy = Policy(domain=domain, secrets=Distance(threshold=theta, strict=strict))
        made = planned("ordered", policy, "cumulative(t)")
        assert made.release.scale == expected


@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove"])
def test_known_facts_and_other_readings_are_calibrated_too(reading):
    domain = Domain(sex=Labels(["F", "M"]), x=Integers(0, 3))
    policy = Policy(domain=domain, known=(Count({"sex": "F"}),))
    made = planned("ordered", policy, reading=reading)
    assert certify(made.description, policy, ONE, reading=reading).verdict == "proved"
    assert made.sensitivity.upper == {"published": 6, "secret-moves": 6, "add-remove": 4}[reading]


@pytest.mark.parametrize("epsilon", [Fraction(1, 4), ONE, Fraction(3)])
def test_a_range_errs_by_at_most_4_over_epsilon_squared(epsilon):
    """Theorem 7.1, by the exact variance, and shown on noise that is really drawn."""
    made = planned("ordered", line(20_001), epsilon=epsilon)
    bound = 4 / float(epsilon) ** 2
    assert 2 * variance(made.release.scale) <= bound
    truth = answer_prefixes(Prefixes(attribute="x", whole=True), np.zeros(20_001, dtype=np.int64))
    noise = raw_noisy(made.release, truth).units[:-1].astype(float)
    squares = (noise[1::2] - noise[::2]) ** 2  # 10,000 independent ranges
    assert squares.mean() == pytest.approx(2 * variance(made.release.scale), rel=0.15)
    assert squares.mean() < 1.15 * bound


def test_the_rising_estimate_errs_less(sparse):
    path, counts = sparse
    made = planned("ordered", line(60), epsilon=Fraction(1, 5))
    truth = np.cumsum(counts)
    with Dataset(path, line(60).domain) as data:
        raw, better = [], []
        for _ in range(150):
            drawn = Draw(made, data)(made.release)
            raw.append(((drawn.units - truth) ** 2)[:-1].mean())
            better.append(((made.counts(drawn, 300).below[1:] - truth) ** 2)[:-1].mean())
    assert all(b <= a for a, b in zip(raw, better, strict=True))
    assert np.mean(better) < 0.5 * np.mean(raw)


def test_estimates_rise_from_zero_to_n(sparse):
    path, _ = sparse
    for name in ("ordered", "hierarchical"):
        found = np.array(list(released(name, line(60, 3), path, epsilon=Fraction(1, 50)).answers))
        assert (np.diff(found) >= 0).all() and found[0] >= 0 and found[-1] == 300


def test_rising_is_the_nearest_rising_sequence():
    """Against the min-max formula of isotonic regression."""
    for _ in range(30):
        values = RNG.normal(size=RNG.integers(1, 12)) * 5
        n = len(values)
        slow = [
            max(min(values[i : j + 1].mean() for j in range(k, n)) for i in range(k + 1))
            for k in range(n)
        ]
        assert rising(values, most=3) == pytest.approx(np.clip(slow, 0, 3))


@pytest.mark.parametrize("name", ["ordered", "hierarchical"])
def test_everything_follows_from_one_release(sparse, name):
    path, counts = sparse
    policy = Policy(
        domain=Domain(x=Integers(0, 59)),
        secrets=Distance(threshold=4),
        queries=(NamedCount("ends", [{"x": {"max": 3}}, {"x": {"min": 41}}]),),
    )
    sums = np.concatenate([[0], np.cumsum(counts)])
    low, high = np.triu_indices(60)
    expected = {
        "cumulative(x)": sums[1:],
        "histogram": counts,
        "marginal(x)": counts,
        "range(x,4,40)": [sums[41] - sums[4]],
        "ranges(x)": sums[high + 1] - sums[low],
        "count(ends)": [sums[4] + sums[60] - sums[41]],
    }
    for query, truth in expected.items():
        found = released(name, policy, path, query, Fraction(10**6))
        assert list(found.answers) == pytest.approx(list(truth), abs=1e-6)
        assert len(list(found.answers.names.rows())) == len(found.answers)
    made = planned(name, policy, epsilon=Fraction(10**6))
    with Dataset(path, policy.domain) as data:
        draw = Draw(made, data)
        drawn = [draw(item) for item in made.description]
        estimate = made.counts(drawn[0] if name == "ordered" else drawn, 300)
    assert estimate.range(4, 40) == pytest.approx(sums[41] - sums[4], abs=1e-6)
    assert [estimate.quantile(q) for q in (0, 0.5, 1)] == [
        0,
        int(np.searchsorted(sums[1:], 150)),
        59,
    ]
    assert estimate.cdf()[-1] == 1 and estimate.histogram().sum() == pytest.approx(300)


@pytest.mark.parametrize("query", ["sum(x)", "histogram", "marginal(s)", "count(both)"])
def test_other_queries_are_refused(query):
    domain = Domain(s=Labels(["a", "b"]), x=Integers(0, 3))
    named = NamedCount("both", {"s": "a", "x": 1})
    with pytest.raises(QueryError, match="one ordered attribute"):
        planned("ordered", Policy(domain=domain, queries=(named,)), query)


# --- least squares and expected errors -------------------------------------------------------


def dense(structure, prefix, levels):
    """The released counts as a matrix over positions, and their variances."""
    at = np.arange(structure.size)
    rows, spread = [], []
    if structure.has_prefixes:
        query = Prefixes(attribute="x", every=structure.block, whole=structure.whole)
        for end in prefix_ends(query, structure.size):
            rows.append(at < end)
            spread.append(prefix)
    for own, level in zip(levels, tree_levels(structure.tree("x"), structure.size), strict=True):
        for low, high in zip(level.low, level.high, strict=True):
            rows.append((at >= low) & (at < high))
            spread.append(own)
    return np.array(rows, dtype=float).reshape(-1, structure.size), np.array(spread)


@pytest.mark.parametrize("open_end", [False, True])
@pytest.mark.parametrize("size", [2, 5, 12, 19])
def test_estimates_and_errors_are_those_of_dense_least_squares(size, open_end):
    for block in range(1, size + 1):
        for fan_out in (2, 3, 7):
            structure = Structure(size, block, fan_out, open_end)
            prefix, levels = RNG.uniform(0.1, 5), RNG.uniform(0.1, 5, structure.height)
            matrix, spread = dense(structure, prefix, levels)
            truth = RNG.integers(0, 9, size)
            seen = matrix @ truth + RNG.normal(size=len(spread)) * np.sqrt(spread)
            weighted = matrix.T / spread
            fixed, free = np.zeros(size), np.eye(size)
            if not open_end:  # the last count is n less all others
                fixed[-1] = truth.sum()
                free = np.vstack([np.eye(size - 1), -np.ones(size - 1)])
            inverse = np.linalg.inv(free.T @ weighted @ matrix @ free)
            best = fixed + free @ inverse @ free.T @ weighted @ (seen - matrix @ fixed)
            count = len(seen) - sum(len(x.low) for x in tree_levels(structure.tree("x"), size))
            ends = np.cumsum([len(x.low) for x in tree_levels(structure.tree("x"), size)])
            measured = Measured(
                structure,
                seen[:count],
                prefix,
                np.split(seen[count:], ends[:-1]) if structure.height else [],
                list(levels),
                None if open_end else int(truth.sum()),
            )
            found = cumulative_estimate(measured)
            assert np.diff(found) == pytest.approx(best, abs=1e-8)
            sums = np.vstack([np.zeros(size), np.tril(np.ones((size, size)))]) @ free
            spread_of_sums = sums @ inverse @ sums.T
            own = np.diag(spread_of_sums)
            pairs = own[:, None] + own[None, :] - 2 * spread_of_sums
            mean = pairs[np.triu_indices(size + 1, 1)].mean()
            assert expected_error(structure, prefix, list(levels)) == pytest.approx(mean)


def test_long_chains_settle_without_losing_precision():
    structure = Structure(6_000, 3, 3)
    levels = [2.0]
    short = expected_error(Structure(600, 3, 3), 1.0, levels)
    assert expected_error(structure, 1.0, levels) == pytest.approx(short, rel=0.02)
    assert expected_error(structure, 1e6, levels) > 100 * short


# --- the hierarchical mechanism --------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 9, 37])
@pytest.mark.parametrize("theta", [1, 3, 8, 40])
@pytest.mark.parametrize("fan_out", [2, 3, 16])
def test_every_structure_is_proved_at_exactly_epsilon(size, theta, fan_out):
    policy = line(size, theta)
    for block in sorted({1, 2, theta, 2 * theta + 1}):
        epsilon = Fraction(2, 7) if block == 2 else ONE
        options = {"block": str(block), "fan-out": str(fan_out)}
        made = planned("hierarchical", policy, epsilon=epsilon, options=options)
        found = certify(made.description, policy, epsilon)
        assert (found.verdict, found.loss) == ("proved", epsilon)


@pytest.mark.parametrize("split", ["levels alike", "equation 15", "odd"])
def test_the_bound_on_the_loss_holds_before_any_scaling(split):
    """ceil(theta / block) / b_S + sum 2 / b_l, the argument of the docstring, for any split."""
    for size, theta, block, fan_out in ((20, 4, 4, 2), (23, 5, 3, 3), (30, 7, 9, 4), (9, 9, 2, 2)):
        setup = Setup(size, min(theta, size - 1), ONE)
        structure = Structure(size, block, fan_out)
        parts = structure.height + structure.has_prefixes
        weights = {"levels alike": [1] * parts, "odd": list(range(1, parts + 1))}.get(split)
        if weights is None:
            design = equation_15(setup, structure)
        else:
            shares = [Fraction(weight, sum(weights)) for weight in weights]
            design = evaluated(setup, structure, shares)
        releases = structure.releases("x", design.prefix, design.levels)
        found = certify(Mechanism(releases=tuple(releases)), line(size, theta), ONE)
        assert found.verdict == "proved"


def test_the_printed_calibration_fails_where_ours_is_proved():
    """Section 7.2: the first tree has all of epsilon, its root being the first S node."""
    policy = line(4, 2)
    epsilon_s, epsilon_h, h = Fraction(1, 10), Fraction(9, 10), 1

    def drawn(query, scale):
        return Release(query=query, noise="discrete-laplace", scale=scale)

    printed = Mechanism(
        releases=(
            drawn(Tree(attribute="x", fan_out=2, block=2, blocks=(0, 0)), 2 * h * ONE),
            drawn(
                Tree(attribute="x", fan_out=2, block=2, first=1, blocks=(1, 1)), 2 * h / epsilon_h
            ),
        )
    )
    assert epsilon_s + epsilon_h == 1
    assert certify(printed, policy, ONE).verdict == "refuted"
    made = planned("hierarchical", policy, options={"block": "2", "fan-out": "2"})
    assert certify(made.description, policy, ONE).verdict == "proved"


def test_extremes_are_the_ordered_and_the_hierarchical_mechanism():
    ordered = planned("hierarchical", line(300, 1))
    assert ordered.design.structure.block == 1 and len(ordered.releases) == 1
    assert ordered.releases[0].scale == 1
    tree = planned("hierarchical", line(300, 300))
    assert tree.design.structure.blocks == 1 and len(tree.releases) == 1
    assert isinstance(tree.releases[0].query, Tree)


@pytest.mark.parametrize("theta", [1, 2, 3, 6, 12, 25, 70, 150])
def test_it_is_never_worse_than_either(theta):
    setup = Setup(150, min(theta, 149), ONE)
    best = best_design(setup).error
    extremes = [best_design(Setup(150, min(theta, 149), ONE, blocks=(b,))).error for b in (1, 150)]
    assert best <= min(extremes) * (1 + 1e-9)
    if theta == 12:  # and in between it is better than both
        assert best < 0.8 * min(extremes)


@pytest.mark.parametrize("fan_out", [2, 5, 16])
@pytest.mark.parametrize("size", [2, 17, 60])
def test_it_is_never_worse_than_either_on_a_grid(size, fan_out):
    """Any theta, |T| and fan-out, the fan-out the same for the plain hierarchical mechanism."""
    for theta in sorted({1, 3, size // 3, size - 1} & set(range(1, size))):
        setup = Setup(size, theta, ONE, open_end=theta % 2 == 0, fan_outs=(fan_out,))
        best = best_design(setup).error
        for block in (1, size):
            alone = best_design(replace(setup, blocks=(block,)))
            assert best <= alone.error * (1 + 1e-9), (theta, block)


def test_splitting_by_error_beats_equation_15():
    setup = Setup(400, 100, ONE, blocks=(100,), fan_outs=(2,))
    structure = Structure(400, 100, 2)
    assert best_design(setup).error < 0.6 * equation_15(setup, structure).error


def test_errors_are_as_expected_and_estimates_unbiased(sparse):
    path, counts = sparse
    policy = line(60, 6)
    made = planned("hierarchical", policy, epsilon=Fraction(1, 2))
    assert made.releases[0].scale != made.releases[-1].scales[0]
    truth = np.concatenate([[0], np.cumsum(counts)])
    with Dataset(path, policy.domain) as data:
        draws = (Draw(made, data) for _ in range(400))
        errors = np.array(
            [
                made.counts([draw(item) for item in made.releases], 300, rise=False).below - truth
                for draw in draws
            ]
        )
    low, high = np.triu_indices(61, 1)
    ranges = errors[:, high] - errors[:, low]
    assert (ranges**2).mean() == pytest.approx(made.design.error, rel=0.15)
    spread = ranges.std(axis=0) / np.sqrt(400)
    assert np.abs(ranges.mean(axis=0)).max() < 6 * spread.max()


@pytest.mark.parametrize("name", ["laplace", "ordered", "hierarchical"])
def test_what_is_drawn_has_the_declared_scales(name, tmp_path):
    """Run by run, |noise| has the mean that the declared scale gives it; 3 % would be noticed."""
    policy = line(6_000, 30)
    path = tmp_path / "some.csv"
    path.write_text("x\n" + "\n".join(map(str, RNG.integers(0, 6_000, 500))) + "\n")
    options = {"block": "30", "fan-out": "5"} if name == "hierarchical" else {}
    made = planned(name, policy, epsilon=Fraction(1, 2), options=options)
    with Dataset(path, policy.domain) as data:
        draw = Draw(made, data)
        for item in made.description:
            truth = true_answers(item, policy, data)
            noise = np.abs((draw(item).units - truth.units).astype(float))
            runs = (truth.runs or ()) if len(item.scales) > 1 else (len(truth),)
            parts = np.split(noise, np.cumsum(runs)[:-1])
            for part, scale in zip(parts, item.scales, strict=True):
                ratio = np.exp(-1 / float(scale))
                mean = 2 * ratio / (1 - ratio**2)
                deviation = np.sqrt(variance(scale) - mean**2)
                assert abs(part.mean() - mean) < 7 * deviation / np.sqrt(len(part))
        assert draw.drawn == list(made.description)


def test_secrets_that_blocks_seal_off_cost_nothing_for_prefixes():
    cells = PartitionCells([{"x": Between(5 * k, 5 * k + 4)} for k in range(6)])
    policy = Policy(domain=Domain(x=Integers(0, 29)), secrets=cells)
    made = planned("hierarchical", policy)
    assert made.design.structure.block == 5
    assert made.releases[0].scale == 0 and certify(made.description, policy, ONE).loss == 1


@pytest.mark.parametrize("reading", ["published", "secret-moves", "add-remove", "markov"])
def test_other_policies_are_calibrated_by_the_certifier(reading, tmp_path):
    domain = Domain(s=Labels(["a", "b"]), x=Integers(0, 4))
    known = () if reading == "markov" else (Count({"s": "a"}),)
    policy = Policy(domain=domain, known=known, secrets=Full())
    made = planned("hierarchical", policy, reading=reading, time_limit=10)
    assert certify(made.description, policy, ONE, reading=reading).verdict == "proved"
    path = tmp_path / "few.csv"
    path.write_text("s,x\na,0\nb,3\nb,4\n")
    with Dataset(path, domain) as data:
        found = release(made, data)
    assert len(found.answers) == 5


def test_no_secrets_no_noise(sparse):
    path, counts = sparse
    policy = Policy(domain=Domain(x=Integers(0, 59)), secrets=PartitionBy(["x"]))
    for name in ("ordered", "hierarchical"):
        found = released(name, policy, path, "histogram", Fraction(1, 1000))
        assert list(found.answers) == pytest.approx(list(counts))
        assert any("no two neighbouring" in note for note in found.notes)


def test_one_value_is_no_problem(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("x\n0\n0\n")
    for name in ("ordered", "hierarchical"):
        for reading, exact in (("published", True), ("add-remove", False)):
            found = released(name, line(1), path, reading=reading)
            assert len(found.answers) == 1
            assert not exact or list(found.answers) == [2]


@pytest.mark.parametrize(
    "options", [{"fanout": "2"}, {"fan-out": "1"}, {"block": "0"}, {"block": "x"}, {"block": "1/2"}]
)
def test_options_that_make_no_sense(options):
    with pytest.raises(BlowproofError):
        planned("hierarchical", line(10), options=options)


def test_what_the_certifier_cannot_bound_is_not_released(monkeypatch):
    def unbounded(*asked, **options):
        return replace(certify(*asked, **options), upper=None)

    monkeypatch.setattr(calibrate, "certify", unbounded)
    with pytest.raises(RefusedError, match="nothing bounds"):
        planned("hierarchical", line(10))


def test_questions_beyond_every_budget_are_refusals(monkeypatch):
    def refused(*asked, **options):
        raise BudgetError("too many values")

    monkeypatch.setattr(calibrate, "certify", refused)
    with pytest.raises(RefusedError, match="too many values"):
        planned("hierarchical", line(10))


def test_large_domains_are_planned_and_estimated_quickly():
    """A hundred thousand values: everything is linear in them."""
    size = 10**5
    setup = Setup(size, 1_000, ONE)
    design = best_design(setup)
    structure = design.structure
    counts = RNG.integers(0, 3, size)
    sums = np.concatenate([[0], np.cumsum(counts)])
    ends = prefix_ends(Prefixes(attribute="x", every=structure.block), size)
    levels = tree_levels(structure.tree("x"), size)
    exact = [(sums[level.high] - sums[level.low]).astype(float) for level in levels]
    noise = [variance(scale) for scale in design.levels]
    measured = Measured(
        structure, sums[ends].astype(float), variance(design.prefix), exact, noise, int(sums[-1])
    )
    assert cumulative_estimate(measured) == pytest.approx(sums, abs=1e-3)
