"""Readings 3 and 4 with clauses: propose, refute, cut, with numberings of the records in the model.

A multiset belongs to I_Q iff some numbering of its records makes the clauses true. Records that lie
in the same areas of the clauses are alike to them, so a numbering says which *group* of values each
named record takes its value from: a bipartite b-matching with side conditions, and part of the
integer programs that propose a pair (for D1 and for D2) and that look for a D3.

A D3 that is D1 with the moves v, numbered with w_g records of group g, refutes every pair whose D2
makes moves like v (the facts and the clauses see no difference) and at least one more, whose D1
with v keeps the bounds, and holds w_g records of each group g: the same numbering does. A cut says
that one of these fails, so it removes no neighbour pair; there are no more cuts than (v, w).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from blowproof.models import Point, Setting
from blowproof.models.base.clock import now
from blowproof.models.base.kept import cached_property
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, LinearExpr, weighted_sum
from blowproof.verifier.asked.answer import Answer, OnBest
from blowproof.verifier.engines.histograms.loop import Known, best_proposal
from blowproof.verifier.engines.histograms.master import Master
from blowproof.verifier.engines.histograms.refuter import Proposal, add_bound
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["Numbering", "numbered_sensitivity"]


def numbered_sensitivity(
    moves: Moves,
    known: Known,
    *,
    most: int,
    deadline: float | None = None,
    on_best: OnBest | None = None,
) -> Answer:
    """Return S(f, P) over the given values, for databases of up to `most` records."""
    proposer, what = _Master(moves, most, deadline), ", with numberings"
    return best_proposal(moves, proposer, known, deadline=deadline, on_best=on_best, what=what)


MOST_STATES = whole_limit(__name__, "MOST_STATES")
MOST_NUMBERINGS = whole_limit(__name__, "MOST_NUMBERINGS")


@dataclass(frozen=True)
class Numbering:
    """What clauses see of some values: groups of values that lie in the same of their areas."""

    setting: Setting
    groups: tuple[tuple[Point, ...], ...]
    records: tuple[int, ...]

    @staticmethod
    def of(setting: Setting, values: tuple[Point, ...]) -> Numbering:
        """Return the groups of the values, and the records that clauses name."""
        areas = [area for clause in setting.clauses for _, area, _ in clause.literals]
        found: dict[tuple[bool, ...], list[Point]] = defaultdict(list)
        for x in values:
            found[tuple(x in area for area in areas)].append(x)
        records = sorted({record for clause in setting.clauses for record in clause.records})
        return Numbering(setting, tuple(map(tuple, found.values())), tuple(records))

    @cached_property
    def every(self) -> tuple[tuple[int, ...], ...]:
        """Return how many records of each group the numberings give that make the clauses true.

        Empty where there are too many to list (or none).
        """
        states: set[tuple[tuple[int, ...], int]] = {((0,) * len(self.groups), 0)}
        clauses = self.setting.clauses
        for record in self.records:
            following = set()
            for used, true in states:
                for group, values in enumerate(self.groups):
                    now = true
                    for place, clause in enumerate(clauses):
                        if clause.served_by(record, values[0]):
                            now |= 1 << place
                    more = (*used[:group], used[group] + 1, *used[group + 1 :])
                    following.add((more, now))
            if len(following) * len(self.groups) > MOST_STATES:
                return ()
            states = following
        found = {used for used, true in states if true == (1 << len(clauses)) - 1}
        return tuple(sorted(found)) if len(found) <= MOST_NUMBERINGS else ()

    def add_both(self, master: Master) -> None:
        """Demand that both databases of a master can be numbered."""
        first: dict[Point, LinearExpr] = {x: 1 * held for x, held in master.first.items()}
        self.add(master.linear, first, "first")
        self.add(master.linear, _after(first, master.counts), "second")

    def add(
        self, linear: LinearModel, histogram: Mapping[Point, LinearExpr], name: str
    ) -> list[list[IntVar]]:
        """Demand that a histogram can be numbered; return, by group, which records it gives."""
        takes = [
            [linear.bool_var(f"{name}_group{group}_record{record}") for record in self.records]
            for group in range(len(self.groups))
        ]
        for place in range(len(self.records)):
            one = weighted_sum((1, given[place]) for given in takes)
            linear.add(one, lower=1, upper=1)
        for values, given in zip(self.groups, takes, strict=True):
            held = _sum(histogram[x] for x in values)
            linear.add(held - weighted_sum((1, taken) for taken in given), lower=0)
        linear.add(_sum(histogram.values()), lower=self.records[-1] + 1)  # as many as are named
        for clause in self.setting.clauses:
            linear.add_clause(
                takes[group][place]
                for place, record in enumerate(self.records)
                for group, values in enumerate(self.groups)
                if clause.served_by(record, values[0])
            )
        return takes


def _sum(items: Iterable[LinearExpr]) -> LinearExpr:
    found = list(items)
    terms = tuple(term for item in found for term in item.terms)
    return LinearExpr(terms, sum(item.constant for item in found))


class _Master:
    """The proposals of `master`, both databases numbered, and what refutes them."""

    def __init__(self, moves: Moves, most: int, deadline: float | None = None) -> None:
        self.moves, self.master = moves, Master(moves, most=most, deadline=deadline)
        self.numbering = Numbering.of(moves.setting, moves.values)
        self.numbering.add_both(self.master)
        self.held = [self._named(values) for values in self.numbering.groups]
        self.total = self._named(moves.values)
        self.alike = self._alike()
        self.cuts = 0
        self.bound = self.master.bound
        self.propose = self.master.propose

    def _alike(self) -> dict[Kind, IntVar]:
        """Return how many moves are made of those that facts and clauses do not tell apart."""
        home = {x: place for place, values in enumerate(self.numbering.groups) for x in values}
        found: dict[object, list[Kind]] = defaultdict(list)
        for kind in self.moves.kinds:
            end = kind.after if kind.before is None else kind.before
            assert end is not None
            found[kind.before is None, kind.effect, kind.push, home[end]].append(kind)
        result: dict[Kind, IntVar] = {}
        master = self.master
        for number, kinds in enumerate(found.values()):
            most = len(kinds) * master.most
            made = master.linear.int_var(f"alike{number}", lower=0, upper=most)
            counts = weighted_sum((1, master.counts[kind]) for kind in kinds)
            master.linear.add(counts - made, lower=0, upper=0)
            result.update(dict.fromkeys(kinds, made))
        return result

    def _named(self, values: tuple[Point, ...]) -> IntVar:
        """Return how many records of D1 hold one of the values."""
        master = self.master
        held = master.linear.int_var(
            f"held{len(master.linear.variables)}", lower=0, upper=master.most
        )
        master.linear.add(
            weighted_sum((1, master.first[x]) for x in values) - held, lower=0, upper=0
        )
        return held

    @property
    def proposals(self) -> int:
        """How many pairs were proposed."""
        return self.master.proposals

    def refute(self, proposal: Proposal, deadline: float | None) -> bool:
        """Whether some proper part of the moves leads into I_Q; if so, cut off what it refutes."""
        from blowproof.models.programs.to_cpsat import solve

        linear = LinearModel(name="refuter")
        chosen = {
            kind: linear.int_var(f"k{number}", lower=0, upper=times)
            for number, (kind, times) in enumerate(proposal.counts.items())
        }
        size = proposal.counts.total()
        if size < 2:
            return False
        part = weighted_sum((1, variable) for variable in chosen.values())
        linear.add(part, lower=1, upper=size - 1)
        setting = self.moves.setting
        for place in range(len(setting.equalities)):
            linear.add(
                weighted_sum((kind.effect[place], v) for kind, v in chosen.items()),
                lower=0,
                upper=0,
            )
        for place, fact in enumerate(setting.bounds):
            row = weighted_sum((kind.push[place], v) for kind, v in chosen.items())
            add_bound(linear, row + fact.total(proposal.first), fact)
        start = {x: LinearExpr((), proposal.first[x]) for x in self.moves.values}
        takes = self.numbering.add(linear, _after(start, chosen), "third")
        linear.maximise(-1 * part)
        left = None if deadline is None else max(0.0, deadline - now())
        outcome = solve(linear, time_limit=left)
        if outcome.status == "infeasible":
            return False
        if outcome.assignment is None:
            raise TimeoutError
        values = outcome.assignment
        found = Counter({kind: values[v.name] for kind, v in chosen.items() if values[v.name]})
        one = tuple(sum(values[taken.name] for taken in given) for given in takes)
        for used in self.numbering.every or (one,):
            self._cut(found, used)
        self.cuts += 1
        return True

    def _cut(self, found: Counter[Kind], used: tuple[int, ...]) -> None:
        """Rule out every pair that D1 with the moves `found`, numbered like this, refutes."""
        master = self.master
        net: Counter[Point] = Counter()
        for kind, times in found.items():
            if kind.before is not None:
                net[kind.before] -= times
            if kind.after is not None:
                net[kind.after] += times
        wanted: Counter[IntVar] = Counter()
        for kind, times in found.items():
            wanted[self.alike[kind]] += times
        clause = [~master.at_least(made, times) for made, times in wanted.items()]
        clause.append(~master.at_least(master.secret, found.total() + 1))
        clause += master.broken_bounds(found, second=False)
        needs = [
            (held, need - sum(net[x] for x in values))
            for held, need, values in zip(self.held, used, self.numbering.groups, strict=True)
            if need
        ]
        needs.append((self.total, self.numbering.records[-1] + 1 - sum(net.values())))
        clause += [~master.at_least(held, need) for held, need in needs if need > 0]
        master.linear.add_clause(clause)


def _after(
    first: Mapping[Point, LinearExpr], counts: Mapping[Kind, IntVar]
) -> dict[Point, LinearExpr]:
    """Return a histogram after moves."""
    second = dict(first)
    for kind, times in counts.items():
        if kind.before is not None:
            second[kind.before] = second[kind.before] - times
        if kind.after is not None:
            second[kind.after] = second[kind.after] + times
    return second
