"""What a mechanism promises: an epsilon, a rho, or an epsilon with a delta."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from blowproof.models import PolicyError, show

__all__ = ["Measure", "Promise"]

Measure = Literal["epsilon", "rho", "epsilon-delta"]
"""How privacy is measured; numbers in two measures are never added."""


@dataclass(frozen=True)
class Promise:
    """`epsilon` alone (pure), `rho` alone (zCDP), or `epsilon` with `delta`; all exact, above 0.

    >>> print(Promise(rho=Fraction(1, 2)), Promise(Fraction(1), delta=Fraction(1, 10**6)), sep="; ")
    rho = 1/2; epsilon = 1 and delta = 1/1000000
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    delta: Fraction | None = None

    def __post_init__(self) -> None:
        """Refuse two measures at once, none, floats, and numbers that promise nothing."""
        for name in ("epsilon", "rho", "delta"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _positive(name, value))
        if (self.epsilon is None) == (self.rho is None):
            none, both = "neither an epsilon nor a rho is", "both an epsilon and a rho are"
            raise PolicyError(
                f"{none if self.rho is None else both} promised: one measure is judged",
                hint="--epsilon E, --rho R, or --epsilon E --delta D",
            )
        if self.delta is not None and self.epsilon is None:
            raise PolicyError(
                "delta goes with an epsilon, and rho has none", hint="--epsilon E --delta D"
            )
        if self.delta is not None and self.delta >= 1:
            raise PolicyError(
                f"delta = {show(self.delta)} promises nothing: it is a probability below 1",
                hint="--delta 1/1000000",
            )

    @property
    def measure(self) -> Measure:
        """The measure in which the loss is given."""
        if self.rho is not None:
            return "rho"
        return "epsilon" if self.delta is None else "epsilon-delta"

    @property
    def limit(self) -> Fraction:
        """The loss that is promised at the most, in its measure."""
        found = self.epsilon if self.rho is None else self.rho
        assert found is not None
        return found

    @property
    def name(self) -> str:
        """The name of what is limited: epsilon or rho."""
        return "rho" if self.rho is not None else "epsilon"

    def to_json(self) -> dict[str, str | None]:
        """Return what is promised, as the JSON of `certify` carries it."""
        found = {"epsilon": None if self.epsilon is None else show(self.epsilon)}
        if self.rho is not None:
            found["rho_promised"] = show(self.rho)
        if self.delta is not None:
            found["delta"] = show(self.delta)
        return found

    def __str__(self) -> str:
        end = "" if self.delta is None else f" and delta = {show(self.delta)}"
        return f"{self.name} = {show(self.limit)}{end}"


def _positive(name: str, value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, Fraction)) or value <= 0:
        shown = show(value) if isinstance(value, (int, Fraction)) else repr(value)
        raise PolicyError(f"{name} is an exact number above zero, not {shown}")
    return Fraction(value)
