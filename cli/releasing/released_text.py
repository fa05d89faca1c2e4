"""A release as a screen: what was drawn, what it rests on, and the answers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from blowproof.mechanisms.release.form import Form
    from blowproof.mechanisms.release.release import Released

__all__ = ["release_parts"]

SHOWN = 20


def release_parts(released: Released, output: str | None) -> Iterator[RenderableType]:
    """Yield what was released, what it rests on, and the answers that no file holds."""
    from rich.text import Text

    from blowproof.models.policy.in_words import printable, short

    request = released.request
    what = request.bound.name if released.form is None else f"{released.form.thing}s"
    yield Text(f"{printable(what)}, released by {released.mechanism}", style="bold")
    scope = request.policy.with_answers(request.answers).scope
    yield Text(
        f"{request.promise.name} {short(request.promise.limit)} under policy "
        f"{printable(request.policy.name)}, "
        f"reading {request.reading}, answers {scope}"
    )
    yield from _noise_lines(released)
    for note in released.notes:
        yield Text(note)
    yield Text()
    if output is not None:
        form = released.form
        many = f"{len(released.answers):,} answers" if form is None else f"{len(form.rows):,} rows"
        yield Text(f"{many} written to {printable(output)}")
    elif released.form is not None:
        yield _form_table(released.form)
    else:
        yield from _table(released)


def _noise_lines(released: Released) -> Iterator[RenderableType]:
    from rich.text import Text

    from blowproof.cli.text.answer import bounds_text
    from blowproof.models.policy.in_words import printable, short

    if released.sensitivity is not None:
        found = released.sensitivity
        norm = "" if found.norm == "l1" else f" in {found.norm}"
        yield Text(f"{bounds_text(found)} for {printable(found.query)}{norm} ({found.status})")
    for item in released.description:
        what = item.query if isinstance(item.query, str) else _name(item.query)
        scales = sorted(set(item.widths))
        if not scales[-1]:
            yield Text(f"no noise on {printable(what)}: no secret changes it")
            continue
        low, high = _about(scales[0]), _about(scales[-1])
        scale = low if low == high else f"{low} to {high}"
        grid = "" if item.grid == 1 else f", in steps of {short(item.grid)}"
        yield Text(f"{item.noise} noise of {item.width} {scale}{grid} on {printable(what)}")


def _name(query: object) -> str:
    name = getattr(query, "name", None)
    if isinstance(name, str):
        return name
    return f"{type(query).__name__.lower()}({getattr(query, 'attribute', '')})"


def _about(scale: Fraction) -> str:
    from blowproof.models.policy.in_words import short

    return short(scale) if scale.denominator < 1000 else f"{float(scale):.4g}"


def _form_table(form: Form) -> RenderableType:
    """Return a row for each thing, each number with its interval of 95 %."""
    from rich.table import Table
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for name in (form.thing, *form.names):
        table.add_column(Text(printable(name)), overflow="fold")
    for at, row in enumerate(form.rows):
        cells = [f"{number:,.6g} ({low:,.6g} to {high:,.6g})" for number, _, low, high in row]
        table.add_row(str(at + 1), *cells)
    return table


def _end(end: float) -> str:
    """Return the end of an interval: as a person reads it, however large it is.

    >>> _end(139812.4), _end(-3.25), _end(float("nan"))
    ('139,812', '-3.25', 'nan')
    """
    return f"{end:,.0f}" if 1e5 <= abs(end) < 1e15 else f"{end:,.5g}"


def _table(released: Released) -> Iterator[RenderableType]:
    from itertools import islice, repeat

    from rich.table import Table
    from rich.text import Text

    from blowproof.mechanisms.release.publish import answer_column
    from blowproof.models.policy.in_words import printable, short

    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    for name in released.answers.names.columns:
        table.add_column(Text(printable(name)), overflow="fold")
    table.add_column(answer_column(released), justify="right")
    if released.ends is not None:
        table.add_column("95 %")
    ends = repeat(()) if released.ends is None else zip(*released.ends, strict=True)
    rows = zip(released.answers.names.rows(), released.answers, ends, strict=False)
    for names, value, between in islice(rows, SHOWN):
        number = f"{value:,.2f}" if isinstance(value, float) else short(value)
        texts = [name if isinstance(name, str) else short(name) for name in names]
        interval = [" to ".join(map(_end, between))] if between else []
        table.add_row(*(Text(printable(text)) for text in texts), number, *interval)
    yield table
    more = len(released.answers) - SHOWN
    if more > 0:
        yield Text(f"... and {more:,} more: --output FILE or --json holds them all")
