"""Norms: how large the change of a query counts, exactly.

S is the largest change over neighbours, and what "large" means is a norm: `l1` for Laplace noise,
`l2-squared` for Gaussian noise, `linf` and `range` for selections (SEMANTICS section 7). A norm
measures changes, bounds what several moves do together, and writes itself into a linear program; it
knows no query and no engine. A new norm is a file here and a line in `NORMS`.

Read `norm` (what a norm is), `l1`, `l2_squared`, `linf`, `range_norm`.
"""

from __future__ import annotations

from blowproof.models.base.errors import QueryError
from blowproof.models.norms.l1 import L1
from blowproof.models.norms.l2_squared import L2_SQUARED
from blowproof.models.norms.linf import LINF
from blowproof.models.norms.norm import Norm
from blowproof.models.norms.range_norm import RANGE

__all__ = ["L1", "L2_SQUARED", "LINF", "NORMS", "RANGE", "Norm", "norm_named"]

NORMS: dict[str, Norm] = {norm.name: norm for norm in (L1, L2_SQUARED, LINF, RANGE)}
"""Every norm by its name, as `--norm` and JSON write it."""


def norm_named(name: str | Norm) -> Norm:
    """Return the norm of this name.

    >>> norm_named("l2-squared").of([(3, 1), (-4, 1)])
    25
    """
    if isinstance(name, Norm):
        return name
    found = NORMS.get(name)
    if found is None:
        raise QueryError(f"there is no norm {name!r}\n  try: {', '.join(NORMS)}")
    return found
