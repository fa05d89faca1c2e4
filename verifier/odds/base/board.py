"""What is known of one question by now: whoever stops the search gets the best belief found."""

from __future__ import annotations

from collections.abc import Callable

from blowproof.verifier.odds.base.answer import Factor, Shown

__all__ = ["Board"]


class Board:
    """Bounds on the largest odds ratio, and the attacker who shows the lower one."""

    def __init__(self) -> None:
        self.lower: Factor = Factor.exp(0)
        self.upper: Factor | None = None
        self._shown: Shown | None = None
        self._later: Callable[[], Shown | None] | None = None

    @property
    def shown(self) -> Shown | None:
        """The attacker who shows the lower bound, if one is known."""
        if self._later is not None:
            self._shown, self._later = self._later(), None
        return self._shown

    def reached(self, lower: Factor, shown: Shown | None) -> bool:
        """Note a belief that reaches, or comes near to, a ratio; return whether it is better."""
        better = lower.above(self.lower) or (self._shown is None and self._later is None)
        if better:
            self._shown, self._later, self.lower = shown, None, lower
        return better

    def told(self, lower: Factor, later: Callable[[], Shown | None]) -> None:
        """Note a ratio whose attacker is worked out when somebody asks."""
        if lower.above(self.lower):
            self._later, self.lower = later, lower

    def bounded(self, upper: Factor | None) -> None:
        """Note what no belief exceeds."""
        if upper is not None and (self.upper is None or self.upper.above(upper)):
            self.upper = upper
