"""Noisy tables that agree with the counts that everybody knows (exact-cuboids-draft, section 6).

The Laplace mechanism for the histogram at its verified S, then the nearest table with the known
counts (`consistency`): post-processing, since these counts are public. Impossible values hold 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from blowproof.mechanisms.answers.masks import mask
from blowproof.mechanisms.answers.vectors import Estimate, Vector, cells_of
from blowproof.mechanisms.base.errors import RefusedError
from blowproof.mechanisms.estimates.consistency import (
    MOST_ROUNDED,
    not_negative,
    onto_facts,
    onto_marginals,
    rounded,
)
from blowproof.mechanisms.kinds.laplace import Laplace
from blowproof.mechanisms.parts.records import Records
from blowproof.mechanisms.release.calibrate import require_floats
from blowproof.mechanisms.release.release import Draw, Request
from blowproof.mechanisms.release.request import noisy_release
from blowproof.models import BudgetError, ContradictionError, Marginal, QueryError, Setting, setting
from blowproof.models.mechanisms.mechanism import Release
from blowproof.models.policy.readings import is_labelled
from blowproof.verifier.asked.answer import Answer
from blowproof.verifier.databases.consistency import prepare

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Consistent", "known_sums"]

MOST_CELLS = 1_000_000
ENTRIES = 50_000_000
LARGEST = 2**53
"""Whole numbers up to here are floats too."""
KINDS = ("real", "positive", "whole")


class Consistent(Laplace):
    """Laplace noise on the histogram, then least squares onto the known counts.

    Option `numbers`: real (unbiased, the default), positive (none below 0) or whole (nor broken).
    """

    name = "consistent"
    postprocessing = ("least squares onto the known counts",)
    settings = ("numbers",)

    def __init__(self, request: Request) -> None:
        if not request.bound.separates:
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
        require_floats(request.epsilon, self.name)
        if self.kind == KINDS[2] and size > MOST_ROUNDED:
            raise BudgetError(
                f"{size} cells; at most {MOST_ROUNDED} are made whole while the known counts are "
                "kept\n  try: --set numbers=positive"
            )
        super().__init__(request)
        self._prepare()

    def _prepare(self) -> None:
        """Set up the known counts, and meet them once: all that could fail fails here.

        What is left to do when the noise is drawn is the same, with other numbers to begin with.
        """
        found = self.found
        self.marginals = None
        if self.kind == KINDS[0] and self.request.records is None and _only_marginals(found):
            self.marginals = _marginals(found)
            onto_marginals(np.zeros(_shape(found)), self.marginals)
            return
        self.free, self.facts, self.known = known_sums(
            found, with_size=is_labelled(self.request.reading), records=self.request.records
        )
        start = onto_facts(np.zeros(len(self.free)), self.facts, self.known)
        if self.kind == KINDS[2]:
            self.whole = rounded(start, self.facts, self.known)

    def calibrated(self) -> tuple[Release, Answer]:
        """Return the histogram with Laplace noise, or with Gaussian noise for a rho; and S."""
        return noisy_release(self.request, self.request.bound)

    def run(self, draw: Draw) -> Vector | Estimate:
        """Return the nearest table with the known counts."""
        noisy = draw(self.release)
        domain = self.request.policy.domain
        names = cells_of(domain, tuple(range(len(domain))))
        table = noisy.units.astype(np.float64)
        if self.marginals is not None:
            shaped = table.reshape(_shape(self.found))
            return Estimate(onto_marginals(shaped, self.marginals, check=False).ravel(), names)
        values = onto_facts(table[self.free], self.facts, self.known, check=False)
        if self.kind != KINDS[0]:
            values = not_negative(values, self.facts, self.known)
        if self.kind == KINDS[2]:
            result = np.zeros(len(table), dtype=np.int64)
            result[self.free] = self._rounded(values)
            return Vector(result, noisy.grid, names)
        table[:] = 0
        table[self.free] = values
        return Estimate(table, names)

    def _rounded(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return whole numbers near some values; where none are found, some with the known counts.

        The budget is charged by then, so nothing is refused any more.
        """
        try:
            return rounded(np.minimum(values, LARGEST), self.facts, self.known)
        except ContradictionError:
            self.notes += (
                "no whole numbers near the noisy ones were found: these are some that have the "
                "known counts, and tell nothing else",
            )
            return self.whole


def _shape(found: Setting) -> list[int]:
    return [kind.size for _, kind in found.domain.attributes]


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
        cells = [_known(answers[cell.name]) for cell in fact.bind(domain, f"known[{place}]")]
        shape = [domain.attribute(axis).size for axis in axes]
        table = np.array(cells, dtype=np.int64).reshape(shape)
        result[tuple(sorted(axes))] = table.transpose(np.argsort(axes))
    return result


def _known(number: int | None) -> int:
    """Return a public number, or refuse one that floats do not hold."""
    if number is None or abs(number) > LARGEST:
        raise BudgetError(
            f"the known counts have the number {number}; those of up to {LARGEST} are kept\n"
            "  try: --mechanism laplace"
        )
    return number


def known_sums(
    found: Setting, *, with_size: bool, records: Records | None = None
) -> tuple[NDArray[np.int64], csr_array[Any], NDArray[np.int64]]:
    """Return the cells that may hold records, the known sums over them, and their numbers.

    Of some records alone it is known how many they are: the known counts are about all.
    """
    from scipy.sparse import csr_array, vstack

    domain = found.domain
    free = np.flatnonzero(~mask(found.impossible, domain).ravel())
    rows, answers = [], []
    sums = [fact for fact in found.equalities if fact.name != "size" and records is None]
    if len(sums) * len(free) > ENTRIES:
        raise BudgetError(f"{len(sums)} known counts over {len(free)} cells are too many")
    for fact in sums:
        _known(sum(abs(times) for times, _ in fact.terms))
        row = sum((times * mask(area, domain).astype(np.int64) for times, area in fact.terms))
        rows.append(csr_array(np.asarray(row).ravel()[free][None, :]))
        answers.append(_known(fact.answer))
    if with_size or any(fact.name == "size" for fact in found.equalities):
        rows.append(csr_array(np.ones((1, len(free)), dtype=np.int64)))
        answers.append(_known(found.size if records is None else records.count))
    matrix: csr_array[Any] = csr_array(
        vstack(rows) if rows else np.zeros((0, len(free)), dtype=np.int64)
    )
    return free, matrix, np.array(answers, dtype=np.int64)
