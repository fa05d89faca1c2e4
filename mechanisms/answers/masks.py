"""Areas as arrays over all cells of a domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from blowproof.models import Area, Domain

__all__ = ["mask"]


def mask(area: Area, domain: Domain) -> NDArray[np.bool_]:
    """Return, for every cell of the domain's table, whether it lies in the area.

    >>> from blowproof.models import Integers, Region
    >>> domain = Domain(a=Integers(0, 1), b=Integers(0, 2))
    >>> mask(domain.area(Region(b=[0, 2])), domain).tolist()
    [[True, False, True], [True, False, True]]
    """
    inside = np.zeros([kind.size for _, kind in domain.attributes], dtype=np.bool_)
    for box in area.boxes:
        if box:
            places = [[p for low, high in s.runs for p in range(low, high)] for s in box.sides]
            inside[np.ix_(*places)] = True
    return inside
