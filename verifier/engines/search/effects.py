"""Effects: the kinds of moves sorted by what they do to the counted facts.

Moves with the same effect are interchangeable to the facts, so that a search runs over effects, and
chooses among the kinds of each afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blowproof.models.base.kept import cached_property
from blowproof.verifier.engines.irreducibles import Multiset, largest_part, longest_bound
from blowproof.verifier.engines.search.straight import straight_kinds
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["SEARCH_EFFECTS", "EffectTable", "Vector", "table_bound"]

Vector = tuple[int, ...]

SEARCH_EFFECTS = whole_limit(__name__, "SEARCH_EFFECTS")


@dataclass(frozen=True)
class EffectTable:
    """The kinds of moves by effect: those without one, and those with each other effect."""

    idle: tuple[Kind, ...]
    effects: tuple[Vector, ...]
    kinds: tuple[tuple[Kind, ...], ...]

    @staticmethod
    def of(moves: Moves) -> EffectTable:
        """Sort the kinds of moves by their effects."""
        return moves.kept.get("effects", lambda: EffectTable._of(moves))

    @staticmethod
    def _of(moves: Moves) -> EffectTable:
        found: dict[Vector, list[Kind]] = defaultdict(list)
        for kind in moves.kinds:
            found[kind.effect].append(kind)
        return EffectTable.by_effect(found)

    @staticmethod
    def by_effect(found: Mapping[Vector, Sequence[Kind]]) -> EffectTable:
        """Return the table of kinds that are given by effect."""
        idle = tuple(kind for effect, kinds in found.items() if not any(effect) for kind in kinds)
        effects = tuple(sorted(effect for effect in found if any(effect)))
        return EffectTable(idle, effects, tuple(tuple(found[effect]) for effect in effects))

    def straight(self, moves: Moves) -> EffectTable:
        """Return a table of fewer kinds where those are enough (see `straight`), else this one."""
        joined = straight_kinds(moves)
        if joined is None:
            return self
        found: dict[Vector, list[Kind]] = defaultdict(list)
        for kind in joined.values():
            found[kind.effect].append(kind)
        return EffectTable.by_effect(found)

    @cached_property
    def weights(self) -> list[int]:
        """The largest length of the change that one move with each effect makes: what adds up."""
        return [max(kind.length for kind in kinds) for kinds in self.kinds]

    @cached_property
    def widest(self) -> int:
        """How many effects the search has to deal with at once: those of the largest part."""
        return largest_part(self.effects)

    def groups(self, multiset: Multiset) -> list[tuple[tuple[Kind, ...], int]]:
        """Return, for each effect of a multiset, the kinds to choose from and how many of them."""
        return [(self.kinds[place], times) for place, times in multiset]


def table_bound(table: EffectTable) -> int:
    """Return what no irreducible multiset's length exceeds, without a search (`length_bound`)."""
    return longest_bound(table.effects) * max(table.weights)
