"""How one budget is shared among several releases: the cube-root rule.

Let release g have the squared error C_g / e^2 at a budget of e, weights included: so it is for
Laplace noise, whose scale is S / e, and nearly so for what is made from it. Then sum C_g / e_g^2 is
least, with sum e_g = E, where the derivatives C_g / e_g^3 agree, that is for e_g in proportion to
the cube root of C_g; and it is (sum of the cube roots)^3 / E^2. A rho is worth the square of an
epsilon: errors are C_g / rho_g, and shares go with the square roots.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from blowproof.mechanisms.base.errors import RefusedError
from blowproof.models import show

__all__ = ["cube_roots", "require_within", "square_roots", "total_error"]

PARTS = 10_000
"""Shares are whole numbers of these parts, so that a plan can be read."""


def cube_roots(costs: Sequence[float], budget: Fraction) -> tuple[Fraction, ...]:
    """Return exact shares of a budget, in proportion to the cube roots of the costs.

    None is 0, and their sum is the budget exactly.

    >>> [str(share) for share in cube_roots([1.0, 8.0], Fraction(3))]
    ['9999/10000', '20001/10000']
    """
    return _shares([max(cost, 0.0) ** (1 / 3) for cost in costs], budget)


def _shares(roots: Sequence[float], budget: Fraction) -> tuple[Fraction, ...]:
    whole = sum(roots)
    if whole <= 0:
        return tuple(budget / len(roots) for _ in roots)
    parts = [max(1, int(root / whole * PARTS)) for root in roots]
    largest = parts.index(max(parts))
    parts[largest] += PARTS - sum(parts)
    return tuple(budget * part / PARTS for part in parts)


def square_roots(costs: Sequence[float], budget: Fraction) -> tuple[Fraction, ...]:
    """Return exact shares of a rho: errors C / rho are least with shares like the square roots.

    >>> [str(share) for share in square_roots([1.0, 4.0], Fraction(3))]
    ['9999/10000', '20001/10000']
    """
    return _shares([max(cost, 0.0) ** (1 / 2) for cost in costs], budget)


def total_error(costs: Sequence[float], budget: float) -> float:
    """Return the least weighted squared error that a split of the budget can have.

    >>> total_error([1.0, 8.0], 3.0)
    3.0
    """
    return float(sum(max(cost, 0.0) ** (1 / 3) for cost in costs) ** 3 / budget**2)


def require_within(shares: Sequence[Fraction], budget: Fraction) -> None:
    """Refuse a split that exceeds the budget, or has a share that is not above 0."""
    if any(share <= 0 for share in shares):
        raise RefusedError("a share of the budget is above 0: nothing was drawn and nothing spent")
    if sum(shares) > budget:
        raise RefusedError(
            f"the split adds up to {show(sum(shares, Fraction(0)))}, and the budget is "
            f"{show(budget)}: nothing was drawn and nothing spent\n  try: smaller shares"
        )
