"""What a mechanism gets to see: noisy answers of what it declares, and choices made privately.

The true answers stay in here. Query and scale come from one `Release`, which the gate has to let
pass before any noise is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blowproof.mechanisms.answers.true_answers import true_answers
from blowproof.mechanisms.answers.vectors import Vector
from blowproof.mechanisms.release.gate import Gate, choose, noisy
from blowproof.models.data.dataset import Dataset
from blowproof.models.mechanisms.mechanism import Release, Selection

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from blowproof.mechanisms.release.release import Plan
    from blowproof.mechanisms.release.request import Request

__all__ = ["Draw"]


class Draw:
    """Answers a `Release` on the data with its noise, and remembers that it did.

    Made for one carrying out of one plan, which is refused here where nothing proves it private.
    """

    def __init__(self, plan: Plan, data: Dataset) -> None:
        self.policy = plan.request.policy
        self.drawn: list[Release] = []
        self.chosen: list[Selection] = []
        self.noisy: list[Vector] = []
        self._data = data
        self._gate = Gate(plan)
        self._ready: dict[int, tuple[Release | Selection, Vector]] = {}

    def prepare(self, *items: Release | Selection) -> None:
        """Count the true answers now, so that nothing can fail once the budget is spent."""
        for item in items:
            self._count(item)

    def _count(self, item: Release | Selection) -> Vector:
        if id(item) not in self._ready:
            asked = item.query if isinstance(item, Selection) else item
            self._ready[id(item)] = item, true_answers(asked, self.policy, self._data)
        return self._ready[id(item)][1]

    @property
    def loss(self) -> Fraction | None:
        """What all that was drawn is proved to lose at the most, of epsilon or of rho."""
        return self._gate.loss

    def __call__(self, release: Release) -> Vector:
        """Return the noisy answers of one release."""
        permit = self._gate.permit(release)
        truth = self._count(release)
        self._ready.pop(id(release))
        self.drawn.append(release)
        self.noisy.append(noisy(permit, truth, self.policy.domain))
        return self.noisy[-1]

    def once(self, key: object, make: Callable[[], Any]) -> Any:
        """Return what is made of noisy answers; several plans that are carried out at once share
        it (`kinds.together`).
        """
        return make()

    def public_size(self, request: Request) -> int | None:
        """Return n where the reading or the policy makes it public, else None."""
        return self._data.size if self.policy.size_known(request.reading) else None

    def choose(self, selection: Selection, *, penalty: Fraction) -> Any:
        """Return the cheapest candidate, by noisy costs that are made from the true answers."""
        permit = self._gate.permit(selection)
        truth = self._count(selection)
        self._ready.pop(id(selection))
        self.chosen.append(selection)
        return choose(permit, truth, penalty, self.policy.domain)
