"""`blowproof sparse POLICY`: sparse or not; the policy graph, its longest cycle and path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
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
    import networkx as nx
    from rich.console import RenderableType

    from blowproof.models import Policy
    from blowproof.verifier.databases.sparsity import Offending, Sparsity
    from blowproof.verifier.engines.policy_graph.graph import PolicyGraphBound
    from blowproof.verifier.engines.policy_graph.longest import Longest, OnLongest

    Search = Callable[..., Longest]

__all__ = ["sparse"]

TIME_LIMIT = 30
DRAWN = 40
"""How many nodes are drawn for people, and how many names in one line."""


@click.command(
    short_help="Sparse or not; the policy graph.",
    epilog="Example: blowproof sparse examples/census.toml --dot graph.dot",
)
@policy_argument()
@click.option("--dot", type=click.Path(dir_okay=False), metavar="FILE",
              help="Write the policy graph as a DOT file, for Graphviz.")  # fmt: skip
@click.option("--time-limit", type=seconds, default=TIME_LIMIT, show_default=True,
              metavar="SECONDS", help="Stop the search for long cycles and paths.")  # fmt: skip
@memory_option
@json_option
def sparse(policy: str, dot: str | None, time_limit: float, as_json: bool) -> int:
    """Does every secret pair lift at most one known count, and lower at most one?

    If so, the policy graph says how many records can change at once: alpha is the length of its
    longest cycle, xi that of its longest path from v+ to v-.

    Exit code 0: sparse; 1: not sparse; 2: bad input; 3: undecided, be it that sparsity does not
    speak about such facts, or that there are only bounds on alpha or xi.
    """
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.text.files import keep_apart, save
    from blowproof.cli.text.output import print_all, quietly, write_json
    from blowproof.verifier.databases import sparsity

    keep_apart({"--dot": dot}, [policy])
    session = Session(Options("published", None, "auto", time_limit, None))
    read, _ = session.open(policy)
    found = session.run(lambda: sparsity.sparse(read))
    bound = _bound(read, found, session.question.time_limit or 0) if found.sparse else None
    if dot is not None and bound is not None:
        save(dot, _dot(bound.graph))
    with quietly():
        if as_json:
            write_json(_document(read, found, bound))
        else:
            print_all(_parts(read, found, bound))
    return _code(found, bound)


def _code(found: Sparsity, bound: PolicyGraphBound | None) -> Exit:
    if found.sparse is None:
        return Exit.UNDECIDED
    if bound is None:
        return Exit.NO
    return Exit.OK if bound.alpha.exact and bound.xi.exact else Exit.UNDECIDED


# --- the search ----------------------------------------------------------------------------------


def _bound(policy: Policy, found: Sparsity, time_limit: float) -> PolicyGraphBound:
    """Search for xi, then for alpha; Ctrl-C ends the search with the bounds reached so far."""
    from blowproof.verifier.engines.policy_graph.graph import (
        PolicyGraphBound,
        alpha,
        policy_graph,
        xi,
    )

    graph = policy_graph(policy, found=found)
    path, interrupted = _searched("xi", xi, graph, time_limit / 2)
    cycle, _ = _searched("alpha", alpha, graph, 0 if interrupted else time_limit / 2)
    return PolicyGraphBound.of(policy, graph, cycle, path)


def _searched(
    name: str, search: Search, graph: nx.DiGraph, time_limit: float
) -> tuple[Longest, bool]:
    """Return what a search found, and whether it was stopped before its time."""
    from blowproof.cli.asking.stoppable import Stopped, watch

    latest: list[Longest] = []
    with _status(name) as show:

        def keep(found: Any) -> None:
            latest[:] = [found]
            show(found)

        try:
            task = partial(search, graph, time_limit=time_limit)
            return watch(lambda post: task(on_bound=post), time_limit=None, on_post=keep), False
        except Stopped:
            if not latest:
                raise
            return latest[-1], True


@contextmanager
def _status(name: str) -> Iterator[OnLongest]:
    """Show the bounds so far on stderr, if that is a terminal."""
    import sys

    if not sys.stderr.isatty():
        yield lambda found: None
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{name} (Ctrl-C stops)") as status:
        yield lambda found: status.update(f"{found.lower} <= {name} <= {found.upper}")


# --- for scripts ---------------------------------------------------------------------------------


def _document(policy: Policy, found: Sparsity, bound: PolicyGraphBound | None) -> dict[str, Any]:
    return {
        "schema": "blowproof/sparse/1",
        "policy": policy.name,
        "sparse": found.sparse,
        "reasons": list(found.reasons),
        "offending": None if found.offending is None else _pair(policy, found.offending),
        "graph": None
        if bound is None
        else {"nodes": list(bound.graph.nodes), "edges": [list(arc) for arc in bound.graph.edges]},
        "alpha": None if bound is None else _length(bound.alpha, "cycle"),
        "xi": None if bound is None else _length(bound.xi, "path"),
        "records": None if bound is None else {"lower": bound.lower, "upper": bound.upper},
    }


def _pair(policy: Policy, pair: Offending) -> dict[str, Any]:
    from blowproof.verifier.asked.answer import json_value

    return {
        "from": json_value(policy.domain, pair.source),
        "to": json_value(policy.domain, pair.target),
        "lifts": list(pair.lifts),
        "lowers": list(pair.lowers),
    }


def _length(found: Longest, what: str) -> dict[str, Any]:
    return {"lower": found.lower, "upper": found.upper, what: list(found.nodes)}


def _dot(graph: nx.DiGraph) -> str:
    """Return the graph in the language of Graphviz; opposite arcs are one line with two heads."""
    import json

    lines = [f"  {json.dumps(node)};" for node in graph.nodes]
    for u, v in graph.edges:
        if not graph.has_edge(v, u):
            lines.append(f"  {json.dumps(u)} -> {json.dumps(v)};")
        elif u < v:
            lines.append(f"  {json.dumps(u)} -> {json.dumps(v)} [dir=both];")
    return "\n".join(["digraph policy {", *lines, "}", ""])


# --- for people ----------------------------------------------------------------------------------


def _parts(
    policy: Policy, found: Sparsity, bound: PolicyGraphBound | None
) -> Iterator[RenderableType]:
    from rich.text import Text

    from blowproof.models.policy.in_words import printable, record_text

    name = printable(policy.name)
    if found.sparse is None:
        yield Text(f"{name}: sparsity does not speak about these facts", style="bold")
        yield from (Text(f"  {printable(reason)}") for reason in found.reasons)
        return
    yield Text(f"{name}: {'sparse' if found.sparse else 'not sparse'}", style="bold")
    if found.offending is not None:
        pair = found.offending
        yield Text("\nThis secret pair changes several known counts in the same direction:")
        yield Text(f"  from    {record_text(policy.domain, pair.source)}")
        yield Text(f"  to      {record_text(policy.domain, pair.target)}")
        yield Text(f"  lifts   {_names(pair.lifts)}")
        yield Text(f"  lowers  {_names(pair.lowers) or 'nothing'}")
    if bound is not None:
        yield Text("\nPolicy graph: an arc lowers its tail and lifts its head.")
        yield from _drawn(bound.graph)
        yield Text()
        yield Text(_witness("alpha", bound.alpha, "longest cycle"))
        yield Text(_witness("xi", bound.xi, "longest path from v+ to v-"))
        yield Text(f"\n{_meaning(bound)}")


def _names(names: Sequence[Any]) -> str:
    from blowproof.models.policy.in_words import printable

    shown = [printable(name) for name in names[:DRAWN]]
    return ", ".join(shown) + (f", ... ({len(names)} in all)" if len(names) > DRAWN else "")


def _drawn(graph: nx.DiGraph) -> Iterator[RenderableType]:
    """Yield one line for each node: where its arcs lead."""
    from rich.padding import Padding
    from rich.table import Table

    from blowproof.models.policy.in_words import printable

    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column()
    table.add_column()
    table.add_column(overflow="fold")
    for node in list(graph.nodes)[:DRAWN]:
        heads = list(graph.successors(node))
        if heads:
            table.add_row(printable(node), "->", _names(heads))
    hidden = graph.number_of_nodes() - DRAWN
    if hidden > 0:
        table.add_row("...", "", f"{hidden} more nodes (--json or --dot has them all)")
    yield Padding(table, (0, 0, 0, 2), expand=False)


def _witness(name: str, found: Longest, what: str) -> str:
    value = f"= {found.lower}" if found.exact else f"in {found.lower}..{found.upper}"
    end = " -> (back)" if name == "alpha" else ""
    nodes = list(found.nodes[:DRAWN])
    dots = " -> ..." if len(found.nodes) > DRAWN else ""
    drawn = (
        f": {' -> '.join(_names([n]) for n in nodes)}{dots}{end}" if nodes else ": there is none"
    )
    return f"{name} {value}, the {what}{drawn}"


def _meaning(bound: PolicyGraphBound) -> str:
    if bound.upper == 0:
        return "No record can change in secret, so the histogram can be published as it is."
    most = f"{bound.upper}" if bound.exact else f"{bound.upper} (or fewer, down to {bound.lower})"
    return (
        f"At most {most} records change at once, so S(histogram) <= {2 * bound.upper}.\n"
        "This is about the reading secret-moves, and about published where every two values are "
        "secret."
    )
