"""`blowproof claims [ID...]`: the published statements, checked again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import json_option, memory_option, seconds

if TYPE_CHECKING:
    from blowproof.verifier.claims.session import Checked, Step
    from blowproof.verifier.claims.state import State
    from blowproof.verifier.claims.stating.claim import Claim, Level

__all__ = ["claims"]


@click.command(
    short_help="Regression-checks the published statements.",
    epilog="Example: blowproof claims blowfish-2014/theorem-8.5",
)
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--full", is_flag=True, help="Every instance of every family (a quarter of an hour).")
@click.option("--time-limit", type=seconds, default=None, metavar="SECONDS",
              help="Stop the run; the same command goes on from there.")  # fmt: skip
@memory_option
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N",
              help="How many processes.  [default: each core with --full, else 1]")  # fmt: skip
@click.option("--state", type=click.Path(dir_okay=False, path_type=Path), default=None,
              metavar="FILE", help="Where an interrupted run is kept.")  # fmt: skip
@click.option("--fresh", is_flag=True, help="Do not go on with an interrupted run.")
@click.option("--write", type=click.Path(file_okay=False, exists=True, path_type=Path),
              default=None, metavar="FOLDER",
              help="Maintainers: record the verdicts in this source tree.")  # fmt: skip
@click.option("--html", type=click.Path(file_okay=False, path_type=Path), default=None,
              metavar="FOLDER", help="Write the record as pages; nothing is run.")  # fmt: skip
@click.option("--retell", type=click.Path(file_okay=False, exists=True, path_type=Path),
              default=None, metavar="FOLDER",
              help="Maintainers: renew the texts of the record there; nothing is run.")  # fmt: skip
@json_option
def claims(  # noqa: PLR0913 # click's options
    ids: tuple[str, ...],
    *,
    full: bool,
    time_limit: float | None,
    jobs: int | None,
    state: Path | None,
    fresh: bool,
    write: Path | None,
    html: Path | None,
    retell: Path | None,
    as_json: bool,
) -> int:
    """Check the statements of the papers again, and compare with the recorded verdicts.

    ID names a claim, or is the beginning of several: blowfish-2014/theorem-8.5, blowfish-2014/.
    None: all of them. The quick check takes a minute or two; an interrupted one goes on when it is
    run again.

    Exit code 0: as recorded; 1: a verdict changed; 2: bad input; 3: stopped, or some instance
    could not be decided.
    """
    from blowproof.cli.sweeping.pool import cores
    from blowproof.verifier.claims.ledger import select
    from blowproof.verifier.claims.state import State, default_state
    from blowproof.verifier.claims.written import retold

    if retell is not None:
        _keep(retell, retold)
        return Exit.OK
    if html is not None:
        return _pages(html)
    if write is not None and not full:
        raise click.UsageError("verdicts are recorded from the full check: add --full")
    level: Level = "full" if full else "quick"
    chosen = select(ids)
    kept = State(state or default_state(level), level)
    if fresh:
        kept.forget(chosen)
        kept = State(kept.path, level)
    jobs = jobs or (cores() if full else 1)
    found, stopped = _run(chosen, level, kept, time_limit, jobs=jobs, minimise=write is not None)
    if not stopped:
        kept.forget(chosen)
        if write is not None:
            _write(found, write)
    _show(found, chosen, level, stopped, as_json=as_json)
    if any(item.changes for item in found) and write is None:
        return Exit.NO
    undecided = stopped or any(item.finding.undecided for item in found)
    return Exit.UNDECIDED if undecided else Exit.OK


def _run(
    chosen: Sequence[Claim],
    level: Level,
    kept: State,
    time_limit: float | None,
    *,
    jobs: int,
    minimise: bool,
) -> tuple[list[Checked], str]:
    """Return the claims that came to their end, in order, and why the run stopped ("": no)."""
    from blowproof.cli.asking import memory
    from blowproof.cli.asking.stoppable import Stopped, watch
    from blowproof.cli.sweeping.work import ready
    from blowproof.verifier.claims.cores import Workers, run_on_cores
    from blowproof.verifier.claims.session import Checked, Step, run_claims

    deadline = None if time_limit is None else time.monotonic() + time_limit
    found: list[Checked] = []
    order = {claim.id: place for place, claim in enumerate(chosen)}

    def work(post: Callable[[object], None]) -> None:
        most = memory.limit()
        share = None if most is None else most // jobs
        runs = partial(run_claims, chosen, level)
        if jobs > 1:
            runs = partial(run_on_cores, chosen, level, Workers(jobs, ready, (share,)))
        for item in runs(state=kept, deadline=deadline, tell=post, minimise=minimise):
            post(item)

    with _bar() as show:

        def heard(what: object) -> None:
            if isinstance(what, Checked):
                if not found or found[-1] is not what:  # else handed over again, after a signal
                    found.append(what)
            elif isinstance(what, Step):
                show(what)

        try:
            patience = None if time_limit is None else time_limit + 5
            watch(work, time_limit=patience, on_post=heard)
        except Stopped as stop:
            return found, stop.reason
    found.sort(key=lambda item: order[item.finding.claim.id])
    return found, "" if len(found) == len(chosen) else "stopped at the time limit"


@contextmanager
def _bar() -> Iterator[Callable[[Step], None]]:
    """Show a progress bar on stderr, if that is a terminal."""
    import sys

    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("")

        def show(step: Step) -> None:
            name = f"{step.claim.id}, {step.part.name}: {step.instances} (Ctrl-C stops)"
            progress.update(task, total=step.parts, completed=step.done, description=name)

        yield show


def _write(found: Sequence[Checked], folder: Path) -> None:
    """Renew what is recorded in a source tree, and the page made of it."""
    from blowproof.verifier.claims.record import document
    from blowproof.verifier.claims.written import merged

    _keep(folder, lambda target: merged(target, [document(item.finding) for item in found]))


def _pages(folder: Path) -> int:
    """Write the record's pages into a folder, and say where."""
    from importlib.metadata import version
    from importlib.resources import files

    from blowproof.cli.report.ledger_pages import pages

    text = files("blowproof.verifier.claims").joinpath("verdicts.json").read_text("utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in pages(text, version("blowproof")).items():
        (folder / name).write_text(page, encoding="utf-8")
    click.echo(f"written: {folder / 'index.html'}")
    return Exit.OK


def _keep(folder: Path, renewed: Callable[[Path], str]) -> None:
    from blowproof.verifier.claims.page import page

    target = folder / "verifier" / "claims" / "verdicts.json"
    if not target.parent.is_dir():
        raise click.UsageError(f"{folder} is no source tree of blowproof: no verifier/claims there")
    whole = renewed(target)
    target.write_text(whole, encoding="utf-8")
    (folder / "CLAIMS.md").write_text(page(whole), encoding="utf-8")


def _show(
    found: Sequence[Checked], chosen: Sequence[Claim], level: Level, stopped: str, *, as_json: bool
) -> None:
    from blowproof.cli.text.claims_screen import screen
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.verifier.claims.record import SCHEMA, document

    with quietly():
        if as_json:
            listed = [{**document(item.finding), "changes": list(item.changes)} for item in found]
            write_json(
                {"schema": SCHEMA, "level": level, "complete": not stopped, "claims": listed}
            )
        else:
            print_all(screen(found, len(chosen), stopped))
