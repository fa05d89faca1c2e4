"""`blowproof audit --from opendp CONTEXT`: what another library's guarantee really is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from blowproof.cli.asking.errors import Exit
from blowproof.models import show
from blowproof.verifier.asked.answer import json_number

if TYPE_CHECKING:
    from rich.console import RenderableType

    from blowproof.cli.asking.ask import Session
    from blowproof.models import Exact, Policy
    from blowproof.models.files.opendp_context import OpenDPContext
    from blowproof.verifier.asked.answer import Answer

__all__ = [
    "NORMS",
    "Held",
    "audit_opendp",
    "context_document",
    "context_parts",
    "held_code",
    "held_in",
    "held_parts",
]

READINGS = ("published", "add-remove")
"""Records replaced, and records added and removed: what the library's two units are about."""
NORMS = {"epsilon": "l1", "rho": "l2-squared"}


@dataclass(frozen=True)
class Held:
    """What a claim really is in a reading, if noise was set for changes of the size `counted`."""

    query: str
    reading: str
    measure: str
    claimed: Fraction
    counted: Exact
    answer: Answer

    @property
    def lower(self) -> Fraction:
        """What it is at least: the pair shows it."""
        return self.claimed * self.answer.lower / self.counted

    @property
    def upper(self) -> Fraction | None:
        """What it is at the most, where something bounds it."""
        most = self.answer.upper
        return None if most is None else self.claimed * most / self.counted

    def to_json(self, policy: Policy) -> dict[str, Any]:
        """Return it as the JSON lists it."""
        pair = self.answer.witness
        return {
            "query": self.query,
            "reading": self.reading,
            "measure": self.measure,
            "claimed": show(self.claimed),
            "lower": show(self.lower),
            "upper": None if self.upper is None else show(self.upper),
            "sensitivity": {
                "norm": self.answer.norm,
                "counted": json_number(self.counted),
                "lower": show(self.answer.lower),
                "upper": None if self.answer.upper is None else show(self.answer.upper),
            },
            "witness": None if pair is None else pair.to_json(policy.domain),
        }


def audit_opendp(path: str, queries: Sequence[str], session: Session, *, as_json: bool) -> int:
    """Print what a context's epsilon (or rho) really is; exit 1 if it is more than claimed."""
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.models.files.opendp_context import read_opendp

    context = session.read(path, lambda: read_opendp(path))
    held = held_in(context, queries, session)
    with quietly():
        if as_json:
            write_json(context_document(context, held))
        else:
            print_all(context_parts(context, held))
    return held_code(held)


def held_in(context: OpenDPContext, queries: Sequence[str], session: Session) -> list[Held]:
    """Return what a context's claim really is for each query, in both readings.

    Records replaced are the harder question: it comes last, and has all the time that is left.
    """
    found: dict[tuple[str, str], Held] = {}
    asked = [(query, reading) for reading in reversed(READINGS) for query in queries]
    for number, (query, reading) in enumerate(asked):
        left = session.share(len(asked) - number)
        found[query, reading] = _held(context, query, reading, session, left)
    return [found[query, reading] for query in queries for reading in READINGS]


def context_document(context: OpenDPContext, held: Sequence[Held]) -> dict[str, Any]:
    """Return the JSON of `audit --from opendp`."""
    return {
        "schema": "blowproof/opendp/1",
        "unit": {context.unit: context.times},
        "held": [item.to_json(context.policy) for item in held],
        "notes": list(context.notes),
    }


def held_code(held: Sequence[Held]) -> Exit:
    """Return whether claims hold: exit 1 if one is less than it really is."""
    if any(item.lower > item.claimed for item in held):
        return Exit.NO
    known = all(item.upper is not None and item.upper <= item.claimed for item in held)
    return Exit.OK if known else Exit.UNDECIDED


def _held(
    context: OpenDPContext, query: str, reading: str, session: Session, limit: float | None
) -> Held:
    from blowproof.models.stacks.written import parse_question

    norm = NORMS[context.measure]
    asked = parse_question(query, context.policy, norm)
    answer = session.ask(context.policy, asked, reading, limit=limit)
    counted = context.counted[norm]
    return Held(query, reading, context.measure, context.claimed, counted, answer)


def context_parts(context: OpenDPContext, held: Sequence[Held]) -> Iterator[RenderableType]:
    """Yield what `audit --from opendp` shows."""
    from rich.text import Text

    from blowproof.models.policy.in_words import number

    unit = (
        f"{context.times} {context.unit.removesuffix('s') if context.times == 1 else context.unit}"
    )
    claim = f"{context.measure} = {number(context.claimed)}"
    yield Text(f"the context claims {claim} for {unit}, whatever is invariant", style="bold")
    yield from held_parts(context.policy, held)
    for note in context.notes:
        yield Text(note)


def held_parts(policy: Policy, held: Sequence[Held]) -> Iterator[RenderableType]:
    """Yield what claims really are, each with the pair that shows it where it is more."""
    from rich.text import Text

    from blowproof.cli.text.pairs import pair_parts
    from blowproof.models.policy.in_words import number, printable

    for item in held:
        yield Text()
        what = f"{printable(item.query)}, reading {item.reading}: really {item.measure}"
        if item.upper == item.lower:
            yield Text(f"{what} = {number(item.lower)}")
        elif item.upper is None:
            yield Text(f"{what} >= {number(item.lower)}; nothing bounds it from above")
        else:
            yield Text(f"{what} from {number(item.lower)} to {number(item.upper)}")
        if item.answer.witness is not None and item.lower > item.claimed:
            yield from pair_parts(policy, item.answer.witness, item.answer.reading)
