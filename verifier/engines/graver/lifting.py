"""The Graver basis of a lattice by lifting: one coordinate more at a time, level by level.

The Graver basis of a lattice L in Z^n consists of its nonzero vectors z that are not the sum u + v
of nonzero vectors of L of the same signs everywhere (z is *irreducible*). It is computed for the
projections of L onto the first 1, 2, ..., n coordinates, in an order chosen on the way (the idea is
that of Hemmecke's project-and-lift).

*One step.* Let the Graver basis G of L's projection onto j coordinates be known, and let the next
coordinate be determined by them. Write |z| for the L1 norm of the first j coordinates, and `last`
for the new one. Every z in the new lattice is, on the j coordinates, a sum of elements of G with
the signs of z. Take such a sum z = g1 + ... + gk of irreducible lifted vectors for which the sum of
|last(gi)| is smallest. If all `last` agree in sign, z has the signs of all its terms: it is
reducible or a term itself. Otherwise some gi, gj have opposite `last`; if gi + gj is not all of z,
it has a smaller norm than z and splits into irreducible vectors of its own signs, which makes the
sum of |last| smaller: a contradiction. So **each irreducible z is a lifted element of G, or the sum
of two irreducible vectors of norms that add up to |z|, with equal signs on the first j coordinates
and opposite signs of the last one.** Norms add up: going through the levels |z| = 1, 2, ... all
smaller irreducible vectors are known when z comes up, and z is irreducible iff none of them divides
it (has its signs, and is nowhere larger in absolute value). After the level that is twice the
largest norm nothing can come. Elements of G stay irreducible, whatever coordinates are added: so
what is known when the time runs out are elements of L's Graver basis, too.

*A free coordinate.* If the next coordinate is only determined modulo a step h (a pivot of the
lattice), e = (0, ..., 0, h) is irreducible, each vector has two lifts with |last| < h (one if h
divides it), and in the argument the terms may include copies of e. The same reasoning leaves two
cases: z is such a sum of two, or z = z' - e or z' + e for an irreducible z' of the same level.

*Symmetry.* Signed permutations that keep the lattice and the last coordinate permute the
irreducible vectors. So of the pairs (u, v) only those are looked at in which u represents its
orbit, and every irreducible vector that is found is followed by its orbit. Vectors are kept up to
sign: last > 0, or last = 0 and one of the two.

Hash values (64-bit, linear in the vector) find equal vectors; equality is then checked, so a
collision is an error that is met with other hash values, never a lost vector.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.models import InternalError
from blowproof.models.base.clock import now, spend
from blowproof.verifier.engines.graver.compiled import irreducible_rows, opposite_pairs, sign_sets
from blowproof.verifier.engines.graver.rows import CollisionError, Keys, Rows, Store
from blowproof.verifier.engines.graver.symmetry import SignedPermutation, coefficients, symmetries
from blowproof.verifier.exact.lattice import Lattice, integer_kernel
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Graver", "graver_basis"]

LARGEST = whole_limit(__name__, "LARGEST")
FEW = whole_limit(__name__, "FEW")
MOST_ENTRIES = whole_limit(__name__, "MOST_ENTRIES")
CHUNK = whole_limit(__name__, "CHUNK")
SMALL_BATCH = whole_limit(__name__, "SMALL_BATCH")
STEPS_AT_ONCE = whole_limit(__name__, "STEPS_AT_ONCE")
SUM = real_limit(__name__, "SUM")
ROW = real_limit(__name__, "ROW")
EACH = real_limit(__name__, "EACH")


@dataclass(frozen=True)
class Graver:
    """Irreducible vectors, one of each z, -z: all of them if `complete`.

    `stopped` says what no other try would get over ("" if it was the time, or nothing).
    """

    vectors: Rows
    complete: bool
    stopped: str = ""


def graver_basis(
    rows: Sequence[Sequence[int]],
    size: int,
    *,
    deadline: float | None = None,
    symmetry: bool = True,
) -> Graver:
    """Return the Graver basis of {z in Z^size : rows z = 0}, or what is known of it when stopped.

    OverflowError where already the kernel has huge entries.

    >>> sorted(map(tuple, abs(graver_basis([(1, 2, 1)], 3).vectors).tolist()))
    [(0, 1, 2), (1, 0, 1), (1, 1, 1), (2, 1, 0)]
    """
    lattice = integer_kernel(rows, size)
    end = math.inf if deadline is None else deadline
    order: list[int] = []
    found: Rows = np.zeros((0, 0), dtype=np.int16)
    steps = dict(zip(lattice.pivots, lattice.steps, strict=True))
    try:
        while lattice.rank and len(order) < size:
            follow = len(order) >= lattice.rank
            new = _next_coordinate(lattice, order, found) if follow else [*steps][len(order)]
            step = 0 if follow else steps[new]
            found = _Lift(lattice, [*order, new], found, step, end, symmetry).run()
            order.append(new)
    except (TimeoutError, OverflowError) as stop:
        return Graver(_extended(lattice, order, found), False, str(stop))
    return Graver(_extended(lattice, order, found), True)


def _extended(lattice: Lattice, order: list[int], found: Rows) -> Rows:
    """Vectors of the lattice with these coordinates: what is irreducible in a projection is so."""
    if not len(found):
        return np.zeros((0, lattice.size), dtype=np.int16)
    parameters = _parameters(lattice, order, found)
    vectors = parameters @ lattice.basis[:, : parameters.shape[1]].T
    result: Rows = vectors[np.abs(vectors).max(axis=1) <= LARGEST].astype(np.int16)
    return result


def _next_coordinate(lattice: Lattice, order: list[int], found: Rows) -> int:
    """The coordinate that fewest vectors have: there the fewest pairs can be added."""
    parameters = _parameters(lattice, order, found)
    rest = [c for c in range(lattice.size) if c not in order]
    return min(rest, key=lambda c: (np.count_nonzero(parameters @ lattice.basis[c]), c))


def _parameters(lattice: Lattice, order: list[int], found: Rows) -> NDArray[np.int64]:
    """The t of each vector B t, from its coordinates in this order (the pivots come first)."""
    rank = min(lattice.rank, len(order))
    basis = lattice.basis[order, :rank]
    steps = np.array(lattice.steps[:rank], dtype=np.int64)
    result = coefficients(basis, steps, found.T.astype(np.int64))
    if result is None:  # they are vectors of the lattice, so 64 bits were too few
        raise OverflowError("vectors of the lattice have huge parameters")
    return np.ascontiguousarray(result.T)


class _Lift:
    """One step: from the projection onto all coordinates of `order` but the last one, to all."""

    def __init__(
        self,
        lattice: Lattice,
        order: list[int],
        found: Rows,
        step: int,
        deadline: float,
        symmetry: bool,
    ) -> None:
        if step > LARGEST:
            raise OverflowError("the lattice has a step beyond 16,000")
        self.step, self.deadline = step, deadline
        self.width = len(order)
        self.old = self._raised(lattice, order, found)
        self.group: list[SignedPermutation] = []
        if symmetry and step == 0 and len(found) > FEW:
            steps = np.array(lattice.steps, dtype=np.int64)
            self.group = symmetries(lattice.basis[order], steps)

    def _raised(self, lattice: Lattice, order: list[int], found: Rows) -> Rows:
        """The known vectors with their last coordinate (with a step: the one in 0..step-1)."""
        if self.step and not len(found):
            return np.zeros((0, self.width), dtype=np.int16)
        parameters = _parameters(lattice, order[:-1], found)
        last = parameters @ lattice.basis[order[-1], : parameters.shape[1]]
        if self.step:
            last %= self.step
        if len(last) and np.abs(last).max() > LARGEST:
            raise OverflowError("vectors of the lattice have entries beyond 16,000")
        return np.concatenate([found, last.astype(np.int16)[:, None]], axis=1)

    def run(self) -> Rows:
        """Return the Graver basis of the projection onto all coordinates of the order."""
        found = self.old if self.step == 1 else self._levels()  # step 1: all last are 0, and stay
        if self.step:
            unit = np.zeros((1, self.width), dtype=np.int16)
            unit[0, -1] = self.step
            found = np.concatenate([found, unit])
        return found

    def _levels(self) -> Rows:
        for seed in range(100):
            self.keys = Keys(self.width, seed)
            try:
                return self._through_the_levels()
            except CollisionError:
                continue
        raise OverflowError("no hash values tell the vectors apart")

    def _through_the_levels(self) -> Rows:
        self.known, self.rising = Store.empty(self.width), Store.empty(self.width)
        self.ranges: dict[int, tuple[int, int]] = {}
        self.firsts: dict[int, NDArray[np.int64]] = {}
        old = self.keys.upright(self.old)
        norms = np.abs(old[:, :-1].astype(np.int64)).sum(axis=1)
        level, top = 0, int(norms.max(initial=0))
        while level < top:
            level += 1
            block = old[norms == level]
            if self.step:
                block = np.concatenate([block, self._companions(block)])
            block = self._completed(block, level)
            self._add(block, level)
            if level in self.ranges:
                top = max(top, 2 * level)
        return self.known.rows[: self.known.count].copy()

    # one level -----------------------------------------------------------------------------------

    def _completed(self, block: Rows, level: int) -> Rows:
        """The irreducible vectors of a level, of which those in `block` are known."""
        for sums in self._sums(level):
            fresh = self.keys.new(sums, block)
            batch = max(SMALL_BATCH, len(fresh) // 8)
            while len(fresh):  # by parts: the orbits of what is found need not be looked at
                found, fresh = fresh[:batch], fresh[batch:]
                found = found[self._irreducible(found)]
                if self.step:
                    others = self._companions(found)
                    found = np.concatenate([found, others[self._irreducible(others)]])
                if len(found):
                    found = self._orbits(found)
                    block = np.concatenate([block, found])
                    fresh = self.keys.new(fresh, found)
        return block

    def _sums(self, level: int) -> Iterator[Rows]:
        """Sums of pairs as in the argument, up to sign and symmetry."""
        for low in self.ranges:
            if 2 * low > level or level - low not in self.ranges:
                continue
            start, end = self.ranges[level - low]
            firsts = self.firsts[low]
            share = max(1, STEPS_AT_ONCE // (end - start))
            for begin in range(0, len(firsts), share):
                yield from self._pairs(firsts[begin : begin + share], start, end)

    def _pairs(self, firsts: NDArray[np.int64], start: int, end: int) -> Iterator[Rows]:
        position = np.array([0, start], dtype=np.int64)
        pairs = np.empty((CHUNK, 2), dtype=np.int32)
        while position[0] < len(firsts):
            self._look_at_the_clock()
            signs = self.rising.signs
            count = opposite_pairs(signs, firsts, start, end, position, pairs)
            if count:
                spend(count * self.width * SUM)
                rows = self.rising.rows
                sums = rows[pairs[:count, 0]] - rows[pairs[:count, 1]]
                if np.abs(sums).max() > LARGEST:
                    raise OverflowError("vectors of the lattice have entries beyond 16,000")
                yield self.keys.upright(sums)

    def _irreducible(self, rows: Rows) -> NDArray[np.bool_]:
        result = np.ones(len(rows), dtype=bool)
        spend(len(rows) * (ROW + self.known.count * EACH))
        signs = sign_sets(rows, self.width - 1)
        share = max(1, STEPS_AT_ONCE // (self.known.count + 1))
        for begin in range(0, len(rows), share):
            self._look_at_the_clock()
            part = slice(begin, begin + share)
            result[part] = irreducible_rows(
                rows[part], signs[part], self.known.rows, self.known.signs, self.known.count
            )
        return result

    def _companions(self, rows: Rows) -> Rows:
        """The other lifts: x - e, turned round so that the last coordinate is positive."""
        result = -rows[rows[:, -1] > 0]
        result[:, -1] += self.step
        return result

    def _add(self, block: Rows, level: int) -> None:
        if (self.known.count + len(block)) * self.width > MOST_ENTRIES:
            raise OverflowError("the Graver basis has too many vectors")
        self.known.append(block)
        rising = block[block[:, -1] > 0]
        if len(rising):
            start = self.rising.count
            self.rising.append(rising)
            self.ranges[level] = start, self.rising.count
            self.firsts[level] = start + self._representatives(rising)

    def _look_at_the_clock(self) -> None:
        if now() > self.deadline:
            raise TimeoutError

    # orbits --------------------------------------------------------------------------------------

    def _orbits(self, rows: Rows) -> Rows:
        """The rows and all their images under the group."""
        result = fresh = self.keys.new(rows, rows[:0])
        while len(fresh) and self.group:
            images = np.concatenate([self.keys.upright(g(fresh)) for g in self.group])
            fresh = self.keys.new(images, result)
            result = np.concatenate([result, fresh])
        return result

    def _representatives(self, rows: Rows) -> NDArray[np.int64]:
        """The places of rows that represent the orbits; the rows are closed under the group."""
        count = len(rows)
        if not self.group:
            return np.arange(count)
        targets = [self.keys.places(permutation(rows), rows) for permutation in self.group]
        if any((places < 0).any() for places in targets):
            raise InternalError("the vectors of a level are not closed under its symmetries")
        first = np.arange(count)  # for each row, the first row of its orbit that is known so far
        while True:
            found = first
            for places in targets:  # a permutation of the rows: it has no place twice
                found = np.minimum(found, found[places])
                found[places] = np.minimum(found[places], found)
            found = found[found]
            if np.array_equal(found, first):
                return np.unique(first)
            first = found
