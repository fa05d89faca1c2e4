"""Several queries answered from everything that is drawn for any of them."""

import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.combining import joint as joint_module
from blowproof.mechanisms.combining.estimator import Estimator
from blowproof.mechanisms.combining.joint import FAILED, Joint
from blowproof.mechanisms.expecting.rehearsal import Stage, numbers
from blowproof.mechanisms.expecting.uncertainty import uncertainty
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.request import Request
from blowproof.models import (
    AttributeChange,
    BudgetError,
    Domain,
    Integers,
    Labels,
    Policy,
    parse_query,
)

DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 5))
POLICY = Policy(domain=DOMAIN, secrets=AttributeChange(changes=1))
QUERIES = ("histogram", "marginal(age)", "cumulative(age)")


def made(*fitted: int, rho: Fraction | None = None) -> Joint:
    """Laplace noise on each of three queries, a third of the budget each."""
    share = Fraction(1, 3)
    plans = []
    for text in QUERIES:
        request = Request(policy=POLICY, query=text, epsilon=share)
        if rho is not None:
            request = Request(policy=POLICY, query=text, rho=rho / 3)
        plans.append(made_ready("laplace" if rho is None else "gaussian", request))
    whole = Request(policy=POLICY, query=plans[0].request.bound, epsilon=Fraction(1))
    if rho is not None:
        whole = replace(plans[0].request, rho=rho, epsilon=Fraction(0))
    return Joint(whole, plans, fitted)


TABLE = NoisyTable(np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]), DOMAIN)


def parts_of(found: object) -> list[np.ndarray]:
    ends = np.cumsum([12, 6])
    return np.split(np.fromiter(found, dtype=np.float64), ends)  # type: ignore[call-overload]


def test_without_noise_the_answers_are_the_true_ones() -> None:
    plan = made(0, 1, 2)
    stage = Stage(POLICY, TABLE, 1)
    stage.silent = True
    for text, found in zip(QUERIES, parts_of(plan.run(stage)), strict=True):  # type: ignore[arg-type]
        truth = numbers(true_answers(parse_query(text, POLICY), POLICY, TABLE))
        assert found == pytest.approx(truth)


def test_the_expected_error_is_that_of_generalised_least_squares() -> None:
    """Against (A' W A)^-1 of the stacked matrix of all three queries, n being known."""
    plan = made(0, 1, 2)
    rows, weights, asked = [], [], []
    for text, item in zip(QUERIES, plan.plans, strict=True):
        query = parse_query(text, POLICY)
        block = []
        for cell in range(12):
            one = np.zeros(12, dtype=np.int64)
            one[cell] = 1
            block.append(numbers(true_answers(query, POLICY, NoisyTable(one, DOMAIN))))
        block_rows = np.array(block).T
        assert item.description is not None
        scale = float(item.description.releases[0].scales[0])
        q = np.exp(-1 / scale)
        rows.append(block_rows)
        weights += [(1 - q) ** 2 / (2 * q)] * len(block_rows)
        asked.append(block_rows)
    apart = np.vstack([np.eye(11), -np.ones(11)])  # tables that differ, with the same n
    seen = np.vstack(rows) @ apart
    covariance = apart @ np.linalg.inv(seen.T @ (np.array(weights)[:, None] * seen)) @ apart.T
    for error, block_rows in zip(plan.expected(), asked, strict=True):
        variances = np.diag(block_rows @ covariance @ block_rows.T)
        assert error.how == "exact"
        assert error.rmse == pytest.approx(np.sqrt(variances.mean()), rel=1e-6)


@pytest.mark.parametrize("rho", [None, Fraction(1, 2)])
def test_what_is_drawn_has_the_errors_that_were_expected(rho: Fraction | None) -> None:
    plan = made(0, 1, 2, rho=rho)
    stage = Stage(POLICY, TABLE, 2)
    truth = [numbers(true_answers(parse_query(text, POLICY), POLICY, TABLE)) for text in QUERIES]
    drawn = [parts_of(plan.run(stage)) for _ in range(400)]  # type: ignore[arg-type]
    said = uncertainty(plan, 24, TABLE.size)
    assert said is not None
    halves = parts_of(said.halves)
    for at, error in enumerate(plan.expected()):
        apart = np.array([found[at] for found in drawn]) - truth[at]
        assert np.sqrt((apart**2).mean()) == pytest.approx(error.rmse, rel=0.08)
        assert 0.9 < (abs(apart).max(axis=1) <= error.max95).mean() <= 1
        # n is known, and so is the last prefix: 0 with an interval of no width
        assert (abs(apart) <= halves[at] + 1e-6).mean() > 0.93


