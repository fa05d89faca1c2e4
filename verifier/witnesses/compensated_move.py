"""Reading 1, other G, scope "given": one secret move and plain moves that must compensate for it.

Let one of the moves from D1 to D2 be secret, s, and the others plain, P. 3(a) has nothing to say,
and a D3 of 3(b) is D2 with a part v of P taken back, v without effect and not empty. So D1 and D2,
both in I_Q, are neighbours iff D2 - v is outside I_Q for every such v.

*Potentials.* Let D2 meet one end of one bound exactly, and let p be what a move pushes its row away
from that end (0 everywhere, if no bound is chosen). Let r be none of the moves, or the plain move
of a record that makes a clause true in D2 by one of its literals, did not in D1, and is the only
one to do so in D2. If some linear functional l of the effects has p(m) + l(m) > 0 for each m in P
but r, the pair is a neighbour pair. For l(v) = 0 for a part v without effect; so if r is not in v,
p(v) > 0 and D2 - v breaks the bound (or, where p = 0, there is no such v); and if r is in v, all
literals of the clause are false in D2 - v, provided that those of other records in P that the
clause names were false in D1 (here: they do not move). Other bounds and clauses only take D3s away.

A functional with integer values on the signatures and p times a constant are one integer program
with the moves and D1, in which each plain move has to go up. What it finds is a lower bound: which
parts are possible depends on how often each move is made too, and on pairs with several secret
moves.

*From above.* Let there be equalities, one bound with one end, and no clause, and let s be any of
the secret moves of a pair u. No part of u without effect splits the secret moves: it and the rest
would both break the end (3(a)), which their sum forbids (see `conformal_parts`). So every part
without effect that leaves s out is plain, and by 3(b) pushes its row by more than D2 has to spare.
This is the condition above, for one secret move and others of any kind: an upper bound for pairs
with one secret move, if all moves are allowed to be plain, is one for all pairs. (A trial by cuts,
a part at a time, took most of a minute to lower 80 to 78 in the example of the contract; it is not
done here.) It fails with two ends, by bounds or by clauses: a part may break one of them, and the
rest the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations

from blowproof.models import LinearFact, Point
from blowproof.models.base.clock import now
from blowproof.models.domain.regions import Area
from blowproof.models.programs.linear import LinearModel
from blowproof.models.programs.linear_terms import BoolLiteral, IntVar, LinearExpr, weighted_sum
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.histograms.refuter import add_bound
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind
from blowproof.verifier.neighbours.check import require_pair
from blowproof.verifier.reductions.given_numbers import completed
from blowproof.verifier.theorems.affine_frames import kernel
from blowproof.verifier.witnesses.one_secret_move import OneSecret

__all__ = ["best_compensated"]

MOST_CLASSES = whole_limit(__name__, "MOST_CLASSES")
STEEP = whole_limit(__name__, "STEEP")
HIGHEST = 4 * STEEP

Classes = tuple[int, int]


@dataclass(frozen=True)
class _Hold:
    """What breaks if plain moves are taken back: one end of a bound, a clause.

    `records`: the one that makes the clause true in D1, and the one that does in D2.
    """

    bound: LinearFact | None
    low: bool
    clause: int | None
    records: tuple[int, int] | None


def best_compensated(
    placing: OneSecret, *, above: int, seconds: float, on_best: Callable[[int, Pair], None]
) -> None:
    """Look for a pair for each bound and clause; hand on what changes the query by more (scaled).

    `into_databases` says what moves there are between the classes of the facts.
    """
    if len(placing.embedder.model.classes) > MOST_CLASSES or not placing.setting.size:
        return
    end = now() + seconds
    holds = list(_holds(placing))
    for number, hold in enumerate(holds):
        left = (end - now()) / (len(holds) - number)
        if left <= 0:
            return
        found = _Program(placing, hold).best(above, left)
        if found is not None:
            above = found[0]
            on_best(*found)


def _holds(placing: OneSecret) -> Iterator[_Hold]:
    """Yield what may hold a pair together, a clause besides a bound first."""
    setting = placing.setting
    ends: list[tuple[LinearFact | None, bool]] = []
    for fact in setting.bounds:
        ends += [(fact, True)] * (fact.at_least is not None)
        ends += [(fact, False)] * (fact.at_most is not None)
    pairs: list[tuple[int | None, tuple[int, int] | None]] = []
    for place, clause in enumerate(setting.clauses):
        records = dict.fromkeys(record for record, _, _ in clause.literals)
        pairs += [(place, both) for both in permutations(records, 2)]
    pairs.append((None, None))
    yield from (
        _Hold(fact, low, place, both)
        for fact, low in ends or [(None, True)]
        for place, both in pairs
    )


class _Program:
    """Classes, moves between them, D1, and the potentials."""

    def __init__(self, placing: OneSecret, hold: _Hold) -> None:
        self.placing, self.hold, self.setting = placing, hold, placing.setting
        self.model = placing.embedder.model
        self.linear: LinearModel = self.model.linear.without_groups(())
        self.points: list[Point] = [item.take(1)[0] for item in self.model.classes]
        self.weights: dict[Classes, int] = defaultdict(int)
        for kind in placing.moves.kinds:
            ends = placing.ends(kind)
            self.weights[ends] = max(self.weights[ends], kind.length)
        self.moves: dict[Classes, IntVar] = {}
        self.secret: dict[Classes, IntVar] = {}
        self.reply: dict[Classes, IntVar] = {}
        self._variables()
        self._potentials()
        self._databases()
        if hold.records is not None:
            self._clause(*hold.records)
        self._named_stay()

    # the model -----------------------------------------------------------------------------------

    def _variables(self) -> None:
        most = self.setting.size or 0
        for (one, two), edge in self.placing.edges.items():
            name = f"{one}_{two}"
            if edge:
                self.secret[one, two] = self.linear.bool_var(f"secret{name}")
            if self.placing.plain[one, two]:
                if one != two or self.hold.bound is not None:
                    self.moves[one, two] = self.linear.int_var(f"m{name}", lower=0, upper=most)
                if self.hold.records is not None:
                    self.reply[one, two] = self.linear.bool_var(f"reply{name}")
        self.linear.add(weighted_sum((1, v) for v in self.secret.values()), lower=1, upper=1)
        if self.hold.records is not None:
            self.linear.add(weighted_sum((1, v) for v in self.reply.values()), lower=1, upper=1)

    def _potentials(self) -> None:
        """Each plain move but the reply goes up."""
        signatures = [self.setting.effect(x) for x in self.points]
        distinct = sorted({tuple(item) for item in signatures})
        height = {
            item: self.linear.int_var(f"height{place}", lower=-HIGHEST, upper=HIGHEST)
            for place, item in enumerate(distinct)
        }
        for k in kernel(distinct):  # so that heights are an affine function of the signatures
            row = weighted_sum((x, height[s]) for x, s in zip(k, distinct, strict=True) if x)
            self.linear.add(row, lower=0, upper=0)
        fact, sign = self.hold.bound, 1 if self.hold.low else -1
        pushed = [0 if fact is None else sign * fact.coefficient(x) for x in self.points]
        for (one, two), variable in self.moves.items():
            up = self.linear.bool_var(f"up{one}_{two}")
            push = STEEP * (pushed[two] - pushed[one])
            rise = weighted_sum([(1, height[tuple(signatures[two])])], constant=push)
            rise = rise - height[tuple(signatures[one])]
            if rise.terms and one != two:
                self.linear.add(rise, lower=1, enforced_by=up)
            elif push < 1:
                self.linear.add(1 * up, upper=0)
            self.linear.add(variable, upper=0, enforced_by=~BoolLiteral(up))

    def _every(self) -> list[tuple[Classes, IntVar]]:
        return [*self.moves.items(), *self.secret.items(), *self.reply.items()]

    def _databases(self) -> None:
        """D1 holds what leaves, no equality changes, D2 keeps the bounds and meets the end."""
        every = self._every()
        for place, held in enumerate(self.model.counts):
            leaving = [(1, v) for (one, _), v in every if one == place]
            if leaving:
                self.linear.add(weighted_sum(leaving) - held, upper=0)
        for fact in self.setting.equalities:
            self.linear.add(self._push(fact), lower=0, upper=0)
        for fact in self.setting.bounds:
            row = self.model.sum_of(fact) + self._push(fact)
            add_bound(self.linear, row, fact)
            if fact is self.hold.bound:
                end = fact.at_least if self.hold.low else fact.at_most
                self.linear.add(row, lower=end, upper=end)

    def _push(self, fact: LinearFact) -> LinearExpr:
        values = [fact.coefficient(x) for x in self.points]
        return weighted_sum((values[b] - values[a], v) for (a, b), v in self._every())

    def _true(self, literal: tuple[int, Area, bool]) -> set[int]:
        """Return the classes in which a literal is true."""
        _, area, inside = literal
        return {p for p in range(len(self.points)) if self.model.inside(p, area) == inside}

    def _lies(self, record: int, place: int) -> IntVar:
        return self._by_name[f"record{record + 1}_class{place}"]

    def _clause(self, one: int, two: int) -> None:
        """Record one makes the clause true in D1 and moves secretly, record two replies."""
        self._by_name = {v.name: v for v in self.linear.variables}
        assert self.hold.clause is not None
        literals = self.setting.clauses[self.hold.clause].literals
        for record, choices, before in ((one, self.secret, True), (two, self.reply, False)):
            true = {p for literal in literals if literal[0] == record for p in self._true(literal)}
            for (source, target), variable in choices.items():
                if (source in true) != before or (target in true) == before:
                    self.linear.add(1 * variable, upper=0)
                self.linear.add(variable - self._lies(record, source), upper=0)
        for literal in literals:
            if literal[0] not in (one, two):
                for place in self._true(literal):
                    self.linear.add(1 * self._lies(literal[0], place), upper=0)

    def _named_stay(self) -> None:
        """All other named records stay where they are, and the clauses hold in D2."""
        clauses = self.setting.clauses
        named = sorted({record for clause in clauses for record, _, _ in clause.literals})
        self.named = named
        if not named:
            return
        self._by_name = {v.name: v for v in self.linear.variables}
        both = self.hold.records
        movers = {} if both is None else {both[0]: self.secret, both[1]: self.reply}
        every = self._every()
        for place, held in enumerate(self.model.counts):
            staying = [(1, self._lies(r, place)) for r in named if r not in movers]
            leaving = [(1, v) for (one, _), v in every if one == place]
            if staying:
                self.linear.add(weighted_sum([*staying, *leaving]) - held, upper=0)
        for clause in clauses:
            literals = []
            for literal in clause.literals:
                true = self._true(literal)
                if literal[0] in movers:
                    ends = movers[literal[0]].items()
                    literals += [v for (_, target), v in ends if target in true]
                else:
                    literals += [self._lies(literal[0], place) for place in true]
            self.linear.add_clause(literals)

    # the answer ----------------------------------------------------------------------------------

    def best(self, above: int, seconds: float) -> tuple[int, Pair] | None:
        """Return the (scaled) change of the best pair found above `above`, and the pair."""
        from blowproof.models.programs.to_cpsat import solve

        end = now() + seconds
        gain = weighted_sum((self.weights[ends], v) for ends, v in self._every())
        placing = self.placing
        room = placing.moves.score.within(above)
        if gain.bounds()[1] <= room:
            return None
        self.linear.add(gain, lower=room + 1)
        self.linear.maximise(gain)
        outcome = solve(self.linear, time_limit=0.8 * seconds, seed=placing.moves.seed)
        if outcome.assignment is None:
            return None
        told = outcome.assignment
        chosen: Counter[Classes] = Counter()
        for ends, variable in self._every():
            chosen[ends] += told[variable.name]
        one = self._made(self.secret, told)
        kinds = placing.values(+chosen, one, end)
        if kinds is None:
            return None
        pair = self._pair(kinds, told)
        if pair is None:
            return None
        value = placing.query.difference(pair.moves("published")) * placing.moves.scale
        if value <= above:
            return None
        require_pair(self.setting, "published", pair, deadline=end + 1)
        return int(value), pair

    def _made(self, choices: Mapping[Classes, IntVar], told: Mapping[str, int]) -> Classes:
        return next(ends for ends, variable in choices.items() if told[variable.name])

    def _pair(self, kinds: Counter[Kind], told: Mapping[str, int]) -> Pair | None:
        pair = self.placing.moves.pair(kinds, Counter())
        if not self.setting.clauses:
            return completed(self.model, told, pair)
        rest = Counter(zip(pair.before, pair.after, strict=True))
        labels: dict[int, tuple[Point, Point]] = {}
        both = self.hold.records
        if both is not None:
            reply = self._made(self.reply, told)
            graph = self.setting.graph
            first = next(change for change in rest if graph.is_edge(*change))
            rest[first] -= 1
            second = next((c for c in +rest if self._ends(c) == reply), None)
            if second is None:
                return None
            rest[second] -= 1
            labels = {both[0]: first, both[1]: second}
        staying = [told[v.name] for v in self.model.counts]
        for change in zip(pair.before, pair.after, strict=True):
            staying[self._ends(change)[0]] -= 1
        for record in self.named:
            if record not in labels:
                place = next(p for p in range(len(self.points)) if told[self._lies(record, p).name])
                staying[place] -= 1
                labels[record] = (self.points[place], self.points[place])
        others = list((+rest).elements())
        for point, times in zip(self.points, staying, strict=True):
            others += [(point, point)] * times
        return Pair.numbered(labels, others)

    def _ends(self, change: tuple[Point, Point]) -> Classes:
        one, two = (
            next(p for p, item in enumerate(self.model.classes) if x in item) for x in change
        )
        return one, two
