"""Options that several commands share, and exact numbers on the command line."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar, cast

import click

from blowproof.verifier.asked.names import ENGINES

__all__ = [
    "ENGINES",
    "NORMS",
    "READINGS",
    "SCOPES",
    "Options",
    "attacker_options",
    "json_option",
    "load",
    "memory_option",
    "not_negative",
    "policy_argument",
    "positive",
    "question_options",
    "seconds",
]

READINGS = ("published", "secret-moves", "add-remove", "markov", "pufferfish")
SCOPES = ("any", "given")
NORMS = ("l1", "l2-squared", "linf", "range")
"""The names as in `blowproof.models`, which --help must not import."""

_NUMBER = re.compile(r"\+?\d+(/\d+|\.\d+)?")
_DIGITS = 1000
_EXACT = "write 3, 7/2 or 3.5"

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True)
class Options:
    """What the common options ask for."""

    reading: str
    answers: str | None
    engine: str
    time_limit: float | None
    seed: int | None
    norm: str = "l1"


def positive(text: object) -> Fraction:
    """Return a number above zero, read exactly: 3, 7/2 or 3.5.

    >>> positive("0.1")
    Fraction(1, 10)
    """
    number = _read(text, "above zero")
    if number == 0:
        raise click.BadParameter(f"0 is not above zero: {_EXACT}")
    return number


def not_negative(text: object) -> Fraction:
    """Return a number from zero on, read exactly."""
    return _read(text, "from zero on")


def _read(text: object, where: str) -> Fraction:
    written = str(text).strip()
    short = written if len(written) <= 40 else f"{written[:40]}..."
    if len(written) > _DIGITS or not (written.isascii() and _NUMBER.fullmatch(written)):
        raise click.BadParameter(f"{short!r} is not a number {where}: {_EXACT}")
    _, slash, below = written.partition("/")
    if slash and int(below) == 0:
        raise click.BadParameter(f"{short!r} divides by zero: {_EXACT}")
    return Fraction(written)


def seconds(text: object) -> float:
    """Return a time in seconds, above zero."""
    try:
        value = float(str(text))
    except ValueError:
        value = math.nan
    if not 0 < value <= 1e8:
        raise click.BadParameter(f"{str(text)[:40]!r} is not a time in seconds above zero")
    return value


def _memory(ctx: click.Context, _: click.Parameter, text: str | None) -> None:
    """Set the limit of this process."""
    if ctx.resilient_parsing:
        return
    from blowproof.cli.asking import memory

    limit = memory.default_limit() if text is None else memory.read_size(text)
    if limit is None or limit < memory.LEAST:
        raise click.BadParameter(f"{str(text)[:40]!r} is not a size from 100MB on: write 8GB")
    memory.allow(limit)


memory_option = click.option(
    "--memory-limit",
    metavar="SIZE",
    expose_value=False,
    callback=_memory,
    help="Stop above so much memory, with the bounds reached: 500MB, 8GB.  "
    "[default: 8GB, or three quarters of the machine]",
)


def policy_argument(name: str = "policy") -> Callable[[F], F]:
    """A policy file; what is wrong with it is said when it is read."""
    return click.argument(name, type=click.Path(), metavar=name.upper())


json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, and nothing else there."
)

_READING = click.option(
    "--reading",
    type=click.Choice(READINGS),
    default="published",
    show_default=True,
    help="Which databases count as neighbours.",
)
_ANSWERS = click.option(
    "--answers",
    type=click.Choice(SCOPES),
    help="Whose answers: the worst case over any, or the given numbers. Default: the file's.",
)
_NORM = click.option(
    "--norm",
    type=click.Choice(NORMS),
    default="l1",
    show_default=True,
    help="How a change is measured: l1 (Laplace noise), l2-squared (Gaussian; S is a square), "
    "linf and range (selections).",
)


class _EngineName(click.Choice[str]):
    """An engine: one of those that `--help` names, or another of the registry, which is asked last.

    Loading it takes longer than `--help` and completion may.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or refuse it with a list of what there is."""
        if value not in self.choices:
            from blowproof.verifier.portfolio.registry import offered

            if value in offered():
                return str(value)
        return super().convert(value, param, ctx)


_ENGINE = click.option(
    "--engine",
    type=_EngineName(ENGINES),
    default="auto",
    show_default=True,
    help="Who computes: one engine alone, or (auto) the whole plan, as `explain` lists it.",
)
_SEED = click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**31 - 1),
    metavar="N",
    help="Seed of searches that try things in random order; never of noise.",
)


def attacker_options(command: F) -> F:
    """--answers, --time-limit and --memory-limit as one `question`: about attackers, not pairs."""
    from functools import wraps

    @wraps(command)
    def gathered(*, answers: str | None, time_limit: float | None, **rest: object) -> object:
        load()
        return command(question=Options("pufferfish", answers, "auto", time_limit, None), **rest)

    limit = click.option(
        "--time-limit",
        type=seconds,
        metavar="SECONDS",
        help="Stop the search after this long, with the bounds reached.",
    )
    wrapped: object = gathered
    for option in (memory_option, limit, _ANSWERS):
        wrapped = option(cast("Callable[..., object]", wrapped))
    return cast("F", wrapped)


def load() -> None:
    """Load what asks questions, and say so meanwhile."""
    from blowproof.cli.asking.progress import loading

    if "blowproof.cli.asking.ask" in sys.modules:
        return
    with loading():
        import blowproof.cli.asking.ask  # noqa: F401 # for the command that comes next


def question_options(
    *, time_limit: float | None = None, whole: bool = False, norm: bool = False
) -> Callable[[F], F]:
    """--reading, --answers, --engine, --time-limit and --seed, as one `question` argument.

    --memory-limit goes with them; it is a property of the process, so no command hands it on.

    `whole`: the command as a whole keeps the time limit, not each search. `norm`: and --norm.
    """
    searches = "End after this long" if whole else "Stop each search after this long"
    limit = click.option(
        "--time-limit",
        type=seconds,
        default=time_limit,
        show_default=time_limit is not None,
        metavar="SECONDS",
        help=f"{searches}, with the bounds reached.",
    )

    def decorate(command: F) -> F:
        from functools import wraps

        @wraps(command)
        def gathered(
            *,
            reading: str,
            answers: str | None,
            engine: str,
            time_limit: float | None,
            seed: int | None,
            norm: str = "l1",
            **rest: object,
        ) -> object:
            question = Options(reading, answers, engine, time_limit, seed, norm)
            load()
            return command(question=question, **rest)

        wrapped: object = gathered
        asked = (_SEED, _ENGINE, memory_option, limit, _ANSWERS, *((_NORM,) if norm else ()))
        for option in (*asked, _READING):
            wrapped = option(cast("Callable[..., object]", wrapped))
        return cast("F", wrapped)

    return decorate
