"""`blowproof sweep GRID`: many questions, on all cores, kept as they are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import NORMS, json_option, memory_option, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from blowproof.cli.sweeping.run import Judged, Swept

__all__ = ["sweep"]


@click.command(
    short_help="Many policies and queries at once.",
    epilog="Example: blowproof sweep examples/sweep/grid.toml --html sweep.html",
)
@click.argument("grid", type=click.Path(), metavar="GRID")
@click.option("--output", type=click.Path(dir_okay=False), metavar="FILE",
              help="Where the rows go (Parquet).  [default: GRID with .parquet]")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N",
              help="How many processes.  [default: one for each core]")  # fmt: skip
@click.option("--scheduler", metavar="ADDRESS", help="A Dask cluster in place of processes here.")
@click.option("--norm", "norms", type=click.Choice(NORMS), multiple=True,
              help="In place of the grid's norms; may be repeated.")  # fmt: skip
@click.option("--time-limit", type=seconds, metavar="SECONDS",
              help="For each question, in place of the grid's.")  # fmt: skip
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write a page: what is published against the noise that it costs.")  # fmt: skip
@memory_option
@json_option
def sweep(  # noqa: PLR0913, PLR0917 # its options
    grid: str,
    output: str | None,
    jobs: int | None,
    scheduler: str | None,
    norms: tuple[str, ...],
    time_limit: float | None,
    html: str | None,
    as_json: bool,
) -> int:
    """Many questions: policies x queries x readings x norms, as a grid file names them.

    Rows are kept as they come, each under a digest of all that it depends on: a sweep that was
    stopped, or is asked again with more in its grid, repeats nothing.

    Exit code 0: all exact; 1: a claim of the grid fails; 2: bad input; 3: some are open.
    """
    from dataclasses import replace
    from importlib.metadata import version
    from pathlib import Path

    from blowproof.cli.asking import memory
    from blowproof.cli.sweeping.grid import read_grid
    from blowproof.cli.sweeping.page import sweep_page
    from blowproof.cli.sweeping.run import judged, sweep_through
    from blowproof.cli.sweeping.shown import live, sweep_parts
    from blowproof.cli.text.files import keep_apart, save
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.models.base.door import is_standard_input

    named = "sweep.toml" if is_standard_input(grid) else grid
    target = str(Path(named).with_suffix(".parquet")) if output is None else output
    keep_apart({"--output": target, "--html": html}, [grid])
    read = read_grid(grid)
    if time_limit is not None:
        read = replace(read, time_limit=time_limit)
    if norms:
        read = replace(read, norms=tuple(dict.fromkeys(norms)))
    keep_apart({"--output": target, "--html": html}, [source.file for source in read.sources])
    with live(read.name) as tell:
        swept = sweep_through(
            read,
            target,
            version=version("blowproof"),
            jobs=jobs,
            memory=memory.limit(),
            scheduler=scheduler,
            tell=tell,
        )
    claims = judged(swept)
    if html is not None:
        save(html, sweep_page(swept, claims, version("blowproof")))
    with quietly():
        if as_json:
            write_json(_document(swept, claims, target))
        else:
            print_all(sweep_parts(swept, claims, target))
    if any(claim.holds is False for claim in claims):
        return Exit.NO
    return Exit.OK if swept.complete else Exit.UNDECIDED


def _document(swept: Swept, claims: Sequence[Judged], output: str) -> dict[str, Any]:
    return {
        "schema": "blowproof/sweep/1",
        "name": swept.grid.name,
        "questions": swept.size,
        "answered": len(swept.rows),
        "known_before": swept.taken_over,
        "complete": swept.complete,
        "stopped": swept.stopped or None,
        "output": output,
        "rows": swept.rows,
        "claims": [
            {
                "words": found.claim.words(),
                "holds": found.holds,
                "answers": found.about,
                "against": None if found.against is None else found.against["key"],
            }
            for found in claims
        ],
    }
