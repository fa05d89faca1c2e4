"""Many questions at once: `sweep`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from blowproof.given import File, PolicyLike, checked, read
from blowproof.models import Policy, PolicyError
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading

__all__ = ["Sweep", "sweep"]


class Sweep:
    """The answers of a sweep, policy by policy and query by query, as the policies were given.

    Each is a mapping with the policy's name, the query, the reading, `lower` and `upper` (exact;
    None: nothing bounds it), the status, the engine, and an error where there is no answer.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        self.rows = rows

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def frame(self, library: str = "pandas") -> Any:
        """Return the answers as a data frame of pandas or polars, or as a table of pyarrow.

        Exact numbers stand in it as texts, since a column of such a frame has a fixed width.
        """
        ways = {"pandas": "df", "polars": "pl", "pyarrow": "to_arrow_table"}
        if library not in ways:
            raise PolicyError(f"there is no {library!r} frame", hint=" or ".join(ways))
        with self._relation() as relation:
            return getattr(relation, ways[library])()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the answers as an Arrow stream: what `polars.DataFrame(found)`,
        `pandas.DataFrame.from_arrow(found)` and `pyarrow.table(found)` ask for.
        """
        return self.frame("pyarrow").__arrow_c_stream__(requested_schema)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        """Return the answers by the data frame interchange protocol of older libraries."""
        return self.frame("pyarrow").__dataframe__(nan_as_null, allow_copy)

    @contextmanager
    def _relation(self) -> Iterator[Any]:
        """Yield the answers as DuckDB has them."""
        import duckdb

        from blowproof.cli.sweeping.kept import write_parquet

        texts = [
            {
                **row,
                "lower": str(row["lower"]),
                "upper": None if row["upper"] is None else str(row["upper"]),
            }
            for row in self.rows
        ]
        with tempfile.TemporaryDirectory(prefix="blowproof-") as folder:
            path = Path(folder) / "rows.parquet"
            write_parquet(texts, path)
            with duckdb.connect() as connection:
                yield connection.read_parquet(str(path))


def sweep(  # noqa: PLR0913 # keyword-only options
    policies: Iterable[PolicyLike],
    queries: Iterable[str] = ("histogram",),
    *,
    readings: Iterable[Reading] = ("published",),
    norms: Iterable[str] = ("l1",),
    answers: Iterable[Answers] | None = None,
    time_limit: float | None = 60.0,
    jobs: int | None = None,
    output: File | None = None,
    scheduler: str | None = None,
) -> Sweep:
    """Return S(f, P) of every query under every policy, computed on all cores.

    With `output`, rows are kept there as they come (Parquet, and a journal beside it), and what was
    answered before is not asked again. `jobs`: processes, by default one for each core; 1 works in
    this process. A Dask cluster works in their place where the address of its `scheduler` is given.
    A script that makes kinds of queries known has the rest behind `if __name__ == "__main__":`, for
    the processes import it.

    Examples:
        >>> office = {"domain": {"region": ["north", "south"], "size": [1, 2]}}
        >>> known = office | {"known": [{"marginal": ["region"]}]}
        >>> found = sweep([office, known], ["histogram", "marginal(size)"], jobs=1)
        >>> [(answer["query"], answer["upper"]) for answer in found]
        [('histogram', 2), ('marginal(size)', 2), ('histogram', 4), ('marginal(size)', 4)]
    """
    from importlib.metadata import version

    from blowproof.cli.sweeping.grid import Grid
    from blowproof.cli.sweeping.run import bounds_of, sweep_through
    from blowproof.models.norms import norm_named

    scopes = tuple(answers) if answers is not None else (None,)
    asked = tuple(readings)
    for reading in asked:
        for scope in scopes:
            checked(reading, scope, "auto")
    sources = tuple(_source(place, policy) for place, policy in enumerate(policies))
    measured = tuple(norm_named(norm).name for norm in norms)
    grid = Grid(
        "sweep", sources, tuple(queries), asked, measured, answers=scopes, time_limit=time_limit
    )
    with tempfile.TemporaryDirectory(prefix="blowproof-") as folder:
        target = str(Path(folder) / "rows.parquet") if output is None else os.fspath(output)
        found = sweep_through(
            grid, target, version=version("blowproof"), jobs=jobs, scheduler=scheduler
        )
    if found.stopped:
        raise KeyboardInterrupt(found.stopped)
    rows = [
        {**row, **dict(zip(("lower", "upper"), bounds_of(row), strict=True))} for row in found.rows
    ]
    return Sweep(rows)


def _source(place: int, policy: PolicyLike) -> Any:
    """Return a policy as a worker reads it."""
    from blowproof.cli.sweeping.grid import Source
    from blowproof.models.base.door import read_document
    from blowproof.models.files.writing import to_toml

    if isinstance(policy, (str, os.PathLike)):
        path = os.fspath(policy)
        return Source(Path(path).stem, read_document(path), str(Path(path).parent), path)
    bound: Policy = read(policy)
    name = bound.name if bound.name != "policy" else f"policy {place + 1}"
    return Source(name, to_toml(bound), str(bound.folder or Path()), name)
