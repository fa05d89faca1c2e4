"""Errors, drawn as one tree.

    BlowproofError
    |-- PolicyError            a policy (file or object) that makes no sense
    |   `-- ContradictionError facts that no database satisfies together
    |-- QueryError             a query that the policy cannot answer
    |-- DataError              a data file that does not fit the policy
    |-- UndeterminedError      scope "given", but a number that is needed follows from nothing
    |-- BudgetError            a question that would take more than the budget, with the estimate
    `-- InternalError          two independent routes disagree: never the user's fault

Every message says what was found, what is allowed, and where one is known, what to try.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

from blowproof.models.base.masked import masked

__all__ = [
    "BlowproofError",
    "BudgetError",
    "ContradictionError",
    "DataError",
    "InternalError",
    "PolicyError",
    "QueryError",
    "UndeterminedError",
    "nearest",
]


class BlowproofError(Exception):
    """The root of every error that is meant for a person to read; no password stands in one."""

    def __init__(self, *parts: object) -> None:
        super().__init__(*(masked(part) if isinstance(part, str) else part for part in parts))


class PolicyError(BlowproofError):
    """A policy that is not understood: the key, the reason and a suggestion.

    >>> error = PolicyError("'teen' is not an integer", key="age.min", hint="write 13")
    >>> print(error.inside("known[0]"))
    known[0].age.min: 'teen' is not an integer
      try: write 13
    """

    def __init__(
        self,
        reason: str,
        *,
        key: str = "",
        hint: str | None = None,
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = masked(reason)
        self.key = key
        self.hint = None if hint is None else masked(hint)
        self.file = file
        self.line = line

    def inside(self, prefix: str) -> PolicyError:
        """Return the same error, its key seen from one level further out."""
        joint = "" if not self.key or self.key.startswith("[") else "."
        self.key = f"{prefix}{joint}{self.key}"
        return self

    def at(self, *, file: str | None, line: int | None) -> PolicyError:
        """Return the same error with its place in a file."""
        self.file, self.line = file, line
        return self

    def __str__(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        parts = [part for part in (place, self.key) if part]
        text = ": ".join([*parts, self.reason])
        return masked(f"{text}\n  try: {self.hint}" if self.hint else text)


class ContradictionError(PolicyError):
    """No database satisfies the facts: `facts` names a smallest contradictory set of them."""

    def __init__(self, reason: str, *, facts: Iterable[str], hint: str | None = None) -> None:
        super().__init__(reason, hint=hint)
        self.facts = tuple(facts)


class QueryError(BlowproofError):
    """A query that is not understood, or that this policy cannot answer."""


class DataError(BlowproofError):
    """A data file that cannot be read, or a row that lies outside the domain."""


class UndeterminedError(BlowproofError):
    """Scope "given" needs a number (n, or a count) that nothing in the policy determines."""


class BudgetError(BlowproofError):
    """The question was refused because it would take more than the budget; says how much."""


class InternalError(BlowproofError):
    """Two independent routes disagree. Please report it: the answer is not to be trusted."""


_MOST_NAMES = 5000
_LONGEST_NAME = 200


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:40]}..."


def nearest(name: object, allowed: Iterable[object], *, what: str = "name") -> str | None:
    """Return a suggestion naming the closest allowed spelling, or None when nothing is near.

    >>> nearest("wrad", ["sex", "ward"], what="attribute")
    "did you mean 'ward'? (attributes: sex, ward)"
    """
    names = list(map(str, islice(allowed, _MOST_NAMES)))
    listing = ", ".join(map(_short, names[:15])) + (", ..." if len(names) > 15 else "")
    # Comparing takes time with the product of the lengths, and a long name is no slip of the pen.
    near = [item for item in names if len(item) <= _LONGEST_NAME]
    close = get_close_matches(str(name)[: 2 * _LONGEST_NAME], near, n=1, cutoff=0.5)
    several = f"{what[:-1]}ies" if what.endswith(("ry", "ty")) else f"{what}s"
    if close:
        return f"did you mean {close[0]!r}? ({several}: {listing})"
    return f"{several}: {listing}" if names else None
