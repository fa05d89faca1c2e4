"""||x||_1, the sum of |x_j|: for Laplace noise, whose loss is |x_j| / b_j in every output."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blowproof.models.base.numbers import Exact, magnitude, total
from blowproof.models.norms.norm import Counted, Norm
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, LinearExpr, weighted_sum

__all__ = ["L1", "absolute"]


class _L1(Norm):
    """The sum of the absolute changes."""

    name = "l1"
    adds = True

    def of(self, changes: Iterable[Counted]) -> Exact:
        """Return the sum of |change| * times."""
        return total(magnitude(change) * times for change, times in changes)

    def weighted(self, item: Counted, weight: Exact) -> Counted:
        """Return the output as if there were `weight` of them."""
        change, times = item
        return change, times * weight

    def gain(
        self, linear: LinearModel, outputs: Sequence[tuple[LinearExpr, int]], *, still: bool
    ) -> LinearExpr:
        """Return the sum of sizes, each bounded by its change or by the negative of it."""
        sizes = [(times, absolute(linear, change, n)) for n, (change, times) in enumerate(outputs)]
        return weighted_sum(sizes)

    def together(self, sizes: Iterable[Exact]) -> Exact:
        """Return the sum."""
        return total(sizes)


def absolute(linear: LinearModel, change: LinearExpr, number: int) -> IntVar:
    """Return a variable that is at most, and can be, |change|.

    It is bounded by the change, or by the negative of it, as a sign that the solver chooses says.
    """
    low, high = change.bounds()
    size = linear.int_var(f"size{number}", lower=0, upper=max(-low, high, 0))
    rising = linear.bool_var(f"rising{number}")
    linear.add(size - change, upper=0, enforced_by=rising)
    linear.add(size + change, upper=0, enforced_by=~rising)
    return size


L1 = _L1()
