"""`blowproof plan POLICY [DATA]`: what a release would be worth, before anything is spent."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import click

from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import (
    Options,
    json_option,
    policy_argument,
    positive,
    question_options,
)
from blowproof.cli.asking.piped import data_argument
from blowproof.cli.asking.promise_options import promise_options
from blowproof.cli.releasing.tables import table_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from blowproof.cli.asking.ask import Session
    from blowproof.cli.audit.findings import Finding
    from blowproof.mechanisms.planning.advice import Advice
    from blowproof.mechanisms.planning.planner import Planned
    from blowproof.models import Policy
    from blowproof.verifier.certify.base.promise import Promise

__all__ = ["compared", "plan", "plan_document", "public_size"]

LIMIT = 60.0
SHOWN = 12
PLAIN = ("laplace", "table")
"""Plain noise, on the numbers or on a table: what is said first where nothing answers."""
LATE = ("time limit was over", "not proved in time", "is known to be enough", "nothing bounds")
"""How a mechanism says that there was too little time for it."""


@click.command(
    short_help="What a release would be worth, before it is paid for.",
    epilog="Example: blowproof plan examples/census.toml --query histogram --epsilon 1",
)
@policy_argument()
@data_argument(required=False)
@table_option
@click.option("--query", "queries", multiple=True, metavar="Q",
              help="A query of the workload; once for each.")  # fmt: skip
@click.option("--weight", "weights", multiple=True, type=positive, metavar="W",
              help="What an error in each query counts, in the same order.")  # fmt: skip
@promise_options(delta=False)
@click.option("--output", type=click.Path(), metavar="FILE",
              help="Write the plan to a file, for release --plan FILE.")  # fmt: skip
@click.option("--plot", type=click.Path(), metavar="FILE",
              help="Write a picture of the errors (.svg).")  # fmt: skip
@click.option("--advice", is_flag=True,
              help="Say what would be gained if something else were published.")  # fmt: skip
@question_options(time_limit=LIMIT, whole=True)
@json_option
def plan(  # noqa: PLR0913 # one parameter for each option
    *,
    policy: str,
    data: str | None,
    queries: tuple[str, ...],
    weights: tuple[Fraction, ...],
    promise: Promise,
    output: str | None,
    plot: str | None,
    advice: bool,
    question: Options,
    as_json: bool,
) -> int:
    """What a release would be worth: every mechanism that applies, with its expected error.

    Nothing is drawn and nothing spent. Errors are exact where the answers are the noisy ones, else
    rehearsed on made-up data (--seed), for the shape that is worst. DATA are looked at for n alone,
    where n is public. Beside them stand a lower bound on what any mechanism could do, and what the
    same queries would cost under plain differential privacy. --advice: what the error would be if a
    known fact were left out, a coarser marginal published, or two of them as one table.

    Exit code 0: planned; 1: no mechanism is worth releasing; 2: bad input; 3: undecided in time.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.text.files import keep_apart, save
    from blowproof.cli.text.output import print_all, quietly, write_json

    keep_apart({"--output": output, "--plot": plot}, (policy, data))
    if plot is not None and not plot.lower().endswith(".svg"):
        raise click.BadParameter(f"{plot} does not end in .svg", param_hint="--plot")
    session = Session(question, total=question.time_limit)
    read, _ = session.open(policy)
    found = compared(read, data, queries, weights, promise, session, seed=question.seed)
    told = _advice(found, session) if advice else None
    from blowproof.mechanisms.planning.picture import of_plan
    from blowproof.mechanisms.planning.plan_file import document

    written = document(found, data=data, advice=told)
    if output is not None and not found.options:
        click.echo(f"{output} was not written: there is nothing to draw", err=True)
        output = None
    if output is not None:
        import json

        save(output, json.dumps(written, indent=1) + "\n")
    if plot is not None:
        save(plot, of_plan(found))
    with quietly():
        if as_json:
            write_json(written)
        else:
            print_all(plan_parts(found, output))
            print_all(advice_lines(told))
            if told is None and not found.options and read.known:
                click.echo("try: --advice, which says what it would be with a known fact left out")
            if found.worth_it and output is None and sys.stdout.isatty():
                click.echo(f"\nnext: {_next(policy, data, found, promise)}", err=True)
    return _code(found)


def plan_document(policy: Policy, finding: Finding, session: Session) -> dict[str, Any]:
    """Return the plan for one query of an audit, as `blowproof plan --json` writes it."""
    from blowproof.mechanisms.planning.plan_file import document
    from blowproof.verifier.certify.base.promise import Promise

    plan = finding.plan
    rho = plan.noise.promise == "rho"
    promise = Promise(None, plan.promised) if rho else Promise(plan.promised)
    queries = (finding.query.name,)
    return document(compared(policy, None, queries, (), promise, session, seed=None), data=None)


def compared(
    policy: Policy,
    data: str | None,
    queries: tuple[str, ...],
    weights: tuple[Fraction, ...],
    promise: Promise,
    session: Session,
    *,
    seed: int | None,
) -> Planned:
    """Return the comparison of all mechanisms, within the session's time."""
    from blowproof.cli.asking.ask import scope_of
    from blowproof.mechanisms.planning.workload import workload
    from blowproof.models.policy.readings import Reading
    from blowproof.verifier.asked.names import Engine

    question = session.question
    asked = workload(queries, weights, policy)
    reading = cast("Reading", question.reading)
    size = public_size(policy, data, reading, session)

    def compare() -> Planned:
        # what takes long to load is loaded while the bar is shown
        from blowproof.mechanisms.planning.planner import planned
        from blowproof.mechanisms.release.release import Request

        request = Request(
            policy=policy,
            query=asked.queries[0],
            epsilon=promise.epsilon or Fraction(0),
            rho=promise.rho,
            reading=reading,
            answers=scope_of(question),
            engine=cast("Engine", question.engine),
            time_limit=session.left if session.left is not None else question.time_limit,
        )
        return planned(request, asked, size=size, seed=seed)

    title = f"comparing mechanisms for {', '.join(asked.texts)}"
    return session.run(compare, late=True, title=title)


