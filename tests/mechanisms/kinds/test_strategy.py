"""Strategies: marginals that are measured, and what follows from them by least squares."""

import json
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.estimates.marginals import estimated
from blowproof.mechanisms.expecting.expected import expected
from blowproof.mechanisms.expecting.rehearsal import Stage, numbers
from blowproof.mechanisms.kinds.strategy import Strategy
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.planning.planner import planned
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.gate import proved
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import release
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.structures.marginals import Marginals, parts_of
from blowproof.models import (
    AttributeChange,
    Domain,
    Impossible,
    Labels,
    Marginal,
    NamedCount,
    Policy,
    QueryError,
)

DOMAIN = Domain(a=Labels(["1", "2", "3"]), b=Labels(["x", "y"]), c=Labels(["u", "v", "w", "z"]))
FREE = Policy(domain=DOMAIN, queries=(NamedCount("few", {"a": ["1", "2"], "c": ["u", "z"]}),))
PUBLISHED = Policy(domain=DOMAIN, known=(Marginal(("a",)),))
COUNTS = np.arange(24, dtype=np.int64) * 7 % 40


def asked(policy: Policy, query: str, rho: str | None = None, **options: str) -> Request:
    epsilon, given = (Fraction(1), None) if rho is None else (Fraction(0), Fraction(rho))
    return Request(policy=policy, query=query, epsilon=epsilon, rho=given, options=options,
                   accept_wide_bounds=True)  # fmt: skip


def strategy(request: Request) -> Strategy:
    made = made_ready("strategy", request)
    assert isinstance(made, Strategy)
    return made


def test_the_estimate_and_its_error_are_those_of_least_squares() -> None:
    """The parts, against the normal equations of all cells at once."""
    sizes, measured = (3, 2, 4), ((0, 1), (1, 2), (0, 2))
    precisions = [0.5, 0.2, 1.0]
    marginals = Marginals(sizes, measured, ((),))
    cells = list(product(*map(range, sizes)))

    def rows(axes: tuple[int, ...]) -> np.ndarray:
        keys = list(product(*(range(sizes[axis]) for axis in axes)))
        return np.array([[float(tuple(cell[at] for at in axes) == key) for cell in cells]
                         for key in keys])  # fmt: skip

    draw = np.random.default_rng(3)
    noisy = [rows(axes) @ COUNTS + draw.normal(size=len(rows(axes))) for axes in measured]
    total = np.ones((1, 24))
    stacked = np.concatenate([np.sqrt(p) * rows(axes) for p, axes in
                              zip(precisions, measured, strict=True)] + [1e5 * total])  # fmt: skip
    values = np.concatenate([np.sqrt(p) * y for p, y in zip(precisions, noisy, strict=True)]
                            + [np.array([1e5 * COUNTS.sum()])])  # fmt: skip
    table = np.linalg.lstsq(stacked, values, rcond=None)[0]
    shaped = [y.reshape([sizes[axis] for axis in axes]) for y, axes in
              zip(noisy, measured, strict=True)]  # fmt: skip
    known: dict[tuple[int, ...], np.ndarray] = {(): np.array(float(COUNTS.sum()))}
    covariance = np.linalg.pinv(stacked.T @ stacked)
    request = asked(FREE, "count(few)", measure="marginal(a,b)+marginal(b,c)+marginal(a,c)")
    few = strategy(request).asked
    for axes in ((0, 1), (1,), (0, 2)):
        found = estimated(marginals, axes, shaped, precisions, known)
        assert np.allclose(found.ravel(), rows(axes) @ table, atol=1e-4)
    row = rows((0, 2))[[0, 3, 4, 7]].sum(axis=0)  # a = 1 or 2, c = u or z
    assert np.isclose(marginals.error(few, precisions), row @ covariance @ row, rtol=1e-4)


