"""Why a release does not happen, as errors that say so.

BlowproofError
|-- RefusedError         the release would not be private, or nothing shows that it would be
|   `-- OverspentError   it would cost more than what is left of the budget
`-- LedgerError          the ledger cannot be read or written, so nothing is released
    `-- AlteredError     it is not what was written
"""

from __future__ import annotations

from blowproof.models.base.errors import BlowproofError

__all__ = ["AlteredError", "LedgerError", "OverspentError", "RefusedError"]


class RefusedError(BlowproofError):
    """A release that is refused before any noise is drawn."""


class OverspentError(RefusedError):
    """A release that exceeds the privacy budget."""


class LedgerError(BlowproofError):
    """A ledger that is damaged, locked or read-only, or that does not know whose data these are."""


class AlteredError(LedgerError):
    """A ledger that is gone, cut off or changed: what was spent is not known."""
