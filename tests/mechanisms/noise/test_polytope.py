"""Noise in the shape of a polytope: what is drawn, what it loses, how the hull is found."""

import itertools
import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining.measurements import measured_in
from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.expecting.polytope_error import polytope_error
from blowproof.mechanisms.noise.polytope import Rows, body_of, raw_polytope
from blowproof.mechanisms.release.gate import proved, raw_noisy
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import Plan
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.structures.hulls import fixed_rows, hull_around
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import (
    BudgetError,
    Count,
    Database,
    Distance,
    Domain,
    Integers,
    Labels,
    Marginal,
    Policy,
    PolicyError,
    QueryError,
    parse_query,
    setting,
)
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.models.mechanisms.mechanism_reading import releases
from blowproof.models.mechanisms.mechanism_writing import release_table
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.engines.brute import brute_neighbours

HEXAGON = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
SUM = ((1, 1, 1),)
SKEW = ((3, 1), (1, 4))
TWO = Policy(
    domain=Domain(a=Labels(["a", "b"]), b=Labels(["x", "y", "z"])),
    known=(Marginal(["a"]), Marginal(["b"])),
)


def gauge(point: tuple[int, ...], facets: Rows) -> int:
    """By definition."""
    return max(abs(sum(a * x for a, x in zip(row, point, strict=True))) for row in facets)


def lattice(facets: Rows, fixed: Rows, reach: int) -> list[tuple[int, ...]]:
    span = range(-reach, reach + 1)
    return [
        point
        for point in itertools.product(span, repeat=len(facets[0]))
        if all(sum(a * x for a, x in zip(row, point, strict=True)) == 0 for row in fixed)
    ]


@pytest.mark.parametrize(
    ("facets", "fixed", "scale"),
    [
        (HEXAGON, SUM, Fraction(1)),
        (SKEW, (), Fraction(3)),
        (((2, 2), (2, -2)), (), Fraction(5, 2)),
        (((1, 1, 1), (1, -1, 1), (1, 1, -1), (1, -1, -1)), (), Fraction(2, 3)),
        (((1, 0, 0, 0), (0, 1, 0, 0)), ((1, 1, 1, 1), (1, 2, 0, 3)), Fraction(1)),
    ],
)
def test_the_probabilities_are_those_of_the_gauge(
    facets: Rows, fixed: Rows, scale: Fraction
) -> None:
    """Every point of small gauge, and the rest together: chi square, from a source with a seed."""
    draws = 12_000
    source = Random(len(facets) * 10 + len(fixed)).randbytes
    found = Counter(
        tuple(raw_polytope(scale, facets, fixed, source=source).tolist()) for _ in range(draws)
    )
    weights = {
        point: math.exp(-gauge(point, facets) / float(scale))
        for point in lattice(facets, fixed, 14 if len(facets[0]) < 4 else 11)
    }
    whole = sum(weights.values())
    expected_of = {p: w / whole * draws for p, w in weights.items() if w / whole * draws >= 8}
    assert len(expected_of) > 4
    assert set(found) <= set(weights) or sum(found[p] for p in found.keys() - set(weights)) < 9
    other = draws - sum(expected_of.values())
    seen = draws - sum(found[point] for point in expected_of)
    square = sum((found[point] - value) ** 2 / value for point, value in expected_of.items())
    square += (seen - other) ** 2 / max(other, 1.0)
    free = len(expected_of)
    assert square < free + 4.5 * math.sqrt(2 * free)


@pytest.mark.parametrize(("facets", "fixed"), [(HEXAGON, SUM), (SKEW, ()), (((5, 3), (3, 2)), ())])
def test_the_box_holds_every_point_of_the_lattice(facets: Rows, fixed: Rows) -> None:
    """And the coordinates reach each point once: no point is left out, and none is drawn twice."""
    body = body_of(facets, fixed)
    reach = range(-4, 5)
    seen = [tuple(body.point(y)) for y in itertools.product(reach, repeat=body.dimension)]
    assert len(set(seen)) == len(seen)
    for y in itertools.product(reach, repeat=body.dimension):
        size = body.gauge(y)
        assert size == gauge(tuple(body.point(y)), facets)
        assert all(abs(x) <= side * size for x, side in zip(y, body.sides, strict=True))
    near = [point for point in lattice(facets, fixed, 1) if any(point)]
    wide = range(-9, 10)
    reached = {tuple(body.point(y)) for y in itertools.product(wide, repeat=body.dimension)}
    assert set(near) <= reached


def test_numbers_beyond_64_bits_stay_whole() -> None:
    for _ in range(30):  # tails of the envelope among them
        noise = raw_polytope(Fraction(10**30), HEXAGON, SUM)
        assert noise.dtype == object
        assert sum(noise.tolist()) == 0
        assert max(abs(value) for value in noise.tolist()) > 2**64


