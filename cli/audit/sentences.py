"""The parts of an audit in words: each function returns a sentence or two, without a layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from blowproof.cli.text.answer import bounds_text
from blowproof.models.policy.in_words import counted, number, printable, short
from blowproof.verifier.asked.names import NO_MORE

if TYPE_CHECKING:
    from blowproof.cli.audit.chain_of_moves import Chain, Link
    from blowproof.cli.audit.cost_of_facts import Changed
    from blowproof.cli.audit.extras import AtOnce
    from blowproof.cli.audit.findings import Finding
    from blowproof.models import Exact
    from blowproof.verifier.closed_forms import FormResult

__all__ = [
    "at_once_words",
    "certificate_words",
    "chain_words",
    "cheapest",
    "cost_lines",
    "form_words",
    "instead_lines",
    "savings",
]

NOT_REACHED = "not reached within the time limit"
SHOWN = 3
SHOWN_LINKS = 5
SHOWN_DENSE = 2
"""How many links of the chain are told; fewer where each ties several facts together."""


def at_once_words(finding: Finding) -> str:
    """Return how many records differ between two neighbours, and whether more could."""
    answer, found = finding.verdict, finding.extras.at_once
    pair = answer.witness
    if pair is None:
        start = "no pair of neighbours at hand"
    else:
        changed = max(len(pair.before), len(pair.after))
        verb = "differs" if changed == 1 else "differ"
        start = f"{counted(changed, 'record')} {verb} in the pair below"
    if found is None:
        return f"{start}. Whether the facts are sparse: {NOT_REACHED}."
    return f"{start}{_never_more(found)}"


def _never_more(found: AtOnce) -> str:
    if found.sparse is None:
        return f". Sparsity does not apply: {printable(found.reason)}."
    if not found.sparse:
        listing = " and ".join(printable(name) for name in found.lifts[:2])
        return f". The facts are not sparse: one secret pair lifts {listing}."
    numbers = [(name, n) for name, n in (("alpha", found.alpha), ("xi", found.xi)) if n is not None]
    graph = ", ".join(f"{name} = {n}" for name, n in numbers)
    graph = f" (lengths in their policy graph: {graph})" if graph else ""
    sparse = f"the facts are sparse, no secret change raises two of them or lowers two{graph}"
    if found.most is None:
        return f". {sparse[0].upper()}{sparse[1:]}."
    return f", and never more than {found.most}: {sparse}."


def form_words(forms: Sequence[FormResult] | None, norm: str = "l1") -> str:
    """Return whether the papers' closed forms agree with the exact values."""
    if norm != "l1":
        return "none is about this norm: the papers add Laplace noise."
    if forms is None:
        return NOT_REACHED
    applying = [item for item in forms if item.applies]
    if not applying:
        return f"none of the {len({item.form.id for item in forms})} applies"
    ids = {item.form.id for item in applying}
    trusted = [item for item in applying if not item.recorded_wrong]
    wrong = [item for item in applying if item.recorded_wrong and item.agrees is False]
    start = f"{counted(len(ids), 'formula')} of papers {'applies' if len(ids) == 1 else 'apply'}"
    parts = [f"{start}; {_agreement(trusted, len(ids))}"]
    parts += [_wrong_in_print(item) for item in _each_once(wrong)[:2]]
    return "".join(parts)


def _agreement(trusted: Sequence[FormResult], applying: int) -> str:
    failed = _each_once([item for item in trusted if item.agrees is False])
    if failed:
        said = ", ".join(f"{item.form.id} ({_value(item)})" for item in failed[:3])
        return f"against the exact value: {said}. Please report this."
    if not trusted:
        return "all of them are known to be wrong in general."
    open_ = sum(item.agrees is None for item in trusted)
    if open_ == len(trusted):
        return "whether they agree is undecided in time."
    if open_:
        return "none disagrees; some are open."
    sound = len(_each_once(trusted))
    if sound < applying:
        verb = "agrees" if sound == 1 else "agree"
        return f"{applying - sound} wrong in general, {sound} {verb} with the exact values."
    return f"{'it agrees' if sound == 1 else 'they agree'} with the exact values."


def _value(item: FormResult) -> str:
    assert item.value is not None
    return f"S {item.form.relation} {short(item.value)}"


def _wrong_in_print(item: FormResult) -> str:
    exact = "" if item.lower is None else f", but S = {short(item.lower)}"
    if item.lower != item.upper and item.lower is not None:
        exact = f", but S >= {short(item.lower)}"
    where = "" if item.reading == "published" else f" ({item.reading})"
    return f" Wrong as printed: {item.form.id} says {_value(item)}{exact}{where}."


def _each_once(items: Sequence[FormResult]) -> list[FormResult]:
    return list({item.form.id: item for item in reversed(items)}.values())[::-1]


def certificate_words(finding: Finding) -> str:
    """Return what stands behind the number: a checked certificate, a search, or bounds."""
    answer, found = finding.verdict, finding.certificate
    if answer.status == "proved":
        kind = "" if found is None or not found.kind else f" (proof: {found.kind})"
        return f"found, and accepted by the small independent checker{kind}: S is proved."
    if answer.status == "exact":
        reason = "not found in time" if found is None else printable(found.reason)
        return f"none: {reason}. The number rests on engine {answer.engine}."
    how = NO_MORE if answer.final else "the search was stopped"
    return f"none: {how}. Both bounds are sound."


# --- what facts cost -----------------------------------------------------------------------------


