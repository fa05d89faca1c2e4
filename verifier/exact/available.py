"""Is there a compiler of loops? Asking loads none: that takes as long as a small question."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["AVAILABLE"]

AVAILABLE = find_spec("numba") is not None
"""Whether functions are compiled (numba is an extra: `blowproof[fast]`)."""
