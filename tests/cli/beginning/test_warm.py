"""What is compiled beforehand is what questions call."""

from __future__ import annotations

import pytest

from blowproof.cli.beginning import warm
from blowproof.verifier.engines.graver import compiled
from blowproof.verifier.engines.irreducibles.arrays import advance
from blowproof.verifier.exact.available import AVAILABLE


@pytest.mark.skipif(not AVAILABLE, reason="numba is not installed")
def test_searches_are_compiled_beforehand() -> None:
    assert warm.warm()
    for function in (compiled.sign_sets, compiled.opposite_pairs, advance.advance):
        assert getattr(function, "signatures")  # noqa: B009 # numba gives it, and no stub says so


def test_without_numba_there_is_nothing_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "AVAILABLE", False)
    monkeypatch.setattr(warm, "sensitivity", None)
    assert not warm.warm()
