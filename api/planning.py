"""What a release would be worth: `plan`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from blowproof.given import File, PolicyLike, exactly, placed_in, read, session
from blowproof.models import QueryError
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading

if TYPE_CHECKING:
    from blowproof.mechanisms.planning.planner import Planned
    from blowproof.models import Exact
    from blowproof.verifier.asked.names import Engine

__all__ = ["Plan", "plan"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A comparison of mechanisms: `options` are as in the document of `blowproof plan --json`.

    `chosen` is the best of them, None where no mechanism answers the queries; `lower_bound` is an
    RMSE that no mechanism is below, where one is known. `save` writes the file that
    `blowproof release --plan FILE` draws.
    """

    options: tuple[dict[str, Any], ...]
    chosen: dict[str, Any] | None
    lower_bound: float | None
    _document: dict[str, Any] = field(repr=False, compare=False)
    _of: Planned = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof plan --json`."""
        return self._document

    def save(self, path: File) -> None:
        """Write the plan to a file."""
        import json

        from blowproof.cli.text.files import save

        save(os.fspath(path), json.dumps(self._document, indent=1) + "\n")

    def __str__(self) -> str:
        from blowproof.cli.releasing.plan_text import plan_parts
        from blowproof.cli.text.output import drawn

        return drawn(plan_parts(self._of, None), plain=True)


def plan(  # noqa: PLR0913 # keyword-only options
    policy: PolicyLike,
    queries: str | Sequence[str],
    data: File | None = None,
    *,
    weights: Sequence[Exact | str] = (),
    epsilon: Exact | str | None = None,
    rho: Exact | str | None = None,
    reading: Reading = "published",
    answers: Answers | None = None,
    engine: Engine = "auto",
    time_limit: float = 60.0,
    seed: int | None = None,
) -> Plan:
    """Return what every mechanism would be worth for these queries; nothing is drawn or spent.

    `data` are looked at for n alone, where n is public. `seed` is that of rehearsals on made-up
    data, never of noise.

    Examples:
        >>> office = {"domain": {"ward": ["a", "b", "c"], "sex": ["F", "M"]},
        ...           "known": [{"marginal": ["ward"]}]}
        >>> found = plan(office, "histogram", epsilon=1)
        >>> found.chosen["mechanism"], found.chosen["private"]
        ('k-norm', 'proved')
    """
    import click

    from blowproof.cli.releasing.plan import compared
    from blowproof.mechanisms.budget.fingerprints import fingerprint
    from blowproof.mechanisms.planning.plan_file import document
    from blowproof.mechanisms.planning.workload import workload
    from blowproof.verifier.certify.base.promise import Promise

    asked, bound = (
        session(reading, answers, engine, time_limit, whole=True),
        read(policy),
    )
    texts = (queries,) if isinstance(queries, str) else tuple(queries)
    given = {"epsilon": epsilon, "rho": rho}
    promise = Promise(**{name: exactly(x, name) for name, x in given.items() if x is not None})
    weighed = tuple(exactly(weight, "weight") for weight in weights)
    place = None if data is None else os.fspath(data)
    try:
        with placed_in(policy):
            work = workload(texts, weighed, bound)
            which = None if place is None else fingerprint(place)
            found = compared(bound, place, work, promise, asked, seed=seed)
            written = document(found, data=which)
    except click.UsageError as error:
        raise QueryError(error.message) from None
    options = tuple(written["options"])
    return Plan(
        options=options,
        chosen=options[0] if options else None,
        lower_bound=found.bound,
        _document=written,
        _of=found,
    )
