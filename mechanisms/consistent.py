"""Noisy tables that agree with the counts that everybody knows (exact-cuboids-draft, section 6).

The Laplace mechanism for the histogram at its verified S, then the nearest table with the known
counts (`consistency`): post-processing, since these counts are public. Impossible values hold 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.consistency import not_negative, onto_facts, onto_marginals, rounded
from blowproof.mechanisms.errors import RefusedError
from blowproof.mechanisms.laplace import Laplace
from blowproof.mechanisms.masks import mask
from blowproof.mechanisms.release import Draw, Request
from blowproof.mechanisms.vectors import Estimate, Vector, cells_of
from blowproof.models import BudgetError, Marginal, QueryError, Setting, setting
from blowproof.models.policy import LABELLED
from blowproof.models.queries import Histogram
from blowproof.verifier.feasible import prepare

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Consistent"]

MOST_CELLS = 1_000_000
ENTRIES = 50_000_000
KINDS = ("real", "positive", "whole")


class Consistent(Laplace):
    """Laplace noise on the histogram, then least squares onto the known counts.

    Option `numbers`: real (unbiased, the default), positive (none below 0) or whole (nor broken).
    """

    name = "consistent"
    postprocessing = ("least squares onto the known counts",)
    settings = ("numbers",)

    def __init__(self, request: Request) -> None:
        if not isinstance(request.bound, Histogram):
            raise QueryError("consistent releases a histogram\n  try: --query histogram")
        size = request.policy.domain.size
        if size > MOST_CELLS:
            raise BudgetError(
                f"{size} cells; at most {MOST_CELLS} are made consistent\n"
                "  try: --mechanism laplace, or a coarser domain"
            )
        self.kind = request.options.get("numbers", KINDS[0])
        if self.kind not in KINDS:
            raise QueryError(
                f"there are no {self.kind!r} numbers\n  try: one of {', '.join(KINDS)}"
            )
        self.found = prepare(setting(request.policy, request.answers), request.reading)
        if self.found.scope != "given":
            raise RefusedError(
                "the known counts have no numbers here, so there is nothing to be consistent with\n"
                "  try: --answers given, with answers or data in the policy"
            )
        super().__init__(request)

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the nearest table with the known counts."""
        found, request = self.found, self.request
        noisy = draw(self.release)
        domain = request.policy.domain
        names = cells_of(domain, tuple(range(len(domain))))
        table = noisy.units.astype(np.float64)
        if self.kind == KINDS[0] and _only_marginals(found):
            shape = [kind.size for _, kind in domain.attributes]
            return Estimate(onto_marginals(table.reshape(shape), _marginals(found)).ravel(), names)
        free, facts, answers = _facts(found, with_size=request.reading in LABELLED)
        values = onto_facts(table[free], facts, answers)
        if self.kind != KINDS[0]:
            values = not_negative(values, facts, answers)
        if self.kind == KINDS[2]:
            result = np.zeros(len(table), dtype=np.int64)
            result[free] = rounded(values, facts, answers)
            return Vector(result, noisy.grid, names)
        table[:] = 0
        table[free] = values
        return Estimate(table, names)


def _only_marginals(found: Setting) -> bool:
    known = found.policy.known
    return bool(known) and all(isinstance(fact, Marginal) for fact in known)


def _marginals(found: Setting) -> dict[tuple[int, ...], NDArray[Any]]:
    """The known marginals as arrays, their axes in increasing order."""
    domain = found.domain
    answers = {fact.name: fact.answer for fact in found.equalities}
    result: dict[tuple[int, ...], NDArray[Any]] = {}
    for place, fact in enumerate(found.policy.known):
        assert isinstance(fact, Marginal)
        axes = domain.axes(fact.attributes)
        cells = [answers[cell.name] for cell in fact.bind(domain, f"known[{place}]")]
        shape = [domain.attribute(axis).size for axis in axes]
        table = np.array(cells, dtype=np.int64).reshape(shape)
        result[tuple(sorted(axes))] = table.transpose(np.argsort(axes))
    return result


def _facts(
    found: Setting, *, with_size: bool
) -> tuple[NDArray[np.int64], csr_array[Any], NDArray[np.int64]]:
    """Return the cells that may hold records, the known sums over them, and their numbers."""
    from scipy.sparse import csr_array, vstack

    domain = found.domain
    free = np.flatnonzero(~mask(found.impossible, domain).ravel())
    rows, answers = [], []
    sums = [fact for fact in found.equalities if fact.name != "size"]
    if len(sums) * len(free) > ENTRIES:
        raise BudgetError(f"{len(sums)} known counts over {len(free)} cells are too many")
    for fact in sums:
        row = sum((times * mask(area, domain).astype(np.int64) for times, area in fact.terms))
        rows.append(csr_array(np.asarray(row).ravel()[free][None, :]))
        answers.append(fact.answer)
    if with_size or any(fact.name == "size" for fact in found.equalities):
        rows.append(csr_array(np.ones((1, len(free)), dtype=np.int64)))
        answers.append(found.size)
    matrix: csr_array[Any] = csr_array(
        vstack(rows) if rows else np.zeros((0, len(free)), dtype=np.int64)
    )
    return free, matrix, np.array(answers, dtype=np.int64)
