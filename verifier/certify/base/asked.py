"""What the certifier is asked: a policy under a reading and a scope, and until when."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from blowproof.models import Policy, Setting
from blowproof.models.policy.policy import Answers
from blowproof.models.policy.readings import Reading
from blowproof.verifier.asked.names import Engine
from blowproof.verifier.asked.question import Listener
from blowproof.verifier.certify.base.asked_before import Known
from blowproof.verifier.certify.base.lemmas import Lemma

__all__ = ["Asked"]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The question; `setting` is the prepared policy under the scope that is asked for.

    `known` holds what the verifier said before about the same policy, and `lemmas` (and `squares`,
    in the norm l2-squared) are arguments about queries that a mechanism made; only our own releases
    bring either.
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

    def left(self, share: Fraction = Fraction(1)) -> float | None:
        """Return (a share of) the seconds until the deadline."""
        if self.deadline is None:
            return None
        return max(0.0, self.deadline - time.monotonic()) * float(share)
