"""The command `blowproof`: the group of its commands, and the entry point.

Start-up is part of the manners: nothing here imports `blowproof.models`, solvers or rich. Each
command does so when it runs.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import click

from blowproof.cli.asking.completing import complete_values
from blowproof.cli.asking.errors import Exit, is_debug, report
from blowproof.cli.asking.memory import hold_firmly
from blowproof.cli.asking.stoppable import ask_to_end, ignore_late_halts, still_busy
from blowproof.cli.beginning.demo import demo
from blowproof.cli.beginning.init import init
from blowproof.cli.commands.audit import audit
from blowproof.cli.commands.claims import claims
from blowproof.cli.commands.closed_forms import closed_forms
from blowproof.cli.commands.compare import compare
from blowproof.cli.commands.completion import completion
from blowproof.cli.commands.encode import encode
from blowproof.cli.commands.explain import explain
from blowproof.cli.commands.neighbours import neighbours
from blowproof.cli.commands.schema import schema
from blowproof.cli.commands.sensitivity import sensitivity
from blowproof.cli.commands.sparse import sparse
from blowproof.cli.commands.sweep import sweep
from blowproof.cli.releasing.certify import certify
from blowproof.cli.releasing.check import check
from blowproof.cli.releasing.estimate import estimate
from blowproof.cli.releasing.ledger import ledger
from blowproof.cli.releasing.odds import odds
from blowproof.cli.releasing.plan import plan
from blowproof.cli.releasing.release import release
from blowproof.cli.serving.serve import serve
from blowproof.cli.text.output import Closed

__all__ = ["cli", "main", "run"]


SAME_WISH = 2.0
"""Seconds within which several signals to end are one."""

SECTIONS = {
    "First steps": (
        "audit",
        "demo",
        "init",
        "serve",
        "sensitivity",
        "neighbours",
        "compare",
        "sweep",
    ),
    "Private releases": ("plan", "certify", "odds", "release", "estimate", "ledger", "check"),
    "Theory": ("explain", "sparse", "closed-forms", "claims", "encode"),
    "Set-up": ("schema", "completion"),
}
"""The commands in the order in which a newcomer needs them."""


class Commands(click.Group):
    """A group that lists its commands in reading order and suggests the nearest name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands section by section; one that has no section comes last."""
        order = [name for names in SECTIONS.values() for name in names]
        last = len(order)
        return sorted(self.commands, key=lambda name: order.index(name) if name in order else last)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their short help, under the headings of their sections."""
        shown = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        placed = {name for names in SECTIONS.values() for name in names}
        others = tuple(name for name in shown if name not in placed)
        width = max(map(len, shown), default=0)
        for title, names in {**SECTIONS, "More": others}.items():
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(limit=70))
                for name in names
                if name in shown
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or refuse the name with the nearest one."""
        name = args[0]
        if not name.startswith("-") and name not in self.commands:
            close = get_close_matches(name, self.commands, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"one of {', '.join(self.commands)}"
            raise click.UsageError(f"there is no command {name!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"blowproof {version('blowproof')}")
        ctx.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog="Start with: blowproof demo",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version,
              help="Show the version and exit.")  # fmt: skip
@click.option("--debug", is_flag=True, help="Show tracebacks (or set BLOWPROOF_DEBUG=1).")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """How much can one secret change a released number?

    blowproof reads a policy (what is secret, what is publicly known) and computes exactly how far a
    query can differ between two databases that the policy calls neighbours: the number that decides
    how much noise a private answer needs.
    """
    ctx.obj = debug


for command in (
    serve,
    *(audit, demo, init, sensitivity, neighbours, sparse, closed_forms, compare, encode, explain),
    *(sweep, claims, certify, odds, check, plan, release, estimate, ledger, schema),
    completion,
):
    complete_values(command)
    cli.add_command(command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (None: the process's own); return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    options: dict[str, Any] = {"prog_name": "blowproof", "standalone_mode": False}
    try:
        code = cli.main(args=words, **options)
        return int(code) if isinstance(code, int) else Exit.OK
    except Closed:
        return Exit.OK
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (Exception, KeyboardInterrupt) as error:
        return report(error, debug=is_debug() or "--debug" in words)


def _open_streams() -> None:
    """Where a stream was closed by the caller (`2>&-`), what is written to it goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))


def _end_as_ctrl_c_does() -> None:
    """Let the signals that ask a process to end do what Ctrl-C does, unless they are ignored.

    `timeout` sends its signal to the process and then to its group: what comes in the same moment
    is the same wish, and must not interrupt the bounds that are being printed.
    """
    last = -math.inf

    def ask(number: int, _: object) -> None:
        nonlocal last
        before, last = last, time.monotonic()
        if last - before > SAME_WISH:
            ask_to_end(signal.Signals(number).name)

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, ask)


def _forget_files() -> None:
    """Remove temporary folders that threads still hold which nobody waits for."""
    tables = sys.modules.get("blowproof.models.data.tabular")
    if tables is not None:
        tables.forget_all()


def one_thread() -> None:
    """Let arrays be worked on by one thread, unless the caller says otherwise.

    Matrices here are small: several threads wait for each other, and a plan takes twice the
    processor time on a busy machine. It counts as long as numpy is not loaded.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    """Run the command line of this process, and exit."""
    one_thread()
    _open_streams()
    _end_as_ctrl_c_does()
    ignore_late_halts()
    hold_firmly()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    code = run()
    if still_busy():
        # Python's shutdown would wait for a solver that is busy, or crash when it calls back.
        _forget_files()
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
