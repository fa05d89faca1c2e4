"""Kinds answer for themselves: nobody asks a query, a reading or secrets what kind they are.

What only one layer can know of a kind stands there in a table (`functools.singledispatch`, one
function a kind); all else is asked of the kind: `models/queries/query.py`, `models/secrets`
(`written`, `graph`), `models/policy/readings.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from blowproof.models.queries.kinds import FORMS
from blowproof.models.secrets.kinds import KINDS

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("models", "verifier", "mechanisms", "cli", "api")
ABOUT_KINDS = (
    "models/queries",  # themselves
    "models/secrets",
    "verifier/kernel",  # stands alone
    "verifier/claims",  # statements about a kind, by name
    "verifier/closed_forms",
    "verifier/engines/brute.py",  # the definitions of the readings
    "mechanisms/answers/true_answers.py",  # a matrix has rows and no outputs with names
    "verifier/engines/one_move/other_norms.py",  # sums, output by output
)
QUERIES = {kind.__name__ for kind in FORMS.values()}
SECRETS = {kind.__name__ for kind in KINDS.values()} | {"PartitionBy", "PartitionCells"}


def sources() -> Iterator[Path]:
    for layer in LAYERS:
        for path in sorted((ROOT / layer).rglob("*.py")):
            if not path.relative_to(ROOT).as_posix().startswith(ABOUT_KINDS):
                yield path


def names_in(node: ast.AST) -> set[str]:
    return {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}


def ladders(tree: ast.AST) -> Iterator[int]:
    """The lines that ask of what kind something is."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                if names_in(kinds) & (QUERIES | SECRETS):
                    yield node.lineno
            case ast.MatchClass(cls=ast.Name(id=name)) if name in QUERIES | SECRETS:
                yield node.lineno if hasattr(node, "lineno") else 0
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=n)]):
                if n in ("LABELLED", "MIXED") and isinstance(left, (ast.Name, ast.Attribute)):
                    yield node.lineno


def test_nobody_asks_a_kind_what_it_is():
    found = {
        path.relative_to(ROOT).as_posix(): lines
        for path in sources()
        if (lines := sorted(set(ladders(ast.parse(path.read_text(encoding="utf-8"))))))
    }
    assert found == {}, "let the kind answer, or register a function for it (see above)"


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(query, Histogram)",
        "isinstance(query, (Cumulative, int))",
        "isinstance(self.query, Ranges | None)",
        "reading in LABELLED",
        "question.reading not in LABELLED",
        "match secrets:\n    case Full():\n        pass",
    ],
)
def test_a_ladder_is_seen(code: str):
    assert list(ladders(ast.parse(code)))
