"""What is known of one question by now: whoever stops the search gets the best belief found."""

from __future__ import annotations

from collections.abc import Callable

from blowproof.models import BudgetError
from blowproof.verifier.odds.base.answer import Factor, Shown

__all__ = ["OddsBoard"]


class OddsBoard:
    """Bounds on the largest odds ratio, and the attacker who shows the lower one."""

    def __init__(self) -> None:
        self.lower: Factor = Factor.exp(0)
        self.upper: Factor | None = None
        self._shown: Shown | None = None
        self._later: list[Callable[[], Shown | None]] = []

    @property
    def shown(self) -> Shown | None:
        """The attacker who shows the lower bound, if one is known.

        Where that one is too large a search to work out, the best of those noted before.
        """
        while self._later:
            work_out = self._later.pop()
            try:
                self._shown = work_out()
            except BudgetError:
                continue
            self._later.clear()
        return self._shown

    def reached(self, lower: Factor, shown: Shown | None) -> bool:
        """Note a belief that reaches, or comes near to, a ratio; return whether it is better."""
        better = lower.above(self.lower) or (self._shown is None and not self._later)
        if better:
            self._shown, self.lower = shown, lower
            self._later.clear()
        return better

    def told(self, lower: Factor, later: Callable[[], Shown | None]) -> None:
        """Note a ratio whose attacker is worked out when somebody asks."""
        if lower.above(self.lower):
            self._later.append(later)
            self.lower = lower

    def bounded(self, upper: Factor | None) -> None:
        """Note what no belief exceeds."""
        if upper is not None and (self.upper is None or self.upper.above(upper)):
            self.upper = upper
