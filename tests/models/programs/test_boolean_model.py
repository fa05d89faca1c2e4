"""The boolean model, its clauses, python-sat behind it, against plain enumeration and CP-SAT."""

import itertools
import random
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.card import CardEnc, EncType
from pysat.formula import CNF, IDPool
from pysat.solvers import Solver

from blowproof.models.programs.boolean import BooleanModel, Clause, Lit
from blowproof.models.programs.boolean_lowering import lower, to_dimacs
from blowproof.models.programs.linear import LinearModel, weighted_sum
from blowproof.models.programs.solutions import Solutions
from blowproof.models.programs.solving import SolverDisagreementError
from blowproof.models.programs.to_cpsat import solve
from blowproof.models.programs.to_pysat import SatSession

quick = settings(max_examples=60, deadline=None)
ENGINES = ["glucose4", "cadical153", "cadical195"]
ENCODINGS = ["diagram", "adder", "auto"]


def brute_force(model):
    names = [x.name for x in model.variables]
    rows = itertools.product([False, True], repeat=len(names))
    found = (dict(zip(names, row, strict=True)) for row in rows)
    return [a for a in found if not model.evaluate(a)]


def by_values(assignments):
    return sorted(tuple(a.values()) for a in assignments)


def add_something(draw, model):
    literals = st.sampled_from([*model.variables, *(~x for x in model.variables)])
    several = draw(st.lists(literals, max_size=7))
    kind = draw(st.sampled_from(["clause", "at_most", "at_least", "exactly", "weighted"]))
    bound, condition = draw(st.integers(-1, 6)), draw(st.none() | literals)
    if kind == "clause":
        model.add_clause(several)
    elif kind == "weighted":
        weights = draw(st.lists(st.integers(-9, 9), min_size=7, max_size=7))
        low, high = sorted((draw(st.integers(-20, 20)), draw(st.integers(-20, 20))))
        low, high = draw(st.sampled_from([(low, high), (low, None), (None, high)]))
        terms = list(zip(weights, several, strict=False))
        model.weighted(terms, lower=low, upper=high, enforced_by=condition)
    else:
        getattr(model, kind)(several, bound, enforced_by=condition)


@st.composite
def models(draw):
    model = BooleanModel(name="drawn")
    for number in range(draw(st.integers(1, 5))):
        model.var(f"v{number}")
    for _ in range(draw(st.integers(0, 4))):
        add_something(draw, model)
    return model


def pigeons(holes):
    """One more pigeon than holes: short to say, hard to refute."""
    model = BooleanModel(name=f"{holes + 1} pigeons")
    sits = [[model.var(f"{p} in {h}") for h in range(holes)] for p in range(holes + 1)]
    for row in sits:
        model.add_clause(row)
    for column in zip(*sits, strict=True):
        for a, b in itertools.combinations(column, 2):
            model.add_clause([~a, ~b])
    return model


class TestBuilding:
    def test_what_makes_no_sense_is_refused(self):
        model = BooleanModel()
        x = model.var("x")
        wrong: tuple[Any, ...] = (0.5, 1.0, Fraction(1, 2), "1")
        for bad in wrong:
            with pytest.raises(TypeError, match="must be an int"):
                model.weighted([(bad, x)], upper=1)
            with pytest.raises(TypeError, match="must be an int"):
                model.at_most([x], bad)
            with pytest.raises(TypeError, match="must be a bool"):
                model.evaluate({"x": bad})
        with pytest.raises(ValueError, match="taken"):
            model.var("x")
        with pytest.raises(ValueError, match="not a literal of"):
            model.add_clause([BooleanModel().var("y")])
        with pytest.raises(ValueError, match="not a literal of"):
            model.add_clause([Lit("x", 7)])
        with pytest.raises(TypeError, match="not a literal"):
            model.add_clause([1])  # type: ignore[list-item]  # what is tested
        with pytest.raises(ValueError, match="lower or an upper"):
            model.weighted([(1, x)])
        with pytest.raises(ValueError, match="no number"):
            model.weighted([(1, x)], lower=2, upper=1)
        with pytest.raises(ValueError, match="says nothing about"):
            model.evaluate({})
        assert model.constraints == ()

    def test_reprs(self):
        model = BooleanModel(name="demo")
        x, y = model.var("x"), model.var("y")
        row = model.weighted([(1, x), (-2, ~y)], lower=0, enforced_by=~x)
        assert repr(row) == "0 <= x + -2*~y if ~x"
        assert repr(model.add_clause([])) == "false"
        assert repr(model) == "BooleanModel('demo', 2 variables, 2 constraints)"


