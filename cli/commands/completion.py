"""`blowproof completion SHELL`: the script that makes a shell complete commands and options."""

from __future__ import annotations

import click

from blowproof.cli.asking.errors import Exit

__all__ = ["SHELLS", "completion"]

SHELLS = ("bash", "zsh", "fish")


@click.command(
    short_help="The script for completion in bash, zsh or fish.",
    epilog="Example: blowproof completion bash >> ~/.bashrc",
)
@click.argument("shell", type=click.Choice(SHELLS), metavar="[bash|zsh|fish]")
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """The script that makes a shell complete commands, options and their values.

    bash and zsh: append it to ~/.bashrc or ~/.zshrc, or eval "$(blowproof completion bash)" there.
    fish: write it to ~/.config/fish/completions/blowproof.fish.
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    from blowproof.cli.text.output import quietly, write

    kinds = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    script = kinds[shell](context.find_root().command, {}, "blowproof", "_BLOWPROOF_COMPLETE")
    # Not `script.source()`: for bash that would run bash, to look at its version.
    with quietly():
        write(script.source_template % script.source_vars())
    return Exit.OK
