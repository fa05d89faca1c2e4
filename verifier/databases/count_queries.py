"""The count queries of a policy as boxes, and what secret pairs do to them.

A question about secret pairs becomes one about two unions of boxes that a secret pair shall join.
Where G is a list of edges, the list is walked instead; where it is complete, signatures suffice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from blowproof.models import (
    Area,
    Box,
    BudgetError,
    Clause,
    Impossible,
    Known,
    LinearFact,
    Marginal,
    Point,
    Policy,
)
from blowproof.models.base.clock import Pace
from blowproof.models.domain.classes import collapse
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["CountQueries", "counted_area"]

BOXES_PER_STEP = whole_limit(__name__, "BOXES_PER_STEP")
STEP_LIMIT = whole_limit(__name__, "STEP_LIMIT")
SUM_LIMIT = whole_limit(__name__, "SUM_LIMIT")
EDGE = real_limit(__name__, "EDGE")
OVERLAP = real_limit(__name__, "OVERLAP")


def counted_area(policy: Policy, fact: LinearFact) -> Area | None:
    """Return the values that a fact counts once; None if some possible ones count differently."""
    if len(fact.terms) == 1 and fact.terms[0][0] == 1:
        return Area(fact.terms[0][1].disjoint())
    boxes = sum(len(area.boxes) for _, area in fact.terms)
    if boxes > SUM_LIMIT:
        raise BudgetError(
            f"{fact.name} has {boxes} regions; whether it counts each record 0 or 1 times "
            f"is worked out for at most {SUM_LIMIT}\n"
            "  try: write it as a count over a list of regions"
        )
    counted: list[Box] = []
    for item in collapse(policy.domain, [*(area for _, area in fact.terms), policy.impossible]):
        if len(fact.terms) in item.inside:
            continue
        times = sum(fact.terms[place][0] for place in item.inside)
        if times not in (0, 1):
            return None
        counted += item.boxes() if times else ()
    return Area(tuple(counted))


class CountQueries:
    """The count queries of a policy as boxes, and the edges of G that do something to them.

    What looks for edges is a BudgetError past the deadline.
    """

    def __init__(self, policy: Policy, *, deadline: float | None = None) -> None:
        self._pace = Pace(deadline)
        areas = [counted_area(policy, fact) for fact in policy.linear_facts]
        assert None not in areas, "see `sparsity`"
        self.names = tuple(fact.name for fact in policy.linear_facts)
        self._areas = tuple(area.boxes for area in areas if area is not None)
        self._policy = policy
        self._graph = policy.graph
        self._whole = (policy.domain.whole,)
        self._impossible = policy.impossible.boxes
        self._steps = 0
        self._signatures: dict[Point, frozenset[int]] = {}
        self._recent = list(range(len(self._areas)))  # the last one that was lowered comes first

    def holds(self, query: int, point: Point) -> bool:
        """Whether a query counts a value."""
        return any(point in box for box in self._areas[query])

    def effect(self, x: Point, y: Point) -> tuple[list[int], list[int]]:
        """Return the queries that (x, y) lifts, and those that it lowers."""
        before, after = self._signature(x), self._signature(y)
        return sorted(after - before), sorted(before - after)

    def _signature(self, point: Point) -> frozenset[int]:
        found = self._signatures.get(point)
        if found is None:
            found = frozenset(q for q in range(len(self._areas)) if self.holds(q, point))
            self._signatures[point] = found
        return found

    def is_secret(self, x: Point, y: Point) -> bool:
        """Whether (x, y) is an edge of G between possible values."""
        return self._graph.is_edge(x, y) and not any(
            x in box or y in box for box in self._impossible
        )

    def lifting_several(self) -> tuple[Point, Point] | None:
        """Return a secret pair that lifts two queries or more, or None."""
        if self._graph.listed:
            for x, y in self._listed():
                lifts, lowers = self.effect(x, y)
                if max(len(lifts), len(lowers)) > 1:
                    return (x, y) if len(lifts) > 1 else (y, x)
            return None
        pairs = combinations(range(len(self.names)), 2)
        return next((pair for two in pairs if (pair := self.lifting_both(*two))), None)

    def _listed(self) -> Iterator[tuple[Point, Point]]:
        """Yield the edges of a graph that is itself a list, between possible values."""
        for x, y in self._graph.edges():
            self._work(len(self._areas) * OVERLAP)
            if self.is_secret(x, y):
                yield x, y

    def lifting_both(self, first: int, second: int) -> tuple[Point, Point] | None:
        """Return a secret pair that lifts both queries, or None."""
        areas = self._areas[first], self._areas[second]
        self._work(len(areas[0]) * len(areas[1]) * OVERLAP)
        both = _common(*areas)
        if not both:
            return None
        neither = _without(_without(self._whole, self._areas[first]), self._areas[second])
        return self._edge(neither, both)

    def moving(self, source: int, target: int) -> tuple[Point, Point] | None:
        """Return a secret pair that lowers `source` and lifts `target`, or None."""
        left, right = self._areas[source], self._areas[target]
        return self._edge(_without(left, right), _without(right, left))

    def entering(self, query: int) -> tuple[Point, Point] | None:
        """Return a secret pair that lifts a query and lowers none, or None."""
        outside = _without(self._whole, self._areas[query])
        return self._edge(outside, self._areas[query], lowering=False)

    def move_along(
        self,
        lowered: int | None,
        lifted: int | None,
        *,
        not_from: Iterable[Point] = (),
        not_to: Iterable[Point] = (),
    ) -> tuple[Point, Point] | None:
        """Return a secret pair of a sparse policy that makes an arc, between values not named.

        None stands for no query, on one side at the most.
        """
        if lifted is None:
            back = self.move_along(None, lowered, not_from=not_to, not_to=not_from)
            return None if back is None else (back[1], back[0])
        not_from, not_to = tuple(not_from), tuple(not_to)
        self._work((len(not_from) + len(not_to)) * OVERLAP)
        left = self._whole if lowered is None else self._areas[lowered]
        right = self._areas[lifted]
        if lowered is not None:
            right = _without(right, left)
        left = _without(_without(left, self._areas[lifted]), map(Box.at, not_from))
        right = _without(right, map(Box.at, not_to))
        return self._edge(left, right, lowering=lowered is not None)

    def arcs(self) -> Iterator[tuple[int | None, int | None]]:
        """Yield the (lowered, lifted) of all secret pairs of a sparse policy, one way round.

        None stands for no query; pairs that do nothing are left out.
        """
        if self._graph.listed:
            for lifts, lowers in (self.effect(*pair) for pair in self._listed()):
                if lifts or lowers:
                    yield next(iter(lowers), None), next(iter(lifts), None)
        else:
            yield from self._complete_arcs() if self._graph.complete else self._found_arcs()

    def _complete_arcs(self) -> Iterator[tuple[int | None, int | None]]:
        """Compare signatures: they are few where all values are joined and the facts sparse."""
        areas = [*map(Area, self._areas), self._policy.impossible]
        classes = [item.inside for item in collapse(self._policy.domain, areas)]
        kept = [inside for inside in classes if len(self._areas) not in inside]
        for one, other in combinations(kept, 2):
            self._work(OVERLAP)
            yield next(iter(one - other), None), next(iter(other - one), None)

    def _found_arcs(self) -> Iterator[tuple[int | None, int | None]]:
        for query, fact in enumerate(self._facts()):
            # What enters a cell of a marginal leaves another one.
            if not isinstance(fact, Marginal) and self.entering(query) is not None:
                yield None, query
        for first, second in combinations(range(len(self.names)), 2):
            if self.moving(first, second) is not None:
                yield first, second

    def _facts(self) -> Iterator[Known]:
        """Yield the known fact that each query comes from."""
        for place, fact in enumerate(self._policy.known):
            if not isinstance(fact, Impossible | Clause):
                for _ in fact.bind(self._policy.domain, f"known[{place}]"):
                    yield fact

    def any_edge(self) -> tuple[Point, Point] | None:
        """Return some secret pair of possible values, or None."""
        if self._graph.complete:
            classes = collapse(self._policy.domain, (), without=self._policy.impossible)
            values = [point for item in classes for point in item.take(2)]
            return (values[0], values[1]) if len(values) > 1 else None
        return self._edge(self._whole, self._whole)

    def _edge(
        self, left: Iterable[Box], right: Sequence[Box], *, lowering: bool = True
    ) -> tuple[Point, Point] | None:
        """Return a secret pair from `left` to `right`; without `lowering`, one that lowers nothing.

        Propose any edge of G; where it will not do, cut away its reason and look at what is left.
        """
        pending = [(a, b) for a in left for b in right]
        while pending:
            a, b = pending.pop()
            self._count_step()
            pair = self._graph.edge_between(a, b)
            if pair is None:
                continue
            parts = self._refined(a, b, pair, lowering)
            if parts is None:
                return pair
            pending += parts
        return None

    def _refined(
        self, a: Box, b: Box, pair: tuple[Point, Point], lowering: bool
    ) -> list[tuple[Box, Box]] | None:
        """Return what is left of a x b without what is wrong with the pair; None if nothing is."""
        x, y = pair
        for box in self._impossible:
            if x in box:
                return [(part, b) for part in a.minus(box)]
            if y in box:
                return [(a, part) for part in b.minus(box)]
        if lowering:
            return None
        for place, query in enumerate(self._recent):
            if self.holds(query, x) and not self.holds(query, y):
                self._recent.insert(0, self._recent.pop(place))
                area = self._areas[query]
                kept = [(p, q) for p in _common((a,), area) for q in _common((b,), area)]
                return kept + [(part, b) for part in _without((a,), area)]
        return None

    def _work(self, seconds: float) -> None:
        if self._pace.over(seconds):
            raise BudgetError(
                f"the time was over before all pairs of {len(self._areas)} count queries were "
                "compared\n  try: more time"
            )

    def _count_step(self) -> None:
        self._work(EDGE)
        self._steps += 1 + len(self._impossible) // BOXES_PER_STEP
        if self._steps > STEP_LIMIT:
            raise BudgetError(
                f"{len(self._areas)} count queries cut the domain into too many parts: more than "
                f"{STEP_LIMIT} pairs of parts to look for secrets between\n  try: fewer facts"
            )


def _common(left: Iterable[Box], right: Sequence[Box]) -> tuple[Box, ...]:
    return tuple(part for a in left for b in right if (part := a & b))


def _without(boxes: Iterable[Box], taken: Iterable[Box]) -> tuple[Box, ...]:
    left = tuple(boxes)
    for box in taken:
        left = tuple(part for piece in left for part in piece.minus(box))
    return left
