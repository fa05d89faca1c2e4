"""A small question loads what it needs, and no compiler."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SMALL = """
[domain]
sex = ["F", "M"]
age = { min = 0, max = 9 }
[[known]]
count = { sex = "F" }
"""


ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("command", ["sensitivity", "audit"])
def test_a_small_question_loads_no_compiler_and_no_solver(tmp_path: Path, command: str) -> None:
    """The audit is the first that a newcomer sees: what nobody asks is not loaded for it."""
    policy = tmp_path / "small.toml"
    policy.write_text(SMALL)
    if command == "audit":
        policy = ROOT / "examples/census.toml"
    code = (
        "import sys\n"
        "from blowproof.cli.main import run\n"
        f"status = run([{command!r}, {str(policy)!r}])\n"
        "loaded = {'numba', 'scipy', 'ortools', 'pysat', 'duckdb', 'pandas'} & set(sys.modules)\n"
        "sys.exit(f'{status} {sorted(loaded)}' if status or loaded else 0)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
