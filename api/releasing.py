"""Private releases: `release`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from blowproof.given import File, PolicyLike, exactly, go_on, query_of, read, session
from blowproof.models import BoundQuery, QueryError
from blowproof.models.base.temporary import prefix
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.values import Release

if TYPE_CHECKING:
    from blowproof.mechanisms.planning.plan_file import PlanFile
    from blowproof.models import Exact, Policy
    from blowproof.planning import Plan
    from blowproof.verifier.asked.names import Engine
    from blowproof.verifier.certify.base.promise import Promise

__all__ = ["release"]

USUAL = "laplace"
BARE = (
    "a plan says what is released and how: nothing was drawn and nothing spent\n"
    "  try: leave query, epsilon, rho, mechanism, settings and records out"
)


def release(  # noqa: PLR0913 # keyword-only options
    policy: PolicyLike,
    data: File,
    query: str | BoundQuery = "histogram",
    *,
    epsilon: Exact | str | None = None,
    rho: Exact | str | None = None,
    mechanism: str | None = None,
    plan: Plan | File | None = None,
    settings: Mapping[str, object] | None = None,
    budget: Exact | str | None = None,
    ledger: File | None = None,
    unaccounted: bool = False,
    new_people: bool = False,
    same_people_as: int | None = None,
    new_guarantee: bool = False,
    records: str | None = None,
    output: File | None = None,
    overwrite: bool = False,
    accept_wide_bounds: bool = False,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float | None = None,
) -> Release:
    """Return a query's answers on a data file, with the noise that the policy calls for.

    It gives away `epsilon`, or `rho` (zCDP: what `mechanism="gaussian"` takes). Where no mechanism
    is named, it is the Laplace mechanism; with a `plan`, or the file of one, what it says is drawn
    and nothing else, for the policy, queries and data that it was made for. The scale comes
    from the verified sensitivity. `budget` opens an account of the people in the
    data, which later releases about them share; what exceeds it is a `RefusedError` before any
    noise is drawn. `unaccounted` keeps none. `output`: a .csv, .parquet or .json file for
    the answers, which must not exist unless `overwrite`.
    Noise that is hardly worth its price is refused too, unless `accept_wide_bounds`.
    Noise is the operating system's and has no seed.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> office = {"domain": {"region": ["north", "south"]}}
        >>> with TemporaryDirectory() as folder:
        ...     data = Path(folder, "people.csv")
        ...     _ = data.write_text("region\\n" + "north\\nsouth\\n" * 50)
        ...     found = release(office, data, epsilon=2, unaccounted=True)
        >>> found.columns, [row[0] for row in found.rows], len(found.values)
        (('region', 'count'), ['north', 'south'], 2)
    """
    import click

    from blowproof.cli.asking.account_options import AccountChoice
    from blowproof.cli.releasing.carrying_out import carried_out, output_file, request_of
    from blowproof.mechanisms.base.errors import RefusedError

    asked, bound = session(reading, answers, engine, time_limit), read(policy)
    if plan is None:
        how: str | PlanFile = mechanism or USUAL
        wanted, promise = query_of(query, bound), _promise(epsilon, rho)
    else:
        if query != "histogram" or any((epsilon, rho, mechanism, settings, records)):
            raise QueryError(BARE)
        how = _planned(plan, bound, os.fspath(data))
        wanted, promise = how.workload.queries[0], how.promise
    limit = None if budget is None else exactly(budget, "budget")
    kept, place = (None if file is None else os.fspath(file) for file in (ledger, output))
    source, rules = os.fspath(data), policy if isinstance(policy, (str, os.PathLike)) else None
    options = {name: str(value) for name, value in (settings or {}).items()}
    with ExitStack() as stack:
        try:
            choice = AccountChoice(
                limit, kept, unaccounted, new_people, same_people_as, new_guarantee
            )
            inputs = (None if rules is None else os.fspath(rules), source, kept)
            file = output_file(place, inputs, bound.domain.names, overwrite=overwrite)
            if file is not None:
                stack.callback(file.discard)
            request = request_of(bound, wanted, promise, options, records, asked)
            request = replace(request, accept_wide_bounds=accept_wide_bounds)
            found = carried_out(how, request, source, choice, asked, errors=file is not None)
        except click.UsageError as error:
            raise QueryError(error.message) from None
        except click.Abort:
            raise KeyboardInterrupt from None
        except RefusedError:
            go_on(asked)
            raise
        if file is not None:
            file.save(found)
    return Release.of(found)


def _promise(epsilon: Exact | str | None, rho: Exact | str | None) -> Promise:
    from blowproof.verifier.certify.base.promise import Promise

    given = {"epsilon": epsilon, "rho": rho}
    return Promise(**{name: exactly(x, name) for name, x in given.items() if x is not None})


def _planned(plan: Plan | File, policy: Policy, data: str) -> PlanFile:
    """Return what a plan, or the file of one, says is to be drawn on these data."""
    from blowproof.cli.releasing.release import read_plan_for

    if isinstance(plan, (str, os.PathLike)):
        return read_plan_for(os.fspath(plan), policy, data)
    with TemporaryDirectory(prefix=prefix()) as folder:
        place = Path(folder, "plan.json")
        plan.save(place)
        return read_plan_for(str(place), policy, data)
