"""What a caller gives, as the rest takes it: `read` a policy, numbers, options and places."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from blowproof.models import BoundQuery, DataError, Policy, PolicyError, QueryError
from blowproof.models.base.errors import nearest

if TYPE_CHECKING:
    from blowproof.cli.asking.ask import Session

__all__ = [
    "File",
    "PolicyLike",
    "apart",
    "called",
    "checked",
    "exactly",
    "go_on",
    "placed_in",
    "query_of",
    "read",
    "session",
]

File = str | os.PathLike[str]
PolicyLike = Policy | File | Mapping[str, object]
"""A policy, the path of a policy file, or the tables of one as `json` and `tomllib` read them."""


def read(policy: PolicyLike) -> Policy:
    """Return the policy in a file, or in tables that are already parsed.

    A file that is not understood is a `PolicyError` with the line, the key and what to try.

    Examples:
        >>> read({"domain": {"sex": ["F", "M"], "age": {"min": 0, "max": 9}}}).domain
        Domain(sex=Labels(['F', 'M']), age=Integers(min=0, max=9))
    """
    from blowproof.models.files.reading import policy_from, read_policy

    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return policy_from(policy)
    if isinstance(policy, (str, os.PathLike)):
        return read_policy(os.fspath(policy))
    raise PolicyError(
        f"{type(policy).__name__} is no policy", hint="a Policy, the path of a file, or its tables"
    )


def session(
    reading: str,
    answers: str | None,
    engine: str,
    time_limit: float | None,
    seed: int = 0,
    *,
    whole: bool = False,
    norm: str = "l1",
) -> Session:
    """Return what questions are put through; nothing is shown while they are answered."""
    from blowproof.cli.asking.ask import Session
    from blowproof.cli.asking.options import Options

    checked(reading, answers, engine)
    if time_limit is not None and not time_limit > 0:
        raise QueryError(f"time_limit = {time_limit} is no time in seconds above zero")
    question = Options(reading, answers, engine, time_limit, seed, norm)
    return Session(question, total=time_limit if whole else None, shown=False)


def exactly(value: object, key: str, *, least: bool = False) -> Fraction:
    """Return an exact number above 0, or from 0 on (`least`).

    >>> exactly("1/2", "epsilon")
    Fraction(1, 2)
    """
    from blowproof.models import exact, show

    number = Fraction(exact(value, key=key))
    if number < 0 or (number == 0 and not least):
        raise PolicyError(f"{show(number)} is not {'from' if least else 'above'} 0", key=key)
    return number


def checked(reading: str, answers: str | None, engine: str) -> None:
    """Refuse a reading, a scope or an engine that there is not."""
    from blowproof.cli.asking.options import READINGS, SCOPES
    from blowproof.verifier.portfolio.registry import offered

    for key, value, known in (
        ("reading", reading, READINGS),
        ("answers", answers or "any", SCOPES),
        ("engine", engine, offered()),
    ):
        if value not in known:
            raise QueryError(
                f"{key}: there is no {value!r}\n  try: {nearest(value, known, what=key)}"
            )


def query_of(
    query: str | Sequence[str] | BoundQuery, policy: Policy, norm: str | None = None
) -> BoundQuery:
    """Return a query bound to the policy, in a norm; a text is parsed, several are one stack.

    `norm` None: l1 for a text, and a bound query's own.
    """
    from blowproof.models.norms import L1
    from blowproof.models.stacks.stacked import in_norm
    from blowproof.models.stacks.written import parse_question

    if isinstance(query, BoundQuery):
        return query if norm is None else in_norm(query, norm, policy.domain)
    return parse_question(query, policy, norm or L1)


def go_on(asked: Session) -> None:
    """Ctrl-C ends a question with its bounds; here it must end the program that asks."""
    if asked.interrupted:
        raise KeyboardInterrupt


def apart(place: File, policy: PolicyLike) -> str:
    """Return where to write, which is not the policy's own file."""
    path = Path(place)
    if isinstance(policy, (str, os.PathLike)) and path.exists() and path.samefile(policy):
        raise DataError(f"{path}: this would overwrite the policy\n  try: another name")
    return str(path)


def called(policy: PolicyLike) -> str:
    """Return what errors call a policy: its file, or its name."""
    if isinstance(policy, (str, os.PathLike)):
        return os.fspath(policy)
    return policy.name if isinstance(policy, Policy) else "this policy"


def placed_in(policy: PolicyLike) -> AbstractContextManager[None]:
    """Add file and line to what is found to be wrong with a policy later on."""
    from blowproof.cli.asking.error_lines import placed

    if isinstance(policy, (str, os.PathLike)):
        return placed(os.fspath(policy))
    return nullcontext()
