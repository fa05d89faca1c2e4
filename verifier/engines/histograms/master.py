"""Engine "ilp": propose, refute, cut, over histograms and kinds of moves (CP-SAT).

    loop: propose a pair of databases in I_Q whose query change exceeds the best so far
          none        -> the best is S(f, P)
          look for a D3 that refutes it
          none        -> a neighbour pair: a better lower bound
          found       -> cut off every pair that this D3 refutes

Whether D3 refutes a pair depends on little: with kept secret moves u and plain moves p, it refutes
every pair in I_Q whose D2 makes at least the moves u and at least one secret move more, and whose
D1 holds the records that D3 moves (equalities hold because the effects of u and p add up to zero;
bounds are asked for again). With dropped plain moves q, it refutes every pair whose D2 makes q.
A cut says that one of these fails, so it never removes a neighbour pair. Moves that change all
facts alike may stand for one another in u and in q: where D3 makes moves of D2 only, the cut counts
them together.

In reading 5 all moves count as the secret ones do here, and one of D2's has to be secret. A part of
the moves refutes a pair if it leads from D1 into I_Q, and undoing it leads from D2 into I_Q (it, or
else the rest of the moves, leaves out the record that the attacker is told; see `neighbours`).
With bounds that is not all: the exact test of joint certainty judges each pair that no part
refutes, and what it refuses is ruled out alone.

It answers scope "given" without clauses, and scope "any" once the number of moves is bounded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from blowproof.models import InternalError, LinearFact, Point
from blowproof.models.base.clock import now, pay
from blowproof.models.policy.readings import is_labelled
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import BoolLiteral, IntVar, LinearExpr, weighted_sum
from blowproof.verifier.asked.answer import Answer, OnBest
from blowproof.verifier.engines.histograms.loop import Known, best_proposal, is_pair
from blowproof.verifier.engines.histograms.refuter import Proposal, Refutation, Refuter, add_bound
from blowproof.verifier.limits.limit import real_limit
from blowproof.verifier.moves.best_choice import total_change
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["Master", "MasterAndRefuter", "histogram_sensitivity"]

TERM = real_limit(__name__, "TERM")


def histogram_sensitivity(
    moves: Moves,
    known: Known,
    *,
    most: int,
    deadline: float | None = None,
    on_best: OnBest | None = None,
) -> Answer:
    """Return S(f, P) over the given values.

    `most` bounds the number of records that D1 holds (scope "given") or that move ("any"); the
    answer is exact for databases within it.
    """
    proposer = MasterAndRefuter(moves, most, deadline)
    return best_proposal(moves, proposer, known, deadline=deadline, on_best=on_best)


class MasterAndRefuter:
    """A master and a refuter: what they have ruled out stays in the master's model.

    TimeoutError where that would not be written by the deadline.
    """

    def __init__(self, moves: Moves, most: int, deadline: float | None = None) -> None:
        self.master = Master(moves, most=most, deadline=deadline)
        self.refuter = Refuter(moves)
        self.bound, self.propose = self.master.bound, self.master.propose

    @property
    def proposals(self) -> int:
        """How many pairs were proposed."""
        return self.master.proposals

    @property
    def cuts(self) -> int:
        """How many of them were refuted."""
        return self.master.cuts

    def refute(self, proposal: Proposal, deadline: float | None) -> bool:
        """Whether some D3 refutes a pair; if so, rule out all that it refutes."""
        refutation = self.refuter.refute(proposal, deadline)
        if refutation is None and self.refuter.mixtures:
            refuted = not is_pair(self.master.moves, proposal, deadline)
            if refuted:
                self.master.cuts += 1
                self.master.block(proposal)
            return refuted
        if refutation is not None:
            self.master.cut(refutation)
        return refutation is not None


class Master:
    """Proposes pairs of databases in I_Q that no cut has ruled out."""

    def __init__(self, moves: Moves, *, most: int, deadline: float | None = None) -> None:
        self.moves, self.most = moves, most
        self.setting = moves.setting
        work = len(moves.kinds) * (2 + len(moves.setting.equalities)) * TERM
        pay(work, deadline)
        self.linear = LinearModel(name="master")
        self.proposals = self.cuts = 0
        self._thresholds: dict[tuple[str, int], BoolLiteral] = {}
        self._together: dict[tuple[object, ...], IntVar] = {}
        self._violated: dict[tuple[str, bool, int], list[BoolLiteral]] = {}
        self.first = {
            point: self.linear.int_var(f"first{number}", lower=0, upper=most)
            for number, point in enumerate(moves.values)
        }
        cap = 1 if moves.reading == "markov" else most
        self.counts = {
            kind: self.linear.int_var(f"move{number}", lower=0, upper=cap)
            for number, kind in enumerate(moves.kinds)
        }
        secret = [variable for kind, variable in self.counts.items() if kind.secret]
        self.secret = self._named(
            "secret", weighted_sum((1, v) for v in secret), most * max(len(secret), 1)
        )
        self.counted = self.secret
        if moves.reading == "pufferfish":  # there every move counts for minimality
            every = weighted_sum((1, v) for v in self.counts.values())
            self.counted = self._named("moving", every, most * max(len(self.counts), 1))
        self._databases()
        self._facts()
        self._reading()
        self.gain = total_change(self.linear, self.counts.items(), deadline=deadline)

    # the model -----------------------------------------------------------------------------------

    def _named(self, name: str, expr: LinearExpr, most: int) -> IntVar:
        variable = self.linear.int_var(name, lower=0, upper=most)
        self.linear.add(expr - variable, lower=0, upper=0)
        return variable

    def _databases(self) -> None:
        """Records that move are held by D1; n is right."""
        going: dict[Point | None, list[tuple[int, IntVar]]] = defaultdict(list)
        for kind, variable in self.counts.items():
            going[kind.before].append((1, variable))
        for point, held in self.first.items():
            leaving = weighted_sum(going[point])
            if self.setting.scope == "any":  # the worst D1 holds nothing but what changes
                self.linear.add(leaving - held, lower=0, upper=0)
            elif leaving.terms:
                self.linear.add(leaving - held, upper=0)
        total = weighted_sum((1, held) for held in self.first.values())
        labelled = is_labelled(self.moves.reading)
        if self.setting.scope == "given" and labelled:
            self.linear.add(total, lower=self.most, upper=self.most)
        else:
            self.linear.add(total, upper=self.most)

    def total(self, fact: LinearFact, *, second: bool) -> LinearExpr:
        """Return a fact's left-hand side in D1, or in D2."""
        row = weighted_sum((fact.coefficient(x), v) for x, v in self.first.items())
        if second:
            place = self.setting.bounds.index(fact)
            row = row + weighted_sum((k.push[place], v) for k, v in self.counts.items())
        return row

    def _facts(self) -> None:
        for place, fact in enumerate(self.setting.equalities):
            row = weighted_sum((k.effect[place], v) for k, v in self.counts.items())
            self.linear.add(row, lower=0, upper=0)
            if self.setting.scope == "given":
                assert fact.answer is not None
                self.linear.add(
                    self.total(fact, second=False), lower=fact.answer, upper=fact.answer
                )
        for fact in self.setting.bounds:
            add_bound(self.linear, self.total(fact, second=False), fact)
            add_bound(self.linear, self.total(fact, second=True), fact)

    def _reading(self) -> None:
        self.linear.add(self.secret, lower=1)
        if is_labelled(self.moves.reading):
            return
        if self.moves.reading == "markov":
            self.linear.add(self.secret, upper=4)
        for point in self.moves.values:  # a value is removed or added, not both
            ends = [v for k, v in self.counts.items() if point in (k.before, k.after)]
            literals = [~self.at_least(variable, 1) for variable in ends]
            self.linear.add_clause(literals)

    # the loop ------------------------------------------------------------------------------------

    def propose(
        self, *, above: int, deadline: float | None, fewest: bool = False
    ) -> Proposal | None:
        """Return a pair whose query changes by more than `above`, or None if there is none left.

        `fewest`: one that makes the fewest moves of those.
        """
        from blowproof.models.programs.to_cpsat import solve

        goal = self.linear.without_groups(())
        if self.gain.bounds()[1] <= above:
            return None
        goal.add(self.gain, lower=above + 1)
        if fewest:
            goal.maximise(weighted_sum((-1, number) for number in self.counts.values()))
        left = None if deadline is None else deadline - now()
        if left is not None and left <= 0:
            raise TimeoutError
        seed = self.moves.seed
        outcome = solve(goal, time_limit=left, seed=seed)
        if outcome.status == "infeasible":
            second = solve(goal, presolve=False, seed=seed + 1, time_limit=left)
            if second.assignment is not None:
                raise InternalError("CP-SAT with and without presolve disagree")
            return None
        if outcome.assignment is None or (fewest and outcome.status != "optimal"):
            raise TimeoutError
        self.proposals += 1
        return self.proposal(outcome.assignment)

    def proposal(self, values: dict[str, int]) -> Proposal:
        """Return what a solution of the model proposes."""
        return Proposal(
            Counter({x: values[v.name] for x, v in self.first.items() if values[v.name]}),
            Counter({k: values[v.name] for k, v in self.counts.items() if values[v.name]}),
        )

    def of_moves(self, more_than: int, at_most: int) -> LinearModel:
        """Return the model of the pairs of so many moves that nothing has ruled out."""
        goal = self.linear.without_groups((), objective=False)
        every = weighted_sum((1, number) for number in self.counts.values())
        goal.add(every, lower=more_than + 1, upper=at_most)
        return goal

    def bound(self) -> int:
        """Return an upper bound on the change that needs no search: moves times the largest one."""
        longest = max((kind.length for kind in self.moves.kinds), default=0)
        labelled = is_labelled(self.moves.reading)
        number = 4 if self.moves.reading == "markov" else self.most * (1 if labelled else 2)
        return self.moves.score.most(number * longest)

    def cut(self, refutation: Refutation) -> None:
        """Rule out every pair that this D3 refutes."""
        self.cuts += 1
        found = refutation.moves
        alike = self.moves.reading == "pufferfish"
        kept = {kind: n for kind, n in found.items() if kind.secret or alike}
        if refutation.dropping or len(kept) == len(found):
            clause = self._less_than(found)
        else:  # where D1 holds the records that D3 moves, matters as well
            clause = [~self.at_least(self.counts[k], n) for k, n in kept.items()]
        if not refutation.dropping:
            clause.append(~self.at_least(self.counted, sum(kept.values()) + 1))
            clause += [] if alike else self._missing_records(found)
        clause += self.broken_bounds(found, second=refutation.dropping)
        if alike:
            clause += self.broken_bounds(found, second=True)
        self.linear.add_clause(clause)

    def _less_than(self, part: Counter[Kind]) -> list[BoolLiteral]:
        """Literals for "D2 makes fewer such moves": any of the moves that facts take for alike."""
        totals: Counter[tuple[object, ...]] = Counter()
        for kind, times in part.items():
            totals[self._looks(kind)] += times
        return [~self.at_least(self._moves_like(looks), n) for looks, n in totals.items()]

    def _looks(self, kind: Kind) -> tuple[object, ...]:
        """What the facts, and minimality, see of a move."""
        return kind.effect, kind.push, kind.secret or self.moves.reading == "pufferfish"

    def _moves_like(self, looks: tuple[object, ...]) -> IntVar:
        """Return a variable that counts the moves that look so."""
        if looks not in self._together:
            same = [v for kind, v in self.counts.items() if self._looks(kind) == looks]
            total = weighted_sum((1, variable) for variable in same)
            name, most = f"alike{len(self._together)}", sum(v.upper for v in same)
            self._together[looks] = same[0] if len(same) == 1 else self._named(name, total, most)
        return self._together[looks]

    def block(self, proposal: Proposal, *, and_more: bool = False) -> None:
        """Rule out this very pair (up to relabelling), to ask for the next one.

        `and_more`: and every pair that makes these moves and others from the same D1.
        """
        clause = []
        histogram = [(variable, proposal.first[x]) for x, variable in self.first.items()]
        moving = [(variable, proposal.counts[k]) for k, variable in self.counts.items()]
        for variable, number in [*histogram, *moving]:
            if number > 0:
                clause.append(~self.at_least(variable, number))
        for variable, number in histogram if and_more else [*histogram, *moving]:
            if number < variable.upper:
                clause.append(self.at_least(variable, number + 1))
        self.linear.add_clause(clause)

    def _missing_records(self, found: Counter[Kind]) -> list[BoolLiteral]:
        """D1 does not hold the records that D3 moves plainly (beside those that it moves as D2)."""
        need: Counter[Point] = Counter()
        for kind, times in found.items():
            if kind.before is not None:
                need[kind.before] += times
        plain = {kind.before for kind in found if not kind.secret}
        return [~self.at_least(self.first[x], need[x]) for x in plain if x is not None]

    def broken_bounds(self, found: Iterable[Kind], *, second: bool) -> list[BoolLiteral]:
        """Literals that say that D3 breaks a bound."""
        counted = found if isinstance(found, Counter) else Counter(found)
        sign = -1 if second else 1
        result = []
        for place, fact in enumerate(self.setting.bounds):
            push = sign * sum(kind.push[place] * times for kind, times in counted.items())
            if push:
                result += self._breaks(fact, push, second=second)
        return result

    def _breaks(self, fact: LinearFact, push: int, *, second: bool) -> list[BoolLiteral]:
        key = (fact.name, second, push)
        if key not in self._violated:
            row = self.total(fact, second=second) + push
            low, high = row.bounds()
            literals = []
            if fact.at_least is not None and low < fact.at_least:
                literals.append(self._implies(row, upper=fact.at_least - 1))
            if fact.at_most is not None and high > fact.at_most:
                literals.append(self._implies(row, lower=fact.at_most + 1))
            self._violated[key] = literals
        return self._violated[key]

    def _implies(
        self, row: LinearExpr, *, lower: int | None = None, upper: int | None = None
    ) -> BoolLiteral:
        literal = self.linear.bool_var(f"breaks{len(self.linear.variables)}")
        self.linear.add(row, lower=lower, upper=upper, enforced_by=literal)
        return BoolLiteral(literal)

    def at_least(self, variable: IntVar, number: int) -> BoolLiteral:
        """Return a literal that is true iff the variable is at least `number`."""
        key = (variable.name, number)
        if key not in self._thresholds:
            flag = self.linear.bool_var(f"{variable.name}_from{number}")
            self.linear.add(variable, lower=number, enforced_by=flag)
            self.linear.add(variable, upper=number - 1, enforced_by=~flag)
            self._thresholds[key] = BoolLiteral(flag)
        return self._thresholds[key]
