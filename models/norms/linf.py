"""||x||_inf, the largest |x_j|: for the noisy maximum, where each score has noise of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from blowproof.models.base.numbers import Exact, magnitude, plain, total
from blowproof.models.norms.norm import Counted, Norm
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import LinearExpr, weighted_sum

__all__ = ["LINF", "one_of"]


class _LInf(Norm):
    """The largest absolute change."""

    name = "linf"

    def of(self, changes: Iterable[Counted]) -> Exact:
        """Return the largest |change|."""
        return plain(max((magnitude(change) for change, times in changes if times), default=0))

    def weighted(self, item: Counted, weight: Exact) -> Counted:
        """Return the output, changed as much more."""
        change, times = item
        return change * weight, times

    def gain(
        self, linear: LinearModel, outputs: Sequence[tuple[LinearExpr, int]], *, still: bool
    ) -> LinearExpr:
        """Return what is at most one change, or the negative of one, that the solver chooses."""
        changes = [change for change, _ in outputs]
        return one_of(linear, [*changes, *(-change for change in changes)], "largest")

    def together(self, sizes: Iterable[Exact]) -> Exact:
        """Return the sum."""
        return total(sizes)


def one_of(linear: LinearModel, choices: Sequence[LinearExpr], name: str) -> LinearExpr:
    """Return a variable that is at most, and can be, the largest of the choices (0 for none)."""
    ends = [choice.bounds() for choice in choices] or [(0, 0)]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    value = linear.int_var(name, lower=low, upper=high)
    chosen = [linear.bool_var(f"{name}_is{number}") for number in range(len(choices))]
    for choice, flag in zip(choices, chosen, strict=True):
        linear.add(value - choice, upper=0, enforced_by=flag)
    if chosen:
        linear.add_clause(chosen)
    return weighted_sum([(1, value)])


LINF = _LInf()
