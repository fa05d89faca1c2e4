"""A plan as a screen: what was compared and chosen, or why nothing is and what would help."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from blowproof.mechanisms.expecting.expected import Expected
    from blowproof.mechanisms.planning.advice import Advice
    from blowproof.mechanisms.planning.planner import Planned
    from blowproof.models import Exact
    from blowproof.verifier.asked.answer import Answer

__all__ = ["advice_lines", "indented", "plan_parts"]

SHOWN = 12
ALONE, QUIET, COSTLY = 2, 10, 10
"""Records that change at once without being many; noise that leaves numbers to read; and how many
times the error facts may cost before that is said."""
LITTLE_KNOWN = "how large S is at least was not found in time"
PLAIN = ("laplace", "table")
"""Plain noise, on the numbers or on a table: what is said first where nothing answers."""


def plan_parts(
    found: Planned, output: str | None, told: Sequence[Advice] | None = None
) -> Iterator[RenderableType]:
    """Yield the comparison as a screen; `told`: what other publications would lead to."""
    from rich.table import Table
    from rich.text import Text

    from blowproof.models.policy.in_words import printable, short

    names = ", ".join(printable(query.name) for query in found.workload.queries)
    request = found.request
    buys = (
        f"epsilon {short(request.epsilon)}" if request.rho is None else f"rho {short(request.rho)}"
    )
    yield Text(f"{names}: what {buys} buys", style="bold")
    yield Text(f"under policy {printable(found.request.policy.name)}, reading "
               f"{found.request.reading}; nothing was drawn and nothing spent")  # fmt: skip
    yield Text()
    if not found.options:
        yield from _lost_lines(found, told or ())
        yield from _refused_lines(found)
        yield from _late_lines(found)
        return
    bound = found.bound
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    table.add_column("option", overflow="fold")
    for name in ("RMSE", "95 % of largest", "x lower bound"):
        table.add_column(name, justify="right", no_wrap=True)
    for option in found.options[:SHOWN]:
        worst = max(error.max95 for error in option.errors)
        times = "-" if not bound else f"{option.rmse / bound:,.3g}"
        table.add_row(option.short, f"{option.rmse:,.4g}", f"{worst:,.4g}", times)
    yield table
    yield from _chosen_lines(found)
    yield from _late_lines(found)
    yield from _beside(found)
    if output is not None:
        yield Text(f"plan written to {printable(output)}: blowproof release ... --plan {output}")


def indented(parts: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """Yield lines whose further lines, where they are long, begin below their first word."""
    from rich.padding import Padding
    from rich.text import Text

    for part in parts:
        blanks = len(part.plain) - len(part.plain.lstrip(" ")) if isinstance(part, Text) else 0
        if isinstance(part, Text) and blanks:
            yield Padding(part[blanks:], (0, 0, 0, blanks), expand=False)
        else:
            yield part


def _lost_lines(found: Planned, told: Sequence[Advice]) -> Iterator[RenderableType]:
    """Yield, where no noise is of any use, that nothing can be released, and what to leave out."""
    from rich.text import Text

    from blowproof.cli.text.answer import bounds_text
    from blowproof.models.policy.in_words import printable

    if found.lost is None:
        return
    said = (
        f"Not to be released: nothing useful bounds S of {printable(found.lost.query)} from above "
        f"({bounds_text(found.lost)})."
    )
    if told:
        change = printable(told[0].change)
        then = f"the RMSE, each query alone, is {told[0].rmse:,.4g}"
        said += f" {change[0].upper()}{change[1:]}: then {then}."
    yield Text(said, style="bold")


def _late_lines(found: Planned) -> Iterator[RenderableType]:
    """Yield what there was too little time for, and what to do about it."""
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    queries: dict[str, dict[str, None]] = {}
    for item in found.late:
        name = item.mechanism.partition(",")[0]
        queries.setdefault(name, {})[printable(item.query)] = None
    if queries:
        names = "; ".join(f"{name} ({', '.join(some)})" for name, some in queries.items())
        yield Text(f"too little time for: {names}")
        yield Text("  try: a longer --time-limit, which may find something better")


def _refused_lines(found: Planned) -> Iterator[RenderableType]:
    """Yield why no mechanism answers, query by query, and what may help.

    Each reason once, with the mechanisms that have it; that of plain noise first, which answers
    every query unless the noise is not known, or drowns what it is added to.
    """
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    who: dict[str, dict[str, dict[str, None]]] = {}
    for item in found.refused:
        name = item.mechanism.partition(",")[0]
        why = item.why.partition("\n")[0].partition(": nothing was")[0]
        why = why.removeprefix(f"{name} ").removeprefix(f"the mechanism {name!r} ")
        who.setdefault(item.query, {}).setdefault(why, {})[name] = None
    yield Text("no mechanism answers this workload:", style="bold")
    yield from _how_much(found)
    for query, reasons in who.items():
        yield Text(f"  {printable(query)}")
        for why, names in sorted(reasons.items(), key=lambda item: not {*PLAIN} & {*item[1]}):
            yield Text(f"    {', '.join(names)}: {printable(why)}")


def _how_much(found: Planned) -> Iterator[RenderableType]:
    """Yield what is known of S of each query, and what budget plain noise would take."""
    from rich.text import Text

    from blowproof.cli.text.answer import bounds_text
    from blowproof.models.policy.in_words import printable, short

    request = found.request
    for query, answer in zip(found.workload.queries, found.sensitivities, strict=True):
        name = printable(query.name)
        if answer is None:
            yield Text(f"  {name}: how large S is was not asked, or not found in time")
            continue
        if not answer.lower:
            none = "S = 0, so that it can be published as it is"
            yield Text(f"  {name}: {none if answer.upper == 0 else LITTLE_KNOWN}")
            continue
        square = "" if request.rho is None else " (a square)"
        line = f"  {name}: {bounds_text(answer)}{square}"
        if request.rho is None:
            line += f", so Laplace noise has a scale of {short(answer.lower / request.epsilon)}"
        else:
            least = Fraction(answer.lower) / (2 * request.rho)
            line += f", so Gaussian noise has a variance of {short(least)}"
        yield Text(line + ("" if answer.lower == answer.upper else " or more"))
        yield from map(Text, _in_the_way(found, answer))
        yield from map(
            Text,
            _enough(
                found,
                answer,
                query.largest_answer(request.policy.domain, found.size)
                if found.size is not None
                else None,
            ),
        )


def _in_the_way(found: Planned, answer: Answer) -> Iterator[str]:
    """Yield why S is so large, where facts tie records together, and what less noise would cost."""
    request, pair = found.request, answer.witness
    many = 0 if pair is None else max(len(pair.before), len(pair.after))
    if many > ALONE and request.policy.known:
        yield (f"    what stands in the way: the known facts tie records together, so that one "
               f"secret may change {many:,} records at once")  # fmt: skip
    if not many or found.size is not None:
        return
    rho = request.rho is not None
    need = Fraction(answer.lower) / (2 * QUIET**2 if rho else QUIET)
    measure, width = ("rho", "standard error") if rho else ("epsilon", "scale")
    least = "" if answer.lower == answer.upper else " at least"
    yield f"    noise with a {width} of {QUIET} would take{least} {measure} {float(need):,.4g}"


def _enough(found: Planned, answer: Answer, most: Exact | None) -> Iterator[str]:
    """Yield the budget from which on plain noise is no larger than what it is added to."""
    from blowproof.models.policy.in_words import short

    if not most:
        return
    scale = f"    on {found.size:,} records the numbers are at most {short(most)}"
    rho = found.request.rho is not None
    need = Fraction(answer.lower) / (2 * Fraction(most) ** 2 if rho else Fraction(most))
    if answer.upper is not None and answer.lower == answer.upper:
        yield f"{scale}: noise is no larger from {'rho' if rho else 'epsilon'} {short(need)} on"
    else:
        yield f"{scale}: noise is larger below {'rho' if rho else 'epsilon'} {short(need)}"


def _chosen_lines(found: Planned) -> Iterator[RenderableType]:
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    best = found.chosen
    assert best is not None
    yield Text()
    yield Text(f"chosen: {best.short}", style="bold")
    second = min(found.options, key=lambda option: option.rmse)
    if second.rmse < best.rmse:
        yield Text(f"  nearly as good as {second.short} on the data that are worst for it, and "
                   f"better on others: {best.usual:,.4g} against {second.usual:,.4g}")  # fmt: skip
    if not found.worth_it:
        yield Text("no answer could be told from 0: nothing here is worth releasing")
        yield from _how_much(found)
    if len(found.workload) == 1:
        yield from (Text(f"  its RMSE is {how}") for how in _how(best.errors[0]))
    else:
        for part in best.parts:
            asked = ", ".join(printable(best.names[place]) for place in part.queries)
            measure = "epsilon" if found.request.rho is None else "rho"
            if not any(error.rmse for error in part.errors):
                yield Text(f"  exact, for no secret changes it: {asked}")
                continue
            yield Text(f"  {measure} {float(part.budget):.4g} by {part.mechanism}: {asked}")
            if "measure" in part.settings:
                yield Text(f"    from {printable(part.settings['measure'])}")
        if best.fitted:
            asked = ", ".join(map(printable, best.fitted))
            yield Text(f"  answered by least squares over all that is drawn: {asked}")
        for name, error in zip(best.names, best.errors, strict=True):
            how = "".join(f"; {how}" for how in _how(error))
            yield Text(f"  {printable(name)}: RMSE {error.rmse:,.4g}, 95 % of the largest "
                       f"{error.max95:,.4g}{how}")  # fmt: skip


def _how(error: Expected) -> Iterator[str]:
    """Yield how an error was found, where it is not exact."""
    if error.between is None or not error.rmse:
        return
    low, high = error.between
    on = "" if error.on is None else f" on made-up data ({error.on})"
    yield f"{error.how}{on}: {low:,.4g} to {high:,.4g} with 95 %"


def _beside(found: Planned) -> Iterator[RenderableType]:
    from rich.text import Text

    if found.bound:
        by = sorted({item.by + (f", for {item.assumes}" if item.assumes else "")
                     for item in (*found.bounds, found.together) if item is not None})  # fmt: skip
        yield Text(f"no mechanism has an RMSE below {found.bound:,.4g} on all databases: shown by "
                   f"{'; '.join(by)}")  # fmt: skip
        if any(option.rmse < found.bound for option in found.options):
            yield Text(f"an option below that is no mistake: {_why_below(found)}")
    large = {item.why.partition("\n")[0]: item.mechanism for item in found.refused
             if "dimensions" in item.why}  # fmt: skip
    for why, mechanism in large.items():
        yield Text(f"not compared: {mechanism}, for {why}")
    yield from _late(found)
    for entry in found.plain:
        yield Text(f"under plain differential privacy, the whole budget for {entry['query']}: "
                   f"RMSE {entry['rmse']:,.4g} ({entry['mechanism']})")  # fmt: skip
    yield from _price_of_facts(found)


def _late(found: Planned) -> Iterator[RenderableType]:
    """Yield what could not be compared in time: the best may be among it."""
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    late: dict[str, list[str]] = {}
    for item in found.refused:
        if item.late:
            late.setdefault(item.query, []).append(item.mechanism)
    if found.options and late:
        yield Text("not compared, for the time was over (a longer --time-limit may find a better "
                   "plan):")  # fmt: skip
        yield from (Text(f"  {printable(query)}: {', '.join(dict.fromkeys(names))}")
                    for query, names in late.items())  # fmt: skip


def _price_of_facts(found: Planned) -> Iterator[RenderableType]:
    """Yield that the published facts are what costs, where the error is many times what it were
    without them, the budget being shared by the queries.
    """
    from rich.text import Text

    from blowproof.mechanisms.planning.options import weighted

    best, work = found.chosen, found.workload
    if best is None or not found.request.policy.known or len(found.plain) < len(work):
        return
    plain = weighted([float(entry["rmse"]) for entry in found.plain], work.weights)
    if best.rmse > COSTLY * len(work) * plain > 0:
        yield Text(f"what is published costs more than {COSTLY} times the error: --advice says "
                   "which fact to leave out, and what that saves")  # fmt: skip


def _why_below(found: Planned) -> str:
    """Return what the bound speaks about, and the errors of this plan do not."""
    under = dict.fromkeys(item.assumes for item in (*found.bounds, found.together)
                          if item is not None and item.assumes is not None)  # fmt: skip
    about = ["the worst database", *under]
    few = "" if found.size is None else f", {found.size:,} records"
    here = "" if all(error.on is None for option in found.options for error in option.errors) else (
        f"; errors that are rehearsed are those on made-up data{few}"
    )  # fmt: skip
    return f"the bound is about {' and '.join(about)}{here}"


def advice_lines(told: list[Advice] | None) -> Iterator[RenderableType]:
    """Yield what other publications would save, or cost."""
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    if told is None:
        return
    yield Text()
    if not told:
        yield Text("no other publication could be judged")
        return
    now = told[0].now
    stands = "no mechanism found" if now is None else f"RMSE {now:,.4g}"
    yield Text(f"other publications (each query alone, now {stands}):", style="bold")
    for item in told[:SHOWN]:
        saved = item.saves
        word = "" if saved is None else (
            f", saves {saved:.0%}" if saved >= 0 else f", costs {-saved:.0%} more"
        )  # fmt: skip
        yield Text(f"  {printable(item.change)}: RMSE {item.rmse:,.4g}{word}")
