"""The largest change less the smallest, each with its sign: for the exponential mechanism.

What all scores change alike does not change the choice. Outputs that do not change take part with
their 0, so it matters whether there is one: a query of one output has range 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blowproof.models.base.numbers import Exact, plain, total
from blowproof.models.norms.linf import one_of
from blowproof.models.norms.norm import Counted, Norm
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import LinearExpr

__all__ = ["RANGE"]


class _Range(Norm):
    """The largest change less the smallest."""

    name = "range"

    def of(self, changes: Iterable[Counted]) -> Exact:
        """Return max - min over the outputs that are listed; 0 for none."""
        listed = [change for change, times in changes if times]
        return plain(max(listed, default=0) - min(listed, default=0))

    def weighted(self, item: Counted, weight: Exact) -> Counted:
        """Return the output, changed as much more."""
        change, times = item
        return change * weight, times

    def gain(
        self, linear: LinearModel, outputs: Sequence[tuple[LinearExpr, int]], *, still: bool
    ) -> LinearExpr:
        """Return what is at most one change less another, both chosen by the solver."""
        changes = [change for change, _ in outputs] + [LinearExpr()] * still
        up = one_of(linear, changes, "highest")
        return up + one_of(linear, [-change for change in changes], "lowest")

    def together(self, sizes: Iterable[Exact]) -> Exact:
        """Return the sum."""
        return total(sizes)


RANGE = _Range()
