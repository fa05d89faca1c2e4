"""Plans: what is compared before anything is spent, and that releases draw what they say."""

import itertools
import json
import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np
import pytest

from blowproof.cli.main import run
from blowproof.cli.releasing.plan import _code
from blowproof.cli.releasing.plan_text import indented, plan_parts
from blowproof.cli.text.output import print_all
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.budget.fingerprints import fingerprint
from blowproof.mechanisms.expecting.expected import largest_of
from blowproof.mechanisms.expecting.rehearsal import Stage, numbers, seeded_laplace
from blowproof.mechanisms.kinds import k_norm
from blowproof.mechanisms.kinds.hierarchical import Hierarchical
from blowproof.mechanisms.kinds.ordered import Ordered
from blowproof.mechanisms.kinds.transformed import NoisyTable
from blowproof.mechanisms.planning import lower_bounds, planner
from blowproof.mechanisms.planning.candidates import Candidate, candidates
from blowproof.mechanisms.planning.lower_bounds import (
    LowerBound,
    _alike,
    _by_structure,
    least_variance,
    lower_bound,
)
from blowproof.mechanisms.planning.options import Refused
from blowproof.mechanisms.planning.picture import _as_lines
from blowproof.mechanisms.planning.planner import NEARLY, Planned, planned
from blowproof.mechanisms.planning.split import cube_roots, require_within, total_error
from blowproof.mechanisms.planning.workload import workload
from blowproof.mechanisms.release.registry import plan as made_ready
from blowproof.mechanisms.release.release import Plan, release
from blowproof.mechanisms.release.request import Request
from blowproof.mechanisms.structures.ordered_hierarchical import variance
from blowproof.models import (
    AttributeChange,
    BoundQuery,
    Count,
    Distance,
    Domain,
    Full,
    Impossible,
    Integers,
    Known,
    Labels,
    Marginal,
    Move,
    PartitionBy,
    Policy,
    QueryError,
    UndeterminedError,
    setting,
)
from blowproof.models.data.content import content_of
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Selection
from blowproof.models.stacks.stacked import ONE, Part
from effort import at_most

LINE = Policy(domain=Domain(age=Integers(0, 40)), secrets=Distance(threshold=3))
SHORT_LINE = Policy(domain=Domain(age=Integers(0, 12)), secrets=Distance(threshold=3))
TABLE = Policy(
    domain=Domain(ward=Labels(["a", "b", "c"]), sex=Labels(["F", "M"])),
    known=(Marginal(("ward",)),),
)


def compared(policy: Policy, *queries: str, epsilon: str = "1", size: int | None = 500) -> Planned:
    work = workload(queries, [], policy)
    request = Request(policy=policy, query=work.queries[0], epsilon=Fraction(epsilon))
    return planned(request, work, size=size, seed=1)


def test_the_best_is_chosen_and_nothing_dominates_it() -> None:
    found = compared(LINE, "cumulative(age)")
    rmse = {option.text: option.rmse for option in found.options}
    assert found.chosen is found.options[0]
    assert found.chosen.rmse <= NEARLY * min(rmse.values())
    assert found.chosen.dominated_by is None
    assert rmse["ordered"] <= rmse["laplace"] * 1.05
    assert rmse["ordered"] < rmse["table"] / 2


@pytest.mark.parametrize(
    ("epsilon", "queries"),
    [
        ("1/4", ["histogram"]),
        ("1", ["cumulative(age)", "histogram"]),
        ("4", ["cumulative(age)", "histogram"]),
    ],
)
def test_no_option_is_below_the_lower_bound(epsilon: str, queries: list[str]) -> None:
    found = compared(SHORT_LINE, *queries, epsilon=epsilon)
    assert found.bound is not None and len(found.options) > 3
    assert all(option.rmse >= found.bound for option in found.options)


def test_the_error_of_laplace_is_that_of_its_noise() -> None:
    found = compared(TABLE, "histogram")
    laplace = next(option for option in found.options if option.mechanism == "laplace")
    assert laplace.plan.description is not None
    (release,) = laplace.plan.description
    noise = seeded_laplace(np.random.default_rng(5), release.scales[0], 60_000).reshape(-1, 6)
    assert laplace.errors[0].how == "exact"
    assert math.isclose(laplace.rmse, float((noise**2.0).mean()) ** 0.5, rel_tol=0.03)
    within = (abs(noise).max(axis=1) <= laplace.errors[0].max95).mean()
    assert 0.945 <= within <= 0.975  # a quantile of whole numbers may hold some more


