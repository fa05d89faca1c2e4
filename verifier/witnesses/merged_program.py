"""The integer program for merged records: D1, the moves of R, kinds of the other moves.

D1 holds what leaves, D2 keeps the bounds, and the records of R are those that clauses name. Where
one end of one bound is all there is, parts of the moves have to break it (see
`merged_into_databases`). In reading 1 with another G, one move can be secret and the others can be
plain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lcm

from blowproof.models import Point
from blowproof.models.base.clock import now
from blowproof.models.programs.linear_terms import IntVar, weighted_sum
from blowproof.verifier.moves.best_choice import total_change
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.reductions.given_numbers import Embedder, choices
from blowproof.verifier.reductions.merged_records import Needs
from blowproof.verifier.witnesses.one_secret_move import OneSecret

__all__ = ["MergedModel", "Part", "Placed", "Secret", "Split", "Task"]

Vector = tuple[int, ...]
Split = Mapping[int, tuple[Vector, list[Kind]]]
"""For each record of R its effect, and the kinds of moves that have it."""
Part = tuple[tuple[int, ...], tuple[int, ...]]
"""Some records of R, and how many moves of each group."""
Secret = tuple[int | None, int | None]
"""The only secret move: a record's, or one of a group."""


@dataclass(frozen=True)
class Placed:
    """A solution: the kinds that records of R make, those that others make, who stays where."""

    named: Mapping[int, Kind]
    others: Counter[Kind]
    staying: Mapping[int, Point]
    rest: Counter[Point]
    secret: int | Kind | None = None
    """Which move is to be the only secret one: a record's, or one of this kind."""


@dataclass(frozen=True)
class Task:
    """One multiset: what R does for the clauses, and the other moves in groups of equal effects.

    `lone` knows which moves can be secret or plain, where G is not complete in reading 1.
    """

    moves: Moves
    embedder: Embedder
    lone: OneSecret | None
    needs: Needs
    groups: list[tuple[tuple[Kind, ...], int]]

    @property
    def times(self) -> list[int]:
        """How many moves there are in each group."""
        return [times for _, times in self.groups]


