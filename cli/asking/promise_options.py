"""The options that say what a mechanism promises: an epsilon, a rho, or an epsilon and a delta."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

import click

from blowproof.cli.asking.options import load, positive

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["NO_PROMISE", "promise_options"]

F = TypeVar("F", bound=Callable[..., object])

_OPTIONS = (
    click.option("--epsilon", type=positive, metavar="E",
                 help="What may be given away: 1, 1/2 or 0.5, exactly."),
    click.option("--delta", type=positive, metavar="D",
                 help="With --epsilon: kept but for this probability."),
    click.option("--rho", type=positive, metavar="R",
                 help="What may be given away in zCDP, for Gaussian noise."),
)  # fmt: skip


NO_PROMISE = "Missing option '--epsilon' (or '--rho')."


def promise_options(*, delta: bool = True, required: bool = True) -> Callable[[F], F]:
    """--epsilon, --rho and (if asked for) --delta, as one `promise` argument (None: none given)."""

    def decorate(command: F) -> F:
        @wraps(command)
        def gathered(
            *,
            epsilon: Fraction | None,
            rho: Fraction | None,
            delta: Fraction | None = None,
            **rest: object,
        ) -> object:
            load()
            from blowproof.verifier.certify.base.promise import Promise

            given = epsilon is not None or rho is not None
            if required and not given:
                raise click.UsageError(NO_PROMISE)
            return command(promise=Promise(epsilon, rho, delta) if given else None, **rest)

        wrapped: object = gathered
        for option in reversed(_OPTIONS if delta else (_OPTIONS[0], _OPTIONS[2])):
            wrapped = option(cast("Callable[..., object]", wrapped))
        return cast("F", wrapped)

    return decorate
