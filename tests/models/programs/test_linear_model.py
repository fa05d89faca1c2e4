"""The linear model, CP-SAT behind it, and its LP and MPS files, against plain enumeration."""

import itertools
import random
import signal
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ortools.linear_solver.python import model_builder

from blowproof.models.programs import to_cpsat
from blowproof.models.programs.contradiction import InfeasibleSubset, smallest_infeasible_subset
from blowproof.models.programs.linear import IntVar, LinearExpr, LinearModel, weighted_sum
from blowproof.models.programs.linear_export import plain_rows, to_lp, to_mps
from blowproof.models.programs.solutions import Solutions
from blowproof.models.programs.solving import SolverDisagreementError, run_interruptibly
from blowproof.models.programs.to_cpsat import solve

quick = settings(max_examples=60, deadline=None)


def assignments(model):
    """Everything that the domains allow, the slow and obvious way."""
    names = [v.name for v in model.variables]
    domains = [range(v.lower, v.upper + 1) for v in model.variables]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*domains)]


def brute_force(model):
    """The solutions, and the greatest objective among them (None for none)."""
    found = [a for a in assignments(model) if not model.evaluate(a)]
    if model.objective is None:
        return found, None
    return found, max((model.objective.evaluate(a) for a in found), default=None)


@st.composite
def models(draw, *, binary=False):
    model = LinearModel(name=draw(st.sampled_from(["m", "two words", "9 lives"])))
    bits = [model.bool_var(name) for name in ("b 1", "b_1", "e9")[: draw(st.integers(1, 3))]]
    ints = []
    for number in range(0 if binary else draw(st.integers(0, 3))):
        low = draw(st.integers(-3, 2))
        width = draw(st.integers(0, 3))
        ints.append(model.int_var(f"free{number}", lower=low, upper=low + width))
    literals = st.sampled_from(bits).flatmap(lambda b: st.sampled_from([b, ~b]))
    terms = st.lists(st.tuples(st.integers(-4, 4), st.sampled_from(bits + ints)), max_size=5)
    ends = st.none() | st.integers(-8, 8)
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.booleans()):
            model.add_clause(draw(st.lists(literals, max_size=3)), group=draw(groups))
            continue
        low, high = draw(ends), draw(ends)
        if low is None and high is None:
            low = 0
        if low is not None and high is not None:
            low, high = min(low, high), max(low, high)
        expr = weighted_sum(draw(terms), constant=draw(st.integers(-2, 2)))
        condition = draw(st.none() | literals)
        model.add(expr, lower=low, upper=high, enforced_by=condition, group=draw(groups))
    if draw(st.booleans()):
        model.maximise(weighted_sum(draw(terms), constant=draw(st.integers(-5, 5))))
    return model


groups = st.sampled_from([None, "a", "b", "c"])


def market_split(*, columns=40, rows=5, seed=1):
    """A small model that keeps CP-SAT busy for longer than any test waits."""
    rng = random.Random(seed)
    model = LinearModel(name="market split")
    bits = [model.bool_var(f"x{i}") for i in range(columns)]
    for _ in range(rows):
        weights = [rng.randrange(100) for _ in bits]
        half = sum(weights) // 2
        model.add(weighted_sum(zip(weights, bits, strict=True)), lower=half, upper=half)
    return model


def hard_maximum():
    """A multi-knapsack over [5, 20]: good values at once, a proof not for a long time."""
    rng = random.Random(1)
    model = LinearModel(name="knapsacks")
    xs = [model.int_var(f"x{i}", lower=5, upper=20) for i in range(200)]
    for _ in range(50):
        weights = [rng.randrange(100) for _ in xs]
        model.add(weighted_sum(zip(weights, xs, strict=True)), upper=sum(weights) * 7 + 3)
    model.maximise(weighted_sum(((rng.randrange(1, 50), x) for x in xs), constant=1000))
    return model


def passed(end):
    """A `stop` that says whether the clock has passed `end`."""
    return lambda: time.monotonic() > end