def test_largest_of_is_the_smallest_number_that_is_enough() -> None:
    for scale, outputs in ((Fraction(1, 3), 4), (Fraction(5), 100)):
        q, at = math.exp(-1 / float(scale)), largest_of(scale, outputs)

        def chance(most: float, q: float = q, outputs: int = outputs) -> float:
            return float((1 - 2 * q ** (most + 1) / (1 + q)) ** outputs)

        assert chance(at) >= 0.95
        assert at == 0 or chance(at - 1) < 0.95


def test_the_cube_root_rule_is_the_best_of_all_splits() -> None:
    costs = [1.0, 20.0, 300.0]
    best = min(
        sum(cost / (part / 60) ** 2 for cost, part in zip(costs, parts, strict=True))
        for parts in itertools.product(range(1, 59), repeat=3)
        if sum(parts) == 60
    )
    shares = cube_roots(costs, Fraction(1))
    ours = sum(cost / float(share) ** 2 for cost, share in zip(costs, shares, strict=True))
    assert sum(shares) == 1
    assert ours <= best
    assert math.isclose(ours, total_error(costs, 1.0), rel_tol=1e-3)


def test_the_least_variance_is_below_that_of_the_best_noise() -> None:
    """Geometric noise is what a chain of single steps can be told with, at best."""
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
        best = variance(1 / epsilon)
        endless = least_variance(float(epsilon), None)
        assert endless <= best
        for steps in (1, 10, 1_000, 100_000):
            assert least_variance(float(epsilon), steps) <= endless
    assert least_variance(0.1, 10**6) > 0.9 * variance(Fraction(10))


def test_queries_that_follow_from_one_release_share_it() -> None:
    together = compared(LINE, "cumulative(age)", "range(age,3,30)", "histogram").chosen
    assert together is not None
    description = together.plan.description
    assert description is not None
    asked = [item.query for item in description.releases]
    assert len(asked) == len({repr(query) for query in asked})
    assert len(together.parts) < 3


def test_an_empty_workload_is_refused() -> None:
    with pytest.raises(QueryError, match="workload is empty"):
        workload([], [], LINE)


def test_weights_fit_the_queries() -> None:
    for weights in ([1, 2], [0], [Fraction(-1)]):
        with pytest.raises(QueryError, match="weight"):
            workload(["histogram"], weights, LINE)
    with pytest.raises(QueryError, match="twice"):
        workload(["histogram", "histogram"], [], LINE)


def test_a_split_above_the_budget_is_refused() -> None:
    require_within([Fraction(1, 2), Fraction(1, 2)], Fraction(1))
    for shares in ([Fraction(1), Fraction(1, 10**30)], [Fraction(0)]):
        with pytest.raises(RefusedError, match="nothing spent"):
            require_within(shares, Fraction(1))


# --- the command, and plan files -----------------------------------------------------------------

POLICY = """
[domain]
age = { min = 0, max = 20 }
[secrets]
kind = "distance"
metric = "l1"
threshold = 2
"""


def write_files(folder: Path) -> None:
    (folder / "p.toml").write_text(POLICY, encoding="utf-8")
    rows = "".join(f"{(7 * at) % 21}\n" for at in range(400))
    (folder / "d.csv").write_text(f"age\n{rows}", encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def planned_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `plan` wrote about the files, once for all who only read it, and keeps its key."""
    folder = tmp_path_factory.mktemp("planned")
    write_files(folder)
    with pytest.MonkeyPatch.context() as patch, chdir(folder):
        patch.setenv(STATE, str(folder))
        assert run(words(ASKED)) == 0
    return folder


@pytest.fixture
def plan_file(files: Path, planned_in: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files, and the plan beside them, on the machine that made it."""
    text = (planned_in / "plan.json").read_text(encoding="utf-8")
    (files / "plan.json").write_text(text, encoding="utf-8")
    for kept in planned_in.glob("heads.sqlite*"):
        (files / "state").mkdir(exist_ok=True)
        copy(kept, files / "state")
    monkeypatch.setenv(STATE, str(files / "state"))
    return files


def words(text: str) -> list[str]:
    return text.split()


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


STATE = "BLOWPROOF_STATE"
ASKED = "plan p.toml d.csv --query cumulative(age) --query histogram --epsilon 1 --output plan.json"


@pytest.mark.usefixtures("files")
def test_plan_json_is_as_the_contract_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*words("plan p.toml --query histogram --epsilon 1 --json")]) == 0
    found = document(capsys)
    assert found["schema"] == "blowproof/plan/1"
    option = found["options"][found["chosen"]]
    assert option["private"] == "proved"
    assert {"mechanism", "settings", "queries"} <= option.keys()
    assert {"query", "rmse", "max95"} <= option["queries"][0].keys()
    assert found["lower_bound"]["rmse"] <= option["rmse"]


