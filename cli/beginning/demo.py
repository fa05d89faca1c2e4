"""`blowproof demo`: the examples of the package in a folder, and the audit of the first one."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from blowproof.cli.asking.errors import Exit

__all__ = ["demo", "examples"]

FOLDER = "examples"
FIRST = "census.toml"


def examples() -> Path:
    """Return the folder of the examples that are installed with the package."""
    return Path(str(files("blowproof"))) / "examples"


@click.command(
    short_help="The examples, copied here, and the first audit of the tour.",
    epilog="Example: blowproof demo",
)
@click.argument("folder", type=click.Path(file_okay=False), metavar="[FOLDER]", default=FOLDER)
def demo(folder: str) -> int:
    """Copy the examples into FOLDER (by default: examples), and audit the first of them.

    What is there already stays as it is. All examples in the help of the other commands can then
    be typed as they stand.
    """
    from blowproof.cli.commands.audit import first_audit

    copied = _copy(examples(), Path(folder))
    policy = f"{folder.rstrip('/')}/{FIRST}"
    said = f"{copied} files copied to {folder}" if copied else f"the examples are in {folder}"
    click.echo(f"{said}\n\n$ blowproof audit {policy}", err=True)
    code = first_audit(policy, ("histogram",))
    click.echo(
        f"\nnext: blowproof compare {policy} {folder}/census_by_tenure.toml\n"
        f"or your own data: blowproof init people.csv",
        err=True,
    )
    return code if code == Exit.BAD_INPUT else Exit.OK


def _copy(source: Path, target: Path) -> int:
    """Copy what is not there yet; return how many files that was."""
    copied = 0
    for file in sorted(source.rglob("*")):
        place = target / file.relative_to(source)
        if file.is_dir() or file.suffix in (".py", ".pyc") or place.exists():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(file.read_bytes())
        copied += 1
    return copied
