"""One estimate from several releases: least squares, known facts, files, records, quantiles."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from blowproof.cli.main import run
from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.combining import estimator as estimator_module
from blowproof.mechanisms.combining.estimator import Estimator, independent
from blowproof.mechanisms.combining.measurements import Measurement, measured_in, read_answers
from blowproof.mechanisms.combining.operators import Intervals, operator_of
from blowproof.mechanisms.combining.quantiles import quantiles
from blowproof.mechanisms.combining.synthetic import made_from
from blowproof.mechanisms.expecting.rehearsal import numbers
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.release.publish import OutputFile
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import release
from blowproof.mechanisms.release.request import Request
from blowproof.models import (
    BudgetError,
    Clause,
    Count,
    Database,
    Distance,
    Domain,
    Impossible,
    Integers,
    Labels,
    Literal,
    Marginal,
    Policy,
    QueryError,
    parse_query,
)

DOMAIN = Domain(sex=Labels(["F", "M"]), age=Integers(0, 4))
COUNTS = np.array([9, 4, 0, 7, 2, 5, 0, 3, 8, 2])
FREE = Policy(domain=DOMAIN)
LINE = Policy(domain=Domain(age=Integers(0, 30)), secrets=Distance(threshold=2))
ROUNDS = 40
QUERIES = ("histogram", "marginal(sex)", "cumulative(age)", "ranges(age)", "range(age,1,3)",
           "sum(age)", "marginal(age,sex)")  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_is_the_map_that_counts_it(query: str) -> None:
    bound = parse_query(query, FREE)
    found = operator_of(bound, DOMAIN)
    truth = numbers(true_answers(bound, FREE, NoisyTable(COUNTS, DOMAIN)))
    assert np.allclose(found.forward(COUNTS.astype(float)), truth)
    draw = np.random.default_rng(2)
    table, answers = draw.normal(size=10), draw.normal(size=found.height)
    assert np.isclose(found.forward(table) @ answers, table @ found.back(answers))


def noisy(query: str, values: np.ndarray, variance: float) -> Measurement:
    return Measurement(operator_of(parse_query(query, FREE), DOMAIN), values,
                       np.full(len(values), variance))  # fmt: skip


def test_the_estimate_is_that_of_least_squares() -> None:
    draw = np.random.default_rng(1)
    parts = []
    rows, weighted = [np.ones((1, 10)) * 1e5], [np.array([40.0 * 1e5])]
    for query, wide in (("histogram", 4.0), ("marginal(sex)", 1.0), ("cumulative(age)", 9.0)):
        bound = operator_of(parse_query(query, FREE), DOMAIN)
        values = bound.forward(COUNTS.astype(float)) + draw.normal(0, wide**0.5, bound.height)
        parts.append(noisy(query, values, wide))
        rows.append(np.array([bound.forward(row) for row in np.eye(10)]).T / wide**0.5)
        weighted.append(values / wide**0.5)
    found = Estimator(FREE, parts, reading="published", size=40)
    matrix = np.concatenate(rows)
    expected = np.linalg.lstsq(matrix, np.concatenate(weighted), rcond=None)[0]
    assert np.allclose(found.table(), expected, atol=1e-5)
    said = found.answers(parse_query("marginal(sex)", FREE))
    covariance = np.linalg.inv(matrix.T @ matrix)
    sums = np.kron(np.eye(2), np.ones(5))
    assert said.errors is not None
    assert np.allclose(said.errors, np.sqrt(np.diag(sums @ covariance @ sums.T)), rtol=1e-3)


def test_what_nothing_determines_is_refused() -> None:
    found = Estimator(FREE, [noisy("marginal(sex)", np.array([20.0, 22.0]), 1.0)],
                      reading="published", size=40)  # fmt: skip
    assert np.allclose(found.answers(parse_query("marginal(sex)", FREE)).values, [19, 21])
    with pytest.raises(QueryError, match="does not follow"):
        found.answers(parse_query("marginal(age)", FREE))


def test_what_is_seen_to_tell_every_cell_tells_it() -> None:
    """Against the rank of all sums that were measured, for intervals drawn at random."""
    draw = np.random.default_rng(4)
    line = Policy(domain=Domain(x=Integers(0, 5)))
    seen = []
    for _ in range(120):
        many = int(draw.integers(1, 9))
        ends = np.sort(draw.integers(0, 7, size=(many, 2)), axis=1)
        query = Intervals(draw.permutation(6), ends[:, 0], ends[:, 1], 6)
        size = 9 if draw.random() < 0.5 else None
        found = Estimator(line, [Measurement(query, np.zeros(many), np.ones(many))],
                          reading="published", size=size)  # fmt: skip
        rows = [query.forward(row) for row in np.eye(6)]
        matrix = np.array([[*row, *([1.0] if size else [])] for row in rows])
        assert found.every_cell == (np.linalg.matrix_rank(matrix) == 6)
        seen.append(found.every_cell)
    assert 10 < sum(seen) < 110


def test_two_cells_in_one_bin_are_not_told_apart() -> None:
    found = Estimator(FREE, [noisy("marginal(age)", np.zeros(5), 1.0)],
                      reading="published", size=40)  # fmt: skip
    assert not found.every_cell
    both = Estimator(FREE, [noisy("marginal(sex)", np.zeros(2), 1.0),
                            noisy("histogram", np.zeros(10), 1.0)],
                     reading="published", size=40)  # fmt: skip
    assert both.every_cell


def test_least_squares_that_take_too_long_are_given_up() -> None:
    parts = [noisy("cumulative(age)", np.zeros(5), 1.0), noisy("histogram", np.zeros(10), 50.0)]
    found = Estimator(FREE, parts, reading="published", size=40)
    operator = operator_of(parse_query("histogram", FREE), DOMAIN)
    assert len(list(found.noise(operator, 2, 100))) == 2
    with pytest.raises(BudgetError, match="more than 3 steps"):
        next(found.noise(operator, 2, 3))


def test_the_bias_of_numbers_that_are_not_negative_is_told() -> None:
    few = noisy("histogram", np.array([0.0] * 8 + [20.0, 20.0]), 25.0)
    found = Estimator(FREE, [few], reading="published", size=40)
    real = found.answers(parse_query("histogram", FREE), "real")
    whole = found.answers(parse_query("histogram", FREE), "whole")
    assert real.bias == 0.0
    assert whole.bias is not None
    assert whole.bias > 0.5
    assert (whole.values >= 0).all()
    assert whole.values.sum() == 40


@pytest.mark.parametrize(
    ("mechanism", "query"),
    [("laplace", "ranges(age)"), ("ordered", "cumulative(age)"), ("hierarchical", "histogram"),
     ("transformed", "histogram"), ("strategy", "histogram"), ("k-norm", "histogram"),
     ("gaussian", "histogram"), ("dawa", "histogram")],
)  # fmt: skip
def test_every_mechanism_is_measured_again_from_its_file(
    mechanism: str, query: str, tmp_path: Path
) -> None:
    """What a file keeps gives the same least squares as what was drawn."""
    rho = Fraction(1, 2) if mechanism == "gaussian" else None
    epsilon = Fraction(1) if rho is None else Fraction(0)
    request = Request(policy=LINE, query=query, accept_wide_bounds=True, epsilon=epsilon, rho=rho)
    data = NoisyTable(np.arange(31) % 7, LINE.domain)
    found = release(made_ready(mechanism, request), data)
    place = OutputFile(tmp_path / "a.csv")
    place.save(found)
    answers = read_answers(str(tmp_path / "a.csv"), LINE)
    assert answers.size == int((np.arange(31) % 7).sum())
    drawn = zip(found.description.releases, found.measured, strict=True)
    both = [
        Estimator(LINE, [measured_in(item, values, LINE) for item, values in items],
                  reading="published", size=answers.size).table()
        for items in (drawn, answers.measured)
    ]  # fmt: skip
    assert np.allclose(both[0], both[1])
    if mechanism in ("ordered", "transformed", "gaussian", "k-norm"):
        exact = measured_in(found.description.releases[0], found.measured[0], LINE)
        assert (abs(exact.query.forward(both[0]) - exact.values) <= 60).all()


def test_made_up_records_keep_every_known_fact() -> None:
    facts = (
        Marginal(("sex",), answers=(21, 19)),
        Impossible({"sex": "F", "age": 0}),
        Count({"age": [3, 4]}, at_least=1),
    )
    policy = Policy(domain=DOMAIN, known=facts, database=Database(size=40))
    measured = noisy("histogram", np.array([5.0, 3, 9, 1, 1, -8, 30, 2, -1, 4]), 4.0)
    counts = made_from(Estimator(policy, [measured], reading="published", answers="given"))
    assert counts.reshape(2, 5).sum(axis=1).tolist() == [21, 19]
    assert counts[0] == 0
    assert counts.min() >= 0
    linked = Policy(
        domain=DOMAIN,
        known=(Clause((Literal(1, {"sex": "F"}),)),),
        database=Database(size=40),
    )
    with pytest.raises(RefusedError, match="single records"):
        made_from(Estimator(linked, [measured], reading="published"))


def test_quantiles_lie_where_the_prefixes_cross_their_shares() -> None:
    found = quantiles(LINE.domain, 0, np.ones(31), [Fraction(1, 2), Fraction(1, 31)], np.ones(31))
    assert [item.value for item in found] == [15, 0]
    assert (found[0].low, found[0].high) == (13, 17)


# --- the command ---------------------------------------------------------------------------------

POLICY = """
[domain]
sex = ["F", "M"]
age = { min = 0, max = 9 }
[[known]]
marginal = ["sex"]
"""


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BLOWPROOF_LEDGER", str(tmp_path / "ledger.sqlite"))
    (tmp_path / "policy.toml").write_text(POLICY)
    rows = "".join(f"{'FM'[at % 2]},{at % 10}\n" for at in range(400))
    (tmp_path / "people.csv").write_text("sex,age\n" + rows)
    return tmp_path


def released(*more: str) -> int:
    return run(["release", "policy.toml", "people.csv", "--epsilon", "1", *more])


def test_releases_are_combined_by_the_command(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert released("--budget", "9", "--output", "a.csv") == 0
    assert released("--query", "marginal(age)", "--output", "b.json") == 0
    capsys.readouterr()
    command = ["estimate", "policy.toml", "a.csv", "b.json"]
    assert run([*command, "--query", "marginal(age)", "--numbers", "real", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    alone = json.loads((office / "a.csv.meta.json").read_text())
    assert alone["account"] == 1
    assert found["epsilon"] == "2"
    assert len(found["standard_errors"]) == 10
    assert abs(sum(found["values"]) - 400) < 1e-3
    assert run([*command, "--synthetic", "made.csv", "--quantile", "1/2", "--query",
                "cumulative(age)", "--plot", "e.svg"]) == 0  # fmt: skip
    text = capsys.readouterr().out
    assert "quantile 1/2" in text
    lines = (office / "made.csv").read_text().splitlines()
    assert len(lines) == 401
    assert sum(line.startswith("F,") for line in lines) == 200
    assert (office / "e.svg").read_text().startswith("<svg")


def test_an_estimate_of_what_everybody_knows_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the policy has no numbers, estimates of published totals are off, and need not be."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BLOWPROOF_LEDGER", str(tmp_path / "ledger.sqlite"))
    domain = '[domain]\nsex = ["F", "M"]\nage = { min = 0, max = 3 }\n'
    Path("policy.toml").write_text(domain + '[[known]]\nmarginal = ["sex"]\n', "utf-8")
    rows = (f"{sex},{age}" for sex in "FM" for age in range(4) for _ in range(50))
    Path("people.csv").write_text("\n".join(["sex,age", *rows]) + "\n", "utf-8")
    assert released("--mechanism", "laplace", "--budget", "9", "--output", "a.csv") == 0
    capsys.readouterr()
    for query, public in (("marginal(sex)", True), ("marginal(age)", False)):
        assert run(["estimate", "policy.toml", "a.csv", "--query", query]) == 0
        assert ("everybody knows these numbers" in capsys.readouterr().out) is public


def test_files_of_another_policy_or_of_other_people_are_refused(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert released("--budget", "9", "--output", "a.json") == 0
    meta = json.loads((office / "a.json").read_text())
    (office / "b.json").write_text(json.dumps({**meta, "account": 7}))
    (office / "c.json").write_text(json.dumps({**meta, "policy_digest": "0"}))
    (office / "d.json").write_text(json.dumps({**meta, "measured": None}))
    (office / "e.json").write_text("{}")
    assert len(meta["ledger"]) == 32
    (office / "f.json").write_text(json.dumps({**meta, "ledger": "another"}))
    (office / "g.json").write_text(json.dumps({**meta, "records": "1-10", "size": None}))
    for name, why in (("b", "account 1 and account 7"), ("c", "another policy"),
                      ("d", "what was measured"), ("e", "no file of answers"),
                      ("f", "account 1 of ledger another"),
                      ("g", "different records: 1-10 and all")):  # fmt: skip
        capsys.readouterr()
        assert run(["estimate", "policy.toml", "a.json", f"{name}.json"]) == 2
        assert why in capsys.readouterr().err


def test_no_query_at_all_is_not_taken_for_a_histogram(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty text, as an unset variable of a script gives it, was charged for."""
    assert released("--budget", "9", "--query", "") == 2
    assert "'' is not a query" in capsys.readouterr().err
    assert not (office / "ledger.sqlite").exists()


