"""What was measured, as files of answers keep it: later estimates start from it, at no cost.

The noisy answers themselves are published with what was made of them, so they are kept as they were
drawn, each with its release as a mechanism file writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from blowproof.mechanisms.answers.vectors import Vector
from blowproof.models import PolicyError, show
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.mechanisms.mechanism_writing import release_table

__all__ = ["kept"]

MOST_KEPT = 1_000_000
"""Numbers that a file keeps of what was measured."""


@runtime_checkable
class Written(Protocol):
    """A query that was made by a program, and can be written down all the same."""

    def as_table(self) -> Mapping[str, Any]:
        """Return what it is, as a table with its kind as the one key."""
        ...


def kept(releases: Sequence[Release], noisy: Sequence[Vector]) -> list[dict[str, Any]] | None:
    """Return what was measured as files keep it; None where it has no text, or is too much.

    An estimate has no noisy answers of its own: what it is made from stands in other files.
    """
    if len(noisy) < len(releases) or sum(map(len, noisy)) > MOST_KEPT:
        return None
    try:
        return [
            {
                "release": _table(release),
                "values": [it if isinstance(it, int) else show(it) for it in values],
            }
            for release, values in zip(releases, noisy, strict=True)
        ]
    except PolicyError:
        return None


def _table(release: Release) -> dict[str, Any]:
    query = release.query
    if not isinstance(query, Written):
        return release_table(release)
    rest = release_table(replace(release, query="histogram"))
    del rest["query"]
    return {**query.as_table(), **rest}
