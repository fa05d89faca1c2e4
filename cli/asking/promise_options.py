"""The options that say what a mechanism promises: an epsilon, a rho, or an epsilon and a delta."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar, cast

import click

from blowproof.cli.asking.options import positive

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["promise_options"]

F = TypeVar("F", bound=Callable[..., object])

_OPTIONS = (
    click.option("--epsilon", type=positive, metavar="E",
                 help="What may be given away: 1, 1/2 or 0.5, exactly."),
    click.option("--delta", type=positive, metavar="D",
                 help="With --epsilon: kept but for this probability."),
    click.option("--rho", type=positive, metavar="R",
                 help="What may be given away in zCDP, for Gaussian noise."),
)  # fmt: skip


def promise_options(*, delta: bool = True) -> Callable[[F], F]:
    """--epsilon, --rho and (if asked for) --delta, as one `promise` argument."""

    def decorate(command: F) -> F:
        @wraps(command)
        def gathered(
            *,
            epsilon: Fraction | None,
            rho: Fraction | None,
            delta: Fraction | None = None,
            **rest: object,
        ) -> object:
            from blowproof.verifier.certify.base.promise import Promise

            if epsilon is None and rho is None:
                raise click.UsageError("Missing option '--epsilon' (or '--rho').")
            return command(promise=Promise(epsilon, rho, delta), **rest)

        wrapped: object = gathered
        for option in reversed(_OPTIONS if delta else (_OPTIONS[0], _OPTIONS[2])):
            wrapped = option(cast("Callable[..., object]", wrapped))
        return cast("F", wrapped)

    return decorate