def test_what_is_no_body_is_refused() -> None:
    with pytest.raises(PolicyError):
        raw_polytope(-1, HEXAGON, SUM)
    with pytest.raises(PolicyError, match="bounds"):
        body_of(((1, 1),), ())
    for changes in ({"groups": 2}, {"facets": ((1, 2), (1,))}, {"noise": "discrete-laplace"}):
        with pytest.raises(PolicyError):
            shaped(**{"facets": ((1, 0), (0, 1)), **changes})
    with pytest.raises(PolicyError):
        shaped(fixed=((1, 1),))


def shaped(**keys: object) -> Release:
    given = {"query": "histogram", "noise": "discrete-k-norm", "scale": Fraction(1), **keys}
    return Release(**given)  # type: ignore[arg-type] # what a test hands in


def test_a_release_is_written_and_read_again() -> None:
    release = shaped(facets=HEXAGON, fixed=SUM)
    assert releases([release_table(release)]) == (release,)


# --- what it loses -------------------------------------------------------------------------------


def differences(policy: Policy, query: str) -> set[tuple[int, ...]]:
    """Of all pairs of neighbours, listed by definition."""
    bound = parse_query(query, policy)
    outputs = bound.outputs(policy.domain)
    assert outputs is not None
    found = set()
    for pair in brute_neighbours(setting(policy), "published", sizes=[policy.database.size or 0]):
        row = [0] * outputs.count
        for key, value in Part(bound, (Fraction(1),)).changes(pair.moves("published")).items():
            row[outputs.place(key)] = int(value)
        found.add(tuple(row))
    return found


GIVEN = [
    (
        Policy(
            domain=Domain(a=Labels(["a", "b"]), b=Labels(["x", "y", "z"])),
            known=(Marginal(["a"], answers=[2, 2]), Marginal(["b"], answers=[1, 2, 1])),
            database=Database(size=4),
        ),
        "histogram",
    ),
    (
        Policy(
            domain=Domain(age=Integers(0, 4)),
            secrets=Distance(threshold=2),
            database=Database(size=3),
        ),
        "cumulative(age)",
    ),
    (
        Policy(
            domain=Domain(age=Integers(0, 3)),
            known=(Count({"age": [1, 2]}, answer=2), Count({"age": [2, 3]}, answer=2)),
            database=Database(size=3),
        ),
        "histogram",
    ),
]


@pytest.mark.parametrize(("policy", "query"), GIVEN)
def test_the_hull_is_that_of_all_differences(policy: Policy, query: str) -> None:
    release = drawn_by(asked(policy, query, Fraction(1, 2)))
    assert release.scale is not None
    found = differences(policy, query)
    sizes = {item: gauge(item, release.facets) for item in found if any(item)}
    assert max(sizes.values()) / release.widths[0] == Fraction(1, 2)  # all of epsilon, and no more
    for row in release.fixed:
        assert not any(sum(a * x for a, x in zip(row, item, strict=True)) for item in found)
    for row in release.facets:  # each facet is reached by as many differences as it takes
        on = [item for item in found if gauge(item, (row,)) == max(sizes.values())]
        assert np.linalg.matrix_rank(np.array(on)) == len(row) - len(release.fixed)


@pytest.mark.parametrize(("policy", "query"), GIVEN)
def test_the_box_holds_all_differences_and_reaches_them_in_each_answer(
    policy: Policy, query: str
) -> None:
    release = drawn_by(asked(policy, query, Fraction(1, 2), "box"))
    found = differences(policy, query)
    scale = release.widths[0]
    assert max(gauge(item, release.facets) for item in found) / scale == Fraction(1, 2)
    size = len(release.facets[0])
    for row in release.fixed:
        assert not any(sum(a * x for a, x in zip(row, item, strict=True)) for item in found)
    assert len(release.fixed) == size - np.linalg.matrix_rank(np.array(sorted(found)))
    for row in release.facets:
        (at,) = np.flatnonzero(row)
        most = max(abs(item[at]) for item in found)
        assert not most or abs(row[at]) * most == scale / 2
    seen = {int(np.flatnonzero(row)[0]) for row in release.facets}
    assert seen >= {at for at in range(size) if any(item[at] for item in found)}