@pytest.mark.usefixtures("plan_file")
def test_a_release_draws_what_the_plan_says(capsys: pytest.CaptureFixture[str]) -> None:
    option = json.loads(Path("plan.json").read_text(encoding="utf-8"))["options"][0]
    assert run(words("release p.toml d.csv --plan plan.json --unaccounted --json")) == 0
    drawn = document(capsys)
    assert drawn["noise"] == option["noise"]
    assert len(drawn["values"]) == 21 + 21
    assert drawn["epsilon"] == "1"


@pytest.mark.usefixtures("plan_file")
def test_nobody_can_check_a_guess_of_the_data_by_a_plan() -> None:
    """No digest of the data that could be worked out from them stands in the file."""
    plain, text = content_of("d.csv").digest, Path("plan.json").read_text(encoding="utf-8")
    assert plain not in text and sha256(plain.encode()).hexdigest() not in text
    told = json.loads(text)["digests"]["data"]
    assert re.fullmatch("hmac-sha256:[0-9a-f]{12}:[0-9a-f]{64}", told)
    assert told == fingerprint("d.csv")


@pytest.mark.usefixtures("plan_file")
def test_a_plan_from_another_machine_says_that_its_data_cannot_be_compared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = words("release p.toml d.csv --plan plan.json --budget 1 --ledger l.sqlite")
    monkeypatch.setenv(STATE, "elsewhere")
    assert run(draw) == 2
    said = capsys.readouterr().err
    assert "on another machine, or by another user" in said and "nothing spent" in said
    assert not Path("l.sqlite").exists()
    plan = json.loads(Path("plan.json").read_text(encoding="utf-8"))
    plan["digests"]["data"] = None  # as one that was made without data, which goes with any
    Path("plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert run(draw) == 0
    capsys.readouterr()


@pytest.mark.usefixtures("plan_file")
@pytest.mark.parametrize("same", [True, False])
def test_a_plan_with_a_plain_digest_is_compared_by_that(
    same: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """As earlier versions wrote them."""
    plan = json.loads(Path("plan.json").read_text(encoding="utf-8"))
    plan["digests"]["data"] = content_of("d.csv").digest if same else "0" * 64
    Path("plan.json").write_text(json.dumps(plan), encoding="utf-8")
    draw = words("release p.toml d.csv --plan plan.json --unaccounted")
    assert run(draw) == (0 if same else 2)
    assert ("other data" in capsys.readouterr().err) is not same


@pytest.mark.usefixtures("plan_file")
@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("budget", "half", "'half' is not"),
        ("budget", "1/0", "1/0"),
        ("budget", 0.5, "floats are not exact"),
        ("budget", None, "None"),
        ("settings", "1/0", "not complete"),
        ("queries", 7, "not complete"),
    ],
)
def test_a_share_that_is_none_is_refused_in_words(
    key: str, value: object, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = json.loads(Path("plan.json").read_text(encoding="utf-8"))
    shares = plan["options"][0]["settings"]["releases"]
    shares[0][key] = value
    Path("plan.json").write_text(json.dumps(plan), encoding="utf-8")
    assert run(words("release p.toml d.csv --plan plan.json --budget 1 --ledger l.sqlite")) == 2
    said = capsys.readouterr().err
    assert why in said and "this is a bug" not in said and not Path("l.sqlite").exists()


@pytest.mark.usefixtures("plan_file")
@pytest.mark.parametrize("what", ["policy", "data", "noise", "query"])
def test_a_plan_for_something_else_is_refused_before_anything_is_spent(
    what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if what == "policy":
        Path("p.toml").write_text(POLICY.replace("threshold = 2", "threshold = 1"), "utf-8")
    elif what == "data":
        Path("d.csv").write_text("age\n" + "3\n" * 400, encoding="utf-8")
    else:
        plan = json.loads(Path("plan.json").read_text(encoding="utf-8"))
        if what == "noise":
            plan["options"][0]["noise"][0]["scale"] = "1/1000"
        else:
            plan["workload"][1]["query"] = "range(age,3,9)"
        Path("plan.json").write_text(json.dumps(plan), encoding="utf-8")
    code = run(words("release p.toml d.csv --plan plan.json --budget 1 --ledger l.sqlite"))
    assert code in (1, 2)
    assert "nothing spent" in capsys.readouterr().err or what == "query"
    assert not Path("l.sqlite").exists()


@pytest.mark.usefixtures("files")
def test_what_is_no_plan_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("{}", "[]", "not json", '{"schema": "blowproof/plan/1", "options": []}'):
        Path("plan.json").write_text(text, encoding="utf-8")
        assert run(words("release p.toml d.csv --plan plan.json --unaccounted")) == 2
        assert "no plan" in capsys.readouterr().err
    assert run(words("release p.toml d.csv --plan missing.json --unaccounted")) == 2
    assert run(words("plan p.toml --epsilon 1")) == 2
    assert "empty" in capsys.readouterr().err
    both = "release p.toml d.csv --plan plan.json --epsilon 1 --unaccounted"
    assert run(words(both)) == 2


@pytest.mark.usefixtures("files")
def test_without_a_mechanism_the_best_one_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "--query cumulative(age) --epsilon 1/10 --json"
    assert run(words(f"plan p.toml d.csv {asked}")) == 0
    best = document(capsys)["options"][0]["mechanism"]
    assert run(words(f"release p.toml d.csv {asked} --unaccounted")) == 0
    assert document(capsys)["mechanism"] == best
    assert run(words(f"release p.toml d.csv {asked} --unaccounted --set tree=star")) == 1


@pytest.mark.usefixtures("files")
def test_the_plot_is_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "plan p.toml --query histogram --epsilon 1"
    assert run(words(f"{asked} --plot errors.svg")) == 0
    picture = Path("errors.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "laplace" in picture
    assert run(words(f"{asked} --plot errors.doc")) == 2
    assert "svg" in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_hopeless_noise_is_not_worth_releasing(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "plan p.toml d.csv --query marginal(age) --epsilon 1/1000000000 --json"
    assert run(words(asked)) == 1
    found = document(capsys)
    assert found["chosen"] is None
    assert any("noise of scale" in item["why"] for item in found["refused"])


# --- noise in the shape of the neighbours --------------------------------------------------------


def test_beside_a_published_margin_the_shape_of_the_neighbours_is_chosen() -> None:
    """Education by sex: mean squared error 102 in place of 2,048, at epsilon 1."""
    policy = Policy(
        domain=Domain(education=Integers(0, 15), sex=Labels(["F", "M"])),
        known=(Marginal(("education",)),),
    )
    found = compared(policy, "histogram", size=None)
    squares = {option.text: option.rmse**2 for option in found.options}
    assert found.chosen is not None
    assert found.chosen.mechanism == "k-norm"
    assert squares["k-norm"] == pytest.approx(102, rel=0.01)
    assert squares["laplace"] == pytest.approx(2 * 32**2, rel=0.01)
    assert found.bound is not None
    assert found.bound > 3


@pytest.mark.parametrize("order", ["histogram", "marginal(sex,ward)"])
def test_released_totals_are_the_published_ones(tmp_path: Path, order: str) -> None:
    data = tmp_path / "d.csv"
    rows = [*(["a,F"] * 5), *(["b,M"] * 3), *(["c,F"] * 2), *(["c,M"] * 9)]
    data.write_text("\n".join(["ward,sex", *rows, ""]), encoding="utf-8")
    request = Request(policy=TABLE, query=order, epsilon=Fraction(1), accept_wide_bounds=True)
    for _ in range(5):
        with Dataset(data, TABLE.domain) as dataset:
            found = release(made_ready("k-norm", request), dataset)
        columns = found.answers.names.columns
        totals: Counter[object] = Counter()
        for names, value in zip(found.answers.names.rows(), found.answers, strict=True):
            totals[names[columns.index("ward")]] += int(value)
        assert totals == {"a": 5, "b": 3, "c": 11}


def test_bodies_too_large_to_describe_are_refused_and_others_offered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(k_norm, "MOST_DIMENSIONS", 600)
    policy = Policy(
        domain=Domain(place=Integers(0, 999), sex=Labels(["F", "M"])), known=(Marginal(("place",)),)
    )
    found = compared(policy, "histogram", size=None)
    assert found.chosen is not None
    why = [item.why for item in found.refused if item.mechanism == "k-norm"]
    assert "dimensions" in why[0]


def test_facts_without_numbers_are_bad_input_and_no_reason_of_a_mechanism() -> None:
    domain = Domain(a=Labels(["x", "y"]), b=Labels(["u", "v"]))
    policy = Policy(domain=domain, known=(Marginal(("a",)),))
    work = workload(["marginal(a,b)"], [], policy)
    request = Request(policy=policy, query=work.queries[0], epsilon=Fraction(1), answers="given")
    with pytest.raises(UndeterminedError, match="nothing determines"):
        planned(request, work, size=10)


def test_of_two_that_are_nearly_alike_the_one_that_is_better_on_kinder_data_is_chosen() -> None:
    """Few records on many values: counts drown, and what they have in common decides."""
    policy = Policy(domain=Domain(x=Integers(0, 1023)))
    found = compared(policy, "histogram", epsilon="1/10", size=2_400)
    assert found.chosen is not None
    least = min(option.rmse for option in found.options)
    assert found.chosen.mechanism in ("dawa", "dawa-transformed")
    assert found.chosen.rmse <= NEARLY * least
    product = found.chosen.rmse * found.chosen.usual
    for option in found.options:
        assert option.rmse > NEARLY * least or option.rmse * option.usual >= product


def test_quick_mechanisms_of_all_queries_come_before_slow_ones_of_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A query late in a long workload had no answer where earlier ones took all the time."""
    tried: list[tuple[str, str]] = []

    def ready(name: str, request: Request) -> Plan:
        tried.append((name, request.bound.name))
        return made_ready(name, request)

    monkeypatch.setattr(planner, "made_ready", ready)
    queries = ["histogram", "cumulative(age)", "range(age,3,9)"]
    compared(SHORT_LINE, *queries)
    assert tried[:3] == [("laplace", query) for query in queries]
    last_quick = max(tried.index(("ordered", query)) for query in queries)
    assert all(tried.index(("dawa", query)) > last_quick for query in queries)


def test_what_two_queries_ask_of_a_table_is_rehearsed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen: Counter[str] = Counter()
    real = Stage.choose

    def choose(self: Stage, selection: Selection, *, penalty: Fraction) -> Any:
        chosen[selection.candidates] += 1
        return real(self, selection, penalty=penalty)

    monkeypatch.setattr(Stage, "choose", choose)
    compared(SHORT_LINE, "histogram")
    one = chosen.copy()
    compared(SHORT_LINE, "histogram", "cumulative(age)", "range(age,3,9)")
    assert one and all(chosen[kind] - one[kind] < 2 * one[kind] for kind in one)


@pytest.mark.usefixtures("files")
def test_nothing_is_written_where_nothing_answers(capsys: pytest.CaptureFixture[str]) -> None:
    asked = "plan p.toml d.csv --query cumulative(age) --epsilon 1/1000000 --output plan.json"
    assert run(words(asked)) == 1
    assert not Path("plan.json").exists()
    assert "not written" in capsys.readouterr().err


@pytest.mark.usefixtures("plan_file")
def test_each_row_of_several_queries_names_its_mechanism(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parts = json.loads(Path("plan.json").read_text("utf-8"))["options"][0]["settings"]["releases"]
    drawn = "release p.toml d.csv --plan plan.json --unaccounted --output out.json"
    assert run(words(drawn)) == 0
    rows = json.loads(Path("out.json").read_text("utf-8"))["rows"]
    by = {query: part["mechanism"] for part in parts for query in part["queries"]}
    assert all(row[-1] == by[row[0]] for row in rows) and len(rows) == 42
    capsys.readouterr()


def test_blocks_that_isotonic_regression_makes_the_best_are_tried_and_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Secrets within a quarter of the way: least squares put one tree first, and its own errors on
    counts that lie far apart are larger by a tenth and more; so are those of what is drawn.
    """
    line = Policy(domain=Domain(age=Integers(0, 255)), secrets=Distance(threshold=64))

    def trees(query: BoundQuery, policy: Policy) -> Iterator[Candidate]:
        return (item for item in candidates(query, policy) if item.mechanism == "hierarchical")

    monkeypatch.setattr(planner, "candidates", trees)
    found = compared(line, "cumulative(age)", size=20_000)
    assert found.chosen is not None
    assert found.chosen.parts[0].settings == {"block": "32"}
    made = [option.plan for option in found.options if option.mechanism == "hierarchical"]
    blocks, one = made
    assert isinstance(blocks, Hierarchical) and isinstance(one, Hierarchical)
    assert one.design.error < blocks.design.error
    assert 1.1 * found.options[0].rmse < found.options[1].rmse
    counts = np.zeros(256, dtype=np.int64)
    counts[::17] = 1_200
    data, truth = NoisyTable(counts, line.domain), np.cumsum(counts)
    real = []
    for plan in (blocks, one):
        stage = Stage(line, data, 4)
        runs = [numbers(plan.run(stage)) - truth for _ in range(60)]  # type: ignore[arg-type]
        real.append(float(np.sqrt(np.mean(np.square(runs)))))
    assert 1.05 * real[0] < real[1]


def test_queries_of_one_axis_are_rehearsed_on_the_same_prefixes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What least squares and the regression make of noise is made once for all queries."""
    calls = Counter[str]()
    for kind in (Ordered, Hierarchical):

        def counted(self: Any, *what: Any, kind: type = kind, made: Any = kind.counts) -> Any:
            calls[kind.__name__] += 1
            return made(self, *what)

        monkeypatch.setattr(kind, "counts", counted)
    asked = ["ordered", "hierarchical"]
    monkeypatch.setattr(planner, "candidates", lambda query, policy: map(Candidate, asked))
    compared(SHORT_LINE, "range(age,0,4)")
    alone = Counter(calls)
    calls.clear()
    texts = [f"range(age,{low},{high})" for low, high in itertools.combinations((0, 3, 7, 12), 2)]
    compared(SHORT_LINE, *texts)
    assert all(calls[name] < 3 * alone[name] for name in alone), (alone, calls)
    assert len(alone) == 2


def test_a_lower_bound_lists_no_answers_by_the_million() -> None:
    """One move changes up to 6.25 million ranges of 5,000 values: singular values say enough."""
    policy = Policy(domain=Domain(x=Integers(0, 4_999)), secrets=Distance(threshold=2_500))
    query = workload(["ranges(x)"], [], policy).queries[0]
    with at_most(2_000_000):
        bound = lower_bound(query, policy, Fraction(1), reading="published", answers=None,
                            size=10**5, found=None)  # fmt: skip
    assert bound is not None
    assert bound.rmse > 1


def test_a_lower_bound_works_out_few_rows_that_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefixes of 10^6 values: a move changes 20 of them, and its two rows have 10^6 entries."""
    everybody = Count({"x": {"min": 0, "max": 4_000}})
    policy = Policy(
        domain=Domain(x=Integers(0, 4_999)), secrets=Distance(threshold=20), known=(everybody,)
    )
    query = workload(["cumulative(x)"], [], policy).queries[0]
    rows: list[Any] = []
    kept = type(query).row

    def row(self: Any, point: Any) -> Any:
        rows.append(point)
        return kept(self, point)

    monkeypatch.setattr(type(query), "row", row)
    monkeypatch.setattr(lower_bounds, "MOST_SEEN", 50_000)
    bound = lower_bound(query, policy, Fraction(1), reading="published", answers=None,
                        size=None, found=None)  # fmt: skip
    assert bound is not None
    assert bound.rmse > 0
    assert len(rows) <= 2 * 11


@pytest.mark.parametrize("secrets", [
    Full(), AttributeChange(changes=1), Distance(threshold=1), Distance(threshold=3),
    PartitionBy(["a"]), PartitionBy(["b"]), Distance(threshold=2, attributes=["b"]),
])  # fmt: skip
def test_chains_by_structure_change_what_some_edge_changes_and_nothing_twice(secrets: Any) -> None:
    policy = Policy(domain=Domain(a=Integers(0, 2), b=Integers(0, 4)), secrets=secrets)
    edges = [Move(*edge) for edge in policy.graph.edges()]
    for text in ("histogram", "marginal(a)", "marginal(b)", "cumulative(a)", "cumulative(b)",
                 "ranges(b)"):  # fmt: skip
        query = workload([text], [], policy).queries[0]
        outputs = query.outputs(policy.domain)
        assert outputs is not None
        changed = {key for move in edges for key in Part(query, ONE).changes([move])}
        gains = _by_structure(query, setting(policy), outputs.count)
        assert gains is not None
        assert sum(gains) == len(changed), text
        longest = max((len(Part(query, ONE).changes([move])) for move in edges), default=0)
        assert max(gains, default=0) <= longest, text


def test_prefixes_near_values_secret_have_the_bound_of_a_chain_each() -> None:
    """Of 10^4 values a sample of moves changed few prefixes: 0.22 in place of 1.26."""
    policy = Policy(domain=Domain(x=Integers(0, 9_999)), secrets=Distance(threshold=20))
    query = workload(["cumulative(x)"], [], policy).queries[0]
    bound = lower_bound(query, policy, Fraction(1), reading="published", answers=None,
                        size=None, found=None)  # fmt: skip
    assert bound is not None
    assert bound.rmse == pytest.approx(math.sqrt(least_variance(1.0, None)), rel=1e-3)


def test_values_that_no_fact_tells_apart_are_grouped_whatever_the_facts() -> None:
    """More facts than one number has bits, impossible values, none at all: in their order."""
    rng = random.Random(1)
    for _ in range(30):
        known: list[Known] = [Marginal(["a"])] * rng.randint(0, 1)
        some = [rng.sample(range(4), 2) for _ in range(rng.choice((0, 3, 90)))]
        known += [Count({"a": pair, "b": rng.randint(0, 2)}) for pair in some]
        if rng.random() < 0.4:
            known.append(Impossible({"a": 1, "b": 0}))
        domain = Domain(a=Integers(0, 3), b=Integers(0, 2), c=Integers(0, 1))
        policy = Policy(domain=domain, known=tuple(known))
        groups: dict[tuple[int, ...], list[int]] = {}
        for place, x in enumerate(domain.points()):
            if x not in policy.impossible:
                groups.setdefault(setting(policy).effect(x), []).append(place)
        assert [found.tolist() for found in _alike(policy, "any")] == list(groups.values())


def test_one_number_has_no_hull_of_its_own() -> None:
    """In one dimension noise in the shape of the neighbours is that of Laplace."""
    query, both = workload(["range(age,3,9)", "marginal(age)"], [], SHORT_LINE).queries
    hull = Candidate("k-norm", {"shape": "hull"})
    assert hull not in list(candidates(query, SHORT_LINE))
    assert hull in list(candidates(both, SHORT_LINE))


@pytest.mark.parametrize(
    ("why", "code"),
    [
        ("noise of scale 9, and what it is added to is at most 3\n  try: a larger --epsilon", 1),
        ("nothing bounds the sensitivity\n  try: the scope --answers given", 1),
        ("nothing bounds the sensitivity\n  try: a longer --time-limit, or another scope", 3),
        ("the time limit was over before the noise was known", 3),
    ],
)
def test_a_refusal_that_is_final_is_no_lack_of_time(why: str, code: int) -> None:
    found = compared(TABLE, "histogram")
    nothing = replace(found, options=(), refused=(Refused("laplace", "histogram", why),))
    assert _code(replace(nothing, size=None)) == code
    assert _code(found) == 0


def test_why_an_option_is_below_the_bound_is_said() -> None:
    found = compared(TABLE, "histogram", size=3)
    bound = LowerBound(10_000.0, "a chain", "counts that are large beside 1 / epsilon")
    lines = [str(item) for item in plan_parts(replace(found, bounds=(bound,)), None)]
    (line,) = [line for line in lines if "no mistake" in line]
    assert "the worst database and counts that are large beside 1 / epsilon" in line
    low = replace(bound, rmse=1e-6)
    assert not any("no mistake" in str(item)
                   for item in plan_parts(replace(found, bounds=(low,)), None))  # fmt: skip


def test_what_was_not_compared_in_time_is_said() -> None:
    """On a busy machine a plan of 60 s took RMSE 7,878 for 694, without a word."""
    found = compared(TABLE, "histogram", size=3)
    final = Refused("gaussian", "histogram", "Gaussian noise has no pure epsilon\n  try: --rho R")
    late = [Refused(name, "sum(b)", "the time limit was over before the noise was known")
            for name in ("laplace", "k-norm")]  # fmt: skip
    lines = [str(item) for item in plan_parts(replace(found, refused=(final, *late)), None)]
    at = next(at for at, line in enumerate(lines) if "the time was over" in line)
    assert "a longer --time-limit" in lines[at] and lines[at + 1] == "  sum(b): laplace, k-norm"
    assert not any("gaussian" in line for line in lines[at:])
    lines = [str(item) for item in plan_parts(replace(found, refused=(final,)), None)]
    assert not any("the time was over" in line for line in lines)


def test_a_long_line_goes_on_below_its_first_word(capsys: pytest.CaptureFixture[str]) -> None:
    why = "the mechanism 'k-norm' " + "answers nothing of this kind " * 4
    found = compared(TABLE, "histogram", size=3)
    lost = replace(found, options=(), refused=(Refused("k-norm", "histogram", why),))
    print_all(indented(plan_parts(lost, None)))
    first, second = capsys.readouterr().out.splitlines()[-2:]
    assert first.startswith("    k-norm: answers nothing of this kind ")  # its name once
    assert second.startswith("    ") and second[4] != " "


def test_a_query_with_too_many_outputs_is_refused_at_once() -> None:
    """One of ten cannot be released: the other nine are not compared for nothing."""
    policy = Policy(domain=Domain(x=Integers(1, 10_000)))
    with pytest.raises(QueryError, match=r"50,005,000 outputs.*\n  try: cumulative"):
        workload(["histogram", "ranges(x)"], [], policy)


def test_a_picture_has_a_panel_and_a_scale_for_each_query() -> None:
    panels = [
        ("marginal(a)", [(f"a{at}", float(at), at - 1.0, at + 1.0) for at in range(30)]),
        ("nothing", []),
        ("sum(b)", [("sum", 9_000.0, 8_000.0, 9_500.0)] * 20),
    ]
    drawn = _as_lines("both", panels)
    assert drawn.count("<polyline") == drawn.count("<polygon") == 2
    assert [name in drawn for name in (">marginal(a)<", ">nothing<", ">sum(b)<")] == [
        True,
        False,
        True,
    ]
    assert ">30<" in drawn and ">9,500<" in drawn  # the ends of both scales
    one = _as_lines("one", panels[:1])
    assert one.count("<polyline") == 1 and ">a0<" in one and ">a29<" in one


def test_a_picture_of_many_numbers_leaves_no_peak_out_and_goes_to_the_last() -> None:
    rows = [(f"v{at}", 1.0, 0.0, 2.0) for at in range(10_000)]
    rows[4_567], rows[7_801] = ("v4567", 250_000.0, 0.0, 250_001.0), ("v7801", 1.0, -80.0, 2.0)
    drawn = _as_lines("many", [("", rows)])
    assert ">v0<" in drawn and ">v9999<" in drawn and "10,000 numbers, of every 14" in drawn
    assert ">250,001<" in drawn and ">-80<" in drawn  # the ends of the scale
    line = re.search(r'<polyline points="([^"]*)"', drawn)
    assert line is not None
    points = [tuple(map(float, it.split(","))) for it in line[1].split()]
    assert 700 < len(points) <= 1_500 and points == sorted(points, key=lambda it: it[0])
    (peak,) = (x for x, y in points if y < 100)
    assert abs(peak - (70 + 4_567 / 9_999 * 660)) < 0.1
