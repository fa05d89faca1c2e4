"""What the certifier is asked: a policy under a reading and a scope, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from blowproof.models import Policy, Setting
from blowproof.models.base.clock import now
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.names import Engine
from blowproof.verifier.asked.question import Listener
from blowproof.verifier.certify.base.asked_before import Known
from blowproof.verifier.certify.base.lemmas import Lemma
from blowproof.verifier.certify.base.verdict import LossBounds
from blowproof.verifier.limits.limit import real_limit, whole_limit

__all__ = ["Asked", "once_more"]

CLOSE = whole_limit(__name__, "CLOSE")
SHARE, SECONDS = real_limit(__name__, "SHARE"), real_limit(__name__, "SECONDS")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The question; `setting` is the prepared policy under the scope that is asked for.

    `known` holds what the verifier said before about the same policy, and `lemmas` (and `squares`,
    in the norm l2-squared) are arguments about queries that a mechanism made; only our own releases
    bring either. `enough`: a loss that need not be bounded any closer, for it is promised.
    """

    policy: Policy
    setting: Setting
    reading: Reading
    answers: Answers | None
    engine: Engine
    deadline: float | None
    listener: Listener | None
    known: Known | None = None
    lemmas: Sequence[Lemma] = ()
    squares: Sequence[Lemma] = ()
    enough: Fraction | None = None

    def left(self, share: Fraction = Fraction(1)) -> float | None:
        """Return (a share of) the seconds until the deadline."""
        if self.deadline is None:
            return None
        return max(0.0, self.deadline - now()) * float(share)

    def contents(self, found: LossBounds) -> bool:
        """Whether bounds are exact, or close enough for what is promised: within a factor of four,
        so that nobody takes the noise for a guess.
        """
        lower, upper = found.lower, found.upper
        if isinstance(lower, str) or isinstance(upper, str) or upper is None:
            return False
        within = self.enough is not None and upper <= self.enough
        return lower == upper or (within and upper <= CLOSE * lower)


def once_more(asked: Asked) -> float | None:
    """Return the seconds to ask of all releases together what is known of groups of them."""
    left = asked.left(Fraction(SHARE))
    return None if left is None else min(left, SECONDS)