def test_a_box_where_the_hull_has_too_many_dimensions() -> None:
    """Seven dimensions are left of twelve: the cube, which does not know that, has 1.75 times the
    error.
    """
    policy = Policy(
        domain=Domain(a=Labels(["a", "b"]), b=Labels(["c", "d"]), c=Labels(["x", "y", "z"])),
        known=(Marginal(["a"]), Marginal(["b"]), Marginal(["c"])),
    )
    with pytest.raises(BudgetError, match=r"7 dimensions.*\n  try: --set shape=box"):
        asked(policy)
    made = asked(policy, shape="box")
    release = drawn_by(made)
    assert proved(made).loss == 1 and body_of(release.facets, release.fixed).dimension == 7
    assert release.widths == drawn_by(asked(policy, shape="cube")).widths  # by the same S
    assert made.notes == (
        "the box around the neighbours' differences has 7 dimensions and 24 facets",
    )
    box, cube = (expected(asked(policy, shape=shape), (), 0) for shape in ("box", "cube"))
    assert box is not None and cube is not None
    assert 1.7 * box.rmse < cube.rmse
    drawn = raw_polytope(release.widths[0], release.facets, release.fixed).reshape(2, 2, 3)
    assert not any(drawn.sum(axis=axes).any() for axes in ((0, 1), (0, 2), (1, 2)))


def test_without_what_never_changes_the_box_is_the_cube() -> None:
    free = Policy(domain=Domain(age=Integers(0, 4)), secrets=Distance(threshold=2))
    with pytest.raises(QueryError, match=r"the cube is this box\n  try: --set shape=cube"):
        asked(free, "sum(age)", shape="box")
    beside = replace(TWO, known=TWO.known[:1])
    with pytest.raises(RefusedError, match="shape=groups"):
        asked(beside, shape="box")


@pytest.mark.parametrize(("policy", "query"), GIVEN)
def test_the_loss_is_that_of_the_definition(policy: Policy, query: str) -> None:
    """For drawn facets, on which nothing was calibrated."""
    draw = Random(5)
    found = differences(policy, query)
    size = len(next(iter(found)))
    fixed = fixed_rows(sorted(item for item in found if any(item)), size)
    for _ in range(4):
        facets = tuple(tuple(draw.randint(-3, 3) for _ in range(size)) for _ in range(size + 2))
        release = shaped(query=query, facets=facets, fixed=fixed, scale=Fraction(7, 2))
        verdict = certify(Mechanism(releases=(release,)), policy, Promise(Fraction(1)))
        assert verdict.loss == max(gauge(item, facets) for item in found) / Fraction(7, 2)


def test_what_noise_leaves_alone_must_not_change() -> None:
    """A pair that changes it is told apart for certain."""
    policy = GIVEN[2][0]
    release = shaped(facets=((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0)), fixed=((0, 0, 0, 1),),
                     scale=Fraction(100))  # fmt: skip
    found = certify(Mechanism(releases=(release,)), policy, Promise(Fraction(1)))
    assert found.verdict == "refuted"
    assert found.upper == "inf"
    flat = shaped(facets=((1, 0, 0, 0),), scale=Fraction(100))
    with pytest.raises(PolicyError, match="bounds"):
        certify(Mechanism(releases=(flat,)), policy, Promise(Fraction(1)))
    short = shaped(facets=((1, 0), (0, 1)), scale=Fraction(100))
    with pytest.raises(PolicyError, match="4 outputs"):
        certify(Mechanism(releases=(short,)), policy, Promise(Fraction(1)))


def test_too_small_a_scale_is_refuted_with_a_pair() -> None:
    made = asked(TWO)
    release = drawn_by(made)
    assert release.scale is not None
    less = shaped(facets=release.facets, fixed=release.fixed, scale=release.widths[0] * 9 / 10)
    found = certify(Mechanism(releases=(less,)), TWO, Promise(Fraction(1)))
    assert found.verdict == "refuted"
    assert found.witness is not None
    assert found.loss == Fraction(10, 9)
    assert proved(made).loss == 1


# --- what it is worth ----------------------------------------------------------------------------


def asked(
    policy: Policy, query: str = "histogram", epsilon: Fraction = Fraction(1), shape: str = "hull"
) -> Plan:  # fmt: skip
    options = {"shape": shape}
    return made_ready("k-norm", Request(policy=policy, query=query, epsilon=epsilon,
                                        options=options, accept_wide_bounds=True))  # fmt: skip


def drawn_by(plan: Plan) -> Release:
    assert plan.description is not None
    (release,) = plan.description.releases
    return release


def test_two_published_margins_of_a_table() -> None:
    """Two dimensions are left of six; Laplace noise has S = 8."""
    found = expected(asked(TWO), (), 0)
    plain = expected(made_ready("laplace", replace(asked(TWO).request, options={})), (), 0)
    assert found is not None
    assert plain is not None
    assert found.rmse * 3 < plain.rmse


def test_the_expected_error_is_that_of_real_draws() -> None:
    made = asked(TWO)
    release = drawn_by(made)
    source = Random(3).randbytes
    drawn = np.array([
        raw_polytope(release.widths[0], release.facets, release.fixed, source=source)
        for _ in range(2_000)
    ], dtype=np.float64)  # fmt: skip
    shape = polytope_error(release.facets, release.fixed, release.widths[0])
    assert np.sqrt((drawn**2).mean()) == pytest.approx(shape.rmse, rel=0.06)
    assert (abs(drawn) <= shape.halves).mean() > 0.93
    assert np.cov(drawn.T) == pytest.approx(shape.covariance, abs=0.12 * shape.rmse**2)


