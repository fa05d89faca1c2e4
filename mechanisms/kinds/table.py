"""One noisy table, and every answer by adding up its cells: many queries for the price of one.

The cells have noise of scale S(histogram, P) / epsilon. An answer over few cells is as good as its
cells; one over many adds their noise up. All answers agree with each other.
"""

from __future__ import annotations

from blowproof.mechanisms.answers.true_answers import require_answerable, true_answers
from blowproof.mechanisms.answers.vectors import Estimate, Vector
from blowproof.mechanisms.kinds.transformed import NoisyTable, require_few_values
from blowproof.mechanisms.release.release import Draw, Plan, Request, status_notes
from blowproof.mechanisms.release.request import noisy_release
from blowproof.models import QueryError, parse_query

__all__ = ["Table"]

HISTOGRAM = "histogram"


class Table(Plan):
    """Laplace noise (Gaussian, for a rho) on the histogram; sums of its cells are the answers."""

    name = "table"
    postprocessing = ("sums of noisy cells",)

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        policy = request.policy
        if request.bound.per_record:
            raise QueryError(
                f"{request.bound.name} weighs single records, which a noisy histogram does not have"
                "\n  try: --mechanism laplace"
            )
        require_few_values(policy)
        require_answerable(request.bound, policy)
        histogram = parse_query(HISTOGRAM, policy)
        require_answerable(histogram, policy)
        self.release, self.sensitivity = noisy_release(request, HISTOGRAM)
        self.description = self.described(self.release)
        self.notes = status_notes(self.sensitivity)

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the answers on the noisy table."""
        policy = self.request.policy
        table = NoisyTable(draw(self.release).units, policy.domain)
        return true_answers(self.request.bound, policy, table)