class TestBuilding:
    def test_floats_and_fractions_are_refused_everywhere(self):
        model = LinearModel()
        x = model.bool_var("x")
        wrong: tuple[Any, ...] = (0.5, 1.0, Fraction(1, 2), "1", None)
        for bad in wrong:
            with pytest.raises(TypeError, match="must be an int"):
                x * bad
            with pytest.raises(TypeError, match="must be an int"):
                weighted_sum([(bad, x)])
            with pytest.raises(TypeError, match="must be an int"):
                x + bad
            with pytest.raises(TypeError, match="must be an int"):
                model.int_var("y", lower=bad, upper=3)
            with pytest.raises(TypeError, match="must be an int"):
                model.evaluate({"x": bad})
            if bad is not None:
                with pytest.raises(TypeError, match="must be an int"):
                    model.add(x, upper=bad)
        assert model.variables == (x,)
        assert model.constraints == ()

    def test_what_makes_no_sense_is_refused(self):
        model = LinearModel()
        x = model.int_var("x", lower=0, upper=5)
        b = model.bool_var("b")
        with pytest.raises(ValueError, match="empty domain"):
            model.int_var("y", lower=2, upper=1)
        with pytest.raises(ValueError, match="already has"):
            model.bool_var("x")
        with pytest.raises(ValueError, match="not a variable of"):
            model.add(IntVar("stranger", 0, 1), lower=1)
        with pytest.raises(ValueError, match="not a variable of"):
            model.maximise(x + IntVar("x", 0, 6))
        with pytest.raises(ValueError, match="neither"):
            model.add(x)
        with pytest.raises(ValueError, match="nothing satisfies"):
            model.add(x, lower=3, upper=2)
        with pytest.raises(ValueError, match="not a 0/1 variable"):
            model.add_clause([x])
        with pytest.raises(TypeError, match="not a literal"):
            model.add_clause(["b"])  # type: ignore[list-item]  # what is tested
        with pytest.raises(TypeError, match="is not a variable"):
            weighted_sum([(1, "b")])  # type: ignore[list-item]  # what is tested
        model.add(x, lower=1, name="first")
        with pytest.raises(ValueError, match="is taken"):
            model.add_clause([b], name="first")
        with pytest.raises(ValueError, match="says nothing about 'b'"):
            model.evaluate({"x": 1})

    def test_reprs_read_like_mathematics(self):
        model = LinearModel(name="demo")
        x, y, b = model.int_var("x", lower=-2, upper=3), model.bool_var("y"), model.bool_var("b")
        assert repr(2 * x - y + 3 - x) == "x - y + 3"
        assert repr(-x) == "-x"
        assert repr(LinearExpr()) == "0"
        assert repr(model.add(x + y + 1, lower=0, upper=2, enforced_by=~b)) == (
            "c1: -1 <= x + y <= 1 if ~b"
        )
        assert repr(model.add_clause([y, ~b])) == "c2: y or ~b"
        assert repr(model.add_clause([])) == "c3: false"
        assert repr(model) == "LinearModel('demo', 3 variables, 3 constraints)"

    def test_numpy_integers_become_ints(self):
        numpy = pytest.importorskip("numpy")
        expr = numpy.int64(3) * 1 + 2 * IntVar("x", 0, 1)
        assert type(expr.constant) is int
        assert type(weighted_sum([(numpy.int8(2), IntVar("x", 0, 1))]).terms[0][0]) is int

    def test_sums_are_exact_beyond_any_machine_word(self):
        x = IntVar("x", 0, 3)
        assert (10**40 * x + 1).evaluate({"x": 3}) == 3 * 10**40 + 1


