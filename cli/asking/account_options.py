"""The options that say in which account a release adds up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, cast

import click

from blowproof.cli.asking.options import positive

__all__ = ["AccountChoice", "account_options", "ledger_option"]

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True)
class AccountChoice:
    """What the options ask for."""

    budget: Fraction | None
    ledger: str | None
    unaccounted: bool
    new_people: bool
    same_people_as: int | None
    new_guarantee: bool

    def __post_init__(self) -> None:
        """Refuse options that contradict each other."""
        if self.unaccounted and (
            self.budget is not None
            or self.ledger is not None
            or self.new_people
            or self.same_people_as is not None
            or self.new_guarantee
        ):
            raise click.UsageError(
                "--unaccounted keeps no account: leave the account's options out"
            )
        if self.new_people and self.same_people_as is not None:
            raise click.UsageError("--new-people or --same-people-as: they cannot be both")


ledger_option = click.option(
    "--ledger",
    type=click.Path(),
    metavar="FILE",
    help="Where releases add up.  [default: $BLOWPROOF_LEDGER, or your own store]",
)

_OPTIONS = (
    click.option("--budget", type=positive, metavar="B",
                 help="What all releases about these people may give away; opens an account."),
    ledger_option,
    click.option("--unaccounted", is_flag=True,
                 help="Keep no account of this release: nothing adds it up."),
    click.option("--new-people", is_flag=True,
                 help="DATA are about people who have no account yet."),
    click.option("--same-people-as", type=click.IntRange(min=1), metavar="ACCOUNT",
                 help="DATA are about the people of this account, changed since."),
    click.option("--new-guarantee", is_flag=True,
                 help="Open a further budget for the same people, under this policy."),
)  # fmt: skip


def account_options(command: F) -> F:
    """--budget, --ledger, --unaccounted and whose data they are, as one `choice` argument."""
    from functools import wraps

    @wraps(command)
    def gathered(
        *,
        budget: Fraction | None,
        ledger: str | None,
        unaccounted: bool,
        new_people: bool,
        same_people_as: int | None,
        new_guarantee: bool,
        **rest: object,
    ) -> object:
        choice = AccountChoice(
            budget, ledger, unaccounted, new_people, same_people_as, new_guarantee
        )
        return command(choice=choice, **rest)

    wrapped: object = gathered
    for option in reversed(_OPTIONS):
        wrapped = option(cast("Callable[..., object]", wrapped))
    return cast("F", wrapped)
