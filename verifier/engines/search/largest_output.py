"""The norm linf: each output by itself, up or down, and symmetries of all of them together.

For one output and one direction, the best choice of moves for a multiset of effects is the best for
each effect: what they change adds up. So a multiset is worth the largest, over outputs and
directions, of a sum of numbers that each effect has (`rows`), and no search among choices is left.

*Symmetries.* Let a linear map permute the effects. A multiset that sums to zero stays one, and is
worth the same if the rows, with their numbers permuted, are the same rows, in whatever order; or
the same up to linear maps of the effects, which are 0 on what sums to zero. So rows are compared by
what is left of them after the linear map that agrees with them on a basis of effects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from blowproof.models.norms import LINF
from blowproof.verifier.engines.irreducibles import Multiset
from blowproof.verifier.engines.irreducibles.symmetry import automorphisms, basis_of
from blowproof.verifier.engines.search.effects import EffectTable
from blowproof.verifier.exact.coordinates import Instance, inverse
from blowproof.verifier.limits.limit import whole_limit
from blowproof.verifier.moves.kinds import Kind, Moves

__all__ = ["Outputs"]

MOST_NUMBERS = whole_limit(__name__, "MOST_NUMBERS")
MOST_PERMUTED = whole_limit(__name__, "MOST_PERMUTED")
LARGEST = whole_limit(__name__, "LARGEST")
MOST_MOVES = whole_limit(__name__, "MOST_MOVES")

Ints = NDArray[np.int64]


class Outputs:
    """What each effect adds to each output, up and down: at the most, over the moves that do it."""

    def __init__(self, table: EffectTable, rows: Ints, names: Sequence[tuple[object, int]]) -> None:
        self.table, self.rows = table, rows
        self._names = names

    @staticmethod
    def of(moves: Moves, table: EffectTable) -> Outputs | None:
        """Return them in the norm linf; None in others, and where they are too many or too large.

        Numbers up to 2^40 in at most 2^20 moves stay below 2^63; more are added up one by one.
        """
        if moves.query.measure is not LINF:
            return None
        every = [kind for kinds in table.kinds for kind in kinds]
        outputs = list(dict.fromkeys(output for kind in every for output in kind.change))
        if not outputs or 2 * len(outputs) * len(every) > MOST_NUMBERS:
            return None
        weights = {output: moves.score.weights.get(output, 1) for output in outputs}
        names = [(output, sign * weights[output]) for output in outputs for sign in (1, -1)]
        rows = [
            [max(times * kind.change.get(output, 0) for kind in kinds) for kinds in table.kinds]
            for output, times in names
        ]
        if max(abs(number) for row in rows for number in row) > LARGEST:
            return None
        return Outputs(table, np.array(rows, dtype=np.int64), names)

    @property
    def most(self) -> list[int]:
        """The largest number of each effect: no multiset is worth more than what they add up to."""
        return [max(0, number) for number in self.rows.max(axis=0).tolist()]

    def worth(self, multiset: Multiset) -> int:
        """Return the largest change of an output by moves that have these effects."""
        return int(self._sums(multiset).max())

    def _sums(self, multiset: Multiset) -> Ints:
        places, times = [place for place, _ in multiset], [times for _, times in multiset]
        wide = sum(times) > MOST_MOVES
        rows = self.rows[:, places].astype(object) if wide else self.rows[:, places]
        return np.asarray(rows @ np.array(times, dtype=object if wide else np.int64))

    def choice(self, multiset: Multiset) -> Counter[Kind]:
        """Return the moves by which an output changes that much."""
        output, times = self._names[int(self._sums(multiset).argmax())]
        found: Counter[Kind] = Counter()
        for place, count in multiset:
            kinds = self.table.kinds[place]
            found[max(kinds, key=lambda kind: times * kind.change.get(output, 0))] += count
        return found

    def symmetries(self, *, end: float | None = None) -> list[list[int]]:
        """Return permutations of the effects under which no multiset changes what it is worth."""
        instance = Instance.of(self.table.effects)
        reduced = _Reduced(instance)
        here = reduced.of(self.rows)
        if here is None:
            return []
        permutations = automorphisms(instance, end=end)
        room = MOST_PERMUTED // max(1, self.rows.size)
        found = []
        for permutation in permutations[:room]:
            turned = reduced.of(self.rows[:, permutation])
            if turned is not None and turned == here:
                found.append([int(place) for place in permutation])
        return found


class _Reduced:
    """Rows of numbers of effects, less the linear map that agrees with them on a basis."""

    def __init__(self, instance: Instance) -> None:
        vectors = instance.vectors.astype(object)
        self._basis = basis_of(instance.vectors)
        numerator, self._below = inverse(vectors[self._basis])
        self._onto = vectors @ numerator  # each effect in terms of the basis, times `below`

    def of(self, rows: Ints) -> frozenset[tuple[int, ...]] | None:
        """Return what is left of each row; None where the numbers are too large."""
        largest = int(abs(rows).max()) * max(1, int(abs(self._onto).max()), abs(self._below))
        if largest * (1 + len(self._basis)) >= 2**62:
            return None
        onto = self._onto.astype(np.int64)
        left = int(self._below) * rows - rows[:, self._basis] @ onto.T
        return frozenset(map(tuple, left.tolist()))