@pytest.mark.parametrize("policy", [FREE, PUBLISHED])
@pytest.mark.parametrize("query", ["histogram", "marginal(c,a)", "marginal(b)"])
@pytest.mark.parametrize("rho", [None, "1/2"])
def test_what_is_drawn_has_the_error_that_was_expected(
    policy: Policy, query: str, rho: str | None
) -> None:
    made = strategy(asked(policy, query, rho))
    data = NoisyTable(COUNTS, DOMAIN)
    truth = numbers(true_answers(made.request.bound, policy, data))
    stage = Stage(policy, data, 4)
    errors = np.array([numbers(made.run(stage)) - truth for _ in range(600)])  # type: ignore[arg-type]
    drawn = numbers(release(made, data).answers) - truth
    assert abs(drawn).max() < 12 * np.sqrt((errors**2).mean())
    said = expected(made, (), 0)
    assert said is not None
    assert np.isclose(np.sqrt((errors**2).mean()), said.rmse, rtol=0.15)
    assert abs(errors.mean()) < said.rmse / 3


def test_published_totals_are_kept_and_shaped_noise_serves_coarser_queries() -> None:
    data = NoisyTable(COUNTS, DOMAIN)
    made = strategy(asked(PUBLISHED, "marginal(b,a)", measure="marginal(a,b)", noise="k-norm"))
    found = numbers(release(made, data).answers).reshape(2, 3).sum(axis=0)
    assert np.allclose(found, COUNTS.reshape(3, 8).sum(axis=1))
    coarser = asked(PUBLISHED, "marginal(b)", measure="marginal(a,b)", noise="k-norm")
    shaped = expected(strategy(coarser), (), 0)
    plain = expected(made_ready("laplace", asked(PUBLISHED, "marginal(b)")), (), 0)
    assert shaped is not None
    assert plain is not None
    assert shaped.rmse < plain.rmse * 0.75
    assert proved(made).verdict == "proved"


def test_a_known_part_costs_nothing() -> None:
    """What neighbours never differ in is asked of the verifier, and then drawn without noise."""
    made = strategy(asked(PUBLISHED, "marginal(a,b)"))
    assert [item.scales[0] for item in made.exact] == [0]
    changed = Policy(domain=DOMAIN, known=(Marginal(("a",)),), secrets=AttributeChange(changes=1))
    weaker = strategy(asked(changed, "marginal(a,b)"))
    assert proved(weaker).verdict == "proved"


def test_what_a_strategy_does_not_do_is_refused() -> None:
    some = Policy(domain=DOMAIN, known=(Impossible({"a": "1", "b": "y"}),))
    with pytest.raises(RefusedError, match="impossible"):
        made_ready("strategy", asked(some, "histogram"))
    for options, why in (
        ({"measure": "marginal(b)"}, "does not follow"),
        ({"measure": "sum(a)"}, "sum"),
        ({"measure": "histogram", "noise": "loud"}, "no noise"),
        ({"measure": "marginal(a,b)+marginal(a)", "noise": "k-norm"}, "one marginal"),
    ):
        with pytest.raises(QueryError, match=why):
            made_ready("strategy", asked(FREE, "marginal(a,c)", **options))


def test_a_workload_of_marginals_is_answered_from_fewer_releases_than_queries() -> None:
    """The planner answers a coarser query from a finer release of the same plan."""
    work = workload(["marginal(a,b)", "marginal(a)", "marginal(b)", "marginal(b,c)"], [], FREE)
    found = planned(Request(policy=FREE, query=work.queries[0], epsilon=Fraction(1)), work,
                    size=1000, beside=False)  # fmt: skip
    best = found.chosen
    assert best is not None
    assert "strategy" in best.text
    assert len(best.parts) < 4
    assert best.plan.description is not None
    alone = next(option for option in found.options if option.text == "laplace")
    assert best.rmse < alone.rmse * 0.8


def test_the_parts_of_a_table_have_its_dimension() -> None:
    sizes = Marginals((3, 2, 4), ())
    assert sum(sizes.dimension(part) for part in parts_of((0, 1, 2))) == 24


def test_a_plan_with_a_strategy_is_drawn_from_its_file(tmp_path: Path) -> None:
    from blowproof.mechanisms.planning.plan_file import document, read_plan, ready

    work = workload(["marginal(a,b)", "marginal(b)"], [], FREE)
    request = Request(policy=FREE, query=work.queries[0], epsilon=Fraction(1))
    found = planned(request, work, size=1000)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document(found)), encoding="utf-8")
    again = ready(read_plan(str(path), FREE), request)
    assert found.chosen is not None
    assert again.description == found.chosen.plan.description


