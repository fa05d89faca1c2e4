"""Noise on the steps of a grid: what is drawn, what it loses, and what it is worth."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from math import exp, log
from pathlib import Path

import numpy as np
import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining.estimator import Estimator
from blowproof.mechanisms.combining.measurements import measured_in
from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.expecting.rehearsal import Stage, numbers
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.noise.discrete_gaussian import raw_discrete_gaussian
from blowproof.mechanisms.noise.discrete_laplace import raw_discrete_laplace
from blowproof.mechanisms.noise.steps import step_noise, steps_at
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import release
from blowproof.mechanisms.release.request import Request
from blowproof.models import (
    AttributeChange,
    BudgetError,
    Database,
    Distance,
    Domain,
    Full,
    Integers,
    Labels,
    Marginal,
    PartitionBy,
    Policy,
    QueryError,
    parse_query,
)
from blowproof.models.mechanisms.mechanism import Mechanism, Release
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.certify.base.promise import Promise
from blowproof.verifier.certify.certify import certify
from blowproof.verifier.certify.noise.gaussian_steps import GAUSSIAN_STEPS
from blowproof.verifier.certify.noise.steps import STEPS_NOISE, longest_move, steps_between

GRID = Domain(x=Integers(0, 5), y=Integers(0, 3))
NEAR = Policy(domain=GRID, secrets=Distance(threshold=1))
GRID_OF_24 = Domain(x=Integers(0, 23), y=Integers(0, 23))
COUNTS = np.arange(24, dtype=np.int64) ** 2 % 29


RHO = Fraction(1, 8)


def asked(policy: Policy, query: str = "histogram", *, rho: Fraction | None = None) -> Request:
    epsilon = Fraction(1) if rho is None else Fraction(0)
    return Request(policy=policy, query=query, epsilon=epsilon, rho=rho, accept_wide_bounds=True)


def test_every_step_moves_its_number_from_one_end_to_the_other() -> None:
    """The table is the incidence of steps and values, times the numbers on the steps."""
    domain = Domain(x=Integers(0, 2), sort=Labels(["a", "b", "c"]))
    values = list(domain.points())
    pairs = [
        (p, q)
        for p, q in itertools.combinations(values, 2)
        if (p[1] == q[1] and abs(p[0] - q[0]) == 1) or (p[0] == q[0] and p[1] != q[1])
    ]
    used = []

    def one_at(place: int):  # type: ignore[no-untyped-def]
        count = itertools.count()
        return lambda size: np.array([int(next(count) == place) for _ in range(size)])

    for place in range(len(pairs)):
        found = step_noise((0, 1), domain, one_at(place))
        ends = tuple(values[at] for at in np.flatnonzero(found))
        assert sorted(found[found != 0].tolist()) == [-1, 1]
        used.append(ends)
    assert sorted(used) == sorted(pairs)
    assert step_noise((0, 1), domain, one_at(len(pairs))).any() == np.False_


def test_the_numbers_on_the_steps_are_discrete_laplace_numbers_drawn_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The sampler that is tested exactly elsewhere, once for all steps of an attribute."""
    from blowproof.mechanisms.noise import steps

    asked_for = []

    def watched(scale, size, *, source):  # type: ignore[no-untyped-def]
        asked_for.append((scale, size))
        return raw_discrete_laplace(scale, size, source=source)

    monkeypatch.setattr(steps, "raw_discrete_laplace", watched)
    steps.raw_steps(Fraction(7, 2), (0, 1), GRID)
    assert asked_for == [(Fraction(7, 2), 5 * 4), (Fraction(7, 2), 6 * 3)]


@pytest.mark.parametrize("wide", [2**31, 2**53, 2**61, 2**62, 2**63, 2**70])
def test_numbers_of_any_size_add_up_exactly(wide: int) -> None:
    domain = Domain(x=Integers(0, 2), y=Integers(0, 2))
    kind = np.int64 if wide < 2**63 else object
    found = step_noise((0, 1), domain, lambda size: np.array([wide] * size, dtype=kind))
    assert found.tolist() == [2 * wide, wide, 0, wide, 0, -wide, 0, -wide, -2 * wide]


