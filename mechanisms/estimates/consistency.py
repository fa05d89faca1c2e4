"""Noisy tables made to agree with the counts that everybody knows (exact-cuboids-draft, section 6).

The known counts are public, so moving a noisy table onto them is post-processing: it costs no
privacy. The nearest table in least squares is the orthogonal projection onto the tables with the
known counts. Without noise the projection changes nothing, it is linear, so the result is unbiased;
and it never lengthens the noise in any direction, so no cell's variance grows (Theorem 6.1).

*Marginals, any number of them.* Let P_C average a table over the cells that share a cell of the
marginal C. The P_C are tensor products of averages and identities, attribute by attribute, so any
two of them commute, and the product of the I - P_C is the orthogonal projection onto the tables
whose listed marginals are all 0. Hence one pass, correcting one marginal after the other, ends at
the nearest table: linear time for one cuboid, for two (where the draft sets up a linear system),
and for more. With impossible values, or other facts than whole marginals, the averages no longer
commute; then `onto_facts` solves the sparse least-squares problem.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from blowproof.models import BudgetError, ContradictionError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    Table = NDArray[np.float64]
    Whole = NDArray[np.int64]

__all__ = ["MOST_ROUNDED", "not_negative", "onto_facts", "onto_marginals", "rounded"]

Marginals = Mapping[tuple[int, ...], "NDArray[Any]"]
"""Known marginals: their axes, in increasing order, and their counts."""

AGREE = 1e-6
MOST_ROUNDED = 50_000
MOST_MULTIPLIERS, NEWTON, HALVINGS = 500, 60, 20


def onto_marginals(table: NDArray[Any], known: Marginals, *, check: bool = True) -> Table:
    """Return the table nearest to `table` that has the known marginals.

    `check`: whether they contradict each other; wide noise leaves too few digits to see it.

    >>> import numpy
    >>> noisy = numpy.array([[3.0, 1.0], [0.0, 4.0]])
    >>> onto_marginals(noisy, {(0,): numpy.array([5, 4]), (1,): numpy.array([4, 5])})
    array([[3.75, 1.25],
           [0.25, 3.75]])
    """
    import numpy

    result = numpy.array(table, dtype=numpy.float64)
    for axes, counts in known.items():
        others = tuple(axis for axis in range(result.ndim) if axis not in axes)
        share = numpy.prod([result.shape[axis] for axis in others], dtype=numpy.float64)
        correction = (numpy.asarray(counts) - result.sum(axis=others)) / share
        result += numpy.expand_dims(correction, others)
    if check:
        _require(result, known)
    return result


def _require(table: Table, known: Marginals) -> None:
    """Marginals that contradict each other cannot all be met: the first ones are lost again."""
    for axes, counts in known.items():
        others = tuple(axis for axis in range(table.ndim) if axis not in axes)
        if abs(table.sum(axis=others) - counts).max(initial=0) > AGREE * (1 + abs(counts).max()):
            raise ContradictionError(
                "the known marginals contradict each other: they differ on the attributes they "
                "share",
                facts=[f"marginal on axes {list(axes)}"],
                hint="take all of them from one table",
            )


def onto_facts(
    vector: NDArray[Any],
    facts: csr_array[Any],
    answers: Sequence[int] | NDArray[Any],
    *,
    check: bool = True,
) -> Table:
    """Return the vector nearest to `vector` with facts @ vector = answers.

    `facts` is a sparse matrix, one row per known sum. The correction lies in its row space: it is
    the shortest vector that makes up for what is missing.

    >>> import numpy, scipy.sparse
    >>> facts = scipy.sparse.csr_array([[1, 1, 0], [0, 1, 1]])
    >>> onto_facts(numpy.array([1.0, 1.0, 1.0]), facts, [2, 5]).round(6).tolist()
    [0.0, 2.0, 3.0]
    """
    import numpy
    from scipy.sparse.linalg import lsmr

    start = numpy.array(vector, dtype=numpy.float64)
    missing = numpy.asarray(answers, dtype=numpy.float64) - facts @ start
    found = lsmr(facts, missing, atol=1e-13, btol=1e-13, conlim=1e12, maxiter=10 * sum(facts.shape))
    result: Table = start + found[0]
    if not check:  # of known sums that were met before, from another vector
        return result
    left = abs(facts @ result - numpy.asarray(answers)).max(initial=0)
    if left > AGREE * (1 + abs(numpy.asarray(answers)).max(initial=0)):
        raise ContradictionError(
            "no table has all of the known counts",
            facts=["the known counts"],
            hint="run blowproof audit on the policy: it names the facts that contradict each other",
        )
    return result


def not_negative(
    vector: NDArray[Any],
    facts: csr_array[Any],
    answers: Sequence[int] | NDArray[Any],
    *,
    rounds: int = 2_000,
) -> Table:
    """Return a vector without negative entries that has the known sums and is near `vector`.

    The nearest one, by Newton's method on its multipliers (`_by_multipliers`); where that does not
    end, Dykstra's alternating projections onto the two convex sets, which converge to it and are
    stopped once both are met within a millionth, or after `rounds`. Non-negative noise is no longer
    unbiased, which is the price.
    """
    import numpy

    nearest = _by_multipliers(numpy.array(vector, dtype=numpy.float64), facts, answers)
    if nearest is not None:
        return nearest
    result = numpy.array(vector, dtype=numpy.float64)
    debt = numpy.zeros_like(result)
    for _ in range(rounds):
        placed = onto_facts(result, facts, answers, check=False)
        raised = numpy.maximum(placed + debt, 0)
        debt = placed + debt - raised
        result = raised
        if abs(facts @ result - numpy.asarray(answers)).max(initial=0) < AGREE:
            break
    return result


def _by_multipliers(
    vector: Table, facts: csr_array[Any], answers: Sequence[int] | NDArray[Any]
) -> Table | None:
    """Return the nearest vector without negative entries; None where Newton's method does not end.

    It is max(vector + facts' m, 0) for the multipliers m that give it the known sums, and those are
    where a concave function is largest, whose slope is what the sums lack.
    """
    import numpy

    rows = facts.shape[0]
    if rows > MOST_MULTIPLIERS:
        return None
    wanted = numpy.asarray(answers, dtype=numpy.float64)
    turned = facts.T.tocsr().astype(numpy.float64)
    close = AGREE * 1e-3 * (1 + abs(wanted).max(initial=0))
    multipliers = numpy.zeros(rows)

    def at(found: Table) -> tuple[Table, Table, float]:
        moved = vector + turned @ found
        kept = numpy.maximum(moved, 0)
        return kept, wanted - facts @ kept, float(found @ wanted - (kept**2).sum() / 2)

    result, lacking, value = at(multipliers)
    for _ in range(NEWTON):
        if abs(lacking).max(initial=0) <= close:
            return result
        active = turned[result > 0]
        slopes = (active.T @ active).toarray() + 1e-9 * numpy.eye(rows)
        step = numpy.linalg.solve(slopes, lacking)
        for power in range(HALVINGS):
            share = 0.5**power
            kept, left, higher = at(multipliers + share * step)
            if higher >= value + 1e-4 * share * float(lacking @ step):
                multipliers = multipliers + share * step
                result, lacking, value = kept, left, higher
                break
        else:
            return None
    return None


def rounded(
    vector: NDArray[Any],
    facts: csr_array[Any],
    answers: Sequence[int] | NDArray[Any],
    *,
    lowest: int | None = 0,
    time_limit: float | None = None,
) -> Whole:
    """Return whole numbers, none below `lowest`, with exactly the known sums, nearest in L1.

    One integer program (HiGHS): every entry is the rounded-down number plus ups minus downs. The
    sums are checked in whole numbers before anything is returned.
    """
    import numpy
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import hstack

    size = len(vector)
    if size > MOST_ROUNDED:
        raise BudgetError(
            f"{size} cells; at most {MOST_ROUNDED} are rounded while keeping the known counts"
        )
    floor = numpy.floor(numpy.asarray(vector, dtype=numpy.float64))
    if lowest is not None:
        floor = numpy.maximum(floor, lowest)
    gain = 1 - 2 * (numpy.asarray(vector, dtype=numpy.float64) - floor)
    # Up by the first step costs `gain` (less than nothing where the upper neighbour is nearer),
    # every further step up costs 1, and so does every step down.
    room = numpy.full(size, numpy.inf) if lowest is None else floor - lowest
    cost = numpy.concatenate([gain, numpy.ones(size), numpy.ones(size)])
    high = numpy.concatenate([numpy.ones(size), numpy.full(size, numpy.inf), room])
    missing = numpy.asarray(answers, dtype=numpy.float64) - facts @ floor
    found = milp(
        cost,
        constraints=LinearConstraint(hstack([facts, facts, -1 * facts]).tocsr(), missing, missing),
        bounds=Bounds(numpy.zeros(3 * size), high),
        integrality=numpy.ones(3 * size, dtype=numpy.int64),
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if found.x is None:
        raise ContradictionError(
            "no table of whole numbers with these known counts was found",
            facts=["the known counts"],
            hint="check the known counts with blowproof audit, or allow more time",
        )
    steps = numpy.rint(found.x).astype(numpy.int64)
    result = floor.astype(numpy.int64) + steps[:size] + steps[size:-size] - steps[-size:]
    if (facts.astype(numpy.int64) @ result != numpy.asarray(answers)).any():
        raise ContradictionError("rounding lost a known count", facts=["the known counts"])
    return result
