"""The ordered hierarchical mechanism (section 7.2 of blowfish-2014), calibrated by the certifier.

The printed calibration gives the first tree the whole of epsilon, its root (which is also the first
prefix) included, and counts 2h changed nodes for a move within one tree. A move across the border
of the first two trees changes the first prefix, a path of the first tree and a path of the second
one, and loses more than epsilon for some theta, fan-outs and splits. Here no count plays two parts:

* the prefixes that end with a block, at scale b_S. A move of at most theta positions passes at most
  ceil(theta / block) ends of blocks, and changes so many prefixes, by 1 each.
* on each level of the trees, below the blocks themselves, the counts at scale b_l. A move leaves
  one node and enters another, so at most two change, by 1 each, in whichever trees they are.

So the loss is at most ceil(theta / block) / b_S + sum_l 2 / b_l, which the choice of scales makes
epsilon; the certifier then computes the loss exactly, for the policy at hand, and all scales are
multiplied by what that leaves. For a rho, noise is Gaussian, and the same holds of squares and
variances: each count that changes, by 1, loses 1 / (2 variance). With other secrets than distances,
or with known facts, that last step is the whole argument. With one block this is the hierarchical
mechanism, with blocks of one value the ordered one.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from blowproof.mechanisms.answers.true_answers import require_answerable
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.estimates.isotonic import rising
from blowproof.mechanisms.estimates.ranges import OrderedCounts, axis_asked, query_text
from blowproof.mechanisms.estimates.trees import Measured, cumulative_estimate
from blowproof.mechanisms.release.calibrate import recalibrated, require_floats
from blowproof.mechanisms.release.release import EXACT_NOTE, Draw, Plan, Request
from blowproof.mechanisms.release.request import whole_option
from blowproof.mechanisms.structures.design import Design, Setup, best_design
from blowproof.mechanisms.structures.tree_error import expected_error
from blowproof.models import parse_query
from blowproof.models.mechanisms.mechanism import Prefixes, Release
from blowproof.models.mechanisms.trees_and_prefixes import bind_query

__all__ = ["Hierarchical"]

GUIDE = 0.25
"""The share of the time left for a question that only guides the choice of blocks."""


class Hierarchical(Plan):
    """Noisy prefixes of blocks and noisy trees below them, made consistent by least squares.

    `options`: "block" (values per block) and "fan-out"; what is left out is chosen for the least
    expected error of a random range. The last step makes the prefixes rise from 0 to n.
    """

    name = "hierarchical"
    postprocessing = ("least squares", "isotonic regression", "clipping to [0, n]")
    settings = ("block", "fan-out")

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        policy = request.policy
        self.axis = axis_asked(request.bound, policy, self.name)
        self.attribute = policy.domain.names[self.axis]
        require_floats(request.epsilon, self.name)
        for query in (request.bound, query_text("cumulative", self.attribute)):
            require_answerable(query, policy)
        self.setup = self._setup()
        self.design = self._calibrated(best_design(self.setup))
        self.releases = self._drawn(self.design)
        self.description = self.described(*self.releases)
        self.notes += self._words()

    def _setup(self) -> Setup:
        request, size = self.request, self.request.policy.domain.attribute(self.axis).size
        block, fan_out = whole_option(request, "block", 1), whole_option(request, "fan-out", 2)
        known = request.policy.size_known(request.reading)
        reach = self._reach(size)
        return Setup(
            size=size,
            reach=reach,
            epsilon=request.epsilon if request.rho is None else 2 * request.rho,
            gaussian=request.rho is not None,
            open_end=not known,
            sealed=self._sealed(size, {reach + 1, block or reach + 1}) if known else (),
            blocks=() if block is None else (min(block, size),),
            fan_outs=() if fan_out is None else (fan_out,),
        )

    def _reach(self, size: int) -> int:
        """Return how far a secret move leads: the sensitivity of the cumulative histogram.

        It guides the choice of blocks. Where it is not known, or where several records move, the
        certifier's number still decides about the noise.
        """
        query = parse_query(query_text("cumulative", self.attribute), self.request.policy)
        try:
            self.sensitivity = self.request.sensitivity(query, share=GUIDE)
        except RefusedError:
            return size - 1
        upper = self.sensitivity.upper
        return size - 1 if upper is None else min(int(upper), size - 1)

    def _sealed(self, size: int, blocks: set[int]) -> tuple[int, ...]:
        """Return those of some blocks whose ends no secret move passes."""
        found = []
        for block in sorted(block for block in blocks if 1 < block < size):
            query = bind_query(Prefixes(attribute=self.attribute, every=block), self.request.policy)
            try:
                if self.request.sensitivity(query, share=GUIDE).upper == 0:
                    found.append(block)
            except RefusedError:
                continue
        return tuple(found)

    def _calibrated(self, design: Design) -> Design:
        """Return the design with its scales multiplied so that the certifier proves epsilon."""
        request, structure = self.request, design.structure
        drawn = self._drawn(design)
        if self.setup.reach == 0:
            ones = (Fraction(1),) * structure.height
            drawn = self._drawn(replace(design, prefix=Fraction(1), levels=ones))
        found, certified = recalibrated(
            drawn,
            request.policy,
            request.promise,
            reading=request.reading,
            answers=request.answers,
            time_limit=request.left,
            known=request.known,
        )
        if certified.upper == 0:
            self.notes += (EXACT_NOTE,)
        elif certified.loss is None:
            self.notes += ("the exact loss was not found: the scales are set from its upper bound",)
        prefix = found[0].widths[0] if structure.has_prefixes else Fraction(0)
        levels = found[-1].widths if structure.height else ()
        noise = [self.setup.variance(width) for width in levels]
        error = expected_error(structure, self.setup.variance(prefix), noise)
        return replace(design, prefix=prefix, levels=levels, error=error)

    def _drawn(self, design: Design) -> list[Release]:
        """Return what is drawn by a design."""
        return design.structure.releases(
            self.attribute, design.prefix, design.levels, gaussian=self.setup.gaussian
        )

    def _words(self) -> tuple[str, ...]:
        structure = self.design.structure
        if structure.height == 0:
            kind = "prefixes of every value (the ordered mechanism)"
        elif structure.blocks == 1:
            kind = f"one tree with fan-out {structure.fan_out} (the hierarchical mechanism)"
        else:
            kind = (
                f"{structure.blocks} blocks of {structure.block} values, "
                f"each a tree with fan-out {structure.fan_out}"
            )
        return (f"{kind}; expected squared error of a range: {self.design.error:.4g}",)

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return what was asked for, as estimated from the noisy counts."""
        size = draw.public_size(self.request)

        def made() -> OrderedCounts:
            return self.counts([draw(item) for item in self.releases], size)

        counts: OrderedCounts = draw.once((self.name, tuple(self.releases), size), made)
        return counts.answer(self.request.bound)

    def counts(self, drawn: list[Vector], size: int | None, *, rise: bool = True) -> OrderedCounts:
        """Return the estimate that follows from the noisy counts alone (and n, if known).

        Least squares are unbiased; to rise, in the end, is what the truth does.
        """
        below = cumulative_estimate(self._measured(drawn, size))
        if rise:
            inner = rising(below[1:-1], most=size)
            last = float(size) if size is not None else max(0.0, below[-1], *inner[-1:])
            below = np.concatenate([[0.0], inner, [last]])
        return OrderedCounts(self.request.policy, self.axis, below)

    def _measured(self, drawn: list[Vector], size: int | None) -> Measured:
        structure = self.design.structure
        tree = drawn[-1] if structure.height else None
        ends = np.cumsum(tree.runs or ()) if tree is not None else np.zeros(0, dtype=np.int64)
        noisy = [] if tree is None else np.split(tree.units.astype(np.float64), ends[:-1])
        prefixes = drawn[0].units if structure.has_prefixes else np.zeros(0)
        return Measured(
            structure=structure,
            prefixes=prefixes.astype(np.float64),
            prefix_variance=self.setup.variance(self.design.prefix),
            levels=noisy,
            level_variances=[self.setup.variance(width) for width in self.design.levels],
            size=size,
        )
