"""The core install has no numba: slower ways stand in for it, and what stays open says so."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
WITHOUT = """
import importlib.util, sys
before = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "numba" else before(name, *rest)
sys.modules["numba"] = None
from blowproof.cli.main import main
main()
"""


@pytest.mark.parametrize(("example", "said"), [("hospital", "S = 16"), ("staff", "S = 8")])
def test_examples_are_answered_without_numba(example, said):
    done = _run("sensitivity", f"examples/{example}.toml")
    assert done.stdout.startswith(said) and done.stderr == ""


def test_what_stays_open_for_want_of_numba_says_so(tmp_path):
    names = ("a", "b", "c")
    domain = "\n".join(f"{name} = {list('vwxyz')}" for name in names)
    known = "\n".join(f'[[known]]\nmarginal = ["{name}"]' for name in names)
    policy = tmp_path / "wide.toml"
    policy.write_text(f"[domain]\n{domain}\n{known}\n", "utf-8")
    done = _run("sensitivity", str(policy), "--time-limit", "2")
    assert done.returncode == 3 and done.stderr == ""
    assert "<= S" in done.stdout and "blowproof[fast]" in done.stdout


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