def test_a_simulated_error_holds_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = made(0).expected()
    monkeypatch.setattr(joint_module, "MOST_EXACT", 0)
    monkeypatch.setattr(joint_module, "ROUNDS", 800)
    for error, right in zip(made(0).expected(), exact, strict=True):
        assert error.how == "simulated" and error.between is not None
        low, high = error.between
        assert low * 0.97 < right.rmse < high * 1.03 and low < error.rmse < high


def test_what_fails_afterwards_leaves_each_query_its_own_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = made(0, 1, 2)

    def fails(self: Estimator, numbers: str = "real") -> np.ndarray:
        raise BudgetError("too large")

    monkeypatch.setattr(Estimator, "table", fails)
    found = plan.run(Stage(POLICY, TABLE, 3))  # type: ignore[arg-type]
    assert len(list(found)) == 24 and FAILED in plan.notes


def test_it_is_proved_as_what_it_draws_is() -> None:
    assert proved(made(0, 2)).verdict == "proved"
    assert made(1).description is not None
    assert made(1).description.releases == made().description.releases  # type: ignore[union-attr]


def test_a_plan_takes_it_where_it_is_better_and_says_the_errors_of_what_is_published() -> None:
    policy = Policy(domain=Domain(age=Integers(0, 19), sex=Labels(["F", "M"])),
                    secrets=AttributeChange(changes=1))  # fmt: skip
    work = workload(["histogram", "cumulative(age)"], [], policy)
    request = Request(policy=policy, query=work.queries[0], epsilon=Fraction(1))
    found = planned(request, work, size=500, beside=False)
    joint = [option for option in found.options if option.fitted]
    assert joint
    for option in joint:
        assert isinstance(option.plan, Joint)
        errors = option.plan.expected()
        for at, name in enumerate(option.names):
            if name in option.fitted:
                assert option.errors[at] == errors[at]
        assert option.to_json()["settings"]["joint"] == list(option.fitted)
    assert [option.rmse for option in found.options[1:]] == sorted(
        option.rmse for option in found.options[1:]
    )


def test_a_release_of_a_plan_publishes_what_is_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    Path("p.toml").write_text(
        '[domain]\nage = { min = 0, max = 39 }\nsex = ["F", "M"]\n[secrets]\nkind = "distance"\n'
        'metric = "l1"\nthreshold = 5\nattributes = ["age"]\n'
    )
    rows = "".join(f"{place % 40},{'FM'[place % 3 == 0]}\n" for place in range(400))
    Path("d.csv").write_text("age,sex\n" + rows)
    asked = ["--query", "histogram", "--query", "cumulative(age)", "--epsilon", "1"]
    assert run(["plan", "p.toml", "d.csv", *asked, "--output", "plan.json"]) == 0
    assert "answered by least squares over all that is drawn" in " ".join(
        capsys.readouterr().out.split()
    )
    written = json.loads(Path("plan.json").read_text())
    chosen = written["options"][0]
    fitted = chosen["settings"]["joint"]
    command = ["release", "p.toml", "d.csv", "--plan", "plan.json", "--unaccounted", "--real"]
    assert run([*command, "--output", "out.csv"]) == 0
    with Path("out.csv").open() as file:
        found = list(csv.DictReader(file))
    assert {row["query"] for row in found if row["mechanism"] == "estimate"} == set(fitted)
    for query in chosen["queries"]:
        if query["query"] in fitted:
            errors = [float(row["standard_error"]) for row in found
                      if row["query"] == query["query"]]  # fmt: skip
            assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(query["rmse"], rel=1e-2)
    table = np.array([float(row["count"]) for row in found if row["query"] == "histogram"])
    prefixes = [float(row["count"]) for row in found if row["query"] == "cumulative(age)"]
    if set(fitted) == {"histogram", "cumulative(age)"}:  # they tell the same story, and n is right
        assert np.cumsum(table.reshape(40, 2).sum(axis=1)) == pytest.approx(prefixes, abs=1e-5)
        assert table.sum() == pytest.approx(400)
    chosen["settings"]["joint"] = ["marginal(sex)"]
    Path("plan.json").write_text(json.dumps(written))
    assert run(command) == 2
    assert "does not ask for" in capsys.readouterr().err
