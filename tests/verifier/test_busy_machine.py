"""The same question gets the same answer, by the same engine, however busy the machine is.

Turns and deadlines count work, not seconds (models/base/clock). No test here depends on how long
anything takes.
"""

from __future__ import annotations

import ast
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from blowproof.models import (
    AttributeChange,
    Clause,
    Count,
    Database,
    Domain,
    Integers,
    Labels,
    Literal,
    Marginal,
    Policy,
    Reading,
    parse_query,
    setting,
)
from blowproof.models.base import clock
from blowproof.models.base.clock import Budget, Worker
from blowproof.models.programs import to_cpsat, to_pysat
from blowproof.models.programs.boolean import BooleanModel
from blowproof.models.programs.linear import LinearModel
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.asked.question import Question
from blowproof.verifier.databases.value_classes import class_table
from blowproof.verifier.engines.histograms.loop import Known
from blowproof.verifier.engines.histograms.master import histogram_sensitivity
from blowproof.verifier.moves import best_choice
from blowproof.verifier.moves.kinds import Moves
from blowproof.verifier.witnesses import few_classes as few
from blowproof.verifier.witnesses.few_classes import classes_together

ROOT = Path(__file__).resolve().parent.parent.parent
REGIONS = Domain(region=Labels(["n", "s", "w"]), size=Labels(["1", "2", "3"]))
BOUNDED = Policy(
    domain=REGIONS,
    secrets=AttributeChange(changes=1),
    known=(Count({"region": "n"}, answer=3), Count({"size": "1"}, at_most=4)),
    database=Database(size=5),
)
CLAUSE = Policy(
    domain=REGIONS,
    known=(
        Count({"region": "n"}, answer=2),
        Clause([Literal(1, {"region": "n"}), Literal(2, {"size": "1"})]),
    ),
    database=Database(size=5),
)
NEAR = Policy(
    domain=Domain(region=Labels(["n", "s", "w"]), size=Integers(0, 3)),
    secrets=AttributeChange(changes=1),
    known=(Marginal(["region"]), Count({"region": "n", "size": [0, 1]})),
)


def told(policy: Policy, reading: Reading) -> tuple[object, ...]:
    """Everything that an answer says but how long it took, and how much work was counted."""
    with Budget() as budget:
        found = sensitivity(policy, reading=reading)
    witness = None if found.witness is None else (found.witness.before, found.witness.after)
    return (
        *(found.lower, found.upper, found.engine, found.decided_by, found.notes, witness),
        budget.used,
    )


@contextmanager
def busy(monkeypatch: pytest.MonkeyPatch, seed: int) -> Iterator[None]:
    """Make everything slower, by chance: other threads, and pauses where work is counted."""
    rng, ended, look = random.Random(seed), threading.Event(), Worker.look

    def spin() -> None:
        while not ended.is_set():
            sum(range(1_000))

    def late(worker: Worker, work: float = clock.STEP) -> float:
        if rng.random() < 0.01:
            time.sleep(rng.random() / 100)
        return look(worker, work)

    others = [threading.Thread(target=spin, daemon=True) for _ in range(2)]
    for other in others:
        other.start()
    with monkeypatch.context() as patched:
        patched.setattr(Worker, "look", late)
        yield
    ended.set()
    for other in others:
        other.join()


