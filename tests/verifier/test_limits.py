"""Every limit stands in one table: verifier/limits/table.py."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.verifier.limits.limit import LIMITS, real_limit, whole_limit

VERIFIER = Path(__file__).resolve().parent.parent.parent / "verifier"
OUTSIDE = ("claims/", "kernel/", "limits/")
"""Claims are instances with their numbers; the kernel imports nothing, its limits are its own."""

NO_LIMITS = {
    # numbers that arrays are marked with
    "engines/irreducibles/arrays/state": (
        *("DONE", "PAUSED", "FOUND", "CROWDED", "DEPTH", "NODES", "BEST", "FILLED", "LARGEST"),
        *("TABLES", "EAGER", "FULL", "SHORT", "EMPTY", "MIXER", "PENALTY", "MARKED", "EXCLUDED"),
    ),
    "engines/irreducibles/search_python": ("PENALTY",),
    # a step whose exponential is known
    "certify/selections/best_score": ("FAR", "FINE"),
    # how much work a step counts as
    "engines/brute": ("FACT", "SHORTEST"),
    # primes
    "engines/graver/symmetry": ("PRIME",),
    "exact/span": ("PRIME",),
    "neighbours/zero_parts": ("PRIME",),
    # stand for "more than anything", "nothing" or "everywhere"
    "engines/irreducibles/choice": ("NO_END",),
    "engines/irreducibles/trace": ("NOTHING",),
    "witnesses/merged_multisets": ("UNKNOWN",),
    "proofs/cases/cuts": ("BEYOND", "MANY"),
    "proofs/cases/state": ("ENOUGH",),
    "proofs/irreducible": ("NOTHING_EXCEEDS", "EVERYWHERE"),
    "proofs/write": ("ENOUGH",),
    "certify/measures/orders": ("_FAR",),
    "certify/measures/told_apart": ("_FAR",),
    # what fits 64-bit integers, or doubles
    "engines/one_move/by_offsets": ("ROOM",),
    "engines/one_move/profile": ("SAFE",),
    "engines/one_move/row_table": ("SAFE",),
    # tolerances of floating point
    "certify/printed/empirical": ("FALSE_ALARMS",),
    "export/averaging": ("NOTHING_LEFT",),
    "proofs/cases/program": ("NEAR", "CASE", "RECORD", "BYSTANDER"),
    "theorems/empty_classes": ("NOTHING",),
}
"""Numbers that limit nothing."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(VERIFIER.rglob("*.py")):
        name = path.relative_to(VERIFIER).with_suffix("").as_posix()
        if not name.startswith(OUTSIDE):
            yield name, ast.parse(path.read_text("utf-8"))


def assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """What a module sets at its top, name by name."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name):
                yield target.id, value
            elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                for name, part in zip(target.elts, value.elts, strict=True):
                    if isinstance(name, ast.Name):
                        yield name.id, part


def is_number(value: ast.expr) -> bool:
    """Whether an expression is made of numbers alone."""
    leaves = [node for node in ast.walk(value) if isinstance(node, ast.expr)]
    return all(
        isinstance(node, (ast.BinOp, ast.UnaryOp))
        or (isinstance(node, ast.Constant) and type(node.value) in (int, float))
        for node in leaves
    )


def numbers(tree: ast.Module) -> set[str]:
    return {name for name, value in assigned(tree) if name.isupper() and is_number(value)}


def taken(tree: ast.Module) -> set[str]:
    """The limits that a module takes from the table, under their own names."""
    found = set()
    for name, value in assigned(tree):
        if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name):
            continue
        if value.func.id in ("whole_limit", "real_limit"):
            last = value.args[-1]
            assert isinstance(last, ast.Constant) and last.value == name
            found.add(name)
    return found


def test_numbers_are_seen() -> None:
    tree = ast.parse("MOST = 1 << 20\nA, B = 2, -0.5\nNAMES = ('a',)\nTWICE = 2 * MOST\nsmall = 3")
    assert numbers(tree) == {"MOST", "A", "B"}


def test_no_limit_stands_outside_of_the_table() -> None:
    found = {name: numbers(tree) - set(NO_LIMITS.get(name, ())) for name, tree in modules()}
    stray = {name: sorted(names) for name, names in found.items() if names}
    assert not stray, "give each a row in verifier/limits/table.py"


def test_every_line_of_the_table_is_taken_by_its_module() -> None:
    table = {(row.module, row.name) for row in LIMITS}
    used = {(name, limit) for name, tree in modules() for limit in taken(tree)}
    assert table == used and len(table) > 300


def test_what_is_called_no_limit_is_there() -> None:
    found = {name: numbers(tree) for name, tree in modules()}
    assert {name: set(names) - found[name] for name, names in NO_LIMITS.items()} == {
        name: set() for name in NO_LIMITS
    }


def test_a_line_says_what_it_limits() -> None:
    for row in LIMITS:
        assert row.default > 0 and row.unit and row.does.endswith("."), row
        assert len(row.does.split()) >= 2, row
        assert row.unit != "seconds" or isinstance(row.default, float), row


def test_nothing_is_there_twice() -> None:
    assert max(Counter((row.module, row.name) for row in LIMITS).values()) == 1


def test_modules_have_the_numbers_of_the_table() -> None:
    plan = import_module("blowproof.verifier.plan")
    assert plan.VERY_FEW == whole_limit("blowproof.verifier.plan", "VERY_FEW") == 300
    assert real_limit("blowproof.verifier.plan", "FIRST_TURN") == plan.FIRST_TURN


def test_explain_prints_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "--limits"]) == 0
    shown = capsys.readouterr().out
    assert "VERY_FEW" in shown and "plan" in shown
    assert shown.count("\n") > len(LIMITS)
