"""Ratios of a channel's probabilities at one epsilon: the largest, and is it above e^epsilon?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from blowproof.models import PolicyError
from blowproof.models.base.kept import cached_property
from blowproof.models.base.toml_values import within
from blowproof.models.mechanisms.mechanism import Channel
from blowproof.verifier.certify.channels.exponential_sums import MOST_BITS, Number, Quotient
from blowproof.verifier.certify.channels.expressions import (
    monomial,
    parse_expression,
    write_quotient,
)
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["DIGITS", "Probabilities", "Ratio", "decimal"]

SHOWN_BITS = whole_limit(__name__, "SHOWN_BITS")
DIGITS = whole_limit(__name__, "DIGITS")


@dataclass(frozen=True)
class Ratio:
    """A product of ratios of probabilities: as an expression, and exactly at one epsilon.

    Top and bottom are positive there.
    """

    value: Quotient
    top: Number
    bottom: Number

    @staticmethod
    def of(value: Quotient, epsilon: Fraction) -> Ratio:
        """Return a positive quotient at one epsilon."""
        top, bottom = value.top.at(epsilon), value.bottom.at(epsilon)
        if bottom.sign() < 0:
            minus = Number({Fraction(0): Fraction(-1)})
            top, bottom = top * minus, bottom * minus
        return Ratio(value, top, bottom)

    @staticmethod
    def one() -> Ratio:
        """Return 1."""
        return Ratio.of(Quotient.of(1), Fraction(1))

    def above(self, other: Ratio) -> bool:
        """Whether this ratio is larger at the epsilon of both."""
        low, high = self.between
        below, beyond = other.between
        if beyond is not None and low > beyond:
            return True
        if high is not None and high < below:
            return False
        return (self.top * other.bottom - other.top * self.bottom).sign() > 0

    def above_exp(self, epsilon: Fraction) -> bool:
        """Whether this ratio is larger than e^epsilon."""
        limit = Number({epsilon: Fraction(1)})
        return (self.top - self.bottom * limit).sign() > 0

    def times(self, other: Ratio) -> Ratio:
        """Return the product."""
        return Ratio(self.value * other.value, self.top * other.top, self.bottom * other.bottom)

    @cached_property
    def between(self) -> tuple[Fraction, Fraction | None]:
        """Fractions around the ratio, with as many digits as tell it from zero and infinity.

        Where no number of digits does, the lower one is 0 and the upper one None: unknown.
        """
        low, bits = Fraction(0), SHOWN_BITS
        while bits <= MOST_BITS:
            least, most = self.top.between(bits)
            below, above = self.bottom.between(bits)
            if least > 0:
                low = least / above
                if below > 0:
                    return low, most / below
            bits *= 4
        return low, None

    @property
    def decimals(self) -> tuple[str, str | None]:
        """Decimals below and above the ratio (None: nothing is known to be above)."""
        low, high = self.between
        scale = 10**DIGITS
        above = None if high is None else decimal(-(-high * scale // 1))
        return decimal(low * scale // 1), above

    @property
    def text(self) -> str:
        """The ratio as a fraction or an expression."""
        return write_quotient(self.value)

    def logarithm(self, epsilon: Fraction) -> Fraction | None:
        """Return the logarithm at an epsilon where it is rational and the expression shows it."""
        single = monomial(self.value)
        if single is None:
            return None
        (power, slope, rest), factor = single
        return slope * epsilon + rest if factor == 1 and not power else None


def decimal(scaled: int) -> str:
    """Return a number, so many DIGITS after its point being part of it, as decimals."""
    whole, rest = divmod(scaled, 10**DIGITS)
    return f"{whole}.{rest:0{DIGITS}}"


class Probabilities:
    """The entries of a channel, parsed and checked, at one epsilon."""

    def __init__(self, channel: Channel, epsilon: Fraction) -> None:
        self.channel = channel
        self.epsilon = epsilon
        self._values: dict[str, Quotient] = {}
        self._ratios: dict[tuple[str, str], Ratio | None] = {}
        self._zero: dict[str, bool] = {}
        for place, row in enumerate(channel.rows):
            with within(f"channel.rows[{place}]"):
                self._check(row)

    def _check(self, row: tuple[str, ...]) -> None:
        """Refuse a row with a negative entry, or one that does not add up to 1 for every eps."""
        total = Quotient.of(0)
        for place, text in enumerate(row):
            with within(f"[{place}]"):
                total = total + self._parsed(text)
        if not total.equals(Quotient.of(1)):
            found = write_quotient(total)
            found = found if len(found) <= 80 else f"{found[:77]}..."
            raise PolicyError(
                f"the row adds up to {found}, not to 1",
                hint="the probabilities of a row add up to 1 for every eps",
            )

    def _parsed(self, text: str) -> Quotient:
        if text not in self._values:
            value = parse_expression(text)
            bottom = value.bottom.at(self.epsilon).sign()
            sign = value.top.at(self.epsilon).sign() * bottom
            if bottom == 0:
                raise PolicyError(
                    f"{text!r} divides by zero at eps = {self.epsilon}",
                    hint="cancel what is zero there, or write another epsilon",
                )
            if sign < 0:
                raise PolicyError(
                    f"{text!r} is negative at eps = {self.epsilon}",
                    hint="a probability is 0 or more",
                )
            self._values[text] = value
            self._zero[text] = sign == 0
        return self._values[text]

    def largest(self, one: int, two: int) -> tuple[Ratio | None, int]:
        """Return the largest ratio of row one's entries to row two's, and the output that has it.

        None stands for infinity. Rows that are equal have an output that is possible.
        """
        best, place = Ratio.one(), self._possible(one)
        for output, (top, bottom) in enumerate(
            zip(self.channel.rows[one], self.channel.rows[two], strict=True)
        ):
            if top == bottom or self._zero[top]:
                continue
            if self._zero[bottom]:
                return None, output
            ratio = self._ratio(top, bottom)
            if ratio.above(best):
                best, place = ratio, output
        return best, place

    def _possible(self, row: int) -> int:
        return next(i for i, text in enumerate(self.channel.rows[row]) if not self._zero[text])

    def _ratio(self, top: str, bottom: str) -> Ratio:
        key = (top, bottom)
        found = self._ratios.get(key)
        if found is None:
            quotient = self._values[top] * self._values[bottom].inverse()
            found = self._ratios[key] = Ratio.of(quotient, self.epsilon)
        return found
