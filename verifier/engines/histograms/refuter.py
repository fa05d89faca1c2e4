"""Looking for the D3 that refutes a proposed pair: an integer program over kinds of moves.

Given the histogram of D1 and the number of records of each kind of move, D3 is given by how many of
the secret moves it keeps (`kept`) and which plain moves records of D1 make instead (`instead`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from blowproof.models import LinearFact, Point
from blowproof.models.base.clock import now
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import IntVar, LinearExpr, weighted_sum
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["Proposal", "Refutation", "Refuter"]


@dataclass(frozen=True)
class Proposal:
    """D1's histogram, and how many records make each kind of move."""

    first: Counter[Point]
    counts: Counter[Kind]


@dataclass(frozen=True)
class Refutation:
    """A D3. `dropping`: it differs from D2 by leaving out `moves` (condition 3(b)).

    Otherwise D3 is D1 with `moves`: secret ones that D2 makes too, but not all of them, and plain
    ones of any record.
    """

    moves: Counter[Kind]
    dropping: bool


class Refuter:
    """Looks for a D3, smallest first: a small one refutes the most proposals."""

    def __init__(self, moves: Moves) -> None:
        self.moves = moves
        self.setting = moves.setting
        self.plain = [kind for kind in moves.kinds if not kind.secret]
        self.alike = moves.reading == "pufferfish"  # plain moves count for minimality too
        self.mixtures = self.alike and bool(self.setting.bounds)
        """Whether a pair may be none though no part refutes it: in reading 5 with bounds."""

    def refute(self, proposal: Proposal, deadline: float | None = None) -> Refutation | None:
        """Return a D3 of least size, or None if the pair is a neighbour pair.

        Raises TimeoutError at the deadline.
        """
        part = self._find(proposal, deadline, dropping=False)
        if part is None and self.moves.reading == "published" and self.plain:
            part = self._find(proposal, deadline, dropping=True)
        return part

    def _find(
        self, proposal: Proposal, deadline: float | None, *, dropping: bool
    ) -> Refutation | None:
        from blowproof.models.programs.to_cpsat import solve

        secret = [kind for kind in proposal.counts if kind.secret]
        plain = [kind for kind in proposal.counts if not kind.secret]
        if dropping:
            choosable, limits = plain, proposal.counts
        elif self.moves.reading == "published":
            away = [kind for kind in self.plain if kind.before in proposal.first]
            choosable = secret + away
            limits = Counter({kind: proposal.first[_source(kind)] for kind in away})
            limits.update({kind: proposal.counts[kind] for kind in secret})
        else:
            choosable, limits = list(proposal.counts), proposal.counts
        linear = LinearModel(name="refuter")
        chosen = {
            kind: linear.int_var(f"k{number}", lower=0, upper=limits[kind])
            for number, kind in enumerate(choosable)
        }
        if not chosen:
            return None
        self._proper_part(linear, chosen, proposal, dropping=dropping)
        self._inside(linear, chosen, proposal, dropping=dropping)
        if self.alike:  # then undoing it leads from D2 into I_Q as well
            self._inside(linear, chosen, proposal, dropping=True)
        if not dropping:
            self._held(linear, chosen, proposal)
        linear.maximise(-1 * weighted_sum((1, variable) for variable in chosen.values()))
        left = None if deadline is None else max(0.0, deadline - now())
        outcome = solve(linear, time_limit=left)
        if outcome.status == "infeasible":
            return None
        if outcome.assignment is None:
            raise TimeoutError
        found = {kind: outcome.assignment[variable.name] for kind, variable in chosen.items()}
        return Refutation(Counter({kind: n for kind, n in found.items() if n}), dropping)

    def _proper_part(
        self,
        linear: LinearModel,
        chosen: dict[Kind, IntVar],
        proposal: Proposal,
        *,
        dropping: bool,
    ) -> None:
        """At least one of the counted moves is chosen; unless plain ones are dropped, not all."""
        counted = [kind for kind in chosen if kind.secret or dropping or self.alike]
        total = sum(proposal.counts[kind] for kind in counted)
        part = weighted_sum((1, chosen[kind]) for kind in counted)
        if total < (1 if dropping else 2):
            linear.add_clause([])
        else:
            linear.add(part, lower=1, upper=total if dropping else total - 1)

    def _inside(
        self,
        linear: LinearModel,
        chosen: dict[Kind, IntVar],
        proposal: Proposal,
        *,
        dropping: bool,
    ) -> None:
        """D3 satisfies the equalities and the bounds."""
        for place in range(len(self.setting.equalities)):
            row = weighted_sum((kind.effect[place], chosen[kind]) for kind in chosen)
            linear.add(row, lower=0, upper=0)
        sign = -1 if dropping else 1
        for place, fact in enumerate(self.setting.bounds):
            start = fact.total(proposal.first)
            if dropping:
                start += sum(kind.push[place] * n for kind, n in proposal.counts.items())
            row = weighted_sum((sign * kind.push[place], chosen[kind]) for kind in chosen)
            add_bound(linear, row + start, fact)

    def _held(self, linear: LinearModel, chosen: dict[Kind, IntVar], proposal: Proposal) -> None:
        """No more records move away from a value than hold it in D1."""
        for point in {kind.before for kind in chosen if kind.before is not None}:
            leaving = weighted_sum((1, v) for kind, v in chosen.items() if kind.before == point)
            linear.add(leaving, upper=proposal.first[point])


def _source(kind: Kind) -> Point:
    assert kind.before is not None
    return kind.before


def add_bound(linear: LinearModel, row: LinearExpr, fact: LinearFact) -> None:
    """Demand that a bound holds (its ends may lie beyond what the row can reach)."""
    low, high = row.bounds()
    if fact.at_least is not None and fact.at_least > low:
        linear.add(row, lower=fact.at_least)
    if fact.at_most is not None and fact.at_most < high:
        linear.add(row, upper=fact.at_most)
