"""A live OpenDP Context, as the tables that `opendp_context` reads.

A Context keeps what it was made with: its accountant knows the columns of the frame, the margins
and the metric; the unit is `d_in`, and the accountant's own map says what it costs. The library
keeps no values of a column, so these are told beside it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any

from blowproof.models.base.errors import PolicyError

__all__ = ["context_tables"]

FRAME = re.compile(r"FrameDomain\(.*?; margins=\[(?P<margins>.*)\]\)", re.DOTALL)
MARGIN = re.compile(r"\{(?P<by>[^{}]*)\}")
COLUMN = re.compile(r'col\("(?P<name>[^"]*)"\)')


def context_tables(context: Any, columns: Mapping[str, object]) -> dict[str, Any]:
    """Return the context's margins, unit and loss, and the columns that a margin or a query needs.

    `columns` has the values of columns, as a policy's [domain] has them. One of the frame that is
    not among them is not looked at: what records hold there changes no count of the others.
    """
    try:
        accountant, unit = context.accountant, context.d_in
        domain = accountant.input_domain
    except AttributeError:
        raise PolicyError(
            f"{type(context).__name__} is no OpenDP Context", hint="dp.Context.compositor(...)"
        ) from None
    frame = FRAME.fullmatch(str(domain))
    if frame is None:
        raise PolicyError(
            f"the context's data is {str(domain).partition('(')[0]}, and only frames have margins",
            hint="make the Context of a polars LazyFrame, or write its JSON by hand",
        )
    names, margin_of = _asked_of(domain)
    strange = [name for name in columns if name not in names]
    if strange:
        raise PolicyError(
            f"the context's frame has no column {strange[0]!r}",
            key="columns",
            hint=f"its columns are {', '.join(names)}",
        )
    margins = []
    for each in MARGIN.finditer(frame["margins"]):
        by = COLUMN.findall(each["by"])
        if COLUMN.sub("", each["by"]).strip(", ") or any(name not in names for name in by):
            raise PolicyError(
                f"a margin is by columns, and one of the context is by {each['by']}",
                key="margins",
                hint="add what it is by as a column of the frame",
            )
        lost = [name for name in by if name not in columns]
        if lost:
            raise PolicyError(
                f"a margin of the context is by {lost[0]!r}, whose values are not told",
                key="columns",
                hint=f'{{"{lost[0]}": ["a", "b"]}}, or {{"min": 0, "max": 115}}',
            )
        margins.append(margin_of(by))
    return {
        "columns": dict(columns),
        "margins": margins,
        "privacy_unit": (accountant.input_metric, unit),
        "privacy_loss": (accountant.output_measure, accountant.map(unit)),
    }


def _asked_of(domain: object) -> tuple[list[str], Callable[[list[str]], object]]:
    """Return the columns of a frame's domain, and what returns a margin by some of them.

    Who has a Context of a frame has loaded both libraries.
    """
    try:
        polars, domains = sys.modules["polars"], sys.modules["opendp.domains"]
        columns_of = domains._lazyframe_domain_get_columns
        margin_by = domains._lazyframe_domain_get_margin
    except (KeyError, AttributeError):
        raise PolicyError(
            "this version of OpenDP does not tell the margins of a Context",
            hint="write the context's JSON by hand",
        ) from None

    def margin(by: list[str]) -> object:
        return margin_by(domain, [polars.col(name) for name in by])

    return list(columns_of(domain)), margin