class TestLowering:
    @settings(max_examples=150, deadline=None)
    @given(models(), st.sampled_from(ENCODINGS))
    def test_each_solution_is_exactly_one_solution_of_the_clauses(self, model, encoding):
        cnf = lower(model, encoding=encoding)
        everything = [m[: cnf.named] for m in _all_models(cnf)]
        expected = [[x > 0 for x in row] for row in everything]
        assert sorted(map(tuple, expected)) == by_values(brute_force(model))

    @pytest.mark.parametrize("encoding", ["diagram", "adder"])
    def test_all_small_cardinalities(self, encoding):
        for size, low, high in itertools.product(range(1, 7), range(8), range(8)):
            if low > high:
                continue
            model = BooleanModel()
            xs = [model.var(f"x{i}") for i in range(size)]
            model.weighted([(1, x) for x in xs], lower=low, upper=high)
            rows = itertools.product([0, 1], repeat=size)
            expected = sum(low <= sum(row) <= high for row in rows)
            assert len(_all_models(lower(model, encoding=encoding))) == expected

    @quick
    @given(
        st.integers(1, 8),
        st.integers(0, 8),
        st.sampled_from([EncType.totalizer, EncType.seqcounter]),
    )
    def test_pysats_own_encodings_agree(self, size, bound, kind):
        model, pool = BooleanModel(), IDPool(start_from=size + 1)
        xs = [model.var(f"x{i}") for i in range(size)]
        model.at_most(xs, bound)
        theirs = CardEnc.atmost(list(range(1, size + 1)), bound, vpool=pool, encoding=kind)
        for row in itertools.product([1, -1], repeat=size):
            assumed = [sign * code for code, sign in enumerate(row, start=1)]
            answers = []
            for clauses in (lower(model).clauses, theirs.clauses):
                with Solver("glucose4", bootstrap_with=clauses) as solver:
                    answers.append(solver.solve(assumptions=assumed))
            assert answers[0] == answers[1] == (row.count(1) <= bound)

    def test_huge_weights_go_to_the_adder(self):
        model = BooleanModel()
        rng = random.Random(3)
        weights = [rng.randrange(10**30) for _ in range(40)]
        xs = [model.var(f"x{i}") for i in range(40)]
        chosen = rng.sample(range(40), 20)
        total = sum(weights[i] for i in chosen)
        for i, x in enumerate(xs):
            model.add_clause([x if i in chosen else ~x])
        model.weighted(list(zip(weights, xs, strict=True)), lower=total, upper=total)
        assert len(lower(model).clauses) < 200_000
        with SatSession(model) as session:
            assert session.solve().status == "sat"

    @quick
    @given(models())
    def test_dimacs_is_read_by_others(self, model):
        text, names = to_dimacs(model)
        assert list(names.values()) == [x.name for x in model.variables]
        read = CNF(from_string=text)
        cnf = lower(model)
        assert [tuple(c) for c in read.clauses] == list(cnf.clauses)
        assert f"p cnf {cnf.variables} {len(cnf.clauses)}" in text
        with Solver("glucose4", bootstrap_with=read.clauses) as solver:
            assert solver.solve() == bool(brute_force(model))


def _all_models(cnf):
    """Every model over all the variables, the auxiliary ones included."""
    clauses = [list(c) for c in cnf.clauses]
    with Solver("minisat22", bootstrap_with=clauses) as solver:
        solver.add_clause([cnf.variables, -cnf.variables])
        found = []
        while solver.solve():
            true = {code for code in solver.get_model() if code > 0}
            row = [c if c in true else -c for c in range(1, cnf.variables + 1)]
            found.append(row)
            solver.add_clause([-code for code in row])
    return found


