"""What the README shows is what one gets: every command of its console blocks, copied and pasted.

After a wanted change of the output, `python tests/test_readme.py` writes the README's blocks anew.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SECONDS = re.compile(r"(?:engine [a-z ]+, )?\b\d+\.\d+ s\b")  # engines take turns: who ends first?
SETUP = ("make ",)  # run by hand and by .ci/run, not by itself


def steps(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with the output that follows it."""
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def blocks() -> list[list[tuple[str, str]]]:
    """The blocks that are run, as steps."""
    found = [steps(match[1]) for match in BLOCK.finditer(README.read_text(encoding="utf-8"))]
    return [block for block in found if not block[0][0].startswith(SETUP)]


def outputs(commands: list[str]) -> list[str]:
    """What the commands print (stderr too), one after the other, in one shell."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}
    mark = "----- next -----"
    script = "\n".join(f"{command}\ncode=$?; echo '{mark}'; (exit $code)" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return done.stdout.split(f"{mark}\n")[:-1]


@pytest.mark.parametrize("block", blocks(), ids=lambda block: block[0][0][:40])
def test_commands_print_what_the_readme_shows(block):
    found = outputs([command for command, _ in block])
    for (command, expected), text in zip(block, found, strict=True):
        assert SECONDS.sub("_ s", text) == SECONDS.sub("_ s", expected), command


def test_there_is_a_tour_and_its_lines_are_short():
    assert len(blocks()) >= 5
    lines = README.read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 115


def rewritten(match: re.Match[str]) -> str:
    """A block with the output that its commands give now."""
    block = steps(match[1])
    if block[0][0].startswith(SETUP):
        return match[0]
    commands = [command for command, _ in block]
    shown = zip(commands, outputs(commands), strict=True)
    return "```console\n" + "".join(f"$ {command}\n{text}" for command, text in shown) + "```"


if __name__ == "__main__":
    README.write_text(BLOCK.sub(rewritten, README.read_text(encoding="utf-8")), encoding="utf-8")
