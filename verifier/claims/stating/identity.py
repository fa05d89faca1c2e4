"""Algebra behind closed forms and repairs: identities that sympy proves for all numbers.

An identity is text, so that a page can show it: two expressions in named symbols, each a positive
whole number or a positive real. `prove` is asked for each row whenever the ledger runs.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Identity"]


@dataclass(frozen=True)
class Identity:
    """`left` = `right` for all values of the symbols; `says` names what it is, for people.

    `whole` and `real`: the names of the positive whole and of the positive real symbols.

    >>> Identity("variance of a mean", "k*(2/e**2)/k**2", "2/(k*e**2)", "k", "e").proved()
    True
    >>> Identity("wrong", "k + 1", "k", whole="k").proved()
    False
    """

    says: str
    left: str
    right: str
    whole: str = ""
    real: str = ""

    def proved(self) -> bool:
        """Return whether sympy simplifies the difference of both sides to zero."""
        import sympy

        names = {
            name: sympy.Symbol(name, positive=True, integer=True) for name in self.whole.split()
        }
        names |= {name: sympy.Symbol(name, positive=True) for name in self.real.split()}
        left, right = (sympy.sympify(side, locals=names) for side in (self.left, self.right))
        difference = sympy.simplify((left - right).doit())
        return bool(difference == 0)
