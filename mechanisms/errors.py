"""Why a release does not happen, as errors that say so.

BlowproofError
|-- RefusedError         the release would not be private, or nothing shows that it would be
|   `-- OverspentError   it would cost more than what is left of the budget
`-- LedgerError          the ledger cannot be read or written, so nothing is released
"""

from __future__ import annotations

from blowproof.models.errors import BlowproofError

__all__ = ["LedgerError", "OverspentError", "RefusedError"]


class RefusedError(BlowproofError):
    """A release that is refused before any noise is drawn."""


class OverspentError(RefusedError):
    """A release that exceeds the privacy budget."""


class LedgerError(BlowproofError):
    """A ledger that is damaged, locked, read-only, or kept for something else."""
