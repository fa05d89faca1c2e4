"""What an attacker learns, as one screen of text."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from blowproof.models import show
from blowproof.models.policy.in_words import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.verifier.odds.base.answer import Composition, Factor, Odds

__all__ = ["about", "odds_parts"]

SHOWN = 12
"""How many records, databases or outputs are written out."""

STYLE = {"within": "bold green", "exceeded": "bold red", "undecided": "bold yellow"}
LISTED = ("listed", "markov")
"""Attackers whose notes are always of interest: which pairs a belief skips."""
WHO = {
    "independent": "attackers who believe records to be independent, each as they like",
    "iid": "attackers who believe records to be alike and independent",
    "any": "attackers with any belief whatever",
    "listed": "the attackers that are listed",
    "markov": "attackers who believe in the chains that are listed",
}


def odds_parts(found: Odds) -> Iterator[RenderableType]:
    """Yield the verdict, the attacker who shows it, and how sure that is."""
    yield Text.assemble(
        (found.verdict, STYLE[found.verdict]),
        f": {printable(found.mechanism)} under {printable(found.policy)}, ",
        f"epsilon = {show(found.epsilon)}",
    )
    yield Text(_ratio_words(found))
    yield Text(f"Against {WHO[found.attackers]}.")
    if found.shown is not None:
        one, two = found.shown.secret
        yield Text()
        yield Text(f'One of them asks: "{printable(one)}", or "{printable(two)}"?')
        yield from _prior(found.shown.prior)
        yield from _output(found.shown.output)
        yield Text(
            f"The odds of the first against the second move by a factor of "
            f"{about(found.shown.reached)}."
        )
    elif found.verdict == "exceeded":
        yield Text()
        yield Text(
            "There is such a belief. It was too large to be worked out here; blowproof certify "
            "shows the two databases that it is about."
        )
    if found.composition is not None:
        yield Text()
        yield from _composition(found.composition)
    yield Text()
    yield Text(f"{found.why}; {found.seconds:.2f} s", style="dim")
    told = found.verdict == "undecided" or found.shown is None or found.attackers in LISTED
    for note in found.notes if told else ():
        yield Text(printable(note), style="dim")


COMPOSES = {
    "proved": "Releases compose linearly against them",
    "refuted": "Releases do not compose linearly against them",
    "open": "Whether releases compose linearly against them is open",
}


def _composition(found: Composition) -> Iterator[RenderableType]:
    """Yield whether releases compose, and an example where they do not."""
    yield Text(f"{COMPOSES[found.linear]}: {printable(found.why)}.")
    for number, always in enumerate(found.universal, 1):
        what = "is" if always else "is not"
        leaves = "each secret leaves one database" if always else "some secret leaves several"
        yield Text(f"Belief {number} {what} universally composable (Theorem 8.1): {leaves}.")
    if found.example is None:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("output a")
    table.add_column("on the database", overflow="fold")
    rows = found.example["mechanism"]
    for item in rows[:SHOWN]:
        table.add_row(item["a"], printable("; ".join(map(_value, item["database"]))))
    yield Text("For example, by a mechanism that gives an output a with these probabilities:")
    yield Padding(table, (0, 0, 0, 2), expand=False)
    if len(rows) > SHOWN:
        yield Text(f"  and {len(rows) - SHOWN} more databases", style="dim")
    one, two = found.example["secret"]
    seen = " and ".join(found.example["seen"])
    once, twice = (_chance(found.example[key]) for key in ("odds_once", "odds_twice"))
    moved = "No odds move" if once == "1" else f"Odds move by at most {once}"
    yield Text(
        f'{moved} by one output. By {seen} those of "{printable(one)}" against "{printable(two)}" '
        f"move by {twice}, for one of these attackers."
    )


def _ratio_words(found: Odds) -> str:
    limit = f"e^{show(found.epsilon)}"
    if found.exact:
        least = "no more than" if found.verdict == "within" else "and that is more than"
        return f"Odds move by a factor of {_with_text(found.lower)} at the worst: {least} {limit}."
    upper = "nothing bounds it from above"
    if found.upper is not None:
        upper = f"at most {_with_text(found.upper)}"
    return f"Odds move by a factor of at least {_with_text(found.lower)}; {upper} (limit {limit})."


def _with_text(factor: Factor) -> str:
    text, number = factor.text, about(factor)
    return number if len(text) > 40 or text == number else f"{text} (about {number})"


def about(factor: Factor) -> str:
    """Return a factor in digits.

    >>> from blowproof.verifier.odds.base.answer import Factor
    >>> about(Factor.exp(1)), about(Factor.exp(0)), about(Factor.infinite())
    ('2.718', '1', 'infinity')
    """
    if factor.endless:
        return "infinity"
    return f"{Decimal(factor.decimals[0]).normalize():.4g}"


def _prior(prior: Any) -> Iterator[RenderableType]:
    """Yield the belief before the output is seen."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    if "every_record" in prior:
        table.add_column("each record")
        table.add_column("probability")
        rows = [(_value(x), _chance(p)) for x, p in prior["every_record"]]
        what = "values"
    elif "records" in prior:
        table.add_column("record")
        table.add_column("may hold (probability)", overflow="fold")
        rows = [
            (str(number), ", ".join(f"{_value(x)} ({_chance(p)})" for x, p in row))
            for number, row in enumerate(prior["records"], 1)
        ]
        what = "records"
    else:
        table.add_column("probability")
        table.add_column("database", overflow="fold")
        rows = [
            (_chance(item["probability"]), "; ".join(map(_value, item["database"])))
            for item in prior["databases"]
        ]
        what = "databases"
    for row in rows[:SHOWN]:
        table.add_row(*map(printable, row))
    yield Text("Before, this attacker believes:")
    yield Padding(table, (0, 0, 0, 2), expand=False)
    if len(rows) > SHOWN:
        yield Text(f"  and {len(rows) - SHOWN} more {what}", style="dim")


def _value(value: list[object]) -> str:
    return ", ".join(map(str, value))


def _chance(text: str) -> str:
    """Return a probability as it is, or in digits where it is long."""
    if len(text) <= 12:
        return text
    top, _, bottom = text.partition("/")
    return f"{Decimal(int(top)) / Decimal(int(bottom or 1)):.6g}"


def _output(output: Any) -> Iterator[RenderableType]:
    """Yield the output that tells the most."""
    if isinstance(output, str):
        yield Text(f"It sees {printable(output)}.")
        return
    words = [
        item if isinstance(item, str) else f"{item['output']} = {item['value']}" for item in output
    ]
    more = f", and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    yield Text(f"It sees {printable('; '.join(words[:SHOWN]))}{more}.")
