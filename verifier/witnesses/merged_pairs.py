"""Scope "given", clauses: bounds by merging records, and pairs that meet them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from blowproof.models import Point, Setting
from blowproof.models.base.clock import now
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.engines.irreducibles import longest
from blowproof.verifier.engines.search.effects import SEARCH_EFFECTS, EffectTable
from blowproof.verifier.limits.limit import real_limit
from blowproof.verifier.moves.kinds import Kind, Moves
from blowproof.verifier.moves.score import Score
from blowproof.verifier.reductions.merged_records import Heaviest, heaviest_merged, joint_sums
from blowproof.verifier.theorems.conformal_parts import conformal_table
from blowproof.verifier.witnesses.merged_into_databases import MergedPlacing, Placed, checked
from blowproof.verifier.witnesses.one_secret_move import OneSecret

__all__ = ["MergedBounds", "merged_bounds", "merged_pair"]

VALUES_SECONDS = real_limit(__name__, "VALUES_SECONDS")
BOUNDING = real_limit(__name__, "BOUNDING")


@dataclass(frozen=True)
class MergedBounds:
    """What merging says (scaled): a pair that changes the query by `lower`, and an upper bound."""

    lower: int
    upper: int | None
    pair: Pair | None
    note: str


def merged_bounds(  # keyword-only options
    setting: Setting,
    moves: Moves,
    rows: tuple[int, ...],
    *,
    lower: int,
    ceiling: int | None,
    enough: bool,
    seconds: float,
) -> MergedBounds:
    """Return better bounds than `lower` and `ceiling`, where merging gives some.

    `moves` are those of the reading; in reading 1, all moves, whatever G is. `enough`: the values
    of `moves` show every change of the query that there is.
    """
    end = now() + seconds
    table = conformal_table(moves, rows)
    sums = None
    if table.widest <= SEARCH_EFFECTS:
        sums = joint_sums(moves, table, rows, deadline=now() + seconds / 4)
    if sums is None:
        return MergedBounds(lower, None, None, "too many effects to merge the clauses' records")
    note = f"the records of clauses merged into one move; {len(sums.weights)} effects of theirs"
    alone, score = _alone(table, BOUNDING / 3 * seconds, moves.score), moves.score
    if alone is None or (ceiling is not None and alone >= ceiling):
        return MergedBounds(lower, None, None, note)
    left = BOUNDING * max(0.0, end - now())
    most = None if ceiling is None else score.within(ceiling)
    known = heaviest_merged(table, sums, ceiling=most, seconds=left)
    upper = max(alone, score.most(known.most)) if known.complete else None
    if upper == lower:
        return MergedBounds(lower, upper, None, note)
    if moves.reading == "published" and not setting.graph.complete:
        return MergedBounds(lower, upper, None, note)  # pairs are another matter: `merged_pair`
    placing = MergedPlacing(moves, table, sums, finish=lambda found: checked(moves, found))
    left = max(0.0, end - now())
    best, pair, bound = placing.best(known, lower=lower, time_limit=left)
    if bound is not None and enough:
        bound = max(bound, alone)
        upper = bound if upper is None else min(upper, bound)
    return MergedBounds(best, upper, pair, note)


def merged_pair(
    setting: Setting, moves: Moves, rows: tuple[int, ...], *, lower: int, seconds: float
) -> tuple[int, Pair | None]:
    """Reading 1, other G, no bounds: return the best (scaled) change above `lower` and its pair.

    One of the moves is secret, the others are plain. 3(a) has nothing to say then; a D3 of 3(b)
    has the secret move and keeps the clauses. So the secret one is a move that no part without
    effect has that keeps the clauses: for one clause, no part with r' and without r.
    """
    table = conformal_table(moves, rows)
    if setting.bounds or table.widest > SEARCH_EFFECTS:
        return lower, None
    return _OneSecret(setting, moves, table).best(rows, lower, seconds)


def _alone(table: EffectTable, seconds: float, score: Score) -> int | None:
    """Return what no irreducible multiset changes the query by more than, R being empty."""
    idle = max((kind.size for kind in table.idle), default=0)
    if not table.effects:
        return idle
    found = longest(table.effects, table.weights, time_limit=seconds)
    return max(idle, score.most(int(found.lower))) if found.complete else None


class _OneSecret:
    """One move secret, the others plain: what it takes to find values for them."""

    def __init__(self, setting: Setting, moves: Moves, table: EffectTable) -> None:
        self.setting, self.moves, self.table = setting, moves, table
        self.secret = OneSecret(setting, moves.query, moves, table)

    def best(self, rows: tuple[int, ...], lower: int, seconds: float) -> tuple[int, Pair | None]:
        """Return the best (scaled) change above `lower` that is found, and its pair.

        Effects that plain moves have come first, then all.
        """
        best, pair = lower, None
        plain = self._plain()
        tables = [plain] if len(plain.effects) == len(self.table.effects) else [plain, self.table]
        for table in tables:
            found = self._best(table, rows, best, seconds / len(tables))
            if found[1] is not None:
                best, pair = found
        return best, pair

    def _best(
        self, table: EffectTable, rows: tuple[int, ...], lower: int, seconds: float
    ) -> tuple[int, Pair | None]:
        end = now() + seconds
        sums = joint_sums(self.moves, table, rows, deadline=end)
        if sums is None or not table.effects:
            return lower, None
        known = Heaviest()
        if not any(-1 in places for places in sums.members.values()):
            known = heaviest_merged(table, sums, ceiling=None, seconds=seconds / 4)
        if known.complete and self.moves.score.most(known.most) <= lower:
            return lower, None
        placing = MergedPlacing(self.moves, table, sums, finish=self._finish, secret=self.secret)
        left = max(0.0, end - now())
        best, pair, _ = placing.best(known, lower=lower, time_limit=left)
        return best, pair

    def _plain(self) -> EffectTable:
        """Return the effects that plain moves have, and slack."""
        plain = self.secret.can_be_plain
        found = {
            effect: [kind for kind in kinds if kind.before is None or plain(kind)]
            for effect, kinds in zip(self.table.effects, self.table.kinds, strict=True)
        }
        both = {e for e in found if found[e] and found.get(tuple(-x for x in e))}
        return EffectTable.by_effect({e: kinds for e, kinds in found.items() if e in both})

    def _finish(self, placed: Placed) -> Pair | None:
        """Choose values, one move between which is secret."""
        assert placed.secret is not None
        kind = placed.secret
        one = self.secret.ends(placed.named[kind] if isinstance(kind, int) else kind)
        moving = [*placed.named.values(), *placed.others.elements()]
        end = now() + VALUES_SECONDS
        kinds = self.secret.values(Counter(map(self.secret.ends, moving)), one, end)
        if kinds is None:
            return None
        named = self._named(placed, kinds)
        return None if named is None else checked(self.moves, named, setting=self.setting)

    def _named(self, placed: Placed, kinds: Mapping[Kind, int]) -> Placed | None:
        """Return the same solution with these kinds of moves."""
        left = Counter(dict(kinds))
        named: dict[int, Kind] = {}
        for record, made in placed.named.items():
            ends, secret = self.secret.ends(made), record == placed.secret
            fit = (k for k in +left if k.secret == secret and self._ends(k) == ends)
            kind = next(fit, None)
            if kind is None:
                return None
            left[kind] -= 1
            named[record] = kind
        return Placed(named, +left, placed.staying, placed.rest)

    def _ends(self, kind: Kind) -> tuple[int, int]:
        return self._class(kind.before), self._class(kind.after)

    def _class(self, point: Point | None) -> int:
        assert point is not None
        classes = self.secret.embedder.model.classes
        return next(place for place, item in enumerate(classes) if point in item)
