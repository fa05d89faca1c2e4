"""What commands make of answers beside them, at no further cost: a picture, quantiles, records."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from rich.console import RenderableType

    from blowproof.mechanisms.combining.estimator import Estimator
    from blowproof.mechanisms.release.release import Released
    from blowproof.models import BoundQuery, Policy

__all__ = ["Extras", "extra_options", "show_released"]

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True)
class Extras:
    """What is wanted beside the answers."""

    plot: str | None = None
    synthetic: str | None = None
    quantiles: tuple[str, ...] = ()

    @property
    def wants_errors(self) -> bool:
        """Whether the answers' standard errors are needed."""
        return self.plot is not None or bool(self.quantiles)

    def require(
        self, policy: Policy, queries: Sequence[BoundQuery], inputs: tuple[str | None, ...],
        outputs: dict[str, str | None], *, overwrite: bool,
    ) -> None:  # fmt: skip
        """Refuse, before anything is spent, what could not be made afterwards."""
        from blowproof.cli.text.files import keep_apart
        from blowproof.mechanisms.combining.quantiles import axis_of, shares_of
        from blowproof.mechanisms.combining.synthetic import require_possible
        from blowproof.models import DataError, QueryError

        files = {"--plot": self.plot, "--synthetic": self.synthetic}
        keep_apart({**outputs, **files}, inputs)
        endings = {"--plot": (".svg",), "--synthetic": (".csv", ".parquet")}
        for option, path in files.items():
            if path is None:
                continue
            if not path.lower().endswith(endings[option]):
                raise click.BadParameter(
                    f"{path} does not end in {' or '.join(endings[option])}: name it "
                    f"{path.rpartition('.')[0] or path}{endings[option][0]}",
                    param_hint=option,
                )
            if not overwrite and os.path.lexists(path):
                raise DataError(
                    f"{path}: this file exists: nothing was drawn and nothing spent"
                    f"\n  try: another {option}, or --overwrite"
                )
        if self.synthetic is not None:
            for query in queries:
                require_possible(policy, query)
        if self.quantiles:
            shares_of(self.quantiles)
            if len(queries) > 1:
                raise QueryError(
                    "quantiles are said of one query, and the plan has "
                    f"{len(queries)}: nothing was drawn and nothing spent\n  try: leave --quantile "
                    "out, and ask blowproof estimate --quantile of the answer file afterwards"
                )
            axis_of(queries[0], policy.domain)

    def finish(
        self, released: Released, estimator: Callable[[], Estimator] | None = None
    ) -> Released:
        """Write the files that are wanted; return the release with what they hold in its details.

        `estimator`: of everything that the records are to agree with (None: of this release).
        """
        return replace(released, details={**released.details, **self._made(released, estimator)})

    def finish_paid(self, released: Released) -> tuple[Released, str | None]:
        """Do the same for answers that are paid for, and must be shown whatever fails here.

        Also returned: what failed and why.
        """
        from blowproof.models import BlowproofError

        try:
            return self.finish(released), None
        except (BlowproofError, OSError, ArithmeticError, ValueError) as error:
            return released, str(error)

    def _made(
        self, released: Released, estimator: Callable[[], Estimator] | None
    ) -> dict[str, Any]:
        made: dict[str, Any] = {}
        if self.quantiles:
            made["quantiles"] = _quantiles(released, self.quantiles)
        if self.plot is not None:
            from blowproof.cli.text.files import save
            from blowproof.mechanisms.planning.picture import of_answers

            save(self.plot, of_answers(released))
        if self.synthetic is not None:
            made["synthetic"] = _records(released, self.synthetic, estimator)
        return made

    def lines(self, released: Released) -> Iterator[RenderableType]:
        """Yield what was made, as lines of a screen."""
        from rich.text import Text

        for item in released.details.get("quantiles", ()):
            between = "" if item["low95"] is None else f"  ({item['low95']} to {item['high95']})"
            yield Text(f"quantile {item['share']}: {item['value']}{between}")
        if self.plot is not None and os.path.lexists(self.plot):
            yield Text(f"picture written to {self.plot}")
        if "synthetic" in released.details:
            many = released.details["synthetic"]["records"]
            yield Text(f"{many:,} made-up records written to {self.synthetic}")


def extra_options(command: F) -> F:
    """Give a command --plot, --quantile and --synthetic, gathered in `extras`."""

    @click.option("--plot", type=click.Path(), metavar="FILE",
                  help="Write a picture of the answers with their errors (.svg).")  # fmt: skip
    @click.option("--quantile", "quantiles", multiple=True, metavar="SHARE",
                  help="Say a quantile of the attribute that is counted, as 1/2; "
                  "may be repeated.")  # fmt: skip
    @click.option("--synthetic", type=click.Path(), metavar="FILE",
                  help="Write made-up records that agree with the estimates and the known facts "
                  "(.csv or .parquet).")  # fmt: skip
    @functools.wraps(command)
    def gathered(
        *, plot: str | None, quantiles: tuple[str, ...], synthetic: str | None, **rest: object
    ) -> object:
        return command(extras=Extras(plot, synthetic, quantiles), **rest)

    return gathered  # type: ignore[return-value] # click's decorators hide the type


def show_released(
    released: Released, output: str | None, extras: Extras, document: dict[str, Any] | None
) -> None:
    """Write a release on the screen, or (with what `document` adds) as one JSON document."""
    from blowproof.cli.releasing.released_text import release_parts
    from blowproof.cli.text.output import print_all, quietly, write_json

    with quietly():
        if document is not None:
            write_json({**released.to_json(), **document})
        else:
            print_all(release_parts(released, output))
            print_all(extras.lines(released))


def _quantiles(released: Released, texts: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return quantiles from the answers: prefixes, or counts of the attribute's values."""
    import numpy as np

    from blowproof.mechanisms.combining.quantiles import (
        along_one_attribute,
        axis_of,
        quantiles,
        shares_of,
    )
    from blowproof.models import Value, show

    request = released.request
    domain = request.policy.domain
    axis = axis_of(request.bound, domain)
    values = np.array([float(value) for value in released.answers])
    errors = None if released.errors is None else np.array(released.errors, dtype=np.float64)
    counts, errors = along_one_attribute(request.bound, values, errors)

    def text(value: Value | None) -> int | str | None:
        return value if value is None or isinstance(value, (int, str)) else show(value)

    return [
        {"share": _share(item.share), "value": text(item.value), "low95": text(item.low),
         "high95": text(item.high)}
        for item in quantiles(domain, axis, counts, shares_of(texts), errors)
    ]  # fmt: skip


def _share(share: Fraction) -> str:
    return f"{share.numerator}/{share.denominator}"


def _records(
    released: Released, path: str, estimator: Callable[[], Estimator] | None
) -> dict[str, Any]:
    from blowproof.mechanisms.combining.estimator import Estimator
    from blowproof.mechanisms.combining.measurements import measured_in
    from blowproof.mechanisms.combining.synthetic import made_from, write_records

    request = released.request
    if estimator is None:
        drawn = zip(released.description.releases, released.measured, strict=True)
        found = Estimator(
            request.policy,
            [measured_in(release, noisy, request.policy) for release, noisy in drawn],
            reading=request.reading, answers=request.answers, size=released.size,
            records=request.records,
        )  # fmt: skip
    else:
        found = estimator()
    counts = made_from(found, request.answers)
    return {"file": path, "records": write_records(path, request.policy.domain, counts)}
