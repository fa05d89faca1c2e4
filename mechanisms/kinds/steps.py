"""Noise on the steps of a grid: flows on the grid, with all of its cycles.

Under secrets that tell near values apart, a record moves from one value to a near one, and the
mechanism puts noise where it moves: on every step between neighbouring values, a number that is
added to the count at one end and taken off that at the other (`certify.noise.steps` has the proof).
With steps of one position along each attribute, and secrets within one of them, the noise on a
single count is no wider than Laplace noise would be; and in a sum over an area the steps inside
cancel, so that only those across its border are left. A rectangle of a x b values has the noise of
2 (a + b) steps, where Laplace noise adds up over a b values. n, and totals along attributes that no
secret changes, come out exact.

On a line this is the transformed mechanism: its flows are those of a tree, and here the graph may
have cycles. A record that moves farther than a step takes several, and the noise is as much wider.

For a rho the numbers are Gaussian, and what counts is not how many steps a secret takes, but the
resistance between its ends (`certify.noise.gaussian_steps`): about 0.7 for one step, and little
more for longer ones, since there are many ways round.
"""

from __future__ import annotations

from blowproof.mechanisms.answers.true_answers import require_answerable, true_answers
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.kinds.transformed import NoisyTable, require_one_record
from blowproof.mechanisms.noise.steps import steps_at
from blowproof.mechanisms.release.release import Draw, Plan, Request
from blowproof.models import QueryError, setting
from blowproof.models.mechanisms.mechanism import Release
from blowproof.verifier.certify.noise.gaussian_steps import GAUSSIAN_STEPS, variance_for
from blowproof.verifier.certify.noise.steps import STEPS_NOISE, longest_move, moving_axes

__all__ = ["Steps"]


class Steps(Plan):
    """Noise on the steps between neighbouring values; every query follows from the noisy counts."""

    name = "steps"
    postprocessing = ("sums of noisy cells",)

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        policy, domain = request.policy, request.policy.domain
        if request.bound.per_record:
            raise QueryError(
                f"{request.bound.name} puts weights on single records, which noisy counts do not "
                "have\n  try: --mechanism laplace"
            )
        require_one_record(request, self.name)
        for query in (request.bound, "histogram"):
            require_answerable(query, policy)
        self.axes = moving_axes(policy.graph, domain)
        if self.axes is None:
            raise RefusedError(
                "it is not known which attributes a secret changes\n  try: --mechanism laplace"
            )
        most, _ = longest_move(policy.graph, domain)
        here = setting(policy, request.answers)
        if here.scope == "given" and here.size == 0:
            raise QueryError(
                "there are no records (size = 0), so no two databases are neighbours, and nothing "
                "needs noise\n  try: --mechanism laplace, which adds none here"
            )
        if not most:
            raise QueryError("no secret changes anything here\n  try: --mechanism laplace")
        steps_at(self.axes, domain)  # refused where an attribute has too many
        along = tuple(domain.names[axis] for axis in self.axes)
        if request.rho is None:
            scale = most / request.epsilon
            self.release = Release(query="histogram", noise=STEPS_NOISE, scale=scale, along=along)
        else:
            variance = variance_for(request.rho, policy.graph, self.axes, domain)
            self.release = Release(
                query="histogram", noise=GAUSSIAN_STEPS, variance=variance, along=along
            )
        self.description = self.described(self.release)
        self.notes = (f"a secret takes {most} steps at the most",)

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers on the noisy counts."""
        noisy = draw(self.release)
        query = self.request.bound
        if query.separates:
            return noisy
        policy = self.request.policy
        return true_answers(query, policy, NoisyTable(noisy.units, policy.domain))
