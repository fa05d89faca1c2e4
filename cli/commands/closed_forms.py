"""`blowproof closed-forms POLICY`: every closed form beside the exact value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Options,
    json_option,
    memory_option,
    policy_argument,
    seconds,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.cli.asking.ask import Session
    from blowproof.models import BoundQuery, Policy
    from blowproof.verifier.closed_forms import FormResult

__all__ = ["closed_forms"]

TIME_LIMIT = 60
READINGS = 3  # forms speak about so many


@click.command(
    "closed-forms",
    short_help="The papers' formulas, printed and repaired, beside the exact value.",
    epilog="Example: blowproof closed-forms examples/census.toml",
)
@policy_argument()
@click.option("--query", default="histogram", show_default=True, help="Which numbers are released.")
@click.option("--time-limit", type=seconds, default=TIME_LIMIT, show_default=True,
              metavar="SECONDS", help="End after this long, with the bounds reached.")  # fmt: skip
@memory_option
@json_option
def closed_forms(policy: str, query: str, time_limit: float, as_json: bool) -> int:
    """Every closed form for S, printed and repaired: does it apply, and is it right here?

    Each is compared with the exact value in its own reading, for any answers. Printed forms that
    are known to be wrong are shown, and not held against it.

    Exit code 0: all agree; 1: one that applies does not; 2: bad input; 3: undecided in time.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.text.output import print_all, quietly, write_json

    asked = Options("published", None, "auto", time_limit, None)
    session = Session(asked, total=time_limit)
    read, (bound,) = session.open(policy, [query])
    results = _results(read, bound, session)
    with quietly():
        if as_json:
            write_json(_document(read, bound, results))
        else:
            print_all(_parts(read, bound, results))
    return _code(results)


def _results(policy: Policy, query: BoundQuery, session: Session) -> list[FormResult]:
    """Ask the engines through a session: with progress, and stoppable by Ctrl-C."""
    from blowproof.verifier import closed_forms as forms

    readings = list(range(READINGS, 0, -1))

    def exactly(asked: Policy, query: BoundQuery, reading: str) -> tuple[Any, Any]:
        share = session.share(readings.pop(0) if readings else 1)
        answer = session.ask(asked, query, reading, limit=share)
        return answer.lower, answer.upper

    limit = session.share(4)
    return forms.closed_forms(policy, query, time_limit=limit, exactly=exactly)


def _code(results: Sequence[FormResult]) -> Exit:
    judged = [item.agrees for item in results if item.applies and not item.recorded_wrong]
    if False in judged:
        return Exit.NO
    return Exit.UNDECIDED if None in judged else Exit.OK


def _document(policy: Policy, query: BoundQuery, results: Sequence[FormResult]) -> dict[str, Any]:
    return {
        "schema": "blowproof/closed-forms/1",
        "policy": policy.name,
        "query": query.name,
        "forms": [item.to_json() for item in results],
    }


# --- for people ----------------------------------------------------------------------------------


def _parts(
    policy: Policy, query: BoundQuery, results: Sequence[FormResult]
) -> Iterator[RenderableType]:
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    applying = [item for item in results if item.applies]
    yield Text(f"{printable(policy.name)}: {printable(query.name)}, for any answers", style="bold")
    if applying:
        yield Text()
        for item in applying:
            yield from _form(item)
    others = {item.form.id: item for item in results if not item.applies}
    yield Text(f"\n{len(applying)} apply. {len(others)} forms do not:")
    yield from _reasons(list(others.values()))


def _form(item: FormResult) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    from blowproof.models import show

    assert item.value is not None
    value = f"S {item.form.relation} {show(item.value)}"
    yield Text.assemble((item.form.id, "bold"), f"  ({item.form.status}, {item.reading})")
    said = Text.assemble(f"{value}; exactly: {_exact(item)}. ", _verdict(item))
    yield Padding(said, (0, 0, 0, 2), expand=False)
    yield Padding(Text(item.form.statement, style="dim"), (0, 0, 0, 2), expand=False)


def _exact(item: FormResult) -> str:
    from blowproof.models import show

    if item.lower is None or item.lower == item.upper:
        return "unknown" if item.lower is None else f"S = {show(item.lower)}"
    end = "" if item.upper is None else f" <= {show(item.upper)}"
    return f"{show(item.lower)} <= S{end}"


def _verdict(item: FormResult) -> tuple[str, str]:
    known = ", as is known of it" if item.recorded_wrong else ""
    if item.agrees is None:
        return "Undecided in time.", "yellow"
    if item.agrees and known:
        return "Right here, but not in general.", "green"
    if item.agrees:
        return ("They agree." if item.form.relation == "=" else "The bound holds."), "green"
    assert item.value is not None
    assert item.lower is not None
    small = item.lower > item.value and item.form.relation != ">="
    return f"Wrong{known}: {'too small, not private' if small else 'too large'}.", "red"


def _reasons(others: Sequence[FormResult]) -> Iterator[RenderableType]:
    """Yield each reason once, with the forms that it keeps from applying."""
    from rich.padding import Padding
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    by_reason: dict[str, list[str]] = {}
    for item in others:
        by_reason.setdefault(item.why_not or "", []).append(item.form.id)
    for reason, ids in by_reason.items():
        yield Padding(Text(printable(reason)), (0, 0, 0, 2), expand=False)
        yield Padding(Text(", ".join(ids), style="dim"), (0, 0, 0, 4), expand=False)
