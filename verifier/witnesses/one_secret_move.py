"""Reading 1 with a G that is not complete, scope "given" with bounds: one secret move, compensated.

Let one of the moves from D1 to D2 be secret and the others plain. Then 3(a) has nothing to say, and
a D3 of 3(b) makes a proper part of the moves that has the secret one, keeps the equalities, and
keeps every bound. So a multiset that is irreducible for equalities and bounds together (see
`conformal_parts`) can be the moves of a neighbour pair although parts of it keep the equalities, if
D1 is such that each of these parts, where it has the secret move, breaks a bound: then plain moves
must compensate. Such pairs are far worse than those that ignore the bounds.

Which moves are secret or plain is a matter of values, not of classes. So databases are found over
classes first, then values of these classes are looked for, one pair of them joined in G.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from blowproof.models import BoundQuery, Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, weighted_sum
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.irreducibles import Multiset
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.engines.search.engine import improved
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.best_choice import total_change
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.neighbours.check import check_pair
from blowproof.verifier.reductions.complete_graph import some_edge
from blowproof.verifier.reductions.given_numbers import Embedder, choices, completed, enforced

__all__ = ["OneSecret", "best_with_one_secret"]

Vector = tuple[int, ...]
Classes = tuple[int, int]

PARTS_LIMIT = whole_limit(__name__, "PARTS_LIMIT")
BOXES = whole_limit(__name__, "BOXES")
POINTS = whole_limit(__name__, "POINTS")


def best_with_one_secret(
    placing: OneSecret, *, above: int, seconds: float, on_best: Callable[[int, Pair], None]
) -> None:
    """Try every irreducible multiset of the table that could change the query by more than `above`.

    Each better (scaled) change is handed on, with its pair.
    """
    table, best = placing.table, above
    deadline = now() + seconds

    def attempt(multiset: Multiset) -> int:
        nonlocal best
        found = placing.best(multiset, above=best, deadline=deadline)
        if found is None:
            return 0
        best = found[0]
        on_best(*found)
        return best

    if table.effects:
        score = placing.moves.score
        improved(table.effects, table.weights, attempt, above, seconds, score)


class OneSecret:
    """Tries irreducible multisets of effects (of `table`) as neighbour pairs with one secret move.

    `moves` are those of the complete graph over representatives; `setting` has the graph itself.
    """

    def __init__(
        self, setting: Setting, query: BoundQuery, moves: Moves, table: EffectTable
    ) -> None:
        self.setting, self.query, self.moves, self.table = setting, query, moves, table
        self.embedder = Embedder(moves)
        classes = self.embedder.model.classes
        self.boxes = [list(islice(item.boxes(), BOXES)) for item in classes]
        self.edges: dict[Classes, tuple[Point, ...]] = {}
        self.plain: dict[Classes, bool] = {}
        for kind in moves.kinds:
            ends = self.ends(kind)
            if ends not in self.edges:
                left, right = (self.boxes[place] for place in ends)
                self.edges[ends] = some_edge(setting.graph, left, right)
                self.plain[ends] = any(
                    setting.graph.plain_between(a, b) is not None for a in left for b in right
                )

    def best(
        self, multiset: Multiset, *, above: int, deadline: float | None
    ) -> tuple[int, Pair] | None:
        """Return the (scaled) change above `above` and the pair that is found for the multiset."""
        groups = self.table.groups(multiset)
        if self._too_secret(groups):
            return None
        for secret in self._secret_effects(groups):
            pushes = self._pushes(groups, secret)
            if pushes is None:
                continue
            pair = self._databases(groups, secret, pushes, above, deadline)
            if pair is not None:
                value = self.query.difference(pair.moves("published")) * self.moves.scale
                if value > above and check_pair(self.setting, "published", pair, deadline=deadline):
                    return int(value), pair
        return None

    def _too_secret(self, groups: Sequence[tuple[Sequence[Kind], int]]) -> bool:
        """Whether two of the moves or more can only be secret."""
        bare = sum(
            times
            for kinds, times in groups
            if not any(kind.before is None or self.plain[self.ends(kind)] for kind in kinds)
        )
        return bare > 1

    def ends(self, kind: Kind) -> Classes:
        """Return the classes of the facts from which and to which a kind moves."""
        assert kind.before is not None and kind.after is not None
        return self.embedder.home[kind.before], self.embedder.home[kind.after]

    def can_be_secret(self, kind: Kind) -> bool:
        """Whether some values of its classes are joined in G."""
        return bool(self.edges[self.ends(kind)])

    def can_be_plain(self, kind: Kind) -> bool:
        """Whether some values of its classes are not."""
        return self.plain[self.ends(kind)]

    def _secret_effects(self, groups: Sequence[tuple[Sequence[Kind], int]]) -> Iterator[Kind]:
        """Yield a kind for each effect in the multiset that some secret move has."""
        for kinds, _ in groups:
            for kind in kinds:
                if kind.before is not None and self.edges[self.ends(kind)]:
                    yield kind
                    break

    def _pushes(
        self, groups: Sequence[tuple[Sequence[Kind], int]], secret: Kind
    ) -> set[Vector] | None:
        """Return what the proper parts with the secret move add to the bounds; None: too many."""
        equalities = len(secret.effect)
        items: Counter[Vector] = Counter()
        for kinds, times in groups:
            kind = next((kind for kind in kinds if kind.before is not None), None)
            if kind is not None:
                items[kind.effect + kind.push] += times
        total = tuple(
            sum(x * n for x, n in zip(row, items.values(), strict=True))
            for row in zip(*items, strict=True)
        )
        start = secret.effect + secret.push
        items[start] -= 1
        sums = {start}
        for vector, times in items.items():
            longer = set(sums)
            for _ in range(times):
                sums = {tuple(a + b for a, b in zip(one, vector, strict=True)) for one in sums}
                longer |= sums
                if len(longer) > PARTS_LIMIT:
                    return None
            sums = longer
        parts = {one for one in sums if not any(one[:equalities])} - {total}
        return {one[equalities:] for one in parts}

    def _databases(
        self,
        groups: Sequence[tuple[Sequence[Kind], int]],
        secret: Kind,
        pushes: set[Vector],
        above: int,
        deadline: float | None,
    ) -> Pair | None:
        """Return databases with the known numbers in which every such part breaks a bound."""
        from blowproof.models.programs.to_cpsat import solve

        linear = self.embedder.model.linear.without_groups(())
        counts = choices(linear, groups)
        self.embedder.databases(linear, counts)
        key = (secret.effect, secret.push)
        able = [
            (1, variable)
            for kind, variable in counts
            if (kind.effect, kind.push) == key
            and kind.before is not None
            and self.edges[self.ends(kind)]
        ]
        linear.add(weighted_sum(able), lower=1)
        bare = [
            ((kind.effect, kind.push) == key, variable)
            for kind, variable in counts
            if kind.before is not None and not self.plain[self.ends(kind)]
        ]  # these can only be secret
        linear.add(weighted_sum((1, variable) for _, variable in bare), upper=1)
        linear.add(weighted_sum((1, variable) for wanted, variable in bare if not wanted), upper=0)
        for push in pushes:
            clause = []
            for total, fact in zip(push, self.moves.setting.bounds, strict=True):
                row = self.embedder.model.sum_of(fact) + total
                if total < 0 and fact.at_least is not None:
                    clause.append(enforced(linear, row, upper=fact.at_least - 1))
                if total > 0 and fact.at_most is not None:
                    clause.append(enforced(linear, row, lower=fact.at_most + 1))
            linear.add_clause(clause)
        gain = total_change(linear, counts)
        if gain.bounds()[1] <= above:
            return None
        linear.add(gain, lower=above + 1)
        left = None if deadline is None else max(0.0, deadline - now())
        outcome = solve(linear, time_limit=left, seed=self.moves.seed)
        if outcome.assignment is None:
            return None
        chosen: Counter[Classes] = Counter()
        for kind, variable in counts:
            if kind.before is not None:
                chosen[self.ends(kind)] += outcome.assignment[variable.name]
        made = [
            self.ends(kind)
            for kind, variable in counts
            if (kind.effect, kind.push) == key
            and kind.before is not None
            and outcome.assignment[variable.name]
            and self.edges[self.ends(kind)]
        ]
        one = min(made, key=lambda ends: self.plain[ends])
        found = self.values(+chosen, one, deadline)
        if found is None:
            return None
        return completed(self.embedder.model, outcome.assignment, self.moves.pair(found, Counter()))

    # values ------------------------------------------------------------------------------------

    def values(
        self, chosen: Counter[Classes], one: Classes, deadline: float | None
    ) -> Counter[Kind] | None:
        """Return moves between values of these classes: one is secret, of the classes `one`."""
        from blowproof.models.programs.to_cpsat import solve

        points = {place: self._points(place) for ends in chosen for place in ends}
        for place, point in zip(one, self.edges[one], strict=True):
            points[place] = list(dict.fromkeys([point, *points[place]]))
        where = {point: place for place, found in points.items() for point in found}
        kinds = Moves(self.setting, self.query, "published", tuple(where)).kinds
        linear = LinearModel(name="values")
        by_classes: dict[Classes, list[tuple[Kind, IntVar]]] = defaultdict(list)
        for number, kind in enumerate(kinds):
            assert kind.before is not None and kind.after is not None
            ends = where[kind.before], where[kind.after]
            if chosen[ends] and (not kind.secret or ends == one):
                most = 1 if kind.secret else chosen[ends]
                by_classes[ends].append((kind, linear.int_var(f"v{number}", lower=0, upper=most)))
        for ends, times in chosen.items():
            linear.add(weighted_sum((1, v) for _, v in by_classes[ends]), lower=times, upper=times)
        linear.add(weighted_sum((1, v) for k, v in by_classes[one] if k.secret), lower=1, upper=1)
        every = [item for found in by_classes.values() for item in found]
        linear.maximise(total_change(linear, every))
        left = 5.0 if deadline is None else max(0.0, min(5.0, deadline - now()))
        outcome = solve(linear, time_limit=left, seed=self.moves.seed)
        if outcome.assignment is None:
            return None
        return +Counter({kind: outcome.assignment[v.name] for kind, v in every})

    def _points(self, place: int) -> list[Point]:
        """Return a few values of a class, far apart."""
        boxes = self.boxes[place]
        ends = [box.nth(number) for box in (boxes[0], boxes[-1]) for number in (0, box.size - 1)]
        middle = boxes[len(boxes) // 2]
        return list(dict.fromkeys([ends[0], ends[-1], middle.nth(middle.size // 2), *ends]))[
            :POINTS
        ]
