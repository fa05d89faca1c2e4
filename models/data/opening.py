"""The data that a policy names, whichever they are."""

from __future__ import annotations

from pathlib import Path

from blowproof.models.data.counted import Counted
from blowproof.models.data.dataset import Dataset
from blowproof.models.data.table_at import TableAt
from blowproof.models.domain.domain import Domain

__all__ = ["open_data"]


def open_data(data: str | TableAt, domain: Domain, folder: Path | None) -> Counted:
    """Return the records of a file (in the folder, unless its path begins at the root) or table."""
    if isinstance(data, TableAt):
        from blowproof.models.data.elsewhere import Elsewhere

        return Elsewhere(data, domain, folder)
    return Dataset((folder or Path()) / data, domain)