class MergedModel:
    """The integer program of one split. `narrow`: with what is asked for only to make a pair."""

    def __init__(self, task: Task, split: Split, *, narrow: bool) -> None:
        self.task, self.setting = task, task.moves.setting
        self.embedder = task.embedder
        self.model = self.embedder.model
        self.linear = self.model.linear.without_groups(())
        self.counts = choices(self.linear, task.groups)
        self.makes = {
            record: [
                (kind, self.linear.bool_var(f"makes{record}_{number}"))
                for number, kind in enumerate(kinds)
            ]
            for record, (_, kinds) in split.items()
        }
        self.every = [*self.counts, *(item for made in self.makes.values() for item in made)]
        self.embedder.databases(self.linear, self.every)
        by_name = {variable.name: variable for variable in self.linear.variables}
        self.named = sorted({r for clause in self.setting.clauses for r in clause.records})
        self.lies: dict[tuple[int, int], IntVar] = {
            (record, place): by_name[f"record{record + 1}_class{place}"]
            for record in self.named
            for place in range(len(self.model.classes))
        }
        for record, made in self.makes.items():
            self.linear.add(weighted_sum((1, v) for _, v in made), lower=1, upper=1)
            for kind, variable in made:
                self.linear.add(variable - self.lies[record, self._home(kind)], upper=0)
        self.narrow = narrow and self._narrow()
        self.secret: Secret | None = None

    def _home(self, kind: Kind) -> int:
        assert kind.before is not None
        return self.embedder.home[kind.before]

    def _narrow(self) -> bool:
        """Named records outside R stay, and serve no clause that R serves."""
        others = [record for record in self.named if record not in self.makes]
        for place, held in enumerate(self.model.counts if others else ()):
            point = self.model.classes[place].take(1)[0]
            leaving = [(1, v) for kind, v in self.every if self._home(kind) == place]
            staying = [(1, self.lies[record, place]) for record in others]
            self.linear.add(weighted_sum([*staying, *leaving]) - held, upper=0)
            served = {clause for tasks in self.task.needs.values() for clause, _ in tasks}
            for record in others:
                if any(self.setting.clauses[place].served_by(record, point) for place in served):
                    self.linear.add(1 * self.lies[record, place], upper=0)
        return bool(others)

    def one_secret(self, secret: Secret) -> None:
        """This move can be secret, and all others can be plain."""
        lone = self.task.lone
        assert lone is not None
        self.secret = secret
        record, group = secret
        for who, made in self.makes.items():
            fit = lone.can_be_secret if who == record else lone.can_be_plain
            for kind, variable in made:
                if not fit(kind):
                    self.linear.add(1 * variable, upper=0)
        for number, each in enumerate(self._by_group()):
            bare = [(1, v) for kind, v in each if not lone.can_be_plain(kind)]
            self.linear.add(weighted_sum(bare), upper=int(number == group))
            if number == group:
                joined = [(1, v) for kind, v in each if lone.can_be_secret(kind)]
                self.linear.add(weighted_sum(joined), lower=1)
                # what can only be secret is the secret one
                self.linear.add(weighted_sum(bare), upper=1)

    def _by_group(self) -> Iterator[list[tuple[Kind, IntVar]]]:
        start = 0
        for kinds, _ in self.task.groups:
            yield self.counts[start : start + len(kinds)]
            start += len(kinds)

    def solve(self, parts: Sequence[Part], above: int, end: float) -> tuple[str, Placed | None]:
        """Return whether there is a solution that changes the query by more, and one."""
        from blowproof.models.programs.to_cpsat import solve

        self._break_parts(parts)
        gain = total_change(self.linear, self.every)
        if gain.bounds()[1] <= above:
            return "infeasible", None
        self.linear.add(gain, lower=above + 1)
        left = end - now()
        if left <= 0:
            return "unknown", None
        outcome = solve(self.linear, time_limit=left, seed=self.task.moves.seed)
        told = outcome.assignment
        return outcome.status, None if told is None else self._read(told)

    def _break_parts(self, parts: Sequence[Part]) -> None:
        """Each part breaks the only end there is, with the average push of equal effects."""
        ends = [
            (place, fact, low)
            for place, fact in enumerate(self.setting.bounds)
            for low, end in ((True, fact.at_least), (False, fact.at_most))
            if end is not None
        ]
        if len(ends) != 1:
            return
        ((place, fact, low),) = ends
        by_group = [[(kind.push[place], v) for kind, v in each] for each in self._by_group()]
        for records, counts in parts:
            scale = lcm(*(times for times, k in zip(self.task.times, counts, strict=True) if k))
            terms = [
                (scale * k // times * push, variable)
                for k, times, group in zip(counts, self.task.times, by_group, strict=True)
                for push, variable in group
                if k and push
            ]
            terms += [
                (scale * kind.push[place], variable)
                for record in records
                for kind, variable in self.makes[record]
                if kind.push[place]
            ]
            row = scale * self.model.sum_of(fact) + weighted_sum(terms)
            if low:
                assert fact.at_least is not None
                self.linear.add(row, upper=scale * (fact.at_least - 1))
            else:
                assert fact.at_most is not None
                self.linear.add(row, lower=scale * (fact.at_most + 1))

    def _read(self, assignment: Mapping[str, int]) -> Placed:
        """Return a solution."""
        named = {
            record: next(kind for kind, variable in made if assignment[variable.name])
            for record, made in self.makes.items()
        }
        others = +Counter({kind: assignment[variable.name] for kind, variable in self.counts})
        points = [item.take(1)[0] for item in self.model.classes]
        staying = {
            record: points[place]
            for (record, place), variable in self.lies.items()
            if record not in named and assignment[variable.name]
        }
        rest: Counter[Point] = Counter()
        left = {place: assignment[v.name] for place, v in enumerate(self.model.counts)}
        for kind in [*named.values(), *others.elements()]:
            assert kind.before is not None
            left[self.embedder.home[kind.before]] -= 1
        for place, times in left.items():
            rest[points[place]] += times
        for point in staying.values():
            rest[point] -= 1
        return Placed(named, others, staying, +rest, self._read_secret(assignment))

    def _read_secret(self, assignment: Mapping[str, int]) -> int | Kind | None:
        if self.secret is None:
            return None
        record, group = self.secret
        if group is None:
            return record
        lone = self.task.lone
        assert lone is not None
        each = list(self._by_group())[group]
        made = [k for k, v in each if assignment[v.name] and lone.can_be_secret(k)]
        return min(made, key=lone.can_be_plain)