def public_size(policy: Policy, data: str | None, reading: str, session: Session) -> int | None:
    """Return n where it is public and at hand: from the data, or from the policy."""
    from blowproof.cli.asking.ask import scope_of
    from blowproof.models import setting

    answers = scope_of(session.question)
    if data is None:
        return setting(policy, answers).size
    from blowproof.mechanisms.release.agreement import require_agreement
    from blowproof.models.data.dataset import Dataset
    from blowproof.models.policy.readings import Reading

    with Dataset(data, policy.domain) as dataset:
        session.read(data, lambda: require_agreement(policy, answers, dataset))
        return dataset.size if policy.size_known(cast("Reading", reading)) else None


def _next(policy: str, data: str | None, found: Planned, promise: Promise) -> str:
    """The command that draws what was planned: it plans again, or takes a plan that was kept."""
    from shlex import quote

    where = " ".join(quote(path) for path in (policy, data or "DATA"))
    queries = [query.name for query in found.workload.queries]
    if len(queries) > 1:
        return f"the same with --output plan.json, then blowproof release {where} --plan plan.json"
    much = promise.epsilon if promise.rho is None else promise.rho
    measure = "--epsilon" if promise.rho is None else "--rho"
    return f"blowproof release {where} --query {quote(queries[0])} {measure} {much} --budget {much}"


def _advice(found: Planned, session: Session) -> list[Advice]:
    """Return what would be gained by other publications, within as long as the plan itself took."""
    import time
    from dataclasses import replace

    from blowproof.mechanisms.planning.advice import advised

    limit = session.question.time_limit
    deadline = None if limit is None else time.monotonic() + limit
    request = replace(found.request, deadline=deadline)
    return session.run(
        lambda: advised(request, found.workload), late=True, title="judging other publications"
    )


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


def _code(found: Planned) -> int:
    if found.worth_it:
        return Exit.OK
    late = any(sign in item.why for item in found.refused for sign in LATE)
    return Exit.UNDECIDED if not found.options and late else Exit.NO


def plan_parts(found: Planned, output: str | None) -> Iterator[RenderableType]:
    """Yield the comparison as a screen."""
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
        yield from _refused_lines(found)
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
    yield from _beside(found)
    if output is not None:
        yield Text(f"plan written to {printable(output)}: blowproof release ... --plan {output}")


def _refused_lines(found: Planned) -> Iterator[RenderableType]:
    """Yield why no mechanism answers, query by query, and what may help.

    Each reason once, with the mechanisms that have it; that of plain noise first, which answers
    every query unless the noise is not known, or drowns what it is added to.
    """
    from rich.text import Text

    from blowproof.models.policy.in_words import printable

    who: dict[str, dict[str, dict[str, None]]] = {}
    for item in found.refused:
        why = item.why.partition("\n")[0].partition(": nothing was")[0]
        name = item.mechanism.partition(",")[0]
        who.setdefault(item.query, {}).setdefault(why, {})[name] = None
    yield Text("no mechanism answers this workload:", style="bold")
    for query, reasons in who.items():
        yield Text(f"  {printable(query)}")
        for why, names in sorted(reasons.items(), key=lambda item: not {*PLAIN} & {*item[1]}):
            yield Text(f"    {', '.join(names)}: {printable(why)}")


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
    if len(found.workload) > 1:
        for part in best.parts:
            asked = ", ".join(printable(best.names[place]) for place in part.queries)
            measure = "epsilon" if found.request.rho is None else "rho"
            if not any(error.rmse for error in part.errors):
                yield Text(f"  exact, for no secret changes it: {asked}")
                continue
            yield Text(f"  {measure} {float(part.budget):.4g} by {part.mechanism}: {asked}")
            if "measure" in part.settings:
                yield Text(f"    from {printable(part.settings['measure'])}")
        for name, error in zip(best.names, best.errors, strict=True):
            yield Text(f"  {printable(name)}: RMSE {error.rmse:,.4g}, 95 % of the largest "
                       f"{error.max95:,.4g}")  # fmt: skip


def _beside(found: Planned) -> Iterator[RenderableType]:
    from rich.text import Text

    if found.bound:
        by = sorted({item.by + (f", for {item.assumes}" if item.assumes else "")
                     for item in found.bounds if item is not None})  # fmt: skip
        yield Text(f"no mechanism has an RMSE below {found.bound:,.4g} on all databases: shown by "
                   f"{'; '.join(by)}")  # fmt: skip
    large = {item.why.partition("\n")[0]: item.mechanism for item in found.refused
             if "dimensions" in item.why}  # fmt: skip
    for why, mechanism in large.items():
        yield Text(f"not compared: {mechanism}, for {why}")
    for entry in found.plain:
        yield Text(f"under plain differential privacy, the whole budget for {entry['query']}: "
                   f"RMSE {entry['rmse']:,.4g} ({entry['mechanism']})")  # fmt: skip
