"""Processes that a script of the user begins."""

import subprocess
import sys

import pytest

WORK = """
    context = begun_by("{method}")
    worker = context.Process(target=print, args=("worked",))
    worker.start()
    worker.join()
"""
SCRIPT = """import sys
from blowproof.models.base.processes import begun_by
print("read", flush=True)
{guard}:{work}
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
@pytest.mark.parametrize(
    ("guard", "printed"),
    [
        ("if True", ["read", "worked"]),
        ('if __name__ == "__main__"', ["read", "read", "worked"]),
    ],
)
def test_a_script_is_run_again_only_if_it_looks_at_its_name(tmp_path, method, guard, printed):
    """Without the guard, Python would run all of it in each process, and end in an error."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(guard=guard, work=WORK.format(method=method)), "utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.split(), done.stderr) == (printed, "")
