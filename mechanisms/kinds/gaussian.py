"""The Gaussian mechanism: any query of the contract under any policy, for a rho (zCDP)."""

from __future__ import annotations

from blowproof.mechanisms.answers.true_answers import query_grid, require_answerable
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.release.release import Draw, Plan, Request, status_notes
from blowproof.mechanisms.release.request import noisy_release

__all__ = ["Gaussian"]


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