def test_the_probabilities_of_a_square_differ_by_no_more_than_a_step() -> None:
    """Four values, four steps, one cycle: P(z) is a sum over what goes round, written out."""
    rate, most = 0.7, 60

    def chance(z: tuple[int, ...]) -> float:
        # steps 0-1, 0-2, 1-3, 2-3 carry a, b, c, d: z0 = a + b, z1 = c - a, z2 = d - b
        z0, z1, z2 = z
        return sum(
            exp(-rate * (abs(a) + abs(z0 - a) + abs(z1 + a) + abs(z2 + z0 - a)))
            for a in range(-most, most + 1)
        )

    worst = 0.0
    span = range(-6, 7)
    for z in itertools.product(span, repeat=3):
        here = chance(z)
        for move in ((1, -1, 0), (1, 0, -1), (0, 1, 0), (0, 0, 1)):  # 0-1, 0-2, 1-3, 2-3
            there = chance(tuple(a + b for a, b in zip(z, move, strict=True)))
            worst = max(worst, abs(log(here / there)))
    assert worst <= rate + 1e-9
    far = abs(log(chance((30, -30, 0)) / chance((31, -31, 0))))
    assert far == pytest.approx(rate, rel=0.02)


@pytest.mark.parametrize(
    "secrets",
    [Distance(threshold=1), Distance(threshold=3), Distance(threshold=3, metric="l2"),
     Distance(threshold=2, metric="linf"), Distance(threshold=2, attributes=["x"]), Full(),
     AttributeChange(), PartitionBy(["sort"])],
    ids=repr,
)  # fmt: skip
def test_the_longest_move_is_that_of_all_edges(secrets) -> None:  # type: ignore[no-untyped-def]
    domain = Domain(x=Integers(0, 4), sort=Labels(["a", "b", "c"]), y=Integers(0, 3))
    graph = Policy(domain=domain, secrets=secrets).graph
    most, edge = longest_move(graph, domain)
    assert most == max(steps_between(x, y, domain) for x, y in graph.edges(limit=10**6))
    assert edge is not None
    assert graph.is_edge(*edge)
    assert steps_between(*edge, domain) == most


def test_noise_on_steps_is_proved_and_less_of_it_refuted() -> None:
    made = made_ready("steps", asked(NEAR, "rectangles(x,y)"))
    assert proved(made).upper == 1
    narrow = Release(
        query="histogram", noise="discrete-steps", scale=Fraction(1, 2), along=("x", "y")
    )
    found = certify(Mechanism(releases=(narrow,)), NEAR, Fraction(1))
    assert found.verdict == "refuted"
    assert found.loss == 2
    missing = Release(query="histogram", noise="discrete-steps", scale=Fraction(9), along=("x",))
    assert certify(Mechanism(releases=(missing,)), NEAR, Fraction(1)).verdict == "undecided"
    known = Policy(domain=GRID, secrets=Distance(threshold=1), known=(Marginal(("x",)),))
    both = Release(query="histogram", noise="discrete-steps", scale=Fraction(9), along=("x", "y"))
    assert certify(Mechanism(releases=(both,)), known, Fraction(1)).verdict == "undecided"


