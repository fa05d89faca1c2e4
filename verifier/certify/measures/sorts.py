"""The releases of a mechanism by what their noise gives: a pure epsilon, a rho, a delta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from blowproof.models.base.numbers import magnitude
from blowproof.models.mechanisms.mechanism import Mechanism
from blowproof.models.stacks.stacked import Part
from blowproof.verifier.asked.answer import Pair
from blowproof.verifier.certify.base.asked import Asked
from blowproof.verifier.certify.base.verdict import Assumption, Delta, LossBounds
from blowproof.verifier.certify.measures.told_apart import Shift
from blowproof.verifier.certify.noise.additive import additive_loss, bind
from blowproof.verifier.certify.noise.gaussian_steps import GAUSSIAN_STEPS
from blowproof.verifier.certify.noise.k_norm import K_NORM, k_norm_loss
from blowproof.verifier.certify.noise.steps import STEPS_NOISE, steps_loss
from blowproof.verifier.certify.selections.selections import both, with_selections
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["BOUNDED", "GAUSSIAN", "Judged", "Sorts", "pure_loss"]

GAUSSIAN, BOUNDED = "discrete-gaussian", "bounded"
MOST_SHIFTS = whole_limit(__name__, "MOST_SHIFTS")


@dataclass(frozen=True)
class Judged:
    """Bounds on the loss in its measure, what they assume, and the delta where that is judged."""

    found: LossBounds
    assumed: tuple[Assumption, ...] = ()
    delta: Delta | None = None
    scalable: bool = False


class Sorts:
    """The releases by what their noise gives; their weights are scales or variances."""

    def __init__(self, mechanism: Mechanism, parts: Sequence[Part]) -> None:
        self.mechanism = mechanism
        both = list(zip(mechanism.releases, parts, strict=True))
        self.all = both
        self.gaussian = [part for release, part in both if release.noise == GAUSSIAN]
        self.bounded = [part for release, part in both if release.noise == BOUNDED]
        self.k_norm = [item for item in both if item[0].noise == K_NORM]
        self.steps = [item for item in both if item[0].noise == STEPS_NOISE]
        self.gaussian_steps = [item for item in both if item[0].noise == GAUSSIAN_STEPS]
        joint = (K_NORM, STEPS_NOISE)
        self.pure = [
            part
            for release, part in both
            if release.width == "scale" and release.noise not in joint
        ]

    def pure_or_silent(self, *, gaussian: bool = True, bounded: bool = True) -> list[Part]:
        """Return the parts of Laplace noise, and others as if they had none: weight 0."""
        on_steps = [part for _, part in self.gaussian_steps]
        silent = [*((*self.gaussian, *on_steps) if gaussian else ()),
                  *(self.bounded if bounded else ())]  # fmt: skip
        return [*self.pure, *(replace(part, weights=(Fraction(0),)) for part in silent)]

    def shifts(self, pair: Pair, asked: Asked) -> list[Shift] | None:
        """Return the outputs that change between a pair; None where they are too many to list."""
        moves, found = pair.moves(asked.reading), list[Shift]()
        for release, part in self.all:
            if part.query.per_record:
                return None
            for key, change in part.changes(moves).items():
                width, grid = part.weight(key), release.grid
                steps = magnitude(change) / grid
                if release.noise == GAUSSIAN:
                    found.append(Shift("gaussian", width / grid**2, Fraction(steps)))
                elif release.noise == "discrete-laplace" and width:
                    found.append(Shift("laplace", width / grid, Fraction(steps)))
                elif release.noise == "laplace" and width:
                    found.append(Shift("continuous", width / grid, Fraction(steps)))
            if len(found) > MOST_SHIFTS:
                return None
        return found


def pure_loss(
    asked: Asked, mechanism: Mechanism, parts: Sequence[Part], limit: Fraction
) -> tuple[LossBounds, tuple[Assumption, ...]]:
    """Return the pure epsilon of Laplace noise, of K-norm noise, of noise on steps and of choices.

    `limit` is what is hoped for.
    """
    sorts = Sorts(mechanism, bind(mechanism, asked.policy, asked.reading))
    every = [additive_loss(asked, parts)] if parts or not (sorts.k_norm or sorts.steps) else []
    every += [k_norm_loss(asked, sorts.k_norm)] if sorts.k_norm else []
    every += [steps_loss(asked, sorts.steps)] if sorts.steps else []
    found = reduce(both, every)
    return with_selections(asked, mechanism, found, limit)
