"""Completion scripts, and the order in which the help lists the commands."""

import subprocess
import sys
from pathlib import Path

import pytest

from blowproof.cli.commands.completion import SHELLS
from blowproof.cli.main import SECTIONS, cli, run


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_for_each_shell(capsys, shell):
    assert run(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert "_BLOWPROOF_COMPLETE" in out and f"{shell}_complete" in out


def test_an_unknown_shell_is_refused(capsys):
    assert run(["completion", "csh"]) == 2
    assert "bash" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("blowproof sens", "sensitivity"),
        ("blowproof audit --form", "--format"),
        ("blowproof audit --format s", "sarif"),
    ],
)
def test_bash_completes(words, found):
    environment = {
        "_BLOWPROOF_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
        "PATH": "/usr/bin:/bin",
    }
    command = [str(Path(sys.executable).parent / "blowproof")]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert f"plain,{found}" in done.stdout.splitlines()


def test_every_command_stands_in_one_section_and_the_first_is_audit(capsys):
    placed = [name for names in SECTIONS.values() for name in names]
    assert set(cli.commands) <= set(placed) and len(set(placed)) == len(placed)
    assert run(["--help"]) == 0
    out = capsys.readouterr().out
    places = [out.index(f"\n  {name} ") for name in placed if name in cli.commands]
    assert places == sorted(places) and placed[0] == "audit"
    assert all(f"\n{title}:\n" in out for title in SECTIONS)