@pytest.mark.parametrize(
    ("policy", "reading"),
    [
        (BOUNDED, "published"),
        (BOUNDED, "add-remove"),
        (CLAUSE, "published"),
        (NEAR, "published"),
        (NEAR, "secret-moves"),
    ],
)
def test_a_busy_machine_says_the_same(
    policy: Policy, reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = told(policy, reading)
    with busy(monkeypatch, seed=1):
        assert told(policy, reading) == quiet
    assert isinstance(quiet[-1], float) and quiet[-1] > 0


def test_a_shorter_step_moves_the_turns_and_not_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The work that is counted decides who is asked when; it does not decide what is true."""
    usual = told(BOUNDED, "published")
    monkeypatch.setattr(clock, "STEP", clock.STEP * 64)
    other = told(BOUNDED, "published")
    assert usual[:2] == other[:2] and usual[-1] != other[-1]


WALL = {"monotonic", "process_time", "thread_time", "time"}
MAY_LOOK = {
    "models/base/clock.py",  # says what the time is
    "models/programs/solving.py",  # a real end for a solver that does not count
    "models/programs/solutions.py",
    "verifier/engines/farmed/workers.py",  # says how long a task took
}
COUNTED = ("models", "verifier")
OUTSIDE = ("verifier/proofs/", "verifier/certify/", "verifier/claims/", "verifier/kernel/")
"""What is done with an answer: proofs and judgements have limits of their own, in seconds."""


def test_no_engine_looks_at_the_clock_on_the_wall() -> None:
    found = []
    for folder in COUNTED:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name in MAY_LOOK or name.startswith(OUTSIDE):
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id == "time"
                    and node.attr in WALL
                ):
                    found.append(f"{name}:{node.lineno}")
    assert not found, "use blowproof.models.base.clock.now"


def test_choosing_classes_that_share_facts_is_counted() -> None:
    """A thousand ranges took seconds of which nobody was told; it looks at no clock itself."""
    used = []
    for count in (10, 30):
        values = Labels([str(place) for place in range(count)])
        policy = Policy(domain=Domain(a=values, b=values), known=(Marginal(["a"]), Marginal(["b"])))
        table = class_table(setting(policy))
        with Budget():
            begun = clock.now()
            classes_together(table, 42, [0], random.Random(1))
            used.append(clock.now() - begun)
    assert used[1] > 5 * used[0]  # 27 times as many entries; a look is a step besides


def test_brute_force_counts_the_databases_that_it_looks_at() -> None:
    """Facts of 37,000 parts were looked at in two seconds, of which a tenth of one was counted."""
    half = Domain(a=Labels(["x", "y"]), b=Labels(["x", "y"]))
    wanted = Clause([Literal(1, {"a": "x"}), Literal(2, {"b": "y"})])
    known = (Count({"a": "x"}, at_least=1), wanted)
    policy = Policy(domain=half, known=known, database=Database(size=4, answers="given"))
    with Budget():
        begun = clock.now()
        found = sensitivity(policy, "histogram", reading="add-remove", engine="brute")
        used = clock.now() - begun
    assert found.status == "exact"
    assert used > 0.01


def test_only_facts_that_count_a_looked_at_value_are_looked_at() -> None:
    """Fourteen of three hundred areas: effects of three hundred places took all the time."""
    domain = Domain(area=Integers(0, 299), sex=Labels(["F", "M"]))
    policy = Policy(domain=domain, known=(Marginal(["area"]), Count({"sex": "F"})))
    told = setting(policy)
    question = Question(told, parse_query("histogram", policy), "published")
    lengths = []

    def noted(moves, _):
        lengths.append(moves)
        return 0, {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(few, "heaviest_circuit", noted)
        few.some_pair(question, seconds=0.2)
    assert lengths
    assert max(len(moves.setting.equalities) for moves in lengths) <= max(few.FEW) + 1


def test_writing_a_program_is_counted_by_its_numbers() -> None:
    used = []
    for ages in (100, 500):
        policy = Policy(domain=Domain(age=Integers(1, ages)))
        moves = Moves(
            setting(policy), parse_query("ranges(age)", policy), "published", ((0,), (ages - 1,))
        )
        numbers = sum(len(kind.change) for kind in moves.kinds)
        linear = LinearModel()
        counts = [
            (kind, linear.int_var(f"n{place}", lower=0, upper=1))
            for place, kind in enumerate(moves.kinds)
        ]
        with Budget() as budget:
            best_choice.total_change(linear, counts)
            clock.now()
            used.append(budget.used)
            with pytest.raises(TimeoutError):  # and not begun where there is no time for it
                best_choice.total_change(linear, counts, deadline=budget.look())
            assert budget.used < used[-1] + 3 * clock.STEP
        assert used[-1] >= numbers * best_choice.WRITTEN - clock.STEP
    assert used[1] > 4 * used[0]


def test_a_model_of_all_histograms_is_not_begun_without_the_time_for_it() -> None:
    """Two hundred kinds of moves that change a hundred counts each: a second, told beforehand."""
    policy = Policy(domain=Domain(age=Integers(0, 99)), known=(Count({"age": 7}),))
    values = tuple((age,) for age in range(0, 100, 4))
    moves = Moves(setting(policy), parse_query("cumulative(age)", policy), "published", values)
    with Budget() as budget:
        begun = budget.look()
        with pytest.raises(TimeoutError):
            histogram_sensitivity(moves, Known(), most=4, deadline=begun + 0.05)
        assert budget.look() - begun < 0.1


def test_clauses_that_a_solver_is_given_are_counted() -> None:
    model = BooleanModel()
    held = [model.var(f"x{k}") for k in range(100)]
    with Budget() as budget, to_pysat.SatSession(model) as session:
        for one in held:
            for other in held:
                model.add_clause([one, ~other])
        assert session.solve().status == "sat"
        assert budget.used > 10_000 * (to_pysat.CLAUSE + to_pysat.LITERAL)


def test_a_solver_of_programs_is_told_its_limit_in_its_own_units(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second of work is half of one that it counts: it leaves out what comes before."""
    limits = []
    usual = to_cpsat._limit

    def told(solver: object, left: float | None) -> float | None:
        work = usual(solver, left)
        limits.append((work, solver.parameters.max_deterministic_time))  # type: ignore[attr-defined]
        return work

    monkeypatch.setattr(to_cpsat, "_limit", told)
    model = LinearModel()
    model.maximise(model.int_var("x", lower=0, upper=3))
    with Budget():
        assert to_cpsat.solve(model, time_limit=6.0).lower == 3
    ((work, units),) = limits
    assert work is not None and 5.9 < work <= 6.0
    assert units == work / to_cpsat.SECONDS_PER_UNIT == work / 2
