"""Compiling: what it must leave alone."""

import importlib.util
import sys
import threading
import types
from pathlib import Path

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

OLDER = """
from typing import NamedTuple

class Older(NamedTuple):
    number: int

def twice(one):
    return 2 * one.number
"""


def module_from(folder: Path, name: str, text: str) -> types.ModuleType:
    place = folder / f"{name}.py"
    place.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(not AVAILABLE, reason="numba is an extra")
def test_what_an_older_version_kept_does_not_matter(tmp_path, monkeypatch):
    """Its classes may have other names by now; numba's index holds them."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # both versions are of one second
    before = module_from(tmp_path, "kept_by_an_older_version", OLDER)
    assert compiled(before.twice)(before.Older(4)) == 8
    text = OLDER.replace("Older", "Newer").replace("2 *", "3 *")
    after = module_from(tmp_path, "kept_by_an_older_version", text)
    assert compiled(after.twice)(after.Newer(4)) == 12


@pytest.mark.skipif(not AVAILABLE, reason="numba is an extra")
def test_a_compiler_in_the_background_leaves_redirected_streams_alone(tmp_path, monkeypatch):
    """numba wraps sys.stdout and puts it back later: a redirection made in between was undone."""
    module = module_from(tmp_path, "never_compiled", SOURCE)
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