def test_gaussian_numbers_on_the_steps_are_drawn_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sampler that is tested exactly elsewhere, once for all steps of an attribute."""
    from blowproof.mechanisms.noise import steps

    asked_for = []

    def watched(variance, size, *, source):  # type: ignore[no-untyped-def]
        asked_for.append((variance, size))
        return raw_discrete_gaussian(variance, size, source=source)

    monkeypatch.setattr(steps, "raw_discrete_gaussian", watched)
    steps.raw_gaussian_steps(Fraction(7, 2), (0, 1), GRID)
    assert asked_for == [(Fraction(7, 2), 5 * 4), (Fraction(7, 2), 6 * 3)]


def test_for_a_rho_the_noise_is_gaussian_and_less_than_a_path_calls_for() -> None:
    """Of one step less than 1 / (2 rho), by all ways round; of longer moves much less."""
    for threshold, most in ((1, 0.8), (3, 0.6), (8, 0.35)):
        policy = Policy(domain=GRID_OF_24, secrets=Distance(threshold=threshold))
        made = made_ready("steps", asked(policy, "rectangles(x,y,50)", rho=Fraction(1, 200)))
        assert made.description is not None
        (release,) = made.description.releases
        assert release.noise == "discrete-gaussian-steps"
        assert release.widths[0] < most * threshold * 100
        assert proved(made).verdict == "proved"


def test_a_plan_for_a_rho_takes_it_for_rectangles() -> None:
    work = workload(["rectangles(x,y)"], [], NEAR)
    found = planned(asked(NEAR, "rectangles(x,y)", rho=RHO), work, size=1000)
    errors = {option.mechanism: option.rmse for option in found.options}
    assert found.chosen is not None
    assert found.chosen.mechanism == "steps"
    assert 1.3 * errors["steps"] < errors["table"]


@pytest.mark.parametrize("rho", [None, RHO], ids=str)
@pytest.mark.parametrize("query", ["histogram", "marginal(y)", "rectangles(x,y)", "marginal(y,x)"])
def test_the_error_is_the_one_that_was_expected(query: str, rho: Fraction | None) -> None:
    made = made_ready("steps", asked(NEAR, query, rho=rho))
    data = NoisyTable(COUNTS, GRID)
    truth = numbers(true_answers(made.request.bound, NEAR, data))
    stage = Stage(NEAR, data, 3)
    errors = np.array([numbers(made.run(stage)) - truth for _ in range(600)])  # type: ignore[arg-type]
    said = expected(made, [("flat", data)], 5)
    assert said is not None
    assert np.sqrt((errors**2).mean()) == pytest.approx(said.rmse, rel=0.1)
    assert np.quantile(abs(errors).max(axis=1), 0.95) < 1.35 * said.max95
    drawn = numbers(release(made, data).answers)
    assert abs(drawn - truth).max() < 15 * said.rmse


def test_totals_that_no_secret_changes_are_exact() -> None:
    domain = Domain(ward=Labels(["a", "b"]), x=Integers(0, 3), y=Integers(0, 2))
    policy = Policy(domain=domain, secrets=Distance(threshold=1, attributes=["x", "y"]))
    made = made_ready("steps", asked(policy))
    found = numbers(release(made, NoisyTable(COUNTS, domain)).answers).reshape(2, 12)
    assert found.sum(axis=1).tolist() == COUNTS.reshape(2, 12).sum(axis=1).tolist()


def test_it_is_what_a_plan_takes_for_rectangles_and_never_loses_to_laplace_on_a_grid() -> None:
    for query, times in (("rectangles(x,y)", 1.5), ("histogram", 1.0)):
        work = workload([query], [], NEAR)
        found = planned(asked(NEAR, query), work, size=1000)
        errors = {option.mechanism: option.rmse for option in found.options}
        assert found.chosen is not None
        assert found.chosen.mechanism == "steps"
        others = [error for name, error in errors.items() if name in ("laplace", "table")]
        assert times * errors["steps"] <= min(others)


NOISY = [
    (Release(query="histogram", noise="discrete-steps", scale=Fraction(8), along=("x", "y")),
     0.5 / np.sinh(0.5 / 8.0) ** 2),
    (Release(query="histogram", noise="discrete-gaussian-steps", variance=Fraction(60),
             along=("x", "y")), 60.0),
]  # fmt: skip


@pytest.mark.parametrize(("steps", "wide"), NOISY, ids=["laplace", "gaussian"])
def test_an_estimate_from_it_is_that_of_all_covariances(steps: Release, wide: float) -> None:
    """Beside a second release; against the normal equations with the covariance written out."""
    draw = np.random.default_rng(2)
    other = Release(query="marginal(x)", noise="discrete-laplace", scale=Fraction(3))
    noisy = [COUNTS + step_noise((0, 1), GRID, lambda size: draw.integers(-9, 9, size)),
             COUNTS.reshape(6, 4).sum(axis=1) + draw.integers(-5, 5, 6)]  # fmt: skip
    values = [[Fraction(int(value)) for value in part] for part in noisy]
    found = Estimator(NEAR, [measured_in(item, part, NEAR) for item, part in
                             zip((steps, other), values, strict=True)],
                      reading="published", size=int(COUNTS.sum()))  # fmt: skip
    places = np.zeros((0, 24))
    for first, second in steps_at((0, 1), GRID):
        at = np.arange(24).reshape(6, 4)
        for a, b in zip(at[first].ravel(), at[second].ravel(), strict=True):
            row = np.zeros(24)
            row[a], row[b] = 1, -1
            places = np.vstack([places, row])
    each = [wide, 0.5 / np.sinh(0.5 / 3.0) ** 2]
    precise = np.linalg.pinv(each[0] * places.T @ places)
    rows = np.kron(np.eye(6), np.ones((1, 4)))
    normal = precise + rows.T @ rows / each[1] + 1e7 * np.ones((24, 24))
    right = precise @ noisy[0] + rows.T @ noisy[1] / each[1] + 1e7 * COUNTS.sum()
    assert np.allclose(found.real, np.linalg.solve(normal, right), atol=1e-3)
    exact = found.answers(parse_query("histogram", NEAR)).errors
    assert exact is not None
    assert np.allclose(exact, np.sqrt(np.diag(np.linalg.inv(normal))), rtol=1e-3)


def test_what_it_does_not_do_is_refused() -> None:
    many = Domain(x=Integers(0, 3), sort=Labels([str(k) for k in range(20)]))
    with pytest.raises(BudgetError, match="20 values"):
        made_ready("steps", asked(Policy(domain=many, secrets=AttributeChange())))
    known = Policy(domain=GRID, secrets=Distance(threshold=1), known=(Marginal(("x",)),))
    with pytest.raises(RefusedError, match="one record"):
        made_ready("steps", asked(known))
    for rho in (None, RHO):
        with pytest.raises(QueryError, match="no secret changes anything"):
            made_ready("steps", asked(Policy(domain=Domain(x=Integers(4, 4))), rho=rho))


def test_where_nobody_is_nothing_is_lost_and_no_noise_is_drawn() -> None:
    """With n = 0 there is one database, and brute force finds no neighbours."""
    nobody = Policy(domain=GRID, secrets=Distance(threshold=1), database=Database(size=0))
    assert sensitivity(nobody, "histogram", engine="brute").upper == 0
    of_laplace = Release(query="histogram", noise=STEPS_NOISE, scale=Fraction(1), along=("x", "y"))
    of_gauss = replace(of_laplace, noise=GAUSSIAN_STEPS, variance=Fraction(1), scale=None)
    for drawn, rho in ((of_laplace, None), (of_gauss, RHO)):
        with pytest.raises(QueryError, match="no two databases are neighbours"):
            made_ready("steps", asked(nobody, rho=rho))
        mechanism = Mechanism(releases=(drawn,))
        promise = Promise(Fraction(1)) if rho is None else Promise(rho=rho)
        assert certify(mechanism, nobody, promise).upper == 0
        made_ready("steps", replace(asked(nobody, rho=rho), answers="any"))  # n may be any
        assert certify(mechanism, nobody, promise, answers="any").upper != 0


def test_from_the_command_line_to_an_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text(
        "[domain]\nx = {min = 0, max = 3}\ny = {min = 0, max = 3}\n"
        '[secrets]\nkind = "distance"\nmetric = "l1"\nthreshold = 1\n'
    )
    Path("d.csv").write_text("x,y\n" + "1,1\n" * 40 + "2,3\n" * 30 + "0,2\n" * 20)
    asked_for = ["release", "p.toml", "d.csv", "--epsilon", "1", "--unaccounted"]
    assert run([*asked_for, "--output", "a.json"]) == 0
    capsys.readouterr()
    told = json.loads(Path("a.json").read_text())
    assert told["mechanism"] == "steps"
    assert run(["estimate", "p.toml", "a.json", "--query", "rectangles(x,y)", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["values"]) == 100
    assert run(["certify", "m.toml", "--policy", "p.toml", "--epsilon", "1"]) == 2
    Path("m.toml").write_text('[[release]]\nquery = "histogram"\nnoise = "discrete-steps"\n'
                              'scale = 1\nalong = ["x", "y"]\n')  # fmt: skip
    assert run(["certify", "m.toml", "--policy", "p.toml", "--epsilon", "1"]) == 0