def cost_lines(finding: Finding) -> list[str]:
    """Return what the known facts cost, the most expensive first, one line each."""
    items = finding.extras.left_out
    cheaper, same, unclear = _sorted_out(finding, items)
    lines = [_line(item, "without:") for item in cheaper[:SHOWN]]
    if len(cheaper) > SHOWN:
        lines.append(f"... and {counted(len(cheaper) - SHOWN, 'more fact')} that cost something")
    if same and not cheaper and not unclear:
        many = f"leaving out any single one of {len(items)} facts would not lower S"
        lines.append("leaving it out would not lower S" if len(items) == 1 else many)
    return [*lines, *_open(finding, items, unclear, "fact")]


def savings(finding: Finding) -> list[Changed]:
    """Return the other publications for which S is surely smaller, the smallest first.

    Not those for which S is 0: they publish the query itself, exactly.
    """
    return [item for item in _sorted_out(finding, finding.extras.instead)[0] if _upper(item)]


def cheapest(finding: Finding) -> Changed | None:
    """Return what would surely lower S most: other counts instead, or one fact less.

    At the same price other counts come first: they still tell something. A rule, or that some
    values are impossible, is a fact that nobody publishes or withholds.
    """
    cheaper = _sorted_out(finding, finding.extras.left_out)[0]
    less = [item for item in cheaper if item.published and _upper(item)]
    return min([*savings(finding), *less], key=lambda item: _upper(item) or 0, default=None)


def instead_lines(finding: Finding) -> list[str]:
    """Return what publishing nested or disjoint counts instead would save."""
    items = finding.extras.instead
    better = savings(finding)
    lines = [_line(item, "with") for item in better[:SHOWN]]
    _, same, unclear = _sorted_out(finding, items)
    if same and not better and not unclear:
        lines.append("nested or disjoint counts in place of the known ones would not lower S")
    return [*lines, *_open(finding, items, unclear, "other publication")]


def _sorted_out(
    finding: Finding, items: Sequence[Changed]
) -> tuple[list[Changed], list[Changed], list[Changed]]:
    """Those for which S is surely smaller (smallest first), those for which it is not, the rest."""
    verdict = finding.verdict
    asked = [item for item in items if item.answer is not None]
    cheaper = [
        item for item in asked if (upper := _upper(item)) is not None and upper < verdict.lower
    ]
    same = [
        item
        for item in asked
        if item.answer and verdict.upper is not None and item.answer.lower >= verdict.upper
    ]
    unclear = [item for item in asked if item not in cheaper and item not in same]
    return sorted(cheaper, key=_upper), same, unclear  # type: ignore[arg-type] # none is None


def _upper(item: Changed) -> Exact | None:
    return None if item.answer is None else item.answer.upper


def _line(item: Changed, word: str) -> str:
    assert item.answer is not None
    return f"{bounds_text(item.answer)} {word} {item.words}"


def _open(
    finding: Finding, items: Sequence[Changed], unclear: Sequence[Changed], noun: str
) -> Iterator[str]:
    """Say for how many it is open whether S would be smaller, and how many were not reached."""
    waiting = sum(not item.reached for item in items)
    if unclear:
        yield f"whether S would be smaller is open for {counted(len(unclear), noun)}"
    if waiting:
        yield f"{counted(waiting, noun)} {NOT_REACHED}"


# --- the chain -----------------------------------------------------------------------------------


def chain_words(chain: Chain, *, clauses: bool = False) -> str:
    """Return the chain of moves that links the pair: what each lowers, the next one lifts."""
    links = chain.links
    if not any(link.lowers or link.lifts for link in links):
        if len(links) == 1:
            return "No known count changes: nothing has to make up for it."
        why = "rules on single records tie them together" if clauses else "they cancel"
        return f"No known count changes with any of the moves; {why}."
    closes = len(links) > 1 and bool(links[-1].lowers) and links[-1].lowers == links[0].lifts
    parts, runs = [], list(_runs(links))
    dense = any(len(link.lowers) > 1 or len(link.lifts) > 1 for link in links)
    most = SHOWN_DENSE if dense else SHOWN_LINKS
    for place, (first, last) in enumerate(runs[:most]):
        previous = links[runs[place - 1][1]] if place else None
        phrase = _phrase(links[first], previous, skip_lifts=closes and not place)
        many = last > first
        who = f"{first + 1} to {last + 1} each" if many else f"{first + 1}"
        parts.append(f"{who} {phrase if not many else phrase.replace('lifts', 'lift', 1)}")
    if len(runs) > most:
        parts.append("and so on")
    end = ", which 1 lifts" if closes and len(runs) <= most else ""
    return f"What links them: {'; '.join(parts)}{end}."


def _runs(links: Sequence[Link]) -> Iterator[tuple[int, int]]:
    """The first and the last of each run of moves that do the same to the facts."""
    place = 0
    for _, run in groupby(links, key=lambda link: (link.lowers, link.lifts)):
        count = len(list(run))
        yield place, place + count - 1
        place += count


def _phrase(link: Link, previous: Link | None, *, skip_lifts: bool) -> str:
    lifts, lowers = _facts(link.lifts), _facts(link.lowers)
    if previous is not None and link.lifts and link.lifts == previous.lowers:
        lifts = "it" if len(link.lifts) == 1 else "them"
    words = []
    if lifts and not skip_lifts:
        words.append(f"lifts {lifts}")
    if lowers:
        words.append(f"lowers {lowers}")
    return " and ".join(words) or "touches no known count"


def _facts(items: Sequence[tuple[str, int]]) -> str:
    names = [name if times == 1 else f"{name} by {number(times)}" for name, times in items]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more"
