"""What a norm is: the size of a change, and what engines may conclude from it.

A change is a list of outputs, each with how much it changes and how often it counts: (change,
times). `times` is how many outputs change alike, or the weight of one (see `weighted`).

Every norm here comes from a seminorm |.|: `of` is |x| to the power `degree`. So it is convex, even,
and the triangle inequality holds for its root, which is what `length`, `most` and `together` rest
on. `length` is a whole number that does not fall below the root (in steps as fine as the norm
likes), so that the lengths of several moves, added up, bound all of them at once:
of(x + y) <= most(length(of(x)) + length(of(y))).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from blowproof.models.base.numbers import Exact, plain
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import LinearExpr

__all__ = ["Counted", "Norm"]

Counted = tuple[Exact, Exact]
"""How much an output changes, and how often that counts."""


class Norm(ABC):
    """A way to measure changes. There is one object of each, compared by identity."""

    name: str
    degree: int = 1
    """of(t x) = t ** degree * of(x) for t >= 0."""
    adds: bool = False
    """Whether the size is a sum over outputs."""

    @abstractmethod
    def of(self, changes: Iterable[Counted]) -> Exact:
        """Return the size of a change. An output that does not change may be left out, unless all
        others go the same way and the norm is `range`: then one must be listed, as (0, 1)."""

    @abstractmethod
    def weighted(self, item: Counted, weight: Exact) -> Counted:
        """Return outputs' change with a weight (above 0), as `of` takes it."""

    @abstractmethod
    def gain(
        self, linear: LinearModel, outputs: Sequence[tuple[LinearExpr, int]], *, still: bool
    ) -> LinearExpr:
        """Return an expression that is at most, and can be, the size of the outputs' changes.

        Each output comes with how often it counts (1 or more). `still`: there is an output besides
        that does not change. The variables made for it have names that nobody else uses.
        """

    def length(self, size: int) -> int:
        """Return a whole number that lengths of several changes may be added up in."""
        return size

    def most(self, length: int) -> int:
        """Return what changes of this length, all together, do not exceed."""
        return length

    def within(self, size: int) -> int:
        """Return the largest length whose changes do not exceed this size."""
        return size

    def repeated(self, one: Exact, times: int) -> Exact:
        """Return what so many changes of at most this size each do not exceed together.

        |x_1 + ... + x_k| <= k max |x_i|, to the power `degree`.
        """
        return plain(one * times**self.degree)

    @abstractmethod
    def together(self, sizes: Iterable[Exact]) -> Exact:
        """Return what changes of these sizes, one each, do not exceed together."""

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Copies and other processes get the one object of this name."""
        from blowproof.models.norms import norm_named

        return norm_named, (self.name,)
