"""The Laplace mechanism: any query of the contract under any policy (Theorem 5.1)."""

from __future__ import annotations

from blowproof.mechanisms.answers.true_answers import query_grid, require_answerable
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.release.release import Draw, Plan, Request, calibrated_scale, status_notes
from blowproof.models.mechanisms.mechanism import Release
from blowproof.verifier.asked.answer import Answer

__all__ = ["Laplace"]


class Laplace(Plan):
    """f(D) plus discrete Laplace noise of scale S(f, P) / epsilon in every output.

    S is the verified sensitivity in the request's reading and scope, constraints included: its
    proven upper bound where the search was stopped.
    """

    name = "laplace"

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        query = request.bound
        require_answerable(query, request.policy)
        self.release, self.sensitivity = self.calibrated()
        self.description = self.described(self.release)
        self.notes = status_notes(self.sensitivity)

    def calibrated(self) -> tuple[Release, Answer]:
        """Return the query with noise of scale S / epsilon, and S."""
        request, query = self.request, self.request.bound
        found = request.sensitivity(query)
        scale = calibrated_scale(found, request.epsilon)
        grid = query_grid(query, request.policy.domain)
        return Release(query=query, noise="discrete-laplace", scale=scale, grid=grid), found

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the noisy answers as they are."""
        return draw(self.release)
