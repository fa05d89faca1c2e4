"""Several queries in one release: one proof, one charge, and no noise drawn twice.

Releases that several queries follow from (the noisy table, the noisy prefixes of an attribute) are
drawn once. The certifier judges all releases together: what they lose together is at most the sum
of what each loses, and often less; what is left over is shared out again (`planner`). Where a plan
describes what it draws step by step, so do all together, and the losses of the steps add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from blowproof.mechanisms.answers.vectors import Estimate, Names, Vector
from blowproof.mechanisms.release.release import Draw, Plan, Request
from blowproof.models import BoundQuery, show
from blowproof.models.mechanisms.mechanism import Release, Selection
from blowproof.models.stacks.stacked import Part, Stacked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from blowproof.models import Exact

    Floats = NDArray[np.float64]

__all__ = ["Several", "Together", "all_of"]


def all_of(queries: Sequence[BoundQuery]) -> Stacked:
    """Return several queries as one, named after all of them."""
    parts = tuple(Part(query, (Fraction(1),)) for query in queries)
    return Stacked(parts, name="; ".join(query.name for query in queries))


class Several(Estimate):
    """The answers of several queries, one after the other; the first column says of which.

    `by` says which mechanism each query is answered by.
    """

    def __init__(
        self, parts: Sequence[tuple[str, Vector | Estimate]], by: Sequence[str] = ()
    ) -> None:
        self.parts, self.by = tuple(parts), tuple(by)
        if by:
            each = zip(by, self.parts, strict=True)
            self.mechanisms = [name for name, (_, found) in each for _ in range(len(found))]

        def rows() -> Iterator[tuple[Any, ...]]:
            for name, found in self.parts:
                for row in found.names.rows():
                    yield name, ", ".join(it if isinstance(it, str) else show(it) for it in row)

        super().__init__([], Names(("query", "answer"), len(self), rows))

    def __iter__(self) -> Iterator[Any]:
        """Yield the numbers."""
        return chain.from_iterable(cast("Iterator[Exact]", iter(part)) for _, part in self.parts)

    def __len__(self) -> int:
        return sum(len(part) for _, part in self.parts)


class Together(Plan):
    """Plans of single queries, carried out in one go; each query has its place in the answers."""

    name = "workload"

    def __init__(self, request: Request, plans: Sequence[Plan]) -> None:
        super().__init__(replace(request, query=all_of([plan.request.bound for plan in plans])))
        self.plans = tuple(plans)
        items: list[Release | Selection] = []
        steps: list[str] = []
        for place, plan in enumerate(self.plans):
            for earlier in self.plans[:place]:
                if plan.draws_as(earlier):
                    break
            drawn = plan.description or plan.opening
            items += [item for item in drawn if item not in items]
            steps += [step for step in plan.postprocessing if step not in steps]
        self.postprocessing = tuple(steps)
        if all(plan.description is not None for plan in self.plans):
            self.description = self.described(*(it for it in items if isinstance(it, Release)))
        else:
            self.opening = tuple(items)
        self.notes = tuple(dict.fromkeys(note for plan in self.plans for note in plan.notes))

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers of all queries."""
        once = cast("Draw", _Once(draw))
        parts = [(plan.request.bound.name, plan.run(once)) for plan in self.plans]
        return Several(parts, [plan.name for plan in self.plans])

    def uncertain(self, place: int) -> tuple[Floats, Floats] | None:
        """Return a query's standard errors and half the widths of intervals, where they are not
        those of its own plan.
        """
        return None


class _Once:
    """Draws each release once, and hands out the same noisy answers for it ever after."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._drawn: list[tuple[Release, Vector]] = []
        self._made: dict[object, Any] = {}

    def __call__(self, release: Release) -> Vector:
        for item, noisy in self._drawn:
            if item == release:
                return noisy
        self._drawn.append((release, self._draw(release)))
        return self._drawn[-1][1]

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        """Return what is made of the noisy answers, made once for all plans that ask for it."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._draw, name)
