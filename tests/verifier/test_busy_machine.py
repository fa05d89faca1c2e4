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
    setting,
)
from blowproof.models.base import clock
from blowproof.models.base.clock import Budget, Worker
from blowproof.verifier.ask import sensitivity
from blowproof.verifier.databases.value_classes import class_table
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

    def late(worker: Worker) -> float:
        if rng.random() < 0.01:
            time.sleep(rng.random() / 100)
        return look(worker)

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