def test_a_simulated_error_says_so_and_its_interval_holds() -> None:
    found = expected(asked(TWO), (), 0)
    assert found is not None
    assert found.how == "simulated" and found.between is not None
    low, high = found.between
    assert low < found.rmse < high < 1.05 * low
    assert found.to_json()["rmse_between"] == [low, high] and "on" not in found.to_json()
    scales = [Fraction(scale) for scale in range(3, 43)]
    held = 0
    for scale in scales:  # in one dimension it is discrete Laplace noise, of a known variance
        low, high = polytope_error(((1,),), (), scale).between
        held += low**2 <= variance(scale) <= high**2
    assert held >= 34


def test_what_was_measured_has_independent_noise_of_variance_1() -> None:
    made = asked(TWO)
    release = drawn_by(made)
    source = Random(4).randbytes
    drawn = [
        [Fraction(int(x)) for x in raw_polytope(release.widths[0], release.facets, release.fixed,
                                                source=source)]
        for _ in range(1_500)
    ]  # fmt: skip
    found = [measured_in(release, values, TWO) for values in drawn]
    table = np.array([item.values for item in found])
    assert table.shape[1] == 2
    assert np.cov(table.T) == pytest.approx(np.eye(2), abs=0.15)
    assert all(item.totals is not None and not item.totals[1].any() for item in found)


def test_images_are_only_of_what_the_facts_leave_alone() -> None:
    """One count is known: its two values are alike, and the two others; the hull is exact."""
    policy = Policy(
        domain=Domain(age=Labels(["a", "b", "c", "d"])), known=(Count({"age": ["a", "b"]}),)
    )
    release = drawn_by(asked(policy))
    assert release.scale == 1
    every = [(1, -1, 0, 0), (0, 0, 1, -1), (1, -1, 1, -1), (1, -1, -1, 1)]
    assert hull_around(every, release.fixed).facets == release.facets


def test_too_many_outputs_or_dimensions_are_refused() -> None:
    many = Policy(domain=Domain(age=Integers(0, 40)))
    with pytest.raises(BudgetError, match="41 outputs"):
        asked(many, "cumulative(age)")
    with pytest.raises(BudgetError, match="dimensions"):
        asked(Policy(domain=Domain(age=Integers(0, 12))), "cumulative(age)")
    with pytest.raises(QueryError, match="nothing changes"):
        asked(Policy(domain=Domain(age=Integers(0, 0))), "cumulative(age)")
    with pytest.raises(RefusedError, match="groups"):
        asked(many)


def test_the_command_draws_it_and_an_estimate_follows(tmp_path: Path) -> None:
    policy = tmp_path / "two.toml"
    policy.write_text(
        '[domain]\na = ["a", "b"]\nb = ["x", "y", "z"]\n'
        '[[known]]\nmarginal = ["a"]\n[[known]]\nmarginal = ["b"]\n',
        "utf-8",
    )
    rows = ["a,b", *(f"{a},{b}" for a in "ab" for b in "xyz" for _ in range(50))]
    data = tmp_path / "two.csv"
    data.write_text("\n".join(rows) + "\n", "utf-8")
    answers = str(tmp_path / "answers.json")
    code = run(["release", str(policy), str(data), "--query", "histogram", "--epsilon", "1",
                "--mechanism", "k-norm", "--set", "shape=hull", "--output", answers,
                "--ledger", str(tmp_path / "l.db"), "--budget", "2"])  # fmt: skip
    assert code == 0
    found = json.loads(Path(answers).read_text("utf-8"))
    table = np.array([row[2] for row in found["rows"]]).reshape(2, 3)
    assert (table.sum(axis=0) == 100).all()  # published sums, exactly
    assert (table.sum(axis=1) == 150).all()
    again = str(tmp_path / "again.json")
    assert (
        run(["estimate", str(policy), answers, "--query", "marginal(a,b)", "--output", again]) == 0
    )
    other = json.loads(Path(again).read_text("utf-8"))["rows"]
    assert np.array([row[2] for row in other]) == pytest.approx(table.ravel(), abs=1e-6)


def test_other_answers_than_the_facets_are_refused() -> None:
    from blowproof.mechanisms.answers.vectors import Vector, whole

    truth = Vector(whole([1, 2]), Fraction(1), None)  # type: ignore[arg-type] # no names are asked for
    with pytest.raises(RefusedError):
        raw_noisy(shaped(facets=HEXAGON, fixed=SUM), truth)