@pytest.mark.parametrize("mechanism", ["laplace", "consistent"])
def test_what_is_about_some_records_has_their_number_and_not_that_of_all(
    office: Path, mechanism: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The known counts are about all records: 1-100 were estimated to be 400."""
    text = POLICY + '[secrets]\nkind = "partition"\nby = ["sex"]\n[database]\ndata = "people.csv"\n'
    (office / "policy.toml").write_text(text)
    more = ("--mechanism", mechanism, "--records", "1-99,400")
    assert released("--budget", "9", "--output", "a.csv", "--synthetic", "s.csv", *more) == 0
    rows = (office / "a.csv").read_text().splitlines()[1:]
    noise = sum(int(row.split(",")[2]) for row in rows) - 100
    assert noise == 0 if mechanism == "consistent" else abs(noise) < 150
    assert len((office / "s.csv").read_text().splitlines()) == 101
    capsys.readouterr()
    assert run(["estimate", "policy.toml", "a.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(found["values"]) == 100 and found["records"] == "1-99,400"


@pytest.mark.parametrize("known", [False, True])
def test_errors_and_intervals_of_mixed_releases_are_true(known: bool) -> None:
    """Six mechanisms, estimated together 40 times; the truth is known."""
    domain = Domain(ward=Labels(["a", "b", "c"]), sex=Labels(["F", "M"]), age=Integers(0, 5))
    facts = (Marginal(("ward",)),) if known else ()
    policy = Policy(domain=domain, known=facts)
    counts = np.random.default_rng(3).poisson(9, 36).astype(np.int64)
    data, size = NoisyTable(counts, domain), int(counts.sum())
    asked = {
        "marginal(ward,sex)": "laplace", "cumulative(age)": "hierarchical",
        "marginal(sex,age)": "strategy", "marginal(ward,age)": "gaussian",
        "histogram": "k-norm", "sum(age)": "laplace",
    }  # fmt: skip
    plans = []
    for query, name in asked.items():
        epsilon, rho = (Fraction(0), Fraction(1, 2)) if name == "gaussian" else (Fraction(1), None)
        request = Request(policy=policy, query=query, epsilon=epsilon, rho=rho,
                          accept_wide_bounds=True)  # fmt: skip
        plans.append(made_ready(name, request))
    wanted = [parse_query(text, policy) for text in ("histogram", "cumulative(age)", "sum(age)")]
    truth = [operator_of(query, domain).forward(counts.astype(np.float64)) for query in wanted]
    inside = np.zeros(len(wanted))
    squares = np.zeros((2, len(wanted)))
    for _ in range(ROUNDS):
        drawn = [release(plan, data) for plan in plans]
        seen = [
            measured_in(item, values, policy)
            for part in drawn
            for item, values in zip(part.description.releases, part.measured, strict=True)
        ]
        made = Estimator(policy, seen, reading="published", size=size)
        for at, (one, true) in enumerate(zip(wanted, truth, strict=True)):
            found = made.answers(one, "real")
            inside[at] += ((found.ends[0] <= true + 1e-6) & (true <= found.ends[1] + 1e-6)).mean()
            squares[0, at] += ((found.values - true) ** 2).mean()
            squares[1, at] += (found.errors**2).mean()
        totals = [made.table().reshape(3, -1).sum(axis=1), counts.reshape(3, -1).sum(axis=1)]
        assert abs(totals[0] - totals[1]).max() < 1e-6 or not known
    assert (inside / ROUNDS > 0.75).all()  # of 40 single numbers fewer once in 48,000 times
    assert 0.65 * squares[1, 0] < squares[0, 0] < 1.5 * squares[1, 0]  # of 36 cells each time
    assert (squares[0] < 3 * squares[1]).all()


@pytest.mark.parametrize("ending", ["csv", "parquet", "json"])
def test_an_estimate_is_written_with_what_it_rests_on(
    office: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It ended as a bug once the numbers were written, and before what stands beside them."""
    assert released("--budget", "9", "--output", "a.csv") == 0
    out = f"e.{ending}"
    assert (
        run(["estimate", "policy.toml", "a.csv", "--query", "marginal(age)", "--output", out]) == 0
    )
    beside = office / (out if ending == "json" else f"{out}.meta.json")
    found = json.loads(beside.read_text())
    assert found["mechanism"] == "estimate" and found["measured"] is None
    assert "low95" in found["columns"] and any("cut at 0" in note for note in found["notes"])
    capsys.readouterr()
    assert run(["estimate", "policy.toml", "a.csv", out]) == 2  # it counts nothing twice
    assert "measured nothing itself" in capsys.readouterr().err


def test_one_release_never_counts_twice(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same file twice halved the error that was told, and said nothing."""
    assert released("--budget", "9", "--output", "a.json") == 0
    (office / "b.json").write_text((office / "a.json").read_text())
    for name in ("a.json", "b.json"):
        capsys.readouterr()
        assert run(["estimate", "policy.toml", "a.json", name]) == 2
        assert "would count twice" in capsys.readouterr().err
    assert released("--output", "c.json") == 0
    assert run(["estimate", "policy.toml", "a.json", "c.json"]) == 0


def test_whole_estimates_are_those_with_fractions_but_for_rounding() -> None:
    """Cells of less than a record each were rounded one by one: sums were 18 away, not 1."""
    domain = Domain(region=Integers(0, 3), age=Integers(0, 39))
    counts = np.zeros((4, 40), dtype=np.int64)
    counts[np.arange(60) % 4 * (np.arange(60) % 3 > 0), np.arange(60) % 37] += 1
    known = (Marginal(["region"], answers=counts.sum(axis=1).tolist()),)
    for policy in (Policy(domain=domain), Policy(domain=domain, known=known)):
        parts = []
        for query, seed in (("marginal(region)", 1), ("cumulative(age)", 2)):
            found = operator_of(parse_query(query, policy), domain)
            noise = np.random.default_rng(seed).normal(0, 2, found.height)
            values = found.forward(counts.ravel().astype(float)) + noise
            parts.append(Measurement(found, values, np.full(len(values), 4.0)))
        estimator = Estimator(policy, parts, reading="published", size=int(counts.sum()))
        for name, most in (("marginal(region)", 1.0), ("cumulative(age)", 6.0)):
            query_of = parse_query(name, policy)
            whole = estimator.answers(query_of, "whole").values
            assert (whole == np.rint(whole)).all()
            near = operator_of(query_of, domain).forward(estimator.table("positive"))
            assert abs(whole - near).max() <= most
            made = made_from(estimator).astype(float)
            assert (operator_of(query_of, domain).forward(made) == whole).all()
        if policy.known:
            assert (made_from(estimator).reshape(4, 40).sum(axis=1) == counts.sum(axis=1)).all()


@pytest.mark.parametrize(
    "more",
    [["--plot", "there.svg"], ["--synthetic", "there.csv"], ["--plot", "p.png"],
     ["--synthetic", "s.json"], ["--quantile", "2"], ["--quantile", "1/2", "--query", "sum(age)"],
     ["--output", "there.csv"]],
)  # fmt: skip
def test_what_could_not_be_made_is_refused_before_anything_is_spent(
    office: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("there.svg", "there.csv"):
        (office / name).write_text("mine")
    assert released("--budget", "9", *more) == 2
    assert (office / "there.svg").read_text() == (office / "there.csv").read_text() == "mine"
    assert not (office / "ledger.sqlite").exists() or "spent 0" in _ledger(capsys)


def _ledger(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    run(["ledger", "people.csv"])
    return capsys.readouterr().out


def test_numbers_above_zero_fit_what_was_measured_and_not_what_was_not() -> None:
    """Marginals alone leave cells open: to cut these off must not bend the marginals."""
    domain = Domain(a=Labels([*"abcdef"]), b=Labels([*"uvwxyz"]), c=Labels(["0", "1"]))
    policy = Policy(domain=domain)
    counts = np.zeros((6, 6, 2))
    counts[np.arange(6), np.arange(6), 0] = [900, 700, 5, 300, 2, 100]
    counts[0, 1, 1] = 400
    parts = []
    for query in ("marginal(a,b)", "marginal(b,c)", "marginal(a,c)"):
        found = operator_of(parse_query(query, policy), domain)
        values = found.forward(counts.ravel())
        parts.append(Measurement(found, values, np.ones(len(values))))
    made = Estimator(policy, parts, reading="published", size=int(counts.sum()))
    assert made.table("real").min() < -10
    for numbers_ in ("positive", "whole"):
        table = made.table(numbers_)
        assert table.min() >= 0
        for part in parts:
            assert abs(part.query.forward(table) - part.values).max() < 1.5


def test_of_exact_ranges_a_forest_is_kept_and_tells_all_of_them() -> None:
    """Each left-out interval is a combination of those that are kept, and these are independent."""
    rng = np.random.default_rng(3)
    for many in (1, 2, 5, 9):
        for _ in range(20):
            ends = np.sort(rng.integers(0, many + 1, size=(12, 2)), axis=1)
            ends = ends[ends[:, 0] < ends[:, 1]]
            every = Intervals(np.arange(many), ends[:, 0], ends[:, 1], many)
            found, places = independent(every)
            rows = np.array([(k >= ends[:, 0]) & (k < ends[:, 1]) for k in range(many)]).T
            rank = np.linalg.matrix_rank(rows) if len(rows) else 0
            assert len(places) == rank == np.linalg.matrix_rank(rows[places])
            table = rng.normal(size=many)
            assert np.allclose(found.forward(table), every.forward(table)[places])


def test_least_squares_that_is_stopped_goes_on_or_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prefixes of 60 values take some steps: all at once, or by turns, or not to the end."""
    monkeypatch.chdir(tmp_path)
    Path("p.toml").write_text("[domain]\nx = { min = 0, max = 59 }\n")
    Path("d.csv").write_text("x\n" + "3\n20\n41\n" * 90)
    words = ["release", "p.toml", "d.csv", "--query", "cumulative(x)", "--epsilon", "1"]
    words += ["--mechanism", "laplace", "--unaccounted", "--output", "a.json"]
    assert run(words) == 0
    found = []
    for steps, again in ((4_000, 0), (30, 200), (2, 0)):
        monkeypatch.setattr(estimator_module, "FIT_STEPS", steps)
        monkeypatch.setattr(estimator_module, "AGAIN", again)
        capsys.readouterr()
        assert run(["estimate", "p.toml", "a.json", "--numbers", "real", "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        values = np.array([float(value) for value in document["values"]])
        found.append((values, any("was stopped" in note for note in document["notes"])))
    (once, no), (by_turns, neither), (early, said) = found
    assert (no, neither, said) == (False, False, True)
    assert np.allclose(once, by_turns, atol=1e-5)
    assert abs(once - early).max() > 1e-3