class TestSolving:
    @quick
    @given(models(), st.integers(1, 2), st.booleans())
    def test_the_optimum_is_that_of_enumeration(self, model, workers, presolve):
        found, best = brute_force(model)
        outcome = solve(model, workers=workers, presolve=presolve, seed=7)
        assert outcome.status == ("optimal" if found else "infeasible")
        if found:
            assert outcome.assignment in found
            assert (outcome.lower, outcome.upper) == (best, best)

    @quick
    @given(models())
    def test_all_solutions_are_those_of_enumeration(self, model):
        found, _ = brute_force(model)
        solutions = Solutions(model)
        listed = list(solutions)
        assert solutions.complete
        key = sorted(tuple(a.values()) for a in found)
        assert sorted(tuple(a.values()) for a in listed) == key
        few = Solutions(model, limit=2)
        assert len(list(few)) == min(2, len(found))
        assert few.complete == (len(found) <= 2)

    def test_enumeration_has_no_duplicates_where_cpsat_had_some(self):
        model = LinearModel(name="or-tools#4640")
        x, y, z = (model.int_var(name, lower=0, upper=2) for name in "xyz")
        model.add(2 * x + 3 * y + 5 * z, lower=12, upper=12, enforced_by=model.bool_var("p"))
        assert len(list(Solutions(model))) == 29

    def test_an_empty_model_has_one_solution(self):
        assert list(Solutions(LinearModel())) == [{}]
        assert solve(LinearModel()).assignment == {}

    def test_hints_and_progress(self):
        model = hard_maximum()
        model_says = {f"x{i}": 5 for i in range(200)}
        bounds: list[tuple[int | None, int | None]] = []
        outcome = solve(
            model,
            stop=lambda: len(bounds) >= 5 and all(bounds[-1]),
            hints=model_says,
            on_bound=lambda *b: bounds.append(b),
            workers=2,
        )
        assert outcome.status == "feasible"
        assert outcome.lower is not None
        assert outcome.upper is not None
        assert outcome.lower <= outcome.upper < model.objective.bounds()[1]
        lowers, uppers = zip(*bounds, strict=True)
        assert sorted(filter(None, lowers)) == list(filter(None, lowers))
        assert sorted(filter(None, uppers), reverse=True) == list(filter(None, uppers))
        assert bounds[-1][0] == outcome.lower
        with pytest.raises(ValueError, match="no variable"):
            solve(model, hints={"stranger": 1})

    def test_progress_errors_reach_the_caller(self):
        def refuse(lower, upper):
            raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            solve(hard_maximum(), time_limit=10, on_bound=refuse)

    @pytest.mark.parametrize("limit", [0, 0.001, 0.01, 0.1, 0.3])
    def test_bounds_stay_sound_however_early_it_is_stopped(self, limit):
        # The trap: a response without a bound says 0, and this maximum is far above it.
        model = hard_maximum()
        floor = model.objective.evaluate({f"x{i}": 5 for i in range(200)})
        outcome = solve(model, time_limit=limit)
        assert outcome.status in {"unknown", "feasible"}
        assert outcome.upper >= floor > 0

    def test_stopping_is_never_taken_for_a_proof(self):
        model = LinearModel(name="subset sum")
        rng = random.Random(5)
        xs = [model.bool_var(f"x{i}") for i in range(24)]
        for _ in range(3):
            expr = weighted_sum((rng.randrange(1, 60), x) for x in xs)
            model.add(expr, upper=expr.bounds()[1] // 2)
        model.maximise(weighted_sum((rng.randrange(1, 60), x) for x in xs))
        best = solve(model).lower
        assert best is not None
        for delay in range(1, 25):
            end = time.monotonic() + delay / 200
            outcome = solve(model, stop=passed(end))
            assert outcome.upper is not None
            assert outcome.upper >= best
            assert outcome.status != "optimal" or outcome.lower == best

    def test_numbers_beyond_64_bits_are_not_wrapped(self):
        model = LinearModel()
        x = model.int_var("x", lower=0, upper=9)
        model.add(10**18 * x, upper=4 * 10**18)
        model.maximise(x)
        with pytest.raises(OverflowError, match="beyond CP-SAT"):
            to_cpsat.to_cpsat(model)
        assert solve(model).upper == 4

    def test_bounds_far_outside_what_a_row_can_reach(self):
        model = LinearModel()
        x, b = model.int_var("x", lower=0, upper=9), model.bool_var("b")
        model.add(x, lower=-(10**40), upper=10**40)
        model.add(x, lower=10**40, enforced_by=b)
        assert {a["b"] for a in Solutions(model)} == {0}

    def test_a_lying_solver_is_found_out(self, monkeypatch):
        monkeypatch.setattr(to_cpsat, "_add_constraint", lambda *_: None)
        model = LinearModel()
        model.add(model.bool_var("x"), lower=2)
        with pytest.raises(SolverDisagreementError, match="violates c1"):
            solve(model)


class TestLimits:
    def test_the_time_limit_is_honoured(self):
        assert solve(market_split(), time_limit=0.5).status == "unknown"

    def test_stop_is_honoured(self):
        asked = iter([False] * 5)
        assert solve(market_split(), stop=lambda: next(asked, True)).status == "unknown"

    def test_an_unfinished_enumeration_ends(self):
        model = LinearModel()
        for i in range(40):
            model.bool_var(f"x{i}")
        solutions = Solutions(model)
        assert len(list(itertools.islice(solutions, 1000))) == 1000
        assert not solutions.complete
        timed = Solutions(model, time_limit=0.3)
        assert sum(1 for _ in timed) > 0
        assert not timed.complete

    @pytest.mark.parametrize(
        "body",
        [
            "solve(model)",
            "solve(model, workers=2)",
            "next(iter(Solutions(model)))",
            "smallest_infeasible_subset(model)",
        ],
    )
    def test_ctrl_c_passes_through(self, body):
        assert interrupted(
            "from test_linear_model import *\n"
            "model = market_split(columns=60, rows=7)\n"
            "print('ready', flush=True)\n"
            f"{body}\n"
        )

    def test_an_abandoned_iterator_does_not_hold_up_the_exit(self):
        code = (
            "from test_linear_model import *\n"
            "model = LinearModel()\n"
            "for i in range(40): model.bool_var(f'x{i}')\n"
            "held = iter(Solutions(model))\n"
            "next(held)\n"
        )
        assert run_python(code).wait() == 0

    def test_errors_of_the_work_reach_the_caller(self):
        def fail():
            raise OSError("broken")

        with pytest.raises(OSError, match="broken"):
            run_interruptibly(fail, cancel=lambda: None)


def run_python(code):
    folder = str(Path(__file__).parent)
    start = f"import sys; sys.path.insert(0, {folder!r})\n"
    return subprocess.Popen(
        [sys.executable, "-c", start + code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def interrupted(code):
    """Send SIGINT to the code once it is ready: KeyboardInterrupt ends it, or nothing does."""
    with run_python(code) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.4)  # the solver is at work, or on a busy machine about to begin
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    return "KeyboardInterrupt" in errors and "terminate called" not in errors


class TestContradictions:
    @quick
    @given(models())
    def test_the_subset_is_contradictory_and_minimal(self, model):
        model = model.without_groups((), objective=False)
        subset = smallest_infeasible_subset(model)
        if brute_force(model)[0]:
            assert subset is None
            return
        assert subset is not None
        assert subset.minimal
        assert not brute_force(only(model, subset.groups))[0]
        for group in subset.groups:
            assert brute_force(only(model, set(subset.groups) - {group}))[0]

    def test_a_wrong_core_is_no_harm(self, monkeypatch):
        model = LinearModel()
        x = model.bool_var("x")
        for group, low, high in (("a", 1, None), ("b", None, 0), ("c", 0, None)):
            model.add(x, lower=low, upper=high, group=group)
        for core in (("infeasible", ("c",)), ("unknown", ()), ("infeasible", ("a", "b", "c"))):
            monkeypatch.setattr(
                "blowproof.models.programs.contradiction.infeasible_core",
                lambda *_, core=core, **__: core,
            )
            assert smallest_infeasible_subset(model) == InfeasibleSubset(("a", "b"), minimal=True)

    def test_out_of_time(self):
        with pytest.raises(TimeoutError):
            smallest_infeasible_subset(market_split(columns=60, rows=7), time_limit=0.2)


def only(model, kept):
    return model.without_groups(set(model.groups) - set(kept), objective=False)


class TestExports:
    @quick
    @given(models())
    def test_plain_rows_keep_the_solutions(self, model):
        found, _ = brute_force(model)
        truth = {"<=": int.__le__, ">=": int.__ge__, "=": int.__eq__}
        rows = plain_rows(model)
        for a in assignments(model):
            holds = all(truth[row.sense](row.expr.evaluate(a), row.bound) for row in rows)
            assert holds == (a in found)

    @quick
    @given(models(), st.sampled_from(["lp", "mps"]))
    def test_highs_reads_the_files_and_finds_the_same_optimum(self, model, form):
        text, names = to_lp(model) if form == "lp" else to_mps(model)
        assert list(names.values()) == [v.name for v in model.variables]
        agrees(model, names, *highs(text, suffix=f".{form}"))

    @quick
    @given(models())
    def test_scip_reads_the_mps_file_and_finds_the_same_optimum(self, model):
        text, names = to_mps(model)
        read = model_builder.Model()
        assert read.import_from_mps_string(text)
        solver = model_builder.Solver("scip")
        if solver.solve(read) != model_builder.SolveStatus.OPTIMAL:
            agrees(model, names, None, None)
            return
        values = {v.name: solver.value(v) for v in read.get_variables()}
        agrees(model, names, values, solver.objective_value)

    def test_long_rows_are_folded(self):
        model = LinearModel()
        xs = [model.bool_var(f"a rather long name, number {i}") for i in range(300)]
        model.add(weighted_sum(((-1) ** i * (i + 1), x) for i, x in enumerate(xs)), upper=-150)
        model.maximise(weighted_sum((1, x) for x in xs))
        text, names = to_lp(model)
        assert max(map(len, text.splitlines())) < 255
        values, best = highs(text, suffix=".lp")
        assert best == solve(model).lower == 300
        assert set(values) == {*names, "one"}


def highs(text, *, suffix):
    """What HiGHS (the one inside scipy) makes of a file: values by name and the optimum."""
    core = pytest.importorskip("scipy.optimize._highspy._core")
    solver = core._Highs()
    solver.setOptionValue("output_flag", False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"model{suffix}")
        path.write_text(text, encoding="utf-8")
        assert solver.readModel(str(path)) == core.HighsStatus.kOk
    solver.run()
    if solver.getModelStatus() != core.HighsModelStatus.kOptimal:
        return None, None
    columns = solver.getLp().col_names_
    best = solver.getInfo().objective_function_value
    return dict(zip(columns, solver.getSolution().col_value, strict=True)), best


def agrees(model, names, values, best):
    """Compare another solver's answer (None: infeasible) with plain enumeration."""
    found, maximum = brute_force(model)
    assert (values is not None) == bool(found)
    if values is not None:
        assignment = {name: round(values[safe]) for safe, name in names.items()}
        assert not model.evaluate(assignment)
        if model.objective is not None:
            assert round(best) == model.objective.evaluate(assignment) == maximum
