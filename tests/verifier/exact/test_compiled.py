"""Compiling: what it must leave alone."""

import importlib.util
import sys
import threading
import types

import pytest

from blowproof.verifier.exact.available import AVAILABLE
from blowproof.verifier.exact.compiled import compiled

SOURCE = """
def steps(n):
    found = 0
    for k in range(n):
        found += k % 3
    return found
"""


@pytest.mark.skipif(not AVAILABLE, reason="numba is an extra")
def test_a_compiler_in_the_background_leaves_redirected_streams_alone(tmp_path, monkeypatch):
    """numba wraps sys.stdout and puts it back later: a redirection made in between was undone."""
    place = tmp_path / "never_compiled.py"
    place.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("never_compiled", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    replaced = []

    class Watched(types.ModuleType):
        def __setattr__(self, name, value):
            if name in ("stdout", "stderr"):
                replaced.append((threading.current_thread().name, name))
            super().__setattr__(name, value)

    answers = []
    work = threading.Thread(target=lambda: answers.append(compiled(module.steps)(10)), name="work")
    monkeypatch.setattr(sys, "__class__", Watched)
    work.start()
    work.join()
    assert answers == [9]
    assert replaced == []