class TestSession:
    @settings(max_examples=100, deadline=None)
    @given(st.data(), st.sampled_from(ENGINES), st.sampled_from(ENCODINGS))
    def test_it_follows_the_model_and_agrees_with_enumeration(self, data, engine, encoding):
        model = BooleanModel()
        with SatSession(model, engine=engine, encoding=encoding) as session:
            for round_ in range(3):
                model.var(f"v{round_}")
                model.var(f"w{round_}")
                add_something(data.draw, model)
                literals = [*model.variables, *(~x for x in model.variables)]
                assumed = data.draw(st.lists(st.sampled_from(literals), max_size=3))
                answer = session.solve(assumptions=assumed)
                found = [a for a in brute_force(model) if all(x.holds(a) for x in assumed)]
                assert answer.status == ("sat" if found else "unsat")
                if found:
                    assert answer.assignment in found
                else:
                    assert answer.core is not None
                    assert set(answer.core) <= set(assumed)
                    assert session.solve(assumptions=answer.core).status == "unsat"

    @quick
    @given(models(), st.integers(0, 6), st.sampled_from(ENGINES))
    def test_solutions_are_those_of_enumeration(self, model, limit, engine):
        found = brute_force(model)
        with SatSession(model, engine=engine) as session:
            assert by_values(session.solutions()) == by_values(found)
            assert len(list(session.solutions(limit=limit))) == min(limit, len(found))
            first = model.variables[:2]
            projected = {tuple(x.holds(a) for x in first) for a in found}
            over = [tuple(x.holds(a) for x in first) for a in session.solutions(first)]
            assert sorted(over) == sorted(projected)
            assert session.solve().status == ("sat" if found else "unsat")

    @pytest.mark.parametrize("engine", ENGINES)
    def test_limits_are_honoured_and_the_session_lives_on(self, engine):
        model = pigeons(13)
        with SatSession(model, engine=engine) as session:
            for limit in (0, 0.4):  # by itself it would take hours
                assert session.solve(time_limit=limit).status == "unknown"
            asked = iter([False] * 5)
            assert session.solve(stop=lambda: next(asked, True)).status == "unknown"
            assert session.solve(assumptions=[model.variables[0], ~model.variables[0]]).core

    @pytest.mark.parametrize("engine", ENGINES)
    def test_ctrl_c_passes_through(self, engine):
        folder = str(Path(__file__).parent)
        code = (
            f"import sys; sys.path.insert(0, {folder!r})\n"
            "from test_boolean_model import *\n"
            f"session = SatSession(pigeons(14), engine={engine!r})\n"
            "told = iter([lambda: print('ready', flush=True)])\n"
            "try:\n    session.solve(stop=lambda: next(told, bool)())\n"
            "except KeyboardInterrupt:\n"
            "    print(session.solve(time_limit=0.2).status, flush=True)\n    raise\n"
        )
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)  # it is at work, and would be for hours
            output, errors = process.communicate()
        assert output == "unknown\n", errors
        assert "KeyboardInterrupt" in errors

    @pytest.mark.parametrize("engine", ENGINES)
    def test_proofs_are_proofs(self, engine):
        model = pigeons(4)
        model.at_most(model.variables, 3)  # so that the proof speaks about lowered clauses too
        with SatSession(model, engine=engine, with_proof=True) as session:
            assert session.solve().status == "unsat"
            proof = session.proof()
        assert refutes(proof, lower(model).clauses)

    def test_a_lying_solver_is_found_out(self, monkeypatch):
        model = BooleanModel()
        x = model.var("x")
        with SatSession(model) as session:
            assert session.solve().status == "sat"
            model._constraints.append(Clause((x, x)))
            model._constraints.append(Clause((~x,)))
            session._lowered = 2
            with pytest.raises(SolverDisagreementError, match="is not"):
                session.solve()


def refutes(proof, clauses):
    """A tiny RUP checker: every added clause follows by unit propagation, the last one is empty."""
    database = [frozenset(c) for c in clauses]
    for line in proof:
        words = line.split()
        if words[0] == "d":  # deletions only help speed; keeping a clause is sound
            continue
        clause = frozenset(map(int, words[:-1]))
        if not propagates_to_conflict(database, clause):
            return False
        if not clause:
            return True
        database.append(clause)
    return propagates_to_conflict(database, frozenset())


def propagates_to_conflict(database, clause):
    true = {-x for x in clause}
    changed = True
    while changed:
        changed = False
        for c in database:
            if true.isdisjoint(c):
                left = [x for x in c if -x not in true]
                if not left:
                    return True
                if len(left) == 1:
                    true.add(left[0])
                    changed = True
    return False


@st.composite
def twins(draw):
    """The same 0/1 model twice: linear and boolean."""
    linear, boolean = LinearModel(), BooleanModel()
    names = [f"x{i}" for i in range(draw(st.integers(1, 4)))]
    left, right = [linear.bool_var(n) for n in names], [boolean.var(n) for n in names]
    index = st.integers(0, len(names) - 1)
    signed = st.tuples(index, st.booleans())
    for _ in range(draw(st.integers(1, 4))):
        several = draw(st.lists(signed, max_size=4))
        if draw(st.booleans()):
            linear.add_clause([~left[i] if negated else left[i] for i, negated in several])
            boolean.add_clause([~right[i] if negated else right[i] for i, negated in several])
            continue
        weights = draw(st.lists(st.tuples(st.integers(-5, 5), index), max_size=5))
        low = draw(st.integers(-6, 6))
        high = low + draw(st.integers(0, 6))
        condition = draw(index)
        linear.add(
            weighted_sum((w, left[i]) for w, i in weights),
            lower=low,
            upper=high,
            enforced_by=~left[condition],
        )
        terms = [(w, right[i]) for w, i in weights]
        boolean.weighted(terms, lower=low, upper=high, enforced_by=~right[condition])
    return linear, boolean


@quick
@given(twins())
def test_sat_and_ilp_and_enumeration_agree(pair):
    linear, boolean = pair
    found = by_values(brute_force(boolean))
    assert by_values(Solutions(linear)) == found
    assert (solve(linear).assignment is not None) == bool(found)
    with SatSession(boolean) as session:
        assert by_values(session.solutions()) == found