def test_a_plan_says_which_marginals_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawing a plan worked them out once more: a question for each, and maybe other noise."""
    from blowproof.mechanisms.planning.plan_file import document, read_plan, ready

    work = workload(["marginal(a,b)", "marginal(b,c)"], [], FREE)
    request = Request(policy=FREE, query=work.queries[0], epsilon=Fraction(1))
    found = planned(request, work, size=1000)
    place = next(at for at, option in enumerate(found.options)
                 if any(part.mechanism == "strategy" and "measure" not in part.settings
                        for part in option.parts))  # fmt: skip
    written = {**document(found), "chosen": place}
    releases = written["options"][place]["settings"]["releases"]
    assert all("marginal(" in item["settings"]["measure"] for item in releases
               if item["mechanism"] == "strategy")  # fmt: skip
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(written), encoding="utf-8")
    monkeypatch.setattr("blowproof.mechanisms.kinds.strategy.measured_for", None)
    again = ready(read_plan(str(path), FREE), request)
    assert again.description == found.options[place].plan.description


MIXED = "1*marginal(a,c) + 1/2*difference(b,a) + 1/3*difference(b,c) + 1/4*difference(b)"


@pytest.mark.parametrize("query", ["marginal(a,b)", "marginal(c,b)", "marginal(b)", "count(few)"])
def test_differences_of_two_values_have_the_error_that_was_expected(query: str) -> None:
    made = strategy(asked(FREE, query, measure=MIXED))
    data = NoisyTable(COUNTS, DOMAIN)
    truth = numbers(true_answers(made.request.bound, FREE, data))
    stage = Stage(FREE, data, 4)
    errors = np.array([numbers(made.run(stage)) - truth for _ in range(800)])  # type: ignore[arg-type]
    said = expected(made, (), 0)
    assert said is not None
    assert np.isclose(np.sqrt((errors**2).mean()), said.rmse, rtol=0.12)
    assert proved(made).verdict == "proved"


def test_two_values_are_compared_where_that_has_the_least_error() -> None:
    """A difference of two cells has half the variance of two noisy cells' difference."""
    made = strategy(asked(FREE, "marginal(b)"))
    assert [item.query.name for item in made.parts] == ["difference(b)"]
    cells = expected(strategy(asked(FREE, "marginal(b)", measure="marginal(b)")), (), 0)
    found = expected(made, (), 0)
    assert found is not None
    assert cells is not None
    assert found.rmse < 0.75 * cells.rmse


@pytest.mark.parametrize("policy", [FREE, PUBLISHED])
def test_a_table_without_negative_numbers_is_never_farther_off(policy: Policy) -> None:
    """In the distance in which the fit is measured: here, that of one measured marginal."""
    sparse = NoisyTable(np.where(COUNTS > 30, COUNTS, 0), DOMAIN)
    plans = [strategy(asked(policy, "marginal(a,c)", measure="marginal(a,c)", numbers=kind))
             for kind in ("real", "positive")]  # fmt: skip
    truth = numbers(true_answers(plans[0].request.bound, policy, sparse))
    stages = [Stage(policy, sparse, 8) for _ in plans]
    gained = []
    for _ in range(30):
        before, after = (
            numbers(plan.run(stage))  # type: ignore[arg-type]
            for plan, stage in zip(plans, stages, strict=True)
        )
        assert after.min() >= 0
        assert np.isclose(after.sum(), truth.sum(), atol=1e-6)
        gained.append(((after - truth) ** 2).sum() / ((before - truth) ** 2).sum())
    assert max(gained) < 1.02
    assert np.mean(gained) < 0.9


def test_the_plan_takes_the_table_without_negative_numbers() -> None:
    work = workload(["marginal(a,b)", "marginal(b,c)"], [], FREE)
    found = planned(asked(FREE, "marginal(a,b)"), work, size=100)
    assert found.chosen is not None
    assert "numbers positive" in found.chosen.text
    drawn = [
        float(value) for value in release(found.chosen.plan, NoisyTable(COUNTS, DOMAIN)).answers
    ]
    assert min(drawn) >= 0
    assert np.isclose(sum(drawn[:6]), COUNTS.sum())
    assert np.isclose(sum(drawn[6:]), COUNTS.sum())
    assert found.options[1].rmse >= found.chosen.rmse
    with_negative = found.chosen.text.removesuffix(", numbers positive")
    before = next(option for option in found.options if option.text == with_negative)
    assert before.errors[0].rmse >= found.chosen.errors[0].rmse
