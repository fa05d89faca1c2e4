"""`blowproof ledger [DATA]`: what was spent on which data, by which release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from blowproof.cli.asking.account_options import ledger_option
from blowproof.cli.asking.errors import Exit
from blowproof.cli.asking.options import json_option
from blowproof.cli.asking.piped import data_argument
from blowproof.cli.releasing.tables import table_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from blowproof.mechanisms.budget.accounts import Account, Charge, Guarantee

__all__ = ["ledger"]


@click.command(
    short_help="What was spent on which data.",
    epilog="Example: blowproof ledger examples/census.csv",
)
@data_argument(required=False)
@table_option
@ledger_option
@click.option("--take-over", type=click.Path(), metavar="OLD",
              help="First move the account of DATA out of OLD, a ledger of version 1.")  # fmt: skip
@json_option
def ledger(*, data: str | None, ledger: str | None, take_over: str | None, as_json: bool) -> int:
    """What was spent on which data, by which release: all accounts, or the one of DATA.

    The whole ledger is verified first. One that was altered, cut off or mislaid is shown to nobody,
    and never repaired: what was spent is not known then.

    Exit code 0: in order; 1: overspent or altered; 2: bad input.
    """
    from blowproof.mechanisms.base.errors import AlteredError, LedgerError
    from blowproof.mechanisms.budget.accounts import Book
    from blowproof.mechanisms.budget.ledger import Ledger

    place = Ledger(ledger)
    try:
        if take_over is not None:
            _taken(data, take_over, place)
        elif ledger is not None and not place.exists():
            raise LedgerError(f"{ledger}: there is no ledger")
        accounts: Sequence[Account] = Book(place.entries()).accounts
        if data is not None:
            accounts = _of(accounts, data)
    except AlteredError as error:
        _tell("altered", str(place.path), (), as_json, str(error))
        return Exit.NO
    over = any(item.spent > item.budget for account in accounts for item in account.guarantees)
    _tell("overspent" if over else "in order", str(place.path), accounts, as_json)
    return Exit.NO if over else Exit.OK


def _taken(data: str | None, old: str, place: Any) -> None:
    from blowproof.mechanisms.budget.taking_over import take_over

    if data is None:
        raise click.UsageError("--take-over needs DATA: the file that the old ledger was kept for")
    take_over(data, old, place)


def _of(accounts: Sequence[Account], data: str) -> Sequence[Account]:
    """Return the account of a file's content; other content under a known name is an error."""
    from blowproof.mechanisms.base.errors import LedgerError
    from blowproof.mechanisms.budget.accountant import refuse_old_ledger, stranger
    from blowproof.models.data.content import content_of

    refuse_old_ledger(data)
    content = content_of(data)
    found = [account for account in accounts if account.holds(content)]
    why = "" if found else stranger(accounts, content)
    if why:
        raise LedgerError(f"{data}: {why}\n  try: `blowproof ledger` lists all accounts")
    return found


def _tell(
    verdict: str, path: str, accounts: Sequence[Account], as_json: bool, reason: str = ""
) -> None:
    from blowproof.cli.text.output import print_all, quietly, write_json

    with quietly():
        if as_json:
            document = {
                "schema": "blowproof/ledger/1",
                "ledger": path,
                "verdict": verdict,
                "reason": reason or None,
                "accounts": [_account_json(item) for item in accounts],
            }
            write_json(document)
        elif reason:
            click.echo(f"altered: {reason}", err=True)
        else:
            print_all(_parts(verdict, accounts))


def _account_json(account: Account) -> dict[str, Any]:
    return {
        "account": account.number,
        "opened": account.opened,
        "data": [
            {"path": item.path, "records": item.rows, "columns": list(item.columns)}
            for item in account.sightings
        ],
        "budgets": [_budget_json(item) for item in account.guarantees],
    }


def _budget_json(item: Guarantee) -> dict[str, Any]:
    from blowproof.models import show

    return {
        **{key: item.identity[key] for key in ("policy", "digest", "reading", "answers")},
        "measure": item.measure,
        "budget": show(item.budget),
        "spent": show(item.spent),
        "left": show(item.budget - item.spent),
        "releases": [_charge_json(charge) for charge in item.charges],
    }


def _charge_json(charge: Charge) -> dict[str, Any]:
    from blowproof.models import show

    return {
        "at": charge.at,
        "query": charge.query,
        "mechanism": charge.mechanism,
        "epsilon": None if charge.epsilon is None else show(charge.epsilon),
        **({} if charge.rho is None else {"rho": show(charge.rho)}),
        "records": None if charge.records is None else charge.records.text,
    }


def _parts(verdict: str, accounts: Sequence[Account]) -> Iterator[RenderableType]:
    from rich.text import Text

    from blowproof.models.policy.in_words import counted, printable, short

    if not accounts:
        yield Text("no account: nothing was spent")
    for account in accounts:
        yield Text(f"account {account.number}", style="bold")
        for item in account.sightings:
            yield Text(f"data    {counted(item.rows, 'record')} in {printable(item.path)}")
        for promised in account.guarantees:
            said = {key: printable(value) for key, value in promised.identity.items()}
            spent, budget = promised.spent, promised.budget
            yield Text(
                f"budget  {'rho = ' * (promised.measure == 'rho')}{short(spent)} of "
                f"{short(budget)} spent, {short(budget - spent)} left, "
                f"under policy {said['policy']}, reading {said['reading']}, "
                f"answers {said['answers']}"
            )
            yield from _releases(promised)
        if len(account.guarantees) > 1:
            yield Text(
                "Guarantees do not add up, nor do epsilon and rho; these people pay for all."
            )
        yield Text()
    yield Text(verdict)


def _releases(promised: Guarantee) -> Iterator[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    from blowproof.models.policy.in_words import printable, short

    if not promised.charges:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")
    in_rho = promised.measure == "rho"
    measures = ("rho", "of epsilon") if in_rho else ("epsilon",)
    for name in ("        when", *measures, "query", "mechanism", "records"):
        table.add_column(name, overflow="fold", no_wrap=name.endswith("when"))
    for charge in promised.charges:
        records = "all" if charge.records is None else charge.records.text
        at = f"        {charge.at[:16].replace('T', ' ')}"
        pure = "" if charge.epsilon is None else short(charge.epsilon)
        costs = (short(charge.cost), pure) if in_rho else (pure,)
        cells = (at, *costs, charge.query, charge.mechanism, records)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    yield table
