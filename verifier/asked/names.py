"""The names that a person may give: engines. Nothing is imported here, so that `--help` may look.

Every engine of `verifier/portfolio/registry.py` may be asked for (`offered` there), and nothing
else that the plan asks: theorems, reductions and witnesses bound S, and come to no end of their
own. An engine that is not listed here is taken too; only `--help` does not name it.
"""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["BEYOND", "CONJECTURE", "ENGINES", "NO_MORE", "Engine"]

Engine = Literal["auto", "brute", "sat", "ilp", "search", "hilbert"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

BEYOND = "S is finite: at most about 10^"
"""How an answer begins to say that its upper bound has thousands of digits, and is left out."""
CONJECTURE = "a conjecture, not a bound"
"""How an answer begins to say what S would be if a conjecture holds."""
NO_MORE = "more time will not help"
"""How an answer that stays open says so where all that could be tried has ended."""
