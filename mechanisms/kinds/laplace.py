"""The Laplace mechanism, and the Gaussian one: any query of the contract under any policy.

Theorem 5.1 of blowfish-2014, and the same for a rho.
"""

from __future__ import annotations

from blowproof.mechanisms.answers.true_answers import query_grid, require_answerable
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.release.release import Draw, Plan, Request, calibrated_scale, status_notes
from blowproof.mechanisms.release.request import noisy_release
from blowproof.models.mechanisms.mechanism import Release
from blowproof.verifier.asked.answer import Answer

__all__ = ["Gaussian", "Laplace"]


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


class Gaussian(Plan):
    """f(D) plus discrete Gaussian noise of variance S(f, P) / (2 rho) in every output.

    S is the verified sensitivity in squares (the norm l2-squared), in the request's reading and
    scope: its proven upper bound where the search was stopped. Where it is 0 there is no noise.
    """

    name = "gaussian"

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        if request.rho is None:
            raise RefusedError(
                "Gaussian noise has no pure epsilon: nothing was drawn and nothing spent\n"
                "  try: --rho R, or --mechanism laplace"
            )
        query = request.bound
        require_answerable(query, request.policy)
        grid = query_grid(query, request.policy.domain)
        self.release, self.sensitivity = noisy_release(request, query, grid=grid)
        self.description = self.described(self.release)
        self.notes = status_notes(self.sensitivity)

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the noisy answers as they are."""
        return draw(self.release)
