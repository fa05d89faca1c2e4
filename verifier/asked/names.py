"""The names that a person may give: engines. Nothing is imported here, so that `--help` may look.

Every engine of `verifier/portfolio/registry.py` is offered, and nothing else that the plan asks:
theorems, reductions and witnesses bound S, and come to no end of their own.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["ENGINES", "Engine"]

Engine = Literal["auto", "brute", "sat", "ilp", "search", "hilbert"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
