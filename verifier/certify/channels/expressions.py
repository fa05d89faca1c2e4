"""Probabilities as a mechanism file writes them: fractions, and expressions in eps.

Numbers, eps, exp(...), + - * / ** and parentheses, nothing else; the text is never evaluated as
Python. An exponent of e is linear in eps with rational coefficients, an exponent after ** is an
integer, so that every question about an expression can be decided exactly (see `exponential_sums`).
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from blowproof.models import BudgetError, PolicyError, show
from blowproof.verifier.certify.channels.exponential_sums import Formal, Quotient, Term
from blowproof.verifier.limits.limit import whole_limit

__all__ = ["monomial", "parse_expression", "write_quotient"]

_TOKEN = re.compile(r"\s*(?:(\d+)|(eps|exp)\b|(\*\*|[-+*/()])|(.))", re.DOTALL)
LONGEST = whole_limit(__name__, "LONGEST")
DEEPEST = whole_limit(__name__, "DEEPEST")
MOST_DIGITS = whole_limit(__name__, "MOST_DIGITS")
LARGEST_POWER = whole_limit(__name__, "LARGEST_POWER")
ZERO = Fraction(0)
ONE_TERM: Term = (0, ZERO, ZERO)


def parse_expression(text: str) -> Quotient:
    """Return the expression, exactly.

    >>> half = parse_expression("1/(1+exp(eps)) + exp(eps)/(1+exp(eps))")
    >>> half.equals(Quotient.of(1))
    True
    >>> parse_expression("0.25")
    Traceback (most recent call last):
    ...
    blowproof.models.base.errors.PolicyError: '.' in '0.25' is not understood
      try: write fractions: "1/4" for 0.25
    """
    if len(text) > LONGEST:
        raise PolicyError(f"an expression of {len(text)} characters; the limit is {LONGEST}")
    parser = _Parser(text)
    try:
        value = parser.sum()
    except BudgetError as error:
        raise PolicyError(str(error)) from None
    if parser.token:
        raise parser.unexpected()
    return value


class _Parser:
    """Recursive descent: sum, product, signed, power, atom."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = self._split(text)
        self.place = 0
        self.depth = 0

    @staticmethod
    def _split(text: str) -> list[str]:
        tokens = []
        for number, name, sign, other in _TOKEN.findall(text):
            if other.strip():
                raise PolicyError(
                    f"{other!r} in {_short(text)!r} is not understood", hint=_HINTS.get(other, HINT)
                )
            if len(number) > MOST_DIGITS:
                raise PolicyError(f"a number has more than {MOST_DIGITS} digits")
            if number or name or sign:
                tokens.append(number or name or sign)
        return tokens

    @property
    def token(self) -> str:
        """The token to read next, or "" at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def unexpected(self) -> PolicyError:
        what = repr(self.token) if self.token else "the end"
        return PolicyError(f"{what} in {_short(self.text)!r} is not expected here", hint=HINT)

    def accept(self, *tokens: str) -> str:
        token = self.token
        if token in tokens:
            self.place += 1
            return token
        return ""

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise self.unexpected()

    def sum(self) -> Quotient:
        self.depth += 1
        if self.depth > DEEPEST:
            raise PolicyError("the expression is nested too deeply")
        value = self.product()
        while sign := self.accept("+", "-"):
            term = self.product()
            value = value + (term if sign == "+" else -term)
        self.depth -= 1
        return value

    def product(self) -> Quotient:
        value = self.signed()
        while sign := self.accept("*", "/"):
            factor = self.signed()
            value = value * (factor if sign == "*" else self._inverse(factor))
        return value

    def signed(self) -> Quotient:
        negative = False
        while sign := self.accept("+", "-"):
            negative ^= sign == "-"
        value = self.power()
        return -value if negative else value

    def power(self) -> Quotient:
        base = self.atom()
        if not self.accept("**"):
            return base
        self.depth += 1
        if self.depth > DEEPEST:
            raise PolicyError("the expression is nested too deeply")
        exponent = _rational(self.signed())
        self.depth -= 1
        if exponent is None or exponent.denominator != 1:
            raise PolicyError(
                f"an exponent in {_short(self.text)!r} is no integer",
                hint="for powers of e write exp(eps/2)",
            )
        if abs(exponent) > LARGEST_POWER:
            raise PolicyError(f"the exponent {exponent} is too large: at most {LARGEST_POWER}")
        base = base if exponent >= 0 else self._inverse(base)
        value = Quotient.of(1)
        for _ in range(abs(int(exponent))):
            value = value * base
        return value

    def atom(self) -> Quotient:
        if self.accept("("):
            value = self.sum()
            self.expect(")")
            return value
        if self.accept("exp"):
            self.expect("(")
            value = self.sum()
            self.expect(")")
            return self._exp(value)
        if self.accept("eps"):
            return Quotient(Formal({(1, ZERO, ZERO): Fraction(1)}), Formal.constant(1))
        if self.token.isdigit():
            self.place += 1
            return Quotient.of(int(self.tokens[self.place - 1]))
        raise self.unexpected()

    def _inverse(self, value: Quotient) -> Quotient:
        if not value.top.terms:
            raise PolicyError(
                f"{_short(self.text)!r} divides by zero", hint="change what it divides by"
            )
        return value.inverse()

    def _exp(self, value: Quotient) -> Quotient:
        """Return e^value for a value that is a * eps + r."""
        divisor = _constant(value.bottom)
        slope, rest = ZERO, ZERO
        for (k, a, r), factor in value.top.terms.items():
            if divisor is None or a or r or k > 1:
                raise PolicyError(
                    f"an exponent of e in {_short(self.text)!r} is not a number times eps",
                    hint="write exp(eps), exp(eps/2), exp(-2*eps) or exp(1)",
                )
            if k:
                slope = factor / divisor
            else:
                rest = factor / divisor
        return Quotient(Formal({(0, slope, rest): Fraction(1)}), Formal.constant(1))


HINT = "fractions, eps, exp(...), + - * / ** and parentheses"
_HINTS = {
    ".": 'write fractions: "1/4" for 0.25',
    "^": "write ** for powers",
    "e": "write exp(eps)",
}


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _constant(value: Formal) -> Fraction | None:
    """Return the number that a sum is, if it is rational."""
    if not value.terms:
        return ZERO
    return value.terms.get(ONE_TERM) if len(value.terms) == 1 else None


def _rational(value: Quotient) -> Fraction | None:
    top, bottom = _constant(value.top), _constant(value.bottom)
    return None if top is None or bottom is None else top / bottom


def write_quotient(value: Quotient) -> str:
    """Return a quotient as text that reads back to an equal one, in lowest terms where it can be.

    >>> write_quotient(parse_expression("exp(eps)/(1+exp(eps)) / (1/(1+exp(eps)))"))
    'exp(eps)'
    """
    single = monomial(value)
    if single is not None:
        return _write(Formal(dict([single])))
    text = f"({_write(value.top)})/({_write(value.bottom)})"
    shorter = _cancelled(value)
    try:
        return shorter if shorter and parse_expression(shorter).equals(value) else text
    except PolicyError:  # not in our grammar
        return text


def monomial(value: Quotient) -> tuple[Term, Fraction] | None:
    """Return (k, a, r) and c if the quotient is c * eps^k * e^(a eps + r)."""
    if not value.top.terms:
        return ONE_TERM, ZERO
    (k, a, r), one = max(value.top.terms.items())
    (m, b, s), two = max(value.bottom.terms.items())
    term, factor = (k - m, a - b, r - s), one / two
    if k >= m and value.bottom * Formal({term: factor}) == value.top:
        return term, factor
    return None


def _write(value: Formal) -> str:
    terms = [_write_term(term, factor) for term, factor in sorted(value.terms.items())]
    return " + ".join(terms).replace("+ -", "- ") if terms else "0"


def _write_term(term: Term, factor: Fraction) -> str:
    k, a, r = term
    powers = []
    if k:
        powers.append("eps" if k == 1 else f"eps**{k}")
    inner = [] if not a else ["eps" if a == 1 else "-eps" if a == -1 else f"{show(a)}*eps"]
    inner += [show(r)] if r else []
    if inner:
        powers.append(f"exp({' + '.join(inner).replace('+ -', '- ')})")
    if not powers:
        return show(factor)
    product = "*".join(powers)
    if abs(factor) == 1:
        return product if factor > 0 else f"-{product}"
    return f"{show(factor)}*{product}"


def _cancelled(value: Quotient) -> str | None:
    """Let sympy cancel common factors; whatever it says is compared with the original."""
    from sympy import Rational, Symbol, cancel, exp

    eps = Symbol("eps", positive=True)

    def rational(number: Fraction) -> Any:
        return Rational(number.numerator, number.denominator)

    def built(total: Formal) -> Any:
        return sum(
            rational(factor) * eps**k * exp(rational(a) * eps + rational(r))
            for (k, a, r), factor in total.terms.items()
        )

    shorter = str(cancel(built(value.top) / built(value.bottom)))
    return shorter if len(shorter) <= LONGEST else None
