"""The privacy budget: releases add up (Theorem 4.1), except on disjoint parts (Theorems 4.2, 4.3).

Under one policy, reading and scope, whatever was released so far and however later questions were
chosen, an observer gains at most the sum of the epsilons; of releases on sets of records that no
neighbours touch together, at most the largest sum that any one record is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from blowproof.mechanisms.errors import OverspentError
from blowproof.mechanisms.ledger import Charge, Ledger
from blowproof.mechanisms.parallel import require_part
from blowproof.mechanisms.release import Request
from blowproof.models import Policy, show
from blowproof.models.policy import Answers, Reading
from blowproof.models.writing import digest

__all__ = ["Accountant", "identity_of", "ledger_beside", "total_epsilon"]


def total_epsilon(charges: Sequence[Charge]) -> Fraction:
    """Return what charges cost together: the most that the releases about one record add up to.

    >>> from blowproof.mechanisms.records import Records
    >>> def charge(epsilon, records=None):
    ...     return Charge(epsilon=Fraction(epsilon), mechanism="", query="", records=records)
    >>> total_epsilon([charge(1), charge(2)])
    Fraction(3, 1)
    >>> first, second = Records.read("1-5"), Records.read("6-9")
    >>> total_epsilon([charge(1), charge(2, first), charge(3, second)])
    Fraction(4, 1)
    """
    everywhere = sum((item.epsilon for item in charges if item.records is None), Fraction(0))
    steps: dict[int, Fraction] = {}
    for item in charges:
        for low, high in item.records.ranges if item.records is not None else ():
            steps[low] = steps.get(low, Fraction(0)) + item.epsilon
            steps[high + 1] = steps.get(high + 1, Fraction(0)) - item.epsilon
    most = running = Fraction(0)
    for place in sorted(steps):
        running += steps[place]
        most = max(most, running)
    return everywhere + most


def identity_of(policy: Policy, reading: Reading, answers: Answers | None) -> dict[str, str]:
    """Return what a ledger is kept for: the guarantee whose epsilons add up.

    The policy counts, not its name and not the queries that it gives names to.
    """
    return {
        "policy": policy.name,
        "digest": digest(replace(policy.with_answers(answers), queries=())),
        "reading": reading,
        "answers": policy.with_answers(answers).scope,
    }


def ledger_beside(data: str | Path) -> Path:
    """Return the ledger's place beside a data file; links to the file share it."""
    real = Path(data).resolve()
    return real.with_name(f"{real.name}.blowproof.sqlite")


class Accountant:
    """Keeps a budget for one guarantee: the `Budget` of a release.

    `budget` opens a ledger, or must agree with the one that exists.
    """

    def __init__(
        self,
        policy: Policy,
        ledger: str | Path,
        *,
        budget: Fraction | None = None,
        reading: Reading = "published",
        answers: Answers | None = None,
    ) -> None:
        self._guarantee = (policy, reading, answers)
        self.ledger = Ledger(ledger, identity_of(policy, reading, answers), budget)

    @property
    def budget(self) -> Fraction:
        """The epsilon that all releases together may cost."""
        return self.ledger.budget

    @property
    def spent(self) -> Fraction:
        """What the releases so far cost together."""
        return total_epsilon(self.ledger.charges())

    def spend(self, request: Request, mechanism: str) -> tuple[str, ...]:
        """Write a release into the ledger, or raise an OverspentError; say what is left.

        A release on some records is taken only where parts are independent.
        """
        charge = Charge(
            epsilon=request.epsilon,
            mechanism=mechanism,
            query=request.bound.name,
            records=request.records,
        )
        charges = self.ledger.spend(charge, self._decide)
        spent = total_epsilon(charges)
        return (
            f"budget: {show(spent)} of {show(self.budget)} spent, {show(self.budget - spent)} left",
        )

    def _decide(self, charges: tuple[Charge, ...], budget: Fraction) -> None:
        parts = [item.records for item in charges if item.records is not None]
        if parts:
            require_part(*self._guarantee, parts)
        before, after = total_epsilon(charges[:-1]), total_epsilon(charges)
        if after > budget:
            raise OverspentError(
                f"epsilon = {show(charges[-1].epsilon)} would bring the releases to {show(after)}, "
                f"and the budget is {show(budget)} ({show(before)} is spent): nothing was drawn\n"
                f"  try: an epsilon of at most {show(budget - before)}"
                if before < budget
                else f"the budget of {show(budget)} is spent: nothing was drawn"
            )
