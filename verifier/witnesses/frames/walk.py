"""A walk over frames: one class after the other goes to the block where the frame is worth most.

Let K be the integer vectors k on the N classes with sum k = 0 and sum k_c s_c = 0, of rank d, and B
a matrix whose columns are a basis of them. A frame is a cut into d blocks for which k = B x with
block sums 0 is unique up to multiples (`theorems/affine_frames`). So A x = 0 has one solution, row
b of A being the sum of the rows of B over block b.

Take a class c out of its block, and let A0 be the sums without it. All rows of B sum to 0, so
those of A0 sum to -B_c. If A0 is regular, putting c into block b gives A = A0 + e_b B_c =
(I - e_b 1') A0, whose kernel is that of A0^-1 e_b: rank d - 1, a frame. So the columns of B A0^-1
are the frames of all blocks that c may go to, at the price of one inverse. A0 is regular where the
frame that c is in has k_c other than 0.

In the first two thirds of all steps walks cool down soon, then the more slowly the more
classes and blocks there are, which settle better if they are given time.

The arithmetic is in floats, and only proposes: `irreducible` says in whole numbers whether the
moves that come of it are a circuit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from blowproof.models.base.clock import now
from blowproof.verifier.exact.span import full_rank, independent
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Frame", "Worth", "frames_walked", "irreducible"]

STALL = whole_limit(__name__, "STALL")
SHUFFLED = whole_limit(__name__, "SHUFFLED")
WARM = real_limit(__name__, "WARM")
COLD = real_limit(__name__, "COLD")
COOLING = real_limit(__name__, "COOLING")
SLOWER = real_limit(__name__, "SLOWER")
PIECE = real_limit(__name__, "PIECE")
LARGEST = whole_limit(__name__, "LARGEST")
SECONDS_PER_STEP = real_limit(__name__, "SECONDS_PER_STEP")
SECONDS_PER_ENTRY = real_limit(__name__, "SECONDS_PER_ENTRY")
SECONDS_PER_PRODUCT = real_limit(__name__, "SECONDS_PER_PRODUCT")

Numbers = NDArray[np.int64]
Reals = NDArray[np.float64]

Worth = Callable[[Numbers, Numbers], Reals]
"""What frames are worth: vectors k and blocks of the classes, a column for each frame.

Below 0: nothing, and how far it is from being something.
"""


@dataclass(frozen=True)
class Frame:
    """The block of each class, its number k, and what that is worth."""

    blocks: tuple[int, ...]
    vector: tuple[int, ...]
    worth: float


def frames_walked(
    basis: Sequence[Sequence[int]], worth: Worth, *, seed: int, steps: int, end: float
) -> Iterator[Frame]:
    """Yield the best frame of each walk, and of the first seconds of long ones.

    Walks begin anew until so many steps are done.

    `basis`: of the whole dependencies; of their lattice, if determinants are not to be multiples.
    """
    walker = _Walker(np.array(basis, dtype=np.float64).T, worth, np.random.default_rng(seed), end)
    while walker.steps < steps and now() < end:
        met = False
        for best in walker.walk(steps):
            met = True
            yield best
        if not met:
            return


class _Walker:
    """Walks one after the other; `steps` are those of all of them."""

    def __init__(self, basis: Reals, worth: Worth, rng: np.random.Generator, end: float) -> None:
        self.basis, self.worth, self.rng, self.end = basis, worth, rng, end
        self.steps = 0
        self.own = independent(np.rint(basis).astype(np.int64))
        square = basis[self.own]
        self.starts = basis @ np.linalg.inv(square) * abs(float(np.linalg.det(square)))
        count, several = basis.shape
        products = several * several * (several + count)
        entries = several * count * SECONDS_PER_ENTRY
        self.cost = SECONDS_PER_STEP + entries + SECONDS_PER_PRODUCT * products

    def walk(self, most: int) -> Iterator[Frame]:
        """Yield the best frame of one walk, now and then if it is long; none where none is met."""
        blocks, vector = self._start()
        best: Frame | None = None
        told, begun = best, now()
        heat, stalled = WARM, 0
        limit, cooling = STALL * len(blocks), COOLING
        if 3 * self.steps >= 2 * most:
            cooling = max(COOLING, (COLD / WARM) ** (SLOWER / self.basis.size))
        for step in range(most):
            time_told = now(self.cost)
            if stalled > limit or self.steps >= most or time_told > self.end:
                break
            self.steps += 1
            found = self._around(blocks, vector)
            if found is None:
                stalled += 1
                continue
            vectors, cuts, worth = found
            chosen = self._chosen(worth, heat if step > SHUFFLED * len(blocks) else np.inf)
            blocks, vector = cuts[:, chosen].copy(), vectors[:, chosen].copy()
            stalled = stalled + 1 if heat == COLD or cooling == COOLING else 0
            heat = max(COLD, heat * cooling)
            top = int(worth.argmax())
            if worth[top] > 0 and (best is None or worth[top] > best.worth):
                numbers = tuple(int(k) for k in vectors[:, top])
                best = Frame(tuple(int(b) for b in cuts[:, top]), numbers, float(worth[top]))
                stalled = 0
            if best is not told and best is not None and time_told > begun + PIECE:
                yield best
                told, begun = best, time_told
        if best is not None and best is not told:
            yield best

    def _start(self) -> tuple[Numbers, Numbers]:
        """Return a frame: some classes that determine k are blocks of their own, all others one."""
        count, several = self.basis.shape
        blocks = np.zeros(count, dtype=np.int64)
        order = self.rng.permutation(several)
        blocks[[self.own[column] for column in order]] = np.arange(several)
        vector = np.rint(self.starts[:, order[0]]).astype(np.int64)
        return blocks, vector // max(int(np.gcd.reduce(vector)), 1)

    def _around(self, blocks: Numbers, vector: Numbers) -> tuple[Numbers, Numbers, Reals] | None:
        """Return all frames that differ in where one class lies: their k, cuts and worths."""
        several = self.basis.shape[1]
        place = int(self.rng.choice(np.flatnonzero(vector)))
        sums = np.zeros((several, several))
        np.add.at(sums, blocks, self.basis)
        sums[blocks[place]] -= self.basis[place]
        size = abs(float(np.linalg.det(sums)))
        if not 0.5 < size < LARGEST:
            return None
        vectors = np.rint(self.basis @ (np.linalg.inv(sums) * size)).astype(np.int64)
        vectors //= np.maximum(np.gcd.reduce(vectors, axis=0), 1)
        cuts = np.repeat(blocks[:, None], several, axis=1)
        cuts[place] = np.arange(several)
        return vectors, cuts, self.worth(vectors, cuts)

    def _chosen(self, worth: Reals, heat: float) -> int:
        """Return one of the frames, the heavier the likelier, by the walk's heat."""
        logs = np.log(np.maximum(worth, 0.5)) - np.log(np.maximum(-worth, 1.0))
        odds = np.exp((logs - logs.max()) / heat)
        return int(self.rng.choice(len(odds), p=odds / odds.sum()))


def irreducible(effects: Numbers, times: Sequence[int]) -> bool:
    """Whether moves with these effects, one made so often each, are seen to be a circuit.

    They sum to 0, all effects but one are independent, and the numbers have no common divisor: then
    they are the only relation.
    """
    numbers = np.array(times, dtype=np.object_)
    if not len(effects) or (effects.T.astype(np.object_) @ numbers).any():
        return False
    if np.gcd.reduce(numbers) != 1:
        return False
    return full_rank(effects[:-1])
