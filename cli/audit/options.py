"""The options of `blowproof audit`: what is planned, and what is written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from blowproof.cli.asking.options import not_negative, positive

if TYPE_CHECKING:
    from blowproof.cli.audit.findings import Plan

__all__ = ["FORMATS", "Planned", "format_options", "plan_options"]

FORMATS = ("text", "json", "sarif", "registry")

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True, kw_only=True)
class Planned:
    """What somebody plans to do: the epsilon (or rho) aimed for, and what is to be judged."""

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    claimed: Fraction | None = None
    scale: Fraction | None = None
    variance: Fraction | None = None
    mechanism: str | None = None
    certificate: str | None = None
    html: str | None = None

    @property
    def of_one_query(self) -> bool:
        """Whether something is asked for that belongs to one query."""
        asked = (self.claimed, self.scale, self.variance, self.certificate)
        return any(item is not None for item in asked)

    @property
    def promised(self) -> Fraction | None:
        """What is aimed for, where the command line says so."""
        return self.epsilon if self.rho is None else self.rho

    @property
    def given(self) -> list[str]:
        """The options that were given, as they are written."""
        values = {
            "--epsilon": self.epsilon,
            "--rho": self.rho,
            "--claimed": self.claimed,
            "--planned-scale": self.scale,
            "--planned-variance": self.variance,
            "--mechanism": self.mechanism,
            "--certificate": self.certificate,
            "--html": self.html,
        }
        return [name for name, value in values.items() if value is not None]

    @property
    def judged(self) -> bool:
        """Whether there is something to judge, or to write beside the story."""
        return self.of_one_query or self.mechanism is not None or self.html is not None

    def plan(self, norm: str) -> Plan:
        """Return the plan in a norm; what belongs to another norm is refused, nothing converted."""
        from blowproof.cli.audit.findings import Plan
        from blowproof.cli.audit.noise import NOISE
        from blowproof.models import QueryError

        noise = NOISE[norm]
        given = {
            "epsilon": self.epsilon,
            "rho": self.rho,
            "planned-scale": self.scale,
            "planned-variance": self.variance,
        }
        own = (noise.promise, f"planned-{noise.parameter}")
        for name, value in given.items():
            if value is not None and name not in own:
                fits = "l2-squared" if name in ("rho", "planned-variance") else "l1"
                raise QueryError(
                    f"{name} is not for the norm {norm}, whose noise is {noise.name}, by "
                    f"{noise.promise}\n  try: --{own[name.startswith('planned')]}, or --norm {fits}"
                )
        promised, planned = (given[name] for name in own)
        return Plan(
            noise=noise,
            promised=Fraction(1) if promised is None else promised,
            claimed=self.claimed,
            planned=planned,
            certificate=self.certificate is not None,
        )


_OPTIONS = (
    click.option(
        "--epsilon", type=positive, metavar="E",
        help="The privacy that you aim for.  [default: 1]",
    ),
    click.option(
        "--rho", type=positive, metavar="R",
        help="The same with --norm l2-squared: zCDP.  [default: 1]",
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
        "--planned-variance", "variance", type=positive, metavar="V",
        help="With --norm l2-squared: judge a planned variance of Gaussian noise.",
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
        def gathered(**given: Any) -> object:
            planned = Planned(**{item.name: given.pop(item.name) for item in fields(Planned)})
            return command(planned=planned, **given)

        wrapped: object = gathered
        for option in reversed(_OPTIONS):
            wrapped = option(cast("Callable[..., object]", wrapped))
        return cast("F", wrapped)

    return decorate


def format_options() -> Callable[[F], F]:
    """--format and --json, which is short for --format json, as one `form` argument."""
    form = click.option(
        "--format", "form", type=click.Choice(FORMATS), metavar="FORMAT",
        help="text, json, sarif for code scanning, or registry (of deployments: YAML).  "
        "[default: text]",
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
