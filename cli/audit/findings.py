"""What an audit finds out: S under every reading, what it means for noise, and what to do.

The docstring of the room has the reading order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from blowproof.cli.asking.errors import Exit
from blowproof.cli.audit.chain_of_moves import Chain
from blowproof.cli.audit.extras import Extras
from blowproof.cli.audit.noise import Noise
from blowproof.models import BoundQuery, Exact, show
from blowproof.models.base.kept import cached_property
from blowproof.verifier.asked.answer import Answer

if TYPE_CHECKING:
    from blowproof.verifier.proofs.write import Certificate

__all__ = [
    "Finding",
    "Judgement",
    "Plan",
    "Row",
    "worst",
]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What somebody plans: a claimed sensitivity, so much noise, both, or neither.

    `promised` is the epsilon (or rho) aimed for; `planned` the scale (or variance) of the noise.
    `certificate`: a proof is asked for, so that more time goes into finding one.
    """

    noise: Noise
    promised: Fraction
    claimed: Fraction | None = None
    planned: Fraction | None = None
    certificate: bool = False

    def needs(self) -> Iterator[tuple[str, Fraction]]:
        """Yield what is planned in words, and the sensitivity that it is enough for."""
        if self.claimed is not None:
            yield "the claimed S", self.claimed
        if self.planned is not None:
            covered = self.noise.covers(self.planned, self.promised)
            yield f"the planned {self.noise.parameter}", covered

    @property
    def aim(self) -> str:
        """What is aimed for, in words: "epsilon = 1"."""
        return f"{self.noise.promise} = {show(self.promised)}"


@dataclass(frozen=True)
class Judgement:
    """Whether a plan is enough: True, False, or None while the bounds leave it open."""

    what: str
    enough_for: Fraction
    enough: bool | None


@dataclass(frozen=True)
class Row:
    """S under one reading, or why the reading does not apply."""

    reading: str
    answer: Answer | None
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What was found about one query; `size` is n where it is known."""

    query: BoundQuery
    reading: str
    rows: tuple[Row, ...]
    plain: Exact | None
    plan: Plan
    size: int | None = None
    chain: Chain | None = None
    certificate: Certificate | None = None
    extras: Extras = field(default_factory=Extras)

    @cached_property
    def verdict(self) -> Answer:
        """The answer under the reading that decides."""
        return next(r.answer for r in self.rows if r.reading == self.reading and r.answer)

    @property
    def really(self) -> tuple[Fraction, Fraction | None] | None:
        """What epsilon (or rho) really is, at least and at most, with noise for `plain`.

        Laplace noise of scale b loses exactly ||f(D1) - f(D2)||_1 / b over a pair of databases,
        Gaussian noise half of the squares over its variance.
        """
        if not self.plain:
            return None
        factor = self.plan.promised / self.plain
        upper = self.verdict.upper
        return self.verdict.lower * factor, None if upper is None else upper * factor

    @property
    def scale(self) -> Fraction | None:
        """The scale (or variance) of the noise, from the upper bound."""
        upper = self.verdict.upper
        return None if upper is None else self.plan.noise.needed(upper, self.plan.promised)

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """What the answer says about the plan."""
        return tuple(
            Judgement(what, value, self._enough(value)) for what, value in self.plan.needs()
        )

    def _enough(self, value: Fraction) -> bool | None:
        if value < self.verdict.lower:
            return False
        upper = self.verdict.upper
        return True if upper is not None and value >= upper else None

    @property
    def code(self) -> Exit:
        """The exit code of this query alone."""
        verdicts = {judgement.enough for judgement in self.judgements}
        if False in verdicts:
            return Exit.NO
        undecided = None in verdicts if verdicts else self.verdict.status == "bounds"
        return Exit.UNDECIDED if undecided else Exit.OK


def worst(codes: Sequence[Exit]) -> Exit:
    """Return the exit code of several queries: a plan that fails weighs more than an open one."""
    order = (Exit.BAD_INPUT, Exit.NO, Exit.UNDECIDED, Exit.OK)
    return min(codes, key=order.index, default=Exit.OK)
