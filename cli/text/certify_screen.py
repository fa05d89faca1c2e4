"""The certifier's verdict as one screen of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blowproof.cli.text.pairs import pair_parts
from blowproof.models import Policy, show
from blowproof.models.base.numbers import magnitude
from blowproof.models.mechanisms.mechanism import Mechanism, Prefixes, Release, Selection, Tree
from blowproof.models.policy.in_words import counted, large, number, printable, short

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.verifier.certify.base.verdict import Certified, Changed, Delta, Loss

__all__ = ["certify_parts"]

SHOWN = 12
"""How many outputs, scales or releases are written out."""

STYLE = {
    "proved": "bold green",
    "proved-assuming": "bold yellow",
    "refuted": "bold red",
    "undecided": "bold yellow",
}


def certify_parts(
    mechanism: Mechanism, policy: Policy, found: Certified, missing: Sequence[str] = ()
) -> Iterator[RenderableType]:
    """Yield the verdict, what was judged, and the pair of neighbours that decides.

    `missing`: the assumptions that nobody has made yet.
    """
    named = "proved, assuming" if found.verdict == "proved-assuming" else found.verdict
    yield Text.assemble(
        (named, STYLE[found.verdict]),
        f": {printable(found.mechanism)} under {printable(found.policy)}, ",
        str(found.promise),
    )
    yield Text(_loss_words(found))
    yield from _assumed(found, missing)
    yield Text()
    yield from _released(mechanism, found)
    yield Text()
    if found.witness is not None:
        yield Text(_pair_words(found))
        yield from pair_parts(policy, found.witness, found.reading)
        yield from _outputs(found)
    else:
        yield Text("No two neighbours were found that the answers tell apart.")
    yield Text()
    advice = _advice(found)
    if advice:
        yield Text(advice)
    yield Text(
        f"reading {found.reading}, answers {found.answers}, engine {found.engine}, "
        f"{found.seconds:.2f} s",
        style="dim",
    )
    noted = found.verdict == "undecided" or found.promise.measure != "epsilon"
    noted |= found.loss == "inf" and found.exp_between is None
    if noted and not mechanism.selections:
        for note in found.notes:
            yield Text("\n".join(map(printable, note.splitlines())), style="dim")


def _assumed(found: Certified, missing: Sequence[str]) -> Iterator[RenderableType]:
    """Yield what nobody checked, and how to take it as given."""
    if found.verdict != "proved-assuming":
        return
    yield Text("Nobody checked, and the verdict assumes:")
    for item in found.assumptions:
        yield Padding(Text(f"{item.name}: {printable(item.states)}"), (0, 0, 0, 2), expand=False)
    if missing:
        names = " ".join(f"--assume {name}" for name in missing)
        yield Text(f"Take that as given with {names}")


def _loss_words(found: Certified) -> str:
    if found.exp_between is not None:
        return _exp_words(found)
    if found.delta is not None:
        return _delta_words(found.delta)
    if found.promise.measure == "rho":
        return _rho_words(found)
    if found.promise.delta is not None:
        return _approximate_words(found)
    if found.loss == "inf":
        return f"It loses everything (its noise hides no {found.promise.name}): {_compared(found)}."
    if found.loss is not None:
        return f"It loses {_shown(found.loss)} at the worst: {_compared(found)}."
    upper = (
        "nothing bounds it from above" if found.upper is None else f"at most {_shown(found.upper)}"
    )
    return f"It loses at least {_shown(found.lower)}; {upper}."


def _rho_words(found: Certified) -> str:
    if found.loss == "inf":
        return "It has no rho: an output changes whose noise hides none."
    if found.loss is not None:
        said = f"Its rho is {_shown(found.loss)} at the worst: {_compared(found)}."
    elif found.upper is None:
        said = f"Its rho is at least {_shown(found.lower)}; nothing bounds it from above."
    else:
        said = f"Its rho is between {_shown(found.lower)} and {_shown(found.upper)}."
    if found.divergence is None:
        return said
    allowed = number(2 * found.promise.limit)
    order = f"At order 2 the pair's divergence is {_shown(found.divergence)}"
    return f"{said} {order}, and 2 rho = {allowed} is allowed."


def _approximate_words(found: Certified) -> str:
    assert found.promise.delta is not None
    at = f"at delta = {show(found.promise.delta)}"
    if found.lower == "inf":
        return f"Nothing is kept {at}: some output without noise changes."
    low = f"more than {_rounded(found.lower)}" if found.lower else ""
    if found.upper is None:
        return f"Its epsilon {at} is {low or 'not known'}; nothing bounds it from above."
    return f"Its epsilon {at} is at most {_rounded(found.upper)}{', and ' * bool(low)}{low}."


def _delta_words(delta: Delta) -> str:
    if delta.text is not None:
        value = _rounded(delta.low)
        about = "" if value == delta.text else f", about {value}"
        return f"The smallest delta at this epsilon is {delta.text}{about}."
    high = "nothing bounds it from above" if delta.high is None else f"{_rounded(delta.high)} holds"
    return f"The smallest delta at this epsilon is at least {_rounded(delta.low)}; {high}."


def _rounded(value: Loss | None) -> str:
    """Return a number in few digits, if that is shorter."""
    assert value is not None and not isinstance(value, str)
    exact = number(value)
    return exact if len(exact) < 12 else f"{float(value):.6g}"


def _exp_words(found: Certified) -> str:
    assert found.exp_between is not None
    low, high = found.exp_between
    if found.exp_loss is None:
        return f"Probabilities differ by a factor of at least {low}, at most {high}."
    if found.exp_loss == "inf":
        return "Some output is possible for one of two neighbours only."
    about = "" if found.exp_loss.isdigit() else _about(low, high)
    text = f"Probabilities differ by a factor of {found.exp_loss}{about} at the worst"
    return f"{text}: {_compared(found)}."


def _about(low: str, high: str) -> str:
    """Return the digits that both bounds round to, in brackets; nothing where they differ early.

    >>> _about("2.718281828459", "2.718281828460"), _about("1.2", "inf")
    (' (about 2.71828)', '')
    """
    texts = {f"{Decimal(text).normalize(_SIX):.6g}" for text in (low, high)}
    return f" (about {texts.pop()})" if len(texts) == 1 and "inf" not in high else ""


_SIX = Context(prec=6, Emax=MAX_EMAX, Emin=MIN_EMIN)


def _compared(found: Certified) -> str:
    word = "more than" if found.verdict == "refuted" else "no more than"
    limit = found.promise.name if found.exp_between is None else "exp(epsilon)"
    return f"{word} {limit}"


def _shown(loss: Loss | None) -> str:
    if loss is None:
        return "an unknown amount"
    return "everything" if isinstance(loss, str) else number(loss)


def _released(mechanism: Mechanism, found: Certified) -> Iterator[RenderableType]:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    channel = mechanism.channel
    if channel is not None:
        what = "each record" if channel.of == "record" else "the database"
        rows, columns = (
            counted(len(channel.inputs), "input"),
            counted(len(channel.outputs), "output"),
        )
        yield Text(f"a channel for {what}: {rows}, {columns}")
    elif mechanism.releases:
        widths = list(dict.fromkeys(release.width for release in mechanism.releases))
        for column in ("release", "what", "noise", " or ".join(widths)):
            table.add_column(column, overflow="fold")
        for place, release in enumerate(mechanism.releases[:SHOWN]):
            noise = release.noise.replace("-", " ")
            table.add_row(str(place + 1), _query(release), noise, _scales(release))
        yield table
        if len(mechanism.releases) > SHOWN:
            yield Text(f"... and {len(mechanism.releases) - SHOWN} more", style="dim")
    for item in mechanism.selections:
        yield Text(_choice(item))
    if mechanism.selections:
        for note in found.notes:
            yield Text(f"  {printable(note)}")
    assumed = [item.name for item in found.assumptions]
    for place, step in enumerate(mechanism.postprocessing, start=1):
        known = f"postprocessing-{place}" not in assumed
        cost = "at no cost" if known else "as the file says, and not judged"
        yield Text(f"then, {cost}: {printable(step)}")


def _choice(item: Selection) -> str:
    """Say what a choice is made from, and by which noise."""
    query, scales = printable(item.query), ", ".join(short(x) for x in item.scales[:SHOWN])
    noise = f"{item.noise.replace('-', ' ')} noise of scale {scales}"
    if item.candidates == "maximum":
        return f"which number of {query} is the largest, with {noise} on each"
    if item.candidates == "exponential":
        return f"which number of {query}: drawn in proportion to e^(number / {scales})"
    kind = printable(item.candidates)
    if kind.startswith("drawn-"):
        return f"{kind[6:]} of {query}, drawn in proportion to e^(-cost / {scales})"
    return f"a choice among {kind} by costs of {query} with {noise}"


def _query(release: Release) -> str:
    query = release.query
    if isinstance(query, Tree):
        parts = [f"fan-out {query.fan_out}"]
        parts += [f"blocks of {query.block}"] if query.block is not None else []
        parts += [f"levels from {query.first}"] if query.first else []
        parts += [f"levels to {query.last}"] if query.last is not None else []
        parts += [f"blocks {query.blocks[0]} to {query.blocks[1]}"] if query.blocks else []
        return f"tree on {printable(query.attribute)}: {', '.join(parts)}"
    if isinstance(query, Prefixes):
        whole = ", whole" if query.whole else ""
        return f"prefixes of {printable(query.attribute)}, every {query.every}{whole}"
    return printable(query if isinstance(query, str) else query.name)


def _scales(release: Release) -> str:
    shown = ", ".join(short(width) for width in release.widths[:SHOWN])
    return shown if len(release.widths) <= SHOWN else f"{shown}, ... ({len(release.widths)})"


def _pair_words(found: Certified) -> str:
    if found.channel_outputs:
        names = [printable(name) for name in found.channel_outputs[:SHOWN]]
        more = ", ..." if len(found.channel_outputs) > SHOWN else ""
        return f"Two neighbours, told apart most by the output {', '.join(names)}{more}:"
    if found.promise.delta is not None:
        return "Two neighbours:"
    what = "lose"
    if found.promise.measure == "rho" and found.lower != "inf":
        what = "have a rho of"
    return f"Two neighbours that {what} {_shown(found.lower)}:"


def _outputs(found: Certified) -> Iterator[RenderableType]:
    if not found.outputs:
        return
    yield Text(f"\nThey are told apart by {counted(found.outputs_changed, 'output')}:")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    named = ("noise up to" if item.reach else item.width for item in found.outputs[:SHOWN])
    widths = list(dict.fromkeys(named))
    for column in ("release", "output", "change", " or ".join(widths), "loss"):
        table.add_column(column, overflow="fold")
    for item in found.outputs[:SHOWN]:
        name = printable(item.output)
        wide = short(item.scale if item.reach is None else item.reach)
        row = (str(item.release + 1), name, short(item.change), wide, _lost(item))
        table.add_row(*row)
    yield Padding(table, (0, 0, 0, 2), expand=False)
    if found.outputs_changed > SHOWN:
        yield Text(f"  ... and {large(found.outputs_changed - SHOWN)} more", style="dim")


def _lost(item: Changed) -> str:
    """Return what an output loses: epsilon of Laplace noise, rho of Gaussian noise, and of noise
    with ends the chance of an answer that only one of the databases can give.
    """
    if item.tells is not None:
        return f"told for sure, chance {short(item.tells)}" if item.tells else ""
    if not item.scale:
        return "inf"
    if item.width == "variance":
        return f"rho {short(Fraction(item.change) ** 2 / (2 * item.scale))}"
    return short(magnitude(item.change) / item.scale)


def _advice(found: Certified) -> str:
    times = found.scales_times
    if found.exp_between is not None or times is None or found.promise.delta is not None:
        return ""
    what = found.widths
    if times == 0:
        return "The answers do not change between neighbours: no noise is needed."
    if times == 1 and found.loss is None:
        return ""
    if times == 1:
        return f"The {what} are as small as they can be."
    if times < 1:
        return (
            f"There is noise to spare: all {what} times {number(times)} lose no more than "
            f"{found.promise.name}."
        )
    if found.verdict == "undecided":
        return f"All {what} times {number(times)} are proven to be enough."
    return f"All {what} times {number(times)} would lose no more than {found.promise.name}."
