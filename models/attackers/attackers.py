"""The attackers that a mechanism is judged against: pufferfish-2012's third component.

    independent  records are independent, each with any belief of its own (Equation 17)
    iid          the same, with one belief for all records
    any          any belief whatever
    listed       these beliefs, exactly
    markov       these chains over records, exactly

`given_facts`: they know the policy's facts, and have drawn the conclusions (the default).
`seen`: noisy numbers that were published before, and what they were.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from blowproof.models.attackers.beliefs import Scenario
from blowproof.models.attackers.secrets import SecretPairs, Values
from blowproof.models.base.errors import PolicyError
from blowproof.models.base.numbers import Exact

__all__ = ["KINDS", "Attackers", "Kind", "Seen"]

Kind = Literal["independent", "iid", "any", "listed", "markov"]
KINDS: tuple[Kind, ...] = ("independent", "iid", "any", "listed", "markov")


@dataclass(frozen=True, kw_only=True)
class Seen:
    """Numbers that were published with Laplace noise: the query, the noise, and the numbers."""

    query: str
    scale: Fraction
    answer: tuple[Exact, ...]
    noise: Literal["laplace", "discrete-laplace"] = "laplace"


@dataclass(frozen=True, kw_only=True)
class Attackers:
    """Which beliefs are allowed, and which pairs of statements have to stay apart."""

    kind: Kind = "independent"
    given_facts: bool = True
    listed: tuple[Scenario, ...] = ()
    pairs: SecretPairs = field(default_factory=Values)
    seen: tuple[Seen, ...] = ()

    def __post_init__(self) -> None:
        """Refuse exact beliefs where none are asked for, and none where they are."""
        if self.exact and not self.listed:
            raise PolicyError(
                f"attackers of the kind {self.kind!r} need beliefs",
                key="attackers.listed",
                hint='write listed = [{ databases = [...], probabilities = ["1/2", "1/2"] }]',
            )
        if self.listed and not self.exact:
            raise PolicyError(
                f"attackers of the kind {self.kind!r} have no list of beliefs",
                key="attackers.listed",
                hint='write kind = "listed"',
            )

    @property
    def exact(self) -> bool:
        """Whether the beliefs have exact probabilities."""
        return self.kind in ("listed", "markov")
