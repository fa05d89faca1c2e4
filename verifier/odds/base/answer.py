"""What `odds` says: bounds on the largest odds ratio, and the attacker who shows the lower one."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from blowproof.models import Exact, show
from blowproof.verifier.certify.channels.exponential_sums import Formal, Quotient
from blowproof.verifier.certify.channels.ratios import DIGITS, Ratio, decimal
from blowproof.verifier.odds.base.algebraic import Algebraic

__all__ = ["Composition", "Factor", "Odds", "Shown", "Verdict"]

Verdict = Literal["within", "exceeded", "undecided"]

CLOSER = (64, 256, 1024)
"""Bits with which numbers are compared that are roots of polynomials."""


@dataclass(frozen=True)
class Factor:
    """An odds ratio: e^loss where the loss is rational, a quotient, or the root of a polynomial.

    None of the three is infinite.
    """

    loss: Exact | None = None
    ratio: Ratio | None = None
    root: Algebraic | None = None

    @staticmethod
    def exp(loss: Exact) -> Factor:
        """Return e^loss."""
        return Factor(loss=loss)

    @staticmethod
    def infinite() -> Factor:
        """Return infinity: an output that is possible under one statement only."""
        return Factor()

    @staticmethod
    def of(ratio: Ratio, epsilon: Fraction) -> Factor:
        """Return a quotient, as a power of e where it is one."""
        loss = ratio.logarithm(epsilon)
        return Factor(ratio=ratio) if loss is None else Factor(loss=loss, ratio=ratio)

    @staticmethod
    def number(value: Fraction) -> Factor:
        """Return a rational number above 0."""
        return Factor.of(Ratio.of(Quotient.of(value), Fraction(1)), Fraction(1))

    @property
    def endless(self) -> bool:
        """Whether it is infinite."""
        return self.loss is None and self.ratio is None and self.root is None

    def above_exp(self, epsilon: Fraction) -> bool:
        """Whether it is larger than e^epsilon."""
        if self.loss is not None:
            return self.loss > epsilon
        if self.root is not None:
            return self.above(Factor.exp(epsilon))
        return self.ratio is None or self.ratio.above_exp(epsilon)

    def above(self, other: Factor) -> bool:
        """Whether it is larger than another."""
        if self.endless or other.endless:
            return self.endless and not other.endless
        if self.loss is not None and other.loss is not None:
            return self.loss > other.loss
        if self.root is None and other.root is None:
            return self.quotient().above(other.quotient())
        return self._beyond(other)

    def _beyond(self, other: Factor) -> bool:
        """Compare with more and more digits; what stays together is equal."""
        if self.root is not None and other.root is not None and self.root == other.root:
            return False
        for bits in CLOSER:
            (low, high), (below, beyond) = self.between(bits), other.between(bits)
            if low > beyond or high < below:
                return low > beyond
        return False

    def between(self, bits: int) -> tuple[Fraction, Fraction]:
        """Return fractions around it, closer with more bits; it is not infinite."""
        if self.root is not None:
            return self.root.between(bits)
        ratio = self.quotient()
        (a, b), (c, d) = ratio.top.between(bits), ratio.bottom.between(bits)
        return a / d, b / c

    def quotient(self) -> Ratio:
        """Return it as a quotient; it is not infinite, and no root."""
        if self.ratio is not None:
            return self.ratio
        assert self.loss is not None
        power = Formal({(0, Fraction(0), Fraction(self.loss)): Fraction(1)})
        return Ratio.of(Quotient(power, Formal.constant(1)), Fraction(1))

    @property
    def text(self) -> str:
        """It as an expression: "1", "exp(3/2)", "5/4", "sqrt(2)", "inf"."""
        if self.root is not None:
            return self.root.text
        if self.ratio is not None:
            return self.ratio.text
        if self.loss is None:
            return "inf"
        return "1" if self.loss == 0 else f"exp({show(self.loss)})"

    @property
    def decimals(self) -> tuple[str, str | None]:
        """Decimals below and above it."""
        if self.root is not None:
            low, high = self.root.between(64)
            return decimal(low * 10**DIGITS // 1), decimal(-(-high * 10**DIGITS // 1))
        return ("inf", None) if self.endless else self.quotient().decimals


@dataclass(frozen=True)
class Shown:
    """The attacker who shows a ratio: belief, statements and output, all as JSON has them.

    `reached`: the odds ratio of this very belief, evaluated by itself; below the bound it shows
    where beliefs come as near as one likes. `table`: belief and secret as certificates have them.
    """

    prior: Any
    secret: tuple[str, str]
    output: Any
    reached: Factor
    table: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Composition:
    """Whether releases compose linearly, why, an example where not, and which beliefs always may.

    `universal`: for each listed belief whether it is a universally composable evolution scenario.
    """

    linear: Literal["proved", "refuted", "open"]
    why: str
    example: Any = None
    universal: tuple[bool, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as the JSON of `odds` has it."""
        found: dict[str, Any] = {"linear": self.linear, "why": self.why}
        if self.example is not None:
            found["example"] = self.example
        if self.universal:
            found["universally_composable"] = list(self.universal)
        return found


@dataclass(frozen=True, kw_only=True)
class Odds:
    """The largest odds ratio of a mechanism against some attackers, in bounds (None: unknown)."""

    mechanism: str
    policy: str
    epsilon: Fraction
    attackers: str
    lower: Factor
    upper: Factor | None
    shown: Shown | None
    why: str
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    composition: Composition | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether every attacker's odds stay within e^epsilon."""
        if self.lower.above_exp(self.epsilon):
            return "exceeded"
        if self.upper is not None and not self.upper.above_exp(self.epsilon):
            return "within"
        return "undecided"

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return self.upper is not None and not self.upper.above(self.lower)

    def to_json(self) -> dict[str, Any]:
        """Return the document of `blowproof odds --json`."""
        upper = self.upper
        shown = self.shown
        return {
            "schema": "blowproof/odds/1",
            "mechanism": self.mechanism,
            "policy": self.policy,
            "epsilon": show(self.epsilon),
            "verdict": self.verdict,
            "ratio": {
                "lower": self.lower.text,
                "upper": None if upper is None else upper.text,
            },
            "ratio_between": [
                self.lower.decimals[0],
                None if upper is None else upper.decimals[1],
            ],
            "prior": None if shown is None else shown.prior,
            "secret": [] if shown is None else list(shown.secret),
            "output": None if shown is None else shown.output,
            "reached": None if shown is None else shown.reached.decimals[0],
            "attackers": self.attackers,
            "why": self.why,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
            **({} if self.composition is None else {"composition": self.composition.to_json()}),
        }
