"""What is derived from a policy is derived once, whoever asks: counted on two commands."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from blowproof.cli.main import run
from blowproof.models import Setting
from blowproof.verifier.databases import value_classes

HOSPITAL = str(Path(__file__).resolve().parents[3] / "examples" / "hospital.toml")
TWO_QUERIES = ("--query", "marginal(ward)", "--query", "cumulative(age)")


@pytest.mark.parametrize(
    ("command", "queries"),
    [("sensitivity", ()), ("audit", ()), ("audit", TWO_QUERIES)],
    ids=["sensitivity", "audit", "audit of two queries"],
)
def test_no_class_table_is_derived_twice(command, queries, monkeypatch, capsys):
    derived: Counter[str] = Counter()
    derive = value_classes._class_table

    def counted(setting: Setting, *others):
        derived[repr((setting.equalities, setting.bounds, setting.impossible, others[0]))] += 1
        return derive(setting, *others)

    monkeypatch.setattr(value_classes, "_class_table", counted)
    run([command, HOSPITAL, *queries])
    capsys.readouterr()
    assert derived
    assert max(derived.values()) == 1
