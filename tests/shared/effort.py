"""How much work something is, told in steps: the same on every machine, however busy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def at_most(most: int) -> Iterator[None]:
    """Fail as soon as more functions were called, or more items taken from generators."""
    calls = 0

    def count(_: FrameType, event: str, what: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")
        if calls == most + 1:
            raise AssertionError(f"more than {most:,} calls: this takes too much work")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    finally:
        sys.setprofile(before)
