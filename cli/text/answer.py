"""The answer to one question, for people."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from rich.text import Text

from blowproof.cli.text.pairs import pair_parts
from blowproof.models import Exact, Policy, show
from blowproof.models.policy.in_words import number, printable, short
from blowproof.verifier.asked.names import BEYOND, NO_MORE

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.verifier.asked.answer import Answer

__all__ = ["answer_parts", "between", "bounds_text", "in_norm", "reasons_of"]

STATUS = {
    "proved": "a certificate was checked",
    "exact": "the search ended",
    "bounds": "the search was stopped",
}


def bounds_text(answer: Answer) -> str:
    """Return the bounds of an answer in words (see `between`)."""
    return between(answer.lower, answer.upper)


def between(lower: Exact, upper: Exact | None) -> str:
    """Return "S = 4", "4 <= S <= 6", or "4 <= S" where nothing bounds it."""
    if lower == upper:
        return f"S = {short(lower)}"
    above = "" if upper is None else f" <= {short(upper)}"
    return f"{short(lower)} <= S{above}"


def answer_parts(policy: Policy, answer: Answer) -> Iterator[RenderableType]:
    """Yield the number, how sure it is, and the pair that shows it."""
    how = NO_MORE if answer.final else STATUS[answer.status]
    status = f"{answer.status} ({how})"
    yield Text.assemble((bounds_text(answer), "bold"), "   ", (status, "dim"))
    yield Text(
        f"query {printable(answer.query)}, policy {printable(answer.policy)}, "
        f"reading {answer.reading}, answers {answer.answers}"
        + ("" if answer.norm == "l1" else f", norm {answer.norm}")
    )
    if answer.witness is not None:
        differ = f"{show(answer.lower)}{in_norm(answer)}"
        yield Text(f"\nTwo neighbours whose answers differ by {differ}:")
        yield from pair_parts(policy, answer.witness, answer.reading)
    elif answer.upper == 0:
        alike = "All outputs change alike between neighbours."
        none = "No two neighbours differ in their answers."
        yield Text(f"\n{alike if answer.norm == 'range' else none}")
    yield Text()
    yield _noise(answer)
    yield Text(f"engine {answer.engine}, {answer.seconds:.2f} s", style="dim")
    if answer.status == "bounds":
        for note in answer.notes:
            yield Text(printable_lines(note), style="dim")


def reasons_of(answer: Answer) -> list[str]:
    """Return, of bounds that do not meet, why the upper one holds, and why they stay apart."""
    if answer.status != "bounds":
        return []
    above = [
        f"no more than {short(answer.upper)}: {why}"
        for end, _, why in answer.decided_by
        if end == "upper" and why and answer.upper is not None
    ]
    return above + [note for note in answer.notes if note.startswith(NO_MORE)]


def printable_lines(text: str) -> str:
    """Return a text of several lines, each of them harmless to a terminal."""
    return "\n".join(printable(line) for line in text.splitlines())


def _noise(answer: Answer) -> Text:
    if answer.upper is None:
        beyond = [note for note in answer.notes if note.startswith(BEYOND)]
        if beyond:
            return Text(f"{beyond[0]}. No noise of such a size is worth anything.")
        return Text("Nothing bounds S from above yet: do not calibrate noise to the lower bound.")
    if answer.norm == "range":
        if answer.upper == 0:
            return Text("No choice between the outputs depends on which neighbour is the true one.")
        rate = number(1 / Fraction(answer.upper))
        return Text(f"Exponential mechanism: choose by exp(epsilon * score * {rate}).")
    if answer.upper == 0:
        return Text("The answer can be published as it is.")
    if answer.norm == "l2-squared":
        half = number(Fraction(answer.upper) / 2)
        return Text(f"Gaussian noise of variance {half} / rho is enough for rho-zCDP.")
    if answer.norm == "linf":
        twice = number(2 * Fraction(answer.upper))
        return Text(f"Noisy maximum: Laplace noise of scale {twice} / epsilon is enough.")
    least = "" if answer.status != "bounds" or not answer.lower else (
        f"; less than {number(answer.lower)} / epsilon is not"
    )  # fmt: skip
    return Text(f"Laplace noise of scale {number(answer.upper)} / epsilon is enough{least}.")


def in_norm(answer: Answer) -> str:
    """Say what the number counts, where it is not the sum of the changes."""
    return {"l1": "", "l2-squared": " (squares added up)", "linf": " (the largest change)"}.get(
        answer.norm, " (the largest change less the smallest)"
    )
