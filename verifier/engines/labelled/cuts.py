"""From one refutation to a cut: which other pairs does the same D3 refute?

Write D3 as what it does to D1: K, the secret moves of D2 that it keeps, and N, its plain moves. Let
(E1, E2) be a pair in I_Q (the master proposes no other), and suppose that

1. different records can be picked for K and N, of the same blocks: for each move in K a record
   whose change from E1 to E2 is a secret move between the same kinds (equal change of every linear
   fact; the same clauses made true before and after), and for each move in N a record whose value
   in E1 has a plain move between the same kinds;
2. E1 to E2 has more secret moves than K;
3. every bound still holds when what D3 added to its left-hand side is added to E1's;
4. every clause is true by a moved record after the move, or by none of them before it (so E1, which
   satisfies it, does so by another record), or by a record that is not moved.

Then E3, made from E1 by the moves picked for K as in E2 and such plain moves for N, is in I_Q:
equalities see the same change as from D1 to D3, which is none. T(E1, E3) is K as picked: not empty,
and by 2 strictly inside T(E1, E2). So (E1, E2) fails 3(a), or has a proper part in I_Q (reading 2,
N empty): the cut "not all of 1 to 4" forbids no neighbour pair.

Condition 1 is a matter of counting, for it asks about disjoint or nested sets of records: the plain
moves of N cut E1's values into atoms (which of these moves start at the value?), a record wanted
for N is known by its atom alone, one wanted for K by its atom and its kinds. Records that suffice
in number for each of the latter, and for both together in each atom, can be picked. Records of a
block occur only in counts, so a cut excludes all relabellings of what it excludes.

A refutation by 3(b) undoes plain changes U of D2. For (E1, E2) with as many plain changes between
the same kinds, and the conditions 3 and 4 read from E2 backwards, undoing them leads to an E3 in
I_Q with T(E1, E3) = T(E1, E2) and fewer changes: E1 and E2 are no neighbours.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from blowproof.models.programs.boolean import BooleanModel, Lit
from blowproof.verifier.engines.labelled.database import Side, limits
from blowproof.verifier.engines.labelled.master import Master
from blowproof.verifier.engines.labelled.refuter import Refutation, moved
from blowproof.verifier.engines.labelled.table import Databases, Kind, Values

__all__ = ["Cuts"]

Step = tuple[Kind, Kind]
"""What the facts see of a move. Steps with equal `_essence` are as good as one another."""

Essence = tuple[tuple[int, ...], frozenset[int], frozenset[int]]
Predicate = tuple[str, Essence | None, Values]


class Cuts:
    """Adds cuts to a master; the literals that they share are made once."""

    def __init__(self, master: Master) -> None:
        self.master, self.table, self.model = master, master.table, master.model
        self.count = 0
        self._predicates: dict[tuple[int, Predicate], Lit] = {}
        self._counts: dict[tuple[tuple[int, ...], Predicate], _Counter] = {}
        self._thresholds: dict[tuple[str, int, str, int], Lit] = {}
        self._starts: dict[tuple[int, Essence], Values] = {}

    def add(self, pair: Databases, refutation: Refutation) -> None:
        """Forbid every pair that the refutation's D3 refutes by the argument above."""
        if refutation.fewer_secrets:
            self.forbid_more(pair, refutation.third)
        else:
            self.forbid_undoable(pair, refutation.third)

    def forbid_more(self, pair: Databases, third: tuple[int, ...]) -> None:
        """Forbid the pairs that D3 refutes by 3(a): those with more secret moves than it keeps.

        A neighbour's own D2 may be the D3: it refutes every larger pair, never itself.
        """
        records = moved(pair.first, third)
        kept = [
            i
            for i in records
            if third[i] == pair.second[i] and self.table.is_secret(pair.first[i], third[i])
        ]
        plain = [i for i in records if i not in kept]
        conditions = self._picked(pair.first, third, kept, plain)
        conditions += self._still_satisfied(self.master.first, pair.first, third)
        conditions.append(
            self._at_least(
                tuple(self.table.records), ("secret", None, self.table.every), len(kept) + 1
            )
        )
        self._forbid(conditions)

    def forbid_split(
        self, pair: Databases, third: tuple[int, ...], fourth: tuple[int, ...]
    ) -> None:
        """Forbid the pairs of reading 5 that a part refutes, which makes D3 of D1, D4 of D2.

        The records that are picked for the part make moves between the same kinds, so that the
        argument above holds from E1 on, and read backwards from E2.
        """
        kept = moved(pair.first, third)
        conditions = self._picked(pair.first, third, kept, [])
        conditions += self._still_satisfied(self.master.first, pair.first, third)
        conditions += self._still_satisfied(self.master.second, pair.second, fourth)
        every = tuple(self.table.records)
        counted = ("secret", None, self.table.every)
        conditions.append(self._at_least(every, counted, len(kept) + 1))
        self._forbid(conditions)

    def forbid_undoable(self, pair: Databases, third: tuple[int, ...]) -> None:
        """Forbid the pairs whose D2 has the plain changes that D3 undoes, by 3(b)."""
        wanted: Counter[tuple[int, Essence]] = Counter()
        for i in moved(pair.second, third):
            block = self.table.block_of[i]
            wanted[block, self._essence(block, pair.first[i], pair.second[i])] += 1
        conditions = [
            self._at_least(self.table.blocks[block], ("plain", essence, self.table.every), times)
            for (block, essence), times in wanted.items()
        ]
        conditions += self._still_satisfied(self.master.second, pair.second, third)
        self._forbid(conditions)

    def _forbid(self, conditions: Iterable[Lit]) -> None:
        self.model.add_clause(dict.fromkeys(~condition for condition in conditions))
        self.count += 1

    # condition 1 -------------------------------------------------------------------------------

    def _picked(
        self, first: Sequence[int], third: Sequence[int], kept: Sequence[int], plain: Sequence[int]
    ) -> list[Lit]:
        conditions = []
        for block, records in enumerate(self.table.blocks):
            starts = {
                self._plain_starts(block, self._essence(block, first[i], third[i]))
                for i in plain
                if self.table.block_of[i] == block
            }
            atoms = self._atoms(
                starts, {first[i] for i in plain if self.table.block_of[i] == block}
            )
            rest = self.table.every.difference(*atoms)
            both: Counter[Values] = Counter()
            moves: Counter[tuple[Values, Essence]] = Counter()
            for i in (*kept, *plain):
                if self.table.block_of[i] == block:
                    atom = next((a for a in atoms if first[i] in a), rest)
                    both[atom] += 1
                    if i in kept:
                        moves[atom, self._essence(block, first[i], third[i])] += 1
            for (atom, essence), times in moves.items():
                conditions.append(self._at_least(records, ("kept", essence, atom), times))
            for atom in atoms:
                conditions.append(self._at_least(records, ("first", None, atom), both[atom]))
        return conditions

    def _atoms(self, starts: Iterable[Values], used: Iterable[int]) -> list[Values]:
        """Return the atoms that the used values lie in."""
        sets = list(starts)
        atoms: dict[tuple[bool, ...], set[int]] = defaultdict(set)
        for value in range(len(self.table.values)):
            atoms[tuple(value in values for values in sets)].add(value)
        wanted = {tuple(value in values for values in sets) for value in used}
        return [frozenset(atoms[signs]) for signs in sorted(wanted)]

    def _plain_starts(self, block: int, essence: Essence) -> Values:
        """Return the values at which a plain move with this essence starts."""
        found = self._starts.get((block, essence))
        if found is None:
            starts: set[int] = set()
            for values, ends in self._moves(block, essence):
                starts |= {v for v in values if self.table.plain(v) & ends}
            found = self._starts[block, essence] = frozenset(starts)
        return found

    def _essence(self, block: int, x: int, y: int) -> Essence:
        kinds = self.table.kinds(block)
        return _essence(kinds[x], kinds[y])

    def _moves(self, block: int, essence: Essence) -> Iterator[tuple[Values, Values]]:
        """Yield the kinds between which moves have this essence, as sets of values."""
        change, before, after = essence
        by_kind = self.table.by_kind(block)
        for kind, starts in by_kind.items():
            if kind.truths == before:
                goal = tuple(a + b for a, b in zip(kind.coefficients, change, strict=True))
                ends = by_kind.get(Kind(goal, after))
                if ends is not None:
                    yield starts, ends

    # conditions 3 and 4 ------------------------------------------------------------------------

    def _still_satisfied(
        self, side: Side, home: tuple[int, ...], away: tuple[int, ...]
    ) -> list[Lit]:
        """Return what keeps a database in I_Q when it makes the moves home -> away."""
        conditions = []
        for fact in range(len(self.table.facts)):
            if self.table.facts[fact].bounded:
                change = self.table.total(fact, away) - self.table.total(fact, home)
                low, high = limits(self.table, fact)
                if change > 0 and high is not None:
                    conditions.append(self._within(side, fact, "<=", high - change))
                if change < 0 and low is not None:
                    conditions.append(self._within(side, fact, ">=", low - change))
        records = frozenset(moved(home, away))
        for place, clause in enumerate(self.table.setting.clauses):
            sets = [self.table.truths[i][place] for i in sorted(clause.records & records)]
            named = sorted(clause.records & records)
            after = any(away[i] in true for i, true in zip(named, sets, strict=True))
            before = any(home[i] in true for i, true in zip(named, sets, strict=True))
            if before and not after:
                conditions.append(side.outside(place, records))
        return conditions

    def _within(self, side: Side, fact: int, sign: str, limit: int) -> Lit:
        """Return a literal that holds if the left-hand side is within the limit."""
        key = (side.name, fact, sign, limit)
        found = self._thresholds.get(key)
        if found is None:
            found = self.model.var(f"{side.name}:fact{fact}{sign}{limit}")
            terms, constant = side.total(fact)
            if sign == "<=":
                self.model.weighted(terms, lower=limit + 1 - constant, enforced_by=~found)
            else:
                self.model.weighted(terms, upper=limit - 1 - constant, enforced_by=~found)
            self._thresholds[key] = found
        return found

    # counting ------------------------------------------------------------------------------------

    def _at_least(self, records: tuple[int, ...], predicate: Predicate, times: int) -> Lit:
        """Return a literal that holds if so many of the records satisfy the predicate."""
        key = (records, predicate)
        if key not in self._counts:
            literals = [self._predicate(i, predicate) for i in records]
            self._counts[key] = _Counter(self.model, literals, str(len(self._counts)))
        return self._counts[key].at_least(times)

    def _predicate(self, record: int, predicate: Predicate) -> Lit:
        """Return a literal that holds if the record satisfies the predicate."""
        word, _, values = predicate
        if word == "secret":
            return self.master.secret[record]
        if word == "first":
            return self.master.first.member(record, values)
        found = self._predicates.get((record, predicate))
        if found is None:
            found = self.model.var(f"{word}[{record}]:{len(self._predicates)}")
            self._predicates[record, predicate] = found
            self._define(record, predicate, found)
        return found

    def _define(self, record: int, predicate: Predicate, literal: Lit) -> None:
        word, essence, values = predicate
        assert essence is not None
        secret, changed = self.master.secret[record], self.master.changed[record]
        guards = [~secret] if word == "kept" else [~changed, secret]
        for starts, ends in self._moves(self.table.block_of[record], essence):
            if starts & values:
                x = self.master.first.member(record, starts & values)
                y = self.master.second.member(record, ends)
                self.model.add_clause([*guards, ~x, ~y, literal])


def _essence(kind: Kind, goal: Kind) -> Essence:
    change = tuple(b - a for a, b in zip(kind.coefficients, goal.coefficients, strict=True))
    return change, kind.truths, goal.truths


class _Counter:
    """A sequential counter, built as far as it is asked: row k says which prefixes hold k times."""

    def __init__(self, model: BooleanModel, literals: Sequence[Lit], name: str) -> None:
        self._model, self._name = model, name
        self._rows: list[Sequence[Lit]] = [literals]

    def at_least(self, times: int) -> Lit:
        """Return a literal that holds if so many of the literals do."""
        literals = self._rows[0]
        if len(literals) == 1 and times == 1:
            return literals[0]
        while len(self._rows) <= times:
            self._extend()
        return self._rows[times][-1]

    def _extend(self) -> None:
        literals, level = self._rows[0], len(self._rows)
        row: list[Lit] = []
        for place, literal in enumerate(literals):
            found = self._model.var(f"count{self._name}>={level}@{place}")
            if place:
                self._model.add_clause([~row[-1], found])
            if level == 1:
                self._model.add_clause([~literal, found])
            elif place:
                self._model.add_clause([~literal, ~self._rows[level - 1][place - 1], found])
            row.append(found)
        self._rows.append(row)
