"""The options of `blowproof audit`: what is planned, and what is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, cast

import click

from blowproof.cli.asking.options import not_negative, positive

__all__ = ["FORMATS", "Planned", "format_options", "plan_options"]

FORMATS = ("text", "json", "sarif")

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, kw_only=True)
class Planned:
    """What somebody plans to do: the epsilon aimed for, and what is to be judged."""

    epsilon: Fraction
    claimed: Fraction | None = None
    scale: Fraction | None = None
    mechanism: str | None = None
    certificate: str | None = None
    html: str | None = None

    @property
    def of_one_query(self) -> bool:
        """Whether something is asked for that belongs to one query."""
        return any(item is not None for item in (self.claimed, self.scale, self.certificate))


_OPTIONS = (
    click.option(
        "--epsilon", type=positive, default="1", show_default=True, metavar="E",
        help="The privacy that you aim for.",
    ),
    click.option(
        "--claimed", type=not_negative, metavar="S",
        help="Judge a claimed sensitivity (exit code 1: too small).",
    ),
    click.option(
        "--planned-scale", "scale", type=not_negative, metavar="B",
        help="Judge a planned scale of Laplace noise (exit code 1: too small).",
    ),
    click.option(
        "--mechanism", type=click.Path(), metavar="FILE",
        help="Judge a mechanism file (exit code 1: refuted).",
    ),
    click.option(
        "--certificate", type=click.Path(dir_okay=False), metavar="FILE",
        help="Write a proof of the number that blowproof check accepts.",
    ),
    click.option(
        "--html", type=click.Path(dir_okay=False), metavar="FILE",
        help="Write the whole story as one page for a browser.",
    ),
)  # fmt: skip


def plan_options() -> Callable[[F], F]:
    """--epsilon, --claimed, --planned-scale, --mechanism, ..., as one `planned`."""

    def decorate(command: F) -> F:
        from functools import wraps

        @wraps(command)
        def gathered(
            *,
            epsilon: Fraction,
            claimed: Fraction | None,
            scale: Fraction | None,
            mechanism: str | None,
            certificate: str | None,
            html: str | None,
            **rest: object,
        ) -> object:
            planned = Planned(
                epsilon=epsilon,
                claimed=claimed,
                scale=scale,
                mechanism=mechanism,
                certificate=certificate,
                html=html,
            )
            return command(planned=planned, **rest)

        wrapped: object = gathered
        for option in reversed(_OPTIONS):
            wrapped = option(cast("Callable[..., object]", wrapped))
        return cast("F", wrapped)

    return decorate


def format_options() -> Callable[[F], F]:
    """--format and --json, which is short for --format json, as one `form` argument."""
    form = click.option(
        "--format", "form", type=click.Choice(FORMATS), metavar="FORMAT",
        help="text, json, or sarif for code scanning.  [default: text]",
    )  # fmt: skip
    short = click.option("--json", "as_json", is_flag=True, help="The same as --format json.")

    def decorate(command: F) -> F:
        from functools import wraps

        @wraps(command)
        def gathered(*, form: str | None, as_json: bool, **rest: object) -> object:
            if as_json and form not in (None, "json"):
                raise click.UsageError(f"--json and --format {form}: one of them, please")
            return command(form="json" if as_json else form or "text", **rest)

        return cast("F", form(short(gathered)))

    return decorate
